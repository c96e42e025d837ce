"""PAT321: two reads of one partition where one query reads both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View

_READS: Final = ("GetItem", "Query")


def check(view: View) -> Iterator[Finding]:
    """Look for reads of a pattern that have one partition, and all of it between them."""
    by_pattern: dict[tuple[str | int, ...], list[Read]] = {}
    for read in view.reads:
        if _is_whole(read):
            by_pattern.setdefault(read.path[:2], []).append(read)
    for path, reads in by_pattern.items():
        for one, other in combinations(reads, 2):
            partition = _partition(one)
            if partition != _partition(other) or one.read.is_consistent != other.read.is_consistent:
                continue
            first, second = ({place.path for place in view.found_by(each)} for each in (one, other))
            if first and second and {place.path for place in view.met_by(one)} == first | second:
                yield finding(
                    RULE,
                    path,
                    message=f"pattern {one.pattern.number} reads {partition[1]} twice, and one Query reads it all",
                    because=f"{', '.join(dict.fromkeys((*one.read.entities, *other.read.entities)))} lie in one "
                    "partition with nothing else: two calls wait twice, and each is rounded up to 4 KB by itself",
                    repair=f"send one Query for {partition[1]}, and tell the items apart by their sort keys",
                )


def _is_whole(read: Read) -> bool:
    """Tell whether a read takes all that it finds, as it is; of a document, and not by keys from elsewhere."""
    request = read.read
    is_plain = request.limit is None and request.filter is None and not request.filter_expression
    is_first = request.named_by is None and request.count == 1 and not request.pk and not request.projection
    return request.operation in _READS and is_plain and is_first and bool(_partition(read)[1])


def _partition(read: Read) -> tuple[str | None, str]:
    """Return what is read, and the template of the partition; no text where that is not known."""
    asked = read.of("pk")
    known = len(asked) == 1 and len(asked[0].templates) == 1 and asked[0].operator == "="
    return read.read.index, asked[0].templates[0].text if known else ""


RULE = Rule("PAT321", Severity.WARNING, "Two reads of one partition do the work of one", check)
