"""Where dynoxide answers otherwise than Amazon DynamoDB."""

from __future__ import annotations

from golden.peers.difference import Difference
from golden.peers.faults import (
    ALTERNATOR,
    BATCHES,
    CHANGED_TABLES,
    DYNALITE,
    EXPRESSIONS,
    JSON,
    LEGACY,
    NAMED_TABLES,
    NEW_TABLES,
    NO_ARNS,
    OLDER_CHANGES,
    ORDER,
    PARAMETERS,
    SEVERAL,
    SIZES,
    TABLE_FIRST,
    TAGS,
    TIME_TO_LIVE,
    TIME_TO_LIVE_AT_ONCE,
    TRANSACTIONS,
    UNITS_OF_AN_INDEX,
    UNUSED_PLACEHOLDERS,
    accepts,
    refuses_otherwise,
)

DIFFERENCES = [
    Difference(
        reason=(
            "Shows in a stream what an earlier table of the name has left, and writes that change nothing; has"
            " names and iterators of another form; checks little of what it is asked about streams."
        ),
        judge="AWS guide, “Change data capture for DynamoDB Streams”; API reference of DynamoDB Streams.",
        shows=[r"^streams\."],
    ),
    NO_ARNS,
    TABLE_FIRST,
    Difference(
        reason="Cannot hold two tables whose names differ only in case.",
        judge="Names are case-sensitive (developer guide, “Supported data types and naming rules”).",
        shows=[r"names_come_in_the_order_of_their_bytes"],
    ),
    Difference(
        reason="Does not serve backups, point-in-time recovery, DescribeLimits and DescribeEndpoints.",
        judge="API reference, CreateBackup, UpdateContinuousBackups, DescribeLimits, DescribeEndpoints and so on.",
        shows=[r"UnknownOperationException"],
    ),
    Difference(
        reason="Leaves out “1 validation error detected: ” before some refusals of AttributeUpdates.",
        judge=(
            "UpdateItem puts it before its refusals in most regions (captures of "
            "github.com/paritysuite/dynamodb-conformance, June to October 2026); but of these sentences "
            "themselves only the older form is recorded, by dynalite."
        ),
        shows=[r"\[PREFIX\]"],
    ),
    OLDER_CHANGES,
    UNITS_OF_AN_INDEX,
    Difference(
        reason=(
            "Describes tables in its own way: ARNs of the region dynoxide, without warm throughput, ACTIVE at "
            "once after most updates."
        ),
        judge=(
            "Answers of AWS that the “ack-api-quirks” laboratory recorded in October 2026; TableDescription in"
            " the API reference."
        ),
        shows=[
            r"^(create_table[a-z_]*|update_table|describe_table|delete_table|list_tables|tags|limits_and_endpoints)[a-z_]*\.[^\n]*\n\[(ANSWER|UNPREPARED)\]"
        ],
    ),
    *accepts(NEW_TABLES, CHANGED_TABLES),
    *refuses_otherwise(NEW_TABLES, CHANGED_TABLES, NAMED_TABLES),
    TIME_TO_LIVE_AT_ONCE,
    *accepts(TAGS, TIME_TO_LIVE),
    *refuses_otherwise(TAGS, TIME_TO_LIVE),
    Difference(
        reason="Has no ItemCollectionMetrics in transactions.",
        judge="Example of transact-write-items in the reference of the AWS CLI.",
        shows=[r"\.ItemCollectionMetrics: missing"],
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
        reason="Returns the key beside a projection of TransactGetItems.",
        judge="Developer guide, “Using projection expressions”: only what is named.",
        shows=[r"capacity_transactions\.read_of_one_attribute|transactions\.each_get_has_its_projection"],
    ),
    Difference(
        reason="Accepts, or words otherwise, faulty conditions that AWS refuses before it reads an item.",
        judge="“Invalid FilterExpression: …” (recorded in dynalite's tests, which were run against AWS).",
        shows=[r"^conditions\."],
    ),
    Difference(
        reason="Adds up or deletes the numbers of a set by their text.",
        judge=(
            "A number has up to 38 digits, leading and trailing zeros are trimmed, and it is compared by its "
            "value (developer guide, “Numbers”)."
        ),
        shows=[r"add_joins_sets_of_numbers|update_item\.delete_from_a_set"],
    ),
    Difference(
        reason=(
            "Words or orders the refusals of legacy parameters otherwise: values before all else, the operators of"
            " KeyConditions, an empty KeyConditions."
        ),
        judge=f"{DYNALITE[0].upper()}{DYNALITE[1:]}; {ALTERNATOR}; of an empty KeyConditions, DynamoDB Local.",
        shows=[r"^legacy_[a-z]*\.[^\n]*\n\[(WORDS|CODE|REFUSED)\]"],
    ),
    Difference(
        reason="Accepts document paths that conflict in one projection.",
        judge=(
            "“Invalid ProjectionExpression: Two document paths conflict with each other; …” (recorded in the "
            "tests of ScyllaDB's Alternator, which are run against AWS)."
        ),
        shows=[r"projection_of_conflicting_paths"],
    ),
    Difference(
        reason="Words some SerializationExceptions as its JSON parser does.",
        judge=(
            "“NUMBER_VALUE cannot be converted to String” and the like (recorded in dynalite's tests, which "
            "were run against AWS)."
        ),
        shows=[r"put_item\.(number_as_json_number|list_as_json_object|binary_that_is_no_base64)"],
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
        reason="Ends a page of a megabyte at another item, or charges otherwise for it.",
        judge=(
            "The item that reaches 1 MB is read with the page (F. Pachot, “DynamoDB Scan (and why 128.5 RCU?)”)."
        ),
        shows=[r"page_of_a_megabyte"],
    ),
    Difference(
        reason="Charges a scan of a local secondary index to the table.",
        judge="ConsumedCapacity has the units of each index that was read (API reference).",
        shows=[r"scan_of_a_local_index_costs"],
    ),
    Difference(
        reason="Lets NOT_CONTAINS hold for an attribute that is not there.",
        judge="It fails there (recorded in the tests of ScyllaDB's Alternator, which are run against AWS).",
        shows=[r"contains_not_(of_a_missing|is_true_of_other)"],
    ),
    Difference(
        reason="Answers with the key as the old item when an update makes an item.",
        judge=(
            "There are no Attributes, for there is no old item (captures of github.com/paritysuite/dynamodb-"
            "conformance, June to October 2026)."
        ),
        shows=[r"new_item_has_nothing_old"],
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
        reason="Accepts a query by a key that no item can have, because it is empty or too long.",
        judge=(
            "Answers of AWS to a query by an empty key of an index (github.com/praetorian-inc/chariot-ui, issue "
            "353) and by a long partition key (github.com/facebook/ThreatExchange, issue 1324); the others as "
            "DynamoDB Local answers."
        ),
        shows=[
            r"(?:query_key_conditions|multi_attribute_queries)\.[^\n]*(?:empty|longer_than_any)[^\n]*\n\[ACCEPTED\]"
        ],
    ),
    Difference(
        reason="Accepts a key of an index that is too long, when an update or several attributes make it.",
        judge=(
            "“The update expression attempted to update the secondary index key beyond allowed size limits” (API "
            "reference, TransactionCanceledException); “Size limit exceeded for Index Key …” "
            "(github.com/architect/dynalite, issue 35)."
        ),
        shows=[
            r"\.(?:update_of_an_index_key_to_[^\n]*too_long|put_with_[^\n]*_(?:longer|too_long)[^\n]*)\n\[ACCEPTED\]"
        ],
    ),
    Difference(
        reason="Accepts another change of an item that does not fit a new index.",
        judge=(
            "“After the backfill phase completes, all writes to items that violate the new index's key schema "
            "will be rejected” (developer guide, “Detecting and correcting index key violations”)."
        ),
        shows=[r"item_that_does_not_fit_a_new_index"],
    ),
    Difference(
        reason=(
            "Looks at the type of what an update gives a key of an index after the condition, and not at all when"
            " a set is deleted from it."
        ),
        judge=(
            "dynalite looks at the types of a request before it reads the item. No answer of AWS to these "
            "requests is known."
        ),
        shows=[r"update_of_an_index_key_(?:by_delete_of_a_set|to_a_number_is_told_before_the_condition)"],
    ),
    Difference(
        reason="Updates a key in a transaction.",
        judge=f"The transaction is cancelled ({ALTERNATOR}).",
        shows=[r"transactions\.update_of_a_key_refuses"],
    ),
    Difference(
        reason="Finds no function that exists in the other kind of expression: “Invalid function name”.",
        judge="“The function is not allowed in an update expression; function: …”, as DynamoDB Local has it too.",
        shows=[r"condition_function_in_an_update"],
    ),
    *accepts(BATCHES, SIZES, LEGACY),
    *refuses_otherwise(JSON, SEVERAL, ORDER, TRANSACTIONS, BATCHES, SIZES, EXPRESSIONS, PARAMETERS),
]
