"""Phrases that DynamoDB Local words otherwise."""

from __future__ import annotations

from golden.side_by_side.settled.rule import Wording

SINGLE_WRITES = ("PutItem", "UpdateItem", "DeleteItem")

WORDINGS: list[Wording] = [
    Wording(
        name="envelope",
        why="Since 2026 AWS counts what single writes refuse in their values and expressions.",
        evidence="captures of paritysuite/dynamodb-conformance, 2026: b_put_redundant_parens and others",
        ours="^ValidationException: 1 validation error detected: (?!Value .*at '|Failed )",
        theirs="",
        common="ValidationException: ",
        operations=SINGLE_WRITES,
    ),
    Wording(
        name="select envelope",
        why="Query counts this complaint since 2026.",
        evidence="ExtendDB's captures, us-east-1, July 2026",
        ours="^ValidationException: 1 validation error detected: (?=Cannot specify the )",
        theirs="^ValidationException: (?=Cannot specify the )",
        common="ValidationException: ",
        operations=("Query",),
    ),
    Wording(
        name="binary bounds",
        why="DynamoDB Local prints a Java object where the value should stand.",
        evidence="HeapByteBuffer is no value; dynalite prints base64",
        ours=r"AttributeValue: \{B:[^}]*\}",
        theirs=r"AttributeValue: \{B:java\.nio\.HeapByteBuffer[^}]*\}",
        common="AttributeValue: {B:}",
    ),
    Wording(
        name="operand type of a section",
        why="AWS spells two types in its own way in this message.",
        evidence="captures of floci, eu-west-2, September 2026: 'operator: ADD, operand type: BOOL'",
        ours="(?<=operator: )(ADD|DELETE), operand type: (?:BOOL|Binary)(?=, typeSet)",
        theirs="(?<=operator: )(ADD|DELETE), operand type: (?:BOOLEAN|BINARY)(?=, typeSet)",
        common=r"\1, operand type: …",
    ),
    Wording(
        name="types of a section",
        why="AWS has one name for the types of both sections.",
        evidence=(
            "captures of floci, eu-west-2, September 2026: 'operator: DELETE, operand type: LIST, typeSet: "
            "ALLOWED_FOR_ADD_OPERAND'"
        ),
        ours="(?<=operator: DELETE, operand type: )(.*), typeSet: ALLOWED_FOR_ADD_OPERAND",
        theirs="(?<=operator: DELETE, operand type: )(.*), typeSet: ALLOWED_FOR_DELETE_OPERAND",
        common=r"\1",
    ),
    Wording(
        name="expression size",
        why="Since 2026 AWS tells no figure.",
        evidence="expressions/scope.py: dropped region by region",
        ours="(?<=Expression size has exceeded the maximum allowed size;)$",
        theirs=r"(?<=Expression size has exceeded the maximum allowed size;) expression size: \d+$",
        common="",
    ),
    Wording(
        name="missed key element",
        why="AWS names the key.",
        evidence="AWS as quoted in many issues: 'Query condition missed key schema element: id'",
        ours="(?<=Query condition missed key schema element): .*",
        theirs="(?<=Query condition missed key schema element)$",
        common="",
        operations=("Query",),
    ),
    Wording(
        name="number",
        why="AWS names the number; DynamoDB Local has a sentence of its own.",
        evidence="captures of paritysuite/dynamodb-conformance, 2026; dynalite",
        ours="The parameter cannot be converted to a numeric value(: .*?)?(?=$| for key )",
        theirs="A value provided cannot be converted into a number",
        common="not a number",
    ),
    Wording(
        name="digits",
        why="DynamoDB Local has a sentence of its own.",
        evidence=(
            "developer guide, error of AWS as quoted in many issues: 'Attempting to store more than 38 "
            "significant digits in a Number'"
        ),
        ours="Attempting to store more than 38 significant digits in a Number",
        theirs="DynamoDB only supports precision up to 38 digits",
        common="too many digits",
    ),
    Wording(
        name="magnitude",
        why="DynamoDB Local has a sentence of its own.",
        evidence=(
            "dynalite: 'Number overflow. Attempting to store a number with magnitude larger than supported "
            "range'"
        ),
        ours=(
            r"Number (overflow|underflow)\. Attempting to store a number with magnitude "
            r"(larger|smaller) than "
            "supported range"
        ),
        theirs=r"Number (overflow|underflow)\. .*",
        common=r"Number \1",
    ),
    Wording(
        name="duplicates",
        why=(
            "Since 2026 AWS quotes the members of a set, tells them for binary sets, and ends with a full "
            "stop."
        ),
        evidence="captures of paritysuite/dynamodb-conformance, 2026: b_put_dup_ss",
        ours=r"(?:One or more parameter values were invalid: )?Input collection .*?contains duplicates\.?",
        theirs=r"(?:One or more parameter values were invalid: )?Input collection .*?contains duplicates\.?",
        common="duplicates",
    ),
    Wording(
        name="no table",
        why="DynamoDB Local has a sentence of its own.",
        evidence="AWS as quoted everywhere: 'ResourceNotFoundException: Requested resource not found'",
        ours="^ResourceNotFoundException: Requested resource not found.*",
        theirs="^ResourceNotFoundException: Cannot do operations on a non-existent table",
        common="no table",
    ),
    Wording(
        name="missing key",
        why="AWS names the key that is missing.",
        evidence=(
            "AWS as quoted in many issues: 'One or more parameter values were invalid: Missing the key id in "
            "the item'"
        ),
        ours="One or more parameter values were invalid: Missing the key .* in the item",
        theirs="One of the required keys was not given a value",
        common="missing key",
    ),
    Wording(
        name="key type",
        why="AWS names the key and both types.",
        evidence="AWS as quoted in many issues: 'Type mismatch for key id expected: S actual: N'",
        ours=r"One or more parameter values were invalid: Type mismatch for key .* expected: \w+ actual: \w+",
        theirs="One or more parameter values were invalid: Type mismatch for key|Invalid attribute "
        "value type",
        common="wrong type of key",
    ),
    Wording(
        name="index key type",
        why="AWS names the key, both types and the index.",
        evidence=(
            "ExtendDB's captures: 'Type mismatch for Index Key <attr> Expected: <E> Actual: <A> IndexName: "
            "<idx>'"
        ),
        ours="One or more parameter values were invalid: Type mismatch for Index Key .* Expected: .*",
        theirs=(
            "One or more parameter values were invalid: Type mismatch for Index Key|Invalid attribute value "
            "type"
        ),
        common="wrong type of index key",
    ),
    Wording(
        name="key size",
        why="AWS says which key is too long.",
        evidence="dynalite, whose tests ran against AWS; the missing blank is AWS's",
        ours=(
            "One or more parameter values were invalid: (?:Size of|Aggregated size of all) (?:hash "
            r"?keys?|range ?keys?) has exceeded the (?:maximum )?size limit of ?\d+ bytes"
        ),
        theirs=(
            "Hash primary key values must be under 2048 bytes, and range primary key values must be under "
            "1024 bytes"
        ),
        common="key too long",
    ),
    Wording(
        name="placeholders without expressions",
        why="Since 2026 single writes do not name the expression that is missing.",
        evidence="captures of paritysuite/dynamodb-conformance, 2026: b_put_eav_no_expr",
        ours="(?<=can only be specified when using expressions)$",
        theirs="(?<=can only be specified when using expressions): .* (?:is|are) null$",
        common="",
        operations=SINGLE_WRITES,
    ),
    Wording(
        name="size of an index key",
        why="AWS names the key, both sizes and the index.",
        evidence="dynoxide, from captures of 2026",
        ours=r"(?<=Size limit exceeded) for Index Key .* IndexName: \w+",
        theirs="(?<=Size limit exceeded)$",
        common="",
    ),
    Wording(
        name="value of a cursor",
        why="AWS says that the value is one of the cursor.",
        evidence="dynalite's test/query.js, run against AWS",
        ours="^ValidationException: The provided starting key is invalid: (?=Supplied|One or more)",
        theirs="^ValidationException: (?=Supplied|One or more)",
        common="ValidationException: ",
        operations=("Query", "Scan"),
    ),
    Wording(
        name="index named first",
        why="Of several indexes AWS names the first by its name.",
        evidence="ExtendDB pull request 184, against AWS: 'the alphabetically-first index is named'",
        ours=r"(?<=IndexName: )\w+(?=, IndexKey: )",
        theirs=r"(?<=IndexName: )\w+(?=, IndexKey: )",
        common="…",
    ),
    Wording(
        name="names of types",
        why="The types come in the order of a hash table of each service.",
        evidence="dynalite's tests, run against AWS",
        ours=r"(?<=valid types: )\{.*?\}",
        theirs=r"(?<=valid types: )\{.*?\}",
        common="{}",
    ),
    Wording(
        name="comparison operator that is none",
        why="DynamoDB Local has a sentence of its own.",
        evidence="dynoxide, from captures of October 2026: 'Invalid comparison operator'",
        ours="One or more parameter values were invalid: Invalid comparison operator",
        theirs="Comparison type does not exist in DynamoDB",
        common="no comparison",
    ),
    Wording(
        name="attributes not projected",
        why="The names come in the order of a hash table of each service.",
        evidence="no source shows AWS's order; ours are sorted",
        ours=r"(?<=does not project )\[.*?\]",
        theirs=r"(?<=does not project )\[.*?\]",
        common="[]",
    ),
    Wording(
        name="repeated attribute",
        why="DynamoDB Local has a sentence of its own.",
        evidence="dynalite's tests, run against AWS: 'Duplicate value in attribute name: a'",
        ours="One or more parameter values were invalid: Duplicate value in attribute name: .*",
        theirs="Cannot have two attributes with the same name",
        common="repeated attribute",
    ),
    Wording(
        name="second path",
        why="Which other path is named depends on the order of a hash table of the service.",
        evidence=(
            "dynalite's tests of UpdateItem: 'This changed at some point, now conflicts with [[3]] instead "
            "of [a]'"
        ),
        ours="(Two document paths overlap .*, path two: ).*",
        theirs="(Two document paths overlap .*, path two: ).*",
        common=r"\1…",
    ),
]
