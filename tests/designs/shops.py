"""Shops: all that is kept by transaction at once: unique codes, counters, averages, labels, what is owned."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from singletable.design import (
    AverageOf,
    CountOf,
    CreatedAt,
    Derived,
    Design,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    Query,
    SortKey,
    SumOf,
    Table,
    Ttl,
    Unique,
    UpdatedAt,
    Version,
    auto,
    pattern,
)


class ShopTable(Table):
    name = "shops"
    by_title = Index("ByTitle", pk="GSI1PK", sk="GSI1SK")


class ShopPK(Key, template="SHOP#{shop_id}"):
    shop_id: str


class ShopSK(SortKey, template="SHOP"):
    pass


class ProductSK(SortKey, template="PRODUCT#{product_id}"):
    product_id: str


class VisitSK(SortKey, template="VISIT#{visit_id}"):
    visit_id: str


class TitlePK(Key, template="TITLE#{title}"):
    title: str


class CodePK(Key, template="CODE#{code}"):
    code: str


class ReviewPK(Key, template="REVIEWS#{shop_id}#{product_id}"):
    shop_id: str
    product_id: str


class ReviewSK(SortKey, template="REVIEW#{review_id}"):
    review_id: str


class LabelPK(Key, template="LABELS#{shop_id}#{product_id}"):
    shop_id: str
    product_id: str


class LabelSK(SortKey, template="LABEL#{word}"):
    word: str


class HoldPK(Key, template="HOLD#{hold_id}"):
    hold_id: str


class HoldSK(SortKey, template="HOLD"):
    pass


class SlotPK(Key, template="SLOT#{slot}"):
    slot: str


class Shop(Entity, owns=("Product", "Visit")):
    key = Keys(ShopPK, ShopSK)

    shop_id: str
    products: Annotated[int, CountOf("Product")] = 0
    stock: Annotated[int, SumOf("Product", "amount")] = 0
    reviews: Annotated[int, SumOf("Product", "reviews")] = 0
    version: Version = 0


class Visit(Entity):
    """Has nothing to be kept, so it can be written in batches."""

    key = Keys(ShopPK, VisitSK)

    shop_id: str
    visit_id: str
    minutes: int = 0


class Product(Entity, owns=("Review",)):
    key = Keys(ShopPK, ProductSK)
    by_title = ShopTable.by_title.keys(TitlePK, ProductSK)
    unique_code = Unique(CodePK)

    shop_id: str
    product_id: str
    title: str
    code: str | None = None
    amount: int = 0
    reviews: Annotated[int, CountOf("Review")] = 0
    stars: Annotated[Decimal | None, AverageOf("Review", "stars", decimals=2)] = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0


class Review(Entity):
    key = Keys(ReviewPK, ReviewSK)

    shop_id: str
    product_id: str
    review_id: str
    stars: Decimal


def labels(product: Product) -> Iterator[Label]:
    """Make a label of each word of a title."""
    for word in sorted(set(product.title.split())):
        yield Label(shop_id=product.shop_id, product_id=product.product_id, word=word)


class Label(Entity):
    key = Keys(LabelPK, LabelSK)
    made = Derived(Product, labels, reads=("title",))

    shop_id: str
    product_id: str
    word: str


class Hold(Entity):
    """Reserves a slot until its time is over."""

    key = Keys(HoldPK, HoldSK)
    unique_slot = Unique(SlotPK)

    hold_id: str
    slot: str
    note: str = ""
    until: Ttl = None


class Shops(Design):
    table = ShopTable
    entities = (Shop, Visit, Product, Review, Label, Hold)

    @pattern("1 A shop", consistent=True)
    def shop(self, shop_id: str) -> Get[Shop]:
        return Shop.key.get(ShopPK(shop_id=shop_id), ShopSK())

    @pattern("2 A product of a shop", consistent=True)
    def product(self, shop_id: str, product_id: str) -> Get[Product]:
        return Product.key.get(ShopPK(shop_id=shop_id), ProductSK(product_id=product_id))

    @pattern("3 The products of a shop", consistent=True)
    def products_of(self, shop_id: str) -> Query[Product]:
        return Product.key.query(ShopPK(shop_id=shop_id))

    @pattern("4 The reviews of a product", consistent=True)
    def reviews_of(self, shop_id: str, product_id: str) -> Query[Review]:
        return Review.key.query(ReviewPK(shop_id=shop_id, product_id=product_id))

    @pattern("5 A hold", consistent=True)
    def hold(self, hold_id: str) -> Get[Hold]:
        return Hold.key.get(HoldPK(hold_id=hold_id), HoldSK())

    @pattern("6 The products of a shop, as they were a moment ago", cached_s=3600)
    def remembered_products(self, shop_id: str) -> Query[Product]:
        return Product.key.query(ShopPK(shop_id=shop_id))

    @pattern("7 Products by title")
    def titled(self, title: str) -> Query[Product]:
        return Product.by_title.query(TitlePK(title=title))
