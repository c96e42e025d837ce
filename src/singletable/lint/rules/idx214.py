"""IDX214: an index is said to be for items that have no keys of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import stem, words
from singletable.lint.indexes import joined, key_names, stored_names
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.entities import EntityBlueprint
    from singletable.blueprint.tables import IndexBlueprint

_TURNS: Final = re.compile(r"\b(?:by|of|for|per|from|in|to|with|without|before|until|between|not|no)\b", re.I)


def check(view: View) -> Iterator[Finding]:
    """Look for uses of an index that begin with the plural of entities, none of which is in it."""
    for at, index in enumerate(view.blueprint.indexes):
        held = list(dict.fromkeys(place.entity.name for place in view.places_in(index.name)))
        for use in index.uses if held else ():
            meant = [entity for entity in view.blueprint.entities if _is_named(use, entity)]
            if not meant or any(_is_held(view, entity, held, index) for entity in meant):
                continue
            names = joined([entity.name for entity in meant])
            elsewhere = [
                place.index
                for entity in meant
                for place in view.places_of(entity.name)
                if place.index is not None
            ]
            yield finding(
                RULE,
                ("indexes", at),
                *(view.entity_path(entity.name) for entity in meant),
                message=f"{index.name} is said to be for {use!r}, and {names} has no keys of it",
                because=f"{index.name} holds {joined(held)}: a query of it finds no {names}"
                + (f", which is in {joined(dict.fromkeys(elsewhere))}" if elsewhere else ""),
                repair=f"write {joined(key_names(index))} on {names}, or say which index answers it",
                facts={
                    "index": index.name,
                    "items": [view.example_keys(home) for each in meant if (home := view.home(each))],
                },
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item of each entity with its keys, and count what is in the index."""
    stored = [item for item in found.facts["items"] if item and bench.put(item) is None]
    count = bench.send("scan", IndexName=found.facts["index"])["Count"]
    return f"items are put, and {found.facts['index']} has none of them" if stored and not count else None


def _is_named(use: str, entity: EntityBlueprint) -> bool:
    """Tell whether a use lists items of an entity: "a user's comments" does, "visits by user" names a key."""
    name = words(entity.name)[-1] if words(entity.name) else ""
    listed = set(re.findall(r"[a-z]+", _TURNS.split(use.lower())[0]))
    plurals = {f"{name}s", f"{name}es", f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"}
    return name != "" and bool(plurals & listed)


def _is_held(view: View, entity: EntityBlueprint, held: list[str], index: IndexBlueprint) -> bool:
    """Tell whether an entity is in an index by itself, or by items that have its identifier, as links do."""
    about = "".join(words(entity.name))
    links = {stem(field.name) for name in held for field in view.entities[name].attributes}
    is_like = any(words(entity.name)[-1] in words(name) for name in held)  # MatchOf is of matches
    return is_like or about in links or stored_names(entity) >= set(key_names(index))


RULE = Rule("IDX214", Severity.ERROR, "An index is said to hold what it does not", check, prove)
