"""The contents of a blueprint: table, indexes, entities, access patterns, and what a design says around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Le

from singletable.blueprint.entities import EntityBlueprint, TtlBlueprint
from singletable.blueprint.patterns import PatternBlueprint, RuleBlueprint
from singletable.blueprint.said import (
    ChangeBlueprint,
    DocumentBlueprint,
    FigureBlueprint,
    RemarkBlueprint,
    Said,
    described,
)
from singletable.blueprint.surroundings import (
    AlarmBlueprint,
    ConsumerBlueprint,
    MetricBlueprint,
    RoleBlueprint,
    ServiceBlueprint,
)
from singletable.blueprint.tables import IndexBlueprint, TableBlueprint

Amount = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]


@described
class VolumeBlueprint:
    """How many items of an entity there are for each of something, and how large one is."""

    entity: str
    count: Amount
    kb: Amount
    per: str = ""  # user, batch, restaurant; empty: in all
    upto_kb: Amount | None = None  # the largest that is said
    growth_per_month: Amount | None = None  # items, for each of the same
    hottest_share: Share | None = None  # of all its items, in the largest partition: 0.1 is a tenth
    because: str = ""
    said: tuple[Said, ...] = ()


@described
class RateBlueprint:
    """How often a second an entity is written."""

    entity: str
    creates: Amount = 0.0
    updates: Amount = 0.0
    deletes: Amount = 0.0


@described
class LoadBlueprint:
    """How often something is done: a second at the peak, and in a month: `monthly`, and `monthly_per_user` a user.

    `because` is the sentence of a document, or the assumption, that it rests on.
    """

    kind: Literal["pattern", "create", "update", "delete", "expire", "service", "handler", "figure"]
    of: str  # the method or number of a pattern, the name of an entity, service or handler
    peak_per_s: Amount | None = None
    monthly: Amount | None = None
    monthly_per_user: Amount | None = None
    hottest_share: Share | None = None  # of these calls, those that go to the busiest partition key
    fails: Share | None = None  # the share of calls whose condition fails
    items: Amount | None = None  # that one call reads in all, where a filter or the caller's limit decides it
    changes: Mapping[str, Share] = field(default_factory=dict)  # of updates: the share that changes a field
    because: str = ""
    said: tuple[Said, ...] = ()


@described
class TtlRuleBlueprint:
    """A rule of expiry that a document gives for something that may be no entity."""

    of: str
    rule: TtlBlueprint
    about: str = ""


@described
class FixBlueprint:
    """A deliberate difference from a document: the defect that it repairs, and the parts that it changed.

    A part is named by its path: "entities.Batch.places.by_status", "patterns.4", "table.regions".
    """

    id: str
    parts: tuple[str, ...] = ()
    defect: str = ""
    repair: str = ""
    severity: str = ""
    proof: tuple[str, ...] = ()  # tests that hold it


@described
class Contents:
    """The contents of a blueprint."""

    name: str
    table: TableBlueprint
    indexes: tuple[IndexBlueprint, ...] = ()
    entities: tuple[EntityBlueprint, ...] = ()
    patterns: tuple[PatternBlueprint, ...] = ()
    volumes: tuple[VolumeBlueprint, ...] = ()
    rates: tuple[RateBlueprint, ...] = ()
    casing: str = "snake"
    discriminator: str | None = None  # the attribute that names an item's entity
    about: str = ""
    documents: tuple[DocumentBlueprint, ...] = ()
    targets: tuple[str, ...] = ()  # aws, aws-local, alternator, extenddb, singletable
    users: Amount | None = None  # as many as the stated figures are for
    rules: tuple[RuleBlueprint, ...] = ()
    ttl_rules: tuple[TtlRuleBlueprint, ...] = ()
    consumers: tuple[ConsumerBlueprint, ...] = ()
    services: tuple[ServiceBlueprint, ...] = ()
    loads: tuple[LoadBlueprint, ...] = ()
    roles: tuple[RoleBlueprint, ...] = ()
    metrics: tuple[MetricBlueprint, ...] = ()
    alarms: tuple[AlarmBlueprint, ...] = ()
    changes: tuple[ChangeBlueprint, ...] = ()
    figures: tuple[FigureBlueprint, ...] = ()
    remarks: tuple[RemarkBlueprint, ...] = ()
    questions: tuple[str, ...] = ()  # what nobody has said yet
    fixes: tuple[FixBlueprint, ...] = ()
    said: tuple[Said, ...] = ()  # of what stands in no part: the name, the users, the targets

    def entity(self, name: str) -> EntityBlueprint | None:
        """Find an entity by its name."""
        return next((entity for entity in self.entities if entity.name == name), None)

    def index(self, name: str) -> IndexBlueprint | None:
        """Find an index by its name."""
        return next((index for index in self.indexes if index.name == name), None)
