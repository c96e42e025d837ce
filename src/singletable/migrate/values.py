"""Stored values beside each other: which are equal, and what of one stays beside the other. Pure."""

from __future__ import annotations

from decimal import Decimal

from singletable.design.values.items import AttributeValue


def same(one: AttributeValue, other: AttributeValue) -> bool:
    """Tell whether two stored values are equal: a number may be written in several ways, a set in any order."""
    if one.keys() != other.keys():
        return False
    ((kind, left),) = one.items()
    right = other[kind]
    match kind:
        case "N":
            return Decimal(left) == Decimal(right)
        case "NS":
            return {Decimal(number) for number in left} == {Decimal(number) for number in right}
        case "SS" | "BS":
            return set(left) == set(right)
        case "M":
            return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
        case "L":
            return len(left) == len(right) and all(map(same, left, right))
        case _:
            return bool(left == right)


def with_unknown(wanted: AttributeValue, stored: AttributeValue | None) -> AttributeValue:
    """Return a value with what a stored one has inside that no model knows."""
    if stored is None or wanted.keys() != stored.keys():
        return wanted
    if "M" in wanted:
        inner = {name: with_unknown(value, stored["M"].get(name)) for name, value in wanted["M"].items()}
        return {"M": {**stored["M"], **inner}}
    if "L" in wanted and len(wanted["L"]) == len(stored["L"]):
        return {"L": [with_unknown(*pair) for pair in zip(wanted["L"], stored["L"], strict=True)]}
    return wanted
