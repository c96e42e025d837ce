"""REG011: a region that AWS does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from singletable.lint.finding import Finding, Severity
from singletable.lint.permissions import Resource
from singletable.lint.regions import REGIONS
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path


def check(view: View) -> Iterator[Finding]:
    """Look for regions of tables, alarms and policies that are not among those of AWS."""
    for code, path in _named(view):
        if code not in REGIONS and not any(sign in code for sign in "*?${<"):
            near = get_close_matches(code.lower(), REGIONS, 1)
            yield finding(
                RULE,
                path,
                message=f"AWS has no region {code}",
                because=f"a request to {code} finds no endpoint, and a policy or an alarm for it matches nothing",
                repair=f"write the code of the region, {near[0]} perhaps ({REGIONS[near[0]]})"
                if near
                else "write the code of the region, as eu-north-1",
            )


def _named(view: View) -> Iterator[tuple[str, Path]]:
    blueprint = view.blueprint
    for at, region in enumerate(blueprint.table.regions):
        yield region.code, ("table", "regions", at)
    for at, alarm in enumerate(blueprint.alarms):
        if alarm.region:
            yield alarm.region, ("alarms", at)
    for at, role in enumerate(blueprint.roles):
        found = (
            Resource.of(text).region
            for statement in role.statements
            for text in statement.resources
            if text.startswith("arn:aws")
        )
        for code in dict.fromkeys(code for code in found if code):
            yield code, ("roles", at)


RULE = Rule("REG011", Severity.ERROR, "AWS has no such region", check)
