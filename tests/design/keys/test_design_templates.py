"""Templates of keys: what they render, what they refuse, and that no two keys are one text."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from singletable.design.keys.codecs import ShardCodec, ValueCodec
from singletable.design.keys.parts import Normalize, Pad, Verbatim, codec_for
from singletable.design.keys.template import (
    Template,
    TemplateField,
    just_above,
    just_below,
    last_of_prefix,
    next_prefix,
    split_template,
)
from singletable.design.keys.times import BucketCodec
from singletable.errors import (
    DeclarationError,
    KeyValueError,
    MissingKeyPartError,
    SeparatorError,
    UnknownFieldError,
)

NOON = datetime(2025, 1, 20, 12, tzinfo=UTC)
NOON_TEXT = "2025-01-20T12:00:00.000Z"


def template(text: str, **annotations: Any) -> Template:
    specs = {piece.name: piece.spec for piece in split_template(text) if isinstance(piece, TemplateField)}
    codecs = {
        name: annotation if isinstance(annotation, ValueCodec) else codec_for(annotation, specs.get(name, ""))
        for name, annotation in annotations.items()
    }
    return Template.compile(text, codecs, "SomeKey")


EVENT = template("EVENT#{created_at}#{event_id}", created_at=datetime, event_id=str)
LUNCH = template("{restaurant}-{year}-{week:02}", restaurant=str, year=int, week=int)


# --- rendering and reading -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compiled", "values", "text"),
    [
        pytest.param(template("METADATA"), {}, "METADATA", id="literal alone"),
        pytest.param(template("{name}", name=str), {"name": "a#b"}, "a#b", id="field alone"),
        pytest.param(EVENT, {"created_at": NOON, "event_id": "e1"}, f"EVENT#{NOON_TEXT}#e1", id="event"),
        pytest.param(
            template("USER#{user_id}#FAVORITE", user_id=str),
            {"user_id": "u1"},
            "USER#u1#FAVORITE",
            id="literal at the end",
        ),
        pytest.param(
            LUNCH,
            {"restaurant": "la-cantina", "year": 2025, "week": 3},
            "la-cantina-2025-03",
            id="separators in the first field",
        ),
        pytest.param(
            template("INVALID_INGREDIENT#{name}", name=str),
            {"name": "thit_ga"},
            "INVALID_INGREDIENT#thit_ga",
            id="underscore that separates nothing",
        ),
        pytest.param(
            template("SCORE#{score}#{card}", score=Annotated[int, Pad(10, offset=5_000_000_000)], card=str),
            {"score": -5, "card": "c"},
            "SCORE#4999999995#c",
            id="offset",
        ),
        pytest.param(
            template("RATING#{average:.1f}#{day}", average=Decimal, day=date),
            {"average": Decimal("4.5"), "day": date(2025, 1, 2)},
            "RATING#4.5#2025-01-02",
            id="decimals",
        ),
        pytest.param(template("{{{n}}}", n=int), {"n": 7}, "{7}", id="braces"),
        pytest.param(
            template("FILE#{path}#{version:04}", path=Annotated[str, Verbatim()], version=int),
            {"path": "a#b", "version": 2},
            "FILE#a#b#0002",
            id="verbatim in the middle",
        ),
        pytest.param(
            template("TAG#{kind}#{tag}", kind=str, tag=Annotated[str, Verbatim()]),
            {"kind": "k", "tag": "#x#"},
            "TAG#k##x#",
            id="verbatim at the end",
        ),
        pytest.param(
            template("{year}W{week:02}", year=int, week=int),
            {"year": 2025, "week": 3},
            "2025W03",
            id="letter between numbers",
        ),
        pytest.param(
            template("RECENT#{month}-{day}", month=BucketCodec("month"), day=date),
            {"month": "2025-01", "day": date(2025, 1, 2)},
            "RECENT#2025-01-2025-01-02",
            id="fixed widths may hold the separator",
        ),
    ],
)
def test_key_is_rendered_and_read_back(compiled: Template, values: dict[str, Any], text: str) -> None:
    assert compiled.render(values) == text
    assert compiled.render(tuple(values.values())) == text
    assert compiled.render(list(values.values())) == text
    assert compiled.render_normalized(tuple(values.values())) == text
    assert compiled.parse(text) == values
    assert compiled.matches(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "EVENT#",
        "EVENT#x#e1",
        f"EVENT#{NOON_TEXT}#",
        f"EVENT#{NOON_TEXT}#a#b",
        f" EVENT#{NOON_TEXT}#a",
        f"XEVENT#{NOON_TEXT}#a",
        f"EVENT#{NOON_TEXT}#\U0010ffff",
        "EVENT#2025-02-30T12:00:00.000Z#e1",
    ],
)
def test_text_of_another_key_is_not_read(text: str) -> None:
    assert not EVENT.matches(text)
    with pytest.raises(KeyValueError, match="is no SomeKey"):
        EVENT.parse(text)


def test_missing_field_is_named() -> None:
    for values in ({"created_at": NOON}, (NOON,)):
        with pytest.raises(MissingKeyPartError, match="without event_id") as caught:
            EVENT.render(values)
        assert caught.value.missing == ("event_id",)


def test_value_of_the_wrong_type_is_refused_with_key_and_field() -> None:
    with pytest.raises(KeyValueError) as caught:
        EVENT.render({"created_at": "now", "event_id": "e1"})
    assert "SomeKey.created_at (EVENT#{created_at}#{event_id}): 'now' is a str" in caught.value.message


def test_unknown_field_is_refused() -> None:
    with pytest.raises(UnknownFieldError, match="no field 'id'"):
        EVENT.normalize("id", "e1")


# --- separators ----------------------------------------------------------------------------------------


def test_separator_in_a_value_is_refused_with_everything_that_matters() -> None:
    with pytest.raises(SeparatorError) as caught:
        EVENT.render({"created_at": NOON, "event_id": "a#b"})
    assert caught.value.message == (
        "SomeKey.event_id (EVENT#{created_at}#{event_id}): 'a#b' holds '#', which separates the parts of the key"
    )
    assert caught.value.hint


def test_separator_is_refused_even_in_the_only_field() -> None:
    # Or USER#a#FAVORITE could be the user "a#FAVORITE", or the favorites of the user "a".
    with pytest.raises(SeparatorError):
        template("USER#{user_id}", user_id=str).render({"user_id": "a#FAVORITE"})


def test_separator_that_normalizing_removes_is_no_separator() -> None:
    slug = Annotated[str, Normalize(lambda text: text.replace("#", "-"))]
    assert template("NAME#{name}", name=slug).render({"name": "c#"}) == "NAME#c-"


def test_only_characters_next_to_a_field_separate() -> None:
    compiled = template("A_B#{a}-/{b}.C+D", a=str, b=str)
    assert compiled.separators == "#-/."


def test_negative_number_beside_a_minus_is_refused() -> None:
    # Or la--5-03 could be year 5 of the restaurant "la-".
    with pytest.raises(KeyValueError, match=r"SomeKey.year .*: -5 is negative"):
        LUNCH.render({"restaurant": "la", "year": -5, "week": 3})


def test_one_of_two_texts_may_not_hold_the_separator_although_it_is_first() -> None:
    with pytest.raises(SeparatorError):
        template("{a}-{b}", a=str, b=str).render({"a": "x-y", "b": "z"})


# --- prefixes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compiled", "values", "text"),
    [
        pytest.param(EVENT, {}, "EVENT#", id="nothing given"),
        pytest.param(EVENT, {"created_at": NOON}, f"EVENT#{NOON_TEXT}#", id="with the separator behind"),
        pytest.param(EVENT, {"created_at": NOON, "event_id": "e"}, f"EVENT#{NOON_TEXT}#e", id="all given"),
        pytest.param(template("METADATA"), {}, "METADATA", id="literal alone"),
        pytest.param(template("{name}", name=str), {}, "", id="field first"),
        pytest.param(template("A#{n}#B", n=int), {"n": 4}, "A#4#B", id="literal at the end"),
    ],
)
def test_prefix_goes_up_to_the_first_missing_field(
    compiled: Template, values: dict[str, Any], text: str
) -> None:
    assert compiled.prefix(values) == text


def test_prefix_takes_the_beginning_of_the_next_text() -> None:
    names = template("NAME#{name}", name=Annotated[str, Normalize(str.lower)])
    assert names.prefix({}, starting="Thi") == "NAME#thi"
    assert names.prefix({}, starting="") == "NAME#"
    with pytest.raises(SeparatorError):
        names.prefix({}, starting="a#")
    with pytest.raises(KeyValueError, match="no beginning"):
        EVENT.prefix({}, starting="2025")
    with pytest.raises(MissingKeyPartError, match="none is left"):
        names.prefix({"name": "a"}, starting="b")


def test_prefix_with_a_gap_is_refused_and_names_the_template() -> None:
    with pytest.raises(
        MissingKeyPartError, match="event_id is given, and created_at before it is not"
    ) as caught:
        EVENT.prefix({"event_id": "e1"})
    assert "EVENT#{created_at}#{event_id}" in caught.value.message
    assert caught.value.missing == ("created_at",)


def test_prefix_that_would_find_longer_values_is_refused() -> None:
    # la- is also how la-cantina-2025-03 begins.
    with pytest.raises(MissingKeyPartError, match="would also find longer values"):
        LUNCH.prefix({"restaurant": "la"})
    assert LUNCH.prefix({"restaurant": "la", "year": 1, "week": 2}) == "la-1-02"


# --- one shard ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shards", "rendered"),
    [
        ("STATUS#{status}#{shard}", 1, "STATUS#active"),
        ("STATUS#{status}#{shard}", 4, "STATUS#active#0"),
        ("STATUS#{shard}#{status}", 1, "STATUS#active"),
        ("STATUS#{shard}#OF#{status}", 1, "STATUS#OF#active"),
        ("{shard}#{status}", 1, "active"),
        ("{shard}#{status}", 4, "0#active"),
        ("{status}#{shard}#X", 1, "active#X"),
        ("{status}##{shard}", 1, "active"),
    ],
)
def test_one_shard_renders_the_plain_key(text: str, shards: int, rendered: str) -> None:
    compiled = template(text, status=str, shard=ShardCodec(shards))
    values = {"status": "active", "shard": 0}
    assert compiled.render(values) == rendered
    assert compiled.parse(rendered) == values
    assert list(compiled.parse(rendered)) == list(compiled.names)


def test_one_shard_need_not_be_given() -> None:
    compiled = template("STATUS#{status}#{shard}", status=str, shard=ShardCodec(1))
    assert compiled.fields_required == ("status",)
    assert compiled.render({"status": "active"}) == "STATUS#active"
    assert compiled.prefix({}) == "STATUS#"
    assert compiled.prefix({"status": "active"}) == "STATUS#active"
    with pytest.raises(KeyValueError, match="1 is no shard"):
        compiled.render({"status": "active", "shard": 1})


def test_literal_before_the_only_shard_stays() -> None:
    compiled = template("REMINDER#PENDING#{shard}", shard=ShardCodec(1))
    assert compiled.render({"shard": 0}) == compiled.prefix({}) == "REMINDER#PENDING"


def test_separators_do_not_depend_on_the_number_of_shards() -> None:
    for shards in (1, 4):
        compiled = template("{status}#{shard}", status=str, shard=ShardCodec(shards))
        assert compiled.separators == "#"


# --- mistakes in declarations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "annotations", "message"),
    [
        pytest.param("USER#{userid}", {"user_id": str}, "userid is not a field of it", id="unknown"),
        pytest.param("USER", {"user_id": str}, "user_id is not in the template", id="unused"),
        pytest.param("{a}#{a}", {"a": str}, "a stands in it twice", id="twice"),
        pytest.param("{a}{b}", {"a": str, "b": str}, "where a ends and b begins", id="nothing between"),
        pytest.param("{a}{b}", {"a": int, "b": int}, "where a ends and b begins", id="two numbers"),
        pytest.param("{a}x{b}", {"a": str, "b": str}, "where a ends and b begins", id="letter between"),
        pytest.param(
            "{a}#{b}",
            {"a": Annotated[str, Verbatim()], "b": Annotated[str, Verbatim()]},
            "where a ends and b begins",
            id="two verbatim",
        ),
        pytest.param(
            "{a}#{b}#{c}",
            {"a": Literal["x", "x#y"], "b": str, "c": int},
            "of a, its value 'x#y' holds '#'",
            id="literal with a separator",
        ),
        pytest.param(
            "{a}a{b}",
            {"a": Literal["x", "xa"], "b": Literal["z", "az"]},
            "where a ends and b begins",
            id="literals that overlap",
        ),
        pytest.param("{a:.1f}.{b}", {"a": Decimal, "b": str}, "decimal point is a separator", id="point"),
        pytest.param("{shard}", {"shard": ShardCodec(1)}, "it renders as nothing", id="one shard alone"),
    ],
)
def test_template_that_cannot_be_read_back_is_refused(
    text: str, annotations: dict[str, Any], message: str
) -> None:
    with pytest.raises(DeclarationError) as caught:
        template(text, **annotations)
    fields = ", ".join(annotations)
    assert caught.value.message.startswith(f"SomeKey has the template {text!r} and the fields {fields}: ")
    assert message in caught.value.message


@pytest.mark.parametrize("text", ["", "A#{", "A#}", "A#{a", "A#a}", "{}", "{1a}", "{a!r}", "{a.b}", "{a{b}}"])
def test_template_that_is_not_well_formed_is_refused(text: str) -> None:
    with pytest.raises(DeclarationError, match=r"SomeKey"):
        split_template(text, "SomeKey")
    with pytest.raises(DeclarationError, match=r"SomeKey"):
        Template.compile(text, {}, "SomeKey")


def test_template_is_split_into_texts_and_fields() -> None:
    assert split_template("A{{#{week:02}-{name}") == [
        "A{#",
        TemplateField("week", "02"),
        "-",
        TemplateField("name"),
    ]


def test_verbatim_literal_is_accepted_where_it_is_unambiguous() -> None:
    compiled = template("{kind}#{n:02}", kind=Annotated[Literal["a", "a#b"], Verbatim()], n=int)
    assert compiled.parse(compiled.render({"kind": "a#b", "n": 1})) == {"kind": "a#b", "n": 1}


# --- properties: any template that compiles ------------------------------------------------------------------

# Few values of each kind, chosen to be mistaken for each other, so that all their combinations can be tried.
KINDS: dict[str, tuple[Any, str, list[Any]]] = {
    "text": (str, "", ["a", "a#", "#a", "aa", "1", "-", "a-", "a-1", "\u1eaf"]),
    "verbatim": (Annotated[str, Verbatim()], "", ["a", "a#", "#a", "aa", "a#a", "-", "#"]),
    "number": (int, "", [-11, -1, 0, 1, 11, 111]),
    "zeros": (int, "02", [0, 1, 11]),
    "offset": (Annotated[int, Pad(3, offset=500)], "", [-500, -389, 499]),
    "decimal": (Decimal, ".1f", [Decimal("-1.1"), Decimal("0.0"), Decimal("1.1"), Decimal("11.1")]),
    "float": (float, "04.1f", [0.0, 1.1, 11.1]),
    "literal": (Literal["a", "aa", "1"], "", ["a", "aa", "1"]),
    "verbatim literal": (Annotated[Literal["a", "a#", "#a", "1"], Verbatim()], "", ["a", "a#", "#a", "1"]),
    "shard": (ShardCodec(12), "", [0, 1, 11]),
    "one shard": (ShardCodec(1), "", [0]),
    "month": (BucketCodec("month"), "", ["2024-12", "2025-01"]),
}
LITERALS = st.sampled_from(["", "#", "-", ".", "a", "1", "A#", "#a", "#a#", "{{"])


@st.composite
def templates(draw: st.DrawFn) -> tuple[Template, list[dict[str, Any]]]:
    """Draw a template that compiles, with all the values that it is tried with."""
    text = draw(LITERALS)
    codecs: dict[str, ValueCodec] = {}
    samples: list[list[Any]] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=3))):
        annotation, spec, values = KINDS[kind]
        codecs[f"f{number}"] = (
            annotation if isinstance(annotation, ValueCodec) else codec_for(annotation, spec)
        )
        samples.append(values)
        text += f"{{f{number}:{spec}}}" + draw(LITERALS)
    try:
        compiled = Template.compile(text, codecs, "AnyKey")
    except DeclarationError:
        assume(False)
        raise
    return compiled, [dict(zip(codecs, values, strict=True)) for values in product(*samples)]


def keys_of(compiled: Template, samples: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """Render the values that the template accepts."""
    keys = []
    for values in samples:
        with suppress(SeparatorError, KeyValueError):
            keys.append((values, compiled.render(values)))
    return keys


@settings(max_examples=400, suppress_health_check=[HealthCheck.filter_too_much])
@given(templates())
def test_every_key_is_read_as_it_was_rendered_and_no_two_are_the_same(
    made: tuple[Template, list[dict[str, Any]]],
) -> None:
    compiled, samples = made
    keys = keys_of(compiled, samples)
    assert len({text for _, text in keys}) == len(keys)
    for values, text in keys:
        assert compiled.parse(text) == values
        normal = [compiled.normalize(name, values[name]) for name in compiled.names]
        assert compiled.render_normalized(normal) == text


@settings(max_examples=200, suppress_health_check=[HealthCheck.filter_too_much])
@given(templates(), st.data())
def test_prefix_finds_exactly_the_keys_with_its_values(
    made: tuple[Template, list[dict[str, Any]]], data: st.DataObject
) -> None:
    compiled, samples = made
    required = compiled.fields_required
    assume(required)
    leading_names = required[: data.draw(st.integers(0, len(required) - 1))]
    asked = data.draw(st.sampled_from(samples))
    leading = {name: asked[name] for name in leading_names}
    try:
        prefix = compiled.prefix(leading)
    except (SeparatorError, KeyValueError, MissingKeyPartError):
        assume(False)
    for values, text in keys_of(compiled, samples):
        belongs = all(values[name] == value for name, value in leading.items())
        assert text.startswith(prefix) == belongs
        if prefix:
            assert (prefix <= text < next_prefix(prefix)) == belongs
            assert (prefix <= text <= last_of_prefix(prefix)) == belongs


@given(st.text("a1#-", max_size=12))
def test_text_that_is_read_is_rendered_the_same(text: str) -> None:
    for compiled in (LUNCH, template("a#{x}#{n}", x=str, n=int), template("{x}1", x=str)):
        if compiled.matches(text):
            assert compiled.render(compiled.parse(text)) == text


@given(st.text(min_size=1), st.integers(0, 10**30), st.integers(1, 53))
def test_restaurant_may_have_any_name(restaurant: str, year: int, week: int) -> None:
    assume("\U0010ffff" not in restaurant)
    values = {"restaurant": restaurant, "year": year, "week": week}
    assert LUNCH.parse(LUNCH.render(values)) == values


def test_keys_are_in_the_order_of_their_values() -> None:
    compiled = template("S#{score}#{at}", score=Annotated[int, Pad(4, offset=5000)], at=datetime)
    moments = [datetime(2025, 1, 1, 0, 0, second, tzinfo=UTC) for second in (0, 1)]
    values = [(score, moment) for score in (-40, -5, 0, 9, 10, 4999) for moment in moments]
    texts = [compiled.render(pair) for pair in values]
    assert texts == sorted(texts, key=str.encode)


# --- properties: bounds ----------------------------------------------------------------------------------------

EDGES = "\x00\x01a\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010fffe"
KEY_TEXTS = st.text(EDGES, min_size=1, max_size=4)
LONG_TEXTS = st.builds(lambda size, text: "k" * size + text, st.integers(1014, 1024), KEY_TEXTS).filter(
    lambda text: len(text.encode()) <= 1024
)


@example("#", "$")
@example("\ud7ff", "\ue000")
@example("~", "\u00e9")
@given(KEY_TEXTS, KEY_TEXTS)
def test_next_prefix_is_the_end_of_what_begins_with_a_text(prefix: str, text: str) -> None:
    assert (prefix.encode() <= text.encode() < next_prefix(prefix).encode()) == text.startswith(prefix)
    assert (prefix.encode() <= text.encode() <= last_of_prefix(prefix).encode()) == text.startswith(prefix)


@given(KEY_TEXTS, KEY_TEXTS)
def test_just_above_and_below_leave_nothing_between(bound: str, text: str) -> None:
    assert (text.encode() >= just_above(bound).encode()) == (text.encode() > bound.encode())
    assert (text.encode() <= just_below(bound).encode()) == (text.encode() < bound.encode())


@given(LONG_TEXTS, LONG_TEXTS)
def test_bounds_of_the_longest_keys_are_no_longer_and_as_exact(bound: str, text: str) -> None:
    for made in (next_prefix(bound), just_above(bound), just_below(bound), last_of_prefix(bound)):
        assert len(made.encode()) <= 1024
    assert (bound <= text < next_prefix(bound)) == text.startswith(bound)
    assert (bound <= text <= last_of_prefix(bound)) == text.startswith(bound)
    assert (text >= just_above(bound)) == (text > bound)
    assert (text <= just_below(bound)) == (text < bound)


def test_next_prefix_is_the_next_character() -> None:
    assert next_prefix("EVENT#") == "EVENT$"
    assert next_prefix("a\U0010ffff") == "b"
    assert next_prefix("a\ud7ff") == "a\ue000"


def test_nothing_bounds_the_empty_text() -> None:
    for bound in (next_prefix, just_below):
        with pytest.raises(ValueError, match="nothing is"):
            bound("")
