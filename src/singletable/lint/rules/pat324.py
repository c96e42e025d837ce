"""PAT324: a search that is to find words anywhere, and a key condition that finds beginnings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Asked, Read, View

_PROMISE: Final = re.compile(
    r"\b(fuzzy|full[- ]?text|substrings?|typos?|misspell\w*|wildcards?|anywhere in|any words? of)\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(no|not|without|never|instead|before|until|later|elsewhere)\b", re.IGNORECASE)


def check(view: View) -> Iterator[Finding]:
    """Look for patterns that speak of such a search, and ask for a sort key by its beginning or whole."""
    for read in queries(view):
        pattern, request = read.pattern, read.read
        told = [pattern.title, pattern.about, *(said.words for said in (*pattern.said, *request.said))]
        promised = [
            found[0].lower()
            for text in told
            if not _DENIED.search(text) and (found := _PROMISE.search(text)) is not None
        ]
        asked = [each for each in read.of("sk") if each.operator in ("=", "begins_with") and _is_given(each)]
        if promised and asked and not (request.filter or request.filter_expression):
            kept = "beginnings" if asked[0].operator == "begins_with" else "whole values"
            yield finding(
                RULE,
                read.path,
                view.index_path(request.index),
                message=f"the search is to be {promised[0]!r}, and {shown(asked[0])} finds {kept} alone",
                because="keys are compared byte by byte from the first character: a word in the middle, a letter "
                "that is wrong, or another name of the same thing is not found",
                repair="store an item for each word or name that is to be found, under its normal form; or send "
                "changes to a search engine, and search there",
                facts=_facts(view, read, asked[0]),
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item that has the term within its key, and search for the term."""
    item, query = found.facts.get("item"), found.facts.get("query")
    if not item or not query or bench.put(item) is not None or bench.refusal("query", **query) is not None:
        return None
    count = bench.send("query", **query)["Count"]
    return f"the item has {found.facts['text']!r}, and the query finds nothing" if count == 0 else None


def _is_given(asked: Asked) -> bool:
    return len(asked.templates) == 1 and bool(asked.templates[0].slots)


def _facts(view: View, read: Read, asked: Asked) -> dict[str, Any]:
    place = next((place for place in view.found_by(read) if place.sk and place.sk[0].slots), None)
    if place is None:
        return {}
    text = f"a {asked.templates[0].example().removeprefix(asked.templates[0].prefix)}"
    item = view.example_keys(place, **{place.sk[0].slots[0].name: text})
    return {"item": item, "query": query_members(view, read), "text": text}


RULE = Rule("PAT324", Severity.ERROR, "A search promises more than a key condition finds", check, prove)
