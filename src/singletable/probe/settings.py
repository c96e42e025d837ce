"""Settings of a table: whether they are kept and described, and their effect where it shows at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from singletable.client.capabilities import is_unknown_operation
from singletable.errors import (
    ApiError,
    BackupInUseError,
    BackupNotFoundError,
    ContinuousBackupsUnavailableError,
)
from singletable.probe.report import Finding, absent, breaks, holds
from singletable.probe.table import NOT_FOUND, TIES, ProbeTable, is_refusal, key, text

_EXPIRY_S: Final = 3.0  # AWS deletes within days; some engines at once
_DAYS: Final = 7
_ON: Final = frozenset({"ENABLED", "ENABLING"})
_FORGOTTEN: Final = "it is taken, and forgotten"


def _refused(change: Callable[[], object]) -> str | None:
    """Make a change; return why the target does not have it, if it says so."""
    try:
        change()
    except ApiError as error:
        if not is_refusal(error):
            raise
        return "it is not known" if is_unknown_operation(error) else f"it is refused: {error.message}"
    return None


def time_to_live(table: ProbeTable) -> Finding:
    """Let items expire by an attribute; see whether one that has expired goes at once."""
    specification = {"Enabled": True, "AttributeName": "expires"}
    refused = _refused(lambda: table.on("UpdateTimeToLive", TimeToLiveSpecification=specification))
    if refused:
        return absent(refused)
    described = table.on("DescribeTimeToLive").get("TimeToLiveDescription") or {}
    if described.get("TimeToLiveStatus") not in _ON or described.get("AttributeName") != "expires":
        return absent(_FORGOTTEN)
    gone_s = table.client.clock.now_us() // 1_000_000 - 60
    table.put({**key("EXPIRED"), "expires": {"N": str(gone_s)}})
    if table.eventually(lambda: table.get(key("EXPIRED")) is None, _EXPIRY_S):
        return holds(f"settings are kept, and an expired item goes within {_EXPIRY_S:.0f} s")
    return holds(f"settings only: no expired item goes within {_EXPIRY_S:.0f} s")


def recovery(table: ProbeTable) -> Finding:
    """Turn point-in-time recovery on for a number of days."""
    specification = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": _DAYS}

    def turn_on() -> None:
        for _ in table.pauses(60.0):
            try:
                table.on("UpdateContinuousBackups", PointInTimeRecoverySpecification=specification)
            except ContinuousBackupsUnavailableError:
                continue  # AWS is still making a new table ready for it
            return

    refused = _refused(turn_on)
    if refused:
        return absent(refused)

    def is_described() -> bool:
        described = table.on("DescribeContinuousBackups").get("ContinuousBackupsDescription") or {}
        found = described.get("PointInTimeRecoveryDescription") or {}
        is_on = found.get("PointInTimeRecoveryStatus") in _ON
        return is_on and found.get("RecoveryPeriodInDays", _DAYS) == _DAYS

    if not table.eventually(is_described, 2.0):
        return absent(_FORGOTTEN)
    return holds(f"settings of {_DAYS} days are kept; no restore was tried")


def encryption(table: ProbeTable) -> Finding:
    """Check that the table is described with the encryption that it was made with, or accepts it now."""

    def is_described() -> bool:
        described = (table.describe(table.name) or {}).get("SSEDescription") or {}
        return described.get("Status") in (*_ON, "UPDATING")

    if is_described():
        return holds("settings are kept with the table that is made; no disk was looked at")
    specification = {"Enabled": True, "SSEType": "KMS"}
    refused = _refused(lambda: table.on("UpdateTable", SSESpecification=specification))
    if refused:
        return absent(refused)
    if not table.eventually(is_described, 2.0):
        return absent(_FORGOTTEN)
    table.settle()
    return holds("settings are kept once the table is there; no disk was looked at")


def tags(table: ProbeTable) -> Finding:
    """Give the table a tag."""
    arn = table.description.get("TableArn")
    if not arn:
        return absent("the table has no ARN")
    tag = {"Key": "tried", "Value": "yes"}
    refused = _refused(lambda: table.ask("TagResource", ResourceArn=arn, Tags=[tag]))
    if refused:
        return absent(refused)

    def is_listed() -> bool:
        return tag in table.ask("ListTagsOfResource", ResourceArn=arn).get("Tags", [])

    return holds("they are kept") if table.eventually(is_listed, 2.0) else absent(_FORGOTTEN)


def backups(table: ProbeTable) -> Finding:
    """Back the table up, and delete the backup."""
    try:
        made = table.on("CreateBackup", BackupName=table.name)["BackupDetails"]["BackupArn"]
    except ApiError as error:
        if not is_refusal(error) and not isinstance(error, ContinuousBackupsUnavailableError):
            raise
        return absent(
            "they are not known" if is_unknown_operation(error) else f"they are refused: {error.message}"
        )
    described = table.ask("DescribeBackup", BackupArn=made)["BackupDescription"]["BackupDetails"]

    def is_gone() -> bool:
        try:
            table.ask("DeleteBackup", BackupArn=made)
        except BackupInUseError:
            return False
        except BackupNotFoundError:
            return True
        return True

    if not table.eventually(is_gone, 60.0):
        return breaks(f"the backup {made} cannot be deleted")
    if described.get("BackupStatus") not in ("CREATING", "AVAILABLE"):
        return breaks(f"a backup is {described.get('BackupStatus')}")
    return holds("a backup is made, described and deleted; no restore was tried")


def deletion_protection(table: ProbeTable) -> Finding:
    """Protect the table, and try to delete it."""
    refused = _refused(lambda: table.on("UpdateTable", DeletionProtectionEnabled=True))
    if refused:
        return absent(refused)
    table.settle()
    if not (table.describe(table.name) or {}).get("DeletionProtectionEnabled"):
        return absent(_FORGOTTEN)
    try:
        table.on("DeleteTable")
    except NOT_FOUND:
        raise
    except ApiError:
        return holds("it is kept, and a protected table is not deleted")
    return breaks("it is kept, and a protected table is deleted all the same")


# --- units ----------------------------------------------------------------------------------------------


def _measured(table: ProbeTable, kind: str) -> dict[str, Any]:
    item = {**key("UNITS"), **text(GPK="UNITS", GSK="-")}
    found: dict[str, Any] = table.put(item, ReturnConsumedCapacity=kind).get("ConsumedCapacity") or {}
    return found


def consumed_capacity(table: ProbeTable) -> Finding:
    """Ask for the units that a write and a read consume."""
    written = _measured(table, "TOTAL")
    read = table.on("Query", **table.condition("UNITS"), ReturnConsumedCapacity="TOTAL")
    units = [written, read.get("ConsumedCapacity") or {}]
    if not all(each.get("CapacityUnits", 0) > 0 for each in units):
        return absent("answers do not say what they have consumed")
    return holds("writes and queries say what they have consumed")


def consumed_by_indexes(table: ProbeTable) -> Finding:
    """Ask for the units that a write consumes of each index."""
    table.on("DeleteItem", Key=key("UNITS"))
    found = _measured(table, "INDEXES")
    units = (found.get("GlobalSecondaryIndexes") or {}).get(TIES, {}).get("CapacityUnits", 0)
    if units <= 0 or (found.get("Table") or {}).get("CapacityUnits", 0) <= 0:
        return absent("the units of writes to indexes are not told")
    return holds("the table and each index are told apart")
