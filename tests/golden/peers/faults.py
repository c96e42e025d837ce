"""What can be wrong with a request, by which the refusals that an engine lacks or words otherwise are told apart.

A fault is known by what AWS answers to it, or by the name of the vector; what the engine answered does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from golden.peers.difference import Difference

DYNALITE = "recorded in dynalite's tests, which were run against AWS"
ALTERNATOR = "recorded in the tests of ScyllaDB's Alternator, which are run against AWS"
CAPTURES = "captures of github.com/paritysuite/dynamodb-conformance, June to October 2026"
DYNOXIDE = "captured by the authors of dynoxide, August to October 2026"
QUIRKS = "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026"

# From where the expected message begins to where it ends.
_EXPECTED = {
    "ACCEPTED": r"\[ACCEPTED\]\naccepted instead of \w+: ",
    "WORDS": r"\[WORDS\]\nmessage: expected ",
    "CODE": r"\[CODE\]\n[^\n]*\n(?:status[^\n]*\n)?message: expected ",
}
_WITHIN = r"(?:(?!, got ['\"]|, with \{).)*?"


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with a request."""

    requests: str  # as in "Accepts …"
    judge: str  # what says how AWS answers
    told_by: str = ""  # a regular expression, found in the message that AWS answers with
    vectors: str = ""  # a regular expression for the names of vectors that are about it whatever AWS answers


ORDER = Fault(
    "requests with several faults, of which it tells another one first",
    f"The order of the checks is known case by case ({CAPTURES}; {DYNALITE}; {DYNOXIDE}).",
    vectors=r"\w+\.\w*(?:_before_|_alone|_first|_last|_after_|_to_join)\w*|(?:batch_)?validation_order\.\w+",
)
SEVERAL = Fault(
    "requests with several faults, of which it tells fewer at once",
    f"AWS collects the faults of parameters: “2 validation errors detected: …; …” ({CAPTURES}; {DYNALITE}).",
    r"\d+ validation errors detected",
)
JSON = Fault(
    "members of a wrong JSON type",
    f"A SerializationException, before anything else is looked at ({DYNALITE}).",
    r"cannot be converted to String|Unexpected (?:token|value)|found where not expected|Base64 encoded length",
)
PARAMETERS = Fault(
    "parameters outside their enumerations, lengths and ranges",
    f"“Value … at '…' failed to satisfy constraint: …” ({CAPTURES}; {DYNOXIDE}; {DYNALITE}).",
    r"[Ff]ailed to satisfy constraint|Member must have length|Member must satisfy|"
    r"ReturnValues can only be|is required (?:for|but)",
)
SEGMENTS = Fault(
    "a Segment or TotalSegments that do not fit",
    f"“The Segment parameter is zero-based and must be less than parameter TotalSegments” ({DYNOXIDE}).",
    r"TotalSegments",
)
STARTS = Fault(
    "an ExclusiveStartKey that does not fit the table, the index or the condition",
    f"“The provided starting key is invalid” and the like ({CAPTURES}; {DYNOXIDE}; {DYNALITE}).",
    r"[Ss]tart(?:ing)? key|cannot be restarted",
    r"(?:query_start_keys|multi_attribute_starts)\.\w+|\w+\.start_key\w*|\w+\.cursor\w*|\w+\.\w*_start_key\w*",
)
SELECT = Fault(
    "a Select that contradicts the other parameters, or the index",
    f"“Cannot specify the AttributesToGet when choosing to get …” and the like ({DYNOXIDE}; {CAPTURES}).",
    r"when choosing to get|ALL_PROJECTED_ATTRIBUTES can be|Select type ALL_ATTRIBUTES|Consistent reads are not",
)
SIZES = Fault(
    "items, names, expressions, numbers or nestings beyond a limit",
    f"Developer guide, “Constraints in Amazon DynamoDB”; the words: {CAPTURES}; {DYNOXIDE}; of names, measured "
    "by the authors of ExtendDB in September 2026.",
    r"Item size|name is too large|Expression size|Number (?:over|under)flow|Nesting Levels|payload size|"
    r"numeric value|significant digits",
)
KEYS = Fault(
    "keys, and keys of indexes, of a wrong type, size or emptiness",
    f"“Type mismatch for …”, “Size of hashkey has exceeded …”, “… cannot contain an empty string value” "
    f"({DYNALITE}; {CAPTURES}; {DYNOXIDE}). How a query by a key that no item can have is refused is known from "
    "DynamoDB Local and two quoted answers of AWS.",
    r"Type mismatch for (?:key|Index Key)|secondary index key|key attribute cannot|Size of hashkey|"
    r"Aggregated? size|Condition parameter type|Size limit exceeded for Index Key|"
    r"part of the key|key element does not match|Missing the key",
)
SCHEMAS = Fault(
    "key schemas, of indexes with keys of several attributes above all",
    f"{QUIRKS}; developer guide, “Multi-attribute keys” of global secondary indexes.",
    r"KeySchema|AttributeDefinitions|same name|HASH key attributes must precede|length less than or equal to 2'",
)
KEY_CONDITIONS = Fault(
    "key conditions that leave a key out, or say too much of it",
    f"“Query condition missed key schema element: …”, “… exceeds the number of key attributes …” ({CAPTURES}; "
    f"{DYNOXIDE}; {DYNALITE}).",
    r"Query (?:key )?condition|query conditions|must have equality conditions|"
    r"KeyConditionExpressions? |KeyConditions or|"
    r"can only contain non-primary key|indexable operation|Conditions must",
)
LEGACY = Fault(
    "faulty legacy parameters, such as AttributeUpdates, Expected, QueryFilter and AttributesToGet",
    f"{DYNALITE[0].upper()}{DYNALITE[1:]}; {ALTERNATOR}; {CAPTURES}.",
    r"ComparisonOperator|ConditionalOperator|non-expression parameters|action|Duplicate value in attribute|"
    r"Exists|comparison operator|Filter or Expected|AttributeValueList|attribute to update|BETWEEN condition|"
    r"AttributesToGet",
    r"legacy_\w+\.\w+",
)
EXPRESSIONS = Fault(
    "faulty expressions and placeholders",
    f"“Invalid FilterExpression: …” and the like ({CAPTURES}; {DYNALITE}; {DYNOXIDE}).",
    r"Invalid \w+Expression|ExpressionAttribute(?:Names|Values)|document path|in the update expression|"
    r"expression refers to",
)
VALUES = Fault(
    "values that no attribute can have, such as empty sets, duplicates in sets and empty names",
    f"{DYNALITE[0].upper()}{DYNALITE[1:]}; {CAPTURES}.",
    r"Empty attribute name|may not be empty|should not be empty|contains duplicates\.|value of true|"
    r"Supplied AttributeValue",
)
BATCHES = Fault(
    "batches with too many items, none, or one item twice",
    f"“Provided list of item keys contains duplicates” and the like ({DYNALITE}).",
    r"item keys contains duplicates|Too many items|requestItems parameter",
    r"batches\.\w+",
)
TRANSACTIONS = Fault(
    "transactions that AWS cancels, or does not begin",
    f"API reference, TransactionCanceledException; {ALTERNATOR}; {CAPTURES}.",
    r"Transact",
)

TAGS = Fault("tags that AWS refuses", f"{QUIRKS}.", vectors=r"tags\.\w+")
TIME_TO_LIVE = Fault(
    "settings of Time to Live that AWS refuses", f"{QUIRKS}; {DYNALITE}.", vectors=r"time_to_live\.\w+"
)
RECOVERY = Fault(
    "settings of point-in-time recovery and restores that AWS refuses",
    f"{QUIRKS}; service model of the API.",
    vectors=r"continuous_backups\.\w+",
)
BACKUPS = Fault(
    "requests about backups that AWS refuses", f"{QUIRKS}.", vectors=r"(?:backups|backup_restores)\.\w+"
)
NEW_TABLES = Fault(
    "settings of new tables and their indexes that AWS refuses",
    f"{QUIRKS}; {DYNALITE}.",
    vectors=r"create_table\w*\.\w+",
)
CHANGED_TABLES = Fault(
    "changes of tables and their indexes that AWS refuses",
    f"{QUIRKS}; {DYNALITE}.",
    vectors=r"update_table\w*\.\w+",
)
NAMED_TABLES = Fault(
    "requests to describe, list or delete tables that AWS refuses",
    f"{QUIRKS}; {DYNALITE}.",
    vectors=r"(?:describe_table|delete_table|list_tables)\.\w+",
)


TABLE_FIRST = Difference(
    "Looks for the table before it has validated the rest of the request.",
    f"AWS validates first, and answers ValidationException ({DYNALITE}).",
    [r"code: expected ValidationException, got ResourceNotFoundException"],
)
NO_ARNS = Difference(
    "Refuses the ARN of a table where its name is expected.",
    "“You can also provide the Amazon Resource Name (ARN) of the table in this parameter” (API reference, "
    "TableName); of a wrong ARN, ack-api-quirks, October 2026.",
    [r"\[REFUSED\].*arn:aws:dynamodb", r"got \"1 validation error detected: Value 'arn:aws"],
)
UNUSED_PLACEHOLDERS = Difference(
    "Refuses placeholders in an action of a transaction that has no expression.",
    "“Amazon DynamoDB accepts a Put/Delete/Get sub-operation that declares names or values but has no condition, "
    "update, or projection” (github.com/ExtendDB/extenddb, pull request 169).",
    [r"\.transaction_may_\w+\n\[REFUSED\]"],
)
OLDER_CHANGES = Difference(
    "Knows only the changes of tables of some years ago, without warm throughput, bounds, class or encryption: “At"
    " least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, … is required”.",
    f"{QUIRKS}.",
    [r"(?:got '|refused: ValidationException: )At least one of ProvisionedThroughput"],
)
UNITS_OF_AN_INDEX = Difference(
    "Wants units in every update of an index.",
    "API reference, UpdateGlobalSecondaryIndexAction: only IndexName is required.",
    [r"member\.update\.provisionedThroughput'"],
)
TIME_TO_LIVE_AT_ONCE = Difference(
    "Lets Time to Live be changed again at once.",
    "“Time to live has been modified multiple times within a fixed interval” (ack-api-quirks, October 2026).",
    [r"^time_to_live\.disabling_it_too_soon\n\[ACCEPTED\]"],
)
ANY_BACKUP_ARN = Difference(
    "Says of any ARN that names no backup here that the backup is not there.",
    "AWS tells what is no ARN of a backup, and refuses that of another account (ack-api-quirks, October 2026).",
    [r"^backups\.[^\n]*\n\[CODE\]\n[^\n]*got BackupNotFoundException"],
)
BACKUPS_AT_ONCE = Difference(
    "Has a new backup AVAILABLE at once.",
    "It is CREATING at first (ack-api-quirks, October 2026).",
    [r"^backups\.a_backup_is_created\n\[ANSWER\]"],
)


def accepts(*faults: Fault) -> list[Difference]:
    """Return a difference for each fault: the engine does as if it were none."""
    return [
        Difference(f"Accepts {fault.requests}.", fault.judge, _patterns(fault, "ACCEPTED"))
        for fault in faults
    ]


def refuses_otherwise(*faults: Fault) -> list[Difference]:
    """Return a difference for each fault: the engine refuses it too, but not as AWS does."""
    return [
        Difference(
            f"Refuses in other words, or with another error: {fault.requests}.",
            fault.judge,
            _patterns(fault, "WORDS", "CODE"),
        )
        for fault in faults
    ]


def _patterns(fault: Fault, *kinds: str) -> list[str]:
    patterns = []
    if fault.vectors:
        patterns.append(rf"^(?:{fault.vectors})\n\[(?:{'|'.join(kinds)})\]")
    if fault.told_by:
        patterns += [f"{_EXPECTED[kind]}{_WITHIN}(?:{fault.told_by})" for kind in kinds]
    return patterns
