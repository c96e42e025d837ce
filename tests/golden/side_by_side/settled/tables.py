"""The operations on tables."""

from __future__ import annotations

import orjson

from golden.side_by_side.arena import Case
from golden.side_by_side.comparison import Difference
from golden.side_by_side.settled.faults import request_of
from golden.side_by_side.settled.rule import Rule

TABLE_OPERATIONS = ("CreateTable", "UpdateTable", "DeleteTable", "DescribeTable", "ListTables")


def _are_refused_alike(case: Case, _difference: Difference) -> bool:
    return case.ours.code == case.theirs.code and case.ours.status == case.theirs.status


TABLE_RULES: list[Rule] = [
    Rule(
        name="words of the control plane",
        why="DynamoDB Local words what it refuses of tables in its own way throughout; the error is the "
        "same.",
        evidence=(
            "captures of CreateTable and UpdateTable in wire/validation/live_shapes.py and golden/vectors: AWS's "
            "own words"
        ),
        aspect="refusal",
        ours="(Validation|ResourceInUse|ResourceNotFound|LimitExceeded)Exception: .*",
        theirs=r"\w+: .*",
        operations=TABLE_OPERATIONS,
        when=_are_refused_alike,
    ),
    Rule(
        name="table class",
        why="DynamoDB Local does not know table classes.",
        evidence="API reference, CreateTable and UpdateTable: TableClass",
        aspect="refusal",
        ours="OK|ValidationException: Invalid table-class parameter provided.*",
        theirs="OK|ValidationException: Nothing to update|ResourceInUseException: .*",
        operations=("CreateTable", "UpdateTable"),
        when=lambda case, _difference: "TableClass" in request_of(case),
    ),
    Rule(
        name="throughput and billing mode",
        why="DynamoDB Local takes any throughput in any billing mode, or fails inside.",
        evidence=(
            "API reference, UpdateTable: ProvisionedThroughput, BillingMode; dynalite and dynoxide refuse "
            "them too"
        ),
        aspect="refusal",
        ours=(
            "ValidationException: One or more parameter values were invalid: (ProvisionedThroughput "
            "(must|cannot) be specified when BillingMode is .*|Neither ReadCapacityUnits nor "
            "WriteCapacityUnits can be specified when .*|Both ReadCapacityUnits and WriteCapacityUnits must "
            "be specified .*|ProvisionedThroughput must be specified for index: .*|AttributeDefinitions is "
            "not specified for index: .*|The only Updates for index: .* when TableThroughputMode is "
            "PAY_PER_REQUEST can be to .*)"
        ),
        theirs="OK|InternalFailure: .*",
        operations=("CreateTable", "UpdateTable"),
    ),
    Rule(
        name="updates of indexes",
        why="DynamoDB Local fails inside where an update of indexes is wrong.",
        evidence="wire/operations/update_table.py: captures of UpdateTable",
        aspect="refusal",
        ours=(
            "ValidationException: (One or more parameter values were invalid: Duplicate element in "
            "NonKeyAttributes: .*|The KeySchema contains multiple key attributes with the same name)"
        ),
        theirs="InternalFailure: .*",
        operations=("UpdateTable",),
    ),
    Rule(
        name="removal of an index",
        why="DynamoDB Local goes on telling of an index that is being removed.",
        evidence="its own answers: the status of the index is DELETING",
        aspect="state",
        operations=("UpdateTable",),
        when=lambda case, _difference: '"Delete"' in orjson.dumps(request_of(case)).decode(),
    ),
]
