"""A durable, DynamoDB-compatible database inside a Python process.

>>> import singletable
>>> db = singletable.Database.open(":memory:")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from singletable import errors
    from singletable.database import Database, patch

__all__ = ["Database", "__version__", "errors", "patch"]
__version__ = "0.1.0"


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    # Loaded on first use: a program that only imports the package does not pay for the engine.
    if name in ("Database", "patch"):
        import singletable.database

        return getattr(singletable.database, name)
    if name == "errors":
        import singletable.errors

        return singletable.errors
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
