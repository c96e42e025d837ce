"""What `singletable.design` has can be imported from `singletable`, which loads it when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import singletable
import singletable.design


@pytest.mark.parametrize("name", singletable.design.__all__)
def test_name_of_the_design_layer_is_one_of_the_package(name: str) -> None:
    assert name in singletable.__all__
    assert name in dir(singletable)
    assert getattr(singletable, name) is getattr(singletable.design, name)


def test_package_has_no_name_twice() -> None:
    assert len(singletable.__all__) == len(set(singletable.__all__))


def test_everything_else_of_the_package_is_not_of_the_design_layer() -> None:
    others = set(singletable.__all__) - set(singletable.design.__all__)
    assert others == {"Database", "__version__", "errors", "patch"}


@pytest.mark.parametrize("heavy", ["pydantic", "pydantic_core", "apsw", "singletable.design"])
def test_package_alone_does_not_load(heavy: str) -> None:
    run = [sys.executable, "-I", "-c", f"import sys, singletable; print({heavy!r} in sys.modules)"]
    assert subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout == "False\n"


def test_database_does_not_load_pydantic() -> None:
    code = "import sys; from singletable import Database; print('pydantic' in sys.modules)"
    run = [sys.executable, "-I", "-c", code]
    assert subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout == "False\n"
