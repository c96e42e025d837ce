"""Plans: the bill of a design, divided among its lines, indexes and entities."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from designs.busy_shops import Shops
from singletable.blueprint import BackupBlueprint, Blueprint, ConsumerBlueprint, RegionBlueprint
from singletable.cli.blueprint import find_blueprint
from singletable.planning import (
    Plan,
    PlanOptions,
    PriceError,
    PriceTable,
    cost_over_users,
    explain,
    make_plan,
)
from singletable.planning.allocation import TABLE
from singletable.planning.amounts import Amount
from singletable.planning.plan import Billing, plain
from singletable.planning.prices import BOTH, OF_BOTH, STANDARD, UNITS, Price, RegionPrices
from singletable.planning.sizes import EntityProfile

SYSTEMS = ("kefir", "lunch_cache", "perfectit", "smart_cooking")
GB = 1024**3
DAY = date(2026, 1, 1)


def prices(**usd: float) -> PriceTable:
    """Return prices of one region: of what is named alone."""
    found = {name: Price(each, UNITS[name], "a test", DAY) for name, each in usd.items()}
    of_both = {name: price for name, price in found.items() if name in OF_BOTH}
    of_class = {name: price for name, price in found.items() if name not in of_both}
    return PriceTable({"us-east-1": RegionPrices("us-east-1", {STANDARD: of_class, BOTH: of_both})})


PLAIN = prices(write_request=1.0, read_request=0.1, storage=10.0, pitr=5.0, backup=2.0)


@pytest.fixture(scope="module")
def shops() -> Blueprint:
    return Shops.blueprint()


def with_table(blueprint: Blueprint, **settings: Any) -> Blueprint:
    return replace(blueprint, table=replace(blueprint.table, **settings))


def line_of(plan: Plan, name: str) -> float:
    return next(line.usd.mean for line in plan.lines if line.name == name)


# --- what adds up ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("billing", ["on-demand", "provisioned", "auto"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_lines_indexes_and_entities_add_up_to_the_bill(system: str, billing: Billing) -> None:
    plan = make_plan(find_blueprint(system), PlanOptions(users=25_000, billing=billing))
    assert math.isclose(sum(line.usd.mean for line in plan.lines), plan.usd)
    assert math.isclose(sum(part.usd for part in plan.by_index), plan.usd)
    assert math.isclose(sum(part.usd for part in plan.by_entity), plan.usd)
    assert [line.usd.mean for line in plan.lines] == sorted(
        (line.usd.mean for line in plan.lines), reverse=True
    )
    assert all(line.usd.low <= line.usd.mean <= line.usd.high for line in plan.lines)


def test_auto_is_never_dearer_than_either() -> None:
    for users in (1_000, 1_000_000):
        plans = {
            mode: make_plan(find_blueprint("kefir"), PlanOptions(users=users, billing=mode)).usd
            for mode in ("on-demand", "provisioned", "auto")
        }
        assert plans["auto"] == min(plans.values())


def test_line_on_demand_costs_its_units_at_their_price(shops: Blueprint) -> None:
    plan = make_plan(shops, PlanOptions(), prices=PLAIN)
    [line] = [line for line in plan.lines if line.name == "create Order"]
    assert line.calls_month == 3 * 200
    assert math.isclose(line.usd.mean, 600 * (line.writes.mean * 1.0 + line.reads.mean * 0.1) / 1_000_000)
    assert "blocks of 1 KB" in line.why


def test_line_of_provisioned_capacity_has_its_share(shops: Blueprint) -> None:
    table = prices(write_capacity=0.001, read_capacity=0.0001, storage=0.0)
    plan = make_plan(shops, PlanOptions(billing="provisioned"), prices=table)
    [capacity] = [line for line in plan.bill.lines if line.what == "write capacity"]
    writing = {line.name: line for line in plan.lines if line.writes.mean}
    units = sum(line.writes.mean * line.calls_month for line in writing.values())
    order = writing["create Order"]
    share = order.writes.mean * order.calls_month / units
    reads = order.reads.mean * order.calls_month * plan.rates.read
    assert math.isclose(order.usd.mean, capacity.usd * share + reads)


def test_capacity_that_no_call_takes_is_a_line_of_its_own(shops: Blueprint) -> None:
    table = prices(write_capacity=0.001, read_capacity=0.0001, storage=0.0)
    unasked = tuple(replace(each, rps=0.0) for each in shops.patterns)
    silent = replace(shops, loads=(), rates=(), patterns=unasked)
    plan = make_plan(silent, PlanOptions(billing="provisioned"), prices=table)
    assert {line.name for line in plan.lines if line.kind == "capacity"} == {
        "read capacity",
        "write capacity",
    }
    assert math.isclose(sum(line.usd.mean for line in plan.lines), plan.usd)


# --- what is stored --------------------------------------------------------------------------------------


def test_recovery_costs_for_the_table_and_not_for_its_global_indexes() -> None:
    kefir = find_blueprint("kefir")
    plan = make_plan(kefir, PlanOptions(users=1_000), prices=PLAIN)
    of_table = sum(part.size.mean for part in plan.stored if part.index is None) / GB
    whole = sum(part.size.mean for part in plan.stored) / GB
    assert math.isclose(line_of(plan, "storage"), whole * 10.0)
    assert math.isclose(line_of(plan, "point-in-time recovery"), of_table * 5.0)
    assert of_table < whole


def test_backups_that_are_kept_are_as_many_as_their_days_say(shops: Blueprint) -> None:
    kept = with_table(shops, backups=(BackupBlueprint("on-demand", keep_days=28, every_days=7),))
    plan = make_plan(kept, prices=PLAIN)
    of_table = sum(part.size.mean for part in plan.stored if part.index is None) / GB
    assert math.isclose(line_of(plan, "on-demand backups"), of_table * 4 * 2.0)


def test_backups_without_days_are_left_out(shops: Blueprint) -> None:
    plan = make_plan(with_table(shops, backups=(BackupBlueprint("aws-backup"),)), prices=PLAIN)
    assert "backups of the kind aws-backup: declare keep_days and every_days" in plan.left_out


def test_replicas_write_and_store_again(shops: Blueprint) -> None:
    regions = (RegionBlueprint("us-east-1"), RegionBlueprint("eu-west-1", is_replica=True))
    table = prices(write_request=1.0, read_request=0.1, storage=10.0, replicated_write_request=1.0)
    alone = make_plan(shops, prices=table)
    twice = make_plan(with_table(shops, regions=regions), prices=table)
    assert twice.usage.replicas == 1
    assert math.isclose(line_of(twice, "storage"), 2 * line_of(alone, "storage"))
    writes = [sum(line.usd for line in plan.bill.lines if "write" in line.what) for plan in (alone, twice)]
    assert math.isclose(writes[1], 2 * writes[0])
    assert math.isclose(sum(line.usd.mean for line in twice.lines), twice.usd)


# --- what is missing -------------------------------------------------------------------------------------


def test_price_that_is_missing_leaves_its_part_out_and_says_so() -> None:
    table = prices(write_request=1.0, read_request=0.1, storage=10.0)
    plan = make_plan(find_blueprint("kefir"), prices=table)
    [said] = [each for each in plan.left_out if each.startswith("point-in-time recovery")]
    assert "us-east-1" in said
    assert "singletable prices import" in said


def test_price_that_everything_needs_is_an_error(shops: Blueprint) -> None:
    with pytest.raises(PriceError, match="write_request"):
        make_plan(shops, prices=prices(read_request=0.1, storage=1.0))


def test_region_without_prices_is_an_error(shops: Blueprint) -> None:
    with pytest.raises(PriceError, match="there are no prices of eu-nowhere-1"):
        make_plan(shops, PlanOptions(region="eu-nowhere-1"))


def test_load_that_is_missing_is_named(shops: Blueprint) -> None:
    silent = replace(shops, loads=tuple(load for load in shops.loads if load.of != "order"))
    plan = make_plan(silent)
    assert any(each.startswith("patterns without a load: order") for each in plan.left_out)


def test_stream_reader_other_than_lambda_is_charged(shops: Blueprint) -> None:
    reading = replace(shops, consumers=(ConsumerBlueprint("follower", kind="process"),))
    table = prices(write_request=1.0, read_request=0.1, storage=10.0, stream_read=0.02)
    plan = make_plan(reading, prices=table)
    # Four times a second, of one shard.
    assert math.isclose(line_of(plan, "stream reads"), 4 * 730 * 3_600 / 100_000 * 0.02)
    free = make_plan(replace(shops, consumers=(ConsumerBlueprint("function"),)), prices=table)
    assert "stream reads" not in {line.name for line in free.lines}
    assert "Lambda reads the stream free of charge; its own bill is not part of this" in free.assumptions
    unpriced = make_plan(reading, prices=PLAIN)
    assert any(each.startswith("reading the stream: its price") for each in unpriced.left_out)


def test_refused_calls_are_a_line_of_their_own(shops: Blueprint) -> None:
    plan = make_plan(shops, prices=PLAIN)
    refused = next(line for line in plan.lines if line.name == "update Order (refused)")
    made = next(line for line in plan.lines if line.name == "update Order")
    assert math.isclose(refused.calls_month, (made.calls_month + refused.calls_month) * 0.1)


# --- options ---------------------------------------------------------------------------------------------


def test_options_that_are_not_given_are_those_of_the_design(shops: Blueprint) -> None:
    infrequent = with_table(
        shops, table_class="STANDARD_INFREQUENT_ACCESS", regions=(RegionBlueprint("eu-central-1"),)
    )
    options = make_plan(infrequent).options
    assert (options.region, options.table_class) == ("eu-central-1", "STANDARD_INFREQUENT_ACCESS")
    assert make_plan(with_table(shops, billing="PROVISIONED")).options.billing == "provisioned"
    assert make_plan(shops).users == 200


def test_budget_is_compared_with_the_bill(shops: Blueprint) -> None:
    usd = make_plan(shops).usd
    assert make_plan(shops, PlanOptions(budget_usd=usd / 2)).is_over_budget
    assert not make_plan(shops, PlanOptions(budget_usd=usd)).is_over_budget
    assert not make_plan(shops).is_over_budget


def test_cost_over_users_is_that_of_plans_for_them() -> None:
    kefir = find_blueprint("kefir")
    bills = cost_over_users(make_plan(kefir), users=(1_000, 50_000))
    assert [users for users, _ in bills] == [1_000, 50_000]
    assert math.isclose(bills[1][1].total, make_plan(kefir, PlanOptions(users=50_000)).usd)


# --- lines by name, and their arithmetic -----------------------------------------------------------------


def test_lines_are_found_by_method_number_entity_and_kind() -> None:
    plan = make_plan(find_blueprint("kefir"))
    number = next(each.number for each in plan.planner.blueprint.patterns if each.method == "due")
    assert [line.of for line in plan.find(number)] == [line.of for line in plan.find("due")] == ["due"]
    assert {line.name for line in plan.find("Batch")} == {"create Batch", "update Batch", "delete Batch"}
    assert [line.name for line in plan.find("create batch")] == ["create Batch"]
    assert [line.kind for line in plan.find("storage")] == ["stored"]
    assert plan.find("nothing") == ()


def test_explanation_ends_with_what_the_line_costs(shops: Blueprint) -> None:
    plan = make_plan(shops, prices=PLAIN)
    [found] = explain(plan, "create Order")
    titles = [section.title for section in found.sections]
    assert titles[:3] == ["one call", "a month", "what that costs"]
    steps = [step for section in found.sections for step in section.steps]
    assert any("600 calls" in step for step in steps)
    assert any(f"${found.usd:,.6f}" in step for step in steps)
    assert any("by a test (2026-01-01)" in step for step in steps)


def test_explanation_of_storage_has_the_overhead_of_each_item() -> None:
    [found] = explain(make_plan(find_blueprint("kefir"), PlanOptions(users=1_000)), "storage")
    assert any("1,000 items x (1,024 + 100 bytes)" in step for step in found.sections[0].steps)


@pytest.mark.parametrize("name", ["kefir", "smart_cooking"])
def test_every_line_has_an_explanation(name: str) -> None:
    plan = make_plan(find_blueprint(name))
    assert all(explain(plan, line.name) for line in plan.lines)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2.5e+06 items", "2,500,000 items"),
        ("0.00964506 items", "0.00965 items"),
        ("$0.129600 of it", "$0.129600 of it"),
        ("1,024 bytes, 204.8 each", "1,024 bytes, 204.8 each"),
    ],
)
def test_numbers_in_sentences_are_as_people_write_them(text: str, shown: str) -> None:
    assert plain(text) == shown


# --- JSON ------------------------------------------------------------------------------------------------


def test_data_is_json_and_says_all_of_the_plan() -> None:
    plan = make_plan(find_blueprint("perfectit"), PlanOptions(users=1_000, budget_usd=1))
    data = json.loads(json.dumps(plan.data(), allow_nan=False))
    assert data["plan"] == 1
    assert data["usd_month"] == round(plan.usd, 6)
    assert [line["name"] for line in data["lines"]] == [line.name for line in plan.lines]
    assert {part["name"] for part in data["by_index"]} == {TABLE, "GSI1", "GSI2", "GSI3", "GSI4", "GSI5"}
    assert {each["place"] for each in data["heat"]} == {part["name"] for part in data["by_index"]}
    assert all(price["source"] and price["date"] for price in data["prices"].values())
    assert data["is_over_budget"] is True


@pytest.mark.parametrize("is_local", [True, False])
def test_recovery_is_explained_with_local_indexes_alone(*, is_local: bool) -> None:
    kefir = find_blueprint("kefir")
    made = replace(kefir, indexes=tuple(replace(each, is_local=is_local) for each in kefir.indexes))
    (found,) = explain(make_plan(with_table(made, pitr_days=35)), "point-in-time recovery")
    assert any("Batch in GSI1: " in step for step in found.sections[0].steps) == is_local


def test_cost_over_users_keeps_what_was_measured(shops: Blueprint) -> None:
    measured = {"Order": EntityProfile(50_000_000, Amount.exactly(3_000))}
    plan = make_plan(shops, profile=measured)
    assert plan.users is not None
    ((_, bill),) = cost_over_users(plan, users=[plan.users])
    assert bill.total == pytest.approx(plan.usd)
    assert plan.usd != pytest.approx(make_plan(shops).usd)
