"""Values of a CloudFormation template: references, texts with references, tags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from zlib import crc32

from singletable.stack.resources import Attribute, Ref, Sub, Text

_REFERENCE: Final = re.compile(r"\$\{(!?)([^}]+)\}")


def text(value: Text) -> Any:
    """Return a text or a reference as CloudFormation writes it."""
    match value:
        case Ref(logical_id):
            return {"Ref": logical_id}
        case Attribute(logical_id, name):
            return {"Fn::GetAtt": [logical_id, name]}
        case Sub(template):
            return _substituted(template)
        case _:
            return value


def _substituted(template: str) -> Any:
    found = _REFERENCE.findall(template)
    if not found:
        return template
    if all(literal for literal, _ in found):
        return _REFERENCE.sub(lambda each: f"${{{each[2]}}}", template)  # nothing to fill in
    whole = _REFERENCE.fullmatch(template)
    if whole is not None and not whole[1]:
        name, dot, attribute = whole[2].partition(".")
        return {"Fn::GetAtt": [name, attribute]} if dot else {"Ref": name}
    return {"Fn::Sub": template}


def filled(value: Any) -> Any:
    """Return data of texts and references as CloudFormation writes it: texts are templates as those of Sub."""
    match value:
        case str():
            return _substituted(value)
        case Ref() | Attribute() | Sub():
            return text(value)
        case Mapping():
            return {key: filled(each) for key, each in value.items()}
        case list() | tuple():
            return [filled(each) for each in value]
        case _:
            return value


def logical_word(name: str) -> str:
    """Return a name as a part of a logical id, which has letters and digits alone; two names are two words."""
    word = re.sub(r"[^A-Za-z0-9]", "", name)
    return word if word == name else f"{word}{crc32(name.encode()):08x}"


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]] | None:
    """Return tags as most resources take them; None without any."""
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())] or None


def without_none(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties without those that are not set."""
    return {name: value for name, value in properties.items() if value is not None}


def resource(kind: str, properties: Mapping[str, Any], **attributes: Any) -> dict[str, Any]:
    """Return a resource of a template; the attributes stand beside its properties."""
    return {"Type": kind, **attributes, "Properties": without_none(properties)}
