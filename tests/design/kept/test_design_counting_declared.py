"""Counters that cannot be kept are refused when the design is declared, with what is missing."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

import pytest

from singletable.design import AverageOf, CountOf, Design, Entity, Eq, Gt, Key, Keys, SortKey, SumOf, Table
from singletable.errors import DeclarationError


class ThingTable(Table):
    name = "things"


class ThingPK(Key, template="THING#{thing_id}"):
    thing_id: str


class MainSK(SortKey, template="MAIN"):
    pass


class PartSK(SortKey, template="PART#{part_id}"):
    part_id: str


class PartPK(Key, template="PART#{part_id}"):
    part_id: str


class Part(Entity):
    key = Keys(ThingPK, PartSK)
    thing_id: str
    part_id: str
    size: Decimal = Decimal(0)
    label: str = ""


class Stray(Entity):
    key = Keys(PartPK, MainSK)
    part_id: str


class Hidden(Entity):
    key = Keys(PartPK, MainSK)
    part_id: str
    thing_id: str


def declare(kind: Any, marker: Any, default: Any = 0, *others: type[Entity]) -> None:
    class Thing(Entity):
        key = Keys(ThingPK, MainSK)
        thing_id: str
        numbers_sum: int = 0
        parts: Annotated[kind, marker] = default

    class Things(Design):
        table = ThingTable
        entities = (Thing, Part, *others)


@pytest.mark.parametrize(
    ("kind", "marker", "others", "message"),
    [
        (int, CountOf("Nobody"), (), "Nobody is not an entity of Things"),
        (int, CountOf(Stray), (Stray,), "Stray does not say which Thing it belongs to: it has no field thing_id"),
        (int, CountOf(Stray, via={"thing": "part_id"}), (Stray,), "via names 'thing', and the key of Thing"),
        (int, CountOf(Hidden), (Hidden,), "Thing.parts: the Hidden items of one Thing cannot be found"),
        (str, CountOf(Part), (), "Thing.parts is counted, and is no number"),
        (int, SumOf(Part, "size"), (), "Thing.parts is an int, and what it holds has a fraction"),
        (int, SumOf(Part, "weight"), (), "Thing.parts adds up Part.weight, which is not a field"),
        (int, SumOf(Part, "label"), (), "adds up Part.label, which is no number"),
        (int, CountOf(Part, when=Eq("parts", 1)), (), "Thing.parts: the condition of CountOf names .parts."),
        (int, CountOf(Part, when=Gt("size", "big")), (), "Gt.'size', 'big'. asks what Part.size never is"),
        (int, CountOf(Part, by="stream"), (), "Things: Part and Thing are kept together by the stream"),
    ],
)  # fmt: skip
def test_declaration_that_cannot_be_kept_is_refused_when_the_design_is_made(
    kind: Any, marker: Any, others: tuple[type[Entity], ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if getattr(marker, "by", "") == "stream":
        monkeypatch.setattr(ThingTable, "stream", "KEYS_ONLY")
    with pytest.raises(DeclarationError, match=message):
        declare(kind, marker, "" if kind is str else 0, *others)


def test_hidden_names_of_an_average_must_be_free() -> None:
    class Thing(Entity):
        key = Keys(ThingPK, MainSK)
        thing_id: str
        size_sum: int = 0
        size: Annotated[Decimal, AverageOf(Part, "size")] = Decimal(0)

    with pytest.raises(
        DeclarationError, match="keeps its sum and count as sizeSum and sizeCount, and sizeSum is a field"
    ):

        class Things(Design):
            table = ThingTable
            entities = (Thing, Part)
