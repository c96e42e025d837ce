"""`singletable roles`: who may do what with the table of a design, as IAM takes it."""

from __future__ import annotations

import argparse
import json

from singletable.cli.messages import WrongUseError
from singletable.cli.stages import add_stage, find_deployed, stage_environment
from singletable.stack.cloudformation import trust_document
from singletable.stack.deployable import stacks_unpacked
from singletable.stack.options import StackOptions
from singletable.stack.resources import Role
from singletable.stack.template_values import filled

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
    for number, role in enumerate(roles):
        print(f"{chr(10) if number else ''}{role.name}: {role.says}")
        for policy in role.policies:
            for statement in policy.statements:
                print(f"  {statement.sid}: {', '.join(statement.actions)}")
                for resource in statement.resources:
                    print(f"    on {resource}")
                for operator, keys in statement.conditions.items():
                    for key, values in keys.items():
                        print(f"    if {operator} {key} {', '.join(values)}")
    return DONE


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
    }
