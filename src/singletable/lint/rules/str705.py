"""STR705: handlers that are not idempotent."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for handlers that are said not to bear a record twice."""
    for at, consumer in enumerate(view.blueprint.consumers):
        for handler in consumer.handlers:
            if handler.is_idempotent is False and (handler.writes or handler.sends):
                done = ", ".join((*handler.writes, *handler.sends))
                yield finding(
                    RULE,
                    ("consumers", at),
                    *(view.entity_path(name) for name in handler.writes if name in view.entities),
                    message=f"{handler.name} is not idempotent, and acts on {done}",
                    because="a batch that fails is delivered again from its first record: what was done is done "
                    "twice",
                    repair="keep the record's sequence number or event id with the write, and make it conditional",
                )


RULE = Rule("STR705", Severity.WARNING, "A handler of a stream is not idempotent", check)
