"""Parameters of an access pattern, and the keys and conditions that a method makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from singletable.blueprint.patterns import ParameterBlueprint, SortBlueprint
from singletable.blueprint.python.entities import EntityPlan, PlacePlan
from singletable.blueprint.python.keys import KeyClass, KeyClasses, Part, UnfitError, braced, tokens_of
from singletable.blueprint.python.names import Names, identifier, opened, quoted
from singletable.blueprint.python.types import Typed, Types, value_text

_NEWEST: Final = ("newest", "now", "until", "to", "end", "before", "till", "last", "upto", "today")
_OLDEST: Final = ("oldest", "since", "start", "after", "from_", "begin", "first", "from")
_SPANS: Final = {"day": "days", "hour": "hours", "week": "weeks", "minute": "minutes"}
_BUCKETS: Final = {"year": "2025", "month": "2025-01", "week": "2025-W04", "day": "2025-01-20", "never": ""}
_BOUNDS: Final = {">": "gt", ">=": "ge", "<": "lt", "<=": "le"}
_MARK: Final = "\x00"  # stands around the number of a placeholder; no text of a key has it

# What a template gives for a part: the name of a placeholder, or a constant text.
Given = tuple[str, str]


@dataclass
class Parameter:
    """A parameter of a method."""

    name: str
    source: ParameterBlueprint
    typed: Typed
    default: str | None
    is_many: bool = False  # *ids: any number of arguments
    is_used: bool = False

    @property
    def is_optional(self) -> bool:
        """Whether it may be None. One that a key needs may not."""
        return self.source.is_optional and self.default is None and not self.is_many and not self.is_used

    def text(self) -> str:
        """Return it as a signature has it."""
        if self.is_many:
            assert self.typed.member is not None
            return f"*{self.name}: {self.typed.member.text}"
        if self.is_optional:
            return f"{self.name}: {self.typed.text} | None = None"
        return f"{self.name}: {self.typed.text}" + ("" if self.default is None else f" = {self.default}")


@dataclass
class Calls:
    """The parameters of one pattern, and what has become of them."""

    parameters: list[Parameter]
    types: Types
    keys: KeyClasses
    loops: dict[str, str] = field(default_factory=dict)  # variables, and what they run over
    known: dict[tuple[str, ...], str] = field(default_factory=dict)  # parts, and their expressions
    samples: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    can_loop: bool = False

    # --- values

    def value(self, key: KeyClass, part: Part, label: str, role: str = "") -> str:
        """Return the expression that gives a part its value: a parameter, or what a loop runs over."""
        name = (part.name, label, role)
        if name not in self.known:
            self.known[name] = self._value(key, part, label, role)
        return self.known[name]

    def end_loops(self) -> None:
        """Forget the variables of loops: outside of a loop, its variable has no value."""
        variables = {name for names in self.loops for name in names.split(", ")}
        self.known = {
            name: text for name, text in self.known.items() if variables.isdisjoint(re.findall(r"\w+", text))
        }
        self.loops.clear()

    def _value(self, key: KeyClass, part: Part, label: str, role: str) -> str:
        if part.computed == "shard":
            return self._by_name(part, label) or self._loop(
                part.name, f"{self._use('shards')}({self.keys.name(key)})"
            )
        if part.computed == "initial":
            return self._initial(part, label)
        if part.computed == "bucket":
            return self._by_name(part, label) or self._bucket(key, part)
        if role in ("lower", "upper") and part.typed.base == "datetime" and not self._named(part, label):
            return self.oldest() if role == "lower" else self.newest()
        found = self._by_name(part, label) or self._by_type(part) or self._by_member(part, label)
        if found is None:
            raise UnfitError(f"nothing gives {part.name}, which is {part.typed.text}")
        return found

    def _initial(self, part: Part, label: str) -> str:
        """Return the text whose first letters are asked for. The sort key may begin with more of it."""
        found = self._by_name(part, label)
        texts = [
            each for each in self.parameters if _converted(each.name, each.typed, part.typed) is not None
        ]
        named = [each for each in texts if part.field in (each.name, each.source.name)]
        if found is None and not texts:
            raise UnfitError(f"nothing gives {part.name}")
        return found or next(iter((*named, *texts))).name

    def _use(self, name: str) -> str:
        return self.types.imports.use(name)

    def _named(self, part: Part, label: str) -> list[Parameter]:
        wanted = {part.name, part.label, label}
        return [each for each in self.parameters if wanted & {each.name, each.source.name}]

    def _by_name(self, part: Part, label: str) -> str | None:
        for each in self._named(part, label):
            text = _converted(each.name, each.typed, part.typed)
            if text is not None:
                self._take(each, part)
                return text
        return None

    def _by_type(self, part: Part) -> str | None:
        free = [each for each in self.parameters if not each.is_used]
        same = [each for each in free if each.typed.alias and each.typed.alias == part.typed.alias]
        for each in (*same, *free):
            text = _converted(each.name, each.typed, part.typed)
            if text is not None:
                self._take(each, part)
                return text
        return None

    def _by_member(self, part: Part, label: str) -> str | None:
        """Return the variable of a loop over a list of such values, where the plan may have one."""
        if not self.can_loop:
            return None
        for each in self.parameters:
            member = each.typed.member
            if each.is_used or member is None:
                continue
            text = _converted("each", member, part.typed)
            if text is not None:
                self._take(each, part)
                variable = self._loop(identifier(part.name, "each"), each.name)
                return _converted(variable, member, part.typed)
        return None

    def _take(self, parameter: Parameter, part: Part) -> None:
        parameter.is_used = True
        if part.computed == "shard":
            self.samples[parameter.name] = "0"
        elif part.computed == "bucket" and parameter.name not in self.samples:
            every = next((each for each in _BUCKETS if f'"{each}")' in part.annotation), "never")
            self.samples[parameter.name] = quoted(_BUCKETS[every])
        elif part.computed == "initial" and part.nothing is None:
            letters = re.search(r"letters=(\d+)", part.annotation)
            self.samples[parameter.name] = quoted("a" * int(letters[1] if letters else 1))

    def _loop(self, wanted: str, over: str) -> str:
        for variable, known in self.loops.items():
            if known == over:
                return variable
        taken = {each.name for each in self.parameters} | self.loops.keys() | {"self"}
        variable = Names(taken).take(wanted)
        self.loops[variable] = over
        return variable

    def _bucket(self, key: KeyClass, part: Part) -> str:
        name = self.keys.name(key)
        over = f"{self._use('buckets')}({name}, newest={self.newest()}, oldest={self.oldest()})"
        return self._loop(part.name, over)

    # --- spans of time

    def newest(self) -> str:
        """Return the later end of a span."""
        return self._time(("newest",), _NEWEST, _OLDEST)

    def oldest(self) -> str:
        """Return the earlier end of a span; so long before the later one, if only a length is given."""
        if ("oldest",) in self.known:
            return self.known["oldest",]
        times = [each for each in self.parameters if each.typed.base == "datetime"]
        spans = [
            each for each in self.parameters if each.typed.base == "int" and _unit(each.name) is not None
        ]
        if len(times) == 1 and spans:
            newest = self.newest()
            spans[0].is_used = True
            self.notes += opened(f"it is taken that the span begins {spans[0].name} before {newest}")
            text = f"{newest} - {self._use('timedelta')}({_unit(spans[0].name)}={spans[0].name})"
            self.known["oldest",] = text
            return text
        return self._time(("oldest",), _OLDEST, _NEWEST)

    def _time(self, name: tuple[str, ...], wanted: Sequence[str], others: Sequence[str]) -> str:
        if name not in self.known:
            times = [each for each in self.parameters if each.typed.base == "datetime"]
            named = [each for each in times if each.name in wanted]
            free = [each for each in times if not each.is_used and each.name not in others]
            found = next(iter((*named, *free)), None)
            if found is None:
                raise UnfitError(f"nothing says the {name[0]} time")
            found.is_used = True
            self.known[name] = found.name
        return self.known[name]

    # --- keys

    def key(self, key: KeyClass, given: Mapping[str, Given], role: str = "") -> str:
        """Return a key, of what a template gives for each of its parts."""
        return f"{self.keys.name(key)}({self._arguments(key, given, role)})"

    def _arguments(self, key: KeyClass, given: Mapping[str, Given], role: str) -> str:
        return ", ".join(
            f"{part.name}={self._part(key, part, given[part.name], role)}"
            for part in key.parts
            if part.name in given
        )

    def _part(self, key: KeyClass, part: Part, given: Given, role: str) -> str:
        kind, text = given
        if kind == "nothing":
            return text
        if kind == "placeholder":
            return self.value(key, part, text, role)
        value: Any = text
        if part.typed.scalar == "int":
            value = int(text) if re.fullmatch(r"-?\d{1,18}", text) else text
        made = value_text(part.typed, value, self._use)
        if made is None:
            raise UnfitError(f"{text} is no value of {part.name}")
        return made

    def whole(self, key: KeyClass, template: str, role: str = "") -> str:
        """Return the key that a template is."""
        given = matched(key, template)
        if given is None:
            raise UnfitError(f"{template} is not {key.template or ', '.join(key.plain)}")
        return self.key(key, given, role)

    def bound(self, key: KeyClass, template: str, role: str = "", *, begins: bool = False) -> str:
        """Return the key, or the beginning of keys, that a template is."""
        given = None if begins else matched(key, template)
        if given is not None:
            return self.key(key, given, role)
        name = self.keys.name(key)
        found = leading(key, template)
        if found is not None and len(found) < len(key.parts):
            return f"{name}.prefix({self._arguments(key, found, role)})"
        found = leading(key, template, is_begun=True)
        if not found:
            raise UnfitError(f"{template} begins no {key.template or ', '.join(key.plain)}")
        last = key.part(list(found)[-1])
        is_text = last.typed.base == "str" and not last.computed
        return f"{name}.{'starting' if is_text else 'prefix'}({self._arguments(key, found, role)})"

    def sort(self, place: PlacePlan, sort: SortBlueprint | None) -> list[str]:
        """Return the arguments of a query that narrow it."""
        if sort is None:
            return []
        key = place.sk
        if key is None:
            raise UnfitError("it asks for a sort key, and there is none")
        match sort.operator, sort.templates:
            case "=", (template,):
                return [] if not key.parts and template == key.template else [self.whole(key, template)]
            case "begins_with", (template,):
                return [] if template == own_prefix(key) else [self.bound(key, template, begins=True)]
            case "BETWEEN", (first, last):
                return [
                    f"ge={self.bound(key, first, 'lower')}",
                    f"le={self.bound(key, last, 'upper')}",
                ]
            case operator, templates:
                signs = operator.split(" AND ")
                if len(signs) != len(templates) or any(sign not in _BOUNDS for sign in signs):
                    raise UnfitError(f"a sort key cannot be asked by {operator}")
                if len({sign[0] for sign in signs}) < len(signs):
                    raise UnfitError(f"a sort key cannot be asked by {operator}")
                roles = {">": "lower", "<": "upper"} if len(signs) > 1 else {}
                return [
                    f"{_BOUNDS[sign]}={self.bound(key, template, roles.get(sign[0], ''))}"
                    for sign, template in zip(signs, templates, strict=True)
                ]

    def condition_value(self, name: str, typed: Typed) -> str:
        """Return the parameter that a condition asks for."""
        for each in self.parameters:
            if name in (each.name, each.source.name):
                each.is_used = True
                return each.name
        for each in self.parameters:
            if not each.is_used and each.typed.text == typed.text:
                each.is_used = True
                return each.name
        raise UnfitError(f"nothing gives {name}")

    def item_key(self, plan: EntityPlan) -> str:
        """Return the plan that reads one item by the parameters of its key."""
        texts = []
        for key in plan.key.keys:
            given: dict[str, Given] = {}
            for part in key.parts:
                if part.computed and part.nothing is None:
                    raise UnfitError(f"{part.name} of its key is worked out")
                given[part.name] = ("nothing", part.nothing) if part.nothing else ("placeholder", part.label)
            texts.append(self.key(key, given))
        return f"{plan.name}.{plan.key.name}.get({', '.join(texts)})"


def parameter(source: ParameterBlueprint, names: Names, types: Types) -> Parameter:
    """Return the parameter of a method."""
    typed = types.of(source.type, source.alias)
    if typed.unknown:
        raise UnfitError(f"{source.name} is {', '.join(typed.unknown)}, which names no type here")
    default = None
    if source.default is not None and "value" in source.default:
        default = value_text(typed, source.default["value"], types.imports.use)
    is_many = typed.base == "tuple" and typed.member is not None and source.is_optional and default is None
    return Parameter(names.take(identifier(source.name, "given")), source, typed, default, is_many)


def _unit(name: str) -> str | None:
    return next((unit for word, unit in _SPANS.items() if word in name), None)


def _converted(text: str, have: Typed, want: Typed) -> str | None:
    """Return an expression of one type as one of another; None if a type checker would refuse it."""
    if want.alias is not None:
        if have.alias == want.alias:
            return text
        return f"{want.alias}({text})" if have.alias is None and have.base == want.base else None
    if want.base in ("Literal", "Enum"):
        is_part = have.base == want.base == "Literal" and set(have.values) <= set(want.values)
        return text if is_part or have.text == want.text else None
    return text if have.scalar == want.base and have.base != "Enum" else None


# --- templates ------------------------------------------------------------------------------------------


def own_prefix(key: KeyClass) -> str | None:
    """Return what all keys of a class begin with, as a template; None for a class without one."""
    if key.template is None:
        return None
    first = key.tokens[0]
    return braced(first) if isinstance(first, str) else ""


def matched(key: KeyClass, template: str) -> dict[str, Given] | None:
    """Return what a template gives for each part of a key; None if no key of the class looks like it."""
    if key.template is None:
        texts = template.split(", ")
        if len(texts) != len(key.parts):
            return None
        return {part.name: _given(tokens_of(text)) for part, text in zip(key.parts, texts, strict=True)}
    found = _match(key, key.tokens, template)
    return None if found is None else _with_nothing(key, found)


def leading(key: KeyClass, template: str, *, is_begun: bool = False) -> dict[str, Given] | None:
    """Return what a template gives for the leading parts of a key, up to the next one; `is_begun`: up to its end.

    Parts that render as nothing are given too, where they stand among the leading ones.
    """
    if key.template is None:
        texts = template.split(", ")
        if is_begun or len(texts) > len(key.parts):
            return None
        return {part.name: _given(tokens_of(text)) for part, text in zip(key.parts, texts, strict=False)}
    slots = [at for at, token in enumerate(key.tokens) if not isinstance(token, str)]
    for count in range(len(slots), 0 if is_begun else -1, -1):
        end = slots[count - 1] + 1 if is_begun else slots[count] if count < len(slots) else len(key.tokens)
        found = _match(key, key.tokens[:end], template)
        if found is not None:
            names = list(found)
            last = [part.name for part in key.parts].index(names[-1]) if names else -1
            hidden = {part.name: part.nothing for part in key.parts[: last + 1] if part.nothing is not None}
            given = found | {name: ("nothing", text) for name, text in hidden.items()}
            return {part.name: given[part.name] for part in key.parts if part.name in given}
    return None


def _match(key: KeyClass, tokens: Sequence[Any], template: str) -> dict[str, Given] | None:
    placeholders: list[str] = []
    text = ""
    for token in tokens_of(template):
        if isinstance(token, str):
            text += token
        else:
            text += f"{_MARK}{len(placeholders)}{_MARK}"
            placeholders.append(token[0])
    pattern = "".join(
        re.escape(token) if isinstance(token, str) else rf"({_MARK}\d+{_MARK}|[^{_MARK}]+?)"
        for token in tokens
    )
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        return None
    names = [token[0] for token in tokens if not isinstance(token, str)]
    return {
        name: ("placeholder", placeholders[int(each.strip(_MARK))])
        if each[0] == _MARK
        else ("constant", each)
        for name, each in zip(names, found.groups(), strict=True)
    }


def _given(tokens: Sequence[Any]) -> Given:
    if len(tokens) != 1:
        raise UnfitError("an attribute of a key is one value")
    return ("constant", tokens[0]) if isinstance(tokens[0], str) else ("placeholder", tokens[0][0])


def _with_nothing(key: KeyClass, given: dict[str, Given]) -> dict[str, Given]:
    hidden: dict[str, Given] = {
        part.name: ("nothing", part.nothing) for part in key.parts if part.nothing is not None
    }
    return {part.name: (given | hidden)[part.name] for part in key.parts}
