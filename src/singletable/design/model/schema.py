"""An entity as one design stores it: names, codecs, keys and markers, compiled when the design is declared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, Final, Literal, TypeVar

from pydantic import ValidationError
from pydantic_core import SchemaValidator

from singletable.design.keys.key import Key, SortKey, check_values, has_constraints
from singletable.design.keys.old_keys import old_keys
from singletable.design.model.declarations import DeclaredIndex, DeclaredKeys, DeclaredUnique, Derived
from singletable.design.model.entity import (
    STORED,
    Entity,
    Upcaster,
    check_conditions,
    declared,
    expiry_condition,
    key_values,
    table_keys,
)
from singletable.design.model.places import AttributeType, Binding, PlaceAttribute, key_item, place_of
from singletable.design.model.table import Table
from singletable.design.values.computed import (
    bounded_fields,
    computed_fields,
    computed_value,
    field_validator_of,
    followers,
    has_model_validators,
    with_sources,
)
from singletable.design.values.conditions import Condition, fields_of
from singletable.design.values.constraints import problem_text
from singletable.design.values.fields import Casing, FieldCodec, field_codec, markers_of, stored_name
from singletable.design.values.items import AttributeValue, Item, decode, shown_key
from singletable.design.values.markers import Auto, Expires, Lock, TimeToLive
from singletable.errors import DeclarationError, InvalidItemError, InvalidWriteError, KeyValueError

__all__ = ["AttributeType", "Binding", "EntitySchema", "PlaceAttribute", "key_item"]

M = TypeVar("M")

_HINT_INVALID: Final = "give the field a default, or an upcaster for older items"


@dataclass(frozen=True, slots=True)
class KeptNames:
    """The fields and attributes of an entity that kept data (`singletable.design.kept`) reads or keeps."""

    effect_reads: frozenset[str] = frozenset()  # fields whose change has effects in the same transaction
    counted: frozenset[str] = (
        frozenset()
    )  # fields that change with other items, without a version of their own
    attributes: frozenset[str] = frozenset()  # the attributes of those fields, and the numbers beside them
    filled: frozenset[str] = frozenset()  # fields that are filled in from other items

    @classmethod
    def all(cls, found: Iterable[KeptNames]) -> KeptNames:
        """Return the union of several."""
        named = [astuple(each) for each in found]
        return cls(*(frozenset().union(*names) for names in zip(*named, strict=True)))


class EntitySchema:
    """A compiled entity: everything that the layer needs to store and to read its items."""

    def __init__(self, entity: type[Entity], table: type[Table], casing: Casing, discriminator: str) -> None:
        self.entity = entity
        self.table = table
        self.key_names = table.key_attributes()
        self.discriminator = discriminator
        self.name = entity.entity_options.name
        self.names = frozenset((self.name, *entity.entity_options.was))  # discriminators of its stored items
        fields = entity.model_fields
        self._markers = {name: markers_of(field) for name, field in fields.items()}
        self.fields = {name: field_codec(name, field, casing) for name, field in fields.items()}
        self.by_stored: dict[str, FieldCodec] = {codec.stored: codec for codec in self.fields.values()}
        self._readers = {codec.stored: (codec.name, codec.decode) for codec in self.fields.values()}
        self.computed = computed_fields(entity)
        check_conditions(entity)
        self.properties = frozenset(entity.__key_properties__)
        self.key = self._place(table_keys(entity))
        self.indexes = tuple(
            self._place(keys) for keys in declared(entity, DeclaredKeys).values() if keys.index is not None
        )
        self.bindings = {binding.name: binding for binding in (self.key, *self.indexes)}
        self.uniques = tuple(declared(entity, DeclaredUnique).values())
        places = [binding.keys for binding in self.bindings.values()]
        keys = [*(each.pk for each in places), *(each.sk for each in places), *(u.key for u in self.uniques)]
        self.has_constrained_keys = any(map(has_constraints, keys))
        self.derived = next(iter(declared(entity, Derived).values()), None)
        self.version = self._marked(Lock)
        self.ttl = self._marked(TimeToLive)
        self.expires = _first(self._markers[self.ttl.name], Expires) if self.ttl else None
        self.expires_when = self._expires_when()
        self.expiry_reads = self._expiry_reads()
        self.lock_reads = self._lock_reads()
        self.kept = KeptNames()
        self.locks = {unique.name: self._lock_form(unique) for unique in self.uniques}
        self.created = self._auto("create")
        self.updated = self._auto("write")
        self.schema_version = entity.entity_options.schema_version
        self.schema_version_name = stored_name("schema_version", casing)
        self._upcasters = {caster.version: caster for caster in declared(entity, Upcaster).values()}
        self._key_names = frozenset(name for binding in self.bindings.values() for name in binding.written())
        self._known = self._known_names()
        self.bounded = bounded_fields(entity)
        # Times inside models, and empty sets, which are not stored, come back from a read in another form.
        self.is_read_as_written = all(
            codec.kind is not None or fields[codec.name].annotation is bool for codec in self.fields.values()
        )
        # A strict model would refuse times and ids, which are stored as texts.
        self._validate = partial(entity.__pydantic_validator__.validate_python, strict=False)
        self.has_model_validators = has_model_validators(entity)
        self._check_names()
        self._check_shared()
        self._check_computed_key()
        self._absent = {
            codec.name: codec.absent for codec in self.fields.values() if codec.absent is not None
        }

    def __repr__(self) -> str:
        return f"<EntitySchema {self.entity.__name__}>"

    # --- making it ---------------------------------------------------------------------------------

    def _place(self, keys: DeclaredKeys[Key, SortKey]) -> Binding:
        return place_of(self.entity, self.table, keys, self.fields)

    def _marked(self, kind: type[Any]) -> FieldCodec | None:
        found = [name for name, markers in self._markers.items() if _first(markers, kind) is not None]
        if len(found) > 1:
            raise DeclarationError(
                f"{self.entity.__name__} has two fields of one kind, {' and '.join(found)}: {kind.__doc__}"
            )
        return self.fields[found[0]] if found else None

    def _expires_when(self) -> Condition | None:
        if self.ttl is None or self.expires is None:
            return None
        return expiry_condition(self.entity, self.ttl.name, self.expires)

    def _expiry_reads(self) -> frozenset[str]:
        """Name the fields that decide when an item expires."""
        if self.expires is None:
            return frozenset()
        condition = () if self.expires_when is None else fields_of(self.expires_when)
        return frozenset((*condition, *(() if self.expires.after is None else (self.expires.after,))))

    def _lock_reads(self) -> frozenset[str]:
        """Name the fields that decide the locks of an item: unique ones, and those of its expiry."""
        names = {name for unique in self.uniques for name in unique.key.reads()}
        if not names:
            return frozenset()
        if names - self.fields.keys():
            return frozenset(self.fields)  # a property may read any of them
        expiry = () if self.ttl is None else (self.ttl.name,)
        return self.with_sources(self.expiry_reads.union(names, expiry))

    def _lock_form(self, unique: DeclaredUnique[Any]) -> LockForm:
        """Return the sort keys of a unique value's locks, the new one and the old one."""
        ttl = None if self.ttl is None else self.ttl.stored
        shares = lock_index(self.table, self.discriminator, ttl) is None
        sort = unique.sort or (SHARED_SORT if shares else OWN_SORT)
        was = unique.was or (None if shares or unique.sort else SHARED_SORT)
        stays = was == sort or self.table.sk is None
        return LockForm(self.name, unique.name, unique.key, sort, None if stays else was)

    def _auto(self, when: Literal["create", "write"]) -> tuple[str, ...]:
        return tuple(name for name, markers in self._markers.items() if Auto(when) in markers)

    def _known_names(self) -> frozenset[str]:
        keys = (self.key_names, *((*index.pk, *index.sk) for index in self.table.indexes))
        version = () if self.schema_version is None else (self.schema_version_name,)
        return frozenset((*self.by_stored, *self._key_names, self.discriminator, *version)).union(*keys)

    def _check_names(self) -> None:
        taken = {self.discriminator: "the discriminator", **dict.fromkeys(self._key_names, "a key")}
        if self.schema_version is not None:
            taken[self.schema_version_name] = "the version of the schema"
        for codec in self.fields.values():
            other = self.by_stored[codec.stored].name
            if other != codec.name:
                raise self._clash(codec, f"so is {other}")
            if codec.stored in taken:
                raise self._clash(codec, f"that is {taken[codec.stored]}")

    def _clash(self, codec: FieldCodec, why: str) -> DeclarationError:
        return DeclarationError(
            f"{self.entity.__name__}.{codec.name} is stored as {codec.stored}, and {why}; "
            f"{self.entity.__name__} has {', '.join(sorted(self.fields))}",
            hint=f'{codec.name}: Annotated[..., Stored("anotherName")]',
        )

    def _check_shared(self) -> None:
        """Refuse two keys that write one attribute differently: an index may use the keys of the table."""
        written: dict[str, tuple[str | None, Binding]] = {}
        for binding in self.bindings.values():
            keys = binding.keys
            for key, attributes in ((keys.pk, binding.pk), (keys.sk, binding.sk)):
                for attribute in attributes:
                    if attribute.field is not None:
                        continue
                    template, first = written.setdefault(attribute.name, (key.template, binding))
                    if template != key.template or first.when != binding.when:
                        raise DeclarationError(
                            f"{self.entity.__name__}.{binding.name} stores {key.shown()} as {attribute.name}, "
                            f"and so does {first.name}, with the template {template}",
                            hint="one attribute has one template, and one condition",
                        )

    def _check_computed_key(self) -> None:
        for name in sorted(self.with_sources(self.key.keys.reads()).intersection(self.updated)):
            raise DeclarationError(
                f"{self.entity.__name__}.{name} is the time of every write, and the key of the table, which never "
                "changes, is worked out from it"
            )

    # --- fields that are worked out from others -------------------------------------------------------

    def followers(self, names: Iterable[str]) -> frozenset[str]:
        """Name the computed fields that may change when these fields do."""
        return followers(self.computed, names)

    def with_sources(self, names: Iterable[str]) -> frozenset[str]:
        """Return names of fields, with the source fields of the computed ones among them."""
        return with_sources(self.computed, names)

    def plain_sources(self, names: Iterable[str]) -> frozenset[str]:
        """Return names of fields, with each computed field replaced by its source fields."""
        return self.with_sources(names) - self.computed.keys()

    def name_of(self, stored: str) -> str:
        """Name the field of a stored attribute; the attribute itself where it is no field."""
        return self.by_stored[stored].name if stored in self.by_stored else stored

    def computed_values(self, values: Mapping[str, object], names: Collection[str]) -> dict[str, object]:
        """Compute the computed fields from the values of the others; refuse results that cannot be stored."""
        known, found = dict(values), {}
        for name in self.computed:
            if name in names:
                try:
                    known[name] = found[name] = computed_value(self._field_validator, name, known)
                except ValidationError as error:
                    what = self.problem_text(error)
                    raise InvalidWriteError(
                        f"{self.entity.__name__}.{name} cannot be stored: {what}"
                    ) from error
        return found

    def with_computed(self, values: Mapping[str, object]) -> Mapping[str, object]:
        """Return values of some fields, with the computed fields whose sources are among them."""
        names = [name for name in self.computed if self.plain_sources((name,)) <= values.keys()]
        return {**values, **self.computed_values(values, names)} if names else values

    def stored_fields(self, entity: Entity, names: Iterable[str]) -> dict[str, AttributeValue | None]:
        """Return fields of an entity as attribute values, by stored name; None if the attribute is not stored."""
        # Sorted, since names may come as a set: equal changes give equal requests.
        codecs = [(self.fields[name], entity.__dict__.get(name)) for name in sorted(names)]
        return {
            codec.stored: None if codec.is_omitted(value) else codec.encode(value) for codec, value in codecs
        }

    @property
    def has_upcasters(self) -> bool:
        return bool(self._upcasters)

    # --- what is valid ---------------------------------------------------------------------------------

    @cached_property
    def _field_validator(self) -> SchemaValidator:
        return field_validator_of(self.entity)

    def valid_field(self, name: str, value: Any) -> Any:
        """Validate the value of one field, as the entity would; raise Pydantic's error."""
        validated: Any = self._field_validator.validate_assignment({}, name, value)
        return validated[0][name]

    def validated(self, values: dict[str, object]) -> Entity:
        """Build an entity from the values of all its fields; raise InvalidWriteError if it cannot be stored."""
        try:
            entity: Entity = self._validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, (self.entity.__name__, *first["loc"])))
            raise InvalidWriteError(f"{where} cannot be stored: {self.problem_text(error)}") from error
        return entity

    def problem_text(self, error: ValidationError) -> str:
        """Return a sentence about the first refused value."""
        first = error.errors(include_url=False, include_input=False)[0]
        return problem_text(first, self.entity)

    def check_keys(self, values: Mapping[str, object], written: Mapping[str, object]) -> None:
        """Refuse written values that no key object can hold: no read could find the item.

        The constraints of a key may be stricter than those of the entity's fields.
        """
        for binding in self.bindings.values():
            binding.check(values, written)
        for unique in self.uniques:
            check_values(unique.key, written)

    # --- entity to item ------------------------------------------------------------------------------

    def to_item(self, entity: Entity) -> Item:
        """Return the item of an entity: keys, discriminator, fields, and unknown attributes that were read."""
        item = self.unknown_attributes(entity)
        item.update(self.key_attributes(entity))
        item[self.discriminator] = {"S": self.name}
        if self.schema_version is not None:
            item[self.schema_version_name] = {"N": str(self.schema_version)}
        values = entity.__dict__
        for name, codec in self.fields.items():
            value = values.get(name)
            if value or not codec.is_omitted(value):
                item[codec.stored] = codec.encode(value)
        return item

    def key_attributes(self, entity: Entity) -> Item:
        """Return the attributes of all keys of an entity, without those that are fields."""
        values = key_values(entity)
        attributes = self.primary_key_of_values(values)
        for binding in self.indexes:
            attributes.update(binding.render(values))
        # A number that alone is the key of an index is written by the codec of its field.
        return {name: value for name, value in attributes.items() if name in self._key_names}

    def unknown_attributes(self, entity: Entity) -> Item:
        """Return the attributes of a stored item that the entity does not know. A write keeps them."""
        stored: Item | None = entity.__dict__.get(STORED)
        if stored is None:
            return {}
        known = self._known
        return {name: value for name, value in stored.items() if name not in known}

    def knows(self, name: str) -> bool:
        """Tell whether the entity writes an attribute, or the attribute is a key of the table or an index."""
        return name in self._known

    def primary_key(self, entity: Entity) -> Item:
        """Return the table key of an entity."""
        return self.primary_key_of_values(key_values(entity))

    def primary_key_of_values(self, values: Mapping[str, object]) -> Item:
        """Return the table key from an entity's values; refuse values that lack a part of it."""
        # Building the key objects raises the error that names the missing part.
        return self.key.item_of_values(values) or self.key.item_of(*self.key.keys.of(values))

    def primary_key_of(self, pk: Key, sk: Key | None) -> Item:
        """Return the table key from key objects."""
        return self.key.item_of(pk, sk)

    def old_primary_keys(self, pk: Key, sk: Key | None) -> Iterator[Item]:
        """Return the old table keys (`was=`) that an item of these keys may have."""
        if self.key.keys.was is None:
            return
        new = (pk,) if sk is None else (pk, sk)
        for old_pk in old_keys(self.key.keys.was[0], new):
            for old_sk in old_keys(self.key.keys.was[1], new):
                yield self.primary_key_of(old_pk, old_sk)

    # --- item to entity --------------------------------------------------------------------------------

    def to_entity(self, item: Item) -> Entity:
        """Build an entity from a stored item."""
        readers = self._readers
        values: dict[str, object] = {}
        try:
            for stored, value in item.items():
                reader = readers.get(stored)
                if reader is not None:
                    name, decoder = reader
                    if decoder is None:
                        text = value.get("S")  # most attributes are texts
                        values[name] = decode(value) if text is None else text
                    else:
                        values[name] = decoder(value)
            if self.schema_version is not None:
                values = self._upcast(item, values)
            for name, absent in self._absent.items():
                values.setdefault(name, absent())
            entity: Entity = self._validate(values)
        except (ValueError, OverflowError) as error:  # a number may be too large to be a time
            entity = self._read_by_key(item, values, error)
        entity.__dict__[STORED] = item
        return entity

    def decoded(self, item: Item) -> tuple[dict[str, object], dict[str, str]]:
        """Return the decoded fields of an item, not validated, and the reasons why others cannot be decoded."""
        values: dict[str, object] = {}
        unreadable: dict[str, str] = {}
        for stored, value in item.items():
            if stored in self._readers:
                name, decoder = self._readers[stored]
                try:
                    values[name] = decode(value) if decoder is None else decoder(value)
                except (ValueError, OverflowError) as error:
                    unreadable[name] = str(error)
        if self.schema_version is not None:
            try:
                values = self._upcast(item, values)
            except ValueError as error:
                raise self.invalid(item, error, hint=_HINT_INVALID) from error
        for name, absent in self._absent.items():
            if name not in unreadable:
                values.setdefault(name, absent())
        return values, unreadable

    def validated_item(self, values: dict[str, object]) -> Entity:
        """Build an entity from stored values; raise Pydantic's error."""
        entity: Entity = self._validate(values)
        return entity

    def _read_by_key(self, item: Item, values: dict[str, object], error: Exception) -> Entity:
        """Build an entity whose item lacks fields that its key holds: other code may store them only there."""
        held = {name: value for name, value in self.held_by_key(item).items() if name not in values}
        if held:
            try:
                entity: Entity = self._validate({**values, **held})
            except (ValueError, OverflowError) as other:
                error = other
            else:
                return entity
        raise self.invalid(item, error, hint=_HINT_INVALID) from error

    def held_by_key(self, item: Item) -> dict[str, object]:
        """Read the fields that the table key of an item holds; none, if the key does not match the templates."""
        keys = self.key.keys
        held: dict[str, object] = {}
        for name, key in zip(self.key_names, (keys.pk, keys.sk), strict=False):
            if key.compiled is None:
                continue
            try:
                parsed = key.compiled.parse(item.get(name, {}).get("S"))
            except KeyValueError:
                return {}
            names = {part.name for part in key.parts if part.source is None} & self.fields.keys()
            held |= {field: parsed[field] for field in names}
        return held

    def is_expired(self, item: Item, now_s: float) -> bool:
        """Tell whether an item has expired."""
        if self.ttl is None:
            return False
        # DynamoDB ignores a time to live that is no number (AWS guide, "TTL").
        value: AttributeValue = item.get(self.ttl.stored, {})
        return "N" in value and float(value["N"]) <= now_s

    def _upcast(self, item: Item, values: dict[str, object]) -> dict[str, object]:
        assert self.schema_version is not None
        version = self._version_of(item)
        if version == self.schema_version:
            return values
        self.refuse_newer(item)
        # An upcaster also gets attributes that the entity no longer has, by their stored names.
        values = {**{name: decode(value) for name, value in item.items() if not self.knows(name)}, **values}
        while version < self.schema_version:
            caster = self._upcasters.get(version)
            if caster is not None:
                values = self._cast(caster, item, values)
            version += 1
        return {name: value for name, value in values.items() if name in self.fields}

    def _cast(self, caster: Upcaster, item: Item, values: dict[str, object]) -> dict[str, object]:
        try:
            return caster.function(dict(values))
        except (
            LookupError,
            TypeError,
            AttributeError,
            ArithmeticError,
        ) as error:  # the upcaster got values that it did not expect
            what = ValueError(f"the upcaster of version {caster.version}: {type(error).__name__}: {error}")
            raise self.invalid(item, what, hint=_HINT_INVALID) from error

    def _version_of(self, item: Item) -> int:
        stored = item.get(self.schema_version_name, {})
        return int(stored["N"]) if "N" in stored else 1

    def refuse_newer(self, item: Item) -> None:
        """Refuse an item of a newer schema version than this program knows: a write would mix two forms."""
        if self.schema_version is None or (version := self._version_of(item)) <= self.schema_version:
            return
        raise InvalidItemError(
            f"the item {self._shown(item)} is {self.entity.__name__} of version {version}, and this "
            f"program knows versions up to {self.schema_version}",
            key=self._key_of(item),
            hint="let all programs read a new version before one of them writes it",
        )

    def invalid(self, item: Item, error: Exception, *, hint: str) -> InvalidItemError:
        """Return the error of an item that does not match its entity."""
        what, others = str(error), 0
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_context=False)[0]
            what = f"{'.'.join(map(str, first['loc']))}: {self.problem_text(error)}"
            others = error.error_count() - 1
        return self.unfit(item, what, others=others, hint=hint)

    def unfit(self, item: Item, what: str, *, others: int = 0, hint: str) -> InvalidItemError:
        """Return the error that an item does not fit, and why; `others` is the number of further problems."""
        return InvalidItemError(
            f"the item {self._shown(item)} is no {self.entity.__name__}: {what}"
            + (f" (and {others} more)" if others else ""),
            key=self._key_of(item),
            hint=hint,
        )

    def key_in(self, item: Item) -> Item:
        """Return the table key of an item."""
        return {name: item[name] for name in self.key_names}

    def _shown(self, item: Item) -> str:
        return shown_key(self._key_of(item))

    def _key_of(self, item: Item) -> Item:
        return {name: item.get(name, {}) for name in self.key_names}


def _first(markers: list[Any], kind: type[M]) -> M | None:
    return next((marker for marker in markers if isinstance(marker, kind)), None)


# --- locks of unique values -----------------------------------------------------------------------------

HASH: Final = "{hash}"  # in the sort key of locks: a hash of the value's text, different for each lock
SHARED_SORT: Final = "UNIQUE"
OWN_SORT: Final = f"{SHARED_SORT}#{HASH}"


@dataclass(frozen=True, slots=True)
class LockForm:
    """The sort key of the locks of an entity's unique value, and their old sort key."""

    entity: str
    name: str
    key: type[Key]
    sort: str
    was: str | None = None  # None if there is no old one


def lock_sort(sort: str, text: str) -> str:
    """Return the sort key of a value's lock. It may hold a hash of the value's text.

    The text itself could be too long: a sort key has 1024 bytes, a partition key 2048.
    """
    return sort.replace(HASH, blake2b(text.encode(), digest_size=8).hexdigest(), 1) if HASH in sort else sort


def lock_index(table: type[Table], discriminator: str, ttl: str | None) -> DeclaredIndex | None:
    """Return an index in which all locks of one sort key are one partition; None if there is none.

    An index is sparse: it holds the items that have all its key attributes.
    """
    held = {table.pk, table.sk, discriminator, ttl}
    return next(
        (
            index
            for index in table.indexes
            if table.sk in index.pk and table.pk not in index.pk and held.issuperset((*index.pk, *index.sk))
        ),
        None,
    )
