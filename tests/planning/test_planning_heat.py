"""What runs hot: hand cases for every kind of key, rules that hold for all of them, and the four systems."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.blueprint import (
    AggregateBlueprint,
    AttributeBlueprint,
    Blueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    KeyCondition,
    KeyPart,
    LoadBlueprint,
    PatternBlueprint,
    PlaceBlueprint,
    ReadBlueprint,
    TableBlueprint,
    UniqueBlueprint,
    VolumeBlueprint,
)
from singletable.planning.heat import BACK_PRESSURE, Heat, heat_of, users_table
from singletable.planning.plan import make_plan
from singletable.planning.reports.charts import heat_chart
from singletable.planning.reports.markdown import markdown
from singletable.planning.reports.terminal import terminal
from singletable.planning.workload import Planner
from singletable.systems import find_system

SYSTEMS = ("kefir", "lunch_cache", "perfectit", "smart_cooking")


def key(template: str, *parts: KeyPart, attribute: str = "PK") -> KeyBlueprint:
    return KeyBlueprint((attribute,), template, parts)


def post(pk: KeyBlueprint | None = None, index: KeyBlueprint | None = None, **more: Any) -> EntityBlueprint:
    """An item of 1 KB, by itself in the table and perhaps in an index."""
    places = [PlaceBlueprint("table", pk or key("POST#{post_id}"), key("POST", attribute="SK"))]
    if index is not None:
        places.append(PlaceBlueprint("by_index", index, None, "GSI1", more.pop("when", None)))
    texts = ("post_id", "kind", "status", "author", "created_at")
    attributes = tuple(AttributeBlueprint(name, name, more.pop(name, "str")) for name in texts)
    return EntityBlueprint("Post", "post", attributes, tuple(places), **more)


def design(*entities: EntityBlueprint, loads: tuple[LoadBlueprint, ...], **more: Any) -> Blueprint:
    return Blueprint(
        name="design",
        table=TableBlueprint("design", "PK", "SK"),
        indexes=more.pop("indexes", (IndexBlueprint("GSI1", ("GSI1PK",)),)),
        entities=entities,
        loads=loads,
        users=more.pop("users", 1_000.0),
        volumes=more.pop("volumes", (VolumeBlueprint("Post", 10, 1, per="user"),)),
        **more,
    )


def creates(per_user: float = 2_628.0, **more: Any) -> LoadBlueprint:
    """So many creations of each user in a month: with 1,000 users, one a second."""
    return LoadBlueprint("create", "Post", monthly_per_user=per_user, **more)


def query(pk: str, index: str | None = "GSI1", **more: Any) -> PatternBlueprint:
    reads = (ReadBlueprint("Query", ("Post",), pk, index, limit=4, **more),)
    return PatternBlueprint("1", "Posts", "posts", "Query", reads=reads)


def at(place: str, blueprint: Blueprint, users: float | None = None) -> Heat:
    return next(heat for heat in heat_of(Planner(blueprint, users)) if heat.place == place)


# --- kinds of keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entity", "writes_per_s", "says"),
    [
        pytest.param(post(index=key("FEED#PUBLIC")), 1, "the key is constant", id="constant"),
        pytest.param(
            post(index=key("KIND#{kind}"), kind='Literal["a", "b", "c", "d"]'),
            0.25,
            "4 values of kind, used evenly",
            id="choices",
        ),
        pytest.param(
            post(index=key("FEED#{shard}", KeyPart("shard", "int", "post_id", shards=8))),
            0.125,
            "8 shards divide it",
            id="shards",
        ),
        pytest.param(
            post(index=key("DAY#{day}", KeyPart("day", "str", "created_at", bucket="day"))),
            1,
            "all that is new goes to the current day",
            id="bucket of time",
        ),
        pytest.param(
            post(
                index=key(
                    "DAY#{day}#{shard}",
                    KeyPart("day", "str", "created_at", bucket="day"),
                    KeyPart("shard", "int", "post_id", shards=4),
                )
            ),
            0.25,
            "4 shards divide it",
            id="bucket of time with shards",
        ),
        pytest.param(post(index=key("WEEK#{week}")), 1, "the current week", id="time by its name"),
        pytest.param(
            post(index=key("USER#{user_id}")),
            0.001,
            "1,000 values of user_id, used evenly",
            id="ids of users",
        ),
        pytest.param(
            post(index=key("POST#{post_id}")),
            0.0001,
            "10,000 values of post_id, used evenly",
            id="ids of items",
        ),
        pytest.param(
            post(index=key("BOARD#{board_id}")), 0, "not counted, as one of many", id="ids that nobody counts"
        ),
        pytest.param(
            post(index=key("CAT#{category}")), 1, "counted as if all had one", id="values that nobody counts"
        ),
        pytest.param(
            post(
                index=key("STATUS#{status}"),
                status='Literal["open", "done"]',
                when={"operator": "=", "field": "status", "value": "open"},
            ),
            1,
            "the key is constant",
            id="a value that the condition of the place fixes",
        ),
    ],
)
def test_busiest_key_takes_the_share_of_its_kind(
    entity: EntityBlueprint, writes_per_s: float, says: str
) -> None:
    heat = at("GSI1", design(entity, loads=(creates(),)))
    assert heat.writes_per_s == pytest.approx(writes_per_s)
    assert heat.share == pytest.approx(writes_per_s / 1_000)
    assert says in heat.lines[0].assumption
    assert BACK_PRESSURE in heat.notes


def test_declared_share_counts_before_the_key() -> None:
    entity = post(index=key("USER#{user_id}"))
    heat = at("GSI1", design(entity, loads=(creates(hottest_share=0.2),)))
    assert heat.writes_per_s == pytest.approx(0.2)
    assert "declared: 0.2" in heat.lines[0].assumption


def test_declared_share_of_a_volume_counts_before_the_key() -> None:
    volume = VolumeBlueprint("Post", 10, 1, per="user", hottest_share=0.1)
    entity = post(index=key("USER#{user_id}"))
    blueprint = design(entity, loads=(creates(),), volumes=(volume,))
    assert at("GSI1", blueprint).writes_per_s == pytest.approx(0.1)
    assert at("table", blueprint).writes_per_s == pytest.approx(
        0.0001
    )  # each item has a key of its own there


def test_declared_share_is_that_of_the_key_with_the_fewest_values() -> None:
    entity = post(index=key("KIND#{kind}"), kind='Literal["a", "b"]')
    blueprint = design(entity, loads=(creates(hottest_share=1.0),))
    assert at("GSI1", blueprint).writes_per_s == pytest.approx(1)
    assert at("table", blueprint).writes_per_s == pytest.approx(0.0001)


def test_declared_share_of_a_part_is_not_that_of_a_constant_key() -> None:
    entity = post(index=key("FEED#PUBLIC"))
    blueprint = design(entity, loads=(creates(hottest_share=0.01),))
    assert at("GSI1", blueprint).writes_per_s == pytest.approx(1)
    assert at("table", blueprint).writes_per_s == pytest.approx(0.01)


# --- reads ----------------------------------------------------------------------------------------------

SOME_READS = LoadBlueprint("pattern", "posts", monthly_per_user=2_628.0)


def test_reads_of_a_constant_meet_the_writes_of_any_value() -> None:
    entity = post(index=key("KIND#{kind}"), kind='Literal["a", "b"]')
    heat = at("GSI1", design(entity, loads=(creates(), SOME_READS), patterns=(query("KIND#a"),)))
    assert heat.key == "KIND#a"
    assert (heat.reads_per_s, heat.writes_per_s) == pytest.approx((0.5, 0.5))


def test_constants_of_two_patterns_are_two_keys() -> None:
    entity = post(index=key("KIND#{kind}"), kind='Literal["a", "b"]')
    second = replace(query("KIND#b"), number="2", method="others")
    often = LoadBlueprint("pattern", "others", monthly_per_user=3 * 2_628.0)
    blueprint = design(entity, loads=(SOME_READS, often), patterns=(query("KIND#a"), second))
    heat = at("GSI1", blueprint)
    assert heat.key == "KIND#b"
    assert heat.reads_per_s == pytest.approx(1.5)
    assert {each.key for each in heat_of(Planner(blueprint), every_key=True)} >= {"KIND#a", "KIND#b"}


def test_read_of_every_shard_asks_each_of_them_once() -> None:
    entity = post(index=key("FEED#{shard}", KeyPart("shard", "int", "post_id", shards=4)))
    blueprint = design(entity, loads=(SOME_READS,), patterns=(query("FEED#{shard}", count=4),))
    assert at("GSI1", blueprint).reads_per_s == pytest.approx(0.5)  # one page of 4 KB a second, not 4 of them


def test_walk_over_buckets_reads_the_current_one_once() -> None:
    entity = post(index=key("DAY#{day}", KeyPart("day", "str", "created_at", bucket="day")))
    blueprint = design(entity, loads=(SOME_READS,), patterns=(query("DAY#{day}", count=31),))
    heat = at("GSI1", blueprint)
    (line,) = [each for each in heat.lines if each.kind == "pattern"]
    assert line.share == pytest.approx(1 / 31)


def test_read_of_a_document_goes_by_its_key_condition() -> None:
    asked = KeyCondition("GSI1PK", "=", ("DATE#{today}",))
    read = ReadBlueprint("Query", index="GSI1", conditions=(asked,))
    pattern = replace(query(""), reads=(read,))
    heat = at("GSI1", design(post(), loads=(SOME_READS,), patterns=(pattern,)))
    assert heat.key == "DATE#{today}"
    assert heat.lines[0].assumption == "all that is new goes to the current day"


# --- what is kept beside an item ------------------------------------------------------------------------


def test_counter_heats_the_partition_of_its_parent() -> None:
    board = EntityBlueprint(
        *("Board", "board", (AttributeBlueprint("posts", "posts", "int"),)),
        (PlaceBlueprint("table", key("BOARDS"), key("BOARD#{board_id}", attribute="SK")),),
        aggregates=(AggregateBlueprint("posts", "count", "Post"),),
    )
    heat = at("table", design(post(), board, loads=(creates(),)))
    assert heat.key == "BOARDS"
    assert [(line.kind, line.of) for line in heat.lines if line.units_per_s] == [("create", "Post")]
    assert heat.writes_per_s == pytest.approx(2)  # one unit, twice in a transaction


def test_lock_has_a_key_of_its_own() -> None:
    unique = UniqueBlueprint("title", "TITLE#{title}", "LOCK", fields=("title",))
    blueprint = design(post(uniques=(unique,)), loads=(creates(),))
    keys = {heat.key: heat for heat in heat_of(Planner(blueprint), every_key=True)}
    assert "TITLE#{title}" in keys
    assert "10,000 locks" in keys["TITLE#{title}"].lines[0].assumption


def test_items_of_several_entities_share_a_partition() -> None:
    other = replace(post(), name="Draft", discriminator="draft")
    loads = (creates(), LoadBlueprint("create", "Draft", monthly_per_user=2_628.0))
    blueprint = design(post(), other, loads=loads)
    assert [line.of for line in at("table", blueprint).lines] == ["Draft", "Post"]


def test_local_index_counts_with_its_table_and_collection() -> None:
    local = IndexBlueprint("by_time", ("PK",), ("created_at",), is_local=True)
    entity = replace(
        post(pk=key("FEED")),
        places=(
            PlaceBlueprint("table", key("FEED"), key("POST#{post_id}", attribute="SK")),
            PlaceBlueprint("by_time", key("FEED"), None, "by_time"),
        ),
    )
    blueprint = design(entity, loads=(creates(),), indexes=(local,))
    heat = at("table", blueprint)
    assert heat.writes_per_s == pytest.approx(2)  # the item and its entry
    assert heat.collection_bytes == pytest.approx(10_000 * 2 * (1_024 + 100))
    # 10 GB are reached before 1,000 units a second are: 22,480 bytes of each user.
    assert heat.breaks_at_users == pytest.approx(10 * 1024**3 / 22_480, rel=0.01)
    assert any("local indexes" in each for each in heat.advice)


# --- users ----------------------------------------------------------------------------------------------


def test_constant_key_breaks_where_loads_of_all_users_reach_the_limit() -> None:
    heat = at("GSI1", design(post(index=key("FEED")), loads=(creates(),)))
    assert heat.breaks_at_users == pytest.approx(1_000_000, rel=0.01)
    assert "shards in the key: 100 for 100,000,000 users" in " ".join(heat.advice)
    assert "one partition is not enough for the writes" in heat.explanation


def test_key_that_is_over_already_says_from_which_number_on() -> None:
    heat = at("GSI1", design(post(index=key("FEED")), loads=(creates(),)), users=50_000_000)
    assert heat.is_over
    assert heat.breaks_at_users == pytest.approx(1_000_000, rel=0.01)


def test_ids_of_users_never_break_and_say_why() -> None:
    heat = at("GSI1", design(post(index=key("USER#{user_id}")), loads=(creates(),)))
    assert heat.breaks_at_users is None
    assert "one key has as much to do" in heat.explanation


def test_fixed_load_does_not_grow_with_users() -> None:
    fixed = LoadBlueprint("create", "Post", monthly=2_628_000.0)
    heat = at("GSI1", design(post(index=key("FEED")), loads=(fixed,)), users=100_000_000)
    assert heat.writes_per_s == pytest.approx(1)
    assert heat.breaks_at_users is None
    assert "not said for each user" in heat.explanation


def test_fixed_and_growing_loads_are_added() -> None:
    fixed = LoadBlueprint("update", "Post", monthly=2_628_000.0 * 500)
    heat = at("GSI1", design(post(index=key("FEED")), loads=(creates(), fixed)))
    assert heat.breaks_at_users == pytest.approx(500_000, rel=0.01)


def test_caching_is_advised_where_a_pattern_makes_the_reads() -> None:
    blueprint = design(post(index=key("FEED")), loads=(SOME_READS,), patterns=(query("FEED"),))
    heat = at("GSI1", blueprint)
    assert heat.breaks_at_users == pytest.approx(6_000_000, rel=0.01)
    assert heat.advice[0].startswith("cache posts, 100% of the reads there")


def test_call_without_a_load_says_what_it_would_take() -> None:
    heat = at("GSI1", design(post(index=key("FEED")), loads=()))
    assert (heat.key, heat.share) == ("FEED", 0)
    assert heat.lines[0].units_of_call == 1
    assert "no load is declared" in heat.lines[0].assumption


def test_index_that_nothing_goes_to_is_named() -> None:
    heat = at("GSI1", design(post(), loads=(creates(),)))
    assert (heat.key, heat.lines) == ("", ())


def test_table_of_users_has_a_row_for_each_place_and_number() -> None:
    rows = users_table(design(post(index=key("FEED")), loads=(creates(),)))
    assert len(rows) == 8
    last = next(row for row in rows if row.users == 100_000_000)
    assert (last.place, last.key, last.partitions_needed) == ("GSI1", "FEED", 100)


# --- rules ----------------------------------------------------------------------------------------------

NUMBERS = st.integers(1, 200)


@given(few=NUMBERS, more=NUMBERS, declared=st.none() | st.floats(0.01, 1))
def test_more_shards_never_raise_the_heat_of_a_key(few: int, more: int, declared: float | None) -> None:
    def heat(shards: int) -> Heat:
        entity = post(index=key("FEED#{shard}", KeyPart("shard", "int", "post_id", shards=shards)))
        loads = (creates(hottest_share=declared), SOME_READS)
        return at("GSI1", design(entity, loads=loads, patterns=(query("FEED#{shard}", count=shards),)))

    least, most = sorted((few, more))
    assert heat(most).writes_per_s <= heat(least).writes_per_s + 1e-9
    assert heat(most).reads_per_s <= heat(least).reads_per_s + 1e-9


TEMPLATES = st.sampled_from(["FEED", "KIND#{kind}", "USER#{user_id}", "DAY#{day}", "CAT#{category}"])


@given(
    template=TEMPLATES,
    rates=st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)),
    add=st.floats(0, 1e6),
    which=st.integers(0, 1),
)
def test_heat_never_falls_as_a_rate_grows(
    template: str, rates: tuple[float, float], add: float, which: int
) -> None:
    def heats(one: float, other: float) -> dict[str, Heat]:
        entity = post(index=key(template), kind='Literal["a", "b"]')
        loads = (creates(one), replace(SOME_READS, monthly_per_user=other))
        found = heat_of(Planner(design(entity, loads=loads, patterns=(query(template),))))
        return {heat.place: heat for heat in found}

    before = heats(*rates)
    after = heats(*(rate + add * (at == which) for at, rate in enumerate(rates)))
    for place, heat in before.items():
        assert after[place].share >= heat.share * (1 - 1e-9)


# --- the systems ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("users", [None, 1_000, 100_000_000])
def test_every_system_has_a_report(name: str, users: float | None) -> None:
    system = find_system(name)
    for blueprint in (system.blueprint(), system.documented()):
        assert blueprint is not None
        heats = heat_of(Planner(blueprint, users))
        assert [heat.share for heat in heats] == sorted((heat.share for heat in heats), reverse=True)
        assert {heat.place for heat in heats} == {"table", *(index.name for index in blueprint.indexes)}
        assert all(heat.explanation for heat in heats)


def shared_keys(blueprint: Blueprint) -> set[str]:
    """Return the keys that take all of some call, whoever makes it."""
    heats = heat_of(Planner(blueprint), every_key=True)
    return {heat.key for heat in heats if any(line.share == 1 for line in heat.lines)}


def test_keys_that_all_users_share_are_found() -> None:
    cooking = find_system("smart_cooking").blueprint()
    assert shared_keys(cooking) >= {"FEED#PUBLIC", "APPROVED", "INGREDIENT#SEARCH", "RECENT#{month}"}
    assert at("GSI3", cooking).key == "FEED#PUBLIC"
    perfectit = find_system("perfectit").blueprint()
    assert shared_keys(perfectit) >= {"VOTETYPE#CARD", "DATE#{day}", "ANALYTICS#{day}"}


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        (
            "smart_cooking",
            {"FEED#PUBLIC", "APPROVED", "INGREDIENT#SEARCH", "RECENT#{year_month}", "REPORTS#PENDING"},
        ),
        ("perfectit", {"VOTETYPE#CARD", "DATE#{today}", "CAT#{category}"}),
    ],
)
def test_hot_keys_of_the_documents_are_found(name: str, keys: set[str]) -> None:
    documented = find_system(name).documented()
    assert documented is not None
    assert shared_keys(documented) >= keys


def test_shards_of_kefir_divide_its_work_queue() -> None:
    heat = at("GSI2", find_system("kefir").blueprint(), users=1_000_000)
    assert heat.key == "REMINDER#PENDING#{shard}"
    assert not heat.is_over


# --- what nobody has said -------------------------------------------------------------------------------------


def test_calls_whose_key_has_no_number_of_values_are_not_taken_for_none() -> None:
    by_shop = post(index=key("SHOP#{shop_id}", KeyPart("shop_id", "str", "kind")))
    made = design(by_shop, loads=(LoadBlueprint("create", "Post", monthly=100_000_000),))
    found = next(heat for heat in heat_of(Planner(made)) if heat.place == "GSI1")
    assert found.is_unknown
    assert "it may be hot" in found.explanation
    assert found.advice[0].startswith("declare a volume of what the key names")
    plan = make_plan(made)
    for text in (terminal(plan), markdown(plan), heat_chart(plan).standalone("It")):
        assert "not known" in text
    assert "never" not in "".join(each for each in terminal(plan).splitlines() if "SHOP#" in each)
    assert "GSI1: declare a volume" in terminal(plan)


def test_a_key_without_a_load_is_not_called_unknown() -> None:
    by_shop = post(index=key("SHOP#{shop_id}", KeyPart("shop_id", "str", "kind")))
    assert not any(heat.is_unknown for heat in heat_of(Planner(design(by_shop, loads=()))))
