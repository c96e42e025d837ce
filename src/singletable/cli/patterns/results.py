"""Plans carried out: what was found or written, as items, with where to go on and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.messages import WrongUseError
from singletable.cli.patterns.plain_json import plain_item, shown_item
from singletable.design import BatchGet, Collect, Create, Delete, Merged, Put, Query, Update, Usage
from singletable.design.design import Writer
from singletable.design.model.entity import entity_type
from singletable.design.plans.plan import Many, Plan, Single
from singletable.design.plans.reader import Reader
from singletable.design.writes.write import WritePlan

if TYPE_CHECKING:
    from singletable.design.model.schema import EntitySchema
    from singletable.design.session.session import Session
    from singletable.design.values.items import Item

PAGE_LIMIT: Final = 20
_DONE: Final = {Create: "created", Put: "put", Update: "updated", Delete: "deleted"}


@dataclass(frozen=True, slots=True)
class Shown:
    """An item, with the entity that it is of."""

    schema: EntitySchema
    item: Item

    @property
    def key(self) -> Item:
        names = self.schema.table.key_attributes()
        return {name: self.item[name] for name in names if name in self.item}


@dataclass(slots=True)
class PatternOutcome:
    """What a pattern has found or written.

    Items are in groups: one without a name, or one for each field of a collection.
    """

    groups: dict[str, list[Shown]] = field(default_factory=dict)
    cursor: str | None = None
    usage: Usage = field(default_factory=Usage)
    missing: list[Item] | None = None
    done: str | None = None
    is_single: bool = False
    refusal: dict[str, Any] | None = None

    @property
    def items(self) -> list[Shown]:
        return [shown for group in self.groups.values() for shown in group]

    @property
    def is_no(self) -> bool:
        """Whether what was asked for by its key is not there, or a write was refused."""
        is_missed = (self.is_single or self.missing is not None) and self.done is None and not self.items
        return is_missed or self.refusal is not None

    def data(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        data: dict[str, Any] = {
            "items": [plain_item(shown.item) for shown in self.items],
            "cursor": self.cursor,
            **usage_data(self.usage),
        }
        if "" not in self.groups and self.groups:
            data["fields"] = {name: len(group) for name, group in self.groups.items()}
        if self.missing is not None:
            data["missing"] = [plain_item(key) for key in self.missing]
        if self.done is not None:
            data["write"] = self.done
        if self.refusal is not None:
            data["refused"] = self.refusal
        return data


def usage_data(usage: Usage) -> dict[str, Any]:
    """Return what something has cost, as JSON can hold it."""
    return {"units": usage.units, "read": usage.read, "thrown_away": usage.thrown_away}


class PatternRun:
    """A plan on a session, to be carried out."""

    def __init__(self, plan: Any, session: Session, *, shows_bookkeeping: bool = False) -> None:
        self._session = session
        self._shows_bookkeeping = shows_bookkeeping
        self.plan = plan.on(Reader(session) if isinstance(plan, Plan) else Writer(session))

    @property
    def reads_many(self) -> bool:
        return isinstance(self.plan, Many)

    @property
    def deletes(self) -> bool:
        return isinstance(self.plan, Delete)

    @property
    def writes(self) -> str | None:
        """Return what is done when the plan writes."""
        return _DONE[type(self.plan)] if isinstance(self.plan, WritePlan) else None

    def order(self, *, newest_first: bool) -> None:
        """Read from one end or from the other."""
        if not isinstance(self.plan, Query | Merged):
            raise WrongUseError(
                "this pattern has an order of its own", hint="leave --newest-first and --oldest-first out"
            )
        self.plan = self.plan.newest_first() if newest_first else self.plan.oldest_first()

    def limit(self, count: int) -> bool:
        """Read so many items at most, of a plan without pages; tell whether that can be said of it."""
        match self.plan:
            case Single():  # one thing at most, with all that belongs to it
                return True
            case BatchGet():
                self.plan = self.plan.with_(keys=self.plan.keys[:count])
                return True
            case _:
                return False

    def outcome(self, limit: int = PAGE_LIMIT, cursor: str | None = None) -> PatternOutcome:
        """Carry out the plan: of one that reads many items, a page."""
        plan = self.plan
        match plan:
            case Many():
                page = plan.page(limit, cursor)
                return PatternOutcome({"": self._shown(page.items)}, page.cursor, page.usage)
            case BatchGet():
                return self._batch(plan)
            case Collect():
                found = plan.found()
                groups = {} if found.item is None else self._fields(found.item)
                return PatternOutcome(groups, usage=found.usage, is_single=True)
            case Single():
                found = plan.found()
                items = [] if found.item is None else [found.item]
                return PatternOutcome({"": self._shown(items)}, usage=found.usage, is_single=True)
            case _:
                written = plan.run()
                items = [] if written.entity is None else [written.entity]
                usage = Usage(written.units)
                return PatternOutcome({"": self._shown(items)}, usage=usage, done=self.writes, is_single=True)

    def stream(self, usage: Usage) -> Iterator[Shown]:
        """Read everything, as it comes; count what it has cost."""
        rows = self.plan.all()
        for entity in rows:
            yield self._shown([entity])[0]
        usage.add(rows.usage)

    def _batch(self, plan: BatchGet[Any]) -> PatternOutcome:
        found = plan.found()
        schema = self._session.catalog.schema_for(plan.entity)
        pairs = list(zip(plan.keys, found.item, strict=True))
        items = self._shown([entity for _, entity in pairs if entity is not None])
        missing = [schema.primary_key_of(*keys) for keys, entity in pairs if entity is None]
        return PatternOutcome({"": items}, usage=found.usage, missing=missing)

    def _fields(self, collection: Any) -> dict[str, list[Shown]]:
        groups = {}
        for name in type(collection).model_fields:
            value = getattr(collection, name)
            groups[name] = self._shown(value if isinstance(value, list) else [] if value is None else [value])
        return groups

    def _shown(self, entities: list[Any]) -> list[Shown]:
        catalog = self._session.catalog
        schemas = [catalog.schema_for(entity_type(entity)) for entity in entities]
        return [
            Shown(schema, self._item(schema, shown_item(schema, entity)))
            for schema, entity in zip(schemas, entities, strict=True)
        ]

    def _item(self, schema: EntitySchema, item: Item) -> Item:
        """Return an item without what the layer keeps in it for itself, as the sum and the count of an average."""
        if self._shows_bookkeeping:
            return item
        hidden = schema.kept.attributes - schema.by_stored.keys()
        return {name: value for name, value in item.items() if name not in hidden}
