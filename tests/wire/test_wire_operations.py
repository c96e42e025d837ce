"""Every operation of the API has one row, and whoever asks something of an operation reads that row."""

from __future__ import annotations

import json
from typing import Any, Final

import botocore.session
import pytest
from botocore import xform_name
from botocore.loaders import Loader

from singletable import Database
from singletable.capacity.consumed import Consumed
from singletable.client import boto_answers, embedded
from singletable.metrics import Dimensions, Failure, Metrics
from singletable.operations import _ROWS, OPERATIONS, SERVED, STREAM_OPERATIONS, Operation
from singletable.past import PastView
from singletable.server.dispatch import IN_THREADS
from singletable.server.routing import TARGETS
from singletable.wire.execution import Execution
from singletable.wire.operations import PLAIN, RUN
from singletable.wire.validation.shapes import INPUTS

MODELS: Final[dict[str, Any]] = {
    name: Loader().load_service_model(name, "service-2") for name in ("dynamodb", "dynamodbstreams")
}
SERVED_ROWS: Final = [pytest.param(row, id=row.name) for row in SERVED.values()]


def model_of(row: Operation) -> Any:
    return MODELS[row.service]["operations"][row.name]


def input_members(row: Operation) -> set[str]:
    return set(MODELS[row.service]["shapes"][model_of(row)["input"]["shape"]]["members"])


# --- the table ------------------------------------------------------------------------------------------


def test_every_operation_of_the_model_has_exactly_one_row() -> None:
    known = [(service, name) for service, model in MODELS.items() for name in model["operations"]]
    assert sorted((row.service, row.name) for row in _ROWS) == sorted(known)
    assert len(_ROWS) == len(OPERATIONS)


@pytest.mark.parametrize("row", [row for row in _ROWS if row.unserved is not None], ids=lambda row: row.name)
def test_row_of_a_refused_operation_has_no_remark(row: Operation) -> None:
    assert row.remark == ""
    assert row.name not in RUN


@pytest.mark.parametrize("row", SERVED_ROWS)
def test_row_says_how_the_operation_names_its_table(row: Operation) -> None:
    named = [name for name in ("TableName", "RequestItems", "TransactItems") if name in input_members(row)]
    assert row.table == "".join(named)


@pytest.mark.parametrize("row", SERVED_ROWS)
def test_operation_without_an_output_returns_nothing(row: Operation) -> None:
    assert (row.returns == "nothing") is ("output" not in model_of(row))


@pytest.mark.parametrize("row", SERVED_ROWS)
def test_items_are_written_in_groups_and_read_on_the_loop(row: Operation) -> None:
    """What writes and is not grouped would wait for the disk on the event loop."""
    assert (row.runs == "group") is (row.effect == "write")
    assert row.effect != "read" or row.runs == "loop"
    assert row.runs == "thread" or not row.name.startswith(
        ("Create", "DeleteB", "DeleteT", "Restore", "Tag", "Untag", "UpdateC", "UpdateT")
    )


# --- those who read it -----------------------------------------------------------------------------------


def test_every_served_operation_is_run_and_has_a_shape() -> None:
    assert RUN.keys() == SERVED.keys() == INPUTS.keys()
    assert PLAIN.keys() == {"GetItem", "Query"}


def test_routing_knows_every_operation_by_the_target_of_its_service() -> None:
    assert {
        f"{model['metadata']['targetPrefix']}.{name}".encode(): name
        for model in MODELS.values()
        for name in model["operations"]
    } == TARGETS


def test_dispatch_and_the_embedded_client_agree_on_what_waits_for_the_disk() -> None:
    assert {name for name, row in SERVED.items() if row.runs == "thread"} == IN_THREADS
    assert {name for name, row in SERVED.items() if row.runs == "loop"} == embedded._READS


WRITES: Final[dict[str, Any]] = {
    "PutItem": {"TableName": "things", "Item": {"PK": {"S": "a"}}},
    "UpdateItem": {"TableName": "things", "Key": {"PK": {"S": "a"}}},
    "DeleteItem": {"TableName": "things", "Key": {"PK": {"S": "a"}}},
    "BatchWriteItem": {"RequestItems": {"things": [{"DeleteRequest": {"Key": {"PK": {"S": "a"}}}}]}},
    "TransactWriteItems": {"TransactItems": [{"Delete": {"TableName": "things", "Key": {"PK": {"S": "a"}}}}]},
}


@pytest.mark.parametrize("operation", [name for name, row in SERVED.items() if row.runs == "group"])
def test_write_waits_for_its_group(operation: str) -> None:
    with Database.open(":memory:") as database:
        database.create_table(
            TableName="things",
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        begun = database.begin(operation, json.dumps(WRITES[operation]).encode())
        assert isinstance(begun, Execution)
        assert [answer.status for answer in database.answer_writes([begun])] == [200]


@pytest.mark.parametrize("row", SERVED_ROWS)
def test_metrics_split_by_operations_on_items_alone(row: Operation) -> None:
    metrics = Metrics()
    metrics.succeeded(row.name, "things", 0.001, [Consumed("things", 2.0)], 3)
    metrics.failed(row.name, "things", Failure.THROTTLED)
    snapshot = metrics.snapshot()
    where = Dimensions("things", operation=row.name)
    assert (where in snapshot.latencies) is (row.effect != "table")
    assert (where in snapshot.returned) is (row.returns == "page")
    assert snapshot.consumed_read_units("things") == (2.0 if row.effect == "read" else 0.0)
    assert snapshot.consumed_write_units("things") == (2.0 if row.effect == "write" else 0.0)


def test_remote_client_knows_what_boto3_has_in_the_other_service() -> None:
    session = botocore.session.get_session()
    assert set(session.get_service_model("dynamodbstreams").operation_names) == STREAM_OPERATIONS


def test_answer_may_be_empty_only_where_nothing_in_it_is_a_list() -> None:
    """An empty page has its empty list; a proxy's empty object is told from it by that."""
    for name in boto_answers._MAY_BE_EMPTY:
        row = OPERATIONS[name]
        assert row.returns == "maybe"
        shapes = MODELS[row.service]["shapes"]
        members = shapes[model_of(row)["output"]["shape"]]["members"]
        given = {member["shape"] for member in members.values()} - {"ConsumedCapacityMultiple"}
        assert all(shapes[shape]["type"] != "list" for shape in given), name


@pytest.mark.parametrize("row", SERVED_ROWS)
def test_database_has_a_method_for_the_operation(row: Operation) -> None:
    assert callable(getattr(Database, xform_name(row.name)))


def test_view_of_the_past_has_methods_of_reads_alone() -> None:
    methods = {name for name in SERVED if hasattr(PastView, xform_name(name))}
    assert {"BatchGetItem", "GetItem", "Query", "Scan"} <= methods
    assert methods <= {name for name, row in SERVED.items() if row.effect == "read"}
