"""Query: the items of one partition, in the order of their sort keys."""

from __future__ import annotations

from singletable.engine.keys import check_key_paths, require_table
from singletable.engine.pages import Target, position_of, read_page, target_of
from singletable.engine.requests import Query
from singletable.engine.results import Page
from singletable.errors import ValidationError
from singletable.expressions.conditions import Condition
from singletable.expressions.key_conditions import KeyClause, KeyCondition
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.definitions import KeyAttribute, KeySchema
from singletable.storage.reading import PartitionRange, Position, SortBound, select_partition
from singletable.storage.store import Store
from singletable.values.keys import key_bytes, partition_bytes
from singletable.values.types import Value


def query(store: Store, request: Query) -> Page:
    """Read a page of one partition."""

    def work(execute: Execute, catalog: Catalog) -> Page:
        target = target_of(require_table(catalog, request.table), request)
        wanted = plan_query(target, request)
        return read_page(select_partition(execute, wanted), target, request)

    return store.read(work)


def plan_query(target: Target, request: Query) -> PartitionRange:
    """Turn a query into the range of rows that answers it."""
    schema = target.table.definition.key if target.index is None else target.index.definition.key
    after = None if request.start is None else position_of(target, request, request.start)
    partition, bounds = match_key(request.key_condition, schema)
    if after is not None:
        _check_start(after, partition, bounds)
    check_key_paths(target.table, request.projection)
    if request.filter is not None:
        _check_filter(target, request.filter, schema)
        check_key_paths(target.table, request.filter)
    return PartitionRange(
        table=target.table,
        index=target.index,
        partition=partition,
        bounds=bounds,
        after=after,
        forward=request.forward,
        rows_max=request.limit,
    )


def match_key(condition: KeyCondition, schema: KeySchema) -> tuple[bytes, tuple[SortBound, ...]]:
    """Match a key condition with a key schema: the partition column, and the bounds of the sort bytes."""
    clauses = {clause.attribute: clause for clause in condition.clauses}
    if len(clauses) > len(schema.names):
        raise ValidationError(
            f"The number of query conditions ({len(clauses)}) exceeds the number of key attributes defined in the "
            f"schema ({len(schema.names)})"
        )
    hash_key = schema.partition[0]
    clause = clauses.pop(hash_key.name, None)
    if clause is None:
        raise ValidationError(f"Query condition missed key schema element: {hash_key.name}")
    if clause.operator != "=":
        raise ValidationError("Query key condition not supported")
    partition = partition_bytes(_operand_bytes(hash_key, clause.operands[0]))
    if not clauses:
        return partition, ()
    sort_key = schema.sort[0]
    if sort_key.name not in clauses:
        raise ValidationError(f"Query condition missed key schema element: {sort_key.name}")
    return partition, _sort_bounds(sort_key, clauses[sort_key.name])


def _sort_bounds(attribute: KeyAttribute, clause: KeyClause) -> tuple[SortBound, ...]:
    operands = [_operand_bytes(attribute, operand) for operand in clause.operands]
    match clause.operator:
        case "BETWEEN":
            return (">=", operands[0]), ("<=", operands[1])
        case "begins_with":
            end = _prefix_end(operands[0])
            return ((">=", operands[0]),) if end is None else ((">=", operands[0]), ("<", end))
        case operator:
            return ((operator, operands[0]),)


def _operand_bytes(attribute: KeyAttribute, operand: Value) -> bytes:
    payload = operand.get(attribute.type)
    if payload is None:
        raise ValidationError(
            "One or more parameter values were invalid: Condition parameter type does not match schema type"
        )
    if not payload:
        kind = "string" if attribute.type == "S" else "binary"
        raise ValidationError(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
            f"an empty {kind} value. Key: {attribute.name}"
        )
    return key_bytes(attribute.type, payload)


def _prefix_end(prefix: bytes) -> bytes | None:
    """Return the smallest bytes behind everything that begins with the prefix; None if nothing is."""
    trimmed = prefix.rstrip(b"\xff")
    return trimmed[:-1] + bytes((trimmed[-1] + 1,)) if trimmed else None


def _check_filter(target: Target, chosen: Condition, schema: KeySchema) -> None:
    for name in schema.names:
        if name in chosen.attributes:
            raise ValidationError(
                f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
            )
    # A query may not filter by what its index does not hold; a scan may, and finds nothing.
    projected = None if target.index is None else target.index.projected_names
    missing = [] if projected is None else sorted(chosen.attributes - projected)
    if target.index is not None and missing:
        raise ValidationError(
            f"One or more parameter values were invalid: Secondary index {target.index.name} does not project one "
            f"or more filter attributes: [{', '.join(missing)}]"
        )


def _check_start(after: Position, partition: bytes, bounds: tuple[SortBound, ...]) -> None:
    at_partition, at_sort = after.index_key or (after.pk, after.sk)
    if not all(_is_within(at_sort, bound) for bound in bounds):
        raise ValidationError("The provided starting key does not match the range key predicate")
    if at_partition != partition:
        raise ValidationError(
            # The words for a sort key condition are AWS's, whatever it compares with (dynalite's tests).
            "The query can return at most one row and cannot be restarted"
            if bounds
            else "The provided starting key is outside query boundaries based on provided conditions"
        )


def _is_within(sort: bytes, bound: SortBound) -> bool:
    operator, limit = bound
    match operator:
        case "=":
            return sort == limit
        case "<":
            return sort < limit
        case "<=":
            return sort <= limit
        case ">":
            return sort > limit
        case _:
            return sort >= limit
