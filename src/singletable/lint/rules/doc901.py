"""DOC901: two documents, or two places of one, state a part of the design differently."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Final

from singletable.blueprint.entities import KeyBlueprint
from singletable.blueprint.patterns import KeyCondition, ReadBlueprint
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.variants import Difference, differences
from singletable.lint.view import View

_WORDING: Final = frozenset(
    (
        "about",
        "because",
        "documented",
        "filter_expression",
        "formula",
        "is_paged",
        "key_expression",
        "method",
        "names",
        "number",
        "projection_expression",
        "requires",
        "said",
        "samples",
        "terms",
        "text",
        "title",
        "uses",
    )
)
_OF_A_PATTERN: Final = frozenset(("operation", "parameters"))  # its reads and writes say it
_NAMED: Final = re.compile(r"\{[^{}]*\}")
_SHOWN_MAX: Final = 100


def check(view: View) -> Iterator[Finding]:
    """Look for members that a document gives another value; how it words them does not count.

    Figures have rules of their own.
    """
    groups: dict[tuple[object, ...], list[Difference]] = {}
    for each in differences(view.blueprint):
        if each.path[:1] != ("figures",) and (members := _members(each)):
            groups.setdefault(_group(each, members), []).append(each)
    for found in groups.values():
        yield _found(found)


def _members(difference: Difference) -> tuple[str, ...]:
    is_pattern = difference.path[0] == "patterns"
    unsaid = _WORDING | _OF_A_PATTERN if is_pattern and len(difference.path) == 2 else _WORDING
    return tuple(
        name
        for name in difference.members
        if name not in unsaid
        and _differ(getattr(difference.part, name), getattr(difference.other, name), in_pattern=is_pattern)
    )


def _group(difference: Difference, members: tuple[str, ...]) -> tuple[object, ...]:
    """One finding for each part and statement; one for what a document leaves out everywhere."""
    if not any(getattr(difference.other, name) for name in members):
        return (difference.path[0], difference.document, members)
    if difference.path[0] == "patterns":
        return (difference.path[:2], difference.document)
    return (difference.path, difference.document, *(_told(difference.other, name) for name in members))


def _differ(here: Any, there: Any, *, in_pattern: bool) -> bool:
    if is_dataclass(here) and type(here) is type(there):
        return any(
            _differ(one, other, in_pattern=in_pattern)
            for member in fields(here)
            if member.name not in _WORDING
            and not _is_silent(member, one := getattr(here, member.name))
            and not _is_silent(member, other := getattr(there, member.name))
        )
    if isinstance(here, tuple) and isinstance(there, tuple) and len(here) == len(there):
        return any(_differ(one, other, in_pattern=in_pattern) for one, other in zip(here, there, strict=True))
    if isinstance(here, str) and isinstance(there, str) and in_pattern:  # parameters may have other names
        return _NAMED.sub("{}", here) != _NAMED.sub("{}", there)
    return bool(here != there)


def _is_silent(member: Field[Any], value: Any) -> bool:
    return member.default is not MISSING and bool(value == member.default)


def _found(found: list[Difference]) -> Finding:
    first = found[0]
    usual = next((each.at for each in first.part.said if not each.differs), "the design")
    told = found if first.path[0] == "patterns" else found[:1]
    there = dict.fromkeys(_told(each.other, name) for each in told for name in _members(each))
    here = dict.fromkeys(_told(each.part, name) for each in told for name in _members(each))
    said = dict.fromkeys(each.said.at for each in told)
    who = f"{', '.join(said)} and {usual} differ" if [*said] != [usual] else f"{usual} says two things"
    more = f" (and {len(found) - len(told)} more such)" if len(found) > len(told) else ""
    return finding(
        RULE,
        *(each.path for each in found),
        message=f"{who}: {', '.join(there)}, and {', '.join(here)}{more}",
        because="what is built by one of them does not serve who goes by the other",
        repair="decide which of them holds, and correct the other",
    )


def _told(part: Any, name: str) -> str:
    return f"{name} {_shown(getattr(part, name)) or 'not given'}"


def _shown(value: Any) -> str:
    match value:
        case KeyBlueprint(template=str(template)):
            return template
        case tuple():
            return "; ".join(_shown(each) for each in value)[:_SHOWN_MAX]
        case None:
            return ""
        case KeyCondition(attribute=attribute, operator=operator, templates=templates):
            return f"{attribute} {operator} {' and '.join(templates)}"
        case ReadBlueprint(operation=operation, index=index, conditions=conditions):
            return " ".join(filter(None, [operation, index, _shown(conditions)]))
    return str(getattr(value, "name", value))[:_SHOWN_MAX]


RULE = Rule(
    "DOC901", Severity.DISAGREEMENT, "Two documents state a part differently", check, looks_at_documents=True
)
