"""IDX203: an index, or keys in an index, that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import readers
from singletable.lint.requests import is_equality
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for indexes that no pattern reads, and for entities that no read of their index can find."""
    patterns = view.blueprint.patterns
    if not patterns or not all(pattern.reads or pattern.writes for pattern in patterns):
        return  # what some pattern sends was not written down
    for index in view.blueprint.indexes:
        places = view.places_in(index.name)
        if not places or _is_mentioned(view, index.name):
            continue
        reads = readers(view, index.name)
        if not reads:
            yield _unread(view, index.name, places)
            continue
        for place in places:
            if _could_stay_out(view, place) and not any(_can_find(view, read, place) for read in reads):
                yield _unfound(view, place)


def _could_stay_out(view: View, place: Place) -> bool:
    """Tell whether an index has a key attribute that the entity has for this index alone.

    An index over attributes that items have anyway, as that which inverts the keys of the table, takes them all.
    """
    own = {field.stored for field in place.entity.attributes}
    others = {
        attribute
        for other in view.places_of(place.entity.name)
        if other.index != place.index
        for _, attribute, _ in other.templates()
    }
    return any(attribute not in own | others for _, attribute, _ in place.templates())


def _can_find(view: View, read: Read, place: Place) -> bool:
    """Tell whether a read asks for an entity, or may come upon it, by what is known of its keys."""
    if place.entity.name in read.read.entities:
        return True
    partitions = read.of("pk")
    is_known = read.read.operation == "Query" and partitions and all(is_equality(each) for each in partitions)
    return not is_known or place in view.met_by(read)


def _is_mentioned(view: View, index: str) -> bool:
    """Tell whether a service, a handler, a rule or a remark speaks of an index: it may be read there."""
    blueprint = view.blueprint
    around = (blueprint.consumers, blueprint.services, blueprint.rules, blueprint.changes, blueprint.remarks)
    texts = (repr(part) for parts in (*around, blueprint.patterns) for part in parts)
    word = re.compile(rf"(?<!\w){re.escape(index)}(?!\w)")
    return any(word.search(text) for text in texts if index in text) and not readers(view, index)


def _unread(view: View, index: str, places: tuple[Place, ...]) -> Finding:
    names = list(dict.fromkeys(place.entity.name for place in places))
    return finding(
        RULE,
        view.index_path(index),
        *(place.path for place in places),
        message=f"no pattern reads {index}",
        because=f"every write of {', '.join(names)} pays for a copy in {index}, and its storage, and "
        "nobody asks for it",
        repair=f"declare the pattern that {index} is for, or remove the index and its keys",
    )


def _unfound(view: View, place: Place) -> Finding:
    key = place.pk[0].text
    return finding(
        RULE,
        place.path,
        view.index_path(place.index),
        message=f"no pattern reads {place.entity.name} in {place.index}, under {key}",
        because=f"every write of {place.entity.name} pays for a copy under {place.pk[0].example()} that "
        f"no read of {place.index} asks for",
        repair=f"declare the pattern that {key} is for, or leave {place.entity.name} out of {place.index}",
    )


RULE = Rule("IDX203", Severity.WARNING, "An index is never read", check)
