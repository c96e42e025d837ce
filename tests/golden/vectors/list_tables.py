"""ListTables. Other tables may be there: these have a place of their own in the order."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import anything, including
from golden.vectors.tables import table
from golden.vectors.vector import Vector, validation

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/listTables.js)"

LISTED = [table(name, "p", types={"p": "S"}) for name in ("List-3", "List-1", "List-2")]
OF_BOTH_CASES = [table(name, "p", types={"p": "S"}) for name in ("List-x", "List-X", "List-_")]


def listed(name: str, request: dict[str, Any], answer: Any, evidence: str) -> Vector:
    return Vector(
        name, operation="ListTables", tables=LISTED, request=request, answer=answer, evidence=evidence
    )


def refused(name: str, request: dict[str, Any], message: str, evidence: str) -> Vector:
    return Vector(name, operation="ListTables", request=request, error=validation(message), evidence=evidence)


def of_limit(value: int, constraint: str) -> str:
    return f"Value '{value}' at 'limit' failed to satisfy constraint: {constraint}"


def of_start(value: str, constraint: str) -> str:
    return f"Value '{value}' at 'exclusiveStartTableName' failed to satisfy constraint: {constraint}"


SHORT = "Member must have length greater than or equal to 3"
LONG = "Member must have length less than or equal to 255"
PATTERN = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"

VECTORS = [
    Vector(
        "names_come_in_the_order_of_their_bytes",
        operation="ListTables",
        tables=OF_BOTH_CASES,
        request={"ExclusiveStartTableName": "List-A", "Limit": 3},
        answer=including({"TableNames": ["List-X", "List-_", "List-x"]}),
        evidence=f"{ACK}DDB-TABLE-012: bytewise, upper before lower",
    ),
    listed(
        "a_page_names_where_to_go_on",
        {"ExclusiveStartTableName": "List-0", "Limit": 2},
        {"TableNames": ["List-1", "List-2"], "LastEvaluatedTableName": "List-2"},
        f"{DYNALITE}: Limit and LastEvaluatedTableName",
    ),
    listed(
        "the_next_page_goes_on_there",
        {"ExclusiveStartTableName": "List-2", "Limit": 1},
        including({"TableNames": ["List-3"]}),
        DYNALITE,
    ),
    listed(
        "a_name_that_is_not_there_is_a_place_too",
        {"ExclusiveStartTableName": "List-1a", "Limit": 1},
        including({"TableNames": ["List-2"]}),
        f"{ACK}DDB-TABLE-379: a deleted or never-existing name is accepted",
    ),
    listed(
        "behind_the_last_name_there_is_nothing",
        {"ExclusiveStartTableName": "zzzzzzzzzzzzzzzzzzzz"},
        {"TableNames": []},
        f"{ACK}DDB-TABLE-012: no LastEvaluatedTableName on the last page",
    ),
    listed(
        "without_parameters_the_first_names_come",
        {},
        including({"TableNames": anything}),
        "AWS API reference, ListTables: up to 100 names",
    ),
    refused(
        "a_limit_of_zero",
        {"Limit": 0},
        f"1 validation error detected: {of_limit(0, 'Member must have value greater than or equal to 1')}",
        f"{ACK}DDB-TABLE-457: list_tables_limit0",
    ),
    refused(
        "a_limit_of_a_hundred_and_one",
        {"Limit": 101},
        f"1 validation error detected: {of_limit(101, 'Member must have value less than or equal to 100')}",
        DYNALITE,
    ),
    refused(
        "an_empty_start",
        {"ExclusiveStartTableName": ""},
        f"2 validation errors detected: {of_start('', PATTERN)}; {of_start('', SHORT)}",
        f"{ACK}DDB-TABLE-457: list_tables_start_empty: the pattern is told first",
    ),
    refused(
        "a_start_and_a_limit_that_are_wrong",
        {"ExclusiveStartTableName": "a;", "Limit": 500},
        "3 validation errors detected: "
        f"{of_limit(500, 'Member must have value less than or equal to 100')}; "
        f"{of_start('a;', PATTERN)}; {of_start('a;', SHORT)}",
        DYNALITE,
    ),
    refused(
        "a_start_that_is_too_long",
        {"ExclusiveStartTableName": "a" * 256},
        f"1 validation error detected: {of_start('a' * 256, LONG)}",
        DYNALITE,
    ),
    refused(
        "an_arn_as_start",
        {"ExclusiveStartTableName": "arn:aws:dynamodb:us-east-1:000000000000:table/Hash"},
        "1 validation error detected: "
        + of_start("arn:aws:dynamodb:us-east-1:000000000000:table/Hash", PATTERN),
        f"{ACK}DDB-TABLE-072: DescribeTable accepts the full table ARN; the ListTables cursor does not",
    ),
]
