"""Values in conditions: validated as updates are, and the same for the entity in the process as for its item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationInfo, field_validator

from singletable.design import (
    BeginsWith,
    Check,
    Compressed,
    Computed,
    Condition,
    Contains,
    CountOf,
    Delete,
    Design,
    Digits,
    Entity,
    Eq,
    Exists,
    Ge,
    Get,
    Gt,
    In,
    Index,
    Key,
    Keys,
    Le,
    Lt,
    Ne,
    Put,
    Query,
    SortKey,
    Table,
    Ttl,
    Update,
    expires,
    pattern,
)
from singletable.errors import ConditionNotMetError, ConditionValueError, DesignError
from support.opened_designs import opened_design
from support.targets import TARGETS

AT = datetime(2036, 3, 30, 12, 0, 0, 250_000, tzinfo=UTC)
ID = UUID("0a000000-0000-0000-0000-000000000001")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    street_name: str
    number: int = 1


class OrderTable(Table):
    name = "orders"
    pitr_days = None
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class OrdersPK(Key, template="ORDERS#{customer}"):
    customer: str


class OrderSK(SortKey, template="ORDER#{number:04}"):
    number: int


class CustomerSK(SortKey, template="CUSTOMER"):
    pass


class RedPK(Key, template="RED#{customer}"):
    customer: str


class Order(Entity):
    key = Keys(OrdersPK, OrderSK)
    red = OrderTable.gsi1.keys(RedPK, OrderSK, when=Eq("colour", "red") & Gt("price", 5))

    customer: str
    number: int
    status: Literal["open", "paid"] = "open"
    items: Annotated[int, Field(ge=0, le=100)] = 3
    stage: Literal[1, 2, 3] = 2
    price: Annotated[Decimal, Digits(2)] = Decimal("9.50")
    share: Annotated[float, Digits(1, rounds=True)] = 0.3
    at: datetime = AT
    day: date | None = date(2036, 3, 30)
    colour: Colour = Colour.RED
    colours: set[Colour] = Field(default_factory=lambda: {Colour.RED})
    tags: list[Annotated[str, Field(max_length=5)]] = Field(default_factory=lambda: ["new"])
    nothing: set[str] = Field(default_factory=set)
    is_paid: bool = False
    code: Annotated[str, AfterValidator(str.upper)] = "AB"
    note: str | None = None
    raw: bytes = b"\x01\x02"
    order_id: UUID = ID
    place: Place = Place(street_name="Elm")
    long: Annotated[str, Compressed()] = "a long text"
    double: Annotated[int, Computed(lambda items: items * 2, "items")] = 0
    until: Ttl = expires(days=3, after="at", when=Eq("colour", "red"))
    label: str = "x"

    @field_validator("label")
    @classmethod
    def _label(cls, label: str, info: ValidationInfo) -> str:
        assert info.data["number"] >= 0
        return label


class Customer(Entity):
    key = Keys(OrdersPK, CustomerSK)

    customer: str
    red: Annotated[int, CountOf(Order, when=Eq("colour", "red"))] = 0


class Orders(Design):
    table = OrderTable
    entities = (Order, Customer)

    @pattern("1 Orders of a customer", consistent=True)
    def orders(self, customer: str) -> Query[Order]:
        return Order.key.query(OrdersPK(customer=customer))

    @pattern("2 An order", consistent=True)
    def order(self, customer: str, number: int) -> Get[Order]:
        return Order.key.get(OrdersPK(customer=customer), OrderSK(number=number))

    @pattern("3 Red orders of a customer")
    def red(self, customer: str) -> Query[Order]:
        return Order.red.query(RedPK(customer=customer))

    @pattern("4 Orders of a status")
    def of_status(self, customer: str, status: str) -> Query[Order]:
        return self.orders(customer).where(status=status)


@pytest.fixture(scope="module", params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Orders]:
    with opened_design(Orders, request.param) as db:
        db.create(Customer(customer="ann"))
        db.create(Order(customer="ann", number=1))
        yield db


# --- what is meant ---------------------------------------------------------------------------------------------

IN_ANOTHER_ZONE = AT.astimezone(timezone(timedelta(hours=5)))

# Conditions with the value as somebody gives it, and whether they hold for the order that is there.
MEANT: list[tuple[Condition, bool]] = [
    (Eq("items", "3"), True),
    (Eq("items", 3.0), True),
    (Gt("items", -1), True),
    (Lt("items", 2.5), False),
    (Le("items", 500), True),
    (Ne("items", 500), True),
    (In("items", "1", 3), True),
    (Lt("stage", 9), True),
    (Eq("price", 9.5), True),
    (Eq("price", "9.5"), True),
    (Gt("price", Decimal("9.499")), True),
    (Ge("price", Decimal("9.501")), False),
    (Ne("price", Decimal("9.501")), True),
    (Eq("share", 0.31), True),
    (Ge("share", 0.31), False),
    (Eq("at", AT.isoformat()), True),
    (Eq("at", IN_ANOTHER_ZONE), True),
    (Eq("at", AT + timedelta(microseconds=7)), True),
    (Ne("at", IN_ANOTHER_ZONE), False),
    (Gt("at", "2036-03-30T14:00:00+05:00"), True),
    (BeginsWith("at", "2036-03"), True),
    (BeginsWith("day", "2025"), False),
    (Eq("day", "2036-03-30"), True),
    (Eq("colour", "red"), True),
    (Eq("colour", Colour.BLUE), False),
    (In("colour", "blue", Colour.RED), True),
    (Eq("status", "open"), True),
    (BeginsWith("status", "pa"), False),
    (Contains("status", "pe"), True),
    (Contains("colours", "red"), True),
    (Contains("colours", Colour.BLUE), False),
    (Contains("tags", "new"), True),
    (Contains("tags", "ne"), False),
    (Eq("colours", ["red"]), True),
    (Eq("nothing", set()), True),
    (Ne("nothing", set()), False),
    (Eq("nothing", None), True),
    (Ne("nothing", None), False),
    (Exists("nothing"), False),
    (Eq("is_paid", 0), True),
    (Eq("code", "ab"), True),
    (Eq("note", None), True),
    (Ne("note", "x"), True),
    (BeginsWith("raw", b"\x01"), True),
    (Contains("raw", b"\x03"), False),
    (Eq("order_id", str(ID)), True),
    (BeginsWith("order_id", "0a"), True),
    (Eq("place", {"street_name": "Elm"}), True),
    (Eq("long", "a long text"), True),
    (Eq("double", "6"), True),
    (Eq("until", AT + timedelta(days=3)), True),
    (Eq("label", "x"), True),
]


@pytest.mark.parametrize(("condition", "holds"), MEANT, ids=lambda value: repr(value)[:60])
def test_condition_means_the_same_in_a_filter_in_the_process_and_in_a_write(
    db: Orders, condition: Condition, *, holds: bool
) -> None:
    found = db.orders("ann").where(condition)
    assert bool(list(found.all())) is holds
    followed = db.orders("ann").follow(Order.key, lambda order: order.key).where(condition)
    assert bool(list(followed.all())) is holds
    if holds:
        db.transaction(Check(db.order("ann", 1), when=condition))
    else:
        with pytest.raises(ConditionNotMetError):
            db.transaction(Check(db.order("ann", 1), when=condition))


def test_declared_conditions_mean_what_the_fields_have(db: Orders) -> None:
    """The colour of the index, of the counter and of the expiry is given as a text, and is an enumeration."""
    order = db.order("ann", 1).one()
    assert [each.number for each in db.red("ann").all()] == [1]
    assert order.until == (AT + timedelta(days=3)).replace(microsecond=0)
    customer = db.plan(Customer.key.get(OrdersPK(customer="ann"), CustomerSK()).consistent()).one()
    assert customer.red == 1


# --- what is refused -------------------------------------------------------------------------------------------

IMPOSSIBLE: list[tuple[Condition, str]] = [
    (Eq("status", "opne"), r"Eq\('status', 'opne'\) asks what Order.status never is.*did you mean 'open'\?"),
    (Ne("status", "opne"), r"Order\.status is 'open' or 'paid'"),
    (In("status", "open", "piad"), r"In\('status', 'piad'\) .* did you mean 'paid'\?"),
    (Lt("status", "m"), "Input should be 'open' or 'paid'"),
    (BeginsWith("status", "x"), "no value of it does"),
    (Contains("status", "x"), "no value of it does"),
    (Gt("items", "three"), r"Input should be a valid integer.*Order\.items is int with ge=0, le=100"),
    (Gt("items", None), "None is neither less nor greater"),
    (Gt("items", float("nan")), "no number that can be stored"),
    (Eq("items", -1), "greater than or equal to 0"),
    (Eq("items", 2.5), "valid integer"),
    (BeginsWith("items", "3"), "it is neither a text nor bytes"),
    (Contains("items", 3), "it is neither a text nor a list or set"),
    (Eq("stage", 9), "Input should be 1, 2 or 3"),
    (Eq("price", "cheap"), "valid decimal"),
    (Eq("price", Decimal("9.501")), "it has 2 decimals at most"),
    (Lt("price", Decimal("Infinity")), "no number that can be stored"),
    (Gt("at", "2036-01-01T00:00:00"), "timezone"),
    (Eq("at", "yesterday"), "valid datetime"),
    (Eq("colour", "green"), "Input should be 'red' or 'blue'"),
    (Contains("colours", "green"), "Input should be 'red' or 'blue'"),
    (Contains("tags", "longer"), "at most 5 characters"),
    (Contains("tags", 3), "valid string"),
    (Gt("is_paid", True), "it has no order as it is stored"),
    (Gt("tags", ["a"]), "it has no order as it is stored"),
    (Contains("place", "street_name"), "it is neither a text nor a list or set"),
    (BeginsWith("note", 3), "it is a text"),  # type: ignore[arg-type]
    (BeginsWith("raw", "x"), "neither a text nor bytes"),
    (BeginsWith("until", "2036"), "neither a text nor bytes"),
    (Contains("long", "text"), "it is stored compressed"),
    (Gt("long", "a"), "it has no order as it is stored"),
    (Eq("order_id", "x"), "valid UUID"),
    (Gt("double", "x"), "valid integer"),
    (Eq("label", 3), "valid string"),
    (~(Exists("note") & Eq("status", "opne")), "did you mean 'open'"),
]

ASKED: dict[str, Callable[[Orders, Condition], Any]] = {
    "where": lambda db, condition: db.orders("ann").where(condition),
    "where of what is followed": lambda db, condition: (
        db.orders("ann").follow(Order.key, lambda order: order.key).where(condition)
    ),
    "put": lambda db, condition: Put(Order(customer="ann", number=1), when=condition),
    "update": lambda db, condition: db.update(db.order("ann", 1), items=4, when=condition),
    "delete": lambda db, condition: Delete(Order.key.get(*Order(customer="ann", number=1).key), condition),
    "check": lambda db, condition: db.transaction(Check(db.order("ann", 1), when=condition)),
}


@pytest.mark.parametrize(("condition", "said"), IMPOSSIBLE, ids=lambda value: repr(value)[:60])
def test_value_that_a_field_can_never_have_is_refused(condition: Condition, said: str) -> None:
    with pytest.raises(ConditionValueError, match=f"(?s){said}") as caught:
        Order.key.query(OrdersPK(customer="ann")).where(condition)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("way", ASKED)
def test_value_is_refused_wherever_a_condition_is_taken(db: Orders, way: str) -> None:
    with pytest.raises(ConditionValueError, match=r"Gt\('items', 'three'\) asks what Order\.items never is"):
        ASKED[way](db, Gt("items", "three"))
    assert db.order("ann", 1).one().items == 3


def test_equality_by_name_is_validated_too(db: Orders) -> None:
    with pytest.raises(ConditionValueError, match="did you mean 'open'"):
        db.orders("ann").where(status="opne")


def test_pattern_is_described_with_sample_values_that_no_item_has() -> None:
    (read,) = next(each for each in Orders.blueprint().patterns if each.method == "of_status").reads
    assert read.filter == {"operator": "=", "field": "status", "parameter": "status"}


def test_declared_condition_is_described_as_it_was_declared() -> None:
    order = next(each for each in Orders.blueprint().entities if each.name == "Order")
    index = order.place("GSI1")
    assert index is not None
    assert index.when is not None
    assert index.when["conditions"][1] == {"operator": ">", "field": "price", "value": 5}


def test_refused_write_says_the_condition_in_the_words_of_the_store(db: Orders) -> None:
    with pytest.raises(DesignError, match="does not meet colour = blue"):
        db.transaction(Update(db.order("ann", 1), when=Eq("colour", "blue"), note="x"))
