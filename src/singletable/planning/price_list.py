"""AWS's price list, read as a table of prices: its files ("offer files"), and the answers of GetProducts.

Both have products with attributes, and terms with price dimensions (AWS Billing guide, "Reading the service price
list file for an AWS service"). What a product is, its usage type says: its region, its table class and its kind
(DynamoDB guide, "Best practices for understanding your AWS billing and usage reports"). What is not known here,
such as a local zone or another feature, is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from singletable.planning.prices import (
    BOTH,
    INFREQUENT_ACCESS,
    OF_BOTH,
    REGION,
    STANDARD,
    UNITS,
    FreeTier,
    Price,
    PriceError,
    PriceTable,
    RegionPrices,
    read_text,
)

SERVICE: Final = "AmazonDynamoDB"
# That of DynamoDB in all regions has some 1,300 prices; the JSON of one region has a few hundred KB.
_FILE_BYTES_MAX: Final = 64_000_000
_HINT: Final = (
    "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonDynamoDB/current/REGION/index.json is one; "
    "`singletable prices fetch --region REGION` asks for the same"
)

# The kinds, by the usage type behind region and table class; and how many of AWS's units our price is for.
_KINDS: Final[Mapping[str, tuple[str, int]]] = {
    "WriteRequestUnits": ("write_request", 1_000_000),
    "ReadRequestUnits": ("read_request", 1_000_000),
    "ReplWriteRequestUnits": ("replicated_write_request", 1_000_000),
    "WriteCapacityUnit-Hrs": ("write_capacity", 1),
    "ReadCapacityUnit-Hrs": ("read_capacity", 1),
    "ReplWriteCapacityUnit-Hrs": ("replicated_write_capacity", 1),
    "TimedStorage-ByteHrs": ("storage", 1),
    "TimedPITRStorage-ByteHrs": ("pitr", 1),
    "TimedBackupStorage-ByteHrs": ("backup", 1),
    "RestoreDataSize-Bytes": ("restore", 1),
    "ExportDataSize-Bytes": ("export", 1),
    "ImportDataSize-Bytes": ("import", 1),
    "Streams-Requests": ("stream_read", 100_000),
    "Streams-RequestsCount": ("stream_read", 100_000),  # as the guide spells it
}
_RESERVED_KINDS: Final = {
    "WriteCapacityUnit-Hrs": "write",
    "ReadCapacityUnit-Hrs": "read",
    "HeavyUsage:dynamodb.write": "write",
    "HeavyUsage:dynamodb.read": "read",
}
_RESERVED_UNITS: Final = 100  # reserved capacity is bought in hundreds; the price list has the price of one
_TERMS: Final = {"1yr": "1_year", "3yr": "3_years"}
# Both may be absent: "WriteRequestUnits" is of us-east-1, and "IA-" is no region.
_USAGE_TYPE: Final = re.compile(r"(?:(?!IA-)(?P<region>[A-Z]{2,3}[0-9]?[0-9]?)-)?(?P<ia>IA-)?(?P<kind>.+)")
# The guide's table, "Billing Region Code": for files that are older than the attribute regionCode.
_BILLING_REGIONS: Final[Mapping[str, str]] = {
    "AFS1": "af-south-1", "APE1": "ap-east-1", "APN1": "ap-northeast-1", "APN2": "ap-northeast-2",
    "APN3": "ap-northeast-3", "APS1": "ap-southeast-1", "APS2": "ap-southeast-2", "APS3": "ap-south-1",
    "APS4": "ap-southeast-3", "APS5": "ap-south-2", "APS6": "ap-southeast-4", "CAN1": "ca-central-1",
    "EU": "eu-west-1", "EUC1": "eu-central-1", "EUC2": "eu-central-2", "EUN1": "eu-north-1", "EUS1": "eu-south-1",
    "EUS2": "eu-south-2", "EUW1": "eu-west-1", "EUW2": "eu-west-2", "EUW3": "eu-west-3", "ILC1": "il-central-1",
    "MEC1": "me-central-1", "MES1": "me-south-1", "SAE1": "sa-east-1", "UGE1": "us-gov-east-1",
    "UGW1": "us-gov-west-1", "USE1": "us-east-1", "USE2": "us-east-2", "USW1": "us-west-1", "USW2": "us-west-2",
}  # fmt: skip
_HOME: Final = "us-east-1"
# Of the bands at no charge: 25 units for 744 hours, the longest month.
_FREE_UNIT_HOURS: Final = 744
_FREE_BANDS: Final = {
    "storage": ("storage_gb", 1),
    "write_capacity": ("write_capacity_units", _FREE_UNIT_HOURS),
    "read_capacity": ("read_capacity_units", _FREE_UNIT_HOURS),
    "replicated_write_capacity": ("replicated_write_capacity_units", _FREE_UNIT_HOURS),
    "stream_read": ("stream_reads", 1),
}


@dataclass(frozen=True, slots=True)
class _Product:
    """A product with its terms; `version` and `published` are of the list that it stands in."""

    usage_type: str
    region: str | None
    terms: Mapping[str, Any]
    version: str
    published: date


def read_price_list(path: str | Path) -> PriceTable:
    """Read the prices of DynamoDB from a file of AWS's price list."""
    text = read_text(path, _FILE_BYTES_MAX)
    try:
        return import_price_list(_loads(text))
    except PriceError as error:
        raise PriceError(f"{path}: {error.message}", hint=error.hint or _HINT) from None


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise PriceError("this is nested too deeply for a price list", hint=_HINT) from None
    except ValueError as error:
        raise PriceError(f"this is no JSON: {error}", hint=_HINT) from None


def import_price_list(data: Any) -> PriceTable:
    """Read prices from an offer file of AWS, or from products as GetProducts answers them, each in JSON or not."""
    regions: dict[str, dict[str, dict[str, Price]]] = {}
    free: dict[str, dict[str, float]] = {}
    dated: dict[str, tuple[str, date]] = {}
    for product in _products(data):
        for region, table_class, name, usd, free_to in _prices(product):
            source = f"AWS price list, {SERVICE} in {region}, version {product.version}"
            named = regions.setdefault(region, {}).setdefault(table_class, {})
            found = Price(float(usd), UNITS[name], source, product.published)
            # us-east-1 has its storage twice, with the free tier and without. The higher price would be the
            # safe one if they ever differed.
            if name not in named or named[name].usd < found.usd:
                named[name] = found
            dated[region] = (source, product.published)
            if free_to and name in _FREE_BANDS and table_class != INFREQUENT_ACCESS:
                member, divisor = _FREE_BANDS[name]
                free.setdefault(region, {})[member] = float(free_to / divisor)
    if not regions:
        raise PriceError(f"this is no price list of {SERVICE}: no price of it was found", hint=_HINT)
    return PriceTable(
        {
            code: RegionPrices(code, regions[code], _free_tier(free.get(code), dated[code]))
            for code in sorted(regions)
        }
    )


def _free_tier(bands: Mapping[str, float] | None, dated: tuple[str, date]) -> FreeTier:
    return FreeTier(**bands, source=dated[0], date=dated[1]) if bands else FreeTier()


# --- the two forms ------------------------------------------------------------------------------------------


def _products(data: Any) -> Iterator[_Product]:
    if isinstance(data, Mapping):
        yield from _of_offer_file(data)
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        for place, each in enumerate(data):
            product = _mapping(_loads(each) if isinstance(each, str) else each, f"product {place}")
            yield _product(product.get("product"), product.get("terms"), product, f"product {place}")
    else:
        raise PriceError("this is no price list of AWS", hint=_HINT)


def _of_offer_file(data: Mapping[str, Any]) -> Iterator[_Product]:
    if "products" not in data or "terms" not in data:
        raise PriceError("this is no price list of AWS: it has no products and terms", hint=_HINT)
    if data.get("offerCode", SERVICE) != SERVICE:
        raise PriceError(f"this is the price list of {data['offerCode']}, not of {SERVICE}", hint=_HINT)
    terms = _mapping(data["terms"], "terms")
    by_kind = {kind: _mapping(terms.get(kind, {}), f"terms.{kind}") for kind in ("OnDemand", "Reserved")}
    for sku, product in _mapping(data["products"], "products").items():
        of_sku = {kind: each[sku] for kind, each in by_kind.items() if sku in each}
        yield _product(product, of_sku, data, f"products.{sku}")


def _product(product: Any, terms: Any, dated: Mapping[str, Any], place: str) -> _Product:
    attributes = _mapping(_mapping(product, place).get("attributes"), f"{place}.attributes")
    usage_type, region = attributes.get("usagetype", ""), attributes.get("regionCode")
    if not isinstance(usage_type, str):
        raise PriceError(f"{place}: {usage_type!r} is no usage type", hint=_HINT)
    if region is not None and not isinstance(region, str):
        raise PriceError(f"{place}: {region!r} is no region", hint=_HINT)
    return _Product(
        usage_type,
        region or None,
        _mapping(terms, f"{place}.terms"),
        str(dated.get("version", "unknown"))[:40],
        _published(dated.get("publicationDate"), place),
    )


def _published(text: Any, place: str) -> date:
    try:
        return datetime.fromisoformat(text).date()
    except (TypeError, ValueError):
        raise PriceError(
            f"{place}: the list has no publicationDate such as 2026-09-11T12:44:22Z, but {text!r}", hint=_HINT
        ) from None


# --- prices of a product --------------------------------------------------------------------------------------

_Found = tuple[str, str, str, Decimal, Decimal]  # region, table class, name, USD, and up to where it is free


def _prices(product: _Product) -> Iterator[_Found]:
    match = _USAGE_TYPE.fullmatch(product.usage_type)
    if match is None:
        return
    kind = match["kind"]
    region = product.region or (_BILLING_REGIONS.get(match["region"]) if match["region"] else _HOME)
    is_known = kind in _KINDS or kind in _RESERVED_KINDS
    if region is None or not is_known or REGION.fullmatch(region) is None:
        return
    table_class = INFREQUENT_ACCESS if match["ia"] else STANDARD
    place = product.usage_type
    if kind in _KINDS:
        name, units = _KINDS[kind]
        for term in _terms(product, "OnDemand"):
            usd, free_to = _beyond_free(_dimensions(term, place), place)
            yield region, BOTH if name in OF_BOTH else table_class, name, usd * units, free_to
    if kind in _RESERVED_KINDS and table_class == STANDARD:
        for term in _terms(product, "Reserved"):
            yield from _reserved(term, region, _RESERVED_KINDS[kind], place)


def _reserved(term: Mapping[str, Any], region: str, what: str, place: str) -> Iterator[_Found]:
    length = _mapping(term.get("termAttributes", {}), place).get("LeaseContractLength")
    if length not in _TERMS:
        return
    for dimension in _dimensions(term, place):
        how = "upfront" if dimension.get("unit") == "Quantity" else "hourly"
        name = f"reserved_{what}_{_TERMS[length]}_{how}"
        yield region, STANDARD, name, _usd(dimension, place) * _RESERVED_UNITS, Decimal(0)


def _terms(product: _Product, kind: str) -> Iterator[Mapping[str, Any]]:
    place = f"{product.usage_type}.terms.{kind}"
    for code, term in _mapping(product.terms.get(kind, {}), place).items():
        yield _mapping(term, f"{place}.{code}")


def _dimensions(term: Mapping[str, Any], place: str) -> list[Mapping[str, Any]]:
    dimensions = _mapping(term.get("priceDimensions", {}), f"{place}.priceDimensions")
    return [_mapping(each, f"{place}.priceDimensions") for each in dimensions.values()]


def _beyond_free(dimensions: Sequence[Mapping[str, Any]], place: str) -> tuple[Decimal, Decimal]:
    """Return the price of the last band, and where it begins if the band before it is free."""
    if not dimensions:
        raise PriceError(f"{place}: a term has no price", hint=_HINT)
    bands = sorted((_number(each.get("beginRange", "0"), place), _usd(each, place)) for each in dimensions)
    begin, usd = bands[-1]
    is_free_before = len(bands) == 2 and bands[0][1] == 0
    return usd, begin if is_free_before else Decimal(0)


def _usd(dimension: Mapping[str, Any], place: str) -> Decimal:
    prices = _mapping(dimension.get("pricePerUnit", {}), f"{place}.pricePerUnit")
    if "USD" not in prices:
        raise PriceError(f"{place}: the price is not in USD", hint=_HINT)
    return _number(prices["USD"], place)


def _number(text: Any, place: str) -> Decimal:
    try:
        number = Decimal(text) if isinstance(text, str) and len(text) <= 40 else None
    except InvalidOperation:
        number = None
    if number is None or not number.is_finite() or not 0 <= number <= 1_000_000_000_000:
        raise PriceError(f"{place}: {str(text)[:80]!r} is no amount", hint=_HINT)
    return number


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PriceError(f"{place}: this is not what a price list has there", hint=_HINT)
    return value
