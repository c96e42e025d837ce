"""The names and values that a prepared expression uses, and their size with the values of a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from singletable.expressions.nodes import Path
from singletable.expressions.refusals import ExpressionError
from singletable.expressions.tokens import name_placeholders
from singletable.limits import MIB
from singletable.values.sizes import text_bytes, value_bytes
from singletable.values.types import Value

# The names that occur in an expression, with their attribute names: part of its key in the cache.
Names: TypeAlias = tuple[tuple[str, str | None], ...]

# The expression and, for each time it is used, every name and value in it: DynamoDB Local 3.3 refuses one byte
# more. (The 2 MB of the guide are the limit of the two placeholder maps.)
COMBINED_BYTES_MAX: Final = MIB


@dataclass(frozen=True, slots=True)
class Uses:
    """The attributes and placeholders that an expression uses."""

    names: frozenset[str]
    values: frozenset[str]
    attributes: frozenset[str]
    nested_attributes: frozenset[str]
    text_bytes: int  # of the expression, and of each name as often as it is used
    value_counts: tuple[tuple[str, int], ...]
    value_count_max: int

    @classmethod
    def of(cls, source: str, names: Names, paths: Sequence[Path], values: Iterable[str] = ()) -> Uses:
        counts = Counter(values)
        stands_for = dict(names)
        return cls(
            names=frozenset(name for name, _ in names),
            values=frozenset(counts),
            attributes=frozenset(path.attribute for path in paths),
            nested_attributes=frozenset(path.attribute for path in paths if len(path.elements) > 1),
            text_bytes=text_bytes(source)
            + sum(text_bytes(stands_for[name] or "") for name in name_placeholders(source)),
            value_counts=tuple(counts.items()),
            value_count_max=max(counts.values(), default=0),
        )

    def check_size(self, values: Mapping[str, Value], values_bytes: int) -> None:
        """Raise when the expression with all that stands in it is too large; the values are so large in all."""
        if self.text_bytes + values_bytes * self.value_count_max <= COMBINED_BYTES_MAX:
            return
        size = self.text_bytes + sum(value_bytes(values[name]) * count for name, count in self.value_counts)
        if size > COMBINED_BYTES_MAX:
            raise ExpressionError("Expression size has exceeded the maximum allowed size;")
