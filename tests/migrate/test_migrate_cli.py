"""`singletable migrate`: plan, new, run, status, verify; what is printed where, and how it ends."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import singletable
from singletable.cli import main
from support.migrating import STRANGER, old_items

V1, V2 = "designs.kefir_v1:Kefir", "designs.kefir:Kefir"
TABLE = "kefir-app-dev-table"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a database of the first version, and old items in it."""
    monkeypatch.chdir(tmp_path)
    assert main(["migrate", "new", V1, "First version"]) == 0
    assert main(["migrate", "run", V1, "kefir.db", "--env", "stage=dev"]) == 0
    with singletable.Database.open("kefir.db") as database:
        for item in old_items(4):
            database.put_item(TableName=TABLE, Item=item)
    return tmp_path


def on_table(command: str, design: str, *more: str) -> int:
    return main(["migrate", command, design, "kefir.db", "--env", "stage=dev", *more])


def test_plan_prints_a_sentence_for_each_step(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["migrate", "plan", V2]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == " 1. Add the index GSI2, and wait until it is ACTIVE."
    assert [line[:3] for line in lines[:4]] == [" 1.", " 2.", " 3.", " 4."]
    assert lines[4] == "User.preferences is new: items without it are read with None."
    assert lines[-1] == "The volumes are other ones. Nothing to do."
    names = sorted(path.name for path in Path("scripts/migrations").iterdir())
    assert names == ["0001_first_version.json", "blueprint.json"]


def test_plan_of_a_design_that_has_not_changed_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["migrate", "plan", V1]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "nothing has changed since the newest migration\n")
    assert main(["migrate", "new", V1, "Nothing"]) == 0
    assert capsys.readouterr().err == "nothing has changed since the newest migration\n"
    assert main(["migrate", "plan", V1, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"steps": [], "differences": [], "blocked": []}


def test_migration_is_written_rehearsed_run_and_recorded(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["migrate", "new", V2, "Add status index", "--every-item"]) == 0
    assert capsys.readouterr().out == "scripts/migrations/0002_add_status_index.json\n"
    assert on_table("status", V2) == 1
    assert capsys.readouterr().out == "0001_first_version: done\n0002_add_status_index: not begun\n"
    assert on_table("run", V2, "--dry-run", "--json") == 0
    rehearsed = json.loads(capsys.readouterr().out)[1]
    assert rehearsed["state"] == "dry run"
    assert rehearsed["steps"][2]["counts"]["moved"] == 4
    assert on_table("run", V2) == 0
    assert "0002_add_status_index: done" in capsys.readouterr().out
    assert on_table("status", V2, "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["id"], row["state"]) for row in rows] == [
        ("0001_first_version", "done"),
        ("0002_add_status_index", "done"),
    ]
    assert on_table("verify", V2) == 0


def test_verify_prints_what_differs_and_exits_1(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert on_table("verify", V1) == 1
    printed = capsys.readouterr()
    assert all(json.loads(line) for line in printed.out.splitlines())
    assert printed.err == "15 items, 15 differ, 0 are of no entity\n"
    assert on_table("verify", V1, "--json") == 1
    assert json.loads(capsys.readouterr().out)["differing"] == 15


def test_items_of_no_entity_are_named_and_fail_unless_the_table_is_shared(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["migrate", "new", V2, "Add", "--every-item"])
    with singletable.Database.open("kefir.db") as database:
        database.put_item(TableName=TABLE, Item=STRANGER)
    capsys.readouterr()
    assert on_table("run", V2, "--dry-run") == 1
    assert "failed: CONFIG#1 / CONFIG: it has no entityType, so it is of no entity" in capsys.readouterr().out
    assert on_table("run", V2) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        f"error: ST603: 0002_add: 1 item of {TABLE} is of no entity of Kefir: CONFIG#1 / CONFIG"
    )
    assert "--shared-table" in said
    assert on_table("verify", V2) == 1
    printed = capsys.readouterr()
    assert printed.out == "failed: CONFIG#1 / CONFIG: it has no entityType, so it is of no entity\n"
    assert printed.err.startswith("16 items, 0 differ, 1 are of no entity\nhint: ")
    assert on_table("run", V2, "--shared-table") == 0
    assert on_table("verify", V2, "--shared-table") == 0


def test_destructive_step_needs_yes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["migrate", "new", V2, "Add", "--every-item"])
    on_table("run", V2)
    main(["migrate", "new", V1, "Drop"])
    capsys.readouterr()
    assert on_table("run", V1) == 1
    assert "run it again with --yes" in capsys.readouterr().err
    assert indexes() == ["GSI1", "GSI2"]
    assert on_table("run", V1, "--yes") == 0
    assert indexes() == ["GSI1"]


def indexes() -> list[Any]:
    with singletable.Database.open("kefir.db") as database:
        table = database.describe_table(TableName=TABLE)["Table"]
    return [index["IndexName"] for index in table["GlobalSecondaryIndexes"]]


def test_run_up_to_a_number_leaves_the_rest(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["migrate", "new", V2, "Add"])
    capsys.readouterr()
    assert on_table("run", V2, "--to", "0001") == 0
    assert capsys.readouterr().out == "0001_first_version: was done\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["migrate", "plan", "nowhere:Kefir"], "ST504: there is no module 'nowhere'"),
        (["migrate", "plan", "designs.kefir:Batch"], "ST504: designs.kefir has no design 'Batch'"),
        (["migrate", "status", V1, "nowhere.db"], "ST601: there is no file nowhere.db"),
        (["migrate", "run", V1, "kefir.db", "--rate", "fast"], "ST601: 'fast' is no rate"),
        (["migrate", "run", V1, "kefir.db", "--to", "0009"], "ST601: there is no migration 0009"),
        (["migrate", "run", V1, "kefir.db", "--folder", "empty"], "ST601: there are no migrations in empty"),
        (["migrate", "run", V1, "ftp://kefir"], "ST505: 'ftp://kefir' cannot be opened"),
        (
            ["migrate", "verify", V1, "kefir.db", "--env", "stage=other"],
            "ST601: the table kefir-app-other-table",
        ),
        (
            ["migrate", "status", V1, "kefir.db", "--env", "stage=other"],
            "ST601: the table kefir-app-other-table",
        ),
    ],
    ids=["module", "class", "file", "rate", "id", "folder", "target", "table to verify", "table"],
)
def test_wrong_use_is_told_and_exits_2(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    capsys.readouterr()
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {reason}")
    assert printed.err.count("hint:") == 1


SHOP = """
from singletable import Design, Entity, Key, Keys, SortKey, Table, Unique

class ShopTable(Table):
    name = "shop"

class UserPK(Key, template="USER#{user_id}"):
    user_id: str

class UserSK(SortKey, template="USER"):
    pass

class EmailPK(Key, template="EMAIL#{email}"):
    email: str

class User(Entity):
    key = Keys(UserPK, UserSK)
    user_id: str
    email: str

class UniqueUser(Entity, name="User"):
    key = Keys(UserPK, UserSK)
    unique_email = Unique(EmailPK)
    user_id: str
    email: str

class Shop(Design):
    table = ShopTable
    entities = (User,)

class NextShop(Design):
    table = ShopTable
    entities = (UniqueUser,)
"""


Command = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def command(tmp_path: Path, warm_programs: Path) -> Command:
    """What runs the command as a user does, from a directory: returns its code, its JSON, and what it says."""

    def run(*arguments: str) -> tuple[int, Any, str]:
        done = subprocess.run(
            [warm_programs / "singletable", "migrate", *arguments, "--json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode, lines[0] if lines else None, done.stderr

    return run


def test_fresh_project_goes_from_nothing_to_a_second_version(tmp_path: Path, command: Command) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    code, _, said = command("run", "shop:Shop", "shop.db")
    assert (code, "there are no migrations in scripts/migrations" in said) == (2, True)
    code, written, _ = command("new", "shop:Shop", "First version")
    assert (code, written["file"]) == (0, "scripts/migrations/0001_first_version.json")
    assert (tmp_path / written["file"]).is_file()
    code, _, said = command("status", "shop:Shop", "shop.db")
    assert (code, "singletable migrate run shop:Shop shop.db makes it" in said) == (2, True)
    assert command("run", "shop:Shop", "shop.db")[0] == 0
    assert command("new", "shop:Shop", "Again")[1] == {"file": None, "steps": []}
    put_user(tmp_path, "a", "a@example.com")
    put_user(tmp_path, "b", "a@example.com")
    _, planned, _ = command("plan", "shop:NextShop")
    assert [step["kind"] for step in planned["steps"]] == ["recompute"]
    assert command("new", "shop:NextShop", "Unique emails")[0] == 0
    code, rehearsed, _ = command("run", "shop:NextShop", "shop.db", "--dry-run")
    step = rehearsed[1]["steps"][0]
    assert (code, step["counts"]["changed"], step["counts"]["failed"]) == (1, 1, 1)
    code, _, said = command("run", "shop:NextShop", "shop.db")
    assert (code, "is also that of USER#" in said, "hint:" in said) == (1, True, True)
    put_user(tmp_path, "b", "b@example.com")
    assert command("run", "shop:NextShop", "shop.db")[0] == 0
    assert command("status", "shop:NextShop", "shop.db")[0] == 0
    assert command("verify", "shop:NextShop", "shop.db")[1]["right"]


RENAMED = """
class Person(Entity):
    key = Keys(UserPK, UserSK)
    user_id: str
    mail: str

class OtherShop(Design):
    table = ShopTable
    entities = (Person,)

class MailUser(Entity, name="User"):
    key = Keys(UserPK, UserSK)
    user_id: str
    mail: str

class MailShop(Design):
    table = ShopTable
    entities = (MailUser,)
"""


def test_blocked_plan_exits_1_and_says_what_can_be_meant(tmp_path: Path, command: Command) -> None:
    (tmp_path / "shop.py").write_text(SHOP + RENAMED)
    assert command("new", "shop:Shop", "First version")[0] == 0
    code, planned, _ = command("plan", "shop:OtherShop")
    assert (code, planned["blocked"]) == (1, ["User"])
    assert 'class Person(Entity, was="User") if it is the same one' in planned["differences"][0]["hint"]
    code, written, said = command("new", "shop:MailShop", "Mail")
    assert (code, written["error"]["number"]) == (1, "ST602")
    assert [each["where"] for each in written["error"]["differences"]] == ["MailUser.mail"]
    assert said.startswith("error: ST602: MailUser.mail is new and required")
    assert "hint: --rename MailUser.email=mail if it is email" in said
    code, planned, _ = command("plan", "shop:MailShop", "--rename", "User.email=mail")
    assert (code, planned["blocked"]) == (0, [])
    assert planned["steps"][0]["kind"] == "rename_attributes"
    code, _, said = command("plan", "shop:MailShop", "--rename", "email")
    assert (code, "'email' is no rename, as Order.state=status" in said) == (2, True)
    code, planned, _ = command("plan", "shop:MailShop", "--accept", "MailUser.mail")
    assert (code, planned["steps"][0]["kind"]) == (0, "check_items")


def put_user(folder: Path, user: str, email: str) -> None:
    item = {"PK": f"USER#{user}", "SK": "USER", "userId": user, "email": email, "entityType": "User"}
    with singletable.Database.open(folder / "shop.db") as database:
        stored = {name: {"S": value} for name, value in item.items()}
        database.put_item(TableName="shop", Item=stored)


def test_module_that_cannot_be_imported_is_not_said_to_be_missing(tmp_path: Path, command: Command) -> None:
    (tmp_path / "shop.py").write_text("import nothing_like_this\n")
    code, _, said = command("plan", "shop:Shop")
    assert (code, said.splitlines()[0]) == (
        2,
        "error: ModuleNotFoundError: No module named 'nothing_like_this'",
    )


def test_file_that_is_no_migration_is_told_with_what_to_do(tmp_path: Path, command: Command) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    folder = tmp_path / "scripts" / "migrations"
    folder.mkdir(parents=True)
    (folder / "0001_first.json").write_text('{"steps": []}')
    code, _, said = command("plan", "shop:Shop")
    assert (code, said.splitlines()[0]) == (
        2,
        "error: ST601: scripts/migrations/0001_first.json is no migration: it has no 'id'",
    )
    assert "hint: put the file back" in said


@pytest.mark.parametrize("design", ["designs.kefir", "designs.kefir:", ":Kefir", "a:b c"])
def test_design_that_cannot_be_one_is_refused_at_once(
    design: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["migrate", "plan", design])
    assert "is no MODULE:DESIGN" in capsys.readouterr().err
