"""Placeholders of a request: what is refused before and after its expressions, and what is remembered."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.errors import ApiError, SerializationError, ValidationError
from singletable.expressions import ExpressionRefusedError, Scope, check_given_with_expressions
from singletable.expressions.conditions import prepare_condition
from singletable.expressions.updates import prepare_update
from singletable.values.reading import read_value
from singletable.values.refused import ValueRefusedError

ONE: dict[str, Any] = {"N": "1"}
LONG = "k" * 254


def normalize(raw: Any) -> dict[str, Any]:
    return read_value(raw, native=False)


def message_of(error: pytest.ExceptionInfo[ApiError]) -> str:
    return error.value.message


# --- the maps themselves ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({}, "ExpressionAttributeNames must not be empty"),
        ({"foo": "a"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "foo"'),
        ({"#": "a"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#"'),
        ({"#a-b": "a"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"'),
        ({"#é": "a"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#é"'),
        ({":a": "a"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: ":a"'),
        (
            {"#a": "a", "b": "b", "c": "c"},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "b"',
        ),
        (
            {"": "a"},
            "ExpressionAttributeNames contains invalid key: The expression attribute map contains an empty key;",
        ),
        (
            {f"#k{LONG}": "a"},
            (
                "ExpressionAttributeNames contains invalid key: "
                "The expression attribute map contains a key that is too long; size of key: 256"
            ),
        ),
        ({"#a": ""}, "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"),
        (
            {"#a": "n" * 65536},
            (
                "ExpressionAttributeNames contains invalid value: "
                "Attribute name is too large, must be less than 65536 bytes for key #a"
            ),
        ),
        ({f"#a{number}": "n" * 65000 for number in range(33)}, "ExpressionAttributeNames exceeds max size"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_names_are_refused(names: dict[str, str], message: str) -> None:
    with pytest.raises(ExpressionRefusedError) as caught:
        Scope(names, None)
    assert message_of(caught) == message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "ExpressionAttributeValues must not be empty"),
        ({"foo": ONE}, 'ExpressionAttributeValues contains invalid key: Syntax error; key: "foo"'),
        ({"#a": ONE}, 'ExpressionAttributeValues contains invalid key: Syntax error; key: "#a"'),
        (
            {f":k{LONG}": ONE},
            (
                "ExpressionAttributeValues contains invalid key: "
                "The expression attribute map contains a key that is too long;"
            ),
        ),
        (
            {f":v{number}": {"S": "x" * 300_000} for number in range(7)},
            "ExpressionAttributeValues exceeds max size",
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ExpressionRefusedError) as caught:
        Scope(None, values)
    assert message_of(caught) == message


def test_longest_placeholders_and_names_are_accepted() -> None:
    scope = Scope({f"#{LONG}": "n" * 65535}, {f":{LONG}": ONE})
    condition = scope.condition(f"#{LONG} = :{LONG}", parameter="FilterExpression")
    scope.finish()
    assert condition.holds({"n" * 65535: ONE})


def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands() -> None:
    half = "\ud83d"
    with pytest.raises(SerializationError):
        Scope({"#a": half}, None)
    with pytest.raises(SerializationError):
        Scope(None, {f":{half}": ONE})
    with pytest.raises(SerializationError):
        Scope(None, None).condition(half, parameter="FilterExpression")


INVALID_SET = "One or more parameter values were invalid: An string set  may not be empty"
NO_TYPE = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"


def test_names_are_checked_before_values_and_keys_before_what_they_stand_for() -> None:
    bad_value: dict[str, Any] = {":a": {"SS": []}}
    with pytest.raises(ValidationError, match="Names must not be empty"):
        Scope.of_request({}, {}, normalize)
    with pytest.raises(ValidationError, match='key: "x"'):
        Scope.of_request({"x": "a"}, bad_value, normalize)
    with pytest.raises(ValidationError, match='key: "y"'):
        Scope.of_request(None, {**bad_value, "y": ONE}, normalize)
    with pytest.raises(ValidationError, match="may not be empty"):
        Scope.of_request({"#unused": "a"}, bad_value, normalize)


def test_wrong_value_is_named_by_its_key_where_dynamodb_does() -> None:
    wrapped = "ExpressionAttributeValues contains invalid value: "
    with pytest.raises(ValueRefusedError) as current:
        Scope.of_request(None, {":a": {"SS": []}}, normalize)
    assert message_of(current) == INVALID_SET
    with pytest.raises(ValidationError) as no_type:
        Scope.of_request(None, {":a": ONE, ":b": {}}, normalize)
    assert message_of(no_type) == f"{wrapped}{NO_TYPE} for key :b"
    with pytest.raises(ValidationError) as older:
        Scope.of_request(None, {":a": {"SS": []}}, normalize, older=True)
    assert message_of(older) == f"{wrapped}{INVALID_SET} for key :a"


def test_values_of_a_request_are_brought_into_canonical_form() -> None:
    scope = Scope.of_request(None, {":v": {"N": "+1.50"}}, normalize)
    assert scope.condition("n = :v", parameter="FilterExpression").holds({"n": {"N": "1.5"}})


QUERY = ["ProjectionExpression", "FilterExpression", "KeyConditionExpression"]


@pytest.mark.parametrize(
    ("names", "values", "expressions", "message"),
    [
        (
            {"#a": "a"},
            None,
            dict.fromkeys(QUERY),
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {},
            None,
            {"ConditionExpression": None},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            None,
            {":a": ONE},
            {"ConditionExpression": None},
            "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null",
        ),
        (
            None,
            {":a": ONE},
            {"UpdateExpression": None, "ConditionExpression": None},
            (
                "ExpressionAttributeValues can only be specified when using expressions: "
                "UpdateExpression and ConditionExpression are null"
            ),
        ),
        (
            None,
            {":a": ONE},
            {**dict.fromkeys(QUERY), "ProjectionExpression": "a"},
            (
                "ExpressionAttributeValues can only be specified when using expressions: "
                "FilterExpression and KeyConditionExpression are null"
            ),
        ),
    ],
)
def test_placeholders_need_an_expression(
    names: dict[str, str] | None,
    values: dict[str, Any] | None,
    expressions: dict[str, str | None],
    message: str,
) -> None:
    with pytest.raises(ExpressionRefusedError) as caught:
        check_given_with_expressions(names, values, list(expressions.items()))
    assert message_of(caught) == message


@pytest.mark.parametrize(
    ("names", "values", "expressions"),
    [
        (None, None, {"ConditionExpression": None}),
        ({"#a": "a"}, None, {"ProjectionExpression": "a", "FilterExpression": None}),
        ({"#a": "a"}, {":a": ONE}, {"ConditionExpression": ""}),
    ],
)
def test_placeholders_with_an_expression_are_fine(
    names: dict[str, str] | None, values: dict[str, Any] | None, expressions: dict[str, str | None]
) -> None:
    check_given_with_expressions(names, values, list(expressions.items()))


# --- what is not used ---------------------------------------------------------------------------


def test_unused_names_are_refused_before_unused_values() -> None:
    scope = Scope({"#z": "z", "#a": "a", "#b": "b"}, {":z": ONE, ":a": ONE, ":b": ONE})
    scope.condition("#a = :a", parameter="FilterExpression")
    with pytest.raises(ExpressionRefusedError) as names:
        scope.finish()
    assert message_of(names) == (
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#z, #b}"
    )
    scope.projection("#z, #b")
    with pytest.raises(ExpressionRefusedError) as values:
        scope.finish()
    assert message_of(values) == (
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:z, :b}"
    )


def test_every_expression_of_a_request_uses_up_placeholders() -> None:
    scope = Scope({"#p": "p", "#f": "f", "#c": "c"}, {":p": ONE, ":f": ONE})
    scope.key_condition("#p = :p")
    scope.condition("#f.#c = :f", parameter="FilterExpression")
    scope.projection("#p, #f[0].#c")
    scope.finish()


def test_update_and_condition_share_their_placeholders() -> None:
    scope = Scope({"#n": "n"}, {":v": ONE, ":w": ONE})
    update = scope.update("SET #n = :v")
    condition = scope.condition("#n = :w", parameter="ConditionExpression")
    scope.finish()
    assert update.apply({"n": {"N": "2"}}) == {"n": ONE}
    assert condition.holds({"n": ONE})


def test_nothing_to_use_is_nothing_unused() -> None:
    Scope(None, None).finish()


def test_refusal_of_an_expression_can_be_put_into_an_envelope() -> None:
    with pytest.raises(ValueRefusedError) as caught:
        Scope(None, None).update("SET")
    assert caught.value.enveloped().message == (
        '1 validation error detected: Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"'
    )


# --- the size of everything together --------------------------------------------------------------


def test_expression_with_all_that_stands_in_it_may_have_a_mebibyte() -> None:
    def filter_with(value: str) -> None:
        Scope({"#n": "n" * 100}, {":v": {"S": value}}).condition(
            "#n=:v or a=:v", parameter="FilterExpression"
        )

    room = 1024 * 1024 - len("#n=:v or a=:v") - 100
    filter_with("x" * (room // 2))
    with pytest.raises(ValidationError) as caught:
        filter_with("x" * (room // 2 + 1))
    assert message_of(caught) == (
        "Invalid FilterExpression: Expression size has exceeded the maximum allowed size;"
    )
    filter_with("é" * (room // 4))


# --- what is remembered ---------------------------------------------------------------------------


def test_second_request_with_the_same_text_parses_nothing_whatever_its_values() -> None:
    prepare_condition.cache_clear()
    for number in range(5):
        scope = Scope({"#a": "a"}, {":v": {"N": str(number)}})
        condition = scope.condition(
            "#a = :v", parameter=("FilterExpression", "ConditionExpression")[number % 2]
        )
        assert condition.holds({"a": {"N": str(number)}})
    assert prepare_condition.cache_info().misses == 1
    assert prepare_condition.cache_info().hits == 4


def test_names_that_the_text_does_not_use_do_not_matter_to_what_is_remembered() -> None:
    prepare_update.cache_clear()
    Scope({"#a": "a", "#b": "b"}, None).update("REMOVE #a")
    Scope({"#a": "a", "#c": "c"}, None).update("REMOVE #a")
    assert prepare_update.cache_info().hits == 1


def test_same_text_with_other_names_is_another_expression() -> None:
    for attribute in ("a", "b", "a"):
        condition = Scope({"#n": attribute}, None).condition(
            "attribute_exists(#n)", parameter="FilterExpression"
        )
        assert condition.attributes == {attribute}
    with pytest.raises(ValidationError, match="#n"):
        Scope(None, None).condition("attribute_exists(#n)", parameter="FilterExpression")


def test_expression_with_huge_names_is_not_remembered() -> None:
    prepare_condition.cache_clear()
    for _ in range(2):
        scope = Scope({"#n": "n" * 60000}, None)
        assert scope.condition("attribute_not_exists(#n)", parameter="FilterExpression").holds({})
    assert prepare_condition.cache_info().currsize == 0


def test_what_is_remembered_is_bounded() -> None:
    assert prepare_condition.cache_info().maxsize == 1024
