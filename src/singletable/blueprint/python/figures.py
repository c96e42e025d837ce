"""The numbers of a design as Python: volumes, rates of writing, loads. One that a design refuses is a comment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from singletable.blueprint.contents import Contents, LoadBlueprint, VolumeBlueprint
from singletable.blueprint.python.names import call, number, opened, quoted
from singletable.blueprint.python.types import Imports

_WRITES = ("create", "update", "delete", "expire")


class FigureWriter:
    """Writes the numbers of a design: entities, methods and their fields are called what the module calls them."""

    def __init__(
        self,
        blueprint: Contents,
        imports: Imports,
        entities: Mapping[str, str],
        methods: Mapping[str, str],
        fields: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._blueprint = blueprint
        self._imports = imports
        self._entities = entities
        self._methods = methods
        self._fields = fields

    def lines(self) -> Iterator[str]:
        """Return the settings of a design that say how much and how often."""
        yield from self._volumes()
        yield from self._rates()
        yield from self._loads()

    # --- volumes

    def _volumes(self) -> Iterator[str]:
        said: dict[str, str] = {}
        for volume in self._blueprint.volumes:
            text = self._volume(volume) if volume.entity not in said else None
            if text is None or volume.entity not in self._entities:
                per = f" for each {volume.per}" if volume.per else ""
                yield from opened(
                    f"of {volume.entity} there are said to be {volume.count:g}{per}, of {volume.kb:g} KB each"
                )
            else:
                said[volume.entity] = f"{self._entities[volume.entity]}: {text}"
        if said:
            yield from call("volumes = ", said.values(), indent=1, ends="{}")

    def _volume(self, volume: VolumeBlueprint) -> str | None:
        amounts = (volume.count, volume.kb, volume.growth_per_month, volume.upto_kb)
        if not _are_amounts(amounts) or not _are_shares((volume.hottest_share,)):
            return None
        members = [
            f"{number(volume.count)}",
            f"{number(volume.kb)}",
            *([f"per={quoted(volume.per)}"] if volume.per else []),
            *_numbers(volume, {"growth_per_month": "growth_per_month", "hottest_share": "hottest_share"}),
            *_numbers(volume, {"upto_kb": "upto_kb"}),
            *([f"because={quoted(volume.because)}"] if volume.because else []),
        ]
        return f"{self._imports.use('Volume')}({', '.join(members)})"

    # --- rates

    def _rates(self) -> Iterator[str]:
        said: dict[str, str] = {}
        for rate in self._blueprint.rates:
            given = {"creates": rate.creates, "updates": rate.updates, "deletes": rate.deletes}
            texts = {name: number(value) for name, value in given.items() if value}
            if rate.entity not in self._entities or rate.entity in said or None in texts.values():
                yield from opened(f"{rate.entity} is said to be written: {given}")
                continue
            arguments = ", ".join(f"{name}={text}" for name, text in texts.items())
            said[rate.entity] = f"{self._entities[rate.entity]}: {self._imports.use('Rate')}({arguments})"
        if said:
            yield from call("rates = ", said.values(), indent=1, ends="{}")

    # --- loads

    def _loads(self) -> Iterator[str]:
        users = self._blueprint.users
        if users is not None and _are_amounts((users,)) and users > 0:
            yield f"for_users = {number(users)}"
        writes: dict[str, dict[str, str]] = {}
        reads: dict[str, str] = {}
        for load in self._blueprint.loads:
            text = self._load(load)
            if load.kind == "pattern" and load.of in self._methods and text is not None:
                reads.setdefault(self._methods[load.of], text)
            elif load.kind in _WRITES and load.of in self._entities and text is not None:
                writes.setdefault(self._entities[load.of], {}).setdefault(load.kind, text)
            else:
                yield from opened(f"the load of the {load.kind} {load.of} is left out: {_shown(load)}")
        members = [f"{quoted(name)}: {text}" for name, text in reads.items()]
        for entity, kinds in writes.items():
            arguments = ", ".join(f"{kind}={text}" for kind, text in kinds.items())
            members.append(f"{entity}: {self._imports.use('Writes')}({arguments})")
        if members:
            yield from call("loads = ", members, indent=1, ends="{}")

    def _load(self, load: LoadBlueprint) -> str | None:
        amounts = (load.peak_per_s, load.monthly, load.monthly_per_user)
        if all(each is None for each in amounts) or not _are_amounts((*amounts, load.items)):
            return None
        if not _are_shares((load.hottest_share, load.fails, *load.changes.values())):
            return None
        users = self._blueprint.users
        is_per_user = (
            load.monthly_per_user is not None
            and users is not None
            and load.monthly == load.monthly_per_user * users
        )
        members = [
            f"because={quoted(load.because if load.because.strip() else 'unsaid')}",
            *_numbers(load, {"peak_per_s": "peak"}),
            *([] if is_per_user else _numbers(load, {"monthly": "monthly"})),
            *_numbers(load, {"monthly_per_user": "per_user", "hottest_share": "hottest"}),
            *_numbers(load, {"fails": "fails", "items": "items"}),
            *([f"changes={{{changes}}}"] if (changes := self._changes(load)) else []),
        ]
        return f"{self._imports.use('Load')}({', '.join(members)})"

    def _changes(self, load: LoadBlueprint) -> str:
        """Return what updates change, but for what is no field of the module."""
        fields = self._fields.get(load.of, {}) if load.kind == "update" else {}
        return ", ".join(
            f"{quoted(fields[name])}: {number(share)}"
            for name, share in load.changes.items()
            if name in fields
        )


def _numbers(of: object, names: Mapping[str, str]) -> list[str]:
    """Return arguments for the members that are said, under the names that a declaration has for them."""
    given = {argument: getattr(of, member) for member, argument in names.items()}
    return [f"{argument}={number(value)}" for argument, value in given.items() if value is not None]


def _are_amounts(values: Sequence[float | None]) -> bool:
    return all(value is None or (math.isfinite(value) and value >= 0) for value in values)


def _are_shares(values: Sequence[float | None]) -> bool:
    return all(value is None or 0 <= value <= 1 for value in values)


def _shown(load: LoadBlueprint) -> str:
    amounts = {
        "a second": load.peak_per_s,
        "a month": load.monthly,
        "a month for each user": load.monthly_per_user,
    }
    said = ", ".join(f"{value:g} {unit}" for unit, value in amounts.items() if value is not None)
    return said or "no number is said"
