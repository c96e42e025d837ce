"""A command that stands for Python: it has a program run by `warm_server`, and ends as that ends.

It gives its arguments, directory, environment and the three streams away, passes signals on, and waits. It starts
in a hundredth of a second because it imports nothing but what is built into the interpreter. What the server does
not imitate, such as options of the interpreter or a stream that is closed, starts the interpreter itself.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys

STREAMS = (0, 1, 2)
# Those that end or steer a command; the others act on this process as on any.
PASSED_ON = (
    _signal.SIGHUP,
    _signal.SIGINT,
    _signal.SIGQUIT,
    _signal.SIGTERM,
    _signal.SIGUSR1,
    _signal.SIGUSR2,
)


def main(address: str, *words: str) -> None:
    """Run `python WORDS` as if this process were it."""
    if not words or (words[0].startswith("-") and words[0] not in ("-c", "-m")) or not are_open(STREAMS):
        os.execv(sys.executable, [sys.executable, *words])
    request = marshal.dumps((words, os.getcwd(), mask(), dict(os.environ)))
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(address)
    rights = b"".join(stream.to_bytes(4, sys.byteorder) for stream in STREAMS)
    server.sendmsg([len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    for number in PASSED_ON:
        _signal.signal(number, lambda number, _: server.send(bytes([number])))
    server.sendall(request)
    end_as(server.recv(4))


def are_open(streams: tuple[int, ...]) -> bool:
    try:
        return all(os.fstat(stream) for stream in streams)
    except OSError:
        return False


def mask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


def end_as(status: bytes) -> None:
    """End with the exit code, or by the signal, that the program ended with."""
    if not status:
        os.write(2, b"the server of warm commands has ended\n")
        os._exit(70)
    code = os.waitstatus_to_exitcode(int.from_bytes(status, "big"))
    if code < 0:
        if -code != _signal.SIGKILL:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
