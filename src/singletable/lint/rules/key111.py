"""KEY111: a primary key leaves out what tells two items apart, so that one overwrites the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import is_own, key_fields, own_identifiers, words
from singletable.lint.keys import Slot
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View, Write

if TYPE_CHECKING:
    from singletable.blueprint.entities import AttributeBlueprint

_COARSE: Final = {
    "iso-8601": "the second",
    "epoch-seconds": "the second",
    "date": "the day",
    "iso-week": "the week",
}
_PUTS: Final = ("put", "create", "batchwrite", "transactwrite")


def check(view: View) -> Iterator[Finding]:
    """Look for samples with one key, and for keys that hold too little to be unique."""
    puts: dict[str, list[Write]] = {}
    for write in view.writes:
        if write.write.operation.lower().startswith(_PUTS):
            puts.setdefault(write.write.entity, []).append(write)
    for place in view.places_in(None):
        written = puts.get(place.entity.name, [])
        is_refused = bool(written) and all(_is_conditional(write) for write in written)
        if (pair := _one_key(view, place)) is not None:
            yield _overwritten(view, place, *pair)
        elif is_refused:
            continue  # a second item is meant to be refused
        elif (said := _coarse(place, written)) is not None:
            yield _too_coarse(view, place, said, written)
        elif (about := _untold(place)) is not None:
            yield _told_apart(view, place, *about)
        else:
            yield from _too_few(view, place)


def prove(found: Finding, bench: Bench) -> str | None:
    """Put two items with the key, and count what is there."""
    items = found.facts.get("items", ())
    if len(items) != 2 or any(bench.put(item) is not None for item in items):
        return None
    count = bench.send("scan")["Count"]
    return "two items are put, and one is there" if count == 1 else None


def _is_conditional(write: Write) -> bool:
    return bool(write.write.condition or "not_exists" in write.write.condition_expression)


# --- samples ----------------------------------------------------------------------------------------------


def _one_key(view: View, place: Place) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return two samples with one key that are two items: they differ in what identifies items."""
    names = [attribute for _, attribute, _ in place.templates()]
    inside = key_fields(place)
    telling = _telling(view, place)
    seen: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for sample in place.entity.samples:
        if any(not isinstance(sample.get(name), str | int) for name in names):
            continue
        other = seen.setdefault(tuple(sample[name] for name in names), sample)
        if not any(other.get(name) != sample.get(name) for name in inside) and any(
            name in other and name in sample and other[name] != sample[name] for name in telling
        ):
            return other, sample
    return None


def _telling(view: View, place: Place) -> list[str]:
    """Return the stored names of what identifies items, and is not in the primary key."""
    inside = key_fields(place)
    elsewhere = {name for other in view.places_of(place.entity.name) for name in key_fields(other)} - inside
    return [
        field.stored
        for field in place.entity.attributes
        if field.name not in inside
        and not field.updates_per_month
        and field.is_immutable is not False
        and (field.name in elsewhere or is_own(place.entity, field.name))
        and not field.values
    ]


def _overwritten(view: View, place: Place, one: Mapping[str, Any], other: Mapping[str, Any]) -> Finding:
    keys = [str(one[attribute]) for _, attribute, _ in place.templates()]
    named = [name for name in _telling(view, place) if name in one and name in other]
    name = next(name for name in named if one[name] != other[name])
    return finding(
        RULE,
        view.entity_path(place.entity.name),
        place.path,
        *(view.attribute_path(place.entity.name, slot.name) for slot in place.slots[-1:]),
        message=f"two items of {place.entity.name} have one key: it holds no {name}, in which they differ",
        because=f"those with {name} {one[name]} and {other[name]} both have the key {' and '.join(keys)}: the "
        "second overwrites the first",
        repair=f"add {name}, or an id of the item, to the key",
        facts={"items": (one, other)},
    )


# --- times ------------------------------------------------------------------------------------------------


def _coarse(place: Place, written: list[Write]) -> tuple[str, str, str] | None:
    """Return the time that alone tells items apart, how coarse it is, and what shows that it is too coarse."""
    if not place.sk or len(place.sk) != 1 or place.entity.derived is not None:
        return None
    slots = place.sk[0].slots
    coarse = _COARSE.get(slots[0].format, "") if len(slots) == 1 and not slots[0].is_encoded else ""
    if not coarse or any(is_own(place.entity, slot.name) for slot in place.slots):
        return None
    if any("." in str(value) for value in slots[0].samples):
        return None  # it has a fraction of a second
    if many := [write for write in written if write.write.count > 1]:
        return slots[0].name, coarse, f"{many[0].write.count} are written at once"
    own = [field.name for field in own_identifiers(place.entity) if field.name not in key_fields(place)]
    if own and slots[0].format in ("iso-8601", "epoch-seconds"):
        return slots[0].name, coarse, f"{own[0]}, which identifies it, is not in the key"
    return None


def _too_coarse(view: View, place: Place, said: tuple[str, str, str], written: list[Write]) -> Finding:
    name, coarse, shown = said
    entity = place.entity.name
    many = [write for write in written if write.write.count > 1]
    return finding(
        RULE,
        view.entity_path(entity),
        view.attribute_path(entity, name),
        place.path,
        *(write.path for write in many),
        message=f"{name}, to {coarse}, is all that tells items of {entity} apart in {place.pk[0].text}; {shown}",
        because=f"two of one {coarse.removeprefix('the ')} both have the sort key {place.sk[0].example()}: the "
        "second overwrites the first",
        repair=f"append an id of the item to the key, {place.sk[0].text}#<id>, and create with "
        "attribute_not_exists",
        facts={"items": _two(place)},
    )


def _two(place: Place) -> tuple[dict[str, Any], ...]:
    key = {attribute: template.example() for _, attribute, template in place.templates()}
    return ({**key, "proof": "first"}, {**key, "proof": "second"})


# --- what an item is about ----------------------------------------------------------------------------------


def _untold(place: Place) -> tuple[str, str] | None:
    """Return the type and the id of what items are about, of several types, neither of which is in the key."""
    inside = key_fields(place)
    names = {words(field.name): field for field in place.entity.attributes}
    if any(is_own(place.entity, name) for name in inside):
        return None
    for parts, field in names.items():
        if len(parts) > 1 and parts[-1] in ("type", "kind") and _can_vary(field):
            about = names.get((*parts[:-1], "id"))
            if about is None or is_own(place.entity, about.name) or {field.name, about.name} & inside:
                continue
            if _can_vary(about):
                return field.name, about.name
    return None


def _can_vary(field: AttributeBlueprint) -> bool:
    values = Slot(field.name, source=field).values
    return (values is None or len(values) > 1) and not any(
        each["kind"] == "Computed" for each in field.markers
    )


def _told_apart(view: View, place: Place, kind: str, about: str) -> Finding:
    entity = place.entity.name
    keys = [template.example() for template in (*place.pk, *place.sk)]
    return finding(
        RULE,
        view.entity_path(entity),
        place.path,
        view.attribute_path(entity, kind),
        view.attribute_path(entity, about),
        message=f"{entity} is about something of any {kind}, and its key holds neither {kind} nor {about}",
        because=f"two items about different things, as {kind} and {about} tell them, both have the key "
        f"{' and '.join(keys)}: the second overwrites the first",
        repair=f"write {kind} and {about} into the key, or give each {kind} an entity with a key of its own",
        facts={"items": _two(place)},
    )


# --- how many ---------------------------------------------------------------------------------------------


def _too_few(view: View, place: Place) -> Iterator[Finding]:
    """Look for reads that expect several items where the values that they give leave one key."""
    entity = place.entity.name
    slots = {slot.name for slot in place.slots}
    if not slots or any(slot.part is not None for slot in place.slots):
        return
    for read in view.reads:
        request = read.read
        if request.index is not None or request.operation != "Query" or request.entities != (entity,):
            continue
        given = {slot.name for asked in read.of("pk") for each in asked.templates for slot in each.slots}
        if (request.returned or 0) > 1 and slots <= given and place in view.met_by(read):
            yield finding(
                RULE,
                view.entity_path(entity),
                read.path,
                place.path,
                message=f"pattern {read.pattern.number} expects {request.returned:g} items of {entity}, and their "
                "key leaves room for one",
                because=f"{' and '.join(t.text for t in (*place.pk, *place.sk))} is the same for all: each put "
                "overwrites the one before",
                repair="add to the sort key what tells them apart, as their id",
                facts={"items": _two(place)},
            )


RULE = Rule("KEY111", Severity.ERROR, "A primary key is not unique", check, prove)
