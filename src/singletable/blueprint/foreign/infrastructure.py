"""What files of infrastructure share: statements of policies, alarms, consumers, and the blueprint of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from singletable.blueprint.blueprint import Blueprint
from singletable.blueprint.foreign.nodes import Node
from singletable.blueprint.surroundings import (
    AlarmBlueprint,
    ConsumerBlueprint,
    HandlerBlueprint,
    RoleBlueprint,
    StatementBlueprint,
)
from singletable.blueprint.tables import IndexBlueprint, TableBlueprint

COMPARISONS: Final = {
    "GreaterThanThreshold": ">",
    "GreaterThanOrEqualToThreshold": ">=",
    "LessThanThreshold": "<",
    "LessThanOrEqualToThreshold": "<=",
}
PITR_DAYS: Final = 35  # what Amazon DynamoDB keeps where nothing is said
AWS_KEY: Final = "alias/aws/dynamodb"
_SERVICES: Final = ("dynamodb:", "dax:")


@dataclass(slots=True)
class Found:
    """What was found of a table so far, and questions that its file leaves open."""

    roles: dict[str, list[StatementBlueprint]] = field(default_factory=dict)
    alarms: list[AlarmBlueprint] = field(default_factory=list)
    consumers: list[ConsumerBlueprint] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def blueprint(
        self, name: str, table: TableBlueprint, indexes: Iterable[IndexBlueprint], kind: str
    ) -> Blueprint:
        """Return all of it as a blueprint without entities."""
        unsaid = (
            f"entities: a {kind} has none; `singletable blueprint from-table` proposes them from a live table"
        )
        return Blueprint(
            name=name,
            table=table,
            indexes=tuple(indexes),
            roles=tuple(RoleBlueprint(role, tuple(statements)) for role, statements in self.roles.items()),
            alarms=tuple(self.alarms),
            consumers=tuple(self.consumers),
            questions=tuple(dict.fromkeys([unsaid, *self.questions])),
        )

    def number(self, node: Node) -> float | None:
        """Return a number that was worked out; None where nobody says it before it is deployed."""
        return None if not node.exists or self._is_open(node) else node.number()

    def whole(self, node: Node) -> int | None:
        """Return a whole number that was worked out."""
        return None if not node.exists or self._is_open(node) else node.whole()

    def flag(self, node: Node) -> bool:
        """Return yes or no. Files have it as text too."""
        if not node.exists or isinstance(node.value, bool):
            return bool(node.value)
        if str(node.value).lower() in ("true", "false"):
            return str(node.value).lower() == "true"
        if self._is_open(node):
            return False
        raise node.wrong("true or false")

    def tags(self, node: Node) -> dict[str, str]:
        """Return tags, which files have as a mapping or as a list of keys and values."""
        if isinstance(node.value, str) and self._is_open(node):
            return {}
        if isinstance(node.value, list):
            return {each.need("Key").text(): each.at("Value").told() or "" for each in node.each()}
        return {name: each.told() or "" for name, each in node.members()}

    def _is_open(self, node: Node) -> bool:
        is_open = isinstance(node.value, str) and "{" in node.value
        if is_open:
            self.questions.append(f"{node.shown} is {node.value[:80]}, which the file leaves open")
        return is_open

    def add_statements(self, role: str, document: Any, table: str) -> None:
        """Add the statements of a policy that speak of the table. `document` is plain data, of any form."""
        if isinstance(document, str):
            try:
                document = json.loads(document)
            except (ValueError, RecursionError):
                return
        statements = document.get("Statement") if isinstance(document, dict) else None
        for each in statements if isinstance(statements, list) else [statements]:
            if isinstance(each, dict) and (statement := self._statement(role, each, table)) is not None:
                self.roles.setdefault(role, []).append(statement)

    def _statement(self, role: str, data: Mapping[str, Any], table: str) -> StatementBlueprint | None:
        actions, resources = _texts(data.get("Action")), _texts(data.get("Resource"))
        excepted = [name for name in ("NotAction", "NotResource") if name in data]
        if excepted:
            self.questions.append(f"a statement of {role} says {' and '.join(excepted)}, which is not read")
        speaks = any(each == "*" or each.lower().startswith(_SERVICES) for each in actions)
        if not speaks or not any(refers(each, table) for each in resources):
            return None
        conditions = data.get("Condition")
        return StatementBlueprint(
            effect=_text(data.get("Effect"), "Allow"),
            actions=actions,
            resources=resources,
            conditions=conditions if isinstance(conditions, dict) else {},
            sid=_text(data.get("Sid"), ""),
        )


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(each for each in values if isinstance(each, str))


def _text(value: Any, otherwise: str) -> str:
    return value if isinstance(value, str) else otherwise


def refers(resource: str, table: str) -> bool:
    """Tell whether a resource of a policy is the table or a part of it. * and ? stand for anything."""
    if resource in ("*", table):
        return True
    _, found, rest = resource.partition("table/")
    if not found:
        return resource.endswith("*") and "arn:aws:dynamodb:".startswith(resource.rstrip("*")[:17])
    return _matches(rest.split("/")[0] if "/" not in table else rest, table)


def _matches(pattern: str, text: str) -> bool:
    """Match * and ? in time that does not explode: the last * is all that is ever tried again."""
    at, where, star, mark = 0, 0, -1, 0
    while at < len(text):
        if where < len(pattern) and pattern[where] == "*":
            star, mark, where = where, at, where + 1
        elif where < len(pattern) and pattern[where] in ("?", text[at]):
            where, at = where + 1, at + 1
        elif star >= 0:
            mark += 1
            where, at = star + 1, mark
        else:
            return False
    return not pattern[where:].strip("*")


def handler(name: str, patterns: Sequence[Any]) -> tuple[HandlerBlueprint, ...]:
    """Return the handler that the filters of a consumer describe; none where they say nothing of events."""
    events: list[str] = []
    for each in patterns:
        try:
            data = json.loads(each) if isinstance(each, str) else each
        except (ValueError, RecursionError):
            continue
        named = data.get("eventName") if isinstance(data, dict) else None
        events += [event for event in named if isinstance(event, str)] if isinstance(named, list) else []
    return (HandlerBlueprint(name, events=tuple(dict.fromkeys(events))),) if events else ()


def encryption(key: str | None, *, is_on: bool) -> tuple[str, str | None]:
    """Return what encrypts a table, and the customer's key."""
    if not is_on:
        return "AWS_OWNED", None
    if key is None or AWS_KEY in key:
        return "AWS_MANAGED", None
    return "CUSTOMER_MANAGED", key
