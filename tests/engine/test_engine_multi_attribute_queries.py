"""Queries of global indexes whose keys have several attributes: against brute force, and what they refuse."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import Database
from singletable.errors import INVALID
from support.sample_tables import all_items, all_pages, attributes, invalid, key_schema, n, refusal, s
from support.wide_indexes import Item, create_matches, match, wide_index

# --- queries, by brute force ----------------------------------------------------------------------


POOLS: dict[str, list[Any]] = {
    # In their order. Zero bytes and prefixes of one another are where composites would go wrong.
    "S": ["\x00", "a", "a\x00", "a\x00\x00", "a\x00\x01", "a\x01", "ab", "b", "é", "ÿ", "\U0001f600"],
    "N": [
        "-1e125",
        "-10",
        "-2",
        "-1.5",
        "0",
        "1e-130",
        "0.5",
        "1",
        "2",
        "10",
        "12345678901234567890",
        "9e125",
    ],
    "B": [b"\x00", b"\x00\x00", b"\x00\x01", b"\x00\xff", b"\x01", b"a", b"\xfe", b"\xff", b"\xff\xff"],
}
COMPARISONS: dict[str, Any] = {
    "=": lambda found, given: found == given[0],
    "<": lambda found, given: found < given[0],
    "<=": lambda found, given: found <= given[0],
    ">": lambda found, given: found > given[0],
    ">=": lambda found, given: found >= given[0],
    "BETWEEN": lambda found, given: given[0] <= found <= given[1],
    "begins_with": lambda found, given: found.startswith(given[0]),
}
KINDS = st.sampled_from("SNB")
OPERATORS = {kind: [name for name in COMPARISONS if kind != "N" or name != "begins_with"] for kind in POOLS}


def rank(value: Item) -> Any:
    """Return what a key value sorts by, without any of our own code."""
    ((kind, payload),) = value.items()
    return Decimal(payload) if kind == "N" else payload.encode() if kind == "S" else payload


def by_id(item: Item) -> int:
    return int(item["id"]["N"])


def request_of(clauses: dict[str, tuple[str, list[Item]]]) -> dict[str, Any]:
    """Return a query with these clauses, in this order."""
    texts: list[str] = []
    values: Item = {}
    for name, (operator, operands) in clauses.items():
        marks = [f":{name}x{number}" for number in range(len(operands))]
        values.update(zip(marks, operands, strict=True))
        if operator == "BETWEEN":
            texts.append(f"{name} BETWEEN {marks[0]} AND {marks[1]}")
        elif operator == "begins_with":
            texts.append(f"begins_with({name}, {marks[0]})")
        else:
            texts.append(f"{name} {operator} {marks[0]}")
    return {
        "TableName": "drawn",
        "IndexName": "wide",
        "KeyConditionExpression": " AND ".join(texts),
        "ExpressionAttributeValues": values,
    }


def neighbours(kind: str) -> st.SearchStrategy[list[Item]]:
    """Draw a few values of a pool that stand beside each other."""
    pool = [{kind: payload} for payload in POOLS[kind]]
    return st.integers(0, len(pool) - 4).map(lambda first: pool[first : first + 4])


class Case:
    """An index over drawn attributes, items of its table, and one condition that AWS allows.

    Items share few partitions, and the condition follows one of them as far as it asks for equality: so it finds
    something, and what it must not find is near.
    """

    def __init__(self, draw: st.DrawFn) -> None:
        partition_types = [draw(KINDS) for _ in range(draw(st.integers(1, 4)))]
        sort_types = [draw(KINDS) for _ in range(draw(st.integers(0, 4)))]
        self.partition = [f"p{number}" for number in range(len(partition_types))]
        self.sort = [f"s{number}" for number in range(len(sort_types))]
        names = [*self.partition, *self.sort]
        self.type_of = dict(zip(names, [*partition_types, *sort_types], strict=True))
        pools = {name: draw(neighbours(kind)) for name, kind in self.type_of.items()}
        rows = draw(
            st.lists(st.tuples(*(st.sampled_from(pools[name]) for name in names)), min_size=8, max_size=30)
        )
        homes = [row[: len(self.partition)] for row in rows[:2]]
        lacking = st.sampled_from([*names, *["none"] * (2 * len(names))])
        self.items: list[Item] = []
        for number, row in enumerate(rows):
            whole = dict(
                zip(names, (*draw(st.sampled_from(homes)), *row[len(self.partition) :]), strict=True)
            )
            whole.pop(draw(lacking), None)
            self.items.append({"id": n(number), **whole})
        followed = dict(
            zip(names, (*homes[0], *draw(st.sampled_from(rows))[len(self.partition) :]), strict=True)
        )
        conditioned = self.sort[: draw(st.integers(0, len(self.sort)))]
        self.clauses: dict[str, tuple[str, list[Item]]] = {
            name: ("=", [followed[name]]) for name in (*self.partition, *conditioned)
        }
        for name in conditioned[-1:]:
            operator = draw(st.sampled_from(OPERATORS[self.type_of[name]]))
            operands = [draw(st.sampled_from(pools[name])) for _ in range(2 if operator == "BETWEEN" else 1)]
            self.clauses[name] = (operator, sorted(operands, key=rank))
        self.order = draw(st.permutations(list(self.clauses)))

    @property
    def request(self) -> dict[str, Any]:
        return request_of({name: self.clauses[name] for name in self.order})

    def indexed(self) -> list[Item]:
        return [item for item in self.items if all(name in item for name in self.type_of)]

    def matching(self) -> list[Item]:
        return [
            item
            for item in self.indexed()
            if all(
                COMPARISONS[operator](rank(item[name]), [rank(operand) for operand in operands])
                for name, (operator, operands) in self.clauses.items()
            )
        ]

    def place(self, item: Item) -> list[Any]:
        return [rank(item[name]) for name in self.sort]

    def create(self, db: Database) -> None:
        db.create_table(
            TableName="drawn",
            KeySchema=key_schema("id"),
            AttributeDefinitions=attributes(id="N", **self.type_of),
            GlobalSecondaryIndexes=[wide_index("wide", self.partition, self.sort)],
            BillingMode="PAY_PER_REQUEST",
        )
        for item in self.items:
            db.put_item(TableName="drawn", Item=normal(item))


def normal(item: Item) -> Item:
    """Spell numbers without exponents, as answers do."""
    return {
        name: {"N": f"{Decimal(value['N']):f}"} if "N" in value else value for name, value in item.items()
    }


@pytest.mark.parametrize("kinds", ["SNB", "NBS", "BSN"])
def test_every_operator_at_every_depth_finds_what_it_says(kinds: str) -> None:
    names = ["s0", "s1", "s2"]
    pools = [[{kind: payload} for payload in POOLS[kind][1:7]] for kind in kinds]
    items = {number: dict(zip(names, row, strict=True)) for number, row in enumerate(product(*pools))}
    ranks = {number: [rank(value) for value in item.values()] for number, item in items.items()}
    with Database.open(":memory:") as db:
        db.create_table(
            TableName="drawn",
            KeySchema=key_schema("id"),
            AttributeDefinitions=attributes(id="N", p="S", **dict(zip(names, kinds, strict=True))),
            GlobalSecondaryIndexes=[wide_index("wide", ["p"], names)],
            BillingMode="PAY_PER_REQUEST",
        )
        for number, item in items.items():
            db.put_item(TableName="drawn", Item={"id": n(number), "p": s("p"), **item})
        for depth, operator in product(range(3), COMPARISONS):
            if operator not in OPERATORS[kinds[depth]]:
                continue
            for *equal, low, high in product(*pools[: depth + 1], pools[depth]):
                operands = [low, high] if operator == "BETWEEN" else [low]
                if rank(high) < rank(low) or (len(operands) == 1 and high != low):
                    continue
                clauses = {name: ("=", [value]) for name, value in zip(names, equal, strict=False)}
                clauses[names[depth]] = (operator, operands)
                prefix, given_ranks = [rank(value) for value in equal], [rank(value) for value in operands]
                wanted = [
                    number
                    for number, places in ranks.items()
                    if places[:depth] == prefix and COMPARISONS[operator](places[depth], given_ranks)
                ]
                page = db.query(**request_of({"p": ("=", [s("p")]), **clauses}))
                assert [by_id(item) for item in page["Items"]] == sorted(wanted, key=ranks.__getitem__)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return Case(draw)


@settings(max_examples=60)
@given(cases(), st.booleans(), st.one_of(st.none(), st.integers(1, 7)))
def test_query_finds_what_brute_force_finds(case: Case, forward: bool, limit: int | None) -> None:
    with Database.open(":memory:") as db:
        case.create(db)
        request = {**case.request, "ScanIndexForward": forward}
        whole = db.query(**request)["Items"]
        expected = case.matching()
        assert sorted(map(by_id, whole)) == sorted(map(by_id, expected))
        places = [case.place(item) for item in whole]
        assert places == sorted(places, reverse=not forward)
        pages = all_pages(db, "query", **request, **({} if limit is None else {"Limit": limit}))
        assert [item for page in pages for item in page["Items"]] == whole
        for page, _ in pairwise(pages):
            assert len(page["Items"]) == limit
            last = page["Items"][-1]
            assert page["LastEvaluatedKey"] == {name: last[name] for name in ("id", *case.type_of)}
        backwards = db.query(**{**request, "ScanIndexForward": not forward})["Items"]
        assert backwards == whole[::-1]
        assert db.check() == []


@settings(max_examples=50)
@given(cases(), st.data())
def test_query_goes_on_behind_any_item(case: Case, data: st.DataObject) -> None:
    with Database.open(":memory:") as db:
        case.create(db)
        whole = db.query(**case.request)["Items"]
        if whole:
            place = data.draw(st.integers(0, len(whole) - 1))
            last = whole[place]
            start = {name: last[name] for name in ("id", *case.type_of)}
            if data.draw(st.booleans()):
                db.delete_item(TableName="drawn", Key={"id": last["id"]})  # the place is there without it
            assert db.query(**case.request, ExclusiveStartKey=start)["Items"] == whole[place + 1 :]


@settings(max_examples=50)
@given(cases(), st.integers(1, 5))
def test_scan_of_the_index_finds_every_item_that_has_all_attributes(case: Case, limit: int) -> None:
    with Database.open(":memory:") as db:
        case.create(db)
        seen = all_items(db, "scan", TableName="drawn", IndexName="wide", Limit=limit)
        assert sorted(map(by_id, seen)) == sorted(map(by_id, case.indexed()))


# --- conditions and start keys that are wrong -----------------------------------------------------


@pytest.fixture(scope="module")
def matches(calm_db: Database) -> Database:
    create_matches(calm_db)
    calm_db.put_item(TableName="matches", Item=match("m1"))
    return calm_db


EMPTY_INDEX_KEY = (
    "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
    "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-cup, IndexKey: "
)
WRONG_CONDITIONS = [
    ("stage = :n", "HASH key attributes cup, area must have equality conditions specified in the query"),
    ("cup > :s", "HASH key attributes cup, area must have equality conditions specified in the query"),
    (
        "cup = :s AND area = :s AND bracket = :s AND begins_with(game, :s)",
        (
            "RANGE key attributes stage must have equality conditions specified in the query because a condition "
            "is present on key attribute game"
        ),
    ),
    (
        "cup = :s AND area = :s AND stage > :n AND game = :s",
        (
            "RANGE key attributes stage, bracket must have equality conditions specified in the query because a "
            "condition is present on key attribute game"
        ),
    ),
    ("cup = :s AND area = :s AND colour = :s", "Query condition missed key schema element: stage"),
    (
        "cup = :s AND area = :s AND stage = :n AND bracket = :s AND colour = :s",
        "Query condition missed key schema element: game",
    ),
    (
        "cup = :s AND area = :s AND stage = :n AND bracket = :s AND game = :s AND colour = :s",
        "The number of query conditions (6) exceeds the number of key attributes defined in the schema (5)",
    ),
    ("cup = :s AND area = :n", f"{INVALID}Condition parameter type does not match schema type"),
    (
        "cup = :n AND area > :s",
        "HASH key attributes area must have equality conditions specified in the query",
    ),
    ("cup = :s AND area = :empty", f"{EMPTY_INDEX_KEY}area"),
    ("cup = :s AND area = :s AND stage = :n AND begins_with(bracket, :empty)", f"{EMPTY_INDEX_KEY}bracket"),
    (
        "cup = :s AND area = :long",
        f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes",
    ),
    (
        "cup = :s AND area = :s AND stage = :n AND bracket < :long",
        f"{INVALID}Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
    ),
]
VALUES: Item = {":s": s("x"), ":n": n(1), ":empty": s(""), ":long": s("x" * 2049)}


@pytest.mark.parametrize(("condition", "message"), WRONG_CONDITIONS)
def test_wrong_condition_is_refused(matches: Database, condition: str, message: str) -> None:
    values = {name: value for name, value in VALUES.items() if name in condition}
    assert refusal(
        matches,
        "query",
        TableName="matches",
        IndexName="by-cup",
        KeyConditionExpression=condition,
        ExpressionAttributeValues=values,
    ) == invalid(message)


@pytest.mark.parametrize("name", ["cup", "area", "stage", "bracket", "game"])
def test_filter_cannot_name_any_of_the_key_attributes(matches: Database, name: str) -> None:
    assert refusal(
        matches,
        "query",
        TableName="matches",
        IndexName="by-cup",
        KeyConditionExpression="cup = :s AND area = :s",
        FilterExpression=f"attribute_exists({name})",
        ExpressionAttributeValues={":s": s("x")},
    ) == invalid(
        f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
    )


@pytest.mark.parametrize("operation", ["query", "scan"])
@pytest.mark.parametrize(
    "change",
    [{"bracket": None}, {"note": s("x")}, {"area": None, "note": s("x")}],
    ids=["one-less", "one-more", "another"],
)
def test_start_key_names_every_key_attribute(matches: Database, operation: str, change: Item) -> None:
    request: Any = {"TableName": "matches", "IndexName": "by-cup", "ExclusiveStartKey": match("m1", **change)}
    if operation == "query":
        request["KeyConditionExpression"] = "cup = :c AND area = :c"
        request["ExpressionAttributeValues"] = {":c": s("winter")}
    assert refusal(matches, operation, **request) == invalid("The provided starting key is invalid")


def test_start_key_with_an_empty_attribute_is_refused_for_that(matches: Database) -> None:
    assert refusal(
        matches,
        "query",
        TableName="matches",
        IndexName="by-cup",
        KeyConditionExpression="cup = :c AND area = :c",
        ExpressionAttributeValues={":c": s("winter")},
        ExclusiveStartKey=match("m1", bracket=s("")),
    ) == invalid(f"{EMPTY_INDEX_KEY}bracket")
