"""boto3 clients for AWS and for other endpoints, with boto3's own search for credentials."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.config import Config
from botocore.session import Session

from singletable.boto.sessions import ANY_CREDENTIALS, LoaderWithoutEndpoints

PARALLEL_MAX: Final = 16  # calls at once, of one `Together`
_DEFAULT_REGION: Final = "us-east-1"
_AWS_HOST: Final = re.compile(r"(?:.+\.)?amazonaws\.com(?:\.cn)?|.+\.api\.aws")
_AWS_REGION: Final = re.compile(r"(?:^|\.)([a-z]{2}(?:-[a-z]+)+-[0-9]+)\.")
# A request is answered within milliseconds, or not at all. Parameters are checked by whoever is asked; and with a
# user agent of its own, a client does not put one together for every call.
_CONFIG: Final = Config(
    connect_timeout=5,
    read_timeout=30,
    max_pool_connections=2 * PARALLEL_MAX,
    tcp_keepalive=True,
    parameter_validation=False,
    user_agent="singletable",
)


@cache
def _loader() -> LoaderWithoutEndpoints:
    return LoaderWithoutEndpoints()  # one for all: the model of DynamoDB takes 70 ms to load


def is_aws(endpoint: str) -> bool:
    """Whether an endpoint is one of AWS itself."""
    return _AWS_HOST.fullmatch(urlsplit(endpoint).hostname or "") is not None


class BotoConnection:
    """A connection to a service. It makes clients for its tables and for its streams."""

    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        self._session = session
        self._arguments = arguments

    def client(self, service: str) -> Any:
        # To get "adaptive" retries, or another number of attempts, use the settings of AWS.
        mode = self._session.get_config_variable("retry_mode")
        retries = {"mode": "standard" if mode in (None, "legacy") else mode}
        config = _CONFIG.merge(Config(retries=retries))
        return self._session.create_client(service, config=config, **self._arguments)


def connect_region(region: str, profile: str | None) -> BotoConnection:
    """Connect to a region of AWS, with boto3's credential chain."""
    return BotoConnection(Session(profile=profile), {"region_name": region})


def connect_endpoint(url: str, region: str | None = None) -> BotoConnection:
    """Connect to an endpoint, for a region or the one that is set. One that is not of AWS needs no credentials."""
    session = Session()
    arguments: dict[str, Any] = {"endpoint_url": url}
    if is_aws(url):
        found = _AWS_REGION.search(urlsplit(url).hostname or "")
        arguments["region_name"] = found[1] if found else region
        return BotoConnection(session, arguments)
    session.register_component("data_loader", _loader())
    # For another endpoint, boto3 would wait a second or more for the machine's role, which is not there.
    session.get_component("credential_provider").remove("iam-role")
    arguments["region_name"] = region or session.get_config_variable("region") or _DEFAULT_REGION
    if session.get_credentials() is None:
        arguments.update(ANY_CREDENTIALS)
    return BotoConnection(session, arguments)
