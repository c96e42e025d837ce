"""What requests answer, what they leave in a table, and what they cost."""

from __future__ import annotations

from typing import Any, cast

from golden.side_by_side.arena import Case
from golden.side_by_side.comparison import Difference, normal
from golden.side_by_side.requests import Script
from golden.side_by_side.settled.faults import (
    design_of,
    has_update_without_action,
    request_of,
    units,
    without_split,
)
from golden.side_by_side.settled.rule import Rule
from golden.side_by_side.slips import places


def _items(case: Case) -> list[Any]:
    assert isinstance(case.script, Script)
    return cast("list[Any]", normal(case.script.scene.items))


def _has_local_index(case: Case, _difference: Difference) -> bool:
    return any(index.is_local for index in design_of(case).indexes)


def _is_untold(case: Case, difference: Difference) -> bool:
    return difference.theirs is None and _has_local_index(case, difference)


def _is_unasked(case: Case, difference: Difference) -> bool:
    return difference.ours is None and request_of(case).get("ReturnConsumedCapacity") in (None, "NONE")


def _holds_nothing_new(_case: Case, difference: Difference) -> bool:
    """Tell whether DynamoDB Local has made items of nothing but a key."""
    if not isinstance(difference.ours, list):
        return False
    return [item for item in difference.theirs if item not in difference.ours] != [] and all(
        item in difference.theirs for item in difference.ours
    )


def _found_nothing(case: Case, difference: Difference) -> bool:
    """Tell whether a read that came to nothing costs half a unit here, or one, and nothing there."""
    ours, theirs = units(difference.ours), units(difference.theirs)
    return len(ours) == len(theirs) and all(
        one == other or (other == 0.0 and one in (0.5, 1.0)) for one, other in zip(ours, theirs, strict=True)
    )


def _missed_keys(case: Case, difference: Difference) -> bool:
    """Tell whether we count half a unit, or one, more for each key of a batch that no item has."""
    (part,) = request_of(case)["RequestItems"].values()
    held = [{name: item[name] for name in design_of(case).keys} for item in _items(case)]
    missed = sum(key not in held for key in normal(part["Keys"])) * (
        1.0 if part.get("ConsistentRead") else 0.5
    )
    ours, theirs = units(difference.ours), units(difference.theirs)
    return all(one == other + missed for one, other in zip(ours, theirs, strict=True))


def _scans_filtered_index(case: Case, difference: Difference) -> bool:
    """Tell whether both scanned the same entries of a global index that holds less than the items."""
    request = request_of(case)
    index = next((index for index in design_of(case).indexes if index.name == request["IndexName"]), None)
    return (
        index is not None
        and not index.is_local
        and index.projection != "ALL"
        and ("FilterExpression" in request or "ScanFilter" in request)
        and bool(difference.ours["ScannedCount"] == difference.theirs["ScannedCount"])
    )


def _projects_nothing(_case: Case, difference: Difference) -> bool:
    theirs = [{} if response == {"Item": {}} else response for response in difference.theirs["Responses"]]
    return bool(difference.ours["Responses"] == theirs)


def _follows_removal(case: Case, _difference: Difference) -> bool:
    return any(other.aspect == "state" and _holds_nothing_new(case, other) for other in case.differences)


def _is_unsplit(_case: Case, difference: Difference) -> bool:
    """Tell whether two reports of units differ only in the members that split reads from writes."""
    return bool(without_split(difference.ours) == difference.theirs)


def _costs_two_an_action(case: Case, difference: Difference) -> bool:
    """Tell whether each action of a transaction costs two units, and what it writes to indexes on top."""
    actions = len(request_of(case)["TransactItems"])
    ours = max(units(without_split(difference.ours)))
    return ours >= 2 * actions if design_of(case).indexes else ours == 2 * actions


def _fetches_from_table(case: Case, difference: Difference) -> bool:
    name = request_of(case).get("IndexName")
    index = next((index for index in design_of(case).indexes if index.name == name), None)
    is_partial = index is not None and index.is_local and index.projection != "ALL"
    return is_partial and max(units(difference.ours)) > max(units(difference.theirs))


def _has_deletes(case: Case, _difference: Difference) -> bool:
    return any(path[-1] in ("DeleteRequest", "Delete") for path, _found in places(request_of(case)))


def _counts_missing_entries(case: Case, difference: Difference) -> bool:
    """Tell whether DynamoDB Local counts more, for a table whose indexes have several key attributes."""
    if all(len(index.keys) < 3 and len(index.hashes) < 2 for index in design_of(case).indexes):
        return False
    ours, theirs = units(difference.ours), units(difference.theirs)
    return bool(ours) and bool(theirs) and max(ours) < max(theirs)


ANSWER_RULES: list[Rule] = [
    Rule(
        name="index scans filter what the index holds",
        why="DynamoDB Local filters a scan of a global index by the items of the table.",
        evidence=(
            "developer guide, global secondary indexes: 'you can retrieve only the attributes projected into "
            "the index'"
        ),
        aspect="answer",
        operations=("Scan",),
        when=_scans_filtered_index,
    ),
    Rule(
        name="capacity of keys without items",
        why="A key without an item costs what the smallest read costs.",
        evidence="see 'capacity of nothing'",
        aspect="capacity",
        operations=("BatchGetItem",),
        when=_missed_keys,
    ),
    Rule(
        name="update without an action",
        why="The default action of AttributeUpdates is PUT; DynamoDB Local does nothing.",
        evidence="API reference, AttributeUpdates: 'Action … PUT'; dynalite and dynoxide put",
        aspect="state",
        operations=("UpdateItem",),
        when=has_update_without_action,
    ),
    Rule(
        name="update without an action: attributes",
        why="See 'update without an action'.",
        evidence="API reference, AttributeUpdates",
        aspect="answer",
        operations=("UpdateItem",),
        when=has_update_without_action,
    ),
    Rule(
        name="update without an action: units",
        why="See 'update without an action'.",
        evidence="API reference, AttributeUpdates",
        aspect="capacity",
        operations=("UpdateItem",),
        when=has_update_without_action,
    ),
    Rule(
        name="entries of indexes with several key attributes",
        why="An item without all key attributes has no entry, and costs nothing there.",
        evidence=(
            "developer guide, global secondary indexes with several key attributes: items that lack one are "
            "not indexed"
        ),
        aspect="capacity",
        when=_counts_missing_entries,
    ),
    Rule(
        name="units of deletes",
        why="A delete costs one unit in a batch and two in a transaction; DynamoDB Local counts otherwise.",
        evidence=(
            "API reference, DeleteItem and TransactWriteItems; developer guide, capacity unit consumption: "
            "'one additional write' for a transaction"
        ),
        aspect="capacity",
        operations=("BatchWriteItem", "TransactWriteItems"),
        when=_has_deletes,
    ),
    Rule(
        name="units of transactions",
        why="Each action costs two units, and an index entry what it costs otherwise.",
        evidence="developer guide, transactions: 'two underlying reads or writes of every item'",
        aspect="capacity",
        operations=("TransactWriteItems",),
        when=_costs_two_an_action,
    ),
    Rule(
        name="fetches through local indexes",
        why="What a local index does not hold is fetched from the table, item by item, and costs.",
        evidence="developer guide, local secondary indexes: 'DynamoDB … fetch … additional read "
        "capacity units'",
        aspect="capacity",
        operations=("Query", "Scan"),
        when=_fetches_from_table,
    ),
    Rule(
        name="nothing projected in a transaction",
        why="TransactGetItems leaves out an item of which nothing was asked for.",
        evidence=(
            "ExtendDB issue 74: 'DynamoDB returns {\"Responses\":[{}]}'; dynoxide issue 53, verified against "
            "AWS"
        ),
        aspect="answer",
        operations=("TransactGetItems",),
        when=_projects_nothing,
    ),
    Rule(
        name="units split in transactions",
        why="AWS tells reads and writes of a transaction apart.",
        evidence=(
            "API reference, ConsumedCapacity: ReadCapacityUnits, WriteCapacityUnits; conformance suite, "
            "transactGet.test.ts"
        ),
        aspect="capacity",
        operations=("TransactGetItems", "TransactWriteItems"),
        when=_is_unsplit,
    ),
    Rule(
        name="what follows from a removal: units",
        why="An update that creates nothing writes no index entry.",
        evidence="see 'removal creates nothing'",
        aspect="capacity",
        operations=("UpdateItem", "TransactWriteItems"),
        when=_follows_removal,
    ),
    Rule(
        name="what follows from a removal: attributes",
        why="An update that creates nothing has no new attributes.",
        evidence="see 'removal creates nothing'",
        aspect="answer",
        operations=("UpdateItem",),
        when=_follows_removal,
    ),
    Rule(
        name="collection metrics",
        why="DynamoDB Local never tells the size of an item collection.",
        evidence=(
            "API reference, PutItem: 'Information about item collections, if any, that were affected … "
            "returned if ReturnItemCollectionMetrics is SIZE'; conformance suite, "
            "itemCollectionMetrics.test.ts"
        ),
        aspect="collections",
        when=_is_untold,
    ),
    Rule(
        name="capacity unasked",
        why="DynamoDB Local tells the units of a DeleteItem that did not ask for them.",
        evidence=(
            "API reference, DeleteItem: 'ConsumedCapacity is only returned if … ReturnConsumedCapacity … "
            "specified'"
        ),
        aspect="capacity",
        operations=("DeleteItem",),
        when=_is_unasked,
    ),
    Rule(
        name="capacity of nothing",
        why="A read that finds nothing costs what the smallest read costs.",
        evidence=(
            "developer guide, capacity unit consumption: 'If you perform a read operation on an item that "
            "does not exist, DynamoDB still consumes provisioned read throughput'"
        ),
        aspect="capacity",
        operations=("BatchGetItem", "Query", "Scan"),
        when=_found_nothing,
    ),
    Rule(
        name="removal creates nothing",
        why="An update that only removes does not create an item; in DynamoDB Local it does.",
        evidence="ScyllaDB's test_update_expression.py, run against AWS",
        aspect="state",
        operations=("UpdateItem", "TransactWriteItems"),
        when=_holds_nothing_new,
    ),
]
