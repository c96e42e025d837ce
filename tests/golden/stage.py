"""Where a script plays: it opens designs on one database, and says in words what it lets them do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from singletable import Database
from singletable.clock import ManualClock
from singletable.design import Design

T = TypeVar("T")
D = TypeVar("D", bound=Design)


class Stage(ABC):
    """A database, its clock, and somebody who writes down what happens."""

    def __init__(self, database: Database, clock: ManualClock) -> None:
        self.database = database
        self.clock = clock

    @abstractmethod
    def open(self, design: type[D], *, is_told: bool = False, **environment: str) -> D:
        """Open a design; its table is made when it is not there, and how that is done may be told."""

    @abstractmethod
    def do(self, words: str, function: Callable[[], T]) -> T:
        """Let a design do something that it does."""

    @abstractmethod
    def refuse(self, words: str, function: Callable[[], Any]) -> None:
        """Let a design do something that it refuses."""

    @abstractmethod
    def together(self, words: str, function: Callable[[], Any]) -> None:
        """Let a design write several items at once: it refuses where there are no transactions."""

    def consume(self, words: str, db: Design, **options: Any) -> None:
        """Let the handlers of a design take all changes, and those that they make themselves."""
        consumer = db.consume(background=False, wait=lambda seconds: None, **options)
        for _ in range(3):
            self.do(words, consumer.drain)
        consumer.stop()

    def meddle(self, db: Design, operation: str, **params: Any) -> None:
        """Ask the database itself: somebody else writes behind the back of the design."""
        self.database.call(operation, {"TableName": db.session.table, **params})

    def forget_guards(self, db: Design) -> None:
        """Delete what consumers have noted of the records that they took: in a scan, their order is random."""
        for item in self.database.scan(TableName=db.session.table)["Items"]:
            if item["PK"]["S"].startswith("UPKEEP#"):
                self.meddle(db, "DeleteItem", Key={"PK": item["PK"], "SK": item["SK"]})
