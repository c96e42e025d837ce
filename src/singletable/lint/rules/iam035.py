"""IAM035: a role of an application that may destroy the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.permissions import PREFIX, action_name, needed
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_DESTROYING: Final = frozenset(("DeleteTable", "DeleteBackup", "DeleteTableReplica", "PutResourcePolicy"))


def check(view: View) -> Iterator[Finding]:
    """Look for roles of patterns and services that name actions which no pattern sends."""
    for at, role in enumerate(view.blueprint.roles):
        if not any(True for _ in needed(view, role)):
            continue  # whose it is, nobody says
        named = dict.fromkeys(
            action_name(action)
            for statement in role.statements
            if statement.effect == "Allow"
            for action in statement.actions
        )
        if found := [action for action in named if action in _DESTROYING]:
            yield finding(
                RULE,
                ("roles", at),
                message=f"{role.name} runs patterns of the application, and allows {joined(found)}",
                because="none of its patterns sends that; a mistake or a stolen key can destroy what they work on",
                repair=f"move {joined([f'{PREFIX}{each}' for each in found])} to a role for maintenance",
            )


RULE = Rule("IAM035", Severity.WARNING, "A role of the application may destroy its table", check)
