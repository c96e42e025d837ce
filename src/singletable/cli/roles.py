"""`singletable roles`: who may do what with the table of a design, as IAM takes it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping

from singletable.cli.messages import WrongUseError
from singletable.cli.stages import add_stage, find_deployed, stage_environment
from singletable.stack.cloudformation import trust_document
from singletable.stack.deployable import stacks_unpacked
from singletable.stack.options import StackOptions
from singletable.stack.resources import Attribute, Ref, Role, Sub, Text
from singletable.stack.template_values import filled, text

EXAMPLES = """\
examples:
  singletable roles kefir --env stage=prod --region eu-north-1
  singletable roles kefir --env stage=prod --region eu-north-1 --only reader --json | jq .roles[0].policies

The account and the partition stand as CloudFormation writes them: ${AWS::AccountId}, ${AWS::Partition}.
"""

DONE = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `roles`."""
    add_stage(parser)
    parser.add_argument("--only", metavar="ROLE", help="one of them: reader, writer, consumer, …")
    parser.add_argument("--json", action="store_true", help="print trust and policies as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the roles of a design."""
    options = StackOptions(arguments.region, stage_environment(arguments))
    stacks = stacks_unpacked(find_deployed(arguments.design), options)
    found = {_kind(each): each for stack in stacks for each in stack.resources if isinstance(each, Role)}
    if arguments.only is not None and arguments.only not in found:
        raise WrongUseError(
            f"{arguments.design} has no role {arguments.only!r}",
            hint=f"its roles: {', '.join(sorted(found))}",
        )
    roles = [role for kind, role in sorted(found.items()) if arguments.only in (None, kind)]
    if arguments.json:
        print(json.dumps({"roles": [_data(role) for role in roles]}, ensure_ascii=False))
        return DONE
    print("\n\n".join("\n".join(_lines(role)) for role in roles))
    return DONE


def _lines(role: Role) -> Iterator[str]:
    yield f"{role.name}: {role.says}"
    trust = role.trust
    takers = (
        "people of the account" if trust.is_account else ", ".join(trust.services or (trust.provider or "",))
    )
    yield f"  taken by {takers}"
    yield from _conditions(trust.conditions)
    for policy in role.policies:
        for statement in policy.statements:
            yield f"  {statement.sid}: {', '.join(statement.actions)}"
            yield from (f"    on {resource}" for resource in statement.resources)
            yield from _conditions(statement.conditions)
    yield from (f"  as {_text(arn)}" for arn in role.managed)


def _conditions(conditions: Mapping[str, Mapping[str, str | Ref | Sub | tuple[str, ...]]]) -> Iterator[str]:
    for operator, keys in conditions.items():
        for key, given in keys.items():
            values = given if isinstance(given, tuple) else (given,)
            yield f"    if {operator} {key} {', '.join(map(_text, values))}"


def _text(value: Text) -> str:
    match value:
        case Ref(logical_id):
            return f"${{{logical_id}}}"
        case Attribute(logical_id, name):
            return f"${{{logical_id}.{name}}}"
        case Sub(template):
            return template
        case _:
            return value


def _kind(role: Role) -> str:
    return role.logical_id.removesuffix("Role").lower()


def _data(role: Role) -> dict[str, object]:
    return {
        "name": role.name,
        "says": role.says,
        "trust": trust_document(role),
        "policies": [
            {"name": policy.name, "document": filled(policy.document())} for policy in role.policies
        ],
        "managed": [text(each) for each in role.managed],
    }
