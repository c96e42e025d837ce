"""UpdateItem: what it makes of an item, and every kind of ReturnValues."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from singletable.errors import ValidationError
from support.sample_tables import create_plain, create_single, invalid, item, n, refusal, s

KEY: dict[str, Any] = {"id": {"S": "k"}}
OLD: dict[str, Any] = {
    **KEY,
    "a": s("old"),
    "b": n(1),
    "c": {"M": {"d": s("deep"), "e": n(5)}},
    "f": {"L": [s("0"), s("1"), s("2")]},
    "g": {"SS": ["x", "y"]},
}


@pytest.fixture
def plain(db: Database) -> Database:
    create_plain(db)
    return db


def update(db: Database, expression: str | None = None, **request: Any) -> Any:
    values = {f":{name}": value for name, value in request.pop("values", {}).items()}
    if values:
        request["ExpressionAttributeValues"] = values
    if expression is not None:
        request["UpdateExpression"] = expression
    return db.update_item(TableName="plain", Key=KEY, **request)


def get(db: Database) -> Any:
    return db.get_item(TableName="plain", Key=KEY).get("Item")


def test_an_update_makes_an_item_that_is_not_there(plain: Database) -> None:
    assert update(plain, "SET a = :a", values={"a": s("1")}) == {}
    assert get(plain) == {**KEY, "a": s("1")}


def test_an_update_without_an_expression_makes_the_key_alone(plain: Database) -> None:
    update(plain)
    assert get(plain) == KEY
    plain.put_item(TableName="plain", Item=OLD)
    update(plain)
    assert get(plain) == OLD


@pytest.mark.parametrize("wanted", ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("REMOVE a", {}),
        ("DELETE a :a", {"a": {"SS": ["x"]}}),
        ("REMOVE a, b DELETE c :a", {"a": {"NS": ["1"]}}),
        ("REMOVE a.b", {}),
        ("REMOVE a[0], c.d[1].e", {}),
        ("REMOVE a.b DELETE c.d :a", {"a": {"NS": ["1"]}}),
    ],
    ids=["remove", "delete", "both", "member", "elements", "nested"],
)
def test_an_update_that_only_removes_makes_no_item(
    plain: Database, expression: str, values: dict[str, Any], wanted: str
) -> None:
    # ScyllaDB's test_update_item_non_existent and test_nested_attribute_remove_from_missing_item, run against the
    # service. The nested DELETE is ours.
    assert update(plain, expression, values=values, ReturnValues=wanted) == {}
    assert get(plain) is None
    assert plain.describe_table(TableName="plain")["Table"]["ItemCount"] == 0


def test_an_update_that_only_removes_makes_no_item_in_a_transaction(plain: Database) -> None:
    plain.transact_write_items(
        TransactItems=[{"Update": {"TableName": "plain", "Key": KEY, "UpdateExpression": "REMOVE a, b.c"}}],
        ReturnConsumedCapacity="TOTAL",
        ReturnItemCollectionMetrics="SIZE",
    )
    assert get(plain) is None


@pytest.mark.parametrize("expression", ["REMOVE a.b", "REMOVE a[0]", "REMOVE a.b SET c = :c"])
def test_a_removal_needs_its_way_where_there_is_an_item_or_will_be(plain: Database, expression: str) -> None:
    values = {"c": s("x")} if ":c" in expression else {}
    if not values:
        plain.put_item(TableName="plain", Item=KEY)
    with pytest.raises(ValidationError, match="document path provided in the update expression is invalid"):
        update(plain, expression, values=values)


def test_all_clauses_see_the_item_as_it_was(plain: Database) -> None:
    plain.put_item(TableName="plain", Item=OLD)
    update(
        plain,
        "SET a = b, b = b + :one, c.d = a, #f[1] = :x, h = if_not_exists(h, :one) "
        "REMOVE c.e, #f[2] ADD i :one DELETE #g :x_set",
        values={"one": n(1), "x": s("X"), "x_set": {"SS": ["x"]}},
        ExpressionAttributeNames={"#f": "f", "#g": "g"},
    )
    assert get(plain) == {
        **KEY,
        "a": n(1),
        "b": n(2),
        "c": {"M": {"d": s("old")}},
        "f": {"L": [s("0"), s("X")]},
        "g": {"SS": ["y"]},
        "h": n(1),
        "i": n(1),
    }


def test_the_last_member_of_a_set_takes_the_attribute_with_it(plain: Database) -> None:
    plain.put_item(TableName="plain", Item=OLD)
    update(plain, "DELETE g :all", values={"all": {"SS": ["x", "y"]}})
    assert "g" not in get(plain)


# --- ReturnValues --------------------------------------------------------------------------------

SET = "SET b = b + :n, z = :z, c.d = :z REMOVE a, #f[0]"
GIVEN: dict[str, Any] = {
    "values": {"n": n(1), "z": s("zz")},
    "ExpressionAttributeNames": {"#f": "f"},
}
AFTER: dict[str, Any] = {
    **KEY,
    "b": n(2),
    "z": s("zz"),
    "c": {"M": {"d": s("zz"), "e": n(5)}},
    "f": {"L": [s("1"), s("2")]},
    "g": {"SS": ["x", "y"]},
}


@pytest.mark.parametrize(
    ("wanted", "attributes"),
    [
        ("NONE", None),
        ("ALL_OLD", OLD),
        ("ALL_NEW", AFTER),
        (
            "UPDATED_OLD",
            {"b": n(1), "c": {"M": {"d": s("deep")}}, "a": s("old"), "f": {"L": [s("0")]}},
        ),
        # Only the parts that were written, as they are now; f[0] is another one by now.
        ("UPDATED_NEW", {"b": n(2), "z": s("zz"), "c": {"M": {"d": s("zz")}}, "f": {"L": [s("1")]}}),
    ],
)
def test_an_update_returns_what_is_asked_for(plain: Database, wanted: str, attributes: Any) -> None:
    plain.put_item(TableName="plain", Item=OLD)
    assert update(plain, SET, ReturnValues=wanted, **GIVEN).get("Attributes") == attributes
    assert get(plain) == AFTER


@pytest.mark.parametrize(
    ("wanted", "attributes"),
    [
        ("NONE", None),
        ("ALL_OLD", None),
        ("UPDATED_OLD", None),
        ("ALL_NEW", {**KEY, "a": s("1")}),
        ("UPDATED_NEW", {"a": s("1")}),
    ],
)
def test_an_update_that_makes_an_item_has_no_old_attributes(
    plain: Database, wanted: str, attributes: Any
) -> None:
    answer = update(plain, "SET a = :a", values={"a": s("1")}, ReturnValues=wanted)
    assert answer.get("Attributes") == attributes


@pytest.mark.parametrize("wanted", ["UPDATED_OLD", "UPDATED_NEW"])
def test_removing_what_is_not_there_returns_nothing(plain: Database, wanted: str) -> None:
    plain.put_item(TableName="plain", Item=OLD)
    assert update(plain, "REMOVE nothing", ReturnValues=wanted) == {}


def test_an_update_without_an_expression_returns_the_whole_item_only(plain: Database) -> None:
    plain.put_item(TableName="plain", Item=OLD)
    answers = {
        wanted: update(plain, ReturnValues=wanted).get("Attributes")
        for wanted in ("ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
    }
    assert answers == {"ALL_OLD": OLD, "ALL_NEW": OLD, "UPDATED_OLD": None, "UPDATED_NEW": None}


def test_binary_values_are_returned_as_bytes(plain: Database) -> None:
    answer = update(plain, "SET x = :x", values={"x": {"B": b"\xff\x00"}}, ReturnValues="UPDATED_NEW")
    assert answer == {"Attributes": {"x": {"B": b"\xff\x00"}}}


# --- what it refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "values", "message"),
    [
        pytest.param(
            "SET a = a + :n",
            {"n": n(1)},
            "An operand in the update expression has an incorrect data type",
            id="text-plus-number",
        ),
        pytest.param(
            "SET nothing = absent",
            {},
            "The provided expression refers to an attribute that does not exist in the item",
            id="no-such-attribute",
        ),
        pytest.param(
            "SET absent.x = :n",
            {"n": n(1)},
            "The document path provided in the update expression is invalid for update",
            id="no-such-path",
        ),
        pytest.param(
            "SET a.x = :n",
            {"n": n(1)},
            "The document path provided in the update expression is invalid for update",
            id="a-path-into-text",
        ),
    ],
)
def test_an_update_that_does_not_fit_the_item_changes_nothing(
    plain: Database, expression: str, values: dict[str, Any], message: str
) -> None:
    plain.put_item(TableName="plain", Item=OLD)
    given = {f":{name}": value for name, value in values.items()}
    request = {"ExpressionAttributeValues": given} if given else {}
    assert refusal(
        plain, "update_item", TableName="plain", Key=KEY, UpdateExpression=expression, **request
    ) == invalid(message)
    assert get(plain) == OLD


@pytest.mark.parametrize("name", ["PK", "SK"])
@pytest.mark.parametrize(
    "expression", ["SET {} = :v", "SET {}.x = :v", "REMOVE {}", "ADD {} :n", "DELETE {} :set"]
)
def test_a_key_cannot_be_updated(db: Database, name: str, expression: str) -> None:
    create_single(db)
    values = {":v": s("v"), ":n": n(1), ":set": {"SS": ["v"]}}
    text = expression.format(name)
    request: dict[str, Any] = {"UpdateExpression": text}
    used = {key: value for key, value in values.items() if key in text.split()}
    if used:
        request["ExpressionAttributeValues"] = used
    assert refusal(db, "update_item", TableName="single", Key=item("a", "b"), **request) == invalid(
        f"One or more parameter values were invalid: Cannot update attribute {name}. This attribute is part of "
        "the key"
    )
    assert db.scan(TableName="single")["Count"] == 0


def test_an_update_keeps_the_indexes_in_step(db: Database) -> None:
    create_single(db)
    key = item("a", "b")

    def change(expression: str, **values: Any) -> list[Any]:
        request: Any = {"ExpressionAttributeValues": {f":{name}": value for name, value in values.items()}}
        db.update_item(
            TableName="single", Key=key, UpdateExpression=expression, **(request if values else {})
        )
        found = db.scan(TableName="single", IndexName="GSI1")["Items"]
        return [(i["GSI1PK"]["S"], i["GSI1SK"]["S"]) for i in found]

    assert change("SET GSI1PK = :p", p=s("g")) == []
    assert change("SET GSI1SK = :s", s=s("h")) == [("g", "h")]
    assert change("SET x = :x", x=n(1)) == [("g", "h")]
    assert change("SET GSI1PK = :p", p=s("i")) == [("i", "h")]
    assert change("REMOVE GSI1SK") == []
    assert change("SET GSI1SK = GSI1PK") == [("i", "i")]
