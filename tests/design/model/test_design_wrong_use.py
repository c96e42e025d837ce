"""Arguments of wrong kinds and values: each is refused with an error that a caller can name, and a sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from designs.kefir import EventSK, Kefir
from designs.shops import Hold, Product, ProductSK, Shop, ShopPK, Shops, ShopSK
from singletable.design import (
    Add,
    And,
    Append,
    BatchGet,
    BeginsWith,
    Check,
    Contains,
    Create,
    Delete,
    Eq,
    Exists,
    Gt,
    In,
    Merged,
    Ne,
    Not,
    Or,
    Put,
    Update,
    Walk,
)
from singletable.errors import DeclarationError, SingleTableError, UnknownFieldError, UnknownTargetError

# pydantic's error is a ValueError too; it is named for the reader.
REFUSALS = (SingleTableError, TypeError, ValueError, pydantic.ValidationError)

_PRODUCT = Product(shop_id="a", product_id="p", title="x y", code="c", amount=3)
_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 10**30, -(10**30)]),
    st.floats(),
    st.decimals(),
    st.text(st.characters(exclude_categories=())),  # halves of characters too
    st.sampled_from(["#", "a#b", "a/b", "\x00", "\U0010ffff", "é" * 3000]),
    st.binary(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.sampled_from([object(), int, Shop, ..., len, Eq, Kefir]),
)
_MADE = st.sampled_from(
    [
        _PRODUCT,
        Shop.key.get(ShopPK(shop_id="a"), ShopSK()),
        Product.key.query(ShopPK(shop_id="a")),
        ShopPK(shop_id="a"),
        ShopSK(),
        Eq("title", "x"),
        Eq("nope", 1),
        Put(_PRODUCT),
        Create(_PRODUCT),
        Update(_PRODUCT, title="q"),
        Add(1),
        Append([1]),
    ]
)
JUNK = st.recursive(
    _PLAIN | _MADE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=3,
)

Attempt = Callable[[Shops, Any], object]


def _product_of(db: Shops) -> Any:
    return db.product("a", "p")


READS: Mapping[str, Attempt] = {
    "limit": lambda db, junk: db.products_of("a").limit(junk).page(),
    "page limit": lambda db, junk: db.products_of("a").page(limit=junk),
    "page cursor": lambda db, junk: db.products_of("a").page(cursor=junk),
    "request": lambda db, junk: db.products_of("a").request(junk),
    "setting_aside": lambda db, junk: db.products_of("a").setting_aside(junk).page(),
    "cached": lambda db, junk: db.products_of("a").cached(seconds=junk).page(),
    "where": lambda db, junk: db.products_of("a").where(junk).page(),
    "where of a known field": lambda db, junk: db.products_of("a").where(title=junk).page(),
    "where of an unknown field": lambda db, junk: db.products_of("a").where(nope=junk).page(),
    "field of a condition": lambda db, junk: db.products_of("a").where(Eq(junk, 1)).page(),
    "Ne": lambda db, junk: db.products_of("a").where(Ne("amount", junk)).page(),
    "Gt": lambda db, junk: db.products_of("a").where(Gt("amount", junk)).page(),
    "In": lambda db, junk: db.products_of("a").where(In("amount", junk, junk)).page(),
    "Contains": lambda db, junk: db.products_of("a").where(Contains("title", junk)).page(),
    "BeginsWith": lambda db, junk: db.products_of("a").where(BeginsWith("title", junk)).page(),
    "Exists": lambda db, junk: db.products_of("a").where(Exists(junk)).page(),
    "Not": lambda db, junk: db.products_of("a").where(Not(junk)).page(),
    "And": lambda db, junk: db.products_of("a").where(And(Eq("title", "x"), junk)).page(),
    "Or": lambda db, junk: db.products_of("a").where(Or(junk, Eq("title", "x"))).page(),
    "&": lambda db, junk: db.products_of("a").where(Eq("title", "x") & junk).page(),
    "argument of a pattern": lambda db, junk: db.shop(junk).maybe(),
    "part of a key": lambda db, junk: ShopPK(shop_id=junk),
    "text of a key": lambda db, junk: ShopPK.parse(junk),
    "prefix": lambda db, junk: EventSK.prefix(created_at=junk),
    "pk of a get": lambda db, junk: db.plan(Product.key.get(junk, ProductSK(product_id="p"))).maybe(),
    "sk of a get": lambda db, junk: db.plan(Product.key.get(ShopPK(shop_id="a"), junk)).maybe(),
    "pk of a query": lambda db, junk: db.plan(Product.key.query(junk)).page(),
    "sk of a query": lambda db, junk: db.plan(Product.key.query(ShopPK(shop_id="a"), junk)).page(),
    "gt": lambda db, junk: db.plan(Product.key.query(ShopPK(shop_id="a"), gt=junk)).page(),
    "le": lambda db, junk: db.plan(Product.key.query(ShopPK(shop_id="a"), le=junk)).page(),
    "plan": lambda db, junk: db.plan(junk),
    "BatchGet": lambda db, junk: db.plan(BatchGet(Product, junk)).all(),
    "member of a BatchGet": lambda db, junk: db.plan(BatchGet(Product, [junk])).all(),
    "key of a BatchGet": lambda db, junk: db.plan(BatchGet(Product, [(ShopPK(shop_id="a"), junk)])).all(),
    "batch_get": lambda db, junk: db.plan(Product.key.batch_get(junk)).all(),
    "Merged": lambda db, junk: db.plan(Merged(junk)).page(),
    "member of a Merged": lambda db, junk: db.plan(Merged([junk])).page(),
    "Walk": lambda db, junk: db.plan(Walk(junk)).page(),
    "member of a Walk": lambda db, junk: db.plan(Walk([junk])).page(),
}
WRITES: Mapping[str, Attempt] = {
    "create": lambda db, junk: db.create(junk),
    "put": lambda db, junk: db.put(junk),
    "put when": lambda db, junk: db.put(_PRODUCT.model_copy(), when=junk),
    "update": lambda db, junk: db.update(junk, title="z"),
    "update of a text": lambda db, junk: db.update(_product_of(db), title=junk),
    "update of a number": lambda db, junk: db.update(_product_of(db), amount=junk),
    "update of a number by so much": lambda db, junk: db.update(_product_of(db), amount=Add(junk)),
    "update of a part of the key": lambda db, junk: db.update(_product_of(db), shop_id=junk),
    "update of the version": lambda db, junk: db.update(_product_of(db), version=junk),
    "update of a counter": lambda db, junk: db.update(_product_of(db), reviews=junk),
    "update of a time": lambda db, junk: db.update(_product_of(db), created_at=junk),
    "update of a unique value": lambda db, junk: db.update(_product_of(db), code=junk),
    "update of an unknown field": lambda db, junk: db.update(_product_of(db), nope=junk),
    "update when": lambda db, junk: db.update(_product_of(db), when=junk, title="z"),
    "delete": lambda db, junk: db.delete(junk),
    "delete when": lambda db, junk: db.delete(Hold(hold_id="h", slot="s"), when=junk),
    "delete progress": lambda db, junk: db.delete(Hold(hold_id="h", slot="s"), progress=junk),
    "delete_plan": lambda db, junk: db.delete_plan(junk),
    "transaction": lambda db, junk: db.transaction(junk),
    "Create": lambda db, junk: db.transaction(Create(junk)),
    "Update": lambda db, junk: db.transaction(Update(junk, title="x")),
    "Delete": lambda db, junk: db.transaction(Delete(junk)),
    "Check": lambda db, junk: db.transaction(Check(junk)),
    "Check when": lambda db, junk: db.transaction(Check(_product_of(db), junk)),
    "batch": lambda db, junk: db.batch(junk),
    "batch of puts": lambda db, junk: db.batch(Put(junk)),
    "id of a new item": lambda db, junk: db.create(Product(shop_id="a", product_id=junk, title="t")),
    "unique value": lambda db, junk: db.put(Hold(hold_id="h", slot=junk)),
    "expiry": lambda db, junk: db.put(Hold(hold_id="h", slot="s", until=junk)),
    "verify progress": lambda db, junk: db.verify(progress=junk),
}
OPENING: Mapping[str, Attempt] = {
    "cursor_secret": lambda db, junk: Shops.open(":memory:", cursor_secret=junk).close(),
    "clock": lambda db, junk: Shops.open(":memory:", clock=junk).close(),
    "capabilities": lambda db, junk: Shops.open(":memory:", capabilities=junk).close(),
    "sleep": lambda db, junk: Shops.open(":memory:", sleep=junk).close(),
    "engine": lambda db, junk: Shops.open(":memory:", engine=junk).close(),
    "stage": lambda db, junk: Kefir.open(":memory:", stage=junk).close(),
    "unknown environment": lambda db, junk: Shops.open(":memory:", stage=junk).close(),
    "address": lambda db, junk: Shops.open(f"http://{junk}:0/x", create=False).close(),
    "region": lambda db, junk: Shops.open(f"dynamodb://{junk}:0", create=False).close(),
    "consumer": lambda db, junk: db.consume(name=junk),
    "target of a function": lambda db, junk: Shops.lambda_handler(junk),
    "prepare of a function": lambda db, junk: Shops.lambda_handler(prepare=junk),
}


@pytest.fixture(scope="module")
def db() -> Iterator[Shops]:
    with Shops.open(":memory:") as opened:
        opened.create(Shop(shop_id="a"))
        yield opened


def refuses_or_takes(db: Shops, attempt: Attempt, junk: Any) -> None:
    """Try it. Whatever is raised is one of the errors that are meant, and says something."""
    if db.plan(Shop.key.get(ShopPK(shop_id="a"), ShopSK())).maybe() is None:
        db.create(Shop(shop_id="a"))  # what came before has deleted it
    db.put(_PRODUCT.model_copy(update={"version": getattr(db.product("a", "p").maybe(), "version", 0)}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            attempt(db, junk)
        except REFUSALS as error:
            said = str(error)
        else:
            return
    assert " " in said, f"{said!r} is no sentence"


_MANY = settings(suppress_health_check=list(HealthCheck), max_examples=12)
_LONG = settings(suppress_health_check=list(HealthCheck), max_examples=200, derandomize=False)
_ALL: Mapping[str, Attempt] = {**READS, **WRITES, **OPENING}


@pytest.mark.parametrize("name", _ALL)
@_MANY
@given(junk=JUNK)
def test_wrong_arguments_are_refused_with_a_sentence(db: Shops, name: str, junk: Any) -> None:
    refuses_or_takes(db, _ALL[name], junk)


@pytest.mark.soak
@pytest.mark.parametrize("name", _ALL)
@_LONG
@given(junk=JUNK)
def test_many_wrong_arguments_are_refused_with_a_sentence(db: Shops, name: str, junk: Any) -> None:
    refuses_or_takes(db, _ALL[name], junk)


# --- what is said -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [True, 1.5, "5", None, Decimal(2), float("nan")])
def test_limit_of_a_wrong_kind_is_named(db: Shops, count: Any) -> None:
    for attempt in (db.products_of("a").limit, db.products_of("a").request, db.products_of("a").page):
        if count is None and attempt != db.products_of("a").limit:
            continue
        with pytest.raises(TypeError, match="a limit is a whole number, not"):
            attempt(count)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_answers_are_remembered_for_a_length_of_time(db: Shops, seconds: float) -> None:
    with pytest.raises(ValueError, match="a number of seconds from 0 up"):
        db.products_of("a").cached(seconds=seconds)


def test_condition_that_is_none_is_refused_where_it_is_written(db: Shops) -> None:
    wrong: Any = "title = x"
    for attempt in (
        lambda: db.products_of("a").where(wrong),
        lambda: Not(wrong),
        lambda: Eq("title", "x") & wrong,
        lambda: Put(_PRODUCT, wrong),
        lambda: Update(_PRODUCT, when=wrong),
    ):
        with pytest.raises(TypeError, match=r"a condition is one like Eq\(.*\), not 'title = x'"):
            attempt()


def test_field_that_is_no_name_is_unknown(db: Shops) -> None:
    nameless: Any = 5
    with pytest.raises(UnknownFieldError, match="Product has no field 5"):
        db.products_of("a").where(Eq(nameless, 1)).page()


def test_progress_that_cannot_be_told_is_refused_before_anything_is_deleted(db: Shops) -> None:
    db.put(Shop(shop_id="b"))
    mistaken: Any = "print"
    with pytest.raises(TypeError, match="progress is a function, not 'print'"):
        db.delete(db.shop("b"), progress=mistaken)
    assert db.shop("b").maybe() is not None


def test_text_with_half_a_character_is_refused_by_its_text(db: Shops) -> None:
    with pytest.raises(SingleTableError, match="one half of a character"):
        db.put(Hold(hold_id="h", slot="s", note="cut \ud83d"))


@pytest.mark.parametrize("address", ["http://[", "http://host:port", "http://host:99999999", "http:// /"])
def test_address_that_is_none_is_named(address: str) -> None:
    with pytest.raises(UnknownTargetError, match="cannot be opened"):
        Shops.open(address)


def test_empty_environment_is_one_that_is_not_given() -> None:
    with pytest.raises(DeclarationError, match="stage is not given"):
        Kefir.open(":memory:", stage="")


def test_times_out_of_range_are_refused(db: Shops) -> None:
    with pytest.raises(SingleTableError):
        EventSK.prefix(created_at=datetime(1, 1, 1))  # noqa: DTZ001  # a time of nowhere


def test_misspelt_field_is_refused_where_it_is_written() -> None:
    query = Product.key.query(ShopPK(shop_id="a"))
    with pytest.raises(UnknownFieldError, match="Product has no field 'titel'") as caught:
        query.where(titel="x")
    assert "did you mean title?" in str(caught.value)
