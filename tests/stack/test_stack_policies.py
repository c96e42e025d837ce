"""Conditions of policies, by AWS's documentation; owners, who read what is their own; the role to deploy with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from singletable.blueprint import TableBlueprint
from singletable.errors import StackError
from singletable.stack import Policy, Stack, StackOptions, Statement, make_stack, make_stacks
from singletable.stack.deployable import UNPACKED
from singletable.stack.deployer import deploying
from singletable.stack.policies import Conditions
from singletable.stack.resources import Attribute, BackupPlan, Capacity, Queue, Role, Scaling, Table
from singletable.stack.roles import owner_policy
from singletable.systems import installed_systems

TABLE = "arn:aws:dynamodb:us-west-2:123456789012:table/GameScores"
LEADING = "dynamodb:LeadingKeys"

# Developer guide, "Using IAM policy conditions for fine-grained access control"; IAM guide, "Multivalued context
# keys" and "Null condition operator". The variable of the user is filled in.
OWN: Conditions = {"ForAllValues:StringEquals": {LEADING: ("user-1",)}}
OWN_AND_GIVEN: Conditions = {**OWN, "Null": {LEADING: ("false",)}}
CASES = [
    pytest.param(OWN, {LEADING: ["user-1"]}, True, id="own key"),
    pytest.param(OWN, {LEADING: ["user-2"]}, False, id="key of another"),
    pytest.param(OWN, {LEADING: ["user-1", "user-2"]}, False, id="one of several is of another"),
    pytest.param(OWN, {}, True, id="ForAllValues is true without any value"),
    pytest.param(OWN_AND_GIVEN, {}, False, id="Null false asks for a value"),
    pytest.param(
        {"ForAnyValue:StringEquals": {LEADING: ("user-1",)}}, {}, False, id="ForAnyValue without any"
    ),
    pytest.param(
        {"ForAnyValue:StringLike": {LEADING: ("user-*",)}},
        {LEADING: ["x", "user-7"]},
        True,
        id="any of several",
    ),
    pytest.param({"StringEquals": {"a": ("x", "y")}}, {"a": ["y"]}, True, id="values are alternatives"),
    pytest.param({"StringEquals": {"a": ("x",), "b": ("y",)}}, {"a": ["x"]}, False, id="keys are all needed"),
    pytest.param({"StringEquals": {"a": ("x",)}}, {"a": ["X"]}, False, id="upper and lower case differ"),
    pytest.param({"Bool": {"a": ("true",)}}, {"a": ["True"]}, True, id="a flag has no case"),
    pytest.param(
        {"NumericLessThan": {"a": ("1",)}}, {"a": ["0"]}, False, id="what is not known allows nothing"
    ),
]


@pytest.mark.parametrize(("conditions", "context", "is_allowed"), CASES)
def test_conditions_hold_as_documented(
    conditions: Conditions, context: dict[str, list[str]], is_allowed: bool
) -> None:
    policy = Policy("p", (Statement("s", ("dynamodb:GetItem",), (TABLE,), conditions),))
    assert policy.allows("dynamodb:GetItem", TABLE, context) is is_allowed
    assert not policy.allows("dynamodb:PutItem", TABLE, context)


def _of_user(system: str, user: str) -> Policy:
    found = owner_policy(installed_systems()[system].blueprint(), table=TABLE, name="owner")
    assert found is not None
    variable = "${!cognito-identity.amazonaws.com:sub}"
    filled = [
        Statement(
            each.sid,
            each.actions,
            each.resources,
            {
                operator: {
                    key: tuple(value.replace(variable, user) for value in values)
                    for key, values in keys.items()
                }
                for operator, keys in each.conditions.items()
            },
        )
        for each in found.statements
    ]
    return Policy("owner", tuple(filled))


@pytest.mark.parametrize("system", ["kefir", "perfectit", "smart_cooking"])
def test_owner_reads_own_partition_and_no_other(system: str) -> None:
    policy = _of_user(system, "u1")
    assert policy.allows("dynamodb:Query", TABLE, {LEADING: ["USER#u1"]})
    for others in (["USER#u2"], ["USER#u11"], ["USER#u1", "USER#u2"], ["BATCH#b1"]):
        assert not policy.allows("dynamodb:Query", TABLE, {LEADING: others})
    for action in ("Scan", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "DeleteTable"):
        assert not policy.allows(f"dynamodb:{action}", TABLE, {LEADING: ["USER#u1"]})
    assert not policy.allows("dynamodb:Query", TABLE)


def test_design_without_owners_has_no_role_for_them() -> None:
    assert owner_policy(installed_systems()["lunch_cache"].blueprint(), table=TABLE, name="owner") is None


@pytest.mark.parametrize("system", sorted(installed_systems()))
def test_no_role_deletes_a_table(system: str) -> None:
    options = StackOptions("eu-north-1", {"stage": "prod", "environment": "prod"})
    for stack in make_stacks(installed_systems()[system].blueprint(), options):
        for role in stack.resources:
            for policy in role.policies if isinstance(role, Role) else ():
                for statement in policy.statements:
                    for resource in statement.resources:
                        assert not statement.allows("dynamodb:DeleteTable", resource)


def test_deployer_hands_roles_on_to_their_services_alone() -> None:
    options = StackOptions("eu-north-1", {"stage": "prod"})
    kefir = installed_systems()["kefir"]
    _, deployer = make_stacks(kefir.blueprint(), options, package=UNPACKED, system=kefir)
    (role,) = deployer.resources
    assert isinstance(role, Role)
    (policy,) = role.policies
    place = "${AWS::Partition}:%s:${AWS::AccountId}:%skefir-app-prod-table-%s"

    def passes(kind: str, service: str) -> bool:
        arn = f"arn:{place % ('iam:', 'role/', kind)}-eu-north-1"
        return policy.allows("iam:PassRole", arn, {"iam:PassedToService": [service]})

    taken = {"consumer": "lambda", "workers": "lambda", "schedules": "scheduler"}
    for kind in (*taken, "reader", "writer", "owner", "maintenance"):
        for service in ("lambda", "scheduler", "ec2"):
            assert passes(kind, f"{service}.amazonaws.com") is (taken.get(kind) == service)
    assert not policy.allows("iam:PutRolePolicy", f"arn:{place % ('iam:', 'role/', 'admin')}-eu-north-1")


def test_condition_that_a_system_declares_is_one_of_its_role() -> None:
    stack = make_stack(
        installed_systems()["kefir"].blueprint(), StackOptions("eu-north-1", {"stage": "prod"})
    )
    (consumer,) = (each for each in stack.resources if each.logical_id == "ConsumerRole")
    assert isinstance(consumer, Role)
    role = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/kefir-app-prod-table-schedules-${AWS::Region}"
    for service in ("scheduler", "lambda"):
        context = {"iam:PassedToService": [f"{service}.amazonaws.com"]}
        is_allowed = any(each.allows("iam:PassRole", role, context) for each in consumer.policies)
        assert is_allowed is (service == "scheduler")


def test_deployer_maps_streams_to_the_functions_of_its_stack_alone() -> None:
    kefir = installed_systems()["kefir"]
    options = StackOptions("eu-north-1", {"stage": "prod"})
    stack, *_ = make_stacks(kefir.blueprint(), options, package=UNPACKED, system=kefir)
    policy = Policy("deployer", deploying(stack))
    place = "arn:${AWS::Partition}:lambda:eu-north-1:${AWS::AccountId}"
    for action, resource in (
        ("CreateEventSourceMapping", "*"),
        ("UpdateEventSourceMapping", f"{place}:event-source-mapping:1"),
        ("DeleteEventSourceMapping", f"{place}:event-source-mapping:1"),
    ):
        for function, is_allowed in (("kefir-app-prod-table-consumer", True), ("another", False)):
            context = {"lambda:FunctionArn": [f"{place}:function:{function}"]}
            assert policy.allows(f"lambda:{action}", resource, context) is is_allowed


def test_deployer_may_what_services_do_on_its_behalf() -> None:
    capacity = Capacity(5, 5, Scaling(5, 50, 70), Scaling(5, 50, 70))
    table = Table(
        "Table", "Books", "PK", key="alias/books", capacity=capacity, contributor_insights=True,
        replicas=("eu-west-1",), is_global=True,
    )  # fmt: skip
    plan = BackupPlan("Plan", "books", "books", (), (), Attribute("Role", "Arn"))
    policy = Policy("deployer", deploying(Stack("s", "eu-north-1", (table, plan))))
    linked = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/aws-service-role/"
    for role in (
        "dynamodb.application-autoscaling.amazonaws.com/AWSServiceRoleForApplicationAutoScaling_DynamoDBTable",
        "replication.dynamodb.amazonaws.com/AWSServiceRoleForDynamoDBReplication",
        "contributorinsights.dynamodb.amazonaws.com/AWSServiceRoleForDynamoDBCloudWatchContributorInsights",
        "backup.amazonaws.com/AWSServiceRoleForBackup",
    ):
        assert policy.allows("iam:CreateServiceLinkedRole", linked + role)
    assert not policy.allows(
        "iam:CreateServiceLinkedRole", f"{linked}spot.amazonaws.com/AWSServiceRoleForEC2Spot"
    )
    of = "arn:${AWS::Partition}:%s:%s:${AWS::AccountId}:%s"
    for region in ("eu-north-1", "eu-west-1"):
        scaled = of % ("cloudwatch", region, "alarm:TargetTracking-table/Books/index/GSI1-AlarmHigh-1")
        assert policy.allows("cloudwatch:PutMetricAlarm", scaled)
        key = of % ("kms", region, "key/1")
        via = "kms:ViaService"
        assert policy.allows("kms:CreateGrant", key, {via: [f"dynamodb.{region}.amazonaws.com"]})
        assert not policy.allows("kms:CreateGrant", key, {via: ["s3.eu-west-1.amazonaws.com"]})
        # Items are written by the service, on its behalf, where a replica is filled: not here.
        books = of % ("dynamodb", region, "table/Books")
        assert policy.allows("dynamodb:PutItem", books) is (region == "eu-west-1")
    vault = {"kms:ViaService": ["backup.eu-north-1.amazonaws.com"]}
    assert policy.allows("kms:RetireGrant", of % ("kms", "eu-north-1", "key/1"), vault)


def _policies(table: TableBlueprint, role: str, **given: Any) -> Policy:
    """Return what a role of Kefir's stack may do, with another table."""
    blueprint = replace(installed_systems()["kefir"].blueprint(), table=table)
    stack = make_stack(blueprint, StackOptions("eu-north-1", {"stage": "prod"}, **given))
    (found,) = (each for each in stack.resources if isinstance(each, Role) and each.logical_id == role)
    return Policy(role, tuple(statement for policy in found.policies for statement in policy.statements))


def test_roles_reach_replicas_and_the_function_of_the_stream_does_not() -> None:
    table = replace(
        installed_systems()["kefir"].blueprint().table, encryption="CUSTOMER_MANAGED", key="alias/k"
    )
    there = "arn:${AWS::Partition}:dynamodb:eu-west-1:${AWS::AccountId}:table/kefir-app-prod-table"
    key = "arn:${AWS::Partition}:kms:eu-west-1:${AWS::AccountId}:key/1"
    asked = {"kms:ResourceAliases": ["alias/k"], "kms:ViaService": ["dynamodb.eu-west-1.amazonaws.com"]}
    for role, action in (("ReaderRole", "GetItem"), ("WriterRole", "PutItem"), ("MaintenanceRole", "Scan")):
        policy = _policies(table, role, replicas=("eu-west-1",))
        assert policy.allows(f"dynamodb:{action}", there)
        assert policy.allows("kms:Decrypt", key, asked)
        assert not policy.allows(f"dynamodb:{action}", there.replace("eu-west-1", "us-east-1"))
    assert not _policies(table, "ConsumerRole", replicas=("eu-west-1",)).allows("dynamodb:GetItem", there)


def test_maintenance_alone_gives_dynamodb_the_use_of_a_key() -> None:
    table = replace(installed_systems()["kefir"].blueprint().table, encryption="CUSTOMER_MANAGED", key=None)
    asked = {
        "kms:ViaService": ["dynamodb.eu-north-1.amazonaws.com"],
        "kms:GrantIsForAWSResource": ["true"],
        "TableKeyArn": ["arn:aws:kms:eu-north-1:123456789012:key/1"],
    }
    (key,) = asked["TableKeyArn"]
    for role in ("ReaderRole", "WriterRole", "ConsumerRole", "MaintenanceRole"):
        policy = _policies(table, role)
        assert policy.allows("kms:Decrypt", key, asked)
        assert policy.allows("kms:CreateGrant", key, asked) is (role == "MaintenanceRole")
    by_hand = {**asked, "kms:GrantIsForAWSResource": ["false"]}
    assert not _policies(table, "MaintenanceRole").allows("kms:CreateGrant", key, by_hand)


def test_many_resources_of_one_kind_are_named_by_what_they_begin_with() -> None:
    queues = tuple(Queue(f"Queue{number}", f"kitchen-{number}") for number in range(20))
    (statement,) = deploying(Stack("s", "eu-north-1", queues))
    assert statement.resources == ("arn:${AWS::Partition}:sqs:eu-north-1:${AWS::AccountId}:kitchen-*",)
    apart = tuple(Queue(f"Queue{number}", f"{number}-kitchen") for number in range(20))
    assert len(deploying(Stack("s", "eu-north-1", apart))[0].resources) == 20


def test_policies_larger_than_iam_takes_are_refused() -> None:
    statements = [
        Statement(f"S{number}", ("sqs:SendMessage",), ("arn:" + "x" * 300,)) for number in range(40)
    ]
    with pytest.raises(StackError, match=r"characters, and IAM takes 10,240"):
        make_stack(
            installed_systems()["kefir"].blueprint(),
            StackOptions("eu-north-1", {"stage": "prod"}),
            consuming=statements,
        )
