"""The table of a stack, compared with what moto describes."""

from __future__ import annotations

from typing import Any

from singletable.stack.resources import Table


# What moto's AWS::DynamoDB::Table leaves aside, as of 5.2.5: encryption, TTL, point-in-time recovery, the table
# class, contributor insights. The linter and the reader of templates see those.
def assert_as_designed(found: dict[str, Any], table: Table) -> None:
    assert found["KeySchema"] == [
        {"AttributeName": table.pk, "KeyType": "HASH"},
        *([{"AttributeName": table.sk, "KeyType": "RANGE"}] if table.sk else []),
    ]
    assert {
        each["AttributeName"]: each["AttributeType"] for each in found["AttributeDefinitions"]
    } == table.types
    for kind, is_local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
        indexes = {
            each["IndexName"]: (
                [(key["AttributeName"], key["KeyType"]) for key in each["KeySchema"]],
                each["Projection"]["ProjectionType"],
                sorted(each["Projection"].get("NonKeyAttributes", ())),
            )
            for each in found.get(kind) or ()
        }
        assert indexes == {
            index.name: (
                [*((name, "HASH") for name in index.pk), *((name, "RANGE") for name in index.sk)],
                index.projection,
                sorted(index.included),
            )
            for index in table.indexes
            if index.is_local == is_local
        }
    assert found.get("StreamSpecification", {}).get("StreamViewType") == table.stream
    assert found["DeletionProtectionEnabled"] == table.deletion_protection
    assert {each["Key"]: each["Value"] for each in found["Tags"]} == dict(table.tags)
    if table.capacity is not None:
        units = found["ProvisionedThroughput"]
        assert units["ReadCapacityUnits"] == table.capacity.read_units
        assert units["WriteCapacityUnits"] == table.capacity.write_units
