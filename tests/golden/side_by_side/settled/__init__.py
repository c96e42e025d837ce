"""Differences from DynamoDB Local that were looked at and settled for us, each with its evidence.

A rule is narrow: it names the aspect, and matches what we answered and what they answered in full. A difference
that no rule and no wording explains is a fault, of ours or of these rules.
"""

from __future__ import annotations

from golden.side_by_side.arena import Case
from golden.side_by_side.comparison import Difference
from golden.side_by_side.settled.answers import ANSWER_RULES
from golden.side_by_side.settled.form import FORM_RULES
from golden.side_by_side.settled.legacy import LEGACY_RULES
from golden.side_by_side.settled.pages import PAGE_RULES
from golden.side_by_side.settled.rule import Rule
from golden.side_by_side.settled.tables import TABLE_RULES
from golden.side_by_side.settled.transactions import TRANSACTION_RULES
from golden.side_by_side.settled.wordings import WORDINGS

RULES: tuple[Rule, ...] = (
    *FORM_RULES,
    *LEGACY_RULES,
    *PAGE_RULES,
    *TRANSACTION_RULES,
    *TABLE_RULES,
    *ANSWER_RULES,
)


def unsettled(case: Case) -> list[Difference]:
    """Return the differences that no wording and no rule explains."""
    return [difference for difference in case.differences if not _is_settled(case, difference)]


def _is_settled(case: Case, difference: Difference) -> bool:
    ours, theirs = _worded(case, case.ours.text, case.theirs.text)
    if difference.aspect == "refusal" and ours == theirs and _is_the_rest_worded(case, difference):
        return True
    return any(rule.explains(case, difference, ours, theirs) for rule in RULES)


def _worded(case: Case, ours: str, theirs: str) -> tuple[str, str]:
    for wording in WORDINGS:
        ours, theirs = wording.applied(case.script.operation, ours, theirs)
    return ours, theirs


def _is_the_rest_worded(case: Case, difference: Difference) -> bool:
    """Tell whether two refusals are the same beside their messages, and their reasons but for wordings.

    DynamoDB Local ends some of its reasons with a full stop.
    """
    if case.ours.status != case.theirs.status or difference.ours.get("Item") != difference.theirs.get("Item"):
        return False
    ours = difference.ours.get("CancellationReasons", [])
    theirs = difference.theirs.get("CancellationReasons", [])
    if len(ours) != len(theirs):
        return False
    for one, other in zip(ours, theirs, strict=True):
        texts = _worded(
            case, one.get("Message", "").removesuffix("."), other.get("Message", "").removesuffix(".")
        )
        if texts[0] != texts[1] or {**one, "Message": ""} != {**other, "Message": ""}:
            return False
    return True
