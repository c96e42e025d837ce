"""Templates of any design: they deploy, have no order of declarations, and tell nothing of this machine."""

from __future__ import annotations

import getpass
import socket
from dataclasses import replace
from pathlib import Path
from random import Random

import boto3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws

from singletable.blueprint import Blueprint
from singletable.stack import StackOptions, make_stack, make_stacks, template_text, to_cloudformation
from singletable.stack.deployable import UNPACKED
from singletable.stack.resources import Table
from support.stack_blueprints import made_up
from support.targets import no_aws_settings

OPTIONS = StackOptions("eu-north-1", {"stage": "dev"})


def text_of(blueprint: Blueprint) -> str:
    """Return all templates of a design, with the functions of its handlers."""
    return "".join(
        template_text(to_cloudformation(stack)) for stack in make_stacks(blueprint, OPTIONS, package=UNPACKED)
    )


@settings(deadline=None, max_examples=25)
@given(number=st.integers(0, 10_000), seed=st.integers(0, 1000))
def test_order_of_declarations_changes_nothing(number: int, seed: int) -> None:
    blueprint = made_up(number)
    random = Random(seed)
    other = replace(
        blueprint,
        table=replace(
            blueprint.table,
            types=dict(reversed(list(blueprint.table.types.items()))),
            tags=dict(reversed(list(blueprint.table.tags.items()))),
        ),
        entities=tuple(random.sample(blueprint.entities, len(blueprint.entities))),
        indexes=tuple(random.sample(blueprint.indexes, len(blueprint.indexes))),
        patterns=tuple(random.sample(blueprint.patterns, len(blueprint.patterns))),
    )
    assert text_of(other) == text_of(blueprint)


def test_template_tells_nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "a-secret-of-this-machine",
        "AWS_SESSION_TOKEN": "a-token-of-this-machine",
        "AWS_ACCOUNT_ID": "210987654321",
        "AWS_REGION": "ap-south-2",
        "AWS_PROFILE": "a-profile-of-this-machine",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    here = str(Path(__file__).parents[2])
    told = {*secrets.values(), here, socket.gethostname(), f"/home/{getpass.getuser()}"}
    for number in range(10):
        text = text_of(made_up(number))
        assert [each for each in told if each in text] == []


# Moto makes no policies of auto scaling.
@pytest.mark.filterwarnings("ignore:Tried to parse AWS..ApplicationAutoScaling")
@settings(deadline=None, max_examples=5)
@given(number=st.integers(0, 10_000))
def test_table_of_any_design_deploys_as_it_is_declared(number: int) -> None:
    stack = make_stack(made_up(number), OPTIONS)
    (table,) = (each for each in stack.resources if isinstance(each, Table))
    with no_aws_settings(), mock_aws():
        boto3.client("cloudformation", "eu-north-1").create_stack(
            StackName=stack.name,
            TemplateBody=template_text(to_cloudformation(stack)),
            Parameters=[
                {"ParameterKey": each.logical_id, "ParameterValue": "none"} for each in stack.parameters
            ],
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
        found = boto3.client("dynamodb", "eu-north-1").describe_table(TableName=table.name)["Table"]
    indexes = found.get("GlobalSecondaryIndexes") or []
    assert {each["IndexName"] for each in indexes} == {
        each.name for each in table.indexes if not each.is_local
    }
    assert found["DeletionProtectionEnabled"] == table.deletion_protection
