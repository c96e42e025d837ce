"""One open design shared by threads and by tasks: whatever they do at once, the results are exact."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from designs.shops import Product, Review, Shop, Shops, Visit
from singletable.design import Add, Create, Delete, Put, Update
from singletable.errors import DuplicateError, VersionConflictError
from support.opened_designs import opened_design
from support.unique_locks import wrong_locks

THREADS = 8
SHOP = "a"


def at_once(count: int, work: Callable[[int], object]) -> None:
    """Run work in threads that begin together; raise what any of them raises."""
    together = threading.Barrier(count)

    def begin(number: int) -> None:
        together.wait()
        work(number)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(begin, range(count)))


class Mixture:
    """What one of many does: creates, updates, pages, batches and remembered reads, each checked on the spot."""

    def __init__(self, db: Shops, number: int) -> None:
        self.db = db
        self.number = number
        self.random = Random(number)
        self.amounts: dict[str, int] = {}
        self.stars: dict[str, list[int]] = {}

    def step(self, step: int) -> None:
        """Do the next thing."""
        name = f"p{self.number}-{step % 7}"
        if name not in self.amounts:
            self._create(name, step)
        elif step % 3 == 0:
            self._change(name)
        elif step % 3 == 1:
            self._review(name, step)
        else:
            self._read(step)

    def _create(self, name: str, step: int) -> None:
        product = Product(shop_id=SHOP, product_id=name, title=f"thing {self.number}", code=name, amount=step)
        self.db.create(product)
        self.amounts[name] = step
        assert name in {each.product_id for each in self.db.remembered_products(SHOP).all()}

    def _change(self, name: str) -> None:
        amount = self.random.randrange(100)
        if amount % 2:
            self.db.update(self.db.product(SHOP, name), amount=amount)
        else:
            # Reviews of its own only, so nobody else writes to this product.
            self.db.update(self.db.product(SHOP, name).one(), amount=amount, code=f"{name}-{amount}")
        self.amounts[name] = amount
        found = {each.product_id: each.amount for each in self.db.remembered_products(SHOP).all()}
        assert found[name] == amount, "a remembered read is older than a write of the same thread"

    def _review(self, name: str, step: int) -> None:
        stars = self.random.randrange(6)
        self.db.create(Review(shop_id=SHOP, product_id=name, review_id=str(step), stars=Decimal(stars)))
        self.stars.setdefault(name, []).append(stars)

    def _read(self, step: int) -> None:
        seen: list[str] = []
        cursor = None
        while True:
            page = self.db.products_of(SHOP).page(limit=5, cursor=cursor)
            seen += [product.product_id for product in page]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == sorted(set(seen))
        assert self.amounts.keys() <= set(seen)
        self.db.batch(
            *(Put(Visit(shop_id=SHOP, visit_id=f"v{self.number}-{step}-{each}")) for each in range(30))
        )


def check(db: Shops, mixtures: list[Mixture]) -> None:
    """Compare all that is stored with what was written."""
    amounts = {name: amount for mixture in mixtures for name, amount in mixture.amounts.items()}
    stars = {name: given for mixture in mixtures for name, given in mixture.stars.items()}
    assert {each.product_id: each.amount for each in db.products_of(SHOP).all()} == amounts
    for product in db.products_of(SHOP).all():
        given = stars.get(product.product_id, [])
        assert product.reviews == len(given)
        mean = None if not given else round(Decimal(sum(given)) / len(given), 2)
        assert product.stars == mean
    shop = db.shop(SHOP).one()
    assert (shop.products, shop.stock) == (len(amounts), sum(amounts.values()))
    assert shop.reviews == sum(map(len, stars.values()))
    assert db.verify().differences == ()
    assert wrong_locks(db) == []


def mix_in_threads(db: Shops, steps: int) -> None:
    db.create(Shop(shop_id=SHOP))
    mixtures = [Mixture(db, number) for number in range(THREADS)]

    def work(number: int) -> None:
        for step in range(steps):
            mixtures[number].step(step)

    at_once(THREADS, work)
    check(db, mixtures)


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_threads_that_share_a_design_get_exact_results(target: str) -> None:
    with opened_design(Shops, target) as db:
        mix_in_threads(db, steps=15)


def test_threads_share_a_design_on_a_file(tmp_path: Path) -> None:
    with Shops.open(str(tmp_path / "shops.db"), engine={"durability": "relaxed"}) as db:
        mix_in_threads(db, steps=15)


@pytest.mark.soak
@pytest.mark.parametrize("target", ["embedded", "http"])
def test_threads_share_a_design_for_long(target: str) -> None:
    with opened_design(Shops, target) as db:
        mix_in_threads(db, steps=300)


def test_one_of_many_threads_gets_a_unique_value() -> None:
    with opened_design(Shops, "embedded") as db:
        db.create(Shop(shop_id=SHOP))
        won: list[int] = []

        def work(number: int) -> None:
            product = Product(shop_id=SHOP, product_id=f"p{number}", title="one", code="the code", amount=1)
            try:
                db.create(product)
            except DuplicateError:
                return
            won.append(number)

        at_once(THREADS, work)
        assert len(won) == 1
        assert [product.product_id for product in db.products_of(SHOP).all()] == [f"p{won[0]}"]
        assert (db.shop(SHOP).one().products, db.shop(SHOP).one().stock) == (1, 1)


def test_one_of_many_threads_changes_what_all_have_read() -> None:
    with opened_design(Shops, "embedded") as db:
        db.create(Shop(shop_id=SHOP))
        db.create(Product(shop_id=SHOP, product_id="p", title="one"))
        won: list[int] = []
        read = [db.product(SHOP, "p").one() for _ in range(THREADS)]

        def work(number: int) -> None:
            try:
                db.update(read[number], amount=number + 1)
            except VersionConflictError:
                return
            won.append(number + 1)

        at_once(THREADS, work)
        assert won == [db.product(SHOP, "p").one().amount]
        assert db.shop(SHOP).one().stock == won[0]


def test_additions_of_many_threads_are_all_there() -> None:
    with opened_design(Shops, "embedded") as db:
        db.create(Shop(shop_id=SHOP))
        db.create(Product(shop_id=SHOP, product_id="p", title="one"))

        def work(number: int) -> None:
            for _ in range(10):
                db.update(db.product(SHOP, "p"), amount=Add(1))

        at_once(THREADS, work)
        assert db.product(SHOP, "p").one().amount == THREADS * 10
        assert db.shop(SHOP).one().stock == THREADS * 10


# --- tasks -----------------------------------------------------------------------------------------------


async def _as_task(db: Shops, number: int, steps: int) -> None:
    name = f"p{number:03}"
    await db.acreate(Product(shop_id=SHOP, product_id=name, title=f"thing {number % 5}", code=name, amount=1))
    for step in range(steps):
        await db.acreate(Review(shop_id=SHOP, product_id=name, review_id=str(step), stars=Decimal(step)))
    product = await db.product(SHOP, name).aone()
    assert product.reviews == steps
    await db.aupdate(product, amount=number)
    found = {each.product_id: each.amount async for each in db.remembered_products(SHOP).aall()}
    assert found[name] == number
    page = await db.titled(f"thing {number % 5}").apage(limit=3)
    assert {each.title for each in page} == {f"thing {number % 5}"}
    await db.abatch(*(Put(Visit(shop_id=SHOP, visit_id=f"v{number}-{each}")) for each in range(3)))
    await db.atransaction(
        Update(db.product(SHOP, name), title="changed"),
        Create(Product(shop_id=SHOP, product_id=f"q{number:03}", title="made", amount=1)),
        Delete(Visit(shop_id=SHOP, visit_id=f"v{number}-0")),
    )
    if number % 4 == 0:
        await db.adelete(db.product(SHOP, name))


async def _tasks(db: Shops, count: int, steps: int) -> None:
    await db.acreate(Shop(shop_id=SHOP))
    await asyncio.gather(*(_as_task(db, number, steps) for number in range(count)))


def _check_tasks(db: Shops, count: int, steps: int) -> None:
    kept = [number for number in range(count) if number % 4]
    products = list(db.products_of(SHOP).all())
    assert [each.product_id for each in products] == [
        *(f"p{number:03}" for number in kept),
        *(f"q{number:03}" for number in range(count)),
    ]
    shop = db.shop(SHOP).one()
    assert (shop.products, shop.stock) == (len(kept) + count, sum(kept) + count)
    assert shop.reviews == len(kept) * steps
    assert db.verify().differences == ()
    assert wrong_locks(db) == []


@pytest.mark.parametrize("target", ["embedded", pytest.param("http", marks=pytest.mark.soak)])
def test_two_hundred_tasks_that_share_a_design_get_exact_results(target: str) -> None:
    with opened_design(Shops, target) as db:
        asyncio.run(_tasks(db, 200, steps=2))
        _check_tasks(db, 200, steps=2)


def test_tasks_that_are_cancelled_leave_nothing_half_done() -> None:
    async def cancel_some(db: Shops) -> None:
        await db.acreate(Shop(shop_id=SHOP))
        tasks = [asyncio.create_task(_as_task(db, number, 2)) for number in range(40)]
        random = Random(1)
        while not all(task.done() for task in tasks):
            random.choice(tasks).cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)

    with opened_design(Shops, "embedded") as db:
        asyncio.run(cancel_some(db))
        assert db.verify().differences == ()
        assert wrong_locks(db) == []
