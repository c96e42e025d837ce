"""Stacks as Terraform configurations: every kind of resource, texts to the letter, and tables read back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import hcl2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.blueprint import Blueprint
from singletable.blueprint.foreign.hcl_text import Expressions, blocks, hcl_node
from singletable.blueprint.foreign.terraform import from_terraform
from singletable.errors import StackError
from singletable.stack import Stack, StackOptions, make_stack
from singletable.stack import resources as kinds
from singletable.stack.hcl import Block, Call, Expression, Template, hcl_text
from singletable.stack.resources import Parameter, Ref, Sub
from singletable.stack.terraform import (
    PROVIDER_MIN,
    WIDE_KEYS_PROVIDER_MIN,
    is_of_cloudformation,
    to_terraform,
)
from singletable.stack.terraform_values import terraform_type
from support.stack_blueprints import made_up
from support.stack_kinds import REGION, whole_stack

NUMBERS = range(30)
TABLE = kinds.Table("Table", "orders", "pk", types={"pk": "S"})


def main_of(*resources: kinds.Resource, parameters: tuple[Parameter, ...] = ()) -> str:
    return to_terraform(Stack("orders", REGION, resources, parameters))["main.tf"]


def options(**given: Any) -> StackOptions:
    return StackOptions(REGION, {"stage": "prod"}, **given)


# --- texts ----------------------------------------------------------------------------------------------------


def read_back(text: str) -> Any:
    file = hcl_node(text, "file")
    ((_, node),) = blocks(file, "locals")
    return Expressions(file).settings_in(node.at("value")).value


@given(st.text(st.characters(codec="utf-8")) | st.text('$%{}\\"\n\ru0024 '))
@settings(max_examples=80, deadline=None)
def test_text_is_read_back_to_the_letter(text: str) -> None:
    assert read_back(hcl_text([Block("locals", (), {"value": text})])) == text
    assert read_back(hcl_text([Block("locals", (), {"value": [text, {"a": text}]})])) == [text, {"a": text}]


# python-hcl2 does not read an expression behind $${.
@given((st.text(st.characters(codec="utf-8")) | st.text("$%{}")).filter(lambda text: "${" not in text))
@settings(max_examples=40, deadline=None)
def test_text_around_an_expression_is_read_back_to_the_letter(text: str) -> None:
    written = hcl_text([Block("locals", (), {"value": Template((text, Expression("var.x"), text))})])
    assert read_back(written) == f"{text}{{x}}{text}"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("${var.x} %{if}", '"$${var.x} \\u0025{if}"'),
        ("$${", r'"\u0024\u0024{"'),
        ('say "hi"\n', r'"say \"hi\"\n"'),
        ("a\\b\0\u2028", r'"a\\b\u0000\u2028"'),
        ("rød", '"rød"'),
        (Template(("$", Expression("var.x"))), r'"\u0024${var.x}"'),
        (True, "true"),
        (70.0, "70"),
        (0.5, "0.5"),
        ([], "[]"),
        ({}, "{}"),
        (Call("jsonencode", {"a": 1}), "jsonencode({\n    a = 1\n  })"),
        ({"in": 1, "a:b": 2}, '{\n    "in"  = 1\n    "a:b" = 2\n  }'),
    ],
)
def test_value_is_written_as_hcl_has_it(value: Any, written: str) -> None:
    assert hcl_text([Block("locals", (), {"value": value})]) == f"locals {{\n  value = {written}\n}}\n"


# --- every kind -----------------------------------------------------------------------------------------------


def test_every_kind_is_a_resource_under_its_label() -> None:
    stack = whole_stack()
    assert {type(each) for each in stack.resources} == set(kinds.Resource.__args__)
    parsed = hcl2.loads(to_terraform(stack)["main.tf"])
    found = {
        (kind.strip('"'), label.strip('"'))
        for each in parsed["resource"]
        for kind, of in each.items()
        for label in of
    }
    for each in stack.resources:
        kind, _ = terraform_type(each)
        assert kind in {name for name, _ in found}
    assert ("aws_lambda_function", "follow") in found
    assert ("aws_backup_vault", "backups") in found
    assert ("aws_backup_selection", "backups") in found
    assert ("aws_iam_role_policy", "work_role") in found
    assert ("aws_iam_role_policy_attachment", "work_role") in found
    assert ("aws_sns_topic_subscription", "topic") in found
    assert ("aws_sns_topic_policy", "topic") in found


def test_every_reference_is_to_something_that_is_there() -> None:
    files = to_terraform(whole_stack())
    text = "".join(files.values())
    defined = {f"{kind}.{label}" for kind, label in re.findall(r'^resource "(\w+)" "(\w+)"', text, re.M)}
    defined |= {f"data.{kind}.{label}" for kind, label in re.findall(r'^data "(\w+)" "(\w+)"', text, re.M)}
    defined |= {f"var.{label}" for label in re.findall(r'^variable "(\w+)"', text, re.M)}
    referred = set(re.findall(r"\b(?:data\.)?aws_\w+\.\w+|\bvar\.\w+", text))
    assert referred
    assert referred <= defined


def test_code_is_the_file_beside_and_no_bucket_is_asked_for() -> None:
    files = to_terraform(whole_stack())
    assert 'filename         = "${path.module}/follow.zip"' in files["main.tf"]
    assert "bucket" not in files["variables.tf"]
    assert 'variable "email"' in files["variables.tf"]


def test_what_cannot_be_made_again_is_kept() -> None:
    text = to_terraform(whole_stack())["main.tf"]
    for kind in ("aws_dynamodb_table", "aws_sqs_queue", "aws_backup_vault"):
        (body,) = re.findall(rf'^resource "{kind}" .*?^\}}', text, re.M | re.S)
        assert "prevent_destroy = true" in body
    assert "skip_destroy      = true" in text


def test_function_waits_for_the_policies_of_its_role() -> None:
    text = to_terraform(whole_stack())["main.tf"]
    (body,) = re.findall(r'^resource "aws_lambda_function" .*?^\}', text, re.M | re.S)
    assert "aws_iam_role_policy.work_role, aws_iam_role_policy_attachment.work_role" in body


def test_variable_of_iam_stays_one() -> None:
    role = kinds.Role("Own", "own", kinds.Trust(provider="${!x}"))
    assert 'Federated = "$${x}"' in main_of(role)


def test_log_group_s_arn_is_that_of_its_streams_as_in_cloudformation() -> None:
    queue = kinds.Dashboard("Board", "b", {"a": Sub("${Logs.Arn}")})
    assert "${aws_cloudwatch_log_group.logs.arn}:*" in main_of(kinds.LogGroup("Logs", "l"), queue)


def test_labels_that_would_be_one_stay_apart() -> None:
    text = main_of(kinds.Queue("FooBar", "a"), kinds.Queue("Foo_Bar", "b"))
    assert re.findall(r'"aws_sqs_queue" "(\w+)"', text) == ["FooBar", "Foo_Bar"]


def test_secret_and_pattern_of_a_parameter_are_kept() -> None:
    parameter = Parameter("ApiKey", "the key", is_secret=True, pattern=r"^\w{3}$")
    topic = kinds.Topic("Topic", "t", (Ref("ApiKey"),))
    text = to_terraform(Stack("s", REGION, (topic,), (parameter,)))["variables.tf"]
    assert "sensitive   = true" in text
    assert r'can(regex("^\\w{3}$", var.api_key))' in text


# --- tables ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", NUMBERS)
def test_configuration_is_read_back_as_the_table_of_the_design(number: int) -> None:
    design = made_up(number)
    stack = make_stack(design, options())
    only = replace(stack, resources=tuple(each for each in stack.resources if isinstance(each, kinds.Table)))
    read = from_terraform(to_terraform(only)["main.tf"])
    table = replace(design.table, name=f"made-up-{number}-prod")
    assert _told(read) == _told(replace(design, table=table))


def _told(design: Blueprint) -> dict[str, Any]:
    table = design.table
    used = {table.pk, table.sk, *(name for index in design.indexes for name in (*index.pk, *index.sk))}
    return {
        **{
            name: getattr(table, name)
            for name in (
                "name", "pk", "sk", "billing", "capacity", "table_class", "stream", "pitr_days",
                "deletion_protection", "ttl", "tags", "contributor_insights",
            )
        },
        "types": {name: kind for name, kind in table.types.items() if name in used},
        "is_encrypted": table.encryption != "AWS_OWNED",
        "indexes": [
            (index.name, index.pk, index.sk, index.projection, sorted(index.included), index.is_local)
            for index in sorted(design.indexes, key=lambda index: index.name)
        ],
    }  # fmt: skip


def test_key_of_several_attributes_needs_a_provider_that_has_them() -> None:
    plain = kinds.Index("by-day", ("day",))
    wide = kinds.Index("by-place", ("country", "city"), ("street",))
    table = replace(TABLE, types=dict.fromkeys(("pk", "day", "country", "city", "street"), "S"))
    for index, version in ((plain, PROVIDER_MIN), (wide, WIDE_KEYS_PROVIDER_MIN)):
        files = to_terraform(Stack("s", REGION, (replace(table, indexes=(index,)),)))
        assert f">= {version}, < 7.0.0" in files["versions.tf"]
        assert ("key_schema {" in files["main.tf"]) == (index is wide)


def test_units_that_scale_are_not_set_back() -> None:
    scaling = kinds.Scaling(5, 50, 70)
    table = replace(TABLE, capacity=kinds.Capacity(5, 5, scaling, None))
    text = main_of(table)
    assert "ignore_changes  = [read_capacity]" in text
    assert 'resource "aws_appautoscaling_target" "table_read"' in text
    assert "table_write" not in text


def test_alias_of_a_key_is_looked_up() -> None:
    table = replace(TABLE, encryption="CUSTOMER_MANAGED", key="alias/orders")
    text = main_of(table)
    assert 'key_id = "alias/orders"' in text
    assert "kms_key_arn = data.aws_kms_key.table.arn" in text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pitr_days": 7}, "a replica keeps 7 days"),
        ({"encryption": "CUSTOMER_MANAGED", "key": "alias/orders"}, "for each replica"),
    ],
)
def test_replica_that_terraform_cannot_say_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(StackError, match=sentence):
        main_of(replace(TABLE, replicas=("eu-west-1",), **changes))


def test_replicas_have_the_policy_and_insights_of_the_table() -> None:
    policy = {"Version": "2012-10-17", "Statement": []}
    text = main_of(replace(TABLE, replicas=("eu-west-1",), policy=policy, contributor_insights=True))
    assert 'region_name                 = "eu-west-1"' in text
    assert text.count('resource "aws_dynamodb_contributor_insights"') == 2
    assert text.count('resource "aws_dynamodb_resource_policy"') == 2


def test_role_that_cloudformation_takes_is_told() -> None:
    deployer = kinds.Role("Deployer", "d", kinds.Trust(services=("cloudformation.amazonaws.com",)))
    assert is_of_cloudformation(Stack("s", REGION, (deployer,)))
    assert not is_of_cloudformation(Stack("s", REGION, (deployer, TABLE)))
