"""Key conditions, matched with a key schema: the partition that a query reads, and the bounds of its sort keys.

Nothing is read here. A table and a local index have one attribute of a kind; a global index may have up to four,
and then speaks of them in other words (AWS's answers of October 2026, recorded in the tests of dynoxide 1.3 and
of github.com/paritysuite/dynamodb-conformance).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from singletable import limits
from singletable.engine.keys import empty_index_key, empty_key, partition_key_too_long, sort_key_too_long
from singletable.errors import INVALID, ValidationError
from singletable.expressions.key_conditions import KeyClause, KeyCondition
from singletable.storage.definitions import KeyAttribute, KeySchema
from singletable.storage.reading import SortBound
from singletable.values.keys import (
    composite_key_bytes,
    composite_prefix,
    composite_unfinished,
    key_bytes,
    partition_bytes,
)
from singletable.values.types import Value


class KeyRange(NamedTuple):
    """The partition column, and the bounds of the sort bytes in it; no bounds where all of it is read."""

    partition: bytes
    bounds: tuple[SortBound, ...]


def match_key(condition: KeyCondition, schema: KeySchema, index: str | None) -> KeyRange:
    """Match a key condition with the key of a table, or of the index that is named."""
    given = condition.clauses
    defined = len(schema.partition) + len(schema.sort)
    if len(given) > defined:
        raise ValidationError(
            f"The number of query conditions ({len(given)}) exceeds the number of key attributes defined in the "
            f"schema ({defined})"
        )
    if len(schema.partition) > 1 or len(schema.sort) > 1:
        return _match_several({clause.attribute: clause for clause in given}, schema, index)
    partition_key = schema.partition[0]
    partition_clause: KeyClause | None = None
    sort_clause: KeyClause | None = None
    for clause in given:
        if clause.attribute == partition_key.name:
            partition_clause = clause
        else:
            sort_clause = clause
    if partition_clause is None:
        _refuse_missing(partition_key.name)
    if partition_clause.operator != "=":
        _refuse_unequal(partition_key, partition_clause, index)
    partition = partition_bytes(_partition_operand(partition_key, partition_clause, index))
    if sort_clause is None:
        return KeyRange(partition, ())
    sort_key = schema.sort[0]
    if sort_clause.attribute != sort_key.name:
        _refuse_missing(sort_key.name)
    return KeyRange(partition, _single_bounds(sort_key, sort_clause, index))


def _refuse_missing(name: str) -> NoReturn:
    raise ValidationError(f"Query condition missed key schema element: {name}")


def _refuse_unequal(attribute: KeyAttribute, clause: KeyClause, index: str | None) -> NoReturn:
    if clause.operator is None:
        _refuse_operator()
    for operand in clause.operands:  # their types are checked first (dynalite's tests)
        if attribute.type not in operand:
            _refuse_operand(attribute, None, index)
    raise ValidationError("Query key condition not supported")


def _refuse_operator() -> NoReturn:
    # Said only when it comes to this clause: which attributes are in the key is asked first (dynalite's tests).
    raise ValidationError("Attempted conditional constraint is not an indexable operation")


# --- keys of several attributes -------------------------------------------------------------------


def _match_several(clauses: Mapping[str, KeyClause], schema: KeySchema, index: str | None) -> KeyRange:
    unequal = _unequal(clauses, schema.partition)
    if unequal:
        raise ValidationError(
            f"HASH key attributes {', '.join(unequal)} must have equality conditions specified in the query"
        )
    sort = _conditioned(clauses, schema)
    partition = [
        _partition_operand(attribute, clauses[attribute.name], index) for attribute in schema.partition
    ]
    bounds: tuple[SortBound, ...] = ()
    if len(schema.sort) > 1 and sort:
        bounds = _several_bounds(clauses, sort, index)
    elif sort:
        bounds = _single_bounds(sort[0], clauses[sort[0].name], index)
    return KeyRange(partition_bytes(composite_key_bytes(partition)), bounds)


def _unequal(clauses: Mapping[str, KeyClause], attributes: Sequence[KeyAttribute]) -> list[str]:
    """Return the names of the attributes that are not compared for equality."""
    return [
        attribute.name
        for attribute in attributes
        if attribute.name not in clauses or not _is_equality(clauses[attribute.name])
    ]


def _is_equality(clause: KeyClause) -> bool:
    if clause.operator is None:
        _refuse_operator()
    return clause.operator == "="


def _conditioned(clauses: Mapping[str, KeyClause], schema: KeySchema) -> Sequence[KeyAttribute]:
    """Return the sort attributes up to the last that has a condition: those before it need an equality."""
    if not clauses.keys() <= set(schema.names):
        # No more clauses than attributes: one that is not about the key stands in the place of one that is.
        _refuse_missing(next(attribute.name for attribute in schema.sort if attribute.name not in clauses))
    sort = schema.sort
    while sort and sort[-1].name not in clauses:
        sort = sort[:-1]
    unequal = _unequal(clauses, sort[:-1])
    if unequal:
        raise ValidationError(
            f"RANGE key attributes {', '.join(unequal)} must have equality conditions specified in the query "
            f"because a condition is present on key attribute {sort[-1].name}"
        )
    return sort


def _several_bounds(
    clauses: Mapping[str, KeyClause], sort: Sequence[KeyAttribute], index: str | None
) -> tuple[SortBound, ...]:
    """Return the bounds of the composites that begin with the parts that are given."""
    last = clauses[sort[-1].name]
    equal = [_sort_operands(attribute, clauses[attribute.name], index)[0] for attribute in sort[:-1]]
    operands = _sort_operands(sort[-1], last, index)
    prefix = composite_prefix(equal)
    complete = [composite_prefix([*equal, operand]) for operand in operands]
    match last.operator:
        case "=":
            return _beginning_with(complete[0])
        case "<":
            return _between(prefix, complete[0])
        case "<=":
            return _between(prefix, _prefix_end(complete[0]))
        case ">":
            return _between(_prefix_end(complete[0]), _prefix_end(prefix))
        case ">=":
            return _between(complete[0], _prefix_end(prefix))
        case "BETWEEN":
            return _between(complete[0], _prefix_end(complete[1]))
        case "begins_with":
            return _beginning_with(prefix + composite_unfinished(operands[0]))
        case None:
            _refuse_operator()


# --- bounds ------------------------------------------------------------------------------------------


def _single_bounds(attribute: KeyAttribute, clause: KeyClause, index: str | None) -> tuple[SortBound, ...]:
    operands = _sort_operands(attribute, clause, index)
    match clause.operator:
        case "BETWEEN":
            return (">=", operands[0]), ("<=", operands[1])
        case "begins_with":
            return _beginning_with(operands[0])
        case None:
            _refuse_operator()
        case operator:
            return ((operator, operands[0]),)


def _beginning_with(prefix: bytes) -> tuple[SortBound, ...]:
    return _between(prefix, _prefix_end(prefix))


def _between(low: bytes | None, high: bytes | None) -> tuple[SortBound, ...]:
    """Return the bounds of the half-open range [low, high). A side that is left out has no bound."""
    bounds: tuple[SortBound, ...] = ((">=", low),) if low else ()
    return bounds if high is None else (*bounds, ("<", high))


def _prefix_end(prefix: bytes) -> bytes | None:
    """Return the smallest bytes that sort behind all bytes with this prefix; None if there are none."""
    trimmed = prefix.rstrip(b"\xff")
    return trimmed[:-1] + bytes((trimmed[-1] + 1,)) if trimmed else None


# --- operands ----------------------------------------------------------------------------------------


def _partition_operand(attribute: KeyAttribute, clause: KeyClause, index: str | None) -> bytes:
    encoded = _operand_bytes(attribute, clause.operands[0], index)
    if len(encoded) > limits.PARTITION_KEY_BYTES_MAX:
        # "… when calling the Query operation: … Size of hashkey has exceeded the maximum size limit of2048 bytes"
        # (AWS's answer, in github.com/facebook/ThreatExchange/issues/1324).
        raise partition_key_too_long()
    return encoded


def _sort_operands(attribute: KeyAttribute, clause: KeyClause, index: str | None) -> list[bytes]:
    operands = [_operand_bytes(attribute, operand, index) for operand in clause.operands]
    for encoded in operands:
        if len(encoded) > limits.SORT_KEY_BYTES_MAX:
            raise sort_key_too_long()  # as DynamoDB Local says it, of each attribute for itself
    return operands


def _operand_bytes(attribute: KeyAttribute, operand: Value, index: str | None) -> bytes:
    payload = operand.get(attribute.type)
    if not payload:
        _refuse_operand(attribute, payload, index)
    return key_bytes(attribute.type, payload)


def _refuse_operand(attribute: KeyAttribute, payload: str | None, index: str | None) -> NoReturn:
    if payload is None:
        raise ValidationError(f"{INVALID}Condition parameter type does not match schema type")
    if index is None:
        raise empty_key(attribute.name, attribute.type)
    # For an index, a query has the same message as a put: "api error ValidationException: One or more parameter
    # values are not valid. A value specified for a secondary index key is not supported. … IndexName: Name,
    # IndexKey: name" (AWS's answer to a Query, in github.com/praetorian-inc/chariot-ui/issues/353).
    raise empty_index_key(index, attribute.name, attribute.type)
