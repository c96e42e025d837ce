"""Values of a Terraform configuration: references between resources, texts with references, labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, assert_never

from singletable.stack.hcl import Block, Expression, Template
from singletable.stack.resources import (
    Alarm,
    Attribute,
    BackupPlan,
    Bucket,
    Dashboard,
    EventSource,
    Function,
    LogGroup,
    Queue,
    Ref,
    Resource,
    Role,
    Schedule,
    ScheduleGroup,
    Stack,
    Sub,
    Table,
    Text,
    Topic,
)

_REFERENCE: Final = re.compile(r"\$\{(!?)([^}]+)\}")
_PSEUDO: Final = {  # what CloudFormation calls pseudo parameters, as the data sources that tell it
    "AWS::AccountId": ("aws_caller_identity", "account_id"),
    "AWS::Partition": ("aws_partition", "partition"),
    "AWS::Region": ("aws_region", "region"),
    "AWS::URLSuffix": ("aws_partition", "dns_suffix"),
}
_REF: Final = ""  # what stands for the resource itself


def terraform_type(resource: Resource) -> tuple[str, Mapping[str, str]]:
    """Return the type that a kind of resource is, and its attributes by CloudFormation's names of them."""
    match resource:
        case Table():
            return "aws_dynamodb_table", {_REF: "name", "Arn": "arn", "StreamArn": "stream_arn"}
        case Role():
            return "aws_iam_role", {_REF: "name", "Arn": "arn"}
        case Topic():
            return "aws_sns_topic", {_REF: "arn", "TopicArn": "arn", "TopicName": "name"}
        case Queue():
            return "aws_sqs_queue", {_REF: "url", "Arn": "arn", "QueueName": "name"}
        case Bucket():
            return "aws_s3_bucket", {_REF: "bucket", "Arn": "arn"}
        case LogGroup():
            return "aws_cloudwatch_log_group", {_REF: "name", "Arn": "arn"}
        case Function():
            return "aws_lambda_function", {_REF: "function_name", "Arn": "arn"}
        case EventSource():
            return "aws_lambda_event_source_mapping", {_REF: "uuid"}
        case ScheduleGroup():
            return "aws_scheduler_schedule_group", {_REF: "name", "Arn": "arn"}
        case Schedule():
            return "aws_scheduler_schedule", {_REF: "name", "Arn": "arn"}
        case Alarm():
            return "aws_cloudwatch_metric_alarm", {_REF: "alarm_name", "Arn": "arn"}
        case Dashboard():
            return "aws_cloudwatch_dashboard", {_REF: "dashboard_name"}
        case BackupPlan():
            return "aws_backup_plan", {_REF: "id"}
        case _:
            assert_never(resource)


class Scope:
    """What a stack's texts may refer to, and what they have referred to."""

    def __init__(self, stack: Stack) -> None:
        named = (*stack.resources, *stack.parameters, *stack.outputs)
        count = Counter(snake_case(each.logical_id) for each in named)
        self._labels = {
            each.logical_id: label if count[label := snake_case(each.logical_id)] == 1 else each.logical_id
            for each in named
        }
        self._resources = {each.logical_id: each for each in stack.resources}
        self._parameters = {each.logical_id for each in stack.parameters}
        self.variables: set[str] = set()  # parameters that are referred to
        self.sources: set[str] = set()  # data sources that are

    def label(self, logical_id: str) -> str:
        """Return the label of a resource, a variable or an output."""
        return self._labels[logical_id]

    def resource(self, each: Resource, attributes: Mapping[str, Any], *blocks: Block | None) -> Block:
        """Return the block of a resource, under its own label."""
        kind, _ = terraform_type(each)
        return resource_block(kind, self.label(each.logical_id), attributes, *blocks)

    def text(self, value: Text) -> Any:
        """Return a text or a reference as HCL has it."""
        match value:
            case Ref(logical_id):
                return self._attribute(logical_id, _REF)
            case Attribute(logical_id, name):
                return self._attribute(logical_id, name)
            case Sub(template):
                return self._substituted(template)
            case _:
                return value

    def texts(self, given: tuple[Text, ...]) -> list[Any] | None:
        """Return texts; None without any."""
        return [self.text(each) for each in given] or None

    def filled(self, value: Any) -> Any:
        """Return data of texts and references as HCL has it: texts are templates as those of Sub."""
        match value:
            case str():
                return self._substituted(value)
            case Ref() | Attribute() | Sub():
                return self.text(value)
            case Mapping():
                return {key: self.filled(each) for key, each in value.items()}
            case list() | tuple():
                return [self.filled(each) for each in value]
            case _:
                return value

    def role_of(self, value: Text) -> Role | None:
        """Return the role of the stack that an ARN is of."""
        found = self._resources.get(value.logical_id) if isinstance(value, Attribute) else None
        return found if isinstance(found, Role) else None

    def _substituted(self, template: str) -> Any:
        parts: list[str | Expression] = []
        at = 0
        for found in _REFERENCE.finditer(template):
            _add(parts, template[at : found.start()])
            if found[1]:
                _add(parts, f"${{{found[2]}}}")  # a variable of IAM
            else:
                name, _, attribute = found[2].partition(".")
                _add(parts, self._attribute(name, attribute))
            at = found.end()
        _add(parts, template[at:])
        if not parts:
            return ""
        return parts[0] if len(parts) == 1 else Template(tuple(parts))

    def _attribute(self, logical_id: str, name: str) -> Any:
        if logical_id in _PSEUDO:
            source, attribute = _PSEUDO[logical_id]
            self.sources.add(source)
            return Expression(f"data.{source}.current.{attribute}")
        if logical_id in self._parameters:
            self.variables.add(logical_id)
            return Expression(f"var.{self.label(logical_id)}")
        resource = self._resources[logical_id]
        kind, attributes = terraform_type(resource)
        address = f"{kind}.{self.label(logical_id)}.{attributes[name]}"
        if isinstance(resource, LogGroup) and name == "Arn":
            # CloudFormation's ARN is that of its streams; the provider's is not.
            return Template((Expression(address), ":*"))
        return Expression(address)


def resource_block(kind: str, label: str, attributes: Mapping[str, Any], *blocks: Block | None) -> Block:
    """Return a resource; blocks that are None are left out."""
    return Block("resource", (kind, label), attributes, [each for each in blocks if each is not None])


def snake_case(word: str) -> str:
    """Return a logical id as Terraform's users write names."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", word).lower()


def _add(parts: list[str | Expression], part: Any) -> None:
    if isinstance(part, Template):
        for each in part.parts:
            _add(parts, each)
    elif isinstance(part, str) and parts and isinstance(parts[-1], str):
        parts[-1] += part
    elif part != "":
        parts.append(part)
