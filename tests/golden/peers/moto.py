"""Where moto answers otherwise than Amazon DynamoDB."""

from __future__ import annotations

from golden.peers.difference import Difference
from golden.peers.faults import ANY_BACKUP_ARN, BACKUPS_AT_ONCE, TIME_TO_LIVE_AT_ONCE

DIFFERENCES = [
    Difference(
        reason=(
            "Shows in a stream writes that change nothing; has names and iterators of another form; forgets a"
            " stream that is turned off; checks little of what it is asked about streams."
        ),
        judge="AWS guide, “Change data capture for DynamoDB Streams”; API reference of DynamoDB Streams.",
        shows=[r"^streams\."],
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
        reason="Looks for the table before it has validated the rest of the request.",
        judge=(
            "AWS validates first, and answers ValidationException (recorded in dynalite's tests, which were "
            "run against AWS)."
        ),
        shows=[r"code: expected ValidationException, got ResourceNotFoundException"],
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
        reason="Describes tables in its own way: ACTIVE at once, fewer dates, other warm throughput and bounds.",
        judge=(
            "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; TableDescription in"
            " the API reference."
        ),
        shows=[
            r"^(create_table[a-z_]*|update_table|describe_table|delete_table|list_tables|tags|limits_and_endpoints)[a-z_]*\.[^\n]*\n\[(ANSWER|UNPREPARED)\]"
        ],
    ),
    Difference(
        reason="Accepts or refuses other settings of tables than AWS, or in other words.",
        judge=(
            "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; TableDescription in"
            " the API reference."
        ),
        shows=[r"^(create_table|update_table|describe_table|delete_table|list_tables)[a-z_]*\."],
    ),
    Difference(
        reason="Accepts tags that AWS refuses, or refuses them in other words.",
        judge=(
            "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; TableDescription in"
            " the API reference."
        ),
        shows=[r"^tags\."],
    ),
    TIME_TO_LIVE_AT_ONCE,
    Difference(
        reason="Accepts settings of Time to Live that AWS refuses, or refuses them in other words.",
        judge="Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; dynalite's tests.",
        shows=[r"^time_to_live\."],
    ),
    ANY_BACKUP_ARN,
    BACKUPS_AT_ONCE,
    Difference(
        reason="Lists backups from the first on, wherever the request starts.",
        judge="API reference, ListBackups: ExclusiveStartBackupArn.",
        shows=[r"^backup_restores\.backups_are_listed_behind_the_last_one"],
    ),
    Difference(
        reason=(
            "Restores a table at once, whatever the settings of recovery, and with the indexes, throughput and "
            "bounds of the source."
        ),
        judge="API reference, RestoreTableToPointInTime, RestoreTableFromBackup; ack-api-quirks, October 2026.",
        shows=[r"^(?:continuous_backups\.restoring_|backup_restores\.a_backup_)"],
    ),
    Difference(
        reason="Takes any number of days for point-in-time recovery.",
        judge=(
            "“between 1 and 35 days”, “the value will default to 35” (API reference); ack-api-quirks, October "
            "2026."
        ),
        shows=[r"^continuous_backups\.[^\n]*\n\[(?:ACCEPTED|ANSWER)\]"],
    ),
    Difference(
        reason="Writes the items before the wrong one of a batch.",
        judge="AWS validates the whole batch first (recorded in dynalite's tests, which were run against AWS).",
        shows=[r"one_wrong_item_writes_none"],
    ),
    Difference(
        reason="Ignores projections in TransactGetItems.",
        judge="API reference, Get: ProjectionExpression.",
        shows=[r"transactions\.each_get_has_its_projection"],
    ),
    Difference(
        reason="Finds no binary in conditions.",
        judge=(
            "Developer guide, “Comparison operator and function reference”: begins_with and contains take "
            "binary."
        ),
        shows=[r"conditions\.(begins_with_binary|contains_a_part_of_binary)"],
    ),
    Difference(
        reason="Ends pages at other items, and with other cursors.",
        judge="Developer guide, “Paginating table query results”.",
        shows=[
            r"^(scan|legacy_reads|query_start_keys|multi_attribute_starts)\..*(LastEvaluatedKey|oldest_parameters|behind_a_cursor)"
        ],
    ),
    Difference(
        reason="Answers with status 500 and a page of HTML.",
        judge="AWS answers 400, and says what is wrong. Each vector names its source.",
        shows=[r"\[500\]"],
    ),
    Difference(
        reason=(
            "Charges a unit for each write and half a unit for an update, also unasked, and reads without "
            "regard to size."
        ),
        judge=(
            "A write costs the larger of the item before and after, rounded up to 1 KB, and a write in each "
            "index that it changes (developer guide, “DynamoDB read and write operations” and “Provisioned "
            "throughput considerations” of secondary indexes)."
        ),
        shows=[r"ConsumedCapacity"],
    ),
    Difference(
        reason="Keeps a number as it was written, with any number of digits.",
        judge=(
            "A number has up to 38 digits, leading and trailing zeros are trimmed, and it is compared by its "
            "value (developer guide, “Numbers”)."
        ),
        shows=[r"\.N: expected|(digits|number_of_a_set|number_set|number_too).*\[ACCEPTED\]"],
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
        reason="Evaluates only some of the legacy conditions.",
        judge="Developer guide, “Legacy conditional parameters”.",
        shows=[r"legacy_conditions\.(expected_|put_with_a_failed_expectation)"],
    ),
    Difference(
        reason="Does not know AttributesToGet in all operations.",
        judge="API reference, AttributesToGet.",
        shows=[r"legacy_(conditions|attributes)\..*\[ANSWER\]|get_with_the_oldest_projection"],
    ),
    Difference(
        reason="Loses elements of a list when a projection names several.",
        judge="Developer guide, “Using projection expressions”.",
        shows=[r"projected_elements_close_up"],
    ),
    Difference(
        reason="Puts any binary, set or nesting into an item.",
        judge="Developer guide, “Supported data types and naming rules”.",
        shows=[
            r"put_item\.(binary_|string_set|empty_binary|values_nested|map_with|value_of_two|boolean_as|list_as).*\[ACCEPTED\]"
        ],
    ),
    Difference(
        reason="Accepts requests that AWS refuses.",
        judge="Each vector names its source.",
        shows=[r"\[ACCEPTED\]"],
    ),
    Difference(
        reason="Refuses requests that AWS accepts.",
        judge="Each vector names its source.",
        shows=[r"\[REFUSED\]"],
    ),
    Difference(
        reason="Refuses with another error.",
        judge="Each vector names its source.",
        shows=[r"\[CODE\]"],
    ),
    Difference(
        reason="Refuses in words of its own.",
        judge="Each vector names its source.",
        shows=[r"\[WORDS\]"],
    ),
]
