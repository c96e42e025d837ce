"""Changes of items: as records of a stream, and as the handlers of a design get them, typed, before and after.

A consumer of the embedded engine gives a `ChangeRecord`. Any other record is read into one, in either form: an
AWS Lambda event has binary values as base64 text, GetRecords has them as bytes.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, Literal, TypeVar

from singletable.design.model.catalog import Catalog
from singletable.design.model.entity import Entity
from singletable.design.model.schema import EntitySchema
from singletable.design.values.items import AttributeValue, Item
from singletable.values.change_records import ChangeRecord

E = TypeVar("E", bound=Entity)
ChangeKind = Literal["create", "update", "delete"]
Record = Mapping[str, Any]

VIEW: Final = "NEW_AND_OLD_IMAGES"

# The identity that deletes expired items (AWS guide, "DynamoDB Streams and Time to Live").
_SERVICE: Final = ("Service", "dynamodb.amazonaws.com")


@dataclass(frozen=True, slots=True)
class Change(Generic[E]):
    """One change of one item: `old` is None if the item was created, `new` is None if it was deleted."""

    old: E | None
    new: E | None
    is_expired: bool
    """Whether the item was deleted because its time to live was over."""
    at: datetime
    """When it was made, about: DynamoDB tells seconds."""
    sequence_number: str
    """Where it stands in the stream; greater than that of any earlier change of the same item."""
    event_id: str
    """What names the change, however often it is delivered."""

    @property
    def kind(self) -> ChangeKind:
        if self.old is None:
            return "create"
        return "delete" if self.new is None else "update"

    @property
    def entity(self) -> E:
        """Return the item after the change; for a deletion, the item before it."""
        entity = self.new if self.new is not None else self.old
        assert entity is not None
        return entity


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A record of a stream: the items, and their entity in a design. Nothing is validated yet."""

    schema: EntitySchema
    old: Item | None
    new: Item | None
    record: ChangeRecord

    @property
    def key(self) -> Item:
        """Return the key of the item in the table."""
        item = self.new if self.new is not None else self.old
        assert item is not None
        return self.schema.key_in(item)

    def typed(self) -> Change[Entity]:
        """Build the entities; refuse items that do not fit their entity."""
        record = self.record
        return Change(
            None if self.old is None else self.schema.to_entity(self.old),
            None if self.new is None else self.schema.to_entity(self.new),
            self.new is None and record.is_expired,
            record.at,
            record.sequence_number,
            record.event_id,
        )

    def has_changed(self, field: str, change: Change[Entity]) -> bool:
        """Tell whether a field has changed. If the item was created or deleted, every field has.

        A field that is in neither image has not changed, whatever its default is.
        """
        if self.old is None or self.new is None:
            return True
        stored = self.schema.fields[field].stored
        is_made_up = self.schema.entity.model_fields[field].default_factory is not None
        if is_made_up and stored not in self.old and stored not in self.new:
            return False
        return bool(getattr(change.old, field) != getattr(change.new, field))


def item_changes(catalog: Catalog, record: ChangeRecord) -> Iterator[ItemChange]:
    """Return the changes of a record: none for an unknown item, two if one entity replaced another."""
    old, new = record.old, record.new
    was = None if old is None else catalog.schema_of(old)
    now = None if new is None else catalog.schema_of(new)
    if was is not None and was is now:
        yield ItemChange(was, old, new, record)
        return
    if was is not None:
        yield ItemChange(was, old, None, record)
    if now is not None:
        yield ItemChange(now, None, new, record)


# --- reading records -------------------------------------------------------------------------------------


def read_record(record: Record) -> ChangeRecord:
    """Read a record of an AWS Lambda event, or of GetRecords."""
    change = record["dynamodb"]
    return ChangeRecord(
        table=_table(record),
        view=change.get("StreamViewType", VIEW),
        old=_image(change.get("OldImage")),
        new=_image(change.get("NewImage")),
        is_expired=_is_by_service(record),
        at=_time(change.get("ApproximateCreationDateTime", 0)),
        sequence_number=change["SequenceNumber"],
        event_id=record.get("eventID", ""),
    )


def _table(record: Record) -> str | None:
    _, _, rest = str(record.get("eventSourceARN", "")).partition(":table/")
    return rest.partition("/")[0] or None


def _image(image: Mapping[str, Any] | None) -> Item | None:
    return None if image is None else {name: _value(value) for name, value in image.items()}


def _value(value: Mapping[str, Any]) -> AttributeValue:
    """Return an attribute value with its binaries as bytes."""
    ((tag, content),) = value.items()
    match tag:
        case "B":
            return {tag: _bytes(content)}
        case "BS":
            return {tag: [_bytes(member) for member in content]}
        case "L":
            return {tag: [_value(member) for member in content]}
        case "M":
            return {tag: {name: _value(member) for name, member in content.items()}}
        case _:
            return {tag: content}


def _bytes(content: str | Iterable[int]) -> bytes:
    return b64decode(content, validate=True) if isinstance(content, str) else bytes(content)


def _is_by_service(record: Record) -> bool:
    identity = {name.lower(): value for name, value in (record.get("userIdentity") or {}).items()}
    return (identity.get("type"), identity.get("principalid")) == _SERVICE


def _time(value: datetime | float) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromtimestamp(float(value), UTC)
