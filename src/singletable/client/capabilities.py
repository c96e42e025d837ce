"""The capabilities of a target: features that not every target has, and how to detect them without harm."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.errors import ApiError, NotDynamoDbError, TargetError


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The features of a target beyond reading and writing items. A missing feature is False."""

    transactions: bool = True  # TransactWriteItems and TransactGetItems
    time_to_live: bool = True
    point_in_time_recovery: bool = True
    backups: bool = True  # on demand
    streams: bool = True
    projections: bool = True  # of indexes are respected; otherwise an index has all attributes
    multi_attribute_keys: bool = True  # of global indexes
    deletion_protection: bool = True
    tags: bool = True
    encryption: bool = True  # its settings are kept and described
    consumed_capacity: bool = True  # is in answers when asked for

    def missing(self) -> list[str]:
        """Name the features that the target does not have."""
        return [field.name for field in fields(self) if not getattr(self, field.name)]

    def without(self, *features: str) -> Capabilities:
        """Return the same without some features."""
        _refuse_unknown(features)
        return replace(self, **dict.fromkeys(features, False))

    def data(self) -> dict[str, bool]:
        """Return them as JSON holds them: every feature by its name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, data: object) -> Capabilities:
        """Read capabilities from `data`, or from a report of `singletable probe`. A feature left out is True."""
        found = data.get("capabilities", data) if isinstance(data, Mapping) else data
        if not isinstance(found, Mapping) or not all(isinstance(each, bool) for each in found.values()):
            raise TargetError(
                f"{_shortened(data)} are no capabilities",
                hint=f"an object of true and false, with any of {', '.join(_names())}; {_PROBE_WRITES}",
            )
        _refuse_unknown(found)
        return cls(**{str(name): is_there for name, is_there in found.items()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Capabilities:
        """Read capabilities from a file that `singletable probe --out` or somebody by hand has written."""
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
        except OSError as error:
            raise TargetError(
                f"the capabilities cannot be read: {os.fspath(path)}: {error.strerror}", hint=_PROBE_WRITES
            ) from error
        except ValueError as error:
            raise TargetError(f"{os.fspath(path)} holds no JSON: {error}", hint=_PROBE_WRITES) from error
        return cls.of(data)


_PROBE_WRITES: Final = "singletable probe TARGET --out FILE writes them"
_SHORT: Final = 60


def _names() -> list[str]:
    return [field.name for field in fields(Capabilities)]


def _refuse_unknown(features: Iterable[object]) -> None:
    unknown = [str(feature) for feature in features if feature not in _names()]
    if unknown:
        raise TargetError(f"there is no capability {unknown[0]!r}", hint=f"there are {', '.join(_names())}")


def _shortened(data: object) -> str:
    text = repr(data)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


DYNAMODB: Final = Capabilities()
EMBEDDED: Final = Capabilities()
# Tried at 3.3.1: it takes SSESpecification and Tags with a new table, and forgets them.
DYNAMODB_LOCAL: Final = Capabilities(
    point_in_time_recovery=False, backups=False, tags=False, encryption=False
)
# ScyllaDB's docs/alternator/compatibility.md, "Unimplemented API features".
ALTERNATOR: Final = Capabilities(
    transactions=False,
    point_in_time_recovery=False,
    backups=False,
    projections=False,
    multi_attribute_keys=False,
    deletion_protection=False,
    encryption=False,
    consumed_capacity=False,
)

# --- finding out ----------------------------------------------------------------------------------------

# No table can have this name, and no ARN this form. So the requests below change nothing, wherever they go: a
# service that has the operation refuses the name, and one that has not says so.
_NO_TABLE: Final = "not a table?"
_PROBES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "transactions": (
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "ConditionCheck": {
                        "TableName": _NO_TABLE,
                        "Key": {"id": {"S": "x"}},
                        "ConditionExpression": "attribute_exists(id)",
                    }
                }
            ]
        },
    ),
    "time_to_live": (
        "UpdateTimeToLive",
        {
            "TableName": _NO_TABLE,
            "TimeToLiveSpecification": {"Enabled": False, "AttributeName": "x"},
        },
    ),
    # Not DescribeContinuousBackups, which Alternator answers with "disabled".
    "point_in_time_recovery": (
        "UpdateContinuousBackups",
        {
            "TableName": _NO_TABLE,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False},
        },
    ),
    "backups": ("ListBackups", {"Limit": 1}),
    "streams": ("ListStreams", {"Limit": 1}),
    "tags": ("ListTagsOfResource", {"ResourceArn": "not-an-arn"}),
}
_UNKNOWN_OPERATION: Final = frozenset({"UnknownOperationException", "NotImplemented", "InvalidAction"})
_NOT_IMPLEMENTED_STATUS: Final = 501


def is_unknown_operation(error: ApiError) -> bool:
    """Tell whether an answer says that the service does not have the operation at all."""
    return error.code in _UNKNOWN_OPERATION or error.status == _NOT_IMPLEMENTED_STATUS


def detect_capabilities(*, streams: bool = True) -> Steps[Capabilities]:
    """Detect the capabilities of an endpoint. Features that no harmless request reveals are taken from its kind.

    For an unknown service that may be wrong. Later answers of its table correct it (`Client.lacks`), and
    `singletable probe` tries everything.

    Without `streams`, there is no client to ask about streams.
    """
    found: dict[str, bool] = {}
    for feature, (operation, params) in _PROBES.items():
        if feature != "streams" or streams:
            found[feature] = yield from _has(operation, params, is_first=not found)
    if not found["transactions"]:
        kind = ALTERNATOR
    elif not found["point_in_time_recovery"]:
        kind = DYNAMODB_LOCAL
    else:
        kind = DYNAMODB
    return replace(kind, **found)


def _has(operation: str, params: dict[str, Any], *, is_first: bool) -> Steps[bool]:
    try:
        yield Call(operation, params)
    except ApiError as error:
        return not is_unknown_operation(error)
    except NotDynamoDbError:
        # Streams are a service of their own, which an endpoint may not run.
        if is_first:
            raise
        return False
    return True
