"""Where a pattern runs: its design on a target, with the requests written down; or on nothing at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from singletable.cli.patterns.clients import DryClient, RecordingClient, Sent
from singletable.cli.patterns.finding import Source
from singletable.cli.targets import is_remote, refuse_missing_file
from singletable.cli.wrong_use import WrongUseError
from singletable.client import DYNAMODB
from singletable.clock import SystemClock
from singletable.errors import DeclarationError, TableMissingError

if TYPE_CHECKING:
    from singletable.client import Capabilities
    from singletable.design import Design
    from singletable.design.session import Session


@dataclass(frozen=True, slots=True)
class Opened:
    """An open design, the session that its plans are to run on, and the requests that were made there."""

    design: Design
    session: Session
    sent: list[Sent]

    @property
    def table(self) -> str:
        return self.session.table


@contextmanager
def opened(
    source: Source, target: str, given: Mapping[str, str], capabilities: Capabilities | None = None
) -> Iterator[Opened]:
    """Open a design on a target that is there. Nothing is made."""
    makes_it = f"{source.makes_table(target, given)} makes it"
    refuse_missing_file(target, hint=makes_it)
    environment: dict[str, Any] = {**source.environment, **given}
    _table_name(source, target, environment)
    with source.design.open(target, create=False, capabilities=capabilities, **environment) as design:
        client = RecordingClient(design.session.client)
        session = replace(design.session, client=client)
        try:
            # On the session that is written down, since a pattern may read while it runs.
            yield Opened(type(design)._on(session), session, client.sent)
        except TableMissingError as error:
            raise TableMissingError(f"the table {session.table} is not there", hint=makes_it) from error


@contextmanager
def rehearsed(
    source: Source, target: str, given: Mapping[str, str], capabilities: Capabilities | None = None
) -> Iterator[Opened]:
    """Open a design for a target that need not be there, and is not asked anything."""
    environment: dict[str, Any] = {**source.environment, **given}
    table = _table_name(source, target, environment)
    client = DryClient(SystemClock(), capabilities or DYNAMODB)
    with source.design.open(":memory:", create=False, **environment) as design:
        session = replace(design.session, client=client, table=table)
        yield Opened(type(design)._on(session), session, client.sent)


def _table_name(source: Source, target: str, environment: Mapping[str, str]) -> str:
    """Return the table's name. Only where nobody else can have it, what is not given may be "dev"."""
    table = source.design.table
    otherwise = table.name_in(environment, otherwise="dev")
    if not is_remote(target):
        return otherwise
    try:
        return table.name_in(environment)
    except DeclarationError as error:
        raise WrongUseError(
            error.message, hint="give it with --env NAME=VALUE, as --env stage=prod"
        ) from error
