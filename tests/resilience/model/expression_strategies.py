"""What the state machine draws: paths, projections, conditions and updates that DynamoDB accepts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from resilience.model import conditions as c
from resilience.model import updates as u
from resilience.model.paths import Missing, Path, conflict, reach
from resilience.model.strategies import ANY_VALUE, INDEX_KEY_NAMES, KEY_TYPES, LISTS, SIMPLE, scalars, sets
from resilience.model.tables import Table
from resilience.model.values import Item, Value, order_key, type_of

NESTED: tuple[Path, ...] = (
    ("q1", 0),
    ("q1", 1),
    ("q1", 3),
    ("q1", 7),
    ("q1", 0, "x"),
    ("q1", 1, "y", "z"),
    ("m1", "x"),
    ("m1", "name"),
    ("m1", "y"),
    ("m1", "y", "z"),
    ("m1", "q"),
    ("m1", "q", 0),
    ("m1", "q", 2),
    ("a1", "x"),
    ("a1", 0),
)
PLAIN: tuple[Path, ...] = (
    ("a1",),
    ("b1",),
    ("n1",),
    ("s1",),
    ("q1",),
    ("m1",),
    ("name",),
    ("size",),
    ("x.y",),
)
KEYS: tuple[Path, ...] = (("pk",), ("sk",), ("g1",), ("g2",), ("l1",))
READABLE: tuple[Path, ...] = PLAIN + NESTED + KEYS
ORDER_OPERATORS = ("<", "<=", ">", ">=")
ORDERED: SearchStrategy[Value] = st.one_of(*(scalars(kind) for kind in KEY_TYPES))
TEXTS: SearchStrategy[Value] = st.one_of(scalars("S"), scalars("B"))
TYPE_NAMES = ("S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M")


def paths(names: Collection[str] | None = None) -> SearchStrategy[Path]:
    """Draw a path, of certain top-level attributes when they are given."""
    return _paths(None if names is None else frozenset(names))


@cache
def _paths(names: frozenset[str] | None) -> SearchStrategy[Path]:
    return st.sampled_from([path for path in READABLE if names is None or path[0] in names])


@cache
def projections(names: frozenset[str] | None = None) -> SearchStrategy[tuple[Path, ...]]:
    """Draw one to four paths that may stand in one projection."""
    return st.lists(paths(names), min_size=1, max_size=4).map(disjoint)


def disjoint(drawn: list[Path]) -> tuple[Path, ...]:
    kept: list[Path] = []
    for path in drawn:
        if not any(conflict(path, other) for other in kept):
            kept.append(path)
    return tuple(kept)


# What joins the comparisons of a condition: None is a comparison.
SHAPES: SearchStrategy[Any] = st.recursive(
    st.none(),
    lambda inner: st.one_of(
        st.tuples(st.just(c.And), inner, inner),
        st.tuples(st.just(c.Or), inner, inner),
        st.tuples(st.just(c.Not), inner),
    ),
    max_leaves=3,
)


@st.composite
def conditions(draw: st.DrawFn, sample: Item, names: Collection[str] | None = None) -> c.Condition:
    """Draw a condition of up to a few comparisons, often with a value that the sample holds."""

    def filled(shape: Any) -> c.Condition:
        if shape is None:
            return simple_condition(draw, sample, names)
        join, *inner = shape
        made: c.Condition = join(*(filled(each) for each in inner))
        return made

    return filled(draw(SHAPES))


@dataclass(frozen=True)
class Scene:
    """What one comparison is drawn from: its path, the paths it may name, and what the sample holds there."""

    draw: st.DrawFn
    path: Path
    names: Collection[str] | None
    found: Value | Missing

    def literal(self, usual: SearchStrategy[Value], *kinds: str) -> c.Literal:
        """Draw a value; every other time the one that the sample holds, if it is of a fitting type."""
        found = self.found
        fits = not isinstance(found, Missing) and (not kinds or type_of(found) in kinds)
        return c.Literal(found if fits and self.draw(st.booleans()) else self.draw(usual))

    def other_or(self, usual: Callable[[], c.Operand]) -> c.Operand:
        """Draw another path as often as not: DynamoDB refuses a comparison of a path with itself."""
        others = [
            other
            for other in READABLE
            if other != self.path and (self.names is None or other[0] in self.names)
        ]
        if not others or self.draw(st.booleans()):
            return usual()
        return c.Attribute(self.draw(st.sampled_from(others)))


def simple_condition(draw: st.DrawFn, sample: Item, names: Collection[str] | None) -> c.Condition:
    path = draw(paths(names))
    maker = draw(st.sampled_from(MAKERS))
    return maker(Scene(draw, path, names, reach(sample, path)))


def _exists(scene: Scene) -> c.Condition:
    return c.Exists(scene.path, scene.draw(st.booleans()))


def _type_is(scene: Scene) -> c.Condition:
    return c.TypeIs(scene.path, scene.draw(st.sampled_from(TYPE_NAMES)))


def _equals(scene: Scene) -> c.Condition:
    other = scene.other_or(lambda: scene.literal(ANY_VALUE))
    return c.Compare(scene.draw(st.sampled_from(["=", "<>"])), c.Attribute(scene.path), other)


def _ordered(scene: Scene) -> c.Condition:
    other = scene.other_or(lambda: scene.literal(ORDERED, *KEY_TYPES))
    operator = scene.draw(st.sampled_from(ORDER_OPERATORS))
    attribute = c.Attribute(scene.path)
    swapped = scene.draw(st.booleans())
    return c.Compare(operator, other, attribute) if swapped else c.Compare(operator, attribute, other)


def _size(scene: Scene) -> c.Condition:
    operator = scene.draw(st.sampled_from(["=", "<>", *ORDER_OPERATORS]))
    return c.Compare(operator, c.Size(scene.path), c.Literal(Decimal(scene.draw(st.integers(0, 4)))))


def _between(scene: Scene) -> c.Condition:
    first = scene.literal(ORDERED, *KEY_TYPES).value
    low, high = sorted((first, scene.draw(scalars(type_of(first)))), key=order_key)
    return c.Between(c.Attribute(scene.path), c.Literal(low), c.Literal(high))


def _in(scene: Scene) -> c.Condition:
    choices = [
        scene.other_or(lambda: c.Literal(scene.draw(SIMPLE))) for _ in range(scene.draw(st.integers(0, 2)))
    ]
    return c.In(c.Attribute(scene.path), (*choices, scene.literal(SIMPLE)))


def _begins(scene: Scene) -> c.Condition:
    return c.BeginsWith(scene.path, scene.literal(TEXTS, "S", "B"))


def _contains(scene: Scene) -> c.Condition:
    return c.Contains(scene.path, scene.literal(ORDERED, *KEY_TYPES))


MAKERS: tuple[Callable[[Scene], c.Condition], ...] = (
    _exists,
    _type_is,
    _equals,
    _ordered,
    _size,
    _between,
    _in,
    _begins,
    _contains,
)


@st.composite
def updates(draw: st.DrawFn, table: Table, sample: Item) -> u.Update:
    """Draw an update of one to four paths, none of them a key of the table, mostly of what the sample holds."""
    own = table.definition.key_names()
    targets: list[Path] = [path for path in (*PLAIN, *NESTED, *KEYS) if path[0] not in own]
    fitting = [path for path in targets if parent_fits(sample, path)]
    target = st.sampled_from(fitting * 4 + targets)
    chosen = disjoint([draw(target) for _ in range(draw(st.integers(1, 4)))])
    sets_, removes, adds, deletes = [], [], [], []
    for path in chosen:
        found = reach(sample, path)
        match draw(st.sampled_from(["SET", "SET", "SET", "REMOVE", "ADD", "DELETE"])):
            case "SET":
                sets_.append((path, drawn_term(draw, table, path, sample)))
            case "REMOVE":
                removes.append(path)
            case "ADD":
                adds.append((path, draw(addends(found))))
            case _:
                deletes.append((path, draw(sets() if not isinstance(found, frozenset) else subsets(found))))
    return u.Update(tuple(sets_), tuple(removes), tuple(adds), tuple(deletes))


def parent_fits(sample: Item, path: Path) -> bool:
    return isinstance(reach(sample, path[:-1]), dict if isinstance(path[-1], str) else list)


def addends(found: Value | Missing) -> SearchStrategy[Value]:
    """Draw what ADD takes: mostly of the type that is there."""
    any_kind = st.one_of(scalars("N"), sets())
    if isinstance(found, frozenset):
        return st.one_of(sets().filter(lambda added: type_of(added) == type_of(found)), any_kind)
    return st.one_of(scalars("N"), any_kind)


def subsets(found: frozenset[Value]) -> SearchStrategy[frozenset[Value]]:
    return st.one_of(st.frozensets(st.sampled_from(sorted(found, key=order_key)), min_size=1), sets())


def drawn_term(draw: st.DrawFn, table: Table, path: Path, sample: Item) -> u.Term:
    """Draw the right-hand side of an assignment to this path, mostly one that the sample can satisfy."""
    if path[0] in INDEX_KEY_NAMES:
        if draw(st.integers(0, 3)) == 3:
            return u.Read(draw(paths()))
        return u.Given(draw(scalars(table.definition.types[str(path[0])])))
    present = [other for other in READABLE if not isinstance(reach(sample, other), Missing)]
    match draw(st.sampled_from(TERMS)):
        case u.Given:
            return u.Given(draw(ANY_VALUE))
        case u.Read:
            return u.Read(draw(st.sampled_from(present * 3 + list(READABLE))))
        case u.IfNotExists:
            tested = path if draw(st.booleans()) else draw(paths())
            # Operands must be distinct. Whether a default that is not needed may be missing, no source settles.
            defaults = [other for other in present if other != tested]
            if len(defaults) > 0 and draw(st.booleans()):
                return u.IfNotExists(tested, u.Read(draw(st.sampled_from(defaults))))
            return u.IfNotExists(tested, u.Given(draw(ANY_VALUE)))
        case u.Arithmetic:
            sign = draw(st.sampled_from("+-"))
            numbers = scalars("N")
            left, right = (_drawn_operand(draw, numbers, sample, "N") for _ in range(2))
            return u.Arithmetic(sign, left, right)
        case _:
            left, right = (_drawn_operand(draw, LISTS, sample, "L") for _ in range(2))
            return u.ListAppend(left, right)


TERMS = (u.Given, u.Read, u.IfNotExists, u.Arithmetic, u.ListAppend)


def _drawn_operand(draw: st.DrawFn, literals: SearchStrategy[Any], sample: Item, kind: str) -> u.Term:
    """Draw an operand: a literal, or an attribute that mostly has the right type."""
    typed = [path for path in READABLE if path_type(sample, path) == kind]
    known = st.sampled_from(typed * 4 + [("n1",), ("q1",), ("a1",)])
    match draw(st.integers(0, 2)):
        case 0:
            return u.Given(draw(literals))
        case 1:
            return u.Read(draw(known))
        case _:
            return u.IfNotExists(draw(known), u.Given(draw(literals)))


def path_type(sample: Item, path: Path) -> str | None:
    found = reach(sample, path)
    return None if isinstance(found, Missing) else type_of(found)
