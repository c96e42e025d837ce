"""The parts of a template, and whether a reader of a key can tell them apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Final, NoReturn

from singletable.design.key_codecs import ValueCodec
from singletable.errors import DeclarationError

_TOKEN: Final = re.compile(r"(?P<text>(?:[^{}]|\{\{|\}\})+)|\{(?P<name>[^\W\d]\w*)(?::(?P<spec>[^{}]*))?\}")
_BEFORE_FIELD: Final = re.compile(r"[\W_]*\Z")
_AFTER_FIELD: Final = re.compile(r"\A[\W_]*")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A field as a template names it: `{week:02}`."""

    name: str
    spec: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """A field of a template with the codec that it has there."""

    name: str
    codec: ValueCodec


Part = str | Slot


def split_template(text: str, owner: str | None = None) -> list[str | Placeholder]:
    """Split a template into its literal texts and its fields; a mistake in it names the owner."""
    try:
        return _split(text)
    except DeclarationError as error:
        if owner is None:
            raise
        raise DeclarationError(f"{owner}: the template {text!r}: {error.message}", hint=error.hint) from None


def _split(text: str) -> list[str | Placeholder]:
    if not text:
        raise DeclarationError("it is empty", hint='template="USER#{user_id}"')
    tokens: list[str | Placeholder] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            _refuse_brace(text, position)
        if found["name"] is None:
            tokens.append(found["text"].replace("{{", "{").replace("}}", "}"))
        else:
            tokens.append(Placeholder(found["name"], found["spec"] or ""))
        position = found.end()
    return tokens


def _refuse_brace(text: str, position: int) -> NoReturn:
    raise DeclarationError(
        f"{text[position : position + 20]!r} is no field",
        hint="a field is {name} or {name:02}; a brace that is meant as text is written twice",
    )


def separators_of(tokens: Sequence[str | Placeholder]) -> str:
    """Return the characters next to fields that are neither letters nor digits, each once."""
    found: dict[str, None] = {}
    for position, token in enumerate(tokens):
        if isinstance(token, Placeholder):
            continue
        if position > 0:
            found.update(dict.fromkeys(_run(_AFTER_FIELD, token)))
        if position < len(tokens) - 1:
            found.update(dict.fromkeys(_run(_BEFORE_FIELD, token)))
    return "".join(found)


def without_omitted(parts: Sequence[Part]) -> list[Part]:
    """Leave out the fields that render as nothing, each with the separator before it."""
    shown: list[Part] = []
    skips_separator = False
    for part in parts:
        if isinstance(part, Slot):
            if not part.codec.is_omitted:
                shown.append(part)
            elif shown:
                shown = _trimmed(shown)
            else:
                skips_separator = True  # nothing stands before it: the one behind it goes
            continue
        if skips_separator:
            part = part[len(_run(_AFTER_FIELD, part)) :]
            skips_separator = False
        if part:
            shown = _joined(shown, part)
    return shown


def _trimmed(parts: list[Part]) -> list[Part]:
    *before, last = parts
    if isinstance(last, Slot):
        return parts
    kept = last[: len(last) - len(_run(_BEFORE_FIELD, last))]
    return [*before, kept] if kept else before


def _joined(parts: list[Part], text: str) -> list[Part]:
    if parts and isinstance(parts[-1], str):
        return [*parts[:-1], parts[-1] + text]
    return [*parts, text]


def _run(edge: re.Pattern[str], text: str) -> str:
    found = edge.search(text)
    return found[0] if found else ""


# --- the order of fields ---------------------------------------------------------------------------------


def reordered_fields(parts: Sequence[Part]) -> frozenset[str]:
    """Name the fields whose values the text behind them may put into another order: `a b#` is before `a#`."""
    return frozenset(
        part.name
        for part, behind in pairwise(parts)
        if isinstance(part, Slot) and isinstance(behind, str) and not _keeps_order(part.codec, behind[0])
    )


def _keeps_order(codec: ValueCodec, separator: str) -> bool:
    """Tell whether texts with the separator behind them are always in the order that they have without it."""
    if codec.width_fixed is not None:
        return True
    if codec.texts is None:
        return not any(codec.may_hold(chr(point)) for point in range(ord(separator)))
    return not any(
        longer.startswith(shorter) and longer[len(shorter)] < separator
        for shorter, longer in permutations(codec.texts, 2)
    )


# --- telling fields apart -------------------------------------------------------------------------------


def first_unclear(parts: Sequence[Part], *, from_right: bool = False) -> Slot | None:
    """Return the first field whose end, read from one side, depends on what follows it; None if all are clear."""
    ordered = list(reversed(parts)) if from_right else list(parts)
    for position, part in enumerate(ordered):
        if isinstance(part, Slot):
            behind = ordered[position + 1] if position + 1 < len(ordered) else None
            if not _is_clear(part.codec, behind, from_right=from_right):
                return part
    return None


def _is_clear(codec: ValueCodec, behind: Part | None, *, from_right: bool) -> bool:
    if behind is None or codec.width_fixed is not None:
        return True
    border = behind if isinstance(behind, str) else ""
    if border and not codec.may_hold(border[-1 if from_right else 0]):
        return True
    if codec.texts is None:
        return False
    if from_right:
        whole = [border + text for text in codec.texts]
        return not any(one.endswith(other) for one, other in permutations(whole, 2))
    whole = [text + border for text in codec.texts]
    return not any(one.startswith(other) for one, other in permutations(whole, 2))
