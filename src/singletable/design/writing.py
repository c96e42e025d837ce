"""Carries out writes where a design is open, one by one."""

from __future__ import annotations

from typing import Any

from singletable.client.calls import Steps
from singletable.design.cascading import delete_steps
from singletable.design.committing import request_steps, write
from singletable.design.pages import Written
from singletable.design.session import Session
from singletable.design.writes import Delete


class Writer:
    """Runs writes on a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def write(self, wanted: Any) -> Written[Any]:
        """Carry out a write."""
        return Written(*self._session.run(self._steps(wanted)))

    async def awrite(self, wanted: Any) -> Written[Any]:
        """Carry out a write, without holding up the event loop."""
        return Written(*await self._session.arun(self._steps(wanted)))

    def request(self, wanted: Any) -> Any:
        """Return the exact request of a write."""
        return self._session.run(request_steps(self._session, wanted))

    def _steps(self, wanted: Any) -> Steps[tuple[Any, float]]:
        if isinstance(wanted, Delete):
            return delete_steps(self._session, wanted, None)
        return write(self._session, wanted)
