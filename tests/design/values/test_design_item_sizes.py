"""Sizes of items: the layer counts what the target counts, to the byte."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from designs.tasks import ProjectId, Task, TaskId, Tasks
from singletable.design.values.items import item_bytes
from singletable.errors import ItemTooLargeError, LargeItemWarning, ValidationError
from singletable.limits import ITEM_BYTES_MAX
from support.opened_designs import call, opened_design
from support.targets import TARGETS


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Tasks]:
    with opened_design(Tasks, request.param) as opened:
        yield opened


def task(**fields: Any) -> Task:
    return Task(**{"project_id": ProjectId("p"), "task_id": TaskId("t"), "title": "x", **fields})


def test_largest_item_is_accepted_and_a_byte_more_is_not(db: Tasks) -> None:
    values: dict[str, Any] = {"owner": "ä", "labels": {"a", "bc"}, "notes": ["n", ""], "points": -1234567}
    base = item_bytes(db.session.catalog.schema_for(Task).to_item(task(**values)))
    filler = ITEM_BYTES_MAX - base
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeItemWarning)
        made = db.create(task(**values, title="x" * (filler + 1))).entity
        with pytest.raises(ItemTooLargeError, match="title takes") as caught:
            db.put(task(**values, title="x" * (filler + 2)))
        assert caught.value.number == "ST205"
        with pytest.raises(ItemTooLargeError):
            db.update(made, title="x" * (filler + 2))
    item = db.session.catalog.schema_for(Task).to_item(made)
    with pytest.raises(ValidationError, match="size has exceeded"):
        call(db, "PutItem", Item={**item, "title": {"S": "x" * (filler + 2)}})
