"""The expressions of one request, and the placeholders they share.

A request makes one scope, asks it for each of its expressions, and finishes it: a placeholder that no expression
used is an error. Prepared expressions are remembered by their text and the names in it, so that the second request
with the same text parses nothing, also with other values (an LRU cache).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, Protocol, TypeVar

from singletable.expressions.checks import CheckList
from singletable.expressions.conditions import Condition, prepare_condition
from singletable.expressions.key_conditions import KeyCondition, prepare_key_condition
from singletable.expressions.placeholders import (
    NAMES,
    VALUES,
    check_value_keys,
    checked_names_bytes,
    checked_values_bytes,
    read_values,
)
from singletable.expressions.prepared import Names, Uses
from singletable.expressions.projections import Projection, prepare_projection
from singletable.expressions.refusals import ExpressionError, ExpressionRefusedError
from singletable.expressions.tokens import name_placeholders
from singletable.expressions.updates import Update, prepare_update
from singletable.limits import EXPRESSION_BYTES_MAX, EXPRESSION_CACHE_ENTRIES_MAX
from singletable.values.json_types import utf8_of
from singletable.values.types import Value

_NOTHING: Final[dict[str, Any]] = {}
_NO_NAMES: Final[Names] = ()
_UNUSED: Final[frozenset[str]] = frozenset()

# A longer text, or longer names, make an expression too large for the cache: 4 KB of text can take 200 KB there.
_REMEMBERED_TEXT_MAX: Final = 1024
_REMEMBERED_NAMES_BYTES_MAX: Final = 4096


class _Prepared(Protocol):
    @property
    def checks(self) -> CheckList: ...
    @property
    def uses(self) -> Uses: ...


_P = TypeVar("_P", bound=_Prepared, covariant=True)


class _Prepare(Protocol[_P]):
    """A cached function that prepares an expression; without the cache it is called `__wrapped__`."""

    @property
    def __wrapped__(self) -> Callable[[str, Names], _P]: ...
    def __call__(self, source: str, names: Names, /) -> _P: ...


class Scope:
    """The placeholders of one request: resolves them, and at the end finds unused ones."""

    __slots__ = (
        "_names",
        "_names_bytes",
        "_older",
        "_used_names",
        "_used_values",
        "_values",
        "_values_bytes",
    )

    def __init__(
        self, names: Mapping[str, str] | None, values: Mapping[str, Value] | None, *, older: bool = False
    ) -> None:
        """Check the placeholders; values are in canonical form already."""
        self._older = older
        self._names: Mapping[str, str] = _NOTHING
        self._names_bytes = 0
        self._values: Mapping[str, Value] = _NOTHING
        self._values_bytes = 0
        self._used_names: frozenset[str] = _UNUSED
        self._used_values: frozenset[str] = _UNUSED
        if names is not None:
            self._names = names
            self._names_bytes = checked_names_bytes(names)
        if values is not None:
            check_value_keys(values)
            self._values = values
            self._values_bytes = checked_values_bytes(values)

    @classmethod
    def of_request(
        cls,
        names: Mapping[str, str] | None,
        values: Mapping[str, Any] | None,
        normalize: Callable[[Any], Value],
        *,
        older: bool = False,
    ) -> Scope:
        """Return the scope of placeholders as they came, with complaints in DynamoDB's order.

        `normalize` brings one value into canonical form, or raises a ValidationError; `older` chooses the wording
        of BatchWriteItem and of transactions.
        """
        scope = cls(names, None, older=older)
        if values is not None:
            scope._values = read_values(values, normalize, older=older)
            scope._values_bytes = checked_values_bytes(scope._values)
        return scope

    def condition(self, text: str, *, parameter: str) -> Condition:
        """Return a condition; `parameter` is "ConditionExpression" or "FilterExpression"."""
        return Condition(self._prepared(prepare_condition, text, parameter), self._values, parameter)

    def projection(self, text: str) -> Projection:
        """Return a projection."""
        return Projection(self._prepared(prepare_projection, text, "ProjectionExpression"))

    def key_condition(self, text: str) -> KeyCondition:
        """Return the clauses of a key condition."""
        return self._prepared(prepare_key_condition, text, "KeyConditionExpression").bind(self._values)

    def update(self, text: str) -> Update:
        """Return an update."""
        return Update(
            self._prepared(prepare_update, text, "UpdateExpression"), self._values, self._values_bytes
        )

    def finish(self) -> None:
        """Raise when a placeholder was not used by any expression."""
        # Everything used is in the map, so it is enough to count.
        if len(self._used_names) < len(self._names):
            raise _unused(NAMES, self._names, self._used_names)
        if len(self._used_values) < len(self._values):
            raise _unused(VALUES, self._values, self._used_values)

    def _prepared(self, prepare: _Prepare[_P], text: str, parameter: str) -> _P:
        values = self._values
        try:
            prepared = self._prepare(prepare, text, parameter)
            uses = prepared.uses
            for check in prepared.checks.checks:
                check(values)
            if self._values_bytes or self._names_bytes:
                uses.check_size(values, self._values_bytes)
        except ExpressionError as error:
            raise ExpressionRefusedError(f"Invalid {parameter}: {error}") from None
        self._used_names = self._used_names | uses.names if self._used_names else uses.names
        self._used_values = self._used_values | uses.values if self._used_values else uses.values
        return prepared

    def _prepare(self, prepare: _Prepare[_P], text: str, parameter: str) -> _P:
        if not text:
            raise ExpressionError("The expression can not be empty;")
        if _is_too_long(text):
            # Until 2026 a figure followed. The service drops it where it moves to its newer validation; it had
            # not for the conditions of transactions, in ten of twelve regions (the public conformance suite and
            # dynoxide, October 2026). An update expression never had one.
            shows_figure = self._older and parameter == "ConditionExpression"
            figure = f" expression size: {len(utf8_of(text))}" if shows_figure else ""
            raise ExpressionError(f"Expression size has exceeded the maximum allowed size;{figure}")
        is_long = len(text) > _REMEMBERED_TEXT_MAX
        if "#" not in text:
            return prepare.__wrapped__(text, _NO_NAMES) if is_long else prepare(text, _NO_NAMES)
        names = self._names
        placeholders = _names_in.__wrapped__(text) if is_long else _names_in(text)
        used = tuple([(name, names.get(name)) for name in placeholders])
        if is_long or self._names_bytes > _REMEMBERED_NAMES_BYTES_MAX:
            return prepare.__wrapped__(text, used)
        return prepare(text, used)


def _is_too_long(text: str) -> bool:
    if text.isascii():
        return len(text) > EXPRESSION_BYTES_MAX
    return len(utf8_of(text)) > EXPRESSION_BYTES_MAX


@lru_cache(maxsize=EXPRESSION_CACHE_ENTRIES_MAX)
def _names_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name_placeholders(text)))


def _unused(parameter: str, given: Mapping[str, Any], used: frozenset[str]) -> ExpressionRefusedError:
    keys = ", ".join([key for key in given if key not in used])
    return ExpressionRefusedError(f"Value provided in {parameter} unused in expressions: keys: {{{keys}}}")
