"""The loads of Kefir add up to what its document states."""

from __future__ import annotations

import pytest

from singletable.systems import find_system
from systems.described import cited, monthly, requests

BLUEPRINT = find_system("kefir").blueprint()
WRITES = ("create", "update", "delete")


def test_reads_and_writes_are_those_of_a_thousand_users() -> None:
    assert BLUEPRINT.users == 1_000
    assert requests(BLUEPRINT, cited(BLUEPRINT, "003:337", "pattern")) == pytest.approx(100_000)
    assert monthly(cited(BLUEPRINT, "003:338", *WRITES)) == pytest.approx(50_000)


def test_only_two_patterns_are_beside_the_document() -> None:
    others = [load.of for load in BLUEPRINT.loads if load.kind == "pattern" and load.because[:3] != "003"]
    assert others == ["batches_by_status", "due"]


def test_volumes_are_those_of_a_user_as_documented() -> None:
    volumes = {each.entity: each for each in BLUEPRINT.volumes}
    assert {name: each.count * each.kb for name, each in volumes.items()} == {
        "User": 1,
        "Batch": 20,
        "BatchEvent": 100,
        "Reminder": 20,
        "Device": 3,
    }
    assert {each.per for each in volumes.values()} == {"user"}
    assert volumes["BatchEvent"].upto_kb == 3


def test_handler_says_what_it_writes_and_reaches() -> None:
    (consumer,) = BLUEPRINT.consumers
    (handler,) = consumer.handlers
    assert (handler.name, handler.entities, handler.fields) == (
        "keep_schedule",
        ("Reminder",),
        ("status", "due_at"),
    )
    assert (handler.writes, handler.sends) == (("Reminder",), ("eventbridge-scheduler",))
