"""IAM031: a policy names an action that DynamoDB does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.permissions import ACTIONS, PREFIX, action_name, matches
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_OF_PARTIQL: Final = (
    "dynamodb:PartiQLSelect, PartiQLInsert, PartiQLUpdate and PartiQLDelete, as the statements are"
)
_INSTEAD: Final = {
    "transactwriteitems": "the actions of its parts: dynamodb:PutItem, UpdateItem, DeleteItem, ConditionCheckItem",
    "transactgetitems": "dynamodb:GetItem",
    "conditioncheck": "dynamodb:ConditionCheckItem",
    "executestatement": _OF_PARTIQL,
    "batchexecutestatement": _OF_PARTIQL,
    "executetransaction": _OF_PARTIQL,
}


def check(view: View) -> Iterator[Finding]:
    """Look for actions of statements that mean no action of DynamoDB."""
    for at, role in enumerate(view.blueprint.roles):
        said = dict.fromkeys(action for statement in role.statements for action in statement.actions)
        for action in said:
            if _is_of_dynamodb(action) and not any(matches(action, known) for known in ACTIONS):
                yield finding(
                    RULE,
                    ("roles", at),
                    message=f"{role.name} has the action {action}, which DynamoDB does not have",
                    because="IAM takes such a policy, and it allows nothing by it: the request that it was "
                    "meant for is denied",
                    repair=_repair(action),
                )


def _is_of_dynamodb(action: str) -> bool:
    service, colon, _ = action.partition(":")
    return not colon or service.lower().startswith("dynamo")


def _repair(action: str) -> str:
    name = action_name(action).rpartition(":")[2]
    if (instead := _INSTEAD.get(name.lower())) is not None:
        return f"allow {instead}"
    near = get_close_matches(name, sorted(ACTIONS), 1)
    return f"write {PREFIX}{near[0]}" if near else "take it out, or name an action of DynamoDB"


RULE = Rule("IAM031", Severity.ERROR, "A policy names an action that does not exist", check)
