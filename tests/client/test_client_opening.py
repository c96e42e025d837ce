"""What can be opened, what cannot, and how a target that is missing, closed or limited says so."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config

from singletable import Database
from singletable.client import (
    ALTERNATOR,
    DYNAMODB,
    DYNAMODB_LOCAL,
    EMBEDDED,
    Capabilities,
    capabilities_of,
    open_client,
)
from singletable.client.capabilities import detect_capabilities
from singletable.client.embedded import EmbeddedClient
from singletable.client.remote import RemoteClient
from singletable.clock import ManualClock
from singletable.errors import (
    AccessDeniedError,
    CredentialsExpiredError,
    CredentialsInvalidError,
    CredentialsMissingError,
    DatabaseClosedError,
    NotDynamoDbError,
    OtherApiError,
    SignatureError,
    SingleTableError,
    TargetError,
    TargetUnreachableError,
    ThrottledError,
    UnknownOperationError,
    UnknownTargetError,
    ValidationError,
)
from singletable.server import BackgroundServer
from singletable.wire.answers import WireAnswer
from support.limited_targets import (
    TRANSACTIONS,
    UNKNOWN_TO_ALTERNATOR,
    LimitedClient,
    LimitedDatabase,
    limited_endpoint,
)
from support.sample_tables import create_plain
from support.targets import EVERY_TARGET, no_aws_settings, opened, target_of

# One attempt: what is tried here fails every time.
ONCE = {"AWS_MAX_ATTEMPTS": "1"}


@pytest.fixture
def db() -> Iterator[Database]:
    with Database.open(":memory:") as database:
        create_plain(database)
        yield database


# --- embedded -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_path", [False, True])
def test_file_is_opened_and_closed_with_the_client(tmp_path: Path, *, as_path: bool) -> None:
    path = tmp_path / "kefir.db"
    client = open_client(path if as_path else str(path), durability="relaxed", region="eu-north-1")
    assert isinstance(client, EmbeddedClient)
    assert client.capabilities == EMBEDDED
    client.close()
    client.close()
    with pytest.raises(DatabaseClosedError):
        client.call("ListTables", {})
    assert path.exists()


def test_endpoint_is_not_asked_any_more_when_its_client_is_closed() -> None:
    with no_aws_settings():
        client = open_client("http://127.0.0.1:9", capabilities=EMBEDDED)
        client.close()
        client.close()
        with pytest.raises(TargetError, match=r"the client of http://127\.0\.0\.1:9 was closed"):
            client.call("ListTables", {})


def test_memory_takes_the_clock() -> None:
    clock = ManualClock()
    with open_client(":memory:", clock=clock) as client:
        assert client.clock is clock


def test_open_database_stays_open(db: Database) -> None:
    with open_client(db) as client:
        assert client.call("ListTables", {})["TableNames"] == ["plain"]
        assert client.clock is db.clock
    assert db.list_tables()["TableNames"] == ["plain"]


def test_open_database_keeps_its_clock(db: Database) -> None:
    with pytest.raises(TypeError, match="has its clock"):
        open_client(db, clock=ManualClock())


def test_options_of_a_file_are_refused_elsewhere(db: Database) -> None:
    with pytest.raises(TypeError, match="only a database file takes durability, region"):
        open_client("http://127.0.0.1:8000", durability="full", region="eu-north-1")
    with pytest.raises(TypeError, match="only a database file takes durability"):
        open_client(db, durability="full")


# --- what cannot be opened ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("", "The target is empty"),
        ("ftp://x", "'ftp://x' cannot be opened"),
        ("http://", "'http://' cannot be opened"),
        ("dynamodb://", "'dynamodb://' names no region of AWS"),
        ("dynamodb://nowhere", "'dynamodb://nowhere' names no region of AWS"),
        ("dynamodb://eu-north-1/table", "'dynamodb://eu-north-1/table' names no region of AWS"),
        ("dynamodb://eu-north-1?profil=x", "'dynamodb://eu-north-1?profil=x' names no region of AWS"),
        ("dynamodb://eu-north-1?profile=", "'dynamodb://eu-north-1?profile=' names no region of AWS"),
        (17, "17 is no boto3 client for DynamoDB"),
    ],
)
def test_wrong_target_is_refused_with_a_hint(target: object, sentence: str) -> None:
    with pytest.raises(UnknownTargetError) as caught:
        open_client(target)
    assert caught.value.message == sentence
    assert str(caught.value) == f"ST505: {sentence}\n\nhint: {caught.value.hint}"


def test_missing_boto3_is_said_with_the_way_to_install_it() -> None:
    program = """
import sys
sys.modules["botocore"] = None
import singletable.client
with singletable.client.open_client(":memory:"):
    pass
try:
    singletable.client.open_client("http://127.0.0.1:8000")
except singletable.errors.Boto3MissingError as error:
    print(error)
"""
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed == (
        "ST512: http://127.0.0.1:8000 is reached with boto3, which is not installed\n\n"
        'hint: pip install "singletable[boto3]"\n'
    )


def test_embedded_client_loads_no_botocore() -> None:
    program = (
        "import sys; from singletable.client import open_client; open_client(':memory:').close(); "
        "print('botocore' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed == "False\n"


# --- AWS ------------------------------------------------------------------------------------------------


def test_region_of_aws_is_opened_without_asking_anybody() -> None:
    with no_aws_settings(), open_client("dynamodb://eu-north-1") as client:
        assert isinstance(client, RemoteClient)
        assert client.capabilities == DYNAMODB
        assert client.boto_client.meta.endpoint_url == "https://dynamodb.eu-north-1.amazonaws.com"


def test_endpoint_of_aws_needs_no_detection_and_is_signed_for_its_region() -> None:
    url = "https://vpce-1a2b.dynamodb.eu-west-3.vpce.amazonaws.com"
    with no_aws_settings(AWS_DEFAULT_REGION="us-west-2"), open_client(url) as client:
        assert isinstance(client, RemoteClient)
        assert client.capabilities == DYNAMODB
        assert client.boto_client.meta.region_name == "eu-west-3"


def test_missing_credentials_are_said_with_a_hint() -> None:
    settings = no_aws_settings(AWS_EC2_METADATA_DISABLED="true")
    with settings, open_client("dynamodb://eu-north-1") as client:
        with pytest.raises(
            CredentialsMissingError, match="no credentials for dynamodb://eu-north-1"
        ) as caught:
            client.call("ListTables", {})
        assert "aws configure" in caught.value.hint


def test_profile_is_taken_from_the_address(tmp_path: Path) -> None:
    settings = tmp_path / "config"
    settings.write_text("[profile kefir]\naws_access_key_id = the-key\naws_secret_access_key = x\n")
    with no_aws_settings(AWS_CONFIG_FILE=str(settings)):
        with pytest.raises(CredentialsMissingError, match="other"):
            open_client("dynamodb://eu-north-1?profile=other")
        with open_client("dynamodb://eu-north-1?profile=kefir") as client:
            assert isinstance(client, RemoteClient)
            signer = client.boto_client._request_signer
            assert signer._credentials.access_key == "the-key"


# --- endpoints ------------------------------------------------------------------------------------------


def test_endpoint_is_asked_with_the_credentials_of_the_environment_or_any(db: Database) -> None:
    own = {"AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "eu-north-1"}
    with BackgroundServer(db) as address:
        for settings, expected in ((own, ("mine", "eu-north-1")), ({}, ("singletable", "us-east-1"))):
            with no_aws_settings(**settings), open_client(address.url) as client:
                assert isinstance(client, RemoteClient)
                boto_client = client.boto_client
                key = boto_client._request_signer._credentials.access_key
                assert (key, boto_client.meta.region_name) == expected
                assert client.call("ListTables", {})["TableNames"] == ["plain"]


@pytest.fixture
def silent_url() -> Iterator[str]:
    """A port that nobody listens at, and that nobody else gets."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_endpoint_that_nobody_serves_is_unreachable(silent_url: str) -> None:
    with no_aws_settings(**ONCE), open_client(silent_url) as client:
        with pytest.raises(TargetUnreachableError, match=f"{silent_url} does not answer"):
            client.call("ListTables", {})
        with pytest.raises(TargetUnreachableError):
            _ = client.capabilities
        with pytest.raises(TargetUnreachableError):
            asyncio.run(client.arun(detect_capabilities()))


def test_web_server_is_told_from_an_endpoint() -> None:
    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_error(405)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}"
            refused = pytest.raises(NotDynamoDbError, match="does not speak DynamoDB's protocol")
            with no_aws_settings(**ONCE), open_client(url) as client, refused:
                _ = client.capabilities
        finally:
            server.shutdown()
            thread.join()


# --- a boto3 client -------------------------------------------------------------------------------------


def test_boto3_client_is_used_and_stays_open(db: Database) -> None:
    boto_client = db.client()
    with open_client(boto_client) as client:
        assert client.call("ListTables", {}) == {"TableNames": ["plain"]}
        assert client.capabilities == DYNAMODB
        with pytest.raises(TargetError, match="cannot read streams"):
            client.call("ListStreams", {})
        with pytest.raises(ValidationError, match="Parameter validation failed"):
            client.call("GetItem", {"TableName": 17})
        with pytest.raises(UnknownOperationError, match="DropTable"):
            client.call("DropTable", {})
    assert boto_client.list_tables()["TableNames"] == ["plain"]


def test_client_of_another_service_is_refused() -> None:
    with no_aws_settings():
        streams = boto3.client("dynamodbstreams", region_name="eu-north-1")
    with pytest.raises(UnknownTargetError, match="is no boto3 client for DynamoDB"):
        open_client(streams)


def refusal_of(db: Database, code: str, message: str) -> SingleTableError:
    """Return what a client raises where the service refuses with this code."""
    boto_client = db.client()

    def refuse(**_: object) -> None:
        error = {"Error": {"Code": code, "Message": message}}
        raise boto_client.exceptions.ClientError(
            {**error, "ResponseMetadata": {"HTTPStatusCode": 403}}, "GetItem"
        )

    boto_client.meta.events.register("before-parameter-build.dynamodb.GetItem", refuse)
    with open_client(boto_client) as client, pytest.raises(SingleTableError) as caught:
        client.call("GetItem", {"TableName": "plain", "Key": {"id": {"S": "a"}}})
    return caught.value


def test_refusal_of_a_kind_that_only_others_have_keeps_its_code(db: Database) -> None:
    error = refusal_of(db, "KMSAccessDeniedException", "The key is not yours")
    assert isinstance(error, OtherApiError)
    assert (error.code, error.status) == ("KMSAccessDeniedException", 403)
    assert str(error) == "The key is not yours"


# What AWS says with them, and what helps.
CREDENTIALS = {
    CredentialsExpiredError: (
        "The security token included in the request is expired",
        "aws sso login",
        ["ExpiredTokenException", "ExpiredToken", "TokenRefreshRequired"],
    ),
    CredentialsInvalidError: (
        "The security token included in the request is invalid.",
        "aws sts get-caller-identity",
        ["UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "AuthFailure"],
    ),
    SignatureError: (
        "Signature expired: 20130301T000000Z is now earlier than 20130609T094515Z",
        "check the clock of this machine",
        [
            "InvalidSignatureException",
            "SignatureDoesNotMatch",
            "IncompleteSignatureException",
            "IncompleteSignature",
            "MissingAuthenticationTokenException",
            "MissingAuthenticationToken",
            "RequestExpired",
            "RequestTimeTooSkewed",
        ],
    ),
}


@pytest.mark.parametrize(
    ("kind", "code"), [(kind, code) for kind, (_, _, codes) in CREDENTIALS.items() for code in codes]
)
def test_credentials_that_are_refused_say_what_to_do(
    kind: type[CredentialsInvalidError | SignatureError], code: str, db: Database
) -> None:
    message, helps, _ = CREDENTIALS[kind]
    error = refusal_of(db, code, message)
    assert type(error) is kind
    assert error.message.endswith(f": {message}")
    assert helps in error.hint
    assert error.code == code


def test_account_that_asks_too_much_is_throttled(db: Database) -> None:
    assert isinstance(refusal_of(db, "RequestLimitExceeded", "Too many requests"), ThrottledError)


def test_missing_permission_names_the_action_in_its_hint(db: Database) -> None:
    arn = "arn:aws:dynamodb:eu-north-1:123456789012:table/plain"
    message = (
        f"User: arn:aws:iam::123456789012:user/ada is not authorized to perform: dynamodb:GetItem on resource: "
        f"{arn} because no identity-based policy allows the dynamodb:GetItem action"
    )
    error = refusal_of(db, "AccessDeniedException", message)
    assert isinstance(error, AccessDeniedError)
    assert str(error) == message
    assert error.hint is not None
    assert error.hint.startswith(f"allow dynamodb:GetItem on {arn} ")
    assert refusal_of(db, "AccessDeniedException", "No.").hint is None


@pytest.mark.parametrize("target", EVERY_TARGET[1:])
def test_request_that_is_not_signed_is_refused_alike(target: str) -> None:
    with opened(target) as client:
        unsigned = boto3.client(
            "dynamodb",
            endpoint_url=target_of(client),
            region_name="eu-north-1",
            config=Config(signature_version=UNSIGNED),
        )
        with open_client(unsigned) as other, pytest.raises(SignatureError) as caught:
            other.call("ListTables", {})
    assert caught.value.code.removesuffix("Exception") == "MissingAuthenticationToken"


def test_throttled_request_says_which_limit_it_met() -> None:
    clock = ManualClock()
    with Database.open(":memory:", throttling=True, clock=clock) as database:
        database.create_table(
            TableName="slow",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        )
        with open_client(database.client()) as client:

            def write_until_refused() -> None:
                for number in range(2_000):
                    client.call("PutItem", {"TableName": "slow", "Item": {"id": {"S": str(number)}}})

            with pytest.raises(ThrottledError) as caught:
                write_until_refused()
    assert caught.value.code == "ProvisionedThroughputExceededException"
    assert caught.value.reasons[0].resource.endswith("table/slow")


# --- limited endpoints ----------------------------------------------------------------------------------


def test_endpoint_like_alternator_is_detected(db: Database) -> None:
    with limited_endpoint(db, UNKNOWN_TO_ALTERNATOR) as url, no_aws_settings(), open_client(url) as client:
        assert client.capabilities == ALTERNATOR
        with pytest.raises(UnknownOperationError):
            client.call("TransactGetItems", {"TransactItems": []})


def test_endpoint_like_dynamodb_local_is_detected(db: Database) -> None:
    unknown = frozenset({"UpdateContinuousBackups", "ListBackups", "ListTagsOfResource"})
    with limited_endpoint(db, unknown) as url, no_aws_settings(), open_client(url) as client:
        assert client.capabilities == DYNAMODB_LOCAL


def test_capabilities_are_asked_for_once_and_change_nothing(db: Database) -> None:
    asked: list[str] = []

    class Watched(LimitedDatabase):
        def refusal(self, operation: str) -> WireAnswer | None:
            asked.append(operation)
            return super().refusal(operation)

    before = db.describe_table(TableName="plain")
    with (
        BackgroundServer(Watched(db, TRANSACTIONS)) as address,
        no_aws_settings(),
        open_client(address.url) as client,
    ):
        assert asked == []
        assert not client.capabilities.transactions
        assert not client.capabilities.projections
        assert len(set(asked)) == 6
        asked.clear()
        assert not client.capabilities.transactions
        assert asked == []
    assert db.describe_table(TableName="plain") == before


def test_capabilities_that_are_stated_are_not_asked_for(silent_url: str) -> None:
    stated = Capabilities(streams=False)
    with no_aws_settings(), open_client(silent_url, capabilities=stated) as client:
        assert client.capabilities is stated
        assert client.capabilities.missing() == ["streams"]


def test_capabilities_come_back_from_their_data_and_from_a_report_around_it(tmp_path: Path) -> None:
    assert Capabilities.of(ALTERNATOR.data()) == ALTERNATOR
    assert Capabilities.of({"tags": False}).missing() == ["tags"]
    path = tmp_path / "found.json"
    path.write_text(json.dumps({"checks": [], "capabilities": DYNAMODB_LOCAL.data()}))
    assert Capabilities.load(path) == DYNAMODB_LOCAL


NO_CAPABILITIES = {
    "text": ('"all of them"', "'all of them' are no capabilities"),
    "list": ("[]", r"\[\] are no capabilities"),
    "numbers": ('{"tags": 0}', "'tags': 0} are no capabilities"),
    "unknown": ('{"capabilities": {"magic": true}}', "there is no capability 'magic'"),
    "no-json": ("tags: false", "holds no JSON"),
}


@pytest.mark.parametrize(("text", "said"), NO_CAPABILITIES.values(), ids=NO_CAPABILITIES.keys())
def test_file_that_holds_no_capabilities_is_explained(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    path.write_text(text)
    with pytest.raises(TargetError, match=said):
        Capabilities.load(path)


def test_capabilities_of_a_file_are_known_without_making_it(tmp_path: Path) -> None:
    assert capabilities_of(tmp_path / "new.db") == EMBEDDED
    assert not (tmp_path / "new.db").exists()


def test_feature_that_a_target_turns_out_to_lack_is_missing_from_then_on(db: Database) -> None:
    with open_client(db) as client:
        client.lacks("encryption")
        assert client.capabilities.missing() == ["encryption"]
    with limited_endpoint(db) as url, no_aws_settings(), open_client(url) as client:
        before = client.capabilities
        client.lacks("tags")
        assert client.capabilities == before.without("tags") != before


def test_amazon_and_the_engine_here_are_trusted_and_nobody_else(db: Database) -> None:
    with no_aws_settings(AWS_DEFAULT_REGION="eu-north-1"):
        targets = [
            "dynamodb://eu-north-1",
            "https://dynamodb.eu-north-1.amazonaws.com",
            db,
            "http://127.0.0.1:8000",
        ]
        trusted = []
        for target in targets:
            with open_client(target) as client:
                trusted.append(client.is_trusted)
    assert trusted == [True, True, True, False]


def test_limited_client_refuses_transactions_and_remembers_calls(db: Database) -> None:
    client = LimitedClient(db)
    assert client.capabilities.missing() == ["transactions"]
    with pytest.raises(UnknownOperationError):
        client.call("TransactWriteItems", {"TransactItems": []})
    assert [call.operation for call in client.calls] == ["TransactWriteItems"]
