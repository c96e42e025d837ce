"""Tables of prices: the one of the package, files of users, and AWS's price list."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.stub import Stubber

from singletable.client.pricing import fetch_products
from singletable.errors import OtherApiError
from singletable.planning.price_list import import_price_list, read_price_list
from singletable.planning.prices import (
    BOTH,
    INFREQUENT_ACCESS,
    STANDARD,
    UNITS,
    FreeTier,
    PriceError,
    PriceTable,
    packaged_prices,
    parse_prices,
    read_prices,
    write_prices,
)
from support.price_lists import ROWS, get_products, offer_file

CHANGE = date(2024, 11, 1)
# What the price list says of us-east-1 since then: half of what it was before.
AFTER_THE_CHANGE = {
    ("write_request", STANDARD): 0.625,
    ("read_request", STANDARD): 0.125,
    ("replicated_write_request", STANDARD): 0.625,
    ("write_request", INFREQUENT_ACCESS): 0.78,
    ("read_request", INFREQUENT_ACCESS): 0.155,
}

# --- the table of the package -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "table_class"), AFTER_THE_CHANGE)
def test_packaged_prices_are_those_after_the_change_of_november_2024(name: str, table_class: Any) -> None:
    assert packaged_prices().price("us-east-1", name, table_class).usd == AFTER_THE_CHANGE[name, table_class]


@pytest.mark.parametrize("code", packaged_prices().regions)
def test_packaged_region_prices_a_plain_table_on_demand(code: str) -> None:
    for name in ("write_request", "read_request", "storage"):
        assert packaged_prices().price(code, name).usd > 0


@pytest.mark.parametrize("code", packaged_prices().regions)
def test_every_packaged_price_has_a_source_and_a_date(code: str) -> None:
    for named in packaged_prices().region(code).by_class.values():
        for name, price in named.items():
            assert price.per == UNITS[name]
            assert "AWS" in price.source
            # Requests and replicated writes changed then; what a page said before holds for the rest.
            assert price.date >= CHANGE or name in ("backup", "restore", "export", "stream_read")


@pytest.mark.parametrize("code", packaged_prices().regions)
def test_infrequent_access_stores_cheaper_and_works_dearer(code: str) -> None:
    prices = packaged_prices().region(code)
    for name, price in prices.by_class.get(INFREQUENT_ACCESS, {}).items():
        standard = prices.price(name).usd
        assert price.usd < standard if name == "storage" else price.usd > standard


def test_unknown_region_is_named_with_those_that_are_known() -> None:
    with pytest.raises(PriceError, match="there are no prices of eu-west-11") as caught:
        packaged_prices().region("eu-west-11")
    hint = caught.value.hint or ""
    assert hint.startswith("did you mean eu-west-1?")
    assert "us-east-1" in hint
    assert "singletable prices import" in hint


def test_missing_price_says_what_to_do() -> None:
    with pytest.raises(PriceError) as caught:
        packaged_prices().price("eu-west-2", "write_request", INFREQUENT_ACCESS)
    assert caught.value.message == (
        "the price write_request of the table class STANDARD_INFREQUENT_ACCESS in eu-west-2 is not in the table"
    )
    assert "singletable prices import FILE" in (caught.value.hint or "")


def test_price_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PriceError, match="there is no price called writes"):
        packaged_prices().price("us-east-1", "writes")


# --- files --------------------------------------------------------------------------------------------------


def test_table_is_the_same_after_it_was_written_and_read() -> None:
    assert parse_prices(write_prices(packaged_prices())) == packaged_prices()


def test_prices_of_a_file_count_before_those_of_the_package(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(file_text(usd="0.5"), encoding="utf-8")
    merged = packaged_prices().merged(read_prices(path))
    assert merged.price("us-east-1", "write_request").usd == 0.5
    assert merged.price("us-east-1", "read_request").usd == 0.125
    assert merged.region("us-east-1").free_tier == packaged_prices().region("us-east-1").free_tier
    assert packaged_prices().price("us-east-1", "write_request").usd == 0.625


def file_text(
    *, usd: str = "0.5", per: str = "million units", name: str = "write_request", region: str = "us-east-1",
    table_class: str = "STANDARD", day: str = '"2026-01-02"', source: str = "mine", top: str = "prices = 1",
) -> str:  # fmt: skip
    return (
        f'{top}\n[sources]\nmine = {{ title = "a letter", date = {day} }}\n[regions.{region}.{table_class}]\n'
        f'{name} = {{ usd = {usd}, per = "{per}", source = "{source}" }}\n'
    )


def test_date_of_a_source_may_be_one_of_toml() -> None:
    price = parse_prices(file_text(day="2026-01-02")).price("us-east-1", "write_request")
    assert (price.source, price.date) == ("a letter", date(2026, 1, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no `prices = 1` at its top"),
        ("prices = 2", "it has no `prices = 1` at its top"),
        ("prices = [[[[", "this is no TOML"),
        ("a = " + "[" * 10_000, "this is no TOML"),
        ("prices = 1\nregions = 1", "regions: this is no section"),
        ("prices = 1\nextra = 1", "there is no extra, but prices"),
        ("prices = 1\n[regions]\nus-east-1 = 3", "regions.us-east-1: this is no section"),
        (file_text(usd="-1"), "-1 is no amount"),
        (file_text(usd="nan"), "nan is no amount"),
        (file_text(usd="inf"), "inf is no amount"),
        (file_text(usd="true"), "True is no amount"),
        (file_text(usd='"0.5"'), "'0.5' is no amount"),
        (file_text(usd="1e300"), "is no amount"),
        (file_text(per="unit"), "it is a price for a million units"),
        (file_text(name="write_requests"), "there is no price called write_requests, but write_request"),
        (file_text(name="pitr"), "the price pitr does not belong to STANDARD"),
        (file_text(table_class="BOTH"), "the price write_request does not belong to BOTH"),
        (file_text(table_class="CHEAP"), "there is no CHEAP, but STANDARD"),
        (
            file_text(table_class="STANDARD_INFREQUENT_ACCESS", name="reserved_read_1_year_hourly"),
            "does not belong to STANDARD_INFREQUENT_ACCESS",
        ),
        (file_text(region="'the moon'"), "'the moon' is no region of AWS"),
        (file_text(day='"yesterday"'), "a source has a date such as 2026-09-11, not 'yesterday'"),
        (file_text(day="3"), "a source has a date"),
        (file_text(source="yours"), "its source 'yours' is not among the sources"),
        ("prices = 1\n[sources]\nx = { date = '2026-01-02' }", "sources.x: a source has a title"),
        (
            "prices = 1\n[sources]\nx={title='t',date='2026-01-02'}\n[free_tier]\nsource='x'\nstorage_gb=-1",
            "-1 is no amount",
        ),
    ],
)
def test_file_that_is_no_table_of_prices_is_refused_in_one_sentence(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PriceError) as caught:
        read_prices(path)
    assert message in caught.value.message
    assert caught.value.message.startswith(f"{path}: ")
    assert "\n" not in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("read", [read_prices, read_price_list])
def test_file_that_cannot_be_read_is_told(read: Callable[[Path], PriceTable], tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PriceError, match="is no text"):
        read(tmp_path / "bytes")
    with pytest.raises(PriceError, match="cannot be read: No such file"):
        read(tmp_path / "absent")
    with pytest.raises(PriceError, match="cannot be read: Is a directory"):
        read(tmp_path)


def test_file_without_an_end_is_not_read_to_it() -> None:
    with pytest.raises(PriceError, match="/dev/zero has more than 8,000,000 bytes"):
        read_prices("/dev/zero")


# --- AWS's price list ---------------------------------------------------------------------------------------

EXPECTED = {
    STANDARD: {
        "write_request": 0.7423,
        "read_request": 0.1487,
        "replicated_write_request": 0.75,
        "write_capacity": 0.000772,
        "read_capacity": 0.0001544,
        "replicated_write_capacity": 0.000773,
        "reserved_write_1_year_upfront": 178.0,
        "reserved_write_1_year_hourly": 0.0153,
        "storage": 0.29715,
    },
    INFREQUENT_ACCESS: {
        "write_request": 0.93,
        "read_request": 0.186,
        "write_capacity": 0.000965,
        "storage": 0.11886,
    },
    BOTH: {
        "pitr": 0.23772,
        "backup": 0.11886,
        "restore": 0.17829,
        "export": 0.11886,
        "import": 0.17829,
        "stream_read": 0.02377,
    },
}


@pytest.mark.parametrize("make", [offer_file, get_products], ids=["offer file", "GetProducts"])
def test_price_list_is_read_with_its_version_and_date(make: Callable[[], Any]) -> None:
    table = import_price_list(make())
    assert list(table.regions) == ["eu-west-3"]
    found = table.region("eu-west-3")
    assert {
        table_class: {name: price.usd for name, price in named.items()}
        for table_class, named in found.by_class.items()
    } == EXPECTED
    price = found.price("write_request")
    assert price.source == "AWS price list, AmazonDynamoDB in eu-west-3, version 20260911124422"
    assert price.date == date(2026, 9, 11)


def test_bands_at_no_charge_are_the_free_tier() -> None:
    free = import_price_list(offer_file()).region("eu-west-3").free_tier
    assert free == FreeTier(25, 25, 25, 25, 2_500_000, free.source, date(2026, 9, 11))


def test_region_of_an_old_list_is_that_of_the_usage_type() -> None:
    # Guide, "Understanding your AWS billing and usage reports": a prefix that is absent is that of us-east-1.
    rows: list[Any] = [
        ("EU-WriteRequestUnits", [("0", "0.0000007050")], {}),
        ("WriteRequestUnits", [("0", "0.0000006250")], {}),
        ("IA-WriteRequestUnits", [("0", "0.0000007800")], {}),
        ("USW2-WriteRequestUnits", [("0", "0.0000006250")], {}),
        ("XYZ9-WriteRequestUnits", [("0", "0.0000009990")], {}),
    ]
    table = import_price_list(offer_file(rows, region=None))
    assert list(table.regions) == ["eu-west-1", "us-east-1", "us-west-2"]
    assert table.price("us-east-1", "write_request").usd == 0.625
    assert table.price("us-east-1", "write_request", INFREQUENT_ACCESS).usd == 0.78


def test_storage_that_is_listed_twice_has_one_price() -> None:
    # us-east-1 has its storage with the free band, and without one as USE1-.
    rows: list[Any] = [
        ("TimedStorage-ByteHrs", [("0", "0"), ("25", "0.25")], {}),
        ("USE1-TimedStorage-ByteHrs", [("0", "0.25")], {}),
    ]
    found = import_price_list(offer_file(rows, region="us-east-1")).region("us-east-1")
    assert (found.price("storage").usd, found.free_tier.storage_gb) == (0.25, 25)


def test_prices_of_local_zones_are_left_out() -> None:
    rows = [*ROWS[:1], ("LAX1-WriteRequestUnits", [("0", "0.9")], {})]
    offer = offer_file(rows)
    offer["products"]["SKU00001"]["attributes"]["regionCode"] = "us-west-2-lax-1"
    assert list(import_price_list(offer).regions) == ["eu-west-3"]


def changed(change: Callable[[dict[str, Any]], Any]) -> str:
    offer = offer_file(ROWS[:1])
    change(offer)
    return json.dumps(offer)


def first_dimension(offer: dict[str, Any]) -> dict[str, Any]:
    dimensions = offer["terms"]["OnDemand"]["SKU00000"]["SKU00000.JRTCKXETXF"]["priceDimensions"]
    found: dict[str, Any] = dimensions["SKU00000.JRTCKXETXF.0"]
    return found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is no JSON"),
        ("<html>", "this is no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("null", "this is no price list of AWS"),
        ('"text"', "this is no price list of AWS"),
        ("{}", "it has no products and terms"),
        ("[]", "no price of it was found"),
        ("[3]", "product 0: this is not what a price list has there"),
        ('["{"]', "this is no JSON"),
        ('{"products": [], "terms": {}}', "products: this is not what a price list has there"),
        ('{"products": {}, "terms": {}}', "no price of it was found"),
        (changed(lambda it: it.update(offerCode="AmazonEC2")), "this is the price list of AmazonEC2"),
        (changed(lambda it: it.pop("publicationDate")), "the list has no publicationDate"),
        (changed(lambda it: it.update(publicationDate="soon")), "but 'soon'"),
        (changed(lambda it: it["terms"].pop("OnDemand")), "no price of it was found"),
        (changed(lambda it: it["terms"].update(OnDemand=3)), "terms.OnDemand: this is not"),
        (
            changed(lambda it: first_dimension(it).update(pricePerUnit={"CNY": "1"})),
            "the price is not in USD",
        ),
        (changed(lambda it: first_dimension(it).update(pricePerUnit={"USD": "NaN"})), "'NaN' is no amount"),
        (changed(lambda it: first_dimension(it).update(pricePerUnit={"USD": "-1"})), "'-1' is no amount"),
        (changed(lambda it: first_dimension(it).update(pricePerUnit={"USD": "1e999999"})), "is no amount"),
        (changed(lambda it: first_dimension(it).update(pricePerUnit={"USD": 1})), "'1' is no amount"),
        (changed(lambda it: first_dimension(it).update(beginRange="x")), "'x' is no amount"),
    ],
)
def test_file_that_is_no_price_list_is_refused_in_one_sentence(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "index.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PriceError) as caught:
        read_price_list(path)
    assert message in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint


# --- the price list API -------------------------------------------------------------------------------------


@pytest.fixture
def pricing() -> Any:
    """A client of botocore that checks requests and answers against AWS's service model, and sends nothing."""
    return botocore.session.get_session().create_client(
        "pricing", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )


def test_fetch_asks_for_the_products_of_each_region_page_by_page(pricing: Any) -> None:
    products = get_products()
    asked: dict[str, Any] = {
        "ServiceCode": "AmazonDynamoDB",
        "FormatVersion": "aws_v1",
        "MaxResults": 100,
        "Filters": [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": "eu-west-3"}],
    }
    other = {**asked, "Filters": [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": "eu-west-1"}]}
    with Stubber(pricing) as stubber:
        stubber.add_response(
            "get_products", {"FormatVersion": "aws_v1", "PriceList": products[:3], "NextToken": "more"}, asked
        )
        stubber.add_response("get_products", {"PriceList": products[3:]}, {**asked, "NextToken": "more"})
        stubber.add_response("get_products", {"PriceList": []}, other)
        found = fetch_products(["eu-west-3", "eu-west-1"], boto_client=pricing)
        stubber.assert_no_pending_responses()
    assert import_price_list(found) == import_price_list(offer_file())


def test_fetch_without_a_region_asks_for_all(pricing: Any) -> None:
    with Stubber(pricing) as stubber:
        asked = {"ServiceCode": "AmazonDynamoDB", "FormatVersion": "aws_v1", "MaxResults": 100}
        stubber.add_response("get_products", {"PriceList": get_products()}, asked)
        assert len(fetch_products(boto_client=pricing)) == len(ROWS)


def test_refusal_of_the_api_is_an_error_of_ours(pricing: Any) -> None:
    with Stubber(pricing) as stubber:
        stubber.add_client_error("get_products", "InvalidParameterException", "no such field")
        with pytest.raises(OtherApiError, match="no such field"):
            fetch_products(boto_client=pricing)
