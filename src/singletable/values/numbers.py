"""DynamoDB numbers: 38 significant digits, exact, as plain decimal text.

A canonical number has no exponent, no plus sign, no leading or trailing zeros and no negative zero, so two
equal numbers are the same text. Everything here is integer arithmetic; `decimal` is never loaded.
"""

from __future__ import annotations

import re
from typing import Final

from singletable.errors import ValidationError
from singletable.limits import NUMBER_DIGITS_MAX, NUMBER_EXPONENT_MAX, NUMBER_EXPONENT_MIN
from singletable.values.refused import ValueRefusedError

NOT_A_NUMBER: Final = "The parameter cannot be converted to a numeric value"
OVERFLOW: Final = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW: Final = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
TOO_MANY_DIGITS: Final = "Attempting to store more than 38 significant digits in a Number"

# Texts that are canonical as they stand; the bounds on the digits keep every one of them within all limits.
_canonical = re.compile(r"0|-?[1-9][0-9]{0,37}|-?(?:0|[1-9][0-9]{0,18})\.[0-9]{0,18}[1-9]").fullmatch
# The texts that DynamoDB accepts as numbers: digits of ASCII alone, no space anywhere, and a digit on at least one
# side of the point. "+5", "5." and ".5" are numbers; "NaN", "0x5", "1_000", "1e" and " 5" are not.
_number = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?").fullmatch

# The exponent is read as a signed integer of 64 bits: "1e9223372036854775807" overflows, and one more "cannot
# be converted to a numeric value" (measured on the service in October 2026).
_EXPONENT_DIGITS_MAX: Final = 19
_EXPONENT_MIN: Final = -(2**63)
_EXPONENT_MAX: Final = 2**63 - 1


def normalize(text: str) -> str:
    """Return the canonical form of a number, or raise DynamoDB's error."""
    if _canonical(text) is not None:
        return text
    match = _number(text)
    if match is None:
        raise _not_a_number(text)
    sign, whole, fraction, exponent_text = match.groups(default="")
    if not whole and not fraction:
        raise _not_a_number(text)
    exponent = _exponent(exponent_text, text) if exponent_text else 0
    # The power of ten of the last digit as written, and then of the last one that is not zero.
    last = exponent - len(fraction)
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return _zero(last)
    problem = _problem(significant, last + len(digits) - len(significant))
    if problem is not None:
        raise ValueRefusedError(problem)
    return _plain(significant, last + len(digits) - len(significant), negative=sign == "-")


def add(left: str, right: str) -> str:
    """Return the exact sum of two canonical numbers."""
    if "." not in left and "." not in right:
        return _result(int(left) + int(right), 0)
    left_scaled, right_scaled, last = _aligned(left, right)
    return _result(left_scaled + right_scaled, last)


def subtract(left: str, right: str) -> str:
    """Return the exact difference of two canonical numbers."""
    if "." not in left and "." not in right:
        return _result(int(left) - int(right), 0)
    left_scaled, right_scaled, last = _aligned(left, right)
    return _result(left_scaled - right_scaled, last)


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1 as one canonical number is less than, equal to or greater than another."""
    if left == right:
        return 0
    if "." not in left and "." not in right:
        return -1 if int(left) < int(right) else 1
    left_scaled, right_scaled, _ = _aligned(left, right)
    return -1 if left_scaled < right_scaled else 1


def _not_a_number(text: str) -> ValueRefusedError:
    return ValueRefusedError(f"{NOT_A_NUMBER}: {text}")


def _exponent(written: str, text: str) -> int:
    digits = written.lstrip("+-0") or "0"
    if len(digits) > _EXPONENT_DIGITS_MAX:
        raise _not_a_number(text)
    exponent = -int(digits) if written[0] == "-" else int(digits)
    if not _EXPONENT_MIN <= exponent <= _EXPONENT_MAX:
        raise _not_a_number(text)
    return exponent


def _zero(last: int) -> str:
    # Zero is held to the range as if its last written digit were a 1: "0e126" overflows and "0.0e126" does
    # not (measured on the service in October 2026; older reports have "0e1000" accepted).
    if last > NUMBER_EXPONENT_MAX:
        raise ValueRefusedError(OVERFLOW)
    if last < NUMBER_EXPONENT_MIN:
        raise ValueRefusedError(UNDERFLOW)
    return "0"


def _problem(significant: str, last: int) -> str | None:
    """Say which limit these significant digits break; the last of them stands at this power of ten."""
    if len(significant) > NUMBER_DIGITS_MAX:
        return TOO_MANY_DIGITS
    first = last + len(significant) - 1
    if first > NUMBER_EXPONENT_MAX:
        return OVERFLOW
    if first < NUMBER_EXPONENT_MIN:
        return UNDERFLOW
    return None


def _plain(significant: str, last: int, *, negative: bool) -> str:
    first = last + len(significant) - 1
    if last >= 0:
        plain = significant + "0" * last
    elif first >= 0:
        plain = f"{significant[: first + 1]}.{significant[first + 1 :]}"
    else:
        plain = f"0.{'0' * (-first - 1)}{significant}"
    return "-" + plain if negative else plain


def _aligned(left: str, right: str) -> tuple[int, int, int]:
    """Return two numbers as integers of one scale, and the power of ten of their last digit."""
    left_whole, _, left_fraction = left.partition(".")
    right_whole, _, right_fraction = right.partition(".")
    places = max(len(left_fraction), len(right_fraction))
    left_scaled = int(left_whole + left_fraction.ljust(places, "0"))
    right_scaled = int(right_whole + right_fraction.ljust(places, "0"))
    return left_scaled, right_scaled, -places


def _result(scaled: int, last: int) -> str:
    text = str(scaled)
    if last == 0 and len(text) <= NUMBER_DIGITS_MAX:
        return text
    if scaled == 0:
        return "0"
    digits = text.lstrip("-")
    significant = digits.rstrip("0")
    last += len(digits) - len(significant)
    problem = _problem(significant, last)
    if problem is not None:
        # A result that needs more than 38 digits is called an overflow too: 1E50 - 1 answers "Number overflow
        # …" (ScyllaDB's conformance tests, run against the service).
        raise ValidationError(OVERFLOW if problem == TOO_MANY_DIGITS else problem)
    return _plain(significant, last, negative=scaled < 0)
