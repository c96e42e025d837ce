"""A design as data: what a blueprint says of it, as JSON and as text, without running anything."""

from __future__ import annotations

import ast
import json
from datetime import datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import designs
import singletable.blueprint
from designs.author_feed import (
    Author,
    AuthorId,
    AuthorPK,
    Feed,
    FeedTable,
    Kind,
    MonthPK,
    Opaque,
    Post,
    ProfileSK,
    Tagged,
)
from designs.kefir import Kefir
from designs.settings import Archive
from singletable.blueprint import (
    Blueprint,
    BlueprintError,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    ParameterBlueprint,
    PatternBlueprint,
    PlaceBlueprint,
    ReadBlueprint,
    SortBlueprint,
    TableBlueprint,
)
from singletable.design import BatchGet, Design, Eq, Get, pattern
from singletable.design.describe.samples import sample
from singletable.design.values.annotations import type_text
from singletable.design.values.conditions import condition_data
from singletable.errors import DeclarationError
from support.paths import FIXTURES

GOLDEN = FIXTURES / "kefir_blueprint.json"


def of_pattern(design: type[Design], method: str) -> PatternBlueprint:
    return next(each for each in design.blueprint().patterns if each.method == method)


# --- Kefir ------------------------------------------------------------------------------------------------


def test_blueprint_of_kefir_is_the_recorded_one() -> None:
    written = Kefir.blueprint().to_json()
    assert written == GOLDEN.read_text(encoding="utf-8"), (
        f"if this is meant: write Kefir.blueprint().to_json() to {GOLDEN.name}"
    )


def test_blueprint_of_the_first_version_still_loads() -> None:
    older = (FIXTURES / "kefir_blueprint_version_1.json").read_text(encoding="utf-8")
    assert Blueprint.from_json(older) == Kefir.blueprint()


def test_blueprint_is_the_same_every_time() -> None:
    assert Kefir.blueprint() == Kefir.blueprint()


def all_designs() -> list[type[Design]]:
    """Find every design that the tests run."""
    modules = [import_module(f"designs.{module.name}") for module in iter_modules(designs.__path__)]
    found = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Design) and value.__module__ == module.__name__
    ]
    assert len(found) > 3
    return found


@pytest.mark.parametrize("design", all_designs(), ids=lambda design: f"{design.__module__}.{design.__name__}")
def test_every_design_has_a_blueprint_that_reads_back(design: type[Design]) -> None:
    blueprint = design.blueprint()
    assert Blueprint.from_json(blueprint.to_json()) == blueprint
    assert len(blueprint.patterns) == len(design.patterns())
    assert blueprint.text().startswith(f"# {design.__name__}\n")


def test_text_has_the_keys_and_patterns_of_the_document() -> None:
    text = Kefir.blueprint().text()
    assert "| User | `USER#{user_id}` / `METADATA` |  |  |" in text
    assert "`PK = USER#{user_id} AND begins_with(SK, BATCH#)`" in text
    assert "`REMINDER#PENDING` / `DUE#{due_at}#{reminder_id}` while status = pending" in text
    assert "| 14b | Export the activity of a batch |" in text


def test_sparse_condition_is_data() -> None:
    reminder = Kefir.blueprint().entity("Reminder")
    assert reminder is not None
    place = reminder.place("GSI2")
    assert place is not None
    assert place.when == {"operator": "=", "field": "status", "value": "pending"}


def test_one_shard_is_not_in_the_stored_template() -> None:
    reminder = Kefir.blueprint().entity("Reminder")
    assert reminder is not None
    place = reminder.place("GSI2")
    assert place is not None
    assert place.pk.template == "REMINDER#PENDING"
    assert place.pk.parts[0].shards == 1


def test_shards_are_one_read_with_their_count() -> None:
    (read,) = of_pattern(Kefir, "batches_by_status").reads
    assert (read.pk, read.count, read.index) == ("STATUS#{status}#{shard}", 4, "GSI2")


def test_value_of_the_caller_in_a_filter_is_a_parameter() -> None:
    (read,) = of_pattern(Kefir, "batches_in").reads
    assert read.filter == {"operator": "=", "field": "status", "parameter": "status"}


def test_range_says_within_which_prefix_it_stays() -> None:
    (read,) = of_pattern(Kefir, "events_since").reads
    assert read.sort == SortBlueprint(">", ("EVENT#{created_at}#",), "EVENT#")


def test_collection_of_a_whole_partition_has_no_range() -> None:
    (read,) = of_pattern(Kefir, "batch_activity").reads
    assert read.entities == ("BatchEvent", "Reminder")
    assert read.sort is None


def test_collection_of_a_part_of_its_partition_is_a_range() -> None:
    (read,) = of_pattern(Feed, "posts").reads
    assert read.sort == SortBlueprint("BETWEEN", ("POST#", "POST$"))
    assert read.is_consistent


def test_gathered_plans_are_reads_with_names() -> None:
    reads = of_pattern(Kefir, "batch_view").reads
    assert [(read.name, read.order, read.limit) for read in reads] == [
        ("batch", "forward", None),
        ("events", "backward", 20),
        ("reminders", "forward", None),
    ]


def test_pattern_names_its_entities() -> None:
    assert of_pattern(Kefir, "batch_view").entities == ("Batch", "BatchEvent", "Reminder")


def test_settings_and_indexes_are_in_the_blueprint() -> None:
    blueprint = Archive.blueprint()
    assert blueprint.table.ttl == "goneAt"
    assert blueprint.table.capacity == (5, 4)
    assert blueprint.table.types["year"] == "N"
    titles = next(index for index in blueprint.indexes if index.name == "by-title")
    assert titles.included == ("entityType", "goneAt", "ownerId", "sizeBytes", "title")
    document = blueprint.entity("Document")
    assert document is not None
    by_year = document.place("by-year")
    assert by_year is not None
    assert by_year.pk == KeyBlueprint(("shelf", "year"), None, by_year.pk.parts, "ShelfYear")


# --- a design with everything else ----------------------------------------------------------------------


def test_what_a_pattern_always_asks_for_is_text_in_its_template() -> None:
    (read,) = of_pattern(Feed, "public").reads
    assert read.pk == "FEED#public#{month}#{shard}"
    assert read.order == "backward"
    assert of_pattern(Feed, "public").cached_s == 30


def test_walk_counts_the_requests_of_its_samples() -> None:
    (read,) = of_pattern(Feed, "public").reads
    assert read.count == 2


def test_batch_get_is_a_read_of_whole_keys() -> None:
    authors = of_pattern(Feed, "authors")
    assert authors.operation == "BatchGet"
    assert authors.rps == 3
    assert authors.parameters == (ParameterBlueprint("author_ids", "list[str]"),)
    assert authors.reads == (
        ReadBlueprint(
            "BatchGetItem", ("Author",), "AUTHOR#{author_id}", sort=SortBlueprint("=", ("PROFILE",))
        ),
    )


def test_default_of_a_parameter_is_used_and_still_its_value() -> None:
    drafts = of_pattern(Feed, "drafts")
    assert [parameter.is_optional for parameter in drafts.parameters] == [False, True]
    (read,) = drafts.reads
    assert read.limit == 5
    assert read.filter == {
        "operator": "and",
        "conditions": [
            {"operator": "=", "field": "state", "value": "draft"},
            {"operator": "=", "field": "kind", "parameter": "kind"},
        ],
    }


def test_filter_names_the_parameter_that_it_compares_with() -> None:
    (read,) = of_pattern(Feed, "dear").reads
    assert read.filter == {"operator": ">", "field": "price", "parameter": "price"}


def test_two_bounds_are_between() -> None:
    (read,) = of_pattern(Feed, "week").reads
    assert read.sort == SortBlueprint("BETWEEN", ("POST#{posted_at}", "POST#{posted_at}"), "POST#")


def test_declared_sample_is_used() -> None:
    (read,) = of_pattern(Feed, "somebody").reads
    assert read.pk == "AUTHOR#me"


def test_relations_are_data() -> None:
    blueprint = Feed.blueprint()
    author, post, tagged = blueprint.entities
    assert author.owns == ("Post",)
    assert author.version == "version"
    (unique,) = author.uniques
    assert (unique.template, unique.fields) == ("EMAIL#{email}", ("email",))
    (count,) = author.aggregates
    assert (count.field, count.kind, count.of) == ("posts", "count", "Post")
    assert count.when == {"operator": "=", "field": "state", "value": "public"}
    (copy,) = post.copies
    assert (copy.field, copy.of, copy.of_field, copy.by) == ("author_email", "Author", "email", "stream")
    assert post.discriminator == "post"
    assert post.ttl is not None
    assert post.ttl.seconds == 30 * 86400
    assert tagged.derived is not None
    assert tagged.derived.of == "Post"
    assert blueprint.rates[0].creates == 2.5


def test_conditions_that_are_combined_are_nested() -> None:
    place = Feed.blueprint().entities[1].place("GSI1")
    assert place is not None
    assert place.when == {
        "operator": "and",
        "conditions": [
            {"operator": "not", "condition": {"operator": "exists", "field": "hidden_at"}},
            {"operator": "in", "field": "state", "values": ["draft", "public"]},
        ],
    }


def test_chain_of_or_is_one_list() -> None:
    data = condition_data(Eq("a", 1) | Eq("b", Decimal("1.5")) | Eq("c", Kind.IMAGE))
    assert [each["value"] for each in data["conditions"]] == [1, "1.5", "image"]


def test_buckets_and_shards_are_parts_of_keys() -> None:
    place = Feed.blueprint().entities[1].place("GSI1")
    assert place is not None
    assert [(part.name, part.field, part.bucket, part.shards) for part in place.pk.parts] == [
        ("state", "state", None, None),
        ("month", "posted_at", "month", None),
        ("shard", "author_id", None, 2),
    ]


def test_text_tells_what_is_kept_and_expires() -> None:
    text = Feed.blueprint().text()
    assert "- unique: email (`EMAIL#{email}`)" in text
    assert "- expires by `ttl`, 30 days while state = draft" in text
    assert "- made from Post, kept by transaction" in text
    assert "| Post | 2.5 | 0 | 0 |" in text


# --- patterns that cannot be read -------------------------------------------------------------------------


class Silent(Design):
    table = FeedTable
    entities = (Author, Post, Tagged)

    @pattern("Without a sample")
    def opaque(self, who: Opaque) -> Get[Author]:
        return Author.key.get(AuthorPK(author_id=AuthorId("me")), ProfileSK())


class Failing(Design):
    table = FeedTable
    entities = (Author, Post, Tagged)

    @pattern("Fails")
    def fails(self, author_id: AuthorId) -> Get[Author]:
        return Author.key.get(AuthorPK(author_id=AuthorId(author_id + "#")), ProfileSK())


class Picky(Design):
    table = FeedTable
    entities = (Author, Post, Tagged)

    @pattern("Takes one sample, not the other")
    def picky(self, count: int) -> Get[Author]:
        if count > 1:
            raise ValueError("too many")
        return Author.key.get(AuthorPK(author_id=AuthorId(f"a{count}")), ProfileSK())


class Several(Design):
    table = FeedTable
    entities = (Author, Post, Tagged)

    @pattern("Authors by their ids")
    def authors(self, *author_ids: AuthorId) -> BatchGet[Author]:
        return Author.key.batch_get((AuthorPK(author_id=each), ProfileSK()) for each in author_ids)


def test_pattern_that_takes_any_number_of_arguments_is_described() -> None:
    authors = of_pattern(Several, "authors")
    assert authors.parameters == (ParameterBlueprint("author_ids", "tuple[str, ...]", is_optional=True),)
    (read,) = authors.reads
    assert (read.operation, read.pk) == ("BatchGetItem", "AUTHOR#{author_id}")


def test_parameter_without_a_sample_asks_for_one() -> None:
    with pytest.raises(DeclarationError, match="the pattern opaque: no value of Opaque") as refused:
        Silent.blueprint()
    assert '@pattern(..., samples={"who": ...})' in str(refused.value)


def test_pattern_that_fails_with_samples_is_named() -> None:
    with pytest.raises(DeclarationError, match="the pattern fails fails with sample values"):
        Failing.blueprint()


def test_pattern_that_takes_only_one_of_the_samples_is_read_all_the_same() -> None:
    (read,) = of_pattern(Picky, "picky").reads
    assert read.operation == "GetItem"


def test_types_have_samples() -> None:
    for annotation in (
        str, int, bool, float, Decimal, bytes, datetime, UUID, Kind, AuthorId, AuthorId | None, list[int],
        tuple[str, ...], tuple[int, str], frozenset[AuthorId], Literal[3, 4], Annotated[str, "x"], MonthPK,
    ):  # fmt: skip
        first, second = (sample(annotation, "some_name", variant) for variant in (0, 1))
        assert first != second, annotation


def test_samples_hold_no_separator() -> None:
    assert sample(str, "restaurant_name", 0) == "restaurantname1"


TYPES: list[tuple[Any, str]] = [
    (AuthorId, "str"),
    (AuthorId | None, "str"),
    (list[AuthorId], "list[str]"),
    (Literal["a", 1], '"a" | 1'),
    (dict[str, int] | None, "dict[str, int]"),
    (tuple[int, ...], "tuple[int, ...]"),
    (int | str, "int | str"),
]


@pytest.mark.parametrize(("annotation", "text"), TYPES, ids=[text for _, text in TYPES])
def test_type_is_written_as_it_is_underneath(annotation: Any, text: str) -> None:
    assert type_text(annotation) == text


# --- blueprints of others -----------------------------------------------------------------------------------

texts = st.text(max_size=8)
keys = st.builds(KeyBlueprint, st.tuples(texts), st.none() | texts)
conditions = st.none() | st.fixed_dictionaries(
    {"operator": texts, "field": texts, "value": texts | st.integers()}
)
places = st.builds(PlaceBlueprint, texts, keys, st.none() | keys, st.none() | texts, conditions)
entities = st.builds(EntityBlueprint, texts, texts, places=st.lists(places, max_size=2).map(tuple))
sorts = st.builds(SortBlueprint, texts, st.lists(texts, max_size=2).map(tuple))
reads = st.builds(ReadBlueprint, texts, st.tuples(texts), texts, sort=st.none() | sorts, filter=conditions)
patterns = st.builds(
    PatternBlueprint, texts, texts, texts, texts, reads=st.lists(reads, max_size=2).map(tuple),
    rps=st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip
blueprints = st.builds(
    Blueprint,
    texts,
    st.builds(TableBlueprint, texts, capacity=st.none() | st.tuples(st.integers(), st.integers())),
    st.lists(st.builds(IndexBlueprint, texts, st.tuples(texts)), max_size=2).map(tuple),
    st.lists(entities, max_size=2).map(tuple),
    st.lists(patterns, max_size=2).map(tuple),
)


@given(blueprints)
def test_every_blueprint_right_or_wrong_reads_back(blueprint: Blueprint) -> None:
    assert Blueprint.from_json(blueprint.to_json()) == blueprint


@given(blueprints)
def test_every_blueprint_has_a_text(blueprint: Blueprint) -> None:
    assert blueprint.text().startswith(f"# {blueprint.name}")


def test_wrong_design_can_be_written_down() -> None:
    read = ReadBlueprint(
        "Query", ("Batch",), "BATCH#", sort=SortBlueprint("begins_with", ("STATUS#{status}",))
    )
    wrong = Blueprint(
        "Documented",
        TableBlueprint("t", sk="SK"),
        patterns=(PatternBlueprint("4", "x", "", "", reads=(read,)),),
    )
    assert "begins_with(SK, STATUS#{status})" in wrong.text()


WRONG_JSON = {
    "not-json": ("{", "this is no JSON"),
    "not-ours": ("{}", 'it has no "blueprint": 2 at its top'),
    "newer": ('{"blueprint": 3}', "of version 3, and this release reads 1 to 2"),
    "lacking": ('{"blueprint": 1, "name": "x"}', "Blueprint lacks table"),
    "unknown": (
        '{"blueprint": 1, "name": "x", "table": {"name": "t", "x": 1}}',
        "Blueprint.table has no 'x'",
    ),
    "type": (
        '{"blueprint": 1, "name": "x", "table": {"name": "t"}, "entities": [{"name": 1, "discriminator": ""}]}',
        r"Blueprint.entities\[0\].name is 1, and should be a valid string",
    ),
}


@pytest.mark.parametrize(("text", "message"), WRONG_JSON.values(), ids=WRONG_JSON.keys())
def test_what_is_no_blueprint_is_refused_where_it_is_wrong(text: str, message: str) -> None:
    with pytest.raises(BlueprintError, match=message):
        Blueprint.from_json(text)


def test_json_leaves_out_what_has_its_default() -> None:
    data = json.loads(Blueprint("x", TableBlueprint("t")).to_json())
    assert data == {"blueprint": 2, "name": "x", "table": {"name": "t"}}


def test_blueprint_package_imports_nothing_of_this_one() -> None:
    folder = Path(singletable.blueprint.__file__).parent
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("singletable"):
                assert (node.module or "").startswith("singletable.blueprint"), file
