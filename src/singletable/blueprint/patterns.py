"""What a blueprint says of access patterns: who asks for what, and the requests that answer it."""

from __future__ import annotations

from dataclasses import dataclass

from singletable.blueprint.entities import Condition


@dataclass(frozen=True, slots=True)
class ParameterBlueprint:
    """A parameter of a pattern. One that may be left out is optional."""

    name: str
    type: str
    alias: str | None = None
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class SortBlueprint:
    """A condition on the sort key: an operator, and the template of each bound.

    The operator is =, begins_with, <, <=, >, >=, BETWEEN, or two of them as "> AND <". `within` is the beginning
    that no key outside it shares; None where nothing keeps the range from other entities.
    """

    operator: str
    templates: tuple[str, ...]
    within: str | None = None


@dataclass(frozen=True, slots=True)
class ReadBlueprint:
    """One kind of request: how many of it are sent, to which index, and under which keys.

    In templates, what a pattern always asks for stands as text, and what its caller gives as a placeholder. Only
    the keys of a lock's owner, and of what other items name, are not given by the caller: they are read. A
    BatchGetItem has no filter; where one stands there, items are thrown away after they were read.
    """

    operation: str  # GetItem, Query, BatchGetItem
    entities: tuple[str, ...]
    pk: str
    index: str | None = None
    sort: SortBlueprint | None = None
    filter: Condition | None = None
    order: str = "forward"
    limit: int | None = None
    is_consistent: bool = False
    count: int = 1  # with the sample values: one for each shard, bucket or key
    name: str | None = None  # of the field that it fills, where a pattern reads several
    lock: str | None = None  # the unique value of the entity whose lock item it reads
    owner_of: str | None = None  # the unique value whose lock says which item is read
    named_by: str | None = None  # the entity whose items, read before, say which items are read


@dataclass(frozen=True, slots=True)
class WriteBlueprint:
    """What a pattern writes: an entity, whole or some fields of it, and what must hold of the stored item."""

    operation: str  # PutItem, UpdateItem, DeleteItem
    entity: str
    fields: tuple[str, ...] = ()
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class PatternBlueprint:
    """An access pattern: method, operation and requests.

    The operation is Get, Lookup, Query, Merged, Walk, Followed, Composed, Collect or BatchGet, or, of one
    that writes, Create, Put, Update or Delete.
    """

    number: str
    title: str
    method: str
    operation: str
    parameters: tuple[ParameterBlueprint, ...] = ()
    reads: tuple[ReadBlueprint, ...] = ()
    writes: tuple[WriteBlueprint, ...] = ()
    rps: float = 0.0
    cached_s: float | None = None
    documented: str = ""
    fixes: str = ""

    @property
    def entities(self) -> tuple[str, ...]:
        """Name the entities that it reads or writes."""
        read = [entity for each in self.reads for entity in each.entities]
        return tuple(dict.fromkeys([*read, *(write.entity for write in self.writes)]))
