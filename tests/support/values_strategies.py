"""Hypothesis strategies for attribute values in wire form, over all ten types."""

from __future__ import annotations

from base64 import b64encode
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
binaries = st.binary(max_size=12)


@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    """Draw any number that DynamoDB can hold: up to 38 digits, exponents from -130 to 125."""
    digits = draw(st.integers(1, 38))
    significand = draw(st.integers(-(10**digits) + 1, 10**digits - 1))
    if significand == 0:
        return Decimal(0)
    first = draw(st.integers(-130, 125))
    return Decimal(f"{significand}E{first - len(str(abs(significand))) + 1}")


def plain(number: Decimal) -> str:
    """Spell a number without an exponent and without superfluous zeros: an independent normal form."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


numbers = st.one_of(st.integers(-1000, 1000).map(Decimal), decimals()).map(plain)
base64_texts = binaries.map(lambda data: b64encode(data).decode())

scalars: st.SearchStrategy[dict[str, Any]] = st.one_of(
    texts.map(lambda text: {"S": text}),
    numbers.map(lambda number: {"N": number}),
    base64_texts.map(lambda text: {"B": text}),
    st.booleans().map(lambda truth: {"BOOL": truth}),
    st.just({"NULL": True}),
)
sets: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.lists(texts, min_size=1, max_size=4, unique=True).map(lambda members: {"SS": sorted(members)}),
    st.lists(numbers, min_size=1, max_size=4, unique=True).map(
        lambda members: {"NS": sorted(members, key=Decimal)}
    ),
    st.lists(binaries, min_size=1, max_size=4, unique=True).map(
        lambda members: {"BS": [b64encode(member).decode() for member in sorted(members)]}
    ),
)
values: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.one_of(scalars, sets),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda members: {"L": members}),
        st.dictionaries(names, inner, max_size=4).map(lambda members: {"M": members}),
    ),
    max_leaves=8,
)
items: st.SearchStrategy[dict[str, dict[str, Any]]] = st.dictionaries(names, values, max_size=5)
