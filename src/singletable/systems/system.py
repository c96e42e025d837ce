"""What a system is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal, get_args

from singletable.design import Design, Entity
from singletable.design.dispatching import kept_by_stream
from singletable.systems.workers import Worker

Size = Literal["small", "large"]
SIZES: Final[tuple[Size, ...]] = get_args(Size)


@dataclass(frozen=True, slots=True)
class Seed:
    """Made-up data: how many entities there are, and the entities, made as they are asked for.

    Entities that are settled agree with each other, and everything that follows from them has happened: they are
    loaded as `settled`, and handlers do not go through them.
    """

    count: int
    entities: Iterable[Entity]
    is_settled: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """Something to try while a system is served: what it shows, and a line to paste into a shell.

    In the line, URL stands for the server's address, SINGLETABLE for what starts the command, and PYTHON for a
    Python that has this package.
    """

    title: str
    line: str


Samples = Mapping[str, Mapping[str, Any]]


def _no_workers(db: Any) -> tuple[Worker, ...]:
    return ()


def _no_samples(day: date) -> Samples:
    return {}


@dataclass(frozen=True, slots=True)
class System:
    """A design with the data to try it on, and what runs beside it."""

    name: str
    """What the command line calls it."""
    title: str
    design: type[Design]
    seed: Callable[[Size, date], Seed]
    """Make up data of a size, as of a day (UTC): the same data for the same day."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the name of its table needs, unless other values are given."""
    workers: Callable[[Any], Iterable[Worker]] = _no_workers
    """What is to run beside an open design."""
    trials: tuple[Trial, ...] = ()
    migrations: Path | None = None
    """The folder of the migrations that come with it, for tables of its earlier versions."""
    samples: Callable[[date], Samples] = _no_samples
    """Arguments of each access pattern, by its method's name: they find the same in the data of a day, of any
    size."""

    @property
    def has_handlers(self) -> bool:
        """Whether a consumer is to run over the changes of its table: for handlers, or for what it keeps."""
        return bool(self.design.handlers or kept_by_stream(self.design.catalog))
