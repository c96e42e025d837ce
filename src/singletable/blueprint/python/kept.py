"""What entities of a blueprint must agree on in Python, and what they keep of each other: counts, copies, owns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from singletable.blueprint.entities import AggregateBlueprint, CopyBlueprint
from singletable.blueprint.python.conditions import condition_text
from singletable.blueprint.python.entities import EntityPlan, PlacePlan, shown_place, ttl_of
from singletable.blueprint.python.fields import FieldPlan, Scope, stored_name
from singletable.blueprint.python.keys import UnfitError
from singletable.blueprint.python.names import opened, quoted
from singletable.blueprint.python.tables import TablePlan

_KINDS: Final = {"count": "CountOf", "sum": "SumOf", "average": "AverageOf"}


class Together:
    """What entities must agree on, and what they keep of each other."""

    def __init__(self, plans: Sequence[EntityPlan], table: TablePlan, scope: Scope) -> None:
        self._plans = plans
        self._table = table
        self._scope = scope

    def settle(self) -> None:
        """Leave out what contradicts an entity before it; then add kept data and ownership."""
        taken: dict[str, EntityPlan] = {}
        shapes: dict[tuple[str, ...], EntityPlan] = {}
        kinds: dict[str, tuple[str, EntityPlan]] = {}
        ttl: FieldPlan | None = None
        for plan in self._fit():
            self._name(plan, taken)
            if plan.unfit is None:
                self._check_keys(plan, shapes, kinds)
            if plan.unfit is None:
                ttl = self._agree(plan, ttl) or ttl
        for plan in self._fit():
            for aggregate in plan.source.aggregates:
                self._try_kept(plan, aggregate)
            for copy in plan.source.copies:
                self._try_kept(plan, copy)
        for plan in self._fit():
            for name in plan.source.owns:
                self._try_owned(plan, name)

    def _fit(self) -> list[EntityPlan]:
        return [plan for plan in self._plans if plan.unfit is None]

    def _find(self, name: str) -> EntityPlan:
        found = next((plan for plan in self._fit() if plan.source.name == name), None)
        if found is None:
            raise UnfitError(f"there is no entity {name}")
        return found

    def _name(self, plan: EntityPlan, taken: dict[str, EntityPlan]) -> None:
        wanted = plan.source.discriminator or plan.name
        if wanted.startswith("$"):
            plan.notes += opened(
                f"its items are said to be called {wanted}; that begins the layer's own items"
            )
            wanted = plan.name
        if wanted in taken:
            plan.unfit = f"its items are called {wanted}, as those of {taken[wanted].name}"
            return
        taken[wanted] = plan
        plan.discriminator = wanted
        plan.was = tuple(dict.fromkeys(each for each in plan.source.was if each and each not in taken))
        taken |= dict.fromkeys(plan.was, plan)

    def _check_keys(
        self,
        plan: EntityPlan,
        shapes: dict[tuple[str, ...], EntityPlan],
        kinds: dict[str, tuple[str, EntityPlan]],
    ) -> None:
        shape = tuple(key.shape for key in plan.key.keys)
        other = shapes.get(shape)
        if other is not None:
            plan.unfit = f"its keys, {shown_place(plan.key.source)}, can be those of {other.name}"
            return
        for place in list(plan.places):
            said = self._kinds(plan, place)
            wrong = [name for name, kind in said.items() if kinds.get(name, (kind, plan))[0] != kind]
            if wrong and place is plan.key:
                plan.unfit = f"{wrong[0]} is a key of another type in {kinds[wrong[0]][1].name}"
                return
            if wrong:
                plan.places.remove(place)
                plan.notes += opened(
                    f"{place.name} is left out: {wrong[0]} is a key of another type in {kinds[wrong[0]][1].name}"
                )
                continue
            kinds |= {name: kinds.get(name, (kind, plan)) for name, kind in said.items()}
        shapes[shape] = plan

    def _kinds(self, plan: EntityPlan, place: PlacePlan) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, names in zip((place.pk, place.sk), self._table.attributes(place.source.index), strict=True):
            for name in names if key is not None else ():
                own = next((each for each in plan.fields.values() if each.stored == name), None)
                found[name] = "S" if own is None else own.typed.kind or "S"
        return found

    def _agree(self, plan: EntityPlan, ttl: FieldPlan | None) -> FieldPlan | None:
        own = ttl_of(plan)
        if own is not None and ttl is not None and own.stored != ttl.stored:
            own.notes += opened(
                f"a table has one time to live, which is {ttl.stored}: this is a time like others"
            )
            own.role, own.default, own.is_plain = "", "None", True
            return None
        return own

    # --- kept data

    def _try_kept(self, plan: EntityPlan, kept: AggregateBlueprint | CopyBlueprint) -> None:
        made = plan.fields.get(kept.field)
        try:
            if made is None:
                raise UnfitError("it is no field")
            if made.role or any(each.startswith((*_KINDS.values(), "CopyOf")) for each in made.markers):
                raise UnfitError("the layer fills it in already")
            if kept.by not in ("transaction", "stream"):
                raise UnfitError(f"it is kept by {kept.by}, and a design keeps by transaction or stream")
            if kept.by == "stream" and self._table.stream != "NEW_AND_OLD_IMAGES":
                raise UnfitError(
                    f"it is kept by the stream, and the stream of the table is {self._table.stream}"
                )
            if made.name in plan.key.reads:
                raise UnfitError("it is a part of the key, which never changes")
            if isinstance(kept, AggregateBlueprint):
                made.keep(self._aggregate(plan, made, kept))
            else:
                made.keep(self._copy(plan, kept))
        except UnfitError as error:
            what = kept.kind if isinstance(kept, AggregateBlueprint) else "copy"
            of = ".".join(each for each in (kept.of, kept.of_field) if each)
            lines = opened(f"{kept.field} is the {what} of {of}, which cannot be kept: {error}")
            if made is None:
                plan.notes += lines
            else:
                made.notes += lines

    def _aggregate(self, plan: EntityPlan, made: FieldPlan, kept: AggregateBlueprint) -> str:
        use = self._scope.types.imports.use
        name = _KINDS.get(kept.kind)
        if name is None:
            raise UnfitError(f"a {kept.kind} is none of {', '.join(_KINDS)}")
        child = self._find(kept.of)
        via, given = self._via(plan, child, kept.via)
        if made.typed.base not in ("int", "float", "Decimal"):
            raise UnfitError("it is no number")
        marker = next((each for each in self._markers(plan, kept.field) if each.get("kind") == name), {})
        decimals = marker.get("decimals", 2)
        arguments = [quoted(child.name)]
        if name != "CountOf":
            of = child.fields.get(kept.of_field or "")
            if of is None or of.typed.scalar not in ("int", "float", "Decimal", "bool"):
                raise UnfitError(f"{kept.of}.{kept.of_field} is no number")
            is_whole = decimals == 0 if name == "AverageOf" else of.typed.scalar in ("int", "bool")
            if made.typed.base == "int" and not is_whole:
                raise UnfitError("it is an int, and what it holds has a fraction")
            arguments.append(quoted(of.name))
        if name == "AverageOf":
            beside = {stored_name(f"{made.name}_{part}", self._scope.casing) for part in ("sum", "count")}
            if any(
                each.stored in beside | {f"{made.stored}_sum", f"{made.stored}_count"}
                for each in plan.fields.values()
            ):
                raise UnfitError("its sum and its count are fields already")
            if decimals != 2 and type(decimals) is int and 0 <= decimals <= 38:
                arguments.append(f"decimals={decimals}")
        if kept.when is not None:
            arguments.append(f"when={condition_text(kept.when, child.fields, use)}")
        self._check_children(plan, child, via, kept.when)
        arguments += [f"by={quoted(kept.by)}"] if kept.by != "transaction" else []
        arguments += _via_text(given)
        return f"{use(name)}({', '.join(arguments)})"

    def _copy(self, plan: EntityPlan, kept: CopyBlueprint) -> str:
        source = self._find(kept.of)
        of = source.fields.get(kept.of_field)
        if of is None:
            raise UnfitError(f"{kept.of} has no {kept.of_field}")
        via, given = self._via(source, plan, kept.via)
        self._check_children(source, plan, via, None)
        arguments = [quoted(source.name), quoted(of.name)]
        arguments += [f"by={quoted(kept.by)}"] if kept.by != "stream" else []
        return f"{self._scope.types.imports.use('CopyOf')}({', '.join([*arguments, *_via_text(given)])})"

    def _markers(self, plan: EntityPlan, name: str) -> tuple[Mapping[str, object], ...]:
        return next(each.markers for each in plan.source.attributes if each.name == name)

    def _via(
        self, parent: EntityPlan, child: EntityPlan, said: Mapping[str, str] | None
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the fields of a child that name its parent, by those of the parent's key; and what is said."""
        given = {}
        for name, other in (said or {}).items():
            own, its = parent.fields.get(name), child.fields.get(other)
            if own is None or own.name not in parent.key.reads or its is None:
                raise UnfitError(f"{name} by {other} does not name {parent.source.name}")
            given[own.name] = its.name
        via = {name: given.get(name, name) for name in parent.key.reads}
        missing = [name for name in via.values() if child.named(name) is None]
        if missing:
            raise UnfitError(f"{child.source.name} has no {missing[0]} that names its {parent.source.name}")
        return via, given

    def _check_children(
        self, parent: EntityPlan, child: EntityPlan, via: Mapping[str, str], when: object
    ) -> None:
        known = set(via.values())
        for place in child.places:
            is_known = all(
                part.field in known or _is_counted(part.computed, part.nothing) for part in place.pk.parts
            )
            own = [child.named(name) for name in set(place.reads) - known]
            is_whole = not any(each is not None and each.is_optional for each in own)
            if is_known and (place.index is None or (is_whole and place.source.when in (None, when))):
                return
        raise UnfitError(f"no key finds the {child.source.name} items of one {parent.source.name}")

    # --- ownership

    def _try_owned(self, plan: EntityPlan, name: str) -> None:
        try:
            child = self._find(name)
            if not any(self._is_found(plan, child, place) for place in child.places):
                raise UnfitError(f"no key of {name} is built from fields of {plan.source.name}")
            if child is plan or self._reaches(child, plan):
                raise UnfitError("that goes in a circle")
            if None not in (plan.owner, child.owner) and not self._has_one_owner(plan, child):
                raise UnfitError(f"the owner of one is {plan.owner}, and that of the other {child.owner}")
            if child.name not in plan.owns:
                plan.owns.append(child.name)
        except UnfitError as error:
            plan.notes += opened(f"it owns {name}, and that cannot be said: {error}")

    def _has_one_owner(self, plan: EntityPlan, child: EntityPlan) -> bool:
        return plan.owner == child.owner and plan.owner is not None and self._is_same(plan, child, plan.owner)

    def _reaches(self, start: EntityPlan, wanted: EntityPlan) -> bool:
        left, seen = [start], set[str]()
        while left:
            plan = left.pop()
            if plan is wanted:
                return True
            if plan.name not in seen:
                seen.add(plan.name)
                left += [each for each in self._fit() if each.name in plan.owns]
        return False

    def _is_found(self, owner: EntityPlan, child: EntityPlan, place: PlacePlan) -> bool:
        held = [name for key in owner.key.keys for name in key.plain]
        plain = place.pk.plain
        if not plain or not all(self._is_same(owner, child, name) for name in plain):
            return False
        for part in place.pk.parts:
            if part.computed is None or _is_counted(part.computed, part.nothing):
                continue
            if (
                part.computed != "initial"
                or part.field not in held
                or not self._is_same(owner, child, part.field)
            ):
                return False
        in_key = {name for key in child.key.keys for name in key.plain}
        is_whole = place.index is None or place.index.projection == "ALL"
        shared = {
            name
            for name in held
            if name not in plain and self._is_same(owner, child, name) and (is_whole or name in in_key)
        }
        shared = {name for name in shared if not _is_time(child, name)}
        own = owner.key.sk.plain[-1:] if owner.key.sk is not None else ()
        telling = set(own or owner.key.pk.plain) - set(plain)
        optional = [each for each in map(child.named, place.reads) if each is not None and each.is_optional]
        is_all = place.index is None or (place.when is None and not optional)
        return telling <= shared and is_all

    def _is_same(self, owner: EntityPlan, child: EntityPlan, name: str) -> bool:
        own, its = owner.named(name), child.named(name)
        if own is None or its is None:
            return False
        aliases = {own.typed.alias, its.typed.alias}
        return len(aliases) == 1 or None in aliases


def _is_time(plan: EntityPlan, name: str) -> bool:
    found = plan.named(name)
    return found is not None and found.typed.base in ("datetime", "date")


def _is_counted(computed: str | None, nothing: str | None) -> bool:
    return computed == "shard" or nothing is not None


def _via_text(via: Mapping[str, str]) -> list[str]:
    said = ", ".join(f"{quoted(name)}: {quoted(other)}" for name, other in via.items())
    return [f"via={{{said}}}"] if said else []
