"""The data of the demo: a shop in one table. The same items every time."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

Item = dict[str, dict[str, Any]]

TABLE_NAME: Final = "shop"
INDEX_NAME: Final = "GSI1"

TABLE: Final[dict[str, Any]] = {
    "TableName": TABLE_NAME,
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")
    ],
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": INDEX_NAME,
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}

_CUSTOMERS: Final = (
    ("ada", "Ada Quill", "Lisbon"),
    ("bo", "Bo Lindqvist", "Malmö"),
    ("chidi", "Chidi Okafor", "Lagos"),
    ("dora", "Dora Szabó", "Pécs"),
    ("emre", "Emre Aydan", "Izmir"),
    ("fen", "Fen Xiaoli", "Chengdu"),
    ("gita", "Gita Rao", "Pune"),
    ("hugo", "Hugo Marchand", "Nantes"),
    ("ines", "Inês Prado", "Porto"),
    ("jun", "Jun Tanaka", "Sendai"),
    ("kaya", "Kaya Brandt", "Bremen"),
    ("leo", "Leo Ferrari", "Turin"),
)
_PRODUCTS: Final = (
    ("apron", "Linen apron", 3400),
    ("board", "Cutting board", 2950),
    ("bowl", "Stoneware bowl", 1850),
    ("candle", "Beeswax candle", 1200),
    ("clock", "Kitchen clock", 4600),
    ("funnel", "Copper funnel", 1575),
    ("grater", "Box grater", 1990),
    ("jar", "Preserving jar", 650),
    ("kettle", "Enamel kettle", 5800),
    ("ladle", "Olive-wood ladle", 1425),
    ("mill", "Pepper mill", 3890),
    ("mug", "Blue mug", 1150),
    ("pan", "Cast-iron pan", 7200),
    ("scale", "Balance scale", 8950),
    ("towel", "Tea towel", 890),
    ("whisk", "Balloon whisk", 1340),
)
_ORDER_COUNT: Final = 44
_FIRST_DAY: Final = date(2026, 1, 5)


def shop_items() -> Iterator[Item]:
    """Yield every item of the shop, about two hundred."""
    yield from _customers()
    yield from _products()
    for number in range(_ORDER_COUNT):
        yield from _order(number)


def _customers() -> Iterator[Item]:
    for position, (slug, name, city) in enumerate(_CUSTOMERS):
        key = f"CUSTOMER#{slug}"
        yield _item("Customer", key, "PROFILE", name=name, city=city, since=str(2019 + position % 6))
        yield _item("Address", key, "ADDRESS#home", city=city)
        if position % 3 == 0:
            yield _item("Address", key, "ADDRESS#work", city=_CUSTOMERS[(position + 5) % 12][2])


def _products() -> Iterator[Item]:
    for slug, name, price_cents in _PRODUCTS:
        yield _item(
            "Product",
            f"PRODUCT#{slug}",
            "DETAILS",
            index=("CATALOGUE", name),
            name=name,
            price=_money(price_cents),
        )


def _order(number: int) -> Iterator[Item]:
    order_id = str(1001 + number)
    customer = _CUSTOMERS[(number * 7 + number // 12) % 12][0]
    day = (_FIRST_DAY + timedelta(days=number * 2)).isoformat()
    status = _status(number)
    line_count = 1 + number * 3 % 4
    lines = [(_PRODUCTS[(number * 5 + line * 3) % 16], 1 + (number + line) % 3) for line in range(line_count)]
    total_cents = sum(price_cents * quantity for (_, _, price_cents), quantity in lines)
    yield _item(
        "Order",
        f"CUSTOMER#{customer}",
        f"ORDER#{day}#{order_id}",
        index=(f"STATUS#{status}", f"{day}#{order_id}"),
        status=status,
        placed=day,
        total=_money(total_cents),
    )
    for line, ((slug, name, price_cents), quantity) in enumerate(lines, start=1):
        yield _item(
            "Line",
            f"ORDER#{order_id}",
            f"LINE#{line:02}",
            index=(f"PRODUCT#{slug}", f"ORDER#{day}#{order_id}"),
            product=name,
            quantity=quantity,
            price=_money(price_cents),
        )


def _status(number: int) -> str:
    if number % 17 == 9:
        return "returned"
    if number >= _ORDER_COUNT - 5:
        return "open"
    return "packed" if number >= _ORDER_COUNT - 8 else "shipped"


def _item(
    entity: str,
    partition: str,
    sort: str,
    *,
    index: tuple[str, str] | None = None,
    **attributes: str | int,
) -> Item:
    # Customers and addresses have no index attributes: they are not in the index (it is sparse).
    keys = {"PK": partition, "SK": sort}
    if index is not None:
        keys |= {"GSI1PK": index[0], "GSI1SK": index[1]}
    texts = {**keys, "entity": entity, **attributes}
    return {name: _number(value) if name in _NUMBERS else {"S": str(value)} for name, value in texts.items()}


_NUMBERS: Final = frozenset(("price", "quantity", "since", "total"))


def _number(value: str | int) -> dict[str, str]:
    return {"N": str(value)}


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
