"""STR701: more readers of a stream than a shard takes."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_READERS_MAX = 2


def check(view: View) -> Iterator[Finding]:
    """Count the consumers that read the stream itself."""
    readers = [
        (("consumers", at), each)
        for at, each in enumerate(view.blueprint.consumers)
        if each.kind in ("lambda", "process", "pipes")
    ]
    if len(readers) > _READERS_MAX:
        names = ", ".join(each.name for _, each in readers)
        yield finding(
            RULE,
            *(path for path, _ in readers),
            ("table",),
            message=f"{len(readers)} consumers read one stream: {names}",
            because="no more than two processes should read a shard of a stream at once: with more, reads "
            "are throttled",
            repair="let one consumer hand the records to all handlers, or send them through Kinesis or "
            "EventBridge",
        )


RULE = Rule("STR701", Severity.ERROR, "More than two consumers read one stream", check)
