"""Plans are made from the bindings of an entity: its keys in the table and its indexes, and its unique values.

class Batch(Entity):
    key = Keys(UserPK, BatchSK)
    by_id = KefirTable.gsi1.keys(BatchPK, StatusSK)
    unique_code = Unique(CodePK)

Batch.by_id.query(BatchPK(batch_id="1")).newest_first()
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar, overload

from pydantic import BaseModel

from singletable.design.keys.key import Key, NoSortKey, Prefix, SortKey, values_for
from singletable.design.keys.ranges import sort_range
from singletable.design.model.declarations import DeclaredIndex, DeclaredKeys, DeclaredUnique
from singletable.design.plans.batch_get import BatchGet
from singletable.design.plans.get import Get
from singletable.design.plans.lookup import Lookup
from singletable.design.plans.query import Query
from singletable.design.values.conditions import Condition
from singletable.errors import DeclarationError, KeyValueError, MissingKeyPartError

E = TypeVar("E", bound=BaseModel)
PK = TypeVar("PK", bound=Key)
SK = TypeVar("SK", bound=SortKey)
K = TypeVar("K", bound=Key)


class Keys(DeclaredKeys[PK, SK]):
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
        super().__init__(pk, sk, index=index, when=when, was=was, fetch=fetch)
        self._bound: dict[type[BaseModel], Bound[Any, PK, SK]] = {}

    @overload
    def __get__(self, obj: None, owner: type[E]) -> Bound[E, PK, SK]: ...
    @overload
    def __get__(self, obj: E, owner: type[E]) -> tuple[PK, SK]: ...
    def __get__(self, obj: Any, owner: Any) -> Any:
        if obj is not None:
            return self._keys_of(obj)
        bound = self._bound.get(owner)
        if bound is None:
            bound = self._bound[owner] = Bound(getattr(owner, "__partial_of__", None) or owner, self)
        return bound


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
    def get(self, pk: PK, sk: SK | None = None) -> Get[E]:
        """Plan to read one item by its whole key."""
        if self.keys.index is not None:
            raise self._no_get()
        self._check_key(pk, sk)
        return Get(self.entity, pk, sk)

    @overload
    def batch_get(self: Bound[E, PK, NoSortKey], keys: Iterable[PK]) -> BatchGet[E]: ...
    @overload
    def batch_get(self, keys: Iterable[tuple[PK, SK]]) -> BatchGet[E]: ...
    def batch_get(self, keys: Iterable[PK | tuple[PK, SK]]) -> BatchGet[E]:
        """Plan to read many items by their whole keys."""
        if self.keys.index is not None:
            raise self._no_get()
        pairs: list[tuple[PK, SK | None]] = [key if isinstance(key, tuple) else (key, None) for key in keys]
        for pk, sk in pairs:
            self._check_key(pk, sk)
        return BatchGet(self.entity, pairs)

    def _check_key(self, pk: object, sk: object) -> None:
        """Refuse arguments that a type checker would refuse, for programs without one."""
        keys = self.keys
        if not isinstance(pk, keys.pk):
            raise self._wrong_key(pk)
        if sk is None:
            if keys.sk is not NoSortKey:
                raise MissingKeyPartError(
                    f"{self!r} has a sort key, and none is given: {keys.shown()}", missing=keys.sk.reads()
                )
        elif not isinstance(sk, keys.sk):
            raise self._wrong_key(sk)

    def _wrong_key(self, given: object) -> KeyValueError:
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
        """Plan to read the items of this entity in a partition, all or within bounds.

        A prefix as a bound stands for all keys that begin with it: `gt` is after the last of them.
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


class Index(DeclaredIndex):
    """A global secondary index: the attributes that are its keys, and what it projects.

    A key of several attributes is a tuple of their names, most significant first. The projection is "ALL",
    "KEYS_ONLY", or the names of fields or of stored attributes. Attributes that every read needs, such as the
    discriminator, are added. A provisioned index has a capacity of its own, or that of the table.
    """

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
        """Bind key classes to this index, for an entity; with a condition, for items that meet it (sparse).

        `was` are the key classes of before: reads look under both (a dual read) until the items are migrated. If
        the index does not project every field, reads return partial entities; with `fetch`, they read the whole
        items from the table, a hundred in a request.
        """
        return Keys(pk, sk, index=self, when=when, was=was, fetch=fetch)


class Unique(DeclaredUnique[K]):
    """At most one item has these values. A lock item of this key, written with the item, ensures it.

    To make a value unique within another one, put both into the template: `EMAIL#{tenant_id}#{email}`. If a part
    is None, there is no lock. On an entity class, the attribute finds the item that has a value. On an entity, it
    is the key of the entity's own lock, or None.

    `sort` is the sort key of the locks. The default is `UNIQUE`, or `UNIQUE#{hash}` in a table with an index by
    the sort key, where all locks would otherwise be one partition. `was` is the old sort key of the locks, in such
    a table by default `UNIQUE`: old locks count until a migration has moved them.
    """

    def __init__(self, key: type[K], *, sort: str | None = None, was: str | None = None) -> None:
        super().__init__(key, sort=sort, was=was)
        self._bound: dict[type[BaseModel], BoundUnique[Any, K]] = {}

    @overload
    def __get__(self, obj: None, owner: type[E]) -> BoundUnique[E, K]: ...
    @overload
    def __get__(self, obj: E, owner: type[E]) -> K | None: ...
    def __get__(self, obj: Any, owner: Any) -> Any:
        if obj is not None:
            return self.key.from_values(values_for(obj, self.key.reads()))
        bound = self._bound.get(owner)
        if bound is None:
            bound = self._bound[owner] = BoundUnique(getattr(owner, "__partial_of__", None) or owner, self)
        return bound


class BoundUnique(Generic[E, K]):
    """A unique value of one entity. It finds the item that has the value."""

    __slots__ = ("entity", "unique")

    def __init__(self, entity: type[E], unique: Unique[K]) -> None:
        self.entity = entity
        self.unique = unique

    def __repr__(self) -> str:
        return f"{self.entity.__name__}.{self.unique.name}"

    def get(self, key: K) -> Lookup[E]:
        """Plan to read the item that has a value, by way of the value's lock."""
        unique = self.unique
        if not isinstance(key, unique.key):
            raise KeyValueError(f"{self!r} is {unique.key.shown()}, and {key!r} is given")
        return Lookup(self.entity, unique.name, key)
