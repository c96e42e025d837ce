"""Expressions as text, with their placeholders: mostly right for the attributes that items hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from golden.side_by_side.designs import ATTRIBUTE_NAMES, Design, Index
from golden.side_by_side.values import ANY, SETS, TYPES, Item, Value, scalars, usual

_COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")
_TAILS: dict[str, tuple[str, ...]] = {
    "l": ("", "[0]", "[1]", "[9]"),
    "m": ("", ".x", ".y", ".y[0]", ".q", ".y[0].x"),
}
_ODD_TAILS = ("", "", "", ".x", "[0]")
_BOUNDS: tuple[tuple[Value, Value], ...] = (
    ({"S": "a"}, {"S": "b"}),
    ({"N": "-1"}, {"N": "1.5"}),
    ({"B": "YQ=="}, {"B": "Yg=="}),
    ({"N": "1"}, {"N": "1"}),
)


class Writer:
    """Writes the expressions of one request, and keeps the placeholders that they share."""

    def __init__(self, draw: st.DrawFn, design: Design, items: list[Item]) -> None:
        self.draw = draw
        self.design = design
        self.items = items
        self._names: dict[str, str] = {}
        self._values: dict[str, Value] = {}
        self._updated: set[str] = set()

    def placeholders(self) -> dict[str, Any]:
        """Return the two maps, without one that is empty."""
        found: dict[str, Any] = {}
        if self._names:
            found["ExpressionAttributeNames"] = {key: name for name, key in self._names.items()}
        if self._values:
            found["ExpressionAttributeValues"] = dict(self._values)
        return found

    # --- operands ------------------------------------------------------------------------------

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def name(self, name: str) -> str:
        """Return a name as it stands in an expression; "name" is a reserved word."""
        if name.isalnum() and name != "name" and not self.chance():
            return name
        return self._names.setdefault(name, f"#n{len(self._names)}")

    def value(self, value: Value) -> str:
        key = f":v{len(self._values)}"
        self._values[key] = value
        return key

    def attribute(self) -> str:
        """Draw the name of an attribute that is no key of the table."""
        names = (*ATTRIBUTE_NAMES, *(name for name in self.design.types if name not in self.design.keys))
        return self.draw(st.sampled_from(names))

    def target(self, *names: str) -> str:
        """Draw a path to update: mostly of an attribute that nothing else updates, since paths may not overlap."""
        name = self.draw(st.sampled_from(names)) if names else self.attribute()
        left = [other for other in ATTRIBUTE_NAMES if other not in self._updated]
        if name in self._updated and left and self.draw(st.integers(0, 9)):
            name = self.draw(st.sampled_from(left))
        self._updated.add(name)
        return name

    def any_attribute(self) -> str:
        return self.draw(st.sampled_from((*ATTRIBUTE_NAMES, *self.design.types)))

    def path(self, name: str) -> str:
        """Return a path that begins with an attribute; nothing is inside of keys."""
        tails = ("",) if name in self.design.types else _TAILS.get(name, _ODD_TAILS)
        return self.name(name) + self.draw(st.sampled_from(tails))

    def fitting(self, name: str) -> str:
        """Draw a value that an attribute may hold, often one that it does hold."""
        held = [item[name] for item in self.items if name in item]
        choices = [usual(name, self.design)]
        if held:
            choices.append(st.sampled_from(held))
        return self.value(self.draw(st.one_of(choices)))

    def any_value(self) -> str:
        return self.value(self.draw(ANY))

    # --- conditions ----------------------------------------------------------------------------

    def condition(self, depth: int = 2) -> str:
        """Draw a condition or filter."""
        form = self.draw(st.sampled_from(("leaf", "leaf", "leaf", "AND", "OR", "NOT"))) if depth else "leaf"
        if form == "leaf":
            return self._leaf()
        if form == "NOT":
            return f"NOT {self._grouped(depth - 1)}"
        return f"{self._grouped(depth - 1)} {form} {self._grouped(depth - 1)}"

    def _grouped(self, depth: int) -> str:
        condition = self.condition(depth)
        return f"({condition})" if self.chance() else condition

    def _leaf(self) -> str:
        name = self.any_attribute()
        forms: tuple[Callable[[str], str], ...] = (
            lambda name: f"attribute_exists({self.path(name)})",
            lambda name: f"attribute_not_exists({self.path(name)})",
            self._comparison,
            self._between,
            self._in,
            lambda name: f"begins_with({self.path(name)}, {self._text()})",
            lambda name: f"contains({self.path(name)}, {self._contained(name)})",
            lambda name: f"attribute_type({self.path(name)}, {self._type()})",
            lambda name: (
                f"size({self.path(name)}) {self._comparator()} {self.value(self.draw(scalars('N')))}"
            ),
            lambda name: f"{self.path(name)} {self._comparator()} {self.path(self.any_attribute())}",
        )
        return self.draw(st.sampled_from(forms))(name)

    def _comparator(self) -> str:
        return self.draw(st.sampled_from(_COMPARATORS))

    def _comparison(self, name: str) -> str:
        comparator = self._comparator()
        if comparator in ("=", "<>"):
            value = self.fitting(name) if self.chance() else self.any_value()
        else:
            value = self.value(self.draw(scalars(self.draw(st.sampled_from(("S", "N", "B"))))))
        return f"{self.path(name)} {comparator} {value}"

    def _between(self, name: str) -> str:
        low, high = self.draw(st.sampled_from(_BOUNDS))
        return f"{self.path(name)} BETWEEN {self.value(low)} AND {self.value(high)}"

    def _in(self, name: str) -> str:
        members = [self.fitting(name) for _ in range(self.draw(st.integers(1, 3)))]
        return f"{self.path(name)} IN ({', '.join(members)})"

    def _text(self) -> str:
        return self.value(self.draw(scalars(self.draw(st.sampled_from(("S", "B"))))))

    def _contained(self, name: str) -> str:
        return self._text() if self.chance() else self.fitting(name)

    def _type(self) -> str:
        return self.value({"S": self.draw(st.sampled_from(TYPES))})

    # --- key conditions ------------------------------------------------------------------------

    def key_condition(self, index: Index) -> str:
        """Draw a key condition for a table or an index: its partition, and some of its sort key."""
        clauses = [f"{self.name(name)} = {self.fitting(name)}" for name in index.hashes]
        tested = self.draw(st.integers(0, len(index.ranges)))
        equal = index.ranges[: max(tested - 1, 0)]
        clauses += [f"{self.name(name)} = {self.fitting(name)}" for name in equal]
        if tested:
            clauses.append(self._range_clause(index.ranges[tested - 1]))
        return " AND ".join(clauses)

    def _range_clause(self, name: str) -> str:
        forms: tuple[Callable[[], str], ...] = (
            lambda: f"{self.name(name)} {self.draw(st.sampled_from(_KEY_COMPARATORS))} {self.fitting(name)}",
            lambda: f"{self.name(name)} BETWEEN {self.fitting(name)} AND {self.fitting(name)}",
            lambda: f"begins_with({self.name(name)}, {self.fitting(name)})",
        )
        return self.draw(st.sampled_from(forms))()

    # --- updates -------------------------------------------------------------------------------

    def update(self) -> str:
        """Draw an update of one to three sections."""
        sections = self.draw(
            st.lists(st.sampled_from(("SET", "REMOVE", "ADD", "DELETE")), min_size=1, max_size=3, unique=True)
        )
        return " ".join(f"{section} {self._actions(section)}" for section in sections)

    def _actions(self, section: str) -> str:
        actions = {"SET": self._set, "REMOVE": self._remove, "ADD": self._add, "DELETE": self._delete}
        return ", ".join(actions[section]() for _ in range(self.draw(st.integers(1, 2))))

    def _set(self) -> str:
        name = self.target()
        forms: tuple[Callable[[], str], ...] = (
            lambda: self.fitting(name),
            lambda: self.any_value(),
            lambda: self.path(self.any_attribute()),
            lambda: f"if_not_exists({self.path(self.any_attribute())}, {self.fitting(name)})",
            lambda: f"list_append({self.path('l')}, {self.fitting('l')})",
            lambda: f"{self.path('n')} {self.draw(st.sampled_from('+-'))} {self.fitting('n')}",
            lambda: f"if_not_exists({self.path('n')}, {self.fitting('n')}) + {self.fitting('n')}",
        )
        return f"{self.path(name)} = {self.draw(st.sampled_from(forms))()}"

    def _remove(self) -> str:
        return self.path(self.target())

    def _add(self) -> str:
        name = self.target("n", "u")
        return f"{self.path(name)} {self.fitting(name)}"

    def _delete(self) -> str:
        return f"{self.path(self.target('u'))} {self.value(self.draw(SETS))}"

    # --- projections ---------------------------------------------------------------------------

    def projection(self) -> str:
        """Draw one to three paths that do not overlap."""
        names = st.lists(
            st.sampled_from((*ATTRIBUTE_NAMES, *self.design.types)), min_size=1, max_size=3, unique=True
        )
        return ", ".join(map(self.path, self.draw(names)))


_KEY_COMPARATORS = ("=", "<", "<=", ">", ">=")
