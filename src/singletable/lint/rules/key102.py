"""KEY102: a number below zero in a sort key sorts by its digits, behind a minus sign."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot
from singletable.lint.rule import Rule, finding
from singletable.lint.rules.key101 import prove
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for padded numbers in the text of sort keys that can be below zero and have no offset."""
    for place in view.places:
        for role, attribute, template in place.templates():
            if role == "pk" or view.blueprint.table.types.get(attribute, "S") != "S":
                continue
            for slot in template.slots:
                if slot.is_number and slot.is_padded and not slot.is_encoded and _goes_below_zero(slot):
                    small, large = _pair(slot)
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


def _goes_below_zero(slot: Slot) -> bool:
    least = getattr(slot.source, "minimum", None)
    numbers = [value for value in slot.samples if isinstance(value, int | float)]
    return (least is not None and least < 0) or any(value < 0 for value in numbers)


def _pair(slot: Slot) -> tuple[float, float]:
    numbers = sorted({value for value in slot.samples if isinstance(value, int | float) and value < 0})
    return (numbers[0], numbers[-1]) if len(numbers) > 1 else (-40, -5)


RULE = Rule("KEY102", Severity.ERROR, "A sort key holds numbers below zero", check, prove)
