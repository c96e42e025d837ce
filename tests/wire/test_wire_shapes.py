"""The checked-in shapes and types are those of the installed botocore; corrections to them name real things."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import botocore
import pytest

from singletable.operations import SERVED
from singletable.wire import types
from singletable.wire.validation import live_shapes, refusals
from singletable.wire.validation.live_shapes import live_shape
from singletable.wire.validation.shapes import INPUTS, SHAPES
from support.paths import ROOT

if TYPE_CHECKING:
    from types import ModuleType

    from singletable.operations import Operation

SCRIPT = ROOT / "scripts" / "generate_shapes.py"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_shapes", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the generator ------------------------------------------------------------------------------


def test_checked_in_files_are_what_the_installed_botocore_gives() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_check_names_a_file_that_differs_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load_script()
    shutil.copy(script.WIRE / "types.py", tmp_path)
    shapes = tmp_path / "validation" / "shapes.py"
    shapes.parent.mkdir()
    shapes.write_text("SHAPES = {}\n")
    monkeypatch.setattr(script, "WIRE", tmp_path)
    # Where ruff finds no settings it would format otherwise, and the test would say nothing.
    shutil.copy(SCRIPT.parent.parent / "pyproject.toml", tmp_path)
    assert script.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        f"error: shapes.py differs from botocore {botocore.__version__}\n"
        "\nhint: run python scripts/generate_shapes.py\n"
    )
    assert shapes.read_text() == "SHAPES = {}\n"
    assert script.main([]) == 0
    assert script.main(["--check"]) == 0


# --- shapes.py ----------------------------------------------------------------------------------


def referenced(shape: dict[str, Any]) -> set[str]:
    return {
        *shape.get("members", {}).values(),
        *(shape[part] for part in ("member", "key", "value") if part in shape),
    }


def test_every_shape_that_is_referred_to_is_there_and_no_other() -> None:
    reached = set(INPUTS.values()).union(*map(referenced, SHAPES.values()))
    assert reached == set(SHAPES)


def test_inputs_hold_only_kinds_that_the_checks_know() -> None:
    opaque = {"AttributeValue"}  # blobs are inside, and nothing here looks inside
    kinds = {shape["type"] for name, shape in SHAPES.items() if name not in opaque | {"BinaryAttributeValue"}}
    assert kinds == {"structure", "list", "map", "string", "integer", "long", "boolean", "timestamp"}


# --- live_shapes.py and refusals.py ---------------------------------------------------------------


@pytest.mark.parametrize("name", live_shapes.ENUM_ORDER)
def test_printed_enum_has_the_values_of_the_model(name: str) -> None:
    assert sorted(live_shapes.ENUM_ORDER[name]) == sorted(SHAPES[name]["enum"])


@pytest.mark.parametrize("name", live_shapes.MEMBER_ORDER)
def test_order_of_members_names_members_of_the_model(name: str) -> None:
    assert set(live_shapes.MEMBER_ORDER[name]) <= set(SHAPES[name]["members"])
    assert set(live_shape(name).members) == set(SHAPES[name]["members"])


def test_other_corrections_name_shapes_and_members_of_the_model() -> None:
    for name, required in live_shapes.REQUIRED.items():
        assert required <= set(SHAPES[name]["members"]), name
    assert set(live_shapes.LENGTHS) - set(live_shapes.COPIES) <= set(SHAPES)
    for name, member in live_shapes.MEMBER_SHAPES:
        assert member in SHAPES[name]["members"]
    assert live_shapes.PATTERN_FIRST.issubset(SHAPES)
    assert set(live_shapes.ECHOED_MEMBERS) <= set(SHAPES)


@pytest.mark.parametrize("row", SERVED.values(), ids=lambda row: row.name)
def test_row_names_members_of_the_model(row: Operation) -> None:
    members = set(live_shape(INPUTS[row.name]).members)
    assert {*row.first, *row.one_at_a_time, *row.uncounted} <= members
    assert set(row.uncounted) <= set(row.one_at_a_time)
    assert not row.missing or len(row.first) == 1


def test_other_rules_name_shapes_of_the_model() -> None:
    assert (refusals.CHECKED_LATER | refusals.NAMELESS.keys()).issubset(SHAPES)
    assert live_shapes.CUT_NUMBERS.issubset(SHAPES)


# --- types.py -------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", INPUTS)
def test_typed_dict_of_an_input_has_the_members_of_its_shape(operation: str) -> None:
    shape = SHAPES[INPUTS[operation]]
    typed = getattr(types, INPUTS[operation])
    hints = {name: hint.__forward_arg__ for name, hint in typed.__annotations__.items()}
    assert set(hints) == set(shape["members"])
    assert {name for name, hint in hints.items() if not hint.startswith("NotRequired[")} == set(
        shape.get("required", ())
    )


@pytest.mark.parametrize("operation", INPUTS)
def test_every_operation_has_a_typed_answer_if_it_answers_anything(operation: str) -> None:
    has_one = any(hasattr(types, f"{operation}{suffix}") for suffix in ("Output", "Response"))
    assert has_one is (SERVED[operation].returns != "nothing")
