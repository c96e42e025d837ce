"""Tasks of projects, without versions: indexes that are plain, sparse, sharded, and built from a property."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NewType

from pydantic import Field

from singletable.design import (
    CreatedAt,
    Design,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    Merged,
    Query,
    ShardOf,
    SortKey,
    Table,
    UpdatedAt,
    auto,
    pattern,
    shards,
)

ProjectId = NewType("ProjectId", str)
TaskId = NewType("TaskId", str)
State = Literal["open", "doing", "done"]


class TasksTable(Table):
    name = "tasks"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")
    gsi3 = Index("GSI3", pk="GSI3PK", sk="GSI3SK")
    gsi4 = Index("GSI4", pk="GSI4PK", sk="GSI4SK")


class ProjectPK(Key, template="PROJECT#{project_id}"):
    project_id: ProjectId


class TaskSK(SortKey, template="TASK#{task_id}"):
    task_id: TaskId


class StatePK(Key, template="STATE#{state}"):
    state: State


class PrioritySK(SortKey, template="{priority:03}#{task_id}"):
    priority: int
    task_id: TaskId


class OwnerPK(Key, template="OWNER#{owner}"):
    owner: str


class OpenPK(Key, template="OPEN#{shard}"):
    shard: Annotated[int, ShardOf(3, by="task_id")]


class LetterPK(Key, template="LETTER#{letter}"):
    letter: str


class Task(Entity):
    key = Keys(ProjectPK, TaskSK)
    by_state = TasksTable.gsi1.keys(StatePK, PrioritySK)
    by_owner = TasksTable.gsi2.keys(OwnerPK, PrioritySK)
    open = TasksTable.gsi3.keys(OpenPK, PrioritySK, when=Eq("state", "open"))
    by_letter = TasksTable.gsi4.keys(LetterPK, TaskSK)

    project_id: ProjectId
    task_id: TaskId
    title: str
    state: State = "open"
    priority: int = 0
    owner: str | None = None
    points: int = 0
    labels: set[str] = Field(default_factory=set)
    notes: list[str] = Field(default_factory=list)
    due_at: datetime | None = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()

    @property
    def letter(self) -> str:
        return self.title[:1].lower() or "-"


class Tasks(Design):
    table = TasksTable
    entities = (Task,)

    @pattern("1 A task", consistent=True)
    def task(self, project_id: ProjectId, task_id: TaskId) -> Get[Task]:
        return Task.key.get(ProjectPK(project_id=project_id), TaskSK(task_id=task_id))

    @pattern("2 Tasks of a project")
    def tasks(self, project_id: ProjectId) -> Query[Task]:
        return Task.key.query(ProjectPK(project_id=project_id))

    @pattern("3 Tasks in a state, by priority")
    def in_state(self, state: State) -> Query[Task]:
        return Task.by_state.query(StatePK(state=state))

    @pattern("4 Tasks of an owner, by priority")
    def owned(self, owner: str) -> Query[Task]:
        return Task.by_owner.query(OwnerPK(owner=owner))

    @pattern("5 Open tasks of all projects, by priority")
    def open_tasks(self) -> Merged[Task]:
        return Merged([Task.open.query(OpenPK(shard=n)) for n in shards(OpenPK)])

    @pattern("6 Tasks by the first letter of their titles")
    def lettered(self, letter: str) -> Query[Task]:
        return Task.by_letter.query(LetterPK(letter=letter))
