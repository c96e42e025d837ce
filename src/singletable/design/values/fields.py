"""How one field of an entity is stored: its name by the design's casing, its codec, compressed or plain."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from singletable.design.values.annotations import unwrap
from singletable.design.values.items import NULL, AttributeValue, Item, decode, encode, is_empty
from singletable.design.values.markers import Compressed, Digits, Stored, TimeToLive
from singletable.errors import DeclarationError, InvalidWriteError

M = TypeVar("M")

Casing = Literal["snake", "camel", "pascal", "kebab"]


def stored_name(name: str, casing: Casing) -> str:
    """Return the name under which a field is stored: `batch_id` as `batchId`."""
    return _RULES[casing](name)


def is_casing(casing: object) -> bool:
    return casing in get_args(Casing)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(_capital, others))


def _pascal(name: str) -> str:
    return "".join(map(_capital, name.split("_")))


def _capital(word: str) -> str:
    # Not str.capitalize, which would lower the rest of the word.
    return word[:1].upper() + word[1:]


_RULES: Final[dict[str, Callable[[str], str]]] = {
    "snake": lambda name: name,
    "camel": _camel,
    "pascal": _pascal,
    "kebab": lambda name: name.replace("_", "-"),
}


_MAGIC: Final = b"\x1f\x8b"


def compressed(value: AttributeValue) -> bytes:
    """Return an attribute value as compressed JSON. Numbers are exact; a set is a list."""
    # The header has no time of writing, so equal values are stored as equal bytes.
    return gzip.compress(_json(value).encode(), mtime=0)


def is_compressed(content: bytes) -> bool:
    """Tell whether bytes are those of a compressed value."""
    return bytes(content).startswith(_MAGIC)


def decompressed(content: bytes) -> AttributeValue:
    """Read compressed JSON back; raise ValueError if it is damaged."""
    try:
        text = gzip.decompress(bytes(content))
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"what is compressed cannot be read: {error}") from error
    return encode(json.loads(text, parse_float=Decimal), _no_models)


def _json(value: AttributeValue) -> str:
    ((tag, content),) = value.items()
    match tag:
        case "S":
            return json.dumps(content, ensure_ascii=False)
        case "N":
            return str(content)
        case "BOOL":
            return "true" if content else "false"
        case "NULL":
            return "null"
        case "L":
            return f"[{','.join(map(_json, content))}]"
        case "M":
            members = (
                f"{json.dumps(name, ensure_ascii=False)}:{_json(each)}" for name, each in content.items()
            )
            return f"{{{','.join(members)}}}"
        case "SS":
            return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        case "NS":
            return f"[{','.join(content)}]"
        case _:
            raise InvalidWriteError("bytes cannot be stored in a compressed field, which is JSON")


def _no_models(model: object) -> NoReturn:
    raise AssertionError(f"JSON holds no {type(model).__name__}")


Encode = Callable[[Any], AttributeValue]
Decode = Callable[[AttributeValue], object]

_NO_KEYS: Final = (Compressed, TimeToLive)
_EXACT: Final = Context(prec=400)  # more digits than any number has that DynamoDB takes


@dataclass(frozen=True, slots=True)
class FieldCodec:
    """A field: its names, and the functions that store and read its values. Decode is None for plain values.

    A value that `is_omitted` is not stored, and is read as the field's default; as `absent` if there is no
    default.
    """

    name: str
    stored: str
    encode: Encode
    decode: Decode | None
    encode_member: Encode  # encodes one member of a list or set
    encode_bound: Encode  # encodes a value for a comparison, exactly
    kind: Literal["S", "N"] | None  # the stored type; None if the field cannot be a key
    omits: bool
    absent: Callable[[], object] | None = None

    def is_omitted(self, value: object) -> bool:
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


def _kind(annotation: object) -> Literal["S", "N"] | None:
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


def markers_of(field: FieldInfo) -> list[object]:
    """Return the markers of a field; for an optional type also the inner ones of `Annotated[str, ...] | None`."""
    inner = get_args(field.annotation) if _is_union(field.annotation) else ()
    nested = [marker for each in inner if get_origin(each) is Annotated for marker in get_args(each)[1:]]
    return [*field.metadata, *nested]


def marked_fields(model: type[BaseModel], kinds: type[M] | tuple[type[M], ...]) -> Iterator[tuple[str, M]]:
    """Return the names of fields that have markers of some kinds, each with its marker."""
    for name, field in model.__pydantic_fields__.items():
        for marker in field.metadata:
            if isinstance(marker, kinds):
                yield name, marker


def _refuse_inner_markers(name: str, annotation: object) -> None:
    for argument in () if _is_union(annotation) else get_args(annotation):
        if get_origin(argument) is Annotated:
            for marker in get_args(argument)[1:]:
                if isinstance(marker, Stored | Digits | Compressed | TimeToLive):
                    raise DeclarationError(
                        f"{name} is {annotation}: {marker} says how a field is stored, not what is inside one",
                        hint=f"Annotated[..., {marker}] around the whole, or a model with such a field",
                    )


def _is_union(annotation: object) -> bool:
    return get_origin(annotation) in (Union, UnionType)


def _omits(field: FieldInfo) -> bool:
    """Tell whether None or an empty set need not be stored: it is the default, or there is no default."""
    if field.default_factory is not None:
        return field.default_factory in (set, frozenset)
    return field.is_required() or is_empty(field.default)


def _absent(field: FieldInfo) -> Callable[[], object] | None:
    if not field.is_required():
        return None
    if _is_union(field.annotation) and NoneType in get_args(field.annotation):
        return NoneType
    origin = get_origin(field.annotation) or field.annotation
    return origin if isinstance(origin, type) and issubclass(origin, set | frozenset) else None


# --- by type: models inside a field are stored by the design's casing too -----------------------------------


def _typed(annotation: object, casing: Casing) -> tuple[Encode, Decode | None]:
    def model_item(model: BaseModel) -> Item:
        return _model_item(model, casing)

    return partial(encode, model_item=model_item), _decoder(annotation, casing)


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


def _decoder(annotation: object, casing: Casing) -> Decode | None:
    """Return the decoder that restores the Python names in values of a type; None if it holds no model."""
    annotation, _ = unwrap(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
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


def _tagged(tag: str, read: Callable[[Any], object]) -> Decode:
    """Return a decoder for one DynamoDB type. Values of other types pass unchanged to the validation."""
    return lambda value: read(value[tag]) if tag in value else decode(value)


def _union_decoder(arguments: tuple[object, ...], casing: Casing) -> Decode | None:
    plain = [get_args(each)[0] if get_origin(each) is Annotated else each for each in arguments]
    models = [each for each in plain if isinstance(each, type) and issubclass(each, BaseModel)]
    others = [each for each in plain if each not in models]
    decoders = [decoder for each in others if (decoder := _decoder(each, casing)) is not None]
    if models and not decoders:
        return _model_decoder(models, casing)
    return decoders[0] if len(decoders) == 1 and not models else None


def _model_decoder(models: list[type[BaseModel]], casing: Casing) -> Decode:
    """Return a decoder for a union of models: it takes the model that has most of the stored names."""

    def names_of(model: type[BaseModel], content: Item) -> int:
        return len(_model_codecs(model, casing).keys() & content.keys())

    def read(content: Item) -> dict[str, object]:
        # Looked up lazily: a model may contain itself.
        best = max(models, key=lambda model: names_of(model, content)) if len(models) > 1 else models[0]
        codecs = _model_codecs(best, casing)
        return dict(_named(codecs.get(stored), stored, value) for stored, value in content.items()) | {
            codec.name: codec.absent()
            for stored, codec in codecs.items()
            if codec.absent is not None and stored not in content
        }

    return _tagged("M", read)


def _named(codec: FieldCodec | None, stored: str, value: AttributeValue) -> tuple[str, object]:
    if codec is None:
        return stored, decode(value)
    return codec.name, decode(value) if codec.decode is None else codec.decode(value)


# --- markers ------------------------------------------------------------------------------------------------


def _encode_seconds(value: datetime) -> AttributeValue:
    return {"N": str(int(value.timestamp()))}


def _decode_seconds(value: AttributeValue) -> datetime | None:
    # DynamoDB ignores a time to live that is no number (AWS guide, "TTL").
    return datetime.fromtimestamp(int(Decimal(value["N"])), UTC) if "N" in value else None


def _rounding(name: str, digits: Digits, encoder: Encode) -> Encode:
    def encode_rounded(value: Any) -> AttributeValue:
        exact = _exact(value)
        if not exact.is_finite():
            return encoder(value)  # which refuses it
        try:
            stored = rounded(digits, value)
        except InvalidOperation:  # it has more digits than any number that can be stored
            return encoder(value)
        if stored != exact and not digits.rounds:
            raise InvalidWriteError(
                f"{name} is {value}, which has more than {digits.decimals} decimals",
                hint=f"round it, or declare Digits({digits.decimals}, rounds=True)",
            )
        return encoder(stored)

    return encode_rounded


def rounded(digits: Digits, value: int | float | Decimal) -> Decimal:
    """Return a finite number, rounded to the decimals of a field."""
    return _exact(value).quantize(Decimal(1).scaleb(-digits.decimals), ROUND_HALF_EVEN, _EXACT)


def _exact(value: Any) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _compressing(encoder: Encode) -> Encode:
    return lambda value: {"B": compressed(encoder(value))}


def _decompressing(decoder: Decode | None) -> Decode:
    def read(value: AttributeValue) -> object:
        if "B" in value and is_compressed(value["B"]):
            value = decompressed(value["B"])
        return decode(value) if decoder is None else decoder(value)

    return read
