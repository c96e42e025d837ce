"""PAT319: an index read decides whether a value is unique."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for uniqueness that rests on a read of an index."""
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
        )


RULE = Rule("PAT319", Severity.ERROR, "A read of an index decides what is unique", check)
