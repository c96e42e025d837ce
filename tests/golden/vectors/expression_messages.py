"""What expressions are refused with: the token that stops the reader, what is near it, and unfit operands."""

from __future__ import annotations

import re
from typing import cast

from golden.vectors.tables import HASH
from golden.vectors.vector import Vector, Wire, validation

SYNTAX = "Recorded in eu-west-2 and us-east-1, 9 October 2026: dynoxide, tests/expression_syntax_errors.rs"
BLANK = "Recorded in eu-west-2 and us-east-1, 10 October 2026: dynoxide, tests/whitespace_only_expressions.rs"
FOREIGN = (
    "Recorded in eu-west-2 and us-east-1, 9 October 2026: dynoxide, tests/fixtures/non_ascii_expressions.json"
)
OPERANDS = "Recorded in eu-west-2, 18 October 2026: dynoxide, tests/set_arithmetic_operands.rs"
TRANSACTIONS = (
    '"Amazon DynamoDB accepts a Put/Delete/Get sub-operation that declares names or values but has no condition, '
    'update, or projection" (captured by github.com/ExtendDB/extenddb, pull 169)'
)

ENVELOPE = "1 validation error detected: "
KEY: Wire = {"p": {"S": "a"}}


def stopped(token: str, near: str) -> str:
    return f'Syntax error; token: "{token}", near: "{near}"'


def values_of(text: str, **more: Wire) -> Wire:
    """Every placeholder of an expression, defined, so that its only fault is the one looked at."""
    names = dict.fromkeys(re.findall(r":\w+", text))
    values = {name: {"S": "v"} for name in names} | {f":{name}": value for name, value in more.items()}
    return {"ExpressionAttributeValues": values} if values else {}


# --- conditions ---------------------------------------------------------------------------------

CONDITIONS: list[tuple[str, str, str]] = [
    ("a_call_that_ends_early", "attribute_not_exists(", stopped("<EOF>", "(")),
    ("a_call_without_its_end", "attribute_exists(p", stopped("<EOF>", "p")),
    ("and_without_a_second_condition", "a = :v AND", stopped("<EOF>", "AND")),
    ("between_without_a_second_bound", "a BETWEEN :v", stopped("<EOF>", ":v")),
    ("a_parenthesis_without_its_end", "(a = :v", stopped("<EOF>", ":v")),
    ("a_path_that_ends_with_a_dot", "a.", stopped("<EOF>", ".")),
    ("a_path_that_ends_with_a_bracket", "a[", stopped("<EOF>", "[")),
    ("a_word_after_a_call", "attribute_exists(p) x", stopped("x", ") x")),
    ("two_words_after_a_call", "attribute_exists(p) x y", stopped("x", ") x y")),
    ("a_value_after_a_comparison", "a = :v :w x", stopped(":w", ":v :w x")),
    ("a_parenthesis_too_many", "a = :v)", stopped(")", ":v)")),
    ("a_comparison_without_its_operator", "a :v", stopped(":v", "a :v")),
    ("two_operators", "a = = :v", stopped("=", "= = :v")),
    ("a_condition_that_begins_with_an_operator", "= :v", stopped("=", "= :v")),
    ("a_condition_that_begins_with_and", "AND a = :v", stopped("AND", "AND a")),
    ("a_third_comparison_without_and", "aaa = :v AND bbbb = :w cccc = :x", stopped("cccc", ":w cccc =")),
    ("a_call_without_parentheses", "attribute_exists p", stopped("p", "attribute_exists p")),
    ("a_call_with_a_comma_too_many", "attribute_exists(p,)", stopped(")", ",)")),
    ("a_call_without_a_comma", "begins_with(a :v)", stopped(":v", "a :v)")),
    ("in_without_parentheses", "a IN :v", stopped(":v", "IN :v")),
    ("in_without_values", "a IN ()", stopped(")", "()")),
    ("between_with_or", "a BETWEEN :v OR :w", stopped("OR", ":v OR :w")),
    ("not_without_a_condition", "NOT", stopped("<EOF>", "NOT")),
    ("an_index_that_is_a_word", "a[x] = :v", stopped("x", "[x]")),
    ("an_index_without_its_end", "a[1 = :v", stopped("=", "1 = :v")),
    ("a_mark_that_is_no_token", "a = :v !", stopped("!", ":v !")),
    ("a_mark_between_two_names", "a ! b", stopped("!", "a ! b")),
    ("a_function_that_does_not_exist", "foo(p, :v)", "Invalid function name; function: foo"),
    (
        "a_reserved_word_inside_a_path",
        "a.data = :v",
        "Attribute name is a reserved keyword; reserved keyword: data",
    ),
]

IN_WRITES = [
    Vector(
        f"condition_of_a_put_with_{what}",
        operation="PutItem",
        tables=[HASH],
        request={"TableName": "Hash", "Item": KEY, "ConditionExpression": text, **values_of(text)},
        error=validation(f"{ENVELOPE}Invalid ConditionExpression: {message}"),
        evidence=SYNTAX,
    )
    for what, text, message in CONDITIONS
]

ELSEWHERE = [
    Vector(
        f"{where}_with_{what}",
        operation=operation,
        tables=[HASH],
        request=request(text),
        error=validation(f"{prefix}{message}"),
        evidence=SYNTAX,
    )
    for where, operation, prefix, request in (
        (
            "filter_of_a_scan",
            "Scan",
            "Invalid FilterExpression: ",
            lambda text: {"TableName": "Hash", "FilterExpression": text, **values_of(text)},
        ),
        (
            "filter_of_a_query",
            "Query",
            "Invalid FilterExpression: ",
            lambda text: {
                "TableName": "Hash",
                "KeyConditionExpression": "p = :key",
                "FilterExpression": text,
                **values_of(text, key={"S": "a"}),
            },
        ),
        (
            "condition_of_a_transaction",
            "TransactWriteItems",
            "Invalid ConditionExpression: ",
            lambda text: {
                "TransactItems": [
                    {
                        "ConditionCheck": {
                            "TableName": "Hash",
                            "Key": KEY,
                            "ConditionExpression": text,
                            **values_of(text),
                        }
                    }
                ]
            },
        ),
    )
    for what, text, message in (CONDITIONS[0], CONDITIONS[9], CONDITIONS[25])
]

KEY_CONDITIONS = [
    Vector(
        f"key_condition_with_{what}",
        operation="Query",
        tables=[HASH],
        request={"TableName": "Hash", "KeyConditionExpression": text, **values_of(text)},
        error=validation(f"Invalid KeyConditionExpression: {message}"),
        evidence=SYNTAX,
    )
    for what, text, message in (
        ("nothing_after_its_operator", "p =", stopped("<EOF>", "=")),
        ("nothing_after_and", "p = :p AND", stopped("<EOF>", "AND")),
        ("a_word_after_it", "p = :p x", stopped("x", ":p x")),
        ("a_call_without_its_end", "p = :p AND begins_with(s", stopped("<EOF>", "s")),
        ("no_operator", "p :p", stopped(":p", "p :p")),
        ("a_function_that_does_not_exist", "foo(p)", "Invalid function name; function: foo"),
    )
]

# --- updates --------------------------------------------------------------------------------------

UPDATES = [
    Vector(
        f"update_with_{what}",
        operation="UpdateItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": KEY, "UpdateExpression": text, **values_of(text)},
        error=validation(f"{ENVELOPE}Invalid UpdateExpression: {message}"),
        evidence=SYNTAX,
    )
    for what, text, message in (
        ("nothing_after_its_operator", "SET a =", stopped("<EOF>", "=")),
        ("nothing_after_set", "SET", stopped("<EOF>", "SET")),
        ("a_word_after_a_value", "SET a = :v x", stopped("x", ":v x")),
        ("no_operator", "SET a :v", stopped(":v", "a :v")),
        ("a_value_after_what_is_removed", "REMOVE a :v", stopped(":v", "a :v")),
        ("an_index_of_two_zeros", "SET l[00] = :v", stopped("0", "00]")),
        ("an_index_that_begins_with_two_zeros", "SET l[007] = :v", stopped("0", "007")),
        ("an_index_that_begins_with_zero", "REMOVE l[01]", stopped("1", "01]")),
    )
]

OVERLAPS = [
    Vector(
        f"update_of_overlapping_paths_{where}",
        operation=operation,
        tables=[HASH],
        request=request,
        error=validation(
            f"{prefix}Invalid UpdateExpression: Two document paths overlap with each other; must remove or "
            "rewrite one of these paths; path one: [a, b], path two: [a]"
        ),
        evidence="Recorded in eu-west-2 and us-east-1, 9 October 2026: dynoxide, tests/update_path_overlaps.rs",
    )
    for update in (
        {
            "TableName": "Hash",
            "Key": KEY,
            "UpdateExpression": "SET a.b = :v, a = :m",
            "ExpressionAttributeValues": {":v": {"N": "1"}, ":m": {"M": {}}},
        },
    )
    for where, operation, prefix, request in (
        ("names_them_as_written", "UpdateItem", ENVELOPE, update),
        ("refuses_a_transaction_outright", "TransactWriteItems", "", {"TransactItems": [{"Update": update}]}),
    )
]

ARITHMETIC = [
    Vector(
        f"update_that_{what}_{kind.lower()}",
        operation="UpdateItem",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "Key": KEY,
            "UpdateExpression": text,
            "ExpressionAttributeValues": {":v": value},
        },
        error=validation(
            f"{ENVELOPE}Invalid UpdateExpression: Incorrect operand type for operator or function; {message}"
        ),
        evidence=OPERANDS,
    )
    for what, text, kind, value, message in (
        (
            "subtracts",
            "SET n = n - :v",
            "BOOL",
            {"BOOL": True},
            "operator or function: -, operand type: BOOL",
        ),
        ("adds", "SET n = n + :v", "NS", {"NS": ["1"]}, "operator or function: +, operand type: NS"),
        ("adds", "SET n = n + :v", "L", {"L": [{"N": "1"}]}, "operator or function: +, operand type: L"),
        (
            "appends",
            "SET l = list_append(:v, l)",
            "SS",
            {"SS": ["a"]},
            "operator or function: list_append, operand type: SS",
        ),
        (
            "adds_by_add",
            "ADD a :v",
            "B",
            {"B": "eA=="},
            "operator: ADD, operand type: Binary, typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        (
            "adds_by_add",
            "ADD a :v",
            "M",
            {"M": {}},
            "operator: ADD, operand type: MAP, typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        (
            "deletes",
            "DELETE a :v",
            "L",
            {"L": [{"N": "1"}]},
            "operator: DELETE, operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
    )
]

# --- spaces, and letters that no name has ------------------------------------------------------------

BLANKS = [
    Vector(
        f"blank_{what}",
        operation=operation,
        tables=[HASH],
        request=request,
        error=validation(f"{prefix}{stopped('<EOF>', '   ')}"),
        evidence=BLANK,
    )
    for what, operation, request, prefix in (
        (
            "update",
            "UpdateItem",
            {"TableName": "Hash", "Key": KEY, "UpdateExpression": "   "},
            f"{ENVELOPE}Invalid UpdateExpression: ",
        ),
        (
            "condition",
            "DeleteItem",
            {"TableName": "Hash", "Key": KEY, "ConditionExpression": "   "},
            f"{ENVELOPE}Invalid ConditionExpression: ",
        ),
        (
            "key_condition",
            "Query",
            {"TableName": "Hash", "KeyConditionExpression": "   "},
            "Invalid KeyConditionExpression: ",
        ),
        ("filter", "Scan", {"TableName": "Hash", "FilterExpression": "   "}, "Invalid FilterExpression: "),
        (
            "projection",
            "GetItem",
            {"TableName": "Hash", "Key": KEY, "ProjectionExpression": "   "},
            "Invalid ProjectionExpression: ",
        ),
        (
            "update_of_a_transaction",
            "TransactWriteItems",
            {"TransactItems": [{"Update": {"TableName": "Hash", "Key": KEY, "UpdateExpression": "   "}}]},
            "Invalid UpdateExpression: ",
        ),
    )
]

LETTERS = [
    Vector(
        f"update_with_a_foreign_letter_{what}",
        operation="UpdateItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": KEY, "UpdateExpression": text, **values_of("", v={"N": "1"})},
        error=validation(f"{ENVELOPE}Invalid UpdateExpression: {message}"),
        evidence=FOREIGN,
    )
    for what, text, message in (
        ("at_its_beginning", "éSET a = :v", stopped("é", "éSET")),
        ("before_a_path", "SET é a = :v", stopped("é", "SET é a")),
        ("at_its_end", "SET a = :v é", stopped("é", ":v é")),
        ("of_two_units", "SET a = :v 😀", stopped("😀", ":v 😀")),
    )
]

# --- placeholders without an expression ------------------------------------------------------------------

UNUSED = [
    Vector(
        f"transaction_may_{what}",
        operation=operation,
        tables=[HASH],
        request={"TransactItems": [{action: {"TableName": "Hash", **parameters}}]},
        answer=answer,
        evidence=TRANSACTIONS,
    )
    for what, operation, action, parameters, answer in cast(
        "list[tuple[str, str, str, Wire, Wire]]",
        [
            (
                "put_with_names_and_no_condition",
                "TransactWriteItems",
                "Put",
                {"Item": KEY, "ExpressionAttributeNames": {"#a": "a"}},
                {},
            ),
            (
                "delete_with_values_and_no_condition",
                "TransactWriteItems",
                "Delete",
                {"Key": KEY, "ExpressionAttributeValues": {":v": {"S": "x"}}},
                {},
            ),
            (
                "get_with_names_and_no_projection",
                "TransactGetItems",
                "Get",
                {"Key": KEY, "ExpressionAttributeNames": {"#a": "a"}},
                {"Responses": [{}]},
            ),
        ],
    )
]

VECTORS = [
    *IN_WRITES,
    *ELSEWHERE,
    *KEY_CONDITIONS,
    *UPDATES,
    *OVERLAPS,
    *ARITHMETIC,
    *BLANKS,
    *LETTERS,
    *UNUSED,
]
