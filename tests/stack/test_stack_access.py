"""What the roles of the systems may do, call by call: by our evaluator, by moto's, and by AWS's cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from moto.iam.access_control import IAMPolicy, PermissionResult

from singletable.stack import Policy, Stack, Statement
from singletable.stack.resources import Bucket, ScheduleGroup, Sub, Table
from singletable.systems import System, installed_systems
from support.whole_stacks import as_policy, policies_of, whole_stack

SYSTEMS = [*installed_systems().values()]
ACCOUNT = "123456789012"
TABLE = f"arn:aws:dynamodb:eu-north-1:{ACCOUNT}:table/Books"

# Examples and rules of AWS's documentation, each with its page. Moto's evaluator reads no conditions, no variables
# and no question marks; ours no denials, as none is ever written.
CASES = json.loads(Path(__file__).with_name("iam_cases.json").read_text())
CALLS = [
    pytest.param(case, call, id=f"{case['name']}-{number}")
    for case in CASES
    for number, call in enumerate(case["calls"])
]


def by_moto(document: dict[str, Any], action: str, resource: str) -> bool:
    found = IAMPolicy(json.dumps(document)).is_action_permitted(action, resource)
    return found is PermissionResult.PERMITTED


@pytest.mark.parametrize(("case", "call"), CALLS)
def test_call_is_decided_as_documented(case: dict[str, Any], call: dict[str, Any]) -> None:
    document = {"Statement": case["statements"]}
    action, resource, is_allowed = call["action"], call["resource"], call["is_allowed"]
    if "singletable" in case["evaluators"]:
        assert as_policy(document).allows(action, resource, call.get("context")) is is_allowed
    if "moto" in case["evaluators"]:
        assert by_moto(document, action, resource) is is_allowed


def test_actions_have_no_case() -> None:
    policy = Policy("p", (Statement("s", ("DYNAMODB:getitem",), (TABLE,)),))
    assert policy.allows("dynamodb:GetItem", TABLE)


# --- every action, on everything -------------------------------------------------------------------------


@cache
def actions() -> list[str]:
    """Return all actions of DynamoDB and of its streams that a call can need."""
    session = botocore.session.get_session()
    models = (session.get_service_model(name) for name in ("dynamodb", "dynamodbstreams"))
    names = {name for model in models for name in model.operation_names}
    return sorted(f"dynamodb:{name}" for name in {*names, "ConditionCheckItem"})


def table_in(stack: Stack) -> Table:
    (table,) = (each for each in stack.resources if isinstance(each, Table))
    return table


def own(table: Table) -> list[str]:
    """Return the table, its indexes, and one that it does not have."""
    arn = TABLE.replace("Books", table.name)
    return [arn, *(f"{arn}/index/{index.name}" for index in table.indexes), f"{arn}/index/Other"]


def foreign(table: Table) -> list[str]:
    """Return tables and indexes that are not of this stack: by name, account, region."""
    return [
        changed
        for each in own(table)
        for changed in (
            each.replace(f":{ACCOUNT}:", ":999999999999:"),
            each.replace("eu-north-1", "eu-west-1"),
            each.replace(table.name, f"{table.name}2"),
            each.replace(table.name, f"x{table.name}"),
        )
    ]


def unconditional(document: dict[str, Any]) -> dict[str, Any]:
    """Return a policy without its statements under conditions, of which moto reads only those of trust."""
    kept = [each for each in document["Statement"] if "Condition" not in each]
    return {**document, "Statement": kept}


def decisions(document: dict[str, Any], resources: list[str]) -> Iterator[tuple[str, str, bool, bool]]:
    """Yield every action on every resource, with what ours and moto's say of it."""
    ours, other = as_policy(document), IAMPolicy(json.dumps(document))
    for action in actions():
        for resource in resources:
            permitted = other.is_action_permitted(action, resource) is PermissionResult.PERMITTED
            yield action, resource, ours.allows(action, resource), permitted


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_both_evaluators_agree_on_every_action_of_every_role(system: System) -> None:
    stack = whole_stack(system.name)
    table = table_in(stack)
    streams = [f"{own(table)[0]}/stream/2026-11-16T00:00:00.000", f"{own(table)[0]}/backup/01"]
    seen = 0
    for document in map(unconditional, policies_of(stack).values()):
        for action, resource, is_allowed, is_permitted in decisions(
            document, [*own(table), *foreign(table), *streams]
        ):
            assert is_allowed == is_permitted, (action, resource)
            seen += is_allowed
    assert seen > 20


# Actions that know no resources are granted on all (service authorization reference, Amazon DynamoDB).
ANYWHERE = {"dynamodb:ListStreams", "dynamodb:ListBackups"}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_no_role_reaches_the_table_of_another_place_or_name(system: System) -> None:
    stack = whole_stack(system.name)
    for name, document in policies_of(stack).items():
        policy = as_policy(document)
        for resource in foreign(table_in(stack)):
            reached = {action for action in actions() if policy.allows(action, resource)}
            assert reached <= ANYWHERE, (name, resource)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_reader_may_read_as_the_patterns_do_and_nothing_else(system: System) -> None:
    stack = whole_stack(system.name)
    table = table_in(stack)
    arn = own(table)[0]
    wanted = {
        (f"dynamodb:{read.operation}", arn if read.index is None else f"{arn}/index/{read.index}")
        for pattern in system.blueprint().patterns
        for read in pattern.reads
    }
    (document,) = (each for name, each in policies_of(stack).items() if name.startswith("ReaderRole"))
    policy = as_policy(document)
    allowed = {(each, place) for each in actions() for place in own(table) if policy.allows(each, place)}
    assert allowed == {*wanted, ("dynamodb:DescribeTable", arn)}


GROUPED = f"scheduler:eu-north-1:{ACCOUNT}:schedule/{{}}/r1"
REACHED = [
    pytest.param("smart_cooking", Bucket, "s3:PutObject", "s3:::{}/ada/1.json", id="bucket"),
    pytest.param("kefir", ScheduleGroup, "scheduler:CreateSchedule", GROUPED, id="group"),
]


@pytest.mark.parametrize(("name", "kind", "action", "path"), REACHED)
def test_function_reaches_what_the_stack_has_for_it_and_no_other(
    name: str, kind: type[Bucket | ScheduleGroup], action: str, path: str
) -> None:
    stack = whole_stack(name)
    (resource,) = (each for each in stack.resources if isinstance(each, kind))
    named = resource.name.template if isinstance(resource.name, Sub) else resource.name
    arn = f"arn:aws:{path.format(named.replace('${AWS::AccountId}', ACCOUNT))}"
    documents = [each for title, each in policies_of(stack).items() if title.startswith("ConsumerRole")]
    assert any(as_policy(each).allows(action, arn) for each in documents)
    assert any(by_moto(each, action, arn) for each in documents)
    other = arn.replace(":::", ":::x").replace("schedule/", "schedule/x")
    assert not any(as_policy(each).allows(action, other) for each in documents)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_no_role_of_an_application_scans_or_changes_the_table_itself(system: System) -> None:
    stack = whole_stack(system.name)
    table = table_in(stack)
    items = {"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}
    more = {"ConditionCheckItem", "DescribeTable", "ListStreams"}
    for name, document in policies_of(stack).items():
        if name.startswith("MaintenanceRole"):
            continue
        policy = as_policy(document)
        allowed = {each for each in actions() for place in own(table) if policy.allows(each, place)}
        assert allowed <= {f"dynamodb:{each}" for each in items | more}, name
