"""Changes of items, as a stream tells of them, and as a design's handlers get them: typed, before and after.

A record is read in either of its forms: that of an AWS Lambda event, where binary values are base64 text, and that
of GetRecords, where they are bytes.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, Literal, TypeVar

from singletable.design.catalog import Catalog
from singletable.design.entity import Entity
from singletable.design.schema import EntitySchema
from singletable.design.stored_values import Item

E = TypeVar("E", bound=Entity)
ChangeKind = Literal["create", "update", "delete"]
Record = Mapping[str, Any]

# Who deletes items whose time to live is over (AWS guide, "DynamoDB Streams and Time to Live").
_SERVICE: Final = ("Service", "dynamodb.amazonaws.com")


@dataclass(frozen=True, slots=True)
class Change(Generic[E]):
    """One change of one item: what it was, None when it was made, and what it is, None when it was deleted."""

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
        """Return the item as it is, or as it was last."""
        entity = self.new if self.new is not None else self.old
        assert entity is not None
        return entity


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A record of a stream: the items, and which entity of a design they are of. Nothing is validated yet."""

    schema: EntitySchema[Any]
    old: Item | None
    new: Item | None
    record: Record

    @property
    def key(self) -> Item:
        """Return the key of the item in the table."""
        item = self.new if self.new is not None else self.old
        assert item is not None
        return {name: item[name] for name in self.schema.table.key_attributes()}

    def typed(self) -> Change[Any]:
        """Build the entities; items that are no longer valid are refused."""
        change = self.record["dynamodb"]
        return Change(
            None if self.old is None else self.schema.to_entity(self.old),
            None if self.new is None else self.schema.to_entity(self.new),
            self.new is None and _is_by_service(self.record),
            _time(change.get("ApproximateCreationDateTime", 0)),
            change["SequenceNumber"],
            self.record.get("eventID", ""),
        )

    def has_changed(self, field: str, change: Change[Any]) -> bool:
        """Tell whether a field has another value; all have, when the item is made or deleted.

        A field that neither image holds has not, whatever its default makes of it.
        """
        if self.old is None or self.new is None:
            return True
        stored = self.schema.fields[field].stored
        is_made_up = self.schema.entity.model_fields[field].default_factory is not None
        if is_made_up and stored not in self.old and stored not in self.new:
            return False
        return bool(getattr(change.old, field) != getattr(change.new, field))


def item_changes(catalog: Catalog, record: Record) -> Iterator[ItemChange]:
    """Return what a record means: nothing for strangers, two changes where one entity took another's place."""
    change = record["dynamodb"]
    old, new = _image(change.get("OldImage")), _image(change.get("NewImage"))
    was, now = (None if image is None else catalog.schema_of(image) for image in (old, new))
    if was is not None and was is now:
        yield ItemChange(was, old, new, record)
        return
    if was is not None:
        yield ItemChange(was, old, None, record)
    if now is not None:
        yield ItemChange(now, None, new, record)


# --- reading records -------------------------------------------------------------------------------------


def sequence_number(record: Record) -> str:
    number: str = record["dynamodb"]["SequenceNumber"]
    return number


def table_of(record: Record) -> str | None:
    """Return the name of the table that a record is of; None where it does not say."""
    _, _, rest = str(record.get("eventSourceARN", "")).partition(":table/")
    return rest.partition("/")[0] or None


def _image(image: Mapping[str, Any] | None) -> Item | None:
    return None if image is None else {name: _value(value) for name, value in image.items()}


def _value(value: Mapping[str, Any]) -> dict[str, Any]:
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


def _bytes(content: Any) -> bytes:
    return b64decode(content, validate=True) if isinstance(content, str) else bytes(content)


def _is_by_service(record: Record) -> bool:
    identity = {name.lower(): value for name, value in (record.get("userIdentity") or {}).items()}
    return (identity.get("type"), identity.get("principalid")) == _SERVICE


def _time(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromtimestamp(float(value), UTC)
