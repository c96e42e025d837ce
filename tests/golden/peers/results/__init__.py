"""What the runs found that were kept: for each engine its version, the figures, and the vectors that differ."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

_DIRECTORY = Path(__file__).parent


@dataclass(frozen=True)
class Result:
    """A kept run of all vectors against one engine."""

    engine: str
    version: str
    vectors: int
    agreeing: int
    differing: dict[str, list[str]]  # the names of vectors, by the reason

    def reasons(self) -> dict[str, str]:
        """Return the reason for each vector that differs."""
        return {name: reason for reason, names in self.differing.items() for name in names}


def kept(engine: str) -> Result:
    return Result(**json.loads(_path(engine).read_text(encoding="utf-8")))


def keep(result: Result) -> None:
    text = json.dumps(asdict(result), indent=2, ensure_ascii=False)
    _path(result.engine).write_text(text + "\n", encoding="utf-8")


def _path(engine: str) -> Path:
    return _DIRECTORY / f"{engine}.json"
