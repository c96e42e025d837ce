"""AWS's price list API, through boto3: the products of DynamoDB, as AWS has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from singletable.errors import Boto3MissingError

_SERVICE: Final = "AmazonDynamoDB"
_HOME: Final = "us-east-1"  # there is one in few regions, and each has the prices of all
_ENDPOINT: Final = "AWS's price list API"
_PAGE_PRODUCTS: Final = 100  # the most that it takes
_PAGES_MAX: Final = 1_000  # all regions together have some 1,300 prices


def fetch_products(regions: Sequence[str] = (), *, boto_client: Any = None) -> list[str]:
    """Return the products of DynamoDB in these regions, or in all: each as JSON, as GetProducts answers it."""
    try:
        from singletable.client.boto_errors import RAISED, translated
        from singletable.client.connecting import connect_region
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "botocore":
            raise
        raise Boto3MissingError(
            f"{_ENDPOINT} is asked with boto3, which is not installed",
            hint='pip install "singletable[boto3]"',
        ) from error
    try:
        client = connect_region(_HOME, None).client("pricing") if boto_client is None else boto_client
        return [each for region in regions or (None,) for each in _pages(client, region)]
    except RAISED as error:
        raise translated(error, _ENDPOINT) from error


def _pages(client: Any, region: str | None) -> Iterator[str]:
    request: dict[str, Any] = {
        "ServiceCode": _SERVICE,
        "FormatVersion": "aws_v1",
        "MaxResults": _PAGE_PRODUCTS,
    }
    if region is not None:
        request["Filters"] = [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": region}]
    for _ in range(_PAGES_MAX):
        answer = client.get_products(**request)
        yield from answer.get("PriceList", ())
        if not answer.get("NextToken"):
            return
        request["NextToken"] = answer["NextToken"]
