"""Real boto3 clients and resources for a database.

They are built by one private botocore session (`sessions`). The first client of a process costs some 70 ms, most
of it to load botocore's model of DynamoDB; the session keeps that, and every further client costs 3 ms.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from singletable.boto.answering import Answers
from singletable.boto.sessions import (
    ANY_CREDENTIALS,
    CONFIG,
    boto3_session,
    lock_across_forks,
    private_session,
)
from singletable.wire.parameters import OperationContext

Service = Literal["dynamodb", "dynamodbstreams"]

# A name that never resolves (RFC 6761): a call that got past us would fail, and reach nobody.
_NOWHERE: Final = "http://in-process.invalid"

_building = lock_across_forks()  # botocore's sessions are not safe in threads


def build_client(session: OperationContext, service: Service, *, region_name: str | None, config: Any) -> Any:
    """Build a client that this database answers."""
    region_name = _region(session, region_name, config)
    return answered_client(Answers(lambda: session), service, region_name=region_name, config=config)


def build_resource(session: OperationContext, *, region_name: str | None, config: Any) -> Any:
    """Build a resource that this database answers."""
    region_name = _region(session, region_name, config)
    return answered_resource(Answers(lambda: session), region_name=region_name, config=config)


def answered_client(
    answers: Answers, service: Service, *, region_name: str | None, config: Any = None
) -> Any:
    """Build a client; whoever made `answers` decides who answers it."""
    with _building:
        client = private_session().create_client(service, **_arguments(region_name, config))
    answers.attach(client)
    return client


def answered_resource(answers: Answers, *, region_name: str | None, config: Any = None) -> Any:
    """Build a resource; whoever made `answers` decides who answers it."""
    with _building:
        resource = boto3_session().resource("dynamodb", **_arguments(region_name, config))
    answers.attach(resource.meta.client)
    return resource


def _region(session: OperationContext, region_name: str | None, config: Any) -> str | None:
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
