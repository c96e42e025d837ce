"""A durable, DynamoDB-compatible database inside a Python process, and typed single-table designs on it.

>>> import singletable
>>> db = singletable.Database.open(":memory:")

What `singletable.design` has can be imported from here too: `from singletable import Design, Entity, Key`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from singletable import errors
    from singletable.database import Database, patch
    from singletable.design import *  # noqa: F403  # all of __all__ below

# ruff: noqa: F405, RUF022
__all__ = [
    "Database",
    "__version__",
    "errors",
    "patch",
    # --- of singletable.design
    "Add",
    "And",
    "Append",
    "AverageOf",
    "BatchGet",
    "BeginsWith",
    "BucketOf",
    "Cascade",
    "Casing",
    "Change",
    "Check",
    "Cleared",
    "Collect",
    "Collection",
    "Composed",
    "Compressed",
    "Computed",
    "Condition",
    "Contains",
    "CopyOf",
    "CountOf",
    "Create",
    "CreatedAt",
    "Delete",
    "Derived",
    "Design",
    "Difference",
    "Digits",
    "Drift",
    "Entity",
    "Eq",
    "Exists",
    "Followed",
    "Found",
    "Ge",
    "Get",
    "Gt",
    "In",
    "Index",
    "InitialOf",
    "Key",
    "Keys",
    "Le",
    "Load",
    "Loaded",
    "Lookup",
    "Lt",
    "MaxBytes",
    "Merged",
    "Mismatch",
    "Ne",
    "NoSortKey",
    "Normalize",
    "Not",
    "Once",
    "Or",
    "Pad",
    "Page",
    "PatternInfo",
    "Prefix",
    "Put",
    "Query",
    "Rate",
    "ShardOf",
    "SortKey",
    "Stored",
    "SumOf",
    "Table",
    "TableReport",
    "Ttl",
    "Unique",
    "Update",
    "UpdatedAt",
    "Usage",
    "Verbatim",
    "VerifyReport",
    "Version",
    "Volume",
    "Walk",
    "Writes",
    "Written",
    "auto",
    "buckets",
    "collect",
    "expires",
    "gather",
    "on",
    "pattern",
    "shards",
    "upcast",
]
__version__ = "0.1.0"

_OF_DATABASE = frozenset({"Database", "patch"})
_OF_DESIGN = frozenset(__all__) - _OF_DATABASE - {"__version__", "errors"}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    # Loaded on first use: a program that only imports the package does not pay for the engine, nor for Pydantic.
    if name in _OF_DESIGN:
        import singletable.design

        return getattr(singletable.design, name)
    if name in _OF_DATABASE:
        import singletable.database

        return getattr(singletable.database, name)
    if name == "errors":
        import singletable.errors

        return singletable.errors
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
