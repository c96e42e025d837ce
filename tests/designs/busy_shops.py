"""Shops and their orders: loads, volumes, handlers, and data that the stream keeps, all of it declared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from singletable import (
    Add,
    Change,
    CopyOf,
    CountOf,
    Create,
    Delete,
    Derived,
    Design,
    Entity,
    Eq,
    Get,
    Key,
    Keys,
    Load,
    Once,
    Put,
    Rate,
    SortKey,
    Table,
    Update,
    Volume,
    Writes,
    on,
    pattern,
)

WHY = "assumption: nobody knows"


class ShopTable(Table):
    name = "shop"
    pitr_days = None


class ShopPK(Key, template="SHOP#{shop_id}"):
    shop_id: str


class ShopSK(SortKey, template="SHOP"):
    pass


class OrderSK(SortKey, template="ORDER#{order_id}"):
    order_id: str


class LabelSK(SortKey, template="LABEL#{order_id}"):
    order_id: str


class TotalsSK(SortKey, template="TOTALS"):
    pass


class Shop(Entity):
    key = Keys(ShopPK, ShopSK)

    shop_id: str
    name: str = ""
    open_orders: Annotated[int, CountOf("Order", when=Eq("status", "open"), by="stream")] = 0
    orders: Annotated[int, CountOf("Order")] = 0


class Order(Entity):
    key = Keys(ShopPK, OrderSK)

    shop_id: str
    order_id: str
    status: str = "open"
    shop_name: Annotated[str, CopyOf("Shop", "name")] = ""


def _label(order: Order) -> Iterator[Label]:
    yield Label(shop_id=order.shop_id, order_id=order.order_id)


class Label(Entity):
    key = Keys(ShopPK, LabelSK)
    made = Derived(Order, _label, by="stream", reads=("status",))

    shop_id: str
    order_id: str


class Totals(Entity):
    key = Keys(ShopPK, TotalsSK)

    shop_id: str
    orders: int = 0


class Shops(Design):
    table = ShopTable
    entities = (Shop, Order, Label, Totals)
    for_users = 200
    volumes = {
        Order: Volume(40, 2, per="shop", growth_per_month=4, hottest_share=0.5, upto_kb=9, because=WHY),
        Shop: Volume(10, kb=1),
    }
    rates = {Order: Rate(creates=0.5)}
    loads = {
        Order: Writes(
            create=Load(per_user=3, because=WHY),
            update=Load(monthly=70, peak=2.5, fails=0.1, changes={"status": 0.4}, because=WHY),
        ),
        "order": Load(per_user=0.5, monthly=90, hottest=0.25, because=WHY),
        "count": Load(monthly=600, because=WHY),
    }

    @pattern("1 Get shop", rps=0.2, load=Load(peak=0.5, because="003:271 often"))
    def shop(self, shop_id: str) -> Get[Shop]:
        return Shop.key.get(ShopPK(shop_id=shop_id), ShopSK())

    @pattern("2 Get order")
    def order(self, shop_id: str, order_id: str) -> Get[Order]:
        return Order.key.get(ShopPK(shop_id=shop_id), OrderSK(order_id=order_id))

    @on(Order, "status")
    def label(self, change: Change[Order]) -> Iterator[Put[Order] | Delete[Totals]]:
        """Do something.

        And explain it.
        """
        yield from ()

    @on(Order, writes=(Totals,), sends=("opensearch", "sns"))
    def count(self, change: Change[Order]) -> Iterator[Once]:
        more: Any = {"orders": Add(1)}
        yield Once(Update(Totals.key.get(ShopPK(shop_id=change.entity.shop_id), TotalsSK()), **more))

    @on(Shop)
    def tell(self, change: Change[Shop]) -> Create[Totals] | None:
        return None
