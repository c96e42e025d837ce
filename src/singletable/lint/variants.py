"""Variants: the design as one of its documents says it, where documents differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from singletable.blueprint.said import Said

if TYPE_CHECKING:
    from singletable.blueprint import Blueprint
    from singletable.blueprint.positions import Path


@dataclass(frozen=True)
class Difference:
    """A part of a blueprint that one place of a document states otherwise."""

    path: Path
    said: Said
    part: Any  # as the blueprint has it
    other: Any  # as this document has it

    @property
    def document(self) -> str:
        """Return the document that states it otherwise."""
        return self.said.at.partition(":")[0]

    @property
    def members(self) -> tuple[str, ...]:
        """Name the members that are otherwise."""
        return tuple(
            name for name in self.said.differs if getattr(self.part, name) != getattr(self.other, name)
        )


def differences(blueprint: Blueprint) -> tuple[Difference, ...]:
    """Return where documents differ; a statement that does not fit its part is none."""
    return tuple(_walk(blueprint, ()))


def variants(blueprint: Blueprint) -> Iterator[tuple[str, tuple[Path, ...], Blueprint]]:
    """Yield each document that differs, the paths where it does, and the design as it says it.

    A document that states one part in two other ways gives two variants.
    """
    rounds: dict[tuple[str, int], dict[Path, Difference]] = {}
    for each in differences(blueprint):
        number = 0
        while each.path in rounds.setdefault((each.document, number), {}):
            number += 1
        rounds[each.document, number][each.path] = each
    for (document, _), chosen in rounds.items():
        made = blueprint
        for path in sorted(chosen, key=len, reverse=True):  # the inner parts first
            made = _replaced(made, path, chosen[path])
        yield document, tuple(chosen), made


def _walk(value: Any, path: Path) -> Iterator[Difference]:
    if isinstance(value, tuple):
        for at, each in enumerate(value):
            yield from _walk(each, (*path, at))
    elif members := _members(value.__class__):
        for said in getattr(value, "said", ()):
            if said.differs and (other := _applied(value, said.differs)) is not None:
                yield Difference(path, said, value, other)
        for name in members:
            part = getattr(value, name)
            if part and not isinstance(part, str):
                yield from _walk(part, (*path, name))


@cache
def _members(kind: Any) -> tuple[str, ...]:
    """Return the members of a part of a blueprint; none of what is no such part."""
    return tuple(each.name for each in fields(kind) if each.name != "said") if is_dataclass(kind) else ()


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _applied(part: Any, differs: Mapping[str, Any]) -> Any | None:
    kind = _adapter(part.__class__)
    try:
        read = kind.validate_python({**kind.dump_python(part), **differs})
    except ValidationError:
        return None
    return replace(part, **{name: getattr(read, name) for name in differs})


def _replaced(value: Any, path: Path, difference: Difference) -> Any:
    if not path:
        other = difference.other
        return replace(value, **{name: getattr(other, name) for name in difference.said.differs})
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        return (*value[:first], _replaced(value[first], rest, difference), *value[first + 1 :])
    return replace(value, **{first: _replaced(getattr(value, first), rest, difference)})
