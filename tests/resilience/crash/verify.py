"""Compare a database with the model: everything acknowledged, nothing half done, every index in step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilience.crash.model import Items, Place, Progress, WriterState, place_of, shared_items
from resilience.crash.tables import INDEX_ALL, INDEX_KEYS, LEDGER_KEYS
from resilience.crash.workload import EVENTS, LEDGER, SHARED, Batch, Count, Item
from singletable import Database
from singletable.storage.check import check_file

if TYPE_CHECKING:
    from collections.abc import Callable


def verify_file(path: Path, progresses: Iterable[Progress]) -> dict[int, WriterState]:
    """Check the file from the outside, open it, compare it with the model, and check what that left."""
    assert_sound(path)
    with Database.open(path) as db:
        states = verify_database(db, progresses)
    assert_sound(path)
    return states


def assert_sound(path: Path) -> None:
    """Assert that the product's own checker finds nothing."""
    problems = check_file(path)
    assert not problems, [str(problem) for problem in problems]


def verify_database(db: Database, progresses: Iterable[Progress]) -> dict[int, WriterState]:
    """Assert that the tables hold what was acknowledged; return which possible state of each writer it is."""
    found = read_tables(db)
    states = {progress.writer: resolve(progress, found) for progress in progresses}
    assert_same(found, expected_items(states))
    assert_indexes_agree(db)
    return states


def expected_items(states: dict[int, WriterState]) -> Items:
    """Return all that the tables must hold when the writers have come to these states."""
    expected = shared_items(states)
    for state in states.values():
        expected |= state.items
    return expected


# --- reading --------------------------------------------------------------------------


def read_pages(operation: Callable[..., Any], **request: Any) -> Iterator[Item]:
    """Yield the items of every page of a Query or Scan."""
    while True:
        answer = operation(**request)
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def read_tables(db: Database) -> Items:
    """Return every item of the three tables."""
    found: Items = {}
    for table in (LEDGER, EVENTS, SHARED):
        for item in read_pages(db.scan, TableName=table, ConsistentRead=True):
            place = place_of(table, item)
            assert place not in found, f"the scan of {table} returned {place} twice"
            found[place] = item
    return found


# --- what may be there ------------------------------------------------------------------


def resolve(progress: Progress, found: Items) -> WriterState:
    """Return the state of the writer that the tables show: with or without the operation in flight."""
    before, after = progress.possible_states()
    operation = progress.in_flight
    if isinstance(operation, Batch):
        return _between(before, after, found)
    if isinstance(operation, Count):
        number = counted_by(progress.writer, found)
        return after if number == operation.number else before
    changed = _changed_places(before, after)
    is_done = all(found.get(place) == after.items.get(place) for place in changed)
    return after if is_done else before


def counted_by(writer: int, found: Items) -> int:
    counter = found[(SHARED, ("counter",))]
    return int(counter.get(f"Writer{writer}", {"N": "0"})["N"])


def _changed_places(before: WriterState, after: WriterState) -> list[Place]:
    places = before.items.keys() | after.items.keys()
    return [place for place in places if before.items.get(place) != after.items.get(place)]


def _between(before: WriterState, after: WriterState, found: Items) -> WriterState:
    items = dict(before.items)
    for place in _changed_places(before, after):
        if found.get(place) == after.items.get(place):
            items.pop(place, None)
            if place in after.items:
                items[place] = after.items[place]
    return replace(before, items=items)


# --- comparing ----------------------------------------------------------------------------


def assert_same(found: Items, expected: Items) -> None:
    """Assert equality, naming the places that differ instead of two whole databases."""
    differing = sorted(
        place for place in found.keys() | expected.keys() if found.get(place) != expected.get(place)
    )
    details = [(place, _brief(found.get(place)), _brief(expected.get(place))) for place in differing[:5]]
    assert not differing, f"{len(differing)} places differ; (place, found, expected): {details}"


def _brief(item: Item | None) -> dict[str, str] | None:
    if item is None:
        return None
    return {name: str(value)[:60] for name, value in item.items() if name not in ("PK", "SK")}


def assert_indexes_agree(db: Database) -> None:
    """Assert that each index of the ledger holds exactly what the table says, by Query and by Scan."""
    table = {place_of(LEDGER, item): item for item in read_pages(db.scan, TableName=LEDGER)}
    for index, key_names in INDEX_KEYS.items():
        assert_index_agrees(db, LEDGER, index, key_names, table.values(), whole=INDEX_ALL[index])


def assert_index_agrees(
    db: Database, table: str, index: str, key_names: tuple[str, ...], items: Iterable[Item], *, whole: bool
) -> None:
    """Assert that the index holds these items (or their keys) and nothing else, and each Query its share."""
    entries = [item for item in items if all(name in item for name in key_names)]
    if not whole:
        names = {*LEDGER_KEYS, *key_names}
        entries = [{name: value for name, value in item.items() if name in names} for item in entries]
    scanned = list(read_pages(db.scan, TableName=table, IndexName=index))
    assert _sorted(scanned) == _sorted(entries), f"the index {index} disagrees with its table"
    partition = key_names[0]
    for value in sorted({entry[partition]["S"] for entry in entries}):
        queried = list(
            read_pages(
                db.query,
                TableName=table,
                IndexName=index,
                KeyConditionExpression="#partition = :value",
                ExpressionAttributeNames={"#partition": partition},
                ExpressionAttributeValues={":value": {"S": value}},
            )
        )
        share = [entry for entry in entries if entry[partition]["S"] == value]
        assert _sorted(queried) == _sorted(share), f"a query of {index} for {value} disagrees with the table"
        if len(key_names) > 1:
            ranks = [int(entry[key_names[1]]["N"]) for entry in queried]
            assert ranks == sorted(ranks)


def _sorted(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))
