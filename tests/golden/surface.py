"""The public surface as lines of text: what `__all__` names, with signatures; errors; the command.

Private names are left out, in annotations too: `progress: … | None` says that there is a type, and not its name.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import collections.abc
import dataclasses
import enum
import importlib
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Final

import pydantic

import singletable
import singletable.errors
from singletable.cli.parser import build_parser

SOURCE: Final = Path(singletable.__path__[0])
# Without an `__all__`, and yet imported by programs.
CLASSES_OF: Final = ("singletable.clock",)
# What a class can be used as: an iterable, a context, an operand, a key of a dict.
OPERATORS: Final = (
    "__aenter__", "__aexit__", "__aiter__", "__and__", "__await__", "__bool__", "__call__", "__contains__",
    "__enter__", "__exit__", "__getitem__", "__invert__", "__iter__", "__len__", "__or__",
)  # fmt: skip
HIDDEN: Final = "…"
_STANDARD: Final = frozenset(
    {*vars(builtins), *typing.__all__, *collections.abc.__all__, "collections", "datetime", "Decimal", "Path",
     "TracebackType", "UUID", "date", "timedelta"}
)  # fmt: skip


def public_modules() -> list[ModuleType]:
    """Return the package and those of its parts that say what is public in them."""
    names = [f"singletable.{each.name}" for each in iter_modules(singletable.__path__) if each.ispkg]
    parts = [importlib.import_module(name) for name in sorted(names)]
    return [singletable, *(part for part in parts if hasattr(part, "__all__"))]


def names_of(module: ModuleType) -> list[str]:
    """Return the public names of a module, in an order that does not depend on who sorted them."""
    if module.__name__ not in CLASSES_OF:
        return sorted(module.__all__)
    return sorted(
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and not name.startswith("_")
    )


# --- names and signatures ---------------------------------------------------------------------------------


def surface_lines() -> list[str]:
    """Return every public name, with its kind and signature; below a class its members."""
    modules = [*public_modules(), *(importlib.import_module(name) for name in CLASSES_OF)]
    surface = _Surface((name, getattr(module, name)) for module in modules for name in names_of(module))
    shown: dict[int, str] = {}
    lines: list[str] = []
    # The package itself comes last: it has the names of its parts once more.
    for module in [*modules[1:], modules[0]]:
        lines += ["", f"[{module.__name__}]"]
        for name in names_of(module):
            value = getattr(module, name)
            first = shown.setdefault(id(value), f"{module.__name__}.{name}")
            is_again = first != f"{module.__name__}.{name}" and hasattr(value, "__module__")
            lines += [f"{name} is {first}"] if is_again else surface.of(name, value)
    return lines[1:]


class _Surface:
    """Writes down values; knows which names may be shown."""

    def __init__(self, public: Iterable[tuple[str, Any]]) -> None:
        found = list(public)
        self._names = {name for name, _ in found}
        self._ids = {id(value) for _, value in found}

    def of(self, name: str, value: Any) -> list[str]:
        if isinstance(value, ModuleType):
            return [f"module {name}"]
        if inspect.isclass(value) and not isinstance(value, types.GenericAlias):
            return [f"class {name}{self._constructor(value)}{self._bases(value)}", *self._members(value)]
        if inspect.isfunction(value):
            return [f"def {name}{self._signature(value)}"]
        return [f"{name} = {self._value(value)}"]

    def _bases(self, cls: type) -> str:
        bases = [base.__name__ for base in cls.__mro__[1:-1] if id(base) in self._ids or _is_told(base)]
        return f" is a {', '.join(bases)}" if bases else ""

    def _constructor(self, cls: type) -> str:
        if issubclass(cls, enum.Enum):
            return "(" + ", ".join(f"{member.name}={member.value!r}" for member in cls) + ")"
        maker = next((base for base in cls.__mro__ if "__init__" in vars(base)), object)
        if getattr(cls, "_is_protocol", False) or not (
            _is_ours(maker) or issubclass(cls, pydantic.BaseModel)
        ):
            return ""
        return self._signature(cls, returns=False)

    def _members(self, cls: type) -> Iterator[str]:
        ours = [base for base in cls.__mro__ if _is_ours(base)]
        annotated: dict[str, str] = {}
        for base in reversed(ours):
            for name, annotation in inspect.get_annotations(base).items():
                annotated[name] = self._annotation(annotation, _namespace(base))
        names = ({name for base in ours for name in vars(base)} | annotated.keys()) - _fields(cls)
        for name in sorted(names):
            if name == "model_config" or (name.startswith("_") and name not in OPERATORS):
                continue
            value = next((vars(base)[name] for base in ours if name in vars(base)), None)
            line = self._member(name, value, annotated.get(name))
            if line is not None and not (issubclass(cls, enum.Enum) and isinstance(value, cls)):
                yield f"    {line}"

    def _member(self, name: str, value: Any, annotation: str | None) -> str | None:
        match value:
            case classmethod():
                return f"classmethod {name}{self._signature(value.__func__)}"
            case staticmethod():
                return f"staticmethod {name}{self._signature(value.__func__)}"
            case property():
                assert value.fget is not None
                returned = inspect.get_annotations(value.fget).get("return")
                return f"property {name}: {self._annotation(returned, value.fget.__globals__)}"
            case types.FunctionType():
                kind = "async def" if inspect.iscoroutinefunction(value) else "def"
                return f"{kind} {name}{self._signature(value)}"
        if annotation is not None:
            return f"{name}: {annotation}"
        if name in OPERATORS or inspect.ismemberdescriptor(value):
            return None
        return f"{name} = {self._value(value)}"

    def _signature(self, function: Any, *, returns: bool = True) -> str:
        signature = inspect.signature(function)
        namespace = _namespace(inspect.unwrap(function))
        parts: list[str] = []
        last = None
        for parameter in signature.parameters.values():
            kind = parameter.kind
            if last is inspect.Parameter.POSITIONAL_ONLY and kind is not last:
                parts.append("/")
            starred = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL)
            if kind is inspect.Parameter.KEYWORD_ONLY and last not in starred:
                parts.append("*")
            parts.append(self._parameter(parameter, namespace))
            last = kind
        if last is inspect.Parameter.POSITIONAL_ONLY:
            parts.append("/")
        returned = signature.return_annotation
        after = (
            ""
            if not returns or returned is signature.empty
            else f" -> {self._annotation(returned, namespace)}"
        )
        return f"({', '.join(parts)}){after}"

    def _parameter(self, parameter: inspect.Parameter, namespace: Mapping[str, Any]) -> str:
        stars: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        text = stars.get(parameter.kind, "") + parameter.name
        if parameter.annotation is not parameter.empty:
            text += f": {self._annotation(parameter.annotation, namespace)}"
        if parameter.default is not parameter.empty:
            text += f" = {self._value(parameter.default)}"
        return text

    def _annotation(self, annotation: Any, namespace: Mapping[str, Any]) -> str:
        text = annotation if isinstance(annotation, str) else self._value(annotation)
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            return text
        return ast.unparse(_Hiding(self, namespace).visit(tree))

    def _value(self, value: Any) -> str:
        if inspect.isfunction(value) or inspect.isclass(value):
            return value.__name__ if self.shows(value.__name__, {value.__name__: value}) else HIDDEN
        if isinstance(value, Mapping | Set) and value:
            return f"{type(value).__name__} of {', '.join(sorted(map(str, value)))}"
        if isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
            return f"{len(value)} of {type(value[0]).__name__}"
        text = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
        return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text)  # without the modules that names are in

    def shows(self, name: str, namespace: Mapping[str, Any]) -> bool:
        """Tell whether a name is public: it means something public there, and not only the same word."""
        if name in namespace:
            return name in _STANDARD or id(namespace[name]) in self._ids
        return name in _STANDARD or name in self._names  # imported for type checkers alone


class _Hiding(ast.NodeTransformer):
    def __init__(self, surface: _Surface, namespace: Mapping[str, Any]) -> None:
        self._surface = surface
        self._namespace = namespace

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return node if self._surface.shows(node.id, self._namespace) else ast.Name(HIDDEN)

    def visit_Attribute(self, node: ast.Attribute) -> ast.Name:
        return self.visit_Name(ast.Name(node.attr))


def _namespace(value: Any) -> Mapping[str, Any]:
    if isinstance(value, types.FunctionType):
        return value.__globals__
    return vars(sys.modules[value.__module__])


def _fields(cls: type) -> set[str]:
    """Return the attributes that the constructor of a plain class of data names already."""
    return (
        {field.name for field in dataclasses.fields(cls) if field.init}
        if dataclasses.is_dataclass(cls)
        else set()
    )


def _is_told(cls: type) -> bool:
    return not _is_ours(cls) and cls.__module__ not in ("typing", "abc")


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "singletable"


# --- errors -----------------------------------------------------------------------------------------------


def error_lines() -> list[str]:
    """Return every public error: its number or code, its HTTP status, and what it can be caught as."""
    lines: list[str] = []
    for name in names_of(singletable.errors):
        error = getattr(singletable.errors, name)
        if not (inspect.isclass(error) and issubclass(error, BaseException)):
            continue
        number = getattr(error, "number", "") or "-"
        code, status = getattr(error, "code", ""), getattr(error, "status", "")
        said = code if isinstance(code, str) else ""
        bases = [base.__name__ for base in error.__mro__[1:] if base not in (BaseException, object)]
        lines.append(f"{number:5} {name}: {', '.join(bases)}" + (f"; {said} {status}" if said else ""))
    return lines


# --- the command ------------------------------------------------------------------------------------------


def command_lines() -> list[str]:
    """Return the exit codes that modules of the command return by name, and every command with its options."""
    codes = [line for path in sorted((SOURCE / "cli").rglob("*.py")) for line in _exit_codes(path)]
    return [*codes, "", *_commands("singletable", build_parser(is_whole=True))]


def _exit_codes(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    returned = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Return) and node.value is not None
        for name in ast.walk(node.value)
        if isinstance(name, ast.Name) and name.id.isupper()
    }
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(code))):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=int(code))):
                pass
            case _:
                continue
        if name in returned and code in (0, 1, 2, 130):  # others are widths and the like
            yield f"{module}: {name.lstrip('_')} = {code}"


def _commands(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    taken: list[str] = []
    below: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, command in action.choices.items():
                below += _commands(f"{name} {word}", command)
        elif action.option_strings:
            taken.append("|".join(action.option_strings))
        else:
            taken.append(f"{action.metavar or action.dest}{action.nargs or ''}".upper())
    yield f"{name} {' '.join(taken)}"
    yield from below
