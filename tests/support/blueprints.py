"""Blueprints for properties: any members that the classes allow, and designs in which some members differ."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, Final

from hypothesis import strategies as st

from singletable.blueprint import Blueprint

HOSTILE: Final = (
    '"""',
    "'''",
    '"); import os; os.abort(); ("',
    "\n    raise SystemExit\n",
    "x\\",
    "\\",
    "#",
    "`",
    "|",
    "a|b\nc`d``e",
    "\x00",
    "\u2028",
    "\ud800",
    "{",
    "{}",
    "{a",
    "class",
    "None",
    "1st",
    "",
    " ",
    "__class__",
    "self",
    "ﬁeld",
    "имя",
    "model_config",
    "date",
    "str",
    "values",
    "$x",
)
_NAMES: Final = ("user_id", "status", "created_at", "title", "count", "ttl", "version", "PK")
_ENTITIES: Final = ("User", "Batch", "Event")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "type": (
        "str",
        "int",
        "datetime",
        "bool",
        "Decimal",
        '"a" | "b"',
        "list[str]",
        "set[str]",
        "Step",
        "Map",
        "1 | 2",
    ),
    "template": (
        "USER#{user_id}",
        "METADATA",
        "S#{status}#{created_at}",
        "{title}",
        "E#{user_id}#{shard}",
        "{count:04}",
    ),
    "pk": ("PK", "USER#{user_id}", "S#{status}", "GSI1PK"),
    "sk": ("SK", "GSI1SK"),
    "index": ("GSI1", "GSI2"),
    "operator": (
        "=",
        "begins_with",
        "<",
        ">=",
        "BETWEEN",
        "> AND <",
        "and",
        "or",
        "not",
        "exists",
        "in",
        "contains",
    ),
    "operation": (
        "Query",
        "GetItem",
        "BatchGetItem",
        "Scan",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "Walk",
        "Merged",
    ),
    "attribute": ("PK", "SK", "GSI1PK", "GSI1SK"),
    "bucket": ("month", "day", "never"),
    "by": ("transaction", "stream"),
    "casing": ("camel", "snake"),
    "stream": ("NEW_AND_OLD_IMAGES",),
    "billing": ("PAY_PER_REQUEST", "PROVISIONED"),
    "projection": ("ALL", "KEYS_ONLY", "INCLUDE"),
    "order": ("forward", "backward"),
    **dict.fromkeys(("entity", "entities", "of", "owns", "named_by", "writes"), _ENTITIES),
    **dict.fromkeys(
        ("field", "fields", "of_field", "after", "stored", "alias", "included", "method"), _NAMES
    ),
}
_TEMPLATES: Final = st.sampled_from(_WORDS["template"])
_TEXTS: Final = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=6))
_PLAIN: Final = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 9), st.floats(allow_nan=False), st.sampled_from(_NAMES), _TEXTS
)
_VALUES: Final = st.one_of(_PLAIN, st.lists(_PLAIN, max_size=2), st.dictionaries(_TEXTS, _PLAIN, max_size=2))
_MARKERS: Final = st.one_of(
    st.sampled_from(
        [
            {"kind": "Auto", "when": "create"},
            {"kind": "Auto", "when": "write"},
            {"kind": "Lock"},
            {"kind": "TimeToLive"},
            {"kind": "Stored", "name": "x"},
            {"kind": "Digits", "decimals": 2, "rounds": True},
            {"kind": "MaxBytes", "count": 400},
            {"kind": "Compressed"},
            {"kind": "Ge", "ge": 1},
            {"kind": "Le", "le": 1.5},
            {"kind": "MaxLen", "max_length": 5},
            {"kind": "pattern", "value": "^[a-z]+$"},
            {"kind": "pattern", "value": "("},
            {"kind": "Pad", "width": 6, "decimals": 0, "offset": 0},
            {"kind": "Verbatim"},
            {"kind": "Normalize", "function": "casefold"},
            {"kind": "Normalize", "function": "f()"},
            {"kind": "Computed", "function": "len", "fields": ["title"]},
        ]
    ),
    st.builds(lambda kind: {"kind": kind}, _TEXTS),
)
_SIMPLE: Final = st.builds(
    lambda operator, field, value: {"operator": operator, "field": field, **value},
    st.sampled_from([*_WORDS["operator"], "?"]),
    st.sampled_from([*_NAMES, '"']),
    st.one_of(
        st.builds(lambda value: {"value": value}, _PLAIN),
        st.builds(lambda values: {"values": values}, st.lists(_PLAIN, max_size=2)),
        st.builds(lambda name: {"parameter": name}, st.sampled_from(_NAMES)),
        st.just({}),
    ),
)
_CONDITIONS: Final = st.recursive(
    _SIMPLE,
    lambda inner: st.one_of(
        st.builds(
            lambda operator, members: {"operator": operator, "conditions": members},
            st.sampled_from(["and", "or"]),
            st.lists(inner, max_size=3),
        ),
        st.builds(lambda member: {"operator": "not", "condition": member}, inner),
    ),
    max_leaves=4,
)
_CONDITION_NAMES: Final = frozenset({"when", "filter", "condition"})
_DEFAULTS: Final = st.one_of(
    st.builds(lambda value: {"value": value}, _VALUES),
    st.sampled_from(
        [{"factory": "list"}, {"factory": "set"}, {"factory": "<lambda>"}, {"factory": "os.abort"}]
    ),
)
_MAPPINGS: Final = {
    "markers": _MARKERS,
    "default": _DEFAULTS,
    **dict.fromkeys(_CONDITION_NAMES, _CONDITIONS),
}


def blueprints() -> st.SearchStrategy[Blueprint]:
    """Return blueprints of all kinds. A part of them have keys and attributes that belong together."""
    return _of(Blueprint, "")


def _of(kind: Any, name: str) -> st.SearchStrategy[Any]:
    """Return values of an annotation, for a member of a name."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if is_dataclass(kind):
        return _of_class(kind)
    if origin is typing.Annotated:
        return st.from_type(kind)  # an amount, or a share
    if origin in (typing.Union, types.UnionType):
        members = [each for each in arguments if each is not type(None)]
        found = st.one_of(*(_of(each, name) for each in members))
        return st.one_of(st.none(), found) if len(members) < len(arguments) else found
    if origin is tuple:
        return st.lists(_of(arguments[0], name), max_size=3).map(tuple)
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if name in _MAPPINGS:
        return _MAPPINGS[name]
    if origin is not None and issubclass(origin, Mapping):
        return st.dictionaries(_TEXTS, _of(arguments[1], name), max_size=2)
    if kind is str:
        return _of_text(name)
    scalars: dict[Any, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(-3, 40),
        float: st.one_of(st.integers(-3, 10**6).map(float), st.floats(allow_nan=False)),
        Any: _VALUES,
    }
    return scalars[kind]


def _of_text(name: str) -> st.SearchStrategy[str]:
    if name in ("templates", "sort", "within", "was"):
        return st.one_of(_TEMPLATES, _TEXTS)
    words = _WORDS.get(name, (*_NAMES, *_ENTITIES, "GSI1"))
    return st.one_of(st.sampled_from(words), st.sampled_from(words), st.sampled_from(words), _TEXTS)


def _of_class(kind: Any) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: _built(kind))


_BUILT: Final[dict[Any, st.SearchStrategy[Any]]] = {}


def _built(kind: Any) -> st.SearchStrategy[Any]:
    if kind not in _BUILT:
        hints = typing.get_type_hints(kind, include_extras=True)
        required = {
            each.name: _of(hints[each.name], each.name) for each in fields(kind) if _is_required(each)
        }
        others = {
            each.name: _of(hints[each.name], each.name) for each in fields(kind) if not _is_required(each)
        }
        _BUILT[kind] = st.builds(
            lambda must, may: kind(**must, **may),
            st.fixed_dictionaries(required),
            st.fixed_dictionaries({}, optional=others),
        )
    return _BUILT[kind]


def _is_required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


# --- nearly right ones ----------------------------------------------------------------------------------


@st.composite
def changed(draw: st.DrawFn, blueprint: Blueprint, changes_max: int = 6) -> Blueprint:
    """Return a blueprint in which some members have other values."""
    for _ in range(draw(st.integers(0, changes_max))):
        blueprint = _changed(draw, blueprint, "")
    return blueprint


def _changed(draw: st.DrawFn, value: Any, name: str) -> Any:
    """Change one member, somewhere inside of a dataclass."""
    hints = typing.get_type_hints(type(value), include_extras=True)
    names = [each.name for each in fields(value)]
    inner = [each for each in names if _holds_classes(getattr(value, each))]
    if inner and draw(st.integers(0, 9)) > 0:
        chosen = draw(st.sampled_from(inner))
        held = getattr(value, chosen)
        if is_dataclass(held):
            return replace(value, **{chosen: _changed(draw, held, chosen)})
        at = draw(st.integers(0, len(held) - 1))
        made = (*held[:at], _changed(draw, held[at], chosen), *held[at + 1 :])
        return replace(value, **{chosen: made})
    chosen = draw(st.sampled_from(names))
    return replace(value, **{chosen: draw(_of(hints[chosen], chosen))})


def _holds_classes(value: Any) -> bool:
    return is_dataclass(value) or (isinstance(value, tuple) and bool(value) and is_dataclass(value[0]))
