"""The keys of a blueprint as they are drawn: `USER#{user_id}` is USER#<userId>, with the source of each part."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping

from singletable.blueprint import EntityBlueprint, KeyBlueprint, KeyPart
from singletable.drawing.picture import Key, Piece

Names = Mapping[str, str]  # stored names, by fields

# The texts of a key between its parts: keys of the same shape are in the same partitions.
Shape = tuple[str | None, ...]


def stored_names(entity: EntityBlueprint) -> dict[str, str]:
    """Return the names under which the fields of an entity are stored."""
    return {attribute.name: attribute.stored for attribute in entity.attributes}


def drawn_key(key: KeyBlueprint, names: Names) -> Key:
    """Return a key as it is drawn."""
    if key.template is None:
        return Key(tuple(_plain(key, names)))
    return drawn_template(key.template, names, key.parts)


def _plain(key: KeyBlueprint, names: Names) -> Iterator[Piece]:
    """Return a key that consists of whole attributes, without a template."""
    parts = dict(enumerate(key.parts))
    for number, attribute in enumerate(key.attributes):
        if number:
            yield Piece(", ")
        part = parts.get(number)
        yield Piece(f"<{attribute}>", attribute if part is None else _about(part, attribute, names))


def drawn_template(template: str, names: Names, parts: tuple[KeyPart, ...] = ()) -> Key:
    """Return a template as it is drawn."""
    by_name = {part.name: part for part in parts}
    pieces: list[Piece] = []
    for text, field, spec in _tokens(template):
        if text:
            pieces.append(Piece(text))
        if field is not None:
            part = by_name.get(field)
            name = _name(field, part, names)
            about = name if part is None else _about(part, name, names)
            pieces.append(Piece(f"<{name}:{spec}>" if spec else f"<{name}>", about))
    return Key(tuple(pieces))


def _tokens(template: str) -> list[tuple[str, str | None, str]]:
    try:
        return [(text, field, spec or "") for text, field, spec, _ in string.Formatter().parse(template)]
    except ValueError:  # a blueprint may be wrong; it is drawn as it is
        return [(template, None, "")]


def _name(field: str, part: KeyPart | None, names: Names) -> str:
    if part is None:
        return names.get(field, field)
    is_computed = part.shards or part.bucket or part.letters
    return part.name if is_computed else names.get(part.field, part.name)


def _about(part: KeyPart, name: str, names: Names) -> str:
    source = names.get(part.field, part.field)
    if part.shards:
        return f"{name}: one of {part.shards}, by {source}"
    if part.bucket:
        return f"{name}: the {part.bucket} of {source}"
    if part.letters:
        return f"{name}: the {_beginning(part.letters)} of {source}"
    return f"{name}: {part.alias or part.type}"


def shape_of(key: Key) -> Shape:
    """Return the texts of a key between its parts."""
    return tuple(None if piece.about else piece.text for piece in key.pieces)


def sort_order(row_key: Key | None) -> tuple[str, ...]:
    """Return a sort key for templates: they sort as their keys do, as far as their texts tell."""
    return () if row_key is None else tuple("" if piece.about else piece.text for piece in row_key.pieces)


def partition_notes(key: KeyBlueprint) -> tuple[str, ...]:
    """Say over how many partitions one collection is spread."""
    shards = [f"{part.shards} shards" for part in key.parts if part.shards is not None and part.shards > 1]
    buckets = [part.bucket for part in key.parts if part.bucket not in (None, "never")]
    beginnings = [_beginning(part.letters) for part in key.parts if part.letters]
    return (*shards, *(f"one for each {span}" for span in (*buckets, *beginnings)))


def _beginning(letters: int) -> str:
    return "first letter" if letters == 1 else f"first {letters} letters"
