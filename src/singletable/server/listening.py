"""Addresses to listen on: sockets bound, or one clear sentence about why not."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass

from singletable.errors import SingleTableError


class ListenError(SingleTableError):
    """The address cannot be listened on."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as a client on this machine writes it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


def open_sockets(host: str, port: int) -> list[socket.socket]:
    """Bind every address of a host on one port; port 0 picks a free one."""
    sockets: list[socket.socket] = []
    try:
        for family, address in _addresses(host, port):
            # The second address of "localhost" takes the port that the first one was given.
            chosen_port = sockets[0].getsockname()[1] if sockets else port
            try:
                sockets.append(_bind(family, (address, chosen_port)))
            except OSError as failure:
                # A machine without IPv6 still resolves localhost to ::1.
                if not (sockets and failure.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)):
                    raise
    except OSError as failure:
        for opened in sockets:
            opened.close()
        raise _explained(failure, host, port) from failure
    return sockets


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as failure:
        raise ListenError(
            f"the host {host!r} is not known here", hint="use --host 127.0.0.1 for this machine only"
        ) from failure
    known = dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found)
    return sorted(known, key=lambda pair: pair[0] != socket.AF_INET)


def _bind(family: socket.AddressFamily, address: tuple[str, int]) -> socket.socket:
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind(address)
        # Listening already here: two servers may both bind a port, only one may listen on it.
        opened.listen(1024)
        opened.setblocking(False)
    except OSError:
        opened.close()
        raise
    return opened


def _explained(failure: OSError, host: str, port: int) -> ListenError:
    if failure.errno == errno.EADDRINUSE:
        return ListenError(
            f"port {port} on {host} is in use",
            hint="stop the other program, or choose a port with --port; --port 0 takes a free one",
        )
    if failure.errno == errno.EACCES:
        return ListenError(
            f"port {port} needs more rights than this user has", hint="choose a port from 1024 to 65535"
        )
    if failure.errno == errno.EADDRNOTAVAIL:
        return ListenError(
            f"{host} is not an address of this machine", hint="use --host 127.0.0.1 for this machine only"
        )
    return ListenError(f"cannot listen on {host} port {port}: {failure.strerror or failure}")
