"""The table description in the answer to UpdateTable.

AWS changes a table asynchronously, and its answer describes the table on the way: some changes show at once, for
others it still shows the old setting (ack-api-quirks, DDB-TABLE-060, 064, 135, 140, 155, 165, 179, 180, 182, 284).
Here all of them are done when the answer leaves, and the next DescribeTable shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from singletable.engine.table_changes import IndexUpdate, UpdateTable
from singletable.engine.tables import TableStatus
from singletable.engine.throughput import decreases_today, warm_setting, warm_units
from singletable.storage.definitions import BillingMode, IndexDefinition, TableDefinition, Throughput

_Described = TableDefinition | IndexDefinition

# Of these the answer shows the old setting.
_SHOWN_LATER = ("SSESpecification", "TableClass", "TableClassLastUpdateDateTime")


def answered_status(request: UpdateTable) -> TableStatus:
    """Return the status that the answer gives: some changes are done at once in AWS too."""
    slow = (
        request.billing,
        request.throughput,
        request.creates,
        request.deletes,
        request.settings.get("TableClass"),
    )
    return "UPDATING" if any(slow) or request.stream_enabled is not None else "ACTIVE"


def answered_index_statuses(
    old: TableDefinition, new: TableDefinition, request: UpdateTable
) -> dict[str, TableStatus]:
    statuses: dict[str, TableStatus] = {}
    if old.billing != new.billing:
        statuses.update({index.name: "UPDATING" for index in old.indexes if index.is_global})
    for name, update in request.updates.items():
        if update.throughput is not None or "OnDemandThroughput" in update.settings:
            statuses[name] = "UPDATING"
    statuses.update({index.name: "CREATING" for index in request.creates})
    statuses.update(dict.fromkeys(request.deletes, "DELETING"))
    return statuses


def updating_settings(request: UpdateTable) -> frozenset[str]:
    return frozenset(("SSESpecification", "WarmThroughput")).intersection(request.settings)


def updating_indexes(request: UpdateTable) -> frozenset[str]:
    return frozenset(name for name, update in request.updates.items() if "WarmThroughput" in update.settings)


def answered_definition(
    old: TableDefinition, new: TableDefinition, request: UpdateTable, now_us: int
) -> TableDefinition:
    """Return the table as the answer shows it."""
    is_switch = old.billing != new.billing
    settings = _answered_settings(old, new, old.billing, request.settings, now_us, is_switch=is_switch)
    if is_switch and new.billing == "PAY_PER_REQUEST":
        settings["ThroughputChanges"]["LastDecreaseDateTime"] = now_us  # for as long as it takes only
    by_id = {index.id: index for index in new.indexes}
    shown = [
        _answered_index(index, by_id.pop(index.id, index), old.billing, request, now_us, is_switch=is_switch)
        for index in old.indexes
    ]
    return replace(
        new,
        # A deleted index is there to the end, and so are the definitions of its attributes.
        attributes=old.attributes if request.deletes else new.attributes,
        indexes=(*shown, *by_id.values()),
        billing_changed_us=old.billing_changed_us,
        throughput=new.throughput if is_switch else old.throughput,
        settings=settings,
    )


def _answered_index(
    old: IndexDefinition,
    new: IndexDefinition,
    old_billing: BillingMode,
    request: UpdateTable,
    now_us: int,
    *,
    is_switch: bool,
) -> IndexDefinition:
    if not old.is_global:
        return new
    update = request.updates.get(old.name, IndexUpdate())
    settings = _answered_settings(old, new, old_billing, update.settings, now_us, is_switch=is_switch)
    units: Throughput = new.throughput if is_switch else old.throughput
    return replace(new, throughput=units, settings=settings)


def _answered_settings(
    old: _Described,
    new: _Described,
    old_billing: BillingMode,
    asked: Mapping[str, Any],
    now_us: int,
    *,
    is_switch: bool,
) -> dict[str, Any]:
    before = old.settings
    settings = {name: setting for name, setting in new.settings.items() if name not in _SHOWN_LATER}
    settings.update({name: before[name] for name in _SHOWN_LATER if name in before})
    if "OnDemandThroughput" in asked:
        # A bound that is taken away is told as -1 this once.
        kept = before.get("OnDemandThroughput", {})
        settings["OnDemandThroughput"] = {**kept, **asked["OnDemandThroughput"]}
    settings["WarmThroughput"] = warm_setting(warm_units(before, old_billing, old.throughput))
    settings["ThroughputChanges"] = {
        **(old if is_switch else new).settings.get("ThroughputChanges", {}),
        "NumberOfDecreasesToday": decreases_today(before, now_us),
    }
    return settings
