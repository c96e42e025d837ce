"""How a table differs from its design: each setting against what the target describes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from designs.notes import FleetingNote, Note, by_text, notes_design
from singletable.client import ALTERNATOR, DYNAMODB_LOCAL, Capabilities, Client
from singletable.design import Design, Entity
from singletable.design.tables.definition import declared_table, definition_of, found_table
from singletable.design.tables.drift import Difference, differences, unsupported
from support.targets import EVERY_TARGET_IN_TIME, opened, target_of


@pytest.fixture(params=EVERY_TARGET_IN_TIME)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with opened(request.param) as client:
        yield client


def made(client: Client, entity: type[Entity] = Note, **settings: Any) -> None:
    with notes_design(entity, **settings).open(target_of(client), create=True, sleep=lambda _: None):
        pass


def test_table_of_the_design_has_no_drift(client: Client) -> None:
    made(client)
    assert notes_design().diff(target_of(client)) == []


def test_missing_table_is_one_difference(client: Client) -> None:
    (difference,) = notes_design().diff(target_of(client))
    assert difference == Difference("table", "notes", None, is_changeable=True)
    assert str(difference) == "table: the design says notes, and there is none"


def test_missing_file_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    assert [difference.what for difference in notes_design().diff(path)] == ["table"]
    drift = notes_design(pitr_days=None).diff(path, capabilities=Capabilities(streams=False))
    assert drift.unsupported == ("stream NEW_AND_OLD_IMAGES",)
    assert not path.exists()


PROVISIONED: dict[str, Any] = {"billing": "PROVISIONED", "capacity": (3, 3)}
DRIFTS: dict[str, tuple[dict[str, Any], dict[str, Any], Difference]] = {
    "billing": ({}, PROVISIONED, Difference("billing", "PROVISIONED", "PAY_PER_REQUEST", True)),
    "capacity": (
        {**PROVISIONED, "texts": by_text(capacity=(2, 2))},
        {**PROVISIONED, "capacity": (4, 3), "texts": by_text(capacity=(2, 2))},
        Difference("capacity", "4 reads and 3 writes a second", "3 reads and 3 writes a second", True),
    ),
    "index-capacity": (
        {**PROVISIONED, "texts": by_text(capacity=(2, 2))},
        PROVISIONED,
        Difference(
            "capacity of index by-text",
            "3 reads and 3 writes a second",
            "2 reads and 2 writes a second",
            True,
        ),
    ),
    "index-missing": (
        {"texts": None},
        {},
        Difference("index by-text", "GSI1PK, GSI1SK, projecting ALL", None, False),
    ),
    "index-extra": (
        {"more": by_text(name="more", pk="GSI2PK", sk=None, projection="KEYS_ONLY")},
        {},
        Difference("index more", None, "GSI2PK, projecting KEYS_ONLY", False),
    ),
    "index-keys": (
        {"texts": by_text(sk=None)},
        {},
        Difference("keys of index by-text", "GSI1PK, GSI1SK", "GSI1PK", False),
    ),
    "projection": (
        {"texts": by_text(projection=("text",))},
        {},
        Difference("projection of index by-text", "ALL", "entityType text", False),
    ),
    "stream": (
        {"stream": "KEYS_ONLY"},
        {},
        Difference("stream", "NEW_AND_OLD_IMAGES", "KEYS_ONLY", True),
    ),
    "stream-none": ({"stream": None}, {}, Difference("stream", "NEW_AND_OLD_IMAGES", None, True)),
    "protection": (
        {},
        {"deletion_protection": True},
        Difference("deletion protection", "on", "off", True),
    ),
}
DRIFTS_OF_FEW: dict[str, tuple[dict[str, Any], dict[str, Any], Difference]] = {
    "recovery": ({"pitr_days": 3}, {}, Difference("point-in-time recovery", "35 days", "3 days", True)),
    "recovery-off": ({"pitr_days": None}, {}, Difference("point-in-time recovery", "35 days", None, True)),
    "encryption": (
        {"encryption": "AWS_MANAGED"},
        {},
        Difference("encryption", "AWS_OWNED", "AWS_MANAGED", True),
    ),
    "tag-other": (
        {"tags": {"team": "a"}},
        {"tags": {"team": "b"}},
        Difference("tag team", "b", "a", True),
    ),
    "tag-extra": ({"tags": {"team": "a"}}, {}, Difference("tag team", None, "a", False)),
    "tag-missing": ({}, {"tags": {"team": "a"}}, Difference("tag team", "a", None, True)),
}


@pytest.mark.parametrize(("there", "declared", "drift"), DRIFTS.values(), ids=DRIFTS.keys())
def test_each_setting_is_compared(
    client: Client, there: dict[str, Any], declared: dict[str, Any], drift: Difference
) -> None:
    made(client, **there)
    assert notes_design(**declared).diff(target_of(client)) == [drift]


@pytest.mark.parametrize(("there", "declared", "drift"), DRIFTS_OF_FEW.values(), ids=DRIFTS_OF_FEW.keys())
@pytest.mark.parametrize("target", ["embedded", "http"])
def test_each_setting_that_not_every_target_has_is_compared(
    target: str, there: dict[str, Any], declared: dict[str, Any], drift: Difference
) -> None:
    with opened(target) as client:
        made(client, **there)
        assert notes_design(**declared).diff(target_of(client)) == [drift]


def test_time_to_live_is_compared(client: Client) -> None:
    made(client)
    drift = Difference("time to live", "ttl", None, is_changeable=True)
    assert notes_design(FleetingNote).diff(target_of(client)) == [drift]


def test_type_of_a_key_is_compared(client: Client) -> None:
    design = notes_design()
    request = {
        "TableName": "notes",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "N" if name == "GSI1SK" else "S"}
            for name in ("PK", "SK", "GSI1PK", "GSI1SK")
        ],
        "KeySchema": [
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by-text",
                "KeySchema": [
                    {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                    {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    client.call("CreateTable", request)
    drift = {difference.what: difference for difference in design.diff(target_of(client))}
    assert drift["type of GSI1SK"] == Difference("type of GSI1SK", "S", "N", is_changeable=False)


def test_open_design_tells_its_drift(client: Client) -> None:
    made(client, stream=None)
    with notes_design().open(target_of(client), create=False) as db:
        assert [difference.what for difference in db.drift()] == ["stream"]
        assert asyncio.run(db.adrift()) == db.drift()


def test_drift_is_found_with_asyncio(client: Client) -> None:
    made(client, stream=None)
    drift = asyncio.run(notes_design().adiff(target_of(client)))
    assert [difference.what for difference in drift] == ["stream"]


def test_environment_names_the_table() -> None:
    class Staged(Design):
        table = notes_design(name="notes-{stage}").table
        entities = (Note,)

    with opened("http") as client:
        (difference,) = Staged.diff(target_of(client), stage="prod")
    assert difference.declared == "notes-prod"


# --- what targets do not say ----------------------------------------------------------------------------


def test_what_the_target_does_not_know_is_no_drift_but_named() -> None:
    design = notes_design(tags={"team": "a"}, encryption="AWS_MANAGED")
    with opened("embedded") as client:
        made(client, pitr_days=None)
        drift = design.diff(target_of(client), capabilities=DYNAMODB_LOCAL)
    assert drift == []
    assert drift.unsupported == ("point-in-time recovery 35 days", "encryption AWS_MANAGED", "tag team")


def test_narrow_projection_is_named_where_indexes_have_everything() -> None:
    declared = declared_table(notes_design(texts=by_text(projection="KEYS_ONLY")).catalog, "notes")
    assert "projection of index by-text" in unsupported(declared, ALTERNATOR)


def test_tags_of_aws_are_not_drift() -> None:
    described = steps_result(
        {"Tags": [{"Key": "aws:cloudformation:stack", "Value": "x"}, {"Key": "team", "Value": "a"}]}
    )
    declared = declared_table(notes_design(texts=None, tags={"team": "a"}).catalog, "notes")
    assert list(differences(declared, described, Capabilities())) == []


def test_key_of_aws_is_managed_encryption() -> None:
    key = "arn:aws:kms:us-east-1:000000000000:key/1"
    found = definition_of({**DESCRIBED, "SSEDescription": {"Status": "ENABLED", "KMSMasterKeyArn": key}})
    managed, own, other = (
        declared_table(notes_design(texts=None, pitr_days=None, encryption=text).catalog, "notes")
        for text in ("AWS_MANAGED", key, key.replace("key/1", "key/2"))
    )
    assert list(differences(managed, found, Capabilities())) == []
    assert list(differences(own, found, Capabilities())) == []
    (difference,) = differences(other, found, Capabilities())
    assert difference.what == "encryption"


def test_local_index_is_told_from_a_global_one() -> None:
    index = {
        "IndexName": "by-text",
        "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "x", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    found = definition_of({**DESCRIBED, "LocalSecondaryIndexes": [index]}, pitr_days=35)
    (difference,) = differences(declared_table(notes_design().catalog, "notes"), found, Capabilities())
    assert difference.found == "PK, x (local)"


DESCRIBED: dict[str, Any] = {
    "TableName": "notes",
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "AttributeDefinitions": [],
    "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/notes",
}


def steps_result(tags: dict[str, Any]) -> Any:
    """Answer the questions about a table, with these tags on two pages."""
    steps = found_table("notes", Capabilities())
    recovery = {"PointInTimeRecoveryStatus": "ENABLED"}
    next(steps)
    steps.send({"Table": DESCRIBED})
    steps.send({"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}})
    steps.send({"ContinuousBackupsDescription": {"PointInTimeRecoveryDescription": recovery}})
    steps.send({**tags, "NextToken": "more"})
    try:
        steps.send({"Tags": []})
    except StopIteration as end:
        return end.value
    raise AssertionError("there are more questions")
