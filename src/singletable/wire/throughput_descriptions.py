"""How the throughput of a table or index describes itself: provisioned, paid per request, warm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from singletable.engine.tables import TableDescription
from singletable.engine.throughput import decreases_today, warm_setting, warm_units
from singletable.storage.definitions import BillingMode, Throughput
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer


def provisioned(units: Throughput, settings: Mapping[str, Any], now_us: int, form: Form) -> Answer:
    changes = settings.get("ThroughputChanges", {})
    answer: Answer = {
        name: form.time(changes[name])
        for name in ("LastIncreaseDateTime", "LastDecreaseDateTime")
        if name in changes
    }
    return {
        **answer,
        "NumberOfDecreasesToday": decreases_today(settings, now_us),
        "ReadCapacityUnits": units.read_units,
        "WriteCapacityUnits": units.write_units,
    }


def billing_summary(described: TableDescription, form: Form) -> Answer:
    table = described.definition
    if table.billing == "PROVISIONED" and table.billing_changed_us is None:
        return {}
    summary: Answer = {"BillingMode": table.billing}
    # The answer to CreateTable does not have the time yet (ack-api-quirks, DDB-TABLE-033).
    if table.billing_changed_us is not None and described.status != "CREATING":
        summary["LastUpdateToPayPerRequestDateTime"] = form.time(table.billing_changed_us)
    return {"BillingModeSummary": summary}


def warm(settings: Mapping[str, Any], billing: BillingMode, units: Throughput, *, updating: bool) -> Answer:
    ready = warm_setting(warm_units(settings, billing, units))
    return {"WarmThroughput": {**ready, "Status": "UPDATING" if updating else "ACTIVE"}}


def on_demand(settings: Mapping[str, Any]) -> Answer:
    limited = settings.get("OnDemandThroughput")
    return {"OnDemandThroughput": dict(limited)} if limited else {}
