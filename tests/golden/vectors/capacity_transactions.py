"""Units of transactions: twice for the items, once for the entries of indexes; and what a repetition costs."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from golden.vectors.capacity import AWS_CLI, DYNOXIDE, MUSIC, SUITE, UNITS, consumed, item, key, sized, total
from golden.vectors.matching import unordered
from golden.vectors.tables import HASH, HASH_RANGE
from golden.vectors.vector import Refusal, Vector, then
from support.sample_tables import index

Wire = dict[str, Any]

READ, WRITE = "ReadCapacityUnits", "WriteCapacityUnits"
TRANSACTIONS = 'AWS guide, "Amazon DynamoDB transactions: How it works", "Capacity management"'
BOTH = item(g="g", l="l")


def put_action(new: Wire, *, into: str = "Units") -> Wire:
    return {"Put": {"TableName": into, "Item": new}}


def update_action(expression: str, **texts: str) -> Wire:
    action: Wire = {"TableName": "Units", "Key": key(), "UpdateExpression": expression}
    if texts:
        action["ExpressionAttributeValues"] = {f":{name}": {"S": text} for name, text in texts.items()}
    return {"Update": action}


DELETE: Wire = {"Delete": {"TableName": "Units", "Key": key()}}
CHECK: Wire = {
    "ConditionCheck": {
        "TableName": "Units",
        "Key": key(),
        "ConditionExpression": "attribute_exists(pk)",
    }
}


def written(table_units: float, *, gsi: float | None = None, lsi: float | None = None) -> Wire:
    return consumed(table_units, gsi=gsi, lsi=lsi, split=WRITE)


def write(name: str, stored: list[Wire], actions: list[Wire], answer: Any, evidence: str) -> Vector:
    return Vector(
        name,
        operation="TransactWriteItems",
        tables=[UNITS],
        given={"Units": stored},
        request={"TransactItems": actions, "ReturnConsumedCapacity": "INDEXES"},
        answer={"ConsumedCapacity": [answer]},
        evidence=f"{DYNOXIDE}, {evidence}",
    )


WRITES = [
    write(
        "put_into_a_global_index_costs_the_table_twice_and_the_index_once",
        [],
        [put_action(item(g="g"))],
        written(2, gsi=1),
        "A1: total 3, table 2, gsi 1",
    ),
    write(
        "put_into_no_index_costs_the_table_twice",
        [],
        [put_action(item(rest="o"))],
        written(2),
        "A2: total 2, no arms",
    ),
    write(
        "put_into_both_kinds_of_index_costs_each_once",
        [],
        [put_action(BOTH)],
        written(2, gsi=1, lsi=1),
        "A3: total 4, table 2, gsi 1, lsi 1",
    ),
    write(
        "put_of_the_same_item_writes_to_no_index",
        [BOTH],
        [put_action(BOTH)],
        written(2),
        "A4: total 2, table 2, no arms",
    ),
    write(
        "update_outside_a_projection_costs_that_index_nothing",
        [item(g="g", l="l", rest="o")],
        [update_action("SET rest = :v", v="o2")],
        written(2, lsi=1),
        "A5: total 3, table 2, lsi 1",
    ),
    write(
        "update_of_an_index_key_costs_two_writes_there",
        [BOTH],
        [update_action("SET g = :v", v="g2")],
        written(2, gsi=2, lsi=1),
        "A7: total 5, table 2, gsi 2, lsi 1",
    ),
    write(
        "delete_costs_each_index_once",
        [BOTH],
        [DELETE],
        written(2, gsi=1, lsi=1),
        "A10: total 4, table 2, gsi 1, lsi 1",
    ),
    write(
        "condition_check_costs_the_table_as_a_write_would",
        [BOTH],
        [CHECK],
        written(2),
        "A12: total 2, table 2, no arms; the conformance suite found 2 WriteCapacityUnits too",
    ),
    write(
        "two_puts_add_up",
        [],
        [put_action(item(g="g", l="l")), put_action(item("b", g="g", l="l"))],
        written(4, gsi=2, lsi=2),
        "A13: total 8, table 4, gsi 2, lsi 2",
    ),
    write(
        "delete_costs_the_size_of_the_item",
        [item(g="g", proj="x" * 3000)],
        [DELETE],
        written(6, gsi=3),
        "B5: total 9, table 6, gsi 3",
    ),
    write(
        "put_over_a_larger_item_costs_what_was_there",
        [item(rest="x" * 3000)],
        [put_action(item())],
        written(6),
        "B3: total 6, table 6",
    ),
    write(
        "large_entry_that_moves_costs_both_places_once",
        [item(g="g", proj="x" * 1500)],
        [update_action("SET g = :v", v="g9")],
        written(4, gsi=4),
        "B7: total 8, table 4, gsi 4",
    ),
    write(
        "entry_that_shrinks_costs_what_it_was",
        [item(g="g", proj="x" * 3000)],
        [update_action("SET proj = :v", v="p")],
        written(6, gsi=3),
        "J3: total 9, table 6, gsi 3",
    ),
    write(
        "condition_check_costs_the_size_of_the_item",
        [item(rest="x" * 3000)],
        [CHECK],
        written(6),
        "F1: total 6, table 6",
    ),
    write(
        "update_that_makes_an_item_enters_its_indexes_once",
        [],
        [update_action("SET g = :g, l = :l", g="g", l="l")],
        written(2, gsi=1, lsi=1),
        "F4: total 4, table 2, gsi 1, lsi 1",
    ),
    write("delete_of_nothing_costs_2", [], [DELETE], written(2), "K1: total 2, table 2"),
    write(
        "put_of_the_same_large_item_costs_the_table_alone",
        [item(g="g", proj="x" * 3000)],
        [put_action(item(g="g", proj="x" * 3000))],
        written(6),
        "K3: total 6, table 6, no arms",
    ),
    Vector(
        "transaction_reports_each_table",
        operation="TransactWriteItems",
        tables=[UNITS, HASH],
        request={
            "TransactItems": [put_action(BOTH), put_action({"p": {"S": "a"}}, into="Hash")],
            "ReturnConsumedCapacity": "INDEXES",
        },
        answer={
            "ConsumedCapacity": unordered(
                [written(2, gsi=1, lsi=1), consumed(2, table="Hash", split=WRITE)],
            )
        },
        evidence=f"{DYNOXIDE}, G1: each table carries only its own arms",
    ),
    Vector(
        "total_of_a_transaction_holds_what_indexes_cost",
        operation="TransactWriteItems",
        tables=[UNITS],
        request={"TransactItems": [put_action(BOTH)], "ReturnConsumedCapacity": "TOTAL"},
        answer={"ConsumedCapacity": [total(4, split=WRITE)]},
        evidence=f"{DYNOXIDE}, A3 under TOTAL: CapacityUnits and WriteCapacityUnits 4, no breakdown",
    ),
    Vector(
        "transaction_reports_nothing_unasked",
        operation="TransactWriteItems",
        tables=[UNITS],
        request={"TransactItems": [put_action(BOTH)]},
        answer={},
        evidence=f"{AWS_CLI}, transact-write-items: This command produces no output",
    ),
    Vector(
        "three_items_of_500_bytes_cost_6",
        operation="TransactWriteItems",
        tables=[UNITS],
        request={
            "TransactItems": [put_action(sized(item(pk), 500)) for pk in "abc"],
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={"ConsumedCapacity": [total(6, split=WRITE)]},
        evidence=f"{TRANSACTIONS}: each transaction writes three 500-byte items ... provision six WCUs",
    ),
    Vector(
        "condition_that_holds_costs_nothing_more",
        operation="TransactWriteItems",
        tables=[UNITS],
        request={
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "Units",
                        "Item": item(),
                        "ConditionExpression": "attribute_not_exists(pk)",
                    }
                }
            ],
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={"ConsumedCapacity": [total(2, split=WRITE)]},
        evidence=f"{SUITE}, pull request 67: a passing conditional write costs the same 2 units",
    ),
    Vector(
        "canceled_transaction_reports_no_units",
        operation="TransactWriteItems",
        tables=[UNITS],
        request={"TransactItems": [put_action(item("b")), CHECK], "ReturnConsumedCapacity": "INDEXES"},
        error=Refusal(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[None, ConditionalCheckFailed]",
            CancellationReasons=[
                {"Code": "None"},
                {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"},
            ],
        ),
        evidence=f"{SUITE}, pull request 67: the response carries no ConsumedCapacity at all",
    ),
    Vector(
        "transaction_of_the_reference_of_the_aws_cli",
        operation="TransactWriteItems",
        tables=[
            {
                **MUSIC,
                "TableName": "MusicCollectionByAlbum",
                "GlobalSecondaryIndexes": [index("AlbumTitle-index", "AlbumTitle")],
            }
        ],
        given={
            "MusicCollectionByAlbum": [
                {"Artist": {"S": artist}, "SongTitle": {"S": song}, "AlbumTitle": {"S": album}}
                for artist, song, album in (
                    ("Acme Band", "Happy Day", "Louder Than Ever"),
                    ("No One You Know", "Call Me Today", "Somewhat Famous"),
                )
            ]
        },
        request={
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "MusicCollectionByAlbum",
                        "Key": {"Artist": {"S": "Acme Band"}, "SongTitle": {"S": "Happy Day"}},
                        "UpdateExpression": "SET AlbumTitle = :newval",
                        "ExpressionAttributeValues": {":newval": {"S": "Updated Album Title"}},
                        "ConditionExpression": "attribute_not_exists(Rating)",
                    }
                },
                {
                    "Delete": {
                        "TableName": "MusicCollectionByAlbum",
                        "Key": {"Artist": {"S": "No One You Know"}, "SongTitle": {"S": "Call Me Today"}},
                        "ConditionExpression": "attribute_not_exists(Rating)",
                    }
                },
            ],
            "ReturnConsumedCapacity": "TOTAL",
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "ConsumedCapacity": [total(10, table="MusicCollectionByAlbum", split=WRITE)],
            "ItemCollectionMetrics": {
                "MusicCollectionByAlbum": unordered(
                    [
                        {"ItemCollectionKey": {"Artist": {"S": artist}}, "SizeEstimateRangeGB": [0.0, 1.0]}
                        for artist in ("No One You Know", "Acme Band")
                    ]
                )
            },
        },
        evidence=f"{AWS_CLI}, transact-write-items: 10 units. The table of these examples has a local index and "
        "the global AlbumTitle-index over the attribute: 2 + 2 for the items, 2 + 2 to move entries, 1 + 1 to "
        "remove them",
    ),
]


def repeated(
    name: str, stored: list[Wire], actions: list[Wire], first: float, again: float, evidence: str
) -> Vector:
    """A transaction, and the same once more with its token."""
    request = {
        "TransactItems": actions,
        "ReturnConsumedCapacity": "TOTAL",
        "ClientRequestToken": f"{uuid4()}",
    }
    return Vector(
        name,
        operation="TransactWriteItems",
        tables=[UNITS],
        given={"Units": stored},
        request=request,
        answer={"ConsumedCapacity": [total(first, split=WRITE)]},
        after=[then("TransactWriteItems", request, {"ConsumedCapacity": [total(again, split=READ)]})],
        evidence=evidence,
    )


_TOKEN = f"{uuid4()}"
NINE = "x" * 9000

REPETITIONS = [
    repeated(
        "repetition_of_a_put_of_1500_bytes_costs_a_read",
        [],
        [put_action(sized(item(), 1500))],
        4,
        2,
        f"{SUITE}, pull request 74: 4 write units on the first call, 2 read on the replay",
    ),
    repeated(
        "repetition_of_a_put_that_shrank_an_item_costs_what_was_there",
        [item(rest=NINE)],
        [put_action(item())],
        18,
        6,
        f"{DYNOXIDE}, S1: 18 on the first call and 6 on the replay",
    ),
    repeated(
        "repetition_of_a_put_that_grew_an_item_costs_what_is_there",
        [item()],
        [put_action(item(rest=NINE))],
        18,
        6,
        f"{DYNOXIDE}, S2: 18 on the first call and 6 on the replay",
    ),
    repeated(
        "repetition_of_a_delete_costs_what_was_there",
        [item(rest=NINE)],
        [DELETE],
        18,
        6,
        f"{DYNOXIDE}, R1: 18 on the first call and 6 on the replay",
    ),
    repeated(
        "repetition_of_a_condition_check_costs_what_it_looked_at",
        [item(rest=NINE)],
        [CHECK],
        18,
        6,
        f"{DYNOXIDE}, R2: 18 on the first call and 6 on the replay",
    ),
    repeated(
        "repetition_rounds_each_action_by_itself",
        [item(rest=NINE)],
        [DELETE, put_action(item("b"))],
        20,
        8,
        f"{DYNOXIDE}, S3: 20 on the first call and 8 on the replay",
    ),
    repeated(
        "repetition_reads_no_index",
        [],
        [put_action(BOTH)],
        4,
        2,
        "API reference, ClientRequestToken: subsequent calls return the number of read capacity units consumed in "
        "reading the item",
    ),
    Vector(
        "repetition_reports_as_it_is_asked_to",
        operation="TransactWriteItems",
        tables=[UNITS],
        before=[
            ("TransactWriteItems", {"TransactItems": [put_action(BOTH)], "ClientRequestToken": _TOKEN}),
            ("DeleteItem", {"TableName": "Units", "Key": key()}),
        ],
        request={
            "TransactItems": [put_action(BOTH)],
            "ClientRequestToken": _TOKEN,
            "ReturnConsumedCapacity": "INDEXES",
        },
        answer={"ConsumedCapacity": [consumed(2, split=READ)]},
        after=[
            then(
                "TransactWriteItems", {"TransactItems": [put_action(BOTH)], "ClientRequestToken": _TOKEN}, {}
            )
        ],
        evidence="dynoxide, pull request 123: a replay honours its own ReturnConsumedCapacity mode",
    ),
]


def read(name: str, stored: list[Wire], gets: list[Wire], answer: Wire, evidence: str, **more: Any) -> Vector:
    return Vector(
        name,
        operation="TransactGetItems",
        tables=[UNITS],
        given={"Units": stored},
        request={
            "TransactItems": [{"Get": {"TableName": "Units", **get}} for get in gets],
            "ReturnConsumedCapacity": "TOTAL",
            **more,
        },
        answer=answer,
        evidence=evidence,
    )


READS = [
    read(
        "read_costs_2_for_an_item_and_for_a_missing_one",
        [item()],
        [{"Key": key()}, {"Key": key("missing")}],
        {"Responses": [{"Item": item()}, {}], "ConsumedCapacity": [total(4, split=READ)]},
        'ExtendDB issue 76, the answer of the service: "CapacityUnits":4.0,"ReadCapacityUnits":4.0',
    ),
    read(
        "read_names_the_units_of_its_table",
        [item()],
        [{"Key": key()}, {"Key": key("missing")}],
        {"Responses": [{"Item": item()}, {}], "ConsumedCapacity": [consumed(4, split=READ)]},
        'ExtendDB issue 77, the answer of the service: "Table": {"ReadCapacityUnits":4.0,"CapacityUnits":4.0}',
        ReturnConsumedCapacity="INDEXES",
    ),
    read(
        "read_of_more_than_4_kilobytes_costs_4",
        [sized(item(), 4097)],
        [{"Key": key()}],
        {"Responses": [{"Item": sized(item(), 4097)}], "ConsumedCapacity": [total(4, split=READ)]},
        'AWS guide, "DynamoDB read and write operations": a transactional read of 8 KB takes four read units',
    ),
    read(
        "read_of_one_attribute_costs_the_whole_item",
        [sized(item(), 4097)],
        [{"Key": key(), "ProjectionExpression": "sk"}],
        {"Responses": [{"Item": {"sk": {"S": "1"}}}], "ConsumedCapacity": [total(4, split=READ)]},
        "dynoxide's changelog: GetItem and TransactGetItems charge the whole item whatever the projection returns",
    ),
    read(
        "three_reads_of_500_bytes_cost_6",
        [sized(item(pk), 500) for pk in "abc"],
        [{"Key": key(pk)} for pk in "abc"],
        {
            "Responses": [{"Item": sized(item(pk), 500)} for pk in "abc"],
            "ConsumedCapacity": [total(6, split=READ)],
        },
        f"{TRANSACTIONS}: reads three 500-byte items ... provision six read capacity units",
    ),
    read(
        "read_reports_nothing_for_none",
        [item()],
        [{"Key": key()}],
        {"Responses": [{"Item": item()}]},
        "API reference, TransactGetItems: only TOTAL and INDEXES return units",
        ReturnConsumedCapacity="NONE",
    ),
    Vector(
        "read_reports_each_table",
        operation="TransactGetItems",
        tables=[HASH, HASH_RANGE],
        request={
            "TransactItems": [
                {"Get": {"TableName": "Hash", "Key": {"p": {"S": "a"}}}},
                {"Get": {"TableName": "HashRange", "Key": {"p": {"S": "a"}, "s": {"S": "1"}}}},
                {"Get": {"TableName": "Hash", "Key": {"p": {"S": "b"}}}},
            ],
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={
            "Responses": [{}, {}, {}],
            "ConsumedCapacity": unordered(
                [total(4, table="Hash", split=READ), total(2, table="HashRange", split=READ)]
            ),
        },
        evidence="API reference, TransactGetItems: an array of ConsumedCapacity objects, one for each table",
    ),
]

VECTORS = [*WRITES, *REPETITIONS, *READS]
