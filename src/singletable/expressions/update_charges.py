"""The size of an update that counts against the limit of an item, from its text and its values alone.

Amazon DynamoDB applies the limit of 400 KB to an UpdateItem twice: to the new item, and to the request itself. The
second counts the targets and the operands as they are written, whatever the old and the new item hold. Measured in
eu-west-2 by bisection, 90 statements, 9 October 2026 (dynoxide, tests/update_item_size_captures.rs;
github.com/paritysuite/dynamodb-conformance, itemSizeBySurface.test.ts: 22 of 33 regions, us-east-1 among them).
AttributeUpdates and the updates of a transaction are not charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from singletable.expressions.checks import Values
from singletable.expressions.nodes import (
    Action,
    AddAction,
    Arithmetic,
    Element,
    FunctionCall,
    Operand,
    Path,
    Placeholder,
    SetAction,
)
from singletable.values.sizes import text_bytes, value_bytes

_UPDATE_BYTES: Final = 3
_WRITING_BYTES: Final = 19  # SET and ADD
_CLEARING_BYTES: Final = 1  # REMOVE and DELETE; the value of a DELETE is free
_TARGET_STEP_BYTES: Final = 4
_OPERAND_PATH_BYTES: Final = 1
_OPERAND_STEP_BYTES: Final = 14
_FUNCTION_BYTES: Final = {"+": 34, "-": 37, "if_not_exists": 39, "list_append": 37}


@dataclass(frozen=True, slots=True)
class UpdateCharge:
    """The bytes of a text, and the placeholders with values that count too, once for each use."""

    fixed_bytes: int
    placeholders: tuple[str, ...]

    def exceeds(self, bytes_max: int, values: Values, values_bytes: int) -> bool:
        """Say whether it is above a limit; `values_bytes` is at least the size of all values together."""
        if self.fixed_bytes + len(self.placeholders) * values_bytes <= bytes_max:
            return False
        return self.fixed_bytes + sum([value_bytes(values[name]) for name in self.placeholders]) > bytes_max


NO_CHARGE: Final = UpdateCharge(0, ())


def charge_of(actions: Sequence[Action]) -> UpdateCharge:
    """Return the charge of actions."""
    placeholders: list[str] = []
    fixed_bytes = _UPDATE_BYTES
    for action in actions:
        fixed_bytes += _target_bytes(action.target)
        if isinstance(action, SetAction | AddAction):
            fixed_bytes += _WRITING_BYTES + _value_bytes(action.value, placeholders)
        else:
            fixed_bytes += _CLEARING_BYTES
    return UpdateCharge(fixed_bytes, tuple(placeholders))


def _target_bytes(path: Path) -> int:
    return sum(map(_element_bytes, path.elements)) + _TARGET_STEP_BYTES * (len(path.elements) - 1)


def _element_bytes(element: Element) -> int:
    return text_bytes(str(element))


def _value_bytes(value: Operand | Arithmetic, placeholders: list[str]) -> int:
    """Return the bytes of an operand, and put the values that it uses beside them."""
    match value:
        case Placeholder(name):
            placeholders.append(name)
            return 0
        case Path(elements):
            steps_bytes = _OPERAND_STEP_BYTES * len(elements) + sum(map(_element_bytes, elements))
            return _OPERAND_PATH_BYTES + steps_bytes
        case Arithmetic(operator, left, right):
            return (
                _FUNCTION_BYTES[operator]
                + _value_bytes(left, placeholders)
                + _value_bytes(right, placeholders)
            )
        case FunctionCall(function, operands):
            return _FUNCTION_BYTES[function] + sum([_value_bytes(one, placeholders) for one in operands])
