"""Filters of the event source mapping: no handler misses a record, and what nobody needs is dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.blueprint import (
    Blueprint,
    ConsumerBlueprint,
    EntityBlueprint,
    HandlerBlueprint,
    TableBlueprint,
)
from singletable.stack.filters import EVENTS, FILTERS_MAX, PATTERN_LENGTH_MAX, stream_filters, text
from singletable.systems import installed_systems
from support.lambda_filters import matches, passes

NAMES = ("Batch", "Event", "Reminder", "User")


def blueprint_of(*names: str, was: tuple[str, ...] = ()) -> Blueprint:
    entities = tuple(EntityBlueprint(name, name.upper(), was=was) for name in names)
    table = TableBlueprint("shop", "PK", "SK", {"PK": "S", "SK": "S"})
    return Blueprint("Shop", table, entities=entities, discriminator="entityType")


def record(
    event: str, old: str | None, new: str | None, *, discriminator: str = "entityType"
) -> dict[str, Any]:
    """Make a record of a stream; the images are named by their discriminators, "" for one without."""

    def image(name: str | None) -> dict[str, Any] | None:
        if name is None:
            return None
        item = {"PK": {"S": "BATCH#1"}, "SK": {"S": "METADATA"}, "size": {"N": "1"}}
        return {**item, discriminator: {"S": name}} if name else item

    images = {"OldImage": image(old), "NewImage": image(new)}
    keys = {"PK": {"S": "BATCH#1"}, "SK": {"S": "METADATA"}}
    kept = {key: value for key, value in images.items() if value is not None}
    return {
        "eventID": "1",
        "eventName": event,
        "eventSource": "aws:dynamodb",
        "dynamodb": {"Keys": keys, **kept, "SequenceNumber": "1", "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }


def records_of(name: str) -> dict[str, dict[str, Any]]:
    return {
        "INSERT": record("INSERT", None, name),
        "MODIFY": record("MODIFY", name, name),
        "REMOVE": record("REMOVE", name, None),
    }


@pytest.mark.parametrize("name", ["kefir", "perfectit", "smart_cooking"])
def test_records_of_watched_entities_pass_and_those_of_others_do_not(name: str) -> None:
    blueprint = installed_systems()[name].blueprint()
    (consumer,) = blueprint.consumers
    filters = stream_filters(blueprint, consumer)
    assert 0 < len(filters) <= FILTERS_MAX
    wanted = {
        (entity, event)
        for handler in consumer.handlers
        for entity in handler.entities
        for event in handler.events or EVENTS
    }
    assert blueprint.discriminator is not None
    for entity in blueprint.entities:
        for event in EVENTS:
            old = None if event == "INSERT" else entity.discriminator
            new = None if event == "REMOVE" else entity.discriminator
            sent = record(event, old, new, discriminator=blueprint.discriminator)
            assert passes(filters, sent) == ((entity.name, event) in wanted), (entity.name, event)


def test_items_of_the_layer_itself_are_dropped() -> None:
    blueprint = installed_systems()["kefir"].blueprint()
    filters = stream_filters(blueprint, blueprint.consumers[0])
    assert not passes(filters, record("INSERT", None, "singletable#unique"))


def test_item_without_a_discriminator_passes_since_its_keys_may_tell_its_entity() -> None:
    blueprint = blueprint_of("Batch")
    filters = stream_filters(blueprint, ConsumerBlueprint("c", handlers=(HandlerBlueprint("h", ("Batch",)),)))
    for event, old, new in (("INSERT", None, ""), ("MODIFY", "", ""), ("REMOVE", "", None)):
        assert passes(filters, record(event, old, new))


def test_one_entity_that_replaces_another_is_seen_by_handlers_of_both() -> None:
    blueprint = blueprint_of("Batch", "Event", "User")
    for watched in ("Batch", "Event"):
        consumer = ConsumerBlueprint("c", handlers=(HandlerBlueprint("h", (watched,)),))
        assert passes(stream_filters(blueprint, consumer), record("MODIFY", "BATCH", "EVENT"))
    other = ConsumerBlueprint("c", handlers=(HandlerBlueprint("h", ("User",)),))
    assert not passes(stream_filters(blueprint, other), record("MODIFY", "BATCH", "EVENT"))


def test_items_under_an_old_discriminator_pass_too() -> None:
    blueprint = blueprint_of("Batch", was=("JAR",))
    consumer = ConsumerBlueprint("c", handlers=(HandlerBlueprint("h", ("Batch",)),))
    assert passes(stream_filters(blueprint, consumer), record("INSERT", None, "JAR"))


@pytest.mark.parametrize(
    ("blueprint", "handlers"),
    [
        pytest.param(blueprint_of("Batch"), (HandlerBlueprint("all"),), id="of-every-entity"),
        pytest.param(blueprint_of("Batch"), (HandlerBlueprint("h", ("Other",)),), id="of-an-unknown-entity"),
        pytest.param(
            Blueprint("Shop", TableBlueprint("shop"), entities=(EntityBlueprint("Batch", "BATCH"),)),
            (HandlerBlueprint("h", ("Batch",)),),
            id="no-discriminator",
        ),
        pytest.param(
            blueprint_of(*(f"Entity{number:0>90}" for number in range(50))),
            tuple(HandlerBlueprint(f"h{number}", (f"Entity{number:0>90}",)) for number in range(50)),
            id="longer-than-a-pattern",
        ),
    ],
)
def test_everything_passes_where_entities_cannot_be_told(
    blueprint: Blueprint, handlers: tuple[HandlerBlueprint, ...]
) -> None:
    assert stream_filters(blueprint, ConsumerBlueprint("c", handlers=handlers)) == ()


_HANDLERS = st.lists(
    st.builds(
        HandlerBlueprint,
        st.just("h"),
        st.lists(st.sampled_from(NAMES), min_size=1, unique=True).map(tuple),
        st.lists(st.sampled_from(EVENTS), unique=True).map(tuple),
    ),
    min_size=1,
    max_size=6,
)


@given(_HANDLERS)
def test_no_handler_misses_a_record_that_it_needs(handlers: list[HandlerBlueprint]) -> None:
    filters = stream_filters(blueprint_of(*NAMES), ConsumerBlueprint("c", handlers=tuple(handlers)))
    assert 0 < len(filters) <= FILTERS_MAX
    for pattern in filters:
        assert len(text(pattern)) <= PATTERN_LENGTH_MAX
        assert json.loads(text(pattern)) == pattern
        assert list(pattern) == ["dynamodb"]  # the one key that Lambda filters by
    for handler in handlers:
        for name in handler.entities:
            for event in handler.events or EVENTS:
                assert passes(filters, records_of(name.upper())[event])
    watched = {name for handler in handlers for name in handler.entities}
    for name in set(NAMES) - watched:
        assert not any(passes(filters, each) for each in records_of(name.upper()).values())


@given(_HANDLERS)
def test_order_of_handlers_does_not_change_the_filters(handlers: list[HandlerBlueprint]) -> None:
    blueprint = blueprint_of(*NAMES)
    one, other = (
        stream_filters(blueprint, ConsumerBlueprint("c", handlers=each))
        for each in (tuple(handlers), tuple(reversed(handlers)))
    )
    assert one == other


# --- the evaluator of these tests, by the examples of the guide -------------------------------------------

_GUIDE_RECORD = {
    "eventID": "1",
    "dynamodb": {
        "Keys": {"CustomerName": {"S": "AnyCompany Industries"}},
        "NewImage": {
            "AccountManager": {"S": "Pat Candella"},
            "PaymentTerms": {"S": "60 days"},
            "CustomerName": {"S": "AnyCompany Industries"},
        },
    },
}


@pytest.mark.parametrize(
    ("pattern", "is_passed"),
    [
        ({"dynamodb": {"Keys": {"CustomerName": {"S": ["AnyCompany Industries"]}}}}, True),
        ({"dynamodb": {"Keys": {"CustomerName": {"S": ["Other"]}}}}, False),
        ({"dynamodb": {"NewImage": {"AccountManager": {"S": ["Pat Candella", "Shirley Rodriguez"]}}}}, True),
        ({"dynamodb": {"NewImage": {"Title": {"S": [{"exists": False}]}}}}, True),
        ({"dynamodb": {"OldImage": {"CustomerName": {"S": [{"exists": True}]}}}}, False),
        ({"dynamodb": {"OldImage": {"CustomerName": {"S": [{"exists": False}]}}}}, True),
    ],
)
def test_evaluator_agrees_with_the_examples_of_the_guide(pattern: dict[str, Any], is_passed: bool) -> None:
    assert matches(pattern, _GUIDE_RECORD) == is_passed
