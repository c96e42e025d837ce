"""Query and Scan: cursors, segments, Select, indexes."""

from __future__ import annotations

from golden.side_by_side.settled.faults import request_of
from golden.side_by_side.settled.rule import Rule

PAGE_RULES: list[Rule] = [
    Rule(
        name="number of key conditions",
        why="AWS counts the conditions against the attributes of the key.",
        evidence="dynoxide, from captures of October 2026, of indexes with several key attributes",
        aspect="refusal",
        ours="ValidationException: The number of query conditions .* exceeds the number of key "
        "attributes defined in "
        "the schema .*",
        theirs="ValidationException: Query key condition not supported",
        operations=("Query",),
    ),
    Rule(
        name="segments before the index",
        why="AWS looks at the segments before it looks at the index.",
        evidence="dynalite's order of checks, tested against AWS; dynoxide",
        aspect="refusal",
        ours="ValidationException: The (Total)?Segments? parameter .*",
        theirs="ValidationException: (One or more parameter values were invalid: .*|The provided "
        "starting key .*|The "
        "table does not have .*|Exclusive Start Key must .*)",
        operations=("Scan",),
    ),
    Rule(
        name="key condition first",
        why="AWS reads the key condition, the filter and the projection in this order.",
        evidence="dynalite's test/query.js, run against AWS: of three empty expressions the key "
        "condition is told",
        aspect="refusal",
        ours="ValidationException: Invalid (KeyCondition|Filter)Expression: .*",
        theirs="ValidationException: Invalid (Filter|Projection)Expression: .*",
        operations=("Query",),
    ),
    Rule(
        name="filter before projection",
        why="AWS reads the filter before the projection.",
        evidence="dynalite's test/query.js and test/scan.js, run against AWS",
        aspect="refusal",
        ours="ValidationException: Invalid FilterExpression: .*",
        theirs="ValidationException: Invalid ProjectionExpression: .*",
        operations=("Scan",),
    ),
    Rule(
        name="all attributes of a global index",
        why="AWS looks at Select before it looks at the filter.",
        evidence="dynalite, whose tests ran against AWS",
        aspect="refusal",
        ours=(
            "ValidationException: One or more parameter values were invalid: Select type ALL_ATTRIBUTES is "
            "not supported for global secondary index .* because its projection type is not ALL"
        ),
        theirs=(
            "ValidationException: One or more parameter values were invalid: Secondary index .* does not "
            "project one or more filter attributes: .*"
        ),
        operations=("Query",),
    ),
    Rule(
        name="segments",
        why="DynamoDB Local has sentences of its own.",
        evidence="dynalite, whose tests ran against AWS",
        aspect="refusal",
        ours=(
            "ValidationException: The (Total)?Segments? parameter is required but was not present in the "
            "request when .*"
        ),
        theirs=(
            "ValidationException: If (total segments is specified, a particular segment must also be "
            "specified for this request|segment is specified, total segment must also be specified)"
        ),
        operations=("Scan",),
    ),
    Rule(
        name="segments out of order",
        why="DynamoDB Local has a sentence of its own.",
        evidence="dynoxide 3.2, tests/scan_member_stages.rs: captured in October 2026",
        aspect="refusal",
        ours=(
            "ValidationException: The Segment parameter is zero-based and must be less than parameter "
            "TotalSegments"
        ),
        theirs="ValidationException: .*egment.*",
        operations=("Scan",),
    ),
    Rule(
        name="name of an index",
        why="DynamoDB Local looks for an index of any name.",
        evidence="dynalite, whose tests ran against AWS: the pattern is a constraint",
        aspect="refusal",
        ours=(
            r"ValidationException: \d+ validation errors? detected: Value '.*' at 'indexName' failed to "
            "satisfy .*"
        ),
        theirs="ValidationException: The table does not have the specified index: .*",
        operations=("Query", "Scan"),
    ),
    Rule(
        name="number too large for its type",
        why="DynamoDB Local fails inside.",
        evidence="dynalite's test/scan.js, run against AWS: SerializationException",
        aspect="refusal",
        ours="SerializationException: NUMBER_VALUE cannot be converted to Integer",
        theirs="InternalFailure: .*",
        operations=("Query", "Scan", "ListTables"),
    ),
    Rule(
        name="select before the cursor",
        why="AWS looks at Select before it looks at the table.",
        evidence=(
            "dynoxide, from captures of October 2026: 'Select against the projection members and the index, "
            "in the envelope'"
        ),
        aspect="refusal",
        ours=(
            "ValidationException: (1 validation error detected: )?(Cannot specify the .* when choosing to "
            "get .*|Must specify the AttributesToGet or ProjectionExpression when "
            ".*|ALL_PROJECTED_ATTRIBUTES can be used only when .*)"
        ),
        theirs=(
            "ValidationException: (The provided starting key .*|Exclusive Start Key must .*|Key attributes "
            "must be scalars.*|One or more parameter values were invalid: .*|Filter Expression can .*|The "
            "table does not have .*|Query condition missed .*|Query key condition not supported)"
        ),
        operations=("Query", "Scan"),
    ),
    Rule(
        name="key condition missing",
        why="AWS misses the key condition before it reads expressions.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours=(
            "ValidationException: Either the KeyConditions or KeyConditionExpression parameter must be "
            "specified in the request."
        ),
        theirs=(
            "ValidationException: (Value provided in .*|Invalid .*|ExpressionAttribute.* contains .*|One or "
            "more parameter .*)"
        ),
        operations=("Query",),
    ),
    Rule(
        name="projected attributes or filtered ones",
        why=(
            "Which of two complaints about an index comes first is not known; DynamoDB Local takes the "
            "filter first."
        ),
        evidence="no source shows AWS's order",
        aspect="refusal",
        ours=(
            "ValidationException: One or more parameter values were invalid: Global secondary index .* does "
            "not project .*"
        ),
        theirs=(
            "ValidationException: One or more parameter values were invalid: Secondary index .* does not "
            "project one or more filter attributes: .*"
        ),
        operations=("Query",),
    ),
    Rule(
        name="select counted",
        why="Query counts this complaint since 2026.",
        evidence="ExtendDB's captures, us-east-1, July 2026; dynoxide",
        aspect="refusal",
        ours=(
            "ValidationException: 1 validation error detected: (?P<text>Must specify the AttributesToGet or "
            ".*)"
        ),
        theirs="ValidationException: {text}",
        operations=("Query", "Scan"),
    ),
    Rule(
        name="limit out of range",
        why="DynamoDB Local fails inside; AWS reads a limit of more than 32 bits as the largest.",
        evidence="dynoxide, from captures of October 2026: 'read as the largest one'",
        aspect="refusal",
        ours="OK|ValidationException: .*",
        theirs="InternalFailure: .*",
        operations=("Query", "Scan"),
        when=lambda case, _difference: request_of(case).get("Limit") == 2**31,
    ),
    Rule(
        name="cursor before key conditions",
        why="AWS holds a cursor against the keys before it holds the key condition against them.",
        evidence="dynalite's order of checks, tested against AWS; dynoxide",
        aspect="refusal",
        ours="ValidationException: The provided starting key is invalid.*",
        theirs=(
            "ValidationException: (Query condition missed key schema element.*|Query key condition not "
            "supported)"
        ),
        operations=("Query",),
    ),
    Rule(
        name="cursor outside the partition",
        why="DynamoDB Local says of a cursor in another partition what AWS says of the sort key.",
        evidence="dynalite, whose tests ran against AWS: 'outside query boundaries based on provided "
        "conditions'",
        aspect="refusal",
        ours=(
            "ValidationException: The provided starting key is outside query boundaries based on provided "
            "conditions"
        ),
        theirs="ValidationException: The provided starting key does not match the range key predicate",
        operations=("Query",),
    ),
    Rule(
        name="cursor of a query for one item",
        why="DynamoDB Local does not know the sentence for a query that can return one item at most.",
        evidence=(
            "dynalite, whose tests ran against AWS: 'The query can return at most one row and cannot be "
            "restarted'"
        ),
        aspect="refusal",
        ours="ValidationException: The query can return at most one row and cannot be restarted",
        theirs="ValidationException: The provided starting key does not match the range key predicate",
        operations=("Query",),
    ),
    Rule(
        name="cursor of a query in a table without a sort key",
        why="AWS has a sentence for it; DynamoDB Local finds nothing behind the item, or has another sentence.",
        evidence="dynoxide, from captures in four regions, 9 October 2026",
        aspect="refusal",
        ours="ValidationException: The provided exclusive start key is invalid",
        theirs="OK|ValidationException: (The provided starting key does not match the range key predicate|Filter "
        "Expression can .*|QueryFilter can .*|Key attributes must be scalars.*)",
        operations=("Query",),
    ),
    Rule(
        name="cursor of another shape",
        why="AWS has one sentence for every cursor whose attributes are not those of the keys.",
        evidence="dynalite, whose tests ran against AWS: 'The provided starting key is invalid'",
        aspect="refusal",
        ours="ValidationException: The provided starting key is invalid",
        theirs="ValidationException: Exclusive Start Key must have same size as table's key schema",
        operations=("Query", "Scan"),
    ),
    Rule(
        name="cursor of another segment",
        why="AWS names the segment; and which keys a segment holds is each service's own affair.",
        evidence=(
            "issues that quote AWS: 'The provided starting key is invalid: Invalid ExclusiveStartKey. Please "
            "use ExclusiveStartKey with correct Segment. TotalSegments: 3 Segment: 1'"
        ),
        aspect="refusal",
        ours=(
            r"OK|ValidationException: The provided starting key is invalid: Invalid ExclusiveStartKey\. "
            r"Please use ExclusiveStartKey with correct Segment\. TotalSegments: \d+ Segment: \d+"
        ),
        theirs="OK|ValidationException: Exclusive start key must lie within the segment",
        operations=("Scan",),
    ),
    Rule(
        name="what an index lacks before the cursor of a scan",
        why="AWS asks a scan whether the index holds what is wanted before it looks at the cursor.",
        evidence="dynoxide, from captures of October 2026, of Select ALL_ATTRIBUTES; Query is the other way round",
        aspect="refusal",
        ours="ValidationException: One or more parameter values were invalid: .* (does not project|is not "
        "supported) .*",
        theirs="ValidationException: The provided starting key is invalid.*",
        operations=("Scan",),
    ),
]
