"""BatchGetItem and BatchWriteItem: limits, duplicates, 16 megabytes, and what is left unprocessed."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from singletable.limits import BATCH_GET_BYTES_MAX, ITEM_BYTES_MAX
from support.sample_tables import (
    all_pages,
    attributes,
    create_plain,
    create_single,
    index,
    invalid,
    item,
    key_schema,
    n,
    refusal,
    s,
)

INVALID = "One or more parameter values were invalid: "
NO_MATCH = "The provided key element does not match the schema"
MISSING = ("ResourceNotFoundException", "Requested resource not found")
DUPLICATES = "Provided list of item keys contains duplicates"
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
    "string value. Key: id"
)
ONE_OF_TWO = (
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
    "datatypes"
)


def key(name: str | int) -> dict[str, Any]:
    return {"id": s(str(name))}


def put(name: str | int, **values: Any) -> dict[str, Any]:
    return {"PutRequest": {"Item": {**key(name), **values}}}


def delete(name: str | int) -> dict[str, Any]:
    return {"DeleteRequest": {"Key": key(name)}}


@pytest.fixture
def plain(db: Database) -> Database:
    create_plain(db)
    return db


# --- BatchWriteItem ------------------------------------------------------------------------------


def test_puts_and_deletes_in_several_tables_are_done(db: Database) -> None:
    create_plain(db)
    create_single(db)
    db.put_item(TableName="plain", Item=key("old"))
    single: list[Any] = [{"PutRequest": {"Item": item("a", "b", GSI1PK="g", GSI1SK="h", x={"B": b"\x00"})}}]
    plain: list[Any] = [put("new"), delete("old"), delete("never"), put("old2", x=n(1))]
    answer = db.batch_write_item(RequestItems={"plain": plain, "single": single})
    assert answer == {"UnprocessedItems": {}}
    assert sorted(i["id"]["S"] for i in db.scan(TableName="plain")["Items"]) == ["new", "old2"]
    assert db.scan(TableName="single", IndexName="GSI1")["Items"] == [
        item("a", "b", GSI1PK="g", GSI1SK="h", x={"B": b"\x00"})
    ]


def test_a_put_in_a_batch_replaces_the_whole_item(plain: Database) -> None:
    plain.put_item(TableName="plain", Item={**key("a"), "x": s("old"), "y": s("old")})
    plain.batch_write_item(RequestItems={"plain": [put("a", y=s("new"))]})  # type: ignore[list-item]
    assert plain.scan(TableName="plain")["Items"] == [{**key("a"), "y": s("new")}]


def test_twenty_five_writes_fit_into_a_batch(plain: Database) -> None:
    create_plain(plain, "other")
    writes: list[Any] = [put(number) for number in range(13)]
    others: list[Any] = [put(number) for number in range(12)]
    plain.batch_write_item(RequestItems={"plain": writes, "other": others})
    assert plain.scan(TableName="plain")["Count"] + plain.scan(TableName="other")["Count"] == 25


def test_twenty_six_writes_to_several_tables_do_not(plain: Database) -> None:
    create_plain(plain, "other")
    writes: list[Any] = [put(number) for number in range(13)]
    assert refusal(plain, "batch_write_item", RequestItems={"plain": writes, "other": writes}) == invalid(
        "Too many items requested for the BatchWriteItem call"
    )
    assert plain.scan(TableName="plain")["Count"] == 0


def test_a_batch_of_large_items_is_written_whole(plain: Database) -> None:
    # 25 items of 400 KB are 10 MB: more than a page, less than the 16 MB of a request.
    writes: list[Any] = [put(f"{number:02}", x=s("x" * (ITEM_BYTES_MAX - 5))) for number in range(25)]
    assert plain.batch_write_item(RequestItems={"plain": writes}) == {"UnprocessedItems": {}}
    table = plain.describe_table(TableName="plain")["Table"]
    assert table["TableSizeBytes"] == 25 * ITEM_BYTES_MAX


@pytest.mark.parametrize(
    ("requests", "wanted"),
    [
        pytest.param({}, invalid("The requestItems parameter is required for BatchWriteItem"), id="empty"),
        pytest.param({"nothing": [put("a")]}, MISSING, id="no-table"),
        pytest.param({"plain": [put("a")], "nothing": [put("a")]}, MISSING, id="no-second-table"),
        pytest.param({"plain": [put("a"), put("a")]}, invalid(DUPLICATES), id="two-puts"),
        pytest.param({"plain": [put("a"), delete("a")]}, invalid(DUPLICATES), id="a-put-and-a-delete"),
        pytest.param({"plain": [{}]}, invalid(ONE_OF_TWO), id="neither-put-nor-delete"),
        pytest.param(
            {"plain": [{**put("a"), **delete("b")}]}, invalid(ONE_OF_TWO), id="put-and-delete-in-one"
        ),
        # Unlike PutItem, a batch says one thing of every wrong key (the public conformance suite).
        pytest.param({"plain": [{"PutRequest": {"Item": {"x": s("a")}}}]}, invalid(NO_MATCH), id="no-key"),
        pytest.param(
            {"plain": [{"PutRequest": {"Item": {"id": n(5)}}}]}, invalid(NO_MATCH), id="key-of-another-type"
        ),
        pytest.param(
            {"plain": [{"PutRequest": {"Item": {"id": {"L": [s("x")]}}}}]}, invalid(NO_MATCH), id="no-scalar"
        ),
        pytest.param(
            {"plain": [{"DeleteRequest": {"Key": {**key("a"), "x": s("b")}}}]},
            invalid(NO_MATCH),
            id="more-than-a-key",
        ),
        pytest.param(
            {"plain": [put("")]},
            invalid(EMPTY_KEY),
            id="empty-key",
        ),
        pytest.param(
            {"plain": [put("a" * 2049)]},
            invalid(f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes"),
            id="long-key",
        ),
        pytest.param(
            {"plain": [put("a", x={"SS": []})]},
            invalid(f"{INVALID}An string set  may not be empty"),
            id="wrong-value",
        ),
        pytest.param(
            # Batches have the older wording, without quotation marks.
            {"plain": [put("a", x={"SS": ["b", "b"]})]},
            invalid(f"{INVALID}Input collection [b, b] contains duplicates."),
            id="one-string-twice",
        ),
    ],
)
def test_a_wrong_batch_of_writes_is_refused_whole(
    plain: Database, requests: dict[str, Any], wanted: tuple[str, str]
) -> None:
    assert refusal(plain, "batch_write_item", RequestItems=requests) == wanted
    assert plain.scan(TableName="plain")["Count"] == 0


def test_an_item_that_does_not_fit_an_index_stops_the_whole_batch(db: Database) -> None:
    create_single(db)
    writes: list[Any] = [
        {"PutRequest": {"Item": item("a", "b")}},
        {"PutRequest": {"Item": item("c", "d", GSI1PK=n(5))}},
    ]
    assert refusal(db, "batch_write_item", RequestItems={"single": writes}) == invalid(
        f"{INVALID}Type mismatch for Index Key GSI1PK Expected: S Actual: N IndexName: GSI1"
    )
    assert db.scan(TableName="single")["Count"] == 0


# --- BatchGetItem --------------------------------------------------------------------------------


def test_items_of_several_tables_are_read(db: Database) -> None:
    create_plain(db)
    create_single(db)
    db.put_item(TableName="plain", Item={**key("a"), "x": {"B": b"\x00"}})
    db.put_item(TableName="plain", Item={**key("b"), "x": s("b")})
    db.put_item(TableName="single", Item=item("p", "s", x="1", y="2"))
    answer = db.batch_get_item(
        RequestItems={
            "plain": {"Keys": [key("b"), key("none"), key("a")], "ConsistentRead": True},
            "single": {
                "Keys": [item("p", "s")],
                "ProjectionExpression": "#x",
                "ExpressionAttributeNames": {"#x": "x"},
            },
        }
    )
    assert answer["UnprocessedKeys"] == {}
    by_id = {found["id"]["S"]: found for found in answer["Responses"]["plain"]}
    assert by_id == {"a": {**key("a"), "x": {"B": b"\x00"}}, "b": {**key("b"), "x": s("b")}}
    assert answer["Responses"]["single"] == [{"x": s("1")}]


def test_a_batch_that_finds_nothing_names_its_tables(plain: Database) -> None:
    assert plain.batch_get_item(RequestItems={"plain": {"Keys": [key("none")]}}) == {
        "Responses": {"plain": []},
        "UnprocessedKeys": {},
    }


def test_a_hundred_keys_fit_into_a_batch(plain: Database) -> None:
    create_plain(plain, "other")
    for number in range(0, 100, 25):
        writes: list[Any] = [put(number + offset) for offset in range(25)]
        plain.batch_write_item(RequestItems={"plain": writes})
    keys = [key(number) for number in range(100)]
    assert len(plain.batch_get_item(RequestItems={"plain": {"Keys": keys}})["Responses"]["plain"]) == 100
    assert refusal(
        plain,
        "batch_get_item",
        RequestItems={"plain": {"Keys": keys[:60]}, "other": {"Keys": keys[:41]}},
    ) == invalid("Too many items requested for the BatchGetItem call")
    more = [*keys, key("more")]
    assert refusal(plain, "batch_get_item", RequestItems={"plain": {"Keys": more}}) == invalid(
        "1 validation error detected: Value at 'RequestItems.plain.member.Keys' failed to satisfy constraint: "
        "Member must have length less than or equal to 100"
    )


@pytest.mark.parametrize(
    ("requests", "wanted"),
    [
        pytest.param(
            {},
            invalid(
                "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member must "
                "have length greater than or equal to 1"
            ),
            id="empty",
        ),
        pytest.param({"nothing": {"Keys": [key("a")]}}, MISSING, id="no-table"),
        pytest.param({"plain": {"Keys": [key("a"), key("a")]}}, invalid(DUPLICATES), id="one-key-twice"),
        pytest.param({"plain": {"Keys": [{}]}}, invalid(NO_MATCH), id="no-key"),
        pytest.param({"plain": {"Keys": [{"id": n(1)}]}}, invalid(NO_MATCH), id="key-of-another-type"),
        pytest.param(
            {"plain": {"Keys": [key("")]}},
            invalid(EMPTY_KEY),
            id="empty-key",
        ),
        pytest.param(
            {"plain": {"Keys": [key("a")], "ProjectionExpression": "a, a.b"}},
            invalid(
                "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite "
                "one of these paths; path one: [a], path two: [a, b]"
            ),
            id="wrong-projection",
        ),
        pytest.param(
            {"plain": {"Keys": [key("a")], "ProjectionExpression": "id.x"}},
            invalid(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
                "Key: id"
            ),
            id="projection-into-a-key",
        ),
    ],
)
def test_a_wrong_batch_of_gets_is_refused(
    plain: Database, requests: dict[str, Any], wanted: tuple[str, str]
) -> None:
    assert refusal(plain, "batch_get_item", RequestItems=requests) == wanted


def test_a_number_may_not_be_asked_for_in_two_spellings(db: Database) -> None:
    db.create_table(
        TableName="numbers",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="N"),
        BillingMode="PAY_PER_REQUEST",
    )
    keys = [{"id": n("1")}, {"id": n("1.0")}]
    assert refusal(db, "batch_get_item", RequestItems={"numbers": {"Keys": keys}}) == invalid(DUPLICATES)


# --- what does not fit into 16 megabytes ---------------------------------------------------------

SIZE = ITEM_BYTES_MAX - 10
FIT = BATCH_GET_BYTES_MAX // ITEM_BYTES_MAX  # 40 items, and room for a little more


@pytest.fixture
def large(db: Database) -> Database:
    create_plain(db)
    create_plain(db, "other")
    filler = "x" * SIZE
    for number in range(FIT + 5):
        db.put_item(TableName="plain", Item={**key(f"{number:02}"), "x": s(filler)})
    db.put_item(TableName="other", Item={**key("small"), "y": s("1")})
    return db


def test_keys_that_do_not_fit_into_an_answer_can_be_sent_again(large: Database) -> None:
    wanted: Any = {
        "plain": {
            "Keys": [key(f"{number:02}") for number in range(FIT + 5)],
            "ProjectionExpression": "#i",
            "ExpressionAttributeNames": {"#i": "id"},
            "ConsistentRead": True,
        },
        "other": {"Keys": [key("small")]},
    }
    found: list[str] = []
    rounds = 0
    while wanted:
        rounds += 1
        answer = large.batch_get_item(RequestItems=wanted)
        found += [i["id"]["S"] for items in answer["Responses"].values() for i in items]
        unprocessed: Any = answer["UnprocessedKeys"]
        for name, part in unprocessed.items():
            # What goes along with the keys is given back with them.
            assert {**part, "Keys": None} == {**wanted[name], "Keys": None}
        wanted = unprocessed
    assert rounds == 2
    assert sorted(found) == [*(f"{number:02}" for number in range(FIT + 5)), "small"]


def test_what_was_given_back_is_not_paid_for(large: Database) -> None:
    keys = [key(f"{number:02}") for number in range(FIT + 5)]
    answer = large.batch_get_item(RequestItems={"plain": {"Keys": keys}}, ReturnConsumedCapacity="TOTAL")
    read = len(answer["Responses"]["plain"])
    assert read + len(answer["UnprocessedKeys"]["plain"]["Keys"]) == FIT + 5
    assert answer["ConsumedCapacity"][0]["CapacityUnits"] == read * 50  # 400 KB each, not consistent


def test_an_index_is_kept_by_batches_too(db: Database) -> None:
    create_plain(db)
    db.update_table(
        TableName="plain",
        AttributeDefinitions=attributes(g="S"),
        GlobalSecondaryIndexUpdates=[{"Create": index("by-g", "g")}],
    )
    db.batch_write_item(RequestItems={"plain": [put("a", g=s("1")), put("b", g=s("1"))]})  # type: ignore[list-item]
    db.batch_write_item(RequestItems={"plain": [put("a", g=s("2")), delete("b")]})  # type: ignore[list-item]
    assert db.scan(TableName="plain", IndexName="by-g")["Items"] == [{**key("a"), "g": s("2")}]


def large_batch() -> list[Any]:
    return [put(number, big=s("x" * 300_000)) for number in range(8)]


def test_large_batch_is_written_whole_and_costs_the_same(plain: Database) -> None:
    plain.put_item(TableName="plain", Item=key("old"))
    requests: Any = {"plain": [*large_batch(), delete("old")]}
    answer = plain.batch_write_item(RequestItems=requests, ReturnConsumedCapacity="TOTAL")
    alone = plain.put_item(
        TableName="plain", Item=large_batch()[0]["PutRequest"]["Item"], ReturnConsumedCapacity="TOTAL"
    )
    assert answer["UnprocessedItems"] == {}
    units = 8 * alone["ConsumedCapacity"]["CapacityUnits"] + 1
    assert answer["ConsumedCapacity"] == [{"TableName": "plain", "CapacityUnits": units}]
    assert sorted(found["id"]["S"] for found in all_items(plain)) == sorted(map(str, range(8)))
    assert plain.check() == []


def all_items(db: Database) -> list[Any]:
    return [found for page in all_pages(db, "scan", TableName="plain") for found in page["Items"]]


@pytest.mark.parametrize("wrong", [delete(3), put(""), {"DeleteRequest": {"Key": {"no": s("a")}}}])
def test_nothing_of_a_large_batch_is_written_if_any_of_it_is_wrong(plain: Database, wrong: Any) -> None:
    requests = {"plain": [*large_batch(), wrong]}
    assert refusal(plain, "batch_write_item", RequestItems=requests)[0] == "ValidationException"
    assert all_items(plain) == []
