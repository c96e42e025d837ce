"""Compile the layer below SQLite, `page_sums.c`, into the package, when that is installed.

In a checkout, `python hatch_build.py` does so too.

It needs a C compiler: that of the machine, or Zig's, which is fetched where there is none. It knows nothing of
Python, so one file is right for every release of it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand, to compile in place
    BuildHookInterface = object

FOLDER = Path(__file__).resolve().parent / "src" / "singletable" / "storage" / "file"
SOURCE = FOLDER / "page_sums.c"
LIBRARY = FOLDER / "libpage_sums.so"
FLAGS = ("-std=gnu11", "-O3", "-g0", "-fPIC", "-shared", "-fvisibility=default", "-Wall", "-Wextra")


def compilers() -> list[list[str]]:
    """Return the compilers of this machine, the one that was asked for first."""
    named = [os.environ["CC"].split()] if os.environ.get("CC") else []
    found = [[name] for name in ("cc", "gcc", "clang") if shutil.which(name)]
    return named + found


def compile_library() -> None:
    """Compile in place; what is there may be of another machine."""
    choices = compilers()
    if importlib.util.find_spec("ziglang") is not None:
        choices.append([sys.executable, "-m", "ziglang", "cc"])
    made = LIBRARY.with_suffix(f".{os.getpid()}.tmp")
    reasons = []
    for compiler in choices:
        try:
            done = subprocess.run(
                [*compiler, *FLAGS, str(SOURCE), "-o", str(made)], capture_output=True, text=True, check=False
            )
        except OSError as error:
            reasons.append(f"{compiler[0]}: {error}")
            continue
        if done.returncode == 0:
            os.replace(made, LIBRARY)
            return
        reasons.append(f"{' '.join(compiler)}: {done.stderr.strip()}")
    made.unlink(missing_ok=True)
    raise SystemExit("\n".join(["page_sums.c could not be compiled; a C compiler is needed", *reasons]))


class PageSumsHook(BuildHookInterface):  # type: ignore[misc]
    """Compiles while a wheel is made, an editable one too."""

    def dependencies(self) -> list[str]:
        """Return what compiling needs from the package index."""
        return [] if compilers() else ["ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        compile_library()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform()}"
        build_data["artifacts"].append(LIBRARY.relative_to(Path(self.root)).as_posix())


def _platform() -> str:
    from packaging.tags import platform_tags

    return next(iter(platform_tags()))


if __name__ == "__main__":
    compile_library()
