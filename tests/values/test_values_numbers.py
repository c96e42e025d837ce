"""Numbers: the normal form, the limits and their messages, exact arithmetic."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.errors import ValidationError
from singletable.values.numbers import add, compare, normalize, subtract
from singletable.values.refused import ValueRefusedError
from support.values_strategies import decimals, numbers, plain

OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
TOO_MANY_DIGITS = "Attempting to store more than 38 significant digits in a Number"
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value: "


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("+0.0", "0"),
        ("000", "0"),
        ("123", "123"),
        ("-7", "-7"),
        ("+5", "5"),
        ("00042", "42"),
        ("1.", "1"),
        (".5", "0.5"),
        ("+.5", "0.5"),
        ("-.5", "-0.5"),
        ("1.50", "1.5"),
        ("1.0", "1"),
        ("0.10", "0.1"),
        ("-00.0100", "-0.01"),
        ("100", "100"),
        ("1e5", "100000"),
        ("1.e3", "1000"),
        ("1E+2", "100"),
        ("1.5E+3", "1500"),
        ("1.23E10", "12300000000"),
        ("123e-2", "1.23"),
        ("120e-1", "12"),
        ("+1e-2", "0.01"),
        ("1e0000000000000000000000005", "100000"),
        ("0e125", "0"),
        ("0.0e126", "0"),
        ("0e-130", "0"),
        ("0." + "0" * 130, "0"),
        ("1" * 38, "1" * 38),
        ("1" * 38 + "000", "1" * 38 + "000"),
        ("0." + "1" * 38, "0." + "1" * 38),
        ("1E125", "1" + "0" * 125),
        ("9.9999999999999999999999999999999999999E+125", "9" * 38 + "0" * 88),
        ("1E-130", "0." + "0" * 129 + "1"),
        ("-10e-131", "-0." + "0" * 129 + "1"),
    ],
)
def test_a_number_is_brought_into_normal_form(written: str, canonical: str) -> None:
    assert normalize(written) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " 5",
        "5 ",
        "1 5",
        "5\n",
        "\n5",
        "abc",
        "NaN",
        "Infinity",
        "-Infinity",
        "+",
        "-",
        ".",
        "e2",
        "1e",
        "1e+",
        "1e2.5",
        "++5",
        "+-5",
        "1+2",
        "1.2.3",
        "0x10",
        "1_000",
        "1,000",
        "5d",
        "\u0663",
        "\uff11\uff12",
        "\u00b2",
        "1e9223372036854775808",
        "1e-9223372036854775809",
        "0e9223372036854775808",
        "1e" + "9" * 5000,
    ],
    ids=lambda text: repr(text[:30]),
)
def test_a_text_that_is_no_number_is_named(text: str) -> None:
    with pytest.raises(ValueRefusedError) as caught:
        normalize(text)
    assert caught.value.message == NOT_A_NUMBER + text


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("1e126", OVERFLOW),
        ("-1e126", OVERFLOW),
        ("10e125", OVERFLOW),
        ("1" + "0" * 126, OVERFLOW),
        ("1e99999999999", OVERFLOW),
        ("1e9223372036854775807", OVERFLOW),
        ("1e-131", UNDERFLOW),
        ("-0.1e-130", UNDERFLOW),
        ("0." + "0" * 130 + "1", UNDERFLOW),
        ("1e-9223372036854775808", UNDERFLOW),
        ("0e126", OVERFLOW),
        ("00e126", OVERFLOW),
        ("0.0e127", OVERFLOW),
        ("0e-131", UNDERFLOW),
        ("0.0e-130", UNDERFLOW),
        ("0." + "0" * 131, UNDERFLOW),
        ("1" * 39, TOO_MANY_DIGITS),
        ("0." + "1" * 39, TOO_MANY_DIGITS),
        ("1." + "0" * 37 + "1", TOO_MANY_DIGITS),
        ("1" * 39 + "e200", TOO_MANY_DIGITS),
        ("1" * 39 + "e-200", TOO_MANY_DIGITS),
    ],
    ids=lambda text: text[:30],
)
def test_a_number_beyond_the_limits_is_refused(written: str, message: str) -> None:
    with pytest.raises(ValueRefusedError) as caught:
        normalize(written)
    assert caught.value.message == message


@given(decimals())
def test_the_normal_form_has_the_same_value(number: Decimal) -> None:
    assert normalize(str(number)) == plain(number)


@given(numbers)
def test_the_normal_form_is_its_own_normal_form(canonical: str) -> None:
    assert normalize(canonical) == canonical


@given(numbers, st.integers(0, 20), st.integers(0, 20))
def test_zeros_at_the_ends_change_nothing(canonical: str, before: int, after: int) -> None:
    sign, digits = ("-", canonical[1:]) if canonical[0] == "-" else ("", canonical)
    padded = sign + "0" * before + (digits if "." in digits else digits + ".") + "0" * after
    if canonical == "0":
        padded = padded[:100]
    assert normalize(padded) == canonical


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("1", "2", "3"),
        ("5", "-5", "0"),
        ("0.1", "0.2", "0.3"),
        ("1.5", "-1.5", "0"),
        ("0.5", "0.5", "1"),
        ("-0.5", "0.25", "-0.25"),
        ("99.5", "0.5", "100"),
        ("1", "0." + "0" * 36 + "1", "1." + "0" * 36 + "1"),
        ("9" * 38, "1", "1" + "0" * 38),
        ("-" + "9" * 38, "-1", "-1" + "0" * 38),
        ("1" + "0" * 125, "1" + "0" * 125, "2" + "0" * 125),
    ],
)
def test_a_sum_is_exact(left: str, right: str, total: str) -> None:
    assert add(left, right) == total
    assert add(right, left) == total


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ("9" + "0" * 125, "9" + "0" * 125, OVERFLOW),
        # Results that need too many digits are called overflows too.
        ("1" + "0" * 50, "1", OVERFLOW),
        ("1" * 38, "0.1", OVERFLOW),
        ("1", "0." + "0" * 37 + "1", OVERFLOW),
        ("1" + "0" * 125, "0." + "0" * 129 + "1", OVERFLOW),
        ("0." + "0" * 129 + "11", "-0." + "0" * 129 + "1", UNDERFLOW),
    ],
    ids=["magnitude", "gap", "point", "small-gap", "largest-gap", "difference-too-small"],
)
def test_a_sum_beyond_the_limits_is_refused(left: str, right: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        add(left, right)
    assert caught.value.message == message
    # Results are computed after the request was found valid: their errors never stand in an envelope.
    assert not isinstance(caught.value, ValueRefusedError)


WIDE = Context(prec=600)


@given(numbers, numbers)
def test_sums_and_differences_equal_those_of_decimal(left: str, right: str) -> None:
    for ours, exact in (
        (add, WIDE.add(Decimal(left), Decimal(right))),
        (subtract, WIDE.subtract(Decimal(left), Decimal(right))),
    ):
        significant = exact.normalize(WIDE)
        fits = len(significant.as_tuple().digits) <= 38 and (
            exact == 0 or -130 <= significant.adjusted() <= 125
        )
        if fits:
            assert ours(left, right) == plain(exact)
        else:
            with pytest.raises(ValidationError):
                ours(left, right)


@given(numbers, numbers)
def test_comparison_equals_that_of_fractions(left: str, right: str) -> None:
    expected = (Fraction(left) > Fraction(right)) - (Fraction(left) < Fraction(right))
    assert compare(left, right) == expected


def test_comparison_sees_the_last_of_38_digits() -> None:
    assert compare("1" * 37 + "1", "1" * 37 + "2") == -1
    assert compare("-" + "1" * 37 + ".1", "-" + "1" * 37 + ".2") == 1
    assert compare("2.5", "2.5") == 0
