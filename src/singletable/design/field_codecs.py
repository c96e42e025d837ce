"""How one field of an entity, or of a model inside one, is stored: compiled from its type and its markers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from singletable.design.casing import Casing, stored_name
from singletable.design.compression import compressed, decompressed, is_compressed
from singletable.design.markers import Compressed, Digits, Stored, TimeToLive
from singletable.design.stored_values import NULL, AttributeValue, Item, decode, encode, is_empty
from singletable.errors import DeclarationError, InvalidWriteError

Encode = Callable[[Any], AttributeValue]
Decode = Callable[[AttributeValue], Any]

_NO_KEYS: Final = (Compressed, TimeToLive)
_EXACT: Final = Context(prec=400)  # more digits than any number has that DynamoDB takes


@dataclass(frozen=True, slots=True)
class FieldCodec:
    """A field: its names, and the functions that store and read its values. Decode is None for plain values.

    What `is_omitted` is stored as no attribute, and read as the field's default. `absent` is what a field
    without a default is then.
    """

    name: str
    stored: str
    encode: Encode
    decode: Decode | None
    encode_member: Encode  # of a value inside it: one of a list or set
    encode_bound: Encode  # of a value that it is compared with, exactly
    kind: Literal["S", "N"] | None  # as what it is stored; None where a key cannot be it
    omits: bool
    absent: Callable[[], Any] | None = None

    def is_omitted(self, value: Any) -> bool:
        """Tell whether a value is stored as no attribute."""
        return self.omits and is_empty(value)


def field_codec(name: str, field: FieldInfo, casing: Casing) -> FieldCodec:
    """Compile how a field is stored."""
    markers = markers_of(field)
    stored = next(
        (marker.name for marker in markers if isinstance(marker, Stored)), stored_name(name, casing)
    )
    _refuse_inner_markers(name, field.annotation)
    encode_member, decoder = _typed(field.annotation, casing)
    encoder = encode_bound = encode_member
    for marker in markers:
        if isinstance(marker, TimeToLive):
            encoder, decoder = _encode_seconds, _decode_seconds
            encode_bound = encoder
        if isinstance(marker, Digits):
            encoder = _rounding(name, marker, encoder)
        if isinstance(marker, Compressed):
            encoder, decoder = _compressing(encoder), _decompressing(decoder)
            encode_bound = encoder
    omits = _omits(field)
    if not omits:
        encoder = _with_null(encoder)
    kind = None if any(isinstance(each, _NO_KEYS) for each in markers) else _kind(field.annotation)
    return FieldCodec(
        name, stored, encoder, decoder, encode_member, encode_bound, kind, omits, _absent(field)
    )


def _kind(annotation: Any) -> Literal["S", "N"] | None:
    """Return whether the values of a type are stored as texts or as numbers."""
    if hasattr(annotation, "__supertype__"):
        return _kind(annotation.__supertype__)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0])
    if _is_union(annotation):
        kinds = {_kind(each) for each in arguments if each is not NoneType}
    elif origin is Literal:
        kinds = {_kind(type(value)) for value in arguments}
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        kinds = {_kind(type(member.value)) for member in annotation}
    elif isinstance(annotation, type) and annotation is not bool:
        number = issubclass(annotation, int | float | Decimal)
        kinds = {"N" if number else "S" if issubclass(annotation, str | date | UUID) else None}
    else:
        kinds = {None}
    return kinds.pop() if len(kinds) == 1 else None


def _with_null(encoder: Encode) -> Encode:
    return lambda value: NULL if value is None else encoder(value)


def markers_of(field: FieldInfo) -> list[Any]:
    """Return the markers of a field; of an optional one also those inside, as of `Annotated[str, ...] | None`."""
    inner = get_args(field.annotation) if _is_union(field.annotation) else ()
    nested = [marker for each in inner if get_origin(each) is Annotated for marker in get_args(each)[1:]]
    return [*field.metadata, *nested]


def _refuse_inner_markers(name: str, annotation: Any) -> None:
    for argument in () if _is_union(annotation) else get_args(annotation):
        if get_origin(argument) is Annotated:
            for marker in get_args(argument)[1:]:
                if isinstance(marker, Stored | Digits | Compressed | TimeToLive):
                    raise DeclarationError(
                        f"{name} is {annotation}: {marker} says how a field is stored, not what is inside one",
                        hint=f"Annotated[..., {marker}] around the whole, or a model with such a field",
                    )


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, UnionType)


def _omits(field: FieldInfo) -> bool:
    """Tell whether None, and an empty set, can be left out: where the default says the same, or there is none."""
    if field.default_factory is not None:
        return field.default_factory in (set, frozenset)
    return field.is_required() or is_empty(field.default)


def _absent(field: FieldInfo) -> Callable[[], Any] | None:
    if not field.is_required():
        return None
    if _is_union(field.annotation) and NoneType in get_args(field.annotation):
        return NoneType
    origin = get_origin(field.annotation) or field.annotation
    return origin if isinstance(origin, type) and issubclass(origin, set | frozenset) else None


# --- by type: models inside a field are stored by the design's casing too -----------------------------------


def _typed(annotation: Any, casing: Casing) -> tuple[Encode, Decode | None]:
    def model_item(model: BaseModel) -> Item:
        return _model_item(model, casing)

    return lambda value: encode(value, model_item), _decoder(annotation, casing)


@cache
def _model_codecs(model: type[BaseModel], casing: Casing) -> dict[str, FieldCodec]:
    """Return the codecs of a model's fields by their stored names."""
    codecs = (field_codec(name, field, casing) for name, field in model.model_fields.items())
    return {codec.stored: codec for codec in codecs}


def _model_item(model: BaseModel, casing: Casing) -> Item:
    values = model.__dict__
    extra = model.__pydantic_extra__ or {}
    item = {name: _typed(Any, casing)[0](value) for name, value in extra.items()}
    for stored, codec in _model_codecs(type(model), casing).items():
        value = values.get(codec.name)
        if not codec.is_omitted(value):
            item[stored] = codec.encode(value)
    return item


def _decoder(annotation: Any, casing: Casing) -> Decode | None:
    """Return what gives the values of a type their Python names back; None where it holds no model."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _decoder(arguments[0], casing)
    if hasattr(annotation, "__supertype__"):
        return _decoder(annotation.__supertype__, casing)
    if type(annotation).__name__ == "TypeAliasType":  # `type X = ...`, of Python 3.12
        return _decoder(annotation.__value__, casing)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _model_decoder([annotation], casing)
    if origin in (Union, UnionType):
        return _union_decoder(arguments, casing)
    if not isinstance(origin, type):
        return None
    inner = [decoder for argument in arguments if (decoder := _decoder(argument, casing)) is not None]
    if not inner:
        return None
    member = inner[-1]
    if issubclass(origin, Mapping):
        return _tagged("M", lambda content: {name: member(value) for name, value in content.items()})
    return _tagged("L", lambda content: [member(value) for value in content])


def _tagged(tag: str, read: Callable[[Any], Any]) -> Decode:
    """Return a decoder of one tag. Another is read as it is, for the validation to judge."""
    return lambda value: read(value[tag]) if tag in value else decode(value)


def _union_decoder(arguments: tuple[Any, ...], casing: Casing) -> Decode | None:
    plain = [get_args(each)[0] if get_origin(each) is Annotated else each for each in arguments]
    models = [each for each in plain if isinstance(each, type) and issubclass(each, BaseModel)]
    others = [each for each in plain if each not in models]
    decoders = [decoder for each in others if (decoder := _decoder(each, casing)) is not None]
    if models and not decoders:
        return _model_decoder(models, casing)
    return decoders[0] if len(decoders) == 1 and not models else None


def _model_decoder(models: list[type[BaseModel]], casing: Casing) -> Decode:
    """Return the decoder of one of several models: the one that has most of the stored names."""

    def names_of(model: type[BaseModel], content: Item) -> int:
        return len(_model_codecs(model, casing).keys() & content.keys())

    def read(content: Item) -> dict[str, Any]:
        # Looked up when it is needed: a model may hold models of its own kind.
        best = max(models, key=lambda model: names_of(model, content)) if len(models) > 1 else models[0]
        codecs = _model_codecs(best, casing)
        return dict(_named(codecs.get(stored), stored, value) for stored, value in content.items()) | {
            codec.name: codec.absent()
            for stored, codec in codecs.items()
            if codec.absent is not None and stored not in content
        }

    return _tagged("M", read)


def _named(codec: FieldCodec | None, stored: str, value: AttributeValue) -> tuple[str, Any]:
    if codec is None:
        return stored, decode(value)
    return codec.name, decode(value) if codec.decode is None else codec.decode(value)


# --- markers ------------------------------------------------------------------------------------------------


def _encode_seconds(value: datetime) -> AttributeValue:
    return {"N": str(int(value.timestamp()))}


def _decode_seconds(value: AttributeValue) -> Any:
    # An attribute that is no number is no time (AWS guide, "TTL").
    return datetime.fromtimestamp(int(Decimal(value["N"])), UTC) if "N" in value else None


def _rounding(name: str, digits: Digits, encoder: Encode) -> Encode:
    def encode_rounded(value: Any) -> AttributeValue:
        exact = _exact(value)
        if not exact.is_finite():
            return encoder(value)  # which refuses it
        stored = rounded(digits, value)
        if stored != exact and not digits.rounds:
            raise InvalidWriteError(
                f"{name} is {value}, which has more than {digits.decimals} decimals",
                hint=f"round it, or declare Digits({digits.decimals}, rounds=True)",
            )
        return encoder(stored)

    return encode_rounded


def rounded(digits: Digits, value: int | float | Decimal) -> Decimal:
    """Return a finite number with the decimals that a field has."""
    return _exact(value).quantize(Decimal(1).scaleb(-digits.decimals), ROUND_HALF_EVEN, _EXACT)


def _exact(value: Any) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _compressing(encoder: Encode) -> Encode:
    return lambda value: {"B": compressed(encoder(value))}


def _decompressing(decoder: Decode | None) -> Decode:
    def read(value: AttributeValue) -> Any:
        if "B" in value and is_compressed(value["B"]):
            value = decompressed(value["B"])
        return decode(value) if decoder is None else decoder(value)

    return read
