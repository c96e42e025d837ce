"""Sessions of botocore that this package makes, and what its clients have in common.

The private one reads neither the environment nor anybody's ~/.aws, and looks for no credentials. Nothing here
knows the engine: clients of AWS and of other endpoints need this module too.
"""

from __future__ import annotations

import os
import threading
from functools import lru_cache
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.session import Session as BotocoreSession

# Any would do: nothing is signed.
ANY_CREDENTIALS: Final = {"aws_access_key_id": "singletable", "aws_secret_access_key": "singletable"}
# With a user agent of its own a client does not put one together for every call: 25 of 120 us a GetItem.
CONFIG: Final = Config(user_agent="singletable")


def lock_across_forks() -> threading.Lock:
    """Return a lock for a module; no child of a fork inherits it held by a thread that it does not have."""
    lock = threading.Lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


class PrivateSession(BotocoreSession):  # type: ignore[misc]  # botocore has no types
    """A session of ours: `patch` leaves its clients alone."""


class LoaderWithoutEndpoints(Loader):  # type: ignore[misc]  # botocore has no types
    """Loads no rules for endpoints; botocore then takes the endpoint it was given: 20 of 120 us a GetItem."""

    def load_service_model(self, service_name: str, type_name: str, api_version: str | None = None) -> Any:
        if type_name == "endpoint-rule-set-1":
            raise UnknownServiceError(service_name=service_name, known_service_names="")
        return super().load_service_model(service_name, type_name, api_version)


@lru_cache(maxsize=1)
def private_session() -> PrivateSession:
    """Return the session that builds the clients which are answered in the process."""
    constants: dict[str, Any] = {
        "config_file": os.devnull,
        "credentials_file": os.devnull,
        "ignore_configured_endpoint_urls": True,
    }
    # For each setting: its names in the configuration file and in the environment, its default, its type.
    settings = {
        name: (None, None, constants.get(name, default), convert)
        for name, (_, _, default, convert) in PrivateSession.SESSION_VARIABLES.items()
    }
    session = PrivateSession(session_vars=settings)
    session.register_component("data_loader", LoaderWithoutEndpoints())
    return session


@lru_cache(maxsize=1)
def boto3_session() -> Any:
    """Return the same as a session of boto3, which makes resources."""
    import boto3  # 25 ms beyond botocore: only resources need it

    return boto3.Session(botocore_session=private_session())
