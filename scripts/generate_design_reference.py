"""Write docs/reference/design.md: every public name of singletable.design, with its signature and what it is for.

usage: python scripts/generate_design_reference.py [--check]

All of it comes from the code and its docstrings. `--check` writes nothing and exits 1 when the page says something
else.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, get_overloads

import singletable.design
from singletable import errors
from singletable.design.plans.bound import Bound, BoundUnique

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "reference" / "design.md"

HEAD: Final = """\
# Designs

Every public name of `singletable.design`. All can be imported from `singletable` too. Methods with an `a` before
their names are twins for asyncio; they stand beside what they are twins of.

Begin with [the tutorial](../tutorial/kefir.md). This page is written by `scripts/generate_design_reference.py`.
"""

# Where the names of a module stand. What is in no module of these stands at the end.
# By room, or by module of a room: the longest that a name is under says where it stands.
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "Designs": ("design",),
    "Tables and indexes": ("model.table", "tables"),
    "Keys": ("keys",),
    "Entities": ("model", "values", "kept"),
    "Plans": ("plans",),
    "Conditions": ("values.conditions",),
    "Writes": ("writes",),
    "Streams": ("streams",),
    "Verifying": ("upkeep",),
}
# What stands elsewhere than its module: what makes plans is declared, and a pattern is described in its design.
DECLARED: Final = {
    **dict.fromkeys(("Index", "Keys"), "Tables and indexes"),
    "Unique": "Entities",
    **dict.fromkeys(("Load", "PatternInfo", "Rate", "Volume", "Writes"), "Designs"),
}
OTHERS: Final = "More"

# What has no docstring, because it is another name for a type.
ALIASES: Final[dict[str, tuple[str, str]]] = {
    "Casing": ("values.fields", "How Python names become stored names: one rule for a whole design."),
    "Condition": ("values.conditions", "Any of the conditions below. They combine with `&`, `|` and `~`."),
    "CreatedAt": (
        "values.markers",
        "The time of the first write, filled in by the layer: `created_at: CreatedAt = auto()`.",
    ),
    "UpdatedAt": (
        "values.markers",
        "The time of the last write, filled in by the layer: `updated_at: UpdatedAt = auto()`.",
    ),
    "Version": (
        "values.markers",
        "The number of writes of an item, for optimistic locking: `version: Version = 0`.",
    ),
    "Ttl": ("values.markers", "When an item expires, stored in seconds: `ttl: Ttl = expires(days=90)`."),
}


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for heading, names in grouped().items():
        parts.append(f"## {heading}\n")
        parts += [entry(name) for name in names]
    parts.append(error_table())
    return "\n".join(parts)


# What is met though nobody imports it: `Batch.key` is one, `User.unique_email` the other.
MET: Final = {"Bound": Bound, "BoundUnique": BoundUnique}


def public() -> dict[str, Any]:
    """Return what the page describes, by name."""
    return {**{name: getattr(singletable.design, name) for name in singletable.design.__all__}, **MET}


def grouped() -> dict[str, list[str]]:
    """Return the public names under the headings that they belong to."""
    groups: dict[str, list[str]] = {heading: [] for heading in (*GROUPS, OTHERS)}
    for name in sorted(public(), key=str.casefold):
        groups[heading_of(name)].append(name)
    return {heading: names for heading, names in groups.items() if names}


def heading_of(name: str) -> str:
    if name in DECLARED:
        return DECLARED[name]
    place = f"{module_of(name)}."
    found = [
        (len(room), heading)
        for heading, rooms in GROUPS.items()
        for room in rooms
        if place.startswith(f"{room}.")
    ]
    return max(found, default=(0, OTHERS))[1]


def module_of(name: str) -> str:
    if name in ALIASES:
        return ALIASES[name][0]
    return str(public()[name].__module__).removeprefix(f"{singletable.design.__name__}.")


def entry(name: str) -> str:
    """Describe one name."""
    if name in ALIASES:
        return f"### {name}\n\n{ALIASES[name][1]}\n"
    thing = public()[name]
    lines = [f"### {name}", "", f"`{name}{shown_signature(thing)}`", "", sentence(thing), ""]
    if inspect.isclass(thing):
        members = [*settings(thing), *methods(thing)]
        lines += [*members, ""] if members else []
    return "\n".join(lines)


# --- signatures -----------------------------------------------------------------------------------------


def shown_signature(thing: Any) -> str:
    """Return how a thing is called; of a class that is meant to be subclassed, how that is done."""
    if not inspect.isclass(thing):
        return signature(thing)
    if thing is singletable.design.NoSortKey:
        return "()"
    subclassing = getattr(thing.__init_subclass__, "__func__", None)
    if subclassing is not None and thing.__init_subclass__.__module__.startswith("singletable."):
        keywords = signature(subclassing, returns=False)
        return " as a base class" + (
            "" if keywords == "()" else f", with {keywords[1:-1].removeprefix('*, ')}"
        )
    if issubclass(thing, singletable.design.Collection):
        return " as a base class"
    return signature(thing.__init__, returns=False)


def signature(function: Callable[..., Any], *, returns: bool = True) -> str:
    """Write a signature as it stands in the code, without what is only for the type checker."""
    overloads = get_overloads(function)
    function = overloads[-1] if overloads else function
    found = inspect.signature(function)
    parameters = [
        parameter
        for name, parameter in found.parameters.items()
        if name not in ("self", "cls") and not (name == "config" and parameter.kind is parameter.VAR_KEYWORD)
    ]
    # Overloads share the defaults of what carries them out.
    text = ", ".join(_parameters(parameters))
    result = found.return_annotation
    shown = "" if not returns or result in (inspect.Signature.empty, "None", None) else f" -> {_type(result)}"
    return f"({text}){shown}"


_STARS: Final[dict[Any, str]] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def _parameters(parameters: list[inspect.Parameter]) -> Iterator[str]:
    has_star = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            has_star = True
            yield "*"
        stars = _STARS.get(parameter.kind, "")
        has_star = has_star or stars == "*"
        text = stars + parameter.name
        if parameter.annotation is not parameter.empty:
            text += f": {_type(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {_value(parameter.default)}"
        yield text


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])|_co\b", "", text)  # T_co is T for people


def _value(value: Any) -> str:
    if inspect.isclass(value):
        return value.__name__
    return "..." if "factory" in repr(value) else repr(value)


# --- classes ------------------------------------------------------------------------------------------------


def settings(cls: type[Any]) -> Iterator[str]:
    """Yield what a subclass may set."""
    if cls not in (singletable.design.Table, singletable.design.Design):
        return
    for name, annotation in cls.__annotations__.items():
        match = re.fullmatch(r"ClassVar\[(.*)\]", str(annotation))
        if match is None or name.startswith("_") or name in ("catalog", "indexes"):
            continue
        default = f" = {_value(vars(cls)[name])}" if name in vars(cls) else ""
        yield f"- `{name}: {match[1]}{default}`"


def methods(cls: type[Any]) -> Iterator[str]:
    """Yield the public methods and properties of a class, those of its own bases too."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("singletable.design."):
            found.update(vars(base))
    for name, member in sorted(found.items()):
        function = getattr(member, "__func__", member)
        if name.startswith("_") or not (inspect.isfunction(function) or isinstance(function, property)):
            continue
        if name in _INTERNAL or (name.startswith("a") and name[1:] in found):
            continue
        twin = f", and `a{name}`" if f"a{name}" in found else ""
        if isinstance(function, property):
            yield f"- `{name}`{_sentence_behind(function)}"
        else:
            yield f"- `{name}{signature(function)}`{twin}{_sentence_behind(function)}"


# What is public for the other modules of the layer only.
_INTERNAL: Final = frozenset(
    {
        "on",
        "with_",
        "running",
        "refuse_consistent_index",
        "of",
        "reads",
        "from_values",
        "add",
        "model_post_init",
    }
)


def sentence(thing: Any) -> str:
    """Return the first sentence of a docstring."""
    text = inspect.getdoc(thing) or ""
    return text.partition("\n\n")[0].replace("\n", " ")


def _sentence_behind(thing: Any) -> str:
    text = sentence(thing)
    return f": {text[0].lower()}{text[1:]}" if text else ""


# --- errors ---------------------------------------------------------------------------------------------------


def error_table() -> str:
    """List the errors, with their pages."""
    lines = [
        "## Errors",
        "",
        "In `singletable.errors`. Up to ST503, ST514, and those from ST601 and ST901 are `DesignError`s. What",
        "DynamoDB itself refuses is an `ApiError` ([errors of the API](../errors/api.md)).",
        "",
    ]
    lines += ["| number | class | |", "|---|---|---|"]
    for cls in sorted(numbered(), key=lambda cls: cls.number):
        lines.append(f"| [{cls.number}](../errors/{cls.number}.md) | `{cls.__name__}` | {sentence(cls)} |")
    return "\n".join(lines) + "\n"


def numbered() -> list[Any]:
    """Return the errors and warnings that have a number."""
    classes = [thing for thing in vars(errors).values() if inspect.isclass(thing)]
    return [cls for cls in classes if getattr(cls, "number", None)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Write docs/reference/design.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page differs")
    arguments = parser.parse_args()
    new = page()
    if arguments.check:
        return 0 if PAGE.exists() and new == PAGE.read_text(encoding="utf-8") else 1
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
