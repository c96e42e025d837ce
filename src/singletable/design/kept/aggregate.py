"""Aggregates: fields in which an entity counts, adds up or averages the items that belong to it.

    likes_count: Annotated[int, CountOf("Reaction")] = 0

A write of a child adds to numbers of its parent, or subtracts from them. The updates of one parent are summed into
one. Most are a plain ADD, without a read. Where other values depend on the number (an average, an index key, a
derived item), the parent is read first and then written under an optimistic lock: the numbers must be unchanged.

When the time to live removes a child, there is no write. A counter kept by transactions then stays too high until
`verify` repairs it. A counter kept by the stream sees the removal.

To add an aggregate, write a marker class here. It says which field it reads, what a child adds, and how the
numbers become the stored value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from functools import partial
from typing import Any, ClassVar, Final, TypeVar, get_args

from singletable.blueprint import AggregateBlueprint, EntityBlueprint
from singletable.client.calls import Steps
from singletable.design.kept.kind import (
    DIGITS,
    Carrying,
    ChangedMeanwhileError,
    Changes,
    EntityChange,
    Finding,
    Invariant,
    Kind,
    Link,
    ParentUpdate,
    Schema,
    added,
    effects,
    kept_of,
    number,
    parent_update,
    revision,
    unchanged_attributes,
)
from singletable.design.kept.links import grouped, link_of, place_of_children, read_children, require_field_of
from singletable.design.model.catalog import Catalog
from singletable.design.model.entity import (
    STORED,
    Entity,
    as_far_as_readable,
    key_values,
    require_whole,
    unfit_fields,
)
from singletable.design.model.schema import Binding, KeptNames
from singletable.design.session.action import Action
from singletable.design.session.expressions import Placeholders, of_entity
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_stored
from singletable.design.values.condition_values import declared_condition
from singletable.design.values.conditions import Condition, condition_data, fields_of, holds
from singletable.design.values.fields import FieldCodec, marked_fields, stored_name
from singletable.design.values.items import (
    NULL,
    AttributeValue,
    Item,
    KeyId,
    decode,
    decode_any,
    hashable,
    shown_key,
)
from singletable.design.values.markers import KeptField, Upkeep
from singletable.errors import (
    ConditionNotMetError,
    DeclarationError,
    DesignError,
    InvalidItemError,
    InvalidWriteError,
)

E = TypeVar("E", bound=Entity)
Counted = tuple[Item, dict[str, Decimal]]  # the key of a parent, and what a child adds to it
_NUMBERS: Final = frozenset({int, float, Decimal})


# --- markers ------------------------------------------------------------------------------------------------


class Aggregate(KeptField, ABC):
    """A number that is computed from the child items of another entity."""

    __slots__ = ()

    _kind: ClassVar[str]  # as the blueprint calls it
    _parts: ClassVar[tuple[str, ...]] = ()  # numbers stored beside the field, if it is computed from several

    child: type[Any] | str
    when: Condition | None
    by: Upkeep
    via: Mapping[str, str] | None

    @property
    def _read_field(self) -> str | None:
        """The field of the children that the aggregate reads."""
        return None

    @abstractmethod
    def _amounts(self, child: Entity) -> Sequence[Decimal]:
        """Return what a child adds: to the field, or to each of the parts; empty if the child does not count."""

    def _value(self, numbers: Sequence[Decimal], empty: AttributeValue | None) -> AttributeValue | None:
        """Return the stored value of the field, from its parts; `empty` is the value without children."""
        return number(numbers[0])

    def _check(self, where: str, child: Schema, types: Collection[type]) -> None:
        """Refuse a child's field that cannot be aggregated, or an own field of `types` that cannot hold it."""


class _OfField(Aggregate):
    """An aggregate of the numbers in one field of the children."""

    __slots__ = ()

    field: str

    @property
    def _read_field(self) -> str:
        return self.field

    def _number_of(self, child: Entity) -> Decimal | None:
        value = getattr(child, self.field)
        if value is None:
            return None
        return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)

    def _check(self, where: str, child: Schema, types: Collection[type]) -> None:
        require_field_of(where, child, self.field, "adds up")
        read = _types(child, self.field)
        if not read <= {*_NUMBERS, bool}:
            raise DeclarationError(
                f"{where} adds up {child.entity.__name__}.{self.field}, which is no number"
            )
        if set(types) == {int} and not self._is_whole(read):
            raise DeclarationError(
                f"{where} is an int, and what it holds has a fraction", hint="make it a Decimal"
            )

    def _is_whole(self, read: Collection[type]) -> bool:
        """Tell whether the result has no fraction, by the types of the field that is read."""
        return set(read) <= {int, bool}


@dataclass(frozen=True, slots=True)
class CountOf(Aggregate):
    """The field counts the items of another entity that belong to this one."""

    _kind: ClassVar[str] = "count"

    child: type[Any] | str
    when: Condition | None = None
    by: Upkeep = "transaction"
    via: Mapping[str, str] | None = None

    def _amounts(self, child: Entity) -> Sequence[Decimal]:
        return (Decimal(1),)


@dataclass(frozen=True, slots=True)
class SumOf(_OfField):
    """The field adds up a field of the items that belong to this one."""

    _kind: ClassVar[str] = "sum"

    child: type[Any] | str
    field: str
    when: Condition | None = None
    by: Upkeep = "transaction"
    via: Mapping[str, str] | None = None

    def _amounts(self, child: Entity) -> Sequence[Decimal]:
        amount = self._number_of(child)
        return () if amount is None else (amount,)


@dataclass(frozen=True, slots=True)
class AverageOf(_OfField):
    """The field is the mean of a field of the items that belong to this one, rounded to so many decimals."""

    _kind: ClassVar[str] = "average"
    _parts: ClassVar[tuple[str, ...]] = ("sum", "count")

    child: type[Any] | str
    field: str
    decimals: int = 2
    when: Condition | None = None
    by: Upkeep = "transaction"
    via: Mapping[str, str] | None = None

    def _amounts(self, child: Entity) -> Sequence[Decimal]:
        amount = self._number_of(child)
        return () if amount is None else (amount, Decimal(1))

    def _value(self, numbers: Sequence[Decimal], empty: AttributeValue | None) -> AttributeValue | None:
        total, count = numbers
        if not count:
            return empty
        with localcontext() as context:
            context.prec = DIGITS
            mean = total / count
            return number(mean.quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_EVEN))

    def _is_whole(self, read: Collection[type]) -> bool:
        return self.decimals == 0


AGGREGATES: Final[dict[str, type[Aggregate]]] = {each._kind: each for each in (CountOf, SumOf, AverageOf)}


def names_beside(field: str, kind: str) -> list[str]:
    """Name the attributes that are stored beside a field, by the aggregate's kind in the blueprint."""
    return [f"{field}_{part}" for part in AGGREGATES[kind]._parts]


# --- declarations -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate of a design: the field of a parent, and the attributes that hold its numbers."""

    link: Link
    place: Binding
    field: str
    marker: Aggregate
    when: Condition | None  # the marker's condition, with values converted to the types of the child's fields
    stored: str
    numbers: tuple[str, ...]  # the attributes that are added to: those beside the field, or the field's own

    @property
    def by(self) -> Upkeep:
        return self.marker.by

    @property
    def has_parts(self) -> bool:
        """Whether the field is computed from numbers stored beside it."""
        return bool(self.marker._parts)

    def reads(self) -> frozenset[str]:
        """Name the fields of a child that decide its amounts."""
        field = self.marker._read_field
        condition = () if self.when is None else fields_of(self.when)
        return frozenset((*self.link.via.values(), *(() if field is None else (field,)), *condition))

    def amounts(self, child: Entity) -> dict[str, Decimal]:
        """Return the amounts that a child adds to the attributes of its parent."""
        if self.when is not None and not holds(self.when, key_values(child)):
            return {}
        return dict(zip(self.numbers, self.marker._amounts(child), strict=False))

    def total(self, children: Iterable[Entity]) -> dict[str, Decimal]:
        """Return the numbers of a parent, added up over all its children."""
        sums = dict.fromkeys(self.numbers, Decimal(0))
        with localcontext() as context:
            context.prec = DIGITS
            for child in children:
                for name, amount in self.amounts(child).items():
                    sums[name] += amount
        return sums

    def value(self, numbers: Mapping[str, Decimal]) -> AttributeValue | None:
        """Return the stored value of the field; None if there are no numbers and the field may be empty."""
        default = self.link.parent.entity.model_fields[self.field].default
        empty = None if default is None else number(Decimal(0))
        return self.marker._value([numbers[name] for name in self.numbers], empty)


class Aggregates(Kind):
    """The aggregates of a design."""

    def __init__(self, catalog: Catalog) -> None:
        schemas = catalog.schemas.values()
        self.all = [each for schema in schemas for each in _resolved(catalog, schema)]
        self._in = grouped(self.all, lambda each: each.link.parent)
        self._of = grouped(self.all, lambda each: (each.link.child, each.by))
        self.remembers_records = any(each.by == "stream" for each in self.all)

    def of_parent(self, schema: Schema) -> tuple[Aggregated, ...]:
        """Return the aggregates that an entity has."""
        return self._in.get(schema, ())

    def of_child(self, schema: Schema, by: Upkeep) -> tuple[Aggregated, ...]:
        """Return the aggregates that count items of an entity."""
        return self._of.get((schema, by), ())

    def is_in(self, schema: Schema) -> bool:
        return schema in self._in

    def follows(self, schema: Schema, by: Upkeep) -> bool:
        return (schema, by) in self._of

    def names(self, schema: Schema) -> KeptNames:
        own, reads = self.of_parent(schema), [each.reads() for each in self.of_child(schema, "transaction")]
        return KeptNames(
            effect_reads=schema.with_sources(name for names in reads for name in names),
            counted=frozenset(each.field for each in own),
            attributes=frozenset(name for each in own for name in (each.stored, *each.numbers)),
        )

    def parents(self, schema: Schema) -> Iterable[Link]:
        return [each.link for each in self.of_child(schema, "transaction")]

    def sources(self, schema: Schema) -> Iterable[Schema]:
        return [each.link.parent for each in self.of_child(schema, "stream")]

    def by_stream(self) -> Iterable[Link]:
        return [each.link for each in self.all if each.by == "stream"]

    def describe(self, schema: Schema, described: EntityBlueprint) -> EntityBlueprint:
        return replace(described, aggregates=tuple(map(_described, self.of_parent(schema))))

    def refuse_changes(self, schema: Schema, names: Collection[str]) -> None:
        for name in sorted(schema.kept.counted.intersection(names)):
            raise InvalidWriteError(
                f"{schema.entity.__name__}.{name} is counted by the layer",
                hint="verify(repair=True) counts again",
            )

    def refuse_given(self, schema: Schema, entity: Entity, read: Item | None) -> None:
        for name in sorted(schema.kept.counted):
            value = entity.__dict__.get(name)
            if not value or value == schema.entity.model_fields[name].get_default(call_default_factory=True):
                continue
            if read is None or not _was_read(schema.fields[name], value, read):
                raise InvalidWriteError(
                    f"{schema.entity.__name__}.{name} is counted by the layer, and {value!r} is given for it",
                    hint="leave it out, and it follows; load(..., settled=True) writes numbers as they stand",
                )

    def effects(self, session: Session, change: EntityChange) -> Steps[list[Action]]:
        yield from ()
        return [*self._updates(change, "transaction")]

    def on_record(self, session: Session, change: EntityChange, carrying: Carrying) -> Steps[None]:
        # A stream may deliver a record twice. Idempotency: the number is added together with a guard item that
        # remembers the record.
        for update in self._updates(change, "stream"):
            name = f"{change.event_id}#{update.schema.name}#{shown_key(update.key)}"
            yield from carrying.once(session, name, replace(update, needs_parent=True))

    def _updates(self, change: EntityChange, by: Upkeep) -> list[ParentUpdate]:
        """Return the updates of parents that count an entity, for one write of it."""
        schema, before, after, _ = change
        found: dict[KeyId, ParentUpdate] = {}
        for each in self.of_child(schema, by):
            new = None if after is None else _counted(each, after)
            old = None if before is None else _counted_before(each, before, new)
            for counted, sign in ((old, -1), (new, 1)):
                if counted is None:
                    continue
                key, amounts = counted
                deltas = {name: sign * amount for name, amount in amounts.items()}
                joins = sign > 0 and (old is None or key != old[0])
                update = parent_update(each.link.parent, key, deltas=deltas, needs_parent=joins)
                name = hashable(key)
                found[name] = found[name].merged(update) if name in found else update
        return [update.without_zeros() for update in found.values() if any(update.deltas.values())]

    def refuse_settled(self, catalog: Catalog, schema: Schema, item: Item) -> None:
        """Refuse an item whose average disagrees with the sum and the count beside it."""
        for each in self.of_parent(schema):
            if each.has_parts and not _agrees(each, item):
                raise InvalidWriteError(
                    f"{schema.entity.__name__} {shown_key(catalog.key_in(item))} has an {each.marker._kind}, "
                    f"{each.field}, that is not that of the {' and the '.join(each.marker._parts)} which belong "
                    "to it",
                    hint="counted(entity, children) of the design gives an entity all its numbers",
                )

    def unreadable(self, schema: Schema, item: Item) -> list[str]:
        """Name the counted attributes of an item that hold no number, or one that does not fit the field."""
        counted = schema.kept.attributes & item.keys()
        bare = {name: value for name, value in item.items() if name not in counted}
        can_fit = _fits(schema, bare)
        return [
            name
            for name in sorted(counted)
            if "N" not in item[name] or (can_fit and not _fits(schema, {**bare, name: item[name]}))
        ]

    def invariants(self, schema: Schema) -> Iterator[Invariant]:
        for each in self.of_parent(schema):
            yield Invariant(partial(_differences, each), frozenset({each.field}))


def aggregates_of(catalog: Catalog) -> Aggregates:
    """Return the aggregates of a design."""
    return kept_of(catalog).of(Aggregates)


def _resolved(catalog: Catalog, parent: Schema) -> Iterator[Aggregated]:
    for field, marker in marked_fields(parent.entity, Aggregate):
        where = f"{parent.entity.__name__}.{field}"
        child = catalog.resolve(marker.child)
        link = link_of(where, parent, child, marker.via)
        if field in parent.with_sources(parent.key.keys.reads()):
            raise DeclarationError(f"{where} is counted, and part of the key, which never changes")
        types = _types(parent, field)
        marker._check(where, child, types)
        if not types or not types <= _NUMBERS:
            raise DeclarationError(
                f"{where} is counted, and is no number", hint=f"{field}: Annotated[int, ...] = 0"
            )
        when = None
        if marker.when is not None:
            of = f"{where}: the condition of {type(marker).__name__}"
            when = declared_condition(of, child.entity, marker.when)
        stored = parent.fields[field].stored
        beside = tuple(stored_name(f"{field}_{part}", catalog.casing) for part in marker._parts)
        _refuse_taken(where, parent, marker, beside)
        place = place_of_children(where, link, when)
        yield Aggregated(link, place, field, marker, when, stored, beside or (stored,))


def _types(schema: Schema, field: str) -> set[type]:
    """Return the types that a field can have, without None."""
    annotation = schema.entity.model_fields[field].annotation
    annotation = getattr(annotation, "__supertype__", annotation)
    members = {member for member in get_args(annotation) if member is not type(None)}
    members = {getattr(member, "__supertype__", member) for member in members}
    if str(getattr(annotation, "__origin__", "")).endswith("Literal"):
        return {type(member) for member in members}
    if any(get_args(member) for member in members):
        return {
            inner if isinstance(inner, type) else type(inner)
            for m in members
            for inner in get_args(m) or (m,)
        }
    return members or {annotation}


def _refuse_taken(where: str, parent: Schema, marker: Aggregate, names: Sequence[str]) -> None:
    for name in names:
        if name in parent.by_stored:
            raise DeclarationError(
                f"{where} keeps its {' and '.join(marker._parts)} as {' and '.join(names)}, and {name} is a field "
                "already",
                hint="give the field another name",
            )


def _described(each: Aggregated) -> AggregateBlueprint:
    marker = each.marker
    return AggregateBlueprint(
        field=each.field,
        kind=marker._kind,
        of=each.link.child.entity.__name__,
        of_field=marker._read_field,
        when=None if marker.when is None else condition_data(marker.when),
        by=marker.by,
        via=marker.via,
    )


# --- what a child adds --------------------------------------------------------------------------------------


def _counted(each: Aggregated, child: Entity) -> Counted | None:
    """Return the parent that counts a child, and the child's amounts; None if the child has no parent."""
    key = each.link.parent_key(child)
    return None if key is None else (key, each.amounts(child))


def _counted_before(each: Aggregated, before: Entity, after: Counted | None) -> Counted | None:
    """Return the amounts of a stored child; of an unfit child that cannot be read, those after the write."""
    wrong = unfit_fields(before) & each.reads()
    if any(before.__dict__.get(name) is None for name in wrong):
        return after
    return as_far_as_readable(before, partial(_counted, each, before), after)


# --- what a parent stores -----------------------------------------------------------------------------------


def stored_number(item: Mapping[str, AttributeValue], name: str) -> Decimal:
    """Return the number that an attribute holds; 0 if there is none."""
    return Decimal(item.get(name, {}).get("N", "0"))


def _stored_changes(catalog: Catalog, schema: Schema, numbers: Mapping[str, Decimal]) -> Changes:
    """Return the attributes of a parent that hold these numbers, and the fields that are computed from them."""
    changes: dict[str, AttributeValue | None] = {name: number(value) for name, value in numbers.items()}
    for each in aggregates_of(catalog).of_parent(schema):
        if each.has_parts and each.numbers[0] in numbers:
            changes[each.stored] = each.value(numbers)
    return changes


def _updated(catalog: Catalog, update: ParentUpdate) -> list[Aggregated]:
    """Return the aggregates of a parent that an update changes."""
    return [
        each
        for each in aggregates_of(catalog).of_parent(update.schema)
        if not update.deltas.keys().isdisjoint(each.numbers)
    ]


def follow_ups(session: Session, update: ParentUpdate) -> tuple[bool, bool]:
    """Tell whether an update of a parent has effects on other items, and whether it must read the parent.

    It must read the parent if other values depend on its numbers: an average, a computed field, an index key.
    """
    schema, updated = update.schema, _updated(session.catalog, update)
    names = {each.field for each in updated}
    has_effects = not names.isdisjoint(schema.kept.effect_reads)
    is_read = (
        has_effects
        or any(each.has_parts for each in updated)
        or bool(schema.computed and schema.followers(names))
        or any(binding.reads() & names for binding in schema.indexes)
    )
    return has_effects, is_read


def _numbers_after(catalog: Catalog, update: ParentUpdate, item: Item) -> dict[str, Decimal]:
    """Return the numbers of a stored parent after an update; for an average, both the sum and the count."""
    # The order is always the same, so that equal changes give equal requests.
    names = dict.fromkeys(
        [*update.deltas, *(name for each in _updated(catalog, update) for name in each.numbers)]
    )
    return added({name: stored_number(item, name) for name in names}, update.deltas)


def counted_item(session: Session, item: Item, update: ParentUpdate) -> Item:
    """Return the item of a parent that is put, with the amounts of its children added."""
    catalog, schema = session.catalog, update.schema
    changes = _stored_changes(catalog, schema, _numbers_after(catalog, update, item))
    counted = {**item, **{name: value for name, value in changes.items() if value is not None}}
    entity = schema.to_entity(counted)
    follow = schema.followers(each.field for each in _updated(catalog, update))
    for name, value in schema.stored_fields(entity, follow).items():
        counted.pop(name, None)
        counted |= {} if value is None else {name: value}
    return {**counted, **schema.key_attributes(entity)}


def parent_actions(session: Session, update: ParentUpdate) -> Steps[list[Action]]:
    """Plan the update of one parent: by ADD if no other value depends on it, otherwise from the stored item."""
    schema, (follows, is_read) = update.schema, follow_ups(session, update)
    if not is_read and (update.needs_parent or not update.deltas):
        return [_addition(session, update, is_known=False)]
    parent = yield from read_stored(session, schema, update.key)
    if parent is None:
        if update.needs_parent:
            raise update.no_parent()
        return []
    if not is_read:
        return [_addition(session, update, is_known=True)]
    numbers = _numbers_after(session.catalog, update, parent.__dict__[STORED])
    changes = _stored_changes(session.catalog, schema, numbers)
    reads = schema.kept.effect_reads if follows else ()
    action, after = revision(
        session, schema, parent, changes, reads=reads, expects=update.expects, order="item"
    )
    return [action, *((yield from effects(session, schema, parent, after)) if follows else ())]


def _addition(session: Session, update: ParentUpdate, *, is_known: bool) -> Action:
    """Plan the update of a parent without reading it: an ADD, or only a condition check."""
    into = Placeholders()
    pk = into.name(session.catalog.table.pk)
    terms = unchanged_attributes(update.expects, into)
    if not update.deltas:
        text = " AND ".join(terms)
        params = into.add_to({"ConditionExpression": f"attribute_not_exists({pk}) OR ({text})"})
        return Action("ConditionCheck", update.key, params, update.refused, order="item")
    params = {
        "UpdateExpression": f"ADD {update.additions(into)}",
        "ConditionExpression": " AND ".join(
            [f"attribute_exists({pk})", of_entity(session, update.schema, update.key, into), *terms]
        ),
    }

    def refused(stored: Item | None) -> DesignError:
        is_there = stored is not None and session.catalog.schema_of(stored) is update.schema
        return update.refused(stored) if is_known or is_there else update.no_parent()

    return Action("Update", update.key, into.add_to(params), refused, order="item")


# --- a parent that a caller writes --------------------------------------------------------------------------


def _was_read(codec: FieldCodec, value: object, read: Item) -> bool:
    given = NULL if value is None else codec.encode(value)
    stored = read.get(codec.stored, NULL)
    if "N" not in given or "N" not in stored:
        return given == stored
    return Decimal(given["N"]) == Decimal(stored["N"])


def with_stored_numbers(
    session: Session, schema: Schema, after: Entity, before: Entity | None, *, read: Item | None = None
) -> Entity:
    """Return an entity to be put, with the stored numbers; if nothing is stored, with those that were read."""
    names = schema.kept.attributes
    own: Item = after.__dict__.get(STORED) or {}
    counted: Item = _beside(session, schema, after, read) if before is None else before.__dict__[STORED]
    kept = schema.kept.counted if before is not None else frozenset()
    wrong = unfit_fields(before) & kept
    if wrong:
        what = f"{' and '.join(sorted(wrong))} cannot be read"
        raise schema.unfit(counted, what, hint="db.verify(repair=True) counts again")
    entity = after.model_copy(update={name: getattr(before, name) for name in kept})
    entity.__dict__.update(schema.computed_values(entity.__dict__, schema.followers(kept)))
    entity.__dict__[STORED] = _with_numbers(own, counted, names)
    return entity


def _beside(session: Session, schema: Schema, after: Entity, read: Item | None) -> Item:
    """Return the sums and counts, as they were read, of the averages that the caller has not changed."""
    beside: Item = {}
    if read is None:
        return beside
    for each in aggregates_of(session.catalog).of_parent(schema):
        if _was_read(schema.fields[each.field], getattr(after, each.field), read):
            beside |= {name: read[name] for name in each.numbers if name in read}
    return beside


def with_current_numbers(
    session: Session, schema: Schema, before: Entity, needed: Iterable[str]
) -> Steps[Entity]:
    """Return an entity as it was read; if its numbers are needed and it still exists, with its current numbers."""
    if not schema.kept.counted.intersection(needed):
        return before
    now = yield from read_stored(session, schema, schema.primary_key(before))
    if now is None:
        return before
    stored: Item = before.__dict__.get(STORED) or schema.to_item(before)
    return schema.to_entity(_with_numbers(stored, now.__dict__[STORED], schema.kept.attributes))


def _with_numbers(item: Item, counted: Item, names: frozenset[str]) -> Item:
    own = {name: value for name, value in item.items() if name not in names}
    return {**own, **{name: value for name, value in counted.items() if name in names}}


def same_numbers(schema: Schema, before: Entity | None, into: Placeholders) -> list[str]:
    """Write the condition that the counted attributes of an item are as they were read."""
    stored: Item | None = None if before is None else before.__dict__.get(STORED)
    if stored is None:
        return []
    return unchanged_attributes({name: stored.get(name) for name in schema.kept.attributes}, into)


def unless_counted(
    schema: Schema, when: Condition | None, stored: Item | None, error: DesignError
) -> DesignError:
    """Return the error of a refused write; if only counted numbers have changed, one that plans it again."""
    if type(error) is not ConditionNotMetError or stored is None or not schema.kept.counted:
        return error
    try:
        entity = schema.to_entity(stored)
    except InvalidItemError:
        return error
    if when is not None and not holds(when, key_values(entity)):
        return error
    return ChangedMeanwhileError(error.message, hint=error.hint)


# --- entities that agree with each other --------------------------------------------------------------------


def counted_entity(catalog: Catalog, entity: E, children: Iterable[Entity]) -> E:
    """Return an entity with numbers counted from those of `children` that belong to it."""
    schema, known = catalog.schema_for(type(entity)), list(children)
    for child in known:
        require_whole(child, "what is counted is an entity")
    changes: dict[str, AttributeValue | None] = {}
    for each in aggregates_of(catalog).of_parent(schema):
        counted = [child for child in known if type(child) is each.link.child.entity]
        numbers = each.total(child for child in counted if each.link.holds(entity, child))
        changes.update(_stored_changes(catalog, schema, numbers))
    return _with_changes(schema, entity, changes)


def _with_changes(schema: Schema, entity: E, changes: Changes) -> E:
    values: dict[str, object] = {}
    beside: Item = {}
    for stored, value in changes.items():
        if stored in schema.by_stored:
            name = schema.by_stored[stored].name
            values[name] = None if value is None else schema.valid_field(name, decode(value))
        elif value is not None:
            beside[stored] = value
    counted = entity.model_copy(update=values)
    counted.__dict__.update(schema.computed_values(counted.__dict__, schema.followers(values)))
    if beside:  # kept in the stored item, as attributes that are no fields are after a read
        counted.__dict__[STORED] = {**schema.to_item(counted), **beside}
    return counted


def _agrees(each: Aggregated, item: Item) -> bool:
    """Tell whether the field of an item agrees with the numbers beside it."""
    value = each.value({name: stored_number(item, name) for name in each.numbers})
    found = item.get(each.stored)
    return value == found or (value is not None and found is not None and decode(value) == decode(found))


# --- what must hold -----------------------------------------------------------------------------------------


def _fits(schema: Schema, item: Item) -> bool:
    try:
        schema.to_entity(item)
    except InvalidItemError:
        return False
    return True


def _differences(each: Aggregated, session: Session, parent: Entity) -> Steps[list[Finding]]:
    """Find numbers of an item that differ from a count of its children."""
    schema = each.link.parent
    item: Item = parent.__dict__[STORED]
    key = schema.primary_key(parent)
    try:
        expected = each.total((yield from read_children(session, each.link, each.place, parent)))
    except InvalidItemError as error:
        # An unreadable child still counts, so its parent's number cannot be repaired without it.
        return [Finding(schema.name, key, each.field, "children that can be read", error.message)]
    found = {name: stored_number(item, name) for name in expected}
    wrong = [name for name in expected if expected[name] != found[name]]
    changes: dict[str, AttributeValue | None] = {name: {"N": str(expected[name])} for name in wrong}
    shown: list[tuple[str, Any, Any]] = [(name, expected[name], found[name]) for name in wrong]
    if each.has_parts:
        value, is_value = each.value(expected), item.get(each.stored)
        if decode_any(value) != decode_any(is_value) and (value is not None or is_value is not None):
            changes[each.stored] = value
            shown.append((each.stored, decode_any(value), decode_any(is_value)))
    if not changes:
        return []
    # The condition covers all numbers beside the field: none may change between the read and the write.
    changes = {**{name: item[name] for name in each.numbers if name in item}, **changes}
    reads = schema.kept.effect_reads if each.field in schema.kept.effect_reads else ()
    action, after = revision(session, schema, parent, changes, reads=reads, order="item")
    actions = [action, *((yield from effects(session, schema, parent, after)) if reads else ())]
    return [
        Finding(schema.name, key, schema.name_of(name), should_be, is_now, tuple(actions))
        for name, should_be, is_now in shown
    ]
