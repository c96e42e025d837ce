"""An entity as one design stores it: names, codecs, keys and markers, compiled when the design is declared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import ValidationError
from pydantic_core import SchemaValidator

from singletable.design.bindings import Keys
from singletable.design.casing import Casing, stored_name
from singletable.design.computed_validation import computed_value
from singletable.design.computing import computed_fields, followers, with_sources
from singletable.design.conditions import Condition, fields_of
from singletable.design.entity import (
    STORED,
    Entity,
    Upcaster,
    check_conditions,
    declared,
    expiry_condition,
    key_values,
    table_keys,
)
from singletable.design.field_codecs import FieldCodec, field_codec, markers_of
from singletable.design.field_validation import bounded_fields, field_validator_of, has_model_validators
from singletable.design.keys import Key, check_values, has_constraints
from singletable.design.markers import Auto, Expires, Lock, TimeToLive
from singletable.design.old_keys import old_keys
from singletable.design.places import AttributeType, Binding, KeyAttribute, key_item, place_of
from singletable.design.problems import problem_text
from singletable.design.relations import OWN_SORT, SHARED_SORT, Derived, LockForm, Unique, lock_index
from singletable.design.stored_values import AttributeValue, Item, decode, shown_key
from singletable.design.tables import Table
from singletable.errors import DeclarationError, InvalidItemError, InvalidWriteError, KeyValueError

__all__ = ["AttributeType", "Binding", "EntitySchema", "KeyAttribute", "key_item"]

E = TypeVar("E", bound=Entity)
M = TypeVar("M")

_HINT_INVALID: Final = "give the field a default, or an upcaster for older items"


class EntitySchema(Generic[E]):
    """What the layer needs to know of an entity to store and to read it."""

    def __init__(self, entity: type[E], table: type[Table], casing: Casing, discriminator: str) -> None:
        self.entity = entity
        self.table = table
        self.discriminator = discriminator
        self.name = entity.entity_options.name
        self.names = frozenset((self.name, *entity.entity_options.was))  # that its items are stored with
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
            self._place(keys) for keys in declared(entity, Keys).values() if keys.index is not None
        )
        self.bindings = {binding.name: binding for binding in (self.key, *self.indexes)}
        self.uniques = tuple(declared(entity, Unique).values())
        places = [binding.keys for binding in self.bindings.values()]
        keys = [*(each.pk for each in places), *(each.sk for each in places), *(u.key for u in self.uniques)]
        self.has_constrained_keys = any(map(has_constraints, keys))
        self.derived = next(iter(declared(entity, Derived).values()), None)
        self.version = self._marked(Lock)
        self.ttl = self._marked(TimeToLive)
        self.expires = self._expires()
        self.expires_when = self._expires_when()
        self.expiry_reads = self._expiry_reads()
        self.lock_reads = self._lock_reads()
        self.locks = {unique.name: self._lock_form(unique) for unique in self.uniques}
        self.created = self._auto("create")
        self.updated = self._auto("write")
        self.schema_version = entity.entity_options.schema_version
        self.schema_version_name = stored_name("schema_version", casing)
        self._upcasters = {caster.version: caster for caster in declared(entity, Upcaster).values()}
        self._key_names = frozenset(name for binding in self.bindings.values() for name in binding.written())
        self._known = self._known_names()
        self.bounded = bounded_fields(entity)
        # Times inside of models, and sets that are stored as nothing, are read in another form than they had.
        self.is_read_as_written = all(
            codec.kind is not None or fields[codec.name].annotation is bool for codec in self.fields.values()
        )
        # A strict model would refuse the texts that its times and ids are stored as.
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

    def _place(self, keys: Keys[Any, Any]) -> Binding:
        return place_of(self.entity, self.table, keys, self.fields)

    def _marked(self, kind: type[Any]) -> FieldCodec | None:
        found = [name for name, markers in self._markers.items() if _first(markers, kind) is not None]
        if len(found) > 1:
            raise DeclarationError(
                f"{self.entity.__name__} has two fields of one kind, {' and '.join(found)}: {kind.__doc__}"
            )
        return self.fields[found[0]] if found else None

    def _expires(self) -> Expires | None:
        return _first(self._markers[self.ttl.name], Expires) if self.ttl else None

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
        """Name the fields that decide the locks of an item: those that must be unique, and those of its expiry."""
        names = {name for unique in self.uniques for name in unique.key.reads()}
        if not names:
            return frozenset()
        if names - self.fields.keys():
            return frozenset(self.fields)  # a property may be made from any of them
        expiry = () if self.ttl is None else (self.ttl.name,)
        return self.with_sources(self.expiry_reads.union(names, expiry))

    def _lock_form(self, unique: Unique[Any]) -> LockForm:
        """Return where the locks of a unique value are, and where they were."""
        ttl = None if self.ttl is None else self.ttl.stored
        shares = lock_index(self.table, self.discriminator, ttl) is None
        sort = unique.sort or (SHARED_SORT if shares else OWN_SORT)
        was = unique.was or (None if shares or unique.sort else SHARED_SORT)
        stays = was == sort or self.table.sk is None
        return LockForm(self.name, unique.name, unique.key, sort, None if stays else was)

    def _auto(self, when: Literal["create", "write"]) -> tuple[str, ...]:
        return tuple(name for name, markers in self._markers.items() if Auto(when) in markers)

    def _known_names(self) -> frozenset[str]:
        keys = (self.table.key_attributes(), *((*index.pk, *index.sk) for index in self.table.indexes))
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
        for name in self.with_sources(self.key.keys.reads()).intersection(self.updated):
            raise DeclarationError(
                f"{self.entity.__name__}.{name} is the time of every write, and the key of the table, which never "
                "changes, is worked out from it"
            )

    # --- fields that are worked out from others -------------------------------------------------------

    def followers(self, names: Iterable[str]) -> frozenset[str]:
        """Name the computed fields that may change when these fields do."""
        return followers(self.computed, names)

    def with_sources(self, names: Iterable[str]) -> frozenset[str]:
        """Return names of fields, with those that the computed ones among them are made of."""
        return with_sources(self.computed, names)

    def plain_sources(self, names: Iterable[str]) -> frozenset[str]:
        """Name the fields that say all about these: for a computed one, those that it is made of."""
        return self.with_sources(names) - self.computed.keys()

    def computed_values(self, values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
        """Work out computed fields from the values of the others; refuse what cannot be stored."""
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

    def with_computed(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values of some fields, with those that can be worked out from them."""
        names = [name for name in self.computed if self.plain_sources((name,)) <= values.keys()]
        return {**values, **self.computed_values(values, names)} if names else values

    def stored_fields(self, entity: E, names: Iterable[str]) -> dict[str, AttributeValue | None]:
        """Return fields of an entity as they are stored, by the names of attributes; None for no attribute."""
        codecs = [(self.fields[name], entity.__dict__.get(name)) for name in names]
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

    def validated(self, values: dict[str, Any]) -> E:
        """Build an entity of the values of all its fields; raise InvalidWriteError where it cannot be stored."""
        try:
            entity: E = self._validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, (self.entity.__name__, *first["loc"])))
            raise InvalidWriteError(f"{where} cannot be stored: {self.problem_text(error)}") from error
        return entity

    def problem_text(self, error: ValidationError) -> str:
        """Say in words what is wrong with the first of the values that were refused."""
        first = error.errors(include_url=False, include_input=False)[0]
        return problem_text(first, self.entity)

    def check_keys(self, values: Mapping[str, Any], written: Mapping[str, Any]) -> None:
        """Refuse what is written of an entity's values, if the item could not be asked for by it.

        The constraints of a key may say more than those of the entity's own fields.
        """
        for binding in self.bindings.values():
            binding.check(values, written)
        for unique in self.uniques:
            check_values(unique.key, written)

    # --- entity to item ------------------------------------------------------------------------------

    def to_item(self, entity: E) -> Item:
        """Return the item of an entity: keys, discriminator, fields, and what else was stored when it was read."""
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

    def key_attributes(self, entity: E) -> Item:
        """Return the attributes of all keys of an entity, as far as they are not fields."""
        values = key_values(entity)
        attributes = self.key.item_of(*self.key.keys.of(values))
        for binding in self.indexes:
            attributes.update(binding.render(values))
        # A number that is an index's key by itself is written by its own codec.
        return {name: value for name, value in attributes.items() if name in self._key_names}

    def unknown_attributes(self, entity: E) -> Item:
        """Return the attributes that a stored item has and the entity does not know: they are kept."""
        stored: Item | None = entity.__dict__.get(STORED)
        if stored is None:
            return {}
        known = self._known
        return {name: value for name, value in stored.items() if name not in known}

    def knows(self, name: str) -> bool:
        """Tell whether an attribute is one that the entity writes, or a key of its table or of an index."""
        return name in self._known

    def primary_key(self, entity: E) -> Item:
        """Return the key of an entity in the table."""
        return self.key.item_of(*self.key.keys.of(key_values(entity)))

    def primary_key_of(self, pk: Key, sk: Key | None) -> Item:
        """Return the key in the table, of key objects."""
        return self.key.item_of(pk, sk)

    def old_primary_keys(self, pk: Key, sk: Key | None) -> Iterator[Item]:
        """Return the keys in the table that an item of these keys may have had before."""
        if self.key.keys.was is None:
            return
        new = (pk,) if sk is None else (pk, sk)
        for old_pk in old_keys(self.key.keys.was[0], new):
            for old_sk in old_keys(self.key.keys.was[1], new):
                yield self.primary_key_of(old_pk, old_sk)

    # --- item to entity --------------------------------------------------------------------------------

    def to_entity(self, item: Item) -> E:
        """Build the entity of a stored item."""
        readers = self._readers
        values: dict[str, Any] = {}
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
            entity: E = self._validate(values)
        except (ValueError, OverflowError) as error:  # a time may be too far away to be one
            entity = self._read_by_key(item, values, error)
        entity.__dict__[STORED] = item
        return entity

    def decoded(self, item: Item) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the fields of an item that can be decoded, not validated, and why the others cannot."""
        values: dict[str, Any] = {}
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

    def validated_item(self, values: dict[str, Any]) -> E:
        """Build an entity of values as they are stored; raise Pydantic's error."""
        entity: E = self._validate(values)
        return entity

    def _read_by_key(self, item: Item, values: dict[str, Any], error: Exception) -> E:
        """Build an entity of which only the key holds some fields: other code may store nothing twice."""
        held = {name: value for name, value in self.held_by_key(item).items() if name not in values}
        if held:
            try:
                entity: E = self._validate({**values, **held})
            except (ValueError, OverflowError) as other:
                error = other
            else:
                return entity
        raise self.invalid(item, error, hint=_HINT_INVALID) from error

    def held_by_key(self, item: Item) -> dict[str, Any]:
        """Read the fields that the key of an item in the table is made of; none, if it is made otherwise."""
        keys = self.key.keys
        held: dict[str, Any] = {}
        for name, key in zip(self.table.key_attributes(), (keys.pk, keys.sk), strict=False):
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
        """Tell whether an item's time to live is over."""
        if self.ttl is None:
            return False
        # An attribute that is no number is no time (AWS guide, "TTL").
        value: AttributeValue = item.get(self.ttl.stored, {})
        return "N" in value and float(value["N"]) <= now_s

    def _upcast(self, item: Item, values: dict[str, Any]) -> dict[str, Any]:
        assert self.schema_version is not None
        version = self._version_of(item)
        if version == self.schema_version:
            return values
        self.refuse_newer(item)
        # An upcaster also sees what the entity no longer has, by its stored name.
        values = {**{name: decode(value) for name, value in item.items() if not self.knows(name)}, **values}
        while version < self.schema_version:
            caster = self._upcasters.get(version)
            if caster is not None:
                values = self._cast(caster, item, values)
            version += 1
        return {name: value for name, value in values.items() if name in self.fields}

    def _cast(self, caster: Upcaster, item: Item, values: dict[str, Any]) -> dict[str, Any]:
        try:
            return caster.function(dict(values))
        except (
            LookupError,
            TypeError,
            AttributeError,
            ArithmeticError,
        ) as error:  # it met what it did not expect
            what = ValueError(f"the upcaster of version {caster.version}: {type(error).__name__}: {error}")
            raise self.invalid(item, what, hint=_HINT_INVALID) from error

    def _version_of(self, item: Item) -> int:
        stored = item.get(self.schema_version_name, {})
        return int(stored["N"]) if "N" in stored else 1

    def refuse_newer(self, item: Item) -> None:
        """Refuse an item of a version that this program does not know: to store it again would mix two forms."""
        if self.schema_version is None or (version := self._version_of(item)) <= self.schema_version:
            return
        raise InvalidItemError(
            f"the item {self._shown(item)} is {self.entity.__name__} of version {version}, and this "
            f"program knows versions up to {self.schema_version}",
            key=self._key_of(item),
            hint="let all programs read a new version before one of them writes it",
        )

    def invalid(self, item: Item, error: Exception, *, hint: str) -> InvalidItemError:
        """Return the error of an item that is not what the entity says."""
        what, others = str(error), 0
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_context=False)[0]
            what = f"{'.'.join(map(str, first['loc']))}: {self.problem_text(error)}"
            others = error.error_count() - 1
        return self.unfit(item, what, others=others, hint=hint)

    def unfit(self, item: Item, what: str, *, others: int = 0, hint: str) -> InvalidItemError:
        """Say that an item does not fit, and why; `others` counts what else is wrong."""
        return InvalidItemError(
            f"the item {self._shown(item)} is no {self.entity.__name__}: {what}"
            + (f" (and {others} more)" if others else ""),
            key=self._key_of(item),
            hint=hint,
        )

    def _shown(self, item: Item) -> str:
        return shown_key(self._key_of(item))

    def _key_of(self, item: Item) -> Item:
        return {name: item.get(name, {}) for name in self.table.key_attributes()}


def _first(markers: list[Any], kind: type[M]) -> M | None:
    return next((marker for marker in markers if isinstance(marker, kind)), None)
