"""The text of expressions: what is read, and the words for what cannot be.

The messages are DynamoDB's. Those of the first tables were recorded on the service in October 2026 (by dynoxide);
the rest agree with DynamoDB Local 3.3.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from singletable.errors import ValidationError
from singletable.expressions import Scope

ONE: dict[str, Any] = {"N": "1"}


def values_in(text: str) -> dict[str, Any] | None:
    return dict.fromkeys(re.findall(r":\w+", text), ONE) or None


def read(kind: str, text: str) -> object:
    scope = Scope(None, values_in(text))
    match kind:
        case "Filter":
            return scope.condition(text, parameter="FilterExpression")
        case "KeyCondition":
            return scope.key_condition(text)
        case "Projection":
            return scope.projection(text)
        case _:
            return scope.update(text)


def complaint(kind: str, text: str) -> str:
    with pytest.raises(ValidationError) as caught:
        read(kind, text)
    prefix = f"Invalid {kind}Expression: "
    assert caught.value.message.startswith(prefix)
    return caught.value.message.removeprefix(prefix)


def near(token: str, text: str) -> str:
    return f'Syntax error; token: "{token}", near: "{text}"'


RECORDED_CONDITIONS = [
    ("attribute_not_exists(", near("<EOF>", "(")),
    ("attribute_exists(pk", near("<EOF>", "pk")),
    ("a =", near("<EOF>", "=")),
    ("a = :v AND", near("<EOF>", "AND")),
    ("a BETWEEN :v", near("<EOF>", ":v")),
    ("(a = :v", near("<EOF>", ":v")),
    ("a.", near("<EOF>", ".")),
    ("a[", near("<EOF>", "[")),
    ("attribute_exists(pk) x", near("x", ") x")),
    ("attribute_exists(pk) x y", near("x", ") x y")),
    ("a = :v :w", near(":w", ":v :w")),
    ("a = :v :w x", near(":w", ":v :w x")),
    ("a = :v)", near(")", ":v)")),
    ("a :v", near(":v", "a :v")),
    ("a = = :v", near("=", "= = :v")),
    ("= :v", near("=", "= :v")),
    ("AND a = :v", near("AND", "AND a")),
    ("aaa = :v AND bbbb = :w cccc = :x", near("cccc", ":w cccc =")),
    ("attribute_exists pk", near("pk", "attribute_exists pk")),
    ("attribute_exists(pk,)", near(")", ",)")),
    ("begins_with(a :v)", near(":v", "a :v)")),
    ("a IN :v", near(":v", "IN :v")),
    ("a IN ()", near(")", "()")),
    ("a BETWEEN :v OR :w", near("OR", ":v OR :w")),
    ("NOT", near("<EOF>", "NOT")),
    ("a[x] = :v", near("x", "[x]")),
    ("a[1 = :v", near("=", "1 = :v")),
    ("a = :v !", near("!", ":v !")),
    ("a ! b", near("!", "a ! b")),
    ("foo(pk)", "Invalid function name; function: foo"),
    ("foo(pk, :v)", "Invalid function name; function: foo"),
    ("size(a) =", near("<EOF>", "=")),
    ("l[01] = :v", near("1", "01]")),
    ("   ", near("<EOF>", "   ")),
    ("\t\n", near("<EOF>", "\t\n")),
]

MORE_CONDITIONS = [
    ("a", near("<EOF>", "a")),
    ("(a)", near("<EOF>", ")")),
    ("((a)", near("<EOF>", ")")),
    ("(a and b = :v)", near("and", "a and b")),
    ("((a) and b = :v)", near("and", ") and b")),
    ("(a)(b)", near("(", ")(b")),
    ("(a = :v) = :v", near("=", ") = :v")),
    ("a = (b = :v)", near("=", "b = :v")),
    ("(not a) = :v", near(")", "a) =")),
    ("not a", near("<EOF>", "a")),
    ("a = :v or", near("<EOF>", "or")),
    ("a = b + c", near("+", "b + c")),
    ("SET a = :v", near("SET", "SET a")),
    ("add = :v", near("add", "add =")),
    ("a.set = :v", near("set", ".set =")),
    ("a between b or c", near("or", "b or c")),
    ("a in (b, )", near(")", ", )")),
    ("a not in (b)", near("not", "a not in")),
    ("a = b = c", near("=", "b = c")),
    ("a != :v", near("!", "a !=")),
    ("a == :v", near("=", "== :v")),
    ("a < > :v", near(">", "< > :v")),
    ("a = 1", near("1", "= 1")),
    ('a = "x"', near('"', '= "x')),
    ("_a = :v", near("_", "_a")),
    ("1a = :v", near("1", "1a")),
    ("# = :v", near("#", "# =")),
    ("a-b = :v", near("-", "a-b")),
    ("a[-1] = :v", near("-", "[-1")),
    ("a[1.5] = :v", near(".", "1.5")),
    ("a.[0] = :v", near("[", ".[0")),
    ("a.:v = :v", near(":v", ".:v =")),
    ("a..b = :v", near(".", "..b")),
    ("foo()", near(")", "()")),
    ("foo(a and b)", near("and", "a and b")),
    ("#f(a)", near("(", "#f(a")),
    ("a b ", near("b", "a b ")),
    (" = :v", near("=", " = :v")),
    ("a =  ", near("<EOF>", "=  ")),
    ("a\v= :v", near("\v", "a\v=")),
    ("a\N{NO-BREAK SPACE}= :v", near("\N{NO-BREAK SPACE}", "a\N{NO-BREAK SPACE}=")),
    ("aé = :v", near("é", "aé =")),
    ("a😀 = :v", near("😀", "a😀 =")),
    ("", "The expression can not be empty;"),
]


@pytest.mark.parametrize(("text", "message"), RECORDED_CONDITIONS + MORE_CONDITIONS, ids=repr)
def test_condition_that_cannot_be_read_names_the_first_token_that_does_not_fit(
    text: str, message: str
) -> None:
    assert complaint("Filter", text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET a =", near("<EOF>", "=")),
        ("SET", near("<EOF>", "SET")),
        ("SET a = :v x", near("x", ":v x")),
        ("SET a :v", near(":v", "a :v")),
        ("ADD a", near("<EOF>", "a")),
        ("REMOVE a :v", near(":v", "a :v")),
        ("SET a = :v !", near("!", ":v !")),
        ("INVALID SYNTAX HERE", near("INVALID", "INVALID SYNTAX")),
        ("SET l[00] = :v", near("0", "00]")),
        ("SET l[007] = :v", near("0", "007")),
        ("REMOVE l[01]", near("1", "01]")),
        ("   ", near("<EOF>", "   ")),
        ("éSET a = :v", near("é", "éSET")),
        ("a = :v", near("a", "a =")),
        ("SET a = :v,", near("<EOF>", ",")),
        ("SET a = :v, , b = :v", near(",", ", , b")),
        ("SET a = :v b = :v", near("b", ":v b =")),
        ("SET a = :v, REMOVE b", near("REMOVE", ", REMOVE b")),
        ("SET (a) = :v", near("(", "SET (a")),
        ("SET a = b + c + :v", near("+", "c + :v")),
        ("SET a = (b + c) + :v", near("+", ") + :v")),
        ("SET a = b + (c + :v)", near("+", "c + :v")),
        ("SET a = -:v", near("-", "= -:v")),
        ("SET a = if_not_exists(a, b + c)", near("+", "b + c")),
        ("SET a = (b, c)", near(",", "b, c")),
        ("SET a = ()", near(")", "()")),
        ("REMOVE (a)", near("(", "REMOVE (a")),
        ("ADD a b", near("b", "a b")),
        ("ADD a (:v)", near("(", "a (:v")),
        ("ADD a = :v", near("=", "a = :v")),
        ("DELETE a", near("<EOF>", "a")),
        ("", "The expression can not be empty;"),
    ],
    ids=repr,
)
def test_update_that_cannot_be_read_names_the_first_token_that_does_not_fit(text: str, message: str) -> None:
    assert complaint("Update", text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pk =", near("<EOF>", "=")),
        ("pk = :pk AND", near("<EOF>", "AND")),
        ("pk = :pk x", near("x", ":pk x")),
        ("foo(pk)", "Invalid function name; function: foo"),
        ("pk = :pk AND begins_with(sk", near("<EOF>", "sk")),
        ("pk = :pk)", near(")", ":pk)")),
        ("", "The expression can not be empty;"),
    ],
    ids=repr,
)
def test_key_condition_is_read_as_a_condition(text: str, message: str) -> None:
    assert complaint("KeyCondition", text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b", near("b", "a b")),
        ("a,", near("<EOF>", ",")),
        (",a", near(",", ",a")),
        ("a, , b", near(",", ", , b")),
        ("a.", near("<EOF>", ".")),
        ("l[x]", near("x", "[x]")),
        ("l[00]", near("0", "00]")),
        ("(a)", near("(", "(a")),
        ("size(a)", near("(", "size(a")),
        (":a", near(":a", ":a")),
        ("*", near("*", "*")),
        ("  ", near("<EOF>", "  ")),
        ("", "The expression can not be empty;"),
    ],
    ids=repr,
)
def test_projection_that_cannot_be_read_names_the_first_token_that_does_not_fit(
    text: str, message: str
) -> None:
    assert complaint("Projection", text) == message


REDUNDANT = "The expression has redundant parentheses;"


@pytest.mark.parametrize(
    "text",
    [
        "((a = :v))",
        "(((a = :v)))",
        "(a = :v) and ((b = :v))",
        "not ((a = :v))",
        "((a)) = :v",
        "a = ((:v))",
        "((size(a))) = :v",
        "((size(a)))",
        "contains(((a)), :v)",
        "((a = :v)) and",  # noticed while reading, before the syntax error behind it
        "((foo(name)))",  # and before anything about functions and names
    ],
)
def test_parentheses_around_nothing_but_parentheses_are_refused(text: str) -> None:
    assert complaint("Filter", text) == REDUNDANT


@pytest.mark.parametrize("text", ["SET a = ((:v))", "SET a = ((b + :v))", "SET a = ((list_append(b, c)))"])
def test_redundant_parentheses_are_refused_in_updates_too(text: str) -> None:
    assert complaint("Update", text) == REDUNDANT


@pytest.mark.parametrize(
    "text",
    [
        "(a = :v)",
        "((a = :v) and b = :v)",
        "((a = :v) and (b = :v))",
        "((a) = :v)",
        "(a) = (:v)",
        "(size(a)) = :v",
        "contains((a), (:v))",
        "a in ((b))",
        "a in ((b), (c))",
        "(a) between (b) and (c)",
        "not (not (a = :v))",
        "(attribute_exists(a))",
    ],
)
def test_single_parentheses_are_fine_wherever_they_group_something(text: str) -> None:
    Scope(None, values_in(text)).condition(text, parameter="FilterExpression")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("((a)) b = :v", near("b", ") b =")),
        ("((a))", near("<EOF>", ")")),
        ("((a = :v)", near("<EOF>", ")")),
    ],
)
def test_operand_in_too_many_parentheses_is_a_syntax_error_if_no_comparison_follows(
    text: str, message: str
) -> None:
    assert complaint("Filter", text) == message


@pytest.mark.parametrize("word", ["name", "NAME", "Name", "status", "ttl", "zone", "size"])
def test_reserved_word_is_refused_as_it_is_written(word: str) -> None:
    message = f"Attribute name is a reserved keyword; reserved keyword: {word}"
    assert complaint("Filter", f"{word} = :v") == message
    assert complaint("Filter", f"a.{word}[0] = :v") == message
    assert complaint("Update", f"SET a = {word}") == message
    assert complaint("Projection", f"a, {word}") == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a[2147483648] = :v", "List index is not within the allowable range; index: [2147483648]"),
        ("Size(a) = :v", "Invalid function name; function: Size"),
        ("ATTRIBUTE_EXISTS(a)", "Invalid function name; function: ATTRIBUTE_EXISTS"),
        ("name(a)", "Invalid function name; function: name"),
        ("list_append(a, b)", "The function is not allowed in a condition expression; function: list_append"),
        (
            "if_not_exists(a, b) = :v",
            "The function is not allowed in a condition expression; function: if_not_exists",
        ),
        ("size(a)", "The function is not allowed to be used this way in an expression; function: size"),
        ("not size(a)", "The function is not allowed to be used this way in an expression; function: size"),
        (
            "size(a) and b = :v",
            "The function is not allowed to be used this way in an expression; function: size",
        ),
        (
            "a = attribute_exists(a)",
            "The function is not allowed to be used this way in an expression; function: attribute_exists",
        ),
        (
            "(contains(a, b)) = :v",
            "The function is not allowed to be used this way in an expression; function: contains",
        ),
        (
            "attribute_exists(attribute_exists(a))",
            "The function is not allowed to be used this way in an expression; function: attribute_exists",
        ),
        # The first of several in the order written; a function before what it is called with.
        ("name = foo(a)", "Attribute name is a reserved keyword; reserved keyword: name"),
        ("foo(a) = name", "Invalid function name; function: foo"),
        ("foo(name)", "Invalid function name; function: foo"),
        ("size(name)", "The function is not allowed to be used this way in an expression; function: size"),
        ("a.name[2147483648] = :v", "Attribute name is a reserved keyword; reserved keyword: name"),
    ],
)
def test_names_functions_and_indexes_are_checked_in_the_order_written(text: str, message: str) -> None:
    assert complaint("Filter", text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET a = foo(b)", "Invalid function name; function: foo"),
        ("SET a = IF_NOT_EXISTS(a, b)", "Invalid function name; function: IF_NOT_EXISTS"),
        ("SET a = size(b)", "The function is not allowed in an update expression; function: size"),
        (
            "SET a = list_append(list_append(b, c), d)",
            "The function is not allowed to be used this way in an expression; function: list_append",
        ),
        (
            "SET a = if_not_exists(a, list_append(b, c))",
            "The function is not allowed to be used this way in an expression; function: list_append",
        ),
        (
            "SET a = list_append(b, c) + :v",
            "The function is not allowed to be used this way in an expression; function: list_append",
        ),
        ("SET a = :v SET b = :v", 'The "SET" section can only be used once in an update expression;'),
        (
            "REMOVE a SET b = :v remove c",
            'The "REMOVE" section can only be used once in an update expression;',
        ),
        ("ADD a :v ADD b :v", 'The "ADD" section can only be used once in an update expression;'),
        ("DELETE a :v Delete b :v", 'The "DELETE" section can only be used once in an update expression;'),
        ("SET a = :v SET name = :v", "Attribute name is a reserved keyword; reserved keyword: name"),
    ],
)
def test_functions_and_sections_of_updates_are_checked(text: str, message: str) -> None:
    assert complaint("Update", text) == message


# --- limits -----------------------------------------------------------------------------


def test_expression_of_4096_bytes_is_read_and_one_byte_more_is_not() -> None:
    fits = "a = :v".ljust(4096)
    Scope(None, {":v": ONE}).condition(fits, parameter="FilterExpression")
    assert complaint("Filter", "é" * 2048) != "Expression size has exceeded the maximum allowed size;"
    too_long = "Expression size has exceeded the maximum allowed size;"
    for kind in ("Filter", "KeyCondition", "Projection", "Update"):
        assert complaint(kind, fits + " ") == too_long
        assert complaint(kind, "é" * 2049) == too_long


@pytest.mark.parametrize(
    ("fits", "refused"),
    [
        (" and ".join(["a = :v"] * 150), " and ".join(["a = :v"] * 151)),
        (" or ".join(["attribute_exists(a)"] * 150), " or ".join(["attribute_exists(a)"] * 151)),
        ("not " * 299 + "a = :v", "not " * 300 + "a = :v"),
        (" and ".join(["size(a) = :v"] * 100), " and ".join(["size(a) = :v"] * 101)),
        (" and ".join(["a in (b, c)"] * 150), " and ".join(["a in (b, c)"] * 151)),
        ("not (" * 299 + "a = :v" + ")" * 299, "not (" * 600 + "a = :v" + ")" * 600),
        ("a < b " + "or (a < b " * 149 + ")" * 149, "a < b " + "or (a < b " * 300 + ")" * 300),
    ],
    ids=["and", "functions", "not", "sizes", "in", "nested not", "nested or"],
)
def test_300_operators_are_read_and_one_more_is_not(fits: str, refused: str) -> None:
    condition = Scope(None, values_in(fits)).condition(fits, parameter="FilterExpression")
    assert condition.holds({"a": ONE}) in (True, False)
    message = "The expression contains too many operators; operator count: 301"
    assert complaint("Filter", refused) == message


def test_300_operators_are_the_limit_of_updates_too() -> None:
    def sums(count: int) -> str:
        return "SET " + ",".join(f"a{number}=b+:v" for number in range(count))

    Scope(None, {":v": ONE}).update(sums(300))
    assert complaint("Update", sums(301)) == "The expression contains too many operators; operator count: 301"


def test_path_of_32_steps_is_read_and_one_more_is_not() -> None:
    scope = Scope(None, {":v": ONE})
    scope.condition(".".join("a" * 32) + " = :v", parameter="FilterExpression")
    scope.condition("a" + "[0]" * 31 + " = :v", parameter="FilterExpression")
    message = "The document path has too many nesting levels; nesting levels: 33"
    assert complaint("Filter", ".".join("a" * 33) + " = :v") == message
    assert complaint("Update", "REMOVE a" + "[0]" * 32) == message
    assert complaint("Projection", ".".join("a" * 33)) == message


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("Filter", "(" * 4096, near("<EOF>", "(")),
        ("Filter", "(" * 2000 + "a = :v" + ")" * 2000, REDUNDANT),
        ("Filter", "a = " + "(" * 2000 + "b" + ")" * 2000, REDUNDANT),
        ("Filter", "a < " + "f(" * 1355 + "b" + ")" * 1355, "Invalid function name; function: f"),
        (
            "Filter",
            "a < " + "size(" * 680 + "b" + ")" * 680,
            "Incorrect operand type for operator or function; operator or function: size, operand type: N",
        ),
        ("Filter", "not " * 1000 + "a", near("<EOF>", "a")),
        ("Update", "SET a = " + "(" * 4000, near("<EOF>", "(")),
        ("Update", "SET a = " + "(" * 2000 + "b + c" + ")" * 2000, REDUNDANT),
        ("KeyCondition", "(" * 4096, near("<EOF>", "(")),
    ],
    ids=lambda value: value[:20],
)
def test_nesting_as_deep_as_the_text_allows_ends_in_a_complaint(kind: str, text: str, message: str) -> None:
    assert complaint(kind, text) == message


def test_if_not_exists_nests_as_deep_as_the_text_allows() -> None:
    text = "SET a = " + "if_not_exists(b, " * 200 + ":v" + ")" * 200
    assert Scope(None, {":v": ONE}).update(text).apply({}) == {"a": ONE}
