"""What stored items and the values of requests are made of. Alphabets are small so that things collide."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from golden.side_by_side.designs import ATTRIBUTE_NAMES, Design

Value = dict[str, Any]
Item = dict[str, Value]

TYPES = ("S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M")
STRINGS = ("a", "b", "ab", "é")
NUMBERS = ("1", "2", "-1", "0", "1.5", "10")
BINARIES = tuple(base64.b64encode(data).decode() for data in (b"a", b"b", b"ab", b"\xff"))
PAYLOADS: Mapping[str, tuple[str, ...]] = {"S": STRINGS, "N": NUMBERS, "B": BINARIES}


def scalars(kind: str) -> SearchStrategy[Value]:
    """Draw a value of a key's type."""
    return st.sampled_from([{kind: payload} for payload in PAYLOADS[kind]])


def sets(kind: str) -> SearchStrategy[Value]:
    """Draw a set of strings, numbers or binaries."""
    members = st.lists(st.sampled_from(PAYLOADS[kind]), min_size=1, max_size=3, unique=True)
    return members.map(lambda payload: {f"{kind}S": payload})


SIMPLE: SearchStrategy[Value] = st.one_of(
    scalars("S"),
    scalars("N"),
    scalars("B"),
    st.sampled_from([{"S": ""}, {"BOOL": True}, {"BOOL": False}, {"NULL": True}, {"B": ""}]),
)
SETS = st.one_of(sets("S"), sets("N"), sets("B"))
LISTS: SearchStrategy[Value] = st.lists(st.one_of(SIMPLE, SETS), max_size=3).map(
    lambda members: {"L": members}
)
MAPS: SearchStrategy[Value] = st.fixed_dictionaries(
    {}, optional={"x": SIMPLE, "y": LISTS, "name": st.one_of(SIMPLE, SETS)}
).map(lambda members: {"M": members})
ANY = st.one_of(SIMPLE, SETS, LISTS, MAPS)

_USUAL: Mapping[str, SearchStrategy[Value]] = {"n": scalars("N"), "l": LISTS, "m": MAPS, "u": SETS}


def usual(name: str, design: Design) -> SearchStrategy[Value]:
    """Draw what an attribute of this name mostly holds."""
    if name in design.types:
        return scalars(design.types[name])
    return _USUAL.get(name, ANY)


def keys(design: Design) -> SearchStrategy[Item]:
    """Draw a key of a table."""
    return st.fixed_dictionaries({name: scalars(design.types[name]) for name in design.keys})


def items(design: Design) -> SearchStrategy[Item]:
    """Draw an item that a table takes."""
    optional = {name: usual(name, design) for name in (*design.types, *ATTRIBUTE_NAMES)}
    key = {name: optional.pop(name) for name in design.keys}
    return st.fixed_dictionaries(key, optional=optional)


def stored_items(design: Design) -> SearchStrategy[list[Item]]:
    """Draw the few items that a table holds before a request."""
    return st.lists(
        items(design), max_size=4, unique_by=lambda item: str([item[name] for name in design.keys])
    )
