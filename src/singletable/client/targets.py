"""Targets that can be opened: a file, memory, a region of AWS, an endpoint, or an open database or client."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard
from urllib.parse import SplitResult, parse_qsl, urlsplit

from singletable.client.base import Client, ClientSettings, Random, Sleep
from singletable.client.capabilities import EMBEDDED, Capabilities
from singletable.clock import Clock
from singletable.errors import Boto3MissingError, UnknownTargetError

if TYPE_CHECKING:
    from singletable.database import Database
    from singletable.storage.file.connections import Durability

# The last is a Database, whose type would load the engine, or a boto3 client, which has none to be named here.
Target: TypeAlias = str | os.PathLike[str] | Any

_REGION: Final = re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]+")
_HINT: Final = (
    'open a file ("kefir.db"), ":memory:", a region of AWS ("dynamodb://eu-north-1"), '
    'or an endpoint ("http://127.0.0.1:8000")'
)


def open_client(
    target: Target,
    *,
    clock: Clock | None = None,
    capabilities: Capabilities | None = None,
    durability: Durability | None = None,
    sleep: Sleep | None = None,
    random: Random | None = None,
    **engine_options: Any,
) -> Client:
    """Open a target: a file, ":memory:", "dynamodb://REGION", the URL of an endpoint, a Database, a boto3 client.

    A file and ":memory:" take the options of `Database.open`. A Database or a boto3 client that was open before
    stays open when the client is closed. Given capabilities are trusted; otherwise those of an endpoint that is
    not of AWS are detected at their first use.
    """
    settings = ClientSettings(clock, capabilities, sleep, random)
    _check_settings(*settings)
    if durability is not None:
        engine_options["durability"] = durability
    if isinstance(target, str | os.PathLike) and "://" not in (path := os.fspath(target)):
        if not path:
            raise UnknownTargetError("The target is empty", hint=_HINT)
        # Not above: a design on AWS needs no engine, and does not wait for it.
        from singletable.client.embedded import open_database

        return open_database(path, settings, engine_options)
    if engine_options:
        raise TypeError(f"only a database file takes {', '.join(sorted(engine_options))}, not {target!r}")
    if _is_database(target):
        if clock is not None and clock is not target.clock:
            raise TypeError("an open Database has its clock; open it with Database.open(path, clock=...)")
        from singletable.client.embedded import over_database

        return over_database(target, settings, owns=False)
    try:
        return _open_remote(target, settings)
    except ValueError as error:  # of urllib or botocore, which do not name the address
        raise UnknownTargetError(f"{target!r} cannot be opened: {error}", hint=_HINT) from error
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "botocore":
            raise
        raise Boto3MissingError(
            f"{target} is reached with boto3, which is not installed", hint='pip install "singletable[boto3]"'
        ) from error


def capabilities_of(target: Target) -> Capabilities:
    """Return the capabilities that a target reports. No file is opened for that, and nothing is changed."""
    if isinstance(target, str | os.PathLike) and "://" not in os.fspath(target):
        return EMBEDDED
    with open_client(target) as client:
        return client.capabilities


def _check_settings(clock: object, capabilities: object, sleep: object, random: object) -> None:
    """Refuse arguments that a type checker would refuse, for programs without one."""
    if clock is not None and not (hasattr(clock, "now_us") and hasattr(clock, "elapsed_us")):
        raise TypeError(f"a clock is one like those of singletable.clock, not {clock!r}")
    if capabilities is not None and not isinstance(capabilities, Capabilities):
        raise TypeError(f"capabilities are those of singletable.client.Capabilities, not {capabilities!r}")
    if sleep is not None and not callable(sleep):
        raise TypeError(f"sleep is a function like time.sleep, not {sleep!r}")
    if random is not None and not callable(random):
        raise TypeError(f"random is a function like random.random, not {random!r}")


def _is_database(target: object) -> TypeGuard[Database]:
    """Tell whether a target is a Database. Where nobody has loaded the engine, there is none."""
    # Another thread may be loading it now: then the module is there, and its class is not.
    database = getattr(sys.modules.get("singletable.database"), "Database", None)
    return database is not None and isinstance(target, database)


def _open_remote(target: Any, settings: ClientSettings) -> Client:
    parts = urlsplit(target) if isinstance(target, str) else None
    service = None if parts is None else _service(target, parts)
    # Not above: boto3 is optional, and only now asked for.
    from singletable.client import remote

    if parts is None:
        return remote.adopt(target, settings)
    if service is None:
        return remote.open_endpoint(target, settings)
    region, profile = service
    return remote.open_region(region, profile, settings)


def _service(target: str, parts: SplitResult) -> tuple[str, str | None] | None:
    """Return the region and the profile of an address of AWS; None for an endpoint."""
    if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
        return None
    if parts.scheme != "dynamodb":
        raise UnknownTargetError(f"{target!r} cannot be opened", hint=_HINT)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    profile = options.pop("profile", None)
    if _REGION.fullmatch(parts.netloc) is None or parts.path.strip("/") or profile == "" or options:
        raise UnknownTargetError(
            f"{target!r} names no region of AWS",
            hint='write "dynamodb://eu-north-1", or "dynamodb://eu-north-1?profile=NAME"',
        )
    return parts.netloc, profile
