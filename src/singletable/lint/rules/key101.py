"""KEY101: a number in a sort key without a fixed width sorts as text."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot, Template
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

_STEPS = ((9, 10), (5, 10), (99, 100))


def check(view: View) -> Iterator[Finding]:
    """Look for numbers in the text of sort keys, written as they come."""
    for place in view.places:
        for role, attribute, template in place.templates():
            if role == "sk" and view.blueprint.table.types.get(attribute, "S") == "S":
                for slot in template.slots:
                    if _is_bare_number(slot):
                        yield _found(view, place, template, slot)


def prove(found: Finding, bench: Bench) -> str | None:
    """Store the smaller and the larger number, and show in which order a query returns them."""
    table = bench.blueprint.table
    if table.sk != found.facts["attribute"] or table.sk is None:
        return None
    for key in found.facts["keys"]:
        bench.put({table.pk: "proof", table.sk: key})
    answer = bench.send(
        "query",
        KeyConditionExpression="#pk = :pk",
        ExpressionAttributeNames={"#pk": table.pk},
        ExpressionAttributeValues={":pk": {"S": "proof"}},
    )
    return "a query returns " + ", ".join(item[table.sk]["S"] for item in answer["Items"])


def _is_bare_number(slot: Slot) -> bool:
    if not slot.is_number or slot.is_padded or slot.is_encoded or slot.is_time:
        return False
    return len({len(str(value)) for value in slot.values or (9, 10)}) > 1


def _found(view: View, place: Place, template: Template, slot: Slot) -> Finding:
    small, large = next(pair for pair in _pairs(slot) if str(pair[1]) < str(pair[0]))
    keys = template.example(**{slot.name: small}), template.example(**{slot.name: large})
    return finding(
        RULE,
        view.attribute_path(place.entity.name, slot.name),
        place.path,
        message=f"{slot.name} stands in {template.text} without a fixed width",
        because=f"{keys[1]} sorts before {keys[0]}: text is compared byte by byte, not by value",
        repair=f"write it with leading zeros, {{{slot.name}:05}}, or wider if numbers can be larger",
        facts={"attribute": place.place.sk.attributes[0] if place.place.sk else "", "keys": keys},
    )


def _pairs(slot: Slot) -> Iterator[tuple[int | float, int | float]]:
    numbers = sorted({value for value in slot.samples if isinstance(value, int | float)})
    yield from ((small, large) for small in numbers for large in numbers if small < large)
    yield from _STEPS


RULE = Rule("KEY101", Severity.ERROR, "A number in a sort key has no fixed width", check, prove)
