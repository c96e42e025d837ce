"""The seam between designs and what they run on: one interface, whoever answers."""

from __future__ import annotations

from singletable.client.base import Client
from singletable.client.calls import Call, Step, Steps, Together, Wait, Work
from singletable.client.capabilities import ALTERNATOR, DYNAMODB, DYNAMODB_LOCAL, EMBEDDED, Capabilities
from singletable.client.embedded import EmbeddedClient
from singletable.client.targets import Target, capabilities_of, open_client

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
