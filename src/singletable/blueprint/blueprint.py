"""A blueprint: a design as data that can be written, read back and printed."""

from __future__ import annotations

from typing import Any

from singletable.blueprint.contents import Contents, FixBlueprint
from singletable.blueprint.forms import read_json, read_toml, read_toml_part, schema, write_json, write_toml
from singletable.blueprint.markdown import markdown
from singletable.blueprint.said import described


@described
class Blueprint(Contents):
    """A design as data. It may be wrong: nothing here checks it."""

    def to_json(self) -> str:
        """Write the blueprint: keys in a fixed order, without values that are the default."""
        return write_json(self)

    @classmethod
    def from_json(cls, text: str) -> Blueprint:
        """Read a blueprint that `to_json` has written, or somebody by hand."""
        return read_json(cls, text)

    def to_toml(self) -> str:
        """Write the blueprint for people to read and edit: in the same order as JSON."""
        return write_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Blueprint:
        """Read a blueprint that `to_toml` has written, or somebody by hand."""
        return read_toml(cls, text)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a blueprint."""
        return schema(cls)

    def text(self) -> str:
        """Write the blueprint for people, as Markdown."""
        return markdown(self)


@described
class _Fixes:
    """A file of deliberate differences from a document, each a [[fixes]]."""

    fixes: tuple[FixBlueprint, ...] = ()


def fixes_from_toml(text: str) -> tuple[FixBlueprint, ...]:
    """Read the fixes of a TOML text; an error names the line and column."""
    return read_toml_part(_Fixes, text).fixes
