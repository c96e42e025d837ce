"""What a settled difference is: a rule for one complaint against another, or a wording of one phrase."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from golden.side_by_side.arena import Case
from golden.side_by_side.comparison import Aspect, Difference


def _always(_case: Case, _difference: Difference) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """A settled difference. The patterns match the error and message of each side in full, or OK.

    In the pattern for their text, {group} stands for what the group of that name matched in ours.
    """

    name: str
    why: str
    evidence: str
    aspect: Aspect
    ours: str = ".*"
    theirs: str = ".*"
    operations: tuple[str, ...] = ()
    when: Callable[[Case, Difference], bool] = _always

    def explains(self, case: Case, difference: Difference, ours: str, theirs: str) -> bool:
        """Tell whether a difference is the one that this rule settles. The texts are those after all "
        "wordings."""
        if difference.aspect != self.aspect:
            return False
        if self.operations and case.script.operation not in self.operations:
            return False
        found = re.fullmatch(self.ours, ours, re.DOTALL)
        if found is None:
            return False
        pattern = self.theirs
        for group, text in found.groupdict().items():
            pattern = pattern.replace("{" + group + "}", re.escape(text or ""))
        return re.fullmatch(pattern, theirs, re.DOTALL) is not None and self.when(case, difference)


@dataclass(frozen=True)
class Wording:
    """A phrase that DynamoDB Local words otherwise, wherever it stands in a message. Both become one.

    Without a pattern for theirs, the phrase is one that they never have.
    """

    name: str
    why: str
    evidence: str
    ours: str
    theirs: str
    common: str
    operations: tuple[str, ...] = ()

    def applied(self, operation: str, ours: str, theirs: str) -> tuple[str, str]:
        """Return both texts with the phrase replaced, if both have it."""
        if self.operations and operation not in self.operations:
            return ours, theirs
        if re.search(self.ours, ours) is None or re.search(self.theirs, theirs) is None:
            return ours, theirs
        ours = re.sub(self.ours, self.common, ours)
        return ours, re.sub(self.theirs, self.common, theirs) if self.theirs else theirs
