"""The rules that the design documents give, held by the code of all four systems.

002: composite sort keys, copies where they save a read, sparse indexes, batches; never a scan, no hot partition,
items under 100 KB, always pages (002:643-698). 001: on demand, expiry, compression, batches (001:104-110). 003:
composite keys, times in sort keys, sparse indexes, batches, no hot partition (003:356-376). 004: expiry, batches,
eventually consistent reads (004:222-230).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import pytest

import singletable_systems
from singletable import Compressed, CopyOf, Design, MaxBytes
from singletable.blueprint import PatternBlueprint, ReadBlueprint
from singletable.design.values.items import item_bytes
from singletable.systems import System, installed_systems

NAMES: Final = ("kefir", "lunch_cache", "perfectit", "smart_cooking")
SYSTEMS: Final = {name: installed_systems()[name] for name in NAMES}
SOURCE: Final = Path(singletable_systems.__path__[0])
DAY: Final = date(2026, 11, 16)
ITEM_BYTES: Final = 100_000
ID_BYTES: Final = 1_024  # a sort key has no more
SMALL_BYTES: Final = 40  # numbers, times, choices
WRITES_PER_S: Final = 1_000  # that a partition takes

each_system = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def patterns(system: System) -> tuple[PatternBlueprint, ...]:
    return system.design.blueprint().patterns


def reads(system: System) -> Iterator[tuple[PatternBlueprint, ReadBlueprint]]:
    for pattern in patterns(system):
        for read in pattern.reads:
            yield pattern, read


def modules(system: System) -> Iterator[tuple[Path, ast.Module]]:
    for path in (SOURCE / system.name).rglob("*.py"):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


# --- never a scan ---------------------------------------------------------------------------------------------


@each_system
def test_no_pattern_scans(system: System) -> None:
    operations = {read.operation for _, read in reads(system)}
    assert operations <= {"GetItem", "Query", "BatchGetItem"}


@each_system
def test_no_code_of_a_system_scans(system: System) -> None:
    """What reads whole tables is for maintenance: verifying, repairing, deleting what has expired."""
    whole = {"verify", "averify", "delete_expired", "adelete_expired", "scan", "call"}
    for path, tree in modules(system):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in whole, f"{path}:{node.lineno}"
            if isinstance(node, ast.Constant):
                assert node.value != "Scan", f"{path}:{node.lineno}"


# --- always pages ---------------------------------------------------------------------------------------------

PAGED: Final = {"Query", "Merged", "Walk", "Followed", "Composed"}
ONE: Final = {"Get", "Lookup", "BatchGet"}
WRITES: Final = {"Create", "Put", "Update", "Delete"}
# What is read at once without a limit, and why it is never much.
BOUNDED: Final = {
    "kefir.batch_view": "a batch has a few reminders; of its events, twenty are read",
    "kefir.user_data": "the export goes through it item by item: all()",
    "kefir.batch_activity": "the export goes through it item by item: all()",
    "smart_cooking.recipe_view": "a recipe has sixty ingredients at most",
}


@each_system
def test_what_finds_many_is_read_in_pages(system: System) -> None:
    for pattern in patterns(system):
        if pattern.operation != "Collect":
            assert pattern.operation in PAGED | ONE | WRITES
            continue
        unlimited = [read for read in pattern.reads if read.operation == "Query" and read.limit is None]
        assert not unlimited or f"{system.name}.{pattern.method}" in BOUNDED


# --- items under 100 KB ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["perfectit", "smart_cooking"])
def test_no_item_can_grow_beyond_100_kb(name: str) -> None:
    """Each field has a bound, and together they are less: nobody can write a larger item."""
    for entity in SYSTEMS[name].design.entities:
        total = sum(_bound(field.annotation, field.metadata) for field in entity.model_fields.values())
        assert total <= ITEM_BYTES, (entity.__name__, total)


def _bound(annotation: Any, metadata: list[Any]) -> int:
    """Return how many bytes a value may have."""
    limits = [each.count for each in metadata if isinstance(each, MaxBytes)]
    if limits:
        return int(min(limits))
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _bound(inner, more)
    if get_origin(annotation) in (Union, UnionType):
        return max(_bound(member, []) for member in get_args(annotation))
    if get_origin(annotation) is Literal or annotation in (int, bool, Decimal, datetime, date, type(None)):
        return SMALL_BYTES
    if hasattr(annotation, "__supertype__"):
        return ID_BYTES
    lengths = [each.max_length for each in metadata if getattr(each, "max_length", None) is not None]
    if annotation is str and lengths:
        return int(4 * min(lengths))
    if get_origin(annotation) is list and lengths:
        return int(min(lengths)) * _bound(get_args(annotation)[0], [])
    if annotation is str and any(type(each).__name__ == "Computed" for each in metadata):
        return ID_BYTES  # in keys
    raise AssertionError(f"{annotation} {metadata} has no bound")


@each_system
def test_no_item_of_the_seed_is_large(system: System) -> None:
    largest = max(item_bytes(system.design.stored_item(each)) for each in system.seed("small", DAY).entities)
    assert largest < ITEM_BYTES / 5


# --- sparse indexes, copies, batches, compression, expiry -----------------------------------------------------


def sparse(design: type[Design]) -> set[str]:
    """Name the places in indexes that hold only some items of their entities."""
    return {
        f"{entity.name}.{place.name}"
        for entity in design.blueprint().entities
        for place in entity.places
        if place.when is not None
    }


def test_indexes_hold_what_is_asked_of_them_alone() -> None:
    assert sparse(SYSTEMS["kefir"].design) == {"Reminder.by_user", "Reminder.pending"}
    assert sparse(SYSTEMS["perfectit"].design) == {
        "PerfectionCard.by_category",
        "PerfectionCard.by_day",
        "Notification.unread",
    }
    assert sparse(SYSTEMS["smart_cooking"].design) >= {
        "CookingHistory.favorites",
        "CookingHistory.recent",
        "Notification.unread",
        "Post.public",
        "Recipe.by_method",
        "UserProfile.by_role",
        "InvalidIngredient.pending",
        "Friendship.asked",
    }


def marked(design: type[Design], kind: type[Any]) -> set[str]:
    return {
        f"{entity.__name__}.{name}"
        for entity in design.entities
        for name, field in entity.model_fields.items()
        if any(isinstance(each, kind) for each in field.metadata)
    }


def test_names_are_copied_where_that_saves_a_read() -> None:
    assert {"Post.user_name", "Post.user_avatar"} <= marked(SYSTEMS["smart_cooking"].design, CopyOf)


def test_large_texts_are_compressed() -> None:
    assert marked(SYSTEMS["perfectit"].design, Compressed) == {"PerfectionCard.instructions"}
    assert marked(SYSTEMS["smart_cooking"].design, Compressed) == {"AiSuggestion.ai_response"}


@each_system
def test_no_service_reads_items_one_by_one_in_a_loop_over_ids(system: System) -> None:
    """Where a pattern takes several ids, it is one BatchGetItem."""
    for pattern, read in reads(system):
        if any("list[" in str(parameter.type) for parameter in pattern.parameters):
            assert read.operation == "BatchGetItem", pattern.method


@each_system
def test_table_is_on_demand_and_what_is_temporary_expires(system: System) -> None:
    blueprint = system.design.blueprint()
    assert blueprint.table.billing == "PAY_PER_REQUEST"
    assert any(entity.ttl is not None for entity in blueprint.entities)


@each_system
def test_sort_keys_of_what_there_is_much_of_are_composite(system: System) -> None:
    """An entity whose key is a constant has one item in its partition."""
    for entity in system.design.blueprint().entities:
        keys = next(place for place in entity.places if place.index is None)
        if keys.sk is not None and "{" not in str(keys.sk.template):
            assert "{" in str(keys.pk.template), entity.name


# --- no hot key -----------------------------------------------------------------------------------------------

# Partitions that all users share: what spreads them where it must be, or why it never must.
SHARED: Final = {
    "kefir": {"STATUS#", "REMINDER#PENDING#"},  # four shards
    "lunch_cache": set[str](),
    "perfectit": {
        "VOTETYPE#",  # VOTE_SHARDS
        "DATE#",  # a partition for each day, DATE_SHARDS
        "PARENT#ROOT",  # read, and hardly ever written
    },
    "smart_cooking": {
        "APPROVED",  # APPROVED_SHARDS
        "FEED#PUBLIC",  # FEED_SHARDS, FEED_EVERY
        "RECENT#",  # a partition for each month, RECENT_SHARDS
        "INGREDIENT#SEARCH",  # SEARCH_LETTERS
        "RECIPE#SEARCH",  # SEARCH_LETTERS
        "TRENDING#",  # fifty items, written once an hour
        "ROLE#admin",
        "REPORTS#PENDING",  # for admins
    },
}


@each_system
def test_partitions_that_all_share_are_known(system: System) -> None:
    """A partition whose key nobody's id is in is spread, or is known to be small."""
    shared = {read.pk.partition("{")[0] for _, read in reads(system) if not _has_id(read.pk)}
    unknown = {pk for pk in shared if not any(pk.startswith(known) for known in SHARED[system.name])}
    assert unknown <= {"ANALYTICS#", "ACTIVITY#", "HEALTH#"}  # one item for each day or month


def _has_id(template: str) -> bool:
    ids = ("id}", "username}", "email}", "digest}", "name}", "token}", "method}", "type}")
    return any(each in template for each in (*ids, "category", "restaurant"))


@each_system
def test_writes_of_the_default_load_fit_into_one_partition_of_each_index(system: System) -> None:
    """Even if all writes of an entity went to one partition, it would be nowhere near its limit."""
    for entity, rate in system.design.rates.items():
        assert rate.creates + rate.updates + rate.deletes < WRITES_PER_S / 100, entity.__name__


@each_system
def test_seed_is_spread_over_the_partitions_of_the_table(system: System) -> None:
    design, partitions = system.design, Counter[str]()
    pk = design.catalog.table.pk
    for entity in system.seed("small", DAY).entities:
        partitions[design.stored_item(entity)[pk]["S"]] += 1
    assert partitions.most_common(1)[0][1] <= max(0.15 * partitions.total(), 1)
