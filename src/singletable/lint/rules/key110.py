"""KEY110: the range of a query reaches into the items of other entities."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.neighbours import neighbours, prove_neighbour, stored_pair
from singletable.lint.requests import queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for ranges, and for whole partitions, that hold other entities than those that are meant."""
    for read in queries(view):
        sorts = read.of("sk")
        if any(each.operator.strip().lower() == "begins_with" for each in sorts):
            continue  # KEY109
        if others := list(neighbours(view, read)):
            names = list(dict.fromkeys(place.entity.name for place in others))
            meant = joined(read.read.entities)
            key = others[0].sk[0].example() if others[0].sk else others[0].pk[0].example()
            yield finding(
                RULE,
                read.path,
                *(place.path for place in others),
                message=f"{shown(sorts[0])} is asked for {meant}, and reaches {joined(names)} too"
                if sorts
                else f"the whole partition is asked for {meant}, and holds {joined(names)} too",
                because=f"{key} of {others[0].entity.name} is in the same partition"
                + (f" and in the range {_range(read)}" if sorts else "")
                + ": the query returns it among those that are meant",
                repair=_repair(view, read),
                severity=Severity.ERROR if sorts else Severity.WARNING,
                facts={"query": query_members(view, read), **stored_pair(view, read, others[0])},
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Store an item of each, ask for the range, and count what comes."""
    return prove_neighbour(found, bench)


def _range(read: Read) -> str:
    asked = read.of("sk")[0]
    return f"{asked.operator} {' AND '.join(template.example() for template in asked.templates)}"


def _prefix(view: View, read: Read) -> str:
    meant = [place for place in view.places_in(read.read.index) if place.entity.name in read.read.entities]
    return meant[0].sk[0].prefix if meant and meant[0].sk else ""


def _repair(view: View, read: Read) -> str:
    prefix = _prefix(view, read)
    if read.of("sk"):
        return (
            f"ask for BETWEEN, with both ends within {prefix}"
            if prefix
            else "ask for BETWEEN, with both ends"
        )
    return (
        f"ask for begins_with {prefix}" if prefix else "ask for a range, or name all entities that are meant"
    )


RULE = Rule("KEY110", Severity.ERROR, "A range reaches into other items", check, prove)
