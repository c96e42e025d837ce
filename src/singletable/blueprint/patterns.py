"""Access patterns of a blueprint: their parameters, and the requests that answer them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from singletable.blueprint.entities import Condition
from singletable.blueprint.said import Said, described


@described
class ParameterBlueprint:
    """A parameter of a pattern. One that may be left out is optional."""

    name: str
    type: str
    alias: str | None = None
    is_optional: bool = False
    samples: tuple[Any, ...] = ()
    format: str = ""  # as that of an attribute: iso-8601-ms
    default: Mapping[str, Any] | None = None  # {"value": "active"}; None without one, and where it is None


@described
class SortBlueprint:
    """A condition on the sort key: an operator, and the template of each bound.

    The operator is =, begins_with, <, <=, >, >=, BETWEEN, or two of them as "> AND <". `within` is the prefix that
    only keys of this range share; None if the range may reach into other entities.
    """

    operator: str
    templates: tuple[str, ...]
    within: str | None = None


@described
class KeyCondition:
    """One condition on an attribute, as a document asks for it, possible or not: GSI1PK begins_with BATCH#.

    The templates hold constant text and placeholders, as those of keys do.
    """

    attribute: str
    operator: str  # =, begins_with, <, <=, >, >=, BETWEEN, <>, contains, …
    templates: tuple[str, ...] = ()


@described
class OrderBlueprint:
    """What an order is meant to be: newest first by created_at, highest first by average_rating."""

    by: str = ""  # the field, or what a document calls it
    first: str = ""  # newest, oldest, highest, lowest, a-to-z, z-to-a, closest
    said: tuple[Said, ...] = ()


@described
class ReadBlueprint:
    """One kind of request: how many of it are sent, to which index, and under which keys.

    In templates, constant parts of a pattern are text, and arguments of its caller are placeholders. Two kinds of
    keys come from earlier reads and not from the caller: the key of a lock's owner, and keys that other items
    name. DynamoDB's BatchGetItem has no filter; a filter here drops items after they were read.

    A design that runs has `pk`, the template of the partition, and perhaps `sort`. Of a document, `conditions`
    holds what it asks for instead, right or wrong; expressions stand beside it as they were written.
    """

    operation: str  # GetItem, Query, BatchGetItem, Scan, TransactGetItems
    entities: tuple[str, ...] = ()
    pk: str = ""
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
    conditions: tuple[KeyCondition, ...] = ()
    projection: tuple[str, ...] = ()  # the attributes asked for; all of them without
    key_expression: str = ""
    filter_expression: str = ""
    projection_expression: str = ""
    names: Mapping[str, str] = field(default_factory=dict)  # of placeholders in the expressions
    is_paged: bool | None = None  # whether it reads on after a page; None where nobody says so
    means: OrderBlueprint | None = None
    returned: float | None = None  # items of one call, as expected
    examined: float | None = None  # items that are read for them, where a filter drops some
    said: tuple[Said, ...] = ()

    def key_conditions(self, pk: str, sk: str | None) -> tuple[KeyCondition, ...]:
        """Return the conditions on keys. `pk` and `sk` are the key attributes of what is read."""
        if self.conditions or not self.pk:
            return self.conditions
        found = [KeyCondition(pk, "=", (self.pk,))]
        if self.sort is not None and sk is not None:
            found.append(KeyCondition(sk, self.sort.operator, self.sort.templates))
        return tuple(found)


@described
class WriteBlueprint:
    """One write of a pattern: an entity, whole or some of its fields, and a condition on the stored item."""

    operation: str  # PutItem, UpdateItem, DeleteItem, ConditionCheck, BatchWriteItem
    entity: str
    fields: tuple[str, ...] = ()
    condition: Condition | None = None
    key: tuple[KeyCondition, ...] = ()  # as a document gives it
    update_expression: str = ""
    condition_expression: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    count: int = 1  # of these writes in one call, at most
    said: tuple[Said, ...] = ()


@described
class PatternBlueprint:
    """An access pattern: method, operation and requests.

    The operation is Get, Lookup, Query, Merged, Walk, Followed, Composed, Collect or BatchGet, or, of one
    that writes, Create, Put, Update or Delete. Of a document, it is the word that the document has.
    """

    number: str
    title: str
    method: str = ""
    operation: str = ""
    parameters: tuple[ParameterBlueprint, ...] = ()
    reads: tuple[ReadBlueprint, ...] = ()
    writes: tuple[WriteBlueprint, ...] = ()
    rps: float = 0.0
    cached_s: float | None = None
    documented: str = ""  # how a document puts it
    fixes: str = ""
    requires: tuple[str, ...] = ()  # read-your-writes, uniqueness, all-or-nothing, order, completeness
    is_transaction: bool = False  # its writes happen together or not at all
    actions: int | None = None  # of a batch or a transaction, at most
    about: str = ""
    said: tuple[Said, ...] = ()

    @property
    def entities(self) -> tuple[str, ...]:
        """Name the entities that it reads or writes."""
        read = [entity for each in self.reads for entity in each.entities]
        return tuple(dict.fromkeys([*read, *(write.entity for write in self.writes)]))


@described
class RuleBlueprint:
    """A rule of writing that is no access pattern: what is written together, under which condition, how many."""

    name: str
    text: str = ""
    writes: tuple[WriteBlueprint, ...] = ()
    requires: tuple[str, ...] = ()
    is_transaction: bool = False
    actions: int | None = None
    said: tuple[Said, ...] = ()
