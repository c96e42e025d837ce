"""Attributes that get other names: copied, verified, and then removed by the names that they had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from designs.renamed_notes import Book, CamelNotes, Note, Notes, SignedNotes
from singletable import Design, Entity, Index, Key, Keys, Query, Table, pattern
from singletable.blueprint import AttributeBlueprint
from singletable.client import Client
from singletable.design.tables.create import create_table
from singletable.errors import MigrationError
from singletable.migrate import Backfill, Migration, RenameEntities, Runner, Verify
from singletable.migrate.comparing import compare
from singletable.migrate.renaming import holds_models
from support.migrating import EVERYWHERE, design_on, drive, fresh_client

each_target = pytest.mark.parametrize("target", EVERYWHERE)

CASING = Migration("0002_casing", "Casing", compare(Notes.blueprint(), CamelNotes.blueprint()), None)
SIGNED = Migration("0003_signed", "Signed", compare(CamelNotes.blueprint(), SignedNotes.blueprint()), None)
OLD = {"book_id", "note_id", "written_by", "star_count", "is_draft"}


class ShopTable(Table):
    name = "shop"
    sk = None
    pitr_days = None
    by_buyer = Index("ByBuyer", pk="buyerPK")


class PurchasePK(Key, template="ORDER#{order_id}"):
    order_id: str


class BuyerPK(Key, template="BUYER#{buyer}"):
    buyer: str


class Purchase(Entity, was="Order"):
    key = Keys(PurchasePK)
    by_buyer = ShopTable.by_buyer.keys(BuyerPK)

    order_id: str
    buyer: str


class Shop(Design):
    table = ShopTable
    entities = (Purchase,)

    @pattern("1 What somebody has bought")
    def bought_by(self, buyer: str) -> Query[Purchase]:
        return Purchase.by_buyer.query(BuyerPK(buyer=buyer))


ORDER_PLACES = {"Order": ("by_buyer",)}
BUYERS = Migration("0002_buyers", "Buyers", (Backfill(ORDER_PLACES), Verify(ORDER_PLACES)), None)
PURCHASES = Migration("0003_purchases", "Purchases", (RenameEntities({"Order": "Purchase"}),), None)


@contextmanager
def old_notes(target: str) -> Iterator[tuple[Client, Notes]]:
    """Open a target with a book and four notes, stored by snake case."""
    with fresh_client(target) as client:
        db = design_on(client, Notes, {})
        client.run(create_table(db.session))
        db.create(Book(book_id="b"))
        for number in range(4):
            db.create(note(number))
        yield client, db


def note(number: int) -> Note:
    return Note(book_id="b", note_id=f"n{number}", written_by="ada", text="hop", star_count=number)


def items(client: Client) -> list[dict[str, Any]]:
    found = client.call("Scan", {"TableName": "notes", "ConsistentRead": True})["Items"]
    return [item for item in found if not item["entityType"]["S"].startswith("$")]


def run(db: Any, *migrations: Migration, yes: bool = True, **options: Any) -> Any:
    return Runner(db, confirm=lambda migration, step: yes).run(list(migrations), **options)


def test_other_casing_becomes_steps_that_a_person_can_read() -> None:
    assert [step.kind for step in CASING.steps] == [
        "rename_attributes",
        "verify",
        "note",
        "remove_attributes",
    ]
    assert CASING.steps[0].says() == (
        "Copy book_id to bookId, mean_stars to meanStars, mean_stars_sum to meanStarsSum and mean_stars_count to "
        "meanStarsCount in the items of Book; book_id to bookId, note_id to noteId, written_by to writtenBy, "
        "star_count to starCount and is_draft to isDraft in the items of Note, where that is not there yet."
    )


@each_target
def test_items_are_read_by_their_new_names_and_lose_the_old_ones(target: str) -> None:
    with old_notes(target) as (client, _):
        db = design_on(client, CamelNotes, {})
        (report,) = run(db, CASING)
        assert report.state == "done"
        assert db.note("b", "n3").one() == note(3)
        assert db.book("b").one().mean_stars == 1.5
        assert not any(OLD & item.keys() for item in items(client))
        db.create(note(4))
        assert db.book("b").one().mean_stars == 2.0
        assert db.verify().is_clean


@each_target
def test_both_names_are_there_until_the_old_ones_are_removed(target: str) -> None:
    with old_notes(target) as (client, old):
        db = design_on(client, CamelNotes, {})
        (report,) = run(db, CASING, yes=False)
        assert report.state == "waiting"
        assert old.note("b", "n1").one() == db.note("b", "n1").one()


@each_target
def test_item_that_older_code_writes_before_the_removal_is_found_before_anything_is_removed(
    target: str,
) -> None:
    with old_notes(target) as (client, old):
        db = design_on(client, CamelNotes, {})
        run(db, CASING, yes=False)
        client.call(
            "PutItem",
            {
                "TableName": "notes",
                "Item": {
                    "PK": {"S": "BOOK#b"},
                    "SK": {"S": "NOTE#late"},
                    "entityType": {"S": "Note"},
                    "book_id": {"S": "b"},
                    "note_id": {"S": "late"},
                    "written_by": {"S": "bob"},
                },
            },
        )
        with pytest.raises(MigrationError, match=r"1 item of notes differ from the design: .*NOTE#late"):
            run(db, CASING)
        assert all("book_id" in item for item in items(client))  # nothing was removed
        assert old.note("b", "late").one().written_by == "bob"
        (report,) = run(db, CASING)
        assert report.state == "done"
        assert db.note("b", "late").one().written_by == "bob"


@each_target
def test_value_that_new_code_has_written_is_not_copied_over(target: str) -> None:
    with old_notes(target) as (client, _):
        db = design_on(client, CamelNotes, {})
        run(db, CASING, yes=False)
        db.update(db.note("b", "n1"), star_count=9)
        run(db, CASING)
        assert db.note("b", "n1").one().star_count == 9


@each_target
def test_dry_run_counts_the_copies(target: str) -> None:
    with old_notes(target) as (client, _):
        db = design_on(client, CamelNotes, {})
        before = items(client)
        (rehearsed,) = run(db, CASING, dry_run=True)
        assert rehearsed.steps[0].did == "would be: 5 changed of 5 items"
        assert rehearsed.steps[3].did == "would be: 5 changed of 5 items"
        assert items(client) == before


@each_target
def test_table_that_is_two_versions_behind_comes_to_the_newest(target: str) -> None:
    with old_notes(target) as (client, _):
        db = design_on(client, SignedNotes, {})
        reports = run(db, CASING, SIGNED)
        assert [report.state for report in reports] == ["done", "done"]
        assert [each.note_id for each in db.notes_by("ada").all()] == ["n0", "n1", "n2", "n3"]
        assert not any({*OLD, "writtenBy"} & item.keys() for item in items(client))
        assert Runner(db).verify().is_right


@each_target
def test_steps_that_name_an_entity_as_it_was_before_a_later_migration_renames_it_find_its_items(
    target: str,
) -> None:
    with fresh_client(target) as client:
        db = design_on(client, Shop, {})
        client.run(create_table(db.session))
        texts = {"PK": "ORDER#1", "entityType": "Order", "orderId": "1", "buyer": "ada"}
        order = {name: {"S": value} for name, value in texts.items()}
        client.call("PutItem", {"TableName": "shop", "Item": order})
        rehearsed, _ = run(db, BUYERS, PURCHASES, dry_run=True)
        assert rehearsed.steps[0].did == "would be: 1 changed of 1 items"
        reports = run(db, BUYERS, PURCHASES)
        assert [report.state for report in reports] == ["done", "done"]
        assert [each.order_id for each in db.bought_by("ada").all()] == ["1"]
        # What is recorded is the file, whatever entities are called now.
        assert [report.state for report in run(db, BUYERS, PURCHASES)] == ["was done", "was done"]


@pytest.mark.parametrize("calls", range(2, 40, 4))
def test_run_that_is_killed_goes_on(calls: int) -> None:
    with old_notes("embedded") as (client, _):
        db = design_on(client, CamelNotes, {})
        runner = Runner(db, owner="one", page_items=2, confirm=lambda migration, step: True)
        drive(client, runner.steps([CASING]), calls)
        runner.run([CASING])
        assert db.note("b", "n3").one() == note(3)
        assert not any(OLD & item.keys() for item in items(client))


def test_models_inside_fields_are_noted_when_the_casing_changes() -> None:
    kinds = {"str": False, "Address": True, "list[Address] | None": True, "Literal['On', 'Off']": False}
    found = {kind: holds_models(AttributeBlueprint("field", "field", kind)) for kind in kinds}
    assert found == kinds
    assert not holds_models(AttributeBlueprint("user", "user", "UserId", alias="UserId"))
