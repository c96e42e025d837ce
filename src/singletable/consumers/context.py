"""The context that a handler gets beside its event."""

from __future__ import annotations

import uuid
from typing import Any, Final

from singletable.clock import Clock
from singletable.consumers.writes import Writes
from singletable.wire.arns import partition_of
from singletable.wire.parameters import OperationContext

_LAMBDA_S_MAX: Final = 15 * 60  # the longest that a Lambda function may run


class Context:
    """The context of one call of a handler: what AWS Lambda's has, and the database.

    Nothing ends a handler here. The time that remains is counted down from what AWS Lambda gives at most.
    """

    function_version: Final = "$LATEST"
    memory_limit_in_mb: Final = "128"
    identity: Final = None
    client_context: Final = None

    def __init__(
        self, session: OperationContext, database: Any, name: str, writes: Writes, *, request_id: str
    ) -> None:
        self.database = database
        """The Database that the consumer belongs to, for reading, and for writing at once."""
        self.transaction = writes
        """Writes that are committed together with the position, when the handler has returned."""
        self.function_name = name
        self.invoked_function_arn = (
            f"arn:{partition_of(session.region)}:lambda:{session.region}:{session.account}:function:{name}"
        )
        self.aws_request_id = request_id
        self.log_group_name = f"/aws/lambda/{name}"
        self.log_stream_name = self.aws_request_id
        self._clock: Clock = session.store.clock
        self._started_us = self._clock.elapsed_us()

    def get_remaining_time_in_millis(self) -> int:
        passed_us = self._clock.elapsed_us() - self._started_us
        return max(0, _LAMBDA_S_MAX * 1_000 - passed_us // 1_000)


def new_context(session: OperationContext, database: Any, name: str, writes: Writes) -> Context:
    """Make the context of one call, with an id of its own."""
    return Context(session, database, name, writes, request_id=str(uuid.uuid4()))
