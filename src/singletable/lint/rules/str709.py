"""STR709: a count, a sum or a copy that nobody keeps."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.blueprint.entities import AggregateBlueprint, CopyBlueprint
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for fields that follow from other items, and are kept by nobody, or by a stream that is off."""
    writers = {
        name
        for consumer in view.blueprint.consumers
        for handler in consumer.handlers
        for name in handler.writes
    }
    for entity in view.blueprint.entities:
        values: list[AggregateBlueprint | CopyBlueprint] = [*entity.aggregates, *entity.copies]
        for kept in values:
            is_off = kept.by == "stream" and view.blueprint.table.stream is None
            is_kept = entity.name in writers or _is_updated(view, entity.name, kept.field)
            if not is_off and (kept.by != "unsaid" or is_kept):
                continue
            if isinstance(kept, CopyBlueprint):
                what = f"repeats {kept.of_field} of {kept.of}"
            else:
                what = f"is the {kept.kind} of {kept.of}"
            who = "the stream, which is off, is to keep it" if is_off else "nobody says who keeps it"
            yield finding(
                RULE,
                view.attribute_path(entity.name, kept.field),
                view.entity_path(entity.name),
                message=f"{kept.field} of {entity.name} {what}, and {who}",
                because=f"when {kept.of} changes, {kept.field} stays as it was; added to beside the write, it is "
                "counted twice when a request is sent again",
                repair=f"change {kept.field} in one transaction with {kept.of}; or by a handler of the stream "
                "that remembers which records it has counted",
            )


def _is_updated(view: View, entity: str, field: str) -> bool:
    """Tell whether a write of a pattern or a rule changes a field beside others."""
    found = view.fields(entity).get(field)
    names = {field, found.stored} if found is not None else {field}
    return any(
        each.write.entity == entity and each.write.operation == "UpdateItem" and names & {*each.write.fields}
        for each in view.writes
    )


RULE = Rule("STR709", Severity.WARNING, "Nobody keeps a value that follows from other items", check)
