"""The interface of a kind of kept data (`Kind`), and all kinds of one design together (`Kept`).

A kind is a class. A design has one object of it, which holds the resolved declarations of all entities. Writes,
streams, verification, loading and the blueprint call every kind through `Kept`, and name none of them. So a new
kind is a subclass of `Kind` in a module of its own, and an entry in `KINDS`.

All kinds share two things. A `Link` says which parent a child belongs to. A revision is a change that the layer
itself makes to a stored item: it sets attributes, and those of the index keys that change with them, on condition
that everything it was planned from is unchanged (an optimistic lock). A `ParentUpdate` is the change that a write
of a child makes to its parent; the updates of one parent are merged into one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from itertools import product
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeVar

from singletable.blueprint import EntityBlueprint
from singletable.client.calls import Steps
from singletable.design.keys.key import Key, key_of_stored
from singletable.design.model.catalog import Catalog, KeptData
from singletable.design.model.entity import STORED, Entity, key_values
from singletable.design.model.schema import Binding, EntitySchema, KeptNames
from singletable.design.session.action import Action, Order, Refused
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.values.items import AttributeValue, Item, shown_key
from singletable.design.values.markers import Upkeep
from singletable.errors import ConditionNotMetError, DeclarationError, DesignError, NotFoundError

K = TypeVar("K", bound="Kind")


class EntityChange(NamedTuple):
    """An item before and after a write. The write is planned, or was read from a record of the stream."""

    schema: Schema
    before: Entity | None
    after: Entity | None
    event_id: str = ""  # of the stream's record; empty for a planned write

    def is_same(self, names: Iterable[str]) -> bool:
        """Tell whether the item exists before and after the write, with the same values in these fields."""
        before, after = self.before, self.after
        if before is None or after is None:
            return False
        return all(getattr(before, name) == getattr(after, name) for name in names)


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference, and the actions that repair it. Without actions, only a person can decide the repair."""

    entity: str
    key: Item
    field: str
    expected: Any
    found: Any
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Invariant:
    """A rule that every item of an entity must meet.

    `find` compares stored data. The actions of a finding have an optimistic lock: their condition is that this
    data is unchanged. So a repair never undoes a concurrent write.
    """

    find: Callable[[Session, Entity], Steps[list[Finding]]]
    names: frozenset[str] = frozenset()  # the fields or unique values that the rule checks
    derived: str = ""  # the entity of the derived items that the rule checks


@dataclass(frozen=True, slots=True)
class Carrying:
    """Functions that carry out plans. They live in rooms above this one, so callers pass them in."""

    perform: Callable[[Session, Action], Steps[object]]  # one action by itself
    settle: Callable[[Session, Plan], Steps[object]]  # plans and carries out, again after each conflict
    # Idempotent: does nothing if an action of this name was carried out before.
    once: Callable[[Session, str, Action], Steps[None]]


class Kind(ABC):
    """One kind of kept data: the declarations of all entities of a design, and their effects.

    The methods here are the defaults, for a kind that has no part in the question.
    """

    is_checked_last: ClassVar[bool] = False  # set where the repairs of other kinds may repair this kind too
    remembers_records: bool = False  # whether it stores which records of the stream it has seen

    @abstractmethod
    def __init__(self, catalog: Catalog) -> None:
        """Resolve the declarations of all entities, or refuse them."""

    # --- what is declared -------------------------------------------------------------------------------

    @abstractmethod
    def is_in(self, schema: Schema) -> bool:
        """Tell whether items of an entity hold data of this kind."""

    @abstractmethod
    def follows(self, schema: Schema, by: Upkeep) -> bool:
        """Tell whether writes of an entity have effects of this kind: in their transaction, or by the stream."""

    @abstractmethod
    def names(self, schema: Schema) -> KeptNames:
        """Name the fields and attributes of an entity that this kind reads or keeps."""

    @abstractmethod
    def describe(self, schema: Schema, described: EntityBlueprint) -> EntityBlueprint:
        """Return the blueprint of an entity with its declarations of this kind added."""

    def parents(self, schema: Schema) -> Iterable[Link]:
        """Return the links from an entity to the parents that its writes change in the same transaction."""
        return ()

    def sources(self, schema: Schema) -> Iterable[Schema]:
        """Return the entities whose items are loaded before those of an entity."""
        return ()

    def by_stream(self) -> Iterable[Link]:
        """Return the links that are kept by a stream consumer."""
        return ()

    # --- what a caller may write ------------------------------------------------------------------------

    def refuse_write(self, schema: Schema) -> None:
        """Refuse that a caller writes items of an entity."""
        return

    def refuse_changes(self, schema: Schema, names: Collection[str]) -> None:
        """Refuse that a caller changes fields of an entity."""
        return

    def refuse_given(self, schema: Schema, entity: Entity, read: Item | None) -> None:
        """Refuse an entity whose kept fields hold other values than those that were read."""
        return

    def refuse_settled(self, catalog: Catalog, schema: Schema, item: Item) -> None:
        """Refuse an item of a settled load whose values contradict each other."""
        return

    # --- what follows from a write ----------------------------------------------------------------------

    def filled_in(self, session: Session, entity: Entity, *, loads: bool) -> Steps[dict[str, object]]:
        """Return the fields of an entity that are filled in from other items."""
        yield from ()
        return {}

    def effects(self, session: Session, change: EntityChange) -> Steps[list[Action]]:
        """Return the actions on other items that belong to a write, in the same transaction."""
        yield from ()
        return []

    def fan_out(self, session: Session, change: EntityChange) -> Steps[list[Action]]:
        """Return the actions on children that belong to a write. They come after all other effects."""
        yield from ()
        return []

    def on_record(self, session: Session, change: EntityChange, carrying: Carrying) -> Steps[None]:
        """Carry out the effects of a record of the stream. This is idempotent: a second time changes nothing."""
        yield from ()

    # --- what is stored ---------------------------------------------------------------------------------

    def beside(
        self, session: Session, schema: Schema, entity: Entity, kept_by: Sequence[Upkeep]
    ) -> Iterator[Item]:
        """Return the items that are stored with that of an entity. Nothing is read."""
        return iter(())

    def unreadable(self, schema: Schema, item: Item) -> list[str]:
        """Name the attributes of an item whose values this kind cannot have stored."""
        return []

    def invariants(self, schema: Schema) -> Iterator[Invariant]:
        """Return the rules that items of an entity must meet."""
        return iter(())

    def own_check(self, session: Session, item: Item) -> Callable[[], Steps[list[Finding]]] | None:
        """Return the check of an item that belongs to this kind and to no entity; None for other items."""
        return None


class Kept(KeptData):
    """The kept data of a design, of every kind, and the kinds that concern each entity."""

    def __init__(self, catalog: Catalog, kinds: Sequence[type[Kind]]) -> None:
        self._by_type = {kind: kind(catalog) for kind in kinds}
        self.kinds = tuple(self._by_type.values())
        self.remembers_records = any(kind.remembers_records for kind in self.kinds)
        schemas = catalog.schemas.values()
        self._in = {schema: tuple(kind for kind in self.kinds if kind.is_in(schema)) for schema in schemas}
        self._effective = {schema: self._following(schema, "transaction") for schema in schemas}
        self._streamed = {schema: self._following(schema, "stream") for schema in schemas}
        for schema in schemas:
            schema.kept = KeptNames.all(kind.names(schema) for kind in self.kinds)
        self._check_stream(catalog)

    def _following(self, schema: Schema, by: Upkeep) -> tuple[Kind, ...]:
        return tuple(kind for kind in self.kinds if kind.follows(schema, by))

    def _check_stream(self, catalog: Catalog) -> None:
        """Refuse data kept by the stream if the table has no stream, or one without new and old images."""
        for link in (link for kind in self.kinds for link in kind.by_stream()):
            if catalog.table.stream != "NEW_AND_OLD_IMAGES":
                raise DeclarationError(
                    f"{catalog.name}: {link.child.entity.__name__} and {link.parent.entity.__name__} are "
                    f"kept together by the stream, and {catalog.table.__name__}.stream is "
                    f"{catalog.table.stream!r}",
                    hint='stream = "NEW_AND_OLD_IMAGES", or by="transaction"',
                )

    def of(self, kind: type[K]) -> K:
        """Return the object of one kind, with the design's declarations of it."""
        found = self._by_type[kind]
        assert isinstance(found, kind)
        return found

    def kinds_in(self, schema: Schema) -> tuple[Kind, ...]:
        """Return the kinds of data that items of an entity hold."""
        return self._in[schema]

    def streamed_kinds(self, schema: Schema) -> tuple[Kind, ...]:
        """Return the kinds for which a stream record of an entity has effects."""
        return self._streamed[schema]

    def parents(self, schema: Schema) -> Iterator[Link]:
        """Return the links from an entity to the parents that its writes change in the same transaction."""
        return (link for kind in self._effective[schema] for link in kind.parents(schema))

    def effects(self, session: Session, change: EntityChange) -> Steps[list[Action]]:
        """Return the actions on other items that belong to a write, in the same transaction."""
        actions: list[Action] = []
        for kind in self._effective[change.schema]:
            actions += yield from kind.effects(session, change)
        if change.before is not None and change.after is not None:
            for kind in self._effective[change.schema]:
                actions += yield from kind.fan_out(session, change)
        return actions

    def beside(
        self, session: Session, schema: Schema, entity: Entity, kept_by: Sequence[Upkeep]
    ) -> Iterator[Item]:
        """Return the items that are stored with that of an entity. Nothing is read."""
        for kind in self.kinds:
            yield from kind.beside(session, schema, entity, kept_by)

    def invariants(self, schema: Schema) -> Iterator[Invariant]:
        """Return the rules that items of an entity must meet."""
        for kind in sorted(self.kinds, key=lambda kind: kind.is_checked_last):
            yield from kind.invariants(schema)


def kept_of(catalog: Catalog) -> Kept:
    """Return the kept data of a design."""
    kept = catalog.kept
    assert isinstance(kept, Kept)
    return kept


def effects(
    session: Session, schema: Schema, before: Entity | None, after: Entity | None
) -> Steps[list[Action]]:
    """Return the actions on other items that belong to a write, from the entity before and after it."""
    return kept_of(session.catalog).effects(session, EntityChange(schema, before, after))


def filled_in(session: Session, schema: Schema, entity: Entity, *, loads: bool) -> Steps[dict[str, object]]:
    """Return the fields of an entity that are filled in from other items."""
    values: dict[str, object] = {}
    if schema.kept.filled:
        for kind in kept_of(session.catalog).kinds_in(schema):
            values |= yield from kind.filled_in(session, entity, loads=loads)
    return values


Schema: TypeAlias = EntitySchema


@dataclass(frozen=True, slots=True)
class Link:
    """How a child names its parent: for each field of the parent's key, a field of the child."""

    parent: Schema
    child: Schema
    via: Mapping[str, str]

    def parent_key(self, child: Entity) -> Item | None:
        """Return the key of a child's parent; None if it has none."""
        values = {name: getattr(child, field, None) for name, field in self.via.items()}
        if any(value is None for value in values.values()):
            return None
        return self.parent.primary_key_of_values(values)

    def holds(self, parent: Entity, child: Entity) -> bool:
        """Tell whether a child belongs to a parent: its fields have the same values, or give the same key."""
        if all(getattr(child, field, None) == getattr(parent, name) for name, field in self.via.items()):
            return True
        return self.parent_key(child) == self.parent.primary_key(parent)

    def partitions(self, place: Binding, parent: Entity) -> Iterator[Key]:
        """Return the partitions of a place that hold a parent's children: one, or one for each write shard."""
        values = {field: getattr(parent, name, None) for name, field in self.via.items()}
        parts = place.keys.pk.parts
        choices = [
            part.choices if part.choices is not None and part.reads not in values else (part.of(values),)
            for part in parts
        ]
        for chosen in product(*choices):
            named = {part.name: value for part, value in zip(parts, chosen, strict=True)}
            yield key_of_stored(place.keys.pk, named)


# --- revisions ------------------------------------------------------------------------------------------

Changes = Mapping[str, AttributeValue | None]  # by the names of attributes; None removes
Plan = Callable[[], Steps[list[Action]]]

PASSES_MAX: Final = 100  # how often an item that keeps changing is read again
DIGITS: Final = 60  # more than DynamoDB's 38, so that only DynamoDB rounds


class ChangedMeanwhileError(ConditionNotMetError):
    """The optimistic lock failed: the data that a plan was made from has changed. The plan is made again."""


@dataclass(frozen=True, slots=True)
class Planned(Action):
    """An action that is planned at the last moment, from the data that is stored then."""

    plan: Plan | None = None


def planned_later(key: Item, plan: Plan) -> Planned:
    """Return an action that is planned when its turn comes, for targets without transactions."""
    return Planned("Update", key, {}, changed_meanwhile(key), order="after", plan=plan)


def changed_meanwhile(key: Item) -> Refused:
    """Return the function that makes the error of an item that has changed since a plan was made from it."""

    def refused(stored: Item | None) -> DesignError:
        return ChangedMeanwhileError(f"the item {shown_key(key)} has changed meanwhile", hint="try again")

    return refused


def kept_changing(key: Item) -> ChangedMeanwhileError:
    """Return the error of a plan that was given up, because its item changed again and again."""
    return ChangedMeanwhileError(f"the item {shown_key(key)} kept changing", hint="try again later")


def revision(
    session: Session,
    schema: Schema,
    before: Entity,
    changes: Changes,
    *,
    reads: Iterable[str] = (),
    expects: Changes | None = None,
    bumps: bool = False,
    order: Order = "after",
) -> tuple[Action, Entity]:
    """Plan a change of an item that was read, with its index keys. Return the action, and the entity after it.

    `reads` names the fields from which the change was computed. `expects` are attributes that must have these
    values. With `bumps`, the change increments the version of the item.
    """
    stored: Item = before.__dict__[STORED]
    after = schema.to_entity(_changed(stored, changes))
    fields = {schema.by_stored[name].name for name in changes if name in schema.by_stored}
    follow = schema.followers(fields)
    if follow:
        changes = {**changes, **schema.stored_fields(after, follow)}
        fields |= follow
        after.__dict__[STORED] = _changed(stored, changes)
    keys, parts = _key_changes(schema, stored, after, fields)
    into = Placeholders()
    needed = schema.with_sources((*reads, *parts, *follow))
    guarded = {schema.fields[name].stored for name in needed if name in schema.fields}
    terms = [f"attribute_exists({into.name(session.catalog.table.pk)})"]
    terms += unchanged_attributes({name: stored.get(name) for name in {*guarded, *changes}}, into)
    terms += unchanged_attributes(expects or {}, into)
    text = update_text({**changes, **keys}, into)
    if bumps and schema.version is not None:
        text += f" ADD {into.name(schema.version.stored)} {into.value({'N': '1'})}"
    params = into.add_to({"UpdateExpression": text, "ConditionExpression": " AND ".join(terms)})
    key = session.catalog.key_in(stored)
    return Action("Update", key, params, changed_meanwhile(key), order), after


def _changed(stored: Item, changes: Changes) -> Item:
    item = {name: value for name, value in stored.items() if name not in changes}
    item.update({name: value for name, value in changes.items() if value is not None})
    return item


def _key_changes(
    schema: Schema, stored: Item, after: Entity, fields: set[str]
) -> tuple[dict[str, AttributeValue | None], set[str]]:
    """Return the attributes of index keys that change, and the fields that they are built from."""
    changes: dict[str, AttributeValue | None] = {}
    parts: set[str] = set()
    values = key_values(after)
    for binding in schema.indexes:
        if not binding.reads() & (fields | schema.properties):
            continue
        parts |= binding.reads()
        rendered = binding.render(values)
        for name in binding.written():
            if rendered.get(name) != stored.get(name):
                changes[name] = rendered.get(name)
    return changes, parts - fields


def unchanged_attributes(attributes: Mapping[str, AttributeValue | None], into: Placeholders) -> list[str]:
    """Write the conditions that attributes have these values; None for an attribute that must not exist."""
    return [
        f"attribute_not_exists({into.name(name)})"
        if value is None
        else f"{into.name(name)} = {into.value(value)}"
        for name, value in sorted(attributes.items())
    ]


def update_text(changes: Changes, into: Placeholders) -> str:
    """Write the changes as an update expression."""
    sets = [
        f"{into.name(name)} = {into.value(value)}" for name, value in changes.items() if value is not None
    ]
    removes = [into.name(name) for name, value in changes.items() if value is None]
    parts = [f"SET {', '.join(sets)}"] if sets else []
    parts += [f"REMOVE {', '.join(removes)}"] if removes else []
    return " ".join(parts)


# --- what children ask of their parents ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentUpdate(Action):
    """The change that a write of a child makes to its parent: numbers to add, and values that it must have."""

    schema: Schema  # of the parent
    deltas: Mapping[str, Decimal] = field(default_factory=dict)  # by the names of attributes
    expects: Changes = field(default_factory=dict)
    needs_parent: bool = True  # if False, a missing parent is no error, and nothing is done

    def merged(self, other: ParentUpdate) -> ParentUpdate:
        """Merge two updates of the same parent into one."""
        return replace(
            other,
            deltas=added(self.deltas, other.deltas),
            expects={**self.expects, **other.expects},
            needs_parent=self.needs_parent or other.needs_parent,
        )

    def without_zeros(self) -> ParentUpdate:
        if all(self.deltas.values()):
            return self
        return replace(self, deltas={name: delta for name, delta in self.deltas.items() if delta})

    def additions(self, into: Placeholders) -> str:
        """Write the numbers to add, as the text of an ADD clause."""
        return ", ".join(
            f"{into.name(name)} {into.value(number(delta))}" for name, delta in self.deltas.items()
        )

    def no_parent(self) -> NotFoundError:
        """Return the error that the parent of a child does not exist."""
        name = self.schema.entity.__name__
        return NotFoundError(
            f"there is no {name} {shown_key(self.key)}, which counts what belongs to it",
            hint=f"create the {name} first, or both in a transaction",
        )


def parent_update(
    parent: Schema,
    key: Item,
    *,
    deltas: Mapping[str, Decimal] | None = None,
    expects: Changes | None = None,
    needs_parent: bool = True,
) -> ParentUpdate:
    """Return the update of a parent."""
    return ParentUpdate(
        kind="Update",
        key=key,
        params={},
        refused=changed_meanwhile(key),
        order="after",
        schema=parent,
        deltas=deltas or {},
        expects=expects or {},
        needs_parent=needs_parent,
    )


def added(first: Mapping[str, Decimal], second: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Add up numbers by name, exactly."""
    with localcontext() as context:
        context.prec = DIGITS
        return {
            name: first.get(name, Decimal(0)) + second.get(name, Decimal(0)) for name in {**first, **second}
        }


def number(value: Decimal) -> AttributeValue:
    """Return the attribute value of a number, in its shortest form."""
    with localcontext() as context:
        context.prec = DIGITS
        return {"N": format(value.normalize() if value else Decimal(0), "f")}
