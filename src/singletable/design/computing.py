"""Fields that are worked out from others of the same entity: which depend on which, and what cannot be.

normalized_name: Annotated[str, Computed(normalize, "name")] = ""
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from pydantic import BaseModel

from singletable.design.markers import (
    Auto,
    AverageOf,
    Computed,
    CopyOf,
    CountOf,
    Expires,
    Lock,
    SumOf,
    TimeToLive,
)
from singletable.errors import DeclarationError

# What the layer fills in by itself, which is another value than the computed one.
_OTHERS: Final = (Auto, Lock, TimeToLive, Expires, CopyOf, CountOf, SumOf, AverageOf)
# What it fills in when everything else of an item is decided.
_TOO_LATE: Final = (Lock, TimeToLive)


@dataclass(frozen=True, slots=True)
class Working:
    """The step of a validation in which one field is worked out: what is given for it is not looked at."""

    computed: Computed
    needs: frozenset[str]  # the fields that it is made of, and those that these are made of

    def __call__(self, given: Any, validate: Any, info: Any) -> Any:
        values = info.data
        if any(name not in values for name in self.needs):
            return None  # one of them is not valid, so there will be no entity
        return validate(self.computed.function(*[values[name] for name in self.computed.fields]))


# --- who depends on whom --------------------------------------------------------------------------------


def computed_fields(model: type[BaseModel]) -> dict[str, Computed]:
    """Return the fields that are worked out, each behind those that it is made of; refuse what cannot be."""
    marked = {
        name: _only(model, name, [each for each in field.metadata if isinstance(each, Computed)])
        for name, field in model.__pydantic_fields__.items()
        if any(isinstance(each, Computed) for each in field.metadata)
    }
    for name, computed in marked.items():
        _check(model, name, computed)
    ordered: dict[str, Computed] = {}
    for name in marked:
        _put_in_order(model, name, marked, ordered, ())
    return ordered


def _put_in_order(
    model: type[BaseModel],
    name: str,
    marked: Mapping[str, Computed],
    ordered: dict[str, Computed],
    path: tuple[str, ...],
) -> None:
    if name in path:
        circle = " from ".join((*path[path.index(name) :], name))
        raise DeclarationError(f"{model.__name__}.{name} is worked out from itself: {circle}")
    if name in ordered:
        return
    for source in marked[name].fields:
        if source in marked:
            _put_in_order(model, source, marked, ordered, (*path, name))
    ordered[name] = marked[name]


def followers(computed: Mapping[str, Computed], names: Iterable[str]) -> frozenset[str]:
    """Name the computed fields that change, or may, when these fields do."""
    changed = set(names)
    found = set()
    for name, each in computed.items():
        if changed.intersection(each.fields):
            changed.add(name)
            found.add(name)
    return frozenset(found)


def with_sources(computed: dict[str, Computed], names: Iterable[str]) -> frozenset[str]:
    """Return names of fields, and of all those that the computed ones among them are made of."""
    found = set(names)
    for name in reversed(computed):
        if name in found:
            found.update(computed[name].fields)
    return frozenset(found)


# --- checks, when the class is created ------------------------------------------------------------------


def _only(model: type[BaseModel], name: str, markers: list[Computed]) -> Computed:
    if len(markers) > 1:
        raise DeclarationError(f"{model.__name__}.{name} is worked out in two ways", hint="Computed, once")
    return markers[0]


def _check(model: type[BaseModel], name: str, computed: Computed) -> None:
    where, fields = f"{model.__name__}.{name}", model.__pydantic_fields__
    if not callable(computed.function):
        raise DeclarationError(
            f"{where} is worked out by {computed.function!r}, which is no function",
            # Annotations are read inside the class, where a field's name is its default.
            hint='Computed(function, "field"); a function with the name of a field needs another name',
        )
    if not computed.fields:
        raise DeclarationError(
            f"{where} is worked out from no field", hint='Computed(function, "field"): name those it is given'
        )
    others = [type(each).__name__ for each in fields[name].metadata if isinstance(each, _OTHERS)]
    if others:
        raise DeclarationError(
            f"{where} is Computed and {' and '.join(others)}: two would write it",
            hint="leave one of them out",
        )
    for source in computed.fields:
        if source not in fields:
            meant = get_close_matches(str(source), fields, n=1)
            raise DeclarationError(
                f"{where} is worked out from {source!r}, which is not a field of {model.__name__}; "
                f"it has {', '.join(sorted(fields))}",
                hint=f"did you mean {meant[0]}?" if meant else None,
            )
        if any(isinstance(each, _TOO_LATE) for each in fields[source].metadata):
            raise DeclarationError(
                f"{where} is worked out from {source}, which is known only when everything else is decided",
                hint="work it out from what decides that",
            )
