"""Stacks with all parts in moto's CloudFormation; what moto does not make, by CloudFormation's schemas."""

from __future__ import annotations

import json
import warnings
from ast import literal_eval
from collections.abc import Iterator
from typing import Any, cast

import boto3
import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from moto import mock_aws

from singletable.stack import Stack, template_text, to_cloudformation
from singletable.stack.resources import Dashboard, EventSource, Function, LogGroup, Queue, Role, Table
from singletable.systems import System, installed_systems
from support.stack_tables import assert_as_designed
from support.targets import no_aws_settings
from support.whole_stacks import REGION, policies_of, whole_stack

SYSTEMS = [*installed_systems().values()]
BUCKET = "code-of-functions"
GIVEN = {"CodeBucket": BUCKET, "IdentityPoolId": "none"}
EMPTY_ZIP = b"PK\5\6" + b"\0" * 18

# What moto 5.2.5 does not make. When it learns one, the test below says so.
NOT_IN_MOTO = {
    "AWS::Backup::BackupPlan",
    "AWS::Backup::BackupSelection",
    "AWS::Backup::BackupVault",
    "AWS::CloudWatch::Alarm",
    "AWS::SNS::TopicPolicy",
    "AWS::Scheduler::Schedule",
    "AWS::Scheduler::ScheduleGroup",
}


def deploy(stack: Stack) -> set[str]:
    """Deploy a stack; return the types of resources that moto leaves out."""
    bucket = boto3.client("s3", REGION)
    bucket.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    for each in stack.resources:
        if isinstance(each, Function):
            bucket.put_object(Bucket=BUCKET, Key=str(each.code.key), Body=EMPTY_ZIP)
    client = boto3.client("cloudformation", REGION)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        client.create_stack(
            StackName=stack.name,
            TemplateBody=template_text(to_cloudformation(stack)),
            Parameters=[
                {"ParameterKey": each.logical_id, "ParameterValue": GIVEN[each.logical_id]}
                for each in stack.parameters
            ],
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
    texts = [str(each.message) for each in told]
    return {text.split()[3] for text in texts if "not supported by moto" in text}


def of(stack: Stack, kind: type[Any]) -> list[Any]:
    return [each for each in stack.resources if isinstance(each, kind)]


@pytest.fixture(scope="module", params=SYSTEMS, ids=lambda system: system.name)
def deployed(request: pytest.FixtureRequest) -> Iterator[tuple[Stack, set[str]]]:
    system: System = request.param
    with no_aws_settings(), mock_aws():
        stack = whole_stack(system.name)
        yield stack, deploy(stack)


def test_moto_makes_all_but_what_is_listed(deployed: tuple[Stack, set[str]]) -> None:
    stack, left_out = deployed
    types = {each["Type"] for each in to_cloudformation(stack)["Resources"].values()}
    assert left_out == types & NOT_IN_MOTO


def test_deployed_table_is_as_the_design_says(
    deployed: tuple[Stack, set[str]],
) -> None:
    (table,) = of(deployed[0], Table)
    client = boto3.client("dynamodb", REGION)
    found = client.describe_table(TableName=table.name)["Table"]
    tags = client.list_tags_of_resource(ResourceArn=found["TableArn"])["Tags"]
    assert_as_designed({**found, "Tags": tags}, table)


def test_deployed_roles_have_their_policies(deployed: tuple[Stack, set[str]]) -> None:
    stack, _ = deployed
    names = {each.logical_id: each.name for each in of(stack, Role)}
    client = boto3.client("iam", REGION)
    assert {each["RoleName"] for each in client.list_roles()["Roles"]} == {*names.values()}
    checked = 0
    for title, document in policies_of(stack).items():
        role, _, policy = title.partition(": ")
        kept = client.get_role_policy(RoleName=names[role], PolicyName=policy)["PolicyDocument"]
        found = literal_eval(cast(str, kept))  # moto keeps what a template has as Python writes it
        for wanted, got in zip(document["Statement"], found["Statement"], strict=True):
            assert wanted["Action"] == got["Action"]
            assert wanted.get("Condition") == got.get("Condition")
            if wanted["Action"][0].startswith("dynamodb:"):
                assert wanted["Resource"] == got["Resource"]
        checked += 1
    assert checked >= 3


def test_deployed_functions_queues_logs_and_dashboard_are_as_said(deployed: tuple[Stack, set[str]]) -> None:
    stack, _ = deployed
    functions = boto3.client("lambda", REGION)
    for each in of(stack, Function):
        found = functions.get_function_configuration(FunctionName=each.name)
        assert (found["Handler"], found["Runtime"], found["Timeout"], found["MemorySize"]) == (
            each.handler, each.runtime, each.timeout_s, each.memory_mb,
        )  # fmt: skip
    sources = functions.list_event_source_mappings()["EventSourceMappings"]
    assert [each["BatchSize"] for each in sources] == [each.batch_size for each in of(stack, EventSource)]
    assert all("/stream/" in each["EventSourceArn"] for each in sources)
    queues = boto3.client("sqs", REGION)
    for each in of(stack, Queue):
        url = queues.get_queue_url(QueueName=each.name)["QueueUrl"]
        kept = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        assert int(kept["MessageRetentionPeriod"]) == each.keep_s
    logs = boto3.client("logs", REGION)
    for each in of(stack, LogGroup):
        (group,) = logs.describe_log_groups(logGroupNamePrefix=each.name)["logGroups"]
        assert group["retentionInDays"] == each.keep_days
    (board,) = of(stack, Dashboard)
    body = boto3.client("cloudwatch", REGION).get_dashboard(DashboardName=board.name)["DashboardBody"]
    assert len(json.loads(body)["widgets"]) == len(board.body["widgets"])


# --- by schemas ------------------------------------------------------------------------------------------


def wrong_in(schema: dict[str, Any], whole: dict[str, Any], value: Any, at: str) -> Iterator[str]:
    """Yield members that a schema of CloudFormation does not have, and those that it misses."""
    while "$ref" in schema:
        schema = whole["definitions"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        for each in value:
            yield from wrong_in(schema.get("items", {}), whole, each, at)
    if not isinstance(value, dict) or any(name == "Ref" or name.startswith("Fn::") for name in value):
        return
    members = schema.get("properties")
    if members is None:
        return
    yield from (f"{at}.{name} is missing" for name in schema.get("required", ()) if name not in value)
    for name, member in value.items():
        if name not in members:
            yield f"{at}.{name} is unknown"
        elif f"/properties/{name}" in schema.get("readOnlyProperties", ()):
            yield f"{at}.{name} is read only"
        else:
            yield from wrong_in(members[name], whole, member, f"{at}.{name}")


def wrong_resources(resources: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, each in resources.items():
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, each["Type"]).schema
        found += wrong_in(schema, schema, each["Properties"], name)
    return found


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_property_is_one_of_the_schema_of_its_resource(system: System) -> None:
    assert wrong_resources(to_cloudformation(whole_stack(system.name))["Resources"]) == []


def test_property_that_no_schema_has_is_found() -> None:
    resources = to_cloudformation(whole_stack("kefir"))["Resources"]
    (schedule,) = (each for each in resources.values() if each["Type"] == "AWS::Scheduler::Schedule")
    schedule["Properties"]["Target"]["Inptu"] = "{}"
    del schedule["Properties"]["FlexibleTimeWindow"]
    assert len(wrong_resources(resources)) == 2
