"""`singletable.patch`: which clients it answers, from which database, and until when."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import NoCredentialsError, PartialCredentialsError

import singletable
from singletable import Database
from singletable.boto.patching import _PARAMETERS
from singletable.errors import DatabaseClosedError
from support.serving import TIMEOUT_S

HASH: dict[str, Any] = {
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No region, no credentials, and a default session that was not made yet."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # an s3 client would wait for it
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)


@pytest.fixture
def one() -> Iterator[Database]:
    yield from with_table("one")


@pytest.fixture
def two() -> Iterator[Database]:
    yield from with_table("two")


def with_table(name: str) -> Iterator[Database]:
    """A database that is known by the name of its only table."""
    with Database.open(":memory:") as database:
        database.create_table(TableName=name, **HASH)
        yield database


def tables(client: Any) -> list[str]:
    names: list[str] = client.list_tables()["TableNames"]
    return names


# --- which clients ------------------------------------------------------------------------------------------


def test_client_without_region_and_credentials_is_answered(one: Database) -> None:
    with singletable.patch(one) as patched:
        assert patched is one
        client = boto3.client("dynamodb")
        assert tables(client) == ["one"]
        assert client.meta.region_name == "us-east-1"


def test_resource_is_answered(one: Database) -> None:
    with singletable.patch(one):
        table = boto3.resource("dynamodb").Table("one")
        table.put_item(Item={"PK": "a", "raw": b"\x00"})
    assert one.get_item(TableName="one", Key={"PK": {"S": "a"}})["Item"]["raw"] == {"B": b"\x00"}


def test_client_of_an_older_session_is_answered(one: Database) -> None:
    older = boto3.Session()
    oldest = botocore.session.get_session()
    with singletable.patch(one):
        assert tables(older.client("dynamodb")) == ["one"]
        assert tables(oldest.create_client("dynamodb")) == ["one"]


def test_what_the_code_says_is_kept(one: Database) -> None:
    with singletable.patch(one):
        session = boto3.Session(region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b")
        client = session.client("dynamodb", endpoint_url="http://localhost:8000")
        assert (client.meta.region_name, client.meta.endpoint_url) == ("eu-west-1", "http://localhost:8000")
        assert tables(client) == ["one"]
        configured = boto3.client("dynamodb", config=Config(region_name="eu-west-2"))
        assert configured.meta.region_name == "eu-west-2"
        positional = botocore.session.get_session().create_client("dynamodb", "eu-west-3")
        assert positional.meta.region_name == "eu-west-3"
        with pytest.raises(PartialCredentialsError):
            boto3.client("dynamodb", aws_access_key_id="a")


def test_parameters_are_those_of_botocore() -> None:
    assert tuple(inspect.signature(botocore.session.Session.create_client).parameters) == (
        "self",
        "service_name",
        *_PARAMETERS,
    )


def test_region_of_the_environment_is_kept(one: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with singletable.patch(one):
        assert boto3.client("dynamodb").meta.region_name == "eu-west-1"


def test_streams_are_answered_and_other_services_untouched(one: Database) -> None:
    with singletable.patch(one):
        assert boto3.client("dynamodbstreams").list_streams()["Streams"] == []
        bucket = boto3.client("s3", region_name="us-east-1", endpoint_url="http://127.0.0.1:1")
        with pytest.raises(NoCredentialsError):
            bucket.list_buckets()


def test_client_built_before_is_untouched(one: Database) -> None:
    class Elsewhere:
        status_code = 200

    before = boto3.client("dynamodb", region_name="us-east-1")
    before.meta.events.register("before-call", lambda **_: (Elsewhere(), {"TableNames": ["elsewhere"]}))
    with singletable.patch(one):
        assert tables(before) == ["elsewhere"]


def test_own_clients_keep_their_database(one: Database, two: Database) -> None:
    with singletable.patch(one):
        assert tables(two.client()) == ["two"]
        assert tables(two.resource().meta.client) == ["two"]


# --- from which database, until when ------------------------------------------------------------------------


def test_after_the_block_a_client_raises_and_reaches_nobody(one: Database) -> None:
    with singletable.patch(one):
        client = boto3.client("dynamodb", endpoint_url="http://127.0.0.1:1")
    with pytest.raises(
        DatabaseClosedError, match=r"built inside singletable\.patch, and that block has ended"
    ):
        tables(client)


def test_after_the_block_botocore_is_as_it_was(one: Database) -> None:
    before = botocore.session.Session.create_client
    with singletable.patch(one), singletable.patch(one):
        assert botocore.session.Session.create_client is not before
    assert botocore.session.Session.create_client is before
    with pytest.raises(RuntimeError, match="in the block"), singletable.patch(one):
        raise RuntimeError("in the block")
    assert botocore.session.Session.create_client is before


def test_client_that_is_kept_goes_on_with_the_next_patch(one: Database, two: Database) -> None:
    with singletable.patch(one):
        kept = boto3.client("dynamodb")
    with singletable.patch(two):
        assert tables(kept) == ["two"]
    with singletable.patch(one):
        assert tables(kept) == ["one"]


def test_inner_patch_answers_the_clients_built_in_it(one: Database, two: Database) -> None:
    with singletable.patch(one):
        outer = boto3.client("dynamodb")
        with singletable.patch(two):
            inner = boto3.client("dynamodb")
            assert (tables(outer), tables(inner)) == (["one"], ["two"])
        assert (tables(outer), tables(inner)) == (["one"], ["one"])


def test_patch_may_be_entered_again(one: Database, two: Database) -> None:
    patched = singletable.patch(one)
    with patched, singletable.patch(two), patched:
        again = boto3.client("dynamodb")
        assert tables(again) == ["one"]
    with pytest.raises(DatabaseClosedError):
        tables(again)


def test_blocks_may_end_in_any_order(one: Database, two: Database) -> None:
    first, second = singletable.patch(one), singletable.patch(two)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert tables(boto3.client("dynamodb")) == ["two"]
    second.__exit__(None, None, None)


def test_closed_database_says_so() -> None:
    database = Database.open(":memory:")
    with singletable.patch(database):
        client = boto3.client("dynamodb")
        database.close()
        with pytest.raises(DatabaseClosedError):
            tables(client)


def test_wrapper_of_somebody_else_survives(one: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracers wrap the same method, before, inside or around a block."""
    calls: list[str] = []

    def wrap(name: str) -> None:
        original = botocore.session.Session.create_client

        def traced(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            return original(*args, **kwargs)

        monkeypatch.setattr(botocore.session.Session, "create_client", traced)

    wrap("before")
    with singletable.patch(one):
        wrap("inside")
        assert tables(boto3.client("dynamodb")) == ["one"]
    boto3.client("dynamodb", region_name="us-east-1")
    with singletable.patch(one):
        assert tables(boto3.client("dynamodb")) == ["one"]
    assert calls == ["inside", "before"] * 3


def test_patch_holds_in_every_thread(one: Database) -> None:
    def ask(_: int) -> list[str]:
        return tables(boto3.Session().client("dynamodb"))

    with singletable.patch(one), ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(8))) == [["one"]] * 8


# --- as a decorator -------------------------------------------------------------------------------------------


def test_patch_decorates_a_function(one: Database) -> None:
    @singletable.patch(one)
    def list_tables(*, upper: bool) -> list[str]:
        """Say what is there."""
        return [name.upper() if upper else name for name in tables(boto3.client("dynamodb"))]

    assert list_tables(upper=True) == ["ONE"]
    assert list_tables(upper=False) == ["one"]
    assert list_tables.__doc__ == "Say what is there."


def test_patch_decorates_a_coroutine_function(one: Database) -> None:
    before = botocore.session.Session.create_client

    @singletable.patch(one)
    async def list_tables() -> list[str]:
        await asyncio.sleep(0)
        return tables(boto3.client("dynamodb"))

    assert inspect.iscoroutinefunction(list_tables)
    assert asyncio.run(list_tables()) == ["one"]
    assert botocore.session.Session.create_client is before


def test_patch_decorates_a_generator_function(one: Database) -> None:
    @singletable.patch(one)
    def each_table() -> Iterator[str]:
        yield from tables(boto3.client("dynamodb"))

    assert inspect.isgeneratorfunction(inspect.unwrap(each_table))
    assert list(each_table()) == ["one"]


def test_patch_decorates_an_asynchronous_generator_function(one: Database) -> None:
    @singletable.patch(one)
    async def each_table() -> AsyncIterator[str]:
        for name in tables(boto3.client("dynamodb")):
            yield name

    async def collect() -> list[str]:
        return [name async for name in each_table()]

    assert asyncio.run(collect()) == ["one"]


def test_patch_refuses_a_class(one: Database) -> None:
    with pytest.raises(TypeError, match="patch decorates functions"):

        @singletable.patch(one)
        class TestNothing:
            """A class of tests, which would be a function afterwards and never be collected."""


@pytest.mark.parametrize("wrong", ["app.db", Database, None])
def test_patch_asks_for_a_database(wrong: Any) -> None:
    with pytest.raises(TypeError, match="patch takes an open Database"):
        singletable.patch(wrong)


def test_no_credentials_are_looked_for(tmp_path: Path) -> None:
    code = """
import socket, boto3, singletable
def refuse(*_): raise AssertionError("the network was asked for")
socket.socket.connect = socket.getaddrinfo = refuse
with singletable.patch(singletable.Database.open(":memory:")):
    print(boto3.client("dynamodb").list_tables()["TableNames"])
"""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**plain, "HOME": str(tmp_path)},
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
