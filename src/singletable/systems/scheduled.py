"""Workers of a system as an AWS Lambda function: EventBridge Scheduler invokes it, and it carries out steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

from singletable.design.streams.consume import function_region
from singletable.errors import DeclarationError
from singletable.systems.system import System
from singletable.systems.workers import Worker

# A step is short. With less than this left, the next one waits for the next schedule.
_LEFT_MS_MIN: Final = 10_000


def scheduled_handler(
    system: System,
    *,
    target: Any = None,
    prepare: Callable[[Any], object] | None = None,
    **options: Any,
) -> Callable[[Mapping[str, Any], Any], dict[str, int]]:
    """Return the function that AWS Lambda runs for the workers of a system.

    An event names the worker: {"worker": "kefir-dispatcher"}. The design is opened at the first event, in the
    region of the function, and `prepare` is called with it. The options are those of `open`.
    """
    lock = Lock()
    workers: dict[str, Worker] = {}

    def open_workers() -> None:
        design = system.design.open(function_region() if target is None else target, **options)
        try:
            if prepare is not None:
                prepare(design)
            workers.update({each.name: each.worker(design) for each in system.scheduled})
        except BaseException:
            design.close()
            raise

    def handle(event: Mapping[str, Any], context: Any) -> dict[str, int]:
        with lock:
            if not workers:
                open_workers()
        worker = workers.get(event["worker"])
        if worker is None:
            raise DeclarationError(
                f"{system.name} has no scheduled worker {event['worker']!r}",
                hint=f"workers: {', '.join(sorted(workers))}",
            )
        done = 0
        while True:
            step = worker.run_step()
            done += step.done
            if not step.more or context.get_remaining_time_in_millis() < _LEFT_MS_MIN:
                return {"done": done}

    return handle
