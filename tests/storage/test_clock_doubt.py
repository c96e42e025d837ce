"""A file that is opened by a clock far ahead of what it has seen: wrong, or right. Nothing goes unasked."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.cli import main
from singletable.clock import ManualClock, SystemClock
from singletable.errors import InvalidRestoreTimeError
from singletable.server import Address
from singletable.storage.check import check_file
from singletable.storage.clock_doubt import Taken, trusted_us
from support.backed_up import names as backup_names
from support.expiring import enable, log_of, names, put
from support.past_tables import turn_on
from support.sample_tables import all_items, create_single, item, refusal
from support.serving import CommandProcess, HttpSocket
from support.streamed_tables import records_of

MINUTE_S = 60
HOUR_S = 3600
DAY_S = 24 * HOUR_S
YEAR_S = 365 * DAY_S
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


@dataclass
class Opened:
    """A file with a table that has all that is thrown away by age: closed and opened again, on one clock."""

    path: Path
    clock: ManualClock = field(default_factory=ManualClock)
    db: Database = field(init=False)

    def __post_init__(self) -> None:
        self.db = Database.open(self.path, durability="relaxed", clock=self.clock)

    def after(self, seconds: float) -> None:
        """Open it again, by a clock that says so much later; nobody can tell whether that is right."""
        self.db.close()
        assert check_file(self.path) == []
        self.clock.jump(seconds)
        self.db = Database.open(self.path, durability="relaxed", clock=self.clock)

    def now_s(self) -> int:
        return self.clock.time_us // 1_000_000

    def moment(self, seconds: float = 0) -> datetime:
        return EPOCH + timedelta(microseconds=self.clock.time_us) + timedelta(seconds=seconds)

    def seqs(self) -> list[int]:
        return [entry.seq for entry in log_of(self.db)]

    def shown(self) -> list[str]:
        (stream,) = self.db.list_streams()["Streams"]
        records = records_of(self.db, stream["StreamArn"])
        return [record["dynamodb"]["Keys"]["PK"]["S"] for record in records]

    def trusted(self) -> int | None:
        return self.db._session.store.read(lambda execute, catalog: trusted_us(execute))


@contextmanager
def _filled(path: Path, clock: ManualClock) -> Iterator[Opened]:
    opened = Opened(path, clock)
    create_single(opened.db, StreamSpecification=STREAM)
    enable(opened.db)
    turn_on(opened.db)
    put(opened.db, "soon", opened.now_s() + HOUR_S)
    opened.clock.advance(MINUTE_S)
    put(opened.db, "later", opened.now_s() + 100 * DAY_S)
    put(opened.db, "never", None)
    try:
        yield opened
        assert opened.db.check() == []
    finally:
        opened.db.close()
    assert check_file(path) == []


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    with _filled(tmp_path / "app.db", ManualClock()) as filled:
        yield filled


# --- at open ----------------------------------------------------------------------------------------------


def test_wrong_clock_at_open_takes_nothing_away(opened: Opened) -> None:
    before = opened.moment()
    opened.after(40 * DAY_S)
    opened.clock.advance(30 * MINUTE_S)  # what is due is done
    assert names(opened.db) == ["later", "never", "soon"]
    assert opened.db.sweep_expired() == 0
    assert opened.seqs() == [1, 2, 3]
    assert opened.shown() == ["soon", "later", "never"]
    assert opened.db.at(before).scan(TableName="single")["Count"] == 3
    opened.after(-40 * DAY_S)
    assert opened.db.clock_doubt() is None
    assert names(opened.db) == ["later", "never", "soon"]
    assert opened.shown() == ["soon", "later", "never"]
    opened.clock.advance(HOUR_S)
    assert names(opened.db) == ["later", "never"]  # by the right clock, it goes


def test_consumer_that_was_behind_misses_nothing_by_a_wrong_clock(opened: Opened) -> None:
    got: list[str] = []
    missed: list[Any] = []

    def handler(event: Any) -> None:
        got.extend(record["dynamodb"]["Keys"]["PK"]["S"] for record in event["Records"])

    def consume() -> Any:
        return opened.db.consume("single", handler, "mailer", on_missed=missed.append, background=False)

    with consume() as consumer:
        consumer.drain()
    opened.db.delete_item(TableName="single", Key=item("never", "1"))
    opened.after(40 * DAY_S)
    opened.clock.advance(MINUTE_S)
    with consume() as consumer:
        consumer.drain()
    assert got == ["soon", "later", "never", "never"]
    assert missed == []


def test_file_that_was_not_open_for_40_days_says_what_would_go_and_goes_on_when_that_is_confirmed(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = (entry.at_us for entry in log_of(opened.db)[:2])
    seen = opened.moment(-MINUTE_S)  # it is noted once in an hour
    opened.after(40 * DAY_S)
    (told,) = (record.getMessage() for record in caplog.records)
    assert told.startswith(
        f"{opened.path}: the clock says {opened.moment():%Y-%m-%d %H:%M} UTC, 40 days after"
    )
    put(opened.db, "new", opened.now_s() + HOUR_S)  # reads and writes go on, with what has expired among them
    assert names(opened.db) == ["later", "never", "new", "soon"]
    doubt = opened.db.clock_doubt()
    assert doubt is not None
    assert (doubt.clock, doubt.seen) == (opened.moment(), seen)
    at = [EPOCH + timedelta(microseconds=at_us) for at_us in (first, second)]
    expired = seen + timedelta(hours=1)
    assert doubt.expired_items == (Taken("single", 1, expired, expired),)
    assert doubt.log_entries == (Taken("single", 2, *at),)  # the newest of the old ones stays
    assert doubt.stream_records == (Taken("single", 3, *at),)
    assert doubt.backups == ()
    assert opened.db.confirm_clock() == doubt
    assert names(opened.db) == ["later", "never", "new"]
    assert opened.seqs() == [3, 4, 5]  # and the deletion of the one that has expired
    assert opened.shown() == ["new", "soon"]
    assert opened.db.clock_doubt() is None
    opened.clock.advance(HOUR_S + 1)
    assert names(opened.db) == ["later", "never"]
    caplog.clear()
    opened.after(DAY_S)
    assert opened.db.clock_doubt() is None
    assert caplog.records == []


@pytest.mark.parametrize(("ahead_s", "is_held"), [(7 * DAY_S - HOUR_S, False), (7 * DAY_S + HOUR_S, True)])
def test_week_is_believed_and_no_more(opened: Opened, ahead_s: int, is_held: bool) -> None:
    opened.after(ahead_s)
    assert (opened.db.clock_doubt() is not None) is is_held
    assert opened.db.metrics().is_clock_held is is_held
    opened.clock.advance(1)
    assert ("soon" in names(opened.db)) is is_held


def test_clock_that_would_take_nothing_away_is_believed_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened = Opened(tmp_path / "app.db")
    create_single(opened.db)
    enable(opened.db)
    turn_on(opened.db)
    put(opened.db, "later", opened.now_s() + 41 * DAY_S)
    opened.after(40 * DAY_S)
    assert caplog.records == []
    assert opened.db.clock_doubt() is None
    opened.clock.advance(2 * DAY_S)
    assert names(opened.db) == []
    opened.db.close()


def test_wrong_clock_with_nothing_to_take_away_is_not_believed_of_the_file(tmp_path: Path) -> None:
    opened = Opened(tmp_path / "app.db")
    create_single(opened.db)
    enable(opened.db)
    opened.after(40 * DAY_S)
    put(opened.db, "never", None)
    opened.after(-40 * DAY_S)
    put(opened.db, "later", opened.now_s() + 10 * DAY_S)
    opened.after(40 * DAY_S)
    assert opened.db.clock_doubt() is not None
    assert opened.db.sweep_expired() == 0
    assert names(opened.db) == ["later", "never"]
    opened.db.close()


def test_writes_by_a_wrong_clock_do_not_make_it_right(opened: Opened) -> None:
    """Nor does a file that is opened again and again by it, or stays open for long."""
    for number in range(3):
        opened.after(40 * DAY_S if number == 0 else 0)
        put(opened.db, f"{number}", None)
        opened.clock.advance(MINUTE_S)
        assert opened.db.clock_doubt() is not None
    assert "soon" in names(opened.db)
    assert opened.seqs() == [1, 2, 3, 4, 5, 6]


def test_time_goes_on_from_what_the_file_has_seen_while_the_clock_is_held(opened: Opened) -> None:
    """However wrong the clock is: so much has passed."""
    opened.after(40 * DAY_S)
    opened.clock.advance(HOUR_S + 1)
    assert names(opened.db) == ["later", "never"]
    assert opened.db.clock_doubt() is not None
    opened.clock.advance(2 * HOUR_S)
    seen_us = opened.trusted()
    opened.after(0)
    assert seen_us is not None
    assert opened.clock.time_us - seen_us == 40 * DAY_S * 1_000_000 + MINUTE_S * 1_000_000


def test_file_of_a_release_that_has_noted_no_time_is_opened_as_ever(opened: Opened) -> None:
    def forget(transaction: Any) -> None:
        transaction.is_dirty = True
        transaction.execute("DELETE FROM meta WHERE name = 'trusted'")

    opened.db._session.store.write(forget)
    opened.after(40 * DAY_S)
    opened.clock.advance(1)
    assert names(opened.db) == ["later", "never"]
    assert opened.trusted() is not None


def test_clock_that_was_behind_for_a_while_has_not_to_be_confirmed_when_it_is_put_right(
    opened: Opened,
) -> None:
    """As on a machine that starts in 1970, and hears of the time a minute later."""
    for _ in range(2):
        opened.after(-50 * YEAR_S)
        put(opened.db, "new", None)
        opened.clock.advance(MINUTE_S)
        opened.clock.jump(50 * YEAR_S)
        opened.clock.advance(MINUTE_S)
        assert opened.db.clock_doubt() is None
        opened.after(0)
        assert opened.db.clock_doubt() is None
    opened.clock.advance(HOUR_S)
    assert names(opened.db) == ["later", "never", "new"]


# --- while it is open -------------------------------------------------------------------------------------


def test_jump_of_weeks_is_not_believed_after_an_hour_either(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    opened.clock.jump(40 * DAY_S)
    opened.clock.advance(MINUTE_S)
    assert caplog.records == []  # it may be over soon
    opened.clock.advance(HOUR_S)
    assert opened.seqs() == [1, 2, 3, 4]  # "soon" has expired by any clock
    assert len(caplog.records) == 1
    opened.clock.advance(DAY_S)
    assert opened.db.clock_doubt() is not None
    assert len(caplog.records) == 1
    opened.db.confirm_clock()
    assert opened.seqs() == [3, 4]


def test_time_that_passes_while_it_is_open_has_not_to_be_confirmed(opened: Opened) -> None:
    opened.clock.advance(200 * DAY_S)
    assert names(opened.db) == ["never"]
    assert opened.db.clock_doubt() is None
    opened.after(DAY_S)
    assert opened.db.clock_doubt() is None


def test_database_in_memory_has_nothing_to_confirm() -> None:
    clock = ManualClock()
    with Database.open(":memory:", clock=clock) as db:
        create_single(db)
        enable(db)
        put(db, "soon", clock.now_us() // 1_000_000 + DAY_S)
        clock.jump(40 * DAY_S)
        clock.advance(1)
        assert db.clock_doubt() is None
        assert names(db) == ["soon"]
        assert db.confirm_clock() is None
        assert names(db) == []


def test_who_has_the_file_open_hears_that_another_has_confirmed_the_clock(opened: Opened) -> None:
    opened.after(40 * DAY_S)
    with Database.open(opened.path, durability="relaxed", clock=ManualClock(opened.clock.time_us)) as other:
        assert other.clock_doubt() is not None
        other.confirm_clock()
    opened.clock.advance(1)
    assert not opened.db.metrics().is_clock_held
    put(opened.db, "new", opened.now_s() + MINUTE_S)
    opened.clock.advance(2 * MINUTE_S)
    assert names(opened.db) == ["later", "never"]


def test_clock_that_is_confirmed_though_it_is_behind_is_what_counts(opened: Opened) -> None:
    """The clock was ahead, was confirmed by mistake, and is put right: what follows is as safe as before."""
    opened.after(400 * DAY_S)
    opened.db.confirm_clock()
    opened.after(-400 * DAY_S)
    opened.db.confirm_clock()
    put(opened.db, "soon", opened.now_s() + HOUR_S)
    opened.after(40 * DAY_S)
    assert opened.db.clock_doubt() is not None
    assert "soon" in names(opened.db)


# --- backups ----------------------------------------------------------------------------------------------


def test_scheduled_backups_are_made_and_not_pruned_while_the_clock_is_held(opened: Opened) -> None:
    def schedule() -> None:
        opened.db.backup_schedule(every="daily", keep="30d")

    schedule()
    (first,) = backup_names(opened.db)
    opened.after(40 * DAY_S)
    schedule()
    made = f"single-scheduled-{opened.moment():%Y%m%dT%H%M%SZ}"
    assert backup_names(opened.db) == [first, made]
    doubt = opened.db.clock_doubt()
    assert doubt is not None
    assert [(taken.table, taken.count) for taken in doubt.backups] == [("single", 1)]
    opened.clock.advance(MINUTE_S)
    assert backup_names(opened.db) == [first, made]
    opened.db.confirm_clock()
    opened.clock.advance(MINUTE_S)
    assert backup_names(opened.db) == [made]


def test_backup_alone_is_enough_to_hold_the_clock(tmp_path: Path) -> None:
    opened = Opened(tmp_path / "app.db")
    create_single(opened.db)
    opened.db.backup_schedule(every="daily", keep="30d")
    opened.after(40 * DAY_S)
    doubt = opened.db.clock_doubt()
    assert doubt is not None
    assert (doubt.expired_items, doubt.log_entries, doubt.stream_records) == ((), (), ())
    opened.db.backup_schedule(every="daily", keep="30d")
    assert len(backup_names(opened.db)) == 2
    opened.db.close()


def test_note_of_the_clock_that_the_file_does_not_take_is_tried_again_after_a_minute(tmp_path: Path) -> None:
    opened = Opened(tmp_path / "app.db")
    create_single(opened.db)
    noted_us = opened.trusted()
    writer = opened.db._session.store._open_writer()
    begun: list[str] = []

    def trace(cursor: object, statement: str, bindings: object) -> bool:
        begun.extend(statement for _ in range(statement == "BEGIN IMMEDIATE"))
        return True

    writer.exec_trace = trace
    writer.execute("PRAGMA query_only = ON").fetchall()
    opened.clock.advance(2 * HOUR_S)
    for _ in range(59):
        opened.clock.advance(1)
    assert len(begun) == 1
    opened.clock.advance(1)
    assert len(begun) == 2
    assert opened.trusted() == noted_us
    writer.execute("PRAGMA query_only = OFF").fetchall()
    opened.clock.advance(MINUTE_S)
    assert opened.trusted() == opened.clock.time_us
    opened.db.close()


def test_backup_of_a_deleted_table_is_kept_while_the_clock_is_held(opened: Opened) -> None:
    opened.db.delete_table(TableName="single")
    assert len(backup_names(opened.db, BackupType="SYSTEM")) == 1
    opened.after(40 * DAY_S)
    assert len(backup_names(opened.db, BackupType="SYSTEM")) == 1
    doubt = opened.db.confirm_clock()
    assert doubt is not None
    assert [(taken.table, taken.count) for taken in doubt.backups] == [("single", 1)]
    assert backup_names(opened.db, BackupType="SYSTEM") == []
    create_single(opened.db)


# --- the past, after a write by a clock that was ahead ------------------------------------------------------


def _stay(opened: Opened) -> None:
    opened.clock.jump(-40 * DAY_S)


def _restart(opened: Opened) -> None:
    opened.after(-40 * DAY_S)


@pytest.mark.parametrize("put_right", [_stay, _restart], ids=["running", "started_anew"])
def test_moment_that_changes_of_a_wrong_clock_hide_is_refused_with_the_reason(
    opened: Opened, put_right: Callable[[Opened], None]
) -> None:
    exact = opened.moment()
    opened.clock.jump(40 * DAY_S)
    ahead = opened.moment()
    put(opened.db, "ahead", None)
    put_right(opened)
    opened.clock.advance(MINUTE_S)
    put(opened.db, "right", None)
    now = opened.moment()

    def seen(time: datetime) -> list[str]:
        found = opened.db.at(time).scan(TableName="single")["Items"]
        return sorted(one["PK"]["S"] for one in found)

    for time in (now, exact + timedelta(seconds=30)):
        with pytest.raises(InvalidRestoreTimeError) as refused:
            seen(time)
        for told in (exact, ahead):
            assert f"{told:%Y-%m-%dT%H:%M:%S}Z" in refused.value.message
        code, message = refusal(
            opened.db,
            "restore_table_to_point_in_time",
            SourceTableName="single",
            TargetTableName="again",
            RestoreDateTime=time,
        )
        assert (code, message) == ("InvalidRestoreTimeException", refused.value.message)
    assert seen(exact) == ["later", "never", "soon"]
    assert seen(ahead) == ["ahead", "later", "never", "soon"]
    newest = next(opened.db.history("single", item("right", "1"))).at
    assert seen(newest) == ["ahead", "later", "never", "right", "soon"]
    opened.db.restore_table_to_point_in_time(
        SourceTableName="single", TargetTableName="again", UseLatestRestorableTime=True
    )
    assert len(all_items(opened.db, "scan", TableName="again")) == 5


def test_moment_is_right_again_when_the_clock_has_come_to_the_dates_of_the_changes(opened: Opened) -> None:
    opened.clock.jump(2 * DAY_S)
    put(opened.db, "ahead", None)
    opened.clock.jump(-2 * DAY_S)
    opened.clock.advance(2 * DAY_S + 1)
    put(opened.db, "right", None)
    opened.clock.advance(1)
    found = opened.db.at(opened.moment()).scan(TableName="single")["Items"]
    assert {one["PK"]["S"] for one in found} == {"ahead", "later", "never", "right"}


# --- the command ------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file that nobody has opened for 40 days, by the clock of the machine."""
    clock = ManualClock(SystemClock().now_us() // 1_000_000 * 1_000_000 - 40 * DAY_S * 1_000_000)
    with _filled(tmp_path / "app.db", clock):
        pass
    return str(tmp_path / "app.db")


def _names(file: str) -> list[str]:
    with Database.open(file, ttl_sweep_s=None) as db:
        return names(db)


def test_command_says_what_would_go_and_takes_it_away_when_that_is_confirmed(
    file: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert main(["clock", file]) == 1
    out, err = capsys.readouterr()
    kinds = [line.partition(",")[0] for line in out.splitlines()]
    assert kinds == ["single: 1 expired item", "single: 2 logged changes", "single: 3 stream records"]
    assert f"40 days ahead of the newest time that {file} has seen" in err
    assert "--confirm" in err
    assert main(["clock", file, "--confirm"]) == 2  # nobody can be asked
    assert "--yes" in capsys.readouterr().err
    assert _names(file) == ["later", "never", "soon"]
    caplog.clear()
    assert main(["clock", file, "--confirm", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert err == f"the clock is confirmed for {file}: all that is taken away\n"
    assert caplog.messages == []  # to be warned is for those who have not confirmed it
    assert _names(file) == ["later", "never"]
    assert main(["clock", file]) == 0
    assert capsys.readouterr().out == ""


def test_command_tells_programs_the_same(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str, code: int) -> Any:
        assert main(["clock", file, "--json", *arguments]) == code
        return json.loads(capsys.readouterr().out)

    first = told(code=1)
    assert (first["held"], first["confirmed"]) == (True, False)
    assert {kind: [one["count"] for one in found] for kind, found in first["takes"].items()} == {
        "expired_items": [1],
        "log_entries": [2],
        "stream_records": [3],
        "backups": [],
    }
    second = told("--confirm", "--yes", code=0)
    assert (second["held"], second["confirmed"]) == (False, True)
    assert second["takes"] == first["takes"]
    third = told(code=0)
    assert (third["held"], third["takes"]["log_entries"]) == (False, [])


def test_check_says_that_the_clock_is_held_and_finds_the_file_sound(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", file]) == 0
    assert f"singletable clock {file}" in capsys.readouterr().err
    assert main(["check", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clock_held"] is True


def test_check_and_clock_look_at_backups_that_are_kept_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = str(tmp_path / "app.db"), str(tmp_path / "elsewhere")
    clock = ManualClock(SystemClock().now_us() - 40 * DAY_S * 1_000_000)
    with Database.open(path, backups=folder, clock=clock) as db:
        create_single(db)
        db.backup_schedule(every="daily", keep="30d")
    assert main(["clock", path, "--backups", folder]) == 1
    assert main(["check", path, "--backups", folder]) == 0
    assert f"singletable clock {path} --backups {folder}" in capsys.readouterr().err
    assert main(["check", path, "--backups", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clock_held"] is True
    assert main(["check", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clock_held"] is False


def test_history_shows_what_is_kept_while_the_clock_is_held(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", file, "single", "never", "1"]) == 0
    assert "INSERT" in capsys.readouterr().out


def test_server_tells_of_the_clock_and_believes_it_when_another_process_has_confirmed_it(
    file: str, tmp_path: Path
) -> None:
    with CommandProcess("serve", file, "--port", "0", "--json", "--log", "json", cwd=tmp_path) as serve:
        ready = json.loads(serve.read_line())
        address = Address(ready["host"], ready["port"])

        def is_held() -> bool:
            with HttpSocket(address) as http:
                body = http.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body
            return b"\nsingletable_clock_held 1\n" in body

        assert is_held()
        assert main(["clock", file, "--confirm", "--yes"]) == 0
        looks = threading.Event()
        assert any(not is_held() or looks.wait(0.02) for _ in range(3000)), "it never heard of it"
        _, _, stderr = serve.end(signal.SIGTERM)
    told = [json.loads(line) for line in stderr.splitlines()]
    (warning,) = (line["message"] for line in told if line.get("level") == "warning")
    assert "40 days after the newest time that this file has seen" in warning
