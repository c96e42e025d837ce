"""STR704: consumers of a stream that is off."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for consumers where the table has no stream."""
    consumers = view.blueprint.consumers
    reading = [at for at, each in enumerate(consumers) if each.kind != "kinesis"]
    if reading and view.blueprint.table.stream is None:
        yield finding(
            RULE,
            ("table",),
            *(("consumers", at) for at in reading),
            message=f"the table has no stream, and {consumers[reading[0]].name} is to read it",
            because="without a stream no change is recorded, and no handler is ever called",
            repair='enable it with the images that handlers need: stream = "NEW_AND_OLD_IMAGES" of the table',
        )


RULE = Rule("STR704", Severity.ERROR, "A stream that is read is not enabled", check)
