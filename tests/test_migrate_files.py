"""The difference between two versions of a design: its steps, and the files that keep them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from designs import kefir, kefir_v1
from designs.letters import Letters, OldLetters
from singletable.blueprint import Blueprint
from singletable.errors import MigrationError
from singletable.migrate import (
    AddIndex,
    Backfill,
    ChangeSetting,
    CreateTable,
    DropIndex,
    Folder,
    Migration,
    MigrationStep,
    Note,
    Recompute,
    Rekey,
    RemoveAttributes,
    RenameAttributes,
    Verify,
    new_migration,
    plan,
)
from singletable.migrate.comparing import compare
from singletable.migrate.steps import step_data, step_of

V1, V2 = kefir_v1.Kefir.blueprint(), kefir.Kefir.blueprint()


def changed(before: Blueprint, entity: str, **changes: Any) -> Blueprint:
    """Return a blueprint with another version of one of its entities."""
    entities = [replace(each, **changes) if each.name == entity else each for each in before.entities]
    return replace(before, entities=tuple(entities))


# --- the steps --------------------------------------------------------------------------------------------


def test_first_migration_makes_the_table() -> None:
    assert compare(None, V1) == (CreateTable(),)


def test_same_design_needs_nothing() -> None:
    assert compare(V2, V2) == ()


def test_index_more_is_added_filled_and_verified() -> None:
    places = {"Batch": ("by_status",), "Reminder": ("by_user", "pending")}
    assert compare(V1, V2) == (
        AddIndex("GSI2"),
        ChangeSetting(("point-in-time recovery",)),
        Backfill(places),
        Verify(places),
    )


def test_index_less_is_dropped_last_after_a_verify() -> None:
    steps = compare(V2, V1)
    assert [step.kind for step in steps] == [
        "change_setting",
        "backfill",
        "verify",
        "note",
        "drop_index",
        "remove_attributes",
    ]
    assert steps[-2:] == (
        DropIndex("GSI2"),
        RemoveAttributes({"Batch": ("GSI2PK", "GSI2SK"), "Reminder": ("GSI2PK", "GSI2SK")}),
    )


def test_what_is_dropped_is_verified_also_when_nothing_else_changes() -> None:
    before = replace(V1, indexes=(*V1.indexes, replace(V1.indexes[0], name="GSI9", pk=("X",), sk=())))
    assert [step.kind for step in compare(before, V1)] == ["verify", "note", "drop_index"]


def test_other_template_of_the_table_key_moves_items() -> None:
    was = {"Letter": ("BOX#{box}", "LETTER#{number}")}
    assert compare(OldLetters.blueprint(), Letters.blueprint()) == (
        Rekey(("Letter",), was),
        Backfill({"Letter": ("days",)}),
        Verify({"Letter": ("key", "days")}, was),
    )


def test_every_item_is_rewritten_where_other_code_has_written_them() -> None:
    steps = compare(None, kefir.Kefir.blueprint(), every_item=True)
    table = [CreateTable(), AddIndex("GSI1"), AddIndex("GSI2")]
    assert list(steps[:3]) == table
    assert isinstance(steps[3], ChangeSetting)
    assert steps[3].settings == ("billing", "stream", "encryption", "point-in-time recovery")
    rekey, backfill, verify = steps[4:]
    assert isinstance(rekey, Rekey)
    assert isinstance(backfill, Backfill)
    assert (backfill.entities["Batch"], backfill.every_attribute) == (("by_id", "by_status"), True)
    assert isinstance(verify, Verify)
    assert (verify.entities["BatchEvent"], verify.every_attribute) == (("key",), True)


def test_other_schema_version_rewrites_the_items_of_the_entity() -> None:
    assert compare(V2, changed(V2, "User", schema_version=2)) == (
        Backfill({"User": ()}),
        Verify({"User": ()}),
    )


def test_other_discriminator_is_written_before_the_old_one_is_removed() -> None:
    steps = compare(V2, replace(V2, discriminator="kind"))
    assert isinstance(steps[0], Backfill)
    assert steps[0].discriminator_was == "entityType"
    assert isinstance(steps[-1], RemoveAttributes)
    assert steps[-1].entities["User"] == ("entityType",)


def test_field_that_is_stored_elsewhere_is_copied() -> None:
    user = next(each for each in V2.entities if each.name == "User")
    attributes = tuple(replace(a, stored="mail") if a.name == "email" else a for a in user.attributes)
    copy, verify, _, remove = compare(V2, changed(V2, "User", attributes=attributes))
    renamed = {"User": {"email": "mail"}}
    assert copy == RenameAttributes(renamed)
    assert copy.says() == "Copy email to mail in the items of User, where that is not there yet."
    assert isinstance(verify, Verify)
    assert verify.renamed == renamed
    assert remove == RemoveAttributes({"User": ("email",)}, renamed)


def test_fields_that_change_their_names_with_one_another_are_noted() -> None:
    user = next(each for each in V2.entities if each.name == "User")
    other = {"email": "userId", "user_id": "email"}
    attributes = tuple(replace(a, stored=other.get(a.name, a.stored)) for a in user.attributes)
    notes = compare(V2, changed(V2, "User", attributes=attributes))
    assert [type(note) for note in notes] == [Note, Note]
    assert notes[0].says().startswith("User.user_id was stored as userId and is stored as email, and one")


def test_field_that_is_stored_elsewhere_with_another_version_has_an_upcaster() -> None:
    user = next(each for each in V2.entities if each.name == "User")
    attributes = tuple(replace(a, stored="mail") if a.name == "email" else a for a in user.attributes)
    after = changed(V2, "User", attributes=attributes, schema_version=2)
    assert [step.kind for step in compare(V2, after)] == ["backfill", "verify"]


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (replace(V2, table=replace(V2.table, name="other")), "the table's name was"),
        (replace(V2, table=replace(V2.table, pk="id")), "the table's key was PK / SK and is id / SK"),
        (
            replace(V2, indexes=(replace(V2.indexes[0], projection="KEYS_ONLY"), *V2.indexes[1:])),
            "GSI1 has other keys or another projection",
        ),
    ],
    ids=["name", "key", "projection"],
)
def test_what_no_table_can_be_changed_to_is_refused(after: Blueprint, reason: str) -> None:
    with pytest.raises(MigrationError, match=reason):
        compare(V2, after)


# --- the files --------------------------------------------------------------------------------------------

EVERY_KIND: list[MigrationStep] = [
    CreateTable(),
    AddIndex("GSI2"),
    ChangeSetting(("stream",)),
    Backfill({"Batch": ("by_id",), "User": ()}, "type"),
    Rekey(("Letter",), {"Letter": ("A#{a}", "B")}),
    Verify({"Letter": ("key",)}, {"Letter": ("A#{a}", "B")}),
    RenameAttributes({"Batch": {"batchId": "batch_id"}}),
    Recompute({"User": ("unique_email",)}, {"Recipe": ("Facet",)}),
    Note("Deploy."),
    DropIndex("GSI1"),
    RemoveAttributes({"Batch": ("GSI1PK",)}),
]


@pytest.mark.parametrize("step", EVERY_KIND, ids=lambda step: step.kind)
def test_step_is_the_same_after_it_was_written_and_read(step: MigrationStep) -> None:
    data = json.loads(json.dumps(step_data(step)))
    assert step_of(data) == step
    assert data["says"].endswith(".")
    assert data.get("destructive", False) == step.is_destructive


def test_each_version_of_a_design_becomes_a_file(tmp_path: Path) -> None:
    first = new_migration(kefir_v1.Kefir, "First version", tmp_path)
    assert first is not None
    assert first.path.name == "0001_first_version.json"
    assert new_migration(kefir_v1.Kefir, "Again", tmp_path) is None
    second = new_migration(kefir.Kefir, "Add status index!", tmp_path)
    assert second is not None
    assert second.path.name == "0002_add_status_index.json"
    assert plan(kefir.Kefir, tmp_path).is_empty
    one, two = Folder(tmp_path).migrations()
    assert (one.steps, two.steps) == (first.steps, second.steps)
    assert two.title == "Add status index!"


def test_file_is_readable_json_with_a_sentence_for_each_step(tmp_path: Path) -> None:
    written = new_migration(kefir.Kefir, "First", tmp_path, every_item=True)
    assert written is not None
    data = json.loads(written.path.read_text(encoding="utf-8"))
    assert list(data) == ["migration", "id", "title", "steps", "blueprint"]
    assert data["steps"][0] == {"kind": "create_table", "says": "Make the table, if it is not there."}


def test_folder_that_is_not_there_has_no_migrations(tmp_path: Path) -> None:
    assert Folder(tmp_path / "nowhere").migrations() == []


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("0001_a.json", "{", "is no migration"),
        ("0001_a.json", '{"migration": 1, "id": "x", "title": "", "steps": []}', "says that its id is x"),
        ("0001_a.json", '{"migration": 2, "id": "0001_a", "title": "", "steps": []}', "is of format 2"),
        (
            "0001_a.json",
            '{"migration": 1, "id": "0001_a", "title": "", "steps": [{"kind": "guess"}]}',
            "'guess' is no kind of step",
        ),
        (
            "0001_a.json",
            '{"migration": 1, "id": "0001_a", "title": "", "steps": [{"kind": "add_index"}]}',
            "a step add_index lacks something",
        ),
        ("first.json", "{}", "is no migration by its name"),
    ],
)
def test_file_that_is_wrong_is_named(tmp_path: Path, name: str, text: str, reason: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(MigrationError, match=reason):
        Folder(tmp_path).migrations()


def test_two_files_of_one_number_are_refused(tmp_path: Path) -> None:
    for name in ("0001_a", "0001_b"):
        data = json.dumps(Migration(name, name, (), None).data())
        (tmp_path / f"{name}.json").write_text(data, encoding="utf-8")
    with pytest.raises(MigrationError, match="have the same number"):
        Folder(tmp_path).migrations()
