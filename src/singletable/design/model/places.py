"""The places of an entity: the table and its indexes, with the key attributes of the entity there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from singletable.design.keys.codecs import TextCodec
from singletable.design.keys.key import Key, SortKey, check_values, key_of_stored, text_of_values
from singletable.design.keys.numbers import PaddedCodec
from singletable.design.model.declarations import DeclaredIndex, DeclaredKeys
from singletable.design.model.entity import Entity, place_condition
from singletable.design.model.table import Table
from singletable.design.values.conditions import Condition, fields_of, holds
from singletable.design.values.fields import FieldCodec
from singletable.design.values.items import Item
from singletable.errors import DeclarationError

AttributeType = Literal["S", "N"]


@dataclass(frozen=True, slots=True)
class PlaceAttribute:
    """An attribute that is a key or a part of one: rendered from a template, or a stored field itself."""

    name: str
    kind: AttributeType
    field: str | None  # the field that the attribute is; None for a template


class EntityView(Protocol):
    """Makes entities from the attributes that an index holds."""

    def to_entity(self, item: Item) -> Any: ...


class Binding:
    """One place of an entity: the table, or an index, with the attributes of its keys.

    `held` are the fields that the place holds: None for all. A `view` reads partial entities.
    """

    __slots__ = ("_reads", "_sides", "_written", "held", "index", "keys", "pk", "sk", "view", "when")

    def __init__(
        self,
        keys: DeclaredKeys[Key, SortKey],
        index: DeclaredIndex | None,
        pk: tuple[PlaceAttribute, ...],
        sk: tuple[PlaceAttribute, ...],
        when: Condition | None,
    ) -> None:
        self.keys = keys
        self.index = index  # as the table of the design declares it; None for the table itself
        self.when = when  # the condition of the keys, with values converted to the types of the fields
        self.pk = pk
        self.sk = sk
        self.held: frozenset[str] | None = None
        self.view: EntityView | None = None
        condition = fields_of(keys.when) if keys.when is not None else ()
        self._reads = frozenset((*keys.reads(), *condition))
        self._sides = ((keys.pk, pk), (keys.sk, sk))
        self._written = tuple(attribute.name for attribute in (*pk, *sk) if attribute.field is None)

    @property
    def name(self) -> str:
        """Return the name under which the entity binds the place."""
        return self.keys.name

    @property
    def fetches(self) -> bool:
        """Whether reads find keys in this place and fetch the items from the table."""
        return self.keys.fetch

    def reads(self) -> frozenset[str]:
        """Name the fields that decide the keys, with the fields of the condition."""
        return self._reads

    def attributes(self) -> tuple[PlaceAttribute, ...]:
        return (*self.pk, *self.sk)

    def written(self) -> tuple[str, ...]:
        """Name the attributes that are stored only for this place."""
        return self._written

    def render(self, values: Mapping[str, object]) -> Item:
        """Return the key attributes of an entity; none if the condition is false or a part is missing."""
        if self.when is not None and not holds(self.when, values):
            return {}
        return self.item_of_values(values) or {}

    def item_of_values(self, values: Mapping[str, object]) -> Item | None:
        """Return the key attributes from an entity's values; None if a part is missing."""
        item: Item = {}
        is_whole = True
        for key, attributes in self._sides:
            if key.template is not None:
                text = text_of_values(key, values)
                if text is None:
                    is_whole = False
                else:
                    item[attributes[0].name] = {attributes[0].kind: text}
            elif (made := key.from_values(values)) is None:
                is_whole = False
            else:
                item.update(key_item(made, attributes))
        return item if is_whole else None

    def check(self, values: Mapping[str, object], written: Mapping[str, object]) -> None:
        """Refuse written values that no key object of this place can hold: no read could find the item."""
        if self.when is None or holds(self.when, values):
            check_values(self.keys.pk, written)
            check_values(self.keys.sk, written)

    def is_old(self, item: Item, values: Mapping[str, object]) -> bool:
        """Tell whether an item with these values is still under its old keys (`was=`)."""
        if self.keys.was is None:
            return False
        pk, sk = (key.from_values(values) for key in self.keys.was)
        if pk is None or sk is None:
            return False
        old, new = self.item_of(pk, sk), self.render(values)
        return bool(new) and old != new and all(item.get(name) == value for name, value in old.items())

    def item_of(self, pk: Key, sk: Key | None) -> Item:
        """Return the key attributes of key objects."""
        if sk is None or not self.sk:
            return key_item(pk, self.pk)
        return {**key_item(pk, self.pk), **key_item(sk, self.sk)}


def key_item(key: Key, attributes: tuple[PlaceAttribute, ...]) -> Item:
    """Return the attributes of a key object."""
    if len(attributes) == 1:
        (attribute,) = attributes
        return {attribute.name: {attribute.kind: key.render() if key.template else _part_text(key, 0)}}
    return {
        attribute.name: {attribute.kind: _part_text(key, number)}
        for number, attribute in enumerate(attributes)
    }


def key_object(key: type[Key], attributes: tuple[PlaceAttribute, ...], item: Item) -> Key:
    """Read a key object from a stored item; refuse a text that does not match the template."""
    texts = [item[attribute.name][attribute.kind] for attribute in attributes]
    if key.compiled is not None:
        return key.parse(texts[0])
    values = {part.name: part.codec.parse(text) for part, text in zip(key.parts, texts, strict=True)}
    return key_of_stored(key, values)


def _part_text(key: Key, number: int) -> str:
    part = key.parts[number]
    return part.codec.render(getattr(key, part.name))


# --- compiling ------------------------------------------------------------------------------------------


def place_of(
    entity: type[Entity],
    table: type[Table],
    keys: DeclaredKeys[Key, SortKey],
    fields: Mapping[str, FieldCodec],
) -> Binding:
    """Compile the keys that an entity binds to a table or to an index of it."""
    index = None if keys.index is None else table.own_index(keys.index)
    if keys.index is not None and index is None:
        raise DeclarationError(
            f"{entity.__name__}.{keys.name} ({keys.shown()}) is bound to index {keys.index.name}, which "
            f"{table.__name__} does not have",
            hint=f"it has {', '.join(index.name for index in table.indexes) or 'no indexes'}",
        )
    pk_names = (table.pk,) if index is None else index.pk
    sk_names = index.sk if index is not None else () if table.sk is None else (table.sk,)
    place = _Place(entity, table, keys, fields)
    pk, sk = place.attributes(keys.pk, pk_names), place.attributes(keys.sk, sk_names)
    binding = Binding(keys, index, pk, sk, place_condition(entity, keys))
    if keys.when is not None and not binding.written():
        raise DeclarationError(
            f"{entity.__name__}.{keys.name} ({keys.shown()}) has a condition, and its attributes are fields, "
            "which are stored whatever it says",
            hint="filter by the condition, or give one of the keys a template of its own",
        )
    return binding


@dataclass(frozen=True, slots=True)
class _Place:
    """The declarations from which the attributes of a place are compiled."""

    entity: type[Entity]
    table: type[Table]
    keys: DeclaredKeys[Key, SortKey]
    fields: Mapping[str, FieldCodec]

    def attributes(self, key: type[Key], names: tuple[str, ...]) -> tuple[PlaceAttribute, ...]:
        count = len(key.parts) if key.template is None else 1
        if count != len(names):
            place = f"index {self.keys.index.name}" if self.keys.index else self.table.__name__
            raise self._wrong(
                f"{key.shown()} is a key of {count} attributes, and {place} has {len(names)} there "
                f"({', '.join(names) or 'none'})",
                hint="a key class with a template is one attribute; without, each field of it is one",
            )
        if key.template is None:
            return tuple(self._own(part.name, name, key) for part, name in zip(key.parts, names, strict=True))
        return (self._templated(key, names[0]),)

    def _own(self, field: str, name: str, key: type[Key]) -> PlaceAttribute:
        codec = self.fields.get(field)
        if codec is None or codec.stored != name:
            stored = f"stored as {codec.stored}" if codec else "not a field"
            raise self._wrong(
                f"{key.shown()} needs the attribute {name}, and {field} is {stored}",
                hint=f"the attributes of such a key are fields by their stored names: name the index's key after "
                f'{codec.stored if codec else "one"}, or mark the field Stored("{name}")',
            )
        return self._field(codec, key)

    def _templated(self, key: type[Key], name: str) -> PlaceAttribute:
        """Return the attribute of a template. A template that is only a stored field is that field itself."""
        codec = next((codec for codec in self.fields.values() if codec.stored == name), None)
        if codec is None:
            return PlaceAttribute(name, "S", None)
        if key.template != f"{{{codec.name}}}":
            raise self._wrong(
                f"{key.shown()} is stored as {name}, and so is the field {codec.name}",
                hint=f'template="{{{codec.name}}}" makes the field itself the key',
            )
        return self._field(codec, key)

    def _field(self, codec: FieldCodec, key: type[Key]) -> PlaceAttribute:
        """Return a field as a key. The stored form of the field must be that of the key."""
        (part,) = [part for part in key.parts if part.name == codec.name]
        is_changed = isinstance(part.codec, TextCodec) and part.codec.function is not None
        is_changed = is_changed or part.source is not None
        if codec.kind is None or is_changed or isinstance(part.codec, PaddedCodec):
            raise self._wrong(
                f"{key.shown()} is the field {codec.name} itself, which is not stored as the key writes it",
                hint="a key that is a field is a text, number or time, without Pad, Normalize, Compressed or Ttl",
            )
        return PlaceAttribute(codec.stored, codec.kind, codec.name)

    def _wrong(self, what: str, hint: str) -> DeclarationError:
        return DeclarationError(f"{self.entity.__name__}.{self.keys.name}: {what}", hint=hint)
