"""Probing a target: what holds everywhere, that every check can fail, and that nothing stays behind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from designs.accounts import Accounts, User
from documents.blocks import ROOT
from singletable import Database
from singletable.cli import main
from singletable.client import DYNAMODB_LOCAL, EMBEDDED, Capabilities, Client, open_client
from singletable.client.calls import Answer
from singletable.clock import ManualClock
from singletable.errors import (
    CancellationReason,
    DuplicateError,
    LimitExceededError,
    TargetError,
    TargetUnreachableError,
    ThrottlingError,
    TransactionCanceledError,
    ValidationError,
)
from singletable.probe import CHECKS, Finding, ProbeReport, probe, probe_client
from singletable.probe.table import ProbeTable
from singletable.server import BackgroundServer
from support.design_clients import Between, on_client
from support.faulty_targets import FAULTS, Ask, Fault, Faulty, racing, refusing, unknown
from support.limited_targets import limited_endpoint
from support.sample_tables import create_plain
from support.targets import TARGETS, no_aws_settings, opened


@pytest.fixture
def client() -> Iterator[Client]:
    """A database in memory with a table of somebody else, which stays as it is. Waiting takes no time."""
    with Database.open(":memory:") as database:
        create_plain(database)
        before = database.describe_table(TableName="plain")
        with open_client(database, sleep=lambda _: None) as client:
            yield client
        assert database.list_tables()["TableNames"] == ["plain"]
        assert database.describe_table(TableName="plain") == before
        assert database.list_backups()["BackupSummaries"] == []


# --- what holds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_what_designs_need_holds_everywhere(target: str) -> None:
    with opened(target) as client:
        report = probe_client(client, target)
        assert client.call("ListTables", {})["TableNames"] == []
    wrong = {check.name: finding.said for check, finding in report.findings if finding.verdict == "breaks"}
    assert wrong == {}
    assert report.is_sound
    assert not report.is_left
    assert report.capabilities == (DYNAMODB_LOCAL if target == "aws-local" else EMBEDDED)


def test_transactions_that_a_target_does_not_know_are_absent_and_nothing_breaks() -> None:
    with (
        Database.open(":memory:") as database,
        limited_endpoint(database) as url,
        no_aws_settings(),
    ):
        report = probe(url)
    absent = {check.name for check, finding in report.findings if finding.verdict == "absent"}
    assert absent == {check.name for check in CHECKS if "transaction" in check.name}
    assert report.is_sound
    assert report.capabilities == EMBEDDED.without("transactions")


# --- every check can fail ------------------------------------------------------------------------------


def test_every_check_has_a_fault_that_it_finds() -> None:
    assert list(FAULTS) == [check.name for check in CHECKS]


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found_by_its_check(name: str, client: Client) -> None:
    fault, verdict, said = FAULTS[name]
    report = probed(client, fault(), name)
    assert report.finding(name).verdict == verdict
    assert said in report.finding(name).said
    (check,) = (check for check, _ in report.findings)
    assert report.is_sound == (verdict == "absent" and not check.is_needed)
    assert report.capabilities.missing() == ([check.capability] if check.capability else [])


def test_setting_that_is_refused_does_not_take_others_along(client: Client) -> None:
    def refuse(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        if "SSESpecification" in params:
            raise ValidationError("SSESpecification is not supported")
        return ask(operation, params)

    report = probed(client, refuse, "streams", "encryption")
    assert [finding.verdict for _, finding in report.findings] == ["holds", "absent"]
    assert report.capabilities.missing() == ["encryption"]


def probed(client: Client, fault: Fault, *names: str) -> ProbeReport:
    """Probe a faulty target by some checks alone."""
    with pytest.MonkeyPatch.context() as patch:
        some = tuple(check for check in CHECKS if check.name in names)
        patch.setattr("singletable.probe.run.CHECKS", some)
        return probe_client(Faulty(client, fault), "faulty")


def test_design_opens_with_what_was_found_and_unique_values_hold(tmp_path: Path, client: Client) -> None:
    report = probed(client, racing, "transactions that race")
    path = tmp_path / "found.json"
    path.write_text(json.dumps(report.data()))
    found = Capabilities.load(path)
    assert found == report.capabilities == EMBEDDED.without("transactions")
    assert taken_twice(EMBEDDED)
    assert not taken_twice(found)


def taken_twice(capabilities: Capabilities) -> bool:
    """Tell whether two users get the same address where transactions do not see each other."""
    with Database.open(":memory:") as database, open_client(database, capabilities=capabilities) as client:
        db = on_client(Accounts, Faulty(client, racing))
        db.create(User(user_id="u1", tenant_id="t1", email="ada@example.com"))
        try:
            db.create(User(user_id="u2", tenant_id="t1", email="ada@example.com"))
        except DuplicateError:
            return False
        return True


# --- bounds --------------------------------------------------------------------------------------------


def test_checks_that_the_time_does_not_suffice_for_are_untried(client: Client) -> None:
    client.lacks("tags")
    report = probe_client(client, "slow", seconds_max=0)
    assert {finding.verdict for _, finding in report.findings} == {"untried"}
    assert not report.is_sound
    assert report.capabilities.missing() == ["tags"]  # what it says of itself


def test_target_that_asks_for_patience_is_not_taken_for_wrong(client: Client) -> None:
    busy = refusing(
        "UpdateTable", lambda params: "AttributeDefinitions" in params, LimitExceededError("one index")
    )
    report = probed(client, busy, "added indexes")
    assert report.finding("added indexes") == Finding("untried", "LimitExceededException: one index")


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("writes that race", "PutItem"),
        ("counters that race", "UpdateItem"),
        ("transactions that race", "TransactWriteItems"),
        ("added indexes", "PutItem"),
    ],
)
def test_target_that_is_throttled_is_not_taken_for_wrong(client: Client, name: str, operation: str) -> None:
    report = probed(client, throttled_now_and_then(operation), name)
    assert report.finding(name) == Finding("untried", "ThrottlingException: slower")
    assert report.capabilities == EMBEDDED


def throttled_now_and_then(throttled: str) -> Fault:
    """Take every other request of a kind."""
    asked = count()

    def fault(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        if operation == throttled and next(asked) % 2:
            raise ThrottlingError("slower", [])
        return ask(operation, params)

    return fault


def test_transaction_that_is_cancelled_for_throttling_has_lost(client: Client) -> None:
    reasons = [CancellationReason("ProvisionedThroughputExceeded"), CancellationReason("None")]
    asked = count()

    def fault(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        if operation == "TransactWriteItems" and next(asked) % 2:
            raise TransactionCanceledError(reasons)
        return ask(operation, params)

    report = probed(client, fault, "transactions that race")
    assert report.finding("transactions that race").verdict == "holds"


def test_table_that_is_made_again_gets_no_more_time() -> None:
    clock = ManualClock()
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        table = ProbeTable(client, "t1", 5.0)
        table.make()
        table.make_again([])
        assert table.remove(table.again)
        assert table.left_s == 5.0
        clock.advance(6)
        assert table.remove_all()
        assert table.left_s > 0


def test_table_is_taken_away_after_ctrl_c_whatever_protects_it(client: Client) -> None:
    def interrupt(check: Any, done: int, total: int) -> None:
        if done == 3:
            (name,) = set(client.call("ListTables", {})["TableNames"]) - {"plain"}
            client.call("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": True})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probe_client(client, "interrupted", watch=interrupt)


class Vanishing(Between):
    """A target that is not reached any more after so many calls."""

    def __init__(self, inner: Client, calls_max: int) -> None:
        super().__init__(inner)
        self._calls_max = calls_max

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        if len(self.calls) >= self._calls_max:
            raise TargetUnreachableError("nobody answers", hint="look")
        return super().call(operation, params)


def test_table_that_cannot_be_taken_away_is_named() -> None:
    left: list[str] = []
    with Database.open(":memory:") as database, open_client(database, sleep=lambda _: None) as client:
        with pytest.raises(TargetUnreachableError):
            probe_client(Vanishing(client, 40), "vanishing", on_left=left.append, token="t1")
        assert left == ["singletable-probe-t1"] == database.list_tables()["TableNames"]
        with pytest.raises(TargetError, match="there is a table singletable-probe-t1 already"):
            probe_client(client, "again", token="t1")
        assert database.list_tables()["TableNames"] == ["singletable-probe-t1"]


OTHERS: dict[str, dict[str, Any]] = {
    "name": {"TableName": "plain"},
    "arn": {"ResourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/plain"},
    "batch": {"RequestItems": {"plain": []}},
    "transaction": {"TransactItems": [{"Put": {"TableName": "plain", "Item": {}}}]},
}


@pytest.mark.parametrize("params", OTHERS.values(), ids=OTHERS.keys())
def test_no_other_table_can_be_asked_about(params: dict[str, Any], client: Client) -> None:
    between = Between(client)
    with pytest.raises(AssertionError, match=r"about to touch .*plain"):
        ProbeTable(between, "t1", 60).ask("DeleteTable", params)
    assert between.calls == []


# --- the reference -------------------------------------------------------------------------------------


def test_reference_has_a_row_for_every_check() -> None:
    page = (ROOT / "docs" / "reference" / "probe.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| check ")]
    assert rows == [
        f"| {check.name} | {check.proves} | {'yes' if check.is_needed else ''} "
        f"| {f'`{check.capability}`' if check.capability else ''} "
        f"| {', '.join(check.features)} | {check.without} |"
        for check in CHECKS
    ]


# --- the command ---------------------------------------------------------------------------------------


def test_command_prints_a_line_for_each_check_and_leaves_a_file_as_it_was(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, key = tmp_path / "app.db", bytes(range(32))  # encryption holds of a file with a key alone
    key_file = tmp_path_factory.mktemp("keys") / "key"
    key_file.write_text(key.hex(), encoding="utf-8")
    monkeypatch.setenv("SINGLETABLE_KEY_FILE", str(key_file))
    Database.open(path, key=key).close()
    assert main(["probe", str(path)]) == 0
    printed = capsys.readouterr()
    assert [line[:27].rstrip() for line in printed.out.splitlines()] == [check.name for check in CHECKS]
    assert printed.err == f"{len(CHECKS)} hold: all that designs need holds\n"
    assert [each.name for each in tmp_path.iterdir()] == ["app.db"]
    with Database.open(path, key=key) as database:
        assert database.list_tables()["TableNames"] == []
        assert database.check() == []


def test_json_of_the_command_is_a_contract_and_opens_a_design(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found.json"
    with Database.open(":memory:") as database, BackgroundServer(database) as address, no_aws_settings():
        assert main(["probe", address.url, "--json", "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert json.loads(out.read_text()) == printed
    assert printed.keys() == {
        "target", "table", "is_left", "is_sound", "seconds", "checks", "capabilities",
    }  # fmt: skip
    assert printed["checks"][0].keys() == {
        "name", "proves", "verdict", "said", "features", "without", "is_needed", "capability",
    }  # fmt: skip
    assert Capabilities.load(out) == EMBEDDED


def test_command_names_what_breaks_with_its_features_and_exits_1(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("refused items", "pages over ties", "tags")

    def faulty(operation: str, params: dict[str, Any], ask: Any) -> Answer:
        if operation == "TagResource":
            return unknown("TagResource")(operation, params, ask)
        return FAULTS["pages over ties"][0]()(operation, params, ask)

    report = probed(client, faulty, *names)
    monkeypatch.setattr("singletable.cli.probe.probe", lambda target, **options: report)
    features = next(check.features for check in CHECKS if check.name == "pages over ties")
    assert main(["probe", ":memory:"]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "refused items    holds    it comes with the refusal",
        "pages over ties  breaks   of 12 items in pages of 1, read forwards, 9 are lost",
        f"                          it breaks: {', '.join(features)}",
        "tags             absent   it is not known",
        "                          without it, the setting is left out, and that is said",
    ]
    assert printed.err == (
        "1 hold, 1 break, 1 are absent: something that designs need does not hold; a design opens without tags\n"
    )


REFUSED = {
    "elsewhere": (
        ["probe", "http://db.example.com:8000"],
        "and nobody can be asked\n\nhint: run it with --yes",
    ),
    "amazon": (["probe", "dynamodb://eu-north-1"], "and nobody can be asked"),
    "no-file": (["probe", "missing.db"], "there is no file missing.db"),
    "no-folder": (["probe", ":memory:", "--out", "nowhere/found.json"], "there is no folder for nowhere"),
}


@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_nothing_is_made_without_being_asked_for(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    assert main(words) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
