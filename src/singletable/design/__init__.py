"""A single-table design as typed Python: keys, entities, indexes and access patterns, declared once.

It runs on the embedded engine and on any DynamoDB endpoint; it knows neither, only `singletable.client`. Its
modules, from those that know nothing to the one that knows all; there are no import cycles:

declared    conditions, casing, markers, constraints; templates and `key_*` (how values stand in keys), keys,
            ranges; plans, many, following, queries; bindings, tables, relations, entity, collections, sharding,
            writes, once, patterns; computing, computed_validation (fields that are made of others), max_bytes
compiled    stored_values, field_codecs, places, schema; belonging (who counts, copies and derives whom), catalog
open        session: a client, the table's name there, and the catalog
read        expressions, requests, answers, stored_items; part_reading, ordered_reading, side_by_side; cursors;
            batch_reading, collection_reading, followed_reading, looking_up (by a unique value), reading
written     actions; uniqueness, counting, deriving, copying: what follows from an entity before and after;
            checking, `*_planning`, preparing; performing, claiming, committing; batches, loading; owning,
            cascading
kept        guards, upkeep (by the stream), verifying, expired_items; changes, dispatching, replaying,
            doing_once, consuming (stream handlers)
the table   definitions, inspecting, drift, provisioning; describing, sampling: the design as a blueprint
design      all of it behind `Design`
"""

from __future__ import annotations

from singletable.design.bindings import Index, Keys
from singletable.design.cascading import Cascade
from singletable.design.casing import Casing
from singletable.design.changes import Change
from singletable.design.collections import Collect, Collection, collect, gather
from singletable.design.conditions import (
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
from singletable.design.design import Design, pattern
from singletable.design.drift import Difference, Drift
from singletable.design.entity import Entity, upcast
from singletable.design.expired_items import Cleared
from singletable.design.following import Followed
from singletable.design.key_values import Normalize, Pad, Verbatim
from singletable.design.keys import Key, NoSortKey, Prefix, SortKey
from singletable.design.loading import Loaded
from singletable.design.many import Composed
from singletable.design.markers import (
    AverageOf,
    BucketOf,
    Compressed,
    Computed,
    CopyOf,
    CountOf,
    CreatedAt,
    Digits,
    InitialOf,
    ShardOf,
    Stored,
    SumOf,
    Ttl,
    UpdatedAt,
    Version,
    auto,
    expires,
)
from singletable.design.max_bytes import MaxBytes
from singletable.design.once import Once
from singletable.design.pages import Found, Page, Usage, Written
from singletable.design.patterns import PatternInfo, Rate, Volume
from singletable.design.plans import BatchGet, Get, Lookup
from singletable.design.provisioning import TableReport
from singletable.design.queries import Merged, Query, Walk
from singletable.design.relations import Derived, Unique
from singletable.design.sharding import buckets, shards
from singletable.design.streams import on
from singletable.design.tables import Table
from singletable.design.verifying import Mismatch, VerifyReport
from singletable.design.writes import Add, Append, Check, Create, Delete, Put, Update

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
