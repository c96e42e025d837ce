"""Which sort keys a query reads, and the one condition that DynamoDB is given for it.

Bounds never cross what the keys of the entity begin with: after `EVENT#2025…` comes at most `EVENT$`, so that the
REMINDER items of the same partition are not read.

Bounds compare values, part by part. Texts are compared whole, and there the separator behind a value takes part:
`a b#1` stands before `a#1`, since a space is below `#`, though "a" is before "a b". Where that can happen, the
condition spans all that may be meant, and `is_within` says what is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal

from singletable.design.keys.key import NoSortKey, Prefix, SortKey, key_of_stored
from singletable.design.keys.template import Slot, just_above, just_below, next_prefix
from singletable.errors import DeclarationError, KeyValueError

Bound = SortKey | Prefix[SortKey]
Operator = Literal["=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"]


@dataclass(frozen=True, slots=True)
class SortRange:
    """Bounds as they were given; a prefix stands for all keys that begin with it."""

    of: type[SortKey]
    begins: Prefix[SortKey] | None = None
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
    sk: Prefix[SortKey] | SortKey | None,
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
        return key_of_stored(bound.of, bound.values)
    return bound


def is_empty(bounds: SortRange, *, is_text: bool) -> bool:
    """Tell whether the bounds exclude every key. DynamoDB would refuse such a query.

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


def leading(bound: Bound) -> list[tuple[str, object]]:
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
    return _meets(condition, text) and (not is_wider(bounds) or _is_meant(bounds, text))


def is_wider(bounds: SortRange) -> bool:
    """Tell whether the condition of a range spans more keys than are meant, so that each must be checked."""
    compiled = bounds.of.compiled
    if compiled is None or not compiled.reordered:
        return False
    return any(_border(bounds, bound) is not None for _, bound in _given(bounds))


def _meets(condition: SortCondition, text: str) -> bool:
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


def _ends(bounds: SortRange) -> tuple[list[tuple[str, object]], list[tuple[str, object]]]:
    """Return the values that the lower and the upper bound give, with their names; none where there is none."""
    lower, upper = bounds.gt or bounds.ge, bounds.lt or bounds.le
    return [] if lower is None else leading(lower), [] if upper is None else leading(upper)


def _shared(bounds: SortRange) -> int:
    """Return how many leading values the lower and the upper bound have in common: there is no range over them."""
    lower, upper = _ends(bounds)
    differing = (number for number, (low, high) in enumerate(zip_longest(lower, upper)) if low != high)
    return next(differing, len(lower))


def _refuse_unsorted(bounds: SortRange) -> None:
    """Refuse a range over texts that sort differently than their values. Shared leading values are no range."""
    is_shared = True
    for part, (low, high) in zip(bounds.of.parts, zip_longest(*_ends(bounds)), strict=False):
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
        case None, (Prefix() | SortKey()) as bound if border := _border(bounds, bound):
            return border.text
        case (Prefix() | SortKey()) as bound, None if border := _border(bounds, bound):
            return next_prefix(border.text) if border.is_begun else border.text
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
        case None, (Prefix() | SortKey()) as bound if border := _border(bounds, bound):
            return border.behind(next_prefix(border.text))
        case (Prefix() | SortKey()) as bound, None if border := _border(bounds, bound):
            return border.behind(border.text if border.is_last else next_prefix(border.text))
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


# --- values that the separator behind them puts into another order --------------------------------------


@dataclass(frozen=True, slots=True)
class _Border:
    """The first value of a bound whose neighbours a separator may put on its other side."""

    before: str  # the text in front of the value
    value: str  # its own text, or how that begins
    separator: str  # the character behind it
    is_last: bool  # nothing of the bound stands behind it
    is_begun: bool  # it stands for all values that begin so

    @property
    def text(self) -> str:
        """Return where the texts of all values begin that begin with this one: none of them is smaller."""
        return self.before + self.value

    def behind(self, upper: str) -> str:
        """Return an upper end that is behind all smaller values too.

        With `a b`, a smaller value is `a`, and `a#` is above `a b`. The shortest such value has the greatest text.
        """
        for length in range(1, len(self.value)):
            if self.value[length] < self.separator:
                return max(upper, next_prefix(self.before + self.value[:length] + self.separator))
        return upper


def _border(bounds: SortRange, bound: Bound) -> _Border | None:
    compiled = bounds.of.compiled
    if compiled is None or not compiled.reordered:
        return None
    texts, begun = _texts(bound), _begun(bound)
    pinned = {name for name, _ in leading(bound)[: _shared(bounds)]}
    before = ""
    for part, behind in zip_longest(compiled.parts, compiled.parts[1:]):
        if not isinstance(part, Slot):
            before += part
            continue
        is_begun = part.name not in texts
        text = texts.pop(part.name, begun)
        if not text:
            return None
        if part.name in compiled.reordered and part.name not in pinned:
            assert isinstance(behind, str)
            return _Border(before, text, behind[0], is_begun or not (texts or begun), is_begun)
        before += text
    return None


def _texts(bound: Bound) -> dict[str, str]:
    """Return the texts of the values that a bound gives, by their names, without those that render as nothing."""
    of = bound.of if isinstance(bound, Prefix) else type(bound)
    codecs = {part.name: part.codec for part in of.parts}
    return {name: text for name, value in leading(bound) if (text := codecs[name].render(value))}


def _begun(bound: Bound) -> str:
    """Return how the value begins that a bound gives only the beginning of."""
    if isinstance(bound, SortKey) or bound.of.compiled is None:
        return ""
    return bound.text.removeprefix(bound.of.compiled.prefix(bound.values))


_HOLDS: Final[dict[str, Callable[[int], bool]]] = {
    "gt": lambda order: order > 0,
    "ge": lambda order: order >= 0,
    "lt": lambda order: order < 0,
    "le": lambda order: order <= 0,
}


def _is_meant(bounds: SortRange, text: str) -> bool:
    """Tell whether a key is within bounds by its values, part by part."""
    compiled = bounds.of.compiled
    assert compiled is not None
    found = compiled.pattern.fullmatch(text)
    if found is None:
        return True  # no key of this template: it is for whoever reads the item
    values = found.groups()
    return all(_HOLDS[sign](_compared(values, bound)) for sign, bound in _given(bounds))


def _compared(values: Sequence[str], bound: Bound) -> int:
    """Return -1, 0 or 1: the texts of a key's values are before, within or behind what a bound stands for."""
    texts, begun = _texts(bound), _begun(bound)
    for value, text in zip(values, texts.values(), strict=False):
        if value != text:
            return 1 if value > text else -1
    if not begun or values[len(texts)].startswith(begun):
        return 0
    return 1 if values[len(texts)] > begun else -1


def _given(bounds: SortRange) -> list[tuple[str, Bound]]:
    signed = (("gt", bounds.gt), ("ge", bounds.ge), ("lt", bounds.lt), ("le", bounds.le))
    return [(sign, bound) for sign, bound in signed if bound is not None]
