"""A client over boto3: for AWS, and for every endpoint that speaks DynamoDB's protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from singletable.client.base import Answer, Client, Random, Sleep
from singletable.client.boto_answers import is_of_parser, is_unread, unwatch_answers, watch_answers
from singletable.client.boto_errors import RAISED, not_dynamodb, translated
from singletable.client.calls import Call, Steps
from singletable.client.capabilities import DYNAMODB, Capabilities, detect_capabilities
from singletable.client.connecting import PARALLEL_MAX, Connection, connect_endpoint, connect_region, is_aws
from singletable.clock import Clock
from singletable.errors import TargetError, UnknownOperationError, UnknownTargetError

T = TypeVar("T")

# To boto3, streams are a service of their own.
_STREAM_OPERATIONS: Final = frozenset({"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"})


class RemoteClient(Client):
    """Asks a boto3 client. What botocore raises becomes the errors of this package.

    What is no answer of DynamoDB's is an error, also where botocore would take it for one.

    boto3 knows no async: in `arun`, every call runs in one of a few threads, and so do calls that may run at once.
    A call whose task is cancelled is carried out all the same.

    Without capabilities, they are found out once, when somebody asks for them.
    """

    def __init__(
        self,
        boto_client: Any,
        *,
        endpoint: str,
        capabilities: Capabilities | None,
        clock: Clock,
        make_streams_client: Callable[[], Any] | None = None,
        owns: bool = False,
        is_trusted: bool = False,
        sleep: Sleep | None = None,
        random: Random | None = None,
    ) -> None:
        super().__init__(clock, sleep, random)
        self.boto_client = boto_client
        self.endpoint = endpoint
        self._capabilities = capabilities
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
        if operation not in _STREAM_OPERATIONS:
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


def open_region(
    region: str,
    profile: str | None,
    *,
    clock: Clock,
    capabilities: Capabilities | None = None,
    sleep: Sleep | None = None,
    random: Random | None = None,
) -> RemoteClient:
    """Open a region of AWS, with the credentials that boto3 finds."""
    name = f"dynamodb://{region}"
    connect = partial(connect_region, region, profile)
    return _connected(
        connect, name, clock, capabilities or DYNAMODB, is_trusted=True, sleep=sleep, random=random
    )


def open_endpoint(
    url: str,
    *,
    clock: Clock,
    capabilities: Capabilities | None = None,
    sleep: Sleep | None = None,
    random: Random | None = None,
) -> RemoteClient:
    """Open an endpoint that speaks DynamoDB's protocol."""
    is_trusted = is_aws(url)
    if capabilities is None and is_trusted:
        capabilities = DYNAMODB
    connect = partial(connect_endpoint, url)
    return _connected(connect, url, clock, capabilities, is_trusted=is_trusted, sleep=sleep, random=random)


def adopt(
    boto_client: Any,
    *,
    clock: Clock,
    capabilities: Capabilities | None = None,
    sleep: Sleep | None = None,
    random: Random | None = None,
) -> RemoteClient:
    """Use a boto3 client that somebody else has made, and closes."""
    meta = getattr(boto_client, "meta", None)
    model = getattr(meta, "service_model", None)
    if getattr(model, "service_name", None) != "dynamodb":
        raise UnknownTargetError(
            f"{boto_client!r} is no boto3 client for DynamoDB",
            hint='pass boto3.client("dynamodb"); a resource or its client translates values, and will not do',
        )
    endpoint = boto_client.meta.endpoint_url
    is_trusted = is_aws(endpoint)
    if capabilities is None and is_trusted:
        capabilities = DYNAMODB
    return RemoteClient(
        boto_client,
        endpoint=endpoint,
        capabilities=capabilities,
        clock=clock,
        is_trusted=is_trusted,
        sleep=sleep,
        random=random,
    )


def _connected(
    connect: Callable[[], Connection],
    name: str,
    clock: Clock,
    capabilities: Capabilities | None,
    *,
    is_trusted: bool,
    sleep: Sleep | None,
    random: Random | None,
) -> RemoteClient:
    try:
        connection = connect()
        boto_client = connection.client("dynamodb")
    except RAISED as error:
        raise translated(error, name) from error
    return RemoteClient(
        boto_client,
        endpoint=name,
        capabilities=capabilities,
        clock=clock,
        make_streams_client=lambda: connection.client("dynamodbstreams"),
        owns=True,
        is_trusted=is_trusted,
        sleep=sleep,
        random=random,
    )


def _methods(boto_client: Any) -> dict[str, Callable[..., Any]]:
    names: Mapping[str, str] = boto_client.meta.method_to_api_mapping
    return {operation: getattr(boto_client, name) for name, operation in names.items()}
