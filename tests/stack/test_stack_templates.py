"""Templates of stacks: what CloudFormation's linter, a linter of policies, and moto make of them."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import boto3
import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs
from hypothesis import given, settings
from moto import mock_aws

from singletable.blueprint import (
    BackupBlueprint,
    Blueprint,
    IndexBlueprint,
    RoleBlueprint,
    StatementBlueprint,
)
from singletable.blueprint.foreign.cloudformation import from_cloudformation
from singletable.errors import StackError
from singletable.stack import StackOptions, make_stack, make_stacks, template_text, to_cloudformation, to_sam
from singletable.stack.cloudformation import RESOURCES_MAX
from singletable.stack.resources import Queue, Stack, Table
from singletable.systems import installed_systems
from support.blueprints import blueprints
from support.policy_linter import findings, findings_in
from support.stack_blueprints import KEY, made_up
from support.stack_tables import assert_as_designed

REGION = "eu-north-1"
FORMATS = {"cloudformation": to_cloudformation, "sam": to_sam}
SYSTEMS = sorted(installed_systems())
NUMBERS = range(30)


def options(**given: Any) -> StackOptions:
    return StackOptions(REGION, {"stage": "prod", "environment": "prod"}, **given)


def stacks_of(system: str, **given: Any) -> tuple[Stack, ...]:
    return make_stacks(installed_systems()[system].blueprint(), options(**given))


def table_in(stack: Stack) -> Table:
    (table,) = (each for each in stack.resources if isinstance(each, Table))
    return table


def complaints(stack: Stack, form: str) -> list[str]:
    found = lint(template_text(FORMATS[form](stack)), config=ManualArgs(regions=[REGION]))
    return [f"{stack.name}: {each.rule.id} {each.message}" for each in found]


# --- by linters ---------------------------------------------------------------------------------------------


def test_linter_finds_what_is_wrong() -> None:
    template = to_cloudformation(stacks_of("kefir")[0])
    template["Resources"]["Table"]["Properties"]["TableNam"] = "x"
    assert lint(json.dumps(template), config=ManualArgs(regions=[REGION]))


@pytest.mark.parametrize("form", ["cloudformation", pytest.param("sam", marks=pytest.mark.stacks)])
@pytest.mark.parametrize("system", SYSTEMS)
def test_template_of_system_lints(system: str, form: str) -> None:
    assert complaints(stacks_of(system)[0], form) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_template_of_deployer_lints(system: str) -> None:
    assert complaints(stacks_of(system)[1], "cloudformation") == []


def test_global_table_lints() -> None:
    stack = stacks_of("perfectit", replicas=("eu-west-1",))[0]
    assert to_cloudformation(stack)["Resources"]["Table"]["Type"] == "AWS::DynamoDB::GlobalTable"
    assert complaints(stack, "cloudformation") == []


@pytest.mark.stacks
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("number", NUMBERS)
def test_template_of_made_up_design_lints(number: int, form: str) -> None:
    for stack in make_stacks(made_up(number), options()):
        assert complaints(stack, form) == []


@pytest.mark.stacks
@pytest.mark.parametrize("number", NUMBERS)
def test_global_table_of_made_up_design_lints(number: int) -> None:
    design = made_up(number)
    design = replace(design, table=replace(design.table, stream="NEW_AND_OLD_IMAGES"))
    stack = make_stack(design, options(replicas=("eu-west-1",)))
    assert complaints(stack, "cloudformation") == []


def test_linter_of_policies_finds_what_is_wrong() -> None:
    statement = {"Effect": "Allow", "Action": "dynamodb:Gett", "Resource": "*"}
    text = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    assert findings_in(text)


@pytest.mark.parametrize("system", SYSTEMS)
def test_policies_of_system_lint(system: str) -> None:
    assert findings(stacks_of(system)) == []


@pytest.mark.parametrize("number", NUMBERS)
def test_policies_of_made_up_design_lint(number: int) -> None:
    assert findings(make_stacks(made_up(number), options())) == []


# --- the template says what the design says -----------------------------------------------------------------


@pytest.mark.parametrize("number", NUMBERS)
def test_template_is_read_back_as_the_table_of_the_design(number: int) -> None:
    design = made_up(number)
    read = from_cloudformation(template_text(to_cloudformation(make_stack(design, options()))))
    table = replace(design.table, name=f"made-up-{number}-prod", said=())
    assert _told(read)[1] == _told(design)[1]
    found, wanted = _told(read)[0], _told(replace(design, table=table))[0]
    assert found == wanted


def _told(design: Blueprint) -> tuple[dict[str, Any], list[Any]]:
    table = design.table
    kept = {
        name: getattr(table, name)
        for name in (
            "name", "pk", "sk", "types", "billing", "capacity", "table_class", "stream", "pitr_days",
            "deletion_protection", "ttl", "tags", "contributor_insights",
        )
    }  # fmt: skip
    kept["is_encrypted"] = table.encryption != "AWS_OWNED"
    used = {table.pk, table.sk, *(name for index in design.indexes for name in (*index.pk, *index.sk))}
    kept["types"] = {name: kind for name, kind in table.types.items() if name in used}
    indexes = [
        (index.name, index.pk, index.sk, index.projection, sorted(index.included), index.is_local)
        for index in sorted(design.indexes, key=lambda index: index.name)
    ]
    return kept, indexes


@pytest.mark.parametrize("number", NUMBERS)
def test_template_has_no_account_and_no_path(number: int) -> None:
    for stack in make_stacks(made_up(number), options()):
        text = template_text(to_cloudformation(stack))
        assert not re.search(r"\d{12}", text)
        assert "/home/" not in text
        assert "/tmp/" not in text


@given(blueprints())
@settings(max_examples=40, deadline=None)
def test_any_blueprint_is_a_template_or_is_refused_in_a_sentence(design: Blueprint) -> None:
    texts: list[str] = []
    with suppress(StackError):
        texts = [template_text(to_cloudformation(stack)) for stack in make_stacks(design, options())]
    assert all("Resources" in json.loads(text) for text in texts)


# --- deployed -----------------------------------------------------------------------------------------------


@pytest.mark.stacks
@pytest.mark.filterwarnings("ignore:.*AWS..ApplicationAutoScaling.*not supported by moto")
@pytest.mark.parametrize("number", NUMBERS)
def test_made_up_table_deployed_into_moto_is_as_designed(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = make_stack(made_up(number), options())
    only_table = replace(stack, resources=(table_in(stack),))
    found = deployed(only_table, monkeypatch)
    assert_as_designed(found, table_in(stack))


def deployed(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    given = {"TableKeyArn": KEY, "IdentityPoolId": "none"}
    with mock_aws():
        boto3.client("cloudformation", REGION).create_stack(
            StackName=stack.name,
            TemplateBody=template_text(to_cloudformation(stack)),
            Parameters=[
                {"ParameterKey": each.logical_id, "ParameterValue": given[each.logical_id]}
                for each in stack.parameters
            ],
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
        client = boto3.client("dynamodb", REGION)
        found: dict[str, Any] = client.describe_table(TableName=table_in(stack).name)["Table"]
        found["Tags"] = client.list_tags_of_resource(ResourceArn=found["TableArn"])["Tags"]
    return found


# --- refused ------------------------------------------------------------------------------------------------


def _with_table(**changes: Any) -> Blueprint:
    design = made_up(1)
    return replace(design, table=replace(design.table, **changes))


MANY = tuple(IndexBlueprint(f"GSI{number}", ("a",)) for number in range(21))

REFUSED = [
    pytest.param(
        replace(made_up(1), indexes=MANY), "21 global secondary indexes, and a table takes 20", id="indexes"
    ),
    pytest.param(_with_table(name="x" * 60), "characters, and IAM takes 64", id="role"),
    pytest.param(_with_table(name="x" * 300), "is no name of a table", id="table"),
    pytest.param(_with_table(name="t-{colour}"), "nothing says what colour is", id="environment"),
    pytest.param(_with_table(name="t-{"), "is no template", id="template"),
    pytest.param(_with_table(stream="unsaid"), "the stream of the table is 'unsaid'", id="stream"),
    pytest.param(_with_table(billing="PROVISIONED", capacity=None), "nothing says how much", id="capacity"),
    pytest.param(_with_table(billing="PROVISIONED", capacity=(5, 0)), "capacity of [5, 0]", id="units"),
    pytest.param(
        replace(
            _with_table(billing="PROVISIONED", capacity=(5, 5)),
            indexes=(IndexBlueprint("GSI1", ("a",), capacity=(5,)),),
        ),
        "capacity of [5] is asked for",
        id="units of an index",
    ),
    pytest.param(
        _with_table(sk="PK"), "the table has the attribute PK twice in its keys", id="one key twice"
    ),
    pytest.param(_with_table(tags={"aws:x": "y"}), "aws:x=y is no tag", id="tag"),
    pytest.param(
        _with_table(backups=(BackupBlueprint("aws-backup", every_days=1, keep_days=-3),)),
        "is kept for -3 days",
        id="backup",
    ),
    pytest.param(
        replace(
            _with_table(stream="NEW_IMAGE"),
            roles=(RoleBlueprint("r", (StatementBlueprint(conditions={"StringEquals": "x"}),)),),
        ),
        "the role r has a condition StringEquals that IAM does not take",
        id="condition",
    ),
    pytest.param(_with_table(pitr_days=90), "recovery of 90 days", id="recovery"),
    pytest.param(_with_table(tags={f"t{n}": "" for n in range(51)}), "51 tags, and AWS takes 50", id="tags"),
    pytest.param(_with_table(encryption="mine"), "'mine', which is no key of KMS", id="key"),
    pytest.param(
        replace(made_up(1), indexes=(IndexBlueprint("GSI1", ("a", "b", "c", "d", "e")),)),
        "has 5 and 0 attributes in its keys",
        id="wide",
    ),
]


@pytest.mark.parametrize(("design", "message"), REFUSED)
def test_stack_is_refused_in_a_sentence(design: Blueprint, message: str) -> None:
    with pytest.raises(StackError, match=re.escape(message)):
        make_stacks(design, options())


def test_more_resources_than_a_template_takes_are_refused() -> None:
    queues = [Queue(f"Queue{number}", f"queue-{number}") for number in range(RESOURCES_MAX)]
    stack = make_stack(made_up(1), options(), further=queues)
    with pytest.raises(StackError, match=r"resources, and CloudFormation takes 500"):
        to_cloudformation(stack)


def test_global_table_with_another_stream_is_refused() -> None:
    with pytest.raises(StackError, match="a stream of new and old images"):
        make_stack(_with_table(stream="KEYS_ONLY"), options(is_global=True))


def test_each_replica_has_a_key_of_its_region() -> None:
    design = _with_table(encryption="CUSTOMER_MANAGED", key=None, stream=None)
    template = to_cloudformation(make_stack(design, options(replicas=("eu-west-1",))))
    replicas = template["Resources"]["Table"]["Properties"]["Replicas"]
    keys = [each["SSESpecification"]["KMSMasterKeyId"]["Ref"] for each in replicas]
    assert keys == ["TableKeyArn", "TableKeyArnEuWest1"]
    assert set(keys) <= set(template["Parameters"])


def test_resource_policy_of_each_replica_names_the_table_of_its_region() -> None:
    place = "arn:aws:dynamodb:%s:${AWS::AccountId}:table/books"
    statement = {"Effect": "Allow", "Principal": "*", "Action": "dynamodb:GetItem"}
    policy = {"Statement": {**statement, "Resource": [place % "eu-north-1", place % "${AWS::Region}"]}}
    place_and_policy = options(replicas=("eu-west-1",), table_policy=policy)
    template = to_cloudformation(make_stack(_with_table(stream=None), place_and_policy))
    here, there = template["Resources"]["Table"]["Properties"]["Replicas"]
    assert here["ResourcePolicy"]["PolicyDocument"]["Statement"]["Resource"][1] == {
        "Fn::Sub": place % "${AWS::Region}"
    }
    (found,) = there["ResourcePolicy"]["PolicyDocument"]["Statement"]
    assert found == {**statement, "Resource": [{"Fn::Sub": place % "eu-west-1"}] * 2}


def test_two_resources_of_one_logical_id_are_refused() -> None:
    with pytest.raises(StackError, match="have the logical id Table"):
        make_stack(made_up(1), options(), further=[Queue("Table", "queue")])


def test_text_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(StackError, match=r"the character '\\ud800', which UTF-8 cannot say"):
        template_text({"Description": "\ud800"})


def test_service_that_takes_no_roles_is_refused() -> None:
    with pytest.raises(StackError, match="'ecs' is no service that takes roles"):
        options(compute=("ecs",))


def test_global_table_of_one_region_has_a_stream_only_if_the_design_has() -> None:
    template = to_cloudformation(stacks_of("lunch_cache", is_global=True)[0])
    assert template["Resources"]["Table"]["Type"] == "AWS::DynamoDB::GlobalTable"
    assert "TableStreamArn" not in template["Outputs"]


def test_region_that_is_none_is_refused() -> None:
    with pytest.raises(StackError, match="'Stockholm' is no region"):
        StackOptions("Stockholm")
