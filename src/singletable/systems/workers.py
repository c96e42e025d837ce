"""Workers: pieces of work that are done again and again, each in a thread of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self

logger = logging.getLogger("singletable.workers")

_PAUSE_S_MAX: Final = 60.0


@dataclass(frozen=True, slots=True)
class Worker:
    """A piece of work, done again after so many seconds. It returns how much it has done, to be logged."""

    name: str
    every_s: float
    step: Callable[[], int]


class Workers:
    """Runs workers in the background. What fails is logged, and tried again after a pause that grows."""

    def __init__(self, workers: Iterable[Worker]) -> None:
        self._stop = Event()
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
        """Stop: steps that have begun are ended first."""
        self._stop.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _run(self, worker: Worker) -> None:
        pause_s = worker.every_s
        while not self._stop.is_set():
            try:
                done = worker.step()
            except Exception:
                pause_s = min(2 * pause_s, max(_PAUSE_S_MAX, worker.every_s))
                logger.exception("%s failed; again in %g s", worker.name, pause_s)
            else:
                pause_s = worker.every_s
                if done:
                    logger.info("%s: %d", worker.name, done)
            self._stop.wait(pause_s)
