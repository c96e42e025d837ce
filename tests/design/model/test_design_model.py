"""A design against a dict: whatever is written, every index finds what brute force finds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from designs.tasks import ProjectId, Task, TaskId, Tasks
from singletable.clock import ManualClock
from singletable.design import Add, Append, Create, Delete, Eq, Get, Put, Update
from singletable.errors import AlreadyExistsError, ConditionNotMetError, NotFoundError
from support.opened_designs import stored_items

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
PROJECTS = [ProjectId("p"), ProjectId("p1")]
TASKS = [TaskId(name) for name in ("a", "b", "ab", "c", "d")]
STATES = ["open", "doing", "done"]
OWNERS = [None, "ada", "adam"]
Name = tuple[str, str]

NAMES = st.tuples(st.sampled_from(PROJECTS), st.sampled_from(TASKS))
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "title": st.sampled_from(["Write", "write", "Read", "x"]),
    "state": st.sampled_from(STATES),
    "priority": st.integers(0, 12),
    "owner": st.sampled_from(OWNERS),
    "points": st.integers(-3, 3),
    "labels": st.sets(st.sampled_from("abc")),
    "due_at": st.sampled_from([None, NOW]),
}
RELATIVE: dict[str, st.SearchStrategy[Any]] = {
    "points": st.integers(-3, 3).map(Add),
    "priority": st.integers(0, 3).map(Add),
    "notes": st.lists(st.sampled_from("xyz"), min_size=1, max_size=2).map(Append),
}
VALUES = st.fixed_dictionaries(
    {"title": FIELDS["title"]}, optional={k: v for k, v in FIELDS.items() if k != "title"}
)
CHANGES = st.fixed_dictionaries({}, optional={**FIELDS, "notes": RELATIVE["notes"]}).filter(bool)
ADDITIONS = st.fixed_dictionaries({}, optional=RELATIVE).filter(bool)


class DesignMachine(RuleBasedStateMachine):
    """Writes through a design, with entities that are held for a while, and so grow old."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
        self.db = Tasks.open(":memory:", clock=self.clock, sleep=lambda _: None)
        self.model: dict[Name, dict[str, Any]] = {}
        self.held: dict[Name, Task] = {}

    def teardown(self) -> None:
        self.db.close()

    @initialize()
    def begin(self) -> None:
        self.clock.jump(1)

    # --- writes ----------------------------------------------------------------------------------------------

    @rule(name=NAMES, values=VALUES)
    def create(self, name: Name, values: dict[str, Any]) -> None:
        self.clock.jump(1)
        made = _task(name, values)
        if name in self.model:
            _refused(AlreadyExistsError, lambda: self.db.create(made))
        else:
            self._hold(name, self.db.create(made).entity)

    @rule(name=NAMES, values=VALUES)
    def put(self, name: Name, values: dict[str, Any]) -> None:
        self.clock.jump(1)
        self._hold(name, self.db.put(_task(name, values)).entity)

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data(), changes=CHANGES | ADDITIONS, way=st.sampled_from(["held", "key", "transaction"]))
    def update(self, data: st.DataObject, changes: dict[str, Any], way: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.model)))
        self.clock.jump(1)
        target = self._key(name) if way == "key" else self.held[name]
        if way == "transaction":
            self.db.transaction(Update(target, **changes))
        else:
            self.db.update(target, **changes)
        self._apply(name, changes)
        if way != "key":
            assert _fields(self.held[name]) == self.model[name]

    @rule(name=NAMES, changes=CHANGES)
    def update_of_nothing(self, name: Name, changes: dict[str, Any]) -> None:
        if name not in self.model:
            _refused(NotFoundError, lambda: self.db.update(self._key(name), **changes))

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data(), state=st.sampled_from(STATES))
    def update_with_a_condition(self, data: st.DataObject, state: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.model)))
        self.clock.jump(1)
        change = {"priority": 9}
        if self.model[name]["state"] == state:
            self.db.update(self._key(name), when=Eq("state", state), **change)
            self._apply(name, change)
        else:
            _refused(
                ConditionNotMetError,
                lambda: self.db.update(self.held[name], when=Eq("state", state), **change),
            )

    @rule(name=NAMES)
    def delete(self, name: Name) -> None:
        self.db.delete(self._key(name))
        self.model.pop(name, None)
        self.held.pop(name, None)

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data(), other=NAMES, values=VALUES)
    def move(self, data: st.DataObject, other: Name, values: dict[str, Any]) -> None:
        """Delete one and create another, together."""
        name = data.draw(st.sampled_from(sorted(self.model)))
        if other in self.model:
            return
        self.clock.jump(1)
        made = _task(other, values)
        self.db.transaction(Delete(self._key(name)), Create(made))
        del self.model[name], self.held[name]
        self._hold(other, made)

    @rule(names=st.lists(NAMES, unique=True, max_size=4), values=VALUES)
    def batch(self, names: list[Name], values: dict[str, Any]) -> None:
        self.clock.jump(1)
        made = [_task(name, values) for name in names]
        self.db.batch(*(Put(entity) for entity in made))
        for name, entity in zip(names, made, strict=True):
            self._hold(name, entity)

    # --- what must hold ----------------------------------------------------------------------------------------

    @invariant()
    def every_read_finds_what_brute_force_finds(self) -> None:
        for project in PROJECTS:
            found = list(self.db.tasks(project).all())
            self._same(found, _having("project_id", project), order=lambda row: row["task_id"])
        for state in STATES:
            found = list(self.db.in_state(state).all())  # type: ignore[arg-type]
            self._same(found, _having("state", state), order=_by_priority)
        for owner in OWNERS[1:]:
            found = list(self.db.owned(str(owner)).all())
            self._same(found, _having("owner", owner), order=_by_priority)
        for letter in "wrx":
            found = list(self.db.lettered(letter).all())
            self._same(found, _beginning(letter), order=lambda row: row["task_id"])
        self._same(list(self.db.open_tasks().all()), lambda row: row["state"] == "open", order=_by_priority)

    @invariant()
    def pages_are_what_is_read_at_once(self) -> None:
        for plan in (self.db.open_tasks(), self.db.open_tasks().newest_first(), self.db.tasks(PROJECTS[0])):
            rows, cursor = [], None
            while True:
                page = plan.page(limit=2, cursor=cursor)
                rows += page.items
                cursor = page.cursor
                if cursor is None:
                    break
            assert rows == list(plan.all())

    @invariant()
    def keys_of_every_item_are_what_its_fields_say(self) -> None:
        schema = self.db.session.catalog.schema_for(Task)
        items = stored_items(self.db)
        assert len(items) == len(self.model)
        for item in items:
            fields = {name: value for name, value in item.items() if not name.startswith("GSI")}
            assert schema.to_item(schema.to_entity(fields)) == item

    # --- the model ---------------------------------------------------------------------------------------------

    def _hold(self, name: Name, entity: Task) -> None:
        self.held[name] = entity
        self.model[name] = _fields(entity)
        assert entity.updated_at.timestamp() == self.clock.now_us() / 1_000_000

    def _apply(self, name: Name, changes: dict[str, Any]) -> None:
        row = self.model[name]
        for field, value in changes.items():
            match value:
                case Add(amount):
                    row[field] += amount
                case Append(members):
                    row[field] = [*row[field], *members]
                case _:
                    row[field] = value
        row["updated_at"] = datetime.fromtimestamp(self.clock.now_us() / 1_000_000, UTC)

    def _key(self, name: Name) -> Get[Task]:
        return self.db.task(ProjectId(name[0]), TaskId(name[1]))

    def _same(self, found: list[Task], meets: Callable[[Any], bool], *, order: Callable[[Any], Any]) -> None:
        expected = [row for row in self.model.values() if meets(row)]
        rows = [_fields(entity) for entity in found]
        assert [order(row) for row in rows] == sorted(order(row) for row in expected)
        assert sorted(rows, key=_by_name) == sorted(expected, key=_by_name)


def _task(name: Name, values: dict[str, Any]) -> Task:
    return Task(project_id=ProjectId(name[0]), task_id=TaskId(name[1]), **values)


def _fields(entity: Task) -> dict[str, Any]:
    return {field: getattr(entity, field) for field in Task.model_fields}


def _having(field: str, value: Any) -> Callable[[Any], bool]:
    return lambda row: bool(row[field] == value)


def _beginning(letter: str) -> Callable[[Any], bool]:
    return lambda row: bool(row["title"][0].lower() == letter)


def _by_priority(row: dict[str, Any]) -> tuple[int, str]:
    return row["priority"], row["task_id"]


def _by_name(row: dict[str, Any]) -> tuple[str, str]:
    return row["project_id"], row["task_id"]


def _refused(kind: type[Exception], attempt: Callable[[], Any]) -> None:
    try:
        attempt()
    except kind:
        return
    raise AssertionError(f"not refused with {kind.__name__}")


TestDesign = DesignMachine.TestCase
TestDesign.settings = settings(max_examples=15, stateful_step_count=25)


@pytest.mark.soak
def test_many_random_writes_agree_with_the_dict() -> None:
    long = settings(max_examples=500, stateful_step_count=40, derandomize=False)
    run_state_machine_as_test(DesignMachine, settings=long)
