"""A stack as a Terraform configuration: a folder of HCL files, one function for each kind of resource.

A kind may be several resources: a role with its policies, a topic with its subscriptions. What CloudFormation
retains, `prevent_destroy` keeps here. Code is taken from the file beside the configuration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, assert_never

from singletable.stack.hcl import Block, Call, Expression, Template, comment, hcl_text, quoted
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
    Table,
    Text,
    Topic,
)
from singletable.stack.terraform_tables import PREVENT_DESTROY, has_wide_keys, table_blocks
from singletable.stack.terraform_values import Scope, resource_block

PROVIDER_MIN: Final = "6.25.0"
# key_schema of an index came with 6.29.0; 6.37.0 mends what removing an index did to the others.
WIDE_KEYS_PROVIDER_MIN: Final = "6.37.0"
MAIN: Final = "main.tf"
_CLOUDFORMATION: Final = "cloudformation.amazonaws.com"


def to_terraform(stack: Stack) -> dict[str, str]:
    """Return the files of a stack's configuration, by their names."""
    scope = Scope(stack)
    blocks = [block for each in stack.resources for block in _blocks(each, scope)]
    outputs = [_output(each, scope) for each in stack.outputs]
    variables = [
        _variable(each, scope) for each in stack.parameters if each.logical_id in scope.variables
    ]  # the bucket of code is not one: the file is
    sources = [Block("data", (source, "current")) for source in sorted(scope.sources)]
    return {
        MAIN: comment(stack.says or stack.name) + "\n" + hcl_text([*sources, *blocks]),
        "outputs.tf": hcl_text(outputs) or comment("No outputs."),
        "providers.tf": hcl_text([Block("provider", ("aws",), {"region": stack.region})]),
        "variables.tf": hcl_text(variables) or comment("No variables."),
        "versions.tf": hcl_text([_versions(stack)]),
    }


def is_of_cloudformation(stack: Stack) -> bool:
    """Tell whether a stack has nothing but what CloudFormation alone can take: the role that it deploys with."""
    return all(
        isinstance(each, Role) and each.trust.services == (_CLOUDFORMATION,) for each in stack.resources
    )


def _versions(stack: Stack) -> Block:
    is_wide = any(isinstance(each, Table) and has_wide_keys(each) for each in stack.resources)
    least = WIDE_KEYS_PROVIDER_MIN if is_wide else PROVIDER_MIN
    aws = {"source": "hashicorp/aws", "version": f">= {least}, < 7.0.0"}
    return Block(
        "terraform", (), {"required_version": ">= 1.5.0"}, [Block("required_providers", (), {"aws": aws})]
    )


def _variable(parameter: Parameter, scope: Scope) -> Block:
    label = scope.label(parameter.logical_id)
    attributes = {
        "description": parameter.says,
        "type": Expression("string"),
        "default": parameter.default,
        "sensitive": True if parameter.is_secret else None,
    }
    if parameter.pattern is None:
        return Block("variable", (label,), attributes)
    message = f"{label} has to match {parameter.pattern}"
    condition = Expression(f"can(regex({quoted(parameter.pattern)}, var.{label}))")
    validation = Block("validation", (), {"condition": condition, "error_message": message})
    return Block("variable", (label,), attributes, [validation])


def _output(output: Output, scope: Scope) -> Block:
    attributes = {"description": output.says, "value": scope.text(output.value)}
    return Block("output", (scope.label(output.logical_id),), attributes)


def _blocks(each: Resource, scope: Scope) -> Iterator[Block]:
    """Yield a resource as those that Terraform makes of it."""
    match each:
        case Table():
            yield from table_blocks(each, scope)
        case Role():
            yield from _role(each, scope)
        case Topic():
            yield from _topic(each, scope)
        case Queue():
            yield _queue(each, scope)
        case Bucket():
            yield from _bucket(each, scope)
        case LogGroup():
            yield _log_group(each, scope)
        case Function():
            yield _function(each, scope)
        case EventSource():
            yield _event_source(each, scope)
        case ScheduleGroup():
            yield scope.resource(each, {"name": each.name, "tags": _tags(each)})
        case Schedule():
            yield _schedule(each, scope)
        case Alarm():
            yield _alarm(each, scope)
        case Dashboard():
            body = Call("jsonencode", scope.filled(each.body))
            yield scope.resource(each, {"dashboard_name": each.name, "dashboard_body": body})
        case BackupPlan():
            yield from _backup_plan(each, scope)
        case _:
            assert_never(each)


def _tags(each: Resource) -> dict[str, str] | None:
    return dict(sorted(getattr(each, "tags", {}).items())) or None


# --- roles and messages ---------------------------------------------------------------------------------------


def _role(role: Role, scope: Scope) -> Iterator[Block]:
    trust = Call("jsonencode", scope.filled(role.trust.document()))
    yield scope.resource(
        role,
        {
            "name": role.name,
            "description": role.says or None,
            "assume_role_policy": trust,
            "tags": _tags(role),
        },
    )
    name = scope.text(Ref(role.logical_id))
    for label, policy in zip(_labels(role, scope, len(role.policies)), role.policies, strict=True):
        document = Call("jsonencode", scope.filled(policy.document()))
        yield resource_block(
            "aws_iam_role_policy", label, {"name": policy.name, "role": name, "policy": document}
        )
    for label, arn in zip(_labels(role, scope, len(role.managed)), role.managed, strict=True):
        attached = {"role": name, "policy_arn": scope.text(arn)}
        yield resource_block("aws_iam_role_policy_attachment", label, attached)


def _labels(each: Role | Topic, scope: Scope, count: int) -> list[str]:
    label = scope.label(each.logical_id)
    return [label if number == 1 else f"{label}_{number}" for number in range(1, count + 1)]


def _with_policies(role: Text, scope: Scope) -> list[Expression] | None:
    """Return the policies of a role, without which what takes the role cannot work."""
    found = scope.role_of(role)
    if found is None:
        return None
    inline = _labels(found, scope, len(found.policies))
    attached = _labels(found, scope, len(found.managed))
    return [
        *(Expression(f"aws_iam_role_policy.{label}") for label in inline),
        *(Expression(f"aws_iam_role_policy_attachment.{label}") for label in attached),
    ] or None


def _topic(topic: Topic, scope: Scope) -> Iterator[Block]:
    key = "alias/aws/sns" if topic.is_encrypted else None
    yield scope.resource(topic, {"name": topic.name, "kms_master_key_id": key, "tags": _tags(topic)})
    arn = scope.text(Ref(topic.logical_id))
    for label, email in zip(_labels(topic, scope, len(topic.emails)), topic.emails, strict=True):
        told = {"topic_arn": arn, "protocol": "email", "endpoint": scope.text(email)}
        yield resource_block("aws_sns_topic_subscription", label, told)
    if topic.publishers:
        policy = Call("jsonencode", scope.filled(topic.document()))
        label = scope.label(topic.logical_id)
        yield resource_block("aws_sns_topic_policy", label, {"arn": arn, "policy": policy})


def _queue(queue: Queue, scope: Scope) -> Block:
    attributes = {
        "name": queue.name,
        "message_retention_seconds": queue.keep_s,
        "visibility_timeout_seconds": queue.invisible_s,
        "sqs_managed_sse_enabled": True,
        "tags": _tags(queue),
    }
    return scope.resource(queue, attributes, PREVENT_DESTROY)  # what could not be done is lost with its queue


def _bucket(bucket: Bucket, scope: Scope) -> Iterator[Block]:
    name = {"bucket": scope.text(bucket.name), "tags": _tags(bucket)}
    yield scope.resource(bucket, name, PREVENT_DESTROY)
    label, of_it = scope.label(bucket.logical_id), {"bucket": scope.text(Ref(bucket.logical_id))}
    closed = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")
    yield resource_block("aws_s3_bucket_public_access_block", label, {**of_it, **dict.fromkeys(closed, True)})
    owner = Block("rule", (), {"object_ownership": "BucketOwnerEnforced"})
    yield resource_block("aws_s3_bucket_ownership_controls", label, of_it, owner)
    cipher = Block("apply_server_side_encryption_by_default", (), {"sse_algorithm": "AES256"})
    kind = "aws_s3_bucket_server_side_encryption_configuration"
    yield resource_block(kind, label, of_it, Block("rule", (), {}, [cipher]))


# --- functions ------------------------------------------------------------------------------------------------


def _log_group(group: LogGroup, scope: Scope) -> Block:
    attributes = {
        "name": group.name,
        "retention_in_days": group.keep_days,
        "skip_destroy": True,
        "tags": _tags(group),
    }
    return scope.resource(group, attributes)


def _function(function: Function, scope: Scope) -> Block:
    file = Template((Expression("path.module"), f"/{function.code.file}"))
    variables = {name: scope.text(value) for name, value in sorted(function.environment.items())}
    logged = None if function.log_group is None else scope.text(function.log_group)
    failed = None if function.dead_letters is None else scope.text(function.dead_letters)
    return scope.resource(
        function,
        {
            "function_name": function.name,
            "description": function.says or None,
            "role": scope.text(function.role),
            "runtime": function.runtime,
            "architectures": [function.architecture],
            "handler": function.handler,
            "filename": file,
            "source_code_hash": Call("filebase64sha256", file),
            "memory_size": function.memory_mb,
            "timeout": function.timeout_s,
            "reserved_concurrent_executions": function.concurrency_max,
            "tags": _tags(function),
            "depends_on": _with_policies(function.role, scope),
        },
        Block("environment", (), {"variables": variables}) if variables else None,
        None if failed is None else Block("dead_letter_config", (), {"target_arn": failed}),
        None if logged is None else Block("logging_config", (), {"log_format": "JSON", "log_group": logged}),
    )


def _event_source(source: EventSource, scope: Scope) -> Block:
    filters = [Block("filter", (), {"pattern": Call("jsonencode", each)}) for each in source.filters]
    failed = None
    if source.destination is not None:
        failed = Block("on_failure", (), {"destination_arn": scope.text(source.destination)})
    return scope.resource(
        source,
        {
            "function_name": scope.text(source.function),
            "event_source_arn": scope.text(source.stream),
            "starting_position": source.starting_position,
            "batch_size": source.batch_size,
            "maximum_batching_window_in_seconds": source.window_s or None,
            "parallelization_factor": source.parallelization,
            "bisect_batch_on_function_error": source.is_bisecting,
            "maximum_retry_attempts": source.retries_max,
            "maximum_record_age_in_seconds": source.age_s_max,
            "function_response_types": ["ReportBatchItemFailures"] if source.reports_failures else None,
        },
        Block("filter_criteria", (), {}, filters) if filters else None,
        None if failed is None else Block("destination_config", (), {}, [failed]),
    )


def _schedule(schedule: Schedule, scope: Scope) -> Block:
    window = schedule.window_minutes
    mode = {"mode": "OFF" if window is None else "FLEXIBLE", "maximum_window_in_minutes": window}
    retries = {
        "maximum_retry_attempts": schedule.retries_max,
        "maximum_event_age_in_seconds": schedule.age_s_max,
    }
    parts = [Block("retry_policy", (), retries)]
    if schedule.dead_letters is not None:
        parts.append(Block("dead_letter_config", (), {"arn": scope.text(schedule.dead_letters)}))
    # A text, and no jsonencode: that escapes the < of the scheduler's own <aws.scheduler.scheduled-time>.
    payload = json.dumps(schedule.payload, ensure_ascii=False, separators=(",", ":"))
    target = {
        "arn": scope.text(schedule.target),
        "role_arn": scope.text(schedule.role),
        "input": payload if schedule.payload else None,
    }
    return scope.resource(
        schedule,
        {
            "name": schedule.name,
            "group_name": scope.text(schedule.group),
            "description": schedule.says or None,
            "schedule_expression": schedule.expression,
            "schedule_expression_timezone": schedule.timezone,
            "state": "ENABLED" if schedule.is_enabled else "DISABLED",
            "depends_on": _with_policies(schedule.role, scope),
        },
        Block("flexible_time_window", (), mode),
        Block("target", (), target, parts),
    )


# --- watching and backups -------------------------------------------------------------------------------------


def _alarm(alarm: Alarm, scope: Scope) -> Block:
    request = scope.filled(alarm.rule.request())
    return scope.resource(
        alarm,
        {
            "alarm_name": request["AlarmName"],
            "alarm_description": request["AlarmDescription"],
            "comparison_operator": request["ComparisonOperator"],
            "threshold": request["Threshold"],
            "evaluation_periods": request["EvaluationPeriods"],
            "treat_missing_data": request["TreatMissingData"],
            **_metric(request),
            "period": request.get("Period"),
            "statistic": request.get("Statistic"),
            "extended_statistic": request.get("ExtendedStatistic"),
            "alarm_actions": scope.texts(alarm.actions),
            "ok_actions": scope.texts(alarm.ok_actions),
            "tags": _tags(alarm),
        },
        *(_query(each) for each in request.get("Metrics", ())),
    )


def _metric(request: dict[str, Any]) -> dict[str, Any]:
    return {
        "namespace": request.get("Namespace"),
        "metric_name": request.get("MetricName"),
        "dimensions": {each["Name"]: each["Value"] for each in request.get("Dimensions", ())} or None,
    }


def _query(query: dict[str, Any]) -> Block:
    attributes = {
        "id": query["Id"],
        "expression": query.get("Expression"),
        "label": query.get("Label"),
        "return_data": query["ReturnData"],
    }
    if "MetricStat" not in query:
        return Block("metric_query", (), attributes)
    found = query["MetricStat"]
    metric = {**_metric(found["Metric"]), "period": found["Period"], "stat": found["Stat"]}
    return Block("metric_query", (), attributes, [Block("metric", (), metric)])


def _backup_plan(plan: BackupPlan, scope: Scope) -> Iterator[Block]:
    label = scope.label(plan.logical_id)
    key = None if plan.key is None else scope.text(plan.key)
    vault = {"name": plan.vault, "kms_key_arn": key, "tags": _tags(plan)}
    yield resource_block("aws_backup_vault", label, vault, PREVENT_DESTROY)
    rules = []
    for rule in plan.rules:
        kept = {"cold_storage_after": rule.cold_after_days, "delete_after": rule.keep_days}
        has_end = any(days is not None for days in kept.values())
        attributes = {
            "rule_name": rule.name,
            "target_vault_name": Expression(f"aws_backup_vault.{label}.name"),
            "schedule": rule.schedule,
            "start_window": rule.start_window_minutes,
            "completion_window": rule.completion_window_minutes,
        }
        rules.append(Block("rule", (), attributes, [Block("lifecycle", (), kept)] if has_end else ()))
    yield scope.resource(plan, {"name": plan.name, "tags": _tags(plan)}, *rules)
    selection = {
        "name": plan.name,
        "plan_id": scope.text(Ref(plan.logical_id)),
        "iam_role_arn": scope.text(plan.role),
        "resources": scope.texts(plan.resources),
        "depends_on": _with_policies(plan.role, scope),
    }
    yield resource_block("aws_backup_selection", label, selection)
