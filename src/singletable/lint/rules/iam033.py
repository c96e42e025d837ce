"""IAM033: a query of an index under a role that allows it on the table alone."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.permissions import allows, needed
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for reads of indexes that a role allows on the table, and not on the index."""
    for at, role in enumerate(view.blueprint.roles):
        missing = [
            each
            for each in dict.fromkeys(needed(view, role))
            if each.part.startswith("index/")
            and allows(view, role, each.action)
            and not allows(view, role, each.action, each.part)
        ]
        if missing:
            names = list(dict.fromkeys(each.part.partition("/")[2] for each in missing))
            askers = joined(
                dict.fromkeys(f"{each.by} sends {each.action} to {each.part[6:]}" for each in missing)
            )
            yield finding(
                RULE,
                ("roles", at),
                *dict.fromkeys(each.path for each in missing),
                *(view.index_path(name) for name in names),
                message=f"{role.name} may read the table, and not its index {joined(names, 'or')}",
                because=f"an index is a resource of its own, table/{view.blueprint.table.name}/index/{names[0]}: "
                f"{askers}, and is denied",
                repair=f"add the resource table/{view.blueprint.table.name}/index/*",
            )


RULE = Rule("IAM033", Severity.ERROR, "A role does not reach an index that is read", check)
