"""TTL603: an archive by TTL that nobody fills."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.expiry import Expiry, expiries, prove_deleted
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_HAVE_OLD = ("NEW_AND_OLD_IMAGES", "OLD_IMAGE", "unsaid")


def check(view: View) -> Iterator[Finding]:
    """Look for items that are to be archived, without a handler of their deletions."""
    for each in expiries(view):
        if each.rule.purpose == "archive" and not _is_archived(view, each):
            yield finding(
                RULE,
                *each.paths,
                message=f"{each.entity.name} is to be archived by TTL, and nothing takes what expires",
                because="TTL deletes: without a reader of the stream that keeps the old image, the item is lost",
                repair="read the stream with old images, and write what the service deletes to an archive; or "
                "leave the expiry out",
                facts={"enabled": each.name or "ttl", "stored": each.name or "ttl"},
            )


def _is_archived(view: View, each: Expiry) -> bool:
    """Tell whether a handler gets the deletions, with the images of what is deleted."""
    return view.blueprint.table.stream in _HAVE_OLD and any(
        (not handler.entities or each.entity.name in handler.entities)
        and (not handler.events or "REMOVE" in handler.events)
        for consumer in view.blueprint.consumers
        for handler in consumer.handlers
    )


RULE = Rule("TTL603", Severity.ERROR, "An archive by TTL has nobody who fills it", check, prove_deleted)
