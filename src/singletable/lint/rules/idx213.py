"""IDX213: an update changes what a sparse index goes by, and leaves its keys as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.conditions import fields_of, spelled_out
from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View, Write


def check(view: View) -> Iterator[Finding]:
    """Look for update expressions that set a field of a place's condition, and no key of its index."""
    sparse = [
        place
        for place in view.places
        if place.index is not None and place.place.when and not place.entity.derived
    ]
    for write in view.writes if sparse else ():
        for place in sparse:
            if place.entity is write.entity and (name := _left(view, place, write)):
                yield _found(view, place, write, name)


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item with the keys of the index, change the field, and look for the item in the index."""
    facts = found.facts
    if not facts["item"] or bench.put(facts["item"]) is not None:
        return None
    bench.send(
        "update_item",
        Key={name: {"S": str(facts["item"][name])} for name in bench.key()},
        UpdateExpression="SET #n = :v",
        ExpressionAttributeNames={"#n": facts["field"]},
        ExpressionAttributeValues={":v": {"S": "changed"}},
    )
    count = bench.send("scan", IndexName=facts["index"])["Count"]
    return f"after the update, the item is in {facts['index']} as before" if count == 1 else None


def _left(view: View, place: Place, write: Write) -> str:
    """Return the field that an update sets without a word of the index's keys; empty where there is none."""
    made = write.write
    if not made.operation.lower().startswith("update") or not made.update_expression:
        return ""
    text = spelled_out(made.update_expression, made.names)
    keys = {attribute for _, attribute, _ in place.templates()}
    if keys & {*re.findall(r"\w+", text), *made.fields}:
        return ""
    fields = view.fields(place.entity.name)
    stored = [fields[name].stored if name in fields else name for name in fields_of(place.place.when)]
    return next((name for name in sorted(stored) if re.search(rf"\b{re.escape(name)}\s*=[^=]", text)), "")


def _found(view: View, place: Place, write: Write, name: str) -> Finding:
    table = {attribute for home in [view.home(place.entity)] if home for _, attribute, _ in home.templates()}
    keys = [attribute for _, attribute, _ in place.templates() if attribute not in table]
    entity = place.entity.name
    return finding(
        RULE,
        write.path,
        view.index_path(place.index),
        view.entity_path(entity),
        place.path,
        message=f"the update changes {name} of {entity}, and leaves {joined(keys) if keys else 'its keys'} of "
        f"{place.index} as they are",
        because=f"an item is in {place.index} as long as it has the keys: one that should have left is still "
        f"returned under {place.pk[0].example()}, and one that should have come is not found",
        repair=f"let the same update REMOVE {', '.join(keys)} when the item leaves, and SET them when it comes",
        facts={"index": place.index, "item": view.example_keys(place), "field": name},
    )


RULE = Rule("IDX213", Severity.ERROR, "An update leaves an item in a sparse index", check, prove)
