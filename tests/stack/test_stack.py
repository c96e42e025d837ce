"""Operations as data: policies that allow what the patterns ask for and no more, alarms on metrics that exist."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from designs.inverted_people import OldPeople, People
from singletable import Design
from singletable.blueprint import Blueprint, TableBlueprint
from singletable.stack import (
    METRICS,
    Alarm,
    Deployment,
    Policy,
    Series,
    Statement,
    alarm_blueprint,
    anywhere,
    role_blueprint,
    roles_of,
    standard_alarms,
    with_roles_and_alarms,
)
from singletable_systems.kefir.operating import roles_and_alarms as kefir
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.operating import roles_and_alarms as lunch
from singletable_systems.perfectit import PerfectIt
from singletable_systems.smart_cooking import SmartCooking

KEFIR = Deployment("eu-north-1", "123456789012", {"stage": "prod"})
LUNCH = Deployment(lunch.REGION, "123456789012", {"environment": "prod"})
KEFIR_TABLE = "arn:aws:dynamodb:eu-north-1:123456789012:table/kefir-app-prod-table"
LUNCH_TABLE = "arn:aws:dynamodb:eu-north-1:123456789012:table/lunch-cache-prod"

SYSTEMS = [
    pytest.param(Kefir, KEFIR, KEFIR_TABLE, id="kefir"),
    pytest.param(LunchCache, LUNCH, LUNCH_TABLE, id="lunch-cache"),
    pytest.param(PerfectIt, LUNCH, LUNCH_TABLE.replace("lunch-cache", "perfectit"), id="perfectit"),
    pytest.param(
        SmartCooking, LUNCH, LUNCH_TABLE.replace("lunch-cache", "smart-cooking-data"), id="smart-cooking"
    ),
]


# --- policies ------------------------------------------------------------------------------------------


def test_documented_policy_is_that_of_the_document() -> None:
    assert json.loads(lunch.DOCUMENTED_POLICY.to_json()) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": [
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:DeleteItem",
                    "dynamodb:Query",
                    "dynamodb:Scan",
                ],
                "Resource": [
                    "arn:aws:dynamodb:eu-west-1:*:table/lunch-cache-*",
                    "arn:aws:dynamodb:eu-west-1:*:table/lunch-cache-*/index/*",
                ],
            }
        ],
    }


def test_documented_policy_is_wrong_where_the_defects_say() -> None:
    policy = lunch.DOCUMENTED_POLICY
    ireland = LUNCH_TABLE.replace("eu-north-1", "eu-west-1")
    assert not policy.allows("dynamodb:GetItem", LUNCH_TABLE)  # LC-01
    for missing in ("BatchGetItem", "BatchWriteItem", "UpdateItem", "DescribeTable"):  # LC-11
        assert not policy.allows(f"dynamodb:{missing}", ireland)
    for account in ("123456789012", "999999999999"):  # LC-12
        other = ireland.replace("123456789012", account).replace("-prod", "-staging")
        assert policy.allows("dynamodb:Scan", other)


@pytest.mark.parametrize(("design", "deployment", "table"), SYSTEMS)
def test_roles_allow_what_the_patterns_ask_for(
    design: type[Design], deployment: Deployment, table: str
) -> None:
    roles = roles_of(design.blueprint(), deployment)
    for pattern in design.blueprint().patterns:
        for read in pattern.reads:
            resource = table if read.index is None else f"{table}/index/{read.index}"
            for policy in roles.all():
                assert policy.allows(f"dynamodb:{read.operation}", resource), (policy.name, pattern.method)
        for write in pattern.writes:
            assert roles.writer.allows(f"dynamodb:{write.operation}", table)
            assert not roles.reader.allows(f"dynamodb:{write.operation}", table)


@pytest.mark.parametrize(("design", "deployment", "table"), SYSTEMS)
def test_app_cannot_scan_nor_reach_another_table(
    design: type[Design], deployment: Deployment, table: str
) -> None:
    roles = roles_of(design.blueprint(), deployment)
    for policy in (roles.reader, roles.writer):
        assert not policy.allows("dynamodb:Scan", table)
        assert not policy.allows("dynamodb:DeleteTable", table)
        assert not policy.allows("dynamodb:Query", f"{table}/index/Other")
        for other in (
            table.replace("prod", "dev"),
            table.replace("123456789012", "999999999999"),
            table.replace("eu-north-1", "eu-west-1"),
            f"{table}2",
        ):
            assert not policy.allows("dynamodb:GetItem", other)
    assert roles.maintenance.allows("dynamodb:Scan", table)
    assert not roles.maintenance.allows("dynamodb:DeleteTable", table)


def test_app_may_look_for_locks_under_old_keys() -> None:
    roles = roles_of(People.blueprint(), KEFIR)
    table = "arn:aws:dynamodb:eu-north-1:123456789012:table/people"
    for policy in (roles.reader, roles.writer):
        assert policy.allows("dynamodb:Query", f"{table}/index/Inverse")
        assert policy.allows("dynamodb:GetItem", table)
    assert not roles_of(OldPeople.blueprint(), KEFIR).writer.allows(
        "dynamodb:Query", f"{table}/index/Inverse"
    )


def test_consumer_follows_the_stream_of_its_table() -> None:
    consumer = kefir.roles(KEFIR).consumer
    assert consumer is not None
    stream = f"{KEFIR_TABLE}/stream/2026-11-16T00:00:00.000"
    assert consumer.allows("dynamodb:GetRecords", stream)
    assert not kefir.roles(KEFIR).writer.allows("dynamodb:GetRecords", stream)
    assert lunch.roles(LUNCH).consumer is None  # its table has no stream


def test_every_action_is_one_that_dynamodb_has() -> None:
    session = botocore.session.get_session()
    known = {
        *session.get_service_model("dynamodb").operation_names,
        *session.get_service_model("dynamodbstreams").operation_names,
        "ConditionCheckItem",  # an action only: a check within a transaction
    }
    for policy in (*kefir.roles(KEFIR).all(), *lunch.roles(LUNCH).all()):
        for statement in policy.statements:
            for action in statement.actions:
                service, _, operation = action.partition(":")
                assert service == "dynamodb"
                assert operation in known, action


@pytest.mark.parametrize(
    ("allowed", "asked", "is_allowed"),
    [
        ("dynamodb:*", "dynamodb:GetItem", True),
        ("dynamodb:Get*", "dynamodb:GetItem", True),
        ("dynamodb:getitem", "dynamodb:GetItem", True),
        ("dynamodb:GetItem", "dynamodb:GetItems", False),
        ("dynamodb:GetIte?", "dynamodb:GetItem", True),
    ],
)
def test_actions_match_as_iam_matches_them(allowed: str, asked: str, is_allowed: bool) -> None:
    policy = Policy("p", (Statement("", (allowed,), ("arn:aws:dynamodb:*:*:table/a[1]",)),))
    assert policy.allows(asked, "arn:aws:dynamodb:x:1:table/a[1]") == is_allowed
    assert not policy.allows(asked, "arn:aws:dynamodb:x:1:table/a1")


# --- alarms --------------------------------------------------------------------------------------------


def cloudwatch_problems(request: dict[str, Any]) -> str:
    """Say what CloudWatch's own service model has against a request."""
    shape = botocore.session.get_session().get_service_model("cloudwatch").operation_model("PutMetricAlarm")
    report = ParamValidator().validate(request, shape.input_shape)
    return str(report.generate_report())


@pytest.mark.parametrize(("design", "deployment", "table"), SYSTEMS)
def test_alarms_are_on_metrics_that_exist(design: type[Design], deployment: Deployment, table: str) -> None:
    alarms = standard_alarms(design.blueprint(), deployment)
    assert len({alarm.name for alarm in alarms}) == len(alarms)
    for alarm in alarms:
        assert alarm.problems() == []
        assert cloudwatch_problems(alarm.request()) == ""
        assert len(alarm.series) <= 10  # what an expression of an alarm takes


def test_local_index_has_no_alarms_since_cloudwatch_counts_global_ones_alone() -> None:
    blueprint = LunchCache.blueprint()
    index = replace(blueprint.indexes[0], name="LSI1", is_local=True)
    blueprint = replace(blueprint, indexes=(*blueprint.indexes, index))
    watched = {
        name
        for alarm in standard_alarms(blueprint, LUNCH)
        for series in alarm.series
        if (name := series.dimensions.get("GlobalSecondaryIndexName"))
    }
    assert watched == {"RestaurantIndex"}


def test_documented_alarms_would_never_ring() -> None:
    errors, latency, throttling = lunch.documented_alarms(LUNCH)
    assert errors.problems() == ["UserErrors is counted by account and region, not by TableName"]  # LC-14
    (problem,) = latency.problems()
    assert problem.startswith("SuccessfulRequestLatency is counted by TableName and Operation or ")
    assert problem.endswith(", not by TableName")
    assert throttling.problems() == ["there is no metric ThrottlingEvents"]  # LC-15


def test_corrected_alarms_are_those_of_the_document() -> None:
    alarms = {alarm.name: alarm for alarm in lunch.alarms(LUNCH)}
    errors = alarms["lunch-cache-prod-errors-GetItem"]
    assert (errors.threshold, errors.periods * errors.period_s) == (5, 300)
    latency = alarms["lunch-cache-prod-latency-Query"]
    assert (latency.threshold, latency.periods * latency.period_s) == (100, 300)
    assert latency.request()["ExtendedStatistic"] == "p99"
    assert "lunch-cache-prod-RestaurantIndex-throttled-reads" in alarms
    bills = [alarm for alarm in alarms.values() if "-bill-" in alarm.name]
    assert [alarm.threshold for alarm in bills] == [5, 10, 25]
    assert {alarm.request()["Namespace"] for alarm in bills} == {"AWS/Billing"}
    assert all(not alarm.problems() and not cloudwatch_problems(alarm.request()) for alarm in bills)


def test_error_rate_is_errors_over_all_requests() -> None:
    (alarm,) = [each for each in kefir.alarms(KEFIR) if each.name == "kefir-app-prod-table-errors-Query"]
    failed, answered, result = alarm.request()["Metrics"]
    assert failed["MetricStat"]["Metric"]["MetricName"] == "SystemErrors"
    assert answered["MetricStat"]["Stat"] == "SampleCount"
    assert result["ReturnData"] is True
    assert "failed" in result["Expression"]
    assert "answered" in result["Expression"]


def test_metrics_are_told_by_their_names() -> None:
    assert all(name == metric.name and metric.dimensions for name, metric in METRICS.items())
    assert Alarm("a", "", (Series("x", "Nothing", "Sum"),), 1).problems() == ["there is no metric Nothing"]


# --- as blueprints ----------------------------------------------------------------------------------------


def test_policies_and_alarms_are_described_with_placeholders_of_their_place() -> None:
    blueprint = Blueprint("Shop", TableBlueprint("shop-{stage}-{region}"))
    policy = Policy("shop-reader", (Statement("Read", ("dynamodb:GetItem",), ("*",)),))
    seen: list[Deployment] = []

    def policies(deployment: Deployment) -> tuple[Policy, ...]:
        seen.append(deployment)
        return (policy,)

    described = with_roles_and_alarms(blueprint, policies=policies, alarms=lambda _: ())
    assert seen == [anywhere(blueprint)]
    assert seen[0].table_arn(seen[0].table_name(blueprint.table.name)) == (
        "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/shop-{stage}-{region}"
    )
    assert described.roles == (role_blueprint(policy),)
    (statement,) = described.roles[0].statements
    assert (statement.effect, statement.sid, statement.actions) == ("Allow", "Read", ("dynamodb:GetItem",))


def test_alarm_is_described_by_its_metric_or_by_the_expression_over_several() -> None:
    one = Alarm(
        "bill",
        "it costs",
        (Series("charges", "EstimatedCharges", "Maximum", {"Currency": "USD"}),),
        5,
        comparison="GreaterThanOrEqualToThreshold",
    )
    told = alarm_blueprint(one)
    assert (told.metric, told.namespace, told.statistic) == ("EstimatedCharges", "AWS/Billing", "Maximum")
    assert (told.comparison, told.threshold, told.expression, told.about) == (">=", 5, "", "it costs")
    series = (Series("failed", "SystemErrors", "Sum"), Series("answered", "ReturnedItemCount", "SampleCount"))
    several = Alarm("errors", "many fail", series, 5, expression="100 * FILL(failed, 0) / answered")
    assert (
        alarm_blueprint(several).expression
        == "100 * FILL(SystemErrors.Sum, 0) / ReturnedItemCount.SampleCount"
    )
