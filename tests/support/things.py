"""A table with indexes of every kind, and the writes and reads that tests draw for it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from singletable import Database
from support.sample_tables import attributes, index, key_schema, n, s
from support.wide_indexes import wide_index

Item = dict[str, Any]


def create_things(db: Database) -> None:
    """Global indexes of every kind: with and without a sort key, narrow, sparse, of several attributes."""
    db.create_table(
        TableName="things",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="N", g="S", h="N", u="S"),
        GlobalSecondaryIndexes=[
            index("flat", "g"),
            index("sorted", "g", "h", projection="KEYS_ONLY"),
            index("turned", "sk", "pk", projection="INCLUDE", include=["x"]),
            wide_index("wide", ["g", "u"], ["h", "sk"]),
        ],
        LocalSecondaryIndexes=[index("local", "pk", "h")],
        BillingMode="PAY_PER_REQUEST",
    )


# --- what is drawn -------------------------------------------------------------------------------

KEYS = st.fixed_dictionaries({"pk": st.sampled_from("ab").map(s), "sk": st.integers(-1, 2).map(n)})
# Most items share the partitions of the indexes, so that pages and places among others matter.
INDEX_KEYS = {
    "g": st.sampled_from(["g", "g", "g", "gg"]).map(s),
    "h": st.sampled_from([-1, 0, 5]).map(n),
    "u": st.sampled_from(["u", "u", "uu"]).map(s),
}
OTHERS: dict[str, st.SearchStrategy[Any]] = {"x": st.integers(0, 2).map(n), "y": st.just(s("y" * 5_000))}
SPARSE = st.fixed_dictionaries({}, optional={**INDEX_KEYS, **OTHERS})
ATTRIBUTES = st.fixed_dictionaries(INDEX_KEYS, optional=OTHERS) | SPARSE

CONDITIONS: dict[str, list[str]] = {
    "flat": ["g = :g"],
    "sorted": ["g = :g", "g = :g AND h > :h", "g = :g AND h BETWEEN :l AND :h", "g = :g AND h = :h"],
    "turned": ["sk = :h", "sk = :h AND begins_with(pk, :p)"],
    "wide": [
        "g = :g AND u = :u",
        "g = :g AND u = :u AND h <= :h",
        "g = :g AND u = :u AND h = :h AND sk < :m",
    ],
    "local": ["pk = :p AND h >= :h"],
}
CONDITION_VALUES = st.fixed_dictionaries(
    {
        ":g": INDEX_KEYS["g"],
        ":u": INDEX_KEYS["u"],
        ":h": st.integers(-1, 5).map(n),
        ":l": st.integers(-2, -1).map(n),
        ":m": st.integers(0, 2).map(n),
        ":p": st.sampled_from("ab").map(s),
    }
)
SCANNED = st.sampled_from([*CONDITIONS, None])
SHAPES = st.fixed_dictionaries(
    {"ReturnConsumedCapacity": st.just("INDEXES")},
    optional={"Limit": st.integers(1, 4), "Select": st.just("COUNT")},
)


def key_of(write: tuple[Item, Item | None]) -> tuple[str, str]:
    return write[0]["pk"]["S"], write[0]["sk"]["N"]


@st.composite
def queries(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(sorted(CONDITIONS)))
    condition = draw(st.sampled_from(CONDITIONS[name]))
    values = draw(CONDITION_VALUES)
    request: dict[str, Any] = {
        "IndexName": name,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": {key: value for key, value in values.items() if key in condition},
        "ScanIndexForward": draw(st.booleans()),
        **draw(SHAPES),
    }
    if name not in ("sorted", "turned") and draw(st.booleans()):
        request["FilterExpression"] = "x <> :x"
        request["ExpressionAttributeValues"][":x"] = draw(OTHERS["x"])
    if "Select" not in request and draw(st.booleans()):
        request["ProjectionExpression"] = "sk, g"
    if name == "turned" and "ProjectionExpression" in request:
        request["ProjectionExpression"] = "sk, x"
    return request


@st.composite
def scans(draw: st.DrawFn) -> dict[str, Any]:
    request: dict[str, Any] = dict(draw(SHAPES))
    name = draw(SCANNED)
    if name is not None:
        request["IndexName"] = name
    if draw(st.booleans()):
        request["FilterExpression"] = "attribute_exists(x)"
    if draw(st.booleans()):
        request["TotalSegments"] = 2
        request["Segment"] = draw(st.integers(0, 1))
    return request
