"""How one value becomes text inside a key, and back. Nothing here knows templates or key classes.

A codec is made once, when a key class is created. Its texts and its values stand for each other one to one:
`parse(render(normalize(x))) == normalize(x)`. The texts of a codec that `sorts` are in the order of its values.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, Final, NoReturn, Self
from uuid import UUID

from singletable.errors import DeclarationError, KeyValueError, SeparatorError

# The greatest character is left to the upper bounds of ranges; half a surrogate pair is no text in UTF-8.
_NEVER_IN_TEXT: Final = "\ud800-\udfff\U0010ffff"


class ValueCodec(ABC):
    """The interface of a codec: a template has one for each of its fields."""

    is_free: bool = False  # texts of any characters, a separator among them
    is_omitted: bool = False  # renders as nothing, and takes the separator before it along
    nothing: object = ""  # the value of a field that is omitted
    sorts: bool = True  # texts sort as values do

    @property
    @abstractmethod
    def pattern(self) -> str:
        """Return the regular expression of the texts that are rendered, without groups."""

    @property
    def width_fixed(self) -> int | None:
        """Return how many characters every text has; None where that differs."""
        return None

    @property
    def texts(self) -> tuple[str, ...] | None:
        """Return every possible text; None if they are not a known list."""
        return None

    def may_hold(self, character: str) -> bool:
        """Tell whether a text can have this character in it."""
        return True

    def without(self, separators: str) -> ValueCodec:
        """Return the codec that refuses values whose texts hold a separator.

        A text of fixed width ends where it ends, whatever it holds.
        """
        return self

    @abstractmethod
    def normalize(self, value: object) -> Any:
        """Return a given value in the form that a key holds, or refuse it."""

    @abstractmethod
    def render(self, value: object) -> str:
        """Write a normalized value."""

    def parse(self, text: str) -> Any:
        """Read a text that was rendered, or refuse it."""
        if self._match(text) is None:
            raise KeyValueError(f"{text!r} is no {self.describe()}")
        return self._read(text)

    @abstractmethod
    def describe(self) -> str:
        """Say in a few words what the texts are."""

    @abstractmethod
    def _read(self, text: str) -> object: ...

    @cached_property
    def _match(self) -> Callable[[str], re.Match[str] | None]:
        return re.compile(self.pattern, re.DOTALL).fullmatch


def wrong_type(value: object, wanted: str, hint: str | None = None) -> NoReturn:
    """Refuse a value of another type."""
    raise KeyValueError(f"{value!r} is {_article(type(value).__name__)}, not {wanted}", hint=hint)


def _article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


# --- text ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextCodec(ValueCodec):
    """Text as it is, or as a function of the design makes it; never empty."""

    function: Callable[[str], str] | None = None
    is_verbatim: bool = False
    separators: str = ""

    is_free = True

    @property
    def pattern(self) -> str:
        return f"[^{_NEVER_IN_TEXT}{re.escape(self.separators)}]+"

    def may_hold(self, character: str) -> bool:
        return character not in self.separators

    def without(self, separators: str) -> TextCodec:
        return replace(self, separators=separators)

    def normalize(self, value: object) -> str:
        if type(value) is not str:
            value = plain_text(value)
        text = value if self.function is None else self._normal_form(value)
        if self._match(text) is None:
            self._refuse(text)
        return text

    def render(self, value: Any) -> str:
        return value  # type: ignore[no-any-return]  # normalized

    def describe(self) -> str:
        return "text of a key"

    def _read(self, text: str) -> str:
        return text

    def _normal_form(self, value: str) -> str:
        assert self.function is not None
        text = plain_text(self.function(value))
        if self.function(text) != text:
            raise KeyValueError(
                f"{self.function.__name__} makes {text!r} of {value!r}, and something else of {text!r}",
                hint="what Normalize() applies must leave its own results as they are",
            )
        return text

    def _refuse(self, text: str) -> NoReturn:
        if not text:
            raise KeyValueError("the text is empty", hint="a part of a key has at least one character")
        for separator in self.separators:
            if separator in text:
                raise SeparatorError(
                    f"{text!r} holds {separator!r}, which separates the parts of the key",
                    hint=f"give a value without {separator!r}, or choose a template with another separator",
                )
        self._refuse_otherwise(text)

    def _refuse_otherwise(self, text: str) -> NoReturn:
        raise KeyValueError(
            f"{text!r} holds a character that no key can hold",
            hint="U+10FFFF and halves of surrogate pairs are refused",
        )


@dataclass(frozen=True)
class InitialsCodec(TextCodec):
    """The first letters of a normalized text; no letters render as nothing. Letters are code points."""

    letters: int = 0

    def __post_init__(self) -> None:
        if self.letters < 0:
            raise DeclarationError(f"there are {self.letters} letters: at least 0 are needed")

    @property
    def is_omitted(self) -> bool:  # type: ignore[override]  # depends on the letters
        return self.letters == 0

    @property
    def pattern(self) -> str:
        return f"[^{_NEVER_IN_TEXT}{re.escape(self.separators)}]{{1,{self.letters}}}" if self.letters else ""

    @property
    def width_fixed(self) -> int | None:
        return self.letters if self.letters <= 1 else None

    def normalize(self, value: object) -> str:
        text = self.whole(value)[: self.letters]
        if self.function is not None and text:
            # "a la carte" may be cut behind a space: only what the function leaves as it is can be read back.
            text = self._normal_form(text)
        if self._match(text) is None:
            self._refuse(text)
        return text

    def whole(self, value: object) -> str:
        """Return the text that the letters are cut off, in its normal form."""
        text = plain_text(value)
        return text if self.function is None else self._normal_form(text)

    def describe(self) -> str:
        return f"beginning of a text, of {self.letters} letters at most"

    def _refuse_otherwise(self, text: str) -> NoReturn:
        if len(text) > self.letters:
            raise KeyValueError(
                f"what Normalize() applies makes {text!r} of {self.letters} letters",
                hint="it must not make the beginning of a text longer",
            )
        super()._refuse_otherwise(text)


def plain_text(value: object) -> str:
    """Return a text as a plain str, or refuse a value that is no text."""
    if not isinstance(value, str):
        wrong_type(value, "a str")
    return str.__str__(value)  # the text of a StrEnum, not its name


# --- one of several -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChoiceCodec(ValueCodec):
    """One of the values of a Literal or an Enum, by the text of each."""

    members: tuple[tuple[object, str], ...]
    enum: type[Enum] | None = None
    is_verbatim: bool = False

    @property
    def pattern(self) -> str:
        # The longest first: a shorter one may be how it begins.
        return "(?:" + "|".join(re.escape(text) for text in sorted(self.texts, key=len, reverse=True)) + ")"

    @property
    def sorts(self) -> bool:  # type: ignore[override]  # depends on the values
        values = [member.value if isinstance(member, Enum) else member for member, _ in self.members]
        if len({isinstance(value, str) for value in values}) > 1:
            return False
        ordered = sorted(zip(values, self.texts, strict=True))
        return [text for _, text in ordered] == sorted(self.texts)

    @property
    def width_fixed(self) -> int | None:
        widths = {len(text) for text in self.texts}
        return widths.pop() if len(widths) == 1 else None

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.members)

    def may_hold(self, character: str) -> bool:
        return any(character in text for text in self.texts)

    def without(self, separators: str) -> Self:
        for text in self.texts:
            for separator in separators:
                if separator in text and not self.is_verbatim:
                    raise DeclarationError(
                        f"its value {text!r} holds {separator!r}, which separates the parts of the key",
                        hint="choose another separator, or mark the field with Verbatim()",
                    )
        return self

    def normalize(self, value: object) -> object:
        known = isinstance(value, str | int | Enum) and not isinstance(value, bool)
        if not known or value not in self._by_value:
            raise KeyValueError(f"{value!r} is not one of {', '.join(self.texts)}")
        return self._by_value[value]

    def render(self, value: object) -> str:
        return self._text_of[value]

    def describe(self) -> str:
        return f"value of {', '.join(self.texts)}"

    def _read(self, text: str) -> object:
        return self._by_text[text]

    @cached_property
    def _text_of(self) -> dict[object, str]:
        return dict(self.members)

    @cached_property
    def _by_text(self) -> dict[str, object]:
        return {text: value for value, text in self.members}

    @cached_property
    def _by_value(self) -> dict[object, object]:
        members = [value for value, _ in self.members]
        by_value = {value: value for value in members}
        return by_value | {value.value: value for value in members if isinstance(value, Enum)}


@dataclass(frozen=True)
class ShardCodec(ValueCodec):
    """The number of a shard, counted from 0. One shard alone renders as nothing."""

    count: int
    width: int = 1

    nothing = 0

    def __post_init__(self) -> None:
        if self.count < 1:
            raise DeclarationError(f"there are {self.count} shards: at least 1 is needed")

    @property
    def is_omitted(self) -> bool:  # type: ignore[override]  # depends on the count
        return self.count == 1

    @property
    def sorts(self) -> bool:  # type: ignore[override]
        return self.width_fixed is not None

    @property
    def pattern(self) -> str:
        return "(?:" + "|".join(reversed(self.texts)) + ")"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(self.render(number) for number in range(self.count))

    @property
    def width_fixed(self) -> int | None:
        return self.width if len(self.texts[-1]) == self.width else None

    def may_hold(self, character: str) -> bool:
        return character in "0123456789"

    def normalize(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            wrong_type(value, "the number of a shard")
        if not 0 <= value < self.count:
            raise KeyValueError(f"{value} is no shard: there are {self.count}, counted from 0")
        return int(value)

    def render(self, value: object) -> str:
        return f"{value:0{self.width}d}"

    def describe(self) -> str:
        return f"shard of {self.count}"

    def _read(self, text: str) -> int:
        return int(text)


# --- identifiers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UuidCodec(ValueCodec):
    """A UUID in its canonical form, in lower case."""

    @property
    def pattern(self) -> str:
        return "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

    @property
    def width_fixed(self) -> int:
        return 36

    def normalize(self, value: object) -> UUID:
        if not isinstance(value, UUID):
            wrong_type(value, "a UUID", hint="UUID(text)" if isinstance(value, str) else None)
        return value

    def render(self, value: object) -> str:
        return str(value)

    def describe(self) -> str:
        return "UUID in lower case"

    def _read(self, text: str) -> UUID:
        return UUID(text)
