"""What is deployed, compared with the design: on moto with its stacks, and on a server that has none."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
import yaml
from moto import mock_aws

from singletable import Database
from singletable.design.tables.definition import TableDefinition
from singletable.server import BackgroundServer
from singletable.stack import Stack, StackOptions, make_stack, make_stacks, template_text, to_cloudformation
from singletable.stack.check import check, defined, scaled
from singletable.stack.resources import Capacity, Role, Scaling, Table
from singletable.systems import find_system
from singletable_systems.lunch_cache.model.design import LunchCache
from support.run_commands import command
from support.targets import no_aws_settings

REGION = "eu-north-1"
OPTIONS = StackOptions(REGION, {"environment": "prod"})
TABLE = "lunch-cache-prod"


def stack_of(options: StackOptions = OPTIONS) -> Stack:
    return make_stack(find_system("lunch_cache").blueprint(), options)


def deploy(*stacks: Stack, write: Callable[[dict[str, Any]], str] = template_text) -> None:
    for stack in stacks:
        boto3.client("cloudformation", stack.region).create_stack(
            StackName=stack.name,
            TemplateBody=write(to_cloudformation(stack)),
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )


@pytest.fixture
def aws() -> Iterator[None]:
    with no_aws_settings(), mock_aws(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*not supported by moto")
        yield


def said(stack: Stack) -> list[str]:
    """Return the differences, without the settings that moto leaves out of tables in templates."""
    left_out = ("time to live", "point-in-time recovery", "encryption")
    found = check((stack,), REGION, "cloudformation")
    assert found.not_compared == ()
    return [str(each) for each in found.differences if not each.says.startswith(left_out)]


def test_nothing_is_there_before_it_is_deployed(aws: None) -> None:
    assert said(stack_of()) == [
        f"{TABLE}: there is no such table",
        f"{TABLE}: there is no such stack in {REGION}",
    ]


def test_what_is_deployed_is_as_the_design_says_until_somebody_changes_it(aws: None) -> None:
    stack = stack_of()
    deploy(stack)
    assert said(stack) == []
    boto3.client("dynamodb", REGION).update_table(TableName=TABLE, DeletionProtectionEnabled=True)
    assert said(stack) == [f"{TABLE}: deletion protection: the design says off, and there is on"]


def test_template_in_yaml_as_sam_brings_it_is_compared_too(aws: None) -> None:
    stack = stack_of()
    deploy(stack, write=yaml.safe_dump)
    assert said(stack) == []
    found = said(stack_of(replace(OPTIONS, tags={"team": "kitchen"})))
    assert f"{TABLE}: added    ReaderRole.Tags" in found


def test_role_that_the_stack_does_not_have_yet_is_a_difference(aws: None) -> None:
    stack = stack_of()
    less = replace(stack, resources=tuple(each for each in stack.resources if not isinstance(each, Role)))
    deploy(less)
    assert f"{TABLE}: added    ReaderRole" in said(stack)


def test_billing_of_the_stage_is_what_is_compared(aws: None) -> None:
    own = stack_of(replace(OPTIONS, billing="PROVISIONED", capacity=(5, 5)))
    deploy(own)
    assert said(own) == []
    assert f"{TABLE}: billing: the design says PAY_PER_REQUEST, and there is PROVISIONED" in said(stack_of())


def test_alarms_on_the_bill_are_looked_for_where_the_bill_is(aws: None) -> None:
    stacks = make_stacks(find_system("lunch_cache").blueprint(), OPTIONS)
    deploy(stacks[0])
    found = check(stacks, REGION, "cloudformation").differences
    assert f"{TABLE}-billing: there is no such stack in us-east-1" in map(str, found)


def test_units_within_the_bounds_of_auto_scaling_are_no_difference() -> None:
    table = Table("Table", "t", "PK", capacity=Capacity(5, 5, read_scaling=Scaling(5, 100, 70)))
    for found, is_same in (((80, 5), True), ((101, 5), False), ((80, 6), False)):
        there: TableDefinition = replace(defined(table), capacity=found)
        assert (scaled(defined(table), table, there) == there) is is_same


def test_target_without_stacks_has_its_table_compared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = command(capsys)
    with no_aws_settings(), Database.open(":memory:") as db, BackgroundServer(db) as server:
        LunchCache.open(db, environment="prod").create_table()
        line = (
            "deploy",
            "lunch_cache",
            "--env",
            "environment=prod",
            "--region",
            REGION,
            "--check",
            server.url,
        )
        ran = run(*line)
        assert (ran.code, ran.out) == (0, "")
        assert "not compared: what stands around the table: the target has no CloudFormation" in ran.err
        db.update_table(TableName=TABLE, DeletionProtectionEnabled=True)
        found = json.loads(run(*line, "--format", "terraform", "--json").out)
        assert found["differences"] == [
            {"where": TABLE, "says": "deletion protection: the design says off, and there is on"}
        ]
        assert found["not_compared"] == ["what stands around the table: terraform plan compares it"]
