"""What a process that is killed does to shops: one operation after the other, from a seed, each told before it
begins and after it is done; and what may be stored when it was told no more.

Every writer has products and holds of its own. The shop, with its counters, and the codes are everybody's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Literal, TypeAlias

from designs.shops import Hold, Product, Review, Shops
from singletable.design import Create, Delete, Put, Update
from singletable.errors import AlreadyExistsError, DuplicateError, NotFoundError

SHOP = "a"
PRODUCTS = 4
CODES = 6
Outcome: TypeAlias = Literal["done", "refused"]
Operation: TypeAlias = dict[str, Any]


def operations(writer: int, seed: int) -> Iterator[Operation]:
    """Return operations without end. They do not depend on what was refused."""
    random = Random(f"{seed} {writer}")
    while True:
        number = random.randrange(PRODUCTS)
        yield {
            "kind": random.choice(KINDS),
            "product": f"p{writer}-{number}",
            "other": f"p{writer}-{(number + 1) % PRODUCTS}",
            "third": f"p{writer}-{(number + 2) % PRODUCTS}",
            "review": f"r{random.randrange(5)}",
            "hold": f"h{writer}-{random.randrange(3)}",
            "title": " ".join(random.sample(["red", "green", "blue", "old"], 2)),
            "code": random.choice([None, f"c{random.randrange(CODES)}"]),
            "amount": random.randrange(100),
            "hours": random.choice([None, 1, -1]),
        }


def perform(db: Shops, now: datetime, operation: Operation) -> Outcome:
    """Carry out one operation. What others have taken, and what is not there, refuses it as a whole."""
    try:
        _PERFORM[operation["kind"]](db, now, operation)
    except (AlreadyExistsError, DuplicateError, NotFoundError):
        return "refused"
    return "done"


def _fields(operation: Operation) -> dict[str, Any]:
    return {name: operation[name] for name in ("title", "code", "amount")}


def _new(operation: Operation) -> Product:
    return Product(shop_id=SHOP, product_id=operation["product"], **_fields(operation))


def _review(operation: Operation, product: str) -> Review:
    stars = Decimal(operation["amount"]) / 10
    return Review(shop_id=SHOP, product_id=product, review_id=operation["review"], stars=stars)


def _update_read(db: Shops, now: datetime, operation: Operation) -> None:
    db.update(db.product(SHOP, operation["product"]).one(), **_fields(operation))


def _review_if_there(db: Shops, now: datetime, operation: Operation) -> None:
    db.product(SHOP, operation["product"]).one()
    db.put(_review(operation, operation["product"]))


def _unreview(db: Shops, now: datetime, operation: Operation) -> None:
    db.delete(_review(operation, operation["product"]))


def _together(db: Shops, now: datetime, operation: Operation) -> None:
    db.product(SHOP, operation["third"]).one()
    db.transaction(
        Create(_new(operation)),
        Update(db.product(SHOP, operation["other"]), amount=operation["amount"]),
        Put(_review(operation, operation["third"])),
        Delete(db.hold(operation["hold"])),
    )


def _hold(db: Shops, now: datetime, operation: Operation) -> None:
    hours = operation["hours"]
    until = None if hours is None else (now + timedelta(hours=hours)).replace(microsecond=0)
    db.put(Hold(hold_id=operation["hold"], slot=operation["hold"] + operation["title"], until=until))


_PERFORM: dict[str, Callable[[Shops, datetime, Operation], object]] = {
    "create": lambda db, now, operation: db.create(_new(operation)),
    "update": _update_read,
    "update by key": lambda db, now, operation: db.update(
        db.product(SHOP, operation["product"]), **_fields(operation)
    ),
    "review": _review_if_there,
    "unreview": _unreview,
    "delete": lambda db, now, operation: db.delete(db.product(SHOP, operation["product"])),
    "together": _together,
    "hold": _hold,
}
# What makes things comes more often than what takes them away.
KINDS = [*_PERFORM, "create", "create", "review", "review", "review"]


# --- what may be stored ----------------------------------------------------------------------------------


@dataclass
class Stock:
    """The products and holds of a writer, as one state of the model."""

    products: dict[str, dict[str, Any]] = field(default_factory=dict)
    reviews: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    holds: dict[str, tuple[str, int | None]] = field(default_factory=dict)

    def copy(self) -> Stock:
        reviews = {product: dict(each) for product, each in self.reviews.items()}
        return Stock(dict(self.products), reviews, dict(self.holds))

    def apply(self, operation: Operation) -> None:
        """Do what an operation does that is not refused."""
        product, stars = operation["product"], Decimal(operation["amount"]) / 10
        match operation["kind"]:
            case "create" | "update" | "update by key":
                self.products[product] = _fields(operation)
            case "review":
                self.reviews.setdefault(product, {})[operation["review"]] = stars
            case "unreview":
                self.reviews.get(product, {}).pop(operation["review"], None)
            case "delete":
                self.products.pop(product, None)
                self.reviews.pop(product, None)
            case "together":
                self.products[product] = _fields(operation)
                other = operation["other"]
                self.products[other] = {**self.products[other], "amount": operation["amount"]}
                self.reviews.setdefault(operation["third"], {})[operation["review"]] = stars
                self.holds.pop(operation["hold"], None)
            case "hold":
                self.holds[operation["hold"]] = (operation["hold"] + operation["title"], operation["hours"])

    def as_found(self) -> dict[str, Any]:
        """Return what reads show: nothing that has expired, and no empty places."""
        reviews = {product: each for product, each in self.reviews.items() if each}
        holds = {name: slot for name, (slot, hours) in self.holds.items() if hours is None or hours > 0}
        return {"products": self.products, "reviews": reviews, "holds": holds}


@dataclass
class Told:
    """What a writer has told: the state after its last answer, and the operation that was under way."""

    stock: Stock = field(default_factory=Stock)
    begun: Operation | None = None
    answers: int = 0

    def take(self, line: str) -> None:
        """Take in a line of the writer: an operation that begins, or the outcome of the last."""
        if line not in ("done", "refused"):
            self.begun = json.loads(line)
            return
        assert self.begun is not None
        if line == "done":
            self.stock.apply(self.begun)
        self.begun = None
        self.answers += 1

    def settle(self, db: Shops, writer: int) -> None:
        """Assert that what is stored is what was told, with the last operation or without it; go on from there.

        A cascade that was interrupted is gone on with first.
        """
        assert not self._is_half_deleted(db) or self.begun is not None
        if self.begun is not None and self.begun["kind"] == "delete" and self._is_half_deleted(db):
            db.delete(db.product(SHOP, self.begun["product"]))
        found = stored_stock(db, writer)
        possible = [self.stock.copy()]
        if self.begun is not None and self._could_apply():
            possible.append(self.stock.copy())
            possible[-1].apply(self.begun)
        matching = [each for each in possible if each.as_found() == found]
        assert matching, (found, self.begun, [each.as_found() for each in possible])
        self.stock, self.begun = matching[0], None

    def _could_apply(self) -> bool:
        assert self.begun is not None
        is_there = self.begun["product"] in self.stock.products
        match self.begun["kind"]:
            case "create":
                return not is_there
            case "update" | "update by key" | "review":
                return is_there
            case "together":
                needed = {self.begun["other"], self.begun["third"]}
                return not is_there and needed <= self.stock.products.keys()
            case _:
                return True

    def _is_half_deleted(self, db: Shops) -> bool:
        """Tell whether a product has fewer reviews than it had."""
        if self.begun is None or self.begun["kind"] != "delete":
            return False
        product = self.begun["product"]
        had = self.stock.reviews.get(product, {})
        return len(list(db.reviews_of(SHOP, product).all())) < len(had)


def stored_stock(db: Shops, writer: int) -> dict[str, Any]:
    """Return what is stored of a writer's products and holds, by reading each."""
    products: dict[str, Any] = {}
    reviews: dict[str, Any] = {}
    for number in range(PRODUCTS):
        name = f"p{writer}-{number}"
        product = db.product(SHOP, name).maybe()
        if product is not None:
            products[name] = {"title": product.title, "code": product.code, "amount": product.amount}
        found = {review.review_id: review.stars for review in db.reviews_of(SHOP, name).all()}
        if found:
            reviews[name] = found
    holds = {
        f"h{writer}-{number}": hold.slot
        for number in range(3)
        if (hold := db.hold(f"h{writer}-{number}").maybe()) is not None
    }
    return {"products": products, "reviews": reviews, "holds": holds}
