"""The stacks of a design: its own, that of its deployer, and that of alarms on the bill; within AWS's limits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Final

from singletable.blueprint import Blueprint
from singletable.errors import StackError
from singletable.stack.deployer import deployer_stack
from singletable.stack.options import StackOptions, stack_name
from singletable.stack.packaging import Package
from singletable.stack.parts import parts_of
from singletable.stack.policies import Policy, Statement
from singletable.stack.resources import (
    Attribute,
    Output,
    Parameter,
    Ref,
    Resource,
    Role,
    Stack,
    Table,
    Text,
)
from singletable.stack.tables import TABLE, key_parameter, table_of
from singletable.stack.trusted import role_parameters, role_resources
from singletable.stack.watching import problems
from singletable.systems import System

POLICY_CHARACTERS_MAX: Final = 10_240  # of all inline policies of a role
_LONGEST: Final = {"${AWS::Partition}": "aws-us-gov", "${AWS::AccountId}": "0" * 12}


def make_stack(
    blueprint: Blueprint,
    options: StackOptions,
    *,
    further: Iterable[Resource] = (),
    parameters: Iterable[Parameter] = (),
    consuming: Iterable[Statement] = (),
) -> Stack:
    """Make the stack of a design. `further` resources stand beside its table and roles.

    `consuming` is what the function behind the stream may do beside reading, writing and following.
    """
    table = table_of(blueprint, options)
    roles = role_resources(blueprint, table, options, consuming=consuming)
    resources: tuple[Resource, ...] = (table, *roles, *further)
    given = (*key_parameter(table), *role_parameters(roles), *parameters)
    stack = Stack(
        stack_name(table.name),
        options.region,
        tuple(sorted(resources, key=lambda each: each.logical_id)),
        tuple(sorted(given, key=lambda each: each.logical_id)),
        _outputs(table),
        says=f"{blueprint.name}: the table {table.name}, and what stands around it",
    )
    refuse_ambiguous(stack)
    refuse_large_policies(stack)
    refuse_silent_alarms(stack)
    return stack


def make_stacks(
    blueprint: Blueprint,
    options: StackOptions,
    *,
    package: Package | None = None,
    system: System | None = None,
    emails: tuple[Text, ...] = (),
    users: float | None = None,
) -> tuple[Stack, ...]:
    """Make all stacks of a design, with all parts of each. The first is that of its table.

    The second holds the role that the others are deployed with; the third, where a system declares alarms on the
    bill, those alarms. The arguments are those of `parts_of`.
    """
    parts = parts_of(blueprint, options, package=package, system=system, emails=emails, users=users)
    stack = make_stack(
        blueprint,
        options,
        further=parts.resources,
        parameters=parts.parameters,
        consuming=parts.consuming,
    )
    beside = () if parts.billing is None else (parts.billing,)
    (table,) = (each for each in stack.resources if isinstance(each, Table))
    deployer = deployer_stack(stack, table, beside=beside)
    refuse_large_policies(deployer)
    return stack, deployer, *beside


def refuse_ambiguous(stack: Stack) -> None:
    """Refuse a stack in which two resources have one logical id: each part chooses its own."""
    ids = Counter(each.logical_id for each in (*stack.resources, *stack.parameters))
    twice = [name for name, count in ids.items() if count > 1]
    if twice:
        raise StackError(f"two resources of the stack {stack.name} have the logical id {twice[0]}")


def refuse_silent_alarms(stack: Stack) -> None:
    """Refuse a stack with an alarm that can never ring."""
    for problem in problems(stack):
        raise StackError(f"the alarm {problem}", hint="it could never ring")


def refuse_large_policies(stack: Stack) -> None:
    """Refuse a role with more policies than IAM takes; whitespace does not count (IAM guide, "IAM quotas")."""
    for role in stack.resources:
        if not isinstance(role, Role):
            continue
        size = sum(_size(policy) for policy in role.policies)
        if size > POLICY_CHARACTERS_MAX:
            raise StackError(
                f"the policies of the role {role.name} have {size:,} characters, and IAM takes "
                f"{POLICY_CHARACTERS_MAX:,}",
                hint="give the table and the stage shorter names, or leave parts out",
            )


def _size(policy: Policy) -> int:
    text = json.dumps(policy.document(), separators=(",", ":"))
    for name, value in _LONGEST.items():
        text = text.replace(name, value)
    return len(text)


def _outputs(table: Table) -> tuple[Output, ...]:
    found = [
        Output("TableArn", "The ARN of the table", Attribute(TABLE, "Arn")),
        Output("TableName", "The name of the table", Ref(TABLE)),
    ]
    if table.stream is not None or table.replicas:
        found.append(Output("TableStreamArn", "The ARN of the table's stream", Attribute(TABLE, "StreamArn")))
    return tuple(found)
