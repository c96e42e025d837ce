"""The settings of tables and indexes that CreateTable and UpdateTable share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from singletable.errors import INVALID, ValidationError
from singletable.storage.definitions import Throughput
from singletable.wire.parameters import Params
from singletable.wire.shapes import SHAPES

# Settings that are kept and described, and change nothing in how items are stored.
TABLE_SETTINGS: Final = ("SSESpecification", "TableClass", "OnDemandThroughput", "WarmThroughput")
INDEX_SETTINGS: Final = ("OnDemandThroughput", "WarmThroughput")

_TABLE_CLASSES: Final = SHAPES["TableClass"]["enum"]
_UNITS_MAX: Final = 1_000_000_000_000  # dynalite, from the service


def throughput(given: Params) -> Throughput:
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        if given[name] > _UNITS_MAX:
            raise ValidationError(f"Given value {given[name]} for {name} is out of bounds")
    return Throughput(given["ReadCapacityUnits"], given["WriteCapacityUnits"])


def table_settings(params: Params) -> dict[str, Any]:
    """Return the settings that a request gives for its table."""
    settings = _given(params, TABLE_SETTINGS)
    if settings.get("TableClass", "STANDARD") not in _TABLE_CLASSES:
        # A sentence of its own, where other enums have one for all (ack-api-quirks, DDB-TABLE-442).
        raise ValidationError(
            "Invalid table-class parameter provided. Please try again with a valid table-class value: "
            f"[{', '.join(_TABLE_CLASSES)}]."
        )
    encryption = settings.get("SSESpecification")
    if encryption is not None:
        _check_encryption(encryption)
        enabled = encryption.get("Enabled")
        # A type or a key turns encryption on where Enabled is not given (ack-api-quirks, DDB-TABLE-044).
        is_on = "SSEType" in encryption if enabled is None else enabled
        settings["SSESpecification"] = {**encryption, "Enabled": is_on}
    return settings


def index_settings(index: Params) -> dict[str, Any]:
    """Return the settings that a request gives for an index."""
    return _given(index, INDEX_SETTINGS)


def _given(params: Params, names: Sequence[str]) -> dict[str, Any]:
    return {name: _copied(name, params[name]) for name in names if is_given(params, name)}


def is_given(params: Params, name: str) -> bool:
    """Tell whether a setting is given. Of throughput, nothing in it is as good as none (DDB-TABLE-039, 456)."""
    value = params.get(name)
    return value is not None and (name not in INDEX_SETTINGS or bool(_copied(name, value)))


def _copied(name: str, setting: Any) -> Any:
    """Return a copy without the members that AWS does not know, and so ignores."""
    if not isinstance(setting, Mapping):
        return setting
    known = SHAPES[name]["members"]
    return {member: setting[member] for member in known if setting.get(member) is not None}


def _check_encryption(encryption: Params) -> None:
    kind, key = encryption.get("SSEType"), encryption.get("KMSMasterKeyId")
    if encryption.get("Enabled") is False:
        for name in ("SSEType", "KMSMasterKeyId"):
            if encryption.get(name) is not None:
                raise ValidationError(f"{INVALID}{name} can not be specified if Enabled is false")
    if key is not None and kind != "KMS":
        raise ValidationError(f"{INVALID}SSEType KMS is required if KMSMasterKeyId is specified")
    if kind == "AES256":
        raise ValidationError(f"{INVALID}SSEType AES256 is not supported")


def check_on_demand_range(limited: Mapping[str, int], where: str, *, clearing: bool) -> None:
    """Refuse bounds of on-demand throughput below 1; `clearing` lets -1 pass, which takes a bound away."""
    for name, units in limited.items():
        if units < 1 and not (clearing and units == -1):
            raise ValidationError(
                f"{INVALID}Requested {name} for OnDemandThroughput for {where} is outside of valid range"
            )
