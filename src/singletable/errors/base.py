"""The base of every error of this package."""

from __future__ import annotations

from typing import ClassVar


class SingleTableError(Exception):
    """Base of every error this package raises on purpose.

    Most have a `number`; all have a `page` of the documentation, and a `hint` where one helps.
    """

    number: ClassVar[str] = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def page(self) -> str:
        """Return the page of the documentation that explains this error."""
        return f"docs/errors/{self.number or 'README'}.md"

    def __str__(self) -> str:
        if not self.number:
            return super().__str__()
        text = sentence_of(self)
        return f"{text}\n\nhint: {self.hint}" if self.hint else text


def sentence_of(error: BaseException) -> str:
    """Return the message of an error without its hint: for a line of a log, or inside another sentence."""
    if isinstance(error, SingleTableError) and error.number:
        return f"{error.number}: {error.message}"
    return str(error)
