"""The page of each rule: it is there, its wrong example gives the finding, its right ones give nothing."""

from __future__ import annotations

import re

import pytest

from singletable.blueprint import Blueprint
from singletable.lint import Rule, Severity, all_rules, lint
from singletable.lint.bench import Bench

_SECTION = re.compile(r"^## (?P<title>[^\n]+)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"```toml\n(.*?)```", re.DOTALL)
RULES = list(all_rules().values())


def _blocks(rule: Rule, *titles: str) -> list[Blueprint]:
    return [
        Blueprint.from_toml(block)
        for section in _SECTION.finditer(rule.page())
        if section["title"] in titles
        for block in _BLOCK.findall(section["body"])
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_page_explains_the_rule(rule: Rule) -> None:
    page = rule.page()
    assert page.startswith(f"# {rule.code}: {rule.title[0].lower()}{rule.title[1:]}\n")
    assert [section["title"] for section in _SECTION.finditer(page)] in (
        ["Wrong", "Right", "Repair"],
        ["Wrong", "Right", "Not a finding", "Repair"],
    )
    assert "AWS: " in page


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_wrong_example_is_found_and_nothing_else(rule: Rule) -> None:
    wrong = _blocks(rule, "Wrong")
    assert wrong
    for blueprint in wrong:
        found = lint(blueprint)
        assert {each.code for each in found} == {rule.code}, found
        for each in found:
            assert each.places(blueprint)
            assert each.because, "a finding says why it matters"
            assert each.repair, "a finding says how to repair it"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_right_examples_give_nothing(rule: Rule) -> None:
    right = _blocks(rule, "Right", "Not a finding")
    assert right
    for blueprint in right:
        assert not lint(blueprint)


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.prove is not None], ids=lambda rule: rule.code
)
def test_wrong_example_is_proved(rule: Rule) -> None:
    assert rule.prove is not None
    for blueprint in _blocks(rule, "Wrong"):
        for found in lint(blueprint):
            with Bench(blueprint) as bench:
                bench.create_table()
                assert rule.prove(found, bench)


def test_codes_and_severities_are_in_order() -> None:
    for rule in RULES:
        assert re.fullmatch(r"[A-Z]{3}\d{3}", rule.code)
        assert rule.severity in Severity
