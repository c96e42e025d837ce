"""What an API exposes: entities with their verbs, patterns, hidden fields. What is not listed is not there.

    api = Api(
        Shop,
        entities=[EntityApi(Order, verbs=("create", "read", "patch"))],
        patterns=[PatternApi("orders"), PatternApi("menu", access=PUBLIC, cache=Cache(60, public=True))],
    )

It knows nothing of HTTP but the words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from singletable.api.access import (
    OWNER,
    PUBLIC,
    SIGNED_IN,
    Access,
    Guard,
    Owner,
    Public,
    Role,
    SignedIn,
    as_tuple,
)
from singletable.design import BatchGet, Collect, Design, Entity
from singletable.design.plans.collect import members_of
from singletable.design.plans.plan import Many, Single
from singletable.design.writes.write import Create, Delete, Put, Update
from singletable.errors import DeclarationError
from singletable.pattern_texts.parameters import Parameter, parameters_of

Verb = Literal["create", "read", "replace", "patch", "delete"]
VERBS: Final[tuple[Verb, ...]] = get_args(Verb)
OPERATOR: Final = Role("operator")
READ_ONLY: Final[tuple[Verb, ...]] = ("read",)
PatternKind = Literal["many", "one", "batch", "collection", "create", "put", "update", "delete"]
_WRITES: Final[dict[type[Any], PatternKind]] = {
    Create: "create",
    Put: "put",
    Update: "update",
    Delete: "delete",
}
_SEGMENT: Final = re.compile(r"[A-Za-z0-9._~-]+|\{[a-z_][a-z0-9_]*\}")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Cache:
    """How long an answer may be kept: by the browser that asked, or (`public`) by everything in between."""

    max_age_s: int
    public: bool = False

    @property
    def header(self) -> str:
        return f"{'public' if self.public else 'private'}, max-age={self.max_age_s}"


@dataclass(frozen=True, slots=True)
class EntityApi:
    """An entity that is exposed, and how.

    `write_access` is for all verbs but read; by default it is `access`. `hidden` fields are never shown or taken,
    `read_only` ones are shown. With `requires_match`, a write without If-Match is refused (428).
    """

    entity: type[Entity]
    verbs: tuple[Verb, ...] = VERBS
    access: Access | tuple[Access, ...] = OWNER
    write_access: Access | tuple[Access, ...] | None = None
    hidden: Collection[str] = ()
    read_only: Collection[str] = ()
    path: str | None = None
    requires_match: bool = False
    cache: Cache | None = None

    def access_for(self, verb: Verb) -> tuple[Access, ...]:
        """Return the kinds of access that open a verb."""
        access = self.access if verb == "read" or self.write_access is None else self.write_access
        return as_tuple(access)

    @property
    def segment(self) -> str:
        """Return the first segment of its paths: what was given, or its name in the plural."""
        return self.path or plural(kebab(self.entity.__name__))


@dataclass(frozen=True, slots=True)
class PatternApi:
    """A pattern that is exposed, by the name of its method, and how.

    Its path is /patterns/NAME, or `path`, in which {user_id} stands for a parameter.
    """

    name: str
    access: Access | tuple[Access, ...] = OWNER
    path: str | None = None
    cache: Cache | None = None

    @property
    def segments(self) -> tuple[str, ...]:
        """Return its path in segments."""
        return tuple((self.path or f"patterns/{self.name.replace('_', '-')}").strip("/").split("/"))


@dataclass(frozen=True, slots=True)
class Answered:
    """What a pattern answers with: its kind, and its entities; of a collection by the names of its fields."""

    kind: PatternKind
    entity: type[Entity] | None = None
    members: dict[str, tuple[type[Entity], bool, bool]] = field(default_factory=dict)

    @property
    def entities(self) -> list[type[Entity]]:
        """Return all entities that an answer may hold."""
        if self.entity is not None:
            return [self.entity]
        return [entity for entity, _, _ in self.members.values()]

    @property
    def writes(self) -> bool:
        return self.kind in ("create", "put", "update", "delete")


class Api:
    """What an API exposes of a design. Nothing else is reachable by it."""

    def __init__(
        self,
        design: type[Design],
        *,
        entities: Sequence[EntityApi] = (),
        patterns: Sequence[PatternApi] = (),
        changes: bool = False,
        metrics: Access | tuple[Access, ...] = OPERATOR,
        title: str | None = None,
        version: str = "1",
    ) -> None:
        self.design = design
        self.entities = {each.entity.__name__: each for each in entities}
        self.patterns = {each.name: each for each in patterns}
        self.changes = changes
        self.metrics = as_tuple(metrics)
        self.title = title or design.__name__
        self.version = version
        self.is_everything = False
        self.parameters: dict[str, list[Parameter]] = {}
        self.answers: dict[str, Answered] = {}
        if len(self.entities) != len(entities) or len(self.patterns) != len(patterns):
            raise DeclarationError(f"the API of {design.__name__} names something twice")
        for each in entities:
            self._check_entity(each)
        for one in patterns:
            self._check_pattern(one)
        self._check_paths()

    @classmethod
    def all(cls, design: type[Design]) -> Api:
        """Expose everything that a design has: for a developer at the same machine, and for nobody else."""
        entities = []
        for schema in design.catalog.schemas.values():
            readable: tuple[Verb, ...] = VERBS if schema.derived is None else READ_ONLY
            if schema.properties & set(schema.key.keys.reads()):
                readable = ("create",)
            entities.append(EntityApi(schema.entity, readable, access=SIGNED_IN))
        patterns = [PatternApi(name, SIGNED_IN) for name in design.patterns()]
        made = cls(design, entities=entities, patterns=patterns, changes=True)
        made.is_everything = True
        return made

    # --- checks --------------------------------------------------------------------------------------------

    def _check_entity(self, exposed: EntityApi) -> None:
        name = exposed.entity.__name__
        schema = self.design.catalog.schemas.get(exposed.entity)
        if schema is None:
            raise DeclarationError(f"{name} is no entity of {self.design.__name__}")
        unknown = [verb for verb in exposed.verbs if verb not in VERBS]
        if unknown or not exposed.verbs:
            raise DeclarationError(
                f"{name} is exposed with the verbs {', '.join(unknown) or 'none'}",
                hint=f"some of {', '.join(VERBS)}",
            )
        for field_name in (*exposed.hidden, *exposed.read_only):
            if field_name not in schema.fields:
                raise DeclarationError(
                    f"{name} has no field {field_name!r} to be hidden or read-only",
                    hint=f"it has {', '.join(sorted(schema.fields))}",
                )
        if schema.derived is not None and set(exposed.verbs) != {"read"}:
            raise DeclarationError(
                f"{name} is derived from another entity, and the layer alone writes it",
                hint='verbs=("read",)',
            )
        keyed = set(schema.key.keys.reads())
        if keyed & schema.properties and set(exposed.verbs) != {"create"}:
            raise DeclarationError(
                f"the key of {name} is built from a property, so no path can name an item",
                hint='verbs=("create",), and a pattern that reads',
            )
        if keyed & set(exposed.hidden):
            raise DeclarationError(f"{name}: a part of the key cannot be hidden, its path holds it")
        for verb in exposed.verbs:
            cache = exposed.cache if verb == "read" else None
            self._check_access(name, exposed.access_for(verb), [exposed.entity], cache)

    def _check_access(
        self,
        what: str,
        access: tuple[Access, ...],
        entities: Iterable[type[Entity]],
        cache: Cache | None,
    ) -> None:
        if not access or not all(
            isinstance(each, Public | SignedIn | Owner | Role | Guard) for each in access
        ):
            raise DeclarationError(
                f"{what}: the access {access!r} is none", hint='PUBLIC, SIGNED_IN, OWNER, Role("x"), Guard(f)'
            )
        if cache is not None and cache.public and PUBLIC not in access:
            raise DeclarationError(
                f"{what} may be kept by everything in between, and not everybody may see it",
                hint="Cache(60) for the browser alone, or access=PUBLIC",
            )
        if OWNER in access:
            for entity in entities:
                if entity.entity_options.owner is None:
                    raise DeclarationError(
                        f"{what}: {entity.__name__} has no owner=, so nobody owns its items",
                        hint='access=PUBLIC, SIGNED_IN, Role("x") or Guard(f) says who may reach them',
                    )

    def _check_pattern(self, exposed: PatternApi) -> None:
        name, design = exposed.name, self.design
        if name not in design.patterns():
            near = get_close_matches(name, list(design.patterns()), n=1)
            raise DeclarationError(
                f"{design.__name__} has no pattern {name!r}",
                hint=f"did you mean {near[0]}?" if near else f"it has {', '.join(design.patterns())}",
            )
        method = getattr(design, name)
        self.parameters[name] = parameters_of(method, name, frozenset())
        answered = self.answers[name] = _answered(design, name, method)
        self._check_access(name, as_tuple(exposed.access), answered.entities, exposed.cache)
        if answered.writes and exposed.cache is not None:
            raise DeclarationError(f"{name} writes, and its answer cannot be kept", hint="leave cache= out")
        known = {each.name for each in self.parameters[name]}
        for segment in exposed.segments:
            if not _SEGMENT.fullmatch(segment) or (segment[0] == "{" and segment[1:-1] not in known):
                raise DeclarationError(
                    f"{name}: {segment!r} cannot be a part of a path",
                    hint="letters, digits and hyphens, or a parameter in braces, as users/{user_id}/orders",
                )

    def _check_paths(self) -> None:
        seen: dict[tuple[str, ...], str] = {}
        for exposed in self.patterns.values():
            plain = tuple("{}" if each[0] == "{" else each for each in exposed.segments)
            other = seen.setdefault(plain, exposed.name)
            if other != exposed.name:
                raise DeclarationError(f"{other} and {exposed.name} have the same path", hint="path=")
        for name, entity in self.entities.items():
            if not _SEGMENT.fullmatch(entity.segment) or entity.segment[0] == "{":
                raise DeclarationError(f"{name}: {entity.segment!r} cannot be a part of a path")
            other = seen.setdefault((entity.segment,), name)
            if other != name:
                raise DeclarationError(
                    f"{other} and {name} have the same path /{entity.segment}", hint="path= of one of them"
                )


def _answered(design: type[Design], name: str, method: Any) -> Answered:
    """Return what a pattern answers with, by the annotation of its result."""
    try:
        found = get_type_hints(method).get("return")
    except NameError as error:
        raise DeclarationError(f"the pattern {name}: {error}, so its result cannot be read") from error
    kind, arguments = get_origin(found), get_args(found)
    if not (isinstance(kind, type) and len(arguments) == 1 and isinstance(arguments[0], type)):
        raise DeclarationError(
            f"the pattern {name} of {design.__name__} does not say what it returns",
            hint="-> Query[Order], for example",
        )
    if issubclass(kind, Collect):
        members = {
            each.name: (each.entity, each.is_list, each.is_required) for each in members_of(arguments[0])
        }
        return Answered("collection", None, members)
    for base, read in ((BatchGet, "batch"), (Many, "many"), (Single, "one")):
        if issubclass(kind, base):
            return Answered(read, arguments[0])  # type: ignore[arg-type]
    if kind not in _WRITES:
        raise DeclarationError(f"the pattern {name} returns {kind.__name__}, which is no plan")
    return Answered(_WRITES[kind], arguments[0])


def kebab(name: str) -> str:
    """Return the name of a class as a path has it: weekly-menu for WeeklyMenu."""
    return _HUMPS.sub("-", name).lower()


def snake(name: str) -> str:
    """Return the name of a class as a function's: weekly_menu for WeeklyMenu."""
    return kebab(name).replace("-", "_")


def plural(name: str) -> str:
    """Return a name in the plural; one that ends in a single s is taken for one."""
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    if name.endswith(("as", "is", "ss", "us", "x", "ch", "sh", "z")):
        return f"{name}es"
    return name if name.endswith("s") else f"{name}s"
