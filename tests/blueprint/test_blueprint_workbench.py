"""Models of NoSQL Workbench: every shape that its files have, both ways, and files that are none."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.blueprint import (
    AttributeBlueprint,
    Blueprint,
    BlueprintError,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    KeyPart,
    ModelBlueprint,
    PatternBlueprint,
    PlaceBlueprint,
    TableBlueprint,
)
from singletable.blueprint.foreign.workbench import from_workbench, to_workbench

Data = dict[str, Any]


def attribute(name: str, kind: str = "S") -> Data:
    return {"AttributeName": name, "AttributeType": kind}


def keys(pk: str, sk: str | None = None, kind: str = "S") -> Data:
    return {"PartitionKey": attribute(pk), **({"SortKey": attribute(sk, kind)} if sk else {})}


def model(*tables: Data, **more: Any) -> str:
    metadata = {
        "Author": "Ada",
        "DateCreated": "Mar 03, 2022, 11:29 PM",
        "DateLastModified": "May 17, 2023, 09:43 PM",
        "Description": "A library.",
        "AWSService": "Amazon DynamoDB",
        "Version": "3.0",
    }
    return json.dumps({"ModelName": "Library", "ModelMetadata": metadata, "DataModel": list(tables), **more})


def table(name: str = "Library", **members: Any) -> Data:
    return {"TableName": name, "KeyAttributes": keys("PK", "SK"), "DataAccess": {"MySql": {}}, **members}


def facet(name: str, pk: str, sk: str, *rows: Data, attributes: tuple[str, ...] = ()) -> Data:
    return {
        "FacetName": name,
        "KeyAttributeAlias": {"PartitionKeyAlias": pk, "SortKeyAlias": sk},
        "TableData": list(rows),
        "NonKeyAttributes": list(attributes),
        "DataAccess": {"MySql": {}},
    }


def row(**texts: str) -> Data:
    return {name: {"S": value} for name, value in texts.items()}


def templates(entity: EntityBlueprint | None) -> dict[str | None, tuple[str | None, ...]]:
    assert entity is not None
    return {
        place.index: (place.pk.template, *(() if place.sk is None else (place.sk.template,)))
        for place in entity.places
    }


# --- shapes of files ------------------------------------------------------------------------------------


def test_facet_with_placeholders_is_an_entity_with_templates() -> None:
    facets = [facet("Loan", "MEMBER#<memberId>", "LOAN#<due>#<loanId>", attributes=("due", "title"))]
    found = from_workbench(
        model(table(NonKeyAttributes=[attribute("due", "N"), attribute("title")], TableFacets=facets))
    )
    loan = found.entity("Loan")
    assert templates(loan) == {None: ("MEMBER#{memberId}", "LOAN#{due}#{loanId}")}
    assert loan is not None
    assert [(each.stored, each.dynamodb, each.type) for each in loan.attributes] == [
        ("due", "N", "float"), ("title", "S", "str"),
    ]  # fmt: skip
    assert (found.name, found.about, found.table.name) == ("Library", "A library.", "Library")


@pytest.mark.parametrize(
    ("alias", "template"),
    [
        ("BOOK#${isbn}", "BOOK#{isbn}"),
        ("BOOK#{isbn}", "BOOK#{isbn}"),
        ("BOOK#isbn", "BOOK#{isbn}"),
        ("bookId", "{bookId}"),
        ("METADATA", "METADATA"),
        ("PK", None),
        ("[PK]", None),
        ('"book"', "book"),
    ],
)
def test_alias_without_rows_is_read_by_its_spelling(alias: str, template: str | None) -> None:
    found = from_workbench(model(table(TableFacets=[facet("Book", alias, "SK")])))
    assert templates(found.entity("Book")) == {None: (template, None)}


def test_facet_of_several_aliases_takes_their_names_for_the_parts_that_rows_reveal() -> None:
    rows = [row(PK="ACC#7", SK="SUB#3#SKU#9", SKU="9")]
    found = from_workbench(model(table(TableFacets=[facet("Subscription", "AccountId", "SubId#Sku", *rows)])))
    assert templates(found.entity("Subscription")) == {None: ("ACC#{AccountId}", "SUB#{SubId}#SKU#{SKU}")}


def test_rows_reveal_templates_of_indexes_and_the_attribute_that_names_the_kind() -> None:
    index = {
        "IndexName": "GSI1",
        "KeyAttributes": keys("GSI1PK", "GSI1SK"),
        "Projection": {"ProjectionType": "ALL"},
    }
    books = [
        row(PK=f"BOOK#{n}", SK="METADATA", GSI1PK="GENRE#crime", GSI1SK=f"20{n}", Kind="book", year=f"20{n}")
        for n in (11, 12)
    ]
    members = [row(PK=f"MEMBER#{n}", SK=f"MEMBER#{n}", Kind="member") for n in (1, 2)]
    found = from_workbench(
        model(
            table(
                GlobalSecondaryIndexes=[index],
                TableFacets=[facet("Book", "PK", "SK", *books), facet("Member", "PK", "SK", *members)],
            )
        )
    )
    assert templates(found.entity("Book")) == {
        None: ("BOOK#{book_id}", "METADATA"), "GSI1": ("GENRE#{genre_id}", None),
    }  # fmt: skip
    assert templates(found.entity("Member")) == {None: ("MEMBER#{member_id}", "MEMBER#{member_id}")}
    assert found.discriminator == "Kind"
    assert [entity.discriminator for entity in found.entities] == ["book", "member"]


def test_parts_of_other_values_have_other_names() -> None:
    rows = [row(PK="U#1#FOLLOWS", SK="U#2"), row(PK="U#1#FOLLOWS", SK="U#3")]
    found = from_workbench(model(table(TableFacets=[facet("Follow", "PK", "SK", *rows)])))
    assert templates(found.entity("Follow")) == {None: ("U#{u_id}#FOLLOWS", "U#{u_id_2}")}


def test_rows_without_facets_are_entities_by_prefix() -> None:
    rows = [
        row(PK="USER#1", SK="PROFILE", name="Ada"),
        row(PK="USER#1", SK="ORDER#5", total="7"),
        row(PK="USER#2", SK="ORDER#6", total="8"),
    ]
    found = from_workbench(
        model(table(TableData=rows, NonKeyAttributes=[attribute("name"), attribute("total")]))
    )
    assert {entity.name: len(entity.samples) for entity in found.entities} == {"Profile": 1, "Order": 2}
    assert templates(found.entity("Order")) == {None: ("USER#{user_id}", "ORDER#{order_id}")}
    assert any("Profile, Order" in question for question in found.questions)


def test_rows_without_prefixes_are_items() -> None:
    rows = [row(Forum="DynamoDB", Subject="Tags"), row(Forum="SQS", Subject="Queues")]
    found = from_workbench(
        model({"TableName": "Thread", "KeyAttributes": keys("Forum", "Subject"), "TableData": rows})
    )
    assert [entity.name for entity in found.entities] == ["Item"]
    assert templates(found.entities[0]) == {None: (None, None)}
    assert found.entities[0].samples[1] == {"Forum": "SQS", "Subject": "Queues"}


def test_attribute_that_no_row_and_no_facet_has_is_a_question() -> None:
    found = from_workbench(
        model(
            table(
                NonKeyAttributes=[attribute("colour"), attribute("state")],
                TableData=[row(PK="s#1", SK="child#2", state="on"), row(PK="s#1", SK="c#3")],
            )
        )
    )
    assert "colour: which items have these attributes? No facet or row does" in found.questions


def test_rows_beside_facets_are_kept() -> None:
    facets = [facet("User", "USER#<id>", "PROFILE", row(PK="USER#1", SK="PROFILE"))]
    found = from_workbench(model(table(TableFacets=facets, TableData=[row(PK="USER#1", SK="ORDER#5")])))
    assert [(entity.name, len(entity.samples)) for entity in found.entities] == [("User", 1), ("Order", 1)]


def test_indexes_have_each_projection_and_local_ones_are_local() -> None:
    def index(name: str, pk: str, sk: str | None, **projection: Any) -> Data:
        return {"IndexName": name, "KeyAttributes": keys(pk, sk, "N"), "Projection": projection}

    found = from_workbench(
        model(
            table(
                GlobalSecondaryIndexes=[
                    index("all", "a", None, ProjectionType="ALL"),
                    index("keys", "SK", "n", ProjectionType="KEYS_ONLY"),
                    index("some", "a", "n", ProjectionType="INCLUDE", NonKeyAttributes=["x", "y"]),
                ],
                LocalSecondaryIndexes=[index("local", "PK", "n", ProjectionType="ALL")],
            )
        )
    )
    assert found.indexes == (
        IndexBlueprint("all", ("a",)),
        IndexBlueprint("keys", ("SK",), ("n",), "KEYS_ONLY"),
        IndexBlueprint("some", ("a",), ("n",), "INCLUDE", ("x", "y")),
        IndexBlueprint("local", ("PK",), ("n",), is_local=True),
    )
    assert found.table.types == {"PK": "S", "SK": "S", "a": "S", "n": "N"}


def test_provisioned_table_has_capacity_and_scaling() -> None:
    def scaling(least: int, most: int) -> Data:
        return {
            "ScalableTargetRequest": {"MinCapacity": least, "MaxCapacity": most, "ServiceRole": "role"},
            "ScalingPolicyConfiguration": {"TargetValue": 70},
        }

    settings = {
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        "AutoScalingRead": scaling(1, 10),
        "AutoScalingWrite": scaling(2, 20),
    }
    found = from_workbench(model(table(BillingMode="PROVISIONED", ProvisionedCapacitySettings=settings)))
    assert (found.table.billing, found.table.capacity) == ("PROVISIONED", (5, 6))
    assert found.table.scaling == {"read": (1, 10, 70), "write": (2, 20, 70)}
    assert from_workbench(to_workbench(found)[0]).table == found.table
    assert from_workbench(model(table(BillingMode="PAY_PER_REQUEST"))).table.capacity is None


def test_rows_hold_every_type() -> None:
    values: Data = {
        "PK": {"S": "A#1"},
        "SK": {"S": "A#1"},
        "text": {"S": ""},
        "whole": {"N": "12"},
        "broken": {"N": "1.5"},
        "long": {"N": "0.12345678901234567890123456789"},
        "is": {"BOOL": True},
        "nothing": {"NULL": True},
        "bytes": {"B": "AAEC"},
        "tags": {"SS": ["a", "b"]},
        "numbers": {"NS": ["1", "2.5"]},
        "blobs": {"BS": ["AA=="]},
        "list": {"L": [{"S": "x"}, {"L": []}, {"M": {}}]},
        "map": {"M": {"deep": {"M": {"deeper": {"N": "1"}}}}},
    }
    found = from_workbench(model(table(TableFacets=[facet("A", "A#<id>", "A#<id>", values)])))
    (entity,) = found.entities
    assert entity.samples[0] == {
        "PK": "A#1", "SK": "A#1", "text": "", "whole": 12, "broken": 1.5,
        "long": "0.12345678901234567890123456789", "is": True, "nothing": None, "bytes": "AAEC",
        "tags": ["a", "b"], "numbers": [1, 2.5], "blobs": ["AA=="],
        "list": ["x", [], {}], "map": {"deep": {"deeper": 1}},
    }  # fmt: skip
    types = {each.stored: each.dynamodb for each in entity.attributes}
    assert types == {name: next(iter(value)) for name, value in values.items() if name not in ("PK", "SK")}
    text, notes = to_workbench(found)
    assert notes == ()
    assert json.loads(text)["DataModel"][0]["TableFacets"][0]["TableData"] == [values]


def test_set_inside_of_a_map_is_a_list_and_a_question() -> None:
    values = {**row(PK="A#1", SK="A#1"), "map": {"M": {"tags": {"SS": ["a"]}}}}
    found = from_workbench(model(table(TableFacets=[facet("A", "A#<id>", "A#<id>", values)])))
    assert found.entities[0].samples[0]["map"] == {"tags": ["a"]}
    assert any("the SS at" in question and "map" in question for question in found.questions)


def test_format_of_sample_data_is_the_format_of_the_attribute() -> None:
    formats = {"at": ["date", "ISO 8601 date and time"], "name": ["dataTypes", "String"]}
    attributes = [attribute("at"), attribute("name")]
    found = from_workbench(model(table(NonKeyAttributes=attributes, SampleDataFormats=formats)))
    assert {each.stored: each.format for each in found.entities[0].attributes if each.format} == {
        "at": "iso-8601"
    }
    assert from_workbench(to_workbench(found)[0]) == found


def test_model_of_an_older_version_is_read() -> None:
    text = json.dumps(
        {"DataModel": [{"TableName": "T", "KeyAttributes": {"PartitionKey": {"AttributeName": "id"}}}]}
    )
    found = from_workbench(text)
    assert (found.name, found.table.pk, found.table.sk, found.entities) == ("T", "id", None, ())


def test_one_of_several_tables_is_chosen() -> None:
    text = model(table("A"), table("B"))
    assert from_workbench(text, "B").table.name == "B"
    with pytest.raises(BlueprintError, match=r"has 2 tables, and you have to name one: 'A', 'B'$"):
        from_workbench(text)
    with pytest.raises(BlueprintError, match=r"has no table 'C'; it has 'A', 'B'$"):
        from_workbench(text, "C")


# --- out ------------------------------------------------------------------------------------------------


def design(*entities: EntityBlueprint, **more: Any) -> Blueprint:
    indexes = (IndexBlueprint("GSI1", ("GSI1PK",), ("GSI1SK",)),)
    return Blueprint("Shop", TableBlueprint("shop", "PK", "SK"), indexes, entities, **more)


def place(pk: str | None, sk: str | None, index: str | None = None, **more: Any) -> PlaceBlueprint:
    names = ("PK", "SK") if index is None else ("GSI1PK", "GSI1SK")
    return PlaceBlueprint(
        index or "table", KeyBlueprint((names[0],), pk), KeyBlueprint((names[1],), sk), index, **more
    )


def test_key_of_an_index_that_no_row_reveals_is_shown_by_a_row_of_templates() -> None:
    entity = EntityBlueprint(
        "User", "User", places=(place("USER#{id}", "profile"), place("MAIL#{mail}", "{at}", "GSI1"))
    )
    text, notes = to_workbench(design(entity))
    assert notes == ()
    (written,) = json.loads(text)["DataModel"][0]["TableFacets"]
    assert written["TableData"] == [row(PK="USER#<id>", SK="profile", GSI1PK="MAIL#<mail>", GSI1SK="<at>")]
    back = from_workbench(text)
    assert templates(back.entity("User")) == {None: ("USER#{id}", "profile"), "GSI1": ("MAIL#{mail}", "{at}")}
    assert back.entities[0].samples == ()


def test_model_is_written_as_workbench_writes_it() -> None:
    entity = EntityBlueprint(
        "User", "User", (AttributeBlueprint("name", "name", "str"),), (place("USER#{id}", "PROFILE"),)
    )
    text, notes = to_workbench(
        design(entity, about="A shop."), date=datetime(2025, 4, 19, 18, 28, tzinfo=UTC)
    )
    assert notes == ()
    written = json.loads(text)
    assert written["ModelMetadata"] == {
        "Author": "", "DateCreated": "Apr 19, 2025, 06:28 PM", "DateLastModified": "Apr 19, 2025, 06:28 PM",
        "Description": "A shop.", "AWSService": "Amazon DynamoDB", "Version": "3.0",
    }  # fmt: skip
    (found,) = written["DataModel"]
    assert found == {
        "TableName": "shop",
        "KeyAttributes": keys("PK", "SK"),
        "NonKeyAttributes": [attribute("GSI1PK"), attribute("GSI1SK"), attribute("name")],
        "TableFacets": [facet("User", "USER#<id>", "PROFILE", attributes=("name",))],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeyAttributes": keys("GSI1PK", "GSI1SK"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "DataAccess": {"MySql": {}},
        "BillingMode": "PAY_PER_REQUEST",
    }


def test_what_does_not_fit_is_said() -> None:
    parts = (KeyPart("day", "str", "at", bucket="day"),)
    first = PlaceBlueprint("table", KeyBlueprint(("PK",), "D#{day}", parts), KeyBlueprint(("SK",), None))
    second = place("A#{a}", "B", "GSI1", when={"operator": "exists", "field": "a"})
    entity = EntityBlueprint(
        "Day", "day", (AttributeBlueprint("made_at", "madeAt", "datetime"),), (first, second), version="version"
    )  # fmt: skip
    wide = IndexBlueprint("wide", ("a", "b"), is_local=True, capacity=(1, 1))
    found = Blueprint(
        "X", TableBlueprint("x", "PK", "SK", stream="NEW_IMAGE", ttl="ttl"),
        (IndexBlueprint("GSI1", ("GSI1PK",), ("GSI1SK",)), wide, IndexBlueprint("none", ())), (entity,),
        patterns=(PatternBlueprint("1", "one"),), discriminator="kind",
    )  # fmt: skip
    _, notes = to_workbench(found)
    told = " ".join(notes)
    for words in (
        "stream, ttl", "patterns", "capacity for indexes: wide", "several attributes", "'wide' stands under",
        "'none' has no partition key", "condition for Day in GSI1", "how {day} of Day",
        "names that are stored alone: made_at",
        "Day: version", "'kind'", "'day'",
    ):  # fmt: skip
        assert words in told, words
    assert all(note.endswith(".") for note in notes)


def test_two_types_of_one_attribute_are_said_unless_rows_have_them() -> None:
    def entity(name: str, kind: str, *samples: Data) -> EntityBlueprint:
        attributes = (AttributeBlueprint("size", "size", kind),)
        return EntityBlueprint(name, name, attributes, (place(f"{name}#{{id}}", "X"),), samples=samples)

    assert "B.size is N" in to_workbench(design(entity("A", "str"), entity("B", "int")))[1][0]
    shown = entity("B", "int", {"PK": "B#1", "SK": "X", "size": 3})
    text, notes = to_workbench(design(entity("A", "str"), shown))
    assert notes == ()
    assert [each.attributes[0].dynamodb for each in from_workbench(text).entities] == ["S", "N"]


def test_types_in_python_are_stored_as_dynamodb_has_them() -> None:
    types = {
        "str": "S", "int | None": "N", "Decimal": "N", "bool": "BOOL", "bytes": "B", "list[str]": "L",
        "dict[str, int]": "M", "set[str]": "SS", "frozenset[int]": "NS", "set[bytes]": "BS", "datetime": "S",
        "Address": "M", "Level": "N", "Status": "S", "Unknown": "S",
    }  # fmt: skip
    models = (
        ModelBlueprint("Address", (AttributeBlueprint("city", "city", "str"),)),
        ModelBlueprint("Level", values=(1, 2)),
        ModelBlueprint("Status", values=("on", "off")),
    )
    attributes = tuple(
        AttributeBlueprint(f"a{number}", f"a{number}", kind) for number, kind in enumerate(types)
    )
    entity = EntityBlueprint("A", "A", attributes, (place("A#{id}", "A"),), models=models)
    back = from_workbench(to_workbench(design(entity))[0])
    assert [each.dynamodb for each in back.entities[0].attributes] == list(types.values())


# --- there and back -------------------------------------------------------------------------------------

NAMES = st.text("abAB#_<>{}[]\"' ", max_size=6)
WORDS = st.sampled_from(["PK", "SK", "GSI1PK", "email", "a", "b", "n", "data"])
LITERALS = st.one_of(NAMES, st.sampled_from(["USER#", "profile", "PK", "METADATA", "[PK]", '"x"']))
TEMPLATES = st.none() | st.lists(LITERALS | WORDS.map(lambda name: f"{{{name}}}"), max_size=4).map("".join)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text("aA#<{}> 1", max_size=5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
)
TYPES = st.sampled_from(["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"])


@st.composite
def designs(draw: st.DrawFn) -> Blueprint:
    """Designs, right and wrong: keys and indexes of any attributes, samples that fit nothing."""
    sk = draw(st.none() | WORDS)
    indexes = draw(
        st.lists(
            st.builds(
                IndexBlueprint, NAMES,
                st.lists(WORDS, max_size=2).map(tuple), st.lists(WORDS, max_size=2).map(tuple),
                st.sampled_from(["ALL", "KEYS_ONLY", "INCLUDE", "SOME"]), st.lists(NAMES, max_size=2).map(tuple),
                st.none(), st.booleans(),
            ),
            max_size=3,
            unique_by=lambda index: index.name,
        )
    )  # fmt: skip
    key = st.builds(KeyBlueprint, st.lists(WORDS, max_size=2).map(tuple), TEMPLATES)
    where = st.none() | st.sampled_from([index.name for index in indexes] or ["nowhere"])
    places = st.builds(PlaceBlueprint, NAMES, key, st.none() | key, where)
    attributes = st.builds(
        lambda name, kind: AttributeBlueprint(name, name, "str", dynamodb=kind), WORDS | NAMES, TYPES
    )
    entity = st.builds(
        EntityBlueprint, NAMES, NAMES,
        st.lists(attributes, max_size=4, unique_by=lambda each: each.stored).map(tuple),
        st.lists(places, max_size=3).map(tuple),
        samples=st.lists(st.dictionaries(WORDS | NAMES, VALUES, max_size=4), max_size=3).map(tuple),
    )  # fmt: skip
    types = draw(st.dictionaries(WORDS, st.sampled_from(["S", "N", "B", "?"])))
    found = TableBlueprint(
        draw(NAMES), draw(WORDS), sk, types, draw(st.sampled_from(["PAY_PER_REQUEST", "PROVISIONED"]))
    )
    return Blueprint(
        draw(NAMES), found, tuple(indexes), draw(st.lists(entity, max_size=3).map(tuple)), about=draw(NAMES)
    )


def told(notes: tuple[str, ...], *words: str) -> bool:
    return any(all(word in note for word in words) for note in notes)


def as_json(value: Any) -> str:
    return json.dumps(value)


@given(designs())
def test_every_design_is_read_back_or_what_is_lost_is_said(found: Blueprint) -> None:
    text, notes = to_workbench(found)
    back = from_workbench(text)
    assert (back.name, back.about, back.table.name) == (found.name, found.about, found.table.name)
    assert (back.table.pk, back.table.sk, back.table.billing) == (
        found.table.pk,
        found.table.sk,
        found.table.billing,
    )
    for name, kind in back.table.types.items():
        assert found.table.types.get(name, "S") == kind or told(notes, repr(name), "which is none")
    for index in found.indexes:
        same = back.index(index.name)
        if same is None:
            assert told(notes, repr(index.name), "left out")
        else:
            assert (same.projection, same.included, same.is_local) == (
                index.projection,
                index.included,
                index.is_local,
            )
            assert (same.pk, same.sk) == (index.pk, index.sk) or told(
                notes, repr(index.name), "several attributes"
            )
    assert [entity.name for entity in back.entities] == [entity.name for entity in found.entities]
    for entity, read in zip(found.entities, back.entities, strict=True):
        same_entity(found, entity, read, notes)
    assert from_workbench(to_workbench(back)[0]).entities == back.entities or to_workbench(back)[1]


def same_entity(
    found: Blueprint, entity: EntityBlueprint, read: EntityBlueprint, notes: tuple[str, ...]
) -> None:
    seen: set[str | None] = set()
    for each in entity.places:
        index = None if each.index is None else found.index(each.index)
        where = "the table" if each.index is None else f"the index {each.index!r}"
        if each.index in seen or (each.index is not None and (index is None or not index.pk)):
            assert told(notes, entity.name, where, "does not hold")
            continue
        seen.add(each.index)
        other = read.place(each.index)
        has_sort = found.table.sk is not None if index is None else bool(index.sk)
        if (each.sk is not None) != has_sort:
            assert told(notes, entity.name, where, "keys in")
        pairs = [(each.pk, None if other is None else other.pk)]
        if each.sk is not None and has_sort:
            pairs.append((each.sk, None if other is None else other.sk))
        for key, kept in pairs:
            is_kept = kept is not None and kept.template == key.template
            assert is_kept or told(notes, repr(key.template), entity.name, "no spelling")
    types = {each.stored: each.dynamodb for each in read.attributes}
    for attribute in entity.attributes:
        is_kept = types.get(attribute.stored) == attribute.dynamodb
        assert is_kept or told(notes, f"{entity.name}.{attribute.name} is")
    try:
        is_kept = as_json(entity.samples) == as_json(read.samples)
    except ValueError:
        is_kept = False
    assert is_kept or told(notes, f"sample of {entity.name}") or told(notes, f"samples of {entity.name}")


def test_sane_design_is_read_back_whole() -> None:
    names = (
        AttributeBlueprint("id", "id", "str", dynamodb="S"),
        AttributeBlueprint("tags", "tags", "set[str]", dynamodb="SS"),
    )
    sample = {"PK": "USER#1", "SK": "PROFILE", "GSI1PK": "TAG#x", "GSI1SK": "USER#1"}
    user = EntityBlueprint(
        "User", "User", names, (place("USER#{id}", "PROFILE"), place("TAG#{tags}", "USER#{id}", "GSI1")),
        samples=({**sample, "id": "1", "tags": ["x"]},),
    )  # fmt: skip
    order = EntityBlueprint("Order", "Order", names[:1], (place("USER#{id}", "ORDER#{id}"),))
    found = design(user, order)
    text, notes = to_workbench(found)
    back = from_workbench(text)
    assert notes == ()
    assert back.entities == found.entities
    assert back.indexes == found.indexes


# --- what is no model -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"^line 1, column 0: this is no JSON: EOF while parsing"),
        ('{\n  "DataModel": [,]\n}', r"^line 2, column 17: this is no JSON: expected value$"),
        ("[]", 'no "DataModel" at its top'),
        ('{"DataModel": 5}', r"^line 1, column 2: DataModel is 5, and should be a list$"),
        ('{"DataModel": []}', "has no DynamoDB table"),
        ('{"DataModel": [{}]}', r"^line 1, column 16: DataModel\[0\] lacks TableName$"),
        ('{"DataModel": [{"TableName": []}]}', r"DataModel\[0\]\.TableName is a list of 0, and should be a text"),
        ('{"DataModel": [{"TableName": "T"}]}', "lacks KeyAttributes"),
        ("[" * 100_000, "nested too deeply"),
        ('{"DataModel": ' + "[" * 150 + "]" * 150 + "}", "should be a mapping|nested too deeply"),
        (model(table("A"), table("A")), "a second table 'A'"),
        (model(table(NonKeyAttributes=[attribute("a", "Text")])), "'Text', and should be one of S, N"),
        (model(table(TableData=[{"PK": "plain"}])), r"TableData\[0\]\.PK is 'plain', and should be a mapping"),
        (model(table(TableData=[{"PK": {"S": "a", "N": "1"}}])), "a value with its type"),
        (model(table(TableData=[{"PK": {"BOOL": "maybe"}}])), "should be true or false"),
        (model(table(TableFacets=[{"FacetName": None}])), "lacks FacetName"),
        (model(table(TableFacets={"a": 1})), "TableFacets is a mapping of 1, and should be a list"),
        (model(table(), ModelMetadata={"AWSService": "Amazon Keyspaces"}), "a model for Amazon Keyspaces"),
        (" " * 33_000_000, "33,000,000 characters"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else None,
)  # fmt: skip
def test_text_that_is_no_model_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BlueprintError, match=sentence) as caught:
        from_workbench(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = [
    "TableName", "KeyAttributes", "NonKeyAttributes", "TableFacets", "GlobalSecondaryIndexes", "TableData",
    "SampleDataFormats", "BillingMode", "ProvisionedCapacitySettings",
]  # fmt: skip


@given(st.dictionaries(st.sampled_from(MEMBERS), JSON), JSON, JSON)
def test_wrong_types_anywhere_end_in_a_sentence(members: Data, metadata: Any, name: Any) -> None:
    inner = facet("F", "A#<a>", "B", {"PK": {"S": "A#1"}})
    whole = {**table(TableFacets=[inner]), **members}
    text = json.dumps({"DataModel": [whole], "ModelMetadata": metadata, "ModelName": name})
    sentence = ""
    try:
        from_workbench(text)
    except BlueprintError as error:
        sentence = str(error)
    assert "\n" not in sentence
