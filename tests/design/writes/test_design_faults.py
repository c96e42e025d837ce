"""Every call of every write fails once, before it was carried out or after: the error is typed, what the caller
holds is unchanged, nothing remembered is old, and the same write again leaves what one write would have left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from designs.shops import Hold, Product, Review, Shop, ShopPK, Shops, ShopSK, Visit
from singletable import Database
from singletable.client import EmbeddedClient
from singletable.clock import ManualClock
from singletable.design import Create, Delete, Entity, Put, Update
from singletable.design.kept.unique import GRACE_S
from singletable.errors import (
    AlreadyExistsError,
    InternalServerError,
    NotFoundError,
    SingleTableError,
    TargetUnreachableError,
    ThroughputExceededError,
    VersionConflictError,
)
from support.design_clients import on_client
from support.failing_clients import FailingClient
from support.kept_together import damage
from support.limited_targets import LimitedClient
from support.unique_locks import items_of

Held = dict[str, Any]
Items = dict[str, dict[str, Any]]

# A write that was carried out, though its answer was lost, is refused when it is made again.
REFUSED_AGAIN = (AlreadyExistsError, NotFoundError, VersionConflictError)


def _nothing(db: Shops) -> Held:
    return {}


@dataclass(frozen=True)
class Work:
    """A write: what the caller reads before it, and the write itself; and what was damaged long before."""

    hold: Callable[[Shops], Held]
    write: Callable[[Shops, Held], object]
    damage: Callable[[Shops], object] | None = None


def _product(db: Shops) -> Held:
    return {"product": db.product("a", "p1").maybe()}


def _new_product(db: Shops) -> Held:
    return {"product": Product(shop_id="a", product_id="p9", title="new thing", code="c9", amount=9)}


def _put_again(db: Shops, held: Held) -> object:
    product = held["product"].model_copy(update={"title": "one more", "code": "c7", "amount": 7})
    return db.put(product)


def _several(db: Shops, held: Held) -> object:
    return db.transaction(
        Update(held["product"], code="c8", amount=8),
        Create(Product(shop_id="a", product_id="p8", title="other", code="c1", amount=1)),
        Put(Review(shop_id="a", product_id="p2", review_id="r9", stars=Decimal(1))),
        Delete(db.hold("h1")),
    )


def _several_visits(db: Shops, held: Held) -> object:
    puts = [Put(Visit(shop_id="a", visit_id=f"new{number}", minutes=number)) for number in range(30)]
    return db.batch(*puts, Delete(Visit(shop_id="a", visit_id="v0")))


def _damage(db: Shops) -> None:
    """Spoil a counter, an average, a label, a lock and the key of an index, each of another item."""
    damage(db, "SHOP#a", "SHOP", products={"N": "7"}, stock=None)
    damage(db, "SHOP#a", "PRODUCT#p1", stars={"N": "4"}, GSI1PK={"S": "TITLE#other"})
    stale = {"entityType": "Label", "shopId": "a", "productId": "p1", "word": "stale"}
    damage(db, "LABELS#a#p1", "LABEL#stale", **{name: {"S": text} for name, text in stale.items()})
    db.session.client.call(
        "DeleteItem", {"TableName": "shops", "Key": {"PK": {"S": "CODE#c2"}, "SK": {"S": "UNIQUE"}}}
    )


WORK: Mapping[str, Work] = {
    "create": Work(_new_product, lambda db, held: db.create(held["product"])),
    "create of what is counted": Work(
        lambda db: {"review": Review(shop_id="a", product_id="p1", review_id="r9", stars=Decimal(5))},
        lambda db, held: db.create(held["review"]),
    ),
    "put of something new": Work(_new_product, lambda db, held: db.put(held["product"])),
    "put": Work(_product, _put_again),
    "put without a version": Work(
        lambda db: {"hold": Hold(hold_id="h1", slot="s9", note="moved")},
        lambda db, held: db.put(held["hold"]),
    ),
    "update": Work(
        _product, lambda db, held: db.update(held["product"], title="one more", code="c7", amount=7)
    ),
    "update by key": Work(
        _nothing, lambda db, held: db.update(db.product("a", "p1"), title="one more", code="c7", amount=7)
    ),
    "update of what is averaged": Work(
        lambda db: {"review": db.reviews_of("a", "p1").first()},
        lambda db, held: db.update(held["review"], stars=Decimal(1)),
    ),
    "update of a plain field": Work(_nothing, lambda db, held: db.update(db.hold("h1"), note="noted")),
    "delete": Work(
        lambda db: {"hold": db.hold("h1").maybe() or Hold(hold_id="h1", slot="s1")},
        lambda db, held: db.delete(held["hold"]),
    ),
    "delete of what is counted": Work(
        lambda db: {"review": Review(shop_id="a", product_id="p1", review_id="r0", stars=Decimal(1))},
        lambda db, held: db.delete(held["review"]),
    ),
    "cascade": Work(
        _nothing, lambda db, held: db.delete(db.plan(Shop.key.get(ShopPK(shop_id="a"), ShopSK())))
    ),
    "transaction": Work(_product, _several),
    "batch": Work(_nothing, _several_visits),
    "repair": Work(_nothing, lambda db, held: db.verify(repair=True), _damage),
}

FAULTS: Mapping[str, tuple[Callable[[], SingleTableError], bool]] = {
    "unreachable": (lambda: TargetUnreachableError("nobody answers", hint="ask again"), False),
    "unreachable after the write": (
        lambda: TargetUnreachableError("the answer was lost", hint="ask again"),
        True,
    ),
    "throttled": (lambda: ThroughputExceededError("too much", []), False),
    "internal error": (lambda: InternalServerError("trouble"), False),
    "internal error after the write": (lambda: InternalServerError("trouble"), True),
}


class Bench:
    """A shop on a client that can fail, with a clock of its own."""

    def __init__(self, database: Database, clock: ManualClock, *, has_transactions: bool) -> None:
        self.clock = clock
        inner = (
            EmbeddedClient(database, owns=False, sleep=_no_sleep)
            if has_transactions
            else LimitedClient(database, sleep=_no_sleep)
        )
        self.client = FailingClient(inner)
        self.db = on_client(Shops, self.client)
        self.has_transactions = has_transactions
        _fill(self.db)

    def begin(self, work: Work) -> Held:
        """Bring about what a write meets; return what the caller holds."""
        if work.damage is not None:
            work.damage(self.db)
        return work.hold(self.db)

    def attempt(self, work: Work, held: Held) -> SingleTableError | None:
        """Make a write; return the error. What the caller holds stays as it was, or becomes as stored."""
        before = {name: _dumped(each) for name, each in held.items()}
        try:
            work.write(self.db, held)
        except SingleTableError as error:
            after = {name: _dumped(each) for name, each in held.items()}
            assert after == before, "an entity was changed by a write that failed"
            return error
        return None

    def remembered(self) -> list[Product]:
        return list(self.db.remembered_products("a").all())


def _no_sleep(seconds: float) -> None:
    pass


def _dumped(entity: Entity | None) -> Any:
    return None if entity is None else (entity.model_dump(), entity.model_fields_set, str(entity.__dict__))


def _fill(db: Shops) -> None:
    db.create(Shop(shop_id="a"))
    for number in (1, 2):
        product = f"p{number}"
        db.create(
            Product(shop_id="a", product_id=product, title="one thing", code=f"c{number}", amount=number)
        )
        for stars in range(2):
            db.create(Review(shop_id="a", product_id=product, review_id=f"r{stars}", stars=Decimal(stars)))
    db.create(Hold(hold_id="h1", slot="s1"))
    db.batch(*(Put(Visit(shop_id="a", visit_id=f"v{number}")) for number in range(3)))


@contextmanager
def opened_bench(*, has_transactions: bool) -> Iterator[Bench]:
    clock = ManualClock()
    with Database.open(":memory:", clock=clock) as database:
        yield Bench(database, clock, has_transactions=has_transactions)
        assert database.check() == []


def content(db: Shops) -> Items:
    """Return what is stored, without what tells how often and when it was written."""
    own = {"createdAt", "updatedAt", "version", "$takenAt", "$claim"}
    return {
        f"{item['PK']['S']} {item['SK']['S']}": {
            name: value for name, value in item.items() if name not in own
        }
        for item in items_of(db)
    }


def result_of(work: Work, *, has_transactions: bool) -> Items:
    with opened_bench(has_transactions=has_transactions) as bench:
        error = bench.attempt(work, bench.begin(work))
        assert error is None, error
        assert bench.db.verify().is_clean
        return content(bench.db)


def try_calls(work: Work, fault: str, *, has_transactions: bool, every: int = 1) -> None:
    """Let the first call of a write fail, then another, to the last; each time on a shop of its own."""
    wanted = result_of(work, has_transactions=has_transactions)
    error, loses_answer = FAULTS[fault]
    for number in range(1, 500, every):
        with opened_bench(has_transactions=has_transactions) as bench:
            held = bench.begin(work)
            bench.remembered()
            bench.client.fail_at(number, error, loses_answer=loses_answer)
            raised = bench.attempt(work, held)
            if not bench.client.stop_failing():
                return
            _check_after(bench, work, raised, wanted)
    raise AssertionError("it makes too many calls")


def _check_after(bench: Bench, work: Work, raised: SingleTableError | None, wanted: Items) -> None:
    db = bench.db
    assert bench.remembered() == list(db.products_of("a").all()), "what is remembered is old"
    if bench.has_transactions:
        assert work.damage is not None or db.verify().differences == ()
    else:
        bench.clock.advance(GRACE_S + 1)
    if raised is not None:
        again = bench.attempt(work, work.hold(db))
        assert again is None or isinstance(again, REFUSED_AGAIN), again
    if not bench.has_transactions:
        db.verify(repair=True)
    assert db.verify().differences == ()
    assert content(db) == wanted


WITHOUT_TRANSACTIONS = [kind for kind in WORK if kind != "transaction"]
LONG = ("cascade", "repair")  # they make a hundred calls, of which every twenty-third is tried first
SHORT_FAULTS = ["unreachable", "unreachable after the write"]


def _every(kind: str) -> int:
    return 23 if kind in LONG else 1


@pytest.mark.parametrize("fault", SHORT_FAULTS)
@pytest.mark.parametrize("kind", WORK)
def test_write_whose_calls_fail_is_healed_by_repeating_it(kind: str, fault: str) -> None:
    try_calls(WORK[kind], fault, has_transactions=True, every=_every(kind))


@pytest.mark.parametrize("fault", [*SHORT_FAULTS, "throttled"])
@pytest.mark.parametrize("kind", WITHOUT_TRANSACTIONS)
def test_without_transactions_a_write_whose_calls_fail_is_healed_too(kind: str, fault: str) -> None:
    try_calls(WORK[kind], fault, has_transactions=False, every=_every(kind))


@pytest.mark.soak
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", WORK)
def test_write_is_healed_whatever_fails(kind: str, fault: str) -> None:
    try_calls(WORK[kind], fault, has_transactions=True)


@pytest.mark.soak
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", WITHOUT_TRANSACTIONS)
def test_without_transactions_a_write_is_healed_whatever_fails(kind: str, fault: str) -> None:
    try_calls(WORK[kind], fault, has_transactions=False)
