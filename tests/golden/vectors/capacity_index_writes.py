"""Write units of indexes: entries that come, go, change and move."""

from __future__ import annotations

from golden.vectors.capacity import (
    DYNOXIDE,
    GLOBAL_GUIDE,
    MEMBER,
    SUITE,
    UNITS,
    UNITS_NARROW,
    consumed,
    delete,
    item,
    put,
    total,
    update,
)
from golden.vectors.tables import table
from golden.vectors.vector import Vector
from support.sample_tables import index

INDEX_UNITS = [
    put(
        "put_into_a_global_index_costs_a_write_there",
        None,
        item(g="g", proj="p"),
        consumed(1, gsi=1),
        f"{SUITE}: total 2, table 1, gsi 1",
    ),
    Vector(
        "total_holds_what_indexes_cost",
        operation="PutItem",
        tables=[UNITS],
        request={"TableName": "Units", "Item": item(g="g", proj="p"), "ReturnConsumedCapacity": "TOTAL"},
        answer={"ConsumedCapacity": total(2)},
        evidence=f"{SUITE}: folds the index cost into TOTAL with no breakdown arms",
    ),
    put(
        "put_into_no_index_names_none",
        None,
        item(rest="o"),
        consumed(1),
        f"{SUITE}: a write that costs an index nothing reports no arm at all",
    ),
    put(
        "put_into_a_local_index_costs_a_write_there",
        None,
        item(l="l"),
        consumed(1, lsi=1),
        f"{SUITE}: total 2, table 1, lsi 1",
    ),
    put(
        "put_into_both_kinds_of_index_costs_both",
        None,
        MEMBER,
        consumed(1, gsi=1, lsi=1),
        f"{SUITE}: total 3, table 1, gsi 1, lsi 1",
    ),
    put(
        "put_of_the_same_item_writes_to_no_index",
        MEMBER,
        MEMBER,
        consumed(1),
        f"{SUITE}: an identical overwrite reports the table write and no index arms",
    ),
    put(
        "put_of_the_same_set_in_another_order_writes_to_no_index",
        {**MEMBER, "proj": {"SS": ["a", "b", "c"]}},
        {**MEMBER, "proj": {"SS": ["c", "a", "b"]}},
        consumed(1),
        "dynoxide's changelog: an overwrite that reorders a set's members is free, as it is on DynamoDB",
    ),
    put(
        "put_of_another_set_writes_to_the_indexes_that_hold_it",
        {**MEMBER, "proj": {"NS": ["1", "2"]}},
        {**MEMBER, "proj": {"NS": ["2", "3"]}},
        consumed(1, gsi=1, lsi=1),
        GLOBAL_GUIDE,
    ),
    put(
        "put_of_a_list_in_another_order_writes_to_the_indexes_that_hold_it",
        {**MEMBER, "proj": {"L": [{"S": "a"}, {"S": "b"}]}},
        {**MEMBER, "proj": {"L": [{"S": "b"}, {"S": "a"}]}},
        consumed(1, gsi=1, lsi=1),
        GLOBAL_GUIDE,
    ),
    put(
        "put_of_the_same_number_written_otherwise_writes_to_no_index",
        {**MEMBER, "proj": {"N": "1"}},
        {**MEMBER, "proj": {"N": "1.0"}},
        consumed(1),
        'AWS guide, "Data types": leading and trailing zeroes are trimmed, so both are stored as the same number',
    ),
    put(
        "put_that_drops_the_key_of_an_index_costs_the_removal",
        item(g="g", l="l"),
        item(l="l"),
        consumed(1, gsi=1, lsi=1),
        f"{GLOBAL_GUIDE}: one write is required to delete the old item projection from the index",
    ),
    put(
        "index_costs_what_it_holds_of_an_item",
        None,
        item(g="g", proj="p", rest="x" * 3000),
        consumed(3, gsi=1),
        f"{DYNOXIDE}, S1: a 3,023 byte item whose entry has 18 bytes costs table 3, gsi 1",
    ),
    put(
        "large_entry_costs_more_than_one_unit",
        None,
        item(g="g", l="l", proj="x" * 3000),
        consumed(3, gsi=3, lsi=3),
        f"{GLOBAL_GUIDE}: Larger index entries will require additional write capacity units",
    ),
    update(
        "update_outside_a_projection_costs_that_index_nothing",
        MEMBER,
        "SET rest = :v",
        {"v": "o2"},
        consumed(1, lsi=1),
        f"{SUITE}: total 2, table 1, lsi 1",
    ),
    update(
        "update_of_a_projected_attribute_costs_a_write",
        MEMBER,
        "SET proj = :v",
        {"v": "p2"},
        consumed(1, gsi=1, lsi=1),
        f"{SUITE}: total 3, table 1, gsi 1, lsi 1",
    ),
    update(
        "update_of_an_index_key_costs_two_writes",
        MEMBER,
        "SET g = :v",
        {"v": "g2"},
        consumed(1, gsi=2, lsi=1),
        f"{SUITE}: total 4, table 1, gsi 2, lsi 1",
    ),
    update(
        "update_that_removes_an_index_key_costs_one_write",
        MEMBER,
        "REMOVE g",
        {},
        consumed(1, gsi=1, lsi=1),
        f"{SUITE}: total 3, table 1, gsi 1, lsi 1",
    ),
    update(
        "update_that_adds_an_index_key_costs_one_write",
        item(l="l"),
        "SET g = :v",
        {"v": "g"},
        consumed(1, gsi=1, lsi=1),
        f"{GLOBAL_GUIDE}: you update an existing item to define a previously undefined indexed attribute, one "
        "write operation is required",
    ),
    update(
        "update_of_a_local_key_costs_two_writes_there",
        MEMBER,
        "SET l = :v",
        {"v": "l2"},
        consumed(1, lsi=2),
        f"{SUITE}: total 3, table 1, lsi 2, and nothing for the global index, which does not hold it",
    ),
    update(
        "update_to_the_same_values_writes_to_no_index",
        MEMBER,
        "SET g = :g, l = :l, proj = :p",
        {"g": "g", "l": "l", "p": "p"},
        consumed(1),
        f"{SUITE}: index replication only charges when the write changes what the index stores",
    ),
    update(
        "update_that_makes_an_item_enters_its_indexes_once",
        None,
        "SET g = :g, l = :l",
        {"g": "g", "l": "l"},
        consumed(1, gsi=1, lsi=1),
        f"{DYNOXIDE}, F4, in a transaction: gsi 1, lsi 1",
    ),
    put(
        "entry_that_grows_costs_what_it_becomes",
        item(g="g", proj="p"),
        item(g="g", proj="x" * 3000),
        consumed(3, gsi=3),
        f"{DYNOXIDE}, S3: 18 to 3,020 bytes cost gsi 3",
    ),
    put(
        "entry_that_shrinks_costs_what_it_was",
        item(g="g", proj="x" * 3000),
        item(g="g", proj="p"),
        consumed(3, gsi=3),
        f"{DYNOXIDE}, S2: 3,017 to 18 bytes cost gsi 3",
    ),
    put(
        "entry_of_the_same_size_is_rounded_once",
        item(g="g", proj="x" * 1500),
        item(g="g", proj="y" * 1500),
        consumed(2, gsi=2),
        f"{DYNOXIDE}, R2: an in-place change at 1,517 bytes costs 2, not the 3 of both sizes together",
    ),
    put(
        "entry_that_shrinks_below_a_kilobyte_costs_what_it_was",
        item(g="g", proj="x" * 2000),
        item(g="g", proj="x" * 100),
        consumed(2, gsi=2),
        f"{DYNOXIDE}, R3: 2,017 down to 117 bytes cost 2",
    ),
    put(
        "entry_that_moves_costs_both_places",
        item(g="A", proj="x" * 1500),
        item(g="B", proj="x" * 1500),
        consumed(2, gsi=4),
        f"{DYNOXIDE}, S4: 1,517 bytes on both sides cost gsi 4",
    ),
    put(
        "entry_that_moves_costs_each_place_by_its_own_size",
        item(g="A", proj="x" * 3000),
        item(g="B", proj="p"),
        consumed(3, gsi=4),
        f"{DYNOXIDE}, S5: 3,017 bytes that become 18 cost gsi 4",
    ),
    update(
        "large_entry_that_leaves_costs_its_size",
        item(g="g", proj="x" * 3000),
        "REMOVE g",
        {},
        consumed(3, gsi=3),
        f"{DYNOXIDE}, S7: gsi 3",
    ),
    put(
        "local_entry_that_grows_costs_what_it_becomes",
        item(l="L", proj="p"),
        item(l="L", proj="x" * 3000),
        consumed(3, lsi=3, table="UnitsNarrow"),
        f"{DYNOXIDE}, L1: lsi 3",
        on=UNITS_NARROW,
    ),
    put(
        "local_entry_that_moves_costs_each_place_by_its_own_size",
        item(l="A", proj="x" * 3000),
        item(l="B", proj="p"),
        consumed(3, lsi=4, table="UnitsNarrow"),
        f"{DYNOXIDE}, L2: lsi 4",
        on=UNITS_NARROW,
    ),
    put(
        "local_index_costs_what_it_holds_of_an_item",
        None,
        item(l="L", rest="x" * 3000),
        consumed(3, lsi=1, table="UnitsNarrow"),
        f"{DYNOXIDE}: LSIs follow the same rules as GSIs",
        on=UNITS_NARROW,
    ),
    delete(
        "delete_costs_a_write_in_each_index_the_item_was_in",
        MEMBER,
        consumed(1, gsi=1, lsi=1),
        f"{SUITE}: total 3, table 1, gsi 1, lsi 1",
    ),
    delete(
        "delete_of_an_item_in_no_index_names_none", item(rest="o"), consumed(1), f"{SUITE}: total 1, table 1"
    ),
    delete(
        "delete_of_a_large_entry_costs_its_size",
        item(g="g", proj="x" * 3000),
        consumed(3, gsi=3),
        f"{DYNOXIDE}, S6: gsi 3",
    ),
]

# An index by the table's own sort key: an item that an update makes is new in it, though the request has its key.
BY_SORT_KEY = table(
    "UnitsBySortKey",
    "pk",
    "sk",
    types={"pk": "S", "sk": "S"},
    GlobalSecondaryIndexes=[index("gsi", "sk", projection="KEYS_ONLY")],
)
SEVERAL = table(
    "UnitsSeveral",
    "pk",
    "sk",
    types={"pk": "S", "sk": "S", "g": "S", "h": "S", "r": "S"},
    GlobalSecondaryIndexes=[
        {
            "IndexName": "gsi",
            "KeySchema": [
                {"AttributeName": "g", "KeyType": "HASH"},
                {"AttributeName": "h", "KeyType": "HASH"},
                {"AttributeName": "r", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
)
_SEVERAL_GUIDE = (
    'AWS guide, "Global secondary indexes": a change of the value of any index key attribute is a delete and a '
    "put; an item that lacks one is not in the index"
)

SPECIAL_INDEXES = [
    update(
        "item_that_an_update_makes_is_new_in_an_index_by_the_sort_key",
        None,
        "SET a = :v",
        {"v": "1"},
        consumed(1, gsi=1, table="UnitsBySortKey"),
        GLOBAL_GUIDE,
        on=BY_SORT_KEY,
    ),
    put(
        "put_into_an_index_by_several_attributes_costs_one_write",
        None,
        item(g="g", h="h", r="r"),
        consumed(1, gsi=1, table="UnitsSeveral"),
        _SEVERAL_GUIDE,
        on=SEVERAL,
    ),
    put(
        "put_without_one_of_several_key_attributes_costs_the_index_nothing",
        None,
        item(g="g", r="r"),
        consumed(1, table="UnitsSeveral"),
        _SEVERAL_GUIDE,
        on=SEVERAL,
    ),
    *(
        update(
            f"update_of_{words}_of_several_key_attributes_costs_two_writes",
            item(g="g", h="h", r="r"),
            f"SET {name} = :v",
            {"v": "2"},
            consumed(1, gsi=2, table="UnitsSeveral"),
            _SEVERAL_GUIDE,
            on=SEVERAL,
        )
        for name, words in (("h", "a_partition_key"), ("r", "a_sort_key"))
    ),
    update(
        "update_that_removes_one_of_several_key_attributes_costs_one_write",
        item(g="g", h="h", r="r"),
        "REMOVE h",
        {},
        consumed(1, gsi=1, table="UnitsSeveral"),
        _SEVERAL_GUIDE,
        on=SEVERAL,
    ),
]

VECTORS = [*INDEX_UNITS, *SPECIAL_INDEXES]
