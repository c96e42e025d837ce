"""The systems use public names of singletable alone, as everybody can."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import singletable
import singletable_systems

SOURCE = Path(singletable_systems.__path__[0])
FILES = sorted(SOURCE.rglob("*.py"))

# Modules whose public names are those of `__all__`, and modules whose public names are their classes.
WITH_ALL = {"singletable", "singletable.blueprint", "singletable.systems", "singletable.stack"}
WITH_CLASSES = {"singletable.errors", "singletable.clock"}


def public_names(module: ModuleType) -> set[str]:
    """Return the names of a module that anybody may import."""
    if module.__name__ in WITH_ALL:
        return set(module.__all__)
    return {
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__.startswith(module.__name__) and not _is_private(name)
    }


def problems(text: str) -> list[str]:
    """Say what a module uses of singletable that is not public."""
    tree = ast.parse(text)
    return [*_imports(tree), *_reaches(tree), *_own_reaches(tree)]


def _is_ours(module: str) -> bool:
    return module == "singletable" or module.startswith("singletable.")


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    yield f"line {node.lineno}: import {alias.name}, and not names from it"
        elif isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
            yield from _names_of(node)
        elif isinstance(node, ast.Name) and node.id in ("importlib", "__import__"):
            yield f"line {node.lineno}: {node.id}"


def _names_of(node: ast.ImportFrom) -> Iterator[str]:
    module = node.module or ""
    if module not in WITH_ALL | WITH_CLASSES:
        yield f"line {node.lineno}: {module} is no public module"
        return
    public = public_names(importlib.import_module(module))
    for alias in node.names:
        if alias.name not in public:
            yield f"line {node.lineno}: {alias.name} is no public name of {module}"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def _reaches(tree: ast.Module) -> Iterator[str]:
    """Find private attributes of others. A class may have its own."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(attr=name) if _is_private(name):
                yield f"line {node.lineno}: {name} of somebody else"
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(value=str(name)), *_]
            ) if _is_private(name):
                yield f"line {node.lineno}: {name} of somebody else"


def _own_reaches(tree: ast.Module) -> Iterator[str]:
    """Find private attributes that a class has only because a class of singletable has them."""
    for kind in ast.walk(tree):
        if not isinstance(kind, ast.ClassDef):
            continue
        bases = [getattr(singletable, base.id, object) for base in kind.bases if isinstance(base, ast.Name)]
        for node in ast.walk(kind):
            match node:
                case ast.Attribute(attr=name) if any(
                    _is_private(name) and hasattr(base, name) for base in bases
                ):
                    yield f"line {node.lineno}: {name} of a class of singletable"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_system_uses_public_names_alone(path: Path) -> None:
    assert problems(path.read_text(encoding="utf-8")) == []


def test_systems_are_there_and_use_the_design_layer() -> None:
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in FILES}
    for system in ("kefir", "lunch_cache"):
        assert "from singletable import" in texts[f"{system}/model/design.py"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("from singletable.design import Entity", "singletable.design is no public module"),
        ("from singletable.design.keys.key import Key", "singletable.design.keys.key is no public module"),
        ("from singletable.client import Client", "singletable.client is no public module"),
        ("from singletable import Nothing", "Nothing is no public name of singletable"),
        ("from singletable import design", "design is no public name of singletable"),
        ("from singletable.errors import Item", "Item is no public name of singletable.errors"),
        ("from singletable.systems import finding", "finding is no public name of singletable.systems"),
        ("import singletable.design", "import singletable.design, and not names from it"),
        ("import importlib\nimportlib.import_module('x')", "importlib"),
        ("def f(db):\n    return db._session", "_session of somebody else"),
        ("def f(db):\n    return db.session._client.x", "_client of somebody else"),
        ("def f(db):\n    return getattr(db, '_session')", "_session of somebody else"),
        (
            "from singletable import Design\nclass D(Design):\n    def f(self):\n        return self._session",
            "_session of a class of singletable",
        ),
    ],
)
def test_private_name_is_noticed(text: str, problem: str) -> None:
    (found,) = problems(text)
    assert found.endswith(problem)


@pytest.mark.parametrize(
    "text",
    [
        "from singletable import Design, Entity, errors",
        "from singletable.errors import NotFoundError",
        "from singletable.clock import Clock, ManualClock",
        "from singletable.systems import System",
        "class Service:\n    def __init__(self, db):\n        self._db = db",
        "import json\nfrom singletable_systems.kefir.model.keys import UserId",
    ],
)
def test_public_name_is_accepted(text: str) -> None:
    assert problems(text) == []
