"""`import singletable` loads only what is used."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loaded_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement, and had not before."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) - before))"
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


def test_a_name_that_is_not_there_is_told() -> None:
    import singletable

    with pytest.raises(AttributeError, match="module 'singletable' has no attribute 'Databse'"):
        _ = singletable.Databse


def test_every_public_name_is_there() -> None:
    import singletable

    for name in singletable.__all__:
        assert getattr(singletable, name) is not None
