"""Where dynalite answers otherwise than Amazon DynamoDB."""

from __future__ import annotations

from golden.peers.difference import Difference
from golden.peers.faults import (
    BATCHES,
    CHANGED_TABLES,
    DYNOXIDE,
    EXPRESSIONS,
    KEY_CONDITIONS,
    KEYS,
    LEGACY,
    NAMED_TABLES,
    NEW_TABLES,
    NO_ARNS,
    OLDER_CHANGES,
    ORDER,
    PARAMETERS,
    SEGMENTS,
    SELECT,
    SEVERAL,
    SIZES,
    STARTS,
    TABLE_FIRST,
    UNITS_OF_AN_INDEX,
    VALUES,
    accepts,
    refuses_otherwise,
)

DIFFERENCES = [
    Difference(
        reason="Has no streams.",
        judge="API reference of DynamoDB Streams.",
        shows=[r"^streams\."],
    ),
    NO_ARNS,
    TABLE_FIRST,
    Difference(
        reason="Words a refusal as AWS did until 2026, without “1 validation error detected: ” before it.",
        judge=(
            "Most regions answer with it now (captures of github.com/paritysuite/dynamodb-conformance, June to"
            " October 2026)."
        ),
        shows=[r"\[PREFIX\]"],
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
        reason="Does not fetch what a query of a local secondary index asks for and the index lacks.",
        judge=(
            "“If any of the requested attributes are not projected into the local secondary index, DynamoDB "
            "fetches each of these attributes from the parent table” (API reference, Query, Select)."
        ),
        shows=[r"query_of_a_local_index_fetches_the_names"],
    ),
    Difference(
        reason=(
            "Has no transactions, backups, point-in-time recovery, UpdateTimeToLive, DescribeLimits and "
            "DescribeEndpoints."
        ),
        judge=(
            "API reference, TransactWriteItems, CreateBackup, UpdateContinuousBackups, UpdateTimeToLive, "
            "DescribeLimits, DescribeEndpoints and so on."
        ),
        shows=[r"UnknownOperationException"],
    ),
    Difference(
        reason="Ends its process at a tag without a value.",
        judge="“The Tag Value provided is invalid, Value: null” (ack-api-quirks, October 2026).",
        shows=[r"\[FAILED\]"],
    ),
    Difference(
        reason="Answers requests about tags with an empty JSON string, takes any tag, and none with CreateTable.",
        judge=(
            "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; TableDescription in"
            " the API reference."
        ),
        shows=[r"^tags\."],
    ),
    Difference(
        reason="Wants units for a new index of a table that is paid per request.",
        judge="On-demand tables have none (API reference, CreateGlobalSecondaryIndexAction).",
        shows=[r"member\.create\.provisionedThroughput'"],
    ),
    Difference(
        reason=(
            "Describes tables as of 2020: no deletion protection, warm throughput, bounds, class, encryption "
            "and streams."
        ),
        judge=(
            "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; TableDescription in"
            " the API reference."
        ),
        shows=[
            r"^(create_table[a-z_]*|update_table|describe_table|delete_table|list_tables|tags|limits_and_endpoints)[a-z_]*\.[^\n]*\n\[(ANSWER|UNPREPARED)\]"
        ],
    ),
    OLDER_CHANGES,
    UNITS_OF_AN_INDEX,
    *accepts(NEW_TABLES, CHANGED_TABLES, NAMED_TABLES),
    *refuses_otherwise(NEW_TABLES, CHANGED_TABLES, NAMED_TABLES),
    Difference(
        reason="Answers with empty Attributes where there are none.",
        judge=(
            "The member is missing (recorded in the tests of ScyllaDB's Alternator, which are run against "
            "AWS)."
        ),
        shows=[r"Attributes: not expected, but it is \{\}"],
    ),
    Difference(
        reason="Compares no lists and maps, and finds nothing in lists.",
        judge="Developer guide, “Comparison operator and function reference”.",
        shows=[r"conditions\.(equal_|contains_an_element)"],
    ),
    Difference(
        reason="Has no indexes with keys of several attributes.",
        judge="Developer guide, “Multi-attribute keys” of global secondary indexes, November 2025.",
        shows=[r"\[UNPREPARED\].*keySchema' failed", r"^multi_attribute_keys\.[^\n]*\n\[(REFUSED|WORDS)\]"],
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
        reason="Ends a page of a megabyte at another item, or charges otherwise for it.",
        judge=(
            "The item that reaches 1 MB is read with the page (F. Pachot, “DynamoDB Scan (and why 128.5 RCU?)”)."
        ),
        shows=[r"page_of_a_megabyte"],
    ),
    Difference(
        reason="Charges a consistent scan as an eventually consistent one.",
        judge=(
            "A read costs the size of what is read, rounded up to 4 KB, and half of it when it is eventually "
            "consistent; Query and Scan round the sum, and filters and projections save nothing (developer "
            "guide, “DynamoDB read and write operations”)."
        ),
        shows=[r"consistent_scan_costs_twice"],
    ),
    Difference(
        reason="Charges nothing for writes to indexes.",
        judge=(
            "A write costs the larger of the item before and after, rounded up to 1 KB, and a write in each "
            "index that it changes (developer guide, “DynamoDB read and write operations” and “Provisioned "
            "throughput considerations” of secondary indexes)."
        ),
        shows=[
            r"SecondaryIndexes: missing",
            r"total_holds_what_indexes_cost",
            r"ConsumedCapacity.CapacityUnits: expected 3.0, got 1\n",
        ],
    ),
    Difference(
        reason="Has no ItemCollectionMetrics.",
        judge=(
            "“If set to SIZE, the response includes statistics about item collections, if any, that were "
            "modified during the operation” (API reference, ReturnItemCollectionMetrics)."
        ),
        shows=[r"\.ItemCollectionMetrics: missing"],
    ),
    Difference(
        reason="Does not know ReturnValuesOnConditionCheckFailure.",
        judge="API reference, ReturnValuesOnConditionCheckFailure, since 2023.",
        shows=[r"\$\.Item: missing"],
    ),
    Difference(
        reason="Lets NOT_CONTAINS hold for an attribute that is not there.",
        judge="It fails there (recorded in the tests of ScyllaDB's Alternator, which are run against AWS).",
        shows=[r"contains_not_(of_a_missing|is_true_of_other)"],
    ),
    Difference(
        reason="Refuses maps, lists, NULL and BOOL in the legacy conditions.",
        judge=(
            "“EQ is supported for all data types, including lists and maps” (API reference, "
            "ComparisonOperator); of CONTAINS it is recorded in the tests of ScyllaDB's Alternator, which are "
            "run against AWS."
        ),
        shows=[r"legacy_(?:conditions|reads)\.\w*filter_.*\[REFUSED\].*is not valid for (NULL|BOOL|L|M) "],
    ),
    Difference(
        reason="Ignores the ConditionalOperator OR.",
        judge="API reference, ConditionalOperator.",
        shows=[r"expected_or_of_conditions_one|query_filter_combines_conditions_with_or"],
    ),
    Difference(
        reason=(
            "Words some refusals of Scan and of the legacy parameters as AWS does in the regions with the "
            "older validation, us-east-1 among them."
        ),
        judge=(
            "20 of 33 regions had the newer validation of Scan on 20 October 2026 (captured by the authors of "
            "dynoxide)."
        ),
        shows=[r"^(scan\.|legacy_refusals\.[a-z_]*(unknown_operator|another_name)).*\[WORDS\]"],
    ),
    Difference(
        reason="Describes a syntax error as its parser does.",
        judge=(
            "“Syntax error; token: …, near: …” (captures of github.com/paritysuite/dynamodb-conformance, June "
            "to October 2026)."
        ),
        shows=[r"\[WORDS\].*got 'Invalid \w+: Syntax error; Expected"],
    ),
    Difference(
        reason=(
            "Words an empty key value, duplicates in a set or an operand of a wrong type as AWS did until "
            "2026."
        ),
        judge="Captures of github.com/paritysuite/dynamodb-conformance, June to October 2026.",
        shows=[r"\[WORDS\].*(cannot contain an empty|contains duplicates|Incorrect operand type)"],
    ),
    Difference(
        reason="Keeps the last element when an update removes several of a list.",
        judge=(
            "Each index means an element as it was before the update (recorded in the tests of ScyllaDB's "
            "Alternator, which are run against AWS)."
        ),
        shows=[r"remove_the_last_element"],
    ),
    Difference(
        reason="Refuses a number that is zero but for a fraction where an integer is expected.",
        judge=f"The fraction is dropped ({DYNOXIDE}).",
        shows=[r"segment_that_is_almost_zero"],
    ),
    *accepts(BATCHES, SEGMENTS, SELECT, SIZES, KEYS, EXPRESSIONS, LEGACY, VALUES),
    *refuses_otherwise(
        SEVERAL,
        ORDER,
        BATCHES,
        STARTS,
        SEGMENTS,
        SIZES,
        KEYS,
        KEY_CONDITIONS,
        EXPRESSIONS,
        LEGACY,
        PARAMETERS,
    ),
]
