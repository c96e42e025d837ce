"""TTL602: a TTL attribute that is no Number."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.expiry import Expiry, expiries, prove_kept
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look at the types of TTL attributes, as they are stored."""
    for each in expiries(view):
        stored = _stored(each)
        if stored != "N":
            yield finding(
                RULE,
                *each.paths,
                message=f"{each.name} of {each.entity.name} is stored as {stored}, and TTL reads Numbers alone",
                because=f"an item whose {each.name} is no Number stays for ever: TTL ignores it, and nothing "
                "reports it",
                repair=f"store {each.name} as a Number, in seconds since 1970; a date can stand beside it",
                facts={"enabled": each.name or "ttl", "stored": each.name or "ttl", "form": "text"},
            )


def _stored(each: Expiry) -> str:
    if each.attribute is not None and each.attribute.dynamodb is not None:
        return each.attribute.dynamodb
    if each.attribute is not None and each.attribute.type == "str":
        return "S"
    has_texts = not each.is_kept_by_library and any(isinstance(value, str) for value in each.samples)
    return "S" if has_texts else "N"


RULE = Rule("TTL602", Severity.ERROR, "A TTL attribute is no Number", check, prove_kept)
