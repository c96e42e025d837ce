"""Amazon Resource Names: their parts, and the check that they name a resource of this database."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from singletable.errors import ONE_ERROR, AccessDeniedError, ValidationError
from singletable.operations import OPERATIONS

DEFAULT_REGION: Final = "us-east-1"
DEFAULT_ACCOUNT: Final = "000000000000"

_REGION: Final = re.compile(r"[a-z]{2,}(-[a-z]+)+-[0-9]{1,2}")
_ACCOUNT: Final = re.compile(r"[0-9]{12}")
_AREAS: Final = frozenset(("af", "ap", "ca", "cn", "eu", "eusc", "il", "me", "mx", "sa", "us"))
_PARTITIONS: Final = {"cn": "aws-cn", "eusc": "aws-eusc", "us-gov": "aws-us-gov"}
# The actions of a transaction that reads, and of one that writes.
_ACTIONS: Final = {"read": ("Get",), "write": ("ConditionCheck", "Delete", "Put", "Update")}


def check_region(region: str) -> str:
    """Return a region's name; raise ValueError for an invalid one."""
    if _REGION.fullmatch(region) is None:
        raise ValueError(f"{region!r} is no region: it looks like us-east-1")
    return region


def check_account(account: str) -> str:
    """Return the id of an account; raise ValueError for an invalid one."""
    if _ACCOUNT.fullmatch(account) is None:
        raise ValueError(f"{account!r} is no account: it has 12 digits")
    return account


def is_known_region(region: str) -> bool:
    """Tell whether AWS may have a region of this name: its areas are known, its cities grow in number."""
    return region.split("-")[0] in _AREAS and _REGION.fullmatch(region) is not None


def partition_of(region: str) -> str:
    """Return the part of AWS that a region belongs to."""
    for prefix, partition in _PARTITIONS.items():
        if region.startswith(f"{prefix}-"):
            return partition
    return "aws"


class Arn(NamedTuple):
    """`arn:partition:service:region:account:resource`; the resource may hold colons."""

    partition: str
    service: str
    region: str
    account: str
    resource: str

    @classmethod
    def parse(cls, text: str) -> Arn | None:
        parts = text.split(":", 5)
        return cls(*parts[1:]) if len(parts) == 6 and parts[0] == "arn" else None


def check_table_arns(operation: str, params: Mapping[str, Any], region: str, account: str) -> None:
    """Refuse tables of other regions and accounts, wherever a request names a table by its ARN.

    The answers are those of DescribeTable (ack-api-quirks, DDB-TABLE-011); that all operations give them is
    taken from there. The shape of an ARN has been checked before, save in a transaction that is refused for its
    actions (validation/refusals.py): those that are none are passed over.
    """
    row = OPERATIONS[operation]
    names: Iterable[str] = ()
    if row.table == "TableName":
        name = params.get("TableName")  # operations that list something can do without
        names = () if name is None else (name,)
    elif row.table == "RequestItems":
        names = params["RequestItems"]
    elif row.table == "TransactItems":
        names = [
            entry[action]["TableName"]
            for entry in params["TransactItems"]
            for action in _ACTIONS[row.effect]
            if entry.get(action) is not None
        ]
    for name in names:
        arn = Arn.parse(name) if name.startswith("arn:") else None
        if arn is not None:
            check_place(arn, name, region, account)


def check_place(arn: Arn, text: str, region: str, account: str) -> None:
    """Refuse an ARN of another region or account."""
    if arn.partition != partition_of(region):
        raise ValidationError(f"{ONE_ERROR}Invalid AWS partition in '{text}'")
    if arn.region != region:
        raise ValidationError(f"{ONE_ERROR}Invalid AWS region in '{text}'")
    if arn.account != account:
        raise AccessDeniedError("Access is denied")
