"""KEY102: a number below zero in a sort key sorts by its digits, behind a minus sign."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.numbers import misordered, misordered_negative
from singletable.lint.rule import Rule, finding
from singletable.lint.rules.key101 import is_text_key, prove
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for padded numbers in the text of sort keys that can be below zero and have no offset."""
    for place in view.places:
        for role, attribute, template in place.templates():
            if role == "pk" or not is_text_key(view, attribute, template):
                continue
            for slot in template.slots:
                pair = misordered_negative(slot) if slot.is_number and not slot.is_encoded else None
                if pair is not None and misordered(slot) is None:  # KEY101 otherwise
                    small, large = pair
                    keys = tuple(template.example(**{slot.name: value}) for value in (small, large))
                    yield finding(
                        RULE,
                        view.attribute_path(place.entity.name, slot.name),
                        place.path,
                        view.index_path(place.index),
                        message=f"{slot.name} can be negative, and stands in {template.text} with a minus sign",
                        because=f"{keys[1]} sorts before {keys[0]}, though {small} is less than {large}",
                        repair=f"add an offset, so that no number is negative, before {slot.name} is padded",
                        facts={"attribute": attribute, "keys": keys},
                    )


RULE = Rule("KEY102", Severity.ERROR, "A sort key holds numbers below zero", check, prove)
