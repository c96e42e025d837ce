"""TTL604: TTL that is used as a timer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.expiry import Expiry, expiries
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path


_TELLS: Final = ("sns", "ses", "sms", "email", "mail", "push", "pinpoint", "fcm", "apns", "notification")


def check(view: View) -> Iterator[Finding]:
    """Look for an expiry that something waits for."""
    for each in expiries(view):
        waiting = list(_waiting(view, each))
        if each.rule.purpose == "timer" or (waiting and not each.rule.purpose):
            who = f" of {waiting[0][1]}" if waiting else ""
            yield finding(
                RULE,
                *each.paths,
                *(path for path, _ in waiting),
                message=f"the expiry of {each.entity.name} is used as a timer{who}",
                because=f"TTL deletes within a few days after {each.name}, not at that time: what waits for the "
                "deletion comes late",
                repair="use a scheduler, or a sparse index of what is due that a sweeper asks; TTL cleans up",
            )


def _waiting(view: View, each: Expiry) -> Iterator[tuple[Path, str]]:
    """Yield the handlers of deletions alone that tell somebody."""
    for at, consumer in enumerate(view.blueprint.consumers):
        for handler in consumer.handlers:
            tells = any(word in sent.lower() for sent in handler.sends for word in _TELLS)
            if handler.entities == (each.entity.name,) and handler.events == ("REMOVE",) and tells:
                yield ("consumers", at), handler.name


RULE = Rule("TTL604", Severity.WARNING, "TTL is used as a timer", check)
