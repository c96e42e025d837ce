"""Neighbours: the items that stand beside those that a read means, and whether it is sure to return them.

A rule that speaks of neighbours has to be right for all values, or for values that the design shows. So everything
here answers "surely", and keeps silent where values decide that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from singletable.lint.keys import Piece, Slot, Template, characters
from singletable.lint.view import Asked, Place, Read, View

if TYPE_CHECKING:
    from singletable.lint.bench import Bench
    from singletable.lint.finding import Finding

_EQUALITY: Final = ("=", "==", "eq", "equals")


def before(one: Template, other: Template) -> bool:
    """Tell whether every text of `one` sorts before every text of `other`."""
    texts = one.prefix, other.prefix
    if not texts[0].startswith(texts[1]) and not texts[1].startswith(texts[0]):
        return texts[0] < texts[1]
    left, right = one.characters, other.characters
    for here, there in zip(left, right, strict=False):
        if isinstance(here, str) and here == there:
            continue
        mine, theirs = _first(here), _first(there)
        return mine is not None and theirs is not None and max(mine) < min(theirs)
    return len(left) < len(right)


def alike(asked: Template, written: Template) -> bool:
    """Tell whether a key that is asked for is written by a template, whatever the values of its slots are."""
    return _walk(asked, written, is_prefix=False)


def surely_begins(asked: Template, written: Template) -> bool:
    """Tell whether texts of `written` begin with what is asked for, whatever the values of its slots are."""
    return _walk(asked, written, is_prefix=True)


def neighbours(view: View, read: Read) -> Iterator[Place]:
    """Yield the places of other entities whose items a query is sure to return with those that it means."""
    request = read.read
    if request.operation != "Query" or read.source is None or request.filter or request.filter_expression:
        return
    if request.sort is not None and request.sort.within is not None:
        return  # the method of a typed design stays within its prefix
    keys, ranges = read.of("pk"), read.of("sk")
    if any(not each.role for each in read.asked) or len(keys) != len(read.source.pk):
        return  # the request is refused
    if any(each.operator.strip().lower() not in _EQUALITY or len(each.templates) != 1 for each in keys):
        return
    partition = [each.templates[0] for each in keys]
    meant = [place for place in view.places_in(read.source.name) if place.entity.name in request.entities]
    if not meant or len(ranges) > 1:
        return
    places = view.places_in(read.source.name)
    beside = {
        shape
        for shape, place in {place.partition: place for place in places}.items()
        if _is_beside(partition, place)
    }
    for place in places:
        if place.entity.name in request.entities or place.partition not in beside:
            continue
        if not all(_holds(asked, place) for asked in ranges):
            continue
        if request.limit is None or not all(_comes_later(read, each, place) for each in meant):
            yield place


def _is_beside(partition: Sequence[Template], place: Place) -> bool:
    """Tell whether a place is in the partition that a query reads."""
    return len(place.pk) == len(partition) and all(map(alike, partition, place.pk))


def _holds(asked: Asked, place: Place) -> bool:
    """Tell whether a condition on the sort key is met by all items of a place, or by some of any values."""
    if len(place.sk) != 1 or not asked.templates:
        return False
    written, bound = place.sk[0], asked.templates[0]
    match asked.operator.strip().lower():
        case "begins_with":
            return surely_begins(bound, written)
        case ">" | ">=":
            return before(bound, written)
        case "<" | "<=":
            return before(written, bound)
        case "between":
            return (
                len(asked.templates) == 2 and before(bound, written) and before(written, asked.templates[1])
            )
        case _:
            return False


def _comes_later(read: Read, meant: Place, place: Place) -> bool:
    """Tell whether a page shows all items that are meant before it comes to those of a place."""
    if len(meant.sk) != 1 or len(place.sk) != 1:
        return False
    first, second = (meant.sk[0], place.sk[0])
    return before(second, first) if read.read.order == "backward" else before(first, second)


# --- walking templates ------------------------------------------------------------------------------------


def _first(piece: str | Slot) -> frozenset[str] | None:
    """Return the characters that a text can go on with here; None if nobody knows."""
    return frozenset(piece) if isinstance(piece, str) else characters(piece, is_first=True)


def _walk(asked: Template, written: Template, *, is_prefix: bool) -> bool:
    if not written.prefix.startswith(asked.prefix) or (not is_prefix and written.prefix != asked.prefix):
        return False
    wanted: Sequence[Piece] = asked.characters if is_prefix else asked.pieces
    there: Sequence[Piece] = written.characters if is_prefix else written.pieces
    has_text = not is_prefix and any(isinstance(each, str) and any(map(str.isalnum, each)) for each in wanted)
    if len(wanted) > len(there) or (len(wanted) < len(there) and not is_prefix):
        return False
    if is_prefix and len(wanted) < len(there) and wanted and isinstance(wanted[-1], Slot):
        following = there[len(wanted)]
        if isinstance(following, Slot):
            return False
    return all(_agree(one, other, has_text=has_text) for one, other in zip(wanted, there, strict=False))


def _agree(one: Piece, other: Piece, *, has_text: bool) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    if one.name.replace("_", "").lower() == other.name.replace("_", "").lower():
        return True
    if one.format and other.format:
        return one.format == other.format
    return has_text and (one.is_number == other.is_number or not one.type or not other.type)


# --- proofs -----------------------------------------------------------------------------------------------


def stored_pair(view: View, read: Read, other: Place) -> dict[str, Any]:
    """Return an item that a read means and one of a neighbour, as a proof stores them."""
    meant = next(
        place for place in view.places_in(read.read.index) if place.entity.name in read.read.entities
    )
    chosen = _values(read)
    items = [item for place in (meant, other) if (item := view.example_keys(place, **chosen))]
    return {"items": items, "entities": (meant.entity.name, other.entity.name)}


def prove_neighbour(found: Finding, bench: Bench) -> str | None:
    """Store an item that is meant and its neighbour, send the query, and tell what it returns."""
    items, query = found.facts.get("items", ()), found.facts.get("query")
    if len(items) != 2 or not query or any(bench.put(item) is not None for item in items):
        return None
    if bench.refusal("query", **query) is not None:
        return None
    count = bench.send("query", **query)["Count"]
    meant, other = found.facts["entities"]
    if count == 2:
        return f"of one {meant} and one {other}, the query returns both"
    return f"the query returns the {other}" if count == 1 else None


def _values(read: Read) -> dict[str, Any]:
    return {
        slot.name: slot.samples[0] if slot.samples else f"<{slot.name}>"
        for asked in read.of("pk")
        for template in asked.templates
        for slot in template.slots
    }
