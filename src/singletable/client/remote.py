"""A client over boto3: for AWS, and for every endpoint that speaks DynamoDB's protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from singletable.client.base import Client, ClientSettings
from singletable.client.boto_answers import is_of_parser, is_unread, unwatch_answers, watch_answers
from singletable.client.boto_errors import RAISED, not_dynamodb, translated
from singletable.client.calls import Answer, Call, Steps
from singletable.client.capabilities import DYNAMODB, Capabilities, detect_capabilities
from singletable.client.connecting import (
    PARALLEL_MAX,
    BotoConnection,
    connect_endpoint,
    connect_region,
    is_aws,
)
from singletable.clock import SystemClock
from singletable.errors import TargetError, UnknownOperationError, UnknownTargetError
from singletable.operations import STREAM_OPERATIONS

T = TypeVar("T")


class RemoteClient(Client):
    """Calls a boto3 client. Errors of botocore become errors of this package.

    A response that is not DynamoDB's is an error, even if botocore would accept it.

    boto3 has no async: in `arun`, every call runs in one of a few threads, and so do calls that may run at once.
    If its task is cancelled, a call is carried out nevertheless.

    Capabilities that are not given are detected once, at their first use.
    """

    def __init__(
        self,
        boto_client: Any,
        *,
        endpoint: str,
        settings: ClientSettings,
        is_trusted: bool,
        make_streams_client: Callable[[], Any] | None = None,
        owns: bool = False,
    ) -> None:
        super().__init__(settings.clock or SystemClock(), settings.sleep, settings.random)
        self.boto_client = boto_client
        self.endpoint = endpoint
        self._capabilities = settings.capabilities or (DYNAMODB if is_trusted else None)
        self._make_streams_client = make_streams_client
        self._streams_client: Any = None
        self._owns = owns
        self._is_trusted = is_trusted
        watch_answers(boto_client)
        self._methods = _methods(boto_client)
        self._is_closed = False
        self._threads = ThreadPoolExecutor(PARALLEL_MAX, thread_name_prefix="singletable-client")

    @property
    def capabilities(self) -> Capabilities:
        if self._capabilities is None:
            detecting = detect_capabilities(streams=self._make_streams_client is not None)
            self._capabilities = self.run(detecting)
        return self._capabilities

    @property
    def is_trusted(self) -> bool:
        return self._is_trusted

    def lacks(self, feature: str) -> None:
        self._capabilities = self.capabilities.without(feature)

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        method = self._methods.get(operation) or self._stream_method(operation)
        try:
            answer: Answer = method(**params)
        except RAISED as error:
            raise translated(error, self.endpoint) from error
        except Exception as error:
            if not is_of_parser(error):
                raise
            raise not_dynamodb(self.endpoint, f"its answer to {operation} cannot be read") from error
        metadata = answer.pop("ResponseMetadata", None)
        if not answer and metadata and is_unread(metadata):
            raise not_dynamodb(self.endpoint, f"its answer to {operation} cannot be read")
        return answer

    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        return await self._in_thread(lambda: self.call(operation, params))

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        if len(calls) == 1:
            return [self.call(calls[0].operation, calls[0].params)]
        running = [self._threads.submit(self.call, call.operation, call.params) for call in calls]
        try:
            return [each.result() for each in running]
        finally:
            for each in running:
                each.cancel()

    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        running = [asyncio.ensure_future(self.acall(call.operation, call.params)) for call in calls]
        answers = await asyncio.gather(*running, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return [answer for answer in answers if not isinstance(answer, BaseException)]

    async def arun(self, steps: Steps[T]) -> T:
        """Go through steps to their end without holding up the event loop: every call runs in a thread."""
        if self._capabilities is None:  # the steps may ask for them, and would hold up the loop
            await self._in_thread(lambda: self.capabilities)
        return await super().arun(steps)

    def close(self) -> None:
        if not self._is_closed:
            unwatch_answers(self.boto_client)
        self._is_closed = True
        self._methods = {}
        self._threads.shutdown()
        if self._owns:
            self.boto_client.close()
        if self._streams_client is not None:
            self._streams_client.close()

    def __repr__(self) -> str:
        return f"<RemoteClient {self.endpoint}>"

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _stream_method(self, operation: str) -> Callable[..., Any]:
        if self._is_closed:
            raise TargetError(f"the client of {self.endpoint} was closed", hint="open the design again")
        if operation not in STREAM_OPERATIONS:  # to boto3, a service of their own
            raise UnknownOperationError(f"boto3 knows no operation {operation!r} of DynamoDB")
        if self._make_streams_client is None:
            raise TargetError(
                "The boto3 client that was given cannot read streams",
                hint='open "dynamodb://REGION" or the URL of the endpoint instead of a client',
            )
        self._streams_client = self._make_streams_client()
        watch_answers(self._streams_client)
        self._methods = {**_methods(self._streams_client), **self._methods}
        return self._methods[operation]


# --- making one -----------------------------------------------------------------------------------------


def open_region(region: str, profile: str | None, settings: ClientSettings) -> RemoteClient:
    """Open a region of AWS, with the credentials that boto3 finds."""
    connect = partial(connect_region, region, profile)
    return _connected(connect, f"dynamodb://{region}", settings, is_trusted=True)


def open_endpoint(url: str, settings: ClientSettings) -> RemoteClient:
    """Open an endpoint that speaks DynamoDB's protocol."""
    return _connected(partial(connect_endpoint, url), url, settings, is_trusted=is_aws(url))


def adopt(boto_client: Any, settings: ClientSettings) -> RemoteClient:
    """Use an existing boto3 client, which its owner closes."""
    meta = getattr(boto_client, "meta", None)
    model = getattr(meta, "service_model", None)
    if getattr(model, "service_name", None) != "dynamodb":
        raise UnknownTargetError(
            f"{boto_client!r} is no boto3 client for DynamoDB",
            hint='pass boto3.client("dynamodb"); a resource or its client translates values, and will not do',
        )
    endpoint = boto_client.meta.endpoint_url
    return RemoteClient(boto_client, endpoint=endpoint, settings=settings, is_trusted=is_aws(endpoint))


def _connected(
    connect: Callable[[], BotoConnection], name: str, settings: ClientSettings, *, is_trusted: bool
) -> RemoteClient:
    try:
        connection = connect()
        boto_client = connection.client("dynamodb")
    except RAISED as error:
        raise translated(error, name) from error
    return RemoteClient(
        boto_client,
        endpoint=name,
        settings=settings,
        is_trusted=is_trusted,
        make_streams_client=lambda: connection.client("dynamodbstreams"),
        owns=True,
    )


def _methods(boto_client: Any) -> dict[str, Callable[..., Any]]:
    names: Mapping[str, str] = boto_client.meta.method_to_api_mapping
    return {operation: getattr(boto_client, name) for name, operation in names.items()}
