"""Reports of a plan: terminal, Markdown, plots and pages, and the difference to an earlier plan."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from designs.busy_shops import Shops
from designs.hostile import HOSTILE
from singletable.blueprint import Blueprint, EntityBlueprint, LoadBlueprint
from singletable.cli.blueprint import find_blueprint
from singletable.planning import Plan, PlanOptions, cost_over_users, explain, make_plan
from singletable.planning.amounts import Amount
from singletable.planning.measured import Measured, MeasuredPlace
from singletable.planning.reports.charts import CHARTS, chart
from singletable.planning.reports.figures import (
    change,
    counted,
    dollars,
    dollars_range,
    gigabytes,
    share,
    shortened,
)
from singletable.planning.reports.html import html
from singletable.planning.reports.markdown import markdown
from singletable.planning.reports.measured import measured_data, measured_text
from singletable.planning.reports.since import EarlierPlanError, read_earlier, since
from singletable.planning.reports.terminal import explained, terminal
from singletable.visible import is_visible

SYSTEMS = ("kefir", "lunch_cache", "perfectit", "smart_cooking")
MARKUP = '</title></text><script>alert("1")</script>|`*_&'


@pytest.fixture(scope="module", params=SYSTEMS)
def plan(request: pytest.FixtureRequest) -> Plan:
    return make_plan(find_blueprint(request.param), PlanOptions(users=1_000_000))


@pytest.fixture(scope="module")
def kefir() -> Plan:
    return make_plan(find_blueprint("kefir"), PlanOptions(users=1_000))


def renamed(name: str) -> Blueprint:
    """Return a design that has an entity of this name, which is written."""
    blueprint = Shops.blueprint()
    odd = replace(blueprint.entities[0], name=name, discriminator=name)
    entities: tuple[EntityBlueprint, ...] = (*blueprint.entities, odd)
    load = LoadBlueprint("create", name, monthly=1e9, because=name)
    return replace(blueprint, name=name, entities=entities, loads=(*blueprint.loads, load))


# --- figures ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.0004, "<0.01"),
        (2.5, "2.5"),
        (9_999, "9,999"),
        (518_400, "518 k"),
        (20e6, "20 M"),
        (999_999, "1 M"),
        (1.2e9, "1.2 bn"),
    ],
)
def test_number_of_many_things_takes_few_characters(number: float, text: str) -> None:
    assert counted(number) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "$0.00"),
        (0.004, "<$0.01"),
        (0.005, "$0.01"),
        (1787.416, "$1,787.42"),
        (-2, "-$2.00"),
        (-0.001, "-<$0.01"),
    ],
)
def test_money_has_cents(usd: float, text: str) -> None:
    assert dollars(usd) == text


def test_small_words_of_reports() -> None:
    assert (change(0.001), change(1.5), change(-1.5)) == ("no change", "+$1.50", "-$1.50")
    assert (share(1, 0), share(0.0001, 1), share(1, 3), share(20, 1)) == ("", "<0.1%", "33.3%", "2,000.0%")
    assert dollars_range(Amount(1, 2, 3)) == "$1.00 to $3.00"
    assert dollars_range(Amount.exactly(2)) == ""
    assert [gigabytes(size) for size in (12, 2_048, 3 * 1024**3)] == ["12 bytes", "2 KB", "3 GB"]
    assert shortened("10 (0 to 4,000) items, 5 (1 to 6) for a page") == "10 items, 5 for a page"


# --- terminal -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(plan: Plan, width: int) -> None:
    lines = terminal(plan, width=width, every_line=True).splitlines()
    lines += explained(explain(plan, plan.lines[0].name), width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if line != line.rstrip()]


def test_largest_cost_is_first_and_says_why(kefir: Plan) -> None:
    lines = terminal(kefir).splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith(" USD/month")) + 1
    assert kefir.lines[0].name in lines[first]
    assert shortened(kefir.lines[0].why)[:30] in lines[first + 1]


def test_lines_beyond_twelve_are_one(kefir: Plan) -> None:
    assert f"{len(kefir.lines) - 12} more lines: --all shows them" in terminal(kefir)
    assert "more lines" not in terminal(kefir, every_line=True)


def test_what_is_left_out_is_said() -> None:
    plan = make_plan(replace(Shops.blueprint(), loads=()))
    assert "left out:\n  - patterns without a load: order" in terminal(plan)


# --- the difference -----------------------------------------------------------------------------------------


def earlier(plan: Plan, **changes: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(plan.data())), **changes}


def test_plan_does_not_differ_from_itself(kefir: Plan) -> None:
    found = since(kefir, earlier(kefir))
    assert (found.lines, found.terms, found.left_out) == ((), (), ())
    assert "No line costs a cent more or less than before." in markdown(kefir, earlier=found)


def test_difference_names_what_is_new_gone_and_changed(kefir: Plan) -> None:
    lines = [line for line in kefir.data()["lines"] if line["name"] != "storage"]
    lines[0] = {**lines[0], "usd_month": lines[0]["usd_month"] + 10}
    lines.append({"name": "old_pattern", "usd_month": 3.0})
    found = since(kefir, earlier(kefir, lines=lines, usd_month=kefir.usd + 13, users=500))
    said = {each.name: (each.was, each.now) for each in found.lines}
    assert [each.name for each in found.lines][:2] == [lines[0]["name"], "old_pattern"]
    assert said["old_pattern"] == (3.0, None)
    assert said["storage"][0] is None
    assert found.terms == ("users: 500, now 1,000",)
    text = markdown(kefir, earlier=found)
    assert "| old\\_pattern | $3.00 | gone | -$3.00 |" in text
    assert "| storage | new |" in text
    assert "-$13.00" in terminal(kefir, earlier=found)
    assert "Since the earlier plan" in html(kefir, (), earlier=found)
    assert found.data()["usd_month_change"] == pytest.approx(-13)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "no JSON"),
        ("[]", "no plan of this release"),
        ('{"plan": 2}', "no plan of this release"),
        ('{"plan": 1, "usd_month": 1}', "no whole plan"),
        ('{"plan": 1, "usd_month": 1, "lines": [{"name": "x", "usd_month": "1"}]}', "no whole plan"),
        ("[" * 100_000, "no JSON"),
    ],
    ids=["cut", "list", "other release", "no lines", "text for money", "deep"],
)
def test_file_that_is_no_plan_is_refused(text: str, reason: str) -> None:
    with pytest.raises(EarlierPlanError, match=reason):
        read_earlier(text, "plan.json")


# --- Markdown -----------------------------------------------------------------------------------------------


def test_every_row_of_a_table_has_the_cells_of_its_head(plan: Plan) -> None:
    cells = 0
    for line in markdown(plan).splitlines():
        if not line.startswith("|"):
            cells = 0
            continue
        found = len(re.findall(r"(?<!\\)\|", line))
        assert found == (cells or found), line
        cells = found


def test_names_do_not_become_markup() -> None:
    text = markdown(make_plan(renamed(MARKUP)))
    assert "<script" not in text
    assert "\\|\\`\\*\\_&amp;" in text


# --- plots and pages ----------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Checks that every element is closed, and collects what is fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.fetched: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in ("meta", "rect", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect", "path"):
            assert self.open.pop() == tag


def test_page_is_whole_and_fetches_nothing(plan: Plan) -> None:
    text = html(plan, cost_over_users(plan, users=(1e3, 1e5, 1e7)))
    page = Page(text)
    assert page.fetched == []
    assert "script" not in page.tags
    assert text.count("<figure>") == len(CHARTS)
    assert text.count('<summary class="cells">') == len(plan.lines)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


@pytest.mark.parametrize("name", CHARTS)
def test_plot_stands_alone(plan: Plan, name: str) -> None:
    picture = ElementTree.fromstring(chart(plan, name, cost_over_users(plan)).standalone("It"))
    tags = [element.tag.rpartition("}")[2] for element in picture.iter()]
    assert tags[:3] == ["svg", "title", "desc"]
    width = float(picture.attrib["viewBox"].split()[2])
    for element in picture.findall(".//*"):
        assert float(element.attrib.get("x", 0)) + float(element.attrib.get("width", 0)) <= width + 0.1
        assert not any("nan" in value or "inf" in value for value in element.attrib.values())


@pytest.mark.parametrize("name", CHARTS)
def test_plot_of_nothing_says_so(name: str) -> None:
    empty = make_plan(Blueprint("Empty", Shops.blueprint().table))
    picture = ElementTree.fromstring(chart(empty, name, cost_over_users(empty)).standalone("It"))
    assert any(word in "".join(picture.itertext()) for word in ("nothing", "less than a cent"))


@pytest.mark.parametrize("name", [HOSTILE, MARKUP], ids=["hostile", "markup"])
def test_names_of_others_steer_no_page(name: str) -> None:
    plan = make_plan(renamed(name))
    text = html(plan, cost_over_users(plan, users=(1e3, 1e6)))
    assert "script" not in Page(text).tags
    assert not [each for each in set(text) if not is_visible(each) and each != "\n"]
    for each in CHARTS:
        ElementTree.fromstring(chart(plan, each, cost_over_users(plan, users=(1e3, 1e6))).standalone(name))


# --- what was measured --------------------------------------------------------------------------------------


def test_measured_places_fit_the_terminal() -> None:
    place = MeasuredPlace(
        "t" * 60, "table", 10, 5, 3.2, 0.001, 2, 1, 0.5, "USER#{user_id}", 0.01, "why", ("note",)
    )
    found = Measured("http://127.0.0.1:8000/metrics", 60.0, (place, replace(place, place="GSI1", share=None)))
    text = measured_text(found)
    assert max(map(len, text.splitlines())) <= 80
    assert "50.0%" in text
    assert "USER#{user_id}" in text
    assert measured_data(found)["places"][1]["place"] == "GSI1"
    assert "no table had a request" in measured_text(replace(found, places=()))
