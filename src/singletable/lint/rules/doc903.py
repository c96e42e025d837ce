"""DOC903: the design does otherwise than it says of itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from singletable.blueprint.positions import Path

_NEGATIVE: Final = re.compile(r"\b(?:should not|avoid|never|do not|don't|must not)\b", re.IGNORECASE)


class _Broken(NamedTuple):
    paths: tuple[Path, ...]
    because: str
    repair: str


_Claim = tuple[str, Callable[[View, "re.Match[str]"], _Broken | None]]


def check(view: View) -> Iterator[Finding]:
    """Compare what remarks claim with what the parts of the design do."""
    for at, remark in enumerate(view.blueprint.remarks):
        for words, test in _CLAIMS:
            found = re.search(words, remark.text, re.IGNORECASE)
            if found is not None and (broken := test(view, found)) is not None:
                yield finding(
                    RULE,
                    ("remarks", at),
                    *broken.paths,
                    message=f"it is said: {remark.text.rstrip('.')!r}, and the design does otherwise",
                    because=broken.because,
                    repair=broken.repair,
                )


def _scans(view: View, _: re.Match[str]) -> _Broken | None:
    scans = [read for read in view.reads if read.read.operation == "Scan"]
    if not scans:
        return None
    names = joined([f"pattern {read.pattern.number or read.pattern.method}" for read in scans])
    return _Broken(
        tuple(dict.fromkeys(read.path[:2] for read in scans)),
        f"{names} scans",
        "query an index instead, or say which scans are allowed",
    )


def _scales(view: View, _: re.Match[str]) -> _Broken | None:
    table = view.blueprint.table
    if table.billing != "PAY_PER_REQUEST" or table.scaling or table.capacity is not None:
        return None
    return _Broken(
        (("table",),),
        "the table is on demand: there is no provisioned capacity that auto scaling could change",
        "test what on-demand capacity does under load, or provision capacity with scaling",
    )


def _leads(view: View, found: re.Match[str]) -> _Broken | None:
    field = found["field"]
    if not _NEGATIVE.search(found.string):
        return None  # it is advised, not warned of
    led = [
        place.entity.name
        for place in view.places_in(None)
        if any(slot.name == field for template in place.pk for slot in template.slots)
    ]
    if not led:
        return None
    return _Broken(
        tuple(view.entity_path(name) for name in led),
        f"{field} is in the partition key of {joined(led)}; a key with many values spreads load, and only "
        "one with few values is hot",
        "say what is meant: no key of few values, as a status or a day, for busy items",
    )


def _copies_all(view: View, _: re.Match[str]) -> _Broken | None:
    indexes = [(at, each) for at, each in enumerate(view.blueprint.indexes) if not each.is_local]
    if not indexes or any(each.projection != "ALL" for _, each in indexes):
        return None
    return _Broken(
        tuple(("indexes", at) for at, _ in indexes),
        f"{joined([each.name for _, each in indexes])} project ALL: each holds a copy of every item in it",
        "project what the reads of an index return, or take the sentence out",
    )


def _always_there(view: View, found: re.Match[str]) -> _Broken | None:
    """Find the entity of a sentence on sparse indexes: it names one that is in its index at all times."""
    for place in view.places:
        index, entity = place.index, place.entity
        if index is None or index.lower() not in found[0].lower() or not _is_named(entity.name, found[0]):
            continue
        if place.place.when is None and not any(
            _is_optional(view, entity.name, slot.name) for slot in place.slots
        ):
            return _Broken(
                (place.path[:2], view.index_path(index)),
                f"{entity.name} has the keys of {index} whatever its state: every one is in the index for good",
                f"give {entity.name} the keys of {index} while it is to be found there, and remove them after",
            )
    return None


def _is_named(entity: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(entity)}s?\b", text, re.IGNORECASE) is not None


def _is_optional(view: View, entity: str, field: str) -> bool:
    attribute = view.fields(entity).get(field)
    return attribute is None or attribute.is_optional or attribute.is_required is False


def _pages(view: View, _: re.Match[str]) -> _Broken | None:
    unpaged = [read for read in view.reads if read.read.operation == "Query" and read.read.is_paged is False]
    if not unpaged:
        return None
    return _Broken(
        tuple(dict.fromkeys(read.path[:2] for read in unpaged)),
        joined([f"pattern {read.pattern.number or read.pattern.method}" for read in unpaged])
        + " reads one page",
        "read on while there is a LastEvaluatedKey",
    )


def _stays_below(view: View, found: re.Match[str]) -> _Broken | None:
    limit = float(found["kb"])
    volumes = enumerate(view.blueprint.volumes)
    larger = [(at, each) for at, each in volumes if max(each.kb, each.upto_kb or 0) > limit]
    if not larger:
        return None
    sizes: Sequence[str] = [f"{each.entity} ({max(each.kb, each.upto_kb or 0):g} KB)" for _, each in larger]
    return _Broken(
        tuple(("volumes", at) for at, _ in larger),
        f"larger than {limit:g} KB: {joined(sizes)}",
        "split or compress what is larger, or state the size that holds",
    )


_CLAIMS: Final[tuple[_Claim, ...]] = (
    (r"\b(?:never|no|does not|do not|without) (?:use )?(?:table )?scans?\b", _scans),
    (r"\bauto-?\s?scal(?:ing|es?)\b(?! (?:is|are) not)", _scales),
    (r"\b(?P<field>[a-z]\w*_id|[a-z]\w*Id)\b[^.]{0,20}\bas (?:\w+ )?(?:partition key|PK)\b", _leads),
    (r"\bindex\w*\b[^.]*\b(?:little|less|minimal|minimi[sz]\w*)\b[^.]*\bstorage\b", _copies_all),
    (r"\bsparse\b.*", _always_there),
    (r"\b(?:every|all|each) quer(?:y|ies) (?:is|are) paginated\b", _pages),
    (r"\bitems? (?:stays?|is|are|keeps?) (?:below|under|less than) (?P<kb>\d+) ?KB\b", _stays_below),
)


RULE = Rule("DOC903", Severity.DISAGREEMENT, "The design does otherwise than it says", check)
