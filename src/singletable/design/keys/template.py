"""Templates of keys, compiled once: `EVENT#{created_at}#{event_id}`; their parts, and bounds of key texts.

A template is literal text and fields, `{name}` or `{name:format}`; a brace is written twice. It renders different
values as different texts, and reads each text as the values it was rendered from. What would break that is an
error: fields that cannot be told apart, when the class is created; a separator inside a value, when it is given.

The separators are the characters next to a field that are neither letters nor digits: `#` of `A_USER#{user_id}`.
One text field may hold them when the rest can be read without it: the first of `{restaurant}-{year}-{week:02}`, or
one that is marked `Verbatim()`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Final, NoReturn

from singletable import limits
from singletable.design.keys.codecs import ChoiceCodec, TextCodec, ValueCodec
from singletable.errors import (
    DeclarationError,
    KeyValueError,
    MissingKeyPartError,
    SeparatorError,
    UnknownFieldError,
)

GREATEST: Final = "\U0010ffff"

# The greatest text of so many bytes, which fills up what a bound may still be long.
_GREATEST_OF: Final = ("", "\x7f", "\u07ff", "\uffff", GREATEST)


def next_prefix(text: str) -> str:
    """Return the smallest text above every text that begins with this one."""
    beginning = text.rstrip(GREATEST)
    if not beginning:
        raise ValueError(f"nothing is above every text that begins with {text!r}")
    bound = beginning[:-1] + _character_after(beginning[-1])
    return bound if _bytes(bound) <= limits.SORT_KEY_BYTES_MAX else next_prefix(beginning[:-1])


def last_of_prefix(text: str) -> str:
    """Return the upper end, itself included, of the key texts that begin with this one."""
    return _filled(text)


def just_above(text: str) -> str:
    """Return the smallest text above this one."""
    bound = text + "\x00"
    return bound if _bytes(bound) <= limits.SORT_KEY_BYTES_MAX else next_prefix(text)


def just_below(text: str) -> str:
    """Return a text below this one that has no key text in between."""
    if not text:
        raise ValueError("nothing is below the empty text")
    if text[-1] == "\x00":
        return text[:-1]
    return _filled(text[:-1] + _character_before(text[-1]))


def _filled(text: str) -> str:
    left = max(0, limits.SORT_KEY_BYTES_MAX - _bytes(text))
    return text + _GREATEST_OF[min(left, 4)]


def _character_after(character: str) -> str:
    return "\ue000" if character == "\ud7ff" else chr(ord(character) + 1)


def _character_before(character: str) -> str:
    return "\ud7ff" if character == "\ue000" else chr(ord(character) - 1)


def _bytes(text: str) -> int:
    return len(text.encode())


_TOKEN: Final = re.compile(r"(?P<text>(?:[^{}]|\{\{|\}\})+)|\{(?P<name>[^\W\d]\w*)(?::(?P<spec>[^{}]*))?\}")
_BEFORE_FIELD: Final = re.compile(r"[\W_]*\Z")
_AFTER_FIELD: Final = re.compile(r"\A[\W_]*")


@dataclass(frozen=True, slots=True)
class TemplateField:
    """A field as a template names it: `{week:02}`."""

    name: str
    spec: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """A field of a template with the codec that it has there."""

    name: str
    codec: ValueCodec


Part = str | Slot


def split_template(text: str, owner: str | None = None) -> list[str | TemplateField]:
    """Split a template into its literal texts and its fields; a mistake in it names the owner."""
    try:
        return _split(text)
    except DeclarationError as error:
        if owner is None:
            raise
        raise DeclarationError(f"{owner}: the template {text!r}: {error.message}", hint=error.hint) from None


def _split(text: str) -> list[str | TemplateField]:
    if not text:
        raise DeclarationError("it is empty", hint='template="USER#{user_id}"')
    tokens: list[str | TemplateField] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            _refuse_brace(text, position)
        if found["name"] is None:
            tokens.append(found["text"].replace("{{", "{").replace("}}", "}"))
        else:
            tokens.append(TemplateField(found["name"], found["spec"] or ""))
        position = found.end()
    return tokens


def _refuse_brace(text: str, position: int) -> NoReturn:
    raise DeclarationError(
        f"{text[position : position + 20]!r} is no field",
        hint="a field is {name} or {name:02}; a brace that is meant as text is written twice",
    )


def separators_of(tokens: Sequence[str | TemplateField]) -> str:
    """Return the characters next to fields that are neither letters nor digits, each once."""
    found: dict[str, None] = {}
    for position, token in enumerate(tokens):
        if isinstance(token, TemplateField):
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


__all__ = [
    "Template",
    "TemplateField",
    "just_above",
    "just_below",
    "last_of_prefix",
    "next_prefix",
    "split_template",
]

Values = Mapping[str, object] | Sequence[object]


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template. Values are given by name, or as a tuple in the order of `names`."""

    text: str
    owner: str
    names: tuple[str, ...]
    codecs: Mapping[str, ValueCodec]  # as this template restricts them
    separators: str
    pattern: re.Pattern[str]
    reordered: frozenset[str]  # fields whose texts are in another order with what stands behind them
    _parts: tuple[Part, ...]
    _clear: int  # how many leading fields end where they seem to: prefixes can go so far
    _write: Callable[..., str]
    _check_and_write: Callable[..., str]

    @classmethod
    def compile(cls, text: str, codecs: Mapping[str, ValueCodec], owner: str) -> Template:
        """Compile a template whose fields have these codecs, or say what is wrong with it."""
        try:
            return _compile(text, codecs, owner)
        except DeclarationError as error:
            has = f"{owner} has the template {text!r} and the fields {', '.join(codecs) or '(none)'}"
            raise DeclarationError(f"{has}: {error.message}", hint=error.hint) from None

    @property
    def fields_required(self) -> tuple[str, ...]:
        """Name the fields that are in the text: all but those that render as nothing."""
        return tuple(part.name for part in self._parts if isinstance(part, Slot))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return the literal texts and the fields, without those that render as nothing."""
        return self._parts

    def normalize(self, name: str, value: object) -> object:
        """Return what a key holds of a field's value, or refuse it with the key, the field and the template."""
        codec = self.codecs.get(name)
        if codec is None:
            raise UnknownFieldError(
                f"{self.owner} has no field {name!r}", hint=f"its template is {self.text!r}"
            )
        try:
            return codec.normalize(value)
        except (KeyValueError, SeparatorError) as error:
            raise self._explained(error, name) from None

    def render(self, values: Values) -> str:
        """Write a key. Values are checked and normalized first."""
        try:
            if type(values) is tuple:
                given: Sequence[object] = values
            else:
                given = [values[name] for name in self.names] if isinstance(values, Mapping) else values
            if len(given) == len(self.names):
                return self._check_and_write(*given)
        except (KeyError, ValueError):  # a field is missing, or refused
            pass
        return self._write(*self._checked(values))  # says which

    def render_normalized(self, values: Sequence[object]) -> str:
        """Write a key from values that `normalize` has returned, in the order of `names`, unchecked."""
        return self._write(*values)

    def parse(self, text: object) -> dict[str, object]:
        """Read the values of a key, or refuse a text that this template does not render."""
        found = self.pattern.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise KeyValueError(f"{text!r} is no {self.owner}: the template is {self.text!r}")
        texts = iter(found.groups())
        try:
            return {
                name: codec.nothing if codec.is_omitted else codec.parse(next(texts))
                for name, codec in self.codecs.items()
            }
        except KeyValueError as error:
            raise KeyValueError(f"{text!r} is no {self.owner}: {error.message}", hint=error.hint) from None

    def matches(self, text: str) -> bool:
        """Tell whether this template renders the text."""
        try:
            self.parse(text)
        except KeyValueError:
            return False
        return True

    def prefix(self, values: Mapping[str, object], *, starting: str | None = None) -> str:
        """Return the text up to the first field that is not given; `starting` is how that field's text begins.

        Only leading fields can be given. With all of them, it is the whole text.
        """
        given = {name: self.normalize(name, value) for name, value in values.items()}
        texts: list[str] = []
        for position, part in enumerate(self._parts):
            if isinstance(part, str):
                texts.append(part)
            elif part.name in given:
                texts.append(part.codec.render(given[part.name]))
            else:
                self._refuse_gap(part, given, self._parts[position:])
                texts.append("" if starting is None else self._beginning(part, starting))
                return "".join(texts)
        if starting is not None:
            raise MissingKeyPartError(
                f"every field of {self.owner} ({self.text}) is given: none is left to begin"
            )
        return "".join(texts)

    def _checked(self, values: Values) -> list[object]:
        if not isinstance(values, Mapping):
            values = dict(zip(self.names, values, strict=False))
        omitted = {name: codec.nothing for name, codec in self.codecs.items() if codec.is_omitted}
        values = omitted | dict(values)
        missing = tuple(name for name in self.names if name not in values)
        if missing:
            raise MissingKeyPartError(
                f"{self.owner} ({self.text}) cannot be written without {', '.join(missing)}", missing=missing
            )
        return [self.normalize(name, values[name]) for name in self.names]

    def _refuse_gap(self, gap: Slot, given: Mapping[str, object], rest: Sequence[Part]) -> None:
        """Refuse a prefix with a field behind the first missing one, or one that would find other values too."""
        behind = [part.name for part in rest if isinstance(part, Slot) and part.name in given]
        if behind:
            raise MissingKeyPartError(
                f"a prefix of {self.owner} ({self.text}) takes its leading fields: "
                f"{', '.join(behind)} is given, and {gap.name} before it is not",
                missing=(gap.name,),
            )
        leading = self.fields_required[: self.fields_required.index(gap.name)]
        if len(leading) > self._clear:
            unclear = leading[self._clear]
            raise MissingKeyPartError(
                f"a prefix of {self.owner} ({self.text}) with {unclear} would also find longer values of it, "
                "which may hold the separator",
                missing=self.fields_required[len(leading) :],
                hint="give every field",
            )

    def _beginning(self, part: Slot, starting: str) -> str:
        if not starting:
            return ""
        if not isinstance(part.codec, TextCodec):
            raise KeyValueError(
                f"{self.owner}.{part.name} is no text, so no beginning of it can be asked for"
            )
        return str(self.normalize(part.name, starting))

    def _explained(self, error: KeyValueError | SeparatorError, name: str) -> KeyValueError | SeparatorError:
        return type(error)(f"{self.owner}.{name} ({self.text}): {error.message}", hint=error.hint)


# --- compiling -----------------------------------------------------------------------------------------


def _compile(text: str, codecs: Mapping[str, ValueCodec], owner: str) -> Template:
    tokens = split_template(text)
    names = tuple(token.name for token in tokens if isinstance(token, TemplateField))
    _check_names(names, codecs)
    separators = separators_of(tokens)
    parts = _restricted(tokens, codecs, separators)
    shown = without_omitted(parts)
    if not shown:
        raise DeclarationError("it renders as nothing")
    unclear = first_unclear(shown)
    slots = [part for part in shown if isinstance(part, Slot)]
    restricted = {part.name: part.codec for part in parts if isinstance(part, Slot)}
    return Template(
        text=text,
        owner=owner,
        names=names,
        codecs=restricted,
        separators=separators,
        pattern=_pattern(shown),
        reordered=reordered_fields(shown),
        _parts=tuple(shown),
        _clear=len(slots) if unclear is None else slots.index(unclear),
        _write=_writer(names, shown),
        _check_and_write=_writer(names, shown, restricted),
    )


def _check_names(names: Sequence[str], codecs: Mapping[str, ValueCodec]) -> None:
    unknown = [name for name in names if name not in codecs]
    if unknown:
        raise DeclarationError(f"{', '.join(unknown)} is not a field of it")
    unused = [name for name in codecs if name not in names]
    if unused:
        raise DeclarationError(
            f"{', '.join(unused)} is not in the template",
            hint=f"write {{{unused[0]}}} where it belongs, or remove the field",
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DeclarationError(f"{', '.join(repeated)} stands in it twice")


def _restricted(
    tokens: Sequence[str | TemplateField], codecs: Mapping[str, ValueCodec], separators: str
) -> list[Part]:
    """Give each field a codec that refuses separators, but for the one field that may hold them."""

    def parts(opened: str | None) -> list[Part]:
        return [
            token if isinstance(token, str) else Slot(token.name, _codec_of(token.name, opened))
            for token in tokens
        ]

    def _codec_of(name: str, opened: str | None) -> ValueCodec:
        codec = codecs[name]
        if name == opened or (isinstance(codec, TextCodec) and codec.is_verbatim):
            return codec
        try:
            return codec.without(separators)
        except DeclarationError as error:
            raise DeclarationError(f"of {name}, {error.message}", hint=error.hint) from None

    opened = _leading_text(tokens, codecs)
    if opened is not None and _ambiguity(parts(opened)) is None:
        return parts(opened)
    closed = parts(None)
    fault = _ambiguity(closed)
    if fault is not None:
        _refuse_ambiguity(fault)
    return closed


def _leading_text(tokens: Sequence[str | TemplateField], codecs: Mapping[str, ValueCodec]) -> str | None:
    """Name the text field that the template begins with, if it is the only one of any text."""
    free = [token.name for token in tokens if isinstance(token, TemplateField) and codecs[token.name].is_free]
    first = tokens[0]
    return free[0] if len(free) == 1 and isinstance(first, TemplateField) and first.name == free[0] else None


def _ambiguity(parts: Sequence[Part]) -> tuple[Slot, Slot] | None:
    """Return two fields whose border cannot be told, if there are such.

    Fields whose ends are clear from the left, and those that are clear from the right, leave at most one between
    them: what is left over is its text.
    """
    shown = without_omitted(parts)
    left = first_unclear(shown)
    right = first_unclear(shown, from_right=True)
    if left is None or right is None:
        return None
    slots = [part for part in shown if isinstance(part, Slot)]
    return (left, right) if slots.index(left) < slots.index(right) else None


def _refuse_ambiguity(fault: tuple[Slot, Slot]) -> NoReturn:
    left, right = fault
    verbatim = [
        slot.name
        for slot in fault
        if isinstance(slot.codec, TextCodec | ChoiceCodec) and slot.codec.is_verbatim
    ]
    hint = "put a separator such as # between them, or give them a fixed width ({name:02}, Pad)"
    if verbatim:
        hint = f"{verbatim[0]} is Verbatim(): what follows it needs a fixed width, or to be free of the separator"
    raise DeclarationError(f"where {left.name} ends and {right.name} begins cannot be told", hint=hint)


def _pattern(parts: Sequence[Part]) -> re.Pattern[str]:
    texts = [re.escape(part) if isinstance(part, str) else f"({part.codec.pattern})" for part in parts]
    return re.compile("".join(texts), re.DOTALL)


def _writer(
    names: Sequence[str], parts: Sequence[Part], checks: Mapping[str, ValueCodec] | None = None
) -> Callable[..., str]:
    """Compile the function that writes a key from its values; with checks, it normalizes them first."""
    scope: dict[str, object] = {}
    values: dict[str, str] = {}
    for number, name in enumerate(names):
        values[name] = f"value_{number}"
        if checks is not None:
            scope[f"normalize_{number}"] = checks[name].normalize
            values[name] = f"normalize_{number}(value_{number})"
    pieces: list[str] = []
    for number, part in enumerate(parts):
        if isinstance(part, str):
            pieces.append(repr(part))
        elif isinstance(part.codec, TextCodec):  # which renders a text as it is
            pieces.append(values.pop(part.name))
        else:
            scope[f"render_{number}"] = part.codec.render
            pieces.append(f"render_{number}({values.pop(part.name)})")
    unseen = [f"({value}, '')[1]" for value in values.values()]  # of fields that are left out, yet checked
    arguments = ", ".join(f"value_{number}" for number in range(len(names)))
    write: Callable[..., str] = eval(f"lambda {arguments}: {' + '.join([*pieces, *unseen])}", scope)
    return write
