"""STR703: a view of the stream that lacks the images that handlers need."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_HAS = {
    "NEW_AND_OLD_IMAGES": {"old", "new"},
    "NEW_IMAGE": {"new"},
    "OLD_IMAGE": {"old"},
    "KEYS_ONLY": set[str](),
}


def check(view: View) -> Iterator[Finding]:
    """Compare what handlers need with what the stream's view type holds."""
    stream = view.blueprint.table.stream
    if stream not in _HAS:
        return
    for at, consumer in enumerate(view.blueprint.consumers):
        for handler in consumer.handlers:
            needs = {*handler.needs} & {"old", "new"}
            if handler.fields and not needs and handler.events in ((), ("MODIFY",)):
                needs = {"old", "new"}  # what has changed is seen by comparing both
            if lacks := sorted(needs - _HAS[stream]):
                image = " and ".join(lacks)
                yield finding(
                    RULE,
                    ("consumers", at),
                    ("table",),
                    message=f"{handler.name} needs the {image} image, and the stream is {stream}",
                    because=f"records of {stream} do not hold the {image} image, so that there is nothing to "
                    "compare",
                    repair="make the view type NEW_AND_OLD_IMAGES; that takes a new stream, as a view type is "
                    "not changed",
                )


RULE = Rule("STR703", Severity.ERROR, "The view type of a stream lacks what handlers need", check)
