"""Run the vectors against another engine, which may answer anything, fail, or not answer at all."""

from __future__ import annotations

import time
import urllib.error
import uuid
from collections.abc import Iterable
from http.client import HTTPException
from typing import Any

from botocore.credentials import Credentials

from golden.vectors.catalogue import all_vectors
from golden.vectors.running import POLL_S, Runner, UnpreparedError
from golden.vectors.transports import HttpTransport, Reply
from golden.vectors.vector import Vector

NAMELESS = "arn:aws:dynamodb:us-east-1:000000000000:table/None"
VECTOR_S_MAX = 20.0  # an engine that needs longer, such as one whose table stays UPDATING, does not answer


class ImpatientTransport(HttpTransport):
    """Over HTTP, until the time of a vector is over."""

    def __init__(self, url: str) -> None:
        # DynamoDB Local keeps a database for each access key, so a fresh key is a fresh database.
        super().__init__(url, Credentials(uuid.uuid4().hex[:20], "unused"), "us-east-1")
        self.deadline_s = 0.0

    def send(self, operation: str, request: dict[str, Any]) -> Reply:
        if time.monotonic() > self.deadline_s:
            raise TimeoutError(f"{operation} would come after {VECTOR_S_MAX:.0f} s")
        return super().send(operation, request)


class UnansweredError(Exception):
    """The engine did not answer: it is dead, or slower than a vector may take."""


class PeerRunner:
    """Vectors against another engine. After a failure it begins anew, so that one does not cause others."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._begin()

    def run(self, vector: Vector) -> list[str]:
        """Return what differs; a failure of the engine is a difference too."""
        try:
            return self._attempt(vector)
        except UnansweredError:
            # The vector before may have killed the engine: this one must not be blamed for it.
            self._begin()
        try:
            return self._attempt(vector)
        except UnansweredError as error:
            self._begin()
            return [f"no answer: {error}"]

    def _attempt(self, vector: Vector) -> list[str]:
        self._transport.deadline_s = time.monotonic() + VECTOR_S_MAX
        try:
            found = self._runner.run(vector)
            if any(line.startswith("accepted instead") for line in found):
                self._begin()  # what the engine has made must not be in the way of the next vector
            return found
        except UnpreparedError as error:
            lines = [f"not even prepared: {error}"]
        # A broken answer breaks the runner in as many ways as there are members in it.
        except (HTTPException, ValueError, LookupError, TypeError, AttributeError) as error:
            lines = [f"a broken answer: {type(error).__name__}: {error}"]
        except OSError as error:
            raise UnansweredError(error) from error
        self._begin()
        return lines

    def _begin(self) -> None:
        self._transport = ImpatientTransport(self._url)
        self._transport.deadline_s = time.monotonic() + VECTOR_S_MAX
        self._runner = Runner(self._transport)
        while names := self._table_names():
            for name in names:
                self._delete(name)

    def _table_names(self) -> list[str | None]:
        """List the tables; an engine that a request has killed is started again, which takes a moment."""
        while True:
            try:
                names: list[str | None] = self._transport.send("ListTables", {}).body["TableNames"]
                return names
            except ConnectionError:
                time.sleep(POLL_S)
            except urllib.error.URLError as error:
                if not isinstance(error.reason, ConnectionError):
                    raise
                time.sleep(POLL_S)

    def _delete(self, name: str | None) -> None:
        # moto makes tables without a name, which only an ARN can name.
        named = {"TableName": NAMELESS if name is None else name}
        self._transport.send("UpdateTable", {**named, "DeletionProtectionEnabled": False})
        self._transport.send("DeleteTable", named)


def differing(url: str, names: Iterable[str]) -> dict[str, list[str]]:
    """Return what an engine answers otherwise, by the name of the vector."""
    runner = PeerRunner(url)
    found = {name: runner.run(all_vectors()[name]) for name in names}
    return {name: lines for name, lines in found.items() if lines}
