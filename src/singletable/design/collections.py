"""Several entity types from one question: an item collection in one query, or plans that are read together.

class UserExport(Collection):
    user: User
    batches: list[Batch]

collect(UserExport, UserPK(user_id=user_id))
"""

from __future__ import annotations

from dataclasses import dataclass
from types import UnionType
from typing import Any, Self, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from singletable.design.arguments import require_count, require_kind
from singletable.design.bindings import Index
from singletable.design.entity import Entity
from singletable.design.keys import Key, Prefix, SortKey
from singletable.design.many import AsyncRows, Many, Rows
from singletable.design.plans import Get, Lookup, Single
from singletable.design.ranges import SortRange, sort_range
from singletable.errors import ConsistencyError, DeclarationError, KeyValueError


def _with_partials(schema: Any) -> Any:
    """Let fields take partial entities as they are: the validators of a whole one would miss the rest."""
    if schema["type"] != "model-fields":
        return {**schema, "schema": _with_partials(schema["schema"])}
    fields = {
        name: {**field, "schema": _taking_partials(field["schema"])}
        for name, field in schema["fields"].items()
    }
    return {**schema, "fields": fields}


def _taking_partials(schema: Any) -> Any:
    if schema["type"] == "default":  # it stays outside: Pydantic does not look for one inside
        return {**schema, "schema": _taking_partials(schema["schema"])}
    return core_schema.no_info_wrap_validator_function(_taken, schema)


def _taken(value: Any, validate: Any) -> Any:
    kinds = set(map(type, value)) if isinstance(value, list) else {type(value)}
    is_partial = any(getattr(kind, "__partial_of__", None) is not None for kind in kinds)
    return value if is_partial else validate(value)


class Collection(BaseModel):
    """A result with several entity types: a field is an entity, an entity or None, or a list of entities."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: CoreSchema = _with_partials(handler(source))
        return schema


C = TypeVar("C", bound=Collection)


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a collection."""

    name: str
    entity: type[Entity]
    is_list: bool
    is_required: bool


def members_of(into: type[Collection]) -> tuple[Member, ...]:
    """Return the fields of a collection class."""
    return tuple(_member(into, name, field.annotation) for name, field in into.model_fields.items())


def _member(into: type[Collection], name: str, annotation: Any) -> Member:
    arguments = get_args(annotation)
    if get_origin(annotation) is list and _is_entity(arguments[0]):
        return Member(name, arguments[0], is_list=True, is_required=False)
    if get_origin(annotation) in (Union, UnionType):
        inner = [argument for argument in arguments if argument is not type(None)]
        if len(inner) == 1 and _is_entity(inner[0]):
            return Member(name, inner[0], is_list=False, is_required=False)
    if _is_entity(annotation):
        return Member(name, annotation, is_list=False, is_required=True)
    raise DeclarationError(
        f"{into.__name__}.{name} is {annotation}, and a collection holds entities",
        hint="an Entity, an Entity | None, or a list[Entity]",
    )


def _is_entity(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Entity)


class Collect(Single[C]):
    """Reads a collection: a partition with its `pk`, all of it or within `bounds`, or plans for each field."""

    limited: int | None = None

    def __init__(
        self,
        into: type[C],
        pk: Key | None,
        index: Index | None,
        parts: dict[str, Get[Any] | Lookup[Any] | Many[Any]],
        bounds: SortRange | None = None,
    ) -> None:
        self.into = into
        self.pk = pk
        self.index = index
        self.parts = parts
        self.bounds = bounds

    def __repr__(self) -> str:
        return f"{self.into.__name__} of {self.pk!r}" if self.pk is not None else self.into.__name__

    def limit(self, count: int) -> Self:
        """Read so many items of the partition at most, of all kinds together, in the order of the sort key."""
        require_count(count, "a limit")
        self._partition()
        return self.with_(limited=count)

    def all(self) -> Rows[Entity]:
        """Read the items of the partition one by one, of any kind, as they are iterated over."""
        return Rows(self._partition())

    def aall(self) -> AsyncRows[Entity]:
        """Read the items of the partition one by one, as they are iterated over with `async for`."""
        return AsyncRows(self._partition())

    def _partition(self) -> Self:
        if self.pk is None:
            raise DeclarationError(
                f"{self.into.__name__} is gathered from several plans, and not the items of one partition",
                hint="collect(...), or all() of each of the plans",
            )
        return self

    def refuse_consistent_index(self) -> None:
        if self.index is not None:
            raise ConsistencyError(f"index {self.index.name} is eventually consistent")
        for plan in self.parts.values():
            plan.refuse_consistent_index()


def collect(
    into: type[C], pk: Key, sk: Prefix[Any] | SortKey | None = None, *, index: Index | None = None
) -> Collect[C]:
    """Plan to read an item collection, of the table or of an index, in one query.

    A prefix narrows it to the items whose sort keys begin so: those of any field, whichever class their keys are.
    """
    entities = [member.entity for member in members_of(into)]
    if len(set(entities)) < len(entities):
        raise DeclarationError(
            f"{into.__name__} has two fields of one entity, and an item goes to the field of its entity",
            hint="gather(...), with a plan for each field",
        )
    return Collect(into, pk, index, {}, None if sk is None else _bounds(into, sk))


def _bounds(into: type[C], sk: Prefix[Any] | SortKey) -> SortRange:
    require_kind(sk, (Prefix, SortKey), "a collection is narrowed by a prefix of a sort key")
    of = sk.of if isinstance(sk, Prefix) else type(sk)
    if of.compiled is None:
        raise KeyValueError(
            f"{into.__name__} cannot be narrowed by {of.shown()}: without a template, a key has no text",
            hint="gather(...), with a query for each field",
        )
    return sort_range(of, sk, gt=None, ge=None, lt=None, le=None)


def gather(into: type[C], **parts: Get[Any] | Lookup[Any] | Many[Any]) -> Collect[C]:
    """Plan to read a collection of which each field has a plan of its own."""
    members = {member.name for member in members_of(into)}
    if set(parts) != members:
        wrong = sorted(set(parts) ^ members)
        raise DeclarationError(
            f"{into.__name__} has {', '.join(sorted(members))}: {', '.join(wrong)} is missing or unknown"
        )
    return Collect(into, None, None, dict(parts))
