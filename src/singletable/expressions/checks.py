"""The checks of an expression that need its names and values.

Names are part of a prepared expression, values come with each request. So these checks are prepared as a list of
functions of the values, in the order in which DynamoDB complains: operands before their operators. A complaint
that holds for all values is the last function of its list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from singletable.expressions.functions import OPERAND_COUNTS
from singletable.expressions.nodes import (
    Arithmetic,
    Between,
    Checked,
    Comparison,
    FunctionCall,
    In,
    Operand,
    Path,
    Placeholder,
)
from singletable.expressions.path_trees import check_path
from singletable.expressions.refusals import ExpressionError
from singletable.limits import EXPRESSION_OPERATORS_MAX, IN_OPERANDS_MAX
from singletable.values.compare import less
from singletable.values.types import ATTRIBUTE_TYPES, KEY_TYPES, SET_TYPES, Value

Values: TypeAlias = Mapping[str, Value]
Check: TypeAlias = Callable[[Values], None]

_TEXTUAL: Final = frozenset(("S", "B"))
_SIZED: Final = ATTRIBUTE_TYPES - {"N", "BOOL", "NULL"}
_OPERAND_TYPES: Final = {
    "+": frozenset(("N",)),
    "-": frozenset(("N",)),
    "<": KEY_TYPES,
    "<=": KEY_TYPES,
    ">": KEY_TYPES,
    ">=": KEY_TYPES,
    "BETWEEN": KEY_TYPES,
    "begins_with": _TEXTUAL,
    "size": _SIZED,
    "list_append": frozenset(("L",)),
}
# These refuse "f(a, a)"; sums and list_append do not (DynamoDB Local 3.3).
_DISTINCT: Final = frozenset(("attribute_type", "begins_with", "contains", "if_not_exists"))
_OF_A_PATH: Final = frozenset(("attribute_exists", "attribute_not_exists", "if_not_exists"))

# The types in these two messages come in the order of a hash table of the service, as dynalite recorded it.
_ANY_TYPE: Final = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
_TYPE_NAMES: Final = "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}"

# The names of types in the refusals of ADD and DELETE: measured on the service in October 2026, like the type set,
# which is ADD's for both.
_SPELLED_TYPES: Final = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "Binary",
    "BOOL": "BOOL",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
}


@dataclass(frozen=True, slots=True)
class CheckList:
    """The checks of one expression; `passable` unless some complaint holds for all values."""

    checks: tuple[Check, ...]
    passable: bool


NO_CHECKS: Final = CheckList((), passable=True)


def check_list(checks: Iterable[Check | ExpressionError], *, operators: int) -> CheckList:
    """Collect checks up to the first complaint that holds for all values; raise it when it is the only one."""
    collected: list[Check] = []
    refusal: ExpressionError | None = None
    for check in checks:
        if isinstance(check, ExpressionError):
            refusal = check
            break
        collected.append(check)
    if refusal is None and operators > EXPRESSION_OPERATORS_MAX:
        # DynamoDB stops counting here, however many there are.
        count = EXPRESSION_OPERATORS_MAX + 1
        refusal = ExpressionError(f"The expression contains too many operators; operator count: {count}")
    if refusal is None:
        return CheckList(tuple(collected), passable=True)
    return refused_list(collected, refusal)


def refused_list(checks: Iterable[Check], refusal: ExpressionError) -> CheckList:
    """Return checks that end with a complaint, or raise it when there is nothing before it."""
    collected = tuple(checks)
    if not collected:
        raise refusal

    def refuse(_values: Values) -> None:
        raise ExpressionError(str(refusal))

    return CheckList((*collected, refuse), passable=False)


def node_checks(nodes: Iterable[Checked]) -> Iterator[Check | ExpressionError]:
    """Yield the checks of nodes in their order."""
    for node in nodes:
        match node:
            case Path():
                yield from _path_checks(node)
            case Placeholder(name):
                yield _defined(name)
            case FunctionCall():
                yield from _call_checks(node)
            case Comparison(operator, left, right):
                yield from _types(operator, (left, right))
                yield from _distinct(operator, left, (right,))
            case Between(operand, low, high):
                yield from _types("BETWEEN", (operand, low, high))
                yield from _distinct("BETWEEN", operand, (low, high))
                if isinstance(low, Placeholder) and isinstance(high, Placeholder):
                    yield _bounds(low.name, high.name)
            case In(operand, candidates):
                yield from _distinct("IN", operand, candidates)
                if len(candidates) > IN_OPERANDS_MAX:
                    yield ExpressionError(
                        "The IN operator is provided with too many operands; "
                        f"number of operands: {len(candidates)}"
                    )
            case Arithmetic(operator, left, right):
                yield from _types(operator, (left, right))
            case _:
                assert_never(node)


def add_or_delete_check(operator: str, placeholder: str) -> Check:
    """Return the check of the type of an operand of ADD or DELETE."""
    allowed = SET_TYPES | {"N"} if operator == "ADD" else SET_TYPES

    def check(values: Values) -> None:
        tag = next(iter(values[placeholder]))
        if tag not in allowed:
            raise ExpressionError(
                f"Incorrect operand type for operator or function; operator: {operator}, "
                f"operand type: {_SPELLED_TYPES[tag]}, typeSet: ALLOWED_FOR_ADD_OPERAND"
            )

    return check


def _path_checks(path: Path) -> Iterator[ExpressionError]:
    try:
        check_path(path)
    except ExpressionError as error:
        yield error


def _defined(name: str) -> Check:
    def check(values: Values) -> None:
        if name not in values:
            raise ExpressionError(
                f"An expression attribute value used in expression is not defined; attribute value: {name}"
            )

    return check


def _call_checks(call: FunctionCall) -> Iterator[Check | ExpressionError]:
    function, operands = call.function, call.operands
    if len(operands) != OPERAND_COUNTS[function]:
        yield ExpressionError(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {function}, number of operands: {len(operands)}"
        )
    yield from _types(function, operands)
    if function in _DISTINCT:
        yield from _distinct(function, operands[0], operands[1:])
    if function in _OF_A_PATH and not isinstance(operands[0], Path):
        yield ExpressionError(
            f"Operator or function requires a document path; operator or function: {function}"
        )
    if function == "attribute_type":
        yield _type_name(operands[1])


def _distinct(operator: str, first: Operand, others: Iterable[Operand]) -> Iterator[ExpressionError]:
    if isinstance(first, Path) and any(
        isinstance(other, Path) and other.elements == first.elements for other in others
    ):
        yield ExpressionError(
            "The first operand must be distinct from the remaining operands for this operator or function; "
            f"operator: {operator}, first operand: {first}"
        )


def _wrong_type(operator: str, found: str) -> ExpressionError:
    return ExpressionError(
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {found}"
    )


def _types(operator: str, operands: Iterable[Operand]) -> Iterator[Check | ExpressionError]:
    allowed = _OPERAND_TYPES.get(operator)
    if allowed is None:
        return
    for operand in operands:
        if isinstance(operand, Placeholder):
            yield _type_of_value(operator, operand.name, allowed)
        elif isinstance(operand, FunctionCall) and operand.function == "size" and "N" not in allowed:
            yield _wrong_type(operator, "N")


def _type_of_value(operator: str, placeholder: str, allowed: frozenset[str]) -> Check:
    def check(values: Values) -> None:
        tag = next(iter(values[placeholder]))
        if tag not in allowed:
            raise _wrong_type(operator, tag)

    return check


def _type_name(operand: Operand) -> Check | ExpressionError:
    if isinstance(operand, Path):
        return _wrong_type("attribute_type", _ANY_TYPE)
    if isinstance(operand, FunctionCall):
        return _wrong_type("attribute_type", "N")
    placeholder = operand.name

    def check(values: Values) -> None:
        ((tag, payload),) = values[placeholder].items()
        if tag != "S":
            raise _wrong_type("attribute_type", tag)
        if payload not in ATTRIBUTE_TYPES:
            raise ExpressionError(
                f"Invalid attribute type name found; type: {payload}, valid types: {_TYPE_NAMES}"
            )

    return check


def _bounds(low_name: str, high_name: str) -> Check:
    def check(values: Values) -> None:
        low, high = values[low_name], values[high_name]
        if low.keys() != high.keys():
            rule = "requires same data type for lower and upper bounds"
        elif less(high, low):
            rule = "requires upper bound to be greater than or equal to lower bound"
        else:
            return
        raise ExpressionError(
            f"The BETWEEN operator {rule}; lower bound operand: AttributeValue: {_shown(low)}, "
            f"upper bound operand: AttributeValue: {_shown(high)}"
        )

    return check


def _shown(value: Value) -> str:
    ((tag, payload),) = value.items()
    return f"{{{tag}:{payload}}}"
