"""Where ministack answers otherwise than Amazon DynamoDB."""

from __future__ import annotations

from golden.peers.difference import Difference
from golden.peers.faults import (
    ALTERNATOR,
    ANY_BACKUP_ARN,
    BACKUPS,
    BACKUPS_AT_ONCE,
    BATCHES,
    CHANGED_TABLES,
    DYNALITE,
    EXPRESSIONS,
    JSON,
    KEY_CONDITIONS,
    KEYS,
    LEGACY,
    NAMED_TABLES,
    NEW_TABLES,
    NO_ARNS,
    ORDER,
    PARAMETERS,
    RECOVERY,
    SCHEMAS,
    SEGMENTS,
    SELECT,
    SEVERAL,
    SIZES,
    STARTS,
    TABLE_FIRST,
    TAGS,
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
        reason="Does not serve DynamoDB Streams.",
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
        reason="Answers with ItemCollectionMetrics when nothing was modified.",
        judge=(
            "“If set to SIZE, the response includes statistics about item collections, if any, that were "
            "modified during the operation” (API reference, ReturnItemCollectionMetrics)."
        ),
        shows=[r"item_collection_metrics\..*ItemCollectionMetrics: not expected"],
    ),
    Difference(
        reason="Describes tables in its own way: ACTIVE at once, fewer dates, other warm throughput and bounds.",
        judge=(
            "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; TableDescription in"
            " the API reference."
        ),
        shows=[
            r"^(create_table[a-z_]*|update_table|describe_table|delete_table|list_tables|tags|limits_and_endpoints)[a-z_]*\.[^\n]*\n\[(ANSWER|UNPREPARED)\]"
        ],
    ),
    *accepts(NEW_TABLES, CHANGED_TABLES, NAMED_TABLES),
    *refuses_otherwise(NEW_TABLES, CHANGED_TABLES, NAMED_TABLES),
    TIME_TO_LIVE_AT_ONCE,
    ANY_BACKUP_ARN,
    BACKUPS_AT_ONCE,
    Difference(
        reason="Answers to the deletion of a backup that it is AVAILABLE.",
        judge="DELETED (ack-api-quirks, October 2026).",
        shows=[r"^backups\.a_backup_is_deleted\n\[ANSWER\]"],
    ),
    Difference(
        reason="Does not say for how many days, and to which times, a table can be brought back.",
        judge="API reference, PointInTimeRecoveryDescription.",
        shows=[
            r"^continuous_backups\.[^\n]*\n\[ANSWER\]\n[^\n]*RecoveryPeriodInDays: missing",
            r"^continuous_backups\.restoring_to_the_earliest_time\n\[UNPREPARED\]",
        ],
    ),
    Difference(
        reason="Restores a table at once, and without other throughput and bounds.",
        judge="API reference, RestoreTableToPointInTime, RestoreTableFromBackup; ack-api-quirks, October 2026.",
        shows=[r"^(?:continuous_backups\.restoring_|backup_restores\.)[^\n]*\n\[(?:ANSWER|REFUSED)\]"],
    ),
    *accepts(TAGS, TIME_TO_LIVE, RECOVERY, BACKUPS),
    *refuses_otherwise(TAGS, TIME_TO_LIVE, RECOVERY, BACKUPS),
    Difference(
        reason="Charges transactions without regard to indexes, and leaves out the units of the table.",
        judge=(
            "Measured in eu-west-2, August 2026, by the authors of dynoxide: the table twice, each index once,"
            " and the units of each kind beside their sum."
        ),
        shows=[r"capacity_transactions.*ConsumedCapacity"],
    ),
    Difference(
        reason="Answers InternalError, status 500.",
        judge="AWS answers 400, and says what is wrong (ack-api-quirks, October 2026; dynalite's tests).",
        shows=[r"\[500\]|InternalError"],
    ),
    Difference(
        reason="Has no ConsumedCapacity for BatchGetItem, and charges a read without regard to size.",
        judge=(
            "A read costs the size of what is read, rounded up to 4 KB, and half of it when it is eventually "
            "consistent; Query and Scan round the sum, and filters and projections save nothing (developer "
            "guide, “DynamoDB read and write operations”)."
        ),
        shows=[r"capacity_(index_)?reads\.|batch_get_from_two_tables_with_units"],
    ),
    Difference(
        reason="Returns more than 16 MB in one BatchGetItem.",
        judge="“BatchGetItem returns a partial result if the response size limit is exceeded” (API reference).",
        shows=[r"batch_get_leaves_what_does_not_fit"],
    ),
    Difference(
        reason="Finds no binary, and no member of some sets, in conditions, and gives a size to a number.",
        judge="Developer guide, “Comparison operator and function reference”.",
        shows=[r"conditions\.[^\n]*\n\[ANSWER\]|binaries_that_begin_with"],
    ),
    Difference(
        reason="Ignores the ConditionalOperator OR of filters.",
        judge="API reference, ConditionalOperator.",
        shows=[r"query_filter_combines_conditions_with_or"],
    ),
    Difference(
        reason="Answers with empty Attributes where there are none.",
        judge=(
            "The member is missing (recorded in the tests of ScyllaDB's Alternator, which are run against "
            "AWS)."
        ),
        shows=[r"Attributes: not expected, but it is \{\}"],
    ),
    Difference(
        reason="Finds nothing with the legacy parameters of a scan.",
        judge="Developer guide, “Legacy conditional parameters”.",
        shows=[r"oldest_parameters_of_a_scan"],
    ),
    Difference(
        reason="Names the path in the reason of a canceled transaction.",
        judge=(
            "“The document path provided in the update expression is invalid for update” (API reference, "
            "TransactionCanceledException)."
        ),
        shows=[r"path_that_leads_nowhere_cancels"],
    ),
    Difference(
        reason="Charges the indexes for a set that is written in another order.",
        judge="Sets are unordered (developer guide, “Sets”), so nothing changes in the index.",
        shows=[r"same_set_in_another_order"],
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
        reason="Names the table by its name in ConsumedCapacity when the request named it by its ARN.",
        judge=(
            "“If you had specified the Amazon Resource Name (ARN) of a table in the input, you'll see the "
            "table ARN in the response” (API reference, ConsumedCapacity)."
        ),
        shows=[r"ConsumedCapacity.*TableName: expected 'arn:"],
    ),
    Difference(
        reason="Compares numbers, and the numbers of sets, as text in some places.",
        judge=(
            "A number has up to 38 digits, leading and trailing zeros are trimmed, and it is compared by its "
            "value (developer guide, “Numbers”)."
        ),
        shows=[r"get_finds_a_number_key_however|update_item\.delete_from_a_set"],
    ),
    Difference(
        reason="Lets NOT_CONTAINS hold for an attribute that is not there.",
        judge="It fails there (recorded in the tests of ScyllaDB's Alternator, which are run against AWS).",
        shows=[r"contains_not_(of_a_missing|is_true_of_other)"],
    ),
    Difference(
        reason="Takes several changes of one list one after the other.",
        judge=(
            "Each index means an element as it was before the update (recorded in the tests of ScyllaDB's "
            "Alternator, which are run against AWS)."
        ),
        shows=[r"elements_behind_the_end|remove_the_last_element"],
    ),
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
    UNUSED_PLACEHOLDERS,
    Difference(
        reason="Takes a repeated transaction for another one when only ReturnConsumedCapacity differs.",
        judge="“A replay honours its own ReturnConsumedCapacity mode” (dynoxide, pull request 123).",
        shows=[r"repetition_reports_as_it_is_asked_to"],
    ),
    Difference(
        reason="Refuses begins_with of an attribute that is a number, where the condition is only false.",
        judge="Developer guide, “Condition and filter expressions, operators, and functions”.",
        shows=[r"begins_with_of_a_number"],
    ),
    Difference(
        reason="Refuses lists in ADD of AttributeUpdates.",
        judge=f"AWS appends them ({ALTERNATOR}); of an empty list, DynamoDB Local.",
        shows=[r"legacy_updates\.add_[^\n]*\n\[REFUSED\]"],
    ),
    Difference(
        reason="Wants a value for the ComparisonOperator NULL of Expected.",
        judge=f"It needs none ({DYNALITE}).",
        shows=[r"expected_null_without_a_list"],
    ),
    *accepts(
        JSON,
        TRANSACTIONS,
        BATCHES,
        STARTS,
        SELECT,
        SIZES,
        KEYS,
        SCHEMAS,
        KEY_CONDITIONS,
        EXPRESSIONS,
        LEGACY,
        PARAMETERS,
        VALUES,
    ),
    *refuses_otherwise(
        JSON,
        SEVERAL,
        ORDER,
        TRANSACTIONS,
        BATCHES,
        STARTS,
        SEGMENTS,
        SELECT,
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
