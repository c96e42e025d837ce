"""A blueprint proposed from a live table: settings, entities by their prefixes, and how sure each is."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.blueprint import Blueprint, IndexBlueprint, TableBlueprint
from singletable.client import Client, open_client
from singletable.discovery import Survey, propose, survey_table
from singletable.discovery.entities import Proposal
from singletable.errors import TargetError
from singletable.migrate import Pace
from singletable.systems import find_system
from support.values_strategies import values

TABLE = TableBlueprint("t", sk="SK", types={"PK": "S", "SK": "S"})
GSI1 = IndexBlueprint("GSI1", ("GSI1PK",), ("GSI1SK",))


def item(**attributes: str | int) -> dict[str, Any]:
    return {
        name: {"S": value} if isinstance(value, str) else {"N": str(value)}
        for name, value in attributes.items()
    }


def orders(count: int) -> list[dict[str, Any]]:
    return [
        item(
            PK=f"USER#u{n % 3}",
            SK=f"ORDER#2025-01-0{n % 9 + 1}#o{n}",
            user=f"u{n % 3}",
            order=f"o{n}",
            total=n,
        )
        for n in range(count)
    ]


def users(count: int) -> list[dict[str, Any]]:
    return [
        item(PK=f"USER#u{n}", SK="PROFILE", user=f"u{n}", email=f"u{n}@example.org") for n in range(count)
    ]


def keys_of(proposal: Proposal | Survey) -> dict[str, list[tuple[str | None, str | None, str | None]]]:
    found = proposal.entities if isinstance(proposal, Proposal) else proposal.proposals
    return {
        each.entity.name: [
            (place.index, place.pk.template, place.sk.template if place.sk else None)
            for place in each.entity.places
        ]
        for each in found
    }


# --- entities -------------------------------------------------------------------------------------------------


def test_entities_are_told_by_the_words_of_their_keys() -> None:
    proposal = propose(TABLE, [], [*orders(20), *users(3)])
    assert keys_of(proposal) == {
        "Order": [(None, "USER#{user}", "ORDER#{order_id}#{order}")],
        "User": [(None, "USER#{user}", "PROFILE")],
    }
    assert [each.items for each in proposal.entities] == [20, 3]


def test_more_items_and_parts_that_are_attributes_make_surer() -> None:
    order, user = propose(TABLE, [], [*orders(20), *users(20)]).entities
    few = propose(TABLE, [], users(2)).entities[0]
    assert user.sure > order.sure  # the day in an order's key is no attribute
    assert user.sure > few.sure
    assert order.because == ("all keys have one shape", "parts of the key are no attribute")
    assert "Order: {order_id} in SK is no attribute of the items: what is it?" in order.questions


def test_attribute_that_names_the_kind_is_found_and_used() -> None:
    items = [{**each, "entityType": {"S": "Purchase"}} for each in orders(5)]
    items += [{**each, "entityType": {"S": "Person"}} for each in users(5)]
    proposal = propose(TABLE, [], items)
    assert proposal.discriminator == "entityType"
    assert [each.entity.discriminator for each in proposal.entities] == ["Person", "Purchase"]


def test_attribute_that_only_looks_like_a_kind_is_none() -> None:
    items = [{**each, "colour": {"S": ["red", "blue"][n % 2]}} for n, each in enumerate(orders(10))]
    assert propose(TABLE, [], items).discriminator is None


def test_index_holds_those_that_have_its_keys() -> None:
    items = [
        {**each, **(item(GSI1PK="OPEN", GSI1SK=f"DUE#{each['order']['S']}") if n % 2 else {})}
        for n, each in enumerate(orders(10))
    ]
    (order,) = propose(TABLE, [GSI1], items).entities
    assert keys_of(propose(TABLE, [GSI1], items))["Order"][1] == ("GSI1", "OPEN", "DUE#{order}")
    assert "Order: 5 of 10 items are in GSI1; on what condition?" in order.questions


def test_key_without_words_is_woven_from_attributes() -> None:
    table = TableBlueprint("t", pk="pk")
    items = [
        item(pk=f"{name}-2025-{week:02}", restaurant=name, year=2025, week=week)
        for name in ("la-cantina", "niagara")
        for week in (12, 3)
    ]
    (menu,) = propose(table, [], items).entities
    assert menu.entity.places[0].pk.template == "{restaurant}-{year}-{week:02}"


def test_key_of_plain_values_is_the_attribute() -> None:
    table = TableBlueprint("t", pk="id", sk="at", types={"id": "S", "at": "N"})
    (only,) = propose(table, [], [item(id=f"x{n}", at=1_737_000_000 + n) for n in range(3)]).entities
    assert only.entity.places[0].pk.template == "{id}"
    assert only.entity.places[0].sk is not None
    assert only.entity.places[0].sk.template is None
    formats = {each.name: each.format for each in only.entity.attributes}
    assert formats["at"] == "epoch-seconds"


def test_attributes_have_type_format_samples_and_what_was_seen() -> None:
    items = [
        {
            **each,
            "at": {"S": f"2025-01-20T10:30:0{n}.000Z"},
            "tags": {"SS": ["a", "b"]},
            "note": {"NULL": True},
        }
        for n, each in enumerate(orders(3))
    ]
    (order,) = propose(TABLE, [], items, samples=1).entities
    found = {each.name: each for each in order.entity.attributes}
    assert (found["at"].format, found["at"].samples) == ("iso-8601-ms", ("2025-01-20T10:30:00.000Z",))
    assert (found["total"].type, found["total"].about) == ("int", "seen: 0 to 2")
    assert (found["tags"].type, found["tags"].about) == ("set[str]", "seen: 2 members")
    assert all(each.maximum is each.max_length is each.max_items is None for each in found.values())
    assert found["note"].is_optional
    assert "PK" not in found


def test_enumeration_is_told_only_where_enough_was_seen() -> None:
    many = [{**each, "status": {"S": ["open", "paid"][n % 2]}} for n, each in enumerate(orders(30))]
    status = {each.name: each for each in propose(TABLE, [], many).entities[0].entity.attributes}["status"]
    assert status.values == ("open", "paid")
    kept = {each.name: each for each in propose(TABLE, [], many, samples=0).entities[0].entity.attributes}
    assert (kept["status"].values, kept["total"].about) == ((), "")
    few = {each.name: each for each in propose(TABLE, [], many[:6]).entities[0].entity.attributes}["status"]
    assert few.values == ()


@given(
    st.lists(
        st.tuples(
            st.text("AUSER#|:-_é0", min_size=1, max_size=12),
            st.text("AORDER#|:-_é0", min_size=1, max_size=12),
            st.dictionaries(st.sampled_from(["type", "x", "GSI1PK", "GSI1SK"]), values, max_size=4),
        ),
        max_size=12,
    )
)
def test_any_items_give_a_blueprint_that_reads_back(rows: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
    items = [
        {
            "PK": {"S": pk},
            "SK": {"S": sk},
            **{
                name: with_bytes(value) for name, value in more.items() if name[:3] != "GSI" or value.get("S")
            },
        }
        for pk, sk, more in rows
    ]
    proposal = propose(TABLE, [GSI1], items)
    assert sum(each.items for each in proposal.entities) == len(items)
    assert all(0 <= each.sure <= 1 for each in proposal.entities)
    names = [each.entity.name for each in proposal.entities]
    assert len(set(names)) == len(names)
    blueprint = Blueprint("x", TABLE, (GSI1,), tuple(each.entity for each in proposal.entities))
    assert Blueprint.from_toml(blueprint.to_toml()) == blueprint
    for each in proposal.entities:
        assert each.entity.places[0].index is None


def with_bytes(value: Any) -> Any:
    """Return a value as clients have it: binary is bytes, not text."""
    ((kind, found),) = value.items()
    match kind:
        case "B":
            return {"B": b64decode(found)}
        case "BS":
            return {"BS": [b64decode(each) for each in found]}
        case "L":
            return {"L": [with_bytes(each) for each in found]}
        case "M":
            return {"M": {name: with_bytes(each) for name, each in found.items()}}
        case _:
            return value


# --- tables ---------------------------------------------------------------------------------------------------


def table_with(client: Client, items: Sequence[dict[str, Any]], name: str = "orders") -> None:
    client.call(
        "CreateTable",
        {
            "TableName": name,
            "KeySchema": [
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": "PK", "AttributeType": "S"},
                {"AttributeName": "SK", "AttributeType": "S"},
            ],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    for each in items:
        client.call("PutItem", {"TableName": name, "Item": each})


def test_whole_table_is_surveyed() -> None:
    client = open_client(":memory:")
    table_with(client, [*orders(40), *users(3)])
    survey = survey_table(client, "orders")
    assert (survey.items_read, survey.is_whole) == (43, True)
    assert survey.blueprint.table.pk == "PK"
    assert {each.entity: each.count for each in survey.blueprint.volumes} == {"Order": 40, "User": 3}
    assert Blueprint.from_json(survey.blueprint.to_json()) == survey.blueprint


def test_survey_stops_at_its_number_of_items_and_says_so() -> None:
    client = open_client(":memory:")
    table_with(client, orders(400))
    survey = survey_table(client, "orders", items=250)
    assert (survey.items_read, survey.is_whole) == (250, False)
    assert any("only 250 items were read" in each for each in survey.blueprint.questions)
    assert survey.blueprint.volumes[0].count == 400  # as many as the table says that it has


def test_survey_keeps_its_pace() -> None:
    waits: list[float] = []
    client = open_client(":memory:", sleep=waits.append)
    table_with(client, orders(60))
    survey = survey_table(client, "orders", items=60, pace=Pace(10, "items"))
    assert survey.items_read == 60
    assert waits  # each page is ten items, so that no request takes more than a second's share
    assert sum(waits) > 0


def test_empty_table_has_settings_and_a_question() -> None:
    client = open_client(":memory:")
    table_with(client, [])
    survey = survey_table(client, "orders")
    assert survey.blueprint.entities == ()
    assert survey.blueprint.questions == ("which entities will there be? The table is empty.",)


def test_table_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(TargetError, match="there is no table nothing"):
        survey_table(open_client(":memory:"), "nothing")


def test_survey_of_a_system_finds_the_keys_of_its_design() -> None:
    kefir = find_system("kefir")
    environment: dict[str, Any] = dict(kefir.environment)
    with kefir.design.open(":memory:", create=True, **environment) as db:
        db.load(kefir.seed("small", date(2025, 3, 3)).entities, settled=True)
        survey = survey_table(db.session.client, db.session.table)
    declared = {each.discriminator: each for each in kefir.design.blueprint().entities}
    found = {each.entity.discriminator: each for each in survey.proposals}
    assert survey.blueprint.discriminator == "entityType"
    assert declared.keys() <= found.keys()
    for name, entity in declared.items():
        stored = {each.name: each.stored for each in entity.attributes}
        place, wanted = found[name].entity.places[0], entity.places[0]
        for show, want in ((place.pk, wanted.pk), (place.sk, wanted.sk)):
            assert show is not None
            assert want is not None
            assert show.template == (want.template or "").format(
                **{each: f"{{{each_stored}}}" for each, each_stored in stored.items()}
            )
        assert found[name].sure >= 0.9
