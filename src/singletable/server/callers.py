"""The callers that are allowed: host names by which a server is reached, and web origins (CORS). Pure.

A browser lets every page send requests to all servers that its machine can reach, this one included. Two headers
that no page can choose reveal that. `Host` is the name in the URL: when the name of a page is pointed at 127.0.0.1
(DNS rebinding), the browser takes the server for the origin of that page, but `Host` still has the name. `Origin`
is where the page is from: browsers send it with every POST, and with every request whose answer a page may read,
so nothing is changed or read without it. (`Sec-Fetch-Site` tells nothing more: no browser sends that with a POST
and leaves `Origin` out.)

An IP address cannot be pointed anywhere else: as a `Host` every one will do, as it must behind a port that is
forwarded (to a container, for one), where the server has another address than the one that is called.

The service allows every origin, and echoes the headers and the method that a page asks for (recorded by dynalite,
"should set CORS if OPTIONS and Origin …"). The list of exposed headers is the service's own too (ScyllaDB's
alternator/server.cc and test_cors.py, which was run against it). But the service verifies signatures, and it does
not run on the machine of the person who looks at the page. Here an origin gets such an answer only if it was
allowed.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Final

import orjson

from singletable.server.replies import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from singletable.server.reader import Request

ANY: Final = "*"

_KNOWN_HOSTS_MAX: Final = (
    256  # a client writes one; with a port of its choice, a hostile one writes thousands
)
_SHOWN_LENGTH_MAX: Final = 255

_AUTHORITY: Final = re.compile(rb"(\[[^\[\]]*\]|[^\[\]:]*)(?::[0-9]*)?").fullmatch
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?").fullmatch
_ORIGIN: Final = re.compile(
    r"null|[a-z][a-z0-9+.-]*://(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?"
).fullmatch
_DEFAULT_PORT: Final = re.compile(r"(http://.*):80|(https://.*):443").fullmatch

_EXPOSED: Final = (
    b"Access-Control-Expose-Headers: x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date\r\n"
)
_MAX_AGE: Final = b"Access-Control-Max-Age: 172800\r\n"
_ECHOED: Final = (
    (b"access-control-request-headers", b"Access-Control-Allow-Headers"),
    (b"access-control-request-method", b"Access-Control-Allow-Methods"),
    # Chromium asks for this too before a page of the internet may call the machine it is shown on.
    (b"access-control-request-private-network", b"Access-Control-Allow-Private-Network"),
)


class Callers:
    """The names and origins that a server knows. One serves all connections of it."""

    __slots__ = ("_allowed_names", "_allowed_origins", "_any_host", "_any_origin", "_settings", "known_hosts")

    def __init__(
        self,
        *,
        allow_hosts: Sequence[str] = (),
        cors_origins: Sequence[str] = (),
        listens_on: str | None = None,
        settings: str = "ServerSettings",
    ) -> None:
        """Raise ValueError for an invalid host name or origin. `settings` is where Python sets them, for hints."""
        names = {checked_host(text) for text in _listed(allow_hosts, "allow_hosts", "dynamodb")}
        origins = {
            checked_origin(text) for text in _listed(cors_origins, "cors_origins", "http://localhost:3000")
        }
        self._any_host = ANY in names
        self._any_origin = ANY in origins
        self._allowed_names = {_plain_name(name.encode()) for name in names}
        if listens_on and _HOST_NAME(listens_on):
            self._allowed_names.add(_plain_name(listens_on.encode()))
        self._allowed_origins = {origin.encode() for origin in origins}
        self._settings = settings
        # Values of the Host header that were found right: nearly every request has one of them.
        self.known_hosts: set[bytes | None] = set()

    def refuse(self, headers: Mapping[bytes, bytes]) -> Reply | None:
        """Return the answer to a request that comes by a strange name or from a strange page."""
        said = self.foreign_host(headers) or self.foreign_origin(headers)
        return None if said is None else _refusal(said)

    def foreign_host(self, headers: Mapping[bytes, bytes]) -> str | None:
        """Return why a request is refused that comes by a strange name; None if it does not."""
        host = headers.get(b"host")
        # Without a name it is no browser (HTTP/1.0; of HTTP/1.1 such a request is not read).
        if host is None or host in self.known_hosts or self._learn(host):
            return None
        return _foreign_host(host, self._settings)

    def foreign_origin(self, headers: Mapping[bytes, bytes]) -> str | None:
        """Return why a request is refused that comes from a strange page; None if it does not."""
        origin = headers.get(b"origin")
        if origin is None or self.allows(origin) or _is_origin_of(origin, headers.get(b"host")):
            return None
        return _foreign_origin(origin, self._settings)

    def allows(self, origin: bytes) -> bool:
        """Whether pages of an origin may call, and read the answers."""
        return self._any_origin or origin.lower() in self._allowed_origins

    def allow(self, reply: Reply, origin: bytes) -> Reply:
        """Return an answer that a page of an allowed origin may read."""
        allowed = b"*\r\n" if self._any_origin else b"%b\r\nVary: Origin\r\n" % origin
        lines = b"%bAccess-Control-Allow-Origin: %b%b" % (reply.headers, allowed, _EXPOSED)
        return Reply(reply.status, reply.body, reply.content_type, lines)

    def _learn(self, host: bytes) -> bool:
        if not self._any_host and not self._is_known(host):
            return False
        if len(self.known_hosts) >= _KNOWN_HOSTS_MAX:
            self.known_hosts.clear()
        self.known_hosts.add(host)
        return True

    def _is_known(self, host: bytes) -> bool:
        parts = _AUTHORITY(host)
        if parts is None:
            return False
        name = _plain_name(parts[1])
        return (
            name == b"localhost"
            or name.endswith(b".localhost")
            or name in self._allowed_names
            or _is_ip_address(name)
        )


def preflight(request: Request) -> Reply:
    """Answer the OPTIONS request that a browser sends ahead; its Origin is known to be allowed."""
    lines = [
        b"%b: %b\r\n" % (allowed, request.headers[asked])
        for asked, allowed in _ECHOED
        if request.headers.get(asked)
    ]
    return Reply(200, b"", None, b"".join([*lines, _MAX_AGE]))


# --- allowed names and origins ----------------------------------------------------------------------------


def checked_host(text: str) -> str:
    """Return the name of a host, or raise ValueError: it stands alone, without a port."""
    if text != ANY and not _HOST_NAME(text.removesuffix(".")):
        raise ValueError(f"{text!r} is no name of a host: give it without a scheme and a port, or * for any")
    return text


def checked_origin(text: str) -> str:
    """Return an origin as browsers write it, or raise ValueError: a scheme, a host and a port if need be."""
    lowered = text.lower()
    if lowered != ANY and not _ORIGIN(lowered):
        raise ValueError(
            f"{text!r} is no origin: it is a scheme, a host and a port, as in http://localhost:3000, or * for any"
        )
    usual = _DEFAULT_PORT(lowered)
    return (usual[1] or usual[2]) if usual else lowered


def _listed(given: Sequence[str], argument: str, example: str) -> Sequence[str]:
    if isinstance(given, str):
        raise ValueError(f"{argument} is a list, as in [{example!r}]")
    return given


# --- names ------------------------------------------------------------------------------------------------


def _plain_name(name: bytes) -> bytes:
    return name.lower().removesuffix(b".")


def _is_ip_address(name: bytes) -> bool:
    text = name.decode("latin-1")
    try:
        if text.startswith("["):
            ipaddress.IPv6Address(text[1:-1])
        else:
            ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _is_origin_of(origin: bytes, host: bytes | None) -> bool:
    """Whether a page is the server's own: in front of it may stand one that speaks https."""
    scheme, _, authority = origin.lower().partition(b"://")
    return host is not None and scheme in (b"http", b"https") and authority == host.lower()


# --- refusals ---------------------------------------------------------------------------------------------


def _foreign_host(host: bytes, settings: str) -> str:
    parts = _AUTHORITY(host)
    name = _shown(parts[1] if parts else host)
    # A user who copies the hint must not paste a stranger's text.
    pasted = name if _HOST_NAME(name) else "NAME"
    return (
        f"This server is not known by the name '{name}', and a web page could have given it that name "
        f"(DNS rebinding). If it is yours, start the server with --allow-host {pasted}; "
        f"in Python it is allow_hosts of {settings}"
    )


def _foreign_origin(origin: bytes, settings: str) -> str:
    text = _shown(origin)
    pasted = text if _ORIGIN(text) else "ORIGIN"
    return (
        f"Web pages of the origin '{text}' may not call this server. If the page is yours, start the server with "
        f"--cors-origin {pasted}; in Python it is cors_origins of {settings}"
    )


def _refusal(message: str) -> Reply:
    text = {"__type": "com.amazon.coral.service#AccessDeniedException", "message": message}
    return Reply(403, orjson.dumps(text))


def _shown(sent: bytes) -> str:
    text = sent.decode("latin-1")[:_SHOWN_LENGTH_MAX]
    return "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in text)
