"""Pages: cursors that neither skip nor repeat, pages of one megabyte, and start keys that are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from singletable.limits import PAGE_BYTES_MAX
from singletable.values.sizes import stored_item_bytes
from support.sample_tables import all_items, all_pages, attributes, index, invalid, key_schema, n, refusal, s

COUNT = 260

# --- many items that share one index key ---------------------------------------------------------


@pytest.fixture(scope="module")
def crowd(calm_db: Database) -> Database:
    """260 items under one key of each index: with and without a sort key, global and local."""
    calm_db.create_table(
        TableName="crowd",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="N", g="S", h="N", l="S"),
        GlobalSecondaryIndexes=[
            index("hash-only", "g"),
            index("with-sort", "g", "h"),
            index("by-l", "l", "sk"),
        ],
        LocalSecondaryIndexes=[index("local", "pk", "l", projection="KEYS_ONLY")],
        BillingMode="PAY_PER_REQUEST",
    )
    for start in range(0, COUNT, 20):
        writes: list[Any] = [{"PutRequest": {"Item": member(number)}} for number in range(start, start + 20)]
        calm_db.batch_write_item(RequestItems={"crowd": writes})
    return calm_db


def member(number: int) -> dict[str, Any]:
    return {
        "pk": s("p"),
        "sk": n(number - COUNT // 2),
        "g": s("g"),
        "h": n(number // 100),  # 100 items to a sort key
        "l": s("same"),
        "x": n(number),
    }


QUERIES: dict[str, dict[str, Any]] = {
    "table": {"KeyConditionExpression": "pk = :k", "ExpressionAttributeValues": {":k": s("p")}},
    "hash-only": {"KeyConditionExpression": "g = :k", "ExpressionAttributeValues": {":k": s("g")}},
    "with-sort": {"KeyConditionExpression": "g = :k", "ExpressionAttributeValues": {":k": s("g")}},
    "one-sort-key": {
        "KeyConditionExpression": "g = :k AND h = :h",
        "ExpressionAttributeValues": {":k": s("g"), ":h": n(1)},
    },
    "local": {"KeyConditionExpression": "pk = :k", "ExpressionAttributeValues": {":k": s("p")}},
    "local-equal": {
        "KeyConditionExpression": "pk = :k AND l = :l",
        "ExpressionAttributeValues": {":k": s("p"), ":l": s("same")},
    },
    "by-l": {
        "KeyConditionExpression": "l = :k AND sk < :z",
        "ExpressionAttributeValues": {":k": s("same"), ":z": n(0)},
    },
}
INDEXES = {"one-sort-key": "with-sort", "local-equal": "local"}


def request(name: str) -> dict[str, Any]:
    chosen = {"TableName": "crowd", **QUERIES[name]}
    return chosen if name == "table" else {**chosen, "IndexName": INDEXES.get(name, name)}


def identities(items: list[Any]) -> list[int]:
    return [int(item["sk"]["N"]) for item in items]


@pytest.mark.parametrize("limit", [1, 7, 100, COUNT, COUNT + 1])
@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("name", QUERIES)
def test_pages_of_any_size_give_every_item_once_and_in_one_order(
    crowd: Database, name: str, forward: bool, limit: int
) -> None:
    whole = identities(crowd.query(**request(name), ScanIndexForward=forward)["Items"])
    assert len(whole) == len(set(whole)) == {"one-sort-key": 100, "by-l": 130}.get(name, COUNT)
    pages = all_pages(crowd, "query", **request(name), ScanIndexForward=forward, Limit=limit)
    assert [number for page in pages for number in identities(page["Items"])] == whole
    assert all(page["Count"] == limit for page in pages[:-1])


@pytest.mark.parametrize("name", QUERIES)
def test_backward_is_the_reverse_of_forward(crowd: Database, name: str) -> None:
    forward = identities(crowd.query(**request(name))["Items"])
    backward = identities(crowd.query(**request(name), ScanIndexForward=False)["Items"])
    assert backward == forward[::-1]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("table", {"pk", "sk"}),
        ("hash-only", {"g", "pk", "sk"}),
        ("with-sort", {"g", "h", "pk", "sk"}),
        ("local", {"pk", "l", "sk"}),
        ("by-l", {"l", "sk", "pk"}),
    ],
)
def test_a_cursor_has_the_keys_of_the_table_and_of_the_index(
    crowd: Database, name: str, keys: set[str]
) -> None:
    page = crowd.query(**request(name), Limit=3)
    assert set(page["LastEvaluatedKey"]) == keys
    last = page["Items"][-1]
    assert page["LastEvaluatedKey"] == {key: last[key] for key in keys}


def test_a_full_page_has_a_cursor_also_where_nothing_follows(crowd: Database) -> None:
    page = crowd.query(**request("table"), Limit=COUNT)
    rest = crowd.query(**request("table"), Limit=COUNT, ExclusiveStartKey=page["LastEvaluatedKey"])
    assert rest == {"Items": [], "Count": 0, "ScannedCount": 0}


@pytest.mark.parametrize("limit", [1, 9, 50])
def test_a_filter_and_a_limit_lose_nothing(crowd: Database, limit: int) -> None:
    base = request("hash-only")
    values = {**base["ExpressionAttributeValues"], ":x": n(200)}
    items = all_items(
        crowd,
        "query",
        **{**base, "ExpressionAttributeValues": values},
        FilterExpression="x >= :x",
        Limit=limit,
    )
    assert sorted(int(item["x"]["N"]) for item in items) == list(range(200, COUNT))


# --- pages behind which nothing can be --------------------------------------------------------------


def test_a_page_of_a_table_without_a_sort_key_has_no_cursor(db: Database) -> None:
    # AWS's own build answers so; of AWS, aws/aws-sdk-js issue 3290: no LastEvaluatedKey with a Limit of 1.
    db.create_table(
        TableName="plain",
        KeySchema=key_schema("pk"),
        AttributeDefinitions=attributes(pk="S", g="S"),
        GlobalSecondaryIndexes=[index("by-g", "g")],
        BillingMode="PAY_PER_REQUEST",
    )
    for name in "abc":
        db.put_item(TableName="plain", Item={"pk": s(name), "g": s("g")})
    query: dict[str, Any] = {
        "TableName": "plain",
        "KeyConditionExpression": "pk = :k",
        "ExpressionAttributeValues": {":k": s("a")},
    }
    found = [{"pk": s("a"), "g": s("g")}]
    assert db.query(**query, Limit=1) == {"Items": found, "Count": 1, "ScannedCount": 1}
    for start in "ab":
        assert refusal(db, "query", **query, ExclusiveStartKey={"pk": s(start)}) == invalid(
            "The provided exclusive start key is invalid"
        )
    # Under a key of an index there can be many.
    by_g: dict[str, Any] = {
        "TableName": "plain",
        "IndexName": "by-g",
        "KeyConditionExpression": "g = :k",
        "ExpressionAttributeValues": {":k": s("g")},
    }
    pages = all_pages(db, "query", **by_g, Limit=1)
    assert [page.get("LastEvaluatedKey", {}).keys() for page in pages] == [{"g", "pk"}] * 3 + [set()]


@pytest.mark.parametrize(
    ("name", "condition", "ends"),
    [
        pytest.param(None, "{} <= :d", (False, True), id="up-to"),
        pytest.param(None, "{} >= :d", (True, False), id="from"),
        pytest.param(None, "{} BETWEEN :d AND :h", (False, False), id="between"),
        pytest.param(None, "{} < :h", (True, True), id="below"),
        pytest.param(None, "{} > :b", (True, True), id="above"),
        pytest.param(None, "{} = :d", (True, True), id="equal"),
        pytest.param(None, "begins_with({}, :d)", (True, True), id="prefix"),
        pytest.param("by-l", "{} BETWEEN :d AND :h", (True, True), id="local-index"),
        pytest.param("by-g", "{} BETWEEN :d AND :h", (True, True), id="global-index"),
    ],
)
def test_a_page_that_ends_with_the_end_of_its_range_has_no_cursor(
    db: Database, name: str | None, condition: str, ends: tuple[bool, bool]
) -> None:
    # DynamoDB Local answers so, forwards and backwards, and refuses a start at that end. So does AWS: an entry of
    # May 2020 at note.kiriukun.com, and aws/aws-sdk-ruby issue 2456 of December 2020.
    db.create_table(
        TableName="ranges",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="S", g="S", l="S"),
        GlobalSecondaryIndexes=[index("by-g", "g", "l")],
        LocalSecondaryIndexes=[index("by-l", "pk", "l")],
        BillingMode="PAY_PER_REQUEST",
    )
    for letter in "bdfhj":
        db.put_item(TableName="ranges", Item={"pk": s("p"), "sk": s(letter), "g": s("p"), "l": s(letter)})
    text = f"{'g' if name == 'by-g' else 'pk'} = :p AND {condition.format('l' if name else 'sk')}"
    query: dict[str, Any] = {
        "TableName": "ranges",
        "KeyConditionExpression": text,
        "ExpressionAttributeValues": {
            ":p": s("p"),
            **{f":{letter}": s(letter) for letter in "bdh" if f":{letter}" in condition},
        },
        **({} if name is None else {"IndexName": name}),
    }
    for forward, has_cursor in zip((True, False), ends, strict=True):
        directed = {**query, "ScanIndexForward": forward}
        items: list[Any] = db.query(**directed)["Items"]
        page = db.query(**directed, Limit=len(items))
        assert ("LastEvaluatedKey" in page) == has_cursor
        start = items[-1] if name is not None else {key: items[-1][key] for key in ("pk", "sk")}
        if name == "by-l":
            start = {key: items[-1][key] for key in ("pk", "sk", "l")}
        if has_cursor:
            assert db.query(**directed, ExclusiveStartKey=start)["Items"] == []
        else:
            assert refusal(db, "query", **directed, ExclusiveStartKey=start) == invalid(PREDICATE)
        # The other end is one to start from, and so is what lies between.
        if len(items) > 1:
            assert db.query(**directed, Limit=1)["LastEvaluatedKey"]
        assert len(all_items(db, "query", **directed, Limit=1)) == len(items)


# --- tables that change between two pages --------------------------------------------------------


@pytest.fixture
def small(db: Database) -> Database:
    db.create_table(
        TableName="small",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="S", g="S"),
        GlobalSecondaryIndexes=[index("by-g", "g")],
        BillingMode="PAY_PER_REQUEST",
    )
    for name in "bdfhj":
        db.put_item(TableName="small", Item={"pk": s("p"), "sk": s(name), "g": s("g")})
    return db


@pytest.mark.parametrize("name", [None, "by-g"], ids=["table", "index"])
@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
def test_a_cursor_stays_exact_when_its_item_is_gone(small: Database, name: str | None, forward: bool) -> None:
    query: dict[str, Any] = {
        "TableName": "small",
        "KeyConditionExpression": "pk = :k" if name is None else "g = :k",
        "ExpressionAttributeValues": {":k": s("p" if name is None else "g")},
        "ScanIndexForward": forward,
        **({} if name is None else {"IndexName": name}),
    }
    whole = [item["sk"]["S"] for item in small.query(**query)["Items"]]
    page = small.query(**query, Limit=2)
    cursor: Any = page["LastEvaluatedKey"]
    small.delete_item(TableName="small", Key={"pk": s("p"), "sk": s(whole[1])})
    rest = small.query(**query, ExclusiveStartKey=cursor)
    assert [item["sk"]["S"] for item in rest["Items"]] == whole[2:]
    # What is put behind the cursor is seen, what is put before it is not.
    for new in "ck":
        small.put_item(TableName="small", Item={"pk": s("p"), "sk": s(new), "g": s("g")})
    rest = small.query(**query, ExclusiveStartKey=cursor)
    seen = {item["sk"]["S"] for item in rest["Items"]} - set(whole)
    if name is None:
        assert seen == ({"k"} if forward else {"c"})
    assert seen <= {"c", "k"}


def test_a_cursor_may_name_an_item_that_never_was(small: Database) -> None:
    rest = small.query(
        TableName="small",
        KeyConditionExpression="pk = :k",
        ExpressionAttributeValues={":k": s("p")},
        ExclusiveStartKey={"pk": s("p"), "sk": s("e")},
    )
    assert [item["sk"]["S"] for item in rest["Items"]] == ["f", "h", "j"]


def test_an_item_that_leaves_the_index_between_two_pages_is_not_missed_by_others(small: Database) -> None:
    query: dict[str, Any] = {
        "TableName": "small",
        "IndexName": "by-g",
        "KeyConditionExpression": "g = :k",
        "ExpressionAttributeValues": {":k": s("g")},
    }
    whole = [item["sk"]["S"] for item in small.query(**query)["Items"]]
    page = small.query(**query, Limit=2)
    for name in whole[:2]:
        small.update_item(TableName="small", Key={"pk": s("p"), "sk": s(name)}, UpdateExpression="REMOVE g")
    rest = small.query(**query, ExclusiveStartKey=page["LastEvaluatedKey"])
    assert [item["sk"]["S"] for item in rest["Items"]] == whole[2:]


# --- one megabyte --------------------------------------------------------------------------------


def item_of(size: int, sort: str) -> dict[str, Any]:
    """Return an item of exactly so many bytes, as it is stored."""
    length = size
    while True:
        item = {"pk": s("p"), "sk": s(sort), "x": s("x" * length)}
        surplus = stored_item_bytes(item, ("sk",)) - size
        if surplus == 0:
            return item
        length -= surplus


@pytest.fixture
def large(db: Database) -> Database:
    db.create_table(
        TableName="large",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="S"),
        LocalSecondaryIndexes=[index("keys", "pk", "sk", projection="KEYS_ONLY")],
        GlobalSecondaryIndexes=[index("all", "pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    return db


QUARTER = PAGE_BYTES_MAX // 4
PARTITION: dict[str, Any] = {
    "TableName": "large",
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": {"S": "p"}},
    "Select": "COUNT",
}


@pytest.mark.parametrize(
    ("sizes", "counts"),
    [
        # The item that reaches a megabyte ends its page; dynalite's tests found this in the service, and DynamoDB
        # Local does so too.
        pytest.param([QUARTER] * 5, [4, 1], id="exactly"),
        pytest.param([QUARTER + 1] * 5, [4, 1], id="just-over"),
        pytest.param([QUARTER - 1] * 5, [5, 0], id="just-under"),
        pytest.param([QUARTER - 1] * 4, [4], id="under"),
        pytest.param([100_000] * 12, [11, 1], id="eleven-of-twelve"),
    ],
)
def test_a_page_ends_with_the_item_that_reaches_a_megabyte(
    large: Database, sizes: list[int], counts: list[int]
) -> None:
    for number, size in enumerate(sizes):
        large.put_item(TableName="large", Item=item_of(size, f"{number:02}"))
    assert [page["Count"] for page in all_pages(large, "query", **PARTITION)] == counts
    backward = all_pages(large, "query", **PARTITION, ScanIndexForward=False)
    assert [page["Count"] for page in backward] == counts
    scan = all_pages(large, "scan", TableName="large", Select="COUNT")
    assert [page["Count"] for page in scan] == counts


# What dynalite's tests of Query found in the service ("just under limit", "just over limit"): where each of the
# items has a text of `length` bytes under a name, the last two have others: how many a page has, its units, and
# whether it has a cursor.
RECORDED = {
    "just under, with a long name": ("e" * 255, 41645, (41645, 41645), 25, 128.0, False),
    "just over": ("e", 41645, (41645, 41646), 25, 127.5, True),
    "all, with a long name": ("e" * 255, 43372, (43387, 44999), 25, 133.5, True),
    "one less than all": ("e", 43372, (43388, 44999), 24, 127.5, True),
}


@pytest.mark.parametrize(
    "reading",
    [
        pytest.param({}, id="items"),
        pytest.param({"Select": "COUNT"}, id="count"),
        pytest.param({"ProjectionExpression": "sk"}, id="projection"),
        pytest.param({"FilterExpression": "attribute_not_exists(pk2)"}, id="filter"),
        pytest.param({"Limit": 26}, id="limit"),
        pytest.param({"IndexName": "all"}, id="global-index"),
    ],
)
@pytest.mark.parametrize("recorded", RECORDED)
def test_a_page_counts_what_is_stored_of_its_items(
    large: Database, recorded: str, reading: dict[str, Any]
) -> None:
    name, length, last, count, units, has_cursor = RECORDED[recorded]
    partition = s("p" * 10)
    for number, size in enumerate([*[length] * 23, *last]):
        item = {"pk": partition, "sk": s(f"{number:02}"), name: s("e" * size)}
        large.put_item(TableName="large", Item=item)
    query: dict[str, Any] = {
        "TableName": "large",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": partition},
        "ReturnConsumedCapacity": "TOTAL",
        **reading,
    }
    page = large.query(**query)
    assert (page["ScannedCount"], "LastEvaluatedKey" in page) == (count, has_cursor)
    assert page["ConsumedCapacity"]["CapacityUnits"] == units  # of the sizes, names in full
    scan = {"TableName": "large", **reading}
    assert large.scan(**scan)["ScannedCount"] == count


def test_many_small_items_of_a_page_count_as_their_sizes(large: Database) -> None:
    # In December 2020 a page of such items cost 128.5 units (F. Pachot, "DynamoDB Scan (and why 128.5 RCU?)").
    writes: list[Any] = [
        {"PutRequest": {"Item": {"pk": s("p"), "sk": s(f"{number:04}"), "x": s("x" * 1032)}}}
        for number in range(1_050)
    ]
    for start in range(0, len(writes), 25):
        large.batch_write_item(RequestItems={"large": writes[start : start + 25]})
    pages = all_pages(large, "scan", TableName="large", Select="COUNT", ReturnConsumedCapacity="TOTAL")
    assert [page["Count"] for page in pages] == [1_007, 43]
    assert pages[0]["ConsumedCapacity"]["CapacityUnits"] == 128.5


def test_a_limit_that_is_larger_than_a_megabyte_does_not_matter(large: Database) -> None:
    for number in range(12):
        large.put_item(TableName="large", Item=item_of(100_000, f"{number:02}"))
    counts = [page["Count"] for page in all_pages(large, "query", **PARTITION, Limit=12)]
    assert counts == [11, 1]
    assert [page["Count"] for page in all_pages(large, "query", **PARTITION, Limit=5)] == [5, 5, 2]


def test_filtered_items_count_towards_the_megabyte(large: Database) -> None:
    for number in range(12):
        large.put_item(TableName="large", Item=item_of(100_000, f"{number:02}"))
    pages = all_pages(large, "query", **PARTITION, FilterExpression="attribute_exists(nothing)")
    assert [(page["Count"], page["ScannedCount"]) for page in pages] == [(0, 11), (0, 1)]


def test_an_index_of_keys_counts_what_it_holds(large: Database) -> None:
    for number in range(12):
        large.put_item(TableName="large", Item=item_of(100_000, f"{number:02}"))
    pages = all_pages(large, "query", **PARTITION, IndexName="keys")
    assert [page["Count"] for page in pages] == [12]


# --- start keys that are wrong -------------------------------------------------------------------

WRONG = "The provided starting key is invalid"
OUTSIDE = "The provided starting key is outside query boundaries based on provided conditions"
PREDICATE = "The provided starting key does not match the range key predicate"
ONE_ROW = "The query can return at most one row and cannot be restarted"
START: dict[str, Any] = {"pk": {"S": "p"}, "sk": {"N": "5"}}


@pytest.mark.parametrize(
    ("condition", "start", "message"),
    [
        pytest.param("", {}, WRONG, id="empty"),
        pytest.param("", {"pk": s("p")}, WRONG, id="half"),
        pytest.param("", {**START, "x": n(1)}, WRONG, id="more"),
        pytest.param("", {"pk": s("p"), "x": n(5)}, WRONG, id="another-name"),
        pytest.param("", {"pk": s("p"), "sk": s("5")}, WRONG, id="another-type"),
        pytest.param("", {"pk": s("q"), "sk": n(5)}, OUTSIDE, id="another-partition"),
        pytest.param("AND sk > :v", {"pk": s("p"), "sk": n(0)}, PREDICATE, id="before-the-range"),
        pytest.param("AND sk > :v", {"pk": s("p"), "sk": n(2)}, PREDICATE, id="at-the-open-end"),
        pytest.param("AND sk < :v", {"pk": s("p"), "sk": n(3)}, PREDICATE, id="behind-the-range"),
        pytest.param("AND sk = :v", {"pk": s("p"), "sk": n(3)}, PREDICATE, id="beside-the-value"),
        pytest.param("AND sk BETWEEN :v AND :v", {"pk": s("p"), "sk": n(3)}, PREDICATE, id="beside-the-ends"),
        pytest.param("AND sk > :v", {"pk": s("q"), "sk": n(5)}, ONE_ROW, id="another-partition-with-a-range"),
    ],
)
def test_a_query_cannot_start_from_a_wrong_key(
    crowd: Database, condition: str, start: dict[str, Any], message: str
) -> None:
    # The messages are AWS's, recorded in the tests of dynoxide 1.3 (October 2026).
    values = {":p": s("p"), **({":v": n(2)} if condition else {})}
    assert refusal(
        crowd,
        "query",
        TableName="crowd",
        KeyConditionExpression=f"pk = :p {condition}",
        ExpressionAttributeValues=values,
        ExclusiveStartKey=start,
    ) == invalid(message)


INDEX_START: dict[str, Any] = {**START, "g": {"S": "g"}, "h": {"N": "1"}}


def mismatch(name: str, index_name: str) -> str:
    """What a scan says of a string where the key is a number, if its table has indexes (dynoxide 1.4's tests)."""
    return (
        f"One or more parameter values were invalid: Type mismatch for Index Key {name} Expected: N Actual: S "
        f"IndexName: {index_name}"
    )


@pytest.mark.parametrize("operation", ["query", "scan"])
@pytest.mark.parametrize(
    ("start", "message"),
    [
        pytest.param(START, WRONG, id="keys-of-the-table"),
        pytest.param({"g": s("g"), "h": n(1)}, WRONG, id="keys-of-the-index"),
        pytest.param({**START, "g": s("g"), "x": n(1)}, WRONG, id="another-name"),
        pytest.param(
            {**INDEX_START, "h": s("1")}, mismatch("h", "with-sort"), id="index-key-of-another-type"
        ),
        pytest.param(
            {**INDEX_START, "sk": s("1")}, mismatch("sk", "with-sort"), id="table-key-of-another-type"
        ),
    ],
)
def test_an_index_cannot_be_read_from_a_wrong_key(
    crowd: Database, operation: str, start: dict[str, Any], message: str
) -> None:
    request: dict[str, Any] = {
        "TableName": "crowd",
        "IndexName": "with-sort",
        "ExclusiveStartKey": start,
    }
    if operation == "query":
        request |= {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("g")}}
        message = WRONG
    assert refusal(crowd, operation, **request) == invalid(message)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        pytest.param({}, WRONG, id="empty"),
        pytest.param({"pk": s("p")}, WRONG, id="half"),
        pytest.param({**START, "x": n(1)}, WRONG, id="more"),
        pytest.param({"pk": s("p"), "x": n(5)}, WRONG, id="another-name"),
        pytest.param({"pk": s("p"), "sk": s("5")}, mismatch("sk", "by-l"), id="another-type"),
    ],
)
def test_a_scan_cannot_start_from_a_wrong_key(crowd: Database, start: dict[str, Any], message: str) -> None:
    assert refusal(crowd, "scan", TableName="crowd", ExclusiveStartKey=start) == invalid(message)
