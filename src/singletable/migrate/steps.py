"""The steps of a migration: data that a person can read, and that is kept in a file.

A step says what is to be done, never how far it is: that stands in the table (`records`). Places are named by the
attributes of the entity class that bind them: `by_status` of `Batch`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, assert_never, get_args

from singletable.errors import MigrationError

T = TypeVar("T")

Places: TypeAlias = Mapping[str, tuple[str, ...]]  # of entities, by name
Renames: TypeAlias = Mapping[str, Mapping[str, str]]  # of entities: attributes before, and as they are now


@dataclass(frozen=True, slots=True)
class CreateTable:
    """Make the table, with all that the design says of it."""

    kind: ClassVar[str] = "create_table"
    is_destructive: ClassVar[bool] = False

    def says(self) -> str:
        return "Make the table, if it is not there."


@dataclass(frozen=True, slots=True)
class AddIndex:
    """Make an index, and wait until it can be read."""

    kind: ClassVar[str] = "add_index"
    is_destructive: ClassVar[bool] = False
    index: str

    def says(self) -> str:
        return f"Add the index {self.index}, and wait until it is ACTIVE."


@dataclass(frozen=True, slots=True)
class ChangeSetting:
    """Bring settings of the table to what the design says of them."""

    kind: ClassVar[str] = "change_setting"
    is_destructive: ClassVar[bool] = False
    settings: tuple[str, ...]

    def says(self) -> str:
        return f"Set {_listed(self.settings)} as the design says."


@dataclass(frozen=True, slots=True)
class CheckItems:
    """Read everything before anything is written, and stop if an item cannot be read as its entity, or has none.

    `fields` names what has changed of each entity; `gone` the discriminators that no item may have any more.
    """

    kind: ClassVar[str] = "check_items"
    is_destructive: ClassVar[bool] = False
    fields: Places = field(default_factory=dict)
    gone: tuple[str, ...] = ()

    def says(self) -> str:
        shown = [f"every item of {_placed(self.fields)} can be read"] if self.fields else []
        shown += [f"no item is of {_listed(self.gone)}"] if self.gone else []
        return f"Check that {' and that '.join(shown)}: stop here if not."


@dataclass(frozen=True, slots=True)
class RenameEntities:
    """Write the name that an entity has now into the items that have the one that it had."""

    kind: ClassVar[str] = "rename_entities"
    is_destructive: ClassVar[bool] = False
    renamed: Mapping[str, str]

    def says(self) -> str:
        return f"Let the items of {_listed([f'{old} be of {new}' for old, new in self.renamed.items()])}."


@dataclass(frozen=True, slots=True)
class Backfill:
    """Write the key attributes of places, and what tells the entity, into the items that lack them.

    With `every_attribute` all others are brought to the form of the design too: times to their precision, expiry,
    defaults. `fields` names those of each entity that are, where not all are. What the design does not know stays.
    """

    kind: ClassVar[str] = "backfill"
    is_destructive: ClassVar[bool] = False
    entities: Places
    discriminator_was: str | None = None
    every_attribute: bool = False
    fields: Places = field(default_factory=dict)

    def says(self) -> str:
        shown = [f"the keys of {_placed(self.entities)}"] if self.entities else []
        shown += [f"{_listed(names)} of {entity} as the type says" for entity, names in self.fields.items()]
        more = ", and every attribute as the design does," if self.every_attribute else ""
        return f"Write {_listed(shown)}{more} into the items that are there."


@dataclass(frozen=True, slots=True)
class Rekey:
    """Move items to the keys that they have in the table now. `was` has the templates that they were stored by.

    Others get what tells their entity, unless `only_moves` leaves them to a backfill that follows.
    """

    kind: ClassVar[str] = "rekey"
    is_destructive: ClassVar[bool] = False
    entities: tuple[str, ...]
    was: Places = field(default_factory=dict)
    only_moves: bool = False

    def says(self) -> str:
        shown = [
            f"{name} ({' / '.join(self.was[name])})" if name in self.was else name for name in self.entities
        ]
        return f"Move the items of {_listed(shown)} that are under other keys to those of the design."


@dataclass(frozen=True, slots=True)
class RenameAttributes:
    """Copy attributes to the names that they have now. Those of before stay until they are removed."""

    kind: ClassVar[str] = "rename_attributes"
    is_destructive: ClassVar[bool] = False
    renamed: Renames

    def says(self) -> str:
        shown = [
            f"{_listed([f'{old} to {new}' for old, new in names.items()])} in the items of {entity}"
            for entity, names in self.renamed.items()
        ]
        return f"Copy {'; '.join(shown)}, where that is not there yet."


@dataclass(frozen=True, slots=True)
class Recompute:
    """Make what is kept of the items that are there: locks of unique values, numbers, copies, derived items.

    `entities` names the declarations of each; `derived` the entities that are made from each.
    """

    kind: ClassVar[str] = "recompute"
    is_destructive: ClassVar[bool] = False
    entities: Places = field(default_factory=dict)
    derived: Places = field(default_factory=dict)

    def says(self) -> str:
        shown = [_placed(self.entities)] if self.entities else []
        shown += [f"{_listed(made)} from {source}" for source, made in self.derived.items()]
        return f"Recompute {_listed(shown)} for the items that are there."


@dataclass(frozen=True, slots=True)
class RunFunction:
    """Call a function of the project for the items that are there, and write what it returns (`functions`).

    No comparison of two designs finds such a step: somebody has asked for it.
    """

    kind: ClassVar[str] = "run_function"
    is_destructive: ClassVar[bool] = False
    function: str  # MODULE:FUNCTION

    def says(self) -> str:
        return f"Call {self.function} for the items that are there, and write what it returns."


@dataclass(frozen=True, slots=True)
class Verify:
    """Read everything, and stop if anything is not as the design says, or a function would still write."""

    kind: ClassVar[str] = "verify"
    is_destructive: ClassVar[bool] = False
    entities: Places = field(default_factory=dict)
    was: Places = field(default_factory=dict)
    renamed: Renames = field(default_factory=dict)
    every_attribute: bool = False
    fields: Places = field(default_factory=dict)
    functions: tuple[str, ...] = ()

    def says(self) -> str:
        verified = [_placed(self.entities)] if self.entities else []
        verified += [f"that {_listed(self.functions)} finds nothing more to do"] if self.functions else []
        return f"Verify {_listed(verified)}: stop here if one item differs."


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a person has to do, or to know, at this point."""

    kind: ClassVar[str] = "note"
    is_destructive: ClassVar[bool] = False
    text: str

    def says(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class DropIndex:
    """Delete an index."""

    kind: ClassVar[str] = "drop_index"
    is_destructive: ClassVar[bool] = True
    index: str

    def says(self) -> str:
        return f"Drop the index {self.index}."


@dataclass(frozen=True, slots=True)
class RemoveAttributes:
    """Remove attributes from the items of entities, as far as the design does not know them any more."""

    kind: ClassVar[str] = "remove_attributes"
    is_destructive: ClassVar[bool] = True
    entities: Places  # here: the attributes of each
    renamed: Renames = field(default_factory=dict)  # of them, those that have another name now

    def says(self) -> str:
        shown = [f"{_listed(names)} from the items of {entity}" for entity, names in self.entities.items()]
        return f"Remove {'; '.join(shown)}."


@dataclass(frozen=True, slots=True)
class MoveLocks:
    """Move the locks of unique values to the sort keys that they have now, and say so in the table.

    It destroys what an older version of the code goes by: that one does not see the new locks.
    """

    kind: ClassVar[str] = "move_locks"
    is_destructive: ClassVar[bool] = True
    entities: Places  # here: the unique values of each

    def says(self) -> str:
        return (
            f"Move the locks of {_placed(self.entities)} to their new sort keys, where no older version of the "
            "code looks for them."
        )


MigrationStep: TypeAlias = (
    CreateTable
    | CheckItems
    | AddIndex
    | ChangeSetting
    | RenameEntities
    | RenameAttributes
    | Rekey
    | Backfill
    | Recompute
    | RunFunction
    | Verify
    | Note
    | DropIndex
    | RemoveAttributes
    | MoveLocks
)

_KINDS: Final[dict[str, type[Any]]] = {kind.kind: kind for kind in get_args(MigrationStep)}


def renames_of(steps: Sequence[MigrationStep]) -> Renames:
    """Return the attributes that steps rename, in their order, with the names that they have in the end."""
    found: dict[str, dict[str, str]] = {}
    for step in steps:
        if not isinstance(step, RenameAttributes):
            continue
        for entity, names in step.renamed.items():
            known = found.setdefault(entity, {})
            known.update({old: names.get(new, new) for old, new in known.items()})
            known.update(names)
    return found


def entity_names_of(steps: Sequence[MigrationStep]) -> dict[str, str]:
    """Return the entities that steps rename, in their order, with the names that they have in the end."""
    found: dict[str, str] = {}
    for step in steps:
        if isinstance(step, RenameEntities):
            found.update({old: step.renamed.get(new, new) for old, new in found.items()})
            found.update(step.renamed)
    return found


def with_names(step: MigrationStep, names: Mapping[str, str]) -> MigrationStep:
    """Return a step with the names that entities have now, by those that they had when it was written."""
    match step:
        case CheckItems():
            return replace(step, fields=_named(step.fields, names))
        case Backfill():
            return replace(step, entities=_named(step.entities, names), fields=_named(step.fields, names))
        case Rekey():
            entities = tuple(names.get(name, name) for name in step.entities)
            return replace(step, entities=entities, was=_named(step.was, names))
        case RenameAttributes():
            return replace(step, renamed=_named(step.renamed, names))
        case Recompute():
            derived = {
                source: tuple(names.get(name, name) for name in made) for source, made in step.derived.items()
            }
            return replace(step, entities=_named(step.entities, names), derived=_named(derived, names))
        case Verify():
            return replace(
                step,
                entities=_named(step.entities, names),
                was=_named(step.was, names),
                renamed=_named(step.renamed, names),
                fields=_named(step.fields, names),
            )
        case RemoveAttributes():
            return replace(step, entities=_named(step.entities, names), renamed=_named(step.renamed, names))
        case MoveLocks():
            return replace(step, entities=_named(step.entities, names))
        case CreateTable() | AddIndex() | ChangeSetting() | DropIndex() | RunFunction() | Note():
            return step
        case RenameEntities():
            return step  # what it names is what is stored
        case _:
            assert_never(step)


def _named(values: Mapping[str, T], names: Mapping[str, str]) -> dict[str, T]:
    # An entity that has got the name of one that is gone counts, not the one that is gone.
    kept = {name: value for name, value in values.items() if name not in names}
    return {**kept, **{names[name]: value for name, value in values.items() if name in names}}


def step_data(step: MigrationStep) -> dict[str, Any]:
    """Return a step as JSON has it: its kind, its sentence, its parameters."""
    data: dict[str, Any] = {"kind": step.kind, "says": step.says()}
    if step.is_destructive:
        data["destructive"] = True
    for each in fields(step):
        value = getattr(step, each.name)
        is_required = each.default is MISSING and each.default_factory is MISSING
        if (value or is_required) and each.name != "text":
            data[each.name] = _plain(value)
    return data


def step_of(data: Mapping[str, Any]) -> MigrationStep:
    """Read a step."""
    kind = _KINDS.get(str(data.get("kind")))
    if kind is None:
        raise MigrationError(
            f"{data.get('kind')!r} is no kind of step", hint=f"there are {', '.join(_KINDS)}"
        )
    if kind is Note:
        return Note(str(data.get("says", "")))
    names = {each.name for each in fields(kind)}
    unknown = set(data) - names - {"kind", "says", "destructive"}
    if unknown:
        raise MigrationError(f"a step {kind.kind} has no {', '.join(sorted(unknown))}")
    try:
        step: MigrationStep = kind(**{name: _frozen(data[name]) for name in names if name in data})
    except TypeError:
        wanted = ", ".join(sorted(names))
        raise MigrationError(f"a step {kind.kind} lacks something: it has {wanted}") from None
    return step


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _frozen(inner) for name, inner in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _listed(names: list[str] | tuple[str, ...]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _placed(entities: Places) -> str:
    return _listed([f"{name} ({', '.join(places)})" if places else name for name, places in entities.items()])
