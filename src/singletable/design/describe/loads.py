"""How much there is of a design's entities, and how often things are done, as blueprints."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from singletable.blueprint import LoadBlueprint, RateBlueprint, VolumeBlueprint
from singletable.design.model.catalog import Catalog
from singletable.design.model.declarations import Load, PatternInfo, Rate, Volume, Writes
from singletable.design.model.entity import Entity
from singletable.errors import DeclarationError

Kind = Literal["pattern", "create", "update", "delete", "expire", "service", "handler"]
Loads = Mapping[type[Entity] | str, Writes | Load]


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers that a design declares."""

    volumes: Mapping[type[Entity], Volume] = field(default_factory=dict)
    rates: Mapping[type[Entity], Rate] = field(default_factory=dict)
    loads: Loads = field(default_factory=dict)
    users: float | None = None

    def volume_blueprints(self) -> tuple[VolumeBlueprint, ...]:
        """Describe the volumes."""
        return tuple(
            VolumeBlueprint(
                entity.__name__,
                each.count,
                each.kb,
                each.per,
                each.upto_kb,
                each.growth_per_month,
                each.hottest_share,
                each.because,
            )
            for entity, each in self.volumes.items()
        )

    def rate_blueprints(self) -> tuple[RateBlueprint, ...]:
        """Describe the rates of writing."""
        return tuple(
            RateBlueprint(entity.__name__, rate.creates, rate.updates, rate.deletes)
            for entity, rate in self.rates.items()
        )

    def load_blueprints(self, patterns: Mapping[str, PatternInfo]) -> tuple[LoadBlueprint, ...]:
        """Describe the loads: those of patterns in their order, then those of entities, then those of handlers."""
        return (*self._of_patterns(patterns), *self._of_entities(), *self._of_handlers(patterns))

    def _of_patterns(self, patterns: Mapping[str, PatternInfo]) -> Iterator[LoadBlueprint]:
        for name, info in patterns.items():
            load = self.loads.get(name, info.load)
            if isinstance(load, Load):
                yield load_blueprint("pattern", name, load, self.users)

    def _of_entities(self) -> Iterator[LoadBlueprint]:
        for entity, writes in self.loads.items():
            if isinstance(entity, type) and isinstance(writes, Writes):
                kinds: tuple[tuple[Kind, Load | None], ...] = (
                    ("create", writes.create),
                    ("update", writes.update),
                    ("delete", writes.delete),
                    ("expire", writes.expire),
                )
                for kind, load in kinds:
                    if load is not None:
                        yield load_blueprint(kind, entity.__name__, load, self.users)

    def _of_handlers(self, patterns: Collection[str]) -> Iterator[LoadBlueprint]:
        for name, load in self.loads.items():
            if isinstance(name, str) and name not in patterns and isinstance(load, Load):
                yield load_blueprint("handler", name, load, self.users)


def load_blueprint(kind: Kind, of: str, load: Load, users: float | None) -> LoadBlueprint:
    """Describe a load. One for each user is one in all, too, where the number of users is known."""
    monthly = load.monthly
    if monthly is None and load.per_user is not None and users is not None:
        monthly = load.per_user * users
    return LoadBlueprint(
        kind,
        of,
        load.peak,
        monthly,
        load.per_user,
        load.hottest,
        load.fails,
        load.items,
        dict(load.changes),
        load.because,
    )


def check_loads(
    catalog: Catalog, patterns: Mapping[str, PatternInfo], handlers: Collection[str], loads: Loads
) -> None:
    """Refuse loads of what is neither an entity, nor a pattern or a handler, and two loads of one pattern."""
    for of, load in loads.items():
        if isinstance(of, str):
            _check_method(catalog.name, of, load, patterns, handlers)
        elif of not in catalog.schemas:
            raise DeclarationError(
                f"{catalog.name}.loads names {getattr(of, '__name__', repr(of))}, which is not an entity of "
                f"{catalog.name}; it has {', '.join(entity.__name__ for entity in catalog.schemas)}"
            )
        elif not isinstance(load, Writes):
            raise DeclarationError(
                f"{catalog.name}.loads: an entity has loads of its writes, and not {load!r}",
                hint=f"{{{of.__name__}: Writes(create=Load(...), update=Load(...))}}",
            )
        else:
            _check_changes(catalog, of, load)


def _check_changes(catalog: Catalog, entity: type[Entity], writes: Writes) -> None:
    schema = catalog.schemas[entity]
    fields = sorted({*schema.fields, *schema.computed, *schema.properties})
    for kind, load in (("create", writes.create), ("update", writes.update), ("delete", writes.delete)):
        for name in load.changes if load is not None else ():
            if kind != "update":
                raise DeclarationError(
                    f"{catalog.name}.loads: to {kind} {entity.__name__} changes no field",
                    hint="update=Load(...)",
                )
            if name not in fields:
                raise DeclarationError(
                    f"{catalog.name}.loads: updates of {entity.__name__} change {name!r}, which is no field of it",
                    hint=f"it has {', '.join(fields)}",
                )


def _check_method(
    design: str,
    name: str,
    load: object,
    patterns: Mapping[str, PatternInfo],
    handlers: Collection[str],
) -> None:
    if name not in patterns and name not in handlers:
        raise DeclarationError(
            f"{design}.loads names {name!r}, which is neither a pattern nor a handler of {design}",
            hint=f"patterns: {', '.join(patterns) or 'none'}; handlers: {', '.join(handlers) or 'none'}",
        )
    if not isinstance(load, Load):
        raise DeclarationError(
            f"{design}.loads: {name} has a load, and not {load!r}", hint=f'{{"{name}": Load(...)}}'
        )
    if load.changes:
        raise DeclarationError(
            f"{design}.loads: {name} changes fields; that is said of the updates of an entity",
            hint='{Order: Writes(update=Load(..., changes={"status": 0.3}))}',
        )
    if name in patterns and patterns[name].load is not None:
        raise DeclarationError(
            f"{design}.{name} has a load of its own, and one in {design}.loads", hint="leave one of them out"
        )
