"""Everything at once, for as long as wanted: wrong bytes, floods, kills, histories; in any order.

usage: python -m resilience.torture.soak [SECONDS [SEED]]
       (or SOAK_S in the environment; a minute if neither is given)

Each turn prints a line with its seed. A turn that fails prints why, and the run goes on with a new server; then
the exit code is 1. The same seed makes the same turns.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from resilience.torture import floods, fuzzing
from resilience.torture.histories import record_across_kills, record_beside_servers
from resilience.torture.kills import KillLoop
from resilience.torture.target import Target
from singletable.limits import MIB

if TYPE_CHECKING:
    from collections.abc import Callable

ENDS: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
# A server that was fuzzed and flooded for an hour holds no more than one that was for a minute.
GROWTH_BYTES_MAX: Final = 512 * MIB


class Soak:
    """One long server that is fuzzed and flooded, one file whose servers are killed, and histories beside them."""

    def __init__(self, directory: Path, seed: int) -> None:
        self._directory = directory
        self._random = Random(seed)
        self._target: Target | None = None
        self._start_bytes = 0
        self._loops: dict[int, KillLoop] = {}
        self._turns = 0

    def turn(self) -> tuple[str, Callable[[], str]]:
        """Return the name of the next turn, and what it does."""
        self._turns += 1
        seed = self._random.getrandbits(32)
        kind = self._random.choice((*fuzzing.ATTACKS, "floods", "kills", "kills", "histories", "histories"))
        if kind in fuzzing.ATTACKS:
            return f"fuzz {kind} seed={seed}", lambda: self._fuzz(kind, seed)
        turns = {"floods": self._flood, "kills": self._kill, "histories": self._record}
        return f"{kind} seed={seed}", lambda: turns[kind](seed)

    def failed(self) -> None:
        """Begin anew after a failure: what the old server and files hold is no longer known."""
        self.close()
        self._loops.clear()

    def close(self) -> None:
        if self._target is not None:
            self._target.close()
            self._target = None

    @property
    def target(self) -> Target:
        if self._target is None:
            directory = self._fresh_directory()
            self._target = Target(directory, durability="relaxed")
            self._fill(self._target)
            floods.every_kind(self._target)
            self._start_bytes = self._target.resident_bytes
        return self._target

    def _fill(self, target: Target) -> None:
        target.create_things()
        floods.store_large(target, 3)

    def _fuzz(self, kind: str, seed: int) -> str:
        if not self.target.has_things():
            self._fill(self.target)
        fuzzing.ATTACKS[kind](self.target, examples=300, random_seed=seed)
        return self._measured()

    def _flood(self, seed: int) -> str:
        if not self.target.has_things():
            self._fill(self.target)
        floods.every_kind(self.target)
        self.target.assert_well()
        return self._measured()

    def _measured(self) -> str:
        held = self.target.resident_bytes
        assert held - self._start_bytes < GROWTH_BYTES_MAX, f"grown to {held // MIB} MiB"
        return f"{held // MIB} MiB, {self.target.open_sockets} sockets"

    def _kill(self, seed: int) -> str:
        random = Random(seed)
        servers = random.choice((1, 1, 2, 3))
        if servers not in self._loops:
            self._loops[servers] = KillLoop(
                self._fresh_directory(), seed, writers=20, ahead=4, servers=servers
            )
        number = random.choice(ENDS)
        writes = random.choice((1, random.randint(2, 100), random.randint(100, 1500)))
        self._loops[servers].end_after(writes, number)
        total = self._loops[servers].acknowledged.total()
        return f"{number.name} of {servers} after {writes} writes; {total} in the file"

    def _record(self, seed: int) -> str:
        random = Random(seed)
        servers = random.randint(1, 3)
        directory = self._fresh_directory()
        if random.random() < 0.5:
            steps = record_across_kills(directory, seed, rounds=4, servers=servers)
            return f"{steps} steps explained, {servers} servers killed 4 times"
        steps = record_beside_servers(directory, seed, servers=servers, count=150)
        return f"{steps} steps explained, {servers} servers, 3 client processes"

    def _fresh_directory(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._directory))


def run(seconds: float, seed: int) -> int:
    """Take turns for so long; return how many failed."""
    print(f"soak: {seconds:.0f} s, seed {seed}", flush=True)
    began_s = time.monotonic()
    done: Counter[str] = Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="singletable-soak-") as directory:
        soak = Soak(Path(directory), seed)
        try:
            while (elapsed_s := time.monotonic() - began_s) < seconds:
                name, act = soak.turn()
                try:
                    result = act()
                except Exception:
                    result = "FAILED\n" + traceback.format_exc()
                    failures.append(name)
                    soak.failed()
                done[name.partition(" seed=")[0]] += 1
                print(f"[{elapsed_s:6.0f} s] {name}: {result}", flush=True)
        finally:
            soak.close()
    turns = ", ".join(f"{count} {name}" for name, count in sorted(done.items()))
    print(f"soak: seed {seed}, {done.total()} turns ({turns}), {len(failures)} failed", flush=True)
    for name in failures:
        print(f"failed: {name}", flush=True)
    return len(failures)


def main(arguments: list[str]) -> int:
    seconds = float(arguments[0] if arguments else os.environ.get("SOAK_S", "60"))
    seed = int(arguments[1]) if len(arguments) > 1 else fuzzing.new_seed()
    return 1 if run(seconds, seed) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
