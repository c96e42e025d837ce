"""Where DynamoDB Local answers otherwise than Amazon DynamoDB."""

from __future__ import annotations

from golden.peers.difference import Difference
from golden.peers.faults import (
    BATCHES,
    CHANGED_TABLES,
    EXPRESSIONS,
    KEY_CONDITIONS,
    KEYS,
    LEGACY,
    NAMED_TABLES,
    NEW_TABLES,
    ORDER,
    PARAMETERS,
    QUIRKS,
    SCHEMAS,
    SEGMENTS,
    SEVERAL,
    SIZES,
    STARTS,
    TABLE_FIRST,
    TIME_TO_LIVE,
    TIME_TO_LIVE_AT_ONCE,
    TRANSACTIONS,
    UNUSED_PLACEHOLDERS,
    VALUES,
    accepts,
    refuses_otherwise,
)

DIFFERENCES = [
    Difference(
        reason="Refuses streams and shards that are not there in other words, and takes any text for an ARN.",
        judge=(
            "Answers of the service in the tests of ScyllaDB (test_streams.py), of Apache Flink's connector and of"
            " aws-sdk-js."
        ),
        shows=[r"^streams\.(?:no_such_|what_is_no_arn|a_list_starts)"],
    ),
    Difference(
        reason="Has no iterators at a time.",
        judge="API reference of DynamoDB Streams, GetShardIterator: AT_TIMESTAMP.",
        shows=[r"^streams\.a_time_"],
    ),
    Difference(
        reason="Names streams by ARNs of the region ddblocal.",
        judge="API reference of DynamoDB Streams, StreamArn.",
        shows=[r"^streams\.[^\n]*\n\[ANSWER\]\n[^\n]*'arn:aws:dynamodb:ddblocal:[^\n]*$"],
    ),
    Difference(
        reason="Words a refusal as AWS did until 2026, without “1 validation error detected: ” before it.",
        judge=(
            "Most regions answer with it now (captures of github.com/paritysuite/dynamodb-conformance, June to"
            " October 2026)."
        ),
        shows=[r"\[PREFIX\]"],
    ),
    Difference(
        reason="Cannot hold two tables whose names differ only in case.",
        judge="Names are case-sensitive (developer guide, “Supported data types and naming rules”).",
        shows=[r"names_come_in_the_order_of_their_bytes"],
    ),
    Difference(
        reason="Leaves a table in UPDATING for good when a new index meets an item that does not fit it.",
        judge=(
            "The index becomes ACTIVE without the item (developer guide, “Detecting and correcting index key "
            "violations”)."
        ),
        shows=[r"does_not_fit_a_new_index.*no answer|\[FAILED\]"],
    ),
    Difference(
        reason="Has no tags.",
        judge="TagResource, UntagResource and ListTagsOfResource in the API reference.",
        shows=[r"Tagging is not currently supported", r"^tags\."],
    ),
    Difference(
        reason="Does not serve backups, point-in-time recovery and DescribeEndpoints.",
        judge="API reference, CreateBackup, UpdateContinuousBackups, DescribeEndpoints and so on.",
        shows=[r"UnknownOperationException"],
    ),
    Difference(
        reason="Answers InternalFailure, status 500.",
        judge=(
            "AWS answers with a SerializationException, status 400, before it looks at anything else (recorded"
            " in dynalite's tests, which were run against AWS); of tables, ack-api-quirks, October 2026."
        ),
        shows=[r"\[500\]"],
    ),
    Difference(
        reason="Converts a JSON number or boolean where a value must be a JSON string.",
        judge=(
            "AWS answers with a SerializationException, status 400, before it looks at anything else (recorded"
            " in dynalite's tests, which were run against AWS)."
        ),
        shows=[r"_as_json_.*\[ACCEPTED\]"],
    ),
    TABLE_FIRST,
    Difference(
        reason="Says that a table is not there in other words: “Cannot do operations on a non-existent table”.",
        judge="“Requested resource not found” (recorded in dynalite's tests, which were run against AWS).",
        shows=[r"got 'Cannot do operations on a non-existent table"],
    ),
    TIME_TO_LIVE_AT_ONCE,
    *refuses_otherwise(TIME_TO_LIVE),
    Difference(
        reason=(
            "Names the index key and its types when an update gives it another type that was read from the "
            "item."
        ),
        judge=(
            "“The update expression attempted to update the secondary index key to unsupported type” (recorded"
            " in dynalite's tests, which were run against AWS)."
        ),
        shows=[r"(update_item|key_messages)\.update_of_an_index_key_to_[^\n]*\n\[WORDS\]"],
    ),
    Difference(
        reason="Describes a key that does not fit the schema in words of its own.",
        judge=(
            "“The provided key element does not match the schema”, and “Missing the key …” or “Type mismatch "
            "for key …” for an item (recorded in dynalite's tests, which were run against AWS)."
        ),
        shows=[
            r"got '(The number of conditions on the keys is invalid|Invalid attribute value type')",
            r"got '(One of the required keys was not given a value|Cannot have null key)",
            r"got '[^']*Type mismatch for (key|Index Key)'",
        ],
    ),
    Difference(
        reason="Describes a key that is too long in words of its own.",
        judge=(
            "“Size of hashkey has exceeded the maximum size limit of2048 bytes”, and so on (recorded in "
            "dynalite's tests, which were run against AWS; captures of github.com/paritysuite/dynamodb-"
            "conformance, June to October 2026)."
        ),
        shows=[r"got 'Hash primary key values must be under"],
    ),
    Difference(
        reason="Describes a value that is no number, or has too many digits, in words of its own.",
        judge=(
            "“The parameter cannot be converted to a numeric value: …”, “Attempting to store more than 38 "
            "significant digits in a Number” (recorded in dynalite's tests, which were run against AWS)."
        ),
        shows=[r"got '(A value provided cannot be converted into a number|DynamoDB only supports precision)"],
    ),
    Difference(
        reason="Describes a ReturnValues that the operation does not have in words of its own.",
        judge=(
            "“ReturnValues can only be ALL_OLD or NONE” (recorded in dynalite's tests, which were run against "
            "AWS)."
        ),
        shows=[r"got 'Return values set to invalid value'"],
    ),
    Difference(
        reason="Describes duplicates in a set in other words.",
        judge=(
            '“Input collection ["a", "a"] contains duplicates.” (captures of github.com/paritysuite/dynamodb-'
            "conformance, June to October 2026)."
        ),
        shows=[r"\[WORDS\].*contains duplicates"],
    ),
    Difference(
        reason="Describes a bad table name, or a missing one, in words of its own.",
        judge=(
            "“Value '…' at 'tableName' failed to satisfy constraint: …” (captures of "
            "github.com/paritysuite/dynamodb-conformance, June to October 2026)."
        ),
        shows=[r"\[WORDS\].*at 'tableName' failed"],
    ),
    Difference(
        reason="Answers without ItemCollectionMetrics that were asked for.",
        judge=(
            "“If set to SIZE, the response includes statistics about item collections, if any, that were "
            "modified during the operation” (API reference, ReturnItemCollectionMetrics)."
        ),
        shows=[r"\.ItemCollectionMetrics: missing"],
    ),
    Difference(
        reason="Charges nothing for a read that finds nothing.",
        judge=(
            "A read of what does not exist consumes units too (developer guide, “DynamoDB read and write "
            "operations”)."
        ),
        shows=[
            r"capacity_(index_)?reads\.([a-z0-9_]*finds_nothing_costs|query_behind_the_last|batch_of_gets_(pays_for_what_is_missing|reports_each_table))|batch_get_from_two_tables_with_units"
        ],
    ),
    Difference(
        reason=(
            "Charges otherwise than AWS for items that a query of a local secondary index fetches from the "
            "table, or does not fetch."
        ),
        judge=(
            "The developer guide, “Local secondary indexes”, “Read capacity units”, works it out: 4 KB for the"
            " index and 4 KB for each of four small items are 5 units."
        ),
        shows=[
            r"capacity_index_reads\.(local_index_(that_fetches|fetches)|all_attributes_of_a_local_index|three_fetches)"
        ],
    ),
    Difference(
        reason="Charges a scan of an index for the whole items.",
        judge=(
            "What counts is the size of the entries in the index (developer guide, “Global secondary indexes”,"
            " “Read capacity units”)."
        ),
        shows=[r"scan_of_a_global_index_costs_its_entries"],
    ),
    Difference(
        reason="Charges one unit more for a large entry of a local secondary index.",
        judge=(
            "An entry costs what is stored of it, rounded up to 1 KB (developer guide, “Local secondary "
            "indexes”, “Write capacity units”)."
        ),
        shows=[r"LocalSecondaryIndexes\.lsi\.CapacityUnits: expected \d, got"],
    ),
    Difference(
        reason="Names the table by its name in ConsumedCapacity when the request named it by its ARN.",
        judge=(
            "“If you had specified the Amazon Resource Name (ARN) of a table in the input, you'll see the "
            "table ARN in the response” (API reference, ConsumedCapacity)."
        ),
        shows=[r"ConsumedCapacity.*TableName: expected 'arn:"],
    ),
    Difference(
        reason="Accepts a value that is not in the set of a parameter, such as ReturnConsumedCapacity.",
        judge=(
            "AWS collects such faults: “2 validation errors detected: …” (recorded in dynalite's tests, which "
            "were run against AWS)."
        ),
        shows=[r"put_with_two_faults_collects_them"],
    ),
    Difference(
        reason="Accepts a reserved word in a projection or an update.",
        judge=(
            "“Attribute name is a reserved keyword; reserved keyword: …” (developer guide, “Reserved words in "
            "DynamoDB”)."
        ),
        shows=[r"reserved_word"],
    ),
    Difference(
        reason="Names the expression that is missing: “…: ConditionExpression is null”.",
        judge=(
            "PutItem, UpdateItem and DeleteItem end before it (captures of github.com/paritysuite/dynamodb-"
            "conformance, June to October 2026)."
        ),
        shows=[r"got '.*(ConditionExpression|UpdateExpression) is null"],
    ),
    Difference(
        reason=(
            "Charges the indexes of a transaction twice, and leaves out ReadCapacityUnits and "
            "WriteCapacityUnits."
        ),
        judge=(
            "Measured in eu-west-2, August 2026, by the authors of dynoxide: the table twice, each index once,"
            " and the units of each kind beside their sum."
        ),
        shows=[
            r"capacity_transactions.*ConsumedCapacity|transactions\.(reads_cost|writes_to).*ConsumedCapacity"
        ],
    ),
    Difference(
        reason="Ends the message of a failed ConditionCheck with a full stop.",
        judge=(
            "“The conditional request failed” (captures of github.com/paritysuite/dynamodb-conformance, June "
            "to October 2026)."
        ),
        shows=[r"got 'The conditional request failed.'"],
    ),
    Difference(
        reason="Answers a delete of nothing with ConsumedCapacity that nobody asked for.",
        judge=(
            "“No ConsumedCapacity details are included in the response”, by default (API reference, "
            "ReturnConsumedCapacity)."
        ),
        shows=[r"item_collection_metrics\.delete_of_nothing"],
    ),
    Difference(
        reason="Makes an item when AttributeUpdates only delete.",
        judge=(
            "AWS does not (scylladb/scylladb issue 5862; recorded in the tests of ScyllaDB's Alternator, which"
            " are run against AWS)."
        ),
        shows=[r"does_not_make_the_item"],
    ),
    Difference(
        reason="Does nothing in AttributeUpdates without an Action.",
        judge="PUT is the default (developer guide, “Legacy conditional parameters”, AttributeUpdates).",
        shows=[r"action_is_put_when_none"],
    ),
    Difference(
        reason=(
            "Describes tables in its own way: ACTIVE at once, ARNs of the region ddblocal, dates of 0, without"
            " warm throughput, class and encryption."
        ),
        judge=(
            "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; TableDescription in"
            " the API reference."
        ),
        shows=[
            r"^(create_table[a-z_]*|update_table|describe_table|delete_table|list_tables|tags|limits_and_endpoints)[a-z_]*\.[^\n]*\n\[(ANSWER|UNPREPARED)\]"
        ],
    ),
    Difference(
        reason="Knows no change of warm throughput, class and encryption: “Nothing to update”.",
        judge=f"{QUIRKS}.",
        shows=[r"Nothing to update"],
    ),
    Difference(
        reason="Refuses a new table that is named by its ARN.",
        judge="Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026: the ARN is taken.",
        shows=[r"create_table\.a_table_named_by_its_arn"],
    ),
    Difference(
        reason="Refuses units of an index that hold nothing.",
        judge=f"{QUIRKS}.",
        shows=[r"throughput_with_nothing_in_it_is_none"],
    ),
    *accepts(NEW_TABLES, CHANGED_TABLES, NAMED_TABLES),
    *refuses_otherwise(NEW_TABLES, CHANGED_TABLES, NAMED_TABLES),
    UNUSED_PLACEHOLDERS,
    *accepts(SIZES, KEYS, LEGACY, PARAMETERS),
    *refuses_otherwise(
        SEVERAL,
        ORDER,
        TRANSACTIONS,
        BATCHES,
        STARTS,
        SEGMENTS,
        SIZES,
        KEYS,
        SCHEMAS,
        KEY_CONDITIONS,
        EXPRESSIONS,
        LEGACY,
        PARAMETERS,
        VALUES,
    ),
]
