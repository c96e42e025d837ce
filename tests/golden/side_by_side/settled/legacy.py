"""The parameters from before there were expressions."""

from __future__ import annotations

from golden.side_by_side.settled.faults import (
    KEY_FAULTS,
    LEGACY_FAULTS,
    VALUE_FAULTS,
    has_update_without_action,
    request_of,
)
from golden.side_by_side.settled.rule import Rule

LEGACY_RULES: list[Rule] = [
    Rule(
        name="action of a legacy update",
        why="AWS says which member it is, with a quotation mark too many.",
        evidence="dynoxide, from captures of October 2026",
        aspect="refusal",
        ours=r"ValidationException: (?P<text>Member must satisfy enum value set: \[ADD, DELETE, PUT\])' "
        r"for Action",
        theirs="ValidationException: {text}",
        operations=("UpdateItem",),
    ),
    Rule(
        name="legacy values before the cursor",
        why="AWS reads the conditions of a filter before it looks at the cursor or the index.",
        evidence="dynalite's order of checks, tested against AWS; dynoxide, from captures of October 2026",
        aspect="refusal",
        ours=f"ValidationException: {LEGACY_FAULTS}",
        theirs=(
            "ValidationException: (The provided starting key .*|Exclusive Start Key must .*|Consistent "
            "reads are .*|Either the "
            "KeyConditions or .*|The table does not have the specified index: .*|Exclusive start key must "
            "lie within the segment|One or more parameter values were invalid: .*|Query condition missed "
            ".*|Invalid .*|Value must be provided when .*|One of the required keys was not given a value|The "
            "BETWEEN condition was .*|missing key|repeated attribute)"
        ),
    ),
    Rule(
        name="expressions and legacy parameters",
        why="AWS refuses both kinds in one request before it reads either.",
        evidence=(
            "captures of paritysuite/dynamodb-conformance, 2026: b_put_mix_expr; dynalite's tests, with "
            "empty maps too"
        ),
        aspect="refusal",
        ours=(
            "ValidationException: Can not use both expression and non-expression parameters in the same "
            "request: .*"
        ),
        theirs="OK|(ValidationException|ConditionalCheckFailedException): .*",
    ),
    Rule(
        name="cursor outside legacy conditions",
        why="AWS has a sentence of its own for a cursor outside of KeyConditions.",
        evidence="dynoxide, from captures of October 2026",
        aspect="refusal",
        ours="ValidationException: The provided exclusive start key is invalid",
        theirs="ValidationException: The provided starting key does not match the range key predicate",
        operations=("Query",),
    ),
    Rule(
        name="update without an action: refusals",
        why="What an update without an action would put is not looked at by DynamoDB Local.",
        evidence="API reference, AttributeUpdates",
        aspect="refusal",
        ours="ValidationException: .*",
        theirs="OK|ConditionalCheckFailedException: .*",
        operations=("UpdateItem",),
        when=has_update_without_action,
    ),
    Rule(
        name="index keys in legacy updates",
        why="DynamoDB Local has a sentence of its own.",
        evidence="dynalite, whose tests ran against AWS: 'Type mismatch for Index Key'",
        aspect="refusal",
        ours="ValidationException: One or more parameter values were invalid: Type mismatch for Index Key .*",
        theirs="ValidationException: Updates on index keys must be of the same data type as the key "
        "attribute",
        operations=("UpdateItem",),
    ),
    Rule(
        name="type of a legacy addition",
        why="DynamoDB Local spells the type.",
        evidence="dynalite, whose tests ran against AWS: 'ADD action is not supported for the type S'",
        aspect="refusal",
        ours=(
            "ValidationException: One or more parameter values were invalid: (?P<action>ADD|DELETE) action "
            "(with value )?is not supported for the type .*"
        ),
        theirs=(
            "ValidationException: One or more parameter values were invalid: {action} action (with value "
            ")?is not supported for the type .*"
        ),
        operations=("UpdateItem",),
    ),
    Rule(
        name="placeholders before legacy parameters",
        why="AWS refuses placeholders without expressions before it reads legacy parameters.",
        evidence="dynalite's order of checks, tested against AWS; dynoxide, from captures of October 2026",
        aspect="refusal",
        ours=(
            "ValidationException: ExpressionAttribute(Names|Values) can only be specified when using "
            "expressions.*"
        ),
        theirs=(
            "ValidationException: (ConditionalOperator .*|One or more parameter values were invalid: "
            ".*|Cannot have two attributes with the same name|The table does not have the specified index: "
            ".*|The provided starting key .*|Exclusive Start Key must .*)"
        ),
    ),
    Rule(
        name="values of removals",
        why="DynamoDB Local looks at no condition before it has read what an update without an effect holds.",
        evidence="dynoxide, from captures of October 2026: values in AttributeUpdates are read first",
        aspect="refusal",
        ours=f"ValidationException: {VALUE_FAULTS}",
        theirs="ConditionalCheckFailedException: .*|OK",
        operations=("UpdateItem",),
        when=lambda case, _difference: "AttributeUpdates" in request_of(case),
    ),
    Rule(
        name="values of keys before legacy parameters",
        why="AWS reads the values of an item or key before Expected and the like.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours=f"ValidationException: {VALUE_FAULTS}",
        theirs=f"ValidationException: {LEGACY_FAULTS}",
    ),
    Rule(
        name="legacy updates before conditions",
        why="AWS reads what an update does before it reads Expected, and both before it looks at an item.",
        evidence="dynalite's tests, run against AWS: 'Only DELETE action is allowed when no attribute value is …'",
        aspect="refusal",
        ours=(
            "ValidationException: (One or more parameter values were invalid: ((ADD|DELETE) action (with value )?"
            "is not supported for the type|Only DELETE action is allowed) .*|Member must satisfy "
            "enum value set: .*)"
        ),
        theirs=f"ConditionalCheckFailedException: .*|ValidationException: {LEGACY_FAULTS}",
        operations=("UpdateItem",),
    ),
    Rule(
        name="what a ConditionalOperator joins before comparison operators",
        why="AWS counts the conditions before it looks at one.",
        evidence="dynoxide, from captures of Scan in October 2026",
        aspect="refusal",
        ours="ValidationException: ConditionalOperator (can only be used when|cannot be used without) .*",
        theirs="ValidationException: Comparison type does not exist in DynamoDB",
    ),
    Rule(
        name="legacy parameters before keys",
        why="AWS reads the whole request before it holds a key against the table's.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours=f"ValidationException: {LEGACY_FAULTS}",
        theirs=f"ValidationException: {KEY_FAULTS}",
    ),
]
