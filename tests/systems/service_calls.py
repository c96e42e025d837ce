"""Calls of services, as the modules of each system list them: the name of a service, and a call of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ServiceCall = tuple[str, Callable[[], Any]]
