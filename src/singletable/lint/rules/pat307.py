"""PAT307: a query reads an index that does not hold the partition; another one does."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import overlap
from singletable.lint.requests import is_equality, prove_not_found, queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for partitions that are written, but not in what is read."""
    for read in queries(view):
        if read.source is None or read.read.lock is not None or read.read.owner_of is not None:
            continue
        here = view.places_in(read.source.name)
        partitions = [each for each in read.of("pk") if is_equality(each) and len(each.templates) == 1]
        if not here or len(partitions) != 1 or len(read.source.pk) != 1:
            continue
        asked = partitions[0]
        if not any(letter.isalnum() for letter in asked.templates[0].prefix) or view.met_by(read):
            continue
        if any(not place.pk or not place.pk[0].prefix for place in here):
            continue  # what stands there is not known well enough
        if found := _written(view, read):
            place = found[0]
            where = view.sources[place.index].title if place.index in view.sources else str(place.index)
            written = ", ".join(dict.fromkeys(each.pk[0].text for each in here))
            yield finding(
                RULE,
                read.path,
                view.index_path(read.source.name),
                place.path,
                message=f"{shown(asked)} is asked of {read.source.title}, but it is written in {where}",
                because=f"{read.source.title} holds {written}: the query finds nothing; {place.entity.name} has "
                f"{place.pk[0].text} in {where}",
                repair=f"query {where}, or write {asked.attribute} = {asked.condition.templates[0]} on the items "
                "that are looked for",
                facts={"item": view.example_keys(place), "query": query_members(view, read)},
            )


def _written(view: View, read: Read) -> list[Place]:
    asked = next(each for each in read.of("pk") if is_equality(each)).templates[0]
    found = [
        place
        for place in view.places
        if read.source is not None
        and place.index != read.source.name
        and len(place.pk) == 1
        and place.pk[0].prefix
        and overlap(asked, place.pk[0])
    ]
    meant = [place for place in found if place.entity.name in read.read.entities]
    return meant or found


RULE = Rule("PAT307", Severity.ERROR, "A query reads the wrong index", check, prove_not_found)
