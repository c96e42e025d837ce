"""Collect the constraints that the members of a request break, in AWS's order and words.

The request has the right types already (member_types.py). refusals.py decides which violations are reported, and
in which message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from singletable.wire.arns import Arn
from singletable.wire.validation.live_shapes import CUT_NUMBERS, PATTERN_FIRST, Shape, live_shape
from singletable.wire.validation.member_types import OPAQUE, cut_number

TABLE_NAME_LENGTH_MIN: Final = 3
TABLE_NAME_LENGTH_MAX: Final = 255
TABLE_NAME_PATTERN: Final = "[a-zA-Z0-9_.-]+"

Kind = Literal["null", "length", "value", "enum", "pattern"]


@dataclass(frozen=True, slots=True)
class MemberPlace:
    """Where a member is: `keySchema.1.member.keyType` (AWS's older validator), `KeySchema.1…` (the newer)."""

    older: str = ""
    newer: str = ""

    def member(self, name: str) -> MemberPlace:
        lowered = name[0].lower() + name[1:]
        return (
            MemberPlace(f"{self.older}.{lowered}", f"{self.newer}.{name}")
            if self.older
            else MemberPlace(lowered, name)
        )

    def inside(self, index_or_key: int | str) -> MemberPlace:
        return MemberPlace(f"{self.older}.{index_or_key}.member", f"{self.newer}.{index_or_key}.member")

    @property
    def top(self) -> str:
        return self.newer.partition(".")[0]


REQUEST: Final = MemberPlace()


@dataclass(frozen=True, slots=True)
class Violation:
    """One constraint that one member breaks."""

    place: MemberPlace
    value: Any
    shape: Shape
    kind: Kind
    constraint: str

    def older_text(self, *, as_json: bool) -> str:
        value = "null" if self.value is None else f"'{self._echo(as_json=as_json)}'"
        return f"Value {value} at '{self.place.older}' failed to satisfy constraint: {self.constraint}"

    def _echo(self, *, as_json: bool) -> str:
        if has_more_values(self.value, ECHOED_VALUES_MAX):
            return "…"
        try:
            return _json_echo(self.value) if as_json else _java_echo(self.value, self.shape)
        except (RecursionError, TypeError, ValueError):  # AttributeValues have not been looked at yet
            return "…"

    def newer_text(self) -> str:
        return f"Value at '{self.place.newer}' failed to satisfy constraint: {self.constraint}"


# --- echoes ----------------------------------------------------------------------------------------

# An echoed value lists also all types that it does not have: 16 MB of a batch that is too long would become a
# message of gigabytes.
ECHOED_VALUES_MAX: Final = 5_000


def has_more_values(value: Any, most: int) -> bool:
    """Tell whether so many values, and more, are in a value."""
    count = 0
    left = [value]
    while left and count <= most:
        count += 1
        match left.pop():
            case Mapping() as inner:
                left.extend(inner.values())
            case list() | tuple() as inner:
                left.extend(inner)
    return count > most


def _java_echo(value: Any, shape: Shape | None) -> str:
    element = live_shape(shape.element) if shape is not None and shape.element else None
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Mapping() if shape is not None and shape.kind == "structure":
            return f"{shape.name}({', '.join(_member_echoes(value, shape))})"
        case Mapping():
            return (
                "{" + ", ".join(f"{key}={_java_echo(entry, element)}" for key, entry in value.items()) + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(_java_echo(entry, element) for entry in value) + "]"
        case _:
            return str(value)


def _member_echoes(value: Mapping[str, Any], shape: Shape) -> Iterator[str]:
    for name in shape.echoed:
        target = shape.members.get(name)
        text = _java_echo(value.get(name), live_shape(target) if target else None)
        yield f"{name[0].lower()}{name[1:]}={text}"


def _json_echo(value: Any) -> str:
    import json

    if isinstance(value, str):
        return value
    # dynoxide: tables in order, and the members of each by name.
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=_blob_echo, sort_keys=True)


def _blob_echo(value: Any) -> str:
    import base64

    return base64.b64encode(value).decode() if isinstance(value, bytes | bytearray) else str(value)


# --- constraints of members --------------------------------------------------------------------------


def constraint_violations(
    shape: Shape, members: Mapping[str, Any], place: MemberPlace = REQUEST
) -> Iterator[Violation]:
    """Yield the constraints that the members of a structure break."""
    for name, target in shape.members.items():
        value = members.get(name)
        if value is not None:
            yield from _violations(live_shape(target), value, place.member(name))
        elif name in shape.required:
            yield Violation(place.member(name), None, live_shape(target), "null", "Member must not be null")


def _violations(shape: Shape, value: Any, place: MemberPlace) -> Iterator[Violation]:
    if shape.name in CUT_NUMBERS:
        value = cut_number(value)
    for kind, constraint in _broken(shape, value):
        yield Violation(place, value, shape, kind, constraint)
    yield from _violations_inside(shape, value, place)


def _violations_inside(shape: Shape, value: Any, place: MemberPlace) -> Iterator[Violation]:
    match shape.kind:
        case "structure" if shape.name != OPAQUE:
            yield from constraint_violations(shape, value, place)
        case "list" if shape.element != OPAQUE:
            yield from _entry_violations(shape, value, place, value, enumerate(value, start=1))
        case "map" if shape.element != OPAQUE:
            key = live_shape(shape.key or "")
            # Keys that name tables are looked at with the other names of tables, below.
            if key.name != "TableArn" and any(_broken(key, name) for name in value):
                yield Violation(
                    place, value, shape, "length", f"Map keys must satisfy constraint: [{_listed(key)}]"
                )
            yield from _entry_violations(shape, value, place, value.values(), value.items())


def _entry_violations(
    shape: Shape,
    value: Any,
    place: MemberPlace,
    entries: Iterable[Any],
    placed: Iterable[tuple[int | str, Any]],
) -> Iterator[Violation]:
    """Report an error of an entry itself once, for its list or map; report an error inside the entry at its place.

    "Value '{t=[]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member
    must have length less than or equal to 25, Member must have length greater than or equal to 1]"
    """
    element = live_shape(shape.element or "")
    subject = "Map value" if shape.kind == "map" else "Member"
    if any(entry is None for entry in entries):
        listed = ", ".join(filter(None, (_listed(element), "Member must not be null")))
        yield Violation(place, value, shape, "length", f"{subject} must satisfy constraint: [{listed}]")
    elif any(_broken(element, entry) for entry in entries):
        yield Violation(
            place, value, shape, "length", f"{subject} must satisfy constraint: [{_listed(element)}]"
        )
    for index_or_key, entry in placed:
        if entry is not None:
            yield from _violations_inside(element, entry, place.inside(index_or_key))


def _broken(shape: Shape, value: Any) -> list[tuple[Kind, str]]:
    if shape.enum:
        if value in shape.enum:
            return []
        return [("enum", f"Member must satisfy enum value set: [{', '.join(shape.enum)}]")]
    found: list[tuple[Kind, str]] = []
    measure: Literal["length", "value"] = "value" if shape.kind in ("integer", "long") else "length"
    if shape.minimum is not None and _size(value) < shape.minimum:
        found.append((measure, f"Member must have {measure} greater than or equal to {shape.minimum}"))
    if shape.maximum is not None and _size(value) > shape.maximum:
        found.append((measure, f"Member must have {measure} less than or equal to {shape.maximum}"))
    if shape.pattern is not None and not re.fullmatch(shape.pattern, value):
        found.append(("pattern", f"Member must satisfy regular expression pattern: {shape.pattern}"))
    return found[::-1] if shape.name in PATTERN_FIRST else found


def _size(value: Any) -> int:
    match value:
        case int():
            return value
        case str():
            return utf16_units(value)
        case _:
            return len(value)


def utf16_units(text: str) -> int:
    """Return the length of a string as Java counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _listed(shape: Shape) -> str:
    texts = []
    if shape.maximum is not None:
        texts.append(f"Member must have length less than or equal to {shape.maximum}")
    if shape.minimum is not None:
        texts.append(f"Member must have length greater than or equal to {shape.minimum}")
    if shape.pattern is not None:
        texts.append(f"Member must satisfy regular expression pattern: {shape.pattern}")
    return ", ".join(texts)


# --- names of tables -----------------------------------------------------------------------------------

_ARN_FORMAT: Final = (
    "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', "
    "where Resource name must have length less than or equal to 255, Resource name must have length greater "
    f"than or equal to 3, Resource name must satisfy regular expression pattern: {TABLE_NAME_PATTERN}"
)
_TABLE_KEYS: Final = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
    "Member must have length greater than or equal to 3, "
    f"Member must satisfy regular expression pattern: {TABLE_NAME_PATTERN}]"
)


def table_name_violations(
    shape: Shape, members: Mapping[str, Any], place: MemberPlace = REQUEST
) -> Iterator[Violation]:
    """Yield the constraints that table names of a structure break. The model allows any text there, for ARNs."""
    for name, target in shape.members.items():
        value = members.get(name)
        if value is None:
            continue
        member, here = live_shape(target), place.member(name)
        if name == "TableName" and target == "TableArn":
            for constraint in _broken_table_name(value):
                yield Violation(here, value, member, "pattern", constraint)
        elif member.key == "TableArn" and any(_broken_table_name(key) for key in value):
            yield Violation(here, value, member, "pattern", _TABLE_KEYS)
        elif member.kind == "structure" and target != OPAQUE:
            yield from table_name_violations(member, value, here)
        elif member.kind == "list" and member.element != OPAQUE:
            element = live_shape(member.element or "")
            for index, entry in enumerate(value if element.kind == "structure" else (), start=1):
                if entry is not None:
                    yield from table_name_violations(element, entry, here.inside(index))


def _broken_table_name(name: str) -> list[str]:
    if name.startswith("arn:"):
        return _broken_table_arn(name)
    # parity: the maximum and the pattern for PutItem, the minimum for CreateTable; ack: the minimum and then
    # the pattern for DescribeTable. That PutItem has the minimum too is taken from the text for ARNs below.
    found = []
    if utf16_units(name) < TABLE_NAME_LENGTH_MIN:
        found.append(f"Member must have length greater than or equal to {TABLE_NAME_LENGTH_MIN}")
    if utf16_units(name) > TABLE_NAME_LENGTH_MAX:
        found.append(f"Member must have length less than or equal to {TABLE_NAME_LENGTH_MAX}")
    if not re.fullmatch(TABLE_NAME_PATTERN, name):
        found.append(f"Member must satisfy regular expression pattern: {TABLE_NAME_PATTERN}")
    return found


def _broken_table_arn(arn: str) -> list[str]:
    # As github.com/ExtendDB/extenddb captured them from Amazon DynamoDB, July 2026.
    parsed = Arn.parse(arn)
    kind, slash, name = ("", "", "") if parsed is None else parsed.resource.partition("/")
    if not slash:
        return [_ARN_FORMAT]
    if kind != "table":
        return ["Invalid resource type"]
    if len(name) < TABLE_NAME_LENGTH_MIN:
        return [f"Table name of ARN must have length greater than or equal to {TABLE_NAME_LENGTH_MIN}"]
    if len(name) > TABLE_NAME_LENGTH_MAX or not re.fullmatch(TABLE_NAME_PATTERN, name):
        return [_ARN_FORMAT]
    return []
