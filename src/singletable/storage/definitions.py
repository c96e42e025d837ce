"""The definition of a table: its keys, its indexes and its settings, as values that the catalog stores."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

import orjson

from singletable.errors import SerializationError
from singletable.values.json_types import UNPAIRED_SURROGATE
from singletable.values.types import KeyType

ProjectionKind = Literal["ALL", "KEYS_ONLY", "INCLUDE"]
IndexStatus = Literal["CREATING", "ACTIVE"]
BillingMode = Literal["PROVISIONED", "PAY_PER_REQUEST"]
StreamView = Literal["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"]


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """An attribute that takes part in a key."""

    name: str
    type: KeyType


@dataclass(frozen=True, slots=True)
class KeySchema:
    """Which attributes place an item. A table has one of each at most; a global index up to four."""

    partition: tuple[KeyAttribute, ...]
    sort: tuple[KeyAttribute, ...] = ()

    @property
    def attributes(self) -> tuple[KeyAttribute, ...]:
        return self.partition + self.sort

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)


@dataclass(frozen=True, slots=True)
class Projection:
    """Which attributes of an item can be read through an index."""

    kind: ProjectionKind
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Throughput:
    """Provisioned capacity; both 0 when a table is paid per request."""

    read_units: int = 0
    write_units: int = 0


ON_DEMAND: Final = Throughput()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDefinition:
    """A secondary index. `id` names its physical table and is never used again."""

    id: int
    name: str
    is_global: bool
    key: KeySchema
    projection: Projection
    status: IndexStatus = "ACTIVE"
    throughput: Throughput = ON_DEMAND
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDefinition:
    """A stream of a table. A new one, with a new label, begins each time streams are turned on."""

    view: StreamView
    created_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlDefinition:
    """Which attribute says when an item expires. `id` names the physical table of those times."""

    id: int
    attribute: str
    is_ready: bool  # whether all items that were there before have their times in it


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryDefinition:
    """How far back a table can be brought: `days`, but not before its changes were kept for that."""

    days: int
    since_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreDefinition:
    """Where a restored table came from: another one at a moment, or a backup of it."""

    source_table: str
    backup_arn: str | None
    at_us: int
    in_progress: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition:
    """A table. `id` names its physical table and is never used again, also when the name is."""

    id: int
    name: str
    uuid: str
    created_us: int
    key: KeySchema
    attributes: tuple[KeyAttribute, ...]
    indexes: tuple[IndexDefinition, ...] = ()
    billing: BillingMode = "PROVISIONED"
    billing_changed_us: int | None = None
    throughput: Throughput = ON_DEMAND
    stream: StreamDefinition | None = None
    stream_label_us: int | None = None  # of the newest stream, also when it is off
    ttl: TtlDefinition | None = None
    ttl_changed_us: int | None = None
    recovery: RecoveryDefinition | None = None
    restore: RestoreDefinition | None = None
    deleting_us: int | None = None  # when it was deleted, while it is still being backed up
    deletion_protected: bool = False
    settings: dict[str, Any] = field(default_factory=dict)  # carried and described, without effect on storage

    @property
    def logs_changes(self) -> bool:
        return self.stream is not None or self.recovery is not None

    @property
    def stream_label(self) -> str | None:
        """Return the label of the newest stream, which no earlier stream of the table has."""
        return None if self.stream_label_us is None else stream_label(self.stream_label_us)

    @property
    def is_restoring(self) -> bool:
        return self.restore is not None and self.restore.in_progress

    @property
    def is_ready(self) -> bool:
        """Whether it can be read and written: it is neither being restored nor being deleted."""
        return not self.is_restoring and self.deleting_us is None


def stream_label(label_us: int) -> str:
    """Return the label of a stream: when it was turned on, to the millisecond."""
    at = datetime.fromtimestamp(label_us // 1_000_000, UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{label_us // 1000 % 1000:03d}"


def encode_definition(table: TableDefinition) -> bytes:
    """Return the JSON text that the catalog stores."""
    try:
        return orjson.dumps(asdict(table))
    except orjson.JSONEncodeError:  # from a request in Python: nobody has looked at the text of a tag so far
        raise SerializationError(UNPAIRED_SURROGATE) from None


def decode_definition(text: bytes) -> TableDefinition:
    """Decode the text of `encode_definition`."""
    raw = orjson.loads(text)
    return TableDefinition(
        **{
            **raw,
            "key": _key_schema(raw["key"]),
            "attributes": _key_attributes(raw["attributes"]),
            "indexes": tuple(_index(index) for index in raw["indexes"]),
            "throughput": Throughput(**raw["throughput"]),
            "stream": StreamDefinition(**raw["stream"]) if raw["stream"] else None,
            "ttl": TtlDefinition(**raw["ttl"]) if raw["ttl"] else None,
            "recovery": RecoveryDefinition(**raw["recovery"]) if raw["recovery"] else None,
            "restore": RestoreDefinition(**raw["restore"]) if raw["restore"] else None,
        }
    )


def _key_attributes(raw: list[dict[str, Any]]) -> tuple[KeyAttribute, ...]:
    return tuple(KeyAttribute(**attribute) for attribute in raw)


def _key_schema(raw: dict[str, Any]) -> KeySchema:
    return KeySchema(_key_attributes(raw["partition"]), _key_attributes(raw["sort"]))


def _index(raw: dict[str, Any]) -> IndexDefinition:
    projection = Projection(raw["projection"]["kind"], tuple(raw["projection"]["attributes"]))
    return IndexDefinition(
        **{
            **raw,
            "key": _key_schema(raw["key"]),
            "projection": projection,
            "throughput": Throughput(**raw["throughput"]),
        }
    )
