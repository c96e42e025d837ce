"""PAT313: one page is read, and the answer is larger than a page."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View

_PAGE_KB = 1024


def check(view: View) -> Iterator[Finding]:
    """Look for reads of one page that should go through more than 1 MB."""
    for read in view.reads:
        request = read.read
        if request.is_paged is not False or request.operation not in ("Query", "Scan") or read.source is None:
            continue
        if read.source.index is not None and read.source.index.projection != "ALL":
            continue
        volumes = [view.volume(entity) for entity in request.entities]
        sizes = [volume.kb for volume in volumes if volume is not None]
        if not sizes or len(sizes) != len(volumes):
            continue
        items = _items(view, read)
        items = min(items, request.limit) if request.limit is not None else items
        if (kb := items * min(sizes)) > _PAGE_KB:
            yield finding(
                RULE,
                read.path,
                *(view.entity_path(entity) for entity in request.entities if entity in view.entities),
                message=f"{items:,.0f} items are {kb / _PAGE_KB:.1f} MB, and only one page is read",
                because=f"a page of a {request.operation} ends at 1 MB, before any filter: of {items:,.0f} items "
                f"of {min(sizes):g} KB it holds {_PAGE_KB // min(sizes):,.0f}, and the rest is missing",
                repair="read on with LastEvaluatedKey as ExclusiveStartKey until an answer has none",
            )


def _items(view: View, read: Read) -> float:
    """Return how many items one request goes through: as it is said, else all of the partition by the volumes."""
    request = read.read
    if request.examined is not None or request.returned is not None:
        return max(request.examined or 0.0, request.returned or 0.0) / max(request.count, 1)
    if (
        any(not each.is_of_a_kind for each in read.of("sk"))
        or request.operation != "Query"
        or not read.of("pk")
    ):
        return 0.0
    return sum(view.together(place) for place in view.found_by(read))


RULE = Rule("PAT313", Severity.ERROR, "One page is read of more than 1 MB", check)
