"""What a system says of itself, for tests: its services as they can be called, and sums of its loads."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from singletable import Check, Create, Delete, Entity, Get, Put, Update
from singletable.blueprint import Blueprint, LoadBlueprint
from singletable.design.model.entity import entity_type
from singletable.systems import System


def public_calls(system: System) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Return what a package exports to be done with an open design: functions of `db`, methods of services."""
    package = importlib.import_module(f"singletable_systems.{system.name}")
    for name in package.__all__:
        exported = getattr(package, name)
        if inspect.isclass(exported) and _takes_design(exported.__init__, first=1):
            for method, function in inspect.getmembers(exported, inspect.isfunction):
                if not method.startswith("_"):
                    yield f"{name}.{method}", function
        elif inspect.isfunction(exported) and _takes_design(exported, first=0) and name != "workers":
            yield name, exported


def _takes_design(function: Callable[..., Any], *, first: int) -> bool:
    return [*inspect.signature(function).parameters][first : first + 1] == ["db"]


def cited(blueprint: Blueprint, line: str, *kinds: str) -> list[LoadBlueprint]:
    """Return the loads of some kinds that rest on a line of a document."""
    return [load for load in blueprint.loads if load.kind in kinds and load.because.startswith(f"{line} ")]


def monthly(loads: list[LoadBlueprint]) -> float:
    """Return how often that is in a month."""
    return sum(load.monthly or 0 for load in loads)


def requests(blueprint: Blueprint, loads: list[LoadBlueprint]) -> float:
    """Return how many requests of a month the calls of patterns are."""
    each = {
        pattern.method: sum(read.count for read in pattern.reads) + len(pattern.writes)
        for pattern in blueprint.patterns
    }
    return sum((load.monthly or 0) * each[load.of] for load in loads)


# --- what services do -----------------------------------------------------------------------------------


class Watch:
    """Notes which patterns each service asks, and which entities it hands to writes, while it is used."""

    def __init__(self, system: System, patch: pytest.MonkeyPatch) -> None:
        self._running: list[str] = []
        self._is_inside = False
        self.asked: dict[str, set[str]] = {}
        self.written: dict[str, set[str]] = {}
        self.kinds: set[tuple[str, str]] = set()  # of writes: ("create", "Batch")
        for service in system.services:
            for call in service.calls:
                owner, _, name = call.__qualname__.rpartition(".")
                if owner:
                    kind = getattr(importlib.import_module(call.__module__), owner)
                    patch.setattr(kind, name, self._noting(service.name, call))
        for name in system.design.patterns():
            patch.setattr(system.design, name, self._asking(name, getattr(system.design, name)))
        for name in ("create", "put", "update", "delete", "transaction", "batch"):
            patch.setattr(system.design, name, self._writing(name, getattr(system.design, name)))

    def _noting(self, service: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def noted(*args: Any, **kwargs: Any) -> Any:
            self._running.append(service)
            self.asked.setdefault(service, set())
            try:
                return call(*args, **kwargs)
            finally:
                self._running.pop()

        return noted

    def _asking(self, name: str, pattern: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(pattern)
        def asked(*args: Any, **kwargs: Any) -> Any:
            if not self._is_inside:  # a pattern that another is made of is asked by nobody
                for service in self._running:
                    self.asked[service].add(name)
            self._is_inside, before = True, self._is_inside
            try:
                return pattern(*args, **kwargs)
            finally:
                self._is_inside = before

        return asked

    def _writing(self, kind: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def written(db: Any, *args: Any, **kwargs: Any) -> Any:
            for service in self._running:
                self.written.setdefault(service, set()).update(map(_entity_of, _targets(args)))
            self.kinds.update(_kinds(kind, args))
            return method(db, *args, **kwargs)

        return written


def _targets(args: tuple[Any, ...]) -> Iterator[Any]:
    for each in args:
        if isinstance(each, Check):
            continue
        if isinstance(each, Update | Delete):
            yield each.target
        elif isinstance(each, Create | Put):
            yield each.entity
        elif isinstance(each, Entity | Get):
            yield each


def _kinds(method: str, args: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    for each in args:
        match each:
            case Update() | Delete():
                yield type(each).__name__.lower(), _entity_of(each.target)
            case Create():
                yield "create", _entity_of(each.entity)
            case Entity() | Get() if method in ("create", "update", "delete"):
                yield method, _entity_of(each)


def _entity_of(target: Any) -> str:
    return (target.entity if isinstance(target, Get) else entity_type(target)).__name__
