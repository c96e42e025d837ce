"""Who calls: the seam of authentication, and the kinds that come with it.

An authenticator looks at a request and returns a principal, or None for nobody. It raises a Problem for wrong
credentials. Sessions of a system are one more class with the same method.
"""

from __future__ import annotations

import asyncio
import inspect
import ipaddress
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from starlette.requests import Request

from singletable.api.access import Principal
from singletable.api.problems import FORBIDDEN, UNAUTHENTICATED, Problem
from singletable.errors import DeclarationError

if TYPE_CHECKING:
    import jwt

_ASYMMETRIC: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
_TOKEN_CHARACTERS_MAX: Final = 16_384


class Authenticator(Protocol):
    """Tells who sends a request."""

    @property
    def challenge(self) -> str | None:
        """Return what WWW-Authenticate says to who is not signed in."""
        ...

    @property
    def is_local(self) -> bool:
        """Return whether everybody who is at this machine is let in, and nobody else."""
        ...

    async def principal(self, request: Request) -> Principal | None:
        """Return who sends a request; None for nobody. Raise a Problem for wrong credentials."""
        ...


class NoAuthentication:
    """Everybody at this machine may do everything; who comes from elsewhere is refused.

    A request that a proxy passes on names another host, or another client: it is refused too.
    """

    challenge: str | None = None
    is_local = True

    async def principal(self, request: Request) -> Principal | None:
        client = request.client
        forwarded = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "via"))
        if client is None or forwarded or not is_loopback(client.host) or not is_loopback(_host_of(request)):
            raise Problem(
                FORBIDDEN, "This API has no authentication, so it answers only who is at its own machine"
            )
        return Principal("local", is_trusted=True)


class BearerAuthentication:
    """A token in the header Authorization, which a function knows. It may be async; others run in a thread."""

    challenge: str | None = 'Bearer realm="api"'
    is_local = False

    def __init__(self, check: Callable[[str], Principal | Awaitable[Principal | None] | None]) -> None:
        self._check = check
        self._is_async = inspect.iscoroutinefunction(check)

    async def principal(self, request: Request) -> Principal | None:
        token = bearer_token(request)
        if token is None:
            return None
        if self._is_async:
            known: Any = await self._check(token)  # type: ignore[misc]
        else:
            known = await asyncio.to_thread(self._check, token)
        if known is None:
            raise self.wrong("The token is not known")
        found: Principal = known
        return found

    def wrong(self, why: str) -> Problem:
        """Return the problem of a wrong token."""
        return Problem(
            UNAUTHENTICATED, why, headers={"WWW-Authenticate": f'{self.challenge}, error="invalid_token"'}
        )


class JwtAuthentication(BearerAuthentication):
    """A signed token of an OpenID provider: its key, algorithm, issuer, audience and expiry are checked.

    `jwks` are the provider's keys, as a mapping, or the URL where they are. The subject is the principal's id; the
    claim `roles` has its roles. Needs the extra `api-jwt`.
    """

    def __init__(
        self,
        *,
        jwks: Mapping[str, Any] | str,
        issuer: str,
        audience: str,
        algorithms: Sequence[str] = ("RS256", "ES256", "EdDSA"),
        roles_claim: str = "roles",
        id_claim: str = "sub",
        leeway_s: int = 0,
    ) -> None:
        try:
            import jwt
        except ModuleNotFoundError as error:
            raise DeclarationError(
                "tokens of a provider need PyJWT, which is not installed",
                hint='pip install "singletable[api-jwt]"',
            ) from error
        if not algorithms or not set(algorithms) <= set(_ASYMMETRIC):
            raise DeclarationError(
                f"the algorithms {', '.join(algorithms)} are not all asymmetric",
                hint=f"some of {', '.join(_ASYMMETRIC)}: with a shared secret the API could be told anything",
            )
        if not (issuer and audience):
            raise DeclarationError(
                "a token is checked for its issuer and its audience", hint="issuer=, audience="
            )
        super().__init__(self._principal_of)
        self._jwt = jwt
        self._remote = jwt.PyJWKClient(jwks) if isinstance(jwks, str) else None
        self._keys = None if isinstance(jwks, str) else jwt.PyJWKSet.from_dict(dict(jwks))
        self._settings: dict[str, Any] = {"issuer": issuer, "audience": audience, "leeway": leeway_s}
        self._algorithms = list(algorithms)
        self._roles_claim = roles_claim
        self._id_claim = id_claim

    @classmethod
    def from_file(cls, path: str, **settings: Any) -> JwtAuthentication:
        """Read the provider's keys from a file of JSON."""
        with open(path, encoding="utf-8") as file:
            return cls(jwks=json.load(file), **settings)

    def _principal_of(self, token: str) -> Principal | None:
        try:
            key = self._key(token)
            claims = self._jwt.decode(
                token,
                key,
                algorithms=self._algorithms,
                options={"require": ["exp", "iss", "aud", self._id_claim]},
                **self._settings,
            )
        except self._jwt.PyJWTError as error:
            raise self.wrong(f"The token is refused: {error}") from None
        subject, roles = claims[self._id_claim], claims.get(self._roles_claim, ())
        if not isinstance(subject, str) or not subject:
            raise self.wrong(f"The token has no text as {self._id_claim}")
        named = [roles] if isinstance(roles, str) else roles if isinstance(roles, list) else []
        return Principal(subject, frozenset(each for each in named if isinstance(each, str)))

    def _key(self, token: str) -> jwt.PyJWK:
        if self._remote is not None:
            return self._remote.get_signing_key_from_jwt(token)
        assert self._keys is not None
        name = self._jwt.get_unverified_header(token).get("kid")
        keys = [
            key
            for key in self._keys.keys
            if key.key_id == name or (name is None and len(self._keys.keys) == 1)
        ]
        if not keys:
            raise self._jwt.InvalidTokenError("no key of the provider has signed it")
        return keys[0]


def bearer_token(request: Request) -> str | None:
    """Return the bearer token of a request; None if there is none."""
    header = request.headers.get("authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip() or len(token) > _TOKEN_CHARACTERS_MAX:
        raise Problem(
            UNAUTHENTICATED, "Authorization is to be a bearer token", headers={"WWW-Authenticate": "Bearer"}
        )
    return token.strip()


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, by its name or address."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _host_of(request: Request) -> str:
    host = request.headers.get("host", "")
    name, _, port = host.rpartition(":")
    return name if port.isdigit() and name else host
