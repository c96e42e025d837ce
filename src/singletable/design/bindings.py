"""How an entity binds key classes: to its table, and to its indexes. What is bound makes plans.

class Batch(Entity):
    key = Keys(UserPK, BatchSK)
    by_id = KefirTable.gsi1.keys(BatchPK, StatusSK)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, Literal, TypeVar, overload

from pydantic import BaseModel

from singletable.design.conditions import Condition
from singletable.design.keys import Key, NoSortKey, Prefix, SortKey, values_for
from singletable.design.plans import BatchGet, Get
from singletable.design.queries import Query
from singletable.design.ranges import sort_range
from singletable.errors import DeclarationError, KeyValueError, MissingKeyPartError

PK = TypeVar("PK", bound=Key)
SK = TypeVar("SK", bound=SortKey)

Projection = Literal["ALL", "KEYS_ONLY"] | tuple[str, ...]
E = TypeVar("E", bound=BaseModel)

KNOWN_KEYS = "_keys"  # where an entity of which a part was read keeps its keys


class Keys(Generic[PK, SK]):
    """Binds key classes to an entity: its key in the table, or its place in an index."""

    @overload
    def __init__(
        self: Keys[PK, NoSortKey],
        pk: type[PK],
        *,
        index: Index | None = None,
        when: Condition | None = None,
        was: type[Key] | None = None,
        fetch: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self,
        pk: type[PK],
        sk: type[SK],
        *,
        index: Index | None = None,
        when: Condition | None = None,
        was: tuple[type[Key], type[SortKey]] | None = None,
        fetch: bool = False,
    ) -> None: ...
    def __init__(
        self,
        pk: Any,
        sk: Any = NoSortKey,
        *,
        index: Index | None = None,
        when: Condition | None = None,
        was: Any = None,
        fetch: bool = False,
    ) -> None:
        if fetch:
            _check_fetch(pk, sk, index)
        self.pk: type[PK] = pk
        self.sk: type[SK] = sk
        self.index = index
        self.when = when
        self.fetch = fetch
        # The keys that items were stored by before, which reads still look under.
        self.was: tuple[type[Key], type[SortKey]] | None = (
            was if not isinstance(was, type) else (was, NoSortKey)
        )
        self.name = ""
        self._reads = tuple(dict.fromkeys((*pk.reads(), *sk.reads())))
        self._bound: dict[type[Any], Bound[Any, PK, SK]] = {}

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, obj: None, owner: type[E]) -> Bound[E, PK, SK]: ...
    @overload
    def __get__(self, obj: E, owner: type[E]) -> tuple[PK, SK]: ...
    def __get__(self, obj: Any, owner: Any) -> Any:
        if obj is not None:
            known = obj.__dict__.get(KNOWN_KEYS, {})
            return known[self.name] if self.name in known else self.of(values_for(obj, self.reads()))
        bound = self._bound.get(owner)
        if bound is None:
            bound = self._bound[owner] = Bound(getattr(owner, "__partial_of__", None) or owner, self)
        return bound

    def of(self, values: Mapping[str, Any]) -> tuple[PK, SK]:
        """Build the keys of an entity; fail with the list of what is missing."""
        pk, sk = self.pk.from_values(values), self.sk.from_values(values)
        if pk is None or sk is None:
            missing = tuple(name for name in self.reads() if values.get(name) is None)
            raise MissingKeyPartError(
                f"{self.name}, which is {self.shown()}, cannot be built without {', '.join(missing)}",
                missing=missing,
            )
        return pk, sk

    def shown(self) -> str:
        """Say what the keys are, with their templates."""
        return self.pk.shown() if self.sk is NoSortKey else f"{self.pk.shown()}, {self.sk.shown()}"

    def reads(self) -> tuple[str, ...]:
        """Name the fields of the entity that the keys are built from."""
        return self._reads


def _check_fetch(pk: type[Key], sk: type[Key], index: Index | None) -> None:
    """Refuse to fetch items whole where they are whole already."""
    shown = pk.shown() if sk is NoSortKey else f"{pk.shown()}, {sk.shown()}"
    if index is None:
        raise DeclarationError(
            f"fetch=True is for an index, and {shown} is the key of the table, which holds whole items",
            hint="leave fetch=True out",
        )
    if index.projection == "ALL":
        raise DeclarationError(
            f"fetch=True is for an index that holds a part of its items, and index {index.name} of {shown} "
            "projects ALL",
            hint='leave fetch=True out, or declare the index with projection="KEYS_ONLY", or with names',
        )


class Bound(Generic[E, PK, SK]):
    """The keys of one entity, to make plans with."""

    __slots__ = ("entity", "keys")

    def __init__(self, entity: type[E], keys: Keys[PK, SK]) -> None:
        self.entity = entity
        self.keys = keys

    def __repr__(self) -> str:
        return f"{self.entity.__name__}.{self.keys.name}"

    @overload
    def get(self: Bound[E, PK, NoSortKey], pk: PK) -> Get[E]: ...
    @overload
    def get(self, pk: PK, sk: SK) -> Get[E]: ...
    def get(self, pk: Any, sk: Any = None) -> Get[E]:
        """Plan to read one item by its whole key."""
        if self.keys.index is not None:
            raise self._no_get()
        self._check_key(pk, sk)
        return Get(self.entity, pk, sk)

    @overload
    def batch_get(self: Bound[E, PK, NoSortKey], keys: Iterable[PK]) -> BatchGet[E]: ...
    @overload
    def batch_get(self, keys: Iterable[tuple[PK, SK]]) -> BatchGet[E]: ...
    def batch_get(self, keys: Iterable[Any]) -> BatchGet[E]:
        """Plan to read many items by their whole keys."""
        if self.keys.index is not None:
            raise self._no_get()
        pairs = [key if isinstance(key, tuple) else (key, None) for key in keys]
        for pk, sk in pairs:
            self._check_key(pk, sk)
        return BatchGet(self.entity, pairs)

    def _check_key(self, pk: Any, sk: Any) -> None:
        """Refuse what a type checker refuses, for programs that none has seen."""
        keys = self.keys
        if not isinstance(pk, keys.pk):
            raise self._wrong_key(pk)
        if sk is None:
            if keys.sk is not NoSortKey:
                raise MissingKeyPartError(
                    f"{self!r} has a sort key, and none is given: {keys.shown()}",
                    missing=keys.sk.reads(),
                )
        elif not isinstance(sk, keys.sk):
            raise self._wrong_key(sk)

    def _wrong_key(self, given: Any) -> KeyValueError:
        return KeyValueError(f"{self!r} is {self.keys.shown()}, and {given!r} is given")

    def _no_get(self) -> DeclarationError:
        assert self.keys.index is not None
        return DeclarationError(
            f"{self!r} is in index {self.keys.index.name}, and an index has no get",
            hint=f"{self!r}.query(...).one()",
        )

    def query(
        self,
        pk: PK,
        sk: Prefix[SK] | SK | None = None,
        *,
        gt: SK | Prefix[SK] | None = None,
        ge: SK | Prefix[SK] | None = None,
        lt: SK | Prefix[SK] | None = None,
        le: SK | Prefix[SK] | None = None,
        between: tuple[SK | Prefix[SK], SK | Prefix[SK]] | None = None,
    ) -> Query[E]:
        """Plan to read the items of a partition, all or within bounds; never other entities of it.

        A prefix as a bound stands for all the keys that begin with it: `gt` is after the last of them.
        """
        if not isinstance(pk, self.keys.pk):
            raise self._wrong_key(pk)
        if between is not None:
            if ge is not None or le is not None:
                raise KeyValueError(
                    f"{self!r}: between= is ge= and le= together, so neither stands beside it"
                )
            ge, le = between
        bounds = sort_range(self.keys.sk, sk, gt=gt, ge=ge, lt=lt, le=le)
        index = None if self.keys.index is None else self.keys.index.name
        return Query(self.entity, self.keys.name, index, pk, bounds)


class Index:
    """A global secondary index: the attributes that are its keys, and what it projects.

    A key of several attributes is a tuple of their names, most significant first. The projection is "ALL",
    "KEYS_ONLY", or the names of fields, or of attributes as they are stored; what reads always need, as the
    discriminator, is projected with them. A provisioned index has a capacity of its own, or that of the table.
    """

    def __init__(
        self,
        name: str,
        *,
        pk: str | tuple[str, ...],
        sk: str | tuple[str, ...] | None = None,
        projection: Projection = "ALL",
        capacity: tuple[int, int] | None = None,
    ) -> None:
        self.name = name
        self.pk = (pk,) if isinstance(pk, str) else pk
        self.sk = () if sk is None else (sk,) if isinstance(sk, str) else sk
        self.projection = projection
        self.capacity = capacity
        if not 1 <= len(self.pk) <= 4 or len(self.sk) > 4:
            raise DeclarationError(
                f"index {name} has {len(self.pk)} partition and {len(self.sk)} sort attributes: "
                "1 to 4 and at most 4 are possible"
            )

    def __repr__(self) -> str:
        return f"<Index {self.name}>"

    @overload
    def keys(
        self,
        pk: type[PK],
        *,
        when: Condition | None = None,
        was: type[Key] | None = None,
        fetch: bool = False,
    ) -> Keys[PK, NoSortKey]: ...
    @overload
    def keys(
        self,
        pk: type[PK],
        sk: type[SK],
        *,
        when: Condition | None = None,
        was: tuple[type[Key], type[SortKey]] | None = None,
        fetch: bool = False,
    ) -> Keys[PK, SK]: ...
    def keys(
        self,
        pk: Any,
        sk: Any = NoSortKey,
        *,
        when: Condition | None = None,
        was: Any = None,
        fetch: bool = False,
    ) -> Any:
        """Bind key classes to this index, for an entity; with a condition, only items that meet it are in it.

        `was` are the classes that were bound before: reads look under both until the items are migrated. Of an
        index that does not project every field, reads return partial entities; with `fetch`, they read the whole
        items from the table, a hundred in a request.
        """
        return Keys(pk, sk, index=self, when=when, was=was, fetch=fetch)
