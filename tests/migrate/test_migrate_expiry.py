"""Items that a migration would let expire at once: named before anything is written, and kept if that is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from singletable import (
    Database,
    Design,
    Entity,
    Key,
    Keys,
    Query,
    SortKey,
    Table,
    Ttl,
    expires,
    pattern,
    upcast,
)
from singletable.cli import main
from singletable.client import Client
from singletable.clock import ManualClock
from singletable.migrate import Backfill, Expiring, Migration, Rekey, RenameAttributes, Runner, Verify
from singletable.migrate.comparing import compare
from support.migrating import design_on, drive, fresh_client
from support.targets import TARGETS

NOW = datetime(2026, 3, 30, tzinfo=UTC)
NOW_S = int(NOW.timestamp())
DAYS = (1, 29, 31, 400)  # how old a news is; with 30 days, two are over


class NewsTable(Table):
    name = "news"
    ttl = "ttl"


class ReaderPK(Key, template="READER#{reader}"):
    reader: str


class NewsSK(SortKey, template="NEWS#{news_id}"):
    news_id: str


class News(Entity):
    key = Keys(ReaderPK, NewsSK)

    reader: str
    news_id: str
    told_at: datetime
    ttl: Ttl = expires(days=30, after="told_at")


class Paper(Design):
    table = NewsTable
    entities = (News,)

    @pattern("1 The news of a reader")
    def news(self, reader: str) -> Query[News]:
        return News.key.query(ReaderPK(reader=reader))


class Story(Entity, schema_version=2):
    """What expires by an upcaster: the first version has no time to live."""

    key = Keys(ReaderPK, NewsSK)

    reader: str
    news_id: str
    told_at: datetime
    ttl: Ttl = None

    @upcast(1)
    def times(values: dict[str, Any]) -> dict[str, Any]:  # noqa: N805
        return {**values, "ttl": datetime.fromisoformat(values["told_at"]) + timedelta(days=30)}


class Stories(Design):
    table = NewsTable
    entities = (Story,)


ADOPT = Migration("0001_adopt", "Adopt", compare(None, Paper.blueprint(), every_item=True), None)


def old_news(days: int, *, ttl_s: int | None = None) -> dict[str, Any]:
    """A news as other code has written it: without a discriminator, and mostly without a time to live."""
    told_at = (NOW - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    texts = {
        "PK": "READER#ada",
        "SK": f"NEWS#n{days}",
        "reader": "ada",
        "newsId": f"n{days}",
        "toldAt": told_at,
    }
    item: dict[str, Any] = {name: {"S": value} for name, value in texts.items()}
    return item if ttl_s is None else {**item, "ttl": {"N": str(ttl_s)}}


def table_definition() -> dict[str, Any]:
    return {
        "TableName": "news",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
        "KeySchema": [
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
    }


@contextmanager
def old_table(target: str = "embedded", *items: dict[str, Any]) -> Iterator[tuple[Client, ManualClock]]:
    clock = ManualClock(NOW_S * 1_000_000)
    with fresh_client(target, clock) as client:
        client.call("CreateTable", table_definition())
        for item in items or map(old_news, DAYS):
            client.call("PutItem", {"TableName": "news", "Item": item})
        yield client, clock


def paper_on(client: Client) -> Paper:
    opened: Paper = design_on(client, Paper, {})
    return opened


def stored_ttls(client: Client) -> dict[str, str | None]:
    items = client.call("Scan", {"TableName": "news", "ConsistentRead": True})["Items"]
    found = {item["SK"]["S"]: item.get("ttl", {}).get("N") for item in items}
    return {sk: ttl for sk, ttl in found.items() if sk.startswith("NEWS#")}


def names(paper: Paper) -> list[str]:
    return [each.news_id for each in paper.news("ada").all()]


@pytest.mark.parametrize("target", TARGETS)
def test_run_names_what_would_expire_and_writes_nothing(target: str) -> None:
    with old_table(target) as (client, _):
        before = stored_ttls(client)
        (report,) = Runner(paper_on(client)).run([ADOPT])
        assert (report.state, report.steps) == ("waiting", [])
        assert report.expiring is not None
        assert report.expiring.says() == (
            "2 items expire at once: READER#ada / NEWS#n31, READER#ada / NEWS#n400."
        )
        assert report.data()["expiring"]["samples"][0] == {
            "entity": "News",
            "key": {"PK": "READER#ada", "SK": "NEWS#n31"},
            "expired_at": "2026-03-29T00:00:00+00:00",
        }
        assert stored_ttls(client) == before


def test_dry_run_names_them_too() -> None:
    with old_table() as (client, _):
        (report,) = Runner(paper_on(client)).run([ADOPT], dry_run=True)
        assert report.expiring is not None
        assert (report.state, report.expiring.count) == ("dry run", 2)
        (kept,) = Runner(paper_on(client), keep_expired=True).run([ADOPT], dry_run=True)
        assert kept.data()["expiring"]["kept"] is True


@pytest.mark.parametrize("target", TARGETS)
def test_kept_items_get_no_time_to_live(target: str) -> None:
    with old_table(target) as (client, clock):
        paper = paper_on(client)
        (report,) = Runner(paper, keep_expired=True).run([ADOPT])
        assert (report.state, report.steps[-1].did) == ("done", "every item is as it should be")
        in_a_day = str(NOW_S + 86_400)
        assert stored_ttls(client) == {
            "NEWS#n1": str(NOW_S + 29 * 86_400),
            "NEWS#n29": in_a_day,
            "NEWS#n31": None,
            "NEWS#n400": None,
        }
        clock.advance(3600)
        assert names(paper) == ["n1", "n29", "n31", "n400"]
        assert Runner(paper).verify().is_right


OVER_S, LATER_S = NOW_S - 60, NOW_S + 86_400
UNTIL = RenameAttributes({"News": {"until": "ttl"}})


@pytest.mark.parametrize(
    ("design", "steps", "stored"),
    [
        (Stories, (Backfill({"Story": ()}), Verify({"Story": ()})), {}),
        (Stories, (Rekey(("Story",)), Verify({"Story": ("key",)})), {"SK": {"S": "NEWS#old#"}}),
        (Paper, (UNTIL, Verify(renamed=UNTIL.renamed)), {"until": {"N": "OVER"}}),
        (Paper, (Backfill({}, fields={"News": ("ttl",)}), UNTIL), {"until": {"N": "OVER"}}),
    ],
    ids=["upcast", "upcast and moved", "renamed", "fields"],
)
def test_items_are_kept_from_whatever_writes_their_time(
    design: type[Design], steps: tuple[Any, ...], stored: dict[str, Any]
) -> None:
    over, later = (
        old_news(days)
        | json.loads(json.dumps(stored).replace("OVER", str(time_s)).replace("old#", f"old#{days}"))
        for days, time_s in ((400, OVER_S), (29, LATER_S))
    )
    over["entityType"] = later["entityType"] = {"S": design.entities[0].__name__}
    with old_table("embedded", over, later) as (client, _):
        db = design_on(client, design, {})
        migration = Migration("0002_times", "Times", steps, None)
        (report,) = Runner(db).run([migration])
        assert (report.state, report.expiring and report.expiring.count) == ("waiting", 1)
        (report,) = Runner(db, keep_expired=True).run([migration])
        assert report.state == "done"
        assert stored_ttls(client) == {"NEWS#n29": str(LATER_S), "NEWS#n400": None}


def test_items_that_have_their_time_already_are_kept_when_expiry_is_turned_on() -> None:
    over, later = old_news(5, ttl_s=NOW_S - 60), old_news(6, ttl_s=NOW_S + 86_400)
    with old_table("embedded", over, later) as (client, clock):
        (report,) = Runner(paper_on(client)).run([ADOPT])
        assert report.expiring is not None
        assert (report.state, report.expiring.count) == ("waiting", 1)
        (report,) = Runner(paper_on(client), keep_expired=True).run([ADOPT])
        assert report.state == "done"
        clock.advance(3600)  # while the table expires what is over
        by_design = str(NOW_S + 25 * 86_400)  # which is yet to come
        assert stored_ttls(client) == {"NEWS#n5": by_design, "NEWS#n6": str(NOW_S + 86_400)}


def test_items_that_expire_anyway_are_not_asked_about() -> None:
    with old_table("embedded", old_news(1)) as (client, _):
        paper = paper_on(client)
        Runner(paper).run([ADOPT])
        clock_behind = Migration("0002_again", "Again", ADOPT.steps[1:], None)
        client.call("PutItem", {"TableName": "news", "Item": old_news(6, ttl_s=NOW_S - 1)})
        (_, report) = Runner(paper).run([ADOPT, clock_behind])
        assert report.state == "done"


def test_items_expire_if_somebody_confirms_it() -> None:
    asked: list[Any] = []

    def confirm(migration: Migration, step: Any) -> bool:
        asked.append(step)
        return True

    with old_table() as (client, _):
        paper = paper_on(client)
        (report,) = Runner(paper, confirm=confirm).run([ADOPT])
        assert report.state == "done"
        assert isinstance(asked[0], Expiring)
        assert names(paper) == ["n1", "n29"]


@pytest.mark.parametrize("calls", range(2, 30, 4))
def test_killed_run_keeps_what_it_was_to_keep(calls: int) -> None:
    with old_table() as (client, clock):
        paper = paper_on(client)
        drive(client, Runner(paper, keep_expired=True, page_items=1).steps([ADOPT]), calls)
        clock.advance(120)  # until the lease is over
        (report,) = Runner(paper, keep_expired=True, page_items=1).run([ADOPT])
        assert report.state in ("done", "was done")
        clock.advance(3600)
        assert names(paper) == ["n1", "n29", "n31", "n400"]


def test_migration_that_writes_no_time_is_not_held_up() -> None:
    with old_table() as (client, _):
        steps = tuple(step for step in ADOPT.steps if step.kind in ("create_table", "rekey"))
        (report,) = Runner(paper_on(client)).run([Migration("0001_keys", "Keys", steps, None)])
        assert (report.state, report.expiring) == ("done", Expiring())


def test_command_says_what_would_expire_and_keeps_it_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    design = f"{__name__}:Paper"
    assert main(["migrate", "new", design, "Adopt", "--every-item"]) == 0
    with Database.open("news.db", clock=ManualClock(NOW_S * 1_000_000)) as database:
        database.create_table(**table_definition())
        for days in range(3000, 3004):  # over, whenever this is run
            database.put_item(TableName="news", Item=old_news(days))
    run = ["migrate", "run", design, "news.db"]
    capsys.readouterr()
    assert main([*run, "--dry-run"]) == 1
    assert "4 items expire at once: READER#ada / NEWS#n3000, " in capsys.readouterr().out
    assert main(run) == 1
    printed = capsys.readouterr()
    assert "0001_adopt: waiting" in printed.out
    assert "has written nothing: run it again with --keep-expired" in printed.err
    assert main([*run, "--keep-expired", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["state"], report["expiring"]["kept"]) == ("done", True)
    with Paper.open("news.db") as paper:
        assert len(names(paper)) == 4
