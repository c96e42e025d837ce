"""What is chosen when a stack is made, and not by the design: the place, the stage, billing, replicas."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any, Final

from singletable.blueprint import Blueprint
from singletable.design.model.table import Billing
from singletable.errors import StackError

# "The maximum size supported for a resource-based policy document is 20 KB" (developer guide, "Resource-based
# policy considerations").
_POLICY_BYTES_MAX: Final = 20 * 1024
_VARIABLE: Final = re.compile(r"\$\{(?!!|AWS::)")
_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([^{}]+)\}")
_REGION: Final = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
_SERVICE: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.amazonaws\.com(\.cn)?")


@dataclass(frozen=True, slots=True)
class Deployment:
    """One place where a design runs."""

    region: str
    account: str
    environment: Mapping[str, str] = field(default_factory=dict)
    partition: str = "aws"

    def table_name(self, template: str) -> str:
        """Return the name of the table here: the template with the values of the environment."""
        return template.format(**self.environment)

    def table_arn(self, table: str) -> str:
        """Return the ARN of a table here."""
        return f"arn:{self.partition}:dynamodb:{self.region}:{self.account}:table/{table}"


@dataclass(frozen=True, slots=True)
class StackOptions:
    """Where and how a design is deployed.

    Billing and capacity are those of the design unless a stage has its own. `is_global` asks for a global table;
    `replicas` are its further regions. `compute` are the services that the application runs on: they may take the
    roles for reading and writing.
    """

    region: str
    environment: Mapping[str, str] = field(default_factory=dict)
    billing: Billing | None = None
    capacity: tuple[int, int] | None = None  # units of reading and writing
    is_global: bool = False
    replicas: tuple[str, ...] = ()
    compute: tuple[str, ...] = ("lambda.amazonaws.com",)
    table_policy: Mapping[str, Any] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)  # beside those of the design

    def __post_init__(self) -> None:
        for region in (self.region, *self.replicas):
            if not _REGION.fullmatch(region):
                raise StackError(f"{region!r} is no region of AWS", hint="its code, as eu-north-1")
        for service in self.compute:
            if not _SERVICE.fullmatch(service):
                raise StackError(
                    f"{service!r} is no service that takes roles",
                    hint="its principal, as ecs-tasks.amazonaws.com",
                )

    def deployment(self) -> Deployment:
        """Return the place of the stack, with CloudFormation's words for the account and the partition."""
        return Deployment(self.region, "${AWS::AccountId}", self.environment, "${AWS::Partition}")

    def filled(self, text: str) -> str:
        """Fill the {placeholders} of the table's name in a text of a blueprint; ${references} stay."""
        return _PLACEHOLDER.sub(lambda found: self.environment.get(found[1], found[0]), text)


def is_tag(name: str, value: str) -> bool:
    """Tell whether all resources can have a tag (developer guide, "Tagging restrictions")."""
    return (
        re.fullmatch(r"[\w .:/=+@-]{1,128}", name) is not None
        and re.fullmatch(r"[\w .:/=+@-]{0,256}", value) is not None
        and not name.lower().startswith("aws:")
    )


def read_policy(path: Path) -> Mapping[str, Any]:
    """Read the resource policy of a table. ${AWS::AccountId} in it is filled in; variables of IAM stay."""
    try:
        text = path.read_text(encoding="utf-8")
        policy = json.loads(_VARIABLE.sub("${!", text))
    except OSError as error:
        raise StackError(f"{path} cannot be read: {error.strerror}", hint="name a policy in JSON") from error
    except ValueError:
        raise StackError(f"{path} is no policy in JSON", hint="as IAM takes it") from None
    if not isinstance(policy, dict) or not policy.get("Statement"):
        raise StackError(f"{path} is no policy: it has no Statement", hint="as IAM takes it")
    statements = policy["Statement"] if isinstance(policy["Statement"], list) else [policy["Statement"]]
    if not all(isinstance(each, dict) for each in statements):
        raise StackError(f"{path} is no policy: a Statement of it is no object", hint="as IAM takes it")
    if len(text.encode()) > _POLICY_BYTES_MAX:
        raise StackError(
            f"the policy of the table has {len(text.encode()):,} bytes, and DynamoDB takes {_POLICY_BYTES_MAX:,}",
            hint="say the same in fewer statements",
        )
    return policy


def table_name(blueprint: Blueprint, environment: Mapping[str, str]) -> str:
    """Return the name of the table in an environment; refuse one that is not whole, or that no table can have."""
    template = blueprint.table.name
    try:
        needed = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise StackError(f"the table's name {template!r} is no template: {error}") from None
    missing = [name for name in needed if name not in environment]
    if missing:
        raise StackError(
            f"the name of the table is {template}, and nothing says what {missing[0]} is",
            hint=f"give it, as --env {missing[0]}=dev",
        )
    name = template.format(**environment)
    if not re.fullmatch(r"[A-Za-z0-9_.-]{3,255}", name):
        raise StackError(
            f"{name!r} is no name of a table",
            hint="DynamoDB takes 3 to 255 letters, digits, dots, dashes and underscores",
        )
    return name


def stack_name(table: str) -> str:
    """Return the name of a table's stack: CloudFormation takes letters, digits and dashes, and a letter first."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", table).strip("-")
    name = name if name[:1].isalpha() else f"table-{name}"
    if len(name) > NAME_CHARACTERS_MAX:
        raise StackError(
            f"the name of the stack, {name[:40]}…, has {len(name)} characters, and CloudFormation takes "
            f"{NAME_CHARACTERS_MAX}",
            hint="give the table a shorter name",
        )
    return name


NAME_CHARACTERS_MAX: Final = 128 - len("-deployer")  # of the longest stack of a design
