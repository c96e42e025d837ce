"""A design: its table, entities and access patterns; and, opened on a target, the data layer itself.

class Kefir(Design):
    table = KefirTable
    entities = (User, Batch)

    @pattern("2 Get all batches for user")
    def batches(self, user_id: UserId) -> Query[Batch]:
        return Batch.key.query(UserPK(user_id=user_id))

db = Kefir.open("kefir.db")
db.batches(UserId("u1")).page(limit=20)
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final, ParamSpec, Self, TypeVar, Unpack, cast

from singletable.blueprint import Blueprint
from singletable.client import EMBEDDED, Capabilities, Client, Target, open_client
from singletable.client.calls import Steps
from singletable.clock import Clock
from singletable.design.describe.blueprint import blueprint_of
from singletable.design.describe.loads import Figures, check_loads
from singletable.design.kept import keep
from singletable.design.kept.aggregate import counted_entity
from singletable.design.model.catalog import Catalog
from singletable.design.model.declarations import Load, PatternInfo, Rate, Volume, Writes, split_title
from singletable.design.model.entity import Entity
from singletable.design.model.ownership import check_ownership
from singletable.design.model.table import Billing, Table
from singletable.design.plans.cursors import cursor_key
from singletable.design.plans.get import Get
from singletable.design.plans.plan import Plan, Written
from singletable.design.plans.reader import Reader
from singletable.design.session.session import Session
from singletable.design.streams.consume import (
    LambdaHandler,
    LazyHandler,
    check_declared_stream,
    function_region,
    put_aside,
    redrive,
    refuse_idle,
    start_consumer,
)
from singletable.design.streams.dispatch import StreamDispatcher
from singletable.design.streams.handlers import StreamHandler, stream_handlers
from singletable.design.tables.create import TableReport, create_table, ensure_table
from singletable.design.tables.definition import declared_table
from singletable.design.tables.drift import Drift, StageBilling, drift_of, is_missing_file, missing
from singletable.design.upkeep.expired import Cleared, delete_expired
from singletable.design.upkeep.expired import Progress as ClearProgress
from singletable.design.upkeep.verify import Progress as VerifyProgress
from singletable.design.upkeep.verify import VerifyReport, verify
from singletable.design.values.arguments import require_callable, require_kind
from singletable.design.values.conditions import Condition
from singletable.design.values.fields import Casing, is_casing
from singletable.design.writes.batch import Loaded, load_steps, write_batch
from singletable.design.writes.batch import Progress as LoadProgress
from singletable.design.writes.cascade import Cascade, Progress, delete_steps, plan_steps
from singletable.design.writes.transaction import request_steps, write, write_together
from singletable.design.writes.write import Create, Delete, Put, Update, Write, WritePlan, clock_time
from singletable.errors import DeclarationError

if TYPE_CHECKING:
    from singletable.consumers import Consumer, ConsumerOptions, DeadLetter, Redriven
    from singletable.consumers.options import ConsumerKeywords

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=Entity)
PlanT = TypeVar("PlanT", bound=Plan)


def pattern(
    title: str,
    *,
    rps: float = 0.0,
    documented: str = "",
    fixes: str = "",
    consistent: bool = False,
    cached_s: float | None = None,
    samples: Mapping[str, Any] | None = None,
    load: Load | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a method of a design as an access pattern. Its plan runs where the design is open."""
    number, rest = split_title(title)
    info = PatternInfo(number, rest, rps, documented, fixes, consistent, cached_s, samples or {}, load)

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(method)
        def planned(*args: P.args, **kwargs: P.kwargs) -> R:
            plan: Any = method(*args, **kwargs)
            if isinstance(plan, WritePlan):
                session = cast(Design, args[0])._session
                return cast(R, plan if session is None else plan.on(Writer(session)))
            if not isinstance(plan, Plan):
                raise DeclarationError(
                    f"the pattern {method.__qualname__} returned {type(plan).__name__}: a pattern returns a plan"
                )
            if consistent:
                plan = plan.consistent()
            if cached_s is not None:
                plan = plan.cached(seconds=cached_s)
            reader = cast(Design, args[0])._reader
            if plan.runner is None:
                plan.runner = reader  # the plan was made for this call alone, so it need not be copied
            elif plan.runner is not reader:
                plan = plan.with_(runner=reader)
            return cast(R, plan)

        planned.__pattern__ = info  # type: ignore[attr-defined]
        return planned

    return decorate


class Design:
    """A single-table design. Subclass it, and `open` it on a target."""

    table: ClassVar[type[Table]]
    entities: ClassVar[tuple[type[Entity], ...]] = ()
    casing: ClassVar[Casing] = "camel"
    discriminator: ClassVar[str] = "entityType"
    volumes: ClassVar[Mapping[type[Entity], Volume]] = {}
    rates: ClassVar[Mapping[type[Entity], Rate]] = {}
    loads: ClassVar[Mapping[type[Entity] | str, Writes | Load]] = {}
    """How often entities are written, and patterns asked or handlers run, by the names of their methods."""
    for_users: ClassVar[float | None] = None
    """The number of users that the stated figures are for."""
    catalog: ClassVar[Catalog]
    handlers: ClassVar[tuple[StreamHandler, ...]] = ()

    _session: Session | None = None
    _reader: Reader | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not hasattr(cls, "table") or not cls.entities:
            raise DeclarationError(
                f"{cls.__name__} has no table, or no entities",
                hint="table = SomeTable; entities = (SomeEntity, ...)",
            )
        if not is_casing(cls.casing):
            raise DeclarationError(
                f"{cls.__name__}.casing is {cls.casing!r}", hint="snake, camel, pascal or kebab"
            )
        for name in cls.patterns():
            if hasattr(Design, name):
                raise DeclarationError(
                    f"{cls.__name__}.{name}: a pattern cannot be called {name!r}, which every design has already",
                    hint=f"find_{name}, for example",
                )
        cls._check_pattern_numbers()
        cls._check_placeholders()
        cls.catalog = Catalog(cls.__name__, cls.table, cls.entities, cls.casing, cls.discriminator, keep)
        check_ownership(cls.catalog)
        cls.handlers = stream_handlers(cls, cls.catalog, Design)
        if cls.handlers:
            check_declared_stream(cls.__name__, cls.table.stream)
        check_loads(cls.catalog, cls.patterns(), [each.name for each in cls.handlers], cls.loads)

    @classmethod
    def _check_pattern_numbers(cls) -> None:
        """Refuse two patterns with the same number: documents, commands and reviews name a pattern by it."""
        numbered: dict[str, str] = {}
        for name, info in cls.patterns().items():
            other = numbered.setdefault(info.number, name) if info.number else name
            if other != name:
                raise DeclarationError(
                    f"{cls.__name__} has two patterns of the number {info.number}: {other} and {name}",
                    hint=f"give one of them another number: {info.number}b, for example",
                )

    @classmethod
    def _check_placeholders(cls) -> None:
        """Refuse a placeholder in the table's name that is also a parameter of `open`."""
        for name in cls.table.placeholders():
            if name in _OPEN_PARAMETERS and name not in cls.table.defaults:
                raise DeclarationError(
                    f"the table's name is {cls.table.name}, and open({name}=...) means something else",
                    hint="choose another word for the placeholder",
                )

    @classmethod
    def patterns(cls) -> dict[str, PatternInfo]:
        """Return the access patterns, by the names of their methods."""
        found: dict[str, PatternInfo] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if hasattr(value, "__pattern__"):
                    found[name] = value.__pattern__
                else:
                    found.pop(name, None)  # a subclass has something else of this name
        return found

    # --- opening ---------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        target: Target,
        *,
        create: bool | None = None,
        cursor_secret: str | bytes | None = None,
        clock: Clock | None = None,
        capabilities: Capabilities | None = None,
        sleep: Callable[[float], object] | None = None,
        random: Callable[[], float] | None = None,
        engine: Mapping[str, Any] | None = None,
        **environment: str,
    ) -> Self:
        """Open the design on a file, ":memory:", "dynamodb://region", or the URL of an endpoint.

        The environment has the values of the placeholders in the table's name: `stage="prod"`. In an embedded
        database a missing table is created; elsewhere only with `create=True`. With a `cursor_secret`, which all
        processes share, nobody else can make cursors.
        """
        cls.table.name_in(environment, otherwise="dev")  # refuse a wrong name before a file is created
        client = open_client(
            target, clock=clock, capabilities=capabilities, sleep=sleep, random=random, **(engine or {})
        )
        try:
            session = cls._session_on(client, environment, cursor_secret)
            design = cls._on(session)
            if client.database is not None if create is None else create:
                session.run(ensure_table(session))
        except BaseException:
            client.close()
            raise
        return design

    @classmethod
    def _session_on(
        cls, client: Client, environment: Mapping[str, str], cursor_secret: str | bytes | None = None
    ) -> Session:
        otherwise = None if client.database is None else "dev"
        table = cls.table.name_in(environment, otherwise=otherwise)
        return Session(client, table, cls.catalog, cursor_key(cls.__name__, cursor_secret), environment)

    @classmethod
    def _on(cls, session: Session) -> Self:
        design = cls()
        design._session = session
        design._reader = Reader(session)
        return design

    @property
    def session(self) -> Session:
        """Return the session of the open design."""
        if self._session is None:
            raise DeclarationError(
                f"{type(self).__name__} is not open", hint=f'{type(self).__name__}.open(":memory:")'
            )
        return self._session

    def close(self) -> None:
        """Close the design, and a database that `open` has opened."""
        if self._session is not None:
            self._session.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "" if self._session is None else f" {self._session.table} on {self._session.client!r}"
        return f"<{type(self).__name__}{where}>"

    def plan(self, plan: PlanT) -> PlanT:
        """Return a plan that was made without a pattern, bound to this open design."""
        require_kind(plan, Plan, "a plan is one like SomeEntity.key.query(...)")
        return plan.on(Reader(self.session))

    @classmethod
    def stored_item(cls, entity: Entity) -> dict[str, dict[str, Any]]:
        """Return the item of an entity: its keys, and its fields by their stored names."""
        return cls.catalog.schema_for(type(entity)).to_item(entity)

    @property
    def clock(self) -> Clock:
        """Return the clock of the open design, from which its times come."""
        return self.session.client.clock

    def now(self) -> datetime:
        """Return the time by the design's clock: in UTC, cut to milliseconds as stored times are."""
        return clock_time(self.session)

    # --- the table and the design as data ----------------------------------------------------------

    @classmethod
    def blueprint(cls) -> Blueprint:
        """Describe the design as data: table, entities, requests of each pattern. Nothing is opened or run.

        Patterns are called with sample values, made from the types of their parameters.
        """
        figures = Figures(cls.volumes, cls.rates, cls.loads, cls.for_users)
        return blueprint_of(cls.catalog, cls.patterns(), cls(), cls.handlers, figures)

    def create_table(self) -> TableReport:
        """Create the table as it is declared, or give an existing table the declared settings; return a report.

        Keys and indexes of an existing table cannot be changed: if they differ, it raises TableDiffersError.
        """
        return self.session.run(create_table(self.session))

    async def acreate_table(self) -> TableReport:
        """Create the table as it is declared, or give an existing table the declared settings."""
        return await self.session.arun(create_table(self.session))

    def drift(self) -> Drift:
        """Compare the table with the design: return a list of differences."""
        return self.session.run(drift_of(self.session))

    async def adrift(self) -> Drift:
        """Compare the table with the design: return a list of differences."""
        return await self.session.arun(drift_of(self.session))

    @classmethod
    def diff(
        cls,
        target: Target,
        *,
        capabilities: Capabilities | None = None,
        billing: Billing | None = None,
        capacity: tuple[int, int] | None = None,
        **environment: str,
    ) -> Drift:
        """Compare the table that a target has with the design, and change nothing: list the differences.

        A stage may have a billing and a capacity of its own, which are no difference then.
        """
        if is_missing_file(target):
            declared = declared_table(cls.catalog, cls.table.name_in(environment, otherwise="dev"))
            return missing(declared, capabilities or EMBEDDED)
        with open_client(target, capabilities=capabilities) as client:
            session = cls._session_on(client, environment)
            return session.run(drift_of(session, StageBilling(billing, capacity)))

    @classmethod
    async def adiff(
        cls,
        target: Target,
        *,
        capabilities: Capabilities | None = None,
        billing: Billing | None = None,
        capacity: tuple[int, int] | None = None,
        **environment: str,
    ) -> Drift:
        """Compare the table that a target has with the design, as `diff` does."""
        return await asyncio.to_thread(
            lambda: cls.diff(
                target, capabilities=capabilities, billing=billing, capacity=capacity, **environment
            )
        )

    # --- writing ---------------------------------------------------------------------------------

    def create(self, entity: E) -> Written[E]:
        """Write an item that is not there yet. It never overwrites."""
        return Writer(self.session).write(Create(entity))

    def put(self, entity: E, *, when: Condition | None = None) -> Written[E]:
        """Write an item, whether it exists or not (an upsert). A version must still match (an optimistic lock)."""
        return Writer(self.session).write(Put(entity, when))

    def update(
        self,
        target: E | Get[E],
        changes: Mapping[str, Any] | None = None,
        /,
        *,
        when: Condition | None = None,
        **more: Any,
    ) -> Written[E]:
        """Change fields of an existing item: an entity that was read, or the item of a key.

        None removes a field. Index keys change with their fields. A version must still match (an optimistic lock).
        A field that is named `when` is given in a mapping: `db.update(event, {"when": noon})`.
        """
        return Writer(self.session).write(Update(target, changes, when=when, **more))

    def delete(
        self, target: E | Get[E], *, when: Condition | None = None, progress: Progress | None = None
    ) -> Written[E | None]:
        """Delete everything that an item owns, then the item. `progress` is called with a `Cascade` as items go.

        After an interruption, delete the item again to continue.
        """
        return Written(*self.session.run(delete_steps(self.session, Delete(target, when), progress)))

    def delete_plan(self, target: E | Get[E]) -> Cascade:
        """Count the items that `delete` would delete, by entity, and delete nothing."""
        return self.session.run(plan_steps(self.session, Delete(target)))

    def transaction(self, *writes: Write) -> Written[list[Any]]:
        """Carry out writes together: all of them, or none."""
        return Written(*self.session.run(write_together(self.session, list(writes))))

    def batch(self, *writes: Put[Any] | Delete[Any]) -> float:
        """Put and delete many items, without conditions and in no order; return the units."""
        return self.session.run(write_batch(self.session, writes))

    def load(
        self, entities: Iterable[Entity], *, settled: bool = False, progress: LoadProgress | None = None
    ) -> Loaded:
        """Write any number of entities fast, as they are given, whatever is stored; hold a few hundred at a time.

        Their times and versions are kept. A `settled` load takes entities that agree with each other: numbers and
        copies are written as given, with locks and derived items, and nothing is read or checked; `counted` fills
        in the numbers. `progress` is called with the number of written entities.
        """
        return self.session.run(load_steps(self.session, entities, progress, settled=settled))

    async def aload(
        self, entities: Iterable[Entity], *, settled: bool = False, progress: LoadProgress | None = None
    ) -> Loaded:
        """Write any number of entities fast, as they are given, whatever is stored."""
        return await self.session.arun(load_steps(self.session, entities, progress, settled=settled))

    @classmethod
    def counted(cls, entity: E, children: Iterable[Entity]) -> E:
        """Return an entity with its counts, sums and averages, computed from all its children. Nothing is stored.

        It is for a settled load, where an average needs its sum and its count beside it.
        """
        return counted_entity(cls.catalog, entity, children)

    def verify(
        self, *, repair: bool = False, shared_table: bool = False, progress: VerifyProgress | None = None
    ) -> VerifyReport:
        """Recompute counters, copies, derived items, locks and index keys; report what differs, or repair it.

        The whole table is read. Others may write meanwhile. Verify counters that a stream consumer keeps only
        when the consumer has seen all records.
        """
        return self.session.run(
            verify(self.session, repair=repair, shared_table=shared_table, progress=progress)
        )

    async def averify(
        self, *, repair: bool = False, shared_table: bool = False, progress: VerifyProgress | None = None
    ) -> VerifyReport:
        """Recompute counters, copies, derived items, locks and index keys; report what differs, or repair it."""
        return await self.session.arun(
            verify(self.session, repair=repair, shared_table=shared_table, progress=progress)
        )

    def delete_expired(
        self, *, segments: int = 4, units_per_s: float | None = None, progress: ClearProgress | None = None
    ) -> Cleared:
        """Delete expired items that are still stored: maintenance, where the table's own TTL is late or missing.

        The whole table is read, by a parallel scan of segments, with at most `units_per_s` units a second.
        """
        return self.session.run(
            delete_expired(self.session, segments=segments, units_per_s=units_per_s, progress=progress)
        )

    async def adelete_expired(
        self, *, segments: int = 4, units_per_s: float | None = None, progress: ClearProgress | None = None
    ) -> Cleared:
        """Delete expired items that are still stored."""
        return await self.session.arun(
            delete_expired(self.session, segments=segments, units_per_s=units_per_s, progress=progress)
        )

    async def acreate(self, entity: E) -> Written[E]:
        """Write an item that is not there yet. It never overwrites."""
        return await Writer(self.session).awrite(Create(entity))

    async def aput(self, entity: E, *, when: Condition | None = None) -> Written[E]:
        """Write an item, whether it exists or not (an upsert)."""
        return await Writer(self.session).awrite(Put(entity, when))

    async def aupdate(
        self,
        target: E | Get[E],
        changes: Mapping[str, Any] | None = None,
        /,
        *,
        when: Condition | None = None,
        **more: Any,
    ) -> Written[E]:
        """Change fields of an existing item."""
        return await Writer(self.session).awrite(Update(target, changes, when=when, **more))

    async def adelete(
        self, target: E | Get[E], *, when: Condition | None = None, progress: Progress | None = None
    ) -> Written[E | None]:
        """Delete everything that an item owns, then the item."""
        return Written(*await self.session.arun(delete_steps(self.session, Delete(target, when), progress)))

    async def adelete_plan(self, target: E | Get[E]) -> Cascade:
        """Count the items that `adelete` would delete, by entity, and delete nothing."""
        return await self.session.arun(plan_steps(self.session, Delete(target)))

    async def atransaction(self, *writes: Write) -> Written[list[Any]]:
        """Carry out writes together: all of them, or none."""
        return Written(*await self.session.arun(write_together(self.session, list(writes))))

    async def abatch(self, *writes: Put[Any] | Delete[Any]) -> float:
        """Put and delete many items, without conditions and in no order; return the units."""
        return await self.session.arun(write_batch(self.session, writes))

    # --- streams ---------------------------------------------------------------------------------

    def consume(
        self,
        options: ConsumerOptions | None = None,
        *,
        name: str | None = None,
        **changes: Unpack[ConsumerKeywords],
    ) -> Consumer:
        """Run the handlers over the changes of the table, as one consumer of the embedded engine.

        Its name is that of the design, and its position is stored under it. The options and keywords are those of
        `Database.consume`. With `background=False`, `drain()` runs it.
        """
        name = name or type(self).__name__
        return start_consumer(self, self.session, self.handlers, name, options, **changes)

    def dead_letters(self, *, name: str | None = None) -> list[DeadLetter]:
        """List the dead letters of a consumer: records that its handlers could not handle. Embedded only."""
        return put_aside(self.session, name or type(self).__name__)

    def redrive(self, *, name: str | None = None) -> Redriven:
        """Run the handlers once more over each dead letter, and remove those that succeed. Embedded only."""
        return redrive(self, self.session, self.handlers, name=name or type(self).__name__)

    @classmethod
    def lambda_handler(
        cls, target: Target | None = None, *, prepare: Callable[[Self], object] | None = None, **options: Any
    ) -> LambdaHandler:
        """Return the function that AWS Lambda runs over the table's stream: all handlers of the design.

        The default target is the region of the function. The design is opened at the first event, and `prepare` is
        called with it once, before any handler. The options are those of `open`, with the environment of the
        table's name. Let the event source mapping report batch item failures.
        """
        refuse_idle(cls.catalog, cls.handlers)
        require_callable(prepare, "what prepares an open design")

        def dispatcher() -> StreamDispatcher:
            design = cls.open(function_region() if target is None else target, **options)
            if prepare is not None:
                try:
                    prepare(design)
                except BaseException:
                    design.close()
                    raise
            return StreamDispatcher(design, design.session, cls.handlers)

        return LazyHandler(dispatcher)


# The parameters of `open`. No placeholder in a table's name may have one of these names.
_OPEN_PARAMETERS: Final = frozenset(inspect.signature(Design.open).parameters) - {"environment"}


class Writer:
    """Runs writes on a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def write(self, wanted: WritePlan[E]) -> Written[E]:
        """Carry out a write."""
        return Written(*self._session.run(self._steps(wanted)))

    async def awrite(self, wanted: WritePlan[E]) -> Written[E]:
        """Carry out a write, without holding up the event loop."""
        return Written(*await self._session.arun(self._steps(wanted)))

    def request(self, wanted: Any) -> Any:
        """Return the exact request of a write."""
        return self._session.run(request_steps(self._session, wanted))

    def _steps(self, wanted: Any) -> Steps[tuple[Any, float]]:
        if isinstance(wanted, Delete):
            return delete_steps(self._session, wanted, None)
        return write(self._session, wanted)
