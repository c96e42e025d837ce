"""KEY104: a key joins a calendar year with an ISO week, which may belong to another year."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import words
from singletable.lint.keys import Slot
from singletable.lint.requests import prove_overwritten
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View


def check(view: View) -> Iterator[Finding]:
    """Look for places whose keys hold the number of an ISO week beside a year of the calendar."""
    for place in view.places:
        years = [slot for slot in place.slots if _is_calendar_year(slot)]
        weeks = [slot for slot in place.slots if _is_iso_week(slot)]
        if not years or not weeks:
            continue
        year, week = years[0], weeks[0]
        entity = place.entity.name
        yield finding(
            RULE,
            view.attribute_path(entity, week.name),
            view.attribute_path(entity, year.name),
            place.path,
            message=f"the key of {entity} joins {year.name}, of the calendar, with {week.name}, an ISO week",
            because=(
                "2024-12-30 lies in week 01 of the ISO year 2025: with the calendar's 2024 it gets the key of "
                "week 01 of January 2024, and overwrites it; 2027-01-01 lies in week 53 of 2026"
            ),
            repair=f"write the year of the ISO week (isocalendar().year) as {year.name}",
            facts=_facts(place, year, week),
        )


def _is_calendar_year(slot: Slot) -> bool:
    about = getattr(slot.source, "about", "").lower()
    return slot.format == "calendar-year" or ("year" in words(slot.name) and "calendar year" in about)


def _is_iso_week(slot: Slot) -> bool:
    about = getattr(slot.source, "about", "").lower()
    is_said = slot.format.startswith("iso-week") or ("week" in words(slot.name) and "iso" in words(about))
    return is_said and slot.is_number


def _facts(place: Place, year: Slot, week: Slot) -> dict[str, str]:
    """Return the key that the first and the last days of 2024 have in common."""
    held = next(
        (name, template)
        for _, name, template in place.templates()
        if {year.name, week.name} & {slot.name for slot in template.slots}
    )
    return {"attribute": held[0], "key": held[1].example(**{year.name: 2024, week.name: 1})}


RULE = Rule(
    "KEY104", Severity.ERROR, "A key joins a calendar year with an ISO week", check, prove_overwritten
)
