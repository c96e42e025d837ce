"""Unmodified dyntastic in the process: pydantic models over boto3 resources of its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError
from dyntastic import A, DoesNotExist, Dyntastic, Index, transaction
from pydantic import Field

import singletable
from singletable import Database


class Product(Dyntastic):
    __table_name__ = "products"
    __hash_key__ = "shop"
    __range_key__ = "sku"

    shop: str
    sku: str
    price: Decimal = Decimal("9.95")
    category: str = "none"
    stock: int = 0
    tags: set[str] | None = None
    photo: bytes | None = None
    added: datetime | None = None
    expires: int | None = None
    sizes: dict[str, list[int]] = Field(default_factory=dict)


BY_CATEGORY = Index("category", "price", index_name="by_category")


@pytest.fixture
def database() -> Iterator[Database]:
    """A new database for each test: the model keeps the resource of the first one, and follows all the same."""
    with Database.open(":memory:") as opened, singletable.patch(opened):
        Product.create_table(BY_CATEGORY, "category", wait=True)
        yield opened
        assert opened.check() == []


def test_table_is_made_with_its_indexes(database: Database) -> None:
    described = database.describe_table(TableName="products")["Table"]
    names = [index["IndexName"] for index in described["GlobalSecondaryIndexes"]]
    assert sorted(names) == ["by_category", "category-index"]


def test_every_field_comes_back(database: Database) -> None:
    product = Product(
        shop="north",
        sku="1",
        price=Decimal("12.50"),
        tags={"new", "blue"},
        photo=b"\x00\xff",
        added=datetime(2026, 1, 2, tzinfo=UTC),
        expires=1_800_000_000,
        sizes={"eu": [38, 40]},
    )
    product.save()
    assert Product.get("north", "1", consistent_read=True) == product
    stored = database.scan(TableName="products")["Items"][0]
    assert stored["photo"] == {"B": b"\x00\xff"}
    assert stored["expires"] == {"N": "1800000000"}


def test_missing_item_is_its_exception(database: Database) -> None:
    with pytest.raises(DoesNotExist):
        Product.get("north", "nothing")
    assert Product.safe_get("north", "nothing") is None


def test_failed_condition_is_its_exception(database: Database) -> None:
    product = Product(shop="north", sku="1")
    product.save(condition=A.sku.not_exists())
    with pytest.raises(Product.ConditionException()):
        product.save(condition=A.sku.not_exists())
    with pytest.raises(Product.ConditionException()):
        product.delete(condition=A.stock > 0)


def test_update_is_seen_by_the_model(database: Database) -> None:
    product = Product(shop="north", sku="1", tags={"a"})
    product.save()
    product.update(A.stock.set(A.stock + 5), A.tags.add({"b"}), A.category.set("shoes"))
    assert (product.stock, product.tags, product.category) == (5, {"a", "b"}, "shoes")
    product.update(A.stock.set(0), condition=A.stock > 100)
    with pytest.raises(Product.ConditionException()):
        product.update(A.stock.set(0), condition=A.stock > 100, require_condition=True)
    assert Product.get("north", "1").stock == 5


def test_query_scan_and_index(database: Database) -> None:
    with Product.batch_writer():
        for number in range(40):
            Product(shop="north", sku=f"{number:02}", category=f"c{number % 2}", price=Decimal(number)).save()
    assert [found.sku for found in Product.query("north", range_key_condition=A.sku.begins_with("3"))] == [
        f"3{digit}" for digit in range(10)
    ]
    dear = Product.query(A.category == "c1", range_key_condition=A.price >= 35, index="by_category")
    assert [found.price for found in dear] == [35, 37, 39]
    assert len(list(Product.scan(A.price < 10))) == 10
    page = Product.query_page("north", per_page=15)
    assert page.has_more
    rest = Product.query_page("north", last_evaluated_key=page.last_evaluated_key)
    assert [found.sku for found in (*page.items, *rest.items)] == [f"{number:02}" for number in range(40)]


def test_batches_read_and_delete(database: Database) -> None:
    products = [Product(shop="north", sku=f"{number:02}") for number in range(30)]
    with Product.batch_writer():
        for product in products:
            product.save()
    found = Product.batch_get([("north", product.sku) for product in products])
    assert sorted(product.sku for product in found) == [product.sku for product in products]
    with Product.batch_writer():
        for product in products:
            product.delete()
    assert list(Product.scan()) == []


def test_transaction_goes_through_or_tells_why_not(database: Database) -> None:
    kept = Product(shop="north", sku="1", stock=1)
    kept.save()
    with transaction():
        Product(shop="north", sku="2").save()
        kept.update(A.stock.set(2), refresh=False)
    assert Product.get("north", "1").stock == 2
    kept.ignore_unrefreshed()

    def failing() -> None:
        with transaction():
            Product(shop="north", sku="3").save()
            kept.delete(condition=A.stock > 100)

    with pytest.raises(ClientError) as raised:
        failing()
    reasons = raised.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    assert Product.safe_get("north", "3") is None
