"""IAM032: what runs under a role asks for actions that the role lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.permissions import Needed, allows, names_action, needed
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.surroundings import RoleBlueprint

_BATCHES: Final = (  # words of a remark, and the actions that they need
    (r"\bbatch(?:ed)? (?:operation|request|call)s?\b", ("BatchGetItem", "BatchWriteItem")),
    (r"\bbatch(?:ed)? (?:get|read)s?\b|\bBatchGetItem\b", ("BatchGetItem",)),
    (r"\bbatch(?:ed)? (?:write|put|delete)s?\b|\bBatchWriteItem\b", ("BatchWriteItem",)),
)
_NEGATED: Final = re.compile(r"\b(?:no|not|never|avoid|without|instead of|nor)\b|n't\b", re.IGNORECASE)


def check(view: View) -> Iterator[Finding]:
    """Look for actions that the patterns, services and consumers of a role need, and it does not allow."""
    for at, role in enumerate(view.blueprint.roles):
        asked = list(dict.fromkeys(needed(view, role)))
        missing = [each for each in asked if not _is_allowed(view, role, each)]
        told = [*missing, *dict.fromkeys(_promised(view, role, asked))]
        if told:
            actions = list(dict.fromkeys(each.action for each in told))
            askers = joined(dict.fromkeys(_needs(each) for each in told))
            yield finding(
                RULE,
                ("roles", at),
                *dict.fromkeys(each.path for each in told),
                message=f"{role.name} does not allow {joined(actions, 'or')} on the table",
                because=f"{askers}: without it the request is denied with AccessDeniedException",
                repair=f"allow {joined([f'dynamodb:{each}' for each in actions])} on the table"
                + (" and table/…/index/*" if any(each.part.startswith("index/") for each in told) else ""),
            )


def _needs(each: Needed) -> str:
    where = f" of its {each.part.replace('/', ' ')}" if each.part.startswith("index/") else ""
    return f"{each.by} needs {each.action}{where}"


def _is_allowed(view: View, role: RoleBlueprint, each: Needed) -> bool:
    """Tell whether the role allows it on the table, or on the part that is meant: IAM033 tells these apart."""
    return allows(view, role, each.action) or bool(each.part and allows(view, role, each.action, each.part))


def _promised(view: View, role: RoleBlueprint, asked: list[Needed]) -> Iterator[Needed]:
    """Yield the batches that a remark asks for, where one role has all patterns and lacks them."""
    blueprint = view.blueprint
    covered = {each.path for each in asked}
    if not blueprint.patterns or any(
        ("patterns", at) not in covered for at, pattern in enumerate(blueprint.patterns) if pattern.reads
    ):
        return
    for at, remark in enumerate(blueprint.remarks):
        if _NEGATED.search(remark.text):
            continue
        for words, actions in _BATCHES:
            if re.search(words, remark.text, re.IGNORECASE):
                for action in actions:
                    if not names_action(role, action):
                        yield Needed(action, "", f"the remark {remark.text!r}", ("remarks", at))


RULE = Rule("IAM032", Severity.ERROR, "A role lacks actions that its services need", check)
