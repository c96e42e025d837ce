"""How Lunch Cache is operated on AWS: who may do what, what wakes somebody up; as documented, and corrected."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from singletable.blueprint import Blueprint, RegionBlueprint
from singletable.stack import (
    Alarm,
    Deployment,
    Policy,
    Roles,
    Series,
    Statement,
    roles_of,
    standard_alarms,
    with_roles_and_alarms,
)
from singletable_systems.lunch_cache.model.design import LunchCache

REGION: Final = "eu-north-1"  # LC-01: Stockholm, which the document calls eu-west-1
BILLING_ALERTS_USD: Final = (5, 10, 25)  # 004:230

# --- as the document states them -------------------------------------------------------------------------

# 004:168-188. LC-01: the region is Ireland. LC-11: no batches, updates or DescribeTable. LC-12: everybody may scan
# and delete, in every environment and account.
DOCUMENTED_POLICY: Final = Policy(
    "lunch-cache",
    (
        Statement(
            "",
            (
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:DeleteItem",
                "dynamodb:Query",
                "dynamodb:Scan",
            ),
            (
                "arn:aws:dynamodb:eu-west-1:*:table/lunch-cache-*",
                "arn:aws:dynamodb:eu-west-1:*:table/lunch-cache-*/index/*",
            ),
        ),
    ),
)


def documented_alarms(deployment: Deployment) -> tuple[Alarm, ...]:
    """Return the alarms of 004:199-202, with the metrics of 004:192-197.

    LC-14: `UserErrors` is counted for an account, and no table has it. LC-15: there is no throttle metric among
    those listed, so the alarm has to take what comes nearest; and the latency has no operation.
    """
    table = {"TableName": deployment.table_name(LunchCache.table.name)}
    return (
        Alarm(
            "high-error-rate",
            "more than 5 % errors for 5 minutes",
            (Series("errors", "UserErrors", "Average", table),),
            0.05,
        ),
        Alarm(
            "high-latency",
            "more than 100 ms on average for 5 minutes",
            (Series("latency", "SuccessfulRequestLatency", "Average", table),),
            100,
        ),
        Alarm(
            "throttling",
            "throttling events",
            (Series("throttled", "ThrottlingEvents", "Sum", table),),
            0,
        ),
    )


# --- as they work ------------------------------------------------------------------------------------------


def roles(deployment: Deployment) -> Roles:
    """Return who may do what, made from the access patterns: LC-11, LC-12."""
    return roles_of(LunchCache.blueprint(), deployment)


def alarms(deployment: Deployment) -> tuple[Alarm, ...]:
    """Return the alarms of 004:199-202 on metrics that exist: LC-14, LC-15; and those of the bill."""
    table = deployment.table_name(LunchCache.table.name)
    return (
        *standard_alarms(LunchCache.blueprint(), deployment, error_percent=5, latency_ms=100, minutes=5),
        *(_billing_alert(table, usd) for usd in BILLING_ALERTS_USD),
    )


def surroundings(blueprint: Blueprint) -> Blueprint:
    """Return a blueprint with what stands around the table: the region, roles and alarms."""
    table = replace(blueprint.table, regions=(RegionBlueprint(REGION, "Stockholm"),))
    return with_roles_and_alarms(
        replace(blueprint, table=table), policies=lambda place: roles(place).all(), alarms=alarms
    )


def _billing_alert(table: str, usd: int) -> Alarm:
    charges = Series(
        "charges", "EstimatedCharges", "Maximum", {"Currency": "USD", "ServiceName": "AmazonDynamoDB"}
    )
    return Alarm(
        f"{table}-bill-{usd}-usd",
        f"DynamoDB has cost more than {usd} USD this month",
        (charges,),
        usd,
        period_s=6 * 60 * 60,  # the bill is estimated a few times a day
        region="us-east-1",  # and told there alone
    )
