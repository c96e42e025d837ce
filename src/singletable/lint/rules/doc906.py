"""DOC906: a number or a copy that follows from other items, and nobody keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_UNSAID: Final = ("", "unsaid")


def check(view: View) -> Iterator[Finding]:
    """Look for counts, sums, averages and copies of which nobody says who writes them."""
    for entity in view.blueprint.entities:
        for aggregate in entity.aggregates:
            if aggregate.by in _UNSAID and not _is_written(view, entity.name, aggregate.field):
                yield finding(
                    RULE,
                    view.attribute_path(entity.name, aggregate.field),
                    view.entity_path(entity.name),
                    message=f"{entity.name}.{aggregate.field} is the {aggregate.kind} of "
                    f"{aggregate.of}, and nothing "
                    "keeps it",
                    because="a request that reads 4 and writes 5 loses what another adds meanwhile, and "
                    "one that is "
                    "repeated counts twice",
                    repair=f"change {aggregate.field} by ADD in the transaction that writes "
                    f"{aggregate.of}, or in a "
                    "handler of the stream that does nothing the second time",
                )
        for copy in entity.copies:
            if copy.by in _UNSAID and not _is_written(view, entity.name, copy.field):
                yield finding(
                    RULE,
                    view.attribute_path(entity.name, copy.field),
                    view.entity_path(entity.name),
                    message=f"{entity.name}.{copy.field} repeats {copy.of}.{copy.of_field}, and nothing "
                    "refreshes it",
                    because=f"when {copy.of}.{copy.of_field} changes, every {entity.name} goes on "
                    "showing the old one",
                    repair=f"refresh it from the stream when {copy.of_field} changes, or read {copy.of} "
                    "when it is shown",
                )


def _is_written(view: View, entity: str, field: str) -> bool:
    """Tell whether a pattern or rule updates the field, or a handler of the stream writes the entity."""
    names = {field, getattr(view.fields(entity).get(field), "stored", field)}
    updates = any(
        write.write.entity == entity
        and write.write.operation == "UpdateItem"
        and names & set(write.write.fields)
        for write in view.writes
    )
    return updates or any(
        entity in handler.writes for consumer in view.blueprint.consumers for handler in consumer.handlers
    )


RULE = Rule("DOC906", Severity.WARNING, "What follows from other items is kept by nobody", check)
