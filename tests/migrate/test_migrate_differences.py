"""Everything that two versions of a design can differ in: what is said of it, what is done, and what stops."""

from __future__ import annotations

import json
import types
from dataclasses import replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from singletable.blueprint import (
    AlarmBlueprint,
    ConsumerBlueprint,
    FigureBlueprint,
    FixBlueprint,
    LoadBlueprint,
    RateBlueprint,
    RoleBlueprint,
    Said,
    ServiceBlueprint,
    VolumeBlueprint,
)
from singletable.client import Client
from singletable.design import (
    Computed,
    CountOf,
    Design,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    SortKey,
    Stored,
    Table,
    Ttl,
    Unique,
    Version,
    pattern,
    upcast,
)
from singletable.design.tables.create import create_table
from singletable.errors import DeclarationError, MigrationError, PlanBlockedError, StrangeItemsError
from singletable.migrate import (
    Backfill,
    CheckItems,
    CreateTable,
    Difference,
    Migration,
    Recompute,
    RemoveAttributes,
    RenameAttributes,
    RenameEntities,
    Runner,
    VerificationError,
    Verify,
    new_migration,
    plan,
)
from singletable.migrate.comparing import compare, compared
from singletable.migrate.steps import step_data, step_of
from support.migrating import EVERYWHERE, design_on, fresh_client

each_target = pytest.mark.parametrize("target", EVERYWHERE)


class ShopTable(Table):
    name = "shop"
    pitr_days = None
    by_status = Index("ByStatus", pk="statusPK")


class CustomerPK(Key, template="CUSTOMER#{customer}"):
    customer: str


class OrderSK(SortKey, template="ORDER#{number}"):
    number: str


class CustomerSK(SortKey, template="CUSTOMER"):
    pass


class StatusPK(Key, template="STATUS#{status}"):
    status: str


class NotePK(Key, template="NOTE#{note}"):
    note: str


class Street(BaseModel):
    line: str


class LongStreet(BaseModel):
    line: str
    city: str


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Red(Enum):
    RED = "red"


LongStreet.__name__, Red.__name__ = "Street", "Colour"


def version(
    name: str = "Order", more: dict[str, Any] | None = None, options: Any = None, **fields: Any
) -> Any:
    """Return a design of one entity with fields beside those of its key: a type, or one with its default."""
    typed = {field: kind if isinstance(kind, tuple) else (kind,) for field, kind in fields.items()}
    content = {
        "__module__": __name__,
        "__annotations__": {
            "customer": str,
            "number": str,
            **{name: kind[0] for name, kind in typed.items()},
        },
        **{name: kind[1] for name, kind in typed.items() if len(kind) > 1},
        "key": Keys(CustomerPK, OrderSK),
        **(more or {}),
    }
    entity = types.new_class(name, (Entity,), options or {}, lambda space: space.update(content))
    return design_of(entity)


def design_of(*entities: type[Entity]) -> Any:
    content = {"table": ShopTable, "entities": entities, "__module__": __name__}
    return types.new_class("Shop", (Design,), {}, lambda space: space.update(content))


def found(before: type[Design], after: type[Design], **options: Any) -> list[Difference]:
    return list(compared(before.blueprint(), after.blueprint(), **options))


def steps(before: type[Design], after: type[Design], **options: Any) -> Any:
    return compare(before.blueprint(), after.blueprint(), **options)


NUMBER = Annotated[int, Field(ge=0)]
SMALL = Annotated[int, Field(ge=0, le=9)]


@pytest.mark.parametrize(
    ("before", "after", "effect", "says"),
    [
        (
            {"note": str},
            {},
            "nothing",
            "was removed: its attribute note stays in the items, and nothing reads it",
        ),
        ({}, {"note": (str, "-")}, "nothing", 'is new: items without it are read with "-"'),
        ({}, {"note": (str | None, None)}, "nothing", "is new: items without it are read with None"),
        ({}, {"note": (list[str], Field(default_factory=list))}, "nothing", "are read with list()"),
        ({}, {"note": set[str]}, "nothing", "is new: items without it are read with nothing in it"),
        ({}, {"note": str}, "stop", "is new and required: items that are there have no value for it"),
        ({}, {"note": Annotated[str, Computed(str.lower, "number")]}, "nothing", "get it worked out"),
        ({"note": str}, {"note": int}, "rewrite", "was str and is int: every item is checked, and written"),
        ({"note": int}, {"note": str}, "stop", "was int and is str: no number is read as a text"),
        ({"note": str}, {"note": str | int}, "nothing", "was str and is str | int: it takes more"),
        (
            {"note": str},
            {"note": Literal["a", "b"]},
            "check",
            'was str and is "a" | "b": every item is checked',
        ),
        (
            {"note": Literal["a", "b"]},
            {"note": Literal["a"]},
            "check",
            'was "a" | "b" and is "a": every item',
        ),
        ({"note": Literal["a"]}, {"note": str}, "nothing", "it takes more"),
        (
            {"note": (str | None, None)},
            {"note": str},
            "check",
            "may not be None any more: every item is checked",
        ),
        ({"note": str}, {"note": str | None}, "nothing", "may be None"),
        ({"note": (str, "-")}, {"note": str}, "check", "is required: every item is checked for it"),
        ({"note": (str, "-")}, {"note": (str, "+")}, "nothing", 'are read with "+", not with "-"'),
        ({"note": NUMBER}, {"note": SMALL}, "check", "takes less (le=9): every item is checked"),
        ({"note": SMALL}, {"note": NUMBER}, "nothing", "takes more than before"),
        ({"note": int}, {"note": Version}, "nothing", "is the number of writes, from the next write on"),
        ({"note": (datetime | None, None)}, {"note": (Ttl, None)}, "stop", "is stored as text would be lost"),
        ({"note": Colour}, {"note": Red}, "check", "has no blue any more: every item is checked"),
        ({"note": Red}, {"note": Colour}, "nothing", "has more values"),
        ({"note": list[Street]}, {"note": list[LongStreet]}, "stop", "Order/Street.city is new and required"),
        ({"note": list[LongStreet]}, {"note": list[Street]}, "nothing", "Order/Street.city was removed"),
        (
            {"note": Annotated[str, Stored("a")]},
            {"note": Annotated[str, Stored("b")]},
            "steps",
            "is stored as b",
        ),
    ],
)
def test_difference_of_a_field_is_said_with_what_follows(
    before: dict[str, Any], after: dict[str, Any], effect: str, says: str
) -> None:
    said = found(version(**before), version(**after))
    assert [(each.effect, says in each.says) for each in said if says in each.says] == [(effect, True)]
    checked = steps(version(**before), version(**after))[:1]
    assert isinstance(checked[0] if checked else None, CheckItems) == (effect in ("check", "rewrite", "stop"))


def with_pattern() -> Any:
    entity = version(note=str).entities[0]

    class Shop(Design):
        table = ShopTable
        entities = (entity,)

        @pattern("1 Get an order")
        def order(self, customer: str, number: str) -> Get[Any]:
            found: Get[Any] = entity.key.get(CustomerPK(customer=customer), OrderSK(number=number))
            return found

    return Shop


@pytest.mark.parametrize(
    ("after", "effect", "says"),
    [
        (with_pattern(), "nothing", "Patterns that are new: order. Nothing to do."),
        (version(note=str, more={"lock": Unique(NotePK)}), "steps", "Order.lock is kept from now on"),
        (version(note=str, options={"schema_version": 2}), "steps", "Order is of version 2"),
        (
            version("Entry", note=str, options={"name": "Order"}),
            "nothing",
            "Order is called Entry, and stored as",
        ),
        (version("Entry", note=str), "stop", "Order is gone and Entry is new, with the same keys"),
        (version("Entry", note=str, options={"was": "Order"}), "steps", "Order is stored as Entry now"),
    ],
)
def test_other_difference_is_said_with_what_follows(after: type[Design], effect: str, says: str) -> None:
    said = found(version(note=str), after)
    assert [each.effect for each in said if each.says.startswith(says)] == [effect]


def test_only_the_same_design_has_no_difference() -> None:
    assert found(version(note=str), version(note=str)) == []
    order = replace(version(note=str).blueprint(), name="Store")
    (other,) = compared(version(note=str).blueprint(), order)
    assert other.effect == "nothing"
    assert other.says == "Only names in the code, or their order, differ. Nothing to do."


def test_lower_schema_version_stops() -> None:
    (said,) = found(version(options={"schema_version": 3}), version(options={"schema_version": 2}))
    assert (said.effect, said.hint) == ("stop", "class Order(Entity, schema_version=4)")


def test_required_field_of_another_version_comes_from_its_upcaster() -> None:
    caster = upcast(1)(lambda values: {**values, "note": values["text"]})
    after = version(note=str, options={"schema_version": 2}, more={"first": caster})
    said = found(version(text=str), after)
    assert [each.says for each in said if each.where == "Order.note"] == [
        "Order.note is new: the upcaster makes it. --rename Order.text=note if it is text."
    ]
    assert not any(each.effect == "stop" for each in said)
    without = version(note=str, options={"schema_version": 2})
    assert [each.where for each in found(version(text=str), without) if each.effect == "stop"] == [
        "Order.note"
    ]


def test_blueprint_of_an_older_release_is_read_and_says_nothing_of_what_it_does_not_know(
    tmp_path: Path,
) -> None:
    def old(value: Any) -> Any:
        if isinstance(value, dict):
            new = ("is_required", "default", "models", "upcasts", "was")
            return {name: old(each) for name, each in value.items() if name not in new}
        return [old(each) for each in value] if isinstance(value, list) else value

    design = version(note=(Street | None, None))
    blueprint = old(json.loads(design.blueprint().to_json()))
    data = Migration("0001_first", "First", (CreateTable(),), blueprint).data()
    (tmp_path / "0001_first.json").write_text(json.dumps(data))
    same = plan(design, tmp_path)
    assert (same.is_empty, same.is_exact) == (True, False)
    assert [each.says for each in plan(version(note=(Street, None)), tmp_path).differences] == [
        "Order.note may not be None any more: every item is checked."
    ]


# --- names ------------------------------------------------------------------------------------------------


def test_field_that_is_stored_as_before_needs_no_step() -> None:
    by_status = {"by_status": ShopTable.by_status.keys(StatusPK)}

    class StatePK(Key, template="STATUS#{state}"):
        state: str

    by_state = {"by_status": ShopTable.by_status.keys(StatePK)}
    before = version(status=str, more=by_status)
    after = version(state=Annotated[str, Stored("status")], more=by_state)
    assert steps(before, after) == ()
    assert [each.effect for each in found(before, after)] == ["nothing"]


def test_renamed_field_is_proposed_and_copied_when_that_is_said() -> None:
    before, after = version(state=str), version(status=str)
    gone, new = found(before, after)
    assert gone.says.startswith("Order.state was removed")
    assert new.effect == "stop"
    assert new.hint is not None
    assert new.hint.startswith("--rename Order.state=status if it is state; give it a default, an upcaster")
    renamed = {"Order": {"state": "status"}}
    rename, verify, _, remove = steps(before, after, renamed={"Order.state": "status"})
    assert rename == RenameAttributes(renamed)
    assert isinstance(verify, Verify)
    assert remove == RemoveAttributes({"Order": ("state",)}, renamed)
    assert [each.effect for each in found(before, after, renamed={"Order.state": "status"})] == ["steps"]


@pytest.mark.parametrize(
    ("renamed", "reason"),
    [
        ({"Purchase.state": "status"}, "Purchase is no entity of both versions"),
        ({"Order.stat": "status"}, "stat was no field of Order"),
        ({"Order.state": "stats"}, "stats is no field of Order"),
        ({"Order.number": "status"}, "both versions have one of these fields"),
    ],
)
def test_rename_that_cannot_be_is_refused(renamed: dict[str, str], reason: str) -> None:
    with pytest.raises(MigrationError, match=reason):
        steps(version(state=str), version(status=str), renamed=renamed)


def test_removed_field_is_taken_out_of_items_when_that_is_said() -> None:
    kinds = [step.kind for step in steps(version(note=str), version(), removed=["Order.note"])]
    assert kinds == ["verify", "note", "remove_attributes"]
    with pytest.raises(MigrationError, match=r"Order\.number cannot be removed"):
        steps(version(note=str), version(), removed=["Order.number"])


def test_entity_cannot_have_been_what_another_one_is() -> None:
    order = version().entities[0]
    entry = version(
        "Entry", options={"was": "Order"}, more={"key": Keys(NotePK, OrderSK)}, note=str
    ).entities[0]
    with pytest.raises(DeclarationError, match="are both stored with entityType = Order"):
        design_of(order, entry)


# --- blocked plans ----------------------------------------------------------------------------------------


def test_blocked_plan_is_not_written_until_it_is_accepted(tmp_path: Path) -> None:
    new_migration(version(), "First", tmp_path)
    after = version(note=str)
    blocked = plan(after, tmp_path)
    assert [each.where for each in blocked.blocking] == ["Order.note"]
    with pytest.raises(PlanBlockedError, match=r"ST602: Order\.note is new and required") as refused:
        new_migration(after, "Second", tmp_path)
    assert refused.value.differences == blocked.blocking
    assert len(list(tmp_path.glob("0*.json"))) == 1
    written = new_migration(after, "Second", tmp_path, accepted=["Order.note"])
    assert written is not None
    assert written.steps == (CheckItems({"Order": ("note",)}),)
    with pytest.raises(MigrationError, match=r"Order\.note cannot be accepted"):
        plan(after, tmp_path, accepted=["Order.note"])


def test_difference_of_items_without_a_step_is_a_migration_from_where_the_next_begins(tmp_path: Path) -> None:
    new_migration(version(note=str), "First", tmp_path)
    written = new_migration(version(), "Second", tmp_path)
    assert written is not None
    assert written.steps == ()
    assert json.loads(written.path.read_text())["differences"] == [each.says for each in written.differences]
    assert plan(version(), tmp_path).is_empty
    assert new_migration(with_pattern(), "Third", tmp_path, accepted=["Order.note"]) is not None
    assert new_migration(version(note=str), "Fourth", tmp_path) is None


# --- on a table -------------------------------------------------------------------------------------------


def stored(client: Client) -> dict[str, Any]:
    items = client.call("Scan", {"TableName": "shop", "ConsistentRead": True})["Items"]
    return {item["SK"]["S"]: item for item in items if item["PK"]["S"] != "MIGRATIONS"}


def with_orders(client: Client, design: Any, *orders: dict[str, Any]) -> None:
    db = design_on(client, design, {})
    client.run(create_table(db.session))
    for number, values in enumerate(orders):
        db.create(design.entities[0](customer="c", number=f"o{number}", **values))


def migration(before: type[Design], after: type[Design], **options: Any) -> Migration:
    return Migration("0002_next", "Next", steps(before, after, **options), None)


def run(client: Client, before: type[Design], after: type[Design], **options: Any) -> Any:
    db = design_on(client, after, {})
    Runner(db, confirm=lambda migration, step: True).run([migration(before, after, **options)])
    return db


@each_target
def test_run_refuses_before_it_writes_while_a_required_value_is_missing(target: str) -> None:
    before = version(note=(str | None, None), text=str)
    after = version(note=str, text=int)
    with fresh_client(target) as client:
        with_orders(client, before, {"note": "a", "text": "1"}, {"text": "2"})
        was = stored(client)
        db = design_on(client, after, {})
        (rehearsed,) = Runner(db).run([migration(before, after)], dry_run=True)
        assert "o1 is no Order: note: " in rehearsed.steps[0].failures[0]
        with pytest.raises(VerificationError, match=r"1 item of shop .* ORDER#o1: .*note: "):
            Runner(db).run([migration(before, after)])
        assert stored(client) == was
        design_on(client, before, {}).put(before.entities[0](customer="c", number="o1", note="b", text="2"))
        run(client, before, after)
        assert {name: item["text"] for name, item in stored(client).items()} == {
            "ORDER#o0": {"N": "1"},
            "ORDER#o1": {"N": "2"},
        }


@each_target
def test_renamed_field_keeps_its_values(target: str) -> None:
    before, after = version(state=str), version(status=str)
    with fresh_client(target) as client:
        with_orders(client, before, {"state": "open"}, {"state": "paid"})
        db = run(client, before, after, renamed={"Order.state": "status"})
        entity = after.entities[0]
        read = db.plan(entity.key.query(CustomerPK(customer="c"))).all()
        assert [order.status for order in read] == ["open", "paid"]
        assert all("state" not in item for item in stored(client).values())


class Purchases(Design):
    """Customers and what they have bought, by the name that it had first."""

    class Purchase(Entity):
        key = Keys(CustomerPK, OrderSK)
        customer: str
        number: str

    class Customer(Entity):
        key = Keys(CustomerPK, CustomerSK)
        customer: str
        count: Annotated[int, CountOf("Purchase")] = 0

    table = ShopTable
    entities = (Purchase, Customer)


def orders(name: str, **options: Any) -> Any:
    """Return the next version: a purchase has another name, and the same number is kept in another field too."""
    entity = version(name, options=options).entities[0]
    counts = {"count": Annotated[int, CountOf(name)], "bought": Annotated[int, CountOf(name)]}
    content = {
        "__module__": __name__,
        "__annotations__": {"customer": str, **counts},
        "key": Keys(CustomerPK, CustomerSK),
        **dict.fromkeys(counts, 0),
    }
    customer = types.new_class("Customer", (Entity,), {}, lambda space: space.update(content))
    return design_of(entity, customer)


def with_purchases(client: Client) -> None:
    db = design_on(client, Purchases, {})
    client.run(create_table(db.session))
    db.create(Purchases.Customer(customer="c"))
    for number in range(3):
        db.create(Purchases.Purchase(customer="c", number=f"o{number}"))


@each_target
def test_renamed_entity_is_read_by_both_names_and_stored_by_the_new_one(target: str) -> None:
    after = orders("Order", was="Purchase")
    rename, recompute, verify = steps(Purchases, after)
    assert rename == RenameEntities({"Purchase": "Order"})
    assert rename.says() == "Let the items of Purchase be of Order."
    assert recompute == Recompute({"Customer": ("bought",)})
    assert isinstance(verify, Verify)
    with fresh_client(target) as client:
        with_purchases(client)
        db = design_on(client, after, {})
        entity = after.entities[0]
        query = entity.key.query(CustomerPK(customer="c"))
        assert [order.number for order in db.plan(query).all()] == ["o0", "o1", "o2"]
        db.create(entity(customer="c", number="o3"))
        db.delete(entity.key.get(CustomerPK(customer="c"), OrderSK(number="o0")))
        run(client, Purchases, after)
        assert {item["entityType"]["S"] for item in stored(client).values()} == {"Order", "Customer"}
        assert stored(client)["CUSTOMER"]["bought"] == stored(client)["CUSTOMER"]["count"] == {"N": "3"}
        # Code that no longer says `was=`, on a table that is two versions behind, knows it by the migrations.
        newest = design_on(client, orders("Order"), {})
        assert Runner(newest).verify().is_right
    with fresh_client(target) as client:
        with_purchases(client)
        newest = design_on(client, orders("Order"), {})
        Runner(newest).run([migration(Purchases, after)])
        assert stored(client)["CUSTOMER"]["bought"] == {"N": "3"}


@each_target
def test_nothing_is_recomputed_while_children_are_of_no_entity(target: str) -> None:
    after = orders("Order")
    recompute = Migration("0002_next", "Next", (Recompute({"Customer": ("count", "bought")}),), None)
    with fresh_client(target) as client:
        with_purchases(client)
        was = stored(client)
        db = design_on(client, after, {})
        (rehearsed,) = Runner(db).run([recompute], dry_run=True)
        assert rehearsed.steps[0].did == "would be refused: nothing is recomputed while items cannot be read"
        with pytest.raises(StrangeItemsError, match=r"ST603: .* 3 items of shop are of no entity") as refused:
            Runner(db).run([recompute])
        assert refused.value.items[0] == (
            "CUSTOMER#c / ORDER#o0: its entityType is Purchase, so it is of no entity"
        )
        with pytest.raises(
            VerificationError, match=r"count cannot be worked out: the item CUSTOMER#c / ORDER#o0"
        ):
            Runner(db, shared_table=True).run([recompute])
        assert stored(client) == was
        db.verify(repair=True)
        assert stored(client) == was


@each_target
def test_nothing_is_recomputed_while_children_cannot_be_read(target: str) -> None:
    recompute = Migration("0002_next", "Next", (Recompute({"Customer": ("count",)}),), None)
    with fresh_client(target) as client:
        with_purchases(client)
        broken = {"PK": {"S": "CUSTOMER#c"}, "SK": {"S": "ORDER#o2"}, "entityType": {"S": "Purchase"}}
        client.call("PutItem", {"TableName": "shop", "Item": {**broken, "number": {"BOOL": True}}})
        was = stored(client)
        with pytest.raises(VerificationError, match=r"ORDER#o2: the item .* is no Purchase"):
            Runner(design_on(client, Purchases, {})).run([recompute])
        design_on(client, Purchases, {}).verify(repair=True)
        assert stored(client) == was


@each_target
def test_entity_that_is_gone_stops_while_there_are_items_of_it(target: str) -> None:
    customers = version("Customer", more={"key": Keys(CustomerPK, CustomerSK)})
    before = Purchases.blueprint()
    (step,) = compare(replace(before, entities=before.entities[:1]), customers.blueprint())
    assert step == CheckItems({}, ("Purchase",))
    assert step.says() == "Check that no item is of Purchase: stop here if not."
    with fresh_client(target) as client:
        with_purchases(client)
        for shared in (False, True):  # whoever else uses the table, these items are named by the step
            runner = Runner(design_on(client, customers, {}), shared_table=shared)
            with pytest.raises(StrangeItemsError, match="3 items of shop are of no entity"):
                runner.run([Migration("0002_gone", "Gone", (step,), None)])


def test_other_type_is_written_and_verified() -> None:
    check, write, verify = steps(version(note=str), version(note=int))
    assert check == CheckItems({"Order": ("note",)})
    assert check.says() == "Check that every item of Order (note) can be read: stop here if not."
    assert write == Backfill({}, fields={"Order": ("note",)})
    assert write.says() == "Write note of Order as the type says into the items that are there."
    assert verify == Verify({"Order": ()}, fields={"Order": ("note",)})
    for step in (check, write, verify):
        assert step_of(json.loads(json.dumps(step_data(step)))) == step


# --- what is said around the items -----------------------------------------------------------------------


SAID: dict[str, Any] = {
    "volumes": (VolumeBlueprint("Order", 10, 2, per="customer", because="003:327"),),
    "rates": (RateBlueprint("Order", creates=1),),
    "loads": (LoadBlueprint("create", "Order", monthly=9, because="an assumption"),),
    "users": 1_000,
    "consumers": (ConsumerBlueprint("Shop"),),
    "services": (ServiceBlueprint("order"),),
    "roles": (RoleBlueprint("reader"),),
    "alarms": (AlarmBlueprint("late"),),
    "fixes": (FixBlueprint("KF-01"),),
    "about": "a shop",
    "targets": ("aws",),
    "figures": (FigureBlueprint("reads", 100),),
}


@pytest.mark.parametrize("name", [*SAID, "owner", "table"])
def test_what_is_said_around_the_items_is_no_difference_by_itself(name: str) -> None:
    before = version().blueprint()
    match name:
        case "owner":
            after = replace(
                before, entities=tuple(replace(each, owner="customer") for each in before.entities)
            )
        case "table":
            after = replace(before, table=replace(before.table, about="orders", said=(Said("003:1"),)))
        case _:
            after = replace(before, **{name: SAID[name]})
    assert after != before
    assert compared(before, after) == compared(after, before) == ()
    assert compare(before, after) == compare(after, before) == ()


def test_what_is_said_is_told_beside_another_difference() -> None:
    before = version().blueprint()
    owned = tuple(replace(each, owner="customer") for each in before.entities)
    after = replace(before, casing="pascal", entities=owned, loads=SAID["loads"])
    said = [each for each in compared(before, after) if each.effect == "nothing"]
    assert [each.says for each in said] == [
        *(f"The owner of a {each.name} is said to be customer. Nothing to do." for each in owned),
        "The loads are other ones. Nothing to do.",
    ]
