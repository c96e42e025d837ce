"""The roles of a stack: the policies of a design, and who may take each of them.

reader, writer   the services that the application runs on
consumer         AWS Lambda, for the function behind the stream
maintenance      people of the account who have signed in with a second factor
owner            users of an identity pool of Cognito, each for the items that are their own
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from singletable.blueprint import Blueprint, RoleBlueprint
from singletable.errors import StackError
from singletable.stack.options import StackOptions
from singletable.stack.policies import Conditions, Policy, Statement
from singletable.stack.resources import Parameter, Ref, Role, Sub, Table, Trust
from singletable.stack.roles import PROVIDER, owner_policy, roles_of

POOL_PARAMETER: Final = "IdentityPoolId"
ROLE_NAME_MAX: Final = 64  # characters (IAM guide, "IAM and AWS STS quotas")
_STANDARD: Final = ("reader", "writer", "consumer", "maintenance")


def role_resources(
    blueprint: Blueprint, table: Table, options: StackOptions, *, consuming: Iterable[Statement] = ()
) -> tuple[Role, ...]:
    """Return the roles of a design's stack. The function behind the stream may do `consuming` too."""
    policies = roles_of(blueprint, options.deployment())
    using = key_use(table, options)
    owner = owner_policy(
        blueprint, table=options.deployment().table_arn(table.name), name=f"{table.name}-owner"
    )
    application = _of_service(*options.compute)
    found = [
        _role(
            "reader", policies.reader, application, "reads as the access patterns do", table, options, using
        ),
        _role("writer", policies.writer, application, "reads and writes items", table, options, using),
        _role(
            "maintenance",
            policies.maintenance,
            Trust(is_account=True, conditions={"Bool": {"aws:MultiFactorAuthPresent": "true"}}),
            "keeps the table: repairs, migrates, backs up, restores",
            table,
            options,
            _granting(using),
        ),
    ]
    found = [_in_replicas(role, table, options) for role in found]
    if policies.consumer is not None:
        consumer = _role(
            "consumer",
            Policy(policies.consumer.name, (*policies.consumer.statements, *consuming)),
            _of_service("lambda.amazonaws.com"),
            "follows the stream",
            table,
            options,
            using,
            also=tuple(_further(blueprint, options)),
        )
        found.append(consumer)
    if owner is not None:
        trust = Trust(provider=PROVIDER, conditions=_POOL)
        role = _role("owner", owner, trust, "reads the items of one owner", table, options, using)
        found.append(_in_replicas(role, table, options))
    return tuple(found)


def role_parameters(roles: Iterable[Role]) -> tuple[Parameter, ...]:
    """Return the parameters that roles need: the pool of those who own items."""
    if not any(role.trust.provider == PROVIDER for role in roles):
        return ()
    return (
        Parameter(
            POOL_PARAMETER,
            "The identity pool of Cognito whose users read their own items; none: nobody does",
            default="none",
            pattern="^(none|[a-z0-9-]+:[0-9a-f-]+)$",
        ),
    )


def role_name(table: str, role: str, region: str) -> str:
    """Return the name of a role. Roles are global: the region keeps those of two stacks apart."""
    name = f"{re.sub(r'[^A-Za-z0-9+=,.@_-]', '-', table)}-{role}-{region}"
    if len(name) > ROLE_NAME_MAX:
        raise StackError(
            f"the name of the role {name} has {len(name)} characters, and IAM takes {ROLE_NAME_MAX}",
            hint="give the table or the stage a shorter name",
        )
    return name


_POOL: Final[Mapping[str, Mapping[str, Any]]] = {
    "StringEquals": {f"{PROVIDER}:aud": Ref(POOL_PARAMETER)},
    "ForAnyValue:StringLike": {f"{PROVIDER}:amr": "authenticated"},
}


def _of_service(*services: str) -> Trust:
    # No service takes a role on behalf of another account (IAM guide, "The confused deputy problem").
    conditions = {"StringEquals": {"aws:SourceAccount": Sub("${AWS::AccountId}")}}
    is_checked = set(services) <= {"scheduler.amazonaws.com", "ecs-tasks.amazonaws.com"}
    return Trust(services=tuple(sorted(services)), conditions=conditions if is_checked else {})


def _role(
    kind: str,
    policy: Policy,
    trust: Trust,
    says: str,
    table: Table,
    options: StackOptions,
    using: tuple[Statement, ...],
    *,
    also: tuple[Policy, ...] = (),
) -> Role:
    return Role(
        f"{kind.title()}Role",
        role_name(table.name, kind, options.region),
        trust,
        (Policy(policy.name, (*policy.statements, *using)), *also),
        says=says,
        tags=table.tags,
    )


def _in_replicas(role: Role, table: Table, options: StackOptions) -> Role:
    """Let a role do in the regions of replicas what it may do with the table here."""
    here = f":dynamodb:{options.region}:"

    def everywhere(statement: Statement) -> Statement:
        beside = [
            resource.replace(here, f":dynamodb:{region}:")
            for region in table.replicas
            for resource in statement.resources
            if here in resource
        ]
        return replace(statement, resources=(*statement.resources, *beside))

    policies = (replace(each, statements=tuple(map(everywhere, each.statements))) for each in role.policies)
    return replace(role, policies=tuple(policies))


def key_use(table: Table, options: StackOptions) -> tuple[Statement, ...]:
    """Return what users of a table need of a customer's key, through DynamoDB alone.

    Developer guide, "DynamoDB encryption at rest: usage notes", authorizing the use of a customer managed key.
    """
    if table.key is None:
        return ()
    actions = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")
    regions = (options.region, *table.replicas)
    through = {"StringLike": {"kms:ViaService": tuple(f"dynamodb.{region}.*" for region in regions)}}
    given = (table.key, *(table.key_in(region) for region in table.replicas))
    if refs := tuple(f"${{{key.logical_id}}}" for key in given if isinstance(key, Ref)):
        return (Statement("UseKey", actions, refs, through),)
    keys = tuple(f"arn:${{AWS::Partition}}:kms:{region}:${{AWS::AccountId}}:key/*" for region in regions)
    named = {"ForAnyValue:StringEquals": {"kms:ResourceAliases": (str(table.key),)}}
    return (Statement("UseKey", actions, keys, {**through, **named}),)


def _granting(using: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Let who makes or restores a table give DynamoDB the use of its key, and nobody else."""
    granted = {"Bool": {"kms:GrantIsForAWSResource": ("true",)}}
    return (
        *using,
        *(
            Statement("GrantKey", ("kms:CreateGrant",), each.resources, {**each.conditions, **granted})
            for each in using
        ),
    )


def _further(blueprint: Blueprint, options: StackOptions) -> Iterable[Policy]:
    """Return the policies that a system declares beside those of its table; a document's own stay data."""
    for role in sorted(blueprint.roles, key=lambda role: role.name):
        if role.said or role.name.rpartition("-")[2] in _STANDARD:
            continue
        yield Policy(options.filled(role.name), tuple(_statements(role, options)))


def _statements(role: RoleBlueprint, options: StackOptions) -> Iterable[Statement]:
    for each in role.statements:
        if each.effect != "Allow":
            raise StackError(
                f"the role {role.name} has a statement that is no Allow", hint="write it by hand"
            )
        resources = tuple(options.filled(resource) for resource in each.resources)
        yield Statement(each.sid, each.actions, resources, _conditions(role, each.conditions))


def _conditions(role: RoleBlueprint, given: Mapping[str, Any]) -> Conditions:
    """Return conditions as IAM takes them: values, or one alone, by key and operator."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for operator, keys in given.items():
        for key, values in keys.items() if isinstance(keys, Mapping) else ((operator, None),):
            each = (values,) if isinstance(values, str) else values
            if not isinstance(each, list | tuple) or not all(isinstance(value, str) for value in each):
                raise StackError(
                    f"the role {role.name} has a condition {operator} that IAM does not take",
                    hint='as { StringEquals = { "iam:PassedToService" = "lambda.amazonaws.com" } }',
                )
            found.setdefault(operator, {})[key] = tuple(each)
    return found
