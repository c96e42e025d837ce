"""The model itself, checked against AWS's own local build: is what we hold our engine to right?

Set SINGLETABLE_AWS_LOCAL to the URL of a running DynamoDB Local, started with -inMemory.
"""

from __future__ import annotations

import os
import uuid
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from resilience.model.endpoints import AWS_LOCAL, Endpoint
from resilience.model.machine_reads import ModelMachine
from resilience.model.refusals import RefusedError
from resilience.model.tables import Index, Table

ENDPOINT_URL = os.environ.get("SINGLETABLE_AWS_LOCAL")
RETRIES_MAX = 20

pytestmark = [
    pytest.mark.aws_local,
    pytest.mark.skipif(
        ENDPOINT_URL is None, reason="SINGLETABLE_AWS_LOCAL, a DynamoDB Local's URL, is unset"
    ),
]


@cache
def client() -> Any:
    """Connect once: making a client takes longer than a short run."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "dynamodb",
        endpoint_url=ENDPOINT_URL,
        region_name="us-east-1",
        # DynamoDB Local keeps a database for each access key, so a fresh key is a fresh database.
        aws_access_key_id=uuid.uuid4().hex,
        aws_secret_access_key="unused",
        config=Config(retries={"total_max_attempts": 1}, parameter_validation=False),
    )


class AwsLocalMachine(ModelMachine):
    """The machine at a DynamoDB Local."""

    poll_s = 0.05

    def open(self) -> Endpoint:
        endpoint = Endpoint(client(), AWS_LOCAL)
        for name in endpoint.call("list_tables")["TableNames"]:
            endpoint.call("delete_table", TableName=name)
        return endpoint

    def addable(self, table: Table, index: Index) -> bool:
        """Add only indexes on other attributes, which every item fits.

        DynamoDB Local may lose its column for a shared attribute, and fails at an item of another type.
        """
        used = {name for other in table.definition.indexes for name in other.key_names()}
        fitting = all(table.fits(item, name) for item in table.items.values() for name in index.key_names())
        return fitting and not used.intersection(index.key_names())

    def removable(self, table: Table) -> list[str]:
        """Remove no index: DynamoDB Local never ends the removal of one whose key attribute has another use."""
        return []

    def await_indexes(self, name: str) -> None:
        """Wait. While it removes an index, DynamoDB Local may fail to describe the table."""
        for _ in range(RETRIES_MAX):
            try:
                return super().await_indexes(name)
            except RefusedError as refusal:
                if refusal.code != "InternalFailure":
                    raise
        raise AssertionError(f"{name} cannot be described")


def test_model_agrees_with_aws_local_build() -> None:
    run_state_machine_as_test(
        AwsLocalMachine,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
