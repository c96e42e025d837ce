"""The metrics that alarms of a stack watch: those of AWS, and the one that our own functions write."""

from __future__ import annotations

from typing import Final

from singletable.client import counted_errors
from singletable.cloudwatch import (
    BACKUP,
    BILLING,
    BILLING_REGION,
    DYNAMODB,
    LAMBDA,
    SCHEDULER,
    SQS,
    Metric,
)
from singletable.cloudwatch import METRICS as _OF_AWS

__all__ = [
    "BACKUP",
    "BILLING",
    "BILLING_REGION",
    "COUNTED",
    "DYNAMODB",
    "LAMBDA",
    "METRICS",
    "SCHEDULER",
    "SQS",
    "Metric",
]

COUNTED: Final = counted_errors.NAMESPACE
METRICS: Final = {
    **_OF_AWS,
    # Of our own functions, which count what the table refused them.
    counted_errors.METRIC: Metric(
        counted_errors.METRIC, frozenset(map(frozenset, counted_errors.DIMENSIONS)), COUNTED
    ),
}
