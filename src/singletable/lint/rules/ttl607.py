"""TTL607: TTL attributes that are not the one that the table has."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.expiry import expiries
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Compare the TTL attribute of every entity with that of the table, or of the first entity."""
    found = [each for each in expiries(view) if each.name]
    enabled = view.blueprint.table.ttl
    if not found:
        return
    wanted = enabled or found[0].name
    for each in found:
        if each.name != wanted:
            yield finding(
                RULE,
                *each.paths,
                ("table",),
                message=f"{each.entity.name} expires by {each.name}, and the table by {wanted}",
                because=f"a table has one TTL attribute: items with {each.name} alone are never deleted",
                repair=f"store the time of expiry of every entity in {wanted}",
            )
    if enabled is None:
        yield finding(
            RULE,
            ("table",),
            *(path for each in found for path in each.paths),
            message=f"no TTL is enabled on the table, and {found[0].entity.name} is to expire by {wanted}",
            because=f"without it, {wanted} is an attribute like any other, and nothing is deleted",
            repair=f'enable it: ttl = "{wanted}" of the table',
        )


RULE = Rule("TTL607", Severity.ERROR, "Items expire by an attribute that the table does not", check)
