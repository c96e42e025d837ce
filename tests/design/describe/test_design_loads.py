"""What a design says of itself beside its keys: loads, volumes, users, and what follows from changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from designs.busy_shops import WHY, Order, Shop, ShopPK, Shops, ShopTable, Totals, TotalsSK
from singletable import Change, Design, Entity, Keys, Load, Volume, Writes, on
from singletable.blueprint import Blueprint, LoadBlueprint, VolumeBlueprint
from singletable.errors import DeclarationError

BLUEPRINT = Shops.blueprint()


def test_loads_of_patterns_entities_and_handlers_are_in_the_blueprint() -> None:
    assert BLUEPRINT.users == 200
    assert BLUEPRINT.loads == (
        LoadBlueprint("pattern", "shop", peak_per_s=0.5, because="003:271 often"),
        LoadBlueprint("pattern", "order", monthly=90, monthly_per_user=0.5, hottest_share=0.25, because=WHY),
        # What each of 200 users does three times.
        LoadBlueprint("create", "Order", monthly=600, monthly_per_user=3, because=WHY),
        LoadBlueprint(
            "update", "Order", peak_per_s=2.5, monthly=70, fails=0.1, changes={"status": 0.4}, because=WHY
        ),
        LoadBlueprint("handler", "count", monthly=600, because=WHY),
    )


def test_older_figures_are_where_they_were() -> None:
    assert [(each.method, each.rps) for each in BLUEPRINT.patterns] == [("shop", 0.2), ("order", 0.0)]
    (rate,) = BLUEPRINT.rates
    assert (rate.entity, rate.creates) == ("Order", 0.5)


def test_volume_says_of_what_and_why() -> None:
    assert BLUEPRINT.volumes == (
        VolumeBlueprint("Order", 40, 2, "shop", 9, 4, 0.5, WHY),
        VolumeBlueprint("Shop", 10, 1),
    )


def test_load_of_a_user_is_none_in_all_where_nobody_counts_users() -> None:
    class Uncounted(Shops):
        for_users = None  # type: ignore[assignment]

    loads = {(each.kind, each.of): each.monthly for each in Uncounted.blueprint().loads}
    assert loads["create", "Order"] is None
    assert loads["pattern", "order"] == 90


def test_handlers_are_in_the_blueprint_with_what_they_watch_and_write() -> None:
    (consumer,) = BLUEPRINT.consumers
    assert consumer.name == "Shops"
    found = {each.name: each for each in consumer.handlers}
    assert [*found][-3:] == ["label", "count", "tell"]
    label, count, tell = found["label"], found["count"], found["tell"]
    assert (label.entities, label.fields, label.writes) == (("Order",), ("status",), ("Order", "Totals"))
    assert (label.about, label.needs, label.sends) == ("Do something.", ("old", "new"), ())
    assert (count.fields, count.writes, count.sends) == ((), ("Totals",), ("opensearch", "sns"))
    assert (tell.entities, tell.writes) == (("Shop",), ("Totals",))


def test_data_that_the_stream_keeps_is_kept_by_handlers_with_names() -> None:
    (consumer,) = BLUEPRINT.consumers
    kept = {each.name: each for each in consumer.handlers[:-3]}
    assert {*kept} == {"Shop.open_orders", "Order.shop_name", "Label"}  # and not what a transaction keeps
    number, copy, label = kept["Shop.open_orders"], kept["Order.shop_name"], kept["Label"]
    assert (number.entities, number.writes, number.when) == (
        ("Order",),
        ("Shop",),
        {"operator": "=", "field": "status", "value": "open"},
    )
    assert (copy.entities, copy.fields, copy.writes) == (("Shop", "Order"), ("name", "shop_name"), ("Order",))
    assert (label.entities, label.fields, label.writes) == (("Order",), ("status",), ("Label",))
    assert all(each.is_idempotent for each in kept.values())


def test_design_without_handlers_has_no_consumer() -> None:
    class Plain(Design):
        table = ShopTable
        entities = (Totals,)

    assert Plain.blueprint().consumers == ()


def test_all_of_it_reads_back() -> None:
    assert Blueprint.from_json(BLUEPRINT.to_json()) == BLUEPRINT
    assert Blueprint.from_toml(BLUEPRINT.to_toml()) == BLUEPRINT


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Load(monthly=1, because=" "), "a load says what it rests on"),
        (lambda: Load(because=WHY), "says no number"),
        (lambda: Load(monthly=-1, because=WHY), r"Load\(monthly=-1\): it is a number"),
        (lambda: Load(peak=float("inf"), because=WHY), r"Load\(peak=inf\)"),
        (lambda: Load(peak=float("nan"), because=WHY), r"Load\(peak=nan\)"),
        (lambda: Load(per_user=True, because=WHY), r"Load\(per_user=True\)"),
        (lambda: Load(monthly=1, hottest=1.5, because=WHY), r"Load\(hottest=1.5\): it is a share"),
        (lambda: Load(monthly=1, fails=-0.1, because=WHY), r"Load\(fails=-0.1\): it is a share"),
        (
            lambda: Load(monthly=1, changes={"status": 2}, because=WHY),
            r"changes=\{'status': 2\}\): it is a share",
        ),
        (lambda: Volume(-1, 2), r"Volume\(count=-1\)"),
        (lambda: Volume(1, 2, hottest_share=2), r"Volume\(hottest_share=2\): it is a share"),
    ],
)
def test_figure_that_cannot_be_is_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(DeclarationError, match=says) as caught:
        make()
    assert caught.value.hint


def test_reason_of_a_load_is_required() -> None:
    with pytest.raises(TypeError, match="because"):
        Load(monthly=1)  # type: ignore[call-arg]


class Stranger(Entity):
    key = Keys(ShopPK, TotalsSK)

    shop_id: str


@pytest.mark.parametrize(
    ("loads", "says"),
    [
        (
            {"nothing": Load(monthly=1, because=WHY)},
            "names 'nothing', which is neither a pattern nor a handler",
        ),
        ({Stranger: Writes()}, "names Stranger, which is not an entity of Wrong"),
        ({Order: Load(monthly=1, because=WHY)}, "an entity has loads of its writes"),
        ({"order": Writes()}, "order has a load, and not"),
        (
            {Order: Writes(update=Load(monthly=1, changes={"color": 0.5}, because=WHY))},
            "updates of Order change 'color', which is no field of it",
        ),
        (
            {Order: Writes(create=Load(monthly=1, changes={"status": 0.5}, because=WHY))},
            "to create Order changes no field",
        ),
        ({"order": Load(monthly=1, changes={"status": 0.5}, because=WHY)}, "order changes fields"),
        ({"shop": Load(monthly=1, because=WHY)}, "Wrong.shop has a load of its own, and one in Wrong.loads"),
    ],
)
def test_load_of_nothing_or_twice_is_refused(loads: Any, says: str) -> None:
    given = loads
    with pytest.raises(DeclarationError, match=says):

        class Wrong(Shops):
            loads = given


def test_handler_that_writes_what_the_design_does_not_have_is_refused() -> None:
    with pytest.raises(
        DeclarationError, match=r"Wrong.look writes Stranger, which is not an entity of Wrong"
    ):

        class Wrong(Shops):
            @on(Shop, writes=(Stranger,))
            def look(self, change: Change[Shop]) -> None:
                pass
