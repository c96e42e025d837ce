"""The difference between two versions of a design: its steps, and the files that keep them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from singletable.migrate.history import changes_between, digest, undone
from singletable.migrate.steps import step_data, step_of
from support.paths import FIXTURES


def trees() -> st.SearchStrategy[dict[str, Any]]:
    """Return data in the form of blueprints: objects, lists, and lists of members with names."""
    names = st.sampled_from("abcd")
    plain = st.none() | st.booleans() | st.integers(0, 3) | names
    named = st.fixed_dictionaries({"name": names}, optional={"type": plain, "wide": plain})
    values = st.recursive(
        plain,
        lambda inner: (
            st.lists(inner, max_size=3) | st.lists(named, max_size=4) | st.dictionaries(names, inner)
        ),
        max_leaves=8,
    )
    return st.dictionaries(names, values, max_size=4)


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
    assert list(data) == ["migration", "id", "title", "steps", "leads_to"]
    assert data["steps"][0] == {"kind": "create_table", "says": "Make the table, if it is not there."}


def test_folder_that_is_not_there_has_no_migrations(tmp_path: Path) -> None:
    assert Folder(tmp_path / "nowhere").migrations() == []


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("0001_a.json", "{", "is no migration"),
        ("0001_a.json", '{"migration": 1, "id": "x", "title": "", "steps": []}', "says that its id is x"),
        ("0001_a.json", '{"migration": 3, "id": "0001_a", "title": "", "steps": []}', "is of format 3"),
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


# --- the blueprint beside them ------------------------------------------------------------------------------


OLD_FILES = FIXTURES / "migrations_of_format_1"


def two_versions(folder: Path) -> Folder:
    for design, title in ((kefir_v1.Kefir, "First version"), (kefir.Kefir, "Status index")):
        assert new_migration(design, title, folder) is not None
    return Folder(folder)


def data_of(blueprint: Blueprint) -> Any:
    return json.loads(blueprint.to_json())


def test_migration_stores_what_changed_and_one_blueprint_stands_beside_them(tmp_path: Path) -> None:
    one, two = two_versions(tmp_path).migrations()
    assert (one.blueprint, two.blueprint) == (data_of(V1), data_of(V2))
    assert json.loads((tmp_path / "blueprint.json").read_text(encoding="utf-8")) == data_of(V2)
    first, second = (json.loads((tmp_path / f"{each.id}.json").read_text()) for each in (one, two))
    assert "changes" not in first
    places = {"was": ["key", "by_id"], "is": ["key", "by_id", "by_status"]}
    assert {"at": ["entities", "Batch", "places", "#order"], **places} in second["changes"]
    assert sorted(path.name for path in tmp_path.iterdir())[2:] == ["blueprint.json"]


def test_file_with_a_blueprint_of_its_own_is_read_and_followed_by_one_without(tmp_path: Path) -> None:
    shutil.copytree(OLD_FILES, tmp_path, dirs_exist_ok=True)
    (old,) = Folder(tmp_path).migrations()
    stored = Blueprint.from_json(json.dumps(old.blueprint))
    assert [entity.name for entity in stored.entities] == ["OldLetter"]
    assert old.steps == (CreateTable(),)
    assert plan(OldLetters, tmp_path).is_empty
    assert new_migration(Letters, "Next", tmp_path) is not None
    read = [Blueprint.from_json(json.dumps(each.blueprint)) for each in Folder(tmp_path).migrations()]
    assert read == [stored, Letters.blueprint()]
    assert plan(Letters, tmp_path).is_empty


def test_migration_that_calls_a_function_alone_leaves_the_blueprint_as_it_is(tmp_path: Path) -> None:
    folder = two_versions(tmp_path)
    before = (tmp_path / "blueprint.json").read_bytes()
    folder.write("Note", (Note("read this"),), None)
    assert (tmp_path / "blueprint.json").read_bytes() == before
    assert [each.blueprint is None for each in folder.migrations()] == [False, False, True]


def test_blueprint_that_is_missing_is_one_error_with_a_hint(tmp_path: Path) -> None:
    folder = two_versions(tmp_path)
    (tmp_path / "blueprint.json").unlink()
    with pytest.raises(MigrationError, match=r"blueprint\.json is missing") as caught:
        folder.migrations()
    assert "put it back" in str(caught.value.hint)
    assert len(folder.to_run()) == 2  # a run takes steps alone


@pytest.mark.parametrize("text", ["{", "[]", '"x"'])
def test_file_that_is_no_blueprint_is_one_error_with_a_hint(tmp_path: Path, text: str) -> None:
    folder = two_versions(tmp_path)
    (tmp_path / "blueprint.json").write_text(text, encoding="utf-8")
    with pytest.raises(MigrationError, match=r"blueprint\.json is no blueprint") as caught:
        folder.migrations()
    assert "from one commit" in str(caught.value.hint)


def test_blueprint_of_another_version_is_one_error_with_a_hint(tmp_path: Path) -> None:
    folder = two_versions(tmp_path)
    (tmp_path / "blueprint.json").write_text(V1.to_json(), encoding="utf-8")
    with pytest.raises(
        MigrationError, match="is not the blueprint that 0002_status_index leads to"
    ) as caught:
        plan(kefir.Kefir, tmp_path)
    assert "from one commit" in str(caught.value.hint)
    (tmp_path / "0002_status_index.json").unlink()
    assert folder.migrations()[0].blueprint == data_of(V1)


@pytest.mark.parametrize(
    "change",
    [
        {"at": ["name"], "was": "Other", "is": "Wrong"},
        {"at": ["nowhere", "at all"], "was": 1},
        {"at": []},
        {"was": 1},
        {"at": ["name"], "was": "Other", "is": "Kefir"},
        7,
    ],
)
def test_changes_that_do_not_lead_from_the_one_before_are_one_error(tmp_path: Path, change: Any) -> None:
    folder = two_versions(tmp_path)
    path = tmp_path / "0002_status_index.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, "changes": [*data["changes"], change]}), encoding="utf-8")
    with pytest.raises(
        MigrationError, match=r"the changes in .*0002_status_index\.json (are not|do not)"
    ) as caught:
        folder.migrations()
    assert "as `singletable migrate new` wrote it" in str(caught.value.hint)
    assert [each.id for each in folder.to_run()] == ["0001_first_version", "0002_status_index"]


def test_migration_that_cannot_be_written_leaves_the_blueprint_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = two_versions(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "0003_next.json").mkdir()
    monkeypatch.setattr(Folder, "_paths", lambda self: sorted(tmp_path.glob("000[12]*.json")))
    with pytest.raises(MigrationError, match=r"0003_next\.json cannot be written"):
        folder.write("Next", (), data_of(V1))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@given(before=trees(), after=trees())
def test_changes_undone_are_the_version_before(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert digest(undone(after, changes_between(before, after))) == digest(before)
    assert changes_between(before, before) == []


@pytest.mark.parametrize(
    ("was", "becomes"),
    [(0, 0.0), (1, True), (False, 0), ([1], [True]), ({"a": [0]}, {"a": [0.0]}), (1.0, float("nan"))],
    ids=str,
)
def test_values_that_only_python_takes_for_equal_are_changes(tmp_path: Path, was: Any, becomes: Any) -> None:
    folder = Folder(tmp_path)
    versions = [{"name": "Shop", "default": value} for value in (was, becomes, was)]
    for number, version in enumerate(versions):
        folder.write(f"Version {number}", (), version)
    found = [each.blueprint for each in folder.migrations()]
    assert json.dumps(found) == json.dumps(versions)
