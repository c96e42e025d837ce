"""Attributes of a blueprint as fields of Python: types, markers, defaults; and the models and enums in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from singletable.blueprint.entities import AttributeBlueprint, ModelBlueprint
from singletable.blueprint.python.keys import add_constraint, constraints_of, field_call
from singletable.blueprint.python.names import (
    OF_MODELS,
    TYPES,
    Names,
    call,
    camel,
    comment,
    docstring,
    identifier,
    indented,
    literal,
    opened,
    quoted,
    snake,
)
from singletable.blueprint.python.types import Typed, Types, is_text, value_text

_KEPT: Final = frozenset({"CountOf", "SumOf", "AverageOf", "CopyOf"})  # said by the entity too
_SAID_BY_TYPE: Final = frozenset({"Auto", "Lock", "TimeToLive", "Expires", "Stored"})
_CONSTRAINTS: Final = frozenset({"Ge", "Gt", "Le", "Lt", "MultipleOf", "MinLen", "MaxLen", "pattern"})
_FACTORIES: Final = ("list", "set", "dict", "frozenset")
_CASINGS: Final[dict[str, Callable[[str], str]]] = {
    "snake": lambda name: name,
    "camel": lambda name: _joined(name, name.split("_")[0]),
    "pascal": lambda name: "".join(map(_capital, name.split("_"))),
    "kebab": lambda name: name.replace("_", "-"),
}
CASINGS: Final = tuple(_CASINGS)


def stored_name(name: str, casing: str) -> str:
    """Return the name under which a design stores a field."""
    return _CASINGS[casing](name)


def _joined(name: str, first: str) -> str:
    return first + "".join(map(_capital, name.split("_")[1:]))


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


@dataclass
class FieldPlan:
    """A field of a model or an entity."""

    name: str
    stored: str
    typed: Typed
    is_optional: bool
    label: str  # its name in the blueprint
    role: str = ""  # created, updated, version, ttl
    markers: list[str] = field(default_factory=list)
    constraints: dict[str, Any] = field(default_factory=dict)
    default: str | None = None
    notes: list[str] = field(default_factory=list)
    is_plain: bool = True  # conditions on its order can be asked
    kept_at: int | None = None  # where among its markers the one stands that is kept of other items

    def keep(self, marker: str) -> None:
        """Add the marker of what is kept of other items."""
        self.markers.insert(len(self.markers) if self.kept_at is None else self.kept_at, marker)

    def lines(self, types: Types) -> list[str]:
        """Return its declaration, with what is open about it above."""
        use = types.imports.use
        roles = {"created": "CreatedAt", "updated": "UpdatedAt", "version": "Version", "ttl": "Ttl"}
        base = (
            use(roles[self.role]) if self.role else self.typed.text + (" | None" if self.is_optional else "")
        )
        tail = "" if self.default is None else f" = {self.default}"
        if not self.markers:
            return [*self.notes, f"{self.name}: {base}{tail}"]
        head = f"{self.name}: {use('Annotated')}"
        return [*self.notes, *call(head, [base, *self.markers], indent=1, ends="[]", tail=tail)]


class Scope:
    """Where fields are declared: the casing of the design, its types, and the names that are taken."""

    def __init__(self, types: Types, casing: str, classes: Iterable[str]) -> None:
        self.types = types
        self.casing = casing
        self.reserved = OF_MODELS | TYPES | frozenset(classes)

    def names(self) -> Names:
        """Return the names of one class."""
        return Names(self.reserved)

    def plan(
        self, attribute: AttributeBlueprint, names: Names, role: str = "", avoided: Iterable[str] = ()
    ) -> FieldPlan:
        """Return the field of an attribute. A name that cannot be one is stored under its own, as it was."""
        wanted = identifier(attribute.name, "field")
        name = names.take(f"{wanted}_" if wanted in self.reserved or wanted in set(avoided) else wanted)
        typed = self._typed(attribute)
        stored = attribute.stored or attribute.name
        plan = FieldPlan(name, stored, typed, attribute.is_optional, attribute.name, role)
        plan.notes += [line for line in comment(attribute.about) if attribute.about.strip()]
        if typed.unknown:
            words = ", ".join(typed.unknown)
            plan.notes += opened(f"{attribute.name} is {words}, which names no type here: anything is taken")
        if name != attribute.name:
            plan.notes += opened(f"{attribute.name} cannot be the name of a field, so it is {name}")
        is_said = any(marker.get("kind") == "Stored" for marker in attribute.markers)
        if stored != stored_name(name, self.casing) and not is_said:
            plan.markers.append(f"{self.types.imports.use('Stored')}({quoted(stored)})")
        self._mark(plan, attribute)
        self._set_default(plan, attribute)
        return plan

    def _typed(self, attribute: AttributeBlueprint) -> Typed:
        types = self.types
        found = types.of(attribute.type, attribute.alias)
        if found.unknown and attribute.dynamodb:
            found = types.of(attribute.dynamodb)
        values = tuple(dict.fromkeys(each for each in attribute.values if type(each) in (str, int)))
        is_whole = bool(values) and len(values) == len(attribute.values) and found.alias is None
        if (
            is_whole
            and found.base in ("str", "int")
            and {type(each).__name__ for each in values} == {found.base}
        ):
            return types.literal_of(values)
        return found

    def _mark(self, plan: FieldPlan, attribute: AttributeBlueprint) -> None:
        use = self.types.imports.use
        typed = plan.typed
        plan.constraints = constraints_of(attribute.markers, typed)
        said = [("ge", attribute.minimum), ("le", attribute.maximum)]
        said += [("max_length", attribute.max_length or attribute.max_items)]
        for name, value in said:
            if value is not None and name not in plan.constraints:
                exact = int(value) if float(value).is_integer() else value
                if not add_constraint(plan.constraints, name, exact, typed):
                    plan.notes += opened(
                        f"{attribute.name} is {typed.text}, which cannot have {name}={value}"
                    )
        is_said = not plan.constraints
        for marker in attribute.markers:
            kind = str(marker.get("kind"))
            if kind in _CONSTRAINTS:
                if not is_said:
                    plan.markers.append(field_call(plan.constraints, self.types))
                    is_said = True
                continue
            if kind in _KEPT:
                plan.kept_at = len(plan.markers)
            text = self._marker(kind, marker, typed)
            if kind == "Stored" and plan.stored:
                text = f"{use('Stored')}({quoted(plan.stored)})"
            if text is not None:
                plan.markers.append(text)
                plan.is_plain = plan.is_plain and kind != "Compressed"
            elif kind not in _KEPT and kind not in _SAID_BY_TYPE:
                plan.notes += opened(_left_out(attribute.name, kind, marker))
        if not is_said:
            plan.markers.append(field_call(plan.constraints, self.types))
        if plan.role == "ttl":
            plan.constraints, plan.is_plain = {}, False
        if "Field" in "".join(plan.markers) and plan.role:
            plan.markers = [each for each in plan.markers if not each.startswith(use("Field"))]

    def _marker(self, kind: str, marker: Mapping[str, Any], typed: Typed) -> str | None:
        use = self.types.imports.use
        match kind, marker:
            case "Digits", {"decimals": int(decimals)} if 0 <= decimals <= 38:
                if typed.base in ("int", "float", "Decimal"):
                    return f"{use('Digits')}({decimals}{', rounds=True' if marker.get('rounds') is True else ''})"
            case "MaxBytes", {"count": int(count)} if count >= 1:
                return f"{use('MaxBytes')}({count})"
            case "Compressed", _:
                return f"{use('Compressed')}()"
            case _:
                pass
        return None

    def _set_default(self, plan: FieldPlan, attribute: AttributeBlueprint) -> None:
        use = self.types.imports.use
        if plan.role in ("created", "updated"):
            plan.default = None if attribute.is_required else f"{use('auto')}()"
            return
        if plan.role == "version":
            value = (attribute.default or {}).get("value", 0)
            plan.default = None if attribute.is_required else str(value if type(value) is int else 0)
            return
        match attribute.default:
            case {"value": None} if plan.is_optional:
                plan.default = "None"
            case {"value": value}:
                plan.default = value_text(plan.typed, value, use)
            case {"factory": factory} if factory in _FACTORIES and factory == plan.typed.base:
                plan.default = f"{use('Field')}(default_factory={factory})"
            case None if attribute.is_required is None and plan.is_optional:
                plan.default = "None"
            case _:
                pass
        if plan.default is None and attribute.default is not None:
            shown = attribute.default.get("value", attribute.default.get("factory"))
            plan.notes += opened(
                f"the default of {attribute.name} is made by code, or is no value of it: {shown}"
            )
            plan.default = "None" if plan.is_optional else None


def _left_out(name: str, kind: str, marker: Mapping[str, Any]) -> str:
    match kind, marker:
        case "Computed", {"function": function, "fields": fields}:
            return f"{name} is worked out by {function} from {fields}: a blueprint has no functions"
        case _:
            values = ", ".join(f"{key}={value}" for key, value in marker.items() if key != "kind")
            return f"{name} has {kind}({values}), which a blueprint does not hold"


# --- models ---------------------------------------------------------------------------------------------


class Models:
    """The models and enums of a module, each once, however many entities hold it."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._found: dict[str, ModelBlueprint] = {}
        self.notes: list[str] = []

    def add(self, models: Iterable[ModelBlueprint]) -> None:
        """Declare models; one of the same name that holds something else is said to be left out."""
        for model in models:
            known = self._found.setdefault(model.name, model)
            if known == model and model.name not in self._types.models:
                name = self._types.names.take(camel(model.name, "Model"))
                plain = [each for each in model.values if type(each) in (str, int, float) and is_text(each)]
                values = tuple(dict.fromkeys(plain))
                kind = "Enum" if values else "model"
                self._types.models[model.name] = Typed(name, kind, Any, values)
            elif known != model:
                self.notes += opened(f"{model.name} is declared twice, differently; the first is taken")

    def lines(self, scope: Scope) -> Iterator[str]:
        """Return the class statements; a model stands behind those that it holds, where that is possible."""
        for name in self._ordered():
            model, typed = self._found[name], self._types.models[name]
            yield from ("", "")
            if typed.base == "Enum":
                yield f"class {typed.text}({self._types.imports.use('Enum')}):"
                yield from indented(_members(typed.values))
            else:
                yield f"class {typed.text}({self._types.imports.use('BaseModel')}):"
                yield from indented(model_fields(model.attributes, scope))

    def _ordered(self) -> list[str]:
        ordered: dict[str, None] = {}

        def put(name: str, path: tuple[str, ...]) -> None:
            if name in ordered or name in path or len(path) > 100:
                return
            for attribute in self._found[name].attributes:
                for other in self._found:
                    if other in attribute.type:
                        put(other, (*path, name))
            ordered[name] = None

        for name in self._found:
            put(name, ())
        return list(ordered)


def model_fields(attributes: Sequence[AttributeBlueprint], scope: Scope) -> list[str]:
    """Return the fields of a model. Of two that would be stored alike, the second is left out."""
    names, lines, stored = scope.names(), list[str](), set[str]()
    has_field = False
    for attribute in attributes:
        plan = scope.plan(attribute, names)
        if plan.stored in stored:
            lines += opened(f"{attribute.name} is stored as {plan.stored}, and so is another field")
            continue
        stored.add(plan.stored)
        has_field = True
        lines += plan.lines(scope.types)
    return lines if has_field else [*lines, "pass"]


def _members(values: Iterable[Any]) -> Iterator[str]:
    names = Names({"MRO", "NAME", "VALUE"})
    for value in values:
        name = snake(str(value), "value").upper()
        yield f"{names.take(name if name.isidentifier() else 'VALUE')} = {literal(value)}"


def class_docstring(about: str) -> list[str]:
    """Return the docstring of a class, if anything is said of it."""
    return [docstring(about), ""] if about.strip() else []
