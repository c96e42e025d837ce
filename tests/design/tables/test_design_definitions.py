"""Making the table of a design: everything that it declares, on every target, again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from designs import kefir_v1
from designs.kefir import Kefir, UserId
from designs.notes import FleetingNote, Note, NotePK, UntilNote, by_text, notes_design
from designs.notes import HeadSK as NoteHeadSK
from designs.settings import Archive, Document, DocumentPK, HeadSK
from singletable import Database
from singletable.client import ALTERNATOR, DYNAMODB_LOCAL, Capabilities, Client
from singletable.client.calls import Call, Wait
from singletable.clock import ManualClock
from singletable.design import Design, Entity, Key, Keys, SortKey, Table, Ttl, expires
from singletable.design.tables.create import create_table
from singletable.design.tables.definition import create_request, declared_table
from singletable.errors import (
    CapabilityError,
    ContinuousBackupsUnavailableError,
    DeclarationError,
    IndexMissingError,
    ResourceInUseError,
    ResourceNotFoundError,
    TableDiffersError,
    TableMissingError,
    TargetError,
    ValidationError,
)
from support.design_clients import Between, on_client
from support.limited_targets import forgetful_endpoint
from support.targets import EVERY_TARGET, EVERY_TARGET_IN_TIME, no_aws_settings, opened, target_of


@pytest.fixture(params=EVERY_TARGET_IN_TIME)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with opened(request.param) as client:
        yield client


def open_archive(client: Client, design: type[Design] = Archive, **options: Any) -> Any:
    return design.open(target_of(client), create=False, sleep=lambda _: None, stage="test", **options)


def described(client: Client, name: str = "archive-test") -> dict[str, Any]:
    table: dict[str, Any] = client.call("DescribeTable", {"TableName": name})["Table"]
    return table


# --- a new table -----------------------------------------------------------------------------------------


def test_new_table_has_what_the_design_declares(client: Client) -> None:
    with open_archive(client) as db:
        report = db.create_table()
        assert "table archive-test" in report.applied
        assert "time to live goneAt" in report.applied
        assert db.drift() == []
    table = described(client)
    assert table["KeySchema"] == [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ]
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert table["DeletionProtectionEnabled"] is True
    assert table["TableStatus"] == "ACTIVE"
    ttl = client.call("DescribeTimeToLive", {"TableName": "archive-test"})["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "goneAt"}


def test_attribute_definitions_are_exactly_the_key_attributes(client: Client) -> None:
    with open_archive(client) as db:
        db.create_table()
    types = {
        each["AttributeName"]: each["AttributeType"] for each in described(client)["AttributeDefinitions"]
    }
    assert types == {
        "PK": "S", "SK": "S", "GSI1PK": "S", "GSI1SK": "S", "GSI2PK": "S", "shelf": "S", "year": "N", "title": "S",
    }  # fmt: skip


def test_indexes_have_their_keys_projections_and_capacities(client: Client) -> None:
    with open_archive(client) as db:
        db.create_table()
    indexes = {index["IndexName"]: index for index in described(client)["GlobalSecondaryIndexes"]}
    assert indexes["by-owner"]["Projection"]["ProjectionType"] == "KEYS_ONLY"
    assert indexes["by-owner"]["ProvisionedThroughput"]["WriteCapacityUnits"] == 3
    assert indexes["by-title"]["ProvisionedThroughput"]["WriteCapacityUnits"] == 4
    assert indexes["by-year"]["KeySchema"] == [
        {"AttributeName": "shelf", "KeyType": "HASH"},
        {"AttributeName": "year", "KeyType": "HASH"},
        {"AttributeName": "title", "KeyType": "RANGE"},
    ]
    assert {index["IndexStatus"] for index in indexes.values()} == {"ACTIVE"}


def test_projection_takes_fields_and_stored_names_and_adds_what_reads_need(client: Client) -> None:
    with open_archive(client) as db:
        db.create_table()
    index = next(
        each for each in described(client)["GlobalSecondaryIndexes"] if each["IndexName"] == "by-title"
    )
    assert index["Projection"]["ProjectionType"] == "INCLUDE"
    assert sorted(index["Projection"]["NonKeyAttributes"]) == [
        "entityType", "goneAt", "ownerId", "sizeBytes", "title",
    ]  # fmt: skip


def test_embedded_table_keeps_recovery_encryption_and_tags() -> None:
    with opened("embedded") as client, open_archive(client) as db:
        report = db.create_table()
        assert report.skipped == ()
        backups = client.call("DescribeContinuousBackups", {"TableName": "archive-test"})
        recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert recovery["RecoveryPeriodInDays"] == 7
        table = described(client)
        assert table["SSEDescription"]["SSEType"] == "KMS"
        tags = client.call("ListTagsOfResource", {"ResourceArn": table["TableArn"]})["Tags"]
        assert {tag["Key"]: tag["Value"] for tag in tags} == {"team": "archive", "cost-centre": "42"}


def test_what_the_target_does_not_know_is_skipped_and_said() -> None:
    with opened("embedded") as client, open_archive(client, capabilities=DYNAMODB_LOCAL) as db:
        assert db.create_table().skipped == (
            "point-in-time recovery 7 days (the target does not know it)",
            "encryption AWS_MANAGED (the target does not know it)",
            "tag team (the target does not know it)",
            "tag cost-centre (the target does not know it)",
        )
        assert "SSEDescription" not in described(client)


def test_index_that_the_target_cannot_have_is_refused_before_anything_is_made() -> None:
    with opened("embedded") as client, open_archive(client, capabilities=ALTERNATOR) as db:
        with pytest.raises(CapabilityError, match="by-year has keys of several attributes"):
            db.create_table()
        assert client.call("ListTables", {})["TableNames"] == []


def test_projections_that_the_target_does_not_respect_are_all() -> None:
    limited = Capabilities(projections=False)
    request = create_request(declared_table(Archive.catalog, "t"), limited)
    kinds = [index["Projection"] for index in request["GlobalSecondaryIndexes"]]
    assert kinds == [{"ProjectionType": "ALL"}] * 3


def test_every_setting_of_a_new_table_is_in_its_request() -> None:
    request = create_request(declared_table(Archive.catalog, "archive"), Capabilities())
    assert request["BillingMode"] == "PROVISIONED"
    assert request["SSESpecification"] == {"Enabled": True, "SSEType": "KMS"}
    assert request["Tags"] == [
        {"Key": "team", "Value": "archive"},
        {"Key": "cost-centre", "Value": "42"},
    ]


def test_key_of_kms_is_part_of_the_request() -> None:
    key = "arn:aws:kms:eu-north-1:000000000000:key/1"
    declared = declared_table(notes_design(encryption=key).catalog, "notes")
    assert create_request(declared, Capabilities())["SSESpecification"]["KMSMasterKeyId"] == key


def test_made_table_takes_items(client: Client) -> None:
    with open_archive(client) as db:
        db.create_table()
        stored = Document.model_validate(
            {
                "document_id": "d1",
                "owner_id": "o1",
                "title": "t",
                "shelf": "s",
                "year": 1999,
                "size_bytes": 7,
                "stored_at": "2025-01-20T10:00:00Z",
            }
        )
        db.create(stored)
        found = db.plan(Document.key.get(DocumentPK(document_id=stored.document_id), HeadSK())).one()
        assert found.year == 1999


def test_table_is_made_with_asyncio(client: Client) -> None:
    with open_archive(client) as db:
        assert "table archive-test" in asyncio.run(db.acreate_table()).applied
        assert asyncio.run(db.adrift()) == []


# --- a table that is there ---------------------------------------------------------------------------------


def open_notes(client: Client, design: type[Design], **options: Any) -> Any:
    return design.open(target_of(client), create=False, sleep=lambda _: None, **options)


def made(client: Client, design: type[Design]) -> None:
    with open_notes(client, design) as db:
        db.create_table()


def test_second_run_changes_nothing(client: Client) -> None:
    with open_archive(client) as db:
        db.create_table()
        assert db.create_table().applied == ()


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "stream-on": ({"stream": None}, {"stream": "NEW_IMAGE"}, "stream NEW_IMAGE"),
    "stream-off": ({"stream": "NEW_IMAGE"}, {"stream": None}, "stream off"),
    "stream-view": ({"stream": "NEW_IMAGE"}, {"stream": "KEYS_ONLY"}, "stream KEYS_ONLY"),
    "protection-on": ({}, {"deletion_protection": True}, "deletion protection on"),
    "protection-off": ({"deletion_protection": True}, {}, "deletion protection off"),
    "billing-by-request": ({"billing": "PROVISIONED", "capacity": (3, 3)}, {}, "billing PAY_PER_REQUEST"),
    "billing-provisioned": ({}, {"billing": "PROVISIONED", "capacity": (3, 3)}, "billing PROVISIONED"),
    "capacity": (
        {"billing": "PROVISIONED", "capacity": (3, 3), "texts": by_text(capacity=(2, 2))},
        {"billing": "PROVISIONED", "capacity": (4, 5), "texts": by_text(capacity=(2, 2))},
        "capacity 4 reads and 5 writes a second",
    ),
    "capacity-of-index": (
        {"billing": "PROVISIONED", "capacity": (3, 3), "texts": by_text(capacity=(2, 2))},
        {"billing": "PROVISIONED", "capacity": (3, 3), "texts": by_text(capacity=(7, 2))},
        "capacity of index by-text 7 reads and 2 writes a second",
    ),
}  # fmt: skip
KEPT_BY_FEW: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "recovery-on": ({"pitr_days": None}, {"pitr_days": 3}, "point-in-time recovery 3 days"),
    "recovery-off": ({"pitr_days": 3}, {"pitr_days": None}, "point-in-time recovery off"),
    "recovery-days": ({"pitr_days": 3}, {"pitr_days": 1}, "point-in-time recovery 1 day"),
    "tag": ({"tags": {"team": "a"}}, {"tags": {"team": "b"}}, "tag team b"),
    "encryption-on": ({}, {"encryption": "AWS_MANAGED"}, "encryption AWS_MANAGED"),
    "encryption-off": ({"encryption": "AWS_MANAGED"}, {}, "encryption AWS_OWNED"),
}


@pytest.mark.parametrize(("before", "after", "said"), CHANGES.values(), ids=CHANGES.keys())
def test_setting_of_a_table_that_is_there_is_changed_in_place(
    client: Client, before: dict[str, Any], after: dict[str, Any], said: str
) -> None:
    made(client, notes_design(**before))
    with open_notes(client, notes_design(**after)) as db:
        assert db.create_table().applied == (said,)
        assert db.drift() == []


@pytest.mark.parametrize(("before", "after", "said"), KEPT_BY_FEW.values(), ids=KEPT_BY_FEW.keys())
@pytest.mark.parametrize("target", ["embedded", "http"])
def test_setting_that_not_every_target_has_is_changed_in_place(
    target: str, before: dict[str, Any], after: dict[str, Any], said: str
) -> None:
    with opened(target) as client:
        made(client, notes_design(**before))
        with open_notes(client, notes_design(**after)) as db:
            assert db.create_table().applied == (said,)
            assert db.drift() == []


def test_time_to_live_is_turned_on_in_place(client: Client) -> None:
    made(client, notes_design())
    with open_notes(client, notes_design(FleetingNote)) as db:
        assert db.create_table().applied == ("time to live ttl",)
        assert db.drift() == []


def test_time_to_live_that_the_target_refuses_for_now_is_said_and_applied_later() -> None:
    clock = ManualClock()
    with Database.open(":memory:", clock=clock) as database:
        notes_design(FleetingNote).open(database).close()
        with notes_design(UntilNote).open(database) as db:
            (refused,) = db.create_table().skipped
            assert refused.startswith("time to live until (Time to live has been modified multiple times")
            clock.advance(2 * 3600)
            (refused,) = db.create_table().skipped  # the old one is off by now
            assert refused.startswith("time to live until (Time to live has been modified multiple times")
            clock.advance(2 * 3600)
            assert db.create_table().applied == ("time to live until",)


def test_tags_and_indexes_of_others_are_left_alone(client: Client) -> None:
    made(client, notes_design(more=by_text(name="more", pk="GSI2PK", sk=None)))
    with open_notes(client, notes_design()) as db:
        report = db.create_table()
        assert report.applied == ()
        assert "index more (it is left: the design does not have it)" in report.skipped
        assert len(described(client, "notes")["GlobalSecondaryIndexes"]) == 2


FIXED: dict[str, tuple[dict[str, Any], str]] = {
    "no-sort-key": ({"sk": None}, "key of the table: the design says PK, SK, and there is PK"),
    "index-missing": (
        {"texts": by_text(name="other")},
        "index by-text: the design says GSI1PK, GSI1SK, projecting ALL, and there is none",
    ),
    "index-keys": (
        {"texts": by_text(sk=None)},
        "keys of index by-text: the design says GSI1PK, GSI1SK, and there is GSI1PK",
    ),
    "projection": (
        {"texts": by_text(projection="KEYS_ONLY")},
        "projection of index by-text: the design says ALL, and there is KEYS_ONLY",
    ),
}


class Flat(Entity):
    key = Keys(NotePK)

    note_id: str


@pytest.mark.parametrize(("before", "said"), FIXED.values(), ids=FIXED.keys())
def test_what_cannot_be_changed_in_place_is_refused_with_the_list(
    client: Client, before: dict[str, Any], said: str
) -> None:
    made(client, notes_design(Flat if "sk" in before else Note, **before))
    with open_notes(client, notes_design()) as db, pytest.raises(TableDiffersError) as refused:
        db.create_table()
    assert said in str(refused.value)
    assert "migration" in str(refused.value)
    assert all(not difference.is_changeable for difference in refused.value.differences)


def test_refused_table_keeps_its_settings(client: Client) -> None:
    made(client, notes_design(texts=by_text(sk=None)))
    with open_notes(client, notes_design(stream="KEYS_ONLY")) as db, pytest.raises(TableDiffersError):
        db.create_table()
    assert described(client, "notes")["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


# --- settings that a target forgets or refuses --------------------------------------------------------------


TITLE_ATTRIBUTES = "entityType goneAt ownerId sizeBytes title"
SSE = frozenset({"SSESpecification"})
FORGOTTEN: dict[str, tuple[dict[str, frozenset[str]], tuple[str, ...], list[str]]] = {
    "encryption-refused-later": (
        {"forgets": frozenset(), "refuses": SSE},
        ("encryption AWS_MANAGED (the target refuses it: Unsupported: SSESpecification)",),
        ["encryption"],
    ),
    "encryption": (
        {"forgets": SSE},
        ("encryption AWS_MANAGED (the target keeps no encryption)",),
        ["encryption"],
    ),
    "recovery": (
        {"forgets": frozenset({"PointInTimeRecoverySpecification"})},
        ("point-in-time recovery 7 days (the target keeps no point in time recovery)",),
        ["point_in_time_recovery"],
    ),
    "recovery-not-described": (
        {"unknown": frozenset({"DescribeContinuousBackups"})},
        ("point-in-time recovery 7 days (the target keeps no point in time recovery)",),
        ["point_in_time_recovery"],
    ),
    "protection": (
        {"forgets": frozenset({"DeletionProtectionEnabled"})},
        ("deletion protection on (the target keeps no deletion protection)",),
        ["deletion_protection"],
    ),
    "tags": (
        {"forgets": frozenset({"Tags"})},
        ("tag team archive (the target keeps no tags)", "tag cost-centre 42 (the target keeps no tags)"),
        ["tags"],
    ),
    "stream": (
        {"forgets": frozenset({"StreamSpecification"})},
        ("stream NEW_IMAGE (the target keeps no streams)",),
        ["streams"],
    ),
    "projections": (
        {"forgets": frozenset({"Projection"})},
        (
            "projection of index by-owner KEYS_ONLY (the target keeps no projections)",
            f"projection of index by-title {TITLE_ATTRIBUTES} (the target keeps no projections)",
        ),
        ["projections"],
    ),
}


@pytest.mark.parametrize(("settings", "skipped", "missing"), FORGOTTEN.values(), ids=FORGOTTEN.keys())
def test_setting_that_the_target_forgets_or_refuses_is_said_and_missing_from_then_on(
    settings: dict[str, frozenset[str]], skipped: tuple[str, ...], missing: list[str]
) -> None:
    with (
        Database.open(":memory:") as database,
        forgetful_endpoint(database, **settings) as url,
        no_aws_settings(),
        Archive.open(url, create=False, sleep=lambda _: None, stage="test") as db,
    ):
        report = db.create_table()
        assert report.skipped == skipped
        assert not {text.partition(" (")[0] for text in skipped} & set(report.applied)
        assert db.session.client.capabilities.missing() == missing
        assert db.drift() == []
        assert db.create_table().applied == ()


def test_protection_that_a_target_does_not_take_off_is_not_taken_for_missing() -> None:
    with (
        Database.open(":memory:") as database,
        forgetful_endpoint(database, forgets=frozenset({"DeletionProtectionEnabled"})) as url,
        no_aws_settings(),
    ):
        notes_design(deletion_protection=True).open(database).close()
        with notes_design().open(url, create=False, sleep=lambda _: None) as db:
            assert db.create_table().skipped == ("deletion protection off (the target leaves it as it is)",)
            assert db.session.client.capabilities.missing() == []


def test_index_that_a_target_refuses_is_told_as_it_says_it() -> None:
    refuses = frozenset({"GlobalSecondaryIndexes"})
    with (
        Database.open(":memory:") as database,
        forgetful_endpoint(database, refuses=refuses) as url,
        no_aws_settings(),
        Archive.open(url, create=False, stage="test") as db,
    ):
        with pytest.raises(ValidationError, match="Unsupported: GlobalSecondaryIndexes"):
            db.create_table()
        assert database.list_tables()["TableNames"] == []


class Amazon(Between):
    """Amazon DynamoDB, which forgets a parameter of its table."""

    def __init__(self, inner: Client, forgets: str, forgotten_times: int) -> None:
        super().__init__(inner)
        self._forgets = forgets
        self._left = forgotten_times

    @property
    def is_trusted(self) -> bool:
        return True

    def call(self, operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if self._forgets in params and self._left:
            self._left -= 1
            params = {name: value for name, value in params.items() if name != self._forgets}
            if operation != "CreateTable":
                return {}
        return super().call(operation, params)


@pytest.mark.parametrize("forgotten", ["SSESpecification", "DeletionProtectionEnabled"])
def test_amazon_that_drops_protection_is_an_error(forgotten: str) -> None:
    with opened("embedded", sleep=lambda _: None) as client:
        db = on_client(Archive, Amazon(client, forgotten, 99), makes_table=False, stage="test")
        with pytest.raises(TableDiffersError) as refused:
            db.create_table()
        assert len(refused.value.differences) == 1
        assert db.session.client.capabilities.missing() == []


def test_protection_that_amazon_has_not_with_the_table_is_asked_for_again() -> None:
    with opened("embedded", sleep=lambda _: None) as client:
        db = on_client(Archive, Amazon(client, "SSESpecification", 1), makes_table=False, stage="test")
        assert "encryption AWS_MANAGED" in db.create_table().applied
        assert db.drift() == []


# --- opening ------------------------------------------------------------------------------------------------


def test_embedded_database_gets_its_table_when_it_is_opened(tmp_path: Path) -> None:
    with Database.open(tmp_path / "archive.db", key=bytes(32)) as database, Archive.open(database) as db:
        assert db.session.table == "archive-dev"
        assert db.drift() == []


def test_encryption_of_a_plain_file_is_kept_and_said_to_be_untrue(tmp_path: Path) -> None:
    with Archive.open(tmp_path / "archive.db") as db:
        (difference,) = db.drift()
        assert (difference.what, difference.declared, difference.found) == (
            "encryption", "AWS_MANAGED", "AWS_OWNED",
        )  # fmt: skip
        report = db.create_table()
        assert report.skipped == ("encryption AWS_MANAGED (it is kept; the file is not encrypted)",)


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    notes_design().open(path).close()
    with notes_design(stream=None).open(path) as db:
        assert [difference.what for difference in db.drift()] == ["stream"]


def test_embedded_table_with_other_indexes_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    notes_design(texts=by_text(sk=None)).open(path).close()
    with pytest.raises(TableDiffersError, match="keys of index by-text") as refused:
        notes_design().open(path)
    assert "create=False" in str(refused.value)


def test_embedded_table_with_other_indexes_is_opened_all_the_same_if_told_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    notes_design(texts=by_text(sk=None)).open(path).close()
    with notes_design().open(path, create=False) as db:
        assert [difference.what for difference in db.drift()] == ["keys of index by-text"]


def test_embedded_table_with_an_index_more_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    notes_design(more=by_text(name="more")).open(path).close()
    notes_design().open(path).close()


def test_endpoint_gets_a_table_only_when_told_so() -> None:
    with opened("http") as client:
        with (
            Kefir.open(target_of(client), stage="test") as db,
            pytest.raises(TableMissingError, match="ST501"),
        ):
            db.user(UserId("u1")).maybe()
        with Kefir.open(target_of(client), create=True, stage="test") as db:
            assert db.user(UserId("u1")).maybe() is None


# --- an index that is not there -----------------------------------------------------------------------------


@pytest.mark.parametrize("target", EVERY_TARGET)
def test_index_that_the_table_does_not_have_is_named_the_same_everywhere(target: str) -> None:
    with (
        opened(target) as client,
        kefir_v1.Kefir.open(target_of(client), create=True, stage="test"),
        Kefir.open(target_of(client), create=False, stage="test") as db,
    ):
        assert list(db.batches(UserId("u1")).all()) == []
        with pytest.raises(IndexMissingError) as caught:
            list(db.batches_by_status("active").all())
        with pytest.raises(IndexMissingError):
            asyncio.run(db.batches_by_status("active").apage())
    assert caught.value.message == "the table kefir-app-test-table of Kefir has no index GSI2"
    assert (caught.value.number, caught.value.index) == ("ST514", "GSI2")
    assert "singletable migrate new" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("refusal", "message"),
    [
        pytest.param(
            ValidationError("Cannot read from backfilling global secondary index: GSI2"),
            "the table kefir-app-test-table of Kefir is still filling its index GSI2",
            id="being-filled",
        ),
        pytest.param(
            ValidationError("Requested resource not found: Index 'GSI2' for table 'kefir-app-test-table'"),
            "the table kefir-app-test-table of Kefir has no index GSI2",
            id="alternator",
        ),
        pytest.param(
            ResourceNotFoundError(
                "Invalid index: GSI2 for table: kefir-app-test-table. Available indexes are: "
            ),
            "the table kefir-app-test-table of Kefir has no index GSI2",
            id="moto",
        ),
    ],
)
def test_index_that_cannot_be_read_is_known_by_the_words_of_the_service(
    refusal: Exception, message: str
) -> None:
    def refuse(call: Call) -> None:
        if call.params.get("IndexName") == "GSI2":
            raise refusal

    with opened("embedded") as client:
        between = Between(client)
        db = on_client(Kefir, between, stage="test")
        between.before = refuse
        with pytest.raises(IndexMissingError) as caught:
            list(db.batches_by_status("active").all())
    assert caught.value.message == message
    assert caught.value.__cause__ is refusal


# --- steps, answered by the test ----------------------------------------------------------------------------

ACTIVE: dict[str, Any] = {
    "TableName": "notes",
    "TableStatus": "ACTIVE",
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "AttributeDefinitions": [],
    "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/notes",
}
OFF = {"ContinuousBackupsDescription": {"ContinuousBackupsStatus": "ENABLED"}}


def steps_of(**settings: Any) -> Any:
    with notes_design(texts=None, **settings).open(":memory:", create=False) as db:
        return create_table(db.session)


def answer(steps: Any, *answers: Any) -> Any:
    """Answer step after step; return the next one."""
    step = next(steps)
    for each in answers:
        step = steps.throw(each) if isinstance(each, Exception) else steps.send(each)
    return step


def test_table_that_is_being_made_is_waited_for_longer_and_longer() -> None:
    steps = steps_of()
    making = {"Table": {**ACTIVE, "TableStatus": "CREATING"}}
    first = answer(steps, ResourceNotFoundError("no"), {}, ResourceNotFoundError("not yet"))
    assert first == Wait(0.05)
    steps.send(None)
    assert steps.send(making) == Wait(0.1)
    steps.send(None)
    assert steps.send({"Table": ACTIVE}).operation == "DescribeTable"


def test_table_that_somebody_else_makes_at_the_same_time_is_taken() -> None:
    steps = steps_of()
    step = answer(steps, ResourceNotFoundError("no"), ResourceInUseError("being made"), {"Table": ACTIVE})
    assert step == Call("DescribeTable", {"TableName": "notes"})


def test_index_that_is_being_made_is_waited_for() -> None:
    steps = steps_of()
    making = {**ACTIVE, "GlobalSecondaryIndexes": [{"IndexStatus": "CREATING"}]}
    assert answer(steps, {"Table": ACTIVE}, {"Table": making}) == Wait(0.05)


def test_recovery_is_asked_for_again_while_a_table_is_made_ready_for_it() -> None:
    steps = steps_of()
    table = {"Table": ACTIVE}
    step = answer(steps, table, table, table, {}, OFF, {"Tags": []})
    assert step.operation == "UpdateContinuousBackups"
    assert steps.throw(ContinuousBackupsUnavailableError("Backups are being enabled")) == Wait(0.05)
    assert steps.send(None) == step
    on = {
        "ContinuousBackupsDescription": {
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "ENABLED"}
        }
    }
    for each in ({}, table, {}, on):
        steps.send(each)
    with pytest.raises(StopIteration) as done:
        steps.send({"Tags": []})
    assert done.value.value.applied == ("point-in-time recovery 35 days",)


def test_table_that_never_settles_is_given_up() -> None:
    def wait_for_ever() -> None:
        steps = steps_of()
        step = next(steps)
        while True:
            step = steps.send(
                None if isinstance(step, Wait) else {"Table": {**ACTIVE, "TableStatus": "UPDATING"}}
            )

    with pytest.raises(TargetError, match="still being changed after 900 s"):
        wait_for_ever()


# --- declarations -------------------------------------------------------------------------------------------


class OtherPK(Key, template="OTHER#{note_id}"):
    note_id: str


class OtherFleeting(Entity):
    key = Keys(OtherPK, NoteHeadSK)

    note_id: str
    gone: Ttl = expires(days=2)


def test_entities_that_disagree_on_the_time_to_live_are_refused() -> None:
    with pytest.raises(DeclarationError, match="ttl in FleetingNote and as gone in OtherFleeting"):
        type("Torn", (Design,), {"table": notes_design().table, "entities": (FleetingNote, OtherFleeting)})


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no-capacity": ({"billing": "PROVISIONED"}, "provisioned and has no capacity"),
    "capacity-by-request": ({"capacity": (1, 1)}, "has a capacity, and its billing is PAY_PER_REQUEST"),
    "billing": ({"billing": "FREE"}, "billing is 'FREE'"),
    "stream": ({"stream": "ALL"}, "stream is 'ALL'"),
    "recovery": ({"pitr_days": 36}, "pitr_days is 36"),
    "name": ({"name": "shop table"}, "is named 'shop table'"),
    "index-name": ({"texts": by_text(name="ix")}, "has an index named 'ix'"),
    "one-attribute": ({"sk": "PK"}, "has a key of the attributes 'PK', 'PK'"),
    "no-attribute": ({"pk": ""}, "has a key of the attributes '', 'SK'"),
    "encryption": ({"encryption": "ours"}, "encryption is 'ours'"),
    "projection": ({"texts": by_text(projection=("nothing",))}, "index by-text projects 'nothing'"),
}


@pytest.mark.parametrize(("settings", "said"), WRONG.values(), ids=WRONG.keys())
def test_setting_that_no_target_has_fails_when_the_class_is_created(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(DeclarationError, match=said):
        notes_design(**settings)


def test_open_gives_a_table_the_time_to_live_that_a_design_has_got_since() -> None:
    with Database.open(":memory:") as database:
        database.create_table(
            TableName="drafts",
            KeySchema=[
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "PK", "AttributeType": "S"},
                {"AttributeName": "SK", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        Lasting.open(database)
        assert database.describe_time_to_live(TableName="drafts")["TimeToLiveDescription"] == {
            "TimeToLiveStatus": "DISABLED"
        }
        Expiring.open(database)
        described = database.describe_time_to_live(TableName="drafts")["TimeToLiveDescription"]
        assert described == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}


def test_design_without_time_to_live_leaves_that_of_the_table_alone() -> None:
    with Database.open(":memory:") as database:
        Expiring.open(database)
        report = Lasting.open(database).create_table()
        assert report.skipped == ("time to live (it is left: the design does not have it)",)
        assert [str(each) for each in Lasting.diff(database)] == [
            "time to live: ttl is there, and the design has none"
        ]


class DraftsTable(Table):
    name = "drafts"


class DraftPK(Key, template="DRAFT#{draft_id}"):
    draft_id: str


class TextSK(SortKey, template="TEXT"):
    pass


class LastingDraft(Entity, name="Draft"):
    key = Keys(DraftPK, TextSK)

    draft_id: str


class ExpiringDraft(Entity, name="Draft"):
    key = Keys(DraftPK, TextSK)

    draft_id: str
    ttl: Ttl = expires(days=1)


class Lasting(Design):
    table = DraftsTable
    entities = (LastingDraft,)


class Expiring(Design):
    table = DraftsTable
    entities = (ExpiringDraft,)
