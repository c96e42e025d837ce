"""What the owners of items may do themselves: read their own partitions, and no others.

The condition on dynamodb:LeadingKeys is that of the developer guide, "Using IAM policy conditions for fine-grained
access control". Owners do not write: locks, counters and copies are kept by the application.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from singletable.blueprint import Blueprint, owner_lead
from singletable.stack.policies import Conditions, Policy, Statement

PROVIDER: Final = "cognito-identity.amazonaws.com"
_OWNER: Final = "${!" + PROVIDER + ":sub}"
_LEADING: Final = "dynamodb:LeadingKeys"
_BY_KEY: Final = frozenset(
    {"GetItem", "BatchGetItem", "Query"}
)  # a scan and a transaction have no leading keys


def owner_policy(blueprint: Blueprint, *, table: str, name: str) -> Policy | None:
    """Return the policy of an owner on a table, by its ARN; None where the design declares no owner."""
    leads = _leads(blueprint)
    statements = []
    for index, keys in sorted(leads.items(), key=lambda each: each[0] or ""):
        actions = _reads(blueprint, index)
        if not actions:
            continue
        conditions: Conditions = {
            "ForAllValues:StringLike": {_LEADING: tuple(sorted(keys))},
            "Null": {_LEADING: ("false",)},
        }
        resource = table if index is None else f"{table}/index/{index}"
        sid = "ReadOwn" if index is None else f"ReadOwnIn{_alphanumeric(index)}"
        statements.append(Statement(sid, actions, (resource,), conditions))
    return Policy(name, tuple(statements)) if statements else None


def _leads(blueprint: Blueprint) -> dict[str | None, set[str]]:
    """Return what the owner's keys begin with, of the table (None) and of each index."""
    found: dict[str | None, set[str]] = defaultdict(set)
    for entity in blueprint.entities:
        for place in entity.places:
            lead = owner_lead(entity, place)
            if lead is None or len(place.pk.attributes) != 1:
                continue
            if not any(_may_meet(lead.prefix, other) for other in _unowned(blueprint, place.index)):
                found[place.index].add(lead.leading(_OWNER) + ("*" if lead.follows else ""))
    return found


def _unowned(blueprint: Blueprint, index: str | None) -> Iterator[str]:
    """Yield the constant text before the first value, of all partition keys that no owner leads."""
    for entity in blueprint.entities:
        for place in entity.places:
            if place.index == index and owner_lead(entity, place) is None:
                yield (place.pk.template or "").partition("{")[0]


def _may_meet(prefix: str, other: str) -> bool:
    """Tell whether keys of two prefixes may be of one partition: then others than its owner have items in it."""
    return prefix.startswith(other) or other.startswith(prefix)


def _reads(blueprint: Blueprint, index: str | None) -> tuple[str, ...]:
    owned = {entity.name for entity in blueprint.entities if entity.owner is not None}
    found = {
        read.operation
        for pattern in blueprint.patterns
        for read in pattern.reads
        if read.index == index and owned.intersection(read.entities)
    }
    return tuple(f"dynamodb:{operation}" for operation in sorted(found & _BY_KEY))


def _alphanumeric(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() and letter.isascii())
