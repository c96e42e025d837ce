"""The stacks of the systems with all parts, and their policies as IAM gets them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from singletable.stack import Policy, Stack, StackOptions, Statement, make_stack
from singletable.stack.packaging import Package
from singletable.stack.parts import parts_of
from singletable.systems import installed_systems
from support.policy_linter import filled_policies

REGION: Final = "eu-north-1"
PACKAGE: Final = Package(b"", "python3.13", "arm64", (), "0a" * 32)


@cache
def whole_stack(name: str) -> Stack:
    """Return the stack of a system, with its functions, schedules, alarms, dashboard and backups."""
    system = installed_systems()[name]
    options = StackOptions(REGION, system.environment)
    package = PACKAGE if system.design.handlers or system.scheduled else None
    parts = parts_of(system.blueprint(), options, package=package, system=system)
    return make_stack(
        system.blueprint(),
        options,
        further=parts.resources,
        parameters=parts.parameters,
        consuming=parts.consuming,
    )


def policies_of(stack: Stack) -> dict[str, dict[str, Any]]:
    """Return the documents of all inline policies, by role and name, in one account."""
    return {name: json.loads(text) for name, text in filled_policies((stack,))}


def as_policy(document: dict[str, Any]) -> Policy:
    """Read the document of a policy that denies nothing."""
    assert {each["Effect"] for each in document["Statement"]} <= {"Allow"}
    return Policy(
        "",
        tuple(
            Statement(
                each.get("Sid", ""),
                tuple(each["Action"]),
                tuple(each["Resource"]),
                {
                    operator: {
                        key: (given,) if isinstance(given, str) else tuple(given)
                        for key, given in keys.items()
                    }
                    for operator, keys in each.get("Condition", {}).items()
                },
            )
            for each in document["Statement"]
        ),
    )
