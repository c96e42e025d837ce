"""Prices of DynamoDB by region, each with its source and date. Nothing here asks anybody.

A table of prices is a TOML file: `[sources]` with a title and a date each, `[free_tier]`, and for each region the
prices of the table class STANDARD, of STANDARD_INFREQUENT_ACCESS, and of what costs the same in both. A price
without a source is not in the table; nor is a region without the prices of a plain table on demand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import rtoml

from singletable.errors import SingleTableError

TableClass = Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS"]
STANDARD: Final = "STANDARD"
INFREQUENT_ACCESS: Final = "STANDARD_INFREQUENT_ACCESS"
BOTH: Final = "BOTH"  # what costs the same in both classes
CLASSES: Final = (STANDARD, INFREQUENT_ACCESS, BOTH)
REGION: Final = re.compile(r"[a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}")
FORMAT: Final = 1

_REQUESTS: Final = "million units"
_CAPACITY: Final = "unit-hour"
_UPFRONT: Final = "100 units"
_HOURLY: Final = "100 unit-hours"
_STORED: Final = "GB-month"
# What each price is for so much of.
UNITS: Final[Mapping[str, str]] = {
    "write_request": _REQUESTS,
    "read_request": _REQUESTS,
    "replicated_write_request": _REQUESTS,
    "write_capacity": _CAPACITY,
    "read_capacity": _CAPACITY,
    "replicated_write_capacity": _CAPACITY,
    "reserved_write_1_year_upfront": _UPFRONT,
    "reserved_write_1_year_hourly": _HOURLY,
    "reserved_read_1_year_upfront": _UPFRONT,
    "reserved_read_1_year_hourly": _HOURLY,
    "reserved_write_3_years_upfront": _UPFRONT,
    "reserved_write_3_years_hourly": _HOURLY,
    "reserved_read_3_years_upfront": _UPFRONT,
    "reserved_read_3_years_hourly": _HOURLY,
    "storage": _STORED,
    "pitr": _STORED,
    "backup": _STORED,
    "restore": "GB",
    "export": "GB",
    "import": "GB",
    "stream_read": "100,000 requests",
}
OF_BOTH: Final = frozenset({"pitr", "backup", "restore", "export", "import", "stream_read"})
_RESERVED: Final = "reserved_"  # only of STANDARD (developer guide, "DynamoDB reserved capacity")
_FREE: Final = (
    "storage_gb",
    "write_capacity_units",
    "read_capacity_units",
    "replicated_write_capacity_units",
    "stream_reads",
)
_AMOUNT_MAX: Final = 1e12
_FILE_BYTES_MAX: Final = 8_000_000
_IMPORT_HINT: Final = (
    "`singletable prices import FILE --out prices.toml` reads it from AWS's price list, and --prices prices.toml "
    "takes it from there"
)


class PriceError(SingleTableError):
    """A price that is not known, or a file that is no table of prices. It says what to do."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)


@dataclass(frozen=True, slots=True)
class Price:
    """What something costs: `usd` for so much as `per` says, by this source of this date."""

    usd: float
    per: str
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class FreeTier:
    """What an account has free of charge in each region and month. A bill has it only on request."""

    storage_gb: float = 0
    write_capacity_units: float = 0
    read_capacity_units: float = 0
    replicated_write_capacity_units: float = 0
    stream_reads: float = 0
    source: str = ""
    date: date | None = None


@dataclass(frozen=True, slots=True)
class RegionPrices:
    """The prices of one region: by table class, and in `BOTH` what costs the same in every class."""

    code: str
    by_class: Mapping[str, Mapping[str, Price]]
    free_tier: FreeTier = field(default_factory=FreeTier)

    def find(self, name: str, table_class: TableClass = STANDARD) -> Price | None:
        """Return a price; None if the table does not have it."""
        if name not in UNITS:
            raise PriceError(f"there is no price called {name}", hint=f"there are {', '.join(UNITS)}")
        return self.by_class.get(BOTH if name in OF_BOTH else table_class, {}).get(name)

    def price(self, name: str, table_class: TableClass = STANDARD) -> Price:
        """Return a price. One that is not in the table is an error."""
        found = self.find(name, table_class)
        if found is None:
            of_class = "" if name in OF_BOTH else f" of the table class {table_class}"
            raise PriceError(
                f"the price {name}{of_class} in {self.code} is not in the table", hint=_IMPORT_HINT
            )
        return found


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by region."""

    regions: Mapping[str, RegionPrices]

    def region(self, code: str) -> RegionPrices:
        """Return the prices of a region. One that has none is an error."""
        found = self.regions.get(code)
        if found is None:
            close = get_close_matches(code, self.regions, n=1)
            meant = f"did you mean {close[0]}? " if close else ""
            raise PriceError(
                f"there are no prices of {code}",
                hint=f"{meant}there are those of {', '.join(sorted(self.regions)) or 'no region'}; "
                "`singletable prices import FILE --out prices.toml` reads others from AWS's price list",
            )
        return found

    def price(self, region: str, name: str, table_class: TableClass = STANDARD) -> Price:
        """Return a price of a region."""
        return self.region(region).price(name, table_class)

    def merged(self, other: PriceTable) -> PriceTable:
        """Return both tables in one. Where both have a price, that of the other one counts."""
        regions = dict(self.regions)
        for code, prices in other.regions.items():
            mine = regions.get(code)
            regions[code] = prices if mine is None else _merged(mine, prices)
        return PriceTable(dict(sorted(regions.items())))


def _merged(mine: RegionPrices, other: RegionPrices) -> RegionPrices:
    classes = {**mine.by_class, **other.by_class}
    by_class = {name: {**mine.by_class.get(name, {}), **other.by_class.get(name, {})} for name in classes}
    return RegionPrices(
        mine.code, by_class, mine.free_tier if other.free_tier == FreeTier() else other.free_tier
    )


# --- tables in files ------------------------------------------------------------------------------------


@cache
def packaged_prices() -> PriceTable:
    """Return the table of this release."""
    return parse_prices(files(__package__).joinpath("prices.toml").read_text(encoding="utf-8"))


def read_prices(path: str | Path) -> PriceTable:
    """Read a table of prices from a TOML file."""
    text = read_text(path)
    try:
        return parse_prices(text)
    except PriceError as error:
        raise PriceError(f"{path}: {error.message}", hint=error.hint or "") from None


def read_text(path: str | Path, bytes_max: int = _FILE_BYTES_MAX) -> str:
    """Return the text of a file that a user has named."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(bytes_max + 1)
        if len(data) > bytes_max:
            raise PriceError(
                f"{path} has more than {bytes_max:,} bytes",
                hint="take the price list of one region and service, AmazonDynamoDB",
            )
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PriceError(f"{path} is no text", hint="prices are UTF-8: TOML, or AWS's JSON") from None
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise PriceError(f"{path} cannot be read: {said}", hint="name a file that is there") from None


def write_prices(table: PriceTable) -> str:
    """Return a table of prices as TOML."""
    sources: dict[tuple[str, date], str] = {}
    free_tier = next((each.free_tier for each in table.regions.values() if each.free_tier.date), None)
    parts = [
        _section(
            f"regions.{code}.{table_class}",
            {name: _inline(_price_data(named[name], sources)) for name in UNITS if name in named},
        )
        for code, prices in sorted(table.regions.items())
        for table_class in CLASSES
        if (named := prices.by_class.get(table_class))
    ]
    if free_tier is not None:
        assert free_tier.date is not None
        counts = {name: getattr(free_tier, name) for name in _FREE}
        source = _source_key(free_tier.source, free_tier.date, sources)
        lines = {name: json.dumps(value) for name, value in {**counts, "source": source}.items()}
        parts.insert(0, _section("free_tier", lines))
    titles = {
        key: _inline({"title": title, "date": day.isoformat()}) for (title, day), key in sources.items()
    }
    return "\n".join([f"prices = {FORMAT}\n", _section("sources", titles), *parts])


def _section(name: str, lines: Mapping[str, str]) -> str:
    return f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items())


def _inline(data: Mapping[str, Any]) -> str:
    # Texts and numbers of JSON are those of TOML, but for DEL, which TOML wants escaped.
    members = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in data.items())
    return f"{{ {', '.join(members)} }}".replace("\x7f", "\\u007f")


def _price_data(price: Price, sources: dict[tuple[str, date], str]) -> dict[str, Any]:
    return {
        "usd": price.usd,
        "per": price.per,
        "source": _source_key(price.source, price.date, sources),
    }


def _source_key(title: str, day: date, sources: dict[tuple[str, date], str]) -> str:
    return sources.setdefault((title, day), f"s{len(sources) + 1}")


# --- reading ----------------------------------------------------------------------------------------------


def parse_prices(text: str) -> PriceTable:
    """Read a table of prices from TOML. What is no such table is an error that says where."""
    try:
        data = rtoml.loads(text)
    except rtoml.TomlParsingError as error:
        raise _wrong(f"this is no TOML: {' '.join(str(error).split())}") from None
    if data.get("prices") != FORMAT:
        raise _wrong(f"this is no table of prices: it has no `prices = {FORMAT}` at its top")
    _only(data, ("prices", "sources", "free_tier", "regions"), "the table")
    sources = {
        key: _parse_source(each, f"sources.{key}")
        for key, each in _mapping(data.get("sources", {}), "sources").items()
    }
    free_tier = _parse_free_tier(data["free_tier"], sources) if "free_tier" in data else FreeTier()
    regions = {}
    for code, classes in _mapping(data.get("regions", {}), "regions").items():
        place = f"regions.{code}"
        if REGION.fullmatch(code) is None:
            raise _wrong(f"{place}: {code!r} is no region of AWS")
        _only(_mapping(classes, place), CLASSES, place)
        by_class = {name: _parse_class(each, sources, f"{place}.{name}") for name, each in classes.items()}
        regions[code] = RegionPrices(code, by_class, free_tier)
    return PriceTable(dict(sorted(regions.items())))


def _parse_class(data: Any, sources: Mapping[str, tuple[str, date]], place: str) -> dict[str, Price]:
    table_class = place.rpartition(".")[2]
    found = {}
    for name, price in _mapping(data, place).items():
        if name not in UNITS:
            close = get_close_matches(name, UNITS, n=1)
            raise _wrong(f"{place}: there is no price called {name}{f', but {close[0]}' if close else ''}")
        is_right = (table_class == BOTH) == (name in OF_BOTH)
        if not is_right or (name.startswith(_RESERVED) and table_class != STANDARD):
            raise _wrong(f"{place}: the price {name} does not belong to {table_class}")
        found[name] = _parse_price(price, sources, f"{place}.{name}", UNITS[name])
    return found


def _parse_price(data: Any, sources: Mapping[str, tuple[str, date]], place: str, per: str) -> Price:
    _only(_mapping(data, place), ("usd", "per", "source"), place)
    if data.get("per") != per:
        raise _wrong(f"{place}: it is a price for a {per}, and this one says per {data.get('per')!r}")
    title, day = _cited(data, sources, place)
    return Price(_amount(data.get("usd"), f"{place}.usd"), per, title, day)


def _parse_free_tier(data: Any, sources: Mapping[str, tuple[str, date]]) -> FreeTier:
    _only(_mapping(data, "free_tier"), (*_FREE, "source"), "free_tier")
    title, day = _cited(data, sources, "free_tier")
    amounts = {name: _amount(data[name], f"free_tier.{name}") for name in _FREE if name in data}
    return FreeTier(**amounts, source=title, date=day)


def _parse_source(data: Any, place: str) -> tuple[str, date]:
    _only(_mapping(data, place), ("title", "date"), place)
    title, day = data.get("title"), data.get("date")
    if not isinstance(title, str) or not title.strip():
        raise _wrong(f"{place}: a source has a title")
    try:
        return title, day if type(day) is date else date.fromisoformat(day)
    except (TypeError, ValueError):
        raise _wrong(f"{place}: a source has a date such as 2026-09-11, not {day!r}") from None


def _cited(data: Mapping[str, Any], sources: Mapping[str, tuple[str, date]], place: str) -> tuple[str, date]:
    key = data.get("source")
    if not isinstance(key, str) or key not in sources:
        raise _wrong(f"{place}: its source {key!r} is not among the sources")
    return sources[key]


def _amount(value: Any, place: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= _AMOUNT_MAX:  # NaN is in no range
        raise _wrong(f"{place}: {value!r} is no amount")
    return float(value)


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(f"{place}: this is no section")
    return value


def _only(data: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for name in data:
        if name not in known:
            raise _wrong(f"{place}: there is no {name}, but {', '.join(known)}")


def _wrong(message: str) -> PriceError:
    return PriceError(message, hint="docs/reference/prices.md shows what a table of prices looks like")
