"""Where dynoxide answers otherwise than Amazon DynamoDB."""

from __future__ import annotations

from peers.difference import Difference

DIFFERENCES = [
    Difference(
        reason="Cannot hold two tables whose names differ only in case.",
        judge="Names are case-sensitive (developer guide, “Supported data types and naming rules”).",
        shows=[r"names_come_in_the_order_of_their_bytes"],
    ),
    Difference(
        reason="Does not serve DescribeLimits and DescribeEndpoints.",
        judge="API reference, DescribeLimits and DescribeEndpoints.",
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
            "Words or orders the refusals of legacy parameters otherwise; some as other regions than us-east-1"
            " do."
        ),
        judge="Each vector names its source.",
        shows=[r"^legacy_[a-z]*\.[^\n]*\n\[(WORDS|CODE|REFUSED)\]"],
    ),
    Difference(
        reason="Refuses the ARN of a table where its name is expected.",
        judge=(
            "“You can also provide the Amazon Resource Name (ARN) of the table in this parameter” (API "
            "reference, TableName)."
        ),
        shows=[r"\[REFUSED\].*arn:aws:dynamodb"],
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
        judge="Each vector names its source.",
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
