"""Made-up data: the same for the same day, valid, consistent in itself, and as much as it says."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable.design import Design, Entity
from singletable.systems import Size, find_system
from singletable_systems.kefir.model.entities import Batch, BatchEvent, Device, Reminder, User
from singletable_systems.kefir.model.keys import UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.rules.batches import ALLOWED
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import WeeklyMenu
from singletable_systems.lunch_cache.model.weeks import Week

DAY = date(2026, 3, 4)  # a Wednesday
MIDNIGHT = datetime.combine(DAY, time(), UTC)
SYSTEMS = ("kefir", "lunch_cache", "perfectit", "smart_cooking")


def made(system: str, size: Size = "small", day: date = DAY) -> list[Entity]:
    return list(find_system(system).seed(size, day).entities)


def counts(entities: Iterable[Entity]) -> dict[str, int]:
    return dict(Counter(type(entity).__name__ for entity in entities))


def moved(value: Any, by: timedelta) -> Any:
    """Return data with all its times moved."""
    if isinstance(value, dict):
        return {name: moved(member, by) for name, member in value.items()}
    return value + by if isinstance(value, datetime) else value


def at_midnight(design: type[Design], day: date = DAY) -> Any:
    """Open a design in memory when a day begins."""
    clock = ManualClock(int(datetime.combine(day, time(), UTC).timestamp() * 1_000_000))
    return design.open(":memory:", clock=clock)


@pytest.fixture(scope="module")
def kefir() -> list[Entity]:
    return made("kefir")


def of(kind: type[Any], entities: list[Entity]) -> list[Any]:
    return [entity for entity in entities if type(entity) is kind]


def by_batch(entities: list[Any]) -> dict[str, list[Any]]:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for entity in entities:
        found[entity.batch_id].append(entity)
    return found


# --- how much ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS)
def test_seed_has_as_many_entities_as_it_says(system: str) -> None:
    seed = find_system(system).seed("small", DAY)
    assert len(list(seed.entities)) == seed.count


def test_small_kefir_has_twelve_users_with_what_the_document_counts(kefir: list[Entity]) -> None:
    # 003:324-331, for each of them.
    assert counts(kefir) == {"User": 12, "Device": 36, "Batch": 120, "BatchEvent": 600, "Reminder": 240}


@pytest.mark.parametrize(("system", "count"), [("kefir", 238_560), ("lunch_cache", 6_000)])
def test_large_seed_says_how_many_there_are(system: str, count: int) -> None:
    assert find_system(system).seed("large", DAY).count == count


@pytest.mark.soak
def test_large_kefir_has_a_quarter_of_a_million_items() -> None:
    entities = made("kefir", "large")
    found = counts(entities)
    assert found == {"User": 2840, "Device": 8520, "Batch": 28400, "BatchEvent": 142000, "Reminder": 56800}
    assert find_system("kefir").seed("large", DAY).count == len(entities) == 238_560
    assert len({user.email for user in of(User, entities)}) == 2840
    assert len({device.push_token for device in of(Device, entities)}) == 8520


@pytest.mark.parametrize(
    ("day", "weeks"),
    [(2, 3), (3, 3), (4, 3), (5, 3), (6, 2), (7, 2), (8, 3)],
    ids=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
)
def test_lunch_has_the_weeks_that_are_there_on_a_weekday(day: int, weeks: int) -> None:
    menus = made("lunch_cache", day=date(2026, 3, day))
    assert len(menus) == 10 * weeks
    numbers = sorted({menu.week for menu in of(WeeklyMenu, menus)})
    assert numbers == {3: [8, 9, 10], 2: [9, 10]}[weeks] if day != 8 else [9, 10, 11]


@pytest.mark.soak
def test_large_lunch_has_two_thousand_restaurants() -> None:
    seed = find_system("lunch_cache").seed("large", DAY)
    menus = of(WeeklyMenu, list(seed.entities))
    assert len(menus) == seed.count == 6000
    assert len({menu.restaurant for menu in menus}) == 2000


# --- always the same --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS)
def test_same_day_makes_the_same_data(system: str) -> None:
    assert made(system) == made(system)


def test_another_day_moves_the_times_of_kefir_and_nothing_else(kefir: list[Entity]) -> None:
    days = timedelta(days=45)
    later = made("kefir", day=DAY + days)
    assert [entity.model_dump() for entity in later] == [moved(entity.model_dump(), days) for entity in kefir]


def test_a_week_later_two_of_three_menus_are_those_of_before() -> None:
    before = {(menu.restaurant, menu.week): menu for menu in of(WeeklyMenu, made("lunch_cache"))}
    later = of(WeeklyMenu, made("lunch_cache", day=DAY + timedelta(weeks=1)))
    same = [before[menu.restaurant, menu.week] for menu in later if (menu.restaurant, menu.week) in before]
    assert len(same) == 20
    for menu in later:
        known = before.get((menu.restaurant, menu.week))
        assert known is None or known.lunches == menu.lunches


def test_small_data_is_the_beginning_of_the_large() -> None:
    large = find_system("kefir").seed("large", DAY).entities
    assert all(mine == other for mine, other in zip(made("kefir"), large, strict=False))


# --- kefir that ferments ----------------------------------------------------------------------------------------


def test_recipes_are_plausible(kefir: list[Entity]) -> None:
    for batch in of(Batch, kefir):
        per_litre = batch.sugar_grams * 1000 / batch.water_volume_ml
        assert 30 <= per_litre <= 80
        assert 18 <= batch.temperature_c <= 28
        assert 24 <= batch.target_hours_stage1 <= 72
        if batch.stage == 2:
            assert batch.bottle_count * batch.bottle_volume_ml <= batch.water_volume_ml
            assert 24 <= batch.target_hours_stage2 <= 72
            assert 18 <= batch.temperature_c_stage2 <= batch.temperature_c


def test_warm_jars_are_done_sooner(kefir: list[Entity]) -> None:
    batches = sorted(of(Batch, kefir), key=lambda batch: Decimal(batch.temperature_c))
    hours = [batch.target_hours_stage1 for batch in batches]
    assert hours == sorted(hours, reverse=True)
    assert hours[0] > hours[-1]


def test_timelines_end_where_their_batches_stand(kefir: list[Entity]) -> None:
    timelines = by_batch(of(BatchEvent, kefir))
    for batch in of(Batch, kefir):
        stage, status = 1, "active"
        for event in timelines[batch.batch_id]:
            if event.type == "stage_transition":
                assert (event.from_stage, stage) == (stage, event.from_stage)
                stage = event.to_stage
            elif event.type == "status_change":
                assert event.from_status == status
                assert event.to_status in ALLOWED[event.from_status]
                status = event.to_status
        assert (batch.stage, batch.status) == (stage, status)
        assert (batch.archived_at is not None) == (status == "archived")
        assert (batch.start_time_stage2 is not None) == (stage == 2)


def test_timelines_are_in_order_and_behind_the_day(kefir: list[Entity]) -> None:
    batches = {batch.batch_id: batch for batch in of(Batch, kefir)}
    for batch_id, events in by_batch(of(BatchEvent, kefir)).items():
        times = [event.created_at for event in events]
        assert times == sorted(times)
        assert batches[batch_id].start_time <= times[0]
        assert times[-1] <= MIDNIGHT
        changes = [event for event in events if event.type in ("stage_transition", "status_change")]
        last = changes[-1].created_at if changes else batches[batch_id].start_time
        assert batches[batch_id].updated_at == last
        assert batches[batch_id].version == 1 + len(changes)


def test_every_kind_of_event_is_there_with_what_it_needs(kefir: list[Entity]) -> None:
    events = of(BatchEvent, kefir)
    assert {event.type for event in events} == {"photo", "note", "stage_transition", "status_change"}
    assert all(event.photo_key and event.photo_url for event in events if event.type == "photo")
    assert all(event.note for event in events if event.type == "note")


def test_reminders_are_as_their_batches_and_the_day_say(kefir: list[Entity]) -> None:
    batches = {batch.batch_id: batch for batch in of(Batch, kefir)}
    for reminder in of(Reminder, kefir):
        batch = batches[reminder.batch_id]
        assert reminder.user_id == batch.user_id
        match reminder.status:
            case "pending":
                assert reminder.due_at >= MIDNIGHT
                assert batch.status in ("active", "in_fridge")
            case "sent":
                assert reminder.due_at < reminder.sent_at < MIDNIGHT
            case _:
                assert reminder.cancelled_at == batch.archived_at < reminder.due_at < MIDNIGHT
    assert set(counts_of(reminder.status for reminder in of(Reminder, kefir))) == {
        "pending",
        "sent",
        "cancelled",
    }


def counts_of(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values))


def test_some_reminders_are_due_on_the_day_and_the_first_when_it_begins(kefir: list[Entity]) -> None:
    pending = [reminder for reminder in of(Reminder, kefir) if reminder.status == "pending"]
    today = [reminder for reminder in pending if reminder.due_at < MIDNIGHT + timedelta(days=1)]
    assert len(today) > 10
    assert len(pending) > len(today)
    first = min(pending, key=lambda reminder: reminder.due_at)
    assert (first.user_id, first.due_at) == ("ada", MIDNIGHT)


def test_devices_have_expo_tokens_and_addresses_are_those_of_examples(kefir: list[Entity]) -> None:
    for device in of(Device, kefir):
        assert re.fullmatch(r"ExponentPushToken\[[A-Za-z0-9]{22}\]", device.push_token)
    assert {device.platform for device in of(Device, kefir)} == {"ios", "android", "web"}
    users = of(User, kefir)
    assert all(re.fullmatch(r"[a-z.]+@post\.[a-z]{2}\.example", user.email) for user in users)
    assert len({user.email[-10:] for user in users}) > 8
    assert [user.preferences.notifications_enabled for user in users].count(False) == 2


def test_some_batches_are_shared_and_all_of_them_are_done(kefir: list[Entity]) -> None:
    shared = [batch for batch in of(Batch, kefir) if batch.is_public]
    assert len(shared) > 12
    assert all(batch.public_note and batch.status in ("ready", "archived") for batch in shared)


def test_loaded_kefir_is_found_by_its_patterns_and_nothing_is_wrong_with_it(kefir: list[Entity]) -> None:
    with at_midnight(Kefir) as db:
        db.load(kefir)
        assert db.verify().is_clean
        data = db.user_data(UserId("ada")).one()
        assert (len(data.batches), len(data.devices)) == (10, 3)
        ready = list(db.batches_by_status("ready").all())
        assert len(ready) == len([batch for batch in of(Batch, kefir) if batch.status == "ready"])
        assert list(db.due(MIDNIGHT).all()) == []
        assert [each.reminder_id for each in db.due(MIDNIGHT + timedelta(milliseconds=1)).all()] == [
            "ada-09-r2"
        ]


# --- Swedish menus ----------------------------------------------------------------------------------------------


def test_menus_are_those_of_a_swedish_week() -> None:
    for menu in of(WeeklyMenu, made("lunch_cache")):
        assert menu.lunch_count in (14, 15)
        days = [lunch.weekday for lunch in menu.lunches]
        assert list(dict.fromkeys(days)) == ["måndag", "tisdag", "onsdag", "torsdag", "fredag"]
        assert all(95 <= lunch.price <= 165 for lunch in menu.lunches)
        assert all(lunch.description and lunch.week == menu.week for lunch in menu.lunches)
        assert len({lunch.name for lunch in menu.lunches}) == len(menu.lunches)


def test_restaurants_have_swedish_names_and_niagara_is_the_first() -> None:
    names = list(dict.fromkeys(menu.restaurant for menu in of(WeeklyMenu, made("lunch_cache"))))
    assert names[0] == "niagara"
    assert {"åkanten", "gröna-lunden", "sjöhästen", "spisa-hos-helena"} <= set(names)


def test_some_menus_have_mistakes_and_say_how_good_they_are() -> None:
    menus = of(WeeklyMenu, made("lunch_cache"))
    flawed = [menu for menu in menus if menu.validation_errors]
    assert {menu.restaurant for menu in flawed} == {"åkanten", "spisa-hos-helena"}
    for menu in menus:
        is_whole = menu.data_quality.completeness == menu.data_quality.accuracy == 1
        assert is_whole == (menu not in flawed)


@pytest.mark.parametrize("day", range(2, 9))
def test_no_menu_expires_on_the_day_and_none_is_of_the_future(day: int) -> None:
    today = date(2026, 3, day)
    midnight = datetime.combine(today, time(), UTC)
    for menu in of(WeeklyMenu, made("lunch_cache", day=today)):
        assert menu.ttl > midnight + timedelta(days=1)
        assert menu.last_updated < menu.cached_at < midnight


def test_weeks_go_on_across_the_end_of_a_year() -> None:
    menus = of(WeeklyMenu, made("lunch_cache", day=date(2027, 1, 1)))
    assert {(menu.year, menu.week) for menu in menus} == {(2026, 52), (2026, 53)}
    menus = of(WeeklyMenu, made("lunch_cache", day=date(2027, 1, 4)))
    assert {(menu.year, menu.week) for menu in menus} == {(2026, 52), (2026, 53), (2027, 1)}


def test_loaded_menus_are_found_by_their_patterns() -> None:
    menus = made("lunch_cache")
    with at_midnight(LunchCache) as db:
        db.load(menus)
        week = Week.of_day(DAY)
        assert db.menu("niagara", week.year, week.number).one() == menus[2]
        assert [menu.week for menu in db.history("niagara").all()] == [10, 9, 8]
        assert len(list(db.flawed("åkanten").all())) == 3
        assert db.verify().is_clean


# --- the scraper beside Lunch Cache ---------------------------------------------------------------------------


def test_scraper_brings_the_menus_of_a_week_that_begins_while_it_runs() -> None:
    friday = date(2026, 3, 6)
    with at_midnight(LunchCache, friday) as db:
        db.load(made("lunch_cache", day=friday))
        (scraper,) = find_system("lunch_cache").workers(db)
        assert scraper.step() == 0  # those of this week are there
        db.clock.advance(3 * 86_400 - 3600)  # midnight of Monday, in Stockholm
        assert scraper.step() == 10
        assert scraper.step() == 0
        menu = db.menu("niagara", 2026, 11).one()
        assert menu.lunch_count == 15
        assert menu.cached_at < db.now()


def test_scraper_leaves_what_is_there_alone() -> None:
    with at_midnight(LunchCache) as db:
        entities = made("lunch_cache")
        of_this_week = [menu for menu in of(WeeklyMenu, entities) if menu.week == 10]
        db.load(of_this_week[1:])
        (scraper,) = find_system("lunch_cache").workers(db)
        assert scraper.step() == 1
        stored = db.menus([menu.restaurant for menu in of_this_week], 2026, 10).all()
        assert list(stored) == of_this_week
