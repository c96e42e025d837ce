"""`singletable prices`: what DynamoDB costs by region, each price with its source and date."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from singletable.cli.arguments import file_name
from singletable.cli.messages import say
from singletable.cli.output import write_file
from singletable.cli.parser import add_command
from singletable.planning.prices import (
    CLASSES,
    REGION,
    UNITS,
    PriceTable,
    RegionPrices,
    packaged_prices,
    read_prices,
    write_prices,
)

if TYPE_CHECKING:
    from singletable.cli.parser import Parser
    from singletable.planning.prices import Price

EXAMPLES = """\
examples:
  singletable prices show                                    the regions that have prices
  singletable prices show --region eu-north-1                every price of a region, with source and date
  singletable prices import index.json --out prices.toml     from AWS's price list, a file that everybody can load
  singletable prices fetch --region eu-west-3 --out p.toml   the same, asked from AWS with boto3
"""

_IMPORT_EXAMPLES = """\
examples:
  singletable prices import index.json --out prices.toml
  singletable prices show --prices prices.toml

The price list of a region needs no credentials:
https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonDynamoDB/current/REGION/index.json
"""

DONE = 0


def add_arguments(parser: Parser) -> None:
    """Describe `prices`."""
    below = parser.add_subparsers(dest="prices_command", metavar="COMMAND", required=True)
    show = add_command(below, "show", "print the prices that there are, with their sources")
    show.add_argument("--region", help="every price of this region")
    add_prices(show)
    show.add_argument("--json", action="store_true", help="print them as JSON")
    read = add_command(
        below, "import", "read AWS's price list, and write a table of prices", _IMPORT_EXAMPLES
    )
    read.add_argument(
        "file", metavar="FILE", type=file_name, help="the price list of AmazonDynamoDB, as JSON"
    )
    _add_out(read)
    fetch = add_command(below, "fetch", "ask AWS's price list API with boto3, and write a table of prices")
    fetch.add_argument(
        "--region",
        type=_region,
        action="append",
        default=[],
        help="of this one; may be repeated (default: all)",
    )
    _add_out(fetch)


def add_prices(parser: argparse.ArgumentParser) -> None:
    """Describe --prices, as every command has it that needs them."""
    parser.add_argument(
        "--prices", metavar="FILE", type=file_name, help="prices that count before those of this release"
    )


def _region(text: str) -> str:
    if REGION.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no region of AWS, such as eu-north-1")
    return text


def _add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", type=file_name, help="write it to this file")
    parser.add_argument("--json", action="store_true", help="as JSON, not as TOML")


def run(arguments: argparse.Namespace) -> int:
    """Carry out one of the commands of `prices`."""
    match arguments.prices_command:
        case "show":
            _show(arguments)
        case "import":
            from singletable.planning.price_list import read_price_list

            _write(arguments, read_price_list(arguments.file))
        case _:
            from singletable.client.pricing import fetch_products
            from singletable.planning.price_list import import_price_list

            _write(arguments, import_price_list(fetch_products(arguments.region)))
    return DONE


def find_prices(file: str | None) -> PriceTable:
    """Return the prices of this release, and before them those of a file."""
    return packaged_prices() if file is None else packaged_prices().merged(read_prices(file))


def _write(arguments: argparse.Namespace, table: PriceTable) -> None:
    text = _json_text(table) if arguments.json else write_prices(table)
    if arguments.out is None:
        print(text, end="")
    else:
        write_file(arguments.out, text)
        say(f"{arguments.out} is written: {len(table.regions)} regions; --prices {arguments.out} takes them")


# --- what is shown ----------------------------------------------------------------------------------------


def _show(arguments: argparse.Namespace) -> None:
    table = find_prices(arguments.prices)
    if arguments.region is not None:
        region = table.region(arguments.region)
        table = PriceTable({region.code: region})
    if arguments.json:
        print(_json_text(table), end="")
        return
    lines = _regions_lines(table) if arguments.region is None else _region_lines(region)
    for line in lines:
        print(line)
    if arguments.region is None:
        say(
            "USD for a million write and read units on demand, and for a GB-month of storage; --region shows all"
        )


def _regions_lines(table: PriceTable) -> Iterator[str]:
    yield f"{'region':<16}{'writes':>9}{'reads':>9}{'storage':>9}  newest"
    for code, prices in table.regions.items():
        shown = (prices.find(name) for name in ("write_request", "read_request", "storage"))
        amounts = "".join(f"{'-' if each is None else _usd(each):>9}" for each in shown)
        newest = max(price.date for _, _, price in _prices(prices))
        yield f"{code:<16}{amounts}  {newest}"


def _region_lines(prices: RegionPrices) -> Iterator[str]:
    sources: dict[str, int] = {}
    width = max(map(len, UNITS))
    for table_class, name, price in _prices(prices):
        number = sources.setdefault(price.source, len(sources) + 1)
        amount = f"{_usd(price):>9} per {price.per}"
        yield f"{table_class:<27}{name:<{width}} {amount:<32} {price.date} [{number}]"
    yield ""
    for source, number in sources.items():
        yield f"[{number}] {source}"


def _prices(prices: RegionPrices) -> Iterator[tuple[str, str, Price]]:
    for table_class in CLASSES:
        named = prices.by_class.get(table_class, {})
        yield from ((table_class, name, named[name]) for name in UNITS if name in named)


def _usd(price: Price) -> str:
    return f"{price.usd:.10f}".rstrip("0").rstrip(".")


def _json_text(table: PriceTable) -> str:
    regions = {code: _region_data(prices) for code, prices in table.regions.items()}
    return json.dumps({"regions": regions}, indent=2, ensure_ascii=False) + "\n"


def _region_data(prices: RegionPrices) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for table_class, name, price in _prices(prices):
        data.setdefault(table_class, {})[name] = {
            "usd": price.usd,
            "per": price.per,
            "source": price.source,
            "date": price.date.isoformat(),
        }
    free = prices.free_tier
    if free.date is not None:
        data["free_tier"] = {
            "storage_gb": free.storage_gb,
            "write_capacity_units": free.write_capacity_units,
            "read_capacity_units": free.read_capacity_units,
            "replicated_write_capacity_units": free.replicated_write_capacity_units,
            "stream_reads": free.stream_reads,
            "source": free.source,
            "date": free.date.isoformat(),
        }
    return data
