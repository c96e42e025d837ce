"""ALM043: an alarm that names no metric, while none of that kind is watched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.lint.watching import is_name

_KINDS: Final = {  # a word of the alarm, and the metrics that it can mean
    "throttl": ("ReadThrottleEvents", "WriteThrottleEvents", "ThrottledRequests"),
    "latency": ("SuccessfulRequestLatency",),
    "conflict": ("TransactionConflict",),
    "replica": ("ReplicationLatency",),
    "iterator age": ("IteratorAge",),
}


def check(view: View) -> Iterator[Finding]:
    """Look for alarms in words, where the metrics that are listed have none for them."""
    listed = {metric.name for metric in view.blueprint.metrics}
    if not listed:
        return
    for at, alarm in enumerate(view.blueprint.alarms):
        if is_name(alarm.metric) or alarm.expression:
            continue
        words = f"{alarm.metric} {alarm.name}".lower()
        for word, metrics in _KINDS.items():
            if word in words and not any(word in name.lower() or name in metrics for name in listed):
                yield finding(
                    RULE,
                    ("alarms", at),
                    message=f"{alarm.name!r} is an alarm without a metric, and no metric of its kind is listed",
                    because=f"listed are {joined(sorted(listed))}: none of them counts it",
                    repair=f"list and watch {joined(list(metrics), 'or')}, from a stated number on",
                )


RULE = Rule("ALM043", Severity.DISAGREEMENT, "An alarm has no metric", check)
