"""A blueprint: a design as data that can be written, read back and printed."""

from __future__ import annotations

from dataclasses import dataclass

from singletable.blueprint.contents import Contents
from singletable.blueprint.json_form import read_json, write_json
from singletable.blueprint.markdown import markdown


@dataclass(frozen=True, slots=True)
class Blueprint(Contents):
    """A design as data. It may be wrong: nothing here checks what it says."""

    def to_json(self) -> str:
        """Write the blueprint: keys in a fixed order, what has its default left out."""
        return write_json(self)

    @classmethod
    def from_json(cls, text: str) -> Blueprint:
        """Read a blueprint that `to_json` has written, or somebody by hand."""
        return read_json(cls, text)

    def text(self) -> str:
        """Write the blueprint for people, as Markdown."""
        return markdown(self)
