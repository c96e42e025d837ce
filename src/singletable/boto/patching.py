"""Answering clients that other code builds: while a patch is in force, botocore's sessions build ours.

A client stays with the patch that it was built in. When that one has ended, it is answered by the patch in
force (so that a client which a program keeps for good serves one test after the other), and where there is none
it raises an error. It never reaches a network.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from types import TracebackType
from typing import Any, Final, Generic, TypeVar

from botocore.session import Session as BotocoreSession

from singletable.boto.answering import Answers
from singletable.boto.sessions import ANY_CREDENTIALS, CONFIG, PrivateSession, lock_across_forks
from singletable.errors import DatabaseClosedError
from singletable.wire.parameters import OperationContext

_SERVICES: Final = frozenset(("dynamodb", "dynamodbstreams"))

Patched = TypeVar("Patched")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_active: tuple[Patch[Any], ...] = ()  # replaced, never changed: read without the lock
_changing = lock_across_forks()


class Patch(Generic[Patched]):
    """A block, or a function, in which clients for DynamoDB that anybody builds are answered by a database."""

    def __init__(self, database: Patched, session: OperationContext) -> None:
        self._database = database
        self._session = session
        self._answers = Answers(self._find_session)

    def __enter__(self) -> Patched:
        global _active
        with _changing:
            if not _active:
                _install()
            _active = (*_active, self)
        return self._database

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _active
        with _changing:
            # Blocks of several threads may end in any order; one patch may be entered more than once.
            last = len(_active) - 1 - _active[::-1].index(self)
            _active = _active[:last] + _active[last + 1 :]
            if not _active:
                _uninstall()

    def __call__(self, function: Decorated) -> Decorated:
        """Decorate a function of any kind: the patch is in force while its body runs."""
        if inspect.isclass(function):
            raise TypeError("patch decorates functions; for a class of tests, use the block in a fixture")
        return functools.wraps(function)(self._inside(function))  # type: ignore[return-value]  # of one signature

    def _inside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function):

            async def coroutine(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await function(*args, **kwargs)

            return coroutine
        if inspect.isgeneratorfunction(function):

            def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
                with self:
                    return (yield from function(*args, **kwargs))

            return generator
        if inspect.isasyncgenfunction(function):

            async def asynchronous_generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
                with self:
                    async for value in function(*args, **kwargs):
                        yield value

            return asynchronous_generator

        def plain(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return plain

    def _prepare(self, session: Any, arguments: dict[str, Any]) -> None:
        """Fill in what a client cannot be built without, and nobody would ask for here."""
        if arguments.get("aws_access_key_id") is None and arguments.get("aws_secret_access_key") is None:
            arguments.update(ANY_CREDENTIALS)  # and none are looked for, in files or on the network
        config = arguments.get("config")
        arguments["config"] = CONFIG if config is None else CONFIG.merge(config)
        if (
            arguments.get("region_name") is None
            and (config is None or config.region_name is None)
            and session.get_config_variable("region") is None
        ):
            arguments["region_name"] = self._session.region

    def _find_session(self) -> OperationContext:
        active = _active
        if self in active:
            return self._session
        if active:
            return active[-1]._session
        raise DatabaseClosedError(
            "this client was built inside singletable.patch, and that block has ended",
            hint="use it inside the block, or build it where no patch is in force",
        )


# --- botocore --------------------------------------------------------------------------------------------

# Those of Session.create_client behind the name of the service. A wrapper of somebody else may hide them.
_PARAMETERS: Final = (
    *("region_name", "api_version", "use_ssl", "verify", "endpoint_url"),
    *("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "config", "aws_account_id"),
)

_installed: tuple[Callable[..., Any], Callable[..., Any]] | None = None  # ours, and what it stands before


def _install() -> None:
    """Stand before the method that builds every client: also those of boto3, and of sessions made earlier."""
    global _installed
    original: Callable[..., Any] = BotocoreSession.create_client

    @functools.wraps(original)
    def create_client(session: Any, service_name: str, *args: Any, **kwargs: Any) -> Any:
        active = _active
        is_current = _installed is not None and _installed[0] is create_client
        if not (is_current and active and service_name in _SERVICES) or isinstance(session, PrivateSession):
            return original(session, service_name, *args, **kwargs)
        arguments = {**dict(zip(_PARAMETERS, args, strict=False)), **kwargs}
        active[-1]._prepare(session, arguments)
        client = original(session, service_name, **arguments)
        active[-1]._answers.attach(client)
        return client

    _installed = create_client, original
    BotocoreSession.create_client = create_client


def _uninstall() -> None:
    global _installed
    assert _installed is not None
    ours, original = _installed
    _installed = None
    # Somebody may have put a wrapper around ours meanwhile: that stays, and ours only passes calls on.
    if BotocoreSession.create_client is ours:
        BotocoreSession.create_client = original
