"""TTL601: a TTL attribute whose numbers are not seconds."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.expiry import Expiry, expiries, prove_kept
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_SECONDS = ("", "s", "second", "seconds", "epoch-seconds")
_YEAR_S = 31_557_600
_LONGEST_S = 50 * _YEAR_S  # 30 days in milliseconds are 82 years of seconds
_YEAR_5000 = 95_617_584_000  # in seconds: larger numbers are milliseconds


def check(view: View) -> Iterator[Finding]:
    """Look at the unit that is said, the format of the attribute, and samples."""
    for each in expiries(view):
        if each.is_kept_by_library:
            continue
        if (why := _unit(each)) is not None:
            yield finding(
                RULE,
                *each.paths,
                message=f"{each.name} of {each.entity.name} is not in seconds: {why}",
                because="DynamoDB reads the number as seconds since 1970: milliseconds are a date some 50,000 "
                "years away, so that no item is ever deleted",
                repair=f"store whole seconds since 1970 in {each.name}",
                facts={"enabled": each.name or "ttl", "stored": each.name or "ttl", "form": "ms"},
            )


def _unit(each: Expiry) -> str | None:
    if each.rule.unit.lower() not in _SECONDS:
        return each.rule.unit
    if each.attribute is not None and each.attribute.format == "epoch-ms":
        return "its format is epoch-ms"
    large = [value for value in each.samples if isinstance(value, int | float) and value > _YEAR_5000]
    if large:
        return f"{large[0]:.0f} is a number of milliseconds"
    if each.rule.seconds is not None and each.rule.seconds > _LONGEST_S:
        return f"it is to live {each.rule.seconds:.0f} seconds, which are {each.rule.seconds / _YEAR_S:.0f} years"
    return None


RULE = Rule("TTL601", Severity.ERROR, "A TTL attribute is not in seconds", check, prove_kept)
