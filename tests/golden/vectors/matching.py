"""Compare an answer with what was expected, and say where they differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_SETS = ("SS", "NS", "BS")


@dataclass(frozen=True)
class Matcher:
    """Something that an answer is held against where its exact value does not matter."""

    words: str
    differences: Callable[[Any, str], Iterator[str]]

    def __repr__(self) -> str:
        return self.words


def _always(actual: Any, path: str) -> Iterator[str]:
    return iter(())


anything = Matcher("anything", _always)


def matching(pattern: str) -> Matcher:
    """Match a text as a whole by a regular expression."""

    def compare(actual: Any, path: str) -> Iterator[str]:
        if not isinstance(actual, str) or re.fullmatch(pattern, actual) is None:
            yield f"{path}: expected a text like {pattern!r}, got {actual!r}"

    return Matcher(f"matching({pattern!r})", compare)


def arn_of(resource: str) -> Matcher:
    """Match the ARN of a resource of DynamoDB, in whichever region and account; the resource is an expression."""
    return matching(rf"arn:aws:dynamodb:[a-z]{{2}}(-[a-z]+)+-\d:\d{{12}}:{resource}")


def including(members: dict[str, Any]) -> Matcher:
    """Match an object by some of its members."""

    def compare(actual: Any, path: str) -> Iterator[str]:
        if not isinstance(actual, dict):
            yield f"{path}: expected an object, got {actual!r}"
            return
        for name, value in members.items():
            if name in actual:
                yield from differences(value, actual[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}: missing"

    return Matcher(f"including({members!r})", compare)


def without(*names: str) -> Matcher:
    """Match an object that lacks these members."""

    def compare(actual: Any, path: str) -> Iterator[str]:
        for name in names:
            if not isinstance(actual, dict) or name in actual:
                yield f"{path}.{name}: must not be there"

    return Matcher(f"without{names!r}", compare)


def unordered(expected: Sequence[Any]) -> Matcher:
    """Match a list whose order nothing promises."""

    def compare(actual: Any, path: str) -> Iterator[str]:
        if not isinstance(actual, list):
            yield f"{path}: expected a list, got {actual!r}"
            return
        rest = list(actual)
        for wanted in expected:
            found = next((entry for entry in rest if not any(differences(wanted, entry, path))), None)
            if found is None:
                yield f"{path}: nothing in {rest!r} is {wanted!r}"
            else:
                rest.remove(found)
        if rest and len(actual) > len(expected):
            yield f"{path}: not expected: {rest!r}"

    return Matcher(f"unordered({list(expected)!r})", compare)


def differences(expected: Any, actual: Any, path: str = "$") -> Iterator[str]:
    """Yield a line for each place where an answer is not what was expected."""
    if isinstance(expected, Matcher):
        yield from expected.differences(actual, path)
    elif isinstance(expected, dict) and isinstance(actual, dict):
        yield from _object_differences(expected, actual, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: expected {len(expected)} elements, got {len(actual)}: {actual!r}"
        for place, (wanted, found) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(wanted, found, f"{path}[{place}]")
    elif expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        yield f"{path}: expected {expected!r}, got {actual!r}"


def _object_differences(expected: dict[str, Any], actual: dict[str, Any], path: str) -> Iterator[str]:
    for name in [*expected, *(name for name in actual if name not in expected)]:
        place = f"{path}.{name}"
        if name not in actual:
            yield f"{place}: missing"
        elif name not in expected:
            yield f"{place}: not expected, but it is {actual[name]!r}"
        elif len(expected) == 1 and name in _SETS and _is_set(expected[name]) and _is_set(actual[name]):
            # The elements of a set have no order.
            if sorted(expected[name]) != sorted(actual[name]):
                yield f"{place}: expected {expected[name]!r}, got {actual[name]!r}"
        else:
            yield from differences(expected[name], actual[name], place)


def _is_set(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(element, str) for element in value)
