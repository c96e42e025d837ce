"""What is wrong with a request in itself: types, constraints, values, placeholders; and what comes "
"before what."""

from __future__ import annotations

import re

import orjson

from golden.side_by_side.arena import Case
from golden.side_by_side.comparison import Difference
from golden.side_by_side.settled.faults import (
    FORM,
    KEY_FAULTS,
    VALUE_FAULTS,
    is_malformed,
    is_mistyped,
    request_of,
)
from golden.side_by_side.settled.rule import Rule
from golden.side_by_side.slips import places


def _has_wide_zero(case: Case, _difference: Difference) -> bool:
    return '"0e500"' in orjson.dumps(request_of(case)).decode()


def _has_empty_placeholders(case: Case, _difference: Difference) -> bool:
    return any(
        key in ("ExpressionAttributeNames", "ExpressionAttributeValues") and found == {}
        for path, found in places(request_of(case))
        for key in path[-1:]
    )


def _only_removes(case: Case, _difference: Difference) -> bool:
    expressions = [found for path, found in places(request_of(case)) if path[-1:] == ("UpdateExpression",)]
    return any(
        isinstance(text, str) and not re.search(r"\b(?:SET|ADD)\b", text, re.IGNORECASE)
        for text in expressions
    )


FORM_RULES: list[Rule] = [
    Rule(
        name="syntax that fails inside",
        why="DynamoDB Local fails inside where something other than a name follows a point.",
        evidence="its own answer: 'Internal server error'",
        aspect="refusal",
        ours="ValidationException: Invalid (?P<what>[A-Za-z]+)Expression: Syntax error; .*",
        theirs="ValidationException: Invalid {what}Expression: Internal server error",
    ),
    Rule(
        name="wrong JSON type",
        why="DynamoDB Local converts what it can, and fails inside where it cannot.",
        evidence="dynalite's tests of every operation, run against AWS: SerializationException",
        aspect="refusal",
        ours="SerializationException: .*",
        theirs=".*",
        when=is_mistyped,
    ),
    Rule(
        name="value of a placeholder",
        why="Since 2026 AWS names the key of a placeholder only for a value of no type or of two.",
        evidence="measured on the service in October 2026 (expressions/placeholders.py)",
        aspect="refusal",
        ours=r"ValidationException: (?P<fault>(?!ExpressionAttributeValues).*?)\.?",
        theirs=r"ValidationException: ExpressionAttributeValues contains invalid value: {fault}\.? for "
        r"key :\w+",
    ),
    Rule(
        name="zero out of range",
        why="AWS holds a zero to the range of numbers by its exponent.",
        evidence="measured on the service in October 2026 (values/numbers.py): '0e126' overflows",
        aspect="refusal",
        ours=(
            "ValidationException: (1 validation error detected: |.* contains invalid value: )?Number "
            "(over|under)flow.*"
        ),
        theirs=".*",
        when=_has_wide_zero,
    ),
    Rule(
        name="empty maps of placeholders",
        why="DynamoDB Local takes an empty map of placeholders for none.",
        evidence=(
            "dynalite, whose tests ran against AWS: 'can only be specified when using expressions', 'must "
            "not be empty'"
        ),
        aspect="refusal",
        ours=(
            "ValidationException: (1 validation error detected: )?ExpressionAttribute(Names|Values) (can "
            "only be specified when using expressions.*|must not be empty)"
        ),
        theirs=".*",
        when=_has_empty_placeholders,
    ),
    Rule(
        name="form before table",
        why="AWS reads the whole request before it looks for the table.",
        evidence=(
            "dynalite's order of checks, tested against AWS; floci's captures of eu-west-2, September 2026: "
            "a wrong ADD operand is told although the table does not exist"
        ),
        aspect="refusal",
        ours="ValidationException: .*",
        theirs="no table|ResourceNotFoundException: .*",
    ),
    Rule(
        name="form before keys",
        why="AWS reads values and expressions before it holds a key against the table's.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours=f"ValidationException: {FORM}",
        theirs=f"ValidationException: {KEY_FAULTS}",
    ),
    Rule(
        name="return values",
        why="DynamoDB Local has a sentence of its own.",
        evidence=(
            "captures of paritysuite/dynamodb-conformance, 2026; dynalite: 'ReturnValues can only be ALL_OLD "
            "or NONE'"
        ),
        aspect="refusal",
        ours="ValidationException: (1 validation error detected: )?ReturnValues can only be ALL_OLD or NONE",
        theirs="ValidationException: Return values set to invalid value",
        operations=("PutItem", "DeleteItem"),
    ),
    Rule(
        name="key of another shape",
        why="AWS has one sentence for a key that does not fit, whatever it is.",
        evidence="AWS as quoted in many issues: 'The provided key element does not match the schema'",
        aspect="refusal",
        ours="ValidationException: The provided key element does not match the schema",
        theirs=(
            "ValidationException: (The number of conditions on the keys is invalid|One of the required keys "
            "was not given a value|Invalid attribute value type|One or more parameter values were invalid: "
            "Type mismatch for key)"
        ),
    ),
    Rule(
        name="nothing where a member should be",
        why="DynamoDB Local fails inside, or says something else, where a set or a map holds a null.",
        evidence="values/rules.py: measured on the service in October 2026",
        aspect="refusal",
        ours=(
            "ValidationException: (1 validation error detected: )?(One or more parameter values were "
            "invalid: (Binary sets may not contain null values|An (string|number) set may not have a null "
            "string as a member)|Supplied AttributeValue is empty, must contain exactly one of the supported "
            "datatypes)"
        ),
        theirs=(
            "InternalFailure: .*|not a number|ValidationException: (A value provided cannot be converted "
            "into a number|The supplied Item contains a null AttributeValue: .* is null)"
        ),
        when=is_malformed,
    ),
    Rule(
        name="batch of nothing",
        why="DynamoDB Local has a sentence of its own.",
        evidence="captures of paritysuite/dynamodb-conformance, October 2026: batch-empty-request-items",
        aspect="refusal",
        ours="ValidationException: The requestItems parameter is required for BatchWriteItem",
        theirs="ValidationException: BatchWriteItem cannot have a null or no requests set",
        operations=("BatchWriteItem",),
    ),
    Rule(
        name="which operand of several",
        why=(
            "Which of several wrong operands is told depends on the order of a hash table of DynamoDB Local; "
            "we take them as written."
        ),
        evidence=(
            "no source shows AWS's order; 'SET a = s + :n, b = zz' and 'SET b = zz, a = s + :n' get one "
            "answer there"
        ),
        aspect="refusal",
        ours=(
            "ValidationException: (The provided expression refers to an attribute that does not exist in the "
            "item|An operand in the update expression has an incorrect data type)"
        ),
        theirs=(
            "ValidationException: (The provided expression refers to an attribute that does not exist in the "
            "item|An operand in the update expression has an incorrect data type)"
        ),
        operations=("UpdateItem",),
    ),
    Rule(
        name="size as a name",
        why="DynamoDB Local takes the name of this function for that of an attribute.",
        evidence="captures of paritysuite/dynamodb-conformance, 2026: a reserved keyword",
        aspect="refusal",
        ours=r"ValidationException: Invalid \w+: Attribute name is a reserved keyword; reserved keyword: size",
        theirs=".*",
    ),
    Rule(
        name="empty key in a batch",
        why="AWS holds an empty key against the table's keys as any other.",
        evidence="dynalite, whose tests ran against AWS",
        aspect="refusal",
        ours=(
            "ValidationException: (The provided key element does not match the schema|Provided list of item keys "
            "contains duplicates)"
        ),
        theirs=(
            "ValidationException: The list of keys in RequestItems for BatchGetItem may not contain null or "
            "empty values: .*"
        ),
        operations=("BatchGetItem",),
    ),
    Rule(
        name="projection before doubles",
        why="AWS reads the projection before the keys.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours="ValidationException: Invalid ProjectionExpression: .*",
        theirs="ValidationException: Provided list of item keys contains duplicates",
        operations=("BatchGetItem",),
    ),
    Rule(
        name="values before return values",
        why="AWS reads the values of an item or key before ReturnValues.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours=f"ValidationException: {VALUE_FAULTS}",
        theirs="ValidationException: Return values set to invalid value",
        operations=("PutItem", "DeleteItem"),
    ),
    Rule(
        name="values of keys before expressions",
        why="AWS reads the values of a key before the expressions.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours=f"ValidationException: {VALUE_FAULTS}",
        theirs=(
            "ValidationException: (ExpressionAttribute(Names|Values) contains .*|Invalid "
            "(Projection|Condition)Expression: .*|Value provided in ExpressionAttribute.*)"
        ),
        operations=("GetItem", "PutItem", "DeleteItem", "UpdateItem"),
    ),
    Rule(
        name="empty names first",
        why="AWS looks for empty names before it reads any value.",
        evidence=(
            "dynoxide, from captures of October 2026: an empty name is refused 'before it reads or parses an "
            "expression'"
        ),
        aspect="refusal",
        ours=(
            "ValidationException: ExpressionAttributeNames contains invalid value: Empty attribute name for "
            "key .*"
        ),
        theirs=(
            "ValidationException: (ExpressionAttributeValues (must not be empty|contains .*|can only be "
            ".*)|Cannot have two .*)"
        ),
    ),
    Rule(
        name="type of a computed index key",
        why="DynamoDB Local says of a computed value what AWS says of a literal one.",
        evidence="dynalite's tests of UpdateItem, run against AWS: 'set c = e'",
        aspect="refusal",
        ours=(
            "ValidationException: The update expression attempted to update the secondary index key to "
            "unsupported type"
        ),
        theirs=(
            "ValidationException: (One or more parameter values were invalid: Type mismatch for Index "
            "Key.*|Invalid attribute value type)|OK"
        ),
        operations=("UpdateItem",),
    ),
    Rule(
        name="index keys before paths",
        why="AWS looks at literal values of index keys before it reads the item.",
        evidence="dynalite, validateUpdates: its tests ran against AWS",
        aspect="refusal",
        ours="ValidationException: One or more parameter values were invalid: Type mismatch for Index Key .*",
        theirs=(
            "ValidationException: (The document path provided in the update expression is invalid for "
            "update|The provided expression refers to .*|An operand in the update expression "
            ".*)|ConditionalCheckFailedException: .*|OK"
        ),
        operations=("UpdateItem",),
    ),
    Rule(
        name="comparison operator",
        why="AWS refuses an unknown operator before it looks for the table's keys and indexes.",
        evidence="dynoxide, from captures of October 2026",
        aspect="refusal",
        ours="ValidationException: One or more parameter values were invalid: Invalid comparison operator",
        theirs="ValidationException: .*|OK|ConditionalCheckFailedException: .*|InternalFailure: .*",
        when=is_malformed,
    ),
    Rule(
        name="repeated attribute before the cursor",
        why="AWS looks at AttributesToGet before it looks at the cursor.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours=(
            "ValidationException: One or more parameter values were invalid: Duplicate value in attribute "
            "name: .*"
        ),
        theirs=(
            "ValidationException: (The provided starting key .*|Exclusive Start Key must .*|The table does "
            "not have .*|One or more parameter values .*|Query condition missed .*|The provided key element "
            ".*|One of the required keys .*|The number of conditions .*|Provided list of item keys .*)"
        ),
    ),
    Rule(
        name="nothing to put",
        why="AWS holds an empty item against the table's keys as any other.",
        evidence="dynalite, whose tests ran against AWS; dynoxide",
        aspect="refusal",
        ours=(
            "ValidationException: (The provided key element does not match the schema|One or more parameter "
            "values were invalid: Missing the key .* in the item)"
        ),
        theirs="ValidationException: Item to put in PutItem cannot be null",
        operations=("BatchWriteItem", "PutItem"),
    ),
    Rule(
        name="constraints of the model",
        why="DynamoDB Local checks few constraints of the service model, and those in words of its own.",
        evidence="captures of paritysuite/dynamodb-conformance, 2026: families echo-scalar, "
        "echo-collection, enum",
        aspect="refusal",
        ours=(
            r"ValidationException: (\d+ validation errors? detected: )?(Value (.* )?at '.*' failed to "
            r"satisfy "
            "constraint|Value null at '.*'|Failed to satisfy constraint): .*"
        ),
        theirs=".*",
        when=is_malformed,
    ),
    Rule(
        name="operands before paths",
        why="AWS works out all values of an update before it follows any path.",
        evidence="measured on the service in October 2026 (conformance suite, updateItem/paths.test.ts)",
        aspect="refusal",
        ours=(
            "ValidationException: (The provided expression refers to an attribute that does not exist in the "
            "item|An operand in the update expression has an incorrect data type)"
        ),
        theirs="ValidationException: The document path provided in the update expression is invalid for "
        "update",
        operations=("UpdateItem",),
    ),
    Rule(
        name="removals from nothing",
        why="An update that only removes follows no path where there is no item.",
        evidence="ScyllaDB's test_nested_attribute_remove_from_missing_item, run against AWS",
        aspect="refusal",
        ours="OK",
        theirs="ValidationException: The document path provided in the update expression is invalid for "
        "update",
        operations=("UpdateItem", "TransactWriteItems"),
        when=_only_removes,
    ),
]
