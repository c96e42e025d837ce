"""Linting: every rule that was asked for looks at a blueprint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from singletable.blueprint import Blueprint
from singletable.lint.finding import Finding
from singletable.lint.rule import Rule, all_rules
from singletable.lint.view import View


def lint(
    blueprint: Blueprint, *, select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """Return what is wrong with a design. `select` and `ignore` hold codes, or what codes begin with."""
    view = View(blueprint)
    found = [each for rule in chosen_rules(select, ignore) for each in rule.check(view)]
    return tuple(dict.fromkeys(found))


def chosen_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Iterator[Rule]:
    """Yield the rules that are asked for: all of them without `select`, less those of `ignore`."""
    wanted, unwanted = tuple(select), tuple(ignore)
    for code, rule in all_rules().items():
        if (not wanted or code.startswith(wanted)) and not code.startswith(unwanted or "\0"):
            yield rule
