"""The table of a blueprint: keys, indexes, settings, backups, regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from singletable.blueprint.entities import PlaceBlueprint
from singletable.blueprint.said import Said, described


@described
class RegionBlueprint:
    """A region, and the place that the design takes it for. `is_replica` tells those of a global table."""

    code: str
    place: str = ""
    is_replica: bool = False
    said: tuple[Said, ...] = ()


@described
class BackupBlueprint:
    """How a table is backed up: point-in-time recovery, on demand, or by AWS Backup."""

    kind: str  # pitr, on-demand, aws-backup, none
    keep_days: float | None = None
    every_days: float | None = None
    environments: tuple[str, ...] = ()  # those that have it; all of them without
    about: str = ""
    said: tuple[Said, ...] = ()


@described
class TableBlueprint:
    """The table: its name, which may hold placeholders as {stage}, its keys and their types, its settings."""

    name: str
    pk: str = "PK"
    sk: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)  # of all attributes in keys: S, N, B
    billing: str = "PAY_PER_REQUEST"
    capacity: tuple[int, ...] | None = None  # units of reading and writing
    table_class: str = "STANDARD"
    stream: str | None = None  # the view type: NEW_AND_OLD_IMAGES; "unsaid" where nobody says it
    encryption: str = "AWS_OWNED"  # AWS_OWNED, AWS_MANAGED, CUSTOMER_MANAGED
    key: str | None = None  # the ARN or alias of a customer's key
    pitr_days: int | None = None
    deletion_protection: bool = False
    ttl: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    regions: tuple[RegionBlueprint, ...] = ()
    backups: tuple[BackupBlueprint, ...] = ()
    contributor_insights: bool = False
    environments: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # of each placeholder of the name
    about: str = ""
    scaling: Mapping[str, tuple[float, ...]] = field(
        default_factory=dict
    )  # of "read" and "write": units at least and at most, and the target in percent
    said: tuple[Said, ...] = ()


@described
class IndexBlueprint:
    """A secondary index. The projection is ALL, KEYS_ONLY, or INCLUDE with names as they are stored.

    `holds` are keys that a document gives for the index itself; those that an entity has are among its places.
    """

    name: str
    pk: tuple[str, ...]
    sk: tuple[str, ...] = ()
    projection: str = "ALL"
    included: tuple[str, ...] = ()
    capacity: tuple[int, ...] | None = None
    is_local: bool = False
    holds: tuple[PlaceBlueprint, ...] = ()
    uses: tuple[str, ...] = ()  # what it is said to be for
    about: str = ""
    said: tuple[Said, ...] = ()
