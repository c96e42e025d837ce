"""The stack of a design as neutral data: one frozen class for each kind of resource, a closed union of them.

Formats are modules of their own over this union: `cloudformation.py` has one function for each kind. Nothing here
knows a format. A resource has a logical id, unique in its stack, and refers to others by it:

Ref("Topic")                      what stands for a resource: the name of a table, the ARN of a topic, the URL of a
                                  queue; or the value of a parameter
Attribute("Table", "StreamArn")   an attribute, by CloudFormation's name of it
Sub("${Table.Arn}/index/*")       a text with references: ${Id}, ${Id.Attribute}, ${AWS::Region},
                                  ${AWS::AccountId}, ${AWS::Partition}; ${!name} stands for ${name} itself,
                                  a variable of IAM
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from singletable.stack.alarms import Alarm as AlarmRule
from singletable.stack.policies import Policy


@dataclass(frozen=True, slots=True)
class Ref:
    """A resource or a parameter, by its logical id."""

    logical_id: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a resource, by CloudFormation's name: Arn, StreamArn."""

    logical_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Sub:
    """A text with references in ${}, as the module says."""

    template: str


Text: TypeAlias = str | Ref | Attribute | Sub


# --- tables ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scaling:
    """The auto scaling of provisioned units: at least, at most, and the use in percent that it aims at."""

    units_min: int
    units_max: int
    target_percent: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """Provisioned units of a table or an index, with their auto scaling."""

    read_units: int
    write_units: int
    read_scaling: Scaling | None = None
    write_scaling: Scaling | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index; its keys have several attributes where they are multi-attribute keys."""

    name: str
    pk: tuple[str, ...]
    sk: tuple[str, ...] = ()
    projection: str = "ALL"  # ALL, KEYS_ONLY, INCLUDE
    included: tuple[str, ...] = ()
    capacity: Capacity | None = None
    is_local: bool = False


_DYNAMODB: Final = re.compile(r":dynamodb:(?:\$\{AWS::Region\}|[^:]*):")


def _of_region(statement: Mapping[str, Any], region: str) -> dict[str, Any]:
    found = {}
    for name in {"Resource", "NotResource"}.intersection(statement):
        given = statement[name]
        named = given if isinstance(given, list) else [given]
        found[name] = [_DYNAMODB.sub(f":dynamodb:{region}:", str(each)) for each in named]
    return {**statement, **found}


@dataclass(frozen=True, slots=True)
class Table:
    """A DynamoDB table. It is kept when its stack is deleted.

    Ref: its name. Attributes: Arn, and StreamArn if it has a stream.
    """

    logical_id: str
    name: str
    pk: str
    sk: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)  # of all attributes in keys: S, N, B
    indexes: tuple[Index, ...] = ()
    capacity: Capacity | None = None  # on demand without
    table_class: str = "STANDARD"
    stream: str | None = None
    ttl: str | None = None
    encryption: str = "AWS_OWNED"  # AWS_OWNED, AWS_MANAGED, CUSTOMER_MANAGED
    key: Text | None = None
    pitr_days: int | None = None
    deletion_protection: bool = False
    contributor_insights: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    policy: Mapping[str, Any] | None = None  # a resource policy
    replicas: tuple[str, ...] = ()  # regions beside the stack's own; with any, it is a global table
    is_global: bool = False

    def key_in(self, region: str) -> Text | None:
        """Return its key in the region of a replica: keys are of one region, and an alias may be in each."""
        if not isinstance(self.key, Ref):
            return self.key
        return Ref(self.key.logical_id + "".join(word.title() for word in region.split("-")))

    def policy_in(self, region: str) -> Mapping[str, Any] | None:
        """Return its resource policy in the region of a replica: a policy names the table that it is of."""
        if self.policy is None:
            return None
        given = self.policy["Statement"]
        statements = [given] if isinstance(given, Mapping) else given
        return {**self.policy, "Statement": [_of_region(each, region) for each in statements]}


# --- who may do what ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trust:
    """Who may take a role: services of AWS by their principals, the stack's account, or an identity provider.

    A provider is a web identity's, such as cognito-identity.amazonaws.com; its conditions say which.
    """

    services: tuple[str, ...] = ()
    is_account: bool = False
    provider: str | None = None
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the policy that says who may take the role; its texts are templates as those of Sub."""
        action = "sts:AssumeRole"
        principal: dict[str, Any]
        if self.provider is not None:
            principal, action = {"Federated": self.provider}, "sts:AssumeRoleWithWebIdentity"
        elif self.is_account:
            principal = {"AWS": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
        else:
            assert self.services
            principal = {"Service": list(self.services)}
        statement: dict[str, Any] = {"Effect": "Allow", "Principal": principal, "Action": action}
        if self.conditions:
            statement["Condition"] = {operator: dict(keys) for operator, keys in self.conditions.items()}
        return {"Version": "2012-10-17", "Statement": [statement]}


@dataclass(frozen=True, slots=True)
class Role:
    """An IAM role with inline policies; texts in their statements are templates as those of Sub.

    Ref: its name. Attribute: Arn.
    """

    logical_id: str
    name: str
    trust: Trust
    policies: tuple[Policy, ...] = ()
    managed: tuple[Text, ...] = ()  # ARNs of policies that AWS keeps
    says: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


# --- messages -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Topic:
    """An SNS topic. Ref: its ARN. `emails` are parameters or addresses that are subscribed to it."""

    logical_id: str
    name: str
    emails: tuple[Text, ...] = ()
    is_encrypted: bool = False  # by AWS's key; CloudWatch cannot publish to such a topic
    publishers: tuple[str, ...] = ()  # services that may publish to it: cloudwatch.amazonaws.com
    tags: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the policy that lets the publishers publish; its texts are templates as those of Sub."""
        statement = {
            "Sid": "Publish",
            "Effect": "Allow",
            "Principal": {"Service": sorted(self.publishers)},
            "Action": "sns:Publish",
            "Resource": Ref(self.logical_id),
            "Condition": {"StringEquals": {"aws:SourceAccount": "${AWS::AccountId}"}},
        }
        return {"Version": "2012-10-17", "Statement": [statement]}


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS queue, encrypted by SQS's key. Ref: its URL. Attributes: Arn, QueueName."""

    logical_id: str
    name: str
    keep_s: int = 14 * 24 * 3600
    invisible_s: int = 30
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bucket:
    """An S3 bucket, encrypted and closed to the public; it is kept with its stack. Ref: its name. Attribute: Arn.

    Its name has the account, since it is one of the whole world: "orders-archive-${AWS::AccountId}-eu-north-1".
    """

    logical_id: str
    name: Sub
    tags: Mapping[str, str] = field(default_factory=dict)


# --- functions ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Code:
    """A package of code: a file beside the template, and where the bucket of a deployment has it.

    CloudFormation takes it from the bucket, SAM and Terraform take the file.
    """

    file: str
    bucket: Text
    key: Text


@dataclass(frozen=True, slots=True)
class LogGroup:
    """A log group of CloudWatch. Ref: its name. Attribute: Arn."""

    logical_id: str
    name: str
    keep_days: int = 30
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Function:
    """A Lambda function. Ref: its name. Attribute: Arn."""

    logical_id: str
    name: str
    handler: str
    code: Code
    role: Text  # an ARN: Attribute("ConsumerRole", "Arn")
    runtime: str = "python3.13"
    architecture: Literal["x86_64", "arm64"] = "x86_64"
    memory_mb: int = 256
    timeout_s: int = 60
    environment: Mapping[str, Text] = field(default_factory=dict)
    log_group: Text | None = None  # its name: Ref("ConsumerLogs")
    concurrency_max: int | None = None  # reserved
    dead_letters: Text | None = (
        None  # the ARN of a queue, for events of asynchronous calls that fail after all retries
    )
    says: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventSource:
    """An event source mapping: the stream of a table, read by a function. Ref: its id."""

    logical_id: str
    function: Text
    stream: Text  # Attribute("Table", "StreamArn")
    batch_size: int = 100
    window_s: int = 0
    parallelization: int = 1
    starting_position: Literal["TRIM_HORIZON", "LATEST"] = "TRIM_HORIZON"
    filters: tuple[Mapping[str, Any], ...] = ()  # patterns as data
    is_bisecting: bool = True
    retries_max: int = 10
    age_s_max: int = 24 * 3600  # of a record, before it goes to the destination
    destination: Text | None = None  # an ARN, on failure
    reports_failures: bool = True  # ReportBatchItemFailures


@dataclass(frozen=True, slots=True)
class ScheduleGroup:
    """A group of schedules, by which EventBridge Scheduler counts. Ref: its name. Attribute: Arn."""

    logical_id: str
    name: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule of EventBridge Scheduler, which calls a target. Ref: its name. Attribute: Arn."""

    logical_id: str
    name: str
    expression: str  # rate(1 minute), cron(0 3 * * ? *)
    group: Text  # its name: Ref("Schedules")
    target: Text  # the ARN of a function
    role: Text  # an ARN
    timezone: str = "UTC"
    payload: Mapping[str, Any] = field(default_factory=dict)
    retries_max: int = 3
    age_s_max: int = 3600
    dead_letters: Text | None = None  # the ARN of a queue
    window_minutes: int | None = None  # flexible; at the very time without
    is_enabled: bool = True
    says: str = ""


# --- watching -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alarm:
    """A CloudWatch alarm, with what it does when it rings and when it is over. Ref: its name. Attribute: Arn."""

    logical_id: str
    rule: AlarmRule
    actions: tuple[Text, ...] = ()  # ARNs: Ref("AlarmTopic")
    ok_actions: tuple[Text, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A CloudWatch dashboard: its body as data, whose texts are templates as those of Sub. Ref: its name."""

    logical_id: str
    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BackupRule:
    """When AWS Backup copies, and how long it keeps the copies."""

    name: str
    schedule: str  # cron(0 3 * * ? *)
    keep_days: int | None = None
    cold_after_days: int | None = None
    start_window_minutes: int = 60
    completion_window_minutes: int = 180


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """An AWS Backup plan with its vault, which is kept with its stack, and its selection of resources.

    Ref: the plan's id. The vault has the logical id of the plan and "Vault", the selection and "Selection".
    """

    logical_id: str
    name: str
    vault: str  # its name
    rules: tuple[BackupRule, ...]
    resources: tuple[Text, ...]  # ARNs: Attribute("Table", "Arn")
    role: Text  # an ARN
    key: Text | None = None  # of KMS; AWS's without
    tags: Mapping[str, str] = field(default_factory=dict)


Resource: TypeAlias = (
    Table
    | Role
    | Topic
    | Queue
    | Bucket
    | LogGroup
    | Function
    | EventSource
    | ScheduleGroup
    | Schedule
    | Alarm
    | Dashboard
    | BackupPlan
)


# --- a stack --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that is given when a stack is deployed. Without a default it must be."""

    logical_id: str
    says: str
    default: str | None = None
    is_secret: bool = False
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A value that a stack tells, under a name of its own."""

    logical_id: str
    says: str
    value: Text
    export: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """Resources that are deployed together, into one region."""

    name: str
    region: str
    resources: tuple[Resource, ...]
    parameters: tuple[Parameter, ...] = ()
    outputs: tuple[Output, ...] = ()
    says: str = ""
