"""GetItem."""

from __future__ import annotations

from vectors.tables import HASH
from vectors.vector import Refusal, Vector, validation

VECTORS = [
    Vector(
        "get_returns_the_whole_item",
        operation="GetItem",
        tables=[HASH],
        given={"Hash": [{"p": {"S": "a"}, "b": {"B": "AQI="}, "n": {"N": "1.50"}}]},
        request={"TableName": "Hash", "Key": {"p": {"S": "a"}}},
        answer={"Item": {"p": {"S": "a"}, "b": {"B": "AQI="}, "n": {"N": "1.5"}}},
        evidence="AWS API reference, GetItem: the operation returns a set of attributes for the item with the key",
    ),
    Vector(
        "get_from_a_missing_table",
        operation="GetItem",
        request={"TableName": "Missing", "Key": {"p": {"S": "a"}}},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence="Answer of the service, recorded in dynalite's tests (test/getItem.js)",
    ),
    Vector(
        "get_with_a_key_of_another_type",
        operation="GetItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": {"p": {"N": "1"}}},
        error=validation("The provided key element does not match the schema"),
        evidence="Answer of the service, recorded in dynalite's tests (test/getItem.js)",
    ),
]
