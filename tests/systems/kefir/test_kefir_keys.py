"""Every key, template and literal of Kefir's design document beside ours, each with its line there.

Ours are rendered from entities. They differ from the document only where a defect is named: X-02, the precision of
times. What the document does not have is listed as added, with the defect that it repairs.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from singletable.errors import SeparatorError
from singletable_systems.kefir.model.entities import Batch, Reminder
from singletable_systems.kefir.model.keys import (
    BatchId,
    BatchPK,
    BatchSK,
    DueSK,
    EventSK,
    KefirTable,
    ReminderSK,
    UserId,
    UserPK,
)
from singletable_systems.kefir.reactions.handlers import Kefir
from systems.kefir_examples import BATCH, DEVICE, EVENT, REMINDER, USER
from systems.request_costs import shown_condition

AT = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)  # the moment of 003:346
TEXT = "2024-01-15T10:30:00.000Z"  # as toISOString() writes it, 003:286

# What stands for the placeholders of the document. The ids are those of its examples.
FILLED = {
    "<userId>": "123",
    "<batchId>": "abc",
    "<eventId>": "evt123",
    "<reminderId>": "rem123",
    "<deviceId>": "dev123",
    "<status>": "active",
    "<createdAt>": TEXT,
    "<timestamp>": TEXT,
    "<dueAt>": TEXT,
    "<now>": TEXT,
}


def filled(template: str) -> str:
    """Return a template of the document with values in it."""
    for placeholder, value in FILLED.items():
        template = template.replace(placeholder, value)
    return template


# --- the table --------------------------------------------------------------------------------------------

# Line, what the document says, what ours says.
TABLE = [
    ("003:9", "kefir-app-{stage}-table", KefirTable.name),
    ("003:10", "PK", KefirTable.pk),
    ("003:11", "SK", KefirTable.sk),
    ("003:12", "PAY_PER_REQUEST", KefirTable.billing),  # "On-demand"
    ("003:16", "GSI1", KefirTable.gsi1.name),
    ("003:17", "GSI1PK", KefirTable.gsi1.pk),
    ("003:18", "GSI1SK", KefirTable.gsi1.sk),
    ("003:19", "ALL", KefirTable.gsi1.projection),
]


@pytest.mark.parametrize(("line", "document", "ours"), TABLE, ids=[row[0] for row in TABLE])
def test_table_is_the_documents(line: str, document: str, ours: Any) -> None:
    assert ours in (document, (document,)), line


def test_all_key_attributes_are_strings() -> None:
    assert set(Kefir.blueprint().table.types.values()) == {"S"}  # 003:10-11, 17-18


def test_encryption_is_the_default_by_its_right_name() -> None:
    """003:13 says "AWS managed (default)"; the default is the key that AWS owns (KF-12)."""
    assert KefirTable.encryption == "AWS_OWNED"


# --- keys -------------------------------------------------------------------------------------------------


def table_key(entity: Any) -> tuple[str, str]:
    pk, sk = entity.key
    return pk.render(), sk.render()


def by_id(batch: Batch) -> tuple[str, str]:
    pk, sk = batch.by_id
    return pk.render(), sk.render()


def by_user(reminder: Reminder) -> tuple[str, str]:
    pk, sk = reminder.by_user
    return pk.render(), sk.render()


# Line, what the document has, what ours renders.
TEMPLATES = [
    ("003:29", "USER#<userId>", table_key(USER)[0], "USER#123"),
    ("003:30", "METADATA", table_key(USER)[1], "METADATA"),
    ("003:59", "USER#<userId>", table_key(BATCH)[0], "USER#123"),
    ("003:60", "BATCH#<batchId>", table_key(BATCH)[1], "BATCH#abc"),
    ("003:61", "BATCH#<batchId>", by_id(BATCH)[0], "BATCH#abc"),
    ("003:62", "STATUS#<status>#<createdAt>", by_id(BATCH)[1], f"STATUS#active#{TEXT}"),
    ("003:113", "BATCH#<batchId>", table_key(EVENT)[0], "BATCH#abc"),
    ("003:114", "EVENT#<timestamp>#<eventId>", table_key(EVENT)[1], f"EVENT#{TEXT}#evt123"),
    ("003:153", "BATCH#<batchId>", table_key(REMINDER)[0], "BATCH#abc"),
    ("003:154", "REMINDER#<reminderId>", table_key(REMINDER)[1], "REMINDER#rem123"),
    ("003:155", "USER#<userId>", by_user(REMINDER)[0], "USER#123"),
    ("003:156", "DUE#<dueAt>", by_user(REMINDER)[1], f"DUE#{TEXT}"),
    ("003:191", "USER#<userId>", table_key(DEVICE)[0], "USER#123"),
    ("003:192", "DEVICE#<deviceId>", table_key(DEVICE)[1], "DEVICE#dev123"),
]


@pytest.mark.parametrize(
    ("line", "document", "rendered", "literal"), TEMPLATES, ids=[row[0] for row in TEMPLATES]
)
def test_template_renders_as_the_document_has_it(
    line: str, document: str, rendered: str, literal: str
) -> None:
    assert rendered == literal == filled(document), line


# Line, the document's literal, ours, and the defect where they differ.
LITERALS = [
    ("003:234", "USER#123", UserPK(user_id=UserId("123")).render(), None),
    ("003:235", "BATCH#", BatchSK.prefix().text, None),
    ("003:236", "active", BATCH.status, None),
    ("003:250", "BATCH#abc", BatchPK(batch_id=BatchId("abc")).render(), None),
    ("003:259", "BATCH#abc", table_key(EVENT)[0], None),
    ("003:260", "EVENT#", EventSK.prefix().text, None),
    ("003:271", "BATCH#abc", table_key(REMINDER)[0], None),
    ("003:272", "REMINDER#", ReminderSK.prefix().text, None),
    ("003:285", "USER#123", by_user(REMINDER)[0], None),
    ("003:286", f"DUE#{TEXT}", DueSK(due_at=AT).render(), None),
    ("003:287", "DUE#2024-01-22T10:30:00.000Z", DueSK(due_at=AT + timedelta(days=7)).render(), None),
    ("003:300", "USER#123", table_key(USER)[0], None),
    ("003:346", "EVENT#2024-01-15T10:30:00Z#evt123", table_key(EVENT)[1], "X-02"),
]


@pytest.mark.parametrize(("line", "document", "ours", "defect"), LITERALS, ids=[row[0] for row in LITERALS])
def test_literal_is_the_documents(line: str, document: str, ours: str, defect: str | None) -> None:
    if defect is None:
        assert ours == document, line
    else:
        assert (line, ours) == ("003:346", "EVENT#2024-01-15T10:30:00.000Z#evt123")
        assert ours.replace(".000Z", "Z") == document  # the precision of the time, and nothing else


def test_key_that_is_given_as_an_id_is_refused() -> None:
    """003:396 passes "USER#123" for a user's id, which would be USER#USER#123 (KF-13)."""
    with pytest.raises(SeparatorError):
        UserPK(user_id=UserId("USER#123"))


# --- conditions -------------------------------------------------------------------------------------------

# Line, the document's condition, the pattern and its arguments, our condition, and the defects where they differ.
CONDITIONS: list[tuple[str, str, str, tuple[Any, ...], str, str]] = [
    ("003:101", "PK = USER#<userId> AND SK begins_with BATCH#",
     "batches", ("123",), "PK = USER#123 AND begins_with(SK, BATCH#)", ""),
    ("003:102", "GSI1PK = BATCH#<batchId>",
     "batch_by_id", ("abc",), "GSI1PK = BATCH#abc AND begins_with(GSI1SK, STATUS#)", ""),
    ("003:103", "GSI1PK begins_with BATCH# AND GSI1SK begins_with STATUS#<status>",
     "batches_by_status", ("active",), "GSI2PK = STATUS#active#0 AND begins_with(GSI2SK, BATCH#)", "KF-01"),
    ("003:142", "PK = BATCH#<batchId> AND SK begins_with EVENT#",
     "events", ("abc",), "PK = BATCH#abc AND begins_with(SK, EVENT#)", ""),
    ("003:143", "PK = BATCH#<batchId> AND SK > EVENT#<timestamp>",
     "events_since", ("abc", AT), f"PK = BATCH#abc AND SK BETWEEN EVENT#{TEXT}$ AND EVENT$", "KF-05"),
    ("003:179", "PK = BATCH#<batchId> AND SK begins_with REMINDER#",
     "reminders", ("abc",), "PK = BATCH#abc AND begins_with(SK, REMINDER#)", ""),
    ("003:180", "GSI1PK = USER#<userId> AND GSI1SK begins_with DUE# AND GSI1SK > DUE#<now>",
     "upcoming", ("123", AT), f"GSI1PK = USER#123 AND GSI1SK BETWEEN DUE#{TEXT} AND DUE$", "KF-03, KF-04"),
    ("003:181", "GSI1SK < DUE#<now>",
     "due", (AT,), f"GSI2PK = REMINDER#PENDING#0 AND GSI2SK BETWEEN DUE# AND DUE#{TEXT}#", "KF-02"),
    ("003:215", "PK = USER#<userId> AND SK begins_with DEVICE#",
     "devices", ("123",), "PK = USER#123 AND begins_with(SK, DEVICE#)", ""),
    ("003:228", "PK = USER#123 AND SK begins_with BATCH#",
     "batches_in", ("123",), "PK = USER#123 AND begins_with(SK, BATCH#)", "KF-08"),
    ("003:283", f"GSI1PK = USER#123 AND GSI1SK BETWEEN DUE#{TEXT} AND DUE#2024-01-22T10:30:00.000Z",
     "upcoming", ("123", AT, 7),
     f"GSI1PK = USER#123 AND GSI1SK BETWEEN DUE#{TEXT} AND DUE#2024-01-22T10:30:00.000Z", "KF-03, KF-04"),
    ("003:298", "PK = USER#123", "user_data", ("123",), "PK = USER#123", "KF-10"),
]  # fmt: skip
# Ours may be narrower where the document has no condition on the sort key, and only there.
NARROWER = {"003:102": " AND begins_with(GSI1SK, STATUS#)"}
SAID_OTHERWISE = {"KF-01", "KF-02", "KF-03, KF-04", "KF-05"}
# Whole keys, which are gotten.
GETS = [
    ("003:49", "PK = USER#<userId> AND SK = METADATA", "user", ("123",), "USER#123", "METADATA"),
    ("003:216", "PK = USER#<userId> AND SK = DEVICE#<deviceId>",
     "device", ("123", "dev123"), "USER#123", "DEVICE#dev123"),
]  # fmt: skip


@pytest.fixture(scope="module")
def db() -> Any:
    with Kefir.open(":memory:", stage="test") as design:
        yield design


@pytest.mark.parametrize(
    ("line", "document", "name", "arguments", "ours", "fixes"), CONDITIONS, ids=[row[0] for row in CONDITIONS]
)
def test_condition_is_the_documents_or_repairs_a_defect(
    db: Kefir, line: str, document: str, name: str, arguments: tuple[Any, ...], ours: str, fixes: str
) -> None:
    request = getattr(db, name)(*arguments).request()
    first = request[0] if isinstance(request, list) else request
    assert shown_condition(first) == ours
    info = Kefir.patterns()[name]
    for defect in filter(None, fixes.split(", ")):
        assert defect in info.fixes
    if fixes not in SAID_OTHERWISE or line == "003:283":
        said = filled(document).replace("SK begins_with BATCH#", "begins_with(SK, BATCH#)")
        for prefix in ("EVENT#", "REMINDER#", "DEVICE#"):
            said = said.replace(f"SK begins_with {prefix}", f"begins_with(SK, {prefix})")
        assert said + NARROWER.get(line, "") == ours
    if line not in ("003:228", "003:283", "003:298"):  # examples, of patterns that are stated elsewhere
        assert info.documented.startswith(document)


@pytest.mark.parametrize(
    ("line", "document", "name", "arguments", "pk", "sk"), GETS, ids=[row[0] for row in GETS]
)
def test_whole_key_is_the_documents(
    db: Kefir, line: str, document: str, name: str, arguments: tuple[Any, ...], pk: str, sk: str
) -> None:
    assert getattr(db, name)(*arguments).request()["Key"] == {"PK": {"S": pk}, "SK": {"S": sk}}
    assert filled(document) == f"PK = {pk} AND SK = {sk}", line
    assert Kefir.patterns()[name].documented == document


def test_batch_view_asks_as_the_document_does(db: Kefir) -> None:
    requests = db.batch_view(BatchId("abc")).request()
    batch, events, reminders = (requests[name] for name in ("batch", "events", "reminders"))
    assert batch["IndexName"] == "GSI1"  # 003:247
    assert shown_condition(batch) == "GSI1PK = BATCH#abc AND begins_with(GSI1SK, STATUS#)"  # 003:248-250
    assert shown_condition(events) == "PK = BATCH#abc AND begins_with(SK, EVENT#)"  # 003:257-260
    assert (events["ScanIndexForward"], events["Limit"]) == (False, 20)  # 003:262-263
    assert shown_condition(reminders) == "PK = BATCH#abc AND begins_with(SK, REMINDER#)"  # 003:269-272


def test_active_batches_are_filtered_as_the_document_does(db: Kefir) -> None:
    request = db.batches_in(UserId("123")).request()
    names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
    name, sign, value = request["FilterExpression"].split()  # 003:229-237
    assert (names[name], sign, values[value]) == ("status", "=", {"S": "active"})


def test_upcoming_reminders_are_read_from_the_documents_index(db: Kefir) -> None:
    assert db.upcoming(UserId("123"), AT).request()["IndexName"] == "GSI1"  # 003:282
