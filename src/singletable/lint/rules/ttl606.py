"""TTL606: a cache or lock that is read after it has expired."""

from __future__ import annotations

import re
from collections.abc import Iterator

from singletable.lint.conditions import spelled_out
from singletable.lint.expiry import Expiry, expiries
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View

_MATTERS = ("cache", "lock", "session")
_SHORT_S = 31 * 86_400  # longer is no validity, but how long something is kept
_SECRETS = {"session", "token", "otp", "lock", "lease", "nonce", "passcode", "verification", "challenge"}
_OFFERS = {"hold", "cache", "coupon", "voucher", "invitation", "invite", "quote", "offer", "deal", "presence"}
_EXPIRED = re.compile(r"\bexpire[sd]?\b", re.IGNORECASE)  # a pattern that speaks of it knows of it
_WORDS = re.compile(r"\w+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def check(view: View) -> Iterator[Finding]:
    """Look for reads of items that must not be used once they expired, without a filter on the time."""
    for each in expiries(view):
        if each.is_kept_by_library or not each.name:
            continue
        yield from _held_locks(view, each)
        reads = [read for read in view.reads if each.entity.name in read.read.entities]
        unfiltered = [read for read in reads if not _is_checked(read, each)]
        if unfiltered and (
            each.rule.purpose in _MATTERS or (unfiltered == reads and _is_valid_for_a_time(each))
        ):
            what = each.rule.purpose if each.rule.purpose in _MATTERS else each.entity.name
            numbers = ", ".join(dict.fromkeys(read.pattern.number for read in unfiltered))
            yield finding(
                RULE,
                *each.paths,
                *dict.fromkeys(read.path[:2] for read in unfiltered),
                message=f"{each.entity.name} is read without a look at {each.name}, by {numbers}",
                because="an item that has expired is still read until TTL deletes it, up to a few days later: a "
                f"{what} that is over still counts",
                repair=f"filter on {each.name} greater than now, or compare it after the read",
            )


def _is_valid_for_a_time(each: Expiry) -> bool:
    """Tell whether it is a session, a token or the like, by its name; one that is archived is no such thing."""
    words = {word.lower() for word in _WORD.findall(each.entity.name)}
    if each.rule.purpose not in ("", "delete"):
        return False
    if each.rule.seconds is None:
        return bool(words & _SECRETS)
    return each.rule.seconds <= _SHORT_S and bool(words & (_SECRETS | _OFFERS))


def _held_locks(view: View, each: Expiry) -> Iterator[Finding]:
    """Yield the writes that take a lock if there is none, and never look whether it is over."""
    if each.rule.purpose != "lock":
        return
    for write in view.writes:
        condition = spelled_out(write.write.condition_expression, write.write.names)
        if write.entity is each.entity and "attribute_not_exists" in condition and each.name not in condition:
            yield finding(
                RULE,
                *each.paths,
                write.path[:2],
                message=f"{each.entity.name} is taken under {condition}, without a look at {each.name}",
                because="a lock that has expired exists until TTL deletes it, up to a few days later: nobody gets "
                "it meanwhile",
                repair=f"take it if there is none or if it is over: {condition} OR {each.name} < :now",
            )


def _is_checked(read: Read, each: Expiry) -> bool:
    names = {each.rule.field, each.rule.stored} - {""}
    about = f"{read.pattern.title} {read.pattern.about}"
    return bool(names & {*read.filtered, *_WORDS.findall(about)}) or _EXPIRED.search(about) is not None


RULE = Rule("TTL606", Severity.WARNING, "Expired items are still read", check)
