"""KEY113: a key attribute is declared with a type that what is written into it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Template
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

_NAMES: Final = {
    "S": "a text",
    "N": "a number",
    "B": "binary",
    "BOOL": "a boolean",
    "L": "a list",
    "M": "a map",
}
_NAMES_ALL: Final = {**_NAMES, "NULL": "nothing", "SS": "a set", "NS": "a set", "BS": "a set"}
_BY_TYPE: Final = {
    "bool": "BOOL",
    "boolean": "BOOL",
    "list": "L",
    "dict": "M",
    "set": "SS",
    "frozenset": "SS",
}


def check(view: View) -> Iterator[Finding]:
    """Look for text in keys that are numbers, for numbers in keys that are text, for types that no key has."""
    for place in view.places:
        for _, attribute, template in place.templates():
            declared = view.blueprint.table.types.get(attribute)
            written = _written(view, place, attribute, template)
            if written is None or written == declared:
                continue
            if declared is not None or written not in ("S", "N", "B"):
                yield _found(view, place, attribute, template, written, declared)


def prove(found: Finding, bench: Bench) -> str | None:
    """Put such an item."""
    refusal = bench.put(found.facts["item"]) if found.facts.get("item") else None
    return f"the put is refused: {refusal}" if refusal is not None else None


def _written(view: View, place: Place, attribute: str, template: Template) -> str | None:
    """Return the type of what is written; None if that is not known for sure."""
    field = view.fields(place.entity.name).get(attribute)
    is_whole = len(template.pieces) == 1 and not template.is_constant
    if not is_whole:
        return "S" if template.pieces else None
    slot = template.slots[0]
    if slot.spec or slot.part is not None or slot.name != attribute:
        return "S" if slot.spec else None
    if field is None or field.stored != attribute:
        return None
    return field.dynamodb or _BY_TYPE.get(field.type.partition("[")[0].lower())


def _found(
    view: View, place: Place, attribute: str, template: Template, written: str, declared: str | None
) -> Finding:
    entity = place.entity.name
    what = _NAMES_ALL.get(written, written)
    where = "the table" if place.index is None else str(place.index)
    says = f"is declared as {declared}, {_NAMES_ALL.get(declared, declared)}" if declared else "is a key"
    return finding(
        RULE,
        place.path,
        view.attribute_path(entity, attribute) if written != "S" or template.slots else place.path,
        view.index_path(place.index),
        ("table",),
        message=f"{attribute} of {where} {says}, and {entity} writes {what} into it",
        because=f"a key holds S, N or B, and the type that the table declares: a put with {attribute} = "
        f"{template.example()} is refused",
        repair=f"declare {attribute} as S"
        if written == "S"
        else f"write {attribute} as text into a key attribute of its own"
        if written not in ("N", "B")
        else f"declare {attribute} as {written}, or write it as text",
        facts={"item": _item(view, place, attribute, written)},
    )


def _item(view: View, place: Place, attribute: str, written: str) -> dict[str, Any]:
    item = view.example_keys(place)
    wrong = {"N": 1, "B": b"x", "BOOL": True, "L": [], "M": {}, "SS": [], "NULL": None}
    template = next(each for _, name, each in place.templates() if name == attribute)
    return (
        item | {attribute: template.example() if written == "S" else wrong.get(written, [])} if item else {}
    )


RULE = Rule("KEY113", Severity.ERROR, "A key has another type than what is written into it", check, prove)
