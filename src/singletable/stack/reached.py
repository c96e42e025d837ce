"""The modules that some modules reach by their imports, read from their text: nothing is imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path


class Reached:
    """The modules of some packages that are reached from given ones, and what else those import.

    Modules of distributions are `outside`, those of the given packages aside.
    """

    def __init__(self, modules: Iterable[str]) -> None:
        starts = tuple(modules)
        self.outside: set[str] = set()
        """Distributions' modules, by their first names."""
        self._paths: dict[str, Path] = {}
        self._search: dict[str, list[str]] = {}
        self._own = {each.partition(".")[0] for each in starts}
        for each in starts:
            self._follow(each)

    def _follow(self, name: str) -> None:
        """Take a module with its packages and all that it imports."""
        waiting = [name]
        while waiting:
            current = waiting.pop()
            for module in _with_packages(current):
                if module not in self._paths and (path := self._found(module)) is not None:
                    self._paths[module] = path
                    waiting += self._imports(module, path)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Return the files of all modules, singletable's aside, with the data beside those of a package."""
        for module, path in self._paths.items():
            if module.partition(".")[0] == "singletable":
                continue
            place = module.replace(".", "/")
            if path.name != "__init__.py":
                yield f"{place}.py", path.read_bytes()
                continue
            for each in path.parent.iterdir():
                if each.is_file() and (each == path or _is_data(each.name)):
                    yield f"{place}/{each.name}", each.read_bytes()

    def _found(self, module: str) -> Path | None:
        """Return the file of a module that goes along; None for others, which are noted."""
        first = module.partition(".")[0]
        if first in sys.stdlib_module_names or first in self.outside:
            return None
        parent = module.rpartition(".")[0]
        spec = PathFinder.find_spec(module, self._search.get(parent) if parent else None)
        loaded = sys.modules.get(module)
        origin = spec.origin if spec is not None else getattr(loaded, "__file__", None)
        if spec is not None and spec.submodule_search_locations is not None:
            self._search[module] = list(spec.submodule_search_locations)
        elif spec is None and loaded is not None and hasattr(loaded, "__path__"):
            self._search[module] = list(loaded.__path__)
        if origin is None:
            return None
        path = Path(origin)
        if first not in self._own and {"site-packages", "dist-packages"} & {*path.parts}:
            self.outside.add(first)
            return None
        return path if path.suffix == ".py" else None

    def _imports(self, module: str, path: Path) -> Iterator[str]:
        package_name = module if path.name == "__init__.py" else module.rpartition(".")[0]
        # Of singletable, what functions import is optional, or never loaded on AWS.
        is_whole = module.partition(".")[0] != "singletable"
        for node in _imports_in(path.read_bytes(), is_whole=is_whole):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
                continue
            base = _absolute(node, package_name)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")


def _is_data(name: str) -> bool:
    """Tell whether a file beside modules goes along: a hidden one may hold secrets, as .env does."""
    return not name.startswith(".") and not name.endswith((".py", ".pyc", ".md", "~"))


def _with_packages(module: str) -> Iterator[str]:
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])


def _absolute(node: ast.ImportFrom, package_name: str) -> str:
    if not node.level:
        return node.module or ""
    base = package_name.split(".")
    above = base[: len(base) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


@lru_cache(maxsize=4096)  # the packages of several designs have most modules in common
def _imports_in(source: bytes, *, is_whole: bool) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(_import_nodes(ast.parse(source), is_whole=is_whole))


def _import_nodes(tree: ast.AST, *, is_whole: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Return the imports of a module, without those for type checkers; those in functions if it is whole."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for each in node.orelse:
                yield from _import_nodes(each, is_whole=is_whole)
        elif is_whole or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _import_nodes(node, is_whole=is_whole)
