"""The role that a stack is deployed with, in a stack of its own: it is there before the other.

CloudFormation takes it. What it may do follows from the resources of the stack, each by its name. It deletes no
table. It writes the roles of the stack, and so decides what they may do: who may pass it on is a
decision of the account.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from os.path import commonprefix
from typing import Final, assert_never

from singletable.stack.policies import Policy, Statement
from singletable.stack.resources import (
    Alarm,
    Attribute,
    BackupPlan,
    Bucket,
    Dashboard,
    EventSource,
    Function,
    LogGroup,
    Output,
    Queue,
    Ref,
    Resource,
    Role,
    Schedule,
    ScheduleGroup,
    Stack,
    Table,
    Topic,
    Trust,
)
from singletable.stack.trusted import role_name

ROLE: Final = "DeployerRole"
_TABLE: Final = (
    "CreateTable", "DescribeContinuousBackups", "DescribeContributorInsights",
    "DescribeKinesisStreamingDestination", "DescribeTable", "DescribeTimeToLive", "ListTagsOfResource",
    "TagResource", "UntagResource", "UpdateContinuousBackups", "UpdateContributorInsights", "UpdateTable",
    "UpdateTimeToLive",
)  # fmt: skip
_TABLE_POLICY: Final = ("DeleteResourcePolicy", "GetResourcePolicy", "PutResourcePolicy")
# A replica is filled on behalf of who makes it (developer guide, "DynamoDB global tables security").
_REPLICAS: Final = (
    "BatchWriteItem", "CreateTableReplica", "DeleteItem", "DeleteTableReplica", "DescribeTableReplicaAutoScaling",
    "GetItem", "PutItem", "Query", "Scan", "UpdateItem", "UpdateTableReplicaAutoScaling",
)  # fmt: skip
_ROLE: Final = (
    "AttachRolePolicy", "CreateRole", "DeleteRole", "DeleteRolePolicy", "DetachRolePolicy", "GetRole",
    "GetRolePolicy", "ListAttachedRolePolicies", "ListRolePolicies", "PutRolePolicy", "TagRole", "UntagRole",
    "UpdateAssumeRolePolicy", "UpdateRole", "UpdateRoleDescription",
)  # fmt: skip
_TOPIC: Final = (
    "CreateTopic", "DeleteTopic", "GetTopicAttributes", "ListSubscriptionsByTopic", "ListTagsForResource",
    "SetTopicAttributes", "Subscribe", "TagResource", "UntagResource",
)  # fmt: skip
_QUEUE: Final = ("CreateQueue", "DeleteQueue", "GetQueueAttributes", "GetQueueUrl", "ListQueueTags",
                 "SetQueueAttributes", "TagQueue", "UntagQueue")  # fmt: skip
_BUCKET: Final = (
    "CreateBucket", "DeleteBucket", "GetBucketLocation", "GetBucketOwnershipControls",
    "GetBucketPublicAccessBlock", "GetBucketTagging", "GetEncryptionConfiguration", "ListBucket",
    "PutBucketOwnershipControls", "PutBucketPublicAccessBlock", "PutBucketTagging", "PutEncryptionConfiguration",
)  # fmt: skip
_LOGS: Final = ("CreateLogGroup", "DeleteLogGroup", "DeleteRetentionPolicy", "ListTagsForResource",
                "PutRetentionPolicy", "TagResource", "UntagResource")  # fmt: skip
_FUNCTION: Final = (
    "CreateFunction", "DeleteFunction", "GetFunction", "GetFunctionCodeSigningConfig", "GetFunctionConfiguration",
    "GetRuntimeManagementConfig", "ListTags", "PutFunctionConcurrency", "DeleteFunctionConcurrency", "TagResource",
    "UntagResource", "UpdateFunctionCode", "UpdateFunctionConfiguration",
)  # fmt: skip
_EVENT_SOURCE: Final = ("lambda:DeleteEventSourceMapping", "lambda:UpdateEventSourceMapping")
_SCHEDULE: Final = ("CreateSchedule", "DeleteSchedule", "GetSchedule", "UpdateSchedule")
_SCHEDULE_GROUP: Final = ("CreateScheduleGroup", "DeleteScheduleGroup", "GetScheduleGroup", "ListTagsForResource",
                          "TagResource", "UntagResource")  # fmt: skip
_ALARM: Final = ("DeleteAlarms", "ListTagsForResource", "PutMetricAlarm", "TagResource", "UntagResource")
_DASHBOARD: Final = ("DeleteDashboards", "GetDashboard", "PutDashboard")
_PLAN: Final = (
    "CreateBackupPlan", "CreateBackupSelection", "DeleteBackupPlan", "DeleteBackupSelection", "GetBackupPlan",
    "GetBackupSelection", "ListTags", "TagResource", "UntagResource", "UpdateBackupPlan",
)  # fmt: skip
_VAULT: Final = (
    "CreateBackupVault", "DeleteBackupVault", "DescribeBackupVault", "ListTags", "TagResource", "UntagResource",
)  # fmt: skip
_SCALING: Final = (
    "DeleteScalingPolicy",
    "DeregisterScalableTarget",
    "PutScalingPolicy",
    "RegisterScalableTarget",
)
_SCALING_LOOKS: Final = ("DescribeScalableTargets", "DescribeScalingPolicies")
# Roles that a service makes for itself, on behalf of the first of an account who asks for its work.
_OF_SCALING: Final = (
    "dynamodb.application-autoscaling.amazonaws.com/AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)
_OF_REPLICATION: Final = "replication.dynamodb.amazonaws.com/AWSServiceRoleForDynamoDBReplication"
_OF_INSIGHTS: Final = (
    "contributorinsights.dynamodb.amazonaws.com/AWSServiceRoleForDynamoDBCloudWatchContributorInsights"
)
_OF_BACKUP: Final = "backup.amazonaws.com/AWSServiceRoleForBackup"
_TABLE_KEY: Final = ("CreateGrant", "Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey*", "ReEncrypt*")
_VAULT_KEY: Final = ("CreateGrant", "Decrypt", "DescribeKey", "GenerateDataKey", "RetireGrant")

_NAMED_MAX: Final = 8  # resources of a statement, one by one
_PREFIX_MIN: Final = 6  # characters of names in common, which keep others out

_Grant = tuple[str, str, tuple[str, ...], str]  # statement, service, actions, resource


def deployer_stack(stack: Stack, table: Table, *, beside: Sequence[Stack] = ()) -> Stack:
    """Return the stack with the role that CloudFormation deploys a stack with, and those beside it."""
    role = Role(
        ROLE,
        role_name(table.name, "deployer", stack.region),
        Trust(services=("cloudformation.amazonaws.com",)),
        (Policy(f"{stack.name}-deployer", deploying(stack, *beside)),),
        says=f"deploys the stack {stack.name}",
        tags=table.tags,
    )
    return Stack(
        f"{stack.name}-deployer",
        stack.region,
        (role,),
        outputs=(Output("DeployerRoleArn", "What to deploy with: --role-arn", Attribute(ROLE, "Arn")),),
        says=f"The role that CloudFormation deploys {stack.name} with",
    )


def deploying(*stacks: Stack) -> tuple[Statement, ...]:
    """Return what deploying stacks takes, from their resources."""
    actions: dict[tuple[str, str], set[str]] = defaultdict(set)
    resources: dict[tuple[str, str], set[str]] = defaultdict(set)
    for stack in stacks:
        for each in stack.resources:
            for sid, service, names, resource in _grants(each, stack.region):
                actions[sid, service].update(names)
                resources[sid, service].add(resource)
    return (
        *(
            Statement(
                sid,
                tuple(f"{service}:{action}" for action in sorted(actions[sid, service])),
                _shortened(resources[sid, service]),
            )
            for sid, service in sorted(actions)
        ),
        *_mapping(stacks),
        *_passing(stacks),
        *(statement for stack in stacks for statement in _key_use(stack)),
    )


def _shortened(resources: set[str]) -> tuple[str, ...]:
    """Return resources one by one, or many of one kind by what their names begin with: a policy has a size."""
    by_place: dict[str, set[str]] = defaultdict(set)
    for each in resources:
        by_place[each[: max(each.rfind(":"), each.rfind("/"))]].add(each)
    return tuple(sorted(name for each in by_place.values() for name in _shortened_names(each)))


def _shortened_names(resources: set[str]) -> set[str]:
    prefix = commonprefix(sorted(resources))  # noqa: RUF071 - by characters is meant
    name = prefix.rpartition(":")[2].rpartition("/")[2]
    return {f"{prefix}*"} if len(resources) > _NAMED_MAX and len(name) >= _PREFIX_MIN else resources


def _key_use(stack: Stack) -> Iterator[Statement]:
    """Yield that services may use keys for the role: making a table or a vault, each grants itself its use."""
    for each in stack.resources:
        if isinstance(each, Table) and each.key is not None:
            yield _through("UseTableKey", _TABLE_KEY, ("dynamodb",), (stack.region, *each.replicas))
        elif isinstance(each, BackupPlan):
            # Without a key of its own, that of AWS for vaults (AWS Backup guide, "Backup vault creation").
            yield _through("UseVaultKey", _VAULT_KEY, ("backup", "backup-storage"), (stack.region,))


def _through(
    sid: str, actions: tuple[str, ...], services: tuple[str, ...], regions: tuple[str, ...]
) -> Statement:
    """Return that keys of some regions may be used, by way of some services alone."""
    ways = tuple(f"{service}.{region}.*" for service in services for region in regions)
    keys = tuple(_arn("kms", region, "key/*") for region in regions)
    named = tuple(f"kms:{action}" for action in actions)
    return Statement(sid, named, keys, {"StringLike": {"kms:ViaService": ways}})


def _mapping(stacks: Sequence[Stack]) -> Iterator[Statement]:
    """Yield that streams are mapped to the functions of the stacks, and to no others."""
    mapped: set[str] = set()
    for stack in stacks:
        sources = [each.function for each in stack.resources if isinstance(each, EventSource)]
        ids = {each.logical_id for each in sources if isinstance(each, Ref | Attribute)}
        mapped |= {
            _function_arn(each.name, stack.region)
            for each in stack.resources
            if isinstance(each, Function) and each.logical_id in ids
        }
    if not mapped:
        return
    # A mapping has no name of its own: its function says whose it is (service authorization reference, Lambda).
    condition = {"ArnEquals": {"lambda:FunctionArn": tuple(sorted(mapped))}}
    mappings = tuple(
        _arn("lambda", region, "event-source-mapping:*")
        for region in sorted({each.region for each in stacks})
    )
    yield Statement("MakeEventSources", ("lambda:CreateEventSourceMapping",), ("*",), condition)
    yield Statement("KeepEventSources", _EVENT_SOURCE, mappings, condition)


def _passing(stacks: Sequence[Stack]) -> Iterator[Statement]:
    """Yield that the roles of functions, schedules and backups are handed on to their services, and no others."""
    by_service: dict[str, set[str]] = defaultdict(set)
    for stack in stacks:
        takers = [each for each in stack.resources if isinstance(each, Function | Schedule | BackupPlan)]
        ids = {each.role.logical_id for each in takers if isinstance(each.role, Attribute)}
        for each in stack.resources:
            if isinstance(each, Role) and each.logical_id in ids:
                for service in each.trust.services:
                    by_service[service].add(_role_arn(each.name))
    for service, arns in sorted(by_service.items()):
        word = "".join(part.title() for part in service.partition(".")[0].split("-"))
        condition = {"StringEquals": {"iam:PassedToService": (service,)}}
        yield Statement(f"PassRolesTo{word}", ("iam:PassRole",), tuple(sorted(arns)), condition)


def _arn(service: str, region: str, rest: str) -> str:
    return f"arn:${{AWS::Partition}}:{service}:{region}:${{AWS::AccountId}}:{rest}"


def _role_arn(name: str) -> str:
    return _arn("iam", "", f"role/{name}")


def _function_arn(name: str, region: str) -> str:
    return _arn("lambda", region, f"function:{name}")


def _service_role(of: str) -> _Grant:
    return "MakeServiceRoles", "iam", ("CreateServiceLinkedRole",), _role_arn(f"aws-service-role/{of}")


def _grants(each: Resource, region: str) -> Iterator[_Grant]:
    """Yield what one resource takes: statement, service, actions, resource."""
    match each:
        case Table():
            yield from _table_grants(each, region)
        case Role(name=name):
            yield "KeepRoles", "iam", _ROLE, _role_arn(name)
        case Topic(name=name):
            yield "KeepTopics", "sns", _TOPIC, _arn("sns", region, name)
            yield "EndSubscriptions", "sns", ("GetSubscriptionAttributes", "Unsubscribe"), "*"
        case Queue(name=name):
            yield "KeepQueues", "sqs", _QUEUE, _arn("sqs", region, name)
        case Bucket(name=bucket):
            yield "KeepBuckets", "s3", _BUCKET, f"arn:${{AWS::Partition}}:s3:::{bucket.template}"
        case LogGroup(name=name):
            yield "KeepLogs", "logs", _LOGS, _arn("logs", region, f"log-group:{name}")
            yield "KeepLogs", "logs", _LOGS, _arn("logs", region, f"log-group:{name}:*")
            yield "ListLogs", "logs", ("DescribeLogGroups",), "*"
        case Function(name=name):
            yield "KeepFunctions", "lambda", _FUNCTION, _function_arn(name, region)
            yield "ReadCode", "s3", ("GetObject", "GetObjectVersion"), "arn:${AWS::Partition}:s3:::*/*.zip"
        case EventSource():
            mapping = _arn("lambda", region, "event-source-mapping:*")
            yield "LookAtEventSources", "lambda", ("GetEventSourceMapping", "ListTags"), mapping
        case ScheduleGroup(name=name):
            group = _arn("scheduler", region, f"schedule-group/{name}")
            yield "KeepScheduleGroups", "scheduler", _SCHEDULE_GROUP, group
            # Deleting a group deletes its schedules, those that functions have made too.
            yield "KeepSchedules", "scheduler", _SCHEDULE, _arn("scheduler", region, f"schedule/{name}/*")
        case Schedule():
            pass  # as its group
        case Alarm(rule=rule):
            yield "KeepAlarms", "cloudwatch", _ALARM, _arn("cloudwatch", region, f"alarm:{rule.name}")
            yield "ListAlarms", "cloudwatch", ("DescribeAlarms",), _arn("cloudwatch", region, "alarm:*")
        case Dashboard(name=name):
            yield "KeepDashboards", "cloudwatch", _DASHBOARD, _arn("cloudwatch", "", f"dashboard/{name}")
        case BackupPlan(vault=vault):
            yield "KeepPlans", "backup", _PLAN, _arn("backup", region, "backup-plan:*")
            yield "KeepVaults", "backup", _VAULT, _arn("backup", region, f"backup-vault:{vault}")
            yield "StoreBackups", "backup-storage", ("MountCapsule",), "*"
            yield _service_role(_OF_BACKUP)
        case _:
            assert_never(each)


def _table_grants(table: Table, region: str) -> Iterator[_Grant]:
    for where in (region, *table.replicas):
        arn = _arn("dynamodb", where, f"table/{table.name}")
        yield "KeepTable", "dynamodb", _TABLE, arn
        if table.contributor_insights:
            yield "KeepTable", "dynamodb", _TABLE, f"{arn}/index/*"
        if table.policy is not None:
            yield "KeepTable", "dynamodb", _TABLE_POLICY, arn
        if where != region:
            yield "KeepReplicas", "dynamodb", _REPLICAS, arn
    if table.is_global:
        yield _service_role(_OF_REPLICATION)
    if table.contributor_insights:
        yield _service_role(_OF_INSIGHTS)
    places = [each for each in (table.capacity, *(index.capacity for index in table.indexes)) if each]
    # The writes of a global table always scale.
    if any(each.read_scaling or each.write_scaling or table.is_global for each in places):
        yield from _scaling_grants(table, "*" if table.replicas else region)


def _scaling_grants(table: Table, region: str) -> Iterator[_Grant]:
    service = "application-autoscaling"
    yield "ListScaling", service, _SCALING_LOOKS, "*"
    yield "Scale", service, _SCALING, _arn(service, region, "scalable-target/*")
    yield _service_role(_OF_SCALING)
    # Target tracking watches by alarms of its own: "TargetTracking-table/Books-AlarmHigh-...".
    alarms = _arn("cloudwatch", region, f"alarm:TargetTracking-table/{table.name}*")
    yield "ScaleByAlarms", "cloudwatch", ("DeleteAlarms", "PutMetricAlarm"), alarms
    yield "ListAlarms", "cloudwatch", ("DescribeAlarms",), _arn("cloudwatch", region, "alarm:*")
