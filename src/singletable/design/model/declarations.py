"""What a design declares, as data: keys that are bound to a table and its indexes, unique values, derived items,
and the numbers of its patterns and volumes.

class User(Entity):
    key = Keys(UserPK, ProfileSK)
    unique_email = Unique(EmailPK)

Plans are made by subclasses of these classes, in the room above (`singletable.design.plans.bound`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel

from singletable.design.keys.key import Key, NoSortKey, SortKey, values_for
from singletable.design.values.conditions import Condition
from singletable.design.values.markers import Upkeep
from singletable.errors import DeclarationError, MissingKeyPartError

PK_co = TypeVar("PK_co", bound=Key, covariant=True)
SK_co = TypeVar("SK_co", bound=SortKey, covariant=True)

Projection = Literal["ALL", "KEYS_ONLY"] | tuple[str, ...]

KNOWN_KEYS = "_keys"  # the attribute in which a partial entity keeps its keys


class DeclaredKeys(Generic[PK_co, SK_co]):
    """Key classes that an entity binds: its key in the table, or its place in an index."""

    def __init__(
        self,
        pk: Any,
        sk: Any = NoSortKey,
        *,
        index: DeclaredIndex | None = None,
        when: Condition | None = None,
        was: Any = None,
        fetch: bool = False,
    ) -> None:
        if fetch:
            _check_fetch(pk, sk, index)
        self.pk: type[PK_co] = pk
        self.sk: type[SK_co] = sk
        self.index = index
        self.when = when
        self.fetch = fetch
        # The old keys, under which reads still look (a dual read).
        self.was: tuple[type[Key], type[SortKey]] | None = (
            was if not isinstance(was, type) else (was, NoSortKey)
        )
        self.name = ""
        self._reads = tuple(dict.fromkeys((*pk.reads(), *sk.reads())))

    def __set_name__(self, owner: type[object], name: str) -> None:
        self.name = name

    def _keys_of(self, entity: BaseModel) -> tuple[PK_co, SK_co]:
        """Return the keys of an entity: as they were read, or built from its fields."""
        known = entity.__dict__.get(KNOWN_KEYS, {})
        return known[self.name] if self.name in known else self.of(values_for(entity, self.reads()))

    def of(self, values: Mapping[str, Any]) -> tuple[PK_co, SK_co]:
        """Build the keys of an entity; if fields are missing, raise an error that lists them."""
        pk, sk = self.pk.from_values(values), self.sk.from_values(values)
        if pk is None or sk is None:
            missing = tuple(name for name in self.reads() if values.get(name) is None)
            raise MissingKeyPartError(
                f"{self.name}, which is {self.shown()}, cannot be built without {', '.join(missing)}",
                missing=missing,
            )
        return pk, sk

    def shown(self) -> str:
        """Return the keys as text, with their templates."""
        return self.pk.shown() if self.sk is NoSortKey else f"{self.pk.shown()}, {self.sk.shown()}"

    def reads(self) -> tuple[str, ...]:
        """Name the fields of the entity that the keys are built from."""
        return self._reads


def _check_fetch(pk: type[Key], sk: type[Key], index: DeclaredIndex | None) -> None:
    """Refuse `fetch` for a place whose items are whole already."""
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


class DeclaredIndex:
    """A global secondary index: the attributes that are its keys, and what it projects."""

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


K = TypeVar("K", bound=Key)


class DeclaredUnique(Generic[K]):
    """Values that at most one item has, and the key of the lock item that ensures it."""

    def __init__(self, key: type[K], *, sort: str | None = None, was: str | None = None) -> None:
        if "" in (sort, was):
            raise DeclarationError(f"Unique({key.__name__}) has an empty sort key", hint='sort="UNIQUE"')
        self.key = key
        self.sort = sort
        self.was = was
        self.name = ""

    def __set_name__(self, owner: type[object], name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Unique({self.key.__name__})"


class Derived:
    """A function makes the items of this entity from an item of another one, and they follow it.

    The function must depend only on the entity that it is given. `reads` names the fields that it reads: a change
    of another field leaves the derived items alone. Without `reads`, every change counts.
    """

    def __init__(
        self,
        source: type[Any] | str,
        make: Callable[[Any], Iterable[Any]],
        *,
        by: Upkeep = "transaction",
        reads: tuple[str, ...] | None = None,
        via: Mapping[str, str] | None = None,
    ) -> None:
        self.source = source
        self.make = make
        self.by = by
        self.reads = reads
        self.via = via
        self.name = ""

    def __set_name__(self, owner: type[object], name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Derived({self.source if isinstance(self.source, str) else self.source.__name__})"


# "14b Export the activity of a batch"; "#1", "01" and "1." are 1 in another spelling.
_NUMBERED: Final = re.compile(r"#?0*(\d+[a-h]?)[.:)]? (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Volume:
    """The number of items of an entity for each of something (`per`), and the size of one.

    `upto_kb` is the size of a large one, `growth_per_month` how many items are added for each of the same, and
    `hottest_share` which share of all items lies in the largest partition: 0.1 is a tenth.
    """

    count: float
    kb: float
    per: str = ""
    growth_per_month: float | None = None
    hottest_share: float | None = None
    upto_kb: float | None = None
    because: str = ""

    def __post_init__(self) -> None:
        _check_amounts(self, ("count", "kb", "growth_per_month", "upto_kb"), shares=("hottest_share",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How often something is done: a second at the peak, and in a month, in all and for each user.

    `hottest` is the share of it that goes to the busiest partition key, `fails` the share whose condition fails,
    `items` how many items one call reads, where that does not follow from the numbers of items that there are.
    Of updates, `changes` says which share of them changes a field, {"status": 0.3}: where the field leads to an
    index, so many of its entries move.
    `because` is the sentence of a document, with its line, or the assumption that it rests on. Of a load for each
    user, the design's `for_users` says how much that is in all.
    """

    because: str
    peak: float | None = None
    monthly: float | None = None
    per_user: float | None = None
    hottest: float | None = None
    fails: float | None = None
    items: float | None = None
    changes: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not str(self.because).strip():
            raise DeclarationError(
                "a load says what it rests on",
                hint='because="003:337 reads: 100K requests", or an assumption',
            )
        if self.peak is None and self.monthly is None and self.per_user is None:
            raise DeclarationError(
                f"the load {self.because!r} says no number",
                hint="peak= a second, monthly=, or per_user= a month",
            )
        _check_amounts(self, ("peak", "monthly", "per_user", "items"), shares=("hottest", "fails"))
        for name, share in self.changes.items():
            if not _is_amount(share, most=1.0):
                raise DeclarationError(
                    f"Load(changes={{{name!r}: {share!r}}}): it is a share", hint="from 0 to 1"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """How often items of an entity are created, updated and deleted, and expire; a put counts as what it does.

    What expires is deleted by DynamoDB, by its time to live, which costs nothing.
    """

    create: Load | None = None
    update: Load | None = None
    delete: Load | None = None
    expire: Load | None = None


def _check_amounts(of: object, amounts: Iterable[str], *, shares: Iterable[str]) -> None:
    for name in (*amounts, *shares):
        value = getattr(of, name)
        most = 1.0 if name in shares else inf
        if value is not None and not _is_amount(value, most):
            raise DeclarationError(
                f"{type(of).__name__}({name}={value!r}): it is {'a share' if name in shares else 'a number'}",
                hint="from 0 to 1" if name in shares else "0, or more",
            )


def _is_amount(value: object, most: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= most and value != inf


@dataclass(frozen=True, slots=True)
class Rate:
    """The number of writes of an entity per second."""

    creates: float = 0.0
    updates: float = 0.0
    deletes: float = 0.0


@dataclass(frozen=True, slots=True)
class PatternInfo:
    """The description of an access pattern: its number and title, how often it is asked, what it repairs.

    `samples` are values for parameters, with which the pattern can be called without data. They are needed for
    parameters whose types give no sample value.
    """

    number: str
    title: str
    rps: float = 0.0
    documented: str = ""
    fixes: str = ""
    consistent: bool = False
    cached_s: float | None = None
    samples: Mapping[str, Any] = field(default_factory=dict)
    load: Load | None = None


def split_title(title: str) -> tuple[str, str]:
    """Split "14b Export all user data" into its number, which may be missing, and the rest."""
    found = _NUMBERED.fullmatch(title)
    return (found[1], found[2]) if found else ("", title)
