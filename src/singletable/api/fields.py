"""The fields of an entity as an API shows and takes them: JSON out, JSON in, each compiled once.

Names are those of the fields in Python, whatever they are stored as. Times are ISO 8601, decimals are texts with
all their digits, binary values are base64, sets are sorted lists. Keys, versions, times of writes, and what the
layer keeps are shown, and not taken.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Final, NotRequired, TypeAlias, Union, get_args, get_origin

import orjson
from pydantic import BeforeValidator, ConfigDict, PlainSerializer, TypeAdapter, WithJsonSchema
from pydantic import ValidationError as InvalidValueError
from typing_extensions import TypedDict

from singletable.api.declaration import Api, EntityApi
from singletable.api.problems import BAD_REQUEST, INVALID, Problem, invalid, pointer, refused_field
from singletable.design import Entity, Get
from singletable.design.describe.samples import NoSampleError, sample
from singletable.design.model.entity import STORED, entity_type
from singletable.design.model.ownership import key_fields
from singletable.design.model.projections import partial_item
from singletable.design.model.schema import EntitySchema
from singletable.design.values.items import AttributeValue
from singletable.design.values.markers import KeptField
from singletable.errors import DeclarationError, KeyValueError
from singletable.values.numbers import normalize

Adapter: TypeAlias = TypeAdapter[Any]
_CONFIG: Final = ConfigDict(
    ser_json_inf_nan="null",
    extra="forbid",
    allow_inf_nan=False,
)


class EntityFields:
    """An exposed entity, compiled: what is shown of it, and what is taken."""

    def __init__(self, api: Api, exposed: EntityApi) -> None:
        self.exposed = exposed
        self.entity = exposed.entity
        self.name = exposed.entity.__name__
        self.schema: EntitySchema = api.design.catalog.schema_for(exposed.entity)
        self.owner = exposed.entity.entity_options.owner
        self.hidden = frozenset(exposed.hidden)
        schema = self.schema
        self.key_names = tuple(dict.fromkeys(schema.key.keys.reads()))
        kept = {name for name in schema.fields if _has_kept(exposed.entity, name)}
        version = set() if schema.version is None else {schema.version.name}
        filled = {
            *schema.created,
            *schema.updated,
            *schema.computed,
            *schema.kept.counted,
            *schema.kept.filled,
        }
        self.read_only = (version | filled | kept | set(exposed.read_only)) - self.hidden
        if schema.expires is not None and schema.ttl is not None:
            self.read_only |= {schema.ttl.name} - self.hidden
        self.shown = [name for name in schema.fields if name not in self.hidden]
        self.taken = [name for name in self.shown if name not in self.read_only]
        self.has_partials = any(binding.view is not None for binding in schema.indexes)
        self._check_creatable()

    def _check_creatable(self) -> None:
        if "create" not in self.exposed.verbs:
            return
        fields = self.entity.model_fields
        for name in fields.keys() - set(self.taken):
            if (
                fields[name].is_required()
                and name not in self.schema.kept.filled | self.schema.computed.keys()
            ):
                raise DeclarationError(
                    f"{self.name}.{name} is required, and the API does not take it: nothing could be created",
                    hint="a default, or not hidden and not read-only",
                )

    # --- types ---------------------------------------------------------------------------------------------

    @cached_property
    def output(self) -> Adapter:
        """Return what shows an entity: it takes the values of its fields, and leaves out the rest."""
        return self._adapter(self.name, self.shown, required=self.shown)

    @cached_property
    def partial_output(self) -> Adapter:
        """Return what shows a partial entity, of which an index holds some fields."""
        return (
            self._adapter(f"{self.name}Part", self.shown, required=()) if self.has_partials else self.output
        )

    @cached_property
    def create_input(self) -> Adapter:
        """Return what reads the body of a create."""
        fields = self.entity.model_fields
        free = {self.owner} if self.owner is not None and self._fills_owner else set()
        required = [name for name in self.taken if fields[name].is_required() and name not in free]
        return self._adapter(f"{self.name}Create", self.taken, required=required)

    @cached_property
    def change_input(self) -> Adapter:
        """Return what reads values of fields, any of them."""
        return self._adapter(f"{self.name}Change", self.taken, required=())

    @cached_property
    def replace_input(self) -> Adapter:
        """Return what reads the body of a replace: everything that is shown may be in it."""
        fields = self.entity.model_fields
        required = [name for name in self.taken if fields[name].is_required() and name not in self.key_names]
        return self._adapter(f"{self.name}Replace", self.shown, required=required)

    @property
    def _fills_owner(self) -> bool:
        from singletable.api.access import OWNER

        return OWNER in self.exposed.access_for("create")

    def _adapter(self, title: str, names: list[str], *, required: Any) -> Adapter:
        fields = self.entity.model_fields
        types: dict[str, Any] = {}
        for name in names:
            info = fields[name]
            kind = _annotated(info.annotation, info.metadata)
            types[name] = kind if name in required else NotRequired[kind]
        make: Any = TypedDict
        made = make(title, types)
        made.__pydantic_config__ = _CONFIG
        made.__doc__ = (self.entity.__doc__ or "").partition("\n")[0] or None
        made.__module__ = __name__
        return TypeAdapter(made)

    # --- out -----------------------------------------------------------------------------------------------

    def shown_json(self, entity: Entity) -> bytes:
        """Return an entity as JSON."""
        is_part = type(entity) is not self.entity
        return (self.partial_output if is_part else self.output).dump_json(entity.__dict__, warnings=False)

    def written_json(self, entity: Entity) -> bytes:
        """Return an entity that was just written, in the form that a read shows: 12.5, not 12.50."""
        item = {name: _as_stored(value) for name, value in stored_item(entity).items()}
        return self.shown_json(self.schema.to_entity(item))

    def shown_data(self, entity: Entity) -> dict[str, Any]:
        """Return an entity as JSON can hold it."""
        found: dict[str, Any] = orjson.loads(self.shown_json(entity))
        return found

    # --- in ------------------------------------------------------------------------------------------------

    def refuse_names(self, names: Any) -> None:
        """Refuse fields that are not taken, and names of nothing."""
        refused = []
        for name in names:
            if name in self.taken:
                continue
            why = "is read-only" if name in self.read_only and name in self.shown else "is no field"
            refused.append({"pointer": pointer((name,)), "detail": why})
        if refused:
            raise Problem(INVALID, f"{self.name} does not take some of it", errors=refused[:20])

    def read(self, adapter: Adapter, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the validated values of a JSON object."""
        try:
            found: dict[str, Any] = adapter.validate_python(given)
        except InvalidValueError as error:
            raise invalid(error) from None
        return found

    def default(self, name: str, given: Mapping[str, Any]) -> Any:
        """Return what a field is that a whole entity leaves out."""
        info = self.entity.model_fields[name]
        return info.get_default(call_default_factory=True, validated_data=dict(given))

    def make(self, values: Mapping[str, Any]) -> Entity:
        """Return an entity of validated values; refuse what the whole of it does not allow."""
        try:
            return self.entity(**values)
        except InvalidValueError as error:
            raise invalid(error) from None

    # --- keys ----------------------------------------------------------------------------------------------

    def key_values(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return the fields of a key that a path holds as texts; refuse what no key can hold."""
        values = {}
        for name in self.key_names:
            text = texts[name]
            try:
                values[name] = self._value(name, text)
            except InvalidValueError as error:
                raise invalid(error) from None
        return values

    def _value(self, name: str, text: str) -> Any:
        # As JSON's text, and where that is none of its type, as JSON itself: 12, true.
        adapter = self._key_adapters[name]
        try:
            return adapter.validate_python(text)
        except InvalidValueError:
            try:
                plain = orjson.loads(text)
            except ValueError:
                plain = None
            if isinstance(plain, int | float | bool):
                return adapter.validate_python(plain)
            raise

    def get(self, values: Mapping[str, Any]) -> Get[Any]:
        """Return the plan that reads the item of a key, as it is now."""
        pk, sk = self.schema.key.keys.of(values)
        return Get(self.entity, pk, sk if self.schema.table.sk is not None else None).consistent()

    def path_texts(self, entity: Entity) -> list[str]:
        """Return the texts of an entity's key for its path."""
        shown = self._adapter_of_key.dump_python(entity.__dict__, mode="json", warnings=False)
        return [_path_text(shown[name]) for name in self.key_names]

    @cached_property
    def _adapter_of_key(self) -> Adapter:
        return self._adapter(f"{self.name}Key", list(self.key_names), required=self.key_names)

    @cached_property
    def _key_adapters(self) -> dict[str, Adapter]:
        return {name: self.key_adapter(name) for name in (*self.key_names, *filter(None, [self.owner]))}

    def key_adapter(self, name: str) -> Adapter:
        """Return the type of a field of the key."""
        info = self.entity.model_fields[name]
        return TypeAdapter(_annotated(info.annotation, info.metadata))

    # --- whose it is ---------------------------------------------------------------------------------------

    def owner_value(self, owner_id: str) -> Any:
        """Return the id of a principal as the owner field has it."""
        assert self.owner is not None
        try:
            return self._value(self.owner, owner_id)
        except InvalidValueError:
            raise refused_field(self.owner, "cannot hold the id of who is signed in") from None

    def is_owned_by(self, entity: Entity, owner_id: str) -> bool:
        """Tell whether an entity is in the partition of an owner. What cannot be told is not."""
        if self.owner is None:
            return False
        values = entity.__dict__
        if self.owner in values:
            return bool(values[self.owner] == self.owner_value(owner_id))
        try:
            held = key_fields(self.schema, partial_item(self.schema, entity))
        except (KeyError, KeyValueError):
            return False
        return bool(held.get(self.owner) == self.owner_value(owner_id))

    # --- examples ------------------------------------------------------------------------------------------

    def example(self) -> dict[str, Any] | None:
        """Return what an entity of sample values is shown as; None if its types give no samples."""
        try:
            made: Any = sample(self.entity, self.name, 0)
        except (NoSampleError, ValueError, TypeError):
            return None
        return self.shown_data(made)


def read_object(body: bytes) -> dict[str, Any]:
    """Return the members of a JSON object, numbers with all their digits; refuse any other body."""
    try:
        text = body.decode()
        found = json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
        if "\\u" in text:
            json.dumps(
                found, ensure_ascii=False, default=str
            ).encode()  # halves of surrogate pairs are no text
    except (ValueError, RecursionError):
        raise Problem(BAD_REQUEST, "The body is no JSON") from None
    if not isinstance(found, dict):
        raise Problem(
            INVALID, "The body is a JSON object", errors=[{"pointer": "#", "detail": "is an object"}]
        )
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def fields_of(all_fields: Mapping[type[Entity], EntityFields], entity: Entity) -> EntityFields:
    """Return the compiled fields of an entity that was read."""
    return all_fields[entity_type(entity)]


def stored_item(entity: Entity) -> dict[str, Any]:
    """Return the item that an entity was read from or written as."""
    found: dict[str, Any] = entity.__dict__[STORED]
    return found


def _as_stored(value: AttributeValue) -> AttributeValue:
    """Return an attribute value with its numbers in the form that a table gives them back."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return {tag: normalize(content)}
        case "L":
            return {tag: [_as_stored(each) for each in content]}
        case "M":
            return {tag: {name: _as_stored(each) for name, each in content.items()}}
        case _:
            return value


def _has_kept(entity: type[Entity], name: str) -> bool:
    return any(isinstance(each, KeptField) for each in entity.model_fields[name].metadata)


def _decoded(value: Any) -> Any:
    """Return the bytes of a text in base64, as JSON holds them."""
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError("is no base64") from None


# Pydantic's own base64 is that for URLs, and its config does not reach the members of a typed dict.
Base64: Any = Annotated[
    bytes,
    BeforeValidator(_decoded),
    PlainSerializer(lambda value: base64.b64encode(value).decode(), return_type=str),
    WithJsonSchema({"type": "string", "contentEncoding": "base64"}),
]


def _with_base64(annotation: Any) -> Any:
    """Return a type with its binary values as texts in JSON."""
    if annotation is bytes:
        return Base64
    origin, arguments = get_origin(annotation), get_args(annotation)
    if bytes not in arguments:
        return annotation
    members = tuple(map(_with_base64, arguments))
    return Union[members] if origin in (Union, UnionType) else origin[members]  # noqa: UP007


def _annotated(annotation: Any, metadata: list[Any]) -> Any:
    annotation = _with_base64(annotation)
    kind: Any = Annotated[(annotation, *metadata)] if metadata else annotation
    if get_origin(annotation) in (set, frozenset):
        members: Any = list.__class_getitem__(get_args(annotation)[0])
        return Annotated[kind, PlainSerializer(lambda value: sorted(value, key=str), return_type=members)]
    return kind


def _path_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
