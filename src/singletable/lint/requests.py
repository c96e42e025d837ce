"""Reads as requests: what a pattern would send to DynamoDB, for rules about keys and for their proofs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding
from singletable.lint.keys import Template
from singletable.lint.view import Asked, Read, View

SINGLE_READS: Final = ("GetItem", "BatchGetItem", "TransactGetItems")
_COMPARISONS: Final = ("=", "<", "<=", ">", ">=", "<>")


def queries(view: View) -> Iterator[Read]:
    """Yield the queries whose table or index exists."""
    for read in view.reads:
        if read.read.operation == "Query" and read.source is not None:
            yield read


def is_equality(asked: Asked) -> bool:
    """Tell whether a condition asks for one value."""
    return asked.operator == "="


def shown(asked: Asked) -> str:
    """Write a condition as people do: `SK begins_with ORDER#`."""
    return f"{asked.attribute} {asked.operator} {' AND '.join(asked.condition.templates)}".rstrip()


def key_type(view: View, attribute: str) -> str:
    """Return the type of a key attribute: what the table declares, else what entities say; S if nobody does."""
    if (declared := view.blueprint.table.types.get(attribute)) is not None:
        return declared
    types = {
        each.dynamodb
        for entity in view.blueprint.entities
        for each in entity.attributes
        if each.stored == attribute and each.dynamodb is not None
    }
    return types.pop() if len(types) == 1 else "S"


def query_members(view: View, read: Read) -> dict[str, Any]:
    """Return the members of the query that a read describes; empty where it cannot be written down."""
    names: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    clauses: list[str] = []
    for asked in read.asked:
        name = f"#k{len(names)}"
        names[name] = asked.attribute
        kind = key_type(view, asked.attribute)
        placeholders = []
        for template in asked.templates:
            placeholders.append(f":v{len(values)}")
            values[placeholders[-1]] = {kind: _example(template, kind)}
        clause = _clause(asked.operator, name, placeholders)
        if clause is None:
            return {}
        clauses.append(clause)
    if not clauses:
        return {}
    members: dict[str, Any] = {
        "KeyConditionExpression": " AND ".join(clauses),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }
    if read.read.index is not None:
        members["IndexName"] = read.read.index
    if read.read.is_consistent:
        members["ConsistentRead"] = True
    return members


def prove_refused(found: Finding, bench: Bench) -> str | None:
    """Send the query that the facts of a finding hold, and tell what it is refused with."""
    members = found.facts.get("query")
    refusal = bench.refusal("query", **members) if members else None
    return f"the query is refused: {refusal}" if refusal is not None else None


def prove_not_found(found: Finding, bench: Bench) -> str | None:
    """Put the item of the facts, send their query, and tell that it finds nothing."""
    item, query = found.facts.get("item"), found.facts.get("query")
    if not item or not query or bench.put(item) is not None or bench.refusal("query", **query) is not None:
        return None
    count = bench.send("query", **query)["Count"]
    return "an item is put, and the query finds nothing" if count == 0 else None


def prove_other_key(found: Finding, bench: Bench) -> str | None:
    """Put an item under the text that is written, and ask the table or an index for the text that is asked for."""
    name, written, asked = (found.facts[each] for each in ("attribute", "written", "asked"))
    own = bench.key()
    index = next((each for each in bench.blueprint.indexes if name in (*each.pk, *each.sk)), None)
    keys = {} if name in own or index is None else {each: {"S": "proof"} for each in (*index.pk, *index.sk)}
    types = {bench.blueprint.table.types.get(each, "S") for each in keys or own}
    if types != {"S"} or (name not in own and not keys):
        return None
    bench.send("put_item", Item={**own, **keys, name: {"S": written}})
    sought = {**(keys or own), name: {"S": asked}}
    answer = bench.send(
        "query",
        KeyConditionExpression=" AND ".join(f"#k{at} = :v{at}" for at in range(len(sought))),
        ExpressionAttributeNames={f"#k{at}": each for at, each in enumerate(sought)},
        ExpressionAttributeValues={f":v{at}": value for at, value in enumerate(sought.values())},
        **({"IndexName": index.name} if keys and index is not None else {}),
    )
    return (
        f"an item is put under {written}, and a query of {asked} finds nothing"
        if not answer["Count"]
        else None
    )


def prove_overwritten(found: Finding, bench: Bench) -> str | None:
    """Put two items under the text that both have as a key, and count what is there."""
    attribute, text = found.facts["attribute"], found.facts["key"]
    if bench.key().get(attribute, {}).keys() != {"S"}:
        return None  # of an index, whose keys are not unique
    for number in (1, 2):
        bench.send("put_item", Item={**bench.key(), attribute: {"S": text}, "put": {"N": str(number)}})
    left = [item["put"]["N"] for item in bench.send("scan")["Items"]]
    return f"two items are put under {text}, and the second alone is there" if left == ["2"] else None


def _clause(operator: str, name: str, values: list[str]) -> str | None:
    word = operator.strip().lower()
    if len(values) == 1 and word in ("begins_with", "contains"):
        return f"{word}({name}, {values[0]})"
    if len(values) == 1 and word in _COMPARISONS:
        return f"{name} {word} {values[0]}"
    if len(values) == 2 and word == "between":
        return f"{name} BETWEEN {values[0]} AND {values[1]}"
    if values and word == "in":
        return f"{name} IN ({', '.join(values)})"
    return None


def _example(template: Template, kind: str) -> str:
    text = template.example()
    return text if kind != "N" or text.lstrip("-").isdigit() else "1"
