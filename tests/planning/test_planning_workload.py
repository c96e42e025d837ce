"""All calls of a design together: failed conditions, expiry, readers of the stream."""

from __future__ import annotations

from dataclasses import replace

import pytest

from singletable.blueprint import Blueprint, ConsumerBlueprint, LoadBlueprint, RateBlueprint
from singletable.planning.amounts import Amount
from singletable.planning.workload import MONTH_S, Planner, Workload
from singletable.systems import installed_systems


def system(name: str) -> Blueprint:
    return installed_systems()[name].blueprint()


def planned(made: Blueprint) -> Workload:
    return Planner(made).workload()


def test_calls_whose_condition_fails_have_a_line_of_their_own() -> None:
    made = system("kefir")
    (load,) = [each for each in made.loads if each.fails]
    done, failed = [each for each in planned(made).lines if (each.kind, each.of) == (load.kind, load.of)]
    assert failed.title == f"{done.title}, whose condition fails"
    assert load.fails == pytest.approx(failed.calls_month / (failed.calls_month + done.calls_month))
    # AWS charges the existing item, and writes no index entries (AWS guide, "Condition expressions").
    assert failed.call.writes == done.call.units("write", index=None)
    assert failed.call.units("write", index="GSI1") == Amount.exactly(0)


def test_failed_conditions_are_never_free() -> None:
    made = system("kefir")
    lines = planned(made).lines
    failing = replace(made, loads=tuple(replace(load, fails=0.5) for load in made.loads))
    refused = [each for each in planned(failing).lines if each.title.endswith("whose condition fails")]
    assert len(refused) == len(
        [each for each in lines if each.kind != "expire" and "fails" not in each.title]
    )
    assert all(each.call.writes.low > 0 for each in refused if each.kind in ("create", "update", "delete"))


def test_expiry_is_a_line_without_units() -> None:
    lines = {each.of: each for each in planned(system("perfectit")).lines if each.kind == "expire"}
    assert lines["PerfectionCard"].calls_month > 0
    assert lines["PerfectionCard"].call.units("write", by="call") == Amount.exactly(0)
    assert (
        lines["PerfectionCard"].call.units("write", by="stream").mean > 0
    )  # its words are deleted by the stream


def test_reader_asks_each_shard_four_times_a_second_and_lambda_asks_for_nothing() -> None:
    made = system("kefir")
    by_lambda = planned(made)
    assert by_lambda.stream_polls_month == 4 * MONTH_S
    assert by_lambda.stream_reads_month == 0
    own = planned(replace(made, consumers=(ConsumerBlueprint("Kefir", kind="process"),)))
    assert own.stream_reads_month == own.stream_polls_month == 4 * MONTH_S


def test_table_without_a_stream_is_not_read() -> None:
    made = system("kefir")
    assert planned(replace(made, table=replace(made.table, stream=None))).stream_polls_month == 0


def test_busier_table_has_more_shards_to_read() -> None:
    made = system("kefir")
    assert Planner(made, 100_000_000).workload().stream_polls_month > planned(made).stream_polls_month


def test_rates_count_where_no_load_is_declared() -> None:
    made = replace(system("kefir"), loads=(), rates=(RateBlueprint("User", creates=2.0, updates=0.5),))
    lines = {(line.kind, line.of): line for line in planned(made).lines}
    assert {of: line.calls_month for of, line in lines.items()} == {
        ("create", "User"): 2 * MONTH_S,
        ("update", "User"): 0.5 * MONTH_S,
    }
    declared = replace(made, loads=(LoadBlueprint("create", "User", monthly=7),))
    assert [line.calls_month for line in planned(declared).lines] == [7, 0.5 * MONTH_S]


def test_rps_of_a_pattern_counts_where_no_load_is_declared() -> None:
    made = system("kefir")
    patterns = tuple(replace(each, rps=3.0 * (each.method == "due")) for each in made.patterns)
    asked = replace(made, loads=(), rates=(), patterns=patterns)
    assert [(line.of, line.calls_month) for line in planned(asked).lines] == [("due", 3 * MONTH_S)]
    declared = replace(asked, loads=(LoadBlueprint("pattern", "9", monthly=7),))
    assert [(line.of, line.calls_month) for line in planned(declared).lines] == [("due", 7)]
