"""All vectors, by the name of their module and their own."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from golden import vectors
from golden.vectors.vector import Vector


@cache
def all_vectors() -> dict[str, Vector]:
    """Return every vector under its full name, such as `put_item.put_returns_the_old_item`."""
    found: dict[str, Vector] = {}
    for module in pkgutil.iter_modules(vectors.__path__):
        if module.name == "__main__":
            continue
        for vector in getattr(importlib.import_module(f"golden.vectors.{module.name}"), "VECTORS", ()):
            name = f"{module.name}.{vector.name}"
            assert name not in found, f"two vectors are called {name}"
            found[name] = vector
    return found
