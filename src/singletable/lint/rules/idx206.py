"""IDX206: an index has the keys of the table, so that it finds nothing that the table does not find."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined, readers
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for places in indexes whose keys are those of the item itself, and that no list of others needs."""
    own = {place.entity.name: place for place in view.places_in(None)}
    for index in view.blueprint.indexes:
        places = view.places_in(index.name)
        if not places or {*index.pk, *index.sk} <= {view.blueprint.table.pk, view.blueprint.table.sk}:
            continue  # the keys of the table, turned round: items have them anyway
        repeated = [place for place in places if _repeats(place, own.get(place.entity.name))]
        reads = readers(view, index.name)
        if len(repeated) == len(places):
            yield _index(view, index.name, places, reads)
            continue
        for place in repeated:
            if not any(_needs(view, read, place) for read in reads):
                yield _entity(view, place)


def _repeats(place: Place, own: Place | None) -> bool:
    return (
        own is not None
        and place.place.when is None
        and [template.text for template in place.pk] == [template.text for template in own.pk]
        and [template.text for template in place.sk] == [template.text for template in own.sk]
    )


def _needs(view: View, read: Read, place: Place) -> bool:
    """Tell whether a read of the index may list the entity with others, or nobody knows what it lists."""
    entities = read.read.entities
    return (
        not entities
        or (place.entity.name in entities and len(entities) > 1)
        or (not read.asked and place.entity.name in entities)
    )


def _index(view: View, name: str, places: tuple[Place, ...], reads: tuple[Read, ...]) -> Finding:
    names = list(dict.fromkeys(place.entity.name for place in places))
    return finding(
        RULE,
        view.index_path(name),
        *(place.path for place in places),
        *(read.path for read in reads),
        message=f"{name} has the keys of the table for {joined(names)}",
        because=f"{places[0].entity.name} is under {places[0].pk[0].example()} in {name} as in the table: the "
        "index finds nothing that the table does not find, later, and every write pays for it twice",
        repair=f"ask the table, by GetItem where the whole key is known, and remove {name}",
    )


def _entity(view: View, place: Place) -> Finding:
    entity = place.entity.name
    return finding(
        RULE,
        view.entity_path(entity),
        place.path,
        view.index_path(place.index),
        message=f"{entity} has the keys of the table in {place.index} too",
        because=f"{' and '.join(each.example() for each in (*place.pk, *place.sk))} is found in the table: "
        f"every write of {entity} pays for a copy in {place.index} that finds nothing more",
        repair=f"leave {entity} out of {place.index}",
    )


RULE = Rule("IDX206", Severity.WARNING, "An index repeats the table", check)
