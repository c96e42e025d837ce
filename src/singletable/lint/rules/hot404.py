"""HOT404: a list in an item that grows without end."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for attributes that are added to and never cut, without a number that they stop at."""
    for entity in view.blueprint.entities:
        for attribute in entity.attributes:
            if attribute.grows and attribute.max_items is None and attribute.maximum is None:
                yield finding(
                    RULE,
                    view.attribute_path(entity.name, attribute.name),
                    view.entity_path(entity.name),
                    message=f"{attribute.name} of {entity.name} grows without end",
                    because="each addition writes the whole item, a unit for every KB, and at 400 KB it is "
                    "refused",
                    repair="make each element an item of its own, under the same partition key; or cut the list",
                )


RULE = Rule("HOT404", Severity.WARNING, "A list in an item grows without end", check)
