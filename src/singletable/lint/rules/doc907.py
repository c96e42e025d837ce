"""DOC907: items are to expire by an attribute that they do not have."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.expiry import expiries
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for TTL attributes that are neither among the attributes of an entity nor in its samples."""
    for each in expiries(view):
        entity, name = each.entity, each.name
        if each.attribute is not None or not (entity.attributes and entity.samples) or each.rule.samples:
            continue
        if name and any(name in sample for sample in entity.samples):
            continue
        yield finding(
            RULE,
            view.entity_path(entity.name),
            message=f"{entity.name} is to expire by {name}, and has no such attribute"
            if name
            else f"{entity.name} is to expire, and nobody says by which attribute",
            because=f"an item without the attribute never expires; those of the sample have "
            f"{', '.join(list(entity.samples[0])[:5])}",
            repair=f"add {name or 'the TTL attribute of the table'} to {entity.name}, a Number of "
            "seconds, and to its "
            "samples",
        )


RULE = Rule("DOC907", Severity.DISAGREEMENT, "An entity lacks the attribute that it expires by", check)
