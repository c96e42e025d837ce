"""Idempotency keys: a write that is sent again with the same key is carried out once, and answered the same.

A store keeps, for each key of a principal, the digest of the request and the answer. The store of a table keeps
them as items of the design's table, of the kind that `verify` and migrations know as upkeep, for a day. Who claims
a key first carries the request out. A claim whose process dies is free after a minute. That process may have
written: a create that comes again is then answered with a conflict, and never makes a second item.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Protocol

import orjson
from starlette.requests import Request
from starlette.responses import Response

from singletable.api.access import Principal
from singletable.api.problems import BAD_REQUEST, IN_PROGRESS, KEY_REUSED, NOT_HERE, Problem
from singletable.design.session.session import Session
from singletable.design.streams.once import GUARD_NAME
from singletable.errors import ApiError, ConditionFailedError, DesignError

HEADER: Final = "Idempotency-Key"
KEPT_S: Final = 24 * 3600
CLAIM_S: Final = 60
_KEY_CHARACTERS_MAX: Final = 255
_ANSWER_BYTES_MAX: Final = 300_000
_SHOWN_HEADERS: Final = ("etag", "location", "content-type")


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer that is given again."""

    status: int
    headers: dict[str, str]
    body: bytes


class IdempotencyStore(Protocol):
    """Keeps the answers to requests by their keys."""

    async def claim(self, key: str, request: str) -> KeptAnswer | None:
        """Take a key for a request; return the answer, if it was given. Raise a Problem if it is taken."""
        ...

    async def keep(self, key: str, answer: KeptAnswer) -> None:
        """Keep the answer of a claimed key."""
        ...

    async def release(self, key: str) -> None:
        """Give a claimed key back: nothing was done."""
        ...


class TableStore:
    """Keeps answers as items of the design's table, until its time to live removes them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._catalog = session.catalog

    async def claim(self, key: str, request: str) -> KeptAnswer | None:
        catalog, session = self._catalog, self._session
        if catalog.ttl is None:
            raise Problem(
                NOT_HERE, f"{catalog.name} has no time to live, so what remembers a key would stay for ever"
            )
        now = session.now_s()
        item = {
            **self._key(key),
            catalog.discriminator: {"S": GUARD_NAME},
            catalog.ttl: {"N": str(now + KEPT_S)},
            "request": {"S": request},
            "claimedUntil": {"N": str(now + CLAIM_S)},
        }
        params = {
            "TableName": session.table,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(#key) OR #ttl <= :now OR "
            "(attribute_not_exists(#answer) AND #until <= :now)",
            "ExpressionAttributeNames": {
                "#key": catalog.table.pk,
                "#ttl": catalog.ttl,
                "#answer": "answer",
                "#until": "claimedUntil",
            },
            "ExpressionAttributeValues": {":now": {"N": str(now)}},
        }
        try:
            await session.client.acall("PutItem", params)
        except ConditionFailedError:
            return await self._known(key, request)
        return None

    async def _known(self, key: str, request: str) -> KeptAnswer:
        params = {"TableName": self._session.table, "Key": self._key(key), "ConsistentRead": True}
        item = (await self._session.client.acall("GetItem", params)).get("Item", {})
        if item.get("request") != {"S": request}:
            raise Problem(KEY_REUSED)
        if "answer" not in item:
            raise Problem(IN_PROGRESS)
        kept = orjson.loads(zlib.decompress(bytes(item["answer"]["B"])))
        return KeptAnswer(kept["status"], kept["headers"], base64.b64decode(kept["body"]))

    async def keep(self, key: str, answer: KeptAnswer) -> None:
        data = {
            "status": answer.status,
            "headers": answer.headers,
            "body": base64.b64encode(answer.body).decode(),
        }
        packed = zlib.compress(orjson.dumps(data))
        if len(packed) > _ANSWER_BYTES_MAX:
            data["body"] = ""  # too large to be kept: the item itself has it
            packed = zlib.compress(orjson.dumps(data))
        params = {
            "TableName": self._session.table,
            "Key": self._key(key),
            "UpdateExpression": "SET #answer = :answer",
            "ConditionExpression": "attribute_exists(#key)",
            "ExpressionAttributeNames": {"#answer": "answer", "#key": self._catalog.table.pk},
            "ExpressionAttributeValues": {":answer": {"B": packed}},
        }
        await self._session.client.acall("UpdateItem", params)

    async def release(self, key: str) -> None:
        params = {"TableName": self._session.table, "Key": self._key(key)}
        await self._session.client.acall("DeleteItem", params)

    def _key(self, key: str) -> dict[str, Any]:
        table = self._catalog.table
        found = {table.pk: {"S": f"UPKEEP#API#{key}"}}
        if table.sk is not None:
            found[table.sk] = {"S": "IDEMPOTENCY"}
        return found


async def once(
    store: IdempotencyStore,
    request: Request,
    principal: Principal | None,
    body: bytes,
    run: Callable[[], Awaitable[Response]],
) -> Response:
    """Carry out a write; if it has a key, only the first time."""
    given = request.headers.get(HEADER)
    if given is None:
        return await run()
    if not (0 < len(given) <= _KEY_CHARACTERS_MAX and given.isascii() and given.isprintable()):
        raise Problem(BAD_REQUEST, f"{HEADER} is 1 to {_KEY_CHARACTERS_MAX} visible characters of ASCII")
    who = None if principal is None else principal.id
    key = sha256(orjson.dumps([who, given])).hexdigest()
    kinds = [request.headers.get(name, "") for name in ("content-type", "if-match", "if-none-match")]
    asked = sha256(orjson.dumps([request.method, request.url.path, *kinds]) + body).hexdigest()
    known = await store.claim(key, asked)
    if known is not None:
        headers = {**known.headers, "Idempotency-Replayed": "true", "Cache-Control": "no-store"}
        return Response(known.body, known.status, headers)
    try:
        answer = await run()
    except (Problem, DesignError, ApiError):
        # Nothing was written, so the key is free again. After any other failure nobody knows.
        await store.release(key)
        raise
    headers = {name: value for name, value in answer.headers.items() if name in _SHOWN_HEADERS}
    await store.keep(key, KeptAnswer(answer.status_code, headers, bytes(answer.body)))
    return answer
