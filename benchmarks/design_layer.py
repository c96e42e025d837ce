"""The design layer: what typed entities cost beside the engine, and beside PynamoDB and dyntastic.

Everybody has the same table and the same items of 1 KB. PynamoDB and dyntastic speak to moto in this process, and
to one server of ours that this layer speaks to as well; embedded, the layer goes straight to the engine. Numbers
of items are drawn anew for each call, and every write is of another payload.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NewType

from benchmarks import http_servers
from benchmarks.http_servers import IN_MEMORY
from benchmarks.measure import Contender, Plan, Result, compare, interleave
from singletable.design import Design, Entity, Get, Key, Keys, Put, Query, SortKey, Table, pattern

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ITEMS = 1_000  # moto takes long to load more
PAGE = 25
TABLE = "notes"
REGION = "us-east-1"
STARTED = datetime(2026, 1, 1, tzinfo=UTC)

GET_PLAN = Plan(rounds=20, turns=10, calls=5)
PAGE_PLAN = Plan(rounds=10, turns=2, calls=2)
QUICK_DIVISOR = 5

NATIVE_RATIO_MAX = 2.5
PEER_TIMES_MIN = 10.0
SAME_ENDPOINT_TIMES_MIN = 1.0

UserId = NewType("UserId", str)
NoteId = NewType("NoteId", str)


class NoteTable(Table):
    name = TABLE
    stream = None
    pitr_days = None


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class NoteSK(SortKey, template="NOTE#{note_id}"):
    note_id: NoteId


class Note(Entity):
    key = Keys(UserPK, NoteSK)

    user_id: UserId
    note_id: NoteId
    title: str
    text: str
    views: int
    stars: int
    is_public: bool
    written_at: datetime
    language: str


class Notes(Design):
    table = NoteTable
    entities = (Note,)
    casing = "snake"

    @pattern("1 Get a note")
    def note(self, user_id: UserId, note_id: NoteId) -> Get[Note]:
        return Note.key.get(UserPK(user_id=user_id), NoteSK(note_id=note_id))

    @pattern("2 Get the notes of a user")
    def notes(self, user_id: UserId) -> Query[Note]:
        return Note.key.query(UserPK(user_id=user_id))


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure one entity read, a page of 25 and a write, against the engine and against the other layers."""
    divisor = QUICK_DIVISOR if quick else 1
    with ExitStack() as stack:
        server = stack.enter_context(http_servers.serving(IN_MEMORY, directory))
        endpoint = f"http://127.0.0.1:{server.port}"
        say(f"loading {ITEMS:,} items of 1 KB, three times")
        layers = make_layers(stack, endpoint)
        results: list[Result] = []
        for name, plan in (("get", GET_PLAN), ("page", PAGE_PLAN), ("put", GET_PLAN)):
            say(f"{name}, in turns")
            contenders = {layer.name: layer.contender(name) for layer in layers}
            interleave(list(contenders.values()), plan.shorter(divisor))
            results += compared(name, contenders)
        return results


def compared(name: str, contenders: dict[str, Contender]) -> list[Result]:
    """Return what is compared with what; a read of one entity has goals."""
    has_goal = name == "get"
    results: list[Result] = [
        compare(
            f"{NAMES[name]}, 1 KB: validated entity, embedded",
            subject=contenders["embedded"],
            floor=contenders["engine"],
            ratio_max=NATIVE_RATIO_MAX if has_goal else None,
        )
    ]
    for peer in ("PynamoDB", "dyntastic"):
        for place in ("moto", "server"):
            other = contenders.get(f"{peer} on {place}")
            if other is not None:
                title = f"{NAMES[name]}, 1 KB: {other.name}"
                goal = PEER_TIMES_MIN if has_goal else None
                results.append(compare(title, subject=other, floor=contenders["embedded"], ratio_min=goal))
    results.append(
        compare(
            f"{NAMES[name]}, 1 KB, the same server: PynamoDB on server",
            subject=contenders["PynamoDB on server"],
            floor=contenders["over HTTP"],
            ratio_min=SAME_ENDPOINT_TIMES_MIN if has_goal else None,
        )
    )
    return results


NAMES = {"get": "get of one entity", "page": f"page of {PAGE} entities", "put": "put of an entity"}


# --- the layers --------------------------------------------------------------------------------------------


def numbered(number: int) -> dict[str, Any]:
    """Return the values of an item of 1 KB."""
    draw = random.Random(number)
    return {
        "user_id": f"{number // PAGE}",
        "note_id": f"{number:06}",
        "title": f"note {draw.getrandbits(64):x}",
        "text": f"{draw.getrandbits(3_000):x}",
        "views": draw.randrange(100_000),
        "stars": draw.randrange(5),
        "is_public": draw.random() < 0.5,
        "written_at": STARTED + timedelta(seconds=number),
        "language": "sv",
    }


def any_number() -> int:
    return random.randrange(ITEMS)


@dataclass(frozen=True, slots=True)
class Layer:
    """Something that reads and writes notes: `get` and `page` take a number, `put` what `make` has made."""

    name: str
    get: Callable[[int], object]
    page: Callable[[int], object]
    make: Callable[[dict[str, Any]], Any]
    put: Callable[[Any], object]

    def contender(self, operation: str) -> Contender:
        if operation == "put":
            made = (self.make(numbered(random.randrange(ITEMS, 1_000_000))) for _ in iter(int, 1))
            return Contender(name=self.name, prepare=lambda: next(made), run=self.put)
        return Contender(
            name=self.name, prepare=any_number, run=self.get if operation == "get" else self.page
        )


def make_layers(stack: ExitStack, endpoint: str) -> list[Layer]:
    """Open and load everybody. What speaks to moto is left out where moto is not installed."""
    embedded = stack.enter_context(Notes.open(":memory:"))
    remote = stack.enter_context(Notes.open(endpoint, create=True))
    for design in (embedded, remote):
        design.batch(*(Put(Note(**numbered(number))) for number in range(ITEMS)))
    layers = [engine_layer(embedded), design_layer("embedded", embedded), design_layer("over HTTP", remote)]
    layers += [pynamodb_layer("server", endpoint), dyntastic_layer("server", endpoint)]
    if start_moto(stack, endpoint):
        layers += [pynamodb_layer("moto", None), dyntastic_layer("moto", None)]
    return layers


def start_moto(stack: ExitStack, endpoint: str) -> bool:
    try:
        from moto import mock_aws
    except ModuleNotFoundError:
        return False
    import boto3

    # What goes to the server is not for moto.
    stack.enter_context(mock_aws(config={"core": {"passthrough": {"urls": [f"{endpoint}.*"]}}}))
    client = boto3.client("dynamodb", region_name=REGION)
    with Notes.open(client, create=True) as design:
        design.batch(*(Put(Note(**numbered(number))) for number in range(ITEMS)))
    return True


def engine_layer(design: Notes) -> Layer:
    """The engine alone: attribute values in, attribute values out."""
    database = design.session.client.database
    assert database is not None, "it is an embedded client"
    schema = design.catalog.schemas[Note]

    def get(number: int) -> object:
        key = {"PK": {"S": f"USER#{number // PAGE}"}, "SK": {"S": f"NOTE#{number:06}"}}
        return database.get_item(TableName=TABLE, Key=key)

    def page(number: int) -> object:
        return database.query(
            TableName=TABLE,
            KeyConditionExpression="PK = :pk AND begins_with(SK, :sk)",
            ExpressionAttributeValues={":pk": {"S": f"USER#{number // PAGE}"}, ":sk": {"S": "NOTE#"}},
        )

    return Layer(
        "engine",
        get,
        page,
        lambda values: schema.to_item(Note(**values)),
        lambda item: database.put_item(TableName=TABLE, Item=item),
    )


def design_layer(name: str, design: Notes) -> Layer:
    return Layer(
        name,
        lambda number: design.note(UserId(f"{number // PAGE}"), NoteId(f"{number:06}")).one(),
        lambda number: design.notes(UserId(f"{number // PAGE}")).page(limit=PAGE),
        lambda values: Note(**values),
        design.put,
    )


def pynamodb_layer(place: str, endpoint: str | None) -> Layer:
    from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute
    from pynamodb.models import Model

    class PynamoNote(Model):
        class Meta:
            table_name = TABLE
            region = REGION
            host = endpoint
            aws_access_key_id = "key"
            aws_secret_access_key = "secret"

        pk = UnicodeAttribute(hash_key=True, attr_name="PK")
        sk = UnicodeAttribute(range_key=True, attr_name="SK")
        user_id = UnicodeAttribute()
        note_id = UnicodeAttribute()
        title = UnicodeAttribute()
        text = UnicodeAttribute()
        views = NumberAttribute()
        stars = NumberAttribute()
        is_public = BooleanAttribute()
        written_at = UnicodeAttribute()  # PynamoDB's own times have another format
        language = UnicodeAttribute()
        entity_type = UnicodeAttribute(attr_name="entityType")

    def make(values: dict[str, Any]) -> PynamoNote:
        note = PynamoNote(f"USER#{values['user_id']}", f"NOTE#{values['note_id']}", entity_type="Note")
        for name, value in values.items():
            setattr(note, name, value)
        note.written_at = f"{values['written_at']:%Y-%m-%dT%H:%M:%S.000Z}"
        return note

    return Layer(
        f"PynamoDB on {place}",
        lambda number: PynamoNote.get(f"USER#{number // PAGE}", f"NOTE#{number:06}"),
        lambda number: list(
            PynamoNote.query(f"USER#{number // PAGE}", PynamoNote.sk.startswith("NOTE#"), limit=PAGE)
        ),
        make,
        lambda note: note.save(),
    )


def dyntastic_layer(place: str, endpoint: str | None) -> Layer:
    from dyntastic import A, Dyntastic

    class DyntasticNote(Dyntastic):
        __table_name__ = TABLE
        __hash_key__ = "PK"
        __range_key__ = "SK"
        __table_region__ = REGION
        __table_host__ = endpoint

        PK: str
        SK: str
        user_id: str
        note_id: str
        title: str
        text: str
        views: int
        stars: int
        is_public: bool
        written_at: datetime
        language: str
        entityType: str = "Note"  # noqa: N815  # the stored name

    def make(values: dict[str, Any]) -> DyntasticNote:
        return DyntasticNote(PK=f"USER#{values['user_id']}", SK=f"NOTE#{values['note_id']}", **values)

    return Layer(
        f"dyntastic on {place}",
        lambda number: DyntasticNote.get(f"USER#{number // PAGE}", f"NOTE#{number:06}"),
        lambda number: list(
            DyntasticNote.query(f"USER#{number // PAGE}", range_key_condition=A.SK.begins_with("NOTE#"))
        ),
        make,
        lambda note: note.save(),
    )
