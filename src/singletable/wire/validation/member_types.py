"""Check that the members of a request are known and have the JSON types of their shapes.

AWS reads the body in order and answers the first member of a wrong type with a SerializationException that
does not name it. The texts are those that dynalite's tests took from the live service. Since 2026 AWS leaves
the text out where a list stands in the wrong place (SDKs then print "UnknownError"); the older text is kept
there, because it says what is wrong.

AWS turns "true" into a boolean. That is refused here: nothing past this point converts, and no SDK sends it. AWS
turns 5.5 into an integer too. We do the same where AWS's answers to it have been captured (`cut_number`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from singletable.errors import SerializationError, ValidationError
from singletable.wire.validation.live_shapes import CUT_NUMBERS, live_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from singletable.wire.validation.live_shapes import Shape

OPAQUE: Final = "AttributeValue"  # read by the values layer; here it is only known to be a map
LookInside: TypeAlias = "Callable[[object], None]"

_JAVA_PACKAGE: Final = "com.amazonaws.dynamodb.v20120810"
_JAVA_SCALARS: Final = {
    "string": "java.lang.String",
    "integer": "java.lang.Integer",
    "long": "java.lang.Long",
    "boolean": "java.lang.Boolean",
    "timestamp": "java.util.Date",
}

_INTEGER_MIN: Final = -(1 << 31)
_INTEGER_MAX: Final = (1 << 31) - 1

_MAP_UNEXPECTED: Final = "Start of structure or map found where not expected"
_CANNOT_CAST: Final = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are "
    "in module java.base of loader 'bootstrap')"
)


# --- types ---------------------------------------------------------------------------------------


def require_types(shape: Shape, members: Mapping[str, Any], look_inside: LookInside | None = None) -> None:
    """Raise SerializationError for the first member of a structure that has a wrong JSON type.

    `look_inside` gets each AttributeValue; without it those are only known to be maps.
    """
    for name, value in members.items():
        target = shape.members.get(name)
        if target is not None and value is not None:
            _require_type(live_shape(target), value, look_inside, is_member=True)


def _require_type(shape: Shape, value: Any, look_inside: LookInside | None, *, is_member: bool) -> None:
    match shape.kind:
        case "structure" | "map":
            _require_mapping(shape, value, look_inside, is_member=is_member)
        case "list":
            _require_list(shape, value, look_inside, is_member=is_member)
        case kind:
            _require_scalar(shape, kind, value)


def _require_mapping(shape: Shape, value: Any, look_inside: LookInside | None, *, is_member: bool) -> None:
    if isinstance(value, list | tuple):
        raise SerializationError(f"Unrecognized collection type {_java_type(shape)}")
    if not isinstance(value, Mapping):
        if is_member:
            raise SerializationError("Unexpected field type")
        raise SerializationError(
            "Unexpected value type in payload" if shape.kind == "structure" else _CANNOT_CAST
        )
    if shape.name == OPAQUE:
        if look_inside is not None:
            look_inside(value)
        return
    if shape.kind == "structure":
        require_types(shape, value, look_inside)
        return
    for key in value:
        _require_scalar(live_shape(shape.key or ""), "string", key)
    _require_entries(shape, value.values(), look_inside)


def _require_list(shape: Shape, value: Any, look_inside: LookInside | None, *, is_member: bool) -> None:
    if isinstance(value, Mapping):
        raise SerializationError(_MAP_UNEXPECTED)
    if not isinstance(value, list | tuple):
        raise SerializationError("Unexpected field type" if is_member else _CANNOT_CAST)
    _require_entries(shape, value, look_inside)


def _require_entries(shape: Shape, entries: Iterable[Any], look_inside: LookInside | None) -> None:
    element = live_shape(shape.element or "")
    for entry in entries:
        if entry is not None:
            _require_type(element, entry, look_inside, is_member=False)


def fits(kind: str, number: int) -> bool:
    """Tell whether a number fits into the 32 bits of an integer or the 64 of a long."""
    bits = 31 if kind == "integer" else 63
    return -(1 << bits) <= number < 1 << bits


def has_cut_number(shape: Shape, members: Mapping[str, Any]) -> bool:
    """Tell whether a number of a request will be cut: read as another number."""
    return any(
        target in CUT_NUMBERS and members.get(name) is not None and cut_number(members[name]) != members[name]
        for name, target in shape.members.items()
    )


def cut_number(value: float) -> int:
    """Return a number as AWS reads it into 32 bits: without its fraction, and at most the largest integer.

    Query and Scan accept a Limit of 2147483648 and of 1.5; of 0.5 they say "Value '0' at 'limit' …", of a Segment
    of 2147483648 "Value '2147483647' at 'segment' …" (captured by dynoxide in eu-west-2 and eu-central-1).
    """
    if type(value) is int and _INTEGER_MIN <= value <= _INTEGER_MAX:
        return value  # as nearly always
    return max(_INTEGER_MIN, min(int(value), _INTEGER_MAX))


def _require_scalar(shape: Shape, kind: str, value: Any) -> None:
    match kind, value:
        case ("string", str()) | ("boolean", bool()):
            return
        case "integer", int() | float() if shape.name in CUT_NUMBERS and _is_finite_number(value):
            return
        case (("integer" | "long"), int()) if not isinstance(value, bool) and fits(kind, value):
            return
        case "timestamp", _ if is_time(value):
            return
        case _, Mapping():
            raise SerializationError(_MAP_UNEXPECTED)
        case _, list() | tuple():
            raise SerializationError(f"Unrecognized collection type {_java_type(shape)}")
        case "boolean", str():
            raise SerializationError("Unexpected token received from parser")
        case "timestamp", _:
            # Said by AWS's services of this protocol (recorded of X-Ray in the tests of Paws, the SDK for Perl).
            raise SerializationError(f"{_token(value)} can not be converted to milliseconds since epoch")
        case _:
            java_class = _JAVA_SCALARS[kind].rpartition(".")[2]
            raise SerializationError(f"{_token(value)} cannot be converted to {java_class}")


def is_time(value: object) -> bool:
    """Tell whether a value is a point in time: seconds since 1970, or, from a caller in Python, a datetime."""
    return isinstance(value, datetime) or (isinstance(value, int | float) and _is_finite_number(value))


def time_us(value: float | datetime) -> int:
    """Return a point in time as microseconds since 1970. A datetime without a zone is UTC, as for boto3."""
    if isinstance(value, datetime) and value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    try:
        return round((value.timestamp() if isinstance(value, datetime) else value) * 1_000_000)
    except (OverflowError, ValueError):  # the first and last days that a datetime can be, in another zone
        raise ValidationError(f"{value!r} is not a time that can be converted") from None


def _is_finite_number(value: float) -> bool:
    return not isinstance(value, bool) and value - value == 0


def _token(value: Any) -> str:
    match value:
        case True:
            return "TRUE_VALUE"
        case False:
            return "FALSE_VALUE"
        case int():
            return "NUMBER_VALUE"
        case float():
            return "DECIMAL_VALUE"
        case str():
            return "STRING_VALUE"
        case _:
            return type(value).__name__  # no JSON: a Python object given in the process


def _java_type(shape: Shape) -> str:
    match shape.kind:
        case "structure":
            return f"class {_JAVA_PACKAGE}.{shape.name}"
        case "map":
            return f"java.util.Map<java.lang.String, {_java_name(live_shape(shape.element or ''))}>"
        case kind:
            return f"class {_JAVA_SCALARS[kind]}"


def _java_name(shape: Shape) -> str:
    if shape.kind == "list":
        return f"java.util.List<{_java_name(live_shape(shape.element or ''))}>"
    return _java_type(shape).removeprefix("class ")


# --- plain types -----------------------------------------------------------------------------------


def plain_members(shape: Shape, members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a structure as plain Python types. Their JSON types must be right already.

    A caller may name a table by a member of an enum that is a `str` too. It is equal to its text, but it prints as
    something else, and no JSON has it for a key. An AttributeValue is left as it is: the values layer reads it.
    """
    return {
        str.__str__(name): _plain(live_shape(shape.members[name]), value) for name, value in members.items()
    }


def _plain(shape: Shape, value: Any) -> Any:
    if value is None or shape.name == OPAQUE:
        return value
    match shape.kind:
        case "structure":
            return plain_members(shape, value)
        case "map":
            element = live_shape(shape.element or "")
            return {str.__str__(key): _plain(element, entry) for key, entry in value.items()}
        case "list":
            element = live_shape(shape.element or "")
            return [_plain(element, entry) for entry in value]
        case "string":
            return str.__str__(value)
        case _:
            return value


# --- long lists --------------------------------------------------------------------------------------

# No list of a request may be nearly as long; which one of them is too long, its constraint knows, or the engine.
LIST_LENGTH_MAX: Final = 1_000


def shortened(shape: Shape, members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a structure, with lists that are far too long cut to their beginning.

    The message about a list does not depend on its length, and names only the first error inside it.
    """
    return {
        name: _shortened(live_shape(shape.members[name]), value) if name in shape.members else value
        for name, value in members.items()
    }


def _shortened(shape: Shape, value: Any) -> Any:
    if shape.name == OPAQUE:
        return value
    element = live_shape(shape.element) if shape.element else None
    match shape.kind, value:
        case "list", list() if element is not None:
            return [_shortened(element, entry) for entry in value[:LIST_LENGTH_MAX]]
        case "map", dict() if element is not None and element.name != OPAQUE:
            return {key: _shortened(element, entry) for key, entry in value.items()}
        case "structure", dict():
            return shortened(shape, value)
        case _:
            return value


# --- unknown members -------------------------------------------------------------------------------


def require_known_members(shape: Shape, members: Mapping[str, Any], where: str = "input") -> None:
    """Raise ValidationError for a parameter there is none of: a slip in a Python call must not pass silently.

    AWS ignores unknown members, so this is for calls in the process only.
    """
    for name, value in members.items():
        target = shape.members.get(name)
        if target is None:
            _refuse_unknown(name, shape.members, where)
        _require_known_inside(live_shape(target), value, name if where == "input" else f"{where}.{name}")


def _require_known_inside(shape: Shape, value: Any, where: str) -> None:
    element = live_shape(shape.element) if shape.element else None
    if shape.kind == "structure" and shape.name != OPAQUE and isinstance(value, Mapping):
        require_known_members(shape, value, where)
    elif element is None or element.name == OPAQUE:
        return
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            _require_known_inside(element, entry, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            _require_known_inside(element, entry, f"{where}[{index}]")


def _refuse_unknown(name: object, known: Iterable[str], where: str) -> NoReturn:
    from difflib import get_close_matches  # 4 ms: only when something is wrong

    names = sorted(known)
    close = get_close_matches(str(name), names, n=1)
    hint = f' Did you mean "{close[0]}"?' if close else ""
    raise ValidationError(
        f'Unknown parameter in {where}: "{name}", must be one of: {", ".join(names) or "(none)"}.{hint}'
    )
