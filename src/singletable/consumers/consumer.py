"""A consumer as its user sees it: it runs in a thread of its own, or when it is called."""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

from singletable.clock import Clock
from singletable.consumers.context import new_context
from singletable.consumers.delivery import StoppedError
from singletable.consumers.handlers import CheckedHandler
from singletable.consumers.options import ConsumerOptions
from singletable.consumers.runner import ConsumerRunner, StepResult, logger
from singletable.consumers.states import ConsumerStatus, read_status
from singletable.engine.keys import require_table
from singletable.errors import (
    ConsumerBusyError,
    ConsumerEndedError,
    ConsumerError,
    DatabaseClosedError,
    DatabaseError,
    NotLoggedError,
)
from singletable.errors.base import sentence_of
from singletable.limits import CONSUMER_NAME_LENGTH_MAX
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.consumers import LeaseLostError, register, select_consumer
from singletable.storage.log import select_end
from singletable.storage.streams import select_streams
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction
from singletable.wire.parameters import OperationContext, table_name

_TROUBLE_S: Final = 0.5  # until a database that cannot be read or written is tried again


class Consumer:
    """Runs a handler over the changes of a table. Made by `Database.consume`; at the end of a `with`, it stops."""

    def __init__(
        self,
        session: OperationContext,
        database: Any,
        table: str,
        handler: Callable[..., Any],
        name: str,
        options: ConsumerOptions,
        *,
        owner: str | None = None,
    ) -> None:
        if not 1 <= len(name) <= CONSUMER_NAME_LENGTH_MAX:
            raise ValueError(f"a consumer has a name of 1 to {CONSUMER_NAME_LENGTH_MAX} characters")
        checked = CheckedHandler(handler, partial(new_context, session, database, name))
        self.handler = handler
        self._store = session.store
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._moved = threading.Condition()
        self._running = threading.Lock()
        self._running_thread: int | None = None
        self._poll_s = options.poll_s
        self._pid = os.getpid()
        self._failure: BaseException | None = None
        self._trouble: Exception | None = None
        found = _register(session, table_name(table), name, options)
        self._runner = ConsumerRunner(
            session,
            found,
            name,
            checked,
            options,
            owner=owner or f"{os.getpid()}-{secrets.token_hex(6)}",
            wait=options.wait or self._stopping.wait,
            random=options.random or random.random,
            is_stopping=self._stopping.is_set,
        )
        self._thread: threading.Thread | None = None
        if options.background:
            self._store.listen(self._wake.set)
            thread_name = f"singletable consumer {name}"
            self._thread = threading.Thread(target=self._run, name=thread_name, daemon=True)
            self._thread.start()

    @property
    def table(self) -> str:
        return self._runner.table.name

    @property
    def name(self) -> str:
        return self._runner.name

    @property
    def is_running(self) -> bool:
        """Whether its thread is alive; without a thread, whether it can still be called."""
        return self._pid == os.getpid() and not self._is_over

    @property
    def failure(self) -> BaseException | None:
        """The error that ended it, if there was one."""
        return self._failure

    def __repr__(self) -> str:
        return f"<Consumer {self.name} of {self.table}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # --- what its user may ask for --------------------------------------------------------------

    def stop(self) -> None:
        """Let the handler finish what it was given, store the position, and end. Stopping twice does nothing."""
        if self._pid != os.getpid():
            return  # it goes on in the process that has made it
        self._stopping.set()
        self._wake.set()
        if self._running_thread == threading.get_ident():
            return  # called by the handler: it ends when that returns
        if self._thread is not None:
            self._thread.join()
        else:
            with self._running:
                self._runner.rest()

    def run_once(self) -> int:
        """Hand over one batch, in this thread. Return how far it has moved in the log: 0 if there was nothing."""
        self._check_foreground()
        with self._in_this_thread():
            before = self._stored_position()
            while self._step() is StepResult.MOVED:
                if self._position() != before:
                    break
            return self._position() - before

    def drain(self, timeout_s: float | None = None) -> None:
        """Return when everything that was committed before the call is handled; raise if that is impossible."""
        self._check_process()
        target = self._store.read(lambda execute, catalog: self._log_end(execute))
        if self._thread is None:
            self._check_foreground()
            with self._in_this_thread():
                self._drain_here(target)
        else:
            self._drain_there(target, self._store.clock, timeout_s)

    def status(self) -> ConsumerStatus:
        """Return its status: its position, and how far it is behind."""
        runner, clock = self._runner, self._store.clock
        status = self._store.read(
            lambda execute, catalog: read_status(
                execute, runner.table, self.name, clock, position=runner.position
            )
        )
        if status is None:
            raise self._ended()
        return status

    # --- in the caller's thread -----------------------------------------------------------------

    def _drain_here(self, target: int) -> None:
        while self._position() < target:
            self._check_not_over()
            self._step()

    def _step(self) -> StepResult:
        """Do one step; raise an error if another process holds the lease, or the consumer has ended."""
        try:
            step = self._runner.step()
        except LeaseLostError:
            self._runner.lose()
            step = StepResult.HELD_BY_ANOTHER
        except StoppedError:
            raise self._ended() from None
        if step is StepResult.HELD_BY_ANOTHER:
            raise ConsumerBusyError(
                f"another process or thread runs consumer {self.name!r} of table {self.table!r}",
                hint="stop it there, or wait until its lease is over; status() tells who holds it",
            )
        if step is StepResult.ENDED:
            raise self._ended()
        return step

    @contextlib.contextmanager
    def _in_this_thread(self) -> Iterator[None]:
        if not self._running.acquire(blocking=False):
            raise ConsumerBusyError(f"consumer {self.name!r} runs already, in another thread or in this one")
        self._running_thread = threading.get_ident()
        try:
            yield
        finally:
            self._runner.rest()
            self._running_thread = None
            self._running.release()

    # --- in its own thread ----------------------------------------------------------------------

    def _run(self) -> None:
        self._running_thread = threading.get_ident()
        try:
            while not self._stopping.is_set():
                self._wake.clear()
                step = self._step_or_wait()
                with self._moved:
                    self._moved.notify_all()
                if step is StepResult.ENDED:
                    return
                if step is not StepResult.MOVED:
                    self._wake.wait(self._poll_s)
        except (DatabaseClosedError, StoppedError):
            pass
        except BaseException as error:  # what on_missed raises; whoever drains is told
            self._failure = error
            logger.exception("consumer %r of table %r has ended", self.name, self.table)
        finally:
            self._store.listen_no_more(self._wake.set)
            self._stopping.set()
            self._runner.rest()
            with self._moved:
                self._moved.notify_all()

    def _step_or_wait(self) -> StepResult:
        try:
            step = self._runner.step()
        except LeaseLostError:
            self._runner.lose()
            return StepResult.HELD_BY_ANOTHER
        except DatabaseClosedError:
            raise
        except DatabaseError as error:
            # A full disk, a busy file. What was not stored is handed over again.
            if self._trouble is None:
                logger.warning("consumer %r of table %r waits: %s", self.name, self.table, sentence_of(error))
            self._trouble = error
            self._stopping.wait(_TROUBLE_S)
            return StepResult.IDLE
        self._trouble = None
        return step

    def _drain_there(self, target: int, clock: Clock, timeout_s: float | None) -> None:
        if self._running_thread == threading.get_ident():
            raise ConsumerBusyError("a handler cannot wait for its own consumer")
        started_us, waited_s = clock.elapsed_us(), 0.0
        self._wake.set()
        while self._position() < target:
            self._check_not_over()
            if self._trouble is not None:
                raise ConsumerError(
                    f"consumer {self.name!r} cannot go on: {sentence_of(self._trouble)}"
                ) from self._trouble
            passed_s = max(waited_s, (clock.elapsed_us() - started_us) / 1_000_000)
            if timeout_s is not None and passed_s >= timeout_s:
                raise ConsumerBusyError(f"consumer {self.name!r} is not done after {timeout_s} s")
            with self._moved:
                if not self._moved.wait(self._poll_s):
                    waited_s += self._poll_s  # by a clock that is moved by hand, no time passes

    # --- both -----------------------------------------------------------------------------------

    def _position(self) -> int:
        position = self._runner.position
        return self._stored_position() if position is None else position

    def _stored_position(self) -> int:
        def read(execute: Execute, catalog: Catalog) -> int:
            registered = select_consumer(execute, self._runner.table.id, self.name)
            if registered is None:
                raise self._ended()
            return registered.position

        return self._store.read(read)

    def _log_end(self, execute: Execute) -> int:
        if select_consumer(execute, self._runner.table.id, self.name) is None:
            raise self._ended()
        return select_end(execute, self._runner.table.id).seq

    @property
    def _is_over(self) -> bool:
        return self._stopping.is_set() or (self._thread is not None and not self._thread.is_alive())

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise ConsumerEndedError(
                "this consumer belongs to the process that was forked", hint="call db.consume in the child"
            )

    def _check_foreground(self) -> None:
        self._check_process()
        if self._thread is not None:
            raise ConsumerBusyError(
                f"consumer {self.name!r} runs in a thread of its own", hint="make it with background=False"
            )
        self._check_not_over()

    def _check_not_over(self) -> None:
        if self._is_over:
            raise self._ended() from self._failure

    def _ended(self) -> ConsumerEndedError:
        if self._failure is not None:
            return ConsumerEndedError(f"consumer {self.name!r} has failed: {sentence_of(self._failure)}")
        return ConsumerEndedError(
            f"consumer {self.name!r} of table {self.table!r} is not running: it was stopped, "
            "or what it reads is gone",
            hint="call db.consume again; it goes on from its position",
        )


def _register(session: OperationContext, name: str, consumer: str, options: ConsumerOptions) -> Table:
    """Store the consumer if it is new; return its table."""

    def work(transaction: Transaction) -> Table:
        if transaction.catalog.named(name) is None:
            left = _table_left_to(transaction.execute, name, consumer)
            if left is not None:
                return left
        table = require_table(transaction.catalog, name)
        if not table.logs_changes:
            enable = (
                f'db.update_table(TableName="{name}", StreamSpecification='
                '{"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})'
            )
            raise NotLoggedError(
                f"the changes of table {name!r} are not logged",
                hint=f"turn its stream on: {enable}",
            )
        hold_us = round(options.hold_s * 1_000_000)
        register(transaction, table.id, consumer, at_end=options.start == "LATEST", hold_us=hold_us)
        return table

    return session.store.write(work)


def _table_left_to(execute: Execute, name: str, consumer: str) -> Table | None:
    """Return a deleted table whose stream is still there, and which the consumer has not read to its end."""
    for stream in reversed(select_streams(execute, table_name=name)):
        if select_consumer(execute, stream.table_id, consumer) is not None:
            return stream.table
    return None
