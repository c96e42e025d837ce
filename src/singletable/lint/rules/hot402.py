"""HOT402: one partition holds all items of an entity, in the order of time, for ever."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View


def check(view: View) -> Iterator[Finding]:
    """Look for constant partition keys under which items pile up by time."""
    for place in view.places:
        if not place.pk or not all(template.is_constant for template in place.pk):
            continue
        if place.place.when is None and _piles_up(view, place):
            key = "".join(template.text for template in place.pk)
            where = place.index or "the table"
            yield finding(
                RULE,
                view.entity_path(place.entity.name),
                view.index_path(place.index),
                message=f"all items of {place.entity.name} lie in one partition of {where}, {key}",
                because=f"every write goes to the newest end of {key}, which takes 1,000 write units a second "
                "however large the table is; nothing ever leaves it",
                repair="put a shard or a bucket of time into the key, or index only what is listed",
            )


def _piles_up(view: View, place: Place) -> bool:
    """Tell whether the sort key is a time, nothing expires, and nobody says that there are few or how often."""
    name = place.entity.name
    first = place.sk[0].slots[0] if place.sk and place.sk[0].slots else None
    if first is None or not first.is_time or place.entity.ttl is not None or view.volume(name) is not None:
        return False
    if view.loads("create", name) or any(
        rate.entity == name and rate.creates for rate in view.blueprint.rates
    ):
        return False
    makers = [
        each.pattern for each in view.writes if each.entity is place.entity and each.pattern is not None
    ]
    return not any(pattern.rps or view.pattern_loads(pattern) for pattern in makers)


RULE = Rule("HOT402", Severity.WARNING, "One partition holds all items of an entity", check)
