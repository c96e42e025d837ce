"""KEY101: a number in a sort key without a fixed width sorts as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.blueprint.entities import AttributeBlueprint
from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import words
from singletable.lint.keys import Slot, Template, read_template
from singletable.lint.numbers import Number, digits_max, misordered
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path

_IDENTIFIERS: Final = ("id", "uuid", "ref", "code", "key")
_RANGES: Final = ("<", "<=", ">", ">=", "between")
_NO_NUMBERS: Final = ("epoch", "calendar", "date", "iso-8601")


def check(view: View) -> Iterator[Finding]:
    """Look for numbers in the text of sort keys, written as they come, or wider than their width."""
    for place in view.places:
        for role, attribute, template in place.templates():
            if role == "sk" and is_text_key(view, attribute, template):
                for slot in template.slots:
                    if _is_text(slot) and (pair := misordered(slot)) and _has_order(view, place, slot):
                        paths = (view.attribute_path(place.entity.name, slot.name), place.path)
                        yield _found(paths, attribute, template, slot, pair)
    for path, attribute, template in _held(view):
        for slot in template.slots:
            if _is_text(slot) and (pair := misordered(slot)):
                yield _found((path,), attribute, template, slot, pair)


def prove(found: Finding, bench: Bench) -> str | None:
    """Store the smaller and the larger number, and show in which order a query returns them."""
    table, attribute = bench.blueprint.table, found.facts["attribute"]
    index = next(
        (each for each in bench.blueprint.indexes if (attribute,) == each.sk and len(each.pk) == 1), None
    )
    pk = table.pk if table.sk == attribute else index.pk[0] if index is not None else None
    if pk is None or {table.types.get(name, "S") for name in (pk, attribute)} != {"S"}:
        return None
    for number, key in enumerate(found.facts["keys"]):
        bench.send("put_item", Item={**bench.key(number), pk: {"S": "proof"}, attribute: {"S": key}})
    answer = bench.send(
        "query",
        KeyConditionExpression="#pk = :pk",
        ExpressionAttributeNames={"#pk": pk},
        ExpressionAttributeValues={":pk": {"S": "proof"}},
        **({"IndexName": index.name} if index is not None and table.sk != attribute else {}),
    )
    return "a query returns " + ", ".join(item[attribute]["S"] for item in answer["Items"])


def is_text_key(view: View, attribute: str, template: Template) -> bool:
    """Tell whether a key attribute holds text: as declared, else if it is not a number by itself."""
    declared = view.blueprint.table.types.get(attribute)
    if declared is not None and declared != "S":
        return False
    slot = template.slots[0] if len(template.pieces) == len(template.slots) == 1 else None
    is_bare = slot is not None and not slot.spec and getattr(slot.source, "stored", "") == attribute
    return slot is None or not is_bare or not slot.is_number


def _is_text(slot: Slot) -> bool:
    """Tell whether a slot holds a number that becomes text as it is."""
    return slot.is_number and not slot.is_encoded and not slot.format.startswith(_NO_NUMBERS)


def _has_order(view: View, place: Place, slot: Slot) -> bool:
    """Tell whether anybody cares for the order of the numbers: that of identifiers has no meaning by itself."""
    if words(slot.name)[-1:] not in [(ending,) for ending in _IDENTIFIERS]:
        return True
    return any(
        (read.read.means is not None and read.read.means.by == slot.name)
        or any(asked.operator.strip().lower() in _RANGES for asked in read.of("sk"))
        for read in view.reads
        if read.read.index == place.index and place.entity.name in read.read.entities
    )


def _held(view: View) -> Iterator[tuple[Path, str, Template]]:
    """Yield the sort keys that a document gives an index, where no entity has them."""
    for index in view.blueprint.indexes:
        for place in index.holds if not view.places_in(index.name) else ():
            if place.sk is not None and place.sk.template is not None and place.sk.attributes:
                fields = {
                    part.name: AttributeBlueprint(part.name, part.name, part.type) for part in place.sk.parts
                }
                yield (
                    view.index_path(index.name),
                    place.sk.attributes[0],
                    read_template(place.sk.template, fields),
                )


def _found(
    paths: tuple[Path, ...], attribute: str, template: Template, slot: Slot, pair: tuple[Number, Number]
) -> Finding:
    keys = template.example(**{slot.name: pair[0]}), template.example(**{slot.name: pair[1]})
    width = digits_max(slot)
    return finding(
        RULE,
        *paths,
        message=f"{slot.name} stands in {template.text} without a fixed width"
        if width is None
        else f"{slot.name} stands in {template.text} with a width of {width}, which does not hold {pair[1]}",
        because=f"{keys[1]} sorts before {keys[0]}: text is compared byte by byte, not by value",
        repair=f"write it with leading zeros, {{{slot.name}:05}}, or wider if numbers can be larger"
        + ("" if isinstance(pair[0], int) else "; and all with as many decimals, {" + slot.name + ":08.2f}"),
        facts={"attribute": attribute, "keys": keys},
    )


RULE = Rule("KEY101", Severity.ERROR, "A number in a sort key has no fixed width", check, prove)
