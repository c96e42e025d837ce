"""Tables that many vectors use, as CreateTable requests."""

from __future__ import annotations

from typing import Any

from support.sample_tables import attributes, index, key_schema

Wire = dict[str, Any]


def table(name: str, *keys: str, types: dict[str, str], **more: Any) -> Wire:
    """Return a CreateTable request; `types` are those of all key attributes, indexes included."""
    return {
        "TableName": name,
        "KeySchema": key_schema(*keys),
        "AttributeDefinitions": attributes(**types),
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }


HASH = table("Hash", "p", types={"p": "S"})
HASH_RANGE = table("HashRange", "p", "s", types={"p": "S", "s": "S"})
NUMBER_RANGE = table("NumberRange", "p", "n", types={"p": "S", "n": "N"})
BINARY_RANGE = table("BinaryRange", "p", "b", types={"p": "S", "b": "B"})
GLOBAL = table(
    "Global",
    "p",
    "s",
    types={"p": "S", "s": "S", "gp": "S", "gs": "S"},
    GlobalSecondaryIndexes=[
        index("All", "gp", "gs"),
        index("KeysOnly", "gp", projection="KEYS_ONLY"),
        index("Some", "gp", "gs", projection="INCLUDE", include=["a"]),
    ],
)
LOCAL = table(
    "Local",
    "p",
    "s",
    types={"p": "S", "s": "S", "l": "S"},
    LocalSecondaryIndexes=[
        index("All", "p", "l"),
        index("KeysOnly", "p", "l", projection="KEYS_ONLY"),
    ],
)
