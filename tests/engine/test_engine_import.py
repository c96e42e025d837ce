"""What an import loads: only what is used."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType
from typing import Final

import botocore.session
import pytest

from singletable.client import open_client


def loaded_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement, and had not before."""
    code = f"import sys\nbefore = set(sys.modules)\n{statement}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return loaded_after("import singletable")


@pytest.mark.parametrize(
    "heavy",
    [
        *(
            "apsw",
            "asyncio",
            "orjson",
            "uvloop",
            "httptools",
            "boto3",
            "botocore",
            "dataclasses",
            "inspect",
            "json",
        ),
        *("singletable.database", "singletable.storage", "singletable.wire", "singletable.server"),
    ],
)
def test_the_package_alone_loads_nothing_heavy(loaded: set[str], heavy: str) -> None:
    assert "singletable" in loaded
    assert heavy not in loaded


def test_the_database_is_loaded_on_first_use() -> None:
    loaded = loaded_after("import singletable; singletable.Database")
    assert {"apsw", "orjson", "singletable.database"} <= loaded
    assert not {"asyncio", "uvloop", "httptools", "boto3", "singletable.server"} & loaded


def test_the_errors_are_there_without_the_engine() -> None:
    loaded = loaded_after("import singletable; singletable.errors.ApiError")
    assert "singletable.errors" in loaded
    assert "apsw" not in loaded


# --- designs ---------------------------------------------------------------------------------------------

A_DESIGN: Final = """
from singletable import Design, Entity, Get, Key, Keys, Table, pattern
class NoteTable(Table):
    name = "notes"
    sk = None
class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str
class Note(Entity):
    key = Keys(NotePK)
    note_id: str
class Notes(Design):
    table = NoteTable
    entities = (Note,)
    @pattern("1 Get a note")
    def note(self, note_id: str) -> Get[Note]:
        return Note.key.get(NotePK(note_id=note_id))
"""
ENGINE: Final = (
    *("singletable.database", "singletable.engine", "singletable.storage", "singletable.wire"),
    *("singletable.consumers", "singletable.expressions", "apsw", "isal"),
)
CREDENTIALS: Final = "import os\nos.environ.update(AWS_ACCESS_KEY_ID='x', AWS_SECRET_ACCESS_KEY='x')"


@pytest.mark.parametrize(
    "code",
    [
        "import singletable.client",
        "import singletable.design",
        A_DESIGN,
        f"{A_DESIGN}\nNotes.blueprint()",
        "import singletable_systems.kefir",
        "import singletable_systems.smart_cooking",
    ],
    ids=["client", "design", "a-design", "blueprint", "kefir", "smart-cooking"],
)
def test_a_design_loads_no_engine(code: str) -> None:
    loaded = loaded_after(code)
    assert "singletable.client" in loaded
    assert not loaded & {*ENGINE, "boto3", "botocore", "singletable.client.embedded"}


def test_a_design_on_aws_loads_no_engine() -> None:
    loaded = loaded_after(f"{CREDENTIALS}\n{A_DESIGN}\nNotes.open('dynamodb://eu-north-1').close()")
    assert "botocore" in loaded
    assert not loaded & set(ENGINE)


def test_the_engine_is_loaded_with_the_first_memory_that_is_opened() -> None:
    loaded = loaded_after(f"{A_DESIGN}\nNotes.open(':memory:').close()")
    assert {"apsw", "singletable.client.embedded", "singletable.database"} <= loaded
    assert not loaded & {"botocore", "singletable.consumers"}


def test_a_client_is_taken_while_another_thread_loads_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "singletable.database", ModuleType("singletable.database"))
    boto_client = botocore.session.Session().create_client("dynamodb", "eu-north-1")
    with open_client(boto_client) as client:
        assert client.database is None


def test_a_design_loads_few_modules_of_the_package() -> None:
    """They were 303 with the engine, and are 129 without it."""
    ours = [name for name in loaded_after(A_DESIGN) if name.partition(".")[0] == "singletable"]
    assert len(ours) < 150


def test_the_embedded_client_is_a_name_of_its_package() -> None:
    import singletable.client
    from singletable.client.embedded import EmbeddedClient

    assert singletable.client.EmbeddedClient is EmbeddedClient
    with pytest.raises(AttributeError, match=r"module 'singletable\.client' has no attribute 'EmbedClient'"):
        _ = singletable.client.EmbedClient


# --- names -----------------------------------------------------------------------------------------------


def test_a_name_that_is_not_there_is_told() -> None:
    import singletable

    with pytest.raises(AttributeError, match="module 'singletable' has no attribute 'Databse'"):
        _ = singletable.Databse


def test_every_public_name_is_there() -> None:
    import singletable

    for name in singletable.__all__:
        assert getattr(singletable, name) is not None
