"""STR706: a consumer without a place for records that fail."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for consumers that are said to have no dead letters."""
    for at, consumer in enumerate(view.blueprint.consumers):
        if consumer.has_dead_letters is False and consumer.kind in ("lambda", "pipes"):
            yield finding(
                RULE,
                ("consumers", at),
                message=f"{consumer.name} has no place for records that it cannot handle",
                because="one record that always fails holds up its shard until it is 24 hours old, and is "
                "then lost",
                repair="limit the retries, split batches on errors, and send what fails to a dead-letter queue",
            )


RULE = Rule("STR706", Severity.WARNING, "A consumer of a stream has no dead letters", check)
