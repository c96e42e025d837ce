"""Two endpoints with the same tables: brings both to the same state, sends a request to both, compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from golden.side_by_side.comparison import Difference, described, differences, normal, unordered
from golden.side_by_side.designs import DESIGNS, Design
from golden.side_by_side.endpoints import Body, Endpoint, Reply
from golden.side_by_side.requests import Scene, Script
from golden.side_by_side.table_requests import MADE, TableScript
from golden.side_by_side.values import Item

UNMAKE_TRIES_MAX = 5
WRITES = frozenset(("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"))


@dataclass(frozen=True)
class Case:
    """A script, what both ends replied, and what differs."""

    script: Script | TableScript
    ours: Reply
    theirs: Reply
    differences: list[Difference]

    def told(self) -> str:
        """Describe the case to whoever has to settle it."""
        lines = [f"{self.script.operation} {orjson.dumps(self.script.request).decode()}"]
        if isinstance(self.script, Script):
            stored = orjson.dumps(self.script.scene.items).decode()
            lines.append(f"stored in {self.script.scene.design.name}: {stored}")
        else:
            lines.append(f"a table before: {orjson.dumps(self.script.before).decode()}")
        for difference in self.differences:
            lines += [
                f"{difference.aspect}:",
                f"  ours   {difference.ours!r}",
                f"  theirs {difference.theirs!r}",
            ]
        return "\n".join(lines)


class Side:
    """One endpoint, and what its tables are known to hold."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._held: dict[str, list[Item]] = {}

    def call(self, operation: str, request: Body) -> Body:
        """Send a request that must succeed."""
        reply = self.endpoint.send(operation, orjson.dumps(request))
        assert not reply.is_refusal, (operation, request, reply)
        return reply.body

    def make_all(self) -> None:
        """Make the tables of all designs."""
        for design in DESIGNS:
            self.call("CreateTable", design.request())
            self._held[design.name] = []

    def hold(self, scene: Scene) -> None:
        """Bring a table to what a scene wants, by as few writes as it takes."""
        design, held = scene.design, self._held[scene.design.name]
        wanted = normal(scene.items)
        kept = {_key(item, design) for item in wanted}
        writes: list[Body] = [
            {"DeleteRequest": {"Key": {name: item[name] for name in design.keys}}}
            for item in held
            if _key(item, design) not in kept
        ]
        writes += [{"PutRequest": {"Item": item}} for item in wanted if item not in held]
        while writes:
            self.call("BatchWriteItem", {"RequestItems": {design.name: writes[:25]}})
            writes = writes[25:]
        self._held[design.name] = wanted

    def look(self, design: Design) -> list[Item]:
        """Return what a table holds now."""
        self._held[design.name] = normal(self.call("Scan", {"TableName": design.name})["Items"])
        return unordered(self._held[design.name])

    def unmake(self) -> bool:
        """Delete the table that an example made, whatever the example did to it. Tell whether it is gone."""
        name = orjson.dumps({"TableName": MADE})
        unprotect = orjson.dumps({"TableName": MADE, "DeletionProtectionEnabled": False})
        for _ in range(UNMAKE_TRIES_MAX):
            if self.endpoint.send("DescribeTable", name).code == "ResourceNotFoundException":
                return True
            self.endpoint.send("UpdateTable", unprotect)
            self.endpoint.send("DeleteTable", name)
        return False

    def look_at_indexes(self, design: Design) -> dict[str, list[Item]]:
        """Return what the indexes of a table hold now."""
        return {
            index.name: unordered(
                normal(self.call("Scan", {"TableName": design.name, "IndexName": index.name})["Items"])
            )
            for index in design.indexes
        }


def _key(item: Item, design: Design) -> str:
    return repr([item[name] for name in design.keys])


class Arena:
    """Us and them."""

    def __init__(self, ours: Endpoint, open_theirs: Callable[[], Endpoint]) -> None:
        self._open_theirs = open_theirs
        self.ours, self.theirs = Side(ours), Side(open_theirs())
        self.sides = (self.ours, self.theirs)
        for side in self.sides:
            side.make_all()

    def close(self) -> None:
        for side in self.sides:
            side.endpoint.close()

    def _renew_theirs(self) -> None:
        self.theirs.endpoint.close()
        self.theirs = Side(self._open_theirs())
        self.sides = (self.ours, self.theirs)
        self.theirs.make_all()

    def play(self, script: Script) -> Case:
        """Send the request of a script to both sides, and compare what comes of it."""
        for side in self.sides:
            side.hold(script.scene)
        body = orjson.dumps(script.request)
        ours = self.ours.endpoint.send(script.operation, body)
        theirs = self.theirs.endpoint.send(script.operation, body)
        found = differences(script.operation, script.request, ours, theirs)
        if script.operation in WRITES:
            found += self._state_differences(script.scene, ours, theirs)
        return Case(script, ours, theirs, found)

    def _state_differences(self, scene: Scene, ours: Reply, theirs: Reply) -> list[Difference]:
        one, other = self.ours.look(scene.design), self.theirs.look(scene.design)
        before = unordered(normal(scene.items))
        if ours.is_refusal and one != before:
            return [Difference("state", one, before)]
        if ours.is_refusal or theirs.is_refusal:
            return []  # where only one wrote, that they differ is no news
        if one != other:
            return [Difference("state", one, other)]
        if one == before:
            return []
        first: Any = self.ours.look_at_indexes(scene.design)
        second: Any = self.theirs.look_at_indexes(scene.design)
        return [] if first == second else [Difference("state", first, second)]

    def play_table(self, script: TableScript) -> Case | None:
        """Make a table on both sides, send a request to both, and compare. None if the table cannot be made."""
        try:
            if script.before is not None:
                made = [side.endpoint.send("CreateTable", orjson.dumps(script.before)) for side in self.sides]
                if any(reply.is_refusal for reply in made):
                    return None
            body = orjson.dumps(script.request)
            ours = self.ours.endpoint.send(script.operation, body)
            theirs = self.theirs.endpoint.send(script.operation, body)
            found = differences(script.operation, script.request, ours, theirs)
            if ours.is_refusal == theirs.is_refusal:
                found += self._table_differences()
            return Case(script, ours, theirs, found)
        finally:
            assert self.ours.unmake()
            # DynamoDB Local never ends the removal of some indexes, and keeps their table for ever.
            if not self.theirs.unmake():
                self._renew_theirs()

    def _table_differences(self) -> list[Difference]:
        name = orjson.dumps({"TableName": MADE})
        one, other = (
            described(normal(side.endpoint.send("DescribeTable", name).body.get("Table")))
            for side in self.sides
        )
        return [] if one == other else [Difference("state", one, other)]
