"""What the state machine draws: values, keys, items, tables. Alphabets are small so that things collide.

A strategy is checked before its first draw, which takes longer than the draw: those that can stay are made once.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from resilience.model.tables import Definition, Index, Key, RangeTest, Table
from resilience.model.values import Item, Value, order_key

TABLE_NAMES = ("tab-1", "tab.2", "tab_3")
INDEX_NAMES = ("gsi-0", "gsi-1", "gsi-2", "gsi-3")
INDEX_KEY_NAMES = ("g1", "g2", "l1")

# UTF-8 sorts U+FFFF before U+10000, UTF-16 the other way round; numbers cross zero and many magnitudes.
SCALARS: Mapping[str, tuple[Value, ...]] = {
    "S": ("a", "b", "ab", "é", "\uffff", "\U00010000"),
    "N": tuple(Decimal(text) for text in ("-10", "-1", "-0.5", "0", "1", "1.5", "2", "10", "1E+20", "-1E-7")),
    "B": (b"\x00", b"a", b"ab", b"\xff", b"a\x00", b"\x00\xff"),
}
KEY_TYPES = ("S", "N", "B")


@cache
def scalars(kind: str) -> SearchStrategy[Value]:
    return st.sampled_from(SCALARS[kind])


@cache
def sets() -> SearchStrategy[frozenset[Value]]:
    return st.one_of(
        *(st.frozensets(scalars(kind), min_size=1, max_size=3) for kind in KEY_TYPES),
    )


SIMPLE = st.one_of(
    scalars("S"),
    scalars("N"),
    scalars("B"),
    st.sampled_from(["", b"", True, False, None]),
)
LISTS = st.lists(SIMPLE, max_size=3)
MAPS = st.fixed_dictionaries(
    {},
    optional={
        "x": SIMPLE,
        "y": st.fixed_dictionaries({}, optional={"z": SIMPLE, "name": scalars("S")}),
        "name": st.one_of(SIMPLE, sets()),
        "q": LISTS,
    },
)
ANY_VALUE: SearchStrategy[Value] = st.one_of(
    SIMPLE,
    sets(),
    LISTS,
    MAPS,
    st.lists(st.one_of(LISTS, MAPS), max_size=2),
)

# The usual type of each attribute; "name" and "size" are reserved words, "x.y" needs a placeholder.
USUAL: Mapping[str, SearchStrategy[Value]] = {
    "a1": ANY_VALUE,
    "b1": SIMPLE,
    "n1": scalars("N"),
    "s1": sets(),
    "q1": st.lists(st.one_of(SIMPLE, MAPS), max_size=4),
    "m1": MAPS,
    "name": scalars("S"),
    "size": scalars("N"),
    "x.y": SIMPLE,
}
INCLUDABLE = ("a1", "m1", "n1", "name")


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    """Draw a table with or without sort key, local and global indexes, and key types."""
    types = {name: draw(st.sampled_from(KEY_TYPES)) for name in ("pk", "sk", *INDEX_KEY_NAMES)}
    range_name = draw(st.sampled_from([None, "sk", "sk"]))
    indexes: list[Index] = []
    if range_name is not None:
        indexes += [
            draw(index(f"lsi-{number}", types, range_name, local=True)) for number in range(draw(few()))
        ]
    indexes += [draw(index(f"gsi-{number}", types, range_name, local=False)) for number in range(draw(few()))]
    return Definition(types=types, hash_name="pk", range_name=range_name, indexes=tuple(indexes))


def few() -> SearchStrategy[int]:
    return st.integers(0, 2)


@st.composite
def index(
    draw: st.DrawFn, name: str, types: Mapping[str, str], range_name: str | None, *, local: bool
) -> Index:
    """Draw an index; `types` names the attributes that may become keys."""
    usable = [key for key in types if key != "sk" or range_name is not None]
    index_range: str | None
    if local:
        hash_name, index_range = "pk", draw(st.sampled_from(INDEX_KEY_NAMES))
    else:
        hash_name = draw(st.sampled_from(["g1", "g2", *usable]))
        index_range = draw(st.sampled_from([None, *(key for key in usable if key != hash_name)]))
    projection = draw(st.sampled_from(["KEYS_ONLY", "INCLUDE", "ALL"]))
    included: tuple[str, ...] = ()
    if projection == "INCLUDE":
        included = tuple(draw(st.lists(st.sampled_from(INCLUDABLE), min_size=1, max_size=2, unique=True)))
    return Index(name, local, hash_name, index_range, projection, included)


def keys(table: Table) -> SearchStrategy[Key]:
    """Draw a key, mostly one that is stored."""
    definition = table.definition
    fresh = st.tuples(*(scalars(definition.types[name]) for name in definition.key_names()))
    if not table.items:
        return fresh
    stored = st.sampled_from(sorted(table.items, key=repr))
    return st.one_of(stored, stored, fresh)


@st.composite
def items(draw: st.DrawFn, table: Table) -> Item:
    """Draw an item: the key, often the index keys (seldom of a wrong type), some of the usual attributes."""
    item = table.key_item(draw(keys(table)))
    for name in INDEX_KEY_NAMES:
        item.update(draw(index_key_values(table, name)))
    names = draw(st.lists(st.sampled_from(sorted(USUAL)), max_size=4, unique=True))
    for name in names:
        odd = draw(st.integers(0, 9)) == 0
        item[name] = draw(ANY_VALUE if odd else USUAL[name])
    return item


@st.composite
def index_key_values(draw: st.DrawFn, table: Table, name: str) -> Item:
    dice = draw(st.integers(0, 19))
    if dice < 4:
        return {}
    if dice == 19:
        return {name: draw(ANY_VALUE)}
    return {name: draw(st.sampled_from(SCALARS[table.definition.types[name]][:3]))}


def crowd(table: Table, count: int, random: Random) -> list[Item]:
    """Make items with different keys, few partitions and many equal index keys.

    They come from one drawn number: so many single draws would use up what an example may draw.
    """
    types = table.definition.types
    crowd: dict[Key, Item] = {}
    for _ in range(count):
        item: Item = {"pk": random.choice(SCALARS[types["pk"]][:2])}
        if table.definition.range_name is None:
            item["pk"] = random.choice(SCALARS[types["pk"]])
        else:
            item["sk"] = random.choice(SCALARS[types["sk"]])
        for name in INDEX_KEY_NAMES:
            if random.random() < 0.8:
                item[name] = random.choice(SCALARS[types[name]][:2])
        for name in random.sample(sorted(COMMON), 4):
            item[name] = random.choice(COMMON[name])
        crowd[table.key_of(item)] = item
    return list(crowd.values())


COMMON: Mapping[str, tuple[Value, ...]] = {
    "a1": ("a", Decimal(1), b"a", [Decimal(1), "a"], {"x": "a"}, frozenset({"a", "b"}), None, True),
    "n1": SCALARS["N"][:6],
    "s1": (frozenset({"a"}), frozenset({"a", "b"}), frozenset({Decimal(1), Decimal(2)}), frozenset({b"a"})),
    "q1": ([], ["a"], [Decimal(1), "b", {"x": "a"}], [{"x": Decimal(2)}, {"y": {"z": "a"}}, None, "é"]),
    "m1": ({}, {"x": Decimal(1)}, {"y": {"z": "a"}, "q": ["a", "b"]}, {"name": "a", "x": [], "q": []}),
    "name": SCALARS["S"][:3],
    "size": SCALARS["N"][3:6],
    "x.y": ("a", Decimal(1)),
}


@st.composite
def range_tests(draw: st.DrawFn, kind: str) -> RangeTest | None:
    """Draw any test of a sort key of this type, or none."""
    operators = ["=", "<", "<=", ">", ">=", "BETWEEN"]
    if kind != "N":
        operators.append("begins_with")
    operator = draw(st.sampled_from([*[None] * len(operators), *operators]))
    if operator is None:
        return None
    low, high = sorted((draw(scalars(kind)), draw(scalars(kind))), key=order_key)
    return RangeTest(operator, low, high if operator == "BETWEEN" else None)


def respelled(wire: Mapping[str, Any], spelling: int) -> dict[str, Any]:
    """Write the numbers of an item in another way that means the same: 1, 1.0, 1e0, 001."""
    return {name: _respelled_value(value, spelling) for name, value in wire.items()}


def _respelled_value(value: Mapping[str, Any], spelling: int) -> dict[str, Any]:
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return {"N": _respelled_number(content, spelling)}
        case "NS":
            return {"NS": [_respelled_number(member, spelling) for member in content]}
        case "L":
            return {"L": [_respelled_value(element, spelling) for element in content]}
        case "M":
            return {"M": respelled(content, spelling)}
    return dict(value)


def _respelled_number(text: str, spelling: int) -> str:
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    match spelling:
        case 1:
            return f"{sign}{digits}0" if "." in digits else f"{sign}{digits}.0"
        case 2:
            return f"{sign}{digits}e0"
        case 3:
            return f"{sign}00{digits}"
    return text
