"""Provisioned, on-demand and warm throughput: the rules for its values, and the record of its changes.

It has an effect only where throttling was asked for (`throughput_limits`); it is always checked and described. The
words are answers of Amazon DynamoDB that the "ack-api-quirks" laboratory recorded in October 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from singletable import limits
from singletable.errors import INVALID, LimitExceededError, ValidationError
from singletable.storage.definitions import BillingMode, Throughput

_DAY_US: Final = 24 * 60 * 60 * 1_000_000
_INITIAL: Final = Throughput(limits.ON_DEMAND_READ_UNITS, limits.ON_DEMAND_WRITE_UNITS)
_SEE_INITIAL: Final = (
    "See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html"
    "#on-demand-capacity-mode-initial"
)
_READ_AND_WRITE: Final = (("Read", "read_units"), ("Write", "write_units"))

Settings = Mapping[str, Any]


# --- warm throughput -------------------------------------------------------------------------


def warm_units(settings: Settings, billing: BillingMode, throughput: Throughput) -> Throughput:
    """Return the warm throughput of a table or index. It has a default, and never falls (DDB-TABLE-061, 134)."""
    floor = _INITIAL if billing == "PAY_PER_REQUEST" else throughput
    stored = settings.get("WarmThroughput", {})
    return Throughput(
        max(stored.get("ReadUnitsPerSecond", 0), floor.read_units),
        max(stored.get("WriteUnitsPerSecond", 0), floor.write_units),
    )


def warm_setting(units: Throughput) -> dict[str, int]:
    return {"ReadUnitsPerSecond": units.read_units, "WriteUnitsPerSecond": units.write_units}


def check_new_warm(settings: Settings, billing: BillingMode, throughput: Throughput, where: str) -> None:
    """Refuse less warm throughput than a new table or index has by default (DDB-TABLE-039, 128)."""
    for kind, units in _READ_AND_WRITE:
        asked = settings.get("WarmThroughput", {}).get(f"{kind}UnitsPerSecond")
        if asked is None:
            continue
        subject = f"{INVALID}Requested {kind}UnitsPerSecond for WarmThroughput for {where} is lower than "
        if billing == "PAY_PER_REQUEST" and asked < getattr(_INITIAL, units):
            raise ValidationError(f"{subject}initial throughput for OnDemand. {_SEE_INITIAL}")
        if billing == "PROVISIONED" and asked < getattr(throughput, units):
            raise ValidationError(f"{subject}{kind}CapacityUnits of ProvisionedThroughput")


def check_warm_change(asked: Settings, current: Throughput, where: str) -> None:
    """Refuse to make warm throughput smaller; the same again is right (DDB-TABLE-155, 179)."""
    for kind, units in _READ_AND_WRITE:
        if asked.get(f"{kind}UnitsPerSecond", limits.TABLE_UNITS_MAX) < getattr(current, units):
            raise ValidationError(
                f"{INVALID}Requested {kind}UnitsPerSecond for WarmThroughput for {where} is lower than current "
                "WarmThroughput, decreasing WarmThroughput is not supported"
            )


# --- quotas ----------------------------------------------------------------------------------


def check_quotas(
    throughput: Throughput | None, settings: Settings, *, region: str, index: str | None = None
) -> None:
    """Refuse more for one table or index than the quotas of an account allow (DDB-TABLE-154, 170, 171)."""
    most = limits.TABLE_UNITS_MAX
    of_index, table_or_index = ("", "table") if index is None else (f" for index {index}", "index")
    for kind, units in _READ_AND_WRITE:
        asked = 0 if throughput is None else getattr(throughput, units)
        if asked > most:
            raise LimitExceededError(
                f"The requested {kind}CapacityUnits{of_index}, {asked}, is above the per {table_or_index} maximum "
                f"for the account in {region}. Per table maximum: {most}. Refer to the Amazon DynamoDB Developer "
                "Guide for current limits and how to request higher limits."
            )
        for setting, member, where in (
            ("OnDemandThroughput", f"Max{kind}RequestUnits", f"index : {index}"),
            ("WarmThroughput", f"{kind}UnitsPerSecond", f"index {index}"),
        ):
            if settings.get(setting, {}).get(member, 0) > most:
                raise LimitExceededError(
                    f"Subscriber limit exceeded: Requested {member} for {setting} for "
                    f"{'table' if index is None else where} exceeds TableMax{kind}CapacityUnits of the account in "
                    f"region {region}"
                )


# --- changes of provisioned throughput ---------------------------------------------------------


def remember_change(settings: Settings, old: Throughput, new: Throughput, now_us: int) -> dict[str, Any]:
    """Return settings that know when units went up and down, and how often they went down on the last such day.

    Going down in both counts once, and so does going down in one and up in the other (DDB-TABLE-157, 184).
    """
    changes = dict(settings.get("ThroughputChanges", {}))
    if new.read_units > old.read_units or new.write_units > old.write_units:
        changes["LastIncreaseDateTime"] = now_us
    if new.read_units < old.read_units or new.write_units < old.write_units:
        changes["NumberOfDecreasesToday"] = decreases_today(settings, now_us) + 1
        changes["LastDecreaseDateTime"] = now_us
    return {**settings, "ThroughputChanges": changes} if changes else dict(settings)


def decreases_today(settings: Settings, now_us: int) -> int:
    """Return how often units went down since midnight, UTC (DDB-TABLE-185)."""
    changes = settings.get("ThroughputChanges", {})
    last_us = changes.get("LastDecreaseDateTime")
    if last_us is None or last_us // _DAY_US != now_us // _DAY_US:
        return 0
    count: int = changes["NumberOfDecreasesToday"]
    return count
