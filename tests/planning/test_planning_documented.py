"""Figures of documents: every one is compared, and each known mistake is told with its numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

import pytest

from singletable.blueprint import (
    Blueprint,
    EntityBlueprint,
    FigureBlueprint,
    FixBlueprint,
    LoadBlueprint,
    Said,
    TableBlueprint,
    VolumeBlueprint,
)
from singletable.planning.documented import FigureComparison, compare_documented
from singletable.planning.formulas import FormulaError, evaluate
from singletable.planning.workload import Planner
from singletable.systems import System, installed_systems

SYSTEMS = installed_systems()


@dataclass(frozen=True)
class Price:
    usd: float
    source: str = "AWS price list"
    date: date = date(2026, 9, 11)


@dataclass(frozen=True)
class Prices:
    """Those of us-east-1 after November 2024."""

    code: str = "us-east-1"

    def find(self, name: str, /) -> Price | None:
        known = {"write_request": 0.625, "read_request": 0.125, "storage": 0.25, "pitr": 0.2, "backup": 0.1}
        return Price(known[name]) if name in known else None


def compared(system: System) -> tuple[FigureComparison, ...]:
    documented = system.documented()
    assert documented is not None
    return compare_documented(documented, system.blueprint(), Prices())


ROWS = {name: compared(system) for name, system in SYSTEMS.items()}


def row(system: str, name: str, by: str) -> FigureComparison:
    return next(each for each in ROWS[system] if (each.name, each.by) == (name, by))


# --- all of them ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_every_figure_is_compared_and_each_row_has_its_line_and_a_reason(system: System) -> None:
    documented = system.documented()
    assert documented is not None
    rows = ROWS[system.name]
    assert {each.name for each in rows} == {figure.name for figure in documented.figures}
    for each in rows:
        assert each.said_at
        assert each.reason
        assert (each.computed is None) == (each.by == "nothing")
        assert (each.computed is None) == (each.agrees is None)
        assert not each.ids or each.agrees is False


@pytest.mark.parametrize(
    ("system", "ids"),
    [
        ("smart_cooking", {"SC-45", "SC-46", "SC-47", "SC-48", "SC-49", "SC-61", "X-12"}),
        ("kefir", {"KF-15", "KF-16", "X-12"}),
        ("lunch_cache", {"LC-07"}),
        ("perfectit", set()),
    ],
)
def test_known_mistakes_of_figures_are_found(system: str, ids: set[str]) -> None:
    assert {found for each in ROWS[system] for found in each.ids} == ids


# --- Smart Cooking --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "stated", "computed"),
    [
        ("reads_per_day", 12_000, 11_300),
        ("writes_per_day", 3_250, 3_650),
        ("reads_per_hour", 139, 500),
        ("reads_per_second", 0.04, 0.139),
        ("writes_per_hour", 38, 135),
        ("writes_per_second", 0.01, 0.0376),
    ],
)
def test_sums_and_rates_of_a_day(name: str, stated: float, computed: float) -> None:
    found = row("smart_cooking", name, "terms")
    assert (found.stated, found.agrees, found.ids) == (stated, False, ("SC-45",))
    assert found.computed == pytest.approx(computed, rel=0.01)


def test_reason_of_a_wrong_sum_is_the_sum() -> None:
    found = row("smart_cooking", "reads_per_day", "terms")
    assert found.reason == "500 + 1,000 + 4,000 + 3,000 + 500 + 300 + 2,000 = 11,300, and not 12,000"
    assert (found.said_at, found.unit, found.difference) == ("002:563", "reads/day", -700)


def test_corrected_sum_is_handed_on() -> None:
    found = row("smart_cooking", "reads_per_hour", "recomputed")
    assert found.computed == pytest.approx(11_300 / 24)
    assert found.reason.startswith("with reads_per_day (11,300, not 12,000) put right, 11,300 / 24")


def test_login_is_a_write_too() -> None:
    found = row("smart_cooking", "profile_update_writes_per_day", "calls")
    assert (found.stated, found.ids) == (100, ("SC-46",))
    assert found.computed == pytest.approx(600)
    assert "a login is a write too" in found.reason


def test_recovery_of_a_fifth_of_a_gigabyte_costs_four_cents() -> None:
    small, large = (
        row("smart_cooking", "backup_cost", "terms"),
        row("smart_cooking", "grown_backup_cost", "recomputed"),
    )
    assert (small.stated, large.stated) == (20, 40)
    assert small.computed == pytest.approx(0.04)
    assert large.computed == pytest.approx(0.40)
    assert "SC-47" in small.ids
    assert "SC-47" in large.ids
    assert "SC-47" in row("smart_cooking", "recovery_cost", "terms").ids


def test_ten_times_the_storage_has_ten_times_the_backups() -> None:
    found = row("smart_cooking", "grown_backup_cost", "terms")
    assert (found.stated, found.computed) == (40, 200)
    assert "SC-61" in found.ids


def test_total_is_well_under_a_dollar_and_less_than_a_server() -> None:
    stated = [each for each in ROWS["smart_cooking"] if each.name == "total_cost"]
    assert {(each.said_at, each.stated, each.upto) for each in stated} == {
        ("002:587", 20, 25),
        ("002:16", 40, 55),
    }
    right = [each for each in stated if each.by == "recomputed"]
    assert [each.computed for each in right] == [pytest.approx(0.51, abs=0.01)] * 2
    assert all(each.ids == ("SC-48",) for each in right)
    (server,) = (each for each in ROWS["smart_cooking"] if each.name == "rds_cost")
    assert (server.stated, server.by) == (30, "nothing")
    assert row("smart_cooking", "total_cost", "terms").agrees
    (grown,) = (
        each for each in ROWS["smart_cooking"] if (each.name, each.by) == ("grown_total_cost", "recomputed")
    )
    assert grown.computed == pytest.approx(5.12, abs=0.01)


def test_request_is_not_a_unit() -> None:
    saved = row("smart_cooking", "suggestion_save_writes_per_day", "plan")
    assert (saved.stated, saved.computed, saved.unit) == (1_000, 2_000, "write units/day")  # 1.5 KB each
    writes = row("smart_cooking", "write_cost", "plan")
    assert writes.ids == ("SC-49",)
    assert writes.computed is not None
    assert writes.computed > 2 * writes.stated
    indexes = row("smart_cooking", "index_cost", "plan")
    assert indexes.ids == ("SC-49",)
    assert "write units a month at $1.25 a million" in indexes.reason


def test_prices_of_the_document_are_older_than_those_of_the_table() -> None:
    reads, writes = (
        row("smart_cooking", "read_price", "today"),
        row("smart_cooking", "write_price", "today"),
    )
    assert (reads.stated, reads.computed, reads.ids) == (0.25, 0.125, ("X-12",))
    assert (writes.stated, writes.computed, writes.ids) == (1.25, 0.625, ("X-12",))
    assert "us-east-1 of 2026-09-11 (AWS price list)" in writes.reason
    then, now = row("smart_cooking", "write_cost", "plan"), row("smart_cooking", "write_cost", "today")
    assert then.computed is not None
    assert now.computed == pytest.approx(then.computed / 2)


def test_cost_that_has_no_price_in_the_table_says_so() -> None:
    class Unpriced(Prices):
        def find(self, name: str, /) -> Price | None:
            return None

    system = SYSTEMS["smart_cooking"]
    documented = system.documented()
    assert documented is not None
    found = {
        (each.name, each.by): each for each in compare_documented(documented, system.blueprint(), Unpriced())
    }
    assert found["write_cost", "today"].computed is None
    assert (
        found["write_cost", "today"].reason
        == "it has no price of today: the price write_request is not in the table"
    )


# --- Kefir ----------------------------------------------------------------------------------------------


def test_144_kb_are_called_150() -> None:
    found = row("kefir", "storage_per_user", "terms")
    assert (found.stated, found.computed, found.difference) == (150, 144, -6)
    assert "KF-16" in found.ids


def test_entries_of_the_index_are_40_kb_of_a_user() -> None:
    found = row("kefir", "storage_per_user", "plan")
    assert found.reason.startswith("items take 144 KB, entries of indexes 40 KB (28% more), the overhead")
    assert "KF-15" in found.ids


def test_batch_of_2_kb_is_two_units_and_two_of_the_index() -> None:
    blueprint = SYSTEMS["kefir"].blueprint()
    planner, batch = Planner(blueprint), blueprint.entity("Batch")
    assert batch is not None
    stored, moved = planner.write("create", batch), planner.write("update", batch, ("status",))
    assert (stored.units("write", index=None).mean, stored.units("write", index="GSI1").mean) == (2, 2)
    assert (moved.units("write", index=None).mean, moved.units("write", index="GSI1").mean) == (2, 4)
    units = row("kefir", "writes", "plan")
    assert units.stated == 50_000
    assert units.computed is not None
    assert units.computed > 150_000
    assert "KF-15" in units.ids


def test_calls_of_the_design_are_the_requests_of_the_document() -> None:
    assert row("kefir", "reads", "calls").agrees
    assert row("kefir", "writes", "calls").agrees


def test_costs_are_right_by_the_prices_of_their_time() -> None:
    for name in ("storage_cost", "read_cost", "write_cost", "cost"):
        assert row("kefir", name, "terms").agrees
        assert "KF-15" in row("kefir", name, "plan").ids
    assert "X-12" in row("kefir", "read_cost", "today").ids


# --- Lunch Cache ----------------------------------------------------------------------------------------


def test_lunches_are_no_items() -> None:
    items, stored = (
        row("lunch_cache", "lunches_per_year", "plan"),
        row("lunch_cache", "storage_per_year", "plan"),
    )
    assert (items.stated, stored.stated) == (7_800, 15)
    assert items.computed == pytest.approx(520, rel=0.01)
    assert stored.computed == pytest.approx(1, rel=0.03)
    assert items.ids == stored.ids == ("LC-07",)


def test_item_with_2_kb_of_each_lunch_takes_60_units_to_store_and_90_to_refresh() -> None:
    blueprint = SYSTEMS["lunch_cache"].blueprint()
    menu = blueprint.entity("WeeklyMenu")
    assert menu is not None
    planner = Planner(replace(blueprint, volumes=(VolumeBlueprint("WeeklyMenu", 20, 30),)))
    assert planner.write("create", menu).writes.mean == 60
    assert planner.write("update", menu, ("cached_at",)).writes.mean == 90


# --- any document ---------------------------------------------------------------------------------------


def shop(*figures: FigureBlueprint, **more: object) -> Blueprint:
    return Blueprint("Shop", TableBlueprint("shop", "PK"), figures=figures, **more)  # type: ignore[arg-type]


def only(blueprint: Blueprint) -> FigureComparison:
    (found,) = compare_documented(blueprint)
    return found


def test_figure_without_terms_has_nothing_to_be_compared_with() -> None:
    found = only(shop(FigureBlueprint("limit", 5, "ms")))
    assert (found.computed, found.difference, found.by, found.agrees) == (None, None, "nothing", None)


@pytest.mark.parametrize(
    ("stated", "computed", "agrees"),
    [
        *[(0.12, 0.121875, True), (1.22, 1.21875, True), (15, 15.23, True), (12_000, 11_300, False)],
        *[(150, 144, False), (0.04, 0.0386, True), (20, 20.4, True), (20, 21, False), (1_000, 940, False)],
    ],
)
def test_figure_agrees_with_what_rounds_to_it(stated: float, computed: float, agrees: bool) -> None:
    found = only(shop(FigureBlueprint("x", stated, formula="y", terms={"y": computed})))
    assert found.agrees is agrees


def test_range_holds_what_lies_in_it_and_is_as_far_as_its_nearer_end() -> None:
    def of(value: float) -> FigureComparison:
        return only(shop(FigureBlueprint("x", 20, upto=25, formula="y", terms={"y": value})))

    assert (of(22.3).agrees, of(22.3).difference) == (True, 0)
    assert (of(30).agrees, of(30).difference) == (False, 5)
    assert (of(12).agrees, of(12).difference) == (False, -8)


def test_fix_is_told_where_the_figure_is_wrong() -> None:
    wrong, right = (
        FigureBlueprint(name, 5, formula="a + b", terms={"a": 1, "b": b}) for name, b in (("w", 1), ("r", 4))
    )
    fixes = (FixBlueprint("X-1", ("figures.w",)), FixBlueprint("X-2", ("figures.r",)))
    assert [each.ids for each in compare_documented(shop(wrong, right, fixes=fixes))] == [("X-1",), ()]


def test_document_alone_is_compared_with_its_own_loads() -> None:
    order = EntityBlueprint("Order", "Order")
    blueprint = shop(
        FigureBlueprint("orders", 100, "writes/day", said=(Said("9:1"),)),
        entities=(order,),
        volumes=(VolumeBlueprint("Order", 10, 3),),
        loads=(LoadBlueprint("create", "Order", monthly=3_000, because="as said", said=(Said("9:1"),)),),
    )
    calls, units = compare_documented(blueprint)
    assert (calls.by, calls.computed, calls.agrees) == ("calls", 100, True)
    assert (units.by, units.computed, units.unit) == ("plan", 300, "write units/day")


@pytest.mark.parametrize(
    ("formula", "terms", "says"),
    [
        ("__import__('os')", {}, "is no arithmetic"),
        ("a ** b", {"a": 9, "b": 9}, "* stands where a value should"),
        ("a.b", {"a": 1}, "'.b' is no arithmetic"),
        ("a[0]", {"a": 1}, "is no arithmetic"),
        ("a b", {"a": 1, "b": 2}, "stands where a sign or the end should"),
        ("a +", {"a": 1}, "ends where a value should stand"),
        ("(a", {"a": 1}, "a parenthesis is not closed"),
        ("a)", {"a": 1}, "')' stands where a sign or the end should"),
        ("a / b", {"a": 1, "b": 0}, "divides by zero"),
        ("a / (b - b)", {"a": 1, "b": 2}, "divides by zero"),
        ("c", {"a": 1}, "'c' is none of its terms"),
        ("a", {"a": "nothing"}, "which is no figure"),
        ("x", {"x": "x"}, "lead back to it"),
        ("   ", {}, "the formula is empty"),
        ("(" * 60 + "a" + ")" * 60, {"a": 1}, "more than 50 deep"),
        ("a+" * 3_000 + "a", {"a": 1}, "more than 4,000 characters"),
        ("a * a", {"a": 1e300}, "no finite number"),
        ("9" * 3_999, {}, "no finite number"),
        ("a", {"a": float("nan")}, "no finite number"),
    ],
)
def test_formula_that_is_none_ends_in_a_sentence(
    formula: str, terms: dict[str, float | str], says: str
) -> None:
    found = only(shop(FigureBlueprint("x", 1, formula=formula, terms=terms)))
    assert (found.computed, found.agrees) == (None, None)
    assert found.reason.startswith("its formula cannot be worked out: ")
    assert says in found.reason
    assert len(found.reason) < 200


def test_figures_that_rest_on_each_other_end_in_a_sentence() -> None:
    rows = compare_documented(
        shop(
            FigureBlueprint("a", 1, formula="b + 1", terms={"b": "b"}),
            FigureBlueprint("b", 2, formula="a + 1", terms={"a": "a"}),
        )
    )
    assert [each.computed for each in rows] == [None, None]


def test_long_chain_and_wide_web_of_figures_end_soon() -> None:
    chain = [FigureBlueprint("f0", 1.0)]
    chain += [FigureBlueprint(f"f{n}", 1.0, formula="x + x", terms={"x": f"f{n - 1}"}) for n in range(1, 300)]
    rows = compare_documented(shop(*chain))
    assert len({each.name for each in rows}) == 300


def test_value_that_is_no_number_is_written_as_it_is() -> None:
    (found,) = compare_documented(shop(FigureBlueprint("x", float("inf"), formula="y", terms={"y": 2})))
    assert found.agrees is False
    assert found.reason == "2 = 2, and not inf"


@pytest.mark.parametrize(
    ("formula", "value"),
    [("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("8 / 4 / 2", 1), ("10 - 3 - 2", 5), ("2*x", 5), (" x ", 2.5)],
)
def test_arithmetic_is_read_as_usual(formula: str, value: float) -> None:
    assert evaluate(formula, {"x": 2.5}) == value


def test_error_of_a_formula_quotes_little_and_escapes_it() -> None:
    with pytest.raises(FormulaError, match=r"x1b") as caught:
        evaluate("\x1b[31m" * 100, {})
    assert "\x1b" not in str(caught.value)
