"""KEY112: the primary key of an item holds a value that changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View, Write

if TYPE_CHECKING:
    from singletable.blueprint.entities import AttributeBlueprint
    from singletable.blueprint.positions import Path
    from singletable.lint.keys import Slot

_SET: Final = re.compile(r"(?P<name>[#\w.]+)\s*=\s*(?P<value>if_not_exists)?", re.IGNORECASE)


def check(view: View) -> Iterator[Finding]:
    """Look for attributes in primary keys that updates set, or that are said to change."""
    updated = _updates(view)
    for place in view.places_in(None):
        fields = view.fields(place.entity.name)
        named: dict[str, AttributeBlueprint | None] = {}
        for slot in place.slots:
            name = slot.part.field if slot.part is not None else slot.name
            named[name] = fields.get(name)
        stored = {field.stored for field in named.values() if field is not None} | set(named)
        for name, field in named.items():
            writes = [
                write
                for write in updated.get(place.entity.name, ())
                if _sets(write, name, field) and not _writes_all(write, stored)
            ]
            loads = _changing(view, place, name)
            if writes or loads or _is_said_to_change(field):
                yield _found(view, place, name, writes, loads)


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item, update it under the key that it should have by now, and count what is there."""
    before, after = found.facts["keys"]
    if before == after or bench.put(before) is not None:
        return None
    typed = {name: {"S": value} for name, value in after.items()}
    if bench.refusal("update_item", Key=typed) is not None:
        return None
    count = bench.send("scan")["Count"]
    return f"one item is put and updated under its new key, and {count} are there" if count > 1 else None


def _updates(view: View) -> dict[str, list[Write]]:
    found: dict[str, list[Write]] = {}
    for write in view.writes:
        if write.write.operation.lower().startswith("update"):
            found.setdefault(write.write.entity, []).append(write)
    return found


def _sets(write: Write, name: str, field: AttributeBlueprint | None) -> bool:
    names = {name, field.stored} if field is not None else {name}
    expression = write.write.update_expression
    if not expression:
        return bool(names & set(write.write.fields))
    return any(
        write.write.names.get(found["name"], found["name"]) in names and not found["value"]
        for found in _SET.finditer(expression)
    )


def _writes_all(write: Write, stored: set[str]) -> bool:
    """Tell whether an update sets all that the key is made of: it makes the item, or repeats its key."""
    fields = set(write.write.fields)
    return stored < fields or (stored == fields and not write.write.update_expression)


def _changing(view: View, place: Place, name: str) -> list[Path]:
    return [path for path, load in view.loads("update", place.entity.name) if load.changes.get(name, 0.0) > 0]


def _is_said_to_change(field: AttributeBlueprint | None) -> bool:
    return field is not None and (field.is_immutable is False or bool(field.updates_per_month))


def _found(view: View, place: Place, name: str, writes: list[Write], loads: list[Path]) -> Finding:
    entity = place.entity.name
    attribute, template = next(
        (attribute, template)
        for _, attribute, template in place.templates()
        if any(
            name in (slot.name, slot.part.field if slot.part is not None else "") for slot in template.slots
        )
    )
    titles = [f"pattern {write.pattern.number}" for write in writes if write.pattern is not None]
    return finding(
        RULE,
        view.attribute_path(entity, name),
        place.path,
        *(write.path for write in writes),
        *loads,
        message=f"{name} stands in {attribute} of {entity}, as {template.text}, and changes"
        + (f" in {', '.join(dict.fromkeys(titles))}" if titles else ""),
        because=f"the key of an item cannot be updated: with another {name}, an item stays under "
        f"{template.example()}, where nobody looks for it, or is stored a second time",
        repair=f"keep {name} out of the primary key, and write it into the key of an index if it is asked "
        "for; or delete and put the item in one transaction",
        facts={"keys": (_key(place), _key(place, **{slot.name: "other" for slot in _named(place, name)}))},
    )


def _named(place: Place, name: str) -> list[Slot]:
    return [
        slot for slot in place.slots if name in (slot.name, slot.part.field if slot.part is not None else "")
    ]


def _key(place: Place, **chosen: str) -> dict[str, str]:
    return {attribute: template.example(**chosen) for _, attribute, template in place.templates()}


RULE = Rule("KEY112", Severity.ERROR, "A primary key holds a value that changes", check, prove)
