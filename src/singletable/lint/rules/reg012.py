"""REG012: a region that is somewhere else than the design says."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.regions import codes_at, known_place
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Compare the place of each region with the place that it is taken for."""
    for at, region in enumerate(view.blueprint.table.regions):
        name, meant = known_place(region.code), codes_at(region.place)
        if name and meant and region.code not in meant:
            there = " or ".join(sorted(meant))
            yield finding(
                RULE,
                ("table", "regions", at),
                message=f"{region.code} is said to be {region.place}, and is {name}",
                because=f"{region.place} is {there}: who builds by the code keeps the data somewhere else than "
                "who builds by the name",
                repair=f"write {there}, or call the place {name}",
            )


RULE = Rule("REG012", Severity.DISAGREEMENT, "A region is somewhere else than it is said to be", check)
