"""Global indexes with a delay, against a list of timed changes.

What a delayed index answers now is what the index of a database without a delay answers to which only those
changes were made that are old enough: every member of every page is compared, cursors and units too. The table
and its local index are compared with a database to which every change was made at once.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, precondition, rule

from designs import all_items, attributes, index, key_schema, n, s
from singletable import Database
from singletable.clock import ManualClock
from wide_indexes import wide_index

DELAY_US = 1_000

Item = dict[str, Any]
Change = tuple[int, Item, Item | None]  # when, the key, the item from then on


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


# --- the machine -------------------------------------------------------------------------------------


class DelayedIndexes(RuleBasedStateMachine):
    """Writes, passing time and pages; each page may be followed by the next, whatever happened in between."""

    read = Bundle("read")

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.delayed = Database.open(":memory:", clock=self.clock, index_delay_s=DELAY_US / 1_000_000)
        self.at_once = Database.open(":memory:", clock=self.clock)
        self.late = Database.open(":memory:", clock=self.clock)
        self.changes: list[Change] = []

    @initialize()
    def make_tables(self) -> None:
        for db in (self.delayed, self.at_once, self.late):
            create_things(db)

    def teardown(self) -> None:
        assert self.delayed.check() == []
        for db in (self.delayed, self.at_once, self.late):
            db.close()

    # --- writing

    def made(self, key: Item) -> None:
        """Remember what a write has made of an item."""
        item = self.delayed.get_item(TableName="things", Key=key).get("Item")
        self.changes.append((self.clock.now_us(), key, item))
        self.write(self.at_once, key, item)

    @staticmethod
    def write(db: Database, key: Item, item: Item | None) -> None:
        if item is None:
            db.delete_item(TableName="things", Key=key)
        else:
            db.put_item(TableName="things", Item=item)

    @rule(key=KEYS, more=ATTRIBUTES)
    def put(self, key: Item, more: Item) -> None:
        self.delayed.put_item(TableName="things", Item={**key, **more})
        self.made(key)

    @rule(key=KEYS)
    def delete(self, key: Item) -> None:
        self.delayed.delete_item(TableName="things", Key=key)
        self.made(key)

    @rule(key=KEYS, name=st.sampled_from(["g", "h", "u", "x"]), data=st.data())
    def update(self, key: Item, name: str, data: st.DataObject) -> None:
        value = data.draw(st.none() | {**INDEX_KEYS, **OTHERS}[name])
        update: dict[str, Any] = {"UpdateExpression": f"REMOVE {name}"}
        if value is not None:
            update = {"UpdateExpression": f"SET {name} = :v", "ExpressionAttributeValues": {":v": value}}
        self.delayed.update_item(TableName="things", Key=key, **update)
        self.made(key)

    @rule(writes=st.lists(st.tuples(KEYS, st.none() | ATTRIBUTES), min_size=2, max_size=8, unique_by=key_of))
    def transact(self, writes: list[tuple[Item, Item | None]]) -> None:
        actions: list[Any] = [
            {"Delete": {"TableName": "things", "Key": key}}
            if more is None
            else {"Put": {"TableName": "things", "Item": {**key, **more}}}
            for key, more in writes
        ]
        self.delayed.transact_write_items(TransactItems=actions)
        for key, _ in writes:
            self.made(key)

    @rule(share=st.sampled_from([0.3, 0.5, 1, 2]))
    def time_passes(self, share: float) -> None:
        self.clock.time_us += int(DELAY_US * share)

    # --- reading

    def compare(self, operation: str, request: dict[str, Any]) -> Any:
        due = [change for change in self.changes if change[0] <= self.clock.now_us() - DELAY_US]
        for _, key, item in due:
            self.write(self.late, key, item)
        self.changes = self.changes[len(due) :]
        is_delayed = request.get("IndexName") not in (None, "local")
        expected = getattr(self.late if is_delayed else self.at_once, operation)(
            TableName="things", **request
        )
        answer = getattr(self.delayed, operation)(TableName="things", **request)
        assert answer == expected
        if "LastEvaluatedKey" not in answer:
            return multiple()
        return operation, {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    @rule(target=read, request=queries())
    def query(self, request: dict[str, Any]) -> Any:
        return self.compare("query", request)

    @rule(target=read, request=scans())
    def scan(self, request: dict[str, Any]) -> Any:
        return self.compare("scan", request)

    @rule(target=read, page=read)
    def read_on(self, page: tuple[str, dict[str, Any]]) -> Any:
        return self.compare(*page)

    @precondition(lambda self: self.changes)
    @rule(name=st.sampled_from(sorted(CONDITIONS)))
    def everything_arrives(self, name: str) -> None:
        self.clock.time_us += DELAY_US
        for limit in (1, 100):
            request = {"TableName": "things", "IndexName": name, "Limit": limit}
            assert all_items(self.delayed, "scan", **request) == all_items(self.at_once, "scan", **request)


TestDelayedIndexes = DelayedIndexes.TestCase
TestDelayedIndexes.settings = settings(max_examples=100, stateful_step_count=50)
