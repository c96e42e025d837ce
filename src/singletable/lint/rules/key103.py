"""KEY103: a date in a sort key that does not begin with the year sorts by its first figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import words
from singletable.lint.keys import Slot
from singletable.lint.rule import Rule, finding
from singletable.lint.rules.key101 import prove
from singletable.lint.view import View

_DAY_FIRST: Final = re.compile(
    r"(dd?|mm?|mmm|d|m)[-./ ]?(dd?|mmm?|m|d)[-./ ]?(yyyy|yy)([^a-z].*)?", re.IGNORECASE
)
_SAMPLE: Final = re.compile(r"(\d{1,2})[-./ ](\d{1,2})[-./ ](\d{4})(?:[T ].*)?")
_NAMED: Final = re.compile(
    r"(?:[A-Z][a-z]{2}, )?\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}.*|[A-Z][a-z]{2,8} \d{1,2}, \d{4}.*"
)
_MONTH_FIRST: Final = re.compile(r"(?:mm?|%m)[-./ ](?:yyyy|%Y)", re.IGNORECASE)
_MONTH_SAMPLE: Final = re.compile(r"(?:0?[1-9]|1[0-2])[-./ ](?:19|20)\d\d")
_NO_ORDER: Final = ("rfc-2822", "rfc-822", "rfc-1123", "http-date", "rfc2822", "rfc822", "rfc1123")
_EARLIER, _LATER = "14-01-2026", "03-02-2026"


def check(view: View) -> Iterator[Finding]:
    """Look for days in sort keys that are written with the day or the month first."""
    for place in view.places:
        for role, attribute, template in place.templates():
            for slot in template.slots if role == "sk" else ():
                if slot.is_encoded or not _has_year_last(slot):
                    continue
                earlier, later = _pair(slot)
                keys = template.example(**{slot.name: earlier}), template.example(**{slot.name: later})
                yield finding(
                    RULE,
                    view.attribute_path(place.entity.name, slot.name),
                    place.path,
                    message=f"{slot.name} stands in {template.text} as {slot.format or later}, not the year first",
                    because=f"{keys[1]} sorts before {keys[0]}, though it is later",
                    repair="write days as ISO 8601 has them, YYYY-MM-DD",
                    facts={"attribute": attribute, "keys": keys},
                )


def _has_year_last(slot: Slot) -> bool:
    dates = [value for value in slot.samples if isinstance(value, str)]
    is_dated = bool(dates) and all(_SAMPLE.fullmatch(value) for value in dates)
    is_named = bool(dates) and all(_NAMED.fullmatch(value) for value in dates)
    said = slot.format.replace("%d", "dd").replace("%m", "mm").replace("%Y", "yyyy").replace("%y", "yy")
    is_said = bool(_DAY_FIRST.fullmatch(said) or _MONTH_FIRST.fullmatch(said)) or said.lower() in _NO_ORDER
    return is_said or is_dated or is_named or _is_month_first(slot)


def _is_month_first(slot: Slot) -> bool:
    shown = [str(value) for value in slot.samples]
    is_shown = bool(shown) and all(_MONTH_SAMPLE.fullmatch(value) for value in shown)
    is_named = bool({"month", "period", "date"} & set(words(slot.name)))
    return _MONTH_FIRST.fullmatch(slot.format) is not None or (is_shown and is_named)


def _pair(slot: Slot) -> tuple[str, str]:
    """Return an earlier and a later day that text has the other way round: of the samples, if they show it."""
    is_month_first = slot.format.lower().startswith("m")
    dates = sorted(
        ((found[3], *(found.group(1, 2) if is_month_first else found.group(2, 1))), str(value))
        for value in slot.samples
        if (found := _SAMPLE.fullmatch(str(value)))
    )
    pairs = [(one, two) for at, (_, one) in enumerate(dates) for _, two in dates[at + 1 :] if two < one]
    if pairs:
        return pairs[0]
    texts = [str(value) for value in slot.samples]
    if slot.format.lower() in _NO_ORDER or any(_NAMED.fullmatch(text) for text in texts):
        return ("Mon, 28 Dec 2026 10:00:00 GMT", "Fri, 01 Jan 2027 10:00:00 GMT")
    if _is_month_first(slot):
        return ("12-2025", "01-2026")
    return ("12-31-2025", "01-02-2026") if is_month_first else (_EARLIER, _LATER)


RULE = Rule("KEY103", Severity.ERROR, "A date in a sort key does not begin with the year", check, prove)
