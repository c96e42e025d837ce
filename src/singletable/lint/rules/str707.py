"""STR707: settings of a consumer beyond what Lambda takes."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_BATCH_MAX = 10_000
_PARALLEL_MAX = 10


def check(view: View) -> Iterator[Finding]:
    """Compare batch sizes and parallelization with the limits of event source mappings."""
    for at, consumer in enumerate(view.blueprint.consumers):
        if consumer.kind not in ("lambda", "pipes"):
            continue
        for what, value, most in (
            ("a batch size", consumer.batch_size, _BATCH_MAX),
            ("a parallelization", consumer.parallelization, _PARALLEL_MAX),
        ):
            if value is not None and not 1 <= value <= most:
                yield finding(
                    RULE,
                    ("consumers", at),
                    message=f"{consumer.name} has {what} of {value:,}, where 1 to {most:,} are possible",
                    because=f"the event source mapping is refused: {value:,} is not between 1 and {most:,}",
                    repair=f"choose at most {most:,}",
                )


RULE = Rule("STR707", Severity.ERROR, "A consumer of a stream is beyond the limits", check)
