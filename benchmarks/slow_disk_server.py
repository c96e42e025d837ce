"""A server on a disk whose every sync takes some milliseconds longer: `python -m benchmarks.slow_disk_server`.

The disk is a VFS of SQLite's on top of the usual one. While it waits, other threads run, as they do during a
real fsync. Its reads and writes pass through Python, so it is slower than the plain one in all it does:
rates are to be compared with rates of the same disk.
"""

from __future__ import annotations

import argparse
import time

import apsw

from singletable import Database
from singletable.server import ServerSettings, serve_until_signal

SLOW_DISK = "slow-disk"


class _File(apsw.VFSFile):
    def __init__(self, sync_s: float, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._sync_s = sync_s

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        time.sleep(self._sync_s)


class _VFS(apsw.VFS):
    def __init__(self, sync_s: float) -> None:
        super().__init__(SLOW_DISK, "unix")
        self._sync_s = sync_s

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(self._sync_s, name, flags)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slow_disk_server", description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--sync-ms", type=float, required=True)
    arguments = parser.parse_args()
    vfs = _VFS(arguments.sync_ms / 1000)
    with Database.open(arguments.file, vfs=SLOW_DISK) as database:
        serve_until_signal(database, ServerSettings(port=arguments.port), on_ready=lambda _: None)
    vfs.unregister()


if __name__ == "__main__":
    main()
