"""A success that is not DynamoDB's, as the page of a proxy, is an error for every call; an honest one for none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

import boto3
import pytest

from designs.recipes import Recipe, Recipes
from singletable import Database
from singletable.client import EMBEDDED, Call, open_client
from singletable.client.remote import RemoteClient
from singletable.errors import NotDynamoDbError
from singletable.server import BackgroundServer
from support.sample_tables import create_plain
from support.targets import no_aws_settings

AMZ: Final = "application/x-amz-json-1.0"
STREAMS: Final = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
OF_ITEMS: Final = (
    "BatchGetItem",
    "BatchWriteItem",
    "DeleteItem",
    "GetItem",
    "GetRecords",
    "PutItem",
    "Query",
    "Scan",
    "TransactGetItems",
    "TransactWriteItems",
    "UpdateItem",
)


@dataclass(frozen=True)
class Page:
    """What an endpoint answers to everything."""

    body: bytes = b""
    kind: str | None = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


FOREIGN: Final = {
    "page": Page(b"<!doctype html><title>Log in</title>", "text/html; charset=utf-8"),
    "page-of-no-type": Page(b"<html>please pay</html>"),
    "latin-1": Page("<html>Åtkomst nekad</html>".encode("latin-1"), "text/html"),
    "nothing": Page(),
    "nothing-of-a-type": Page(b"", "application/json"),
    "no-content": Page(status=204),
    "accepted": Page(b"", "text/plain", status=202),
    "empty-object": Page(b"{}", "application/json"),
    "object": Page(b'{"status": "ok"}', "application/json; charset=utf-8"),
    "list": Page(b"[]", "application/json"),
    "login": Page(b"<html>moved</html>", "text/html", status=302, headers=(("Location", "/login"),)),
    "list-in-a-refusal": Page(b"[1]", "application/json", status=403),
    "text-in-a-refusal": Page("nekad: å".encode("latin-1"), "text/plain", status=403),
}
# With the right headers, and no answer to any operation.
NO_ANSWERS: Final = {
    "nothing": Page(b"", AMZ),
    "list": Page(b"[]", AMZ),
    "null": Page(b"null", AMZ),
    "text": Page(b'"ok"', AMZ),
    "number": Page(b"17", AMZ),
    "cut-off": Page(b'{"Item": {"PK": {"S": "a"}', AMZ),
    "members-of-nobody": Page(b'{"status": "ok"}', AMZ),
    "refusal": Page(b'{"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError"}', AMZ),
    "page": Page(b"<html></html>", "text/html", headers=(("x-amzn-RequestId", "1"),)),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet: the second of two would wait for an acknowledgement
    page: Page

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        page = self.page
        self.send_response(page.status)
        if page.kind is not None:
            self.send_header("Content-Type", page.kind)
        for name, value in page.headers:
            self.send_header(name, value)
        if page.status != 204:
            self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        self.wfile.write(page.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class Endpoint:
    """An HTTP server that answers everything with one page."""

    def __init__(self, url: str, handler: type[Handler]) -> None:
        self.url = url
        self._handler = handler

    def show(self, page: Page) -> None:
        self._handler.page = page


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    class Shown(Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Shown) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Endpoint(f"http://127.0.0.1:{server.server_address[1]}", Shown)
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def client(endpoint: Endpoint) -> Iterator[RemoteClient]:
    with (
        no_aws_settings(AWS_MAX_ATTEMPTS="1"),
        open_client(endpoint.url, capabilities=EMBEDDED) as client,
    ):
        assert isinstance(client, RemoteClient)
        yield client


def operations(client: RemoteClient) -> list[str]:
    """Every operation of both services, whether this package uses it or not."""
    return sorted([*client.boto_client.meta.method_to_api_mapping.values(), *STREAMS])


def outcome(client: RemoteClient, operation: str, *, is_async: bool = False) -> str:
    """Tell what becomes of a call: the error's class, or what it answers."""
    try:
        return repr(asyncio.run(client.acall(operation, {})) if is_async else client.call(operation, {}))
    except Exception as error:
        return type(error).__name__


# --- foreign answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_no_answer_of_dynamodb_is_an_error_for_every_operation(
    kind: str, endpoint: Endpoint, client: RemoteClient
) -> None:
    endpoint.show(FOREIGN[kind])
    asked = operations(client)
    assert len(asked) > 50
    assert {operation: outcome(client, operation) for operation in asked} == dict.fromkeys(
        asked, "NotDynamoDbError"
    )


@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_what_is_no_answer_to_the_operation_is_an_error_whatever_its_headers(
    kind: str, endpoint: Endpoint, client: RemoteClient
) -> None:
    endpoint.show(NO_ANSWERS[kind])
    assert {operation: outcome(client, operation) for operation in OF_ITEMS} == dict.fromkeys(
        OF_ITEMS, "NotDynamoDbError"
    )


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("GetItem", b'{"Item": []}'),
        ("GetItem", b'{"Item": {"PK": "a"}}'),
        ("Query", b'{"Items": "none", "Count": 0}'),
        ("Query", b'{"Items": [17], "Count": 1}'),
        ("Query", b"{}"),
        ("ListTables", b'{"TableNames": "plain"}'),
        ("DescribeTable", b"{}"),
        ("DescribeTable", b'{"Table": {"CreationDateTime": "yesterday"}}'),
        ("BatchWriteItem", b"{}"),
        ("GetRecords", b'{"Records": {}}'),
        pytest.param("GetItem", b'{"Item": {"a": {"S": "' + b"x" * 5000 + b"}}}", id="long-and-damaged"),
        pytest.param("GetItem", b'{"Items": "' + b"x" * 5000 + b'"}', id="long-and-of-nobody"),
        pytest.param("Query", b'{"Items": "' + b"x" * 5000 + b'"}', id="long-and-of-another-shape"),
    ],
)
def test_answer_of_another_shape_is_an_error(
    operation: str, body: bytes, endpoint: Endpoint, client: RemoteClient
) -> None:
    endpoint.show(Page(body, AMZ))
    assert outcome(client, operation) == "NotDynamoDbError"


def test_async_calls_and_calls_together_meet_the_same_error(endpoint: Endpoint, client: RemoteClient) -> None:
    endpoint.show(FOREIGN["page"])
    for operation in ("PutItem", "GetItem", "Query", "GetRecords"):
        assert outcome(client, operation, is_async=True) == "NotDynamoDbError"
    calls = [Call("PutItem", {}), Call("PutItem", {})]
    with pytest.raises(NotDynamoDbError):
        client.call_together(calls)
    with pytest.raises(NotDynamoDbError):
        asyncio.run(client.acall_together(calls))


def test_error_says_what_came_and_looks_for_a_proxy(endpoint: Endpoint, client: RemoteClient) -> None:
    endpoint.show(FOREIGN["page"])
    with pytest.raises(NotDynamoDbError) as caught:
        client.call("PutItem", {})
    assert caught.value.message == (
        f"What answers at {endpoint.url} does not speak DynamoDB's protocol: it answered PutItem with 200, "
        "text/html; charset=utf-8"
    )
    assert "whether a proxy or a login page stands in between" in caught.value.hint


def test_write_of_a_design_is_not_taken_for_done(endpoint: Endpoint) -> None:
    endpoint.show(FOREIGN["page"])
    with no_aws_settings(AWS_MAX_ATTEMPTS="1"), Recipes.open(endpoint.url, capabilities=EMBEDDED) as db:
        with pytest.raises(NotDynamoDbError):
            db.create(Recipe(recipe_id="r", title="Bread", cuisine="French"))
        with pytest.raises(NotDynamoDbError):
            db.create_table()


# --- honest answers ---------------------------------------------------------------------------------------

REQUEST_ID: Final = (("x-amzn-RequestId", "4KQNSO5AEMVJF66Q9ASUAAJG"),)


@pytest.mark.parametrize(
    ("operation", "page", "answer"),
    [
        pytest.param("PutItem", Page(b"{}", AMZ, headers=REQUEST_ID), {}, id="amazon"),
        pytest.param("GetItem", Page(b"{}", AMZ), {}, id="alternator"),
        pytest.param("GetItem", Page(b' {"Item": {}}\n', f"{AMZ}; charset=utf-8"), {"Item": {}}, id="spaces"),
        pytest.param("Query", Page(b'{"Count":0,"ScannedCount":0}', AMZ), None, id="count"),
        pytest.param("GetItem", Page(b'{"New":1,"Item":{}}', AMZ), {"Item": {}}, id="a-newer-amazon"),
        pytest.param("GetItem", Page(b'{"Item":null}', AMZ), {}, id="null-member"),
        pytest.param("GetItem", Page(b'{"Item":{"a":{"S":"\\ud800"}}}', AMZ), None, id="half-a-pair"),
        pytest.param("PutItem", Page(b"{}", "application/json", headers=REQUEST_ID), {}, id="another-type"),
        pytest.param(
            "GetItem", Page(b'{"New":"' + b"x" * 5000 + b'","Item":{}}', AMZ), {"Item": {}}, id="long"
        ),
        pytest.param("TagResource", Page(b"", headers=REQUEST_ID), {}, id="no-body"),
        pytest.param("UntagResource", Page(b'""', AMZ), {}, id="dynalite"),
        pytest.param("GetRecords", Page(b'{"Records":[]}', AMZ), {"Records": []}, id="streams"),
    ],
)
def test_answer_of_an_honest_engine_is_taken(
    operation: str, page: Page, answer: dict[str, Any] | None, endpoint: Endpoint, client: RemoteClient
) -> None:
    endpoint.show(page)
    assert client.call(operation, {}) == answer or answer is None


# --- a boto3 client of somebody else ----------------------------------------------------------------------


def test_boto3_client_of_somebody_else_is_watched_while_it_is_used(endpoint: Endpoint) -> None:
    endpoint.show(FOREIGN["page"])
    with no_aws_settings(AWS_MAX_ATTEMPTS="1"):
        boto_client = boto3.client(
            "dynamodb",
            endpoint_url=endpoint.url,
            region_name="eu-north-1",
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )
    put: dict[str, Any] = {"TableName": "plain", "Item": {"id": {"S": "a"}}}
    with open_client(boto_client) as first:
        with open_client(boto_client) as second, pytest.raises(NotDynamoDbError):
            second.call("PutItem", put)
        with pytest.raises(NotDynamoDbError):
            first.call("PutItem", put)
    # Afterwards it is as it was: botocore takes the page for an answer.
    assert boto_client.put_item(**put)["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_boto3_client_in_the_process_is_as_good_as_before() -> None:
    with Database.open(":memory:") as database:
        create_plain(database)
        with open_client(database.client()) as client:
            assert client.call("GetItem", {"TableName": "plain", "Key": {"id": {"S": "a"}}}) == {}
        with BackgroundServer(database) as address, no_aws_settings(), open_client(address.url) as client:
            assert client.call("ListTables", {}) == {"TableNames": ["plain"]}
