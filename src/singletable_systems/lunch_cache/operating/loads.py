"""Lunch Cache's services: the patterns that each asks, the entities that it writes, and how often it is called."""

from __future__ import annotations

from typing import Final

from singletable.systems import Service
from singletable_systems.lunch_cache.model.entities import HealthProbe, WeeklyMenu
from singletable_systems.lunch_cache.model.loads import CHECKS_A_DAY, WEEKS
from singletable_systems.lunch_cache.services.health import check_health
from singletable_systems.lunch_cache.services.menus import Menus
from singletable_systems.lunch_cache.services.statistics import statistics_of
from singletable_systems.shared.model import DAYS, Estimate, services, worker

_OF: Final = Estimate()
_BESIDE: Final = "assumption, beside 004:142: "

SERVICES: Final[tuple[Service, ...]] = (
    *services(
        _OF.daily,
        (
            500,
            "004:142 Reads: 100-500 requests/day (lunch viewing), the upper end",
            Menus.this_week,
            "menu",
            (),
            "menu",
        ),
        (
            50,
            _BESIDE + "somebody looks at all restaurants",
            Menus.all_this_week,
            "menus",
            (),
            "menus*1-20~10",
        ),
        (10, _BESIDE + "somebody looks at all, in another week", Menus.all_of, "menus", (), "menus*1-20~10"),
        (
            30,
            _BESIDE + "somebody looks at what a restaurant had before",
            Menus.history,
            "history",
            (),
            "history:10",
        ),
        (
            5,
            _BESIDE + "the maker of a parser looks for what it misreads",
            Menus.flawed,
            "flawed",
            (),
            "flawed:10",
        ),
        (5, _BESIDE + "somebody compares prices", statistics_of, "menus_of", (), "menus_of"),
    ),
    *services(
        _OF.monthly,
        (
            50 * WEEKS,
            "004:143 Writes: 10-50 requests/week (cache updates), the upper end",
            Menus.store,
            "store_menu",
            (WeeklyMenu,),
            "store_menu menu*0-1",
        ),
    ),
    *services(
        worker,
        (
            CHECKS_A_DAY * DAYS,
            "assumption: health is checked every minute",
            check_health,
            "write_probe read_probe delete_probe",
            (HealthProbe,),
            "write_probe read_probe delete_probe",
        ),
    ),
)
