"""A process that has imported what commands import, and forks for each: a command then starts at once.

Each connection of `warm_client` is one program. The fork gets the directory, the environment and the streams of
the client and runs what Python would run for the same words; the client gets its status. A byte from the client is
a signal for the program. A client that is gone was killed, and its program is killed too. The server ends, with
all that it runs, when its stdin does.

What the interpreter reads from the environment when it starts, such as PYTHONPATH, is that of the server.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import marshal
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Final, NoReturn

# What the commands and the programs of documents import, of which nothing runs before it is called.
MODULES: Final = ("boto3", "pytest", "singletable.client.embedded", "singletable.server")
PACKAGES: Final = ("singletable.cli", "singletable_systems")
STREAMS: Final = 3


def main(address: str) -> None:
    """Serve until stdin ends."""
    import_all()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    print("ready", flush=True)
    woken = wake_at_ends()
    programs: dict[socket.socket, int] = {}
    while True:
        readable, _, _ = select.select([sys.stdin, listener, woken, *programs], [], [])
        if sys.stdin in readable:
            break
        if woken in readable:
            woken.recv(512)
        for client, process in list(programs.items()):
            if is_over(client, process, is_readable=client in readable):
                client.close()
                del programs[client]
        if listener in readable:
            start(listener.accept()[0], programs, (listener, woken))
    for process in programs.values():
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def import_all() -> None:
    for name in MODULES:
        importlib.import_module(name)
    for name in PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def wake_at_ends() -> socket.socket:
    """Return what becomes readable whenever a program has ended."""
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.detach(), warn_on_full_buffer=False)
    return woken


def is_over(client: socket.socket, process: int, *, is_readable: bool) -> bool:
    """Tell the client that its program has ended, or the program what its client says."""
    ended, status = os.waitpid(process, os.WNOHANG)
    if not ended and is_readable:
        numbers = client.recv(16)
        for number in numbers or [signal.SIGKILL]:
            os.kill(process, number)
    if ended:
        with suppress(OSError):  # it was killed
            client.sendall(status.to_bytes(4, "big"))
    return bool(ended)


def start(
    client: socket.socket, programs: dict[socket.socket, int], others: tuple[socket.socket, ...]
) -> None:
    """Fork for the program that a client asks for."""
    size, streams, _, _ = socket.recv_fds(client, 4, STREAMS)
    request = client.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
    if not size or len(request) < int.from_bytes(size, "big"):
        client.close()  # killed before it had asked
    elif (process := os.fork()) == 0:
        for each in (client, *programs, *others):
            each.close()
        end_after(streams, *marshal.loads(request))
    else:
        programs[client] = process
    for stream in streams:
        os.close(stream)


# --- in the fork ------------------------------------------------------------------------------------------------


def end_after(
    streams: list[int], words: tuple[str, ...], folder: str, mask: int, environment: dict[str, str]
) -> NoReturn:
    """Run a program in its surroundings, and end this process as Python ends."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.chdir(folder)
        os.umask(mask)
        forget_systems_of_other_settings(environment)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        take_over(streams)
        run(*words)
        code = 0
    except SystemExit as left:
        code = code_of(left)
    except BaseException as error:
        trace = error.__traceback__
        # It begins with this function and with `run`.
        traceback.print_exception(error.with_traceback(trace and trace.tb_next and trace.tb_next.tb_next))
        code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        end(code)


def end(code: int) -> NoReturn:
    """Leave with an exit code, or by a signal."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = 120  # as Python does
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def forget_systems_of_other_settings(environment: dict[str, str]) -> None:
    """Have the systems imported again if they have settings, which they read when they are imported."""
    systems = importlib.import_module("singletable_systems")
    prefixes = tuple(f"{each.name.upper()}_" for each in pkgutil.iter_modules(systems.__path__))
    if any(name.startswith(prefixes) for name in environment.keys() | os.environ.keys()):
        for name in [name for name in sys.modules if name.partition(".")[0] == systems.__name__]:
            del sys.modules[name]


def take_over(streams: list[int]) -> None:
    """Make the streams of the client those of this process."""
    for number, taken in enumerate(streams):
        os.dup2(taken, number)
        os.close(taken)
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    errors = errors or ("strict" if encoding else str(sys.stdin.errors))
    encoding = encoding or sys.stdin.encoding
    set_stream("stdin", os.fdopen(0, "r", -1, encoding, errors, closefd=False))
    set_stream("stdout", os.fdopen(1, "w", -1, encoding, errors, closefd=False))
    set_stream("stderr", os.fdopen(2, "w", 1, encoding, "backslashreplace", closefd=False))


def set_stream(name: str, stream: IO[str]) -> None:
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


def run(*words: str) -> None:
    """Run `python WORDS`."""
    importlib.invalidate_caches()
    sys.orig_argv = [sys.executable, *words]
    module = sys.modules["__main__"] = ModuleType("__main__")
    match words:
        case ("-c", code, *arguments):
            sys.argv, sys.path[0] = ["-c", *arguments], ""
            exec(compile(code, "<string>", "exec", dont_inherit=True), module.__dict__)
        case ("-m", name, *arguments):
            sys.argv, sys.path[0] = ["-m", *arguments], os.getcwd()
            runpy._run_module_as_main(name)  # type: ignore[attr-defined]
        case (script, *_):
            sys.argv, sys.path[0] = list(words), os.path.dirname(os.path.realpath(script))
            module.__file__ = os.path.abspath(script)
            source = Path(script).read_bytes()
            exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)


def code_of(left: SystemExit) -> int:
    if left.code is None or isinstance(left.code, int):
        return (left.code or 0) & 0xFF
    print(left.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    main(sys.argv[1])
