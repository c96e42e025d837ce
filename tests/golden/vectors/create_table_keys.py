"""CreateTable: names and keys that it refuses."""

from __future__ import annotations

from golden.vectors.new_tables import (
    ACK,
    DYNALITE,
    INVALID,
    PARITY,
    UNITS,
    elements,
    refused,
    request,
    with_index,
)
from golden.vectors.tables import HASH
from golden.vectors.vector import Refusal, Vector, validation
from support.sample_tables import attributes, key_schema

NAMES = [
    refused(
        "without_a_name",
        request(TableName=None),
        "The parameter 'TableName' is required but was not present in the request",
        f"{PARITY}tier3/error-messages/createTable.test.ts",
    ),
    refused(
        "with_a_short_name",
        request(TableName="ab"),
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3",
        f"{PARITY}tier3/error-messages/createTable.test.ts",
    ),
    Vector(
        "with_a_name_that_is_taken",
        operation="CreateTable",
        tables=[HASH],
        request={**HASH, "BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS},
        error=Refusal("ResourceInUseException", "Table already exists: Hash"),
        evidence=f"{ACK}DDB-TABLE-005, 010: whatever the rest says",
    ),
    Vector(
        "with_a_name_that_is_taken_and_a_wrong_key",
        operation="CreateTable",
        tables=[HASH],
        request={**HASH, "KeySchema": elements(("p", "RANGE"))},
        error=validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
        evidence=f"{ACK}DDB-TABLE-005: an invalid KeySchema is told first",
    ),
    refused(
        "in_another_region",
        request(TableName="arn:aws:dynamodb:eu-west-1:000000000000:table/Made"),
        "1 validation error detected: Invalid AWS region in "
        "'arn:aws:dynamodb:eu-west-1:000000000000:table/Made'",
        f"{ACK}DDB-TABLE-011 (of DescribeTable)",
    ),
    refused(
        "in_another_account",
        request(TableName="arn:aws:dynamodb:us-east-1:123456789012:table/Made"),
        Refusal("AccessDeniedException", "Access is denied"),
        f"{ACK}DDB-TABLE-011 (of DescribeTable)",
    ),
]

KEYS = [
    refused(
        "without_a_key",
        request(KeySchema=None),
        "1 validation error detected: Value null at 'keySchema' failed to satisfy constraint: "
        "Member must not be null",
        f"{ACK}DDB-TABLE-042",
    ),
    refused(
        "with_an_empty_key",
        request(KeySchema=[]),
        "1 validation error detected: Value '[]' at 'keySchema' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
        f"{ACK}DDB-TABLE-042",
    ),
    refused(
        "with_three_keys",
        request(
            KeySchema=elements(("pk", "HASH"), ("sk", "RANGE"), ("extra", "RANGE")),
            AttributeDefinitions=attributes(pk="S", sk="S", extra="S"),
        ),
        "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, keyType=HASH), "
        "KeySchemaElement(attributeName=sk, keyType=RANGE), "
        "KeySchemaElement(attributeName=extra, keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: "
        "Member must have length less than or equal to 2",
        f"{PARITY}tier3/error-messages/createTable.test.ts",
    ),
    refused(
        "with_a_kind_of_key_that_there_is_not",
        request(KeySchema=elements(("pk", "INVALID")), AttributeDefinitions=attributes(pk="S")),
        "1 validation error detected: Value 'INVALID' at 'keySchema.1.member.keyType' failed to satisfy "
        "constraint: Member must satisfy enum value set: [HASH, RANGE]",
        f"{PARITY}tier3/error-messages/createTable.test.ts",
    ),
    refused(
        "with_a_type_that_no_key_can_have",
        request(AttributeDefinitions=attributes(pk="SS", sk="S")),
        "1 validation error detected: Value 'SS' at 'attributeDefinitions.1.member.attributeType' failed to "
        "satisfy constraint: Member must satisfy enum value set: [B, N, S]",
        f"{PARITY}tier3/error-messages/createTable.test.ts",
    ),
    refused(
        "without_definitions",
        request(AttributeDefinitions=[]),
        "Invalid KeySchema: Some index key attribute have no definition",
        f"{ACK}DDB-TABLE-042",
    ),
    refused(
        "with_one_attribute_twice_that_is_defined_once",
        request(KeySchema=elements(("pk", "HASH"), ("pk", "RANGE")), AttributeDefinitions=attributes(pk="S")),
        "Invalid KeySchema: Some index key attribute have no definition",
        f"{PARITY}tier3/error-messages/createTable.test.ts",
    ),
    refused(
        "with_one_attribute_twice",
        request(KeySchema=elements(("pk", "HASH"), ("pk", "RANGE"))),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        DYNALITE,
    ),
    refused(
        "with_a_key_that_is_spelled_otherwise",
        request(KeySchema=key_schema("PK"), AttributeDefinitions=attributes(pk="S")),
        f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [PK], "
        "AttributeDefinitions: [pk]",
        f"{ACK}DDB-TABLE-042",
    ),
    refused(
        "with_the_sort_key_first",
        request(KeySchema=elements(("sk", "RANGE"), ("pk", "HASH"))),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        f"{ACK}DDB-TABLE-042, 124",
    ),
    refused(
        "with_two_partition_keys",
        request(KeySchema=elements(("pk", "HASH"), ("sk", "HASH"))),
        "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        f"{ACK}DDB-TABLE-042, 124",
    ),
    refused(
        "with_one_attribute_defined_twice",
        request(AttributeDefinitions=[*attributes(pk="S", sk="S"), *attributes(pk="N")]),
        "Attribute Name is duplicated: pk",
        f"{ACK}DDB-TABLE-042: also when the types differ",
    ),
    refused(
        "with_a_definition_that_no_key_uses",
        request(AttributeDefinitions=attributes(pk="S", sk="S", x="S")),
        f"{INVALID}Number of attributes in KeySchema does not exactly match number of attributes defined in "
        "AttributeDefinitions",
        f"{ACK}DDB-TABLE-042, 127",
    ),
    refused(
        "with_a_definition_that_no_index_uses",
        with_index({"Projection": {}}, AttributeDefinitions=attributes(pk="S", sk="S", g="S", x="S")),
        f"{INVALID}Some AttributeDefinitions are not used. AttributeDefinitions: [sk, x, pk, g], "
        "keys used: [g, sk, pk]",
        f"{ACK}DDB-TABLE-127: told before the projection; the order in the lists as dynoxide 3.2 found it",
    ),
]

VECTORS = [*NAMES, *KEYS]
