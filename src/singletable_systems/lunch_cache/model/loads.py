"""How often Lunch Cache is asked and written: the upper ends of 004:142-143. Nobody counts its users."""

from __future__ import annotations

from typing import Final

from singletable import Writes
from singletable_systems.lunch_cache.model.entities import HealthProbe, WeeklyMenu
from singletable_systems.shared.model import DAYS, Estimate, Loads, worker

WEEKS: Final = DAYS / 7  # of a month
CHECKS_A_DAY: Final = 24 * 60
_OF: Final = Estimate()
_READS: Final = "004:142 Reads: 100-500 requests/day (lunch viewing), the upper end"
_WRITES: Final = "004:143 Writes: 10-50 requests/week (cache updates), the upper end"
_TTL: Final = "004:144 Deletes: automatic via TTL"
_KEPT: Final = "a restaurant has the menus of two weeks (004:124)"
_CHECK: Final = "assumption: health is checked every minute, beside 004:142-143"

LOADS: Final[Loads] = {
    "store_menu": _OF.monthly(50 * WEEKS, _WRITES, fails=0.02),
    "menu": _OF.daily(500, _READS),
    **_OF.each_daily(
        "assumption: few look at more than a menu, beside 004:142",
        menus=(60, 10, "all 10 restaurants (004:137)"),
        history=(30, 2, _KEPT),
        flawed=(5, 2, _KEPT),
        menus_of=(5, 2, _KEPT),
    ),
    **{name: worker(CHECKS_A_DAY * DAYS, _CHECK) for name in ("write_probe", "read_probe", "delete_probe")},
    WeeklyMenu: Writes(
        create=_OF.monthly(10 * WEEKS, f"{_WRITES}: 10 restaurants (004:137) have one menu a week"),
        update=_OF.monthly(
            40 * WEEKS,
            f"{_WRITES}: the others are scraped again, and have another cachedAt",
            changes={"cached_at": 1, "ttl": 1, "lunches": 0.25},
        ),
        expire=worker(10 * WEEKS, _TTL),
    ),
    HealthProbe: Writes(
        create=worker(CHECKS_A_DAY * DAYS, _CHECK), delete=worker(CHECKS_A_DAY * DAYS, _CHECK)
    ),
}
