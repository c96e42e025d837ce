"""Which sort keys a query reads, and the one condition that DynamoDB is given for it.

Bounds never cross what the keys of the entity begin with: after `EVENT#2025…` comes at most `EVENT$`, so that the
REMINDER items of the same partition are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

from singletable.design.keys import NoSortKey, Prefix, SortKey, key_of_stored
from singletable.design.templates import just_above, just_below, next_prefix
from singletable.errors import DeclarationError, KeyValueError

Bound = SortKey | Prefix[Any]
Operator = Literal["=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"]


@dataclass(frozen=True, slots=True)
class SortRange:
    """Bounds as they were given; a prefix stands for all keys that begin with it."""

    of: type[SortKey]
    begins: Prefix[Any] | None = None
    eq: SortKey | None = None
    gt: Bound | None = None
    ge: Bound | None = None
    lt: Bound | None = None
    le: Bound | None = None

    @property
    def is_bounded(self) -> bool:
        return any(bound is not None for bound in (self.gt, self.ge, self.lt, self.le))


@dataclass(frozen=True, slots=True)
class SortCondition:
    """A condition on the sort key: an operator and its one or two texts."""

    operator: Operator
    values: tuple[str, ...]


def sort_range(
    of: type[SortKey],
    sk: Prefix[Any] | SortKey | None,
    *,
    gt: Bound | None,
    ge: Bound | None,
    lt: Bound | None,
    le: Bound | None,
) -> SortRange:
    """Take the bounds of a query; refuse those that say two things at once, or are of another key."""
    for bound in (sk, gt, ge, lt, le):
        kind = bound.of if isinstance(bound, Prefix) else type(bound)
        if bound is not None and kind is not of:
            raise KeyValueError(f"a bound of {of.__name__} cannot be a {kind.__name__}")
    gt, ge, lt, le = (None if bound is None else _whole(bound) for bound in (gt, ge, lt, le))
    bounds = SortRange(of, None, None, gt, ge, lt, le)
    if sk is None:
        return bounds
    if bounds.is_bounded:
        raise KeyValueError(
            f"a query of {of.__name__} has a sort key or bounds, not both",
            hint="put the leading values into the bounds",
        )
    match _whole(sk):
        case Prefix() as prefix:
            return SortRange(of, begins=prefix)
        case key:
            return SortRange(of, eq=key)


def _whole(bound: Bound) -> Bound:
    """Return the key that a prefix with every value is: no other key begins with all of them."""
    if isinstance(bound, Prefix) and bound.of.parts and len(bound.values) == len(bound.of.parts):
        key: SortKey = key_of_stored(bound.of, bound.values)
        return key
    return bound


def is_empty(bounds: SortRange, *, is_text: bool) -> bool:
    """Tell whether no key can be within the bounds, which DynamoDB would refuse to be asked.

    Keys that are one text are compared as texts, others by the values of their attributes.
    """
    if not bounds.is_bounded:
        return False
    if is_text:
        condition = text_condition(bounds)
        return (
            condition is not None
            and condition.operator == "BETWEEN"
            and condition.values[0] > condition.values[1]
        )
    return bounds.ge is not None and bounds.le is not None and leading(bounds.ge) > leading(bounds.le)


def leading(bound: Bound) -> list[tuple[str, Any]]:
    """Return the values that a bound gives, with their names."""
    if isinstance(bound, Prefix):
        return list(bound.values.items())
    return [(part.name, getattr(bound, part.name)) for part in bound.parts]


def text_condition(bounds: SortRange) -> SortCondition | None:
    """Return the condition on the text of a sort key; None where every key of the partition is meant."""
    if bounds.of is NoSortKey:
        return None
    if bounds.eq is not None:
        return SortCondition("=", (bounds.eq.render(),))
    own = _own_prefix(bounds.of)
    if bounds.is_bounded:
        _refuse_unsorted(bounds)
        return _between(own, _lower(bounds), _upper(bounds))
    if not bounds.of.parts:
        return SortCondition("=", (own,))
    text = bounds.begins.text if bounds.begins else own
    return SortCondition("begins_with", (text,)) if text else None


def is_within(bounds: SortRange, text: str) -> bool:
    """Tell whether the text of a sort key is within bounds."""
    condition = text_condition(bounds)
    if condition is None:
        return True
    values = condition.values
    match condition.operator:
        case "=":
            return text == values[0]
        case "begins_with":
            return text.startswith(values[0])
        case "BETWEEN":
            return values[0] <= text <= values[1]
        case "<":
            return text < values[0]
        case "<=":
            return text <= values[0]
        case ">":
            return text > values[0]
        case ">=":
            return text >= values[0]


def _refuse_unsorted(bounds: SortRange) -> None:
    """Refuse a range over texts that do not sort as their values do; leading values that bounds share are none."""
    lower, upper = (
        [] if bound is None else leading(bound) for bound in (bounds.gt or bounds.ge, bounds.lt or bounds.le)
    )
    is_shared = True
    for part, (low, high) in zip(bounds.of.parts, zip_longest(lower, upper), strict=False):
        is_shared = is_shared and low == high
        if not is_shared and not part.codec.sorts:
            raise KeyValueError(
                f"{bounds.of.shown()} has no range of {part.name}: its texts do not sort as its values do",
                hint=f"10 is before 9 until a number has a width, as {{{part.name}:06}}, or Pad",
            )


def _own_prefix(of: type[SortKey]) -> str:
    if of.compiled is None:
        raise DeclarationError(f"{of.__name__} has no template, so it has no text")
    return of.compiled.prefix({})


def _lower(bounds: SortRange) -> str | None:
    match bounds.gt, bounds.ge:
        case None, None:
            return None
        case None, Prefix(text=text):
            return text
        case None, SortKey() as key:
            return key.render()
        case Prefix(text=text), None:
            return next_prefix(text)
        case SortKey() as key, None:
            return just_above(key.render())
        case _:
            raise KeyValueError("a query has one lower bound: gt or ge")


def _upper(bounds: SortRange) -> str | None:
    match bounds.lt, bounds.le:
        case None, None:
            return None
        case None, Prefix(text=text):
            return next_prefix(text)
        case None, SortKey() as key:
            return key.render()
        case Prefix(text=text), None:
            # No key is this text: values in keys are never empty.
            return text
        case SortKey() as key, None:
            return just_below(key.render())
        case _:
            raise KeyValueError("a query has one upper bound: lt or le")


def _between(own: str, lower: str | None, upper: str | None) -> SortCondition:
    lower = lower if lower is not None else own or None
    upper = upper if upper is not None else next_prefix(own) if own else None
    if lower is None:
        assert upper is not None
        return SortCondition("<=", (upper,))
    if upper is None:
        return SortCondition(">=", (lower,))
    return SortCondition("BETWEEN", (lower, upper))
