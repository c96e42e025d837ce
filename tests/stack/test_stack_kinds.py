"""Every kind of resource as CloudFormation and SAM have it, through the linter; and what changes lose."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from singletable.errors import ReplacementError
from singletable.stack import (
    Stack,
    changes_between,
    refuse_losses,
    template_text,
    to_cloudformation,
    to_sam,
)
from singletable.stack import resources as kinds
from singletable.stack.changes import indexes_made
from singletable.stack.deployer import deployer_stack
from support.policy_linter import findings
from support.stack_kinds import REGION, whole_stack


def test_stack_has_a_resource_of_each_kind() -> None:
    assert {type(each) for each in whole_stack().resources} == set(get_args(kinds.Resource))


@pytest.mark.parametrize("write", [to_cloudformation, to_sam])
def test_every_kind_lints(write: Callable[[Stack], dict[str, Any]]) -> None:
    found = lint(template_text(write(whole_stack())), config=ManualArgs(regions=[REGION]))
    assert [f"{each.rule.id} {each.message}" for each in found] == []


def test_what_is_kept_is_kept_and_a_failed_first_deployment_leaves_the_table_alone() -> None:
    resources = to_cloudformation(whole_stack())["Resources"].values()
    kept = {
        each["Type"]: (each["DeletionPolicy"], each["UpdateReplacePolicy"])
        for each in resources
        if "DeletionPolicy" in each
    }
    once_made = ("RetainExceptOnCreate", "Retain")
    assert kept == {
        "AWS::DynamoDB::Table": ("Retain", "Retain"),
        "AWS::Backup::BackupVault": once_made,
        "AWS::Logs::LogGroup": once_made,
        "AWS::S3::Bucket": once_made,
        "AWS::SQS::Queue": once_made,
    }


def test_deployer_of_every_kind_lints() -> None:
    stack = whole_stack()
    (table,) = (each for each in stack.resources if isinstance(each, kinds.Table))
    deployer = deployer_stack(stack, table)
    assert findings((deployer,)) == []


# --- changes ------------------------------------------------------------------------------------------------


def _renamed(table: dict[str, Any]) -> None:
    table["TableName"] = "other"


def _rekeyed(table: dict[str, Any]) -> None:
    table["KeySchema"] = table["KeySchema"][:1]


def _retyped(table: dict[str, Any]) -> None:
    table["AttributeDefinitions"][0]["AttributeType"] = "N"


def _reprojected(table: dict[str, Any]) -> None:
    table["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "KEYS_ONLY"}


def _dropped(table: dict[str, Any]) -> None:
    del table["GlobalSecondaryIndexes"]


def _with_local(table: dict[str, Any]) -> None:
    table["LocalSecondaryIndexes"] = []


TEMPLATE: dict[str, Any] = {
    "Resources": {
        "Table": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": "t",
                "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
                "KeySchema": [
                    {"AttributeName": "PK", "KeyType": "HASH"},
                    {"AttributeName": "SK", "KeyType": "RANGE"},
                ],
                "GlobalSecondaryIndexes": [
                    {"IndexName": "GSI1", "KeySchema": [], "Projection": {"ProjectionType": "ALL"}}
                ],
            },
        },
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "q"}},
    }
}


@pytest.mark.parametrize(
    ("change", "loses"),
    [
        pytest.param(_renamed, "since its TableName changes", id="name"),
        pytest.param(_rekeyed, "since its KeySchema changes", id="keys"),
        pytest.param(_retyped, "since the type of PK changes", id="type"),
        pytest.param(_with_local, "since its LocalSecondaryIndexes changes", id="local index"),
        pytest.param(_reprojected, "the index GSI1 is dropped, and made anew", id="projection"),
        pytest.param(_dropped, "the index GSI1 is dropped", id="index"),
    ],
)
def test_change_that_loses_is_refused(change: Callable[[dict[str, Any]], None], loses: str) -> None:
    new = copy.deepcopy(TEMPLATE)
    change(new["Resources"]["Table"]["Properties"])
    with pytest.raises(ReplacementError, match=loses):
        refuse_losses(changes_between(TEMPLATE, new), hint="")


def test_indexes_that_are_made_or_dropped_are_told_and_those_with_other_units_are_not() -> None:
    new = copy.deepcopy(TEMPLATE)
    (index,) = new["Resources"]["Table"]["Properties"]["GlobalSecondaryIndexes"]
    index["ProvisionedThroughput"] = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    new["Resources"]["Table"]["Properties"]["GlobalSecondaryIndexes"].append({**index, "IndexName": "GSI.2"})
    assert indexes_made(changes_between(TEMPLATE, new)) == ("GSI.2",)
    assert indexes_made(changes_between(new, TEMPLATE)) == ("GSI.2",)


def test_table_that_leaves_the_stack_is_refused() -> None:
    new = copy.deepcopy(TEMPLATE)
    del new["Resources"]["Table"]
    with pytest.raises(ReplacementError, match="the table leaves the stack"):
        refuse_losses(changes_between(TEMPLATE, new), hint="")


def test_other_changes_are_told_and_not_refused() -> None:
    new = json.loads(json.dumps(TEMPLATE))
    new["Resources"]["Queue"]["Properties"]["QueueName"] = "other"
    new["Resources"]["Queue"]["DeletionPolicy"] = "Delete"
    new["Resources"]["Table"]["Properties"]["TableClass"] = "STANDARD"
    new["Resources"]["Topic"] = {"Type": "AWS::SNS::Topic"}
    new["Outputs"] = {"A": {"Value": "b"}}
    changes = changes_between(TEMPLATE, new)
    assert [str(each) for each in changes] == [
        "added    Queue.DeletionPolicy",
        "changed  Queue.QueueName",
        "added    Table.TableClass",
        "added    Topic",
        "added    Outputs.A",
    ]
    refuse_losses(changes, hint="")
