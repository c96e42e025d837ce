"""PAT319: an index read decides whether a value is unique."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_UNIQUE_ANYWAY: Final = ("uuid", "ulid")


def check(view: View) -> Iterator[Finding]:
    """Look for uniqueness that rests on a read of an index, or on nothing."""
    found = list(_through_index(view))
    yield from found
    told = {path for each in found for path in each.paths}
    yield from (each for each in _unkept(view) if each.path not in told)
    yield from (each for each in _replaced(view) if each.path not in told)


def prove(found: Finding, bench: Bench) -> str | None:
    """Put two items: with one value under two keys, or under one key; and count what is there."""
    name = found.facts["name"]
    keys = (bench.key(1), bench.key(2 if name else 1))
    for number, key in enumerate(keys):
        bench.send("put_item", Item={name or "put": {"S": "one value" if name else str(number)}, **key})
    count = bench.send("scan")["Count"]
    if name:
        return f"two items with one {name} are put, and both are there" if count == 2 else None
    return "two items are put, and the second alone is there" if count == 1 else None


def _unkept(view: View) -> Iterator[Finding]:
    """Yield attributes that are said to be unique, and stand in no key of the table, nor in a lock."""
    keys = [template for place in view.places_in(None) for template in (*place.pk, *place.sk)]
    held = {slot.name for template in keys for slot in template.slots}
    held |= {getattr(slot.source, "stored", "") for template in keys for slot in template.slots}
    texts = " ".join(
        piece for template in keys for piece in template.pieces if isinstance(piece, str)
    ).lower()
    for entity in view.blueprint.entities:
        uniques = {name for unique in entity.uniques for name in unique.fields}
        for attribute in entity.attributes:
            names = {attribute.name, attribute.stored}
            if not attribute.is_unique or attribute.format in _UNIQUE_ANYWAY or names & (held | uniques):
                continue
            if attribute.name.lower() in texts or len(entity.places) == 0:
                continue  # EMAIL#{value} is a lock as well
            yield finding(
                RULE,
                view.attribute_path(entity.name, attribute.name),
                view.entity_path(entity.name),
                message=f"{attribute.name} of {entity.name} should be unique, and no key of the table holds it",
                because="only the primary key is unique: two items with one "
                f"{attribute.name} are both stored, whatever an index was asked before",
                repair=f"write a lock item with {attribute.name} as its key in the same transaction, under the "
                "condition attribute_not_exists",
                facts={"name": attribute.stored},
            )


def _replaced(view: View) -> Iterator[Finding]:
    """Yield puts without a condition in patterns that must not store one thing twice."""
    through_index = {
        read.pattern.number for read in view.reads if read.source is None or read.source.index is not None
    }
    for write in view.writes:
        made, pattern, entity = write.write, write.pattern, write.entity
        if pattern is None or "uniqueness" not in pattern.requires or pattern.number in through_index:
            continue
        if made.operation.lower() not in ("put", "putitem") or entity is None or entity.uniques:
            continue
        if any(each.condition or each.condition_expression for each in pattern.writes):
            continue  # the condition decides
        asked = " whatever was read before: two callers at once both find nothing" if pattern.reads else ""
        yield finding(
            RULE,
            write.path,
            view.entity_path(entity.name),
            message=f"pattern {pattern.number} has to store one {entity.name} alone, and puts it without a "
            "condition",
            because=f"PutItem replaces what is stored under the key,{asked or ' without an error'}: the second "
            f"{entity.name} is stored, and the first is lost",
            repair=f"put {entity.name} under the condition attribute_not_exists({view.table.pk[0]})",
            facts={"name": ""},
        )


def _through_index(view: View) -> Iterator[Finding]:
    locks = [
        {slot.name for slot in place.pk[0].slots}
        for place in view.places_in(None)
        if place.pk and place.pk[0].slots
    ]
    for read in view.reads:
        if "uniqueness" not in read.pattern.requires or read.source is None or read.source.index is None:
            continue
        if any(each.condition or each.condition_expression for each in read.pattern.writes):
            continue  # the condition decides
        asked = read.of("pk")
        names = {slot.name for each in asked for template in each.templates for slot in template.slots}
        entities = [view.entities[name] for name in read.read.entities if name in view.entities]
        if not names or names in locks or any(entity.uniques for entity in entities):
            continue
        what = ", ".join(sorted(names))
        yield finding(
            RULE,
            read.path,
            view.index_path(read.source.name),
            *(
                view.attribute_path(entity.name, name)
                for entity in entities
                for name in sorted(names)
                if name in view.fields(entity.name)
            ),
            message=f"{what} should be unique, which a read of {read.source.title} cannot ensure",
            because=f"keys of an index are not unique, and two writers who ask {read.source.title} at once both "
            "find nothing and both write",
            repair=f"write a lock item with {what} as its key in the same transaction, under the condition "
            "attribute_not_exists",
            facts={"name": min(names)},
        )


RULE = Rule("PAT319", Severity.ERROR, "A read of an index decides what is unique", check, prove)
