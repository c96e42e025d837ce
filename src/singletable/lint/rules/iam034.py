"""IAM034: a policy that allows more than the table of its design."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.permissions import ON_TABLE, PREFIX, Resource, matches
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.surroundings import StatementBlueprint

_EVERYTHING: Final = ("*", f"{PREFIX}*")
_ALL_TABLES: Final = re.compile(r"\*|arn:[^:]*:dynamodb:[^:]*:[^:]*:(?:\*|table/\*)")
_ENVIRONMENT: Final = re.compile(r"\{(\w*(?:env|stage|stack)\w*)\}", re.IGNORECASE)
_USUAL: Final = ("dev", "prod")
_OF_OPERATORS: Final = re.compile(
    r"admin|deploy|maint|owner|root|\bci\b|cdk|terraform|pipeline|cloudformation", re.I
)


def check(view: View) -> Iterator[Finding]:
    """Look for actions and resources that are all there are, and for one policy over all environments."""
    for at, role in enumerate(view.blueprint.roles):
        for statement in role.statements:
            if statement.effect != "Allow":
                continue
            wide = [action for action in statement.actions if action in _EVERYTHING]
            if wide and not _OF_OPERATORS.search(f"{role.name} {role.about}"):
                yield finding(
                    RULE,
                    ("roles", at),
                    message=f"{role.name} allows every action: {wide[0]}",
                    because="whoever gets hold of it may delete the table and its backups, and export all items",
                    repair="name the actions that its services send",
                )
            yield from _of_resources(view, at, statement)


def _of_resources(view: View, at: int, statement: StatementBlueprint) -> Iterator[Finding]:
    role = view.blueprint.roles[at]
    if statement.conditions or not any(
        matches(each, known) for each in statement.actions for known in ON_TABLE
    ):
        return
    if not all(
        action.startswith(PREFIX) or action == "*" or ":" not in action for action in statement.actions
    ):
        return  # other services have resources of their own
    if everything := [text for text in statement.resources if _ALL_TABLES.fullmatch(text)]:
        yield finding(
            RULE,
            ("roles", at),
            message=f"{role.name} is allowed {joined(statement.actions)} on {everything[0]}",
            because="that is every table of the account, those of other systems too",
            repair=f"name the table: table/{view.blueprint.table.name}, and its indexes",
        )
    elif reached := _environments(view, statement):
        text, names = reached
        yield finding(
            RULE,
            ("roles", at),
            message=f"{role.name} reaches the tables of all environments by {text}",
            because=f"what runs with it in one environment reads and writes {joined(names)} alike",
            repair=f"give each environment a role of its own, for table/{view.blueprint.table.name}",
        )


def _environments(view: View, statement: StatementBlueprint) -> tuple[str, list[str]] | None:
    """Find a resource with a * that means the tables of two environments at once."""
    table = view.blueprint.table
    found = _ENVIRONMENT.search(table.name)
    if found is None:
        return None
    stages = table.environments.get(found[1]) or _USUAL
    names = [table.name.replace(found[0], stage) for stage in stages]
    for text in statement.resources:
        resource = Resource.of(text)
        name = resource.name.removeprefix("table/").partition("/")[0]
        if "*" in name and len(reached := [each for each in names if resource.reaches(f"table/{each}")]) > 1:
            return text, reached
    return None


RULE = Rule("IAM034", Severity.WARNING, "A policy allows more than its table", check)
