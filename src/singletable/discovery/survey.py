"""Reading a table that nobody has described: its settings, and items from all over it, at a pace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from singletable.blueprint import Blueprint, VolumeBlueprint
from singletable.client import Call, Client, Steps
from singletable.client.calls import Answer
from singletable.design.describe.blueprint import index_blueprint, table_blueprint
from singletable.design.tables.definition import describe_table, found_table
from singletable.discovery.entities import Item, Proposal, ProposedEntity, propose
from singletable.errors import TargetError
from singletable.migrate.pacing import Pace, Pacer

_SEGMENTS: Final = 16  # a page of each is read before a second of any
_PAGE_ITEMS: Final = 100

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found: a blueprint, the proposals behind it, and how much of the table was looked at."""

    blueprint: Blueprint
    proposals: tuple[ProposedEntity, ...]
    items_read: int
    units_read: float
    items_stated: int | None  # as many as the table says that it has; that figure may be hours old
    is_whole: bool


def survey_table(
    client: Client,
    table: str,
    *,
    items: int = 2_000,
    pace: Pace | None = None,
    samples: int = 2,
    progress: Progress | None = None,
) -> Survey:
    """Read the settings of a table and up to so many of its items; propose a blueprint. Nothing is written."""
    return client.run(_survey(client, table, items, pace, samples, progress or _nothing))


def _nothing(phase: str, done: int, total: int) -> None:
    pass


def _survey(
    client: Client, name: str, most: int, pace: Pace | None, samples: int, progress: Progress
) -> Steps[Survey]:
    found = yield from found_table(name, client.capabilities)
    if found is None:
        raise TargetError(
            f"there is no table {name}", hint="names are told by ListTables, and are case-sensitive"
        )
    description = yield from describe_table(name)
    read = _Read(Pacer(client, pace), most, progress)
    yield from read.table(name)
    stated = (description or {}).get("ItemCount")
    described = table_blueprint(found)
    indexes = tuple(map(index_blueprint, found.indexes))
    proposal = propose(described, indexes, read.items, samples=samples) if read.items else Proposal(())
    count = len(read.items) if read.is_whole else max(stated or 0, len(read.items))
    blueprint = Blueprint(
        name=name,
        table=described,
        indexes=indexes,
        entities=tuple(each.entity for each in proposal.entities),
        volumes=tuple(_volume(each, len(read.items), count) for each in proposal.entities),
        discriminator=proposal.discriminator,
        about=f"proposed from {len(read.items):,} items of the table {name}",
        questions=(*_questions(read), *(each for one in proposal.entities for each in one.questions)),
    )
    return Survey(blueprint, proposal.entities, len(read.items), read.units, stated, read.is_whole)


class _Read:
    """Items that were read: a page from each part of the table, then a second of each, until there are enough."""

    def __init__(self, pacer: Pacer, most: int, progress: Progress) -> None:
        self.items: list[Item] = []
        self.units = 0.0
        self.is_whole = False
        self._pacer = pacer
        self._most = most
        self._progress = progress

    def table(self, name: str) -> Steps[None]:
        """Read the table."""
        segments = min(_SEGMENTS, max(1, self._most // _PAGE_ITEMS))
        left: dict[int, Any] = dict.fromkeys(range(segments))
        while left and len(self.items) < self._most:
            for segment in list(left):
                wanted = min(self._pacer.page_items(_PAGE_ITEMS), self._most - len(self.items))
                if wanted <= 0:
                    return
                params = {"TableName": name, "Limit": wanted, "ReturnConsumedCapacity": "TOTAL"}
                if segments > 1:
                    params |= {"TotalSegments": segments, "Segment": segment}
                if left[segment] is not None:
                    params["ExclusiveStartKey"] = left[segment]
                answer = yield Call("Scan", params)
                yield from self._take(answer)
                if "LastEvaluatedKey" in answer:
                    left[segment] = answer["LastEvaluatedKey"]
                else:
                    del left[segment]
        self.is_whole = not left

    def _take(self, answer: Answer) -> Steps[None]:
        found = answer.get("Items", [])
        units = (answer.get("ConsumedCapacity") or {}).get("CapacityUnits", 0.0)
        self.items += found
        self.units += units
        self._progress("reading", len(self.items), self._most)
        yield from self._pacer.pay(units=units, items=len(found))


def _questions(read: _Read) -> list[str]:
    asked = ["which access patterns does the application have? A table does not tell."]
    if not read.is_whole:
        asked.append(f"only {len(read.items):,} items were read: are there kinds that are rarer than that?")
    if not read.items:
        asked = ["which entities will there be? The table is empty."]
    return asked


def _volume(proposed: ProposedEntity, read: int, count: int) -> VolumeBlueprint:
    return VolumeBlueprint(
        proposed.entity.name,
        round(proposed.items / read * count),
        proposed.kb,
        upto_kb=proposed.upto_kb,
        because=f"{proposed.items:,} of {read:,} items that were read",
    )
