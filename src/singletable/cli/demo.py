"""`singletable demo`: a server with something in it, a picture of it, and three things to try."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from singletable.cli.picture import Painter, Row, Style
from singletable.cli.serving import CREDENTIALS, print_ready, run_server
from singletable.cli.shop import INDEX_NAME, TABLE, TABLE_NAME, Item, shop_items
from singletable.database import Database
from singletable.server import ServerSettings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from singletable.server import Address

_BATCH_ITEMS = 25
_DETAILS = ("name", "product", "status", "city", "quantity")
_MONEY = ("total", "price")
_TABLE_PICTURE = ("CUSTOMER#ada", "ORDER#1012", "PRODUCT#mug")
_ROWS_MAX = 8
_INDEX_PICTURE = ("STATUS#open", "PRODUCT#mug")


def run(arguments: argparse.Namespace) -> int:
    """Fill a table in memory, serve it, show it."""

    def on_ready(address: Address) -> None:
        if not arguments.json:
            print("\n".join([*_picture(database, _style()), "", _things_to_try(address.url)]))
        print_ready(address, None, as_json=arguments.json)

    with Database.open(":memory:") as database:
        fill(database)
        settings = ServerSettings(port=arguments.port, checks_signatures=False)
        return run_server(database, settings, on_ready=on_ready, debug=arguments.debug)


def fill(database: Database) -> None:
    """Create the table of the demo with its items."""
    database.create_table(**TABLE)
    items = list(shop_items())
    for start in range(0, len(items), _BATCH_ITEMS):
        puts: list[Any] = [{"PutRequest": {"Item": item}} for item in items[start : start + _BATCH_ITEMS]]
        database.batch_write_item(RequestItems={TABLE_NAME: puts})


# --- the picture ------------------------------------------------------------------------------------


def _style() -> Style:
    is_terminal = sys.stdout.isatty()
    return Style(
        width=shutil.get_terminal_size().columns if is_terminal else 100,
        colour=is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        unicode=(sys.stdout.encoding or "").lower().replace("-", "") == "utf8",
    )


def _picture(database: Database, style: Style) -> list[str]:
    stored: list[Item] = database.scan(TableName=TABLE_NAME)["Items"]
    rows = [_row(item, "PK", "SK") for item in stored]
    painter = Painter(style, (row.entity for row in rows))
    collection_count = len({row.partition for row in rows})
    return [
        f"table {TABLE_NAME}: {len(rows)} items in {collection_count} item collections",
        painter.legend(rows),
        "",
        *painter.collections(_query(database, _TABLE_PICTURE), rows_max=_ROWS_MAX),
        "",
        f"the same items by their index {INDEX_NAME}",
        "",
        *painter.collections(_query(database, _INDEX_PICTURE, index=INDEX_NAME), rows_max=_ROWS_MAX),
    ]


def _query(database: Database, partitions: tuple[str, ...], *, index: str | None = None) -> Iterator[Row]:
    prefix = index or ""
    for partition in partitions:
        asked: dict[str, Any] = {} if index is None else {"IndexName": index}
        answer = database.query(
            TableName=TABLE_NAME,
            KeyConditionExpression=f"{prefix}PK = :partition",
            ExpressionAttributeValues={":partition": {"S": partition}},
            **asked,
        )
        yield from (_row(item, f"{prefix}PK", f"{prefix}SK") for item in answer["Items"])


def _row(item: Item, partition: str, sort: str) -> Row:
    details = [_detail(item[name]) for name in _DETAILS if name in item]
    details += [f"{float(item[name]['N']):.2f}" for name in _MONEY if name in item]
    return Row(item[partition]["S"], item[sort]["S"], item["entity"]["S"], "  ".join(details))


def _detail(value: dict[str, str]) -> str:
    return value.get("S") or f"{value['N']} x"


# --- three things to try --------------------------------------------------------------------------------


_THINGS_TO_TRY = """\
1. a customer and all that belongs to her, in one query (AWS CLI)

CREDENTIALS aws dynamodb query \\
  --endpoint-url URL --table-name shop \\
  --key-condition-expression 'PK = :customer' \\
  --expression-attribute-values '{":customer": {"S": "CUSTOMER#ada"}}' \\
  --query 'Items[].[SK.S, entity.S, total.N]' --output text

2. open orders, the oldest first, from the index (BOTO3)

PYTHON - <<'EOF'
import boto3
dynamodb = boto3.resource(
    "dynamodb", endpoint_url="URL", region_name="us-east-1",
    aws_access_key_id="local", aws_secret_access_key="local",
)
found = dynamodb.Table("shop").query(
    IndexName="GSI1",
    KeyConditionExpression="GSI1PK = :status",
    ExpressionAttributeValues={":status": "STATUS#open"},
)
for order in found["Items"]:
    print(order["placed"], order["PK"], order["total"])
EOF

3. one item, without an SDK or a signature (curl)

curl -s URL -H 'Content-Type: application/x-amz-json-1.0' \\
  -H 'X-Amz-Target: DynamoDB_20120810.GetItem' \\
  -d '{"TableName": "shop", "Key": {"PK": {"S": "PRODUCT#mug"}, "SK": {"S": "DETAILS"}}}'
"""


def _things_to_try(url: str) -> str:
    has_boto3 = find_spec("boto3") is not None
    # A Python that has boto3, so that the lines run when they are pasted.
    python = sys.executable.removeprefix(os.path.join(os.getcwd(), "")) if has_boto3 else "python3"
    return (
        _THINGS_TO_TRY.replace("CREDENTIALS", CREDENTIALS.format(region="us-east-1"))
        .replace("BOTO3", "boto3" if has_boto3 else "after pip install boto3")
        .replace("PYTHON", python)
        .replace("URL", url)
    )
