"""Real boto3 clients and resources for a database.

They are built by one private botocore session, which reads neither the environment nor anybody's ~/.aws and
looks for no credentials. The first client of a process costs some 70 ms, most of it to load botocore's model of
DynamoDB; the session keeps that, and every further client costs 3 ms.
"""

from __future__ import annotations

import os
import threading
from functools import lru_cache
from typing import Any, Final, Literal

from botocore.config import Config
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.session import Session as BotocoreSession

from singletable.boto.answering import Answers
from singletable.wire.parameters import Session

Service = Literal["dynamodb", "dynamodbstreams"]

# Any would do: nothing is signed.
ANY_CREDENTIALS: Final = {"aws_access_key_id": "singletable", "aws_secret_access_key": "singletable"}
# A name that never resolves (RFC 6761): a call that got past us would fail, and reach nobody.
_NOWHERE: Final = "http://in-process.invalid"
# With a user agent of its own a client does not put one together for every call: 25 of 120 us a GetItem.
CONFIG: Final = Config(user_agent="singletable")


def lock_across_forks() -> threading.Lock:
    """Return a lock for a module; no child of a fork inherits it held by a thread that it does not have."""
    lock = threading.Lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


_building = lock_across_forks()  # botocore's sessions are not safe in threads


def build_client(session: Session, service: Service, *, region_name: str | None, config: Any) -> Any:
    """Build a client that this database answers."""
    region_name = _region(session, region_name, config)
    return answered_client(Answers(lambda: session), service, region_name=region_name, config=config)


def build_resource(session: Session, *, region_name: str | None, config: Any) -> Any:
    """Build a resource that this database answers."""
    region_name = _region(session, region_name, config)
    return answered_resource(Answers(lambda: session), region_name=region_name, config=config)


def answered_client(
    answers: Answers, service: Service, *, region_name: str | None, config: Any = None
) -> Any:
    """Build a client; whoever made `answers` decides who answers it."""
    with _building:
        client = _private_session().create_client(service, **_arguments(region_name, config))
    answers.attach(client)
    return client


def answered_resource(answers: Answers, *, region_name: str | None, config: Any = None) -> Any:
    """Build a resource; whoever made `answers` decides who answers it."""
    with _building:
        resource = _boto3_session().resource("dynamodb", **_arguments(region_name, config))
    answers.attach(resource.meta.client)
    return resource


def _region(session: Session, region_name: str | None, config: Any) -> str | None:
    if region_name is not None or (config is not None and config.region_name is not None):
        return region_name
    return session.region


def _arguments(region_name: str | None, config: Any) -> dict[str, Any]:
    return {
        **ANY_CREDENTIALS,
        "region_name": region_name,
        "endpoint_url": _NOWHERE,
        "config": CONFIG if config is None else CONFIG.merge(config),
    }


# --- the session that builds them ------------------------------------------------------------------------


class PrivateSession(BotocoreSession):  # type: ignore[misc]  # botocore has no types
    """A session of ours: `patch` leaves its clients alone."""


class LoaderWithoutEndpoints(Loader):  # type: ignore[misc]  # botocore has no types
    """Loads no rules for endpoints; botocore then takes the endpoint it was given: 20 of 120 us a GetItem."""

    def load_service_model(self, service_name: str, type_name: str, api_version: str | None = None) -> Any:
        if type_name == "endpoint-rule-set-1":
            raise UnknownServiceError(service_name=service_name, known_service_names="")
        return super().load_service_model(service_name, type_name, api_version)


@lru_cache(maxsize=1)
def _private_session() -> PrivateSession:
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
def _boto3_session() -> Any:
    import boto3  # 25 ms beyond botocore: only resources need it

    return boto3.Session(botocore_session=_private_session())
