"""What the state machine draws: paths, projections, conditions and updates that DynamoDB accepts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from model import conditions as c
from model import updates as u
from model.paths import Path, conflict
from model.strategies import ANY_VALUE, INDEX_KEY_NAMES, KEY_TYPES, LISTS, SIMPLE, scalars, sets
from model.tables import Table
from model.values import Value, order_key

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
TYPE_NAMES = ("S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M")


def paths(names: Collection[str] | None = None) -> SearchStrategy[Path]:
    """Draw a path, of certain top-level attributes when they are given."""
    return st.sampled_from([path for path in READABLE if names is None or path[0] in names])


@st.composite
def projections(draw: st.DrawFn, names: Collection[str] | None = None) -> tuple[Path, ...]:
    """Draw one to four paths that may stand in one projection."""
    return disjoint(draw(st.lists(paths(names), min_size=1, max_size=4)))


def disjoint(drawn: list[Path]) -> tuple[Path, ...]:
    kept: list[Path] = []
    for path in drawn:
        if not any(conflict(path, other) for other in kept):
            kept.append(path)
    return tuple(kept)


def conditions(names: Collection[str] | None = None) -> SearchStrategy[c.Condition]:
    """Draw a condition of up to a few comparisons."""
    return st.recursive(
        simple_conditions(names),
        lambda inner: st.one_of(
            st.builds(c.And, inner, inner), st.builds(c.Or, inner, inner), st.builds(c.Not, inner)
        ),
        max_leaves=3,
    )


@st.composite
def simple_conditions(draw: st.DrawFn, names: Collection[str] | None) -> c.Condition:
    path = draw(paths(names))
    maker = draw(st.sampled_from(MAKERS))
    return maker(draw, path, names)


def _exists(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    return c.Exists(path, draw(st.booleans()))


def _type_is(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    return c.TypeIs(path, draw(st.sampled_from(TYPE_NAMES)))


def _equals(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    literal = c.Literal(draw(ANY_VALUE))
    other = draw(st.one_of(st.just(literal), other_attributes(path, names)))
    return c.Compare(draw(st.sampled_from(["=", "<>"])), c.Attribute(path), other)


def _ordered(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    literal = c.Literal(draw(ordered_scalars()))
    other = draw(st.one_of(st.just(literal), other_attributes(path, names)))
    operator = draw(st.sampled_from(ORDER_OPERATORS))
    swapped = draw(st.booleans())
    left, right = (other, c.Attribute(path)) if swapped else (c.Attribute(path), other)
    return c.Compare(operator, left, right)


def _size(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    operator = draw(st.sampled_from(["=", "<>", *ORDER_OPERATORS]))
    return c.Compare(operator, c.Size(path), c.Literal(Decimal(draw(st.integers(0, 4)))))


def _between(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    kind = draw(st.sampled_from(KEY_TYPES))
    low, high = sorted((draw(scalars(kind)), draw(scalars(kind))), key=order_key)
    return c.Between(c.Attribute(path), c.Literal(low), c.Literal(high))


def _in(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    choice = st.one_of(st.builds(c.Literal, SIMPLE), other_attributes(path, names))
    return c.In(c.Attribute(path), tuple(draw(st.lists(choice, min_size=1, max_size=3))))


def _begins(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    return c.BeginsWith(path, c.Literal(draw(st.one_of(scalars("S"), scalars("B")))))


def _contains(draw: st.DrawFn, path: Path, names: Collection[str] | None) -> c.Condition:
    return c.Contains(path, c.Literal(draw(ordered_scalars())))


MAKERS: tuple[Callable[[st.DrawFn, Path, Collection[str] | None], c.Condition], ...] = (
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


def ordered_scalars() -> SearchStrategy[Value]:
    return st.one_of(*(scalars(kind) for kind in KEY_TYPES))


def other_attributes(path: Path, names: Collection[str] | None) -> SearchStrategy[c.Attribute]:
    """Draw another path: DynamoDB refuses a comparison of a path with itself."""
    others = [other for other in READABLE if other != path and (names is None or other[0] in names)]
    return st.builds(c.Attribute, st.sampled_from(others)) if others else st.nothing()


@st.composite
def updates(draw: st.DrawFn, table: Table) -> u.Update:
    """Draw an update of one to four paths, none of them a key of the table."""
    own = table.definition.key_names()
    targets: list[Path] = [path for path in (*PLAIN, *NESTED, *KEYS) if path[0] not in own]
    chosen = disjoint(draw(st.lists(st.sampled_from(targets), min_size=1, max_size=4)))
    sets_, removes, adds, deletes = [], [], [], []
    for path in chosen:
        match draw(st.sampled_from(["SET", "SET", "SET", "REMOVE", "ADD", "DELETE"])):
            case "SET":
                sets_.append((path, draw(terms(table, path))))
            case "REMOVE":
                removes.append(path)
            case "ADD":
                adds.append((path, draw(st.one_of(scalars("N"), sets()))))
            case _:
                deletes.append((path, draw(sets())))
    return u.Update(tuple(sets_), tuple(removes), tuple(adds), tuple(deletes))


def terms(table: Table, path: Path) -> SearchStrategy[u.Term]:
    """Draw the right-hand side of an assignment to this path."""
    if path[0] in INDEX_KEY_NAMES:
        usual = st.builds(u.Given, scalars(table.definition.types[str(path[0])]))
        return st.one_of(usual, usual, usual, st.builds(u.Read, paths()))
    reads = st.builds(u.Read, paths())
    given_ = st.builds(u.Given, ANY_VALUE)
    numbers = _operands(st.builds(u.Given, scalars("N")), path)
    lists = _operands(st.builds(u.Given, LISTS), path)
    return st.one_of(
        given_,
        reads,
        st.builds(u.IfNotExists, st.one_of(st.just(path), paths()), st.one_of(given_, reads)).filter(
            lambda term: term.otherwise != u.Read(term.path)  # refused: the operands must be distinct
        ),
        st.builds(u.Arithmetic, st.sampled_from("+-"), numbers, numbers),
        st.builds(u.ListAppend, lists, lists),
    )


def _operands(literals: SearchStrategy[u.Given], path: Path) -> SearchStrategy[u.Term]:
    known = st.one_of(st.just(path), st.sampled_from([("n1",), ("q1",), ("size",)]))
    return st.one_of(literals, st.builds(u.Read, known), st.builds(u.IfNotExists, known, literals))
