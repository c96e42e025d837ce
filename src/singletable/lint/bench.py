"""The bench of proofs: the documented table in memory, with the sample items of the design."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from singletable.clock import ManualClock
from singletable.database import Database
from singletable.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from singletable.blueprint import Blueprint
    from singletable.blueprint.tables import IndexBlueprint

_NAME = "bench"


class Bench:
    """A table in memory as a design has it: what a request answers there is what DynamoDB answers.

    The items are the samples of the design; a proof adds its own. Values are plain Python, as samples are.
    """

    table_name = _NAME

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.clock = ManualClock()
        self._database = Database.open(":memory:", clock=self.clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def create_table(self) -> str | None:
        """Create the table; return what DynamoDB refuses it with, None if it is there now."""
        return self.refusal("create_table", **_table(self.blueprint))

    def put(self, item: Mapping[str, Any]) -> str | None:
        """Put an item of plain values; return what it is refused with, None if it is stored."""
        return self.refusal("put_item", Item=_item(item))

    def refusal(self, operation: str, **members: Any) -> str | None:
        """Send a request; return the message that it is refused with, None if it is answered."""
        try:
            self.send(operation, **members)
        except ApiError as error:
            return str(error)
        return None

    def send(self, operation: str, **members: Any) -> dict[str, Any]:
        """Send a request to the table, by the name of the client's method; those of several items name it."""
        names_it = operation.startswith(("batch_", "transact_"))
        answer: dict[str, Any] = getattr(self._database, operation)(
            **(members if names_it else {"TableName": _NAME, **members})
        )
        return answer

    def key(self, number: int = 0) -> dict[str, Any]:
        """Return the key of an item of a proof; another number is another item."""
        table = self.blueprint.table
        made = {"S": f"proof {number}", "N": str(number), "B": f"proof {number}".encode()}
        kinds = {name: table.types.get(name, "S") for name in (table.pk, table.sk) if name is not None}
        return {name: {kind: made[kind]} for name, kind in kinds.items()}


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in item.items()}


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"BOOL": value}
        case int() | float():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case list() | tuple():
            return {"L": [_value(each) for each in value]}
        case dict():
            return {"M": _item(value)}
        case None:
            return {"NULL": True}
        case _:
            return {"S": str(value)}


def _table(blueprint: Blueprint) -> dict[str, Any]:
    table = blueprint.table
    keys = [table.pk, table.sk, *(name for index in blueprint.indexes for name in (*index.pk, *index.sk))]
    members: dict[str, Any] = {
        "KeySchema": _schema((table.pk,), (table.sk,) if table.sk is not None else ()),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": table.types.get(name, "S")}
            for name in dict.fromkeys(name for name in keys if name is not None)
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    for name, is_local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
        if found := [_index(index) for index in blueprint.indexes if index.is_local is is_local]:
            members[name] = found
    return members


def _schema(pk: tuple[str, ...], sk: tuple[str, ...]) -> list[dict[str, str]]:
    keys = [{"AttributeName": name, "KeyType": "HASH"} for name in pk]
    return keys + [{"AttributeName": name, "KeyType": "RANGE"} for name in sk]


def _index(index: IndexBlueprint) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    return {"IndexName": index.name, "KeySchema": _schema(index.pk, index.sk), "Projection": projection}
