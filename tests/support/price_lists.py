"""Price lists as AWS has them, made here: as an offer file, and as products of GetProducts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

VERSION, PUBLISHED = "20260911124422", "2026-09-11T12:44:22Z"
# Usage type, bands of where they begin and their price, and attributes of the product beside.
ROWS: list[tuple[str, list[tuple[str, str]], dict[str, str]]] = [
    ("EUW3-WriteRequestUnits", [("0", "0.0000007423")], {"group": "DDB-WriteUnits"}),
    ("EUW3-ReadRequestUnits", [("0", "0.0000001487")], {"group": "DDB-ReadUnits"}),
    ("EUW3-ReplWriteRequestUnits", [("0", "0.0000007500")], {"group": "DDB-ReplicatedWriteUnits"}),
    ("EUW3-IA-WriteRequestUnits", [("0", "0.0000009300")], {"group": "DDB-WriteUnitsIA"}),
    ("EUW3-IA-ReadRequestUnits", [("0", "0.0000001860")], {"group": "DDB-ReadUnitsIA"}),
    ("EUW3-WriteCapacityUnit-Hrs", [("0", "0.0"), ("18600", "0.0007720000")], {"group": "DDB-WriteUnits"}),
    ("EUW3-ReadCapacityUnit-Hrs", [("18600", "0.0001544000"), ("0", "0.0")], {"group": "DDB-ReadUnits"}),
    ("EUW3-ReplWriteCapacityUnit-Hrs", [("0", "0.0"), ("18600", "0.0007730000")], {}),
    ("EUW3-IA-WriteCapacityUnit-Hrs", [("0", "0.0009650000")], {}),
    (
        "EUW3-TimedStorage-ByteHrs",
        [("0", "0.0"), ("25", "0.2971500000")],
        {"volumeType": "Indexed DataStore"},
    ),
    ("EUW3-IA-TimedStorage-ByteHrs", [("0", "0.1188600000")], {}),
    ("EUW3-TimedPITRStorage-ByteHrs", [("0", "0.2377200000")], {}),
    ("EUW3-TimedBackupStorage-ByteHrs", [("0", "0.1188600000")], {}),
    ("EUW3-RestoreDataSize-Bytes", [("0", "0.1782900000")], {}),
    ("EUW3-ExportDataSize-Bytes", [("0", "0.1188600000")], {}),
    ("EUW3-ImportDataSize-Bytes", [("0", "0.1782900000")], {}),
    (
        "EUW3-Streams-Requests",
        [("0", "0.0"), ("2500000", "0.0000002377")],
        {"group": "DDB-StreamsReadRequests"},
    ),
    # What is no kind of ours, or stands beside it with a similar name.
    ("EUW3-IncrementalExportDataSize-Bytes", [("0", "9.9")], {}),
    ("EUW3-DataTransfer-Out-Bytes", [("0", "9.9")], {}),
    ("EUW3-ChangeDataCaptureUnits-Kinesis", [("0", "9.9")], {}),
]
# Years, unit of the dimension, price of one unit.
RESERVED = [("1yr", "Quantity", "1.7800000000"), ("1yr", "WriteCapacityUnit-Hrs", "0.0001530000")]


def offer_file(rows: Iterable[Any] = ROWS, *, region: str | None = "eu-west-3") -> dict[str, Any]:
    """Return the JSON of a price list, as everybody can load it."""
    products, on_demand = {}, {}
    reserved: dict[str, Any] = {}
    for number, (usage_type, bands, attributes) in enumerate(rows):
        sku = f"SKU{number:05}"
        products[sku] = product(sku, usage_type, attributes, region)
        on_demand[sku] = {f"{sku}.JRTCKXETXF": term(sku, bands)}
        if usage_type == "EUW3-WriteCapacityUnit-Hrs":
            reserved[sku] = reserved_terms(sku)
    return {
        "formatVersion": "v1.0",
        "offerCode": "AmazonDynamoDB",
        "version": VERSION,
        "publicationDate": PUBLISHED,
        "products": products,
        "terms": {"OnDemand": on_demand, "Reserved": reserved},
    }


def get_products(rows: Iterable[Any] = ROWS, *, region: str | None = "eu-west-3") -> list[str]:
    """Return the same as the texts in the answer of GetProducts."""
    whole = offer_file(rows, region=region)
    return [
        json.dumps(
            {
                "product": product,
                "serviceCode": "AmazonDynamoDB",
                "terms": {kind: terms[sku] for kind, terms in whole["terms"].items() if sku in terms},
                "version": VERSION,
                "publicationDate": PUBLISHED,
            }
        )
        for sku, product in whole["products"].items()
    ]


def product(sku: str, usage_type: str, attributes: dict[str, str], region: str | None) -> dict[str, Any]:
    named = {"servicecode": "AmazonDynamoDB", "usagetype": usage_type, **attributes}
    if region is not None:
        named["regionCode"] = region
    return {"sku": sku, "productFamily": "Provisioned IOPS", "attributes": named}


def term(sku: str, bands: list[tuple[str, str]]) -> dict[str, Any]:
    begins = sorted((begin for begin, _ in bands), key=float)
    ends = dict(zip(begins, [*begins[1:], "Inf"], strict=True))
    return {
        "offerTermCode": "JRTCKXETXF",
        "sku": sku,
        "effectiveDate": "2026-09-01T00:00:00Z",
        "priceDimensions": {
            f"{sku}.JRTCKXETXF.{place}": {
                "rateCode": f"{sku}.JRTCKXETXF.{place}",
                "description": "as AWS says it",
                "beginRange": begin,
                "endRange": ends[begin],
                "unit": "units",
                "pricePerUnit": {"USD": usd},
                "appliesTo": [],
            }
            for place, (begin, usd) in enumerate(bands)
        },
        "termAttributes": {},
    }


def reserved_terms(sku: str) -> dict[str, Any]:
    return {
        f"{sku}.YR": {
            "offerTermCode": "YR",
            "sku": sku,
            "priceDimensions": {
                f"{sku}.YR.{place}": {"unit": unit, "description": "", "pricePerUnit": {"USD": usd}}
                for place, (_, unit, usd) in enumerate(RESERVED)
            },
            "termAttributes": {
                "LeaseContractLength": "1yr",
                "OfferingClass": "standard",
                "PurchaseOption": "Heavy Utilization",
            },
        }
    }
