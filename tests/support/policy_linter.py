"""A linter of IAM policies, parliament: what it finds in the policies of stacks."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from functools import partial

from singletable.stack.resources import Function, LogGroup, Queue, Role, Stack
from support.stack_blueprints import KEY

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ResourceWarning)  # it leaves its files open
    from parliament import analyze_policy_string

_PLACES = {
    "AWS::Partition": "aws",
    "AWS::AccountId": "123456789012",
    "AWS::Region": "eu-north-1",
    "TableKeyArn": KEY,
}
_ARNS = {
    LogGroup: "arn:aws:logs:eu-north-1:123456789012:log-group:{0}:*",
    Queue: "arn:aws:sqs:eu-north-1:123456789012:{0}",
    Function: "arn:aws:lambda:eu-north-1:123456789012:function:{0}",
}
# A key of conditions for all operations on a KMS key, in IAM policies (KMS guide, "kms:ResourceAliases").
# Parliament 1.6.4 does not know it.
_ALIASES = "Unknown condition kms:ResourceAliases"


def findings_in(text: str) -> list[str]:
    """Return what the linter finds in one policy."""
    return [each for each in map(str, analyze_policy_string(text).findings) if _ALIASES not in each]


def findings(stacks: tuple[Stack, ...]) -> list[str]:
    """Return what it finds in all policies of stacks."""
    return [f"{name}: {each}" for name, text in filled_policies(stacks) for each in findings_in(text)]


def filled_policies(stacks: tuple[Stack, ...]) -> Iterator[tuple[str, str]]:
    """Yield the policies of stacks, by role and name, as texts with all placeholders filled."""
    for stack in stacks:
        places = {
            **_PLACES,
            **{
                f"{each.logical_id}.Arn": _ARNS[type(each)].format(each.name)
                for each in stack.resources
                if isinstance(each, LogGroup | Queue | Function)
            },
        }
        for role in stack.resources:
            for policy in role.policies if isinstance(role, Role) else ():
                yield (
                    f"{role.logical_id}: {policy.name}",
                    re.sub(r"\$\{(!?)([^}]+)\}", partial(_placed, places), policy.to_json()),
                )


def _placed(places: Mapping[str, str], found: re.Match[str]) -> str:
    return f"${{{found[2]}}}" if found[1] else places[found[2]]
