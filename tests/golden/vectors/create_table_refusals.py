"""CreateTable: indexes and settings that it refuses."""

from __future__ import annotations

from golden.vectors.new_tables import ACK, INVALID, PARITY, refused, request, with_index
from support.sample_tables import attributes, index, key_schema

UNUSED = "Some AttributeDefinitions are not used. "
UNDEFINED = "Some index key attributes are not defined in AttributeDefinitions. "

INDEXES = [
    *(
        refused(
            f"with_an_empty_list_of_{name}",
            request(**{name: []}),
            f"{INVALID}List of {name} is empty",
            f"{ACK}DDB-TABLE-043",
        )
        for name in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
    ),
    refused(
        "with_an_index_whose_key_is_not_defined",
        request(GlobalSecondaryIndexes=[index("by-q", "q")]),
        f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [q], "
        "AttributeDefinitions: [sk, pk]",
        f"{ACK}DDB-TABLE-127; the order in the lists as dynoxide 3.2 found it",
    ),
    *(
        refused(
            f"with_{name}",
            request(
                KeySchema=key_schema("PK"),
                AttributeDefinitions=attributes(**dict.fromkeys(defined.split(), "S")),
                GlobalSecondaryIndexes=[index(f"by-{keys[0]}-{keys[-1]}", *keys.split()) for keys in indexes],
            ),
            f"{INVALID}{message}",
            "Answer of the service in eu-west-2 and us-east-1, 2026-10-09, recorded in dynoxide 3.2 "
            "(tests/attribute_definition_messages.rs)",
        )
        for name, defined, indexes, message in (
            (
                "a_definition_that_no_index_uses_of_four",
                "PK h a unused",
                ["h a"],
                f"{UNUSED}AttributeDefinitions: [h, a, unused, PK], keys used: [a, h, PK]",
            ),
            (
                "definitions_that_no_index_uses_of_seven",
                "PK a b c d u1 u2",
                ["a b", "c d"],
                f"{UNUSED}AttributeDefinitions: [a, b, c, d, PK, u1, u2], keys used: [a, b, c, d, PK]",
            ),
            (
                "two_indexes_whose_keys_are_not_defined",
                "PK a c",
                ["a b", "c z"],
                f"{UNDEFINED}Keys: [a, b], AttributeDefinitions: [a, PK, c]",
            ),
            (
                "a_second_index_whose_key_is_not_defined",
                "PK a b c",
                ["a b", "c z"],
                f"{UNDEFINED}Keys: [z, c], AttributeDefinitions: [a, b, PK, c]",
            ),
            (
                "an_undefined_key_and_an_unused_definition",
                "PK a spare",
                ["a b"],
                f"{UNDEFINED}Keys: [a, b], AttributeDefinitions: [a, PK, spare]",
            ),
        )
    ),
    refused(
        "with_an_index_of_more_keys_than_are_defined",
        request(
            KeySchema=key_schema("PK"),
            AttributeDefinitions=attributes(PK="S"),
            GlobalSecondaryIndexes=[index("gsi", "a", "m")],
        ),
        "Invalid KeySchema: Some index key attribute have no definition",
        "As answered by the service for three keys and two definitions, dynoxide 3.2 "
        "(tests/attribute_definition_messages.rs)",
    ),
    refused(
        "with_a_local_index_without_a_sort_key_of_the_table",
        request(
            KeySchema=key_schema("pk"),
            AttributeDefinitions=attributes(pk="S", l="N"),
            LocalSecondaryIndexes=[index("by-l", "pk", "l")],
        ),
        f"{INVALID}Table KeySchema does not have a range key, which is required when specifying a "
        "LocalSecondaryIndex",
        f"{PARITY}tier3/error-messages/createTable.test.ts",
    ),
    refused(
        "with_a_local_index_without_a_sort_key",
        request(LocalSecondaryIndexes=[index("by-l", "pk")]),
        f"{INVALID}Index KeySchema does not have a range key for index: by-l",
        f"{ACK}DDB-TABLE-129",
    ),
    refused(
        "with_a_local_index_of_another_partition_key",
        request(LocalSecondaryIndexes=[index("by-l", "sk", "pk")]),
        f"{INVALID}Index KeySchema does not have the same leading hash key as table KeySchema for index: by-l. "
        "index hash key: sk, table hash key: pk",
        f"{ACK}DDB-TABLE-129",
    ),
    refused(
        "with_six_local_indexes",
        request(LocalSecondaryIndexes=[index(f"by-{number}", "pk", "sk") for number in range(6)]),
        f"{INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of 5",
        f"{ACK}DDB-TABLE-129",
    ),
    refused(
        "with_twenty_one_global_indexes",
        request(GlobalSecondaryIndexes=[index(f"by-{number}", "sk") for number in range(21)]),
        f"{INVALID}GlobalSecondaryIndex count exceeds the per-table limit of 20",
        f"{ACK}DDB-TABLE-129, 169",
    ),
    refused(
        "with_two_indexes_of_one_name",
        request(
            LocalSecondaryIndexes=[index("dup", "pk", "sk")], GlobalSecondaryIndexes=[index("dup", "sk")]
        ),
        f"{INVALID}Duplicate index name: dup",
        f"{ACK}DDB-TABLE-129: across GSIs, or between a GSI and an LSI",
    ),
    refused(
        "with_an_index_of_an_empty_name",
        with_index({"IndexName": ""}),
        "2 validation errors detected: Value '' at 'globalSecondaryIndexes.1.member.indexName' failed to satisfy "
        "constraint: Member must have length greater than or equal to 3; Value '' at "
        "'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must satisfy regular "
        "expression pattern: [a-zA-Z0-9_.-]+",
        f"{ACK}DDB-TABLE-457: ct_gsi_name_empty",
    ),
    refused(
        "with_an_index_without_a_projection",
        with_index({"Projection": None}),
        "1 validation error detected: Value null at 'globalSecondaryIndexes.1.member.projection' failed to "
        "satisfy constraint: Member must not be null",
        f"{ACK}DDB-TABLE-126",
    ),
    refused(
        "with_a_projection_without_a_type",
        with_index({"Projection": {}}),
        f"{INVALID}Unknown ProjectionType: null",
        f"{ACK}DDB-TABLE-126, 457",
    ),
    refused(
        "with_a_projection_that_includes_nothing",
        with_index({"Projection": {"ProjectionType": "INCLUDE"}}),
        f"{INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        f"{ACK}DDB-TABLE-126",
    ),
    refused(
        "with_a_projection_of_an_empty_list",
        with_index({"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": []}}),
        "1 validation error detected: Value '[]' at "
        "'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
        f"{ACK}DDB-TABLE-126",
    ),
    *(
        refused(
            f"with_a_projection_of_{kind.lower()}_and_more",
            with_index({"Projection": {"ProjectionType": kind, "NonKeyAttributes": ["x"]}}),
            f"{INVALID}ProjectionType is {kind}, but NonKeyAttributes is specified",
            f"{ACK}DDB-TABLE-126",
        )
        for kind in ("ALL", "KEYS_ONLY")
    ),
    refused(
        "with_a_projection_of_one_attribute_twice",
        with_index({"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y", "x"]}}),
        f"{INVALID}Duplicate element in NonKeyAttributes: x",
        f"{ACK}DDB-TABLE-126, 366",
    ),
    refused(
        "with_a_projection_of_twenty_one_attributes",
        with_index(
            {
                "Projection": {
                    "ProjectionType": "INCLUDE",
                    "NonKeyAttributes": [f"a{number:02}" for number in range(21)],
                }
            }
        ),
        "1 validation error detected: Value '["
        + ", ".join(f"a{number:02}" for number in range(21))
        + "]' at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy constraint: "
        "Member must have length less than or equal to 20",
        f"{ACK}DDB-TABLE-126: 21 entries -> Member must have length less than or equal to 20",
    ),
    refused(
        "with_projections_of_more_than_a_hundred_attributes",
        request(
            GlobalSecondaryIndexes=[
                index(
                    f"by-{number}",
                    "sk",
                    projection="INCLUDE",
                    include=[f"a{attribute}" for attribute in range(17)],
                )
                for number in range(6)
            ]
        ),
        f"{INVALID}Aggregated number of NonKeyAttributes exceeds the limit of 100",
        "AWS API reference, CreateTable, NonKeyAttributes: the total summed across all of the secondary indexes "
        "must not exceed 100; the sentence is not recorded",
    ),
]

SETTINGS = [
    refused(
        "with_a_stream_without_a_view",
        request(StreamSpecification={"StreamEnabled": True}),
        f"{INVALID}Table is being created with a stream enabled, UpdateViewType is required",
        f"{ACK}DDB-TABLE-035",
    ),
    refused(
        "without_a_stream_but_with_a_view",
        request(StreamSpecification={"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}),
        f"{INVALID}Table is being created with a stream disabled, UpdateViewType should not be specified",
        f"{ACK}DDB-TABLE-035",
    ),
    refused(
        "with_a_stream_that_is_neither_on_nor_off",
        request(StreamSpecification={"StreamViewType": "NEW_IMAGE"}),
        "1 validation error detected: Value null at 'streamSpecification.streamEnabled' failed to satisfy "
        "constraint: Member must not be null",
        f"{ACK}DDB-TABLE-035",
    ),
    refused(
        "with_a_view_in_small_letters",
        request(StreamSpecification={"StreamEnabled": True, "StreamViewType": "new_image"}),
        "1 validation error detected: Value 'new_image' at 'streamSpecification.streamViewType' failed to satisfy "
        "constraint: Member must satisfy enum value set: [OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]",
        f"{ACK}DDB-TABLE-035",
    ),
    refused(
        "with_a_class_that_there_is_not",
        request(TableClass="GLACIER"),
        "Invalid table-class parameter provided. Please try again with a valid table-class value: "
        "[STANDARD, STANDARD_INFREQUENT_ACCESS].",
        f"{ACK}DDB-TABLE-442",
    ),
    *(
        refused(f"with_encryption_{name}", request(SSESpecification=given), f"{INVALID}{message}", evidence)
        for name, given, message, evidence in (
            (
                "off_and_a_type",
                {"Enabled": False, "SSEType": "KMS"},
                "SSEType can not be specified if Enabled is false",
                f"{ACK}DDB-TABLE-036",
            ),
            (
                "off_and_a_key",
                {"Enabled": False, "KMSMasterKeyId": "alias/mine"},
                "KMSMasterKeyId can not be specified if Enabled is false",
                f"{ACK}DDB-TABLE-036",
            ),
            (
                "by_a_key_of_no_type",
                {"Enabled": True, "KMSMasterKeyId": "alias/mine"},
                "SSEType KMS is required if KMSMasterKeyId is specified",
                f"{ACK}DDB-TABLE-031",
            ),
            (
                "by_aes256",
                {"Enabled": True, "SSEType": "AES256"},
                "SSEType AES256 is not supported",
                f"{ACK}DDB-TABLE-036",
            ),
        )
    ),
    refused(
        "with_encryption_of_a_type_in_small_letters",
        request(SSESpecification={"Enabled": True, "SSEType": "kms"}),
        "1 validation error detected: Value 'kms' at 'sSESpecification.sSEType' failed to satisfy constraint: "
        "Member must satisfy enum value set: [AES256, KMS]",
        f"{ACK}DDB-TABLE-036",
    ),
]

VECTORS = [*INDEXES, *SETTINGS]
