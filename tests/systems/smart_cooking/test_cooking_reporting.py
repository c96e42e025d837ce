"""Reports: each user's and the total of all, pending until an admin decides, and pending again afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    AdminRequiredError,
    InvalidInputError,
    ReportNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.reports import Reports
from support.opened_designs import stored_item
from support.targets import TARGETS
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched

ADMIN = UserId("user-admin")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        prepare(db)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        prepare(db)
        yield db


def prepare(db: SmartCooking) -> None:
    sign_up(db, ADA, BO, ADMIN)
    db.update(db.user(ADMIN), role="admin")


def pending(db: SmartCooking) -> list[tuple[str, int]]:
    return [(each.ingredient_name, each.total_reports) for each in db.pending_reports().all()]


def test_first_report_makes_the_summary(db: SmartCooking) -> None:
    report = Reports(db, new_id=iter(["r1"]).__next__).report(ADA, " Abc  xyz ")
    assert (report.report_id, report.ingredient_name, report.user_report_count) == ("r1", "Abc xyz", 1)
    assert db.report("ABC-XYZ", ADA).one() == report
    summary = db.invalid_ingredient("abc xyz").one()
    assert (summary.total_reports, summary.status, summary.admin_notes) == (1, "pending", "")
    assert pending(db) == [("Abc xyz", 1)]


def test_reports_are_counted_for_each_user_and_for_all(db: SmartCooking) -> None:
    reports = Reports(db)
    for user_id in (ADA, BO, ADA, ADA):
        reports.report(user_id, "abc xyz")
    assert db.report("abc xyz", ADA).one().user_report_count == 3
    assert db.report("abc xyz", BO).one().user_report_count == 1
    assert db.invalid_ingredient("abc xyz").one().total_reports == 4
    assert [each.user_id for each in db.reporters("abc xyz").all()] == [ADA, BO]
    summary = stored_item(db, "INVALID_INGREDIENT#abc xyz", "METADATA")
    assert summary is not None
    assert summary["GSI1SK"]["S"].startswith("TOTAL#0000000004#")


def test_most_reported_name_comes_first(db: SmartCooking) -> None:
    reports = Reports(db)
    for name, times in (("few", 1), ("many", 11), ("some", 2)):
        for _ in range(times):
            reports.report(ADA, name)
    assert pending(db) == [("many", 11), ("some", 2), ("few", 1)]


@pytest.mark.parametrize("decision", ["resolve", "reject"])
def test_decided_name_leaves_the_list_and_a_new_report_brings_it_back(
    db: SmartCooking, decision: str
) -> None:
    reports = Reports(db)
    reports.report(ADA, "abc xyz")
    decided = getattr(reports, decision)(ADMIN, "Abc xyz", notes="see alias")
    assert decided.status == {"resolve": "resolved", "reject": "rejected"}[decision]
    assert pending(db) == []
    again = reports.report(ADA, "abc xyz")
    assert again.user_report_count == 2
    summary = db.invalid_ingredient("abc xyz").one()
    assert (summary.total_reports, summary.status, summary.admin_notes) == (2, "pending", "see alias")
    assert pending(db) == [("abc xyz", 2)]
    reports.report(BO, "abc xyz")
    assert pending(db) == [("abc xyz", 3)]


def test_notes_are_written_without_deciding(memory: SmartCooking) -> None:
    Reports(memory).report(ADA, "abc xyz")
    assert Reports(memory).note(ADMIN, "abc xyz", "asked the cook").admin_notes == "asked the cook"
    assert Reports(memory).resolve(ADMIN, "abc xyz").admin_notes == "asked the cook"


def test_only_active_admins_decide(memory: SmartCooking) -> None:
    reports = Reports(memory)
    reports.report(ADA, "abc xyz")
    for user_id in (ADA, CY):
        with pytest.raises(AdminRequiredError, match=f"user {user_id} is no admin"):
            reports.resolve(user_id, "abc xyz")
    memory.update(memory.user(ADMIN), is_active=False)
    with pytest.raises(AdminRequiredError):
        reports.reject(ADMIN, "abc xyz")
    assert pending(memory) == [("abc xyz", 1)]


def test_name_that_nobody_has_reported_cannot_be_decided(memory: SmartCooking) -> None:
    with pytest.raises(ReportNotFoundError, match="nobody has reported the ingredient abc xyz"):
        Reports(memory).resolve(ADMIN, "abc xyz")


@pytest.mark.parametrize("name", ["", "?", "x" * 101])
def test_name_that_is_none_is_refused(memory: SmartCooking, name: str) -> None:
    with pytest.raises(InvalidInputError):
        Reports(memory).report(ADA, name)


def test_nobody_reports_nothing(memory: SmartCooking) -> None:
    with pytest.raises(UserNotFoundError, match="there is no user user-cy"):
        Reports(memory).report(CY, "abc xyz")
    assert pending(memory) == []


@pytest.mark.parametrize("faster", [ADA, BO])
@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
@pytest.mark.parametrize("is_resolved", [False, True], ids=["pending", "resolved"])
def test_reports_at_the_same_moment_are_all_counted(
    memory: SmartCooking, faster: UserId, is_known: bool, is_resolved: bool
) -> None:
    reports = Reports(memory)
    before = 0
    if is_known:
        before = 1
        reports.report(ADA, "abc xyz")
        if is_resolved:
            reports.resolve(ADMIN, "abc xyz")
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            reports.report(faster, "abc xyz")

    between.before = overtake
    Reports(slow).report(ADA, "abc xyz")
    assert pending(memory) == [("abc xyz", before + 2)]
    assert memory.report("abc xyz", ADA).one().user_report_count == before + (2 if faster == ADA else 1)
    assert memory.verify().differences == ()


def test_name_that_nobody_reports_any_more_leaves_the_pending_ones(db: SmartCooking) -> None:
    Reports(db).report(ADA, "moon dust")
    Accounts(db).delete_all_data(ADA)
    assert db.invalid_ingredient("moon dust").one().total_reports == 0
    assert db.pending_reports().first() is None
    Reports(db).report(BO, "moon dust")
    assert db.pending_reports().one().total_reports == 1
