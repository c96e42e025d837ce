"""Clients: one interface between designs and their targets.

The engine is loaded with the first file or memory that is opened, and botocore with the first other target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from singletable.client.base import Client
from singletable.client.calls import Call, Step, Steps, Together, Wait, Work
from singletable.client.capabilities import ALTERNATOR, DYNAMODB, DYNAMODB_LOCAL, EMBEDDED, Capabilities
from singletable.client.targets import Target, capabilities_of, open_client

if TYPE_CHECKING:
    from singletable.client.embedded import EmbeddedClient

__all__ = [
    "ALTERNATOR",
    "DYNAMODB",
    "DYNAMODB_LOCAL",
    "EMBEDDED",
    "Call",
    "Capabilities",
    "Client",
    "EmbeddedClient",
    "Step",
    "Steps",
    "Target",
    "Together",
    "Wait",
    "Work",
    "capabilities_of",
    "open_client",
]


def __getattr__(name: str) -> Any:
    if name == "EmbeddedClient":
        from singletable.client.embedded import EmbeddedClient

        return EmbeddedClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
