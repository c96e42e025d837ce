"""Linting: every rule that was asked for looks at a blueprint, and at each document's variant of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from singletable.blueprint import Blueprint
from singletable.blueprint.positions import Path
from singletable.lint.finding import Finding
from singletable.lint.rule import Rule, all_rules
from singletable.lint.variants import variants
from singletable.lint.view import View

_PART_DEPTH = 2  # ("entities", 3): what a place is named by


def lint(
    blueprint: Blueprint, *, select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """Return what is wrong with a design. `select` and `ignore` hold codes, or what codes begin with.

    Where documents differ, the design is linted as each of them says it too. A finding that only such a variant
    has names the document.
    """
    rules = tuple(chosen_rules(select, ignore))
    view = View(blueprint)
    found = [each for rule in rules for each in rule.check(view)]
    known = {(each.code, each.path[:_PART_DEPTH]) for each in found}
    for document, changed, variant in variants(blueprint):
        found += _only_there(rules, document, changed, variant, known)
    return tuple(dict.fromkeys(found))


def _only_there(
    rules: Sequence[Rule],
    document: str,
    changed: Iterable[Path],
    variant: Blueprint,
    known: set[tuple[str, Path]],
) -> Iterator[Finding]:
    parts = {path[:_PART_DEPTH] for path in changed}
    view = View(variant)
    for rule in rules:
        if rule.looks_at_documents:
            continue
        for each in rule.check(view):
            touched = any(path[:_PART_DEPTH] in parts for path in each.paths)
            if touched and (each.code, each.path[:_PART_DEPTH]) not in known:
                paths = dict.fromkeys(path[:_PART_DEPTH] for path in each.paths)
                yield replace(each, document=document, paths=tuple(paths))


def chosen_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Iterator[Rule]:
    """Yield the rules that are asked for: all of them without `select`, less those of `ignore`."""
    wanted, unwanted = tuple(select), tuple(ignore)
    for code, rule in all_rules().items():
        if (not wanted or code.startswith(wanted)) and not code.startswith(unwanted or "\0"):
            yield rule
