"""The key classes of Kefir: each is read back as it was written, and each is documented or repairs a defect."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable import Entity, Key, SortKey
from singletable.errors import SeparatorError
from singletable_systems.kefir.model import keys
from singletable_systems.kefir.model.entities import Batch, Device, Reminder, User
from singletable_systems.kefir.model.keys import CreatedSK, DueSK, EventSK, KefirTable, NextTrySK, Status
from singletable_systems.kefir.reactions.handlers import Kefir

AT = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)

# --- round trips ------------------------------------------------------------------------------------------

KEY_CLASSES: list[type[Key]] = [
    kind
    for kind in vars(keys).values()
    if isinstance(kind, type) and issubclass(kind, Key) and kind.__module__ == keys.__name__
]
SORT_KEYS_OF_TIMES = [EventSK, DueSK, CreatedSK, NextTrySK]

ids = st.text(st.characters(exclude_characters="#", exclude_categories=["Cs"]), min_size=1, max_size=40)
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones)  # noqa: DTZ001  # zones are drawn


def values_of(kind: type[Key]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw the values of a key class, by the names of its parts."""
    by_name: dict[str, st.SearchStrategy[Any]] = {
        "status": st.sampled_from(get_args(Status)),
        "shard": st.integers(0, 3),
        "created_at": times,
        "due_at": times,
        "next_try_at": times,
        "email": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
    }
    return st.fixed_dictionaries({part.name: by_name.get(part.name, ids) for part in kind.parts})


@pytest.mark.parametrize("kind", KEY_CLASSES)
@given(data=st.data())
def test_every_key_is_read_back(kind: type[Key], data: st.DataObject) -> None:
    key = kind(**data.draw(values_of(kind)))
    assert kind.parse(key.render()) == key


@pytest.mark.parametrize("kind", SORT_KEYS_OF_TIMES)
@given(first=times, second=times)
def test_keys_of_times_are_in_the_order_of_the_times(
    kind: type[SortKey], first: datetime, second: datetime
) -> None:
    def text(moment: datetime) -> str:
        return kind(
            **{part.name: moment if part.name.endswith("_at") else "x" for part in kind.parts}
        ).render()

    def cut(moment: datetime) -> datetime:
        return moment.astimezone(UTC).replace(microsecond=moment.microsecond // 1000 * 1000)

    assert (text(first) < text(second)) == (cut(first) < cut(second))
    assert (text(first) == text(second)) == (cut(first) == cut(second))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, part.name)
        for kind in KEY_CLASSES
        for part in kind.parts
        if part.name.endswith("_id") or part.name == "push_token"
    ],
)
def test_separator_inside_an_id_is_refused(kind: type[Key], name: str) -> None:
    """X-01: otherwise two keys could be the same text."""
    values = {"status": "active", "shard": 0, "created_at": AT, "due_at": AT, "next_try_at": AT, name: "a#b"}
    with pytest.raises(SeparatorError):
        kind(**{part.name: values.get(part.name, "x") for part in kind.parts})


# --- what was added ---------------------------------------------------------------------------------------

# Keys of the document, each with its lines, and those that were added, each with the defects that they repair.
DOCUMENTED_KEYS = {
    "UserPK": "003:29, 59, 155, 191",
    "BatchPK": "003:61, 113, 153",
    "MetadataSK": "003:30",
    "BatchSK": "003:60",
    "EventSK": "003:114",
    "ReminderSK": "003:154",
    "DeviceSK": "003:192",
    "StatusSK": "003:62",
    "DueSK": "003:156",
}
ADDED_KEYS = {
    "StatusPK": ("STATUS#{status}#{shard}", "KF-01"),
    "CreatedSK": ("BATCH#{created_at}#{batch_id}", "KF-01"),
    "PendingPK": ("REMINDER#PENDING#{shard}", "KF-02"),
    "NextTrySK": ("DUE#{next_try_at}#{reminder_id}", "KF-02"),
    "EmailPK": ("EMAIL#{email}", "KF-22"),
    "PushTokenPK": ("PUSHTOKEN#{push_token}", "KF-20"),
}
# Places and locks that were added to entities.
ADDED_PLACES = {
    (Batch, "by_status"): "KF-01",
    (Reminder, "pending"): "KF-02",
    (User, "unique_email"): "KF-22",
    (Device, "unique_push_token"): "KF-20",
}
DOCUMENTED_PLACES = {(Batch, "by_id"), (Reminder, "by_user"), *((kind, "key") for kind in Kefir.entities)}


def test_every_key_class_is_documented_or_added() -> None:
    assert {kind.__name__ for kind in KEY_CLASSES} == {*DOCUMENTED_KEYS, *ADDED_KEYS}


@pytest.mark.parametrize("name", ADDED_KEYS)
def test_added_key_names_the_defect_that_it_repairs(name: str) -> None:
    template, defect = ADDED_KEYS[name]
    kind: type[Key] = getattr(keys, name)
    assert kind.template == template
    assert f"Added, {defect}" in (kind.__doc__ or "")


def test_every_place_and_lock_is_documented_or_added() -> None:
    blueprint = Kefir.blueprint()
    pairs = list(zip(Kefir.entities, blueprint.entities, strict=True))
    places = {(kind, place.name) for kind, entity in pairs for place in entity.places}
    locks = {(kind, unique.name) for kind, entity in pairs for unique in entity.uniques}
    assert places | locks == {*DOCUMENTED_PLACES, *ADDED_PLACES}
    assert [index.name for index in blueprint.indexes] == ["GSI1", "GSI2"]


@pytest.mark.parametrize(("place", "defect"), ADDED_PLACES.items())
def test_added_place_names_the_defect_that_it_repairs(place: tuple[type[Entity], str], defect: str) -> None:
    kind, name = place
    (line,) = (line for line in inspect.getsource(kind).splitlines() if line.strip().startswith(f"{name} = "))
    assert f"# added: {defect}" in line


def test_added_index_names_the_defects_that_it_repairs() -> None:
    (line,) = (line for line in inspect.getsource(KefirTable).splitlines() if "gsi2 = " in line)
    assert "# added: KF-01, KF-02" in line


def test_reminder_is_in_indexes_only_while_it_is_pending() -> None:
    """003:353 calls them sparse, which they were not (KF-04, KF-11)."""
    entity = next(each for each in Kefir.blueprint().entities if each.name == "Reminder")
    pending = {"operator": "=", "field": "status", "value": "pending"}
    assert {place.index: place.when for place in entity.places} == {
        None: None,
        "GSI1": pending,
        "GSI2": pending,
    }
