"""Bodies that went wrong. A valid one is taken apart, changed anywhere, and written as JSON that may be none."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from resilience.torture.operations import EXAMPLES, ITEM, KEY


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that stand in the JSON as they are."""

    text: bytes


@dataclass(frozen=True, slots=True)
class Twice:
    """An object in which every name stands twice."""

    members: dict[str, Any]


def render(value: Any) -> bytes:
    """Write a value as JSON, with what only looks like JSON in its place."""
    match value:
        case Raw(text):
            return text
        case Twice(members):
            return render_members([*members.items(), *members.items()])
        case dict():
            return render_members(list(value.items()))
        case list():
            return b"[" + b",".join(render(one) for one in value) + b"]"
        case _:
            return json.dumps(value).encode()


def render_members(members: list[tuple[str, Any]]) -> bytes:
    return b"{" + b",".join(render(name) + b":" + render(value) for name, value in members) + b"}"


def nested(opening: bytes, closing: bytes, depth: int, core: bytes = b"") -> Raw:
    return Raw(opening * depth + core + closing * depth)


ODD_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    2**64,
    10**400,
    0.5,
    "",
    " ",
    "ALL_OLD",
    "N",
    "\x00",
    "\ud800",
    "é\U0001f600",
    "a" * 256,
    "a" * 70_000,
    "#n",
    ":v",
    "SET",
    "a.b[0]",
    "((((" * 200,
    "NOT " * 500,
    "a" + "[0]" * 300,
    "a" + ".b" * 300,
    [],
    {},
    [[]],
    [None],
    [{}],
    {"": {}},
    {"S": "x"},
    {"N": "x"},
    {"N": "1e999999999"},
    {"N": "1" * 5000},
    {"N": "-0.0"},
    {"N": "NaN"},
    {"N": "٣"},
    {"N": 1},
    {"S": 1},
    {"B": "not base64!"},
    {"B": "A"},
    {"SS": []},
    {"SS": ["a", "a"]},
    {"NS": ["1", "1.0"]},
    {"BS": [None]},
    {"L": {}},
    {"M": []},
    {"NULL": False},
    {"BOOL": "true"},
    {"S": "x", "N": "1"},
    {"X": "x"},
    {"S": None},
    {"M": {"": {"S": ""}}},
    KEY,
    ITEM,
    [KEY] * 101,
    {"things": []},
    Raw(b"NaN"),
    Raw(b"-Infinity"),
    Raw(b"1e400"),
    Raw(b"-0"),
    Raw(b"1E"),
    Raw(b"9" * 5000),
    Raw(b'"\\ud800"'),
    Raw(b'"\\udc00\\ud800"'),
    Raw(b'"\xff\xfe"'),
    Raw(b'"\xed\xa0\x80"'),
    Raw(b'"\n"'),
    Raw(b'"\\x"'),
    Raw(b"'x'"),
    Raw(b"undefined"),
    Raw(b""),
    nested(b"[", b"]", 300),
    nested(b"[", b"]", 100_000),
    nested(b'{"M":{"a":', b"}}", 40, b'{"S":"x"}'),
    nested(b'{"L":[', b"]}", 31, b'{"S":"x"}'),
    nested(b'{"L":[', b"]}", 2000, b'{"S":"x"}'),
    nested(b'{"M":{"a":', b"}}", 100_000, b"1"),
    Raw(b"[" * 1000),
)

_ANY_JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ODD: Final[SearchStrategy[Any]] = st.sampled_from(ODD_VALUES) | _ANY_JSON

Path = tuple[str | int, ...]


def paths(value: Any, at: Path = ()) -> list[Path]:
    """Every place in a value, the whole of it first."""
    found = [at]
    if isinstance(value, dict):
        for name, inner in value.items():
            found += paths(inner, (*at, name))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            found += paths(inner, (*at, position))
    return found


def changed(value: Any, path: Path, new: Any) -> Any:
    """Return the value with another one at a place of it."""
    if not path:
        return new
    step, *rest = path
    if isinstance(value, dict):
        return {**value, step: changed(value[str(step)], tuple(rest), new)}
    return [changed(one, tuple(rest), new) if at == step else one for at, one in enumerate(value)]


def without(value: Any, path: Path) -> Any:
    """Return the value with nothing at a place of it."""
    *start, step = path
    holder = found_at(value, tuple(start))
    if isinstance(holder, dict):
        kept: Any = {name: one for name, one in holder.items() if name != step}
    else:
        kept = [one for at, one in enumerate(holder) if at != step]
    return changed(value, tuple(start), kept)


def with_member(value: Any, path: Path, name: str, member: Any) -> Any:
    """Return the value with one member more in an object of it."""
    return changed(value, path, {**found_at(value, path), name: member})


def found_at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


@st.composite
def wrong_values(draw: DrawFn) -> tuple[str, bytes]:
    """An operation, and a body of it with one to three places changed."""
    operation, example = draw(st.sampled_from(EXAMPLES))
    value: Any = example
    for _ in range(draw(st.integers(1, 3))):
        if not isinstance(value, dict | list):
            break
        path = draw(st.sampled_from(paths(value)))
        inner = found_at(value, path)
        how = draw(
            st.sampled_from(("replace", "replace", "remove", "rename", "twice", "wrap", "many", "swap"))
        )
        if how == "remove" and path:
            value = without(value, path)
        elif how == "rename" and path and isinstance(path[-1], str):
            name = draw(st.sampled_from(("", "S", "X", "\ud800", "a" * 70_000, path[-1].lower())))
            value = with_member(without(value, path), path[:-1], name, inner)
        elif how == "twice" and isinstance(inner, dict):
            return operation, render(changed(value, path, Twice(inner)))
        elif how == "wrap":
            value = changed(value, path, draw(st.sampled_from(([inner], {"S": inner}, {"M": {"a": inner}}))))
        elif how == "many" and isinstance(inner, list) and inner:
            value = changed(value, path, inner * draw(st.sampled_from((2, 30, 101, 1000))))
        elif how == "swap":
            value = changed(value, path, found_at(value, draw(st.sampled_from(paths(value)))))
        else:
            new = draw(ODD)
            value = changed(value, path, new)
            if isinstance(new, Raw):
                break
    return operation, render(value)


@st.composite
def wrong_bytes(draw: DrawFn) -> tuple[str, bytes]:
    """An operation, and the bytes of a valid body of it, cut, flipped, repeated, or not JSON at all."""
    operation, value = draw(st.sampled_from(EXAMPLES))
    body = json.dumps(value).encode()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(body)))
        end = draw(st.integers(at, min(len(body), at + 40)))
        piece = draw(
            st.binary(max_size=8) | st.sampled_from((b"", body[at:end] * 2, b'"', b"{", b"]", b"\xff", b","))
        )
        body = body[:at] + piece + body[end:]
    return operation, body


@st.composite
def wrong_encodings(draw: DrawFn) -> tuple[str, bytes, str]:
    """An operation, a packed body of it, or one that says it is; and its Content-Encoding."""
    operation, value = draw(st.sampled_from(EXAMPLES))
    body = json.dumps(value).encode()
    packed = gzip.compress(body, mtime=0)
    at = draw(st.integers(0, len(packed)))
    sent = draw(
        st.sampled_from(
            (
                packed,
                packed[:at],
                packed[:at] + b"\xff" + packed[at + 1 :],
                packed + b"behind",
                packed + packed,
                gzip.compress(b"", mtime=0),
                zlib.compress(body),
                body,
                b"",
                b"\x1f\x8b",
            )
        )
        | st.binary(max_size=60).map(lambda tail: packed[:10] + tail)
    )
    encoding = draw(
        st.sampled_from(("gzip", "GZIP", "x-gzip", "deflate", "br", "identity", "gzip, gzip", "", "\xff"))
    )
    return operation, sent, encoding


# --- wrong in a million places ------------------------------------------------------------------------

_ARN: Final = b"arn:aws:dynamodb:us-east-1:000000000000:table/things"
_PUT: Final = b'{"TableName":"things","Item":{"PK":{"S":"a"},"SK":{"N":"1"},"l":'

# An operation, the beginning of a body, what is repeated in it, and its end.
REPEATED: Final[dict[str, tuple[str, bytes, bytes, bytes]]] = {
    "batch of nothing": ("BatchWriteItem", b'{"RequestItems":{"things":[{}', b",{}", b"]}}"),
    "batch of puts": (
        "BatchWriteItem",
        b'{"RequestItems":{"things":[{}',
        b',{"PutRequest":{"Item":{"PK":{"S":"a"},"SK":{"N":"1"}}}}',
        b"]}}",
    ),
    "batch of keys": (
        "BatchGetItem",
        b'{"RequestItems":{"things":{"Keys":[{}',
        b',{"PK":{"S":"a"},"SK":{"N":"1"}}',
        b"]}}}",
    ),
    "transaction of nothing": ("TransactWriteItems", b'{"TransactItems":[{}', b",{}", b"]}"),
    "transaction of puts": (
        "TransactWriteItems",
        b'{"TransactItems":[{}',
        b',{"Put":{"TableName":"things","Item":{"PK":{"S":"a"}}}}',
        b"]}",
    ),
    "list of numbers": ("PutItem", _PUT + b'{"L":[{"N":"1"}', b',{"N":"1.000"}', b"]}}}"),
    "set of numbers": ("PutItem", _PUT + b'{"NS":["1"', b',"1.00"', b"]}}}"),
    "list of maps": ("PutItem", _PUT + b'{"L":[{"M":{}}', b',{"M":{"a":{"L":[]}}}', b"]}}}"),
    "number of many digits": ("PutItem", _PUT + b'{"N":"1', b"1", b'"}}}'),
    "attributes to get": (
        "GetItem",
        b'{"TableName":"things","Key":{"PK":{"S":"a"}},"AttributesToGet":["a"',
        b',"a"',
        b"]}",
    ),
    "tags": ("TagResource", b'{"ResourceArn":"' + _ARN + b'","Tags":[{}', b",{}", b"]}"),
    "attribute definitions": ("CreateTable", b'{"TableName":"x","AttributeDefinitions":[{}', b",{}", b"]}"),
    "indexes": (
        "CreateTable",
        b'{"TableName":"x","GlobalSecondaryIndexes":[{}',
        b',{"KeySchema":[{}]}',
        b"]}",
    ),
    "condition": ("DeleteItem", b'{"TableName":"things","ConditionExpression":"', b"(", b'"}'),
}


def repeated(name: str, body_bytes: int) -> tuple[str, bytes]:
    """Return an operation, and a body of about so many bytes in which everything is said again and again."""
    operation, beginning, unit, end = REPEATED[name]
    return operation, beginning + unit * ((body_bytes - len(beginning) - len(end)) // len(unit)) + end
