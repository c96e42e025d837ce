"""Designs whose documents differ: each is linted as it says it, and where they differ is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from singletable.blueprint import Blueprint
from singletable.blueprint.said import Said
from singletable.lint import lint
from singletable.lint.variants import differences, variants

ROOMS = """
blueprint = 2
name = "Rooms"

[table]
name = "rooms"
sk = "SK"
said = [{ at = "A:1" }]

[[entities]]
name = "Room"
discriminator = "Room"
attributes = [
    { name = "house", stored = "house", type = "str", format = "ulid" },
    { name = "number", stored = "number", type = "int" },
]

[[entities.places]]
name = "key"
pk = { attributes = ["PK"], template = "HOUSE#{house}" }
sk = { attributes = ["SK"], template = "ROOM#{number:05}" }
said = [{ at = "A:10" }, { at = "A:12" }]

[[patterns]]
number = "1"
title = "Rooms of a house"
operation = "Query"
parameters = [{ name = "house", type = "str" }]

[[patterns.reads]]
operation = "Query"
entities = ["Room"]
order = "backward"
conditions = [{ attribute = "PK", operator = "=", templates = ["HOUSE#{house}"] }]
said = [{ at = "A:20" }]
"""


def _key(template: str) -> dict[str, Any]:
    return {"attributes": ["SK"], "template": template}


def _with_place(*said: Said) -> Blueprint:
    rooms = Blueprint.from_toml(ROOMS)
    room = rooms.entities[0]
    place = replace(room.places[0], said=(*room.places[0].said, *said))
    return replace(rooms, entities=(replace(room, places=(place,)),))


def _with_pattern(**differs: Any) -> Blueprint:
    rooms = Blueprint.from_toml(ROOMS)
    pattern = replace(rooms.patterns[0], said=(Said("A:20"), Said("B:5", differs)))
    return replace(rooms, patterns=(pattern,))


def test_finding_that_only_one_document_has_names_it() -> None:
    design = _with_place(Said("B:3", {"sk": _key("ROOM#{number}")}))
    found = [each for each in lint(design) if each.code == "KEY101"]
    assert [each.document for each in found] == ["B"]
    assert "entity Room" in found[0].places(design)


def test_finding_that_the_design_has_itself_is_found_once_and_names_none() -> None:
    design = _with_place(Said("B:3", {"pk": {"attributes": ["PK"], "template": "H#{house}"}}))
    text = design.to_toml().replace("ROOM#{number:05}", "ROOM#{number}")
    assert [each.document for each in lint(Blueprint.from_toml(text), select=["KEY101"])] == [""]


def test_repaired_document_gives_nothing() -> None:
    assert not lint(_with_place(Said("B:3", {"sk": _key("ROOM#{number:05}")})))


def test_document_that_says_a_part_in_two_other_ways_gives_two_variants() -> None:
    design = _with_place(
        Said("B:3", {"sk": _key("ROOM#{number}")}), Said("B:9", {"sk": _key("R#{number:05}")})
    )
    made = [(document, str(each.entities[0].places[0].sk)) for document, _, each in variants(design)]
    assert [document for document, _ in made] == ["B", "B"]
    assert "ROOM#{number}" in made[0][1]
    assert "R#{number:05}" in made[1][1]


def test_statement_that_does_not_fit_its_part_is_no_difference() -> None:
    assert not differences(_with_place(Said("B:3", {"sk": 7})))


@pytest.mark.parametrize(
    ("at", "start"), [("B:3", "B:3 and A:10 differ: sk "), ("A:10", "A:10 says two things: sk ")]
)
def test_each_statement_that_differs_is_found_once(at: str, start: str) -> None:
    design = _with_place(Said(at, {"sk": _key("CHAMBER#{number:05}"), "name": "key"}))
    (found,) = lint(design, select=["DOC901"])
    assert found.message == f"{start}CHAMBER#{{number:05}}, and sk ROOM#{{number:05}}"


def test_several_statements_of_one_pattern_are_one_finding() -> None:
    design = _with_pattern(is_transaction=True)
    read = replace(design.patterns[0].reads[0], said=(Said("A:20"), Said("B:6", {"operation": "Scan"})))
    design = replace(design, patterns=(replace(design.patterns[0], reads=(read,)),))
    (found,) = lint(design, select=["DOC901"])
    assert "is_transaction True" in found.message
    assert "operation Scan" in found.message


@pytest.mark.parametrize(
    "differs",
    [
        {"operation": "Scan"},
        {"title": "All rooms"},
        {
            "reads": [
                {
                    "operation": "Query",
                    "entities": ["Room"],
                    "conditions": [{"attribute": "PK", "operator": "=", "templates": ["HOUSE#{id}"]}],
                }
            ]
        },
    ],
    ids=["the pattern's own operation", "its title", "a parameter's name, and silence about the order"],
)
def test_other_words_are_no_contradiction(differs: dict[str, Any]) -> None:
    assert not lint(_with_pattern(**differs), select=["DOC901"])
