"""Read units of indexes: by what they hold, and by what local ones fetch from their table."""

from __future__ import annotations

from golden.vectors.capacity import LOCAL_GUIDE, item, sized
from golden.vectors.capacity_reads import LEAST, items, of, page

DYNALITE = "dynalite's tests of the service (test/query.js)"
FETCHES = (
    "Measured in eu-west-2, August 2026, by the authors of dynoxide, with PartiQL: each is rounded by itself"
)
_OF_INDEX = 'AWS guide, "Global secondary indexes", "Read capacity units": by the sizes of the index entries'

INDEX_QUERIES = [
    page(
        "query_of_a_global_index_costs_the_index_alone",
        items(2, 1000, g="g"),
        of(0, gsi=0.5),
        f"{DYNALITE}: Table 0 beside the index",
        IndexName="gsi",
        KeyConditionExpression="g = :p",
        ExpressionAttributeValues={":p": {"S": "g"}},
    ),
    page(
        "query_of_eight_entries_of_2000_bytes_costs_2",
        items(8, 2000, g="g"),
        of(0, gsi=2),
        f"{_OF_INDEX}: 2000 bytes x 8 items = 16,000 bytes, the total cost is 0.5 x (16 KB / 4 KB)",
        IndexName="gsi",
        KeyConditionExpression="g = :p",
        ExpressionAttributeValues={":p": {"S": "g"}},
    ),
    page(
        "query_of_an_index_of_keys_costs_the_keys",
        items(8, 2000, g="g"),
        of(0, gsi_keys=0.5),
        _OF_INDEX,
        IndexName="gsi-keys",
        KeyConditionExpression="g = :p",
        ExpressionAttributeValues={":p": {"S": "g"}},
    ),
    page(
        "query_of_a_global_index_that_finds_nothing_costs_half_a_unit",
        [],
        of(0, gsi=0.5),
        LEAST,
        IndexName="gsi",
        KeyConditionExpression="g = :p",
        ExpressionAttributeValues={":p": {"S": "g"}},
    ),
    page(
        "query_of_a_local_index_costs_the_index_alone",
        items(3, 1000, l="l"),
        of(0, lsi=0.5),
        f"{DYNALITE}: Table 0 beside the index",
        IndexName="lsi",
    ),
    page(
        "consistent_query_of_a_local_index_costs_its_entries",
        items(3, 5000, l="l"),
        of(0, lsi_keys=1),
        f"{DYNALITE}: projected attributes only, Table 0, the index 1",
        IndexName="lsi-keys",
        ConsistentRead=True,
    ),
    page(
        "local_index_that_fetches_costs_both",
        items(4, 300, l="l", c="x" * 150),
        of(4, lsi_some=1),
        f"{LOCAL_GUIDE}: 4 items of 300 bytes, of which the index holds 200, are 4 KB + 4 x 4 KB = 20 KB",
        IndexName="lsi-some",
        Select="ALL_ATTRIBUTES",
        ConsistentRead=True,
    ),
    page(
        "local_index_that_fetches_late_costs_half_of_both",
        items(4, 300, l="l", c="x" * 150),
        of(2, lsi_some=0.5),
        LOCAL_GUIDE,
        IndexName="lsi-some",
        Select="ALL_ATTRIBUTES",
    ),
    page(
        "local_index_fetches_what_a_projection_names_and_it_lacks",
        items(2, 5000, l="l"),
        of(4, lsi_keys=1),
        f"{LOCAL_GUIDE}: this charge is for reading each entire item from the table, not just the requested "
        "attributes",
        IndexName="lsi-keys",
        ProjectionExpression="sk, x",
        ConsistentRead=True,
    ),
    page(
        "local_index_fetches_nothing_for_what_it_holds",
        items(2, 5000, l="l"),
        of(0, lsi_keys=1),
        f"{LOCAL_GUIDE}: queries that request only index keys and projected attributes",
        IndexName="lsi-keys",
        ProjectionExpression="sk, l",
        ConsistentRead=True,
    ),
    page(
        "local_index_of_everything_fetches_nothing",
        items(2, 5000, l="l"),
        of(0, lsi=3),
        LOCAL_GUIDE,
        IndexName="lsi",
        Select="ALL_ATTRIBUTES",
        ConsistentRead=True,
    ),
    page(
        "count_of_a_local_index_fetches_nothing",
        items(2, 5000, l="l"),
        of(0, lsi_keys=0.5),
        LOCAL_GUIDE,
        IndexName="lsi-keys",
        Select="COUNT",
    ),
    *(
        page(
            f"three_fetches_of_9_kilobytes_cost_{words}",
            items(3, 9100, l="l", c="c"),
            of(table_units, lsi_some=index_units),
            f"{FETCHES}: table {table_units}, lsi {index_units}",
            IndexName="lsi-some",
            ProjectionExpression="x",
            **more,
        )
        for words, table_units, index_units, more in (
            ("4_and_a_half", 4.5, 0.5, {}),
            ("9_if_they_are_consistent", 9, 1, {"ConsistentRead": True}),
            (
                "the_same_if_a_filter_drops_them",
                4.5,
                0.5,
                {
                    "FilterExpression": "c = :c",
                    "ExpressionAttributeValues": {":c": {"S": "absent"}},
                    "also": {"Count": 0, "ScannedCount": 3},
                },
            ),
        )
    ),
]

SCANS = [
    page(
        "scan_of_a_global_index_costs_its_entries",
        items(8, 2000, g="g"),
        of(0, gsi_keys=0.5),
        _OF_INDEX,
        operation="Scan",
        IndexName="gsi-keys",
    ),
    page(
        "scan_of_a_local_index_costs_its_entries",
        items(8, 2000, l="l"),
        of(0, lsi=2),
        LOCAL_GUIDE,
        operation="Scan",
        IndexName="lsi",
    ),
    page(
        "scan_of_a_sparse_index_costs_what_is_in_it",
        [*items(8, 2000), sized(item("b", g="g"), 2000)],
        of(0, gsi=0.5),
        _OF_INDEX,
        operation="Scan",
        IndexName="gsi",
    ),
]

VECTORS = [*INDEX_QUERIES, *SCANS]
