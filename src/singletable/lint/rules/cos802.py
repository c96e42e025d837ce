"""COS802: two values of one figure."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.planning.stated_numbers import said_at_first


def check(view: View) -> Iterator[Finding]:
    """Look for figures that another document, or another line, states otherwise."""
    for at, figure in enumerate(view.blueprint.figures):
        for said in figure.said:
            other = said.differs.get("value")
            if isinstance(other, int | float) and other != figure.value:
                yield finding(
                    RULE,
                    ("figures", at),
                    message=(
                        f"{figure.name} is {figure.value:g} {figure.unit} and also {other:g} {figure.unit}"
                    ).strip(),
                    because=f"{said_at_first(figure)} states {figure.value:g}, and {said.at} {other:g}, for the "
                    "same",
                    repair="work it out once, and state it once",
                )


RULE = Rule("COS802", Severity.DISAGREEMENT, "One figure has two values", check)
