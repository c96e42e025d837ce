"""Workers: pieces of work that are done again and again, each in a thread of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event, Thread, current_thread
from types import TracebackType
from typing import Any, Final, Self

logger = logging.getLogger("singletable.workers")

# After a failure, also of a worker without pauses.
_PAUSE_S_MIN: Final = 1.0
_PAUSE_S_MAX: Final = 60.0


@dataclass(frozen=True, slots=True)
class Step:
    """How much a step has done, to be logged, and whether it has left more: then the next one follows at once."""

    done: int
    more: bool = False


@dataclass(frozen=True, slots=True)
class Worker:
    """A piece of work that is repeated after so many seconds. Stopping waits for a step, so steps are short.

    It returns how much it has done, or a `Step` if it has more to say.
    """

    name: str
    every_s: float
    step: Callable[[], int | Step]

    def run_step(self) -> Step:
        """Carry out a step."""
        result = self.step()
        return result if isinstance(result, Step) else Step(result)


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A worker that runs on AWS: a schedule starts it every so many minutes, and it carries out all its steps.

    EventBridge Scheduler knows no seconds. `worker` makes it for an open design, with what it uses there.
    """

    name: str
    every_minutes: int
    worker: Callable[[Any], Worker]
    about: str = ""


class Workers:
    """Runs workers in the background. A failed step is logged, and retried with exponential back-off."""

    def __init__(self, workers: Iterable[Worker], *, wait: Callable[[float], object] | None = None) -> None:
        self._stop = Event()
        self._wait = wait or self._stop.wait
        self._threads = [
            Thread(target=self._run, args=(worker,), name=f"singletable-{worker.name}", daemon=True)
            for worker in workers
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop: steps that have begun are ended first. Called by a step, it does not wait for that one."""
        self._stop.set()
        for thread in self._threads:
            if thread.ident is not None and thread is not current_thread():
                thread.join()

    def _run(self, worker: Worker) -> None:
        pause_s = worker.every_s
        while not self._stop.is_set():
            try:
                step = worker.run_step()
            except Exception:
                pause_s = min(max(2 * pause_s, _PAUSE_S_MIN), max(_PAUSE_S_MAX, worker.every_s))
                logger.exception("%s failed; again in %g s", worker.name, pause_s)
            else:
                pause_s = worker.every_s
                if step.done:
                    logger.info("%s: %d", worker.name, step.done)
                if step.more:
                    continue
            self._wait(pause_s)
