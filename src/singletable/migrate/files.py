"""Migrations as files: one JSON file each, in a folder, in the order of their numbers.

    scripts/migrations/0001_first_version.json
    scripts/migrations/0002_add_status_index.json

A file has the steps, a sentence each, and the blueprint of the design that it leads to. The next one is the
difference from there.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from singletable.errors import MigrationError
from singletable.migrate.steps import MigrationStep, step_data, step_of
from singletable.visible import visible

FOLDER: Final = "scripts/migrations"
FORMAT: Final = 1
_AS_WRITTEN: Final = "put the file back as `singletable migrate new` wrote it"
_NAME: Final = re.compile(r"([0-9]{4,})_[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Migration:
    """Steps that lead from one version of a design to the next. The blueprint is that of the next, as data."""

    id: str
    title: str
    steps: tuple[MigrationStep, ...]
    blueprint: Mapping[str, Any] | None
    differences: tuple[str, ...] = ()  # what has changed, as sentences: for people

    def fingerprint(self) -> str:
        """Return what tells these steps from others, however they are worded."""
        steps = [
            {name: value for name, value in step_data(step).items() if name != "says"} for step in self.steps
        ]
        return blake2b(json.dumps(steps, sort_keys=True).encode(), digest_size=8).hexdigest()

    def data(self) -> dict[str, Any]:
        """Return the migration as its file has it."""
        return {
            "migration": FORMAT,
            "id": self.id,
            "title": self.title,
            **({"differences": list(self.differences)} if self.differences else {}),
            "steps": [step_data(step) for step in self.steps],
            "blueprint": self.blueprint,
        }


class Folder:
    """The migrations of a project."""

    def __init__(self, path: str | os.PathLike[str] = FOLDER) -> None:
        self.path = Path(path)

    def migrations(self) -> list[Migration]:
        """Read all migrations, in their order."""
        paths = sorted(self._paths(), key=lambda path: (_number(path), path.name))
        found = [_read(path) for path in paths]
        for one, other in pairwise(paths):
            if _number(one) == _number(other):
                raise MigrationError(
                    f"{one.name} and {other.name} have the same number",
                    hint="two branches have each added one: give the later one the next number, and its id too",
                )
        return found

    def _paths(self) -> list[Path]:
        try:
            return [self.path / name for name in os.listdir(self.path) if name.endswith(".json")]
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not self.path.is_symlink():
                return []  # there are none yet
            raise MigrationError(
                f"the migrations in {self.path} cannot be read: {error.strerror}",
                hint="name a folder; one that does not exist yet is made",
            ) from error

    def write(
        self,
        title: str,
        steps: Sequence[MigrationStep],
        blueprint: Mapping[str, Any] | None,
        differences: Sequence[str] = (),
    ) -> Path:
        """Write the next migration; return its file. Without a blueprint it leads to that of the one before."""
        taken = [_number(path) for path in self._paths()]
        name = f"{max(taken, default=0) + 1:04}_{slug(title)}"
        migration = Migration(name, title, tuple(steps), blueprint, tuple(differences))
        path = self.path / f"{name}.json"
        text = visible(json.dumps(migration.data(), indent=2, ensure_ascii=False))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # Never over one that is there.
            with path.open("x", encoding="utf-8") as file:
                file.write(f"{text}\n")
        except OSError as error:
            raise MigrationError(
                f"{path} cannot be written: {error.strerror}",
                hint="name a folder; one that does not exist yet is made",
            ) from error
        return path


def slug(title: str) -> str:
    """Return a title as a part of a file's name."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")[:60] or "change"


def _number(path: Path) -> int:
    found = _NAME.fullmatch(path.stem)
    if found is None:
        raise MigrationError(
            f"{path} is no migration by its name", hint="a migration is named 0002_add_status_index.json"
        )
    return int(found[1])


def _read(path: Path) -> Migration:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        steps = tuple(step_of(step) for step in data["steps"])
        differences = tuple(map(str, data.get("differences", ())))
        migration = Migration(data["id"], data["title"], steps, data.get("blueprint"), differences)
        written = data["migration"]
    except MigrationError as error:
        raise MigrationError(f"{path}: {error.message}", hint=error.hint) from None
    except KeyError as error:
        raise MigrationError(f"{path} is no migration: it has no {error}", hint=_AS_WRITTEN) from error
    except (OSError, ValueError, TypeError) as error:
        raise MigrationError(f"{path} is no migration: {error}", hint=_AS_WRITTEN) from error
    if written != FORMAT:
        raise MigrationError(f"{path} is of format {written!r}, and this is a program for format {FORMAT}")
    if migration.id != path.stem:
        raise MigrationError(
            f"{path} says that its id is {migration.id}", hint="the id is the name of the file"
        )
    return migration
