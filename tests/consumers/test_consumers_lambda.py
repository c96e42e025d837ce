"""The event that a handler is given is the one that AWS Lambda passes: shown with AWS's own sample of one.

fixtures/lambda_dynamodb_event.json is the sample event of the Lambda console and the Lambda guide ("Using AWS
Lambda with Amazon DynamoDB"): an item is made, changed and removed.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from support.consuming import TABLE, Event, by_hand, create_logged, put
from support.paths import FIXTURES
from support.sample_tables import attributes, key_schema

RECORDED: Event = json.loads((FIXTURES / "lambda_dynamodb_event.json").read_text(encoding="utf-8"))
SAMPLE_TABLE = "ExampleTableWithStream"


def lambda_handler(event: Event, context: Any) -> list[str]:
    """A function as it is deployed: it says what happened to the messages."""
    said: list[str] = []
    for record in event["Records"]:
        change = record["dynamodb"]
        old = change.get("OldImage", {}).get("Message", {}).get("S")
        new = change.get("NewImage", {}).get("Message", {}).get("S")
        said.append(f"{record['eventName']} {change['Keys']['Id']['N']}: {old} -> {new}")
    return said


@pytest.fixture
def event(db: Database, clock: ManualClock) -> Event:
    """The event that a consumer gets for the changes that the recorded one tells of."""
    clock.jump(1_428_537_600 - clock.now_us() / 1_000_000)
    db.create_table(
        TableName=SAMPLE_TABLE,
        KeySchema=key_schema("Id"),
        AttributeDefinitions=attributes(Id="N"),
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    for message in ("New item!", "This item has changed"):
        db.put_item(TableName=SAMPLE_TABLE, Item={"Message": {"S": message}, "Id": {"N": "101"}})
    db.delete_item(TableName=SAMPLE_TABLE, Key={"Id": {"N": "101"}})
    events: list[Event] = []
    db.consume(SAMPLE_TABLE, events.append, "recorder", background=False).drain()
    (event,) = events
    return event


def test_one_function_handles_both(event: Event) -> None:
    assert lambda_handler(event, None) == lambda_handler(RECORDED, None)


def test_event_is_the_recorded_one_but_for_what_names_the_moment_and_the_account(event: Event) -> None:
    def known(record: Event) -> Event:
        change = {name: value for name, value in record["dynamodb"].items() if name != "SequenceNumber"}
        return {**record, "eventID": "", "eventSourceARN": "", "dynamodb": change}

    assert list(map(known, event["Records"])) == list(map(known, RECORDED["Records"]))


def shape(value: Any, name: str = "") -> Any:
    """What a value is made of: the names of objects, and the types of the rest."""
    if isinstance(value, dict):
        return {name: shape(member, name) for name, member in value.items()}
    if isinstance(value, list):
        return [shape(member) for member in value]
    return type(value).__name__


def test_event_has_the_shape_of_the_recorded_one_key_by_key(event: Event) -> None:
    assert shape(event) == shape(RECORDED)


def test_names_of_the_stream_and_of_the_event_look_as_on_aws(event: Event) -> None:
    for record, recorded in zip(event["Records"], RECORDED["Records"], strict=True):
        ours, theirs = (one["eventSourceARN"].split(":") for one in (record, recorded))
        assert (ours[:4], ours[5].split("/")[:3]) == (theirs[:4], theirs[5].split("/")[:3])
        assert len(record["eventID"]) == len(recorded["eventID"])
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in event["Records"]]
    assert numbers == sorted(set(numbers))


def test_event_survives_json(event: Event) -> None:
    assert json.loads(json.dumps(event)) == event


def test_binary_values_are_base64(db: Database) -> None:
    create_logged(db)
    item: Any = {"id": {"S": "a"}, "one": {"B": b"\x00\xff"}, "many": {"L": [{"BS": [b"a", b"b"]}]}}
    db.put_item(TableName=TABLE, Item=item)
    events: list[Event] = []
    by_hand(db, events.append).drain()
    image = events[0]["Records"][0]["dynamodb"]["NewImage"]
    assert image["one"] == {"B": b64encode(b"\x00\xff").decode()}
    assert image["many"] == {"L": [{"BS": ["YQ==", "Yg=="]}]}


@pytest.mark.parametrize(
    ("view", "images"),
    [
        ("KEYS_ONLY", set()),
        ("NEW_IMAGE", {"NewImage"}),
        ("OLD_IMAGE", {"OldImage"}),
        ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"}),
    ],
)
def test_images_are_those_of_the_view_of_the_stream(db: Database, view: str, images: set[str]) -> None:
    create_logged(db, view=view)
    put(db, "a", colour="red")
    put(db, "a", colour="blue")
    events: list[Event] = []
    by_hand(db, events.append).drain()
    change = events[0]["Records"][1]["dynamodb"]
    assert change["StreamViewType"] == view
    assert {"NewImage", "OldImage"} & set(change) == images


def test_deletion_of_an_expired_item_has_the_identity_of_the_service(
    db: Database, clock: ManualClock
) -> None:
    create_logged(db)
    db.update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
    )
    expires_s = clock.now_us() // 1_000_000 + 60
    db.put_item(TableName=TABLE, Item={"id": {"S": "a"}, "expires": {"N": str(expires_s)}})
    clock.advance(3600)
    events: list[Event] = []
    by_hand(db, events.append, events=["REMOVE"]).drain()
    (record,) = events[0]["Records"]
    assert record["eventName"] == "REMOVE"
    assert record["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def test_context_is_that_of_a_lambda_function(db: Database, clock: ManualClock) -> None:
    create_logged(db)
    contexts: list[Any] = []

    def handler(event: Event, context: Any) -> None:
        before_ms = context.get_remaining_time_in_millis()
        clock.advance(60)
        assert before_ms - context.get_remaining_time_in_millis() == 60_000
        contexts.append(context)

    for key in ("a", "b"):
        put(db, key)
        by_hand(db, handler, "mailer").drain()
    first, second = contexts
    assert first.function_name == "mailer"
    assert first.invoked_function_arn == "arn:aws:lambda:us-east-1:000000000000:function:mailer"
    assert first.aws_request_id != second.aws_request_id
    assert (first.log_group_name, first.function_version) == ("/aws/lambda/mailer", "$LATEST")
    assert first.database is db
