"""Running a probe: make a table on a target, run every check on it, and delete it in any case."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any, Final

from singletable.client.base import Client
from singletable.client.capabilities import is_unknown_operation
from singletable.client.targets import Target, open_client
from singletable.errors import (
    ApiError,
    LimitExceededError,
    ResourceInUseError,
    TableInUseError,
    TargetError,
    ThrottledError,
)
from singletable.probe.checks import CHECKS
from singletable.probe.report import Check, Finding, ProbeReport, absent, breaks, capabilities_from
from singletable.probe.table import ProbeTable

SECONDS_MAX: Final = 600.0
# A target that asks for patience is not wrong: AWS makes one index at a time, and takes minutes for it.
_BUSY: Final = (ResourceInUseError, TableInUseError, LimitExceededError, ThrottledError)
_SAID_MAX: Final = 160  # characters: some services repeat the whole request

Watch = Callable[[Check, int, int], object]  # the current check, how many are done, of how many
OnLeft = Callable[[str], object]  # the table that is still there


def probe(
    target: Target,
    *,
    watch: Watch | None = None,
    on_left: OnLeft | None = None,
    token: str | None = None,
    seconds_max: float = SECONDS_MAX,
) -> ProbeReport:
    """Make a table on a target, run all checks on it, delete it, and report the findings.

    The table is called `singletable-probe-` and a random token; no other table is touched. If it cannot be
    deleted, `on_left` is called with its name, also after Ctrl-C and errors.
    """
    with TemporaryDirectory(prefix="singletable-probe-") as folder:
        # Otherwise an empty folder of backups would be left beside the file.
        options: dict[str, Any] = {"backups": folder} if _is_file(target) else {}
        with open_client(target, **options) as client:
            name = target if isinstance(target, str) else repr(client)
            return probe_client(
                client, name, watch=watch, on_left=on_left, token=token, seconds_max=seconds_max
            )


def _is_file(target: Target) -> bool:
    return (
        isinstance(target, str | os.PathLike)
        and "://" not in (path := os.fspath(target))
        and path != ":memory:"
    )


def probe_client(
    client: Client,
    name: str,
    *,
    watch: Watch | None = None,
    on_left: OnLeft | None = None,
    token: str | None = None,
    seconds_max: float = SECONDS_MAX,
) -> ProbeReport:
    """Run a probe, as `probe` does, on an open client. The client stays open."""
    begun_us = client.clock.elapsed_us()
    table = ProbeTable(client, token or secrets.token_hex(8), seconds_max)
    findings: list[tuple[Check, Finding]] = []
    try:
        said = client.capabilities
        table.make()
        for number, check in enumerate(CHECKS):
            if watch is not None:
                watch(check, number, len(CHECKS))
            findings.append((check, _tried(check, table)))
    finally:
        is_gone = _removed(table, on_left)
    found = tuple(findings)
    seconds = (client.clock.elapsed_us() - begun_us) / 1_000_000
    return ProbeReport(name, table.name, found, capabilities_from(found, said), seconds, is_left=not is_gone)


def _removed(table: ProbeTable, on_left: OnLeft | None) -> bool:
    is_gone = False
    try:
        is_gone = table.remove_all()
    finally:
        if not is_gone and on_left is not None:
            on_left(table.name)
    return is_gone


def _tried(check: Check, table: ProbeTable) -> Finding:
    """Run one check. Every answer of the target is a finding; only a target that is gone is an error."""
    if table.left_s <= 0:
        return Finding("untried", "the time was over")
    finding = _seen(check, table)
    said = " ".join(finding.said.split())
    return finding if len(said) <= _SAID_MAX else Finding(finding.verdict, f"{said[:_SAID_MAX]}…")


def _seen(check: Check, table: ProbeTable) -> Finding:
    try:
        return check.run(table)
    except _BUSY as error:
        return Finding("untried", f"{error.code}: {error.message}")
    except ApiError as error:
        return (
            absent("it is not known")
            if is_unknown_operation(error)
            else breaks(f"{error.code}: {error.message}")
        )
    except TargetError as error:
        table.describe(table.name)  # raises if nobody is there any more
        return breaks(error.message)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return breaks(f"an answer has another form than DynamoDB's: {type(error).__name__}: {error}")
