"""STR708: a handler needs an image that its events do not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_LACKING: Final = {"INSERT": "old", "REMOVE": "new"}


def check(view: View) -> Iterator[Finding]:
    """Look for handlers of insertions that need old images, and of removals that need new ones."""
    for at, consumer in enumerate(view.blueprint.consumers):
        for handler in consumer.handlers:
            lacking = {_LACKING.get(event, "") for event in handler.events}
            for image in sorted({*handler.needs} & lacking):
                if len(lacking) == 1:
                    event = handler.events[0]
                    yield finding(
                        RULE,
                        ("consumers", at),
                        *(view.entity_path(name) for name in handler.entities if name in view.entities),
                        message=f"{handler.name} handles {event} alone and needs the {image} image, which such a "
                        "record lacks",
                        because=f"a record of {event} has no {image} image, whatever the view type of the stream: "
                        "there is nothing to handle",
                        repair=f"use the {'new' if image == 'old' else 'old'} image, or handle other events",
                    )


RULE = Rule("STR708", Severity.ERROR, "A handler needs an image that its events lack", check)
