"""What can be opened: a file, memory, a region of AWS, an endpoint, or what is open already."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

from singletable.client.base import Client, Random, Sleep
from singletable.client.capabilities import EMBEDDED, Capabilities
from singletable.client.embedded import EmbeddedClient
from singletable.clock import Clock, SystemClock
from singletable.database import Database
from singletable.errors import Boto3MissingError, UnknownTargetError

if TYPE_CHECKING:
    from singletable.storage.connections import Durability

# The last is a boto3 client, which has no type that could be named here.
Target: TypeAlias = str | os.PathLike[str] | Database | Any

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
    stays open when the client is closed. Capabilities that are given are believed; otherwise those of an endpoint
    that is not of AWS are found out when they are first needed.
    """
    _check_settings(clock, capabilities, sleep, random)
    if durability is not None:
        engine_options["durability"] = durability
    if isinstance(target, str | os.PathLike) and "://" not in (path := os.fspath(target)):
        if not path:
            raise UnknownTargetError("The target is empty", hint=_HINT)
        database = Database.open(path, clock=clock, **engine_options)
        known = capabilities or EMBEDDED
        return EmbeddedClient(database, owns=True, capabilities=known, sleep=sleep, random=random)
    if engine_options:
        raise TypeError(f"only a database file takes {', '.join(sorted(engine_options))}, not {target!r}")
    if isinstance(target, Database):
        if clock is not None and clock is not target.clock:
            raise TypeError("an open Database has its clock; open it with Database.open(path, clock=...)")
        known = capabilities or EMBEDDED
        return EmbeddedClient(target, owns=False, capabilities=known, sleep=sleep, random=random)
    try:
        return _open_remote(target, clock or SystemClock(), capabilities, sleep, random)
    except ValueError as error:  # of urllib or botocore, which do not name the address
        raise UnknownTargetError(f"{target!r} cannot be opened: {error}", hint=_HINT) from error
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "botocore":
            raise
        raise Boto3MissingError(
            f"{target} is reached with boto3, which is not installed", hint='pip install "singletable[boto3]"'
        ) from error


def capabilities_of(target: Target) -> Capabilities:
    """Tell what a target says that it can do. A file is not opened for that, and nothing is changed anywhere."""
    if isinstance(target, str | os.PathLike) and "://" not in os.fspath(target):
        return EMBEDDED
    with open_client(target) as client:
        return client.capabilities


def _check_settings(clock: object, capabilities: object, sleep: object, random: object) -> None:
    """Refuse what a type checker refuses, for programs that none has seen."""
    if clock is not None and not (hasattr(clock, "now_us") and hasattr(clock, "elapsed_us")):
        raise TypeError(f"a clock is one like those of singletable.clock, not {clock!r}")
    if capabilities is not None and not isinstance(capabilities, Capabilities):
        raise TypeError(f"capabilities are those of singletable.client.Capabilities, not {capabilities!r}")
    if sleep is not None and not callable(sleep):
        raise TypeError(f"sleep is a function like time.sleep, not {sleep!r}")
    if random is not None and not callable(random):
        raise TypeError(f"random is a function like random.random, not {random!r}")


def _open_remote(
    target: Any,
    clock: Clock,
    capabilities: Capabilities | None,
    sleep: Sleep | None,
    random: Random | None,
) -> Client:
    parts = urlsplit(target) if isinstance(target, str) else None
    service = None if parts is None else _service(target, parts)
    # Not above: boto3 is optional, and only now asked for.
    from singletable.client import remote

    if parts is None:
        return remote.adopt(target, clock=clock, capabilities=capabilities, sleep=sleep, random=random)
    if service is None:
        return remote.open_endpoint(
            target, clock=clock, capabilities=capabilities, sleep=sleep, random=random
        )
    region, profile = service
    return remote.open_region(
        region, profile, clock=clock, capabilities=capabilities, sleep=sleep, random=random
    )


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
