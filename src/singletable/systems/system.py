"""The definition of a system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, get_args

from singletable.blueprint import Blueprint, FixBlueprint, fixes_from_toml
from singletable.design import Design, Entity
from singletable.design.describe.loads import load_blueprint
from singletable.design.streams.dispatch import kept_by_stream
from singletable.systems.services import Service
from singletable.systems.workers import Scheduled, Worker

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
    """Something to try while a system is served: its purpose, and a line to paste into a shell.

    In the line, URL stands for the server's address, SINGLETABLE for the command of this package, and PYTHON for a
    Python that has this package.
    """

    title: str
    line: str


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of S3 that handlers use on AWS, and the environment variable that tells them its name."""

    name: str
    variable: str


def bucket_name(name: str, *, table: str, account: str, region: str) -> str:
    """Return the name of a table's bucket: of one account and region, since names are of the whole world."""
    return f"{table}-{name}-{account}-{region}"


Samples = Mapping[str, Mapping[str, Any]]


def _no_workers(db: Any) -> tuple[Worker, ...]:
    return ()


def _no_samples(day: date) -> Samples:
    return {}


def _as_it_is(blueprint: Blueprint) -> Blueprint:
    return blueprint


@dataclass(frozen=True)
class System:
    """A design with demo data and background workers."""

    name: str
    """Its name on the command line."""
    title: str
    design: type[Design]
    seed: Callable[[Size, date], Seed]
    """Make up data of a size, as of a day (UTC): the same data for the same day."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Default values for the placeholders in the name of its table."""
    workers: Callable[[Any], Iterable[Worker]] = _no_workers
    """The workers that run beside an open design."""
    trials: tuple[Trial, ...] = ()
    migrations: Path | None = None
    """The folder of the migrations that come with it, for tables of its earlier versions."""
    samples: Callable[[date], Samples] = _no_samples
    """Arguments of each access pattern, by its method's name: they find the same in the data of a day, of any
    size."""
    services: tuple[Service, ...] = ()
    """What its users and workers do, with how often."""
    about: str = ""
    targets: tuple[str, ...] = ()
    """Where it runs: aws, aws-local, alternator, extenddb, singletable."""
    documents: Path | None = None
    """The folder of documented.toml, the design as its documents have it, and of fixes.toml, what was changed."""
    surroundings: Callable[[Blueprint], Blueprint] = _as_it_is
    """Add what stands around the table to a blueprint: roles and alarms."""

    scheduled: tuple[Scheduled, ...] = ()
    """The workers that schedules start on AWS."""
    prepare: Callable[[Any], object] | None = None
    """Give an open design on AWS Lambda what its handlers use there: a function of a module."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of its functions on AWS. In their values {table} and {schedule_group} are names, and
    {workers} and {schedules_role} the ARNs of the function of scheduled workers and of the role that starts it."""
    buckets: tuple[Bucket, ...] = ()
    """The buckets that its functions use on AWS."""

    def blueprint(self) -> Blueprint:
        """Describe the whole system as data: its design, services with their loads, roles, alarms and fixes."""
        return replace(self._declared, fixes=self.fixes())

    @cached_property
    def _declared(self) -> Blueprint:
        made = self.design.blueprint()
        loads = [load_blueprint("service", each.name, each.load, made.users) for each in self.services]
        return self.surroundings(
            replace(
                made,
                about=self.about or self.title,
                targets=self.targets,
                services=tuple(each.blueprint(self.design) for each in self.services),
                loads=(*made.loads, *loads),
            )
        )

    def documented(self) -> Blueprint | None:
        """Return the design as its documents have it, mistakes included."""
        file = self.documented_file
        return None if file is None else Blueprint.from_toml(file.read_text(encoding="utf-8"))

    @property
    def documented_file(self) -> Path | None:
        """Return the file of the design as its documents have it."""
        return self._document("documented.toml")

    def fixes(self) -> tuple[FixBlueprint, ...]:
        """Return what the design does otherwise than its documents, and why."""
        file = self._document("fixes.toml")
        return () if file is None else fixes_from_toml(file.read_text(encoding="utf-8"))

    def _document(self, name: str) -> Path | None:
        path = None if self.documents is None else self.documents / name
        return path if path is not None and path.is_file() else None

    @property
    def has_handlers(self) -> bool:
        """Whether it needs a consumer of its stream: for handlers, or for data that the stream keeps."""
        return bool(self.design.handlers or kept_by_stream(self.design.catalog))
