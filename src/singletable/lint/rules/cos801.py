"""COS801: a figure that its own terms do not give."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.planning import compare_documented


def check(view: View) -> Iterator[Finding]:
    """Work out the formula of every figure with the terms that are stated."""
    at = {figure.name: number for number, figure in enumerate(view.blueprint.figures)}
    if not any(figure.formula for figure in view.blueprint.figures):
        return
    for row in compare_documented(view.blueprint):
        if row.by == "terms" and row.agrees is False:
            figure = view.blueprint.figures[at[row.name]]
            yield finding(
                RULE,
                ("figures", at[row.name]),
                *(
                    ("figures", at[term])
                    for term in figure.terms.values()
                    if isinstance(term, str) and term in at
                ),
                message=f"{row.name} is stated as {row.stated:g} {row.unit}, and its terms give "
                f"{row.computed:.4g}",
                because=row.reason,
                repair="put the figure right, and those that rest on it",
            )


RULE = Rule("COS801", Severity.DISAGREEMENT, "A figure is not what its terms give", check)
