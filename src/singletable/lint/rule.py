"""The rules of the linter: a module of `singletable.lint.rules` for each, with its row and its page beside it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any, Final

from singletable.lint.finding import Finding, Severity

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path
    from singletable.lint.bench import Bench
    from singletable.lint.view import View

_RULES: Final = "singletable.lint.rules"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its code, how bad it is, its title, and the function that looks for it.

    `prove`, where there is one, shows a finding on a table in memory, and says in one sentence what came of it.
    """

    code: str
    severity: Severity
    title: str
    check: Callable[[View], Iterator[Finding]]
    prove: Callable[[Finding, Bench], str | None] | None = None
    looks_at_documents: bool = (
        False  # compares what may be of two documents: a single one is not looked at again
    )

    def page(self) -> str:
        """Return the rule's page: what AWS says, a wrong and a right example, the repair."""
        return (resources.files(_RULES) / f"{self.code.lower()}.md").read_text(encoding="utf-8")


def finding(
    rule: Rule,
    *paths: Path,
    message: str,
    because: str = "",
    repair: str = "",
    severity: Severity | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Finding:
    """Make a finding of a rule."""
    return Finding(rule.code, severity or rule.severity, paths, message, because, repair, facts=facts or {})


@cache
def all_rules() -> Mapping[str, Rule]:
    """Return all rules by their codes, in the order of the codes."""
    package = import_module(_RULES)
    modules = [import_module(f"{_RULES}.{each.name}") for each in pkgutil.iter_modules(package.__path__)]
    rules: list[Rule] = [module.RULE for module in modules if hasattr(module, "RULE")]
    return {rule.code: rule for rule in sorted(rules, key=lambda rule: rule.code)}
