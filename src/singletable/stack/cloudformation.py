"""A stack as a template of CloudFormation, or of SAM: one function for each kind of resource.

A kind may be several resources of CloudFormation: a table with auto scaling, a backup plan with its vault. A
template is data, and `template_text` writes it as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, assert_never

from singletable.errors import StackError
from singletable.stack.resources import (
    Alarm,
    BackupPlan,
    Bucket,
    Dashboard,
    EventSource,
    Function,
    LogGroup,
    Output,
    Parameter,
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
from singletable.stack.table_templates import table_properties
from singletable.stack.template_values import filled, resource, tag_list, text, without_none

RESOURCES_MAX: Final = 500
TEMPLATE_BYTES_MAX: Final = 1_000_000
_RETAINED: Final = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
# What a deployment has made is not in the way of the next one if it fails. A table is not deleted even then.
_RETAINED_ONCE_MADE: Final = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
_SAM: Final = "AWS::Serverless-2016-10-31"

Template = dict[str, Any]


def to_cloudformation(stack: Stack) -> Template:
    """Return the template of a stack."""
    return _template(stack, is_sam=False)


def to_sam(stack: Stack) -> Template:
    """Return the template of a stack for SAM, which packs the code of functions itself."""
    return _template(stack, is_sam=True)


def template_text(template: Template) -> str:
    """Write a template as JSON; refuse one that CloudFormation does not take."""
    written = json.dumps(template, indent=2, ensure_ascii=False, sort_keys=False) + "\n"
    try:
        size = len(written.encode())
    except UnicodeEncodeError as error:
        raise StackError(
            f"the template has the character {error.object[error.start]!r}, which UTF-8 cannot say",
            hint="it is in a name or a description of the design",
        ) from None
    if size > TEMPLATE_BYTES_MAX:
        raise StackError(
            f"the template has {size:,} bytes, and CloudFormation takes {TEMPLATE_BYTES_MAX:,}",
            hint="leave parts out, or let them be stacks of their own",
        )
    return written


def _template(stack: Stack, *, is_sam: bool) -> Template:
    resources: dict[str, Any] = {}
    for each in stack.resources:
        for logical_id, body in _resources(each, is_sam=is_sam).items():
            assert logical_id not in resources, logical_id
            resources[logical_id] = body
    if len(resources) > RESOURCES_MAX:
        raise StackError(
            f"the stack {stack.name} has {len(resources)} resources, and CloudFormation takes {RESOURCES_MAX}",
            hint="leave parts out, or let them be stacks of their own",
        )
    return without_none(
        {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Transform": _SAM if is_sam else None,
            "Description": stack.says[:1024] or None,
            "Parameters": {each.logical_id: _parameter(each) for each in _parameters(stack, is_sam=is_sam)}
            or None,
            "Resources": dict(sorted(resources.items())),
            "Outputs": {each.logical_id: _output(each) for each in stack.outputs} or None,
        }
    )


def _parameters(stack: Stack, *, is_sam: bool) -> list[Parameter]:
    """Return the parameters of a stack. SAM brings the code to a bucket itself, and asks for none."""
    code = {each.code.bucket for each in stack.resources if isinstance(each, Function)} if is_sam else set()
    return [each for each in stack.parameters if Ref(each.logical_id) not in code]


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return without_none(
        {
            "Type": "String",
            "Description": parameter.says,
            "Default": parameter.default,
            "NoEcho": True if parameter.is_secret else None,
            "AllowedPattern": parameter.pattern,
        }
    )


def _output(output: Output) -> dict[str, Any]:
    found = {"Description": output.says, "Value": text(output.value)}
    return found if output.export is None else {**found, "Export": {"Name": output.export}}


def _resources(each: Resource, *, is_sam: bool) -> dict[str, Any]:
    """Return a resource as those that CloudFormation makes of it, by their logical ids."""
    match each:
        case Table():
            return _table(each)
        case Role():
            return {each.logical_id: _role(each)}
        case Topic():
            return _topic(each)
        case Queue():
            return {each.logical_id: _queue(each)}
        case Bucket():
            return {each.logical_id: _bucket(each)}
        case LogGroup():
            return {each.logical_id: _log_group(each)}
        case Function():
            return {each.logical_id: _sam_function(each) if is_sam else _function(each)}
        case EventSource():
            return {each.logical_id: _event_source(each)}
        case ScheduleGroup():
            properties = {"Name": each.name, "Tags": tag_list(each.tags)}
            return {each.logical_id: resource("AWS::Scheduler::ScheduleGroup", properties)}
        case Schedule():
            return {each.logical_id: _schedule(each)}
        case Alarm():
            return {each.logical_id: _alarm(each)}
        case Dashboard():
            return {each.logical_id: _dashboard(each)}
        case BackupPlan():
            return _backup_plan(each)
        case _:
            assert_never(each)


# --- tables and roles -------------------------------------------------------------------------------------------


def _table(table: Table) -> dict[str, Any]:
    found = table_properties(table)
    kind = "AWS::DynamoDB::GlobalTable" if table.is_global else "AWS::DynamoDB::Table"
    return {table.logical_id: resource(kind, found.properties, **_RETAINED), **found.scaling}


def _role(role: Role) -> dict[str, Any]:
    return resource(
        "AWS::IAM::Role",
        {
            "RoleName": role.name,
            "Description": role.says or None,
            "AssumeRolePolicyDocument": trust_document(role),
            "Policies": [
                {"PolicyName": policy.name, "PolicyDocument": filled(policy.document())}
                for policy in role.policies
            ]
            or None,
            "ManagedPolicyArns": [text(each) for each in role.managed] or None,
            "Tags": tag_list(role.tags),
        },
    )


def trust_document(role: Role) -> dict[str, Any]:
    """Return the policy that says who may take a role."""
    document: dict[str, Any] = filled(role.trust.document())
    return document


# --- messages ---------------------------------------------------------------------------------------------------


def _topic(topic: Topic) -> dict[str, Any]:
    found = {
        topic.logical_id: resource(
            "AWS::SNS::Topic",
            {
                "TopicName": topic.name,
                "KmsMasterKeyId": "alias/aws/sns" if topic.is_encrypted else None,
                "Tags": tag_list(topic.tags),
            },
        )
    }
    for number, email in enumerate(topic.emails, 1):
        found[f"{topic.logical_id}Email{number}"] = resource(
            "AWS::SNS::Subscription",
            {"TopicArn": {"Ref": topic.logical_id}, "Protocol": "email", "Endpoint": text(email)},
        )
    if topic.publishers:
        found[f"{topic.logical_id}Policy"] = resource(
            "AWS::SNS::TopicPolicy",
            {
                "Topics": [{"Ref": topic.logical_id}],
                "PolicyDocument": filled(topic.document()),
            },
        )
    return found


def _queue(queue: Queue) -> dict[str, Any]:
    return resource(
        "AWS::SQS::Queue",
        {
            "QueueName": queue.name,
            "MessageRetentionPeriod": queue.keep_s,
            "VisibilityTimeout": queue.invisible_s,
            "SqsManagedSseEnabled": True,
            "Tags": tag_list(queue.tags),
        },
        # What could not be done is lost with its queue.
        **_RETAINED_ONCE_MADE,
    )


def _bucket(bucket: Bucket) -> dict[str, Any]:
    closed = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    encryption = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    return resource(
        "AWS::S3::Bucket",
        {
            "BucketName": text(bucket.name),
            "BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]},
            "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
            "PublicAccessBlockConfiguration": dict.fromkeys(closed, True),
            "Tags": tag_list(bucket.tags),
        },
        **_RETAINED_ONCE_MADE,
    )


# --- functions --------------------------------------------------------------------------------------------------


def _log_group(group: LogGroup) -> dict[str, Any]:
    return resource(
        "AWS::Logs::LogGroup",
        {"LogGroupName": group.name, "RetentionInDays": group.keep_days, "Tags": tag_list(group.tags)},
        **_RETAINED_ONCE_MADE,
    )


def _function(function: Function) -> dict[str, Any]:
    code = {"S3Bucket": text(function.code.bucket), "S3Key": text(function.code.key)}
    failed = None if function.dead_letters is None else {"TargetArn": text(function.dead_letters)}
    return resource(
        "AWS::Lambda::Function",
        {
            **_function_properties(function),
            "Code": code,
            "DeadLetterConfig": failed,
            "Tags": tag_list(function.tags),
        },
    )


def _sam_function(function: Function) -> dict[str, Any]:
    return resource(
        "AWS::Serverless::Function",
        {
            **_function_properties(function),
            "CodeUri": function.code.file,
            "DeadLetterQueue": None
            if function.dead_letters is None
            else {"Type": "SQS", "TargetArn": text(function.dead_letters)},
            "Tags": dict(function.tags) or None,
        },
    )


def _function_properties(function: Function) -> dict[str, Any]:
    variables = {name: text(value) for name, value in sorted(function.environment.items())}
    return {
        "FunctionName": function.name,
        "Description": function.says or None,
        "Runtime": function.runtime,
        "Architectures": [function.architecture],
        "Handler": function.handler,
        "Role": text(function.role),
        "MemorySize": function.memory_mb,
        "Timeout": function.timeout_s,
        "Environment": {"Variables": variables} if variables else None,
        "LoggingConfig": None
        if function.log_group is None
        else {"LogFormat": "JSON", "LogGroup": text(function.log_group)},
        "ReservedConcurrentExecutions": function.concurrency_max,
    }


def _event_source(source: EventSource) -> dict[str, Any]:
    patterns = [{"Pattern": _json(each)} for each in source.filters]
    return resource(
        "AWS::Lambda::EventSourceMapping",
        {
            "FunctionName": text(source.function),
            "EventSourceArn": text(source.stream),
            "StartingPosition": source.starting_position,
            "BatchSize": source.batch_size,
            "MaximumBatchingWindowInSeconds": source.window_s or None,
            "ParallelizationFactor": source.parallelization,
            "BisectBatchOnFunctionError": source.is_bisecting,
            "MaximumRetryAttempts": source.retries_max,
            "MaximumRecordAgeInSeconds": source.age_s_max,
            "FilterCriteria": {"Filters": patterns} if patterns else None,
            "DestinationConfig": None
            if source.destination is None
            else {"OnFailure": {"Destination": text(source.destination)}},
            "FunctionResponseTypes": ["ReportBatchItemFailures"] if source.reports_failures else None,
        },
    )


def _schedule(schedule: Schedule) -> dict[str, Any]:
    window = schedule.window_minutes
    return resource(
        "AWS::Scheduler::Schedule",
        {
            "Name": schedule.name,
            "GroupName": text(schedule.group),
            "Description": schedule.says or None,
            "ScheduleExpression": schedule.expression,
            "ScheduleExpressionTimezone": schedule.timezone,
            "FlexibleTimeWindow": {"Mode": "OFF"}
            if window is None
            else {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": window},
            "State": "ENABLED" if schedule.is_enabled else "DISABLED",
            "Target": without_none(
                {
                    "Arn": text(schedule.target),
                    "RoleArn": text(schedule.role),
                    "Input": _json(schedule.payload) if schedule.payload else None,
                    "RetryPolicy": {
                        "MaximumRetryAttempts": schedule.retries_max,
                        "MaximumEventAgeInSeconds": schedule.age_s_max,
                    },
                    "DeadLetterConfig": None
                    if schedule.dead_letters is None
                    else {"Arn": text(schedule.dead_letters)},
                }
            ),
        },
    )


# --- watching and backups ---------------------------------------------------------------------------------------


def _alarm(alarm: Alarm) -> dict[str, Any]:
    request = filled(alarm.rule.request())
    return resource(
        "AWS::CloudWatch::Alarm",
        {
            **request,
            "AlarmActions": _texts(alarm.actions),
            "OKActions": _texts(alarm.ok_actions),
            "Tags": tag_list(alarm.tags),
        },
    )


def _dashboard(dashboard: Dashboard) -> dict[str, Any]:
    body = _json(dashboard.body)
    return resource(
        "AWS::CloudWatch::Dashboard",
        {"DashboardName": dashboard.name, "DashboardBody": text(Sub(body)) if "${" in body else body},
    )


def _backup_plan(plan: BackupPlan) -> dict[str, Any]:
    vault, selection = f"{plan.logical_id}Vault", f"{plan.logical_id}Selection"
    rules = [
        without_none(
            {
                "RuleName": rule.name,
                "TargetBackupVault": {"Ref": vault},
                "ScheduleExpression": rule.schedule,
                "StartWindowMinutes": rule.start_window_minutes,
                "CompletionWindowMinutes": rule.completion_window_minutes,
                "Lifecycle": without_none(
                    {"DeleteAfterDays": rule.keep_days, "MoveToColdStorageAfterDays": rule.cold_after_days}
                )
                or None,
            }
        )
        for rule in plan.rules
    ]
    return {
        vault: resource(
            "AWS::Backup::BackupVault",
            {
                "BackupVaultName": plan.vault,
                "EncryptionKeyArn": None if plan.key is None else text(plan.key),
                "BackupVaultTags": dict(sorted(plan.tags.items())) or None,
            },
            **_RETAINED_ONCE_MADE,
        ),
        plan.logical_id: resource(
            "AWS::Backup::BackupPlan",
            {
                "BackupPlan": {"BackupPlanName": plan.name, "BackupPlanRule": rules},
                "BackupPlanTags": dict(sorted(plan.tags.items())) or None,
            },
        ),
        selection: resource(
            "AWS::Backup::BackupSelection",
            {
                "BackupPlanId": {"Ref": plan.logical_id},
                "BackupSelection": {
                    "SelectionName": plan.name,
                    "IamRoleArn": text(plan.role),
                    "Resources": [text(each) for each in plan.resources],
                },
            },
        ),
    }


def _texts(given: Sequence[Text]) -> list[Any] | None:
    return [text(each) for each in given] or None


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
