"""Consumers: a handler that is run over the changes of a table, in their order, from a stored position.

The handler takes the event that AWS Lambda passes, so that the same function can be deployed there. The handlers
of a design are given changes without an event. `storage` keeps positions and dead letters; nothing here knows SQL.
"""

from __future__ import annotations

from singletable.consumers.consumer import Consumer
from singletable.consumers.context import Context
from singletable.consumers.options import ConsumerOptions
from singletable.consumers.states import ConsumerStatus, DeadLetter, Missed, Redriven

__all__ = ["Consumer", "ConsumerOptions", "ConsumerStatus", "Context", "DeadLetter", "Missed", "Redriven"]
