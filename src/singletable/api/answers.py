"""Answers: their form by Accept, their ETag, and what may be kept of them (RFC 9110, 9111)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response

from singletable.api.access import Principal
from singletable.api.declaration import Cache
from singletable.api.fields import EntityFields, stored_item
from singletable.api.problems import BAD_REQUEST, CHANGED, NOT_ACCEPTABLE, Problem
from singletable.design import Entity
from singletable.design.values.items import AttributeValue
from singletable.values.numbers import normalize

JSON: Final = "application/json"
JSON_LINES: Final = "application/x-ndjson"
CSV: Final = "text/csv"
UNITS_HEADER: Final = "Singletable-Units"
_TAGS_MAX: Final = 50


# --- the form -----------------------------------------------------------------------------------------------


def negotiate(accept: str | None, offered: Sequence[str]) -> str:
    """Return the offered form that a request likes best; the first of them where it says nothing."""
    if accept is None or accept.strip() in ("", "*/*"):
        return offered[0]
    liked = [_quality(each) for each in accept.split(",")[:_TAGS_MAX]]
    best, found = 0.0, None
    for form in offered:
        kind = form.partition("/")[0]
        # The most specific range decides (RFC 9110, section 12.5.1).
        for name in (form, f"{kind}/*", "*/*"):
            qualities = [quality for pattern, quality in liked if pattern == name]
            if qualities:
                if max(qualities) > best:
                    best, found = max(qualities), form
                break
    if found is None:
        raise Problem(NOT_ACCEPTABLE, f"here there is {', '.join(offered)}")
    return found


def _quality(text: str) -> tuple[str, float]:
    name, *parameters = [part.strip().lower() for part in text.split(";")]
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                quality = float(parameter[2:])
            except ValueError:
                return name, 0.0
            return name, quality if 0.0 <= quality <= 1.0 else 0.0
    return name, 1.0


def csv_text(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> bytes:
    """Return rows as CSV (RFC 4180). What is no text or number stands in it as JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in names])
    return out.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


# --- ETags --------------------------------------------------------------------------------------------------


def digest(content: bytes) -> str:
    """Return a short digest for an ETag."""
    return blake2b(content, digest_size=12).hexdigest()


def entity_tag(fields: EntityFields, entity: Entity) -> str:
    """Return the ETag of an entity: its version, or a digest of its own values, and of what others keep in it.

    A write with If-Match looks at the first part alone: a counter that moved is no lost update.
    """
    schema, item = fields.schema, stored_item(entity)
    kept = schema.kept.attributes
    if schema.version is not None:
        lock = item.get(schema.version.stored, {}).get("N", "0")
    else:
        lock = _digest_of({name: value for name, value in item.items() if name not in kept})
    numbers = {name: item[name] for name in kept if name in item}
    return f'"{lock}.{_digest_of(numbers)}"' if numbers else f'"{lock}"'


def _digest_of(item: Mapping[str, AttributeValue]) -> str:
    plain = {name: _canonical(value) for name, value in item.items()}
    return digest(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS))


def _canonical(value: AttributeValue) -> Any:
    """Return an attribute value in one form: it may be told before a write or after a read."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return [tag, normalize(content)]
        case "NS":
            return [tag, sorted(map(normalize, content))]
        case "SS":
            return [tag, sorted(content)]
        case "B":
            return [tag, bytes(content).hex()]
        case "BS":
            return [tag, sorted(bytes(each).hex() for each in content)]
        case "L":
            return [tag, [_canonical(each) for each in content]]
        case "M":
            return [tag, {name: _canonical(each) for name, each in content.items()}]
        case _:
            return [tag, content]


def lock_part(tag: str) -> str:
    """Return the part of an ETag that a write looks at."""
    return tag.strip('"').partition(".")[0]


def _tags(header: str, name: str) -> list[str]:
    tags = [each.strip() for each in header.split(",")]
    if len(tags) > _TAGS_MAX or not all(each == "*" or each.endswith('"') for each in tags):
        raise Problem(BAD_REQUEST, f'{name} is a list of ETags in quotes, as "3", or *')
    return tags


def refuse_unmatched(request: Request, tag: str | None) -> None:
    """Refuse a write whose If-Match or If-None-Match does not hold; without a tag nothing is there."""
    wanted = request.headers.get("if-match")
    if wanted is not None:
        tags = _tags(wanted, "If-Match")
        # Weak tags never match here (RFC 9110, section 13.1.1).
        locks = [lock_part(each) for each in tags if not each.startswith("W/")]
        if tag is None or ("*" not in tags and lock_part(tag) not in locks):
            raise Problem(CHANGED)
    unwanted = request.headers.get("if-none-match")
    if unwanted is not None and tag is not None:
        tags = _tags(unwanted, "If-None-Match")
        if "*" in tags or lock_part(tag) in [lock_part(each.removeprefix("W/")) for each in tags]:
            raise Problem(CHANGED, "If-None-Match names what is there")


def is_unmodified(request: Request, tag: str) -> bool:
    """Tell whether a reader has this already."""
    known = request.headers.get("if-none-match")
    if known is None:
        return False
    tags = [each.strip().removeprefix("W/") for each in known.split(",")]
    return "*" in tags or tag in tags


# --- headers ------------------------------------------------------------------------------------------------


def headers_for(cache: Cache | None, principal: Principal | None, *, writes: bool = False) -> dict[str, str]:
    """Return what may be kept of an answer, and what it depends on."""
    vary = "Accept, Origin" if cache is not None and cache.public else "Accept, Authorization, Cookie, Origin"
    if writes:
        kept = "no-store"
    elif cache is not None:
        kept = cache.header
    else:
        kept = "private, no-cache" if principal is None else "no-store"
    return {"Cache-Control": kept, "Vary": vary}


def wants_units(request: Request) -> bool:
    """Tell whether a request asks what it has cost: Prefer: units (RFC 7240)."""
    preferred = request.headers.get("prefer")
    return preferred is not None and "units" in [each.strip().lower() for each in preferred.split(",")]


def add_units(request: Request, headers: dict[str, str], units: float) -> None:
    """Say the read or write units that an answer has cost, if the request asks."""
    if wants_units(request):
        headers[UNITS_HEADER] = f"{units:g}"
        headers["Preference-Applied"] = "units"


def answered(
    request: Request, content: bytes, tag: str, headers: dict[str, str], media_type: str = JSON
) -> Response:
    """Return an answer with its ETag; 304 without it, if the reader has it already."""
    headers["ETag"] = tag
    if is_unmodified(request, tag):
        return Response(None, 304, headers)
    return Response(content, 200, headers, media_type)


def link_next(request: Request, cursor: str, fixed: Sequence[tuple[str, str]]) -> str:
    """Return the path of the next page, with the parameters of this one."""
    parameters = [(name, value) for name, value in fixed if name != "cursor"]
    return f"{request.url.path}?{urlencode([*parameters, ('cursor', cursor)])}"
