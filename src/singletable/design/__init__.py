"""A single-table design as typed Python: keys, entities, indexes and access patterns, declared once.

It runs on the embedded engine and on any DynamoDB endpoint; it knows neither, only `singletable.client`. Its
rooms, from the lowest to the highest. A room imports only rooms above it in this list:

values      the values of fields: attribute values, codecs, constraints, conditions, markers
keys        keys as typed values: templates, parts, ranges of sort keys
model       the declarations of a design, compiled: entities, places, relations, the catalog
session     an open design: a client, the table's name there, and the catalog; expressions, actions, stored items
kept        data that the layer keeps up to date: unique values, aggregates, copies, derived items
plans       the reads that patterns return; tables: the table's definition, its creation, drift
rekeying    items that move to another key (`was=`)
writes      how each write is planned, and the one way in which all of them are carried out
streams     handlers of the table's stream; upkeep: verification, and deletion of expired items
describe    the design as a blueprint
design      all of it behind `Design`
"""

from __future__ import annotations

from singletable.design.design import Design, pattern
from singletable.design.kept.aggregate import AverageOf, CountOf, SumOf
from singletable.design.kept.copy import CopyOf
from singletable.design.keys.key import Key, NoSortKey, Prefix, SortKey, buckets, shards
from singletable.design.keys.parts import Normalize, Pad, Verbatim
from singletable.design.model.declarations import Derived, Load, PatternInfo, Rate, Volume, Writes
from singletable.design.model.entity import Entity, upcast
from singletable.design.model.table import Table
from singletable.design.plans.batch_get import BatchGet
from singletable.design.plans.bound import Index, Keys, Unique
from singletable.design.plans.collect import Collect, Collection, collect, gather
from singletable.design.plans.composed import Composed
from singletable.design.plans.followed import Followed
from singletable.design.plans.get import Get
from singletable.design.plans.lookup import Lookup
from singletable.design.plans.merged import Merged
from singletable.design.plans.plan import Found, Page, Usage, Written
from singletable.design.plans.query import Query
from singletable.design.plans.walk import Walk
from singletable.design.streams.change import Change
from singletable.design.streams.handlers import on
from singletable.design.streams.once import Once
from singletable.design.tables.create import TableReport
from singletable.design.tables.drift import Difference, Drift
from singletable.design.upkeep.expired import Cleared
from singletable.design.upkeep.verify import Mismatch, VerifyReport
from singletable.design.values.conditions import (
    And,
    BeginsWith,
    Condition,
    Contains,
    Eq,
    Exists,
    Ge,
    Gt,
    In,
    Le,
    Lt,
    Ne,
    Not,
    Or,
)
from singletable.design.values.constraints import MaxBytes
from singletable.design.values.fields import Casing
from singletable.design.values.markers import (
    BucketOf,
    Compressed,
    Computed,
    CreatedAt,
    Digits,
    InitialOf,
    ShardOf,
    Stored,
    Ttl,
    UpdatedAt,
    Version,
    auto,
    expires,
)
from singletable.design.writes.batch import Loaded
from singletable.design.writes.cascade import Cascade
from singletable.design.writes.write import Add, Append, Check, Create, Delete, Put, Update

__all__ = [
    "Add",
    "And",
    "Append",
    "AverageOf",
    "BatchGet",
    "BeginsWith",
    "BucketOf",
    "Cascade",
    "Casing",
    "Change",
    "Check",
    "Cleared",
    "Collect",
    "Collection",
    "Composed",
    "Compressed",
    "Computed",
    "Condition",
    "Contains",
    "CopyOf",
    "CountOf",
    "Create",
    "CreatedAt",
    "Delete",
    "Derived",
    "Design",
    "Difference",
    "Digits",
    "Drift",
    "Entity",
    "Eq",
    "Exists",
    "Followed",
    "Found",
    "Ge",
    "Get",
    "Gt",
    "In",
    "Index",
    "InitialOf",
    "Key",
    "Keys",
    "Le",
    "Load",
    "Loaded",
    "Lookup",
    "Lt",
    "MaxBytes",
    "Merged",
    "Mismatch",
    "Ne",
    "NoSortKey",
    "Normalize",
    "Not",
    "Once",
    "Or",
    "Pad",
    "Page",
    "PatternInfo",
    "Prefix",
    "Put",
    "Query",
    "Rate",
    "ShardOf",
    "SortKey",
    "Stored",
    "SumOf",
    "Table",
    "TableReport",
    "Ttl",
    "Unique",
    "Update",
    "UpdatedAt",
    "Usage",
    "Verbatim",
    "VerifyReport",
    "Version",
    "Volume",
    "Walk",
    "Writes",
    "Written",
    "auto",
    "buckets",
    "collect",
    "expires",
    "gather",
    "on",
    "pattern",
    "shards",
    "upcast",
]
