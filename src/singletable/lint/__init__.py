"""The linter: what is wrong with a design, found on its blueprint before anything is built."""

from singletable.lint.finding import Finding, Severity
from singletable.lint.linting import lint
from singletable.lint.rule import Rule, all_rules

__all__ = ["Finding", "Rule", "Severity", "all_rules", "lint"]
