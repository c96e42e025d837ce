"""Creates the table of a design, and gives an existing table the settings that the design declares.

Everything is idempotent: settings that are as declared are left alone, and an interrupted run continues.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from singletable.client.calls import Answer, Call, Params, Steps, Wait
from singletable.client.capabilities import Capabilities, is_unknown_operation
from singletable.design.session.session import Session
from singletable.design.tables.definition import (
    TableDefinition,
    create_request,
    declared_table,
    definition_of,
    describe_table,
    encryption_specification,
    found_table,
    stream_specification,
    tag_list,
    throughput,
)
from singletable.design.tables.drift import (
    Difference,
    differences,
    refuse_differences,
    structure,
    unsupported,
)
from singletable.errors import (
    ApiError,
    ContinuousBackupsUnavailableError,
    ResourceInUseError,
    TableInUseError,
    TableMissingError,
    TargetError,
    ValidationError,
)

_WAIT_S: Final = 0.05
_WAIT_S_MAX: Final = 2.0
_SETTLED_S_MAX: Final = 900.0
_LAG_S_MAX: Final = 60.0
_SETTLED: Final = frozenset({"ACTIVE", "ENABLED", "DISABLED"})
_NEEDED: Final = frozenset({"time to live", "stream", "point-in-time recovery"})
_SETTINGS: Final = frozenset({"StreamSpecification", "SSESpecification", "DeletionProtectionEnabled", "Tags"})
_PROTECTION: Final = frozenset({"encryption", "point-in-time recovery", "deletion protection"})
_OFF: Final = frozenset({None, "off", "AWS_OWNED"})
_FEATURES: Final = {
    "time to live": "time_to_live",
    "point-in-time recovery": "point_in_time_recovery",
    "stream": "streams",
    "encryption": "encryption",
    "deletion protection": "deletion_protection",
}
_MIGRATE: Final = "keys and indexes of a table that is there are changed by a migration"


@dataclass(frozen=True, slots=True)
class TableReport:
    """The result of a change of a table: the settings that were applied, and those that were not, with reasons."""

    table: str
    applied: tuple[str, ...]
    skipped: tuple[str, ...]


def create_table(session: Session) -> Steps[TableReport]:
    """Create the table of a design as it is declared, or give an existing table the declared settings."""
    client = session.client
    capabilities = client.capabilities
    declared = declared_table(session.catalog, session.table)
    is_made = yield from _make(session, declared)
    found = yield from found_table(session.table, capabilities)
    assert found is not None
    drift = list(differences(declared, found, capabilities))
    forgotten = [] if client.is_trusted or not is_made else [each for each in drift if _is_projection(each)]
    blocking = [
        each for each in drift if not each.is_changeable and not each.is_extra and each not in forgotten
    ]
    refuse_differences(declared.name, blocking, hint=_MIGRATE)
    settings = yield from _change_settings(session, declared, found, drift)
    made = tuple(_made(declared, client.capabilities)) if is_made else ()
    if client.is_plain_file:
        made = tuple(each for each in made if not each.startswith("encryption "))
    unknown = [f"{what} (the target does not know it)" for what in unsupported(declared, capabilities)]
    return TableReport(declared.name, (*made, *settings.applied), (*settings.skipped, *unknown))


def change_settings(session: Session) -> Steps[TableReport]:
    """Give an existing table the settings that the design declares; leave its keys and indexes alone."""
    capabilities = session.client.capabilities
    declared = declared_table(session.catalog, session.table)
    found = yield from found_table(session.table, capabilities)
    if found is None:
        raise TableMissingError(f"the table {session.table} is not there", hint="create_table() makes it")
    changeable = [each for each in differences(declared, found, capabilities) if each.is_changeable]
    return (yield from _change_settings(session, declared, found, changeable))


def _change_settings(
    session: Session, declared: TableDefinition, found: TableDefinition, drift: list[Difference]
) -> Steps[TableReport]:
    applied: dict[str, Difference] = {}
    skipped: list[str] = []
    for difference in drift:
        if difference.is_extra:
            skipped.append(f"{difference.what} (it is left: the design does not have it)")
            continue
        if _is_projection(difference):
            skipped.append(_forgotten(session, difference))
            continue
        if difference.what == "encryption" and session.client.is_plain_file:
            yield from _keep_encryption(declared)
            skipped.append(f"{_said(difference)} (it is kept; the file is not encrypted)")
            continue
        refused = yield from _tried(session, difference, declared, found)
        if refused is None:
            applied[difference.what] = difference
        else:
            skipped.append(f"{_said(difference)} ({refused})")
    dropped = (yield from _dropped(session, declared, applied)) if applied else []
    skipped += [_forgotten(session, applied.pop(each.what)) for each in dropped]
    return TableReport(declared.name, tuple(map(_said, applied.values())), tuple(skipped))


def ensure_table(session: Session) -> Steps[None]:
    """Create the table of a design if it does not exist; refuse one with other keys or indexes.

    An existing table gets only the settings that the design cannot do without: a declared time to live, stream or
    recovery, if the table has none. `create_table` changes the other settings.
    """
    description = yield from describe_table(session.table)
    if description is None:
        yield from create_table(session)
        return
    if not _is_settled(description):
        yield from _settle(session.table)
    declared = declared_table(session.catalog, session.table)
    found = structure(declared, definition_of(description), session.client.capabilities)
    blocking = [difference for difference in found if not difference.is_extra]
    refuse_differences(
        declared.name, blocking, hint=f"{_MIGRATE}; open(..., create=False) opens it all the same"
    )
    settings = yield from found_table(session.table, session.client.capabilities)
    assert settings is not None
    drift = differences(declared, settings, session.client.capabilities)
    lacking = [each for each in drift if each.what in _NEEDED and each.found is None]
    yield from _change_settings(session, declared, settings, lacking)


# --- making -----------------------------------------------------------------------------------------------


def _make(session: Session, declared: TableDefinition) -> Steps[bool]:
    """Create the table if it does not exist, and wait until it can be used; tell whether it was created."""
    is_made = False
    if (yield from describe_table(declared.name)) is None:
        try:
            yield from _create(session, declared)
            is_made = True
        except (ResourceInUseError, TableInUseError):
            pass  # another process has created it
    yield from _settle(declared.name)
    return is_made


def _create(session: Session, declared: TableDefinition) -> Steps[None]:
    """Create a table with all its settings; if that is refused, without them: each is tried alone later."""
    request = create_request(declared, session.client.capabilities)
    bare = {name: value for name, value in request.items() if name not in _SETTINGS}
    try:
        yield Call("CreateTable", request)
    except ApiError as error:
        if session.client.is_trusted or bare == request or not _is_refusal(error):
            raise
        try:
            yield Call("CreateTable", bare)
        except ApiError:
            raise error from None  # the settings were not the reason


def _made(declared: TableDefinition, capabilities: Capabilities) -> Iterator[str]:
    """Name the settings that a new table has from its CreateTable."""
    yield f"table {declared.name}"
    yield f"billing {declared.billing}"
    for index in declared.indexes:
        yield f"index {index.name}"
    if declared.stream is not None and capabilities.streams:
        yield f"stream {declared.stream}"
    if declared.encryption != "AWS_OWNED" and capabilities.encryption:
        yield f"encryption {declared.encryption}"
    if declared.deletion_protection and capabilities.deletion_protection:
        yield "deletion protection on"
    if capabilities.tags:
        for key, value in declared.tags.items():
            yield f"tag {key} {value}"


def _settle(name: str) -> Steps[None]:
    """Wait until a table, its indexes and its encryption are no longer being changed."""
    for pause_s in _pauses_s():
        # A table that was just created may not be visible to DescribeTable yet.
        description = (yield from describe_table(name)) or {"TableStatus": "CREATING"}
        if _is_settled(description):
            return
        yield Wait(pause_s)
    raise TargetError(
        f"the table {name} is still being changed after {_SETTLED_S_MAX:.0f} s",
        hint="create_table() can be run again, and goes on",
    )


def _is_settled(description: Answer) -> bool:
    return set(_statuses(description)) <= _SETTLED


def _pauses_s(waited_s_max: float = _SETTLED_S_MAX) -> Iterator[float]:
    """Return a back-off: growing pauses, up to a time limit."""
    waited_s, pause_s = 0.0, _WAIT_S
    while waited_s < waited_s_max:
        yield pause_s
        waited_s += pause_s
        pause_s = min(pause_s * 2, _WAIT_S_MAX)


def _statuses(description: Answer) -> Iterator[str]:
    yield description["TableStatus"]
    for index in description.get("GlobalSecondaryIndexes") or ():
        yield index.get("IndexStatus", "ACTIVE")
    yield (description.get("SSEDescription") or {}).get("Status", "DISABLED")


# --- what the target makes of a setting ---------------------------------------------------------------------


def _said(difference: Difference) -> str:
    return f"{difference.what} {difference.declared or 'off'}"


def _is_projection(difference: Difference) -> bool:
    return difference.what.startswith("projection of index ")


def _feature(difference: Difference) -> str | None:
    """Name the capability that a setting needs; billing and capacities need none."""
    what = difference.what
    if what.startswith("tag "):
        return "tags"
    return "projections" if _is_projection(difference) else _FEATURES.get(what)


def _is_refusal(error: ApiError) -> bool:
    """Tell whether an answer means that the target does not support a setting, and not that it must wait."""
    return isinstance(error, ValidationError) or is_unknown_operation(error)


def _tried(
    session: Session, difference: Difference, declared: TableDefinition, found: TableDefinition
) -> Steps[str | None]:
    """Give the table one declared setting; return why it does not have it, if it was refused."""
    try:
        return (yield from _apply(difference, declared, found))
    except ApiError as error:
        if session.client.is_trusted or not _is_refusal(error):
            raise
        _lacks(session, difference)
        return f"the target refuses it: {error.message}"


def _keep_encryption(declared: TableDefinition) -> Steps[None]:
    """Store what is asked for, although it is not true of this file: it is told once the file is encrypted."""
    with suppress(ValidationError):  # the table has that setting already
        yield from _update(declared, SSESpecification=encryption_specification(declared.encryption))


def _forgotten(session: Session, difference: Difference) -> str:
    if difference.declared in _OFF:
        return f"{_said(difference)} (the target leaves it as it is)"
    _lacks(session, difference)
    feature = _feature(difference)
    kind = difference.what if feature is None else feature.replace("_", " ")
    return f"{_said(difference)} (the target keeps no {kind})"


def _lacks(session: Session, difference: Difference) -> None:
    feature = _feature(difference)
    if feature is not None:
        session.client.lacks(feature)


def _dropped(session: Session, declared: TableDefinition, applied: Container[str]) -> Steps[list[Difference]]:
    """Find applied settings that the table does not have after all: some targets accept and forget them.

    A trusted target gets a minute, since AWS's descriptions are eventually consistent. If a protection is still
    missing then, that is an error, so that nobody's data is less safe than they asked for.
    """
    dropped = yield from _lacking(session, declared, applied)
    if not session.client.is_trusted:
        return dropped
    for pause_s in _pauses_s(_LAG_S_MAX):
        dropped = [each for each in dropped if each.what in _PROTECTION]
        if not dropped:
            return []
        yield Wait(pause_s)
        dropped = yield from _lacking(session, declared, applied)
    refuse_differences(
        declared.name,
        dropped,
        hint="it was asked for and did not come: use the table for nothing yet; create_table() asks again",
    )
    return []


def _lacking(session: Session, declared: TableDefinition, names: Container[str]) -> Steps[list[Difference]]:
    found = yield from found_table(session.table, session.client.capabilities)
    if found is None:
        raise TableMissingError(f"the table {session.table} is gone again", hint="somebody has deleted it")
    drift = differences(declared, found, session.client.capabilities)
    return [each for each in drift if each.what in names]


# --- changing one setting -----------------------------------------------------------------------------------


def _apply(difference: Difference, declared: TableDefinition, found: TableDefinition) -> Steps[str | None]:
    """Give the table one declared setting; return why it was refused for now, if it was."""
    match difference.what:
        case "time to live":
            return (yield from _set_time_to_live(declared, found))
        case "point-in-time recovery":
            yield from _set_recovery(declared)
        case "stream":
            yield from _set_stream(declared, found)
        case "encryption":
            yield from _update(declared, SSESpecification=encryption_specification(declared.encryption))
        case "deletion protection":
            yield from _update(declared, DeletionProtectionEnabled=declared.deletion_protection)
        case "billing":
            yield from _set_billing(declared)
        case "capacity":
            assert declared.capacity is not None
            yield from _update(declared, ProvisionedThroughput=throughput(declared.capacity))
        case what if what.startswith("capacity of index "):
            index = _index_capacity(declared, what.removeprefix("capacity of index "))
            yield from _update(declared, GlobalSecondaryIndexUpdates=[index])
        case what:
            key = what.removeprefix("tag ")
            yield Call("TagResource", {"ResourceArn": found.arn, "Tags": tag_list({key: declared.tags[key]})})
    return None


def _update(declared: TableDefinition, **changes: Any) -> Steps[None]:
    """Change one thing of a table: DynamoDB takes few changes in one request."""
    yield Call("UpdateTable", {"TableName": declared.name, **changes})
    yield from _settle(declared.name)


def _set_billing(declared: TableDefinition) -> Steps[None]:
    if declared.capacity is None:
        yield from _update(declared, BillingMode=declared.billing)
        return
    changes: Params = {
        "BillingMode": declared.billing,
        "ProvisionedThroughput": throughput(declared.capacity),
    }
    if declared.indexes:
        changes["GlobalSecondaryIndexUpdates"] = [
            _index_capacity(declared, index.name) for index in declared.indexes
        ]
    yield from _update(declared, **changes)


def _index_capacity(declared: TableDefinition, name: str) -> Params:
    index = declared.index(name)
    assert index is not None
    assert index.capacity is not None
    return {"Update": {"IndexName": name, "ProvisionedThroughput": throughput(index.capacity)}}


def _set_stream(declared: TableDefinition, found: TableDefinition) -> Steps[None]:
    """Turn a stream on or off. One of another view is turned off first, and a new one begins."""
    if found.stream is not None:
        yield from _update(declared, StreamSpecification=stream_specification(None))
    if declared.stream is not None:
        yield from _update(declared, StreamSpecification=stream_specification(declared.stream))


def _set_time_to_live(declared: TableDefinition, found: TableDefinition) -> Steps[str | None]:
    """Turn the time to live on or off. DynamoDB takes one change an hour, so another attribute takes two runs."""
    try:
        if found.ttl is not None:
            yield _time_to_live(declared, found.ttl, is_on=False)
        if declared.ttl is not None:
            yield _time_to_live(declared, declared.ttl, is_on=True)
    except ValidationError as error:
        return error.message
    return None


def _time_to_live(declared: TableDefinition, attribute: str, *, is_on: bool) -> Call:
    specification = {"Enabled": is_on, "AttributeName": attribute}
    return Call("UpdateTimeToLive", {"TableName": declared.name, "TimeToLiveSpecification": specification})


def _set_recovery(declared: TableDefinition) -> Steps[None]:
    specification: Params = {"PointInTimeRecoveryEnabled": declared.pitr_days is not None}
    if declared.pitr_days is not None:
        specification["RecoveryPeriodInDays"] = declared.pitr_days
    params = {"TableName": declared.name, "PointInTimeRecoverySpecification": specification}
    for pause_s in _pauses_s():
        try:
            yield Call("UpdateContinuousBackups", params)
        except ContinuousBackupsUnavailableError:
            yield Wait(pause_s)  # AWS is still preparing the new table for it
        else:
            return
    raise TargetError(
        f"point-in-time recovery of {declared.name} could not be turned on for {_SETTLED_S_MAX:.0f} s",
        hint="create_table() can be run again, and goes on",
    )
