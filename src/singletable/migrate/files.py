"""Migrations as files: one JSON file each, in a folder, in the order of their numbers.

    scripts/migrations/0001_first_version.json
    scripts/migrations/0002_add_status_index.json
    scripts/migrations/blueprint.json

A file has the steps, a sentence each, and what has changed in the blueprint of the design. The blueprint that the
newest one leads to stands beside them, once; the next migration is the difference from there. Each file has the
digest of the blueprint that it leads to, so files that do not belong together are noticed. In files of format 1,
which are still read, each has a blueprint of its own.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from singletable.errors import MigrationError
from singletable.migrate.history import changes_between, digest, undone
from singletable.migrate.history import text as blueprint_text
from singletable.migrate.steps import MigrationStep, step_data, step_of
from singletable.visible import visible

FOLDER: Final = "scripts/migrations"
BLUEPRINT: Final = "blueprint.json"
FORMAT: Final = 2
_WITH_BLUEPRINT: Final = 1  # the format of files that have a blueprint each
_AS_WRITTEN: Final = "put the file back as `singletable migrate new` wrote it"
_BELONG_TOGETHER: Final = (
    f"take {BLUEPRINT} and the migrations from one commit; where a migration was deleted to be written again, "
    f"{BLUEPRINT} is that of the commit before it"
)
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
        """Return the migration with its whole blueprint, as a file of its own."""
        return {
            "migration": _WITH_BLUEPRINT,
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
        """Read all migrations, in their order, each with the blueprint that it leads to."""
        return self._with_blueprints(self._files())

    def to_run(self) -> list[Migration]:
        """Read all migrations, in their order, for a run: that takes their steps, and no blueprint."""
        return [file.migration for file in self._files()]

    def _files(self) -> list[_MigrationFile]:
        paths = sorted(self._paths(), key=lambda path: (_number(path), path.name))
        found = [_read(path) for path in paths]
        for one, other in pairwise(paths):
            if _number(one) == _number(other):
                raise MigrationError(
                    f"{one.name} and {other.name} have the same number",
                    hint=f"two branches have each added one: delete the later one, take {BLUEPRINT} of the branch "
                    "that came first, and write it again with `singletable migrate new`",
                )
        return found

    def _with_blueprints(self, found: Sequence[_MigrationFile]) -> list[Migration]:
        """Give each migration the blueprint that it leads to, from the newest back to the first."""
        migrations: list[Migration] = []
        known = self._blueprint() if any(file.leads_to for file in found) else None
        later: _MigrationFile | None = None  # the file whose changes were undone last
        for file in reversed(found):
            blueprint = file.migration.blueprint
            if file.leads_to is not None:
                if known is None or digest(known) != file.leads_to:
                    raise self._disagrees(file, later)
                blueprint = known
            elif blueprint is not None and known is not None and digest(known) != digest(blueprint):
                raise self._disagrees(file, later)
            migrations.append(replace(file.migration, blueprint=blueprint))
            if file.leads_to is not None:
                known, later = self._before(file, blueprint), file
            elif blueprint is not None:
                known = None  # older files have a blueprint each
        return migrations[::-1]

    def _before(self, file: _MigrationFile, blueprint: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if file.changes is None or blueprint is None:
            return None
        try:
            return undone(blueprint, file.changes)
        except (MigrationError, LookupError, TypeError, ValueError) as error:
            raise MigrationError(
                f"the changes in {self.path / file.migration.id}.json are not those to its blueprint: {error}",
                hint=_AS_WRITTEN,
            ) from error

    def _disagrees(self, file: _MigrationFile, later: _MigrationFile | None) -> MigrationError:
        if later is None:
            return MigrationError(
                f"{self.path / BLUEPRINT} is not the blueprint that {file.migration.id} leads to",
                hint=_BELONG_TOGETHER,
            )
        return MigrationError(
            f"the changes in {self.path / later.migration.id}.json do not begin where {file.migration.id} ends",
            hint=_AS_WRITTEN,
        )

    def _blueprint(self) -> Mapping[str, Any]:
        path = self.path / BLUEPRINT
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise MigrationError(
                f"{path} is missing: the migrations beside it say only what has changed",
                hint="put it back: it is written, and committed, with the newest migration",
            ) from error
        except (OSError, ValueError) as error:
            raise MigrationError(f"{path} is no blueprint: {error}", hint=_BELONG_TOGETHER) from error
        if not isinstance(found, dict):
            raise MigrationError(f"{path} is no blueprint", hint=_BELONG_TOGETHER)
        return found

    def _paths(self) -> list[Path]:
        try:
            names = [name for name in os.listdir(self.path) if name.endswith(".json")]
            return [self.path / name for name in names if name != BLUEPRINT]
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
        before = self.migrations()
        taken = [_number(path) for path in self._paths()]
        name = f"{max(taken, default=0) + 1:04}_{slug(title)}"
        data = Migration(name, title, tuple(steps), None, tuple(differences)).data()
        del data["blueprint"]
        data["migration"] = FORMAT
        if blueprint is not None:
            data["leads_to"] = digest(blueprint)
            known = next((each.blueprint for each in reversed(before) if each.blueprint is not None), None)
            if known is not None:
                data["changes"] = changes_between(known, blueprint)
                assert digest(undone(blueprint, data["changes"])) == digest(known)
        path = self.path / f"{name}.json"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._store(path, visible(json.dumps(data, indent=2, ensure_ascii=False)), blueprint)
        except OSError as error:
            raise MigrationError(
                f"{path} cannot be written: {error.strerror}",
                hint="name a folder; one that does not exist yet is made",
            ) from error
        return path

    def _store(self, path: Path, text: str, blueprint: Mapping[str, Any] | None) -> None:
        """Write a migration, never over another one, and put the new blueprint in the place of the old one."""
        if blueprint is None:
            _write_new(path, text)
            return
        scratch = self.path / f".{BLUEPRINT}-{uuid4()}"
        try:
            _write_new(scratch, visible(blueprint_text(blueprint)))
            _write_new(path, text)
            os.replace(scratch, self.path / BLUEPRINT)
        finally:
            scratch.unlink(missing_ok=True)


def _write_new(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8") as file:
        file.write(f"{text}\n")


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


@dataclass(frozen=True, slots=True)
class _MigrationFile:
    """A migration as it was read; the digest of its blueprint and the changes are None in files of format 1."""

    migration: Migration
    leads_to: str | None = None
    changes: Sequence[Mapping[str, Any]] | None = None


def _read(path: Path) -> _MigrationFile:
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
    if written not in (_WITH_BLUEPRINT, FORMAT):
        raise MigrationError(f"{path} is of format {written!r}, and this is a program for format {FORMAT}")
    if migration.id != path.stem:
        raise MigrationError(
            f"{path} says that its id is {migration.id}", hint="the id is the name of the file"
        )
    if written == _WITH_BLUEPRINT:
        return _MigrationFile(migration)
    return _MigrationFile(migration, data.get("leads_to"), data.get("changes"))


def chosen_migrations(migrations: Sequence[Migration], to: str | None) -> list[Migration]:
    """Return the migrations up to one, by its id or its number; all without one."""
    if to is None:
        return list(migrations)
    for number, migration in enumerate(migrations):
        if to in (migration.id, migration.id.partition("_")[0]):
            return list(migrations[: number + 1])
    raise MigrationError(
        f"there is no migration {to}", hint=f"there are {', '.join(m.id for m in migrations) or 'none'}"
    )
