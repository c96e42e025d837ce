"""YAML of CloudFormation templates, with its short forms: !Ref, !Sub, !GetAtt.

The text is read as events and built here, so nesting has a bound, and an anchor that holds itself is a mistake.
"""

from __future__ import annotations

import re
from typing import Any, Final

from singletable.blueprint.foreign.nodes import Node
from singletable.blueprint.forms import BlueprintError
from singletable.blueprint.positions import Path

_DEPTH_MAX: Final = 100
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS: Final = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
}
_WHOLE: Final = re.compile(r"-?(0|[1-9]\d{0,30})")
_FLOAT: Final = re.compile(r"-?\d{1,30}\.\d{1,30}([eE][+-]?\d{1,2})?")
_OPEN: Final = object()  # what an anchor names while it is not closed
_MERGE: Final = "<<"


class _Frame:
    """A mapping or list that is being read."""

    __slots__ = ("anchor", "at", "key", "merged", "path", "tag", "value")

    def __init__(
        self, value: dict[str, Any] | list[Any], path: Path, at: tuple[int, int], event: Any
    ) -> None:
        self.value = value
        self.path = path
        self.at = at
        self.tag: str | None = event.tag
        self.anchor: str | None = event.anchor
        self.key: str | None = None
        self.merged: list[dict[str, Any]] = []


def yaml_node(text: str, kind: str, extra: str) -> Node:
    """Read YAML. `extra` is the extra of this package that brings its parser."""
    try:
        import yaml
    except ImportError:
        raise BlueprintError(
            f"YAML is read with PyYAML, which is not installed: pip install 'singletable[{extra}]'"
        ) from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(kind)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event, type(event).__name__)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise BlueprintError(f"{where}this is no YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, BlueprintError):
            raise
        raise BlueprintError(f"this is no YAML: {str(error).splitlines()[0]}") from None
    return Node(builder.value, (), builder.locate)


class _Builder:
    """What was read so far, and where."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.value: Any = None
        self._documents = 0
        self._frames: list[_Frame] = []
        self._anchors: dict[str, Any] = {}
        self._places: dict[Path, tuple[int, int]] = {}

    def locate(self, path: Path) -> tuple[int, int] | None:
        """Return line and column of a path, or of the nearest that holds it."""
        return next(
            (self._places[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self._places), None
        )

    def take(self, event: Any, kind: str) -> None:
        """Take the next event of the parser."""
        match kind:
            case "DocumentStartEvent":
                self._documents += 1
                if self._documents > 1:
                    raise self._wrong(event, f"a {self.kind} is one document, and another begins here")
            case "MappingStartEvent" | "SequenceStartEvent":
                self._start(event, {} if kind.startswith("Mapping") else [])
            case "MappingEndEvent" | "SequenceEndEvent":
                frame = self._frames.pop()
                value = frame.value
                for merged in frame.merged:
                    value = {**merged, **value} if isinstance(value, dict) else value
                made = _tagged(frame.tag, value)
                self._name(frame.anchor, made)
                self._add(made, event)
            case "ScalarEvent":
                self._scalar(event)
            case "AliasEvent":
                found = self._anchors.get(event.anchor)
                if event.anchor not in self._anchors:
                    raise self._wrong(event, f"the anchor {event.anchor[:40]!r} is not defined")
                if found is _OPEN:
                    raise self._wrong(event, f"the anchor {event.anchor[:40]!r} holds itself")
                self._mark(event)
                self._add(found, event)

    def _start(self, event: Any, value: dict[str, Any] | list[Any]) -> None:
        if len(self._frames) >= _DEPTH_MAX:
            raise self._wrong(event, f"this is nested too deeply for a {self.kind}")
        path = self._mark(event)
        inner = path if _tagged_name(event.tag) is None else (*path, str(_tagged_name(event.tag)))
        frame = _Frame(value, inner, _place(event), event)
        self._name(event.anchor, _OPEN)
        self._frames.append(frame)

    def _scalar(self, event: Any) -> None:
        is_plain = event.implicit[0] and not event.style  # without quotes
        frame = self._frames[-1] if self._frames else None
        if frame is not None and isinstance(frame.value, dict) and frame.key is None:
            frame.key = event.value
            self._name(event.anchor, event.value)
            return
        value = _tagged(event.tag, _plain(event.value) if is_plain else event.value)
        self._name(event.anchor, value)
        self._mark(event)
        self._add(value, event)

    def _add(self, value: Any, event: Any) -> None:
        if not self._frames:
            self.value = value
            return
        frame = self._frames[-1]
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is None:
            raise self._wrong(event, "a key of a mapping is a text")
        else:
            if frame.key == _MERGE:
                frame.merged += [
                    each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)
                ]
            else:
                frame.value[frame.key] = value
            frame.key = None

    def _mark(self, event: Any) -> Path:
        """Return the path of the value that begins, and keep where it stands."""
        if not self._frames:
            path: Path = ()
        else:
            frame = self._frames[-1]
            step: int | str = len(frame.value) if isinstance(frame.value, list) else frame.key or ""
            path = (*frame.path, step)
        self._places[path] = _place(event)
        return path

    def _name(self, anchor: str | None, value: Any) -> None:
        if anchor is not None:
            self._anchors[anchor] = value

    def _wrong(self, event: Any, sentence: str) -> BlueprintError:
        line, column = _place(event)
        return BlueprintError(f"line {line}, column {column}: {sentence}")


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _plain(text: str) -> Any:
    """Return the value of a text without quotes. Dates stay texts: the version of a policy is one."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _tagged_name(tag: str | None) -> str | None:
    """Return the long form of a function: Fn::Sub for !Sub."""
    if tag is None or not tag.startswith("!") or tag == "!":
        return None
    name = tag[1:]
    return name if name in ("Ref", "Condition") else f"Fn::{name}"


def _tagged(tag: str | None, value: Any) -> Any:
    name = _tagged_name(tag)
    if name is None:
        return value
    if name == "Fn::GetAtt" and isinstance(value, str):
        return {name: value.split(".", 1)}
    return {name: value}
