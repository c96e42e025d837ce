"""IDX212: a total stands on each of the items that it counts, and in their index keys."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import key_fields
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View


def check(view: View) -> Iterator[Finding]:
    """Look for aggregates of an entity over itself that stand in the keys of an index."""
    for place in view.places:
        if place.index is None:
            continue
        for aggregate in place.entity.aggregates:
            is_own = aggregate.of == place.entity.name and aggregate.of_field is None
            if (
                is_own
                and aggregate.field in key_fields(place)
                and _has_many(view, place, aggregate.via or {})
            ):
                yield _found(view, place, aggregate.field, sorted(aggregate.via or {}))


def _has_many(view: View, place: Place, via: object) -> bool:
    """Tell whether several items are counted together: what they are grouped by is not their whole key."""
    own = view.home(place.entity)
    return own is not None and isinstance(via, dict) and bool(set(key_fields(own)) - set(via))


def _found(view: View, place: Place, field: str, by: list[str]) -> Finding:
    entity = place.entity.name
    grouped = " and ".join(by) or "group"
    return finding(
        RULE,
        view.entity_path(entity),
        view.attribute_path(entity, field),
        place.path,
        view.index_path(place.index),
        message=f"{field} counts {entity}, and stands on each of them and in its key of {place.index}",
        because=f"with 50 of one {grouped}, the next one changes {field} on all 51: as many items are written, "
        f"and twice as many entries of {place.index}, in which one {grouped} is listed 51 times",
        repair=f"keep {field} on one item for each {grouped}, which alone has the keys of {place.index}",
    )


RULE = Rule("IDX212", Severity.ERROR, "A total stands on each item that it counts", check)
