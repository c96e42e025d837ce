"""The parts around a table: functions, schedules, backups, alarms with their topic, the dashboard."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator
from cfnlint.api import lint
from cfnlint.config import ManualArgs
from hypothesis import given
from hypothesis import strategies as st

from singletable.blueprint import (
    BackupBlueprint,
    Blueprint,
    ConsumerBlueprint,
    HandlerBlueprint,
    PatternBlueprint,
    TableBlueprint,
)
from singletable.errors import StackError
from singletable.planning.workload import Planner
from singletable.stack import Deployment, Statement
from singletable.stack.alarms import Alarm as AlarmRule
from singletable.stack.alarms import Series
from singletable.stack.backups import backups_of, schedule
from singletable.stack.cloudformation import template_text, to_cloudformation, to_sam
from singletable.stack.dashboard import COLUMNS, WIDGETS_MAX, dashboard_of
from singletable.stack.functions import FunctionSettings, StreamFunction, stream_function
from singletable.stack.make import make_stack
from singletable.stack.metrics import BILLING_REGION, METRICS
from singletable.stack.names import LENGTH_MAX, logical_id, resource_name
from singletable.stack.options import StackOptions
from singletable.stack.packaging import Package
from singletable.stack.parts import Parts, parts_of
from singletable.stack.planned_alarms import latencies, planned_alarms
from singletable.stack.resources import Alarm, Attribute, Code, Ref, Stack
from singletable.stack.schedules import ScheduledWorkers, rate, scheduled_workers
from singletable.stack.watching import alarm_resources, billing_rules, billing_stack, problems
from singletable.systems import Scheduled, System, Worker, installed_systems
from support.paths import ROOT
from support.policy_linter import findings

SYSTEMS = [*installed_systems().values()]
SETTINGS = FunctionSettings(
    Code("function.zip", Ref("CodeBucket"), "function.zip"), "python3.13", environment={"stage": "prod"}
)
REGION = "eu-north-1"
PACKAGE = Package(b"", "python3.13", "arm64", (), "0a" * 32)


def system_id(system: System) -> str:
    return system.name


def place_of(system: System) -> Deployment:
    return Deployment(REGION, "${AWS::AccountId}", system.environment, "${AWS::Partition}")


def table_of(system: System) -> str:
    return place_of(system).table_name(system.design.table.name)


def stream_of(system: System) -> StreamFunction:
    blueprint = system.blueprint()
    return stream_function(
        blueprint,
        blueprint.consumers[0],
        table=table_of(system),
        table_id="Table",
        role=Attribute("ConsumerRole", "Arn"),
        settings=SETTINGS,
    )


def workers_of(*workers: Scheduled, table: str = "shop") -> ScheduledWorkers:
    allowed = (Statement("Read", ("dynamodb:Query",), ("${Table.Arn}",)),)
    return scheduled_workers(workers, table=table, region=REGION, allowed=allowed, settings=SETTINGS)


def made_of(system: System) -> Parts:
    """Return all parts around the table of a system."""
    package = PACKAGE if system.design.handlers or system.scheduled else None
    return parts_of(
        system.blueprint(), StackOptions(REGION, system.environment), package=package, system=system
    )


def stack_of(system: System) -> Stack:
    made = made_of(system)
    return make_stack(
        system.blueprint(),
        StackOptions(REGION, system.environment),
        further=made.resources,
        parameters=made.parameters,
        consuming=made.consuming,
    )


# --- functions -------------------------------------------------------------------------------------------


def test_event_source_bisects_retries_and_tells_a_queue_of_failures() -> None:
    made = stream_of(installed_systems()["kefir"])
    source = made.source
    assert (source.batch_size, source.parallelization, source.is_bisecting) == (100, 1, True)
    assert source.reports_failures
    assert source.retries_max == 10
    assert source.age_s_max < 24 * 3600  # before the stream loses the record
    assert source.destination == Attribute(made.failures.logical_id, "Arn")
    assert source.stream == Attribute("Table", "StreamArn")
    assert len(source.filters) == 4
    assert made.logs.keep_days == 30
    assert json.loads(str(made.function.environment["SINGLETABLE_ENVIRONMENT"])) == {"stage": "prod"}


def test_batch_size_and_parallelization_are_the_consumer_s_within_lambda_s_bounds() -> None:
    blueprint = Blueprint("Shop", TableBlueprint("shop", stream="NEW_AND_OLD_IMAGES"))
    for asked, made in (((500, 4), (500, 4)), ((20_000, 40), (10_000, 10))):
        consumer = ConsumerBlueprint(
            "c", handlers=(HandlerBlueprint("h"),), batch_size=asked[0], parallelization=asked[1]
        )
        found = stream_function(
            blueprint, consumer, table="shop", table_id="Table", role="arn", settings=SETTINGS
        )
        assert (found.source.batch_size, found.source.parallelization) == made


def test_function_s_role_may_write_its_log_and_tell_of_failures() -> None:
    actions = {
        action for each in stream_of(installed_systems()["kefir"]).statements() for action in each.actions
    }
    assert actions == {"logs:CreateLogStream", "logs:PutLogEvents", "sqs:SendMessage"}


def no_worker(db: object) -> Worker:
    raise AssertionError("nothing is run here")


# --- schedules -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minutes", "expression"),
    [
        (1, "rate(1 minute)"),
        (10, "rate(10 minutes)"),
        (60, "rate(1 hour)"),
        (90, "rate(90 minutes)"),
        (2880, "rate(2 days)"),
    ],
)
def test_rate_is_in_the_largest_unit(minutes: int, expression: str) -> None:
    assert rate(minutes) == expression


def test_schedule_under_a_minute_is_refused() -> None:
    with pytest.raises(StackError, match="a schedule of 0 minutes"):
        rate(0)


def test_schedule_invokes_the_function_with_its_worker_by_a_role_that_may_only_that() -> None:
    made = workers_of(Scheduled("counter", 10, no_worker), Scheduled("b-sender", 1, no_worker))
    assert [each.payload for each in made.schedules] == [{"worker": "b-sender"}, {"worker": "counter"}]
    running, invoking = made.roles
    assert invoking.trust.services == ("scheduler.amazonaws.com",)
    assert [each.actions for each in invoking.policies[0].statements] == [
        ("lambda:InvokeFunction",),
        ("sqs:SendMessage",),
    ]
    assert running.trust.services == ("lambda.amazonaws.com",)
    # Schedules call asynchronously: an error of the function itself is told by Lambda.
    assert made.function.dead_letters == Attribute(made.failures.logical_id, "Arn")
    assert running.policies[0].allows("sqs:SendMessage", f"${{{made.failures.logical_id}.Arn}}")
    for each in made.schedules:
        assert each.role == Attribute(invoking.logical_id, "Arn")
        assert each.target == Attribute(made.function.logical_id, "Arn")
        assert 60 <= each.age_s_max <= 86_400  # EventBridge Scheduler, RetryPolicy


# --- backups ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("every_days", "expression"),
    [
        (0.25, "cron(0 0/6 * * ? *)"),
        (0.01, "cron(0 0/1 * * ? *)"),
        (1, "cron(0 3 * * ? *)"),
        (3, "cron(0 3 1/3 * ? *)"),
        (7, "cron(0 3 ? * SUN *)"),
        (30, "cron(0 3 1 * ? *)"),
        (90, "cron(0 3 1 1/3 ? *)"),
    ],
)
def test_backup_is_due_about_as_often_as_said(every_days: float, expression: str) -> None:
    assert schedule(every_days) == expression


def test_backups_of_smart_cooking_are_weekly_and_kept_for_ninety_days() -> None:
    system = installed_systems()["smart_cooking"]
    made = backups_of(system.blueprint(), table="cooking", table_id="Table", region=REGION)
    assert made is not None
    (rule,) = made.plan.rules
    assert (rule.schedule, rule.keep_days) == ("cron(0 3 ? * SUN *)", 90)
    assert made.plan.resources == (Attribute("Table", "Arn"),)
    assert made.role.trust.services == ("backup.amazonaws.com",)


def test_backup_of_other_environments_is_left_out() -> None:
    backup = BackupBlueprint("aws-backup", environments=("prod",))
    blueprint = Blueprint("Shop", TableBlueprint("shop", backups=(backup, BackupBlueprint("pitr"))))
    for stage, is_backed_up in (("prod", True), ("dev", False)):
        made = backups_of(
            blueprint, table="shop", table_id="Table", region=REGION, environment={"stage": stage}
        )
        assert (made is not None) == is_backed_up


# --- alarms ----------------------------------------------------------------------------------------------


def cloudwatch_problems(operation: str, request: dict[str, Any]) -> str:
    shape = botocore.session.get_session().get_service_model("cloudwatch").operation_model(operation)
    return str(ParamValidator().validate(request, shape.input_shape).generate_report())


@pytest.mark.parametrize("system", SYSTEMS, ids=system_id)
def test_every_alarm_has_a_metric_that_exists_and_tells_the_topic(system: System) -> None:
    stack = stack_of(system)
    assert problems(stack) == []
    alarms = [each for each in stack.resources if isinstance(each, Alarm)]
    assert len({each.logical_id for each in alarms}) == len(alarms) > 10
    for each in alarms:
        assert each.actions == (Ref("AlarmTopic"),)
        assert cloudwatch_problems("PutMetricAlarm", each.rule.request()) == ""


def test_capacity_threshold_is_twice_the_peak_of_the_plan() -> None:
    system = installed_systems()["perfectit"]
    blueprint = system.blueprint()
    alarms = {each.name: each for each in planned_alarms(blueprint, place_of(system))}
    lines = Planner(blueprint).workload().lines
    peak = sum(line.call.units("read", index="GSI3").mean * line.peak_per_s for line in lines)
    threshold = alarms[f"{table_of(system)}-GSI3-capacity-read"].threshold
    assert threshold == pytest.approx(2 * peak * 300, rel=0.01)


def test_capacity_threshold_of_provisioned_units_is_a_share_of_them() -> None:
    table = TableBlueprint("shop", billing="PROVISIONED", capacity=(10, 5), scaling={"write": (5, 100, 70)})
    alarms = planned_alarms(Blueprint("Shop", table), Deployment(REGION, "1"))
    found = {each.name: each.threshold for each in alarms}
    assert found["shop-capacity-read"] == 0.8 * 10 * 300
    assert found["shop-capacity-write"] == 0.8 * 100 * 300


def test_more_users_raise_the_threshold_of_capacity() -> None:
    system = installed_systems()["perfectit"]
    blueprint = system.blueprint()
    assert blueprint.users is not None
    name = f"{table_of(system)}-capacity-read"
    few, many = (
        {each.name: each.threshold for each in planned_alarms(blueprint, place_of(system), users=users)}[name]
        for users in (blueprint.users, 10 * blueprint.users)
    )
    assert many > 5 * few


def test_latency_threshold_grows_with_the_units_of_a_request() -> None:
    system = installed_systems()["perfectit"]
    found = latencies(system.blueprint(), Planner(system.blueprint()).workload())
    assert found["GetItem"] < found["Query"]
    assert found["Query"] == 61  # 50, and a page of ten cards of 4 KB, in blocks: 10.5 units


def test_alarm_on_the_bill_is_a_problem_elsewhere() -> None:
    charges = Series("charges", "EstimatedCharges", "Maximum", {"Currency": "USD"})
    alarm = AlarmRule("bill", "", (charges,), 5)
    assert alarm.problems() == ["the bill is told in us-east-1, and the alarm is in the region of its table"]
    assert alarm.problems(REGION) == ["the bill is told in us-east-1, and the alarm is in eu-north-1"]
    assert alarm.problems(BILLING_REGION) == replace(alarm, region=BILLING_REGION).problems() == []


def test_alarms_on_the_bill_are_a_stack_of_their_own() -> None:
    blueprint = installed_systems()["lunch_cache"].blueprint()
    rules = billing_rules(blueprint, StackOptions(REGION, {"environment": "prod"}))
    # The bill is one, and each stage has its own: two stages of an account do not take each other's alarms.
    assert [each.name for each in rules] == [f"lunch-cache-prod-bill-{usd}-usd" for usd in (5, 10, 25)]
    assert [each.threshold for each in rules] == [5, 10, 25]
    assert alarm_resources(rules, table="lunch") == ()
    stack = billing_stack(rules, table="lunch")
    assert stack is not None
    assert stack.region == BILLING_REGION
    assert problems(stack) == []
    assert len(problems(replace(stack, region=REGION))) == 3
    with pytest.raises(StackError, match=r"the bill is told in us-east-1, and the alarm is in eu-north-1"):
        make_stack(blueprint, StackOptions(REGION, {"environment": "prod"}), further=stack.resources)
    assert billing_stack((), table="lunch") is None


def test_every_metric_of_dynamodb_is_one_of_its_namespace() -> None:
    assert {each.namespace for each in METRICS.values()} == {
        "AWS/DynamoDB", "AWS/Billing", "AWS/Lambda", "AWS/SQS", "AWS/Scheduler", "AWS/Backup", "singletable",
    }  # fmt: skip


# --- the dashboard ---------------------------------------------------------------------------------------


def series_of(body: dict[str, Any]) -> Iterator[list[Any]]:
    for widget in body["widgets"]:
        yield from widget["properties"].get("metrics", ())


@pytest.mark.parametrize("system", SYSTEMS, ids=system_id)
def test_dashboard_has_a_row_for_each_pattern_of_metrics_that_exist(system: System) -> None:
    blueprint = system.blueprint()
    body = json.loads(json.dumps(dashboard_of(blueprint, table=table_of(system)).body))
    texts = [each["properties"]["markdown"] for each in body["widgets"] if each["type"] == "text"]
    assert len(texts) == 1 + len(blueprint.patterns)
    for pattern, text in zip(blueprint.patterns, texts[1:], strict=True):
        assert text.startswith(f"### {pattern.number} {pattern.title}")
    for namespace, name, *rest in series_of(body):
        dimensions = [each for each in rest if isinstance(each, str)]
        metric = METRICS[name]
        assert metric.namespace == namespace
        assert frozenset(dimensions[::2]) in metric.dimensions, name


@pytest.mark.parametrize("system", SYSTEMS, ids=system_id)
def test_widgets_fill_the_grid_and_do_not_overlap(system: System) -> None:
    body = dashboard_of(system.blueprint(), table=table_of(system)).body
    assert len(body["widgets"]) <= WIDGETS_MAX
    taken: set[tuple[int, int]] = set()
    for widget in body["widgets"]:
        assert widget["x"] + widget["width"] <= COLUMNS
        cells = {
            (x, y)
            for x in range(widget["x"], widget["x"] + widget["width"])
            for y in range(widget["y"], widget["y"] + widget["height"])
        }
        assert not cells & taken
        taken |= cells


def test_picture_in_the_guide_is_that_of_the_dashboard() -> None:
    script = ROOT / "scripts" / "draw_dashboard.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_text_of_a_design_is_no_reference_of_a_template() -> None:
    pattern = PatternBlueprint("1", "What ${AWS::AccountId} has")
    body = dashboard_of(Blueprint("Shop", TableBlueprint("shop"), patterns=(pattern,)), table="shop").body
    assert "What ${!AWS::AccountId} has" in json.dumps(body)


def test_dashboard_of_too_many_patterns_is_refused_in_a_sentence() -> None:
    patterns = tuple(PatternBlueprint(str(number), "p") for number in range(300))
    with pytest.raises(StackError, match="the dashboard of 300 patterns has 607 widgets"):
        dashboard_of(Blueprint("Shop", TableBlueprint("shop"), patterns=patterns), table="shop")


# --- all of them -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS, ids=system_id)
def test_template_has_no_account_secret_or_path(system: System) -> None:
    text = template_text(to_cloudformation(stack_of(system)))
    assert template_text(to_cloudformation(stack_of(system))) == text
    assert not re.search(r"\b\d{12}\b", text)
    assert not re.search(r"/home/|/root|/tmp/|/Users/|site-packages", text)
    assert not re.search(r"AKIA|secret|password", text, re.IGNORECASE)


@pytest.mark.stacks
@pytest.mark.parametrize("form", [to_cloudformation, to_sam])
@pytest.mark.parametrize("system", SYSTEMS, ids=system_id)
def test_template_with_all_parts_lints(system: System, form: Callable[[Stack], dict[str, Any]]) -> None:
    found = lint(template_text(form(stack_of(system))), config=ManualArgs(regions=[REGION]))
    assert [f"{each.rule.id} {each.message}" for each in found] == []


def test_template_of_billing_lints() -> None:
    stack = made_of(installed_systems()["lunch_cache"]).billing
    assert stack is not None
    assert lint(template_text(to_cloudformation(stack)), config=ManualArgs(regions=[BILLING_REGION])) == []


@pytest.mark.parametrize("system", SYSTEMS, ids=system_id)
def test_policies_of_all_parts_lint(system: System) -> None:
    assert findings((stack_of(system),)) == []


def test_kefir_has_a_function_for_its_stream_and_one_for_its_schedule() -> None:
    resources = to_cloudformation(stack_of(installed_systems()["kefir"]))["Resources"]
    kinds = Counter(each["Type"] for each in resources.values())
    assert kinds["AWS::Lambda::Function"] == 2
    assert kinds["AWS::Lambda::EventSourceMapping"] == 1
    assert kinds["AWS::Scheduler::Schedule"] == 1
    assert kinds["AWS::CloudWatch::Dashboard"] == 1
    assert resources["Consumer"]["Properties"]["Code"]["S3Key"].endswith(f"{PACKAGE.digest}.zip")


def test_stage_s_own_billing_decides_the_thresholds_of_capacity() -> None:
    blueprint = installed_systems()["lunch_cache"].blueprint()
    options = StackOptions(REGION, {"environment": "dev"}, billing="PROVISIONED", capacity=(20, 10))
    rules = {
        each.rule.name: each.rule
        for each in parts_of(blueprint, options).resources
        if isinstance(each, Alarm)
    }
    assert rules["lunch-cache-dev-capacity-read"].threshold == 0.8 * 20 * 300


# --- names -----------------------------------------------------------------------------------------------


@given(st.sampled_from(sorted(LENGTH_MAX)), st.text(min_size=1, max_size=600))
def test_name_is_within_its_limit_and_the_same_every_time(kind: str, name: str) -> None:
    made = logical_id(name) if kind == "logical-id" else resource_name(kind, name)
    assert 0 < len(made) <= LENGTH_MAX[kind]
    assert re.fullmatch(r"[0-9A-Za-z]+" if kind == "logical-id" else r"[0-9A-Za-z_/.#-]+", made)
    assert made == (logical_id(name) if kind == "logical-id" else resource_name(kind, name))


@given(
    st.sampled_from(["function", "backup-plan"]),
    st.text(
        "ab.#",
        min_size=40,
        max_size=70,
    ),
    st.text("ab.#", min_size=40, max_size=70),
)
def test_two_names_stay_two(kind: str, one: str, other: str) -> None:
    assert (resource_name(kind, one) == resource_name(kind, other)) == (one == other)
    assert (logical_id(one) == logical_id(other)) == (one == other)


def test_name_that_fits_is_left_alone() -> None:
    assert resource_name("function", "shop-consumer") == "shop-consumer"
    assert logical_id("ConsumerLogs") == "ConsumerLogs"
    long = resource_name("function", f"{'shop' * 20}-consumer")
    assert long.startswith("shopshop")
    assert len(long) == 64
