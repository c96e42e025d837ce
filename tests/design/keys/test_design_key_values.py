"""How values become text inside keys: one text for each value, in the order of the values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NewType
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.design.keys.codecs import ShardCodec, ValueCodec
from singletable.design.keys.parts import Normalize, Pad, codec_for
from singletable.design.keys.times import BucketCodec
from singletable.errors import DeclarationError, KeyValueError

UserId = NewType("UserId", str)


class Status(Enum):
    ACTIVE = "active"
    READY = "ready"


class Level(IntEnum):
    LOW = 2
    HIGH = 10


class Colour(StrEnum):
    RED = "red"


def written(codec: ValueCodec, value: Any) -> str:
    return codec.render(codec.normalize(value))


Score = Annotated[int, Pad(10, offset=5_000_000_000)]
Rating = Annotated[Decimal, Pad(4, decimals=1)]
Balance = Annotated[float, Pad(8, decimals=2, offset=1000)]


@pytest.mark.parametrize(
    ("annotation", "spec", "value", "text"),
    [
        pytest.param(str, "", "u1", "u1", id="text"),
        pytest.param(UserId, "", "u1", "u1", id="a new type"),
        pytest.param(str, "", Colour.RED, "red", id="text of an enum"),
        pytest.param(Literal["a", 7], "", 7, "7", id="literal"),
        pytest.param(Literal[1, 2], "02", 2, "02", id="padded literal"),
        pytest.param(Status, "", Status.READY, "ready", id="enum"),
        pytest.param(Status, "", "ready", "ready", id="enum by its value"),
        pytest.param(Level, "", Level.HIGH, "10", id="number of an enum"),
        pytest.param(int, "", 1234, "1234", id="number"),
        pytest.param(int, "", -5, "-5", id="negative number"),
        pytest.param(int, "", Level.LOW, "2", id="number from an enum"),
        pytest.param(int, "02", 3, "03", id="week"),
        pytest.param(int, "06d", 3, "000003", id="padded as Python writes it"),
        pytest.param(Score, "", -40, "4999999960", id="negative with an offset"),
        pytest.param(Rating, "", Decimal("4.5"), "04.5", id="padded decimal"),
        pytest.param(Rating, "", Decimal("4.50"), "04.5", id="decimal with a zero more"),
        pytest.param(Decimal, ".1f", Decimal("4.5"), "4.5", id="decimal"),
        pytest.param(Decimal, ".1f", Decimal("-0.5"), "-0.5", id="negative decimal"),
        pytest.param(Decimal, ".1f", Decimal("-0"), "0.0", id="zero has no sign"),
        pytest.param(float, ".1f", 4, "4.0", id="float from a whole number"),
        pytest.param(float, "04.1f", 4.5, "04.5", id="padded float"),
        pytest.param(Balance, "", -999.99, "00000.01", id="negative float with an offset"),
        pytest.param(date, "", date(2025, 1, 20), "2025-01-20", id="day"),
        pytest.param(date, "", date(1, 1, 1), "0001-01-01", id="first day"),
        pytest.param(
            datetime, "", datetime(2025, 1, 20, 10, 30, tzinfo=UTC), "2025-01-20T10:30:00.000Z", id="time"
        ),
        pytest.param(
            datetime,
            "",
            datetime(2025, 1, 20, 10, 30, 0, 1999, tzinfo=timezone(timedelta(hours=1))),
            "2025-01-20T09:30:00.001Z",
            id="time of another zone, cut to the millisecond",
        ),
        pytest.param(
            UUID,
            "",
            UUID("12345678-1234-5678-1234-56781234567A"),
            "12345678-1234-5678-1234-56781234567a",
            id="uuid",
        ),
    ],
)
def test_value_is_written_and_read_back(annotation: Any, spec: str, value: Any, text: str) -> None:
    codec = codec_for(annotation, spec)
    assert written(codec, value) == text
    assert codec.parse(text) == codec.normalize(value)


@pytest.mark.parametrize(
    ("annotation", "spec", "value", "message"),
    [
        pytest.param(str, "", "", "the text is empty", id="empty"),
        pytest.param(str, "", 7, "7 is an int, not a str", id="number for text"),
        pytest.param(str, "", "a\U0010ffff", "no key can hold", id="greatest character"),
        pytest.param(str, "", "a\ud800", "no key can hold", id="half a pair"),
        pytest.param(Literal["a", "b"], "", "c", "'c' is not one of a, b", id="no such literal"),
        pytest.param(Literal[1, 2], "", True, "True is not one of 1, 2", id="bool for a literal"),
        pytest.param(Literal[1, 2], "", 1.0, "1.0 is not one of 1, 2", id="float for a literal"),
        pytest.param(Status, "", [], "is not one of", id="list for an enum"),
        pytest.param(int, "", True, "True is a bool, not an int", id="bool for a number"),
        pytest.param(int, "", "7", "'7' is a str, not an int", id="text for a number"),
        pytest.param(int, "", 10**38, "more than 38 digits", id="too many digits"),
        pytest.param(int, "02", 100, "2 characters hold 0 to 99", id="too wide"),
        pytest.param(int, "02", -1, "2 characters hold 0 to 99", id="negative"),
        pytest.param(Score, "", -5_000_000_001, "hold -5000000000 to 4999999999", id="below the offset"),
        pytest.param(Score, "", 5_000_000_000, "hold -5000000000 to 4999999999", id="above the offset"),
        pytest.param(Rating, "", Decimal("100"), "hold 0.0 to 99.9", id="too wide with decimals"),
        pytest.param(Decimal, ".1f", Decimal("4.55"), "no number with 1 decimals", id="a decimal more"),
        pytest.param(Decimal, ".1f", 4.5, "4.5 is a float, not a Decimal", id="float for a decimal"),
        pytest.param(Decimal, ".1f", Decimal("NaN"), "no number", id="not a number"),
        pytest.param(Decimal, ".1f", Decimal("1E+999999"), "no number", id="huge"),
        pytest.param(float, ".1f", float("inf"), "no number", id="infinite"),
        pytest.param(float, ".1f", 0.1 + 0.2, "no number", id="float that is not exact"),
        pytest.param(date, "", datetime(2025, 1, 1, tzinfo=UTC), "not a date", id="time for a day"),
        pytest.param(datetime, "", date(2025, 1, 1), "not a datetime", id="day for a time"),
        pytest.param(datetime, "", datetime(2025, 1, 1), "has no time zone", id="naive"),  # noqa: DTZ001
        pytest.param(
            datetime,
            "",
            datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            "years 1 to 9999",
            id="before the first year",
        ),
        pytest.param(UUID, "", "1234", "not a UUID", id="text for a uuid"),
    ],
)
def test_value_that_a_key_cannot_hold_is_refused(
    annotation: Any, spec: str, value: Any, message: str
) -> None:
    with pytest.raises(KeyValueError) as caught:
        codec_for(annotation, spec).normalize(value)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("annotation", "spec", "text"),
    [
        (int, "", "-0"),
        (int, "", "007"),
        (int, "", "\u0661"),  # an Arabic digit
        (int, "02", "3"),
        (int, "02", "003"),
        (Decimal, ".1f", "-0.0"),
        (Decimal, ".1f", "4.55"),
        (Decimal, ".1f", "04.5"),
        (float, "04.1f", "4.5"),
        (date, "", "2025-02-30"),
        (date, "", "0000-01-01"),
        (date, "", "20250120"),
        (datetime, "", "2025-01-20T10:30:00Z"),
        (datetime, "", "2025-02-30T10:30:00.000Z"),
        (datetime, "", "2025-01-20T10:30:00.000Z\n"),
        (UUID, "", "12345678-1234-5678-1234-56781234567A"),
        (Literal["a"], "", "A"),
        (str, "", ""),
    ],
)
def test_text_that_is_never_written_is_not_read(annotation: Any, spec: str, text: str) -> None:
    with pytest.raises(KeyValueError):
        codec_for(annotation, spec).parse(text)


@pytest.mark.parametrize(
    ("annotation", "spec", "message", "hint"),
    [
        pytest.param(bool, "", "bool cannot be part of a key", "Literal", id="bool"),
        pytest.param(bytes, "", "bytes cannot be part of a key", "hexadecimal", id="bytes"),
        pytest.param(str | None, "", "str | None cannot be part", "sparse", id="optional"),
        pytest.param(list[str], "", "cannot be part of a key", "a str, int", id="list"),
        pytest.param(Any, "", "Any cannot be part of a key", "a str, int", id="any"),
        pytest.param(Literal[True], "", "True is neither a str nor an int", None, id="literal bool"),
        pytest.param(Literal[1, "1"], "", "two of its values are written '1'", None, id="same text"),
        pytest.param(Literal["", "a"], "", "'' cannot be text of a key", None, id="empty literal"),
        pytest.param(Literal["a"], "02", "str has no format '02'", None, id="padded text"),
        pytest.param(Literal[100], "02", "100 does not fit 2 characters", None, id="wide literal"),
        pytest.param(str, "02", "str has no format '02'", None, id="format of text"),
        pytest.param(int, "2", "int has no format '2'", "02 pads", id="spaces"),
        pytest.param(int, ".1f", "int has no format '.1f'", "02 pads", id="decimals of an int"),
        pytest.param(Decimal, "02", "Decimal has no format '02'", ".1f", id="zeros of a decimal"),
        pytest.param(float, "", "float needs to know how many decimals", ".1f", id="bare float"),
        pytest.param(datetime, "%Y", "datetime has no format '%Y'", "BucketOf", id="format of a time"),
        pytest.param(Score, "02", "both Pad() and the format", None, id="padded twice"),
        pytest.param(Annotated[int, Pad(4, 1)], "", "no decimals", "Decimal", id="int with decimals"),
        pytest.param(Annotated[float, Pad(2, 1)], "", "do not hold", "4 wide", id="too narrow"),
        pytest.param(Annotated[int, Pad(0)], "", "do not hold", None, id="no width"),
        pytest.param(Annotated[str, Pad(4)], "", "Pad() is not for str", None, id="padded text field"),
        pytest.param(
            Annotated[int, Normalize(str.lower)], "", "Normalize() is not for int", None, id="normal number"
        ),
    ],
)
def test_annotation_that_is_no_part_of_a_key_is_refused(
    annotation: Any, spec: str, message: str, hint: str | None
) -> None:
    with pytest.raises(DeclarationError) as caught:
        codec_for(annotation, spec, where="TopSK.score")
    assert caught.value.message.startswith("TopSK.score: ")
    assert message in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")


def test_text_is_normalized_by_the_function_of_its_field() -> None:
    codec = codec_for(Annotated[str, Normalize(lambda text: text.strip().lower())])
    assert written(codec, " Ga ") == "ga"
    with pytest.raises(KeyValueError, match="empty"):
        codec.normalize("  ")


def test_normal_form_that_is_not_its_own_normal_form_is_refused() -> None:
    codec = codec_for(Annotated[str, Normalize(lambda text: text + "x")])
    with pytest.raises(KeyValueError, match="something else"):
        codec.normalize("a")


def test_markers_of_every_layer_are_seen() -> None:
    name = NewType("name", Annotated[str, Normalize(str.lower)])
    assert written(codec_for(Annotated[name, "documentation"]), "A") == "a"


def test_enum_is_read_as_its_member() -> None:
    assert codec_for(Status).parse("ready") is Status.READY
    assert codec_for(Status).normalize("ready") is Status.READY


@pytest.mark.parametrize(
    ("annotation", "spec", "sorts"),
    [
        (str, "", True),
        (int, "", False),
        (int, "04", True),
        (Score, "", True),
        (Decimal, ".1f", False),
        (Decimal, "04.1f", True),
        (datetime, "", True),
        (Literal["a", "b"], "", True),
        (Literal[9, 10], "", False),
        (Literal[9, 10], "02", True),
        (Literal[9, "a"], "", False),
        (Level, "", False),
    ],
)
def test_codec_says_whether_its_texts_sort_as_values(annotation: Any, spec: str, sorts: bool) -> None:
    assert codec_for(annotation, spec).sorts is sorts


def test_shard_is_a_number_below_their_count() -> None:
    codec = ShardCodec(12)
    assert [codec.parse(written(codec, number)) for number in range(12)] == list(range(12))
    for wrong in (12, -1, True, "1"):
        with pytest.raises(KeyValueError):
            codec.normalize(wrong)
    with pytest.raises(KeyValueError):
        codec.parse("12")
    with pytest.raises(DeclarationError, match="at least 1"):
        ShardCodec(0)


def test_one_shard_is_left_out() -> None:
    assert ShardCodec(1).is_omitted
    assert not ShardCodec(2).is_omitted


@pytest.mark.parametrize(
    ("every", "text", "wrong"),
    [
        ("year", "2025", "25"),
        ("month", "2025-01", "2025-13"),
        ("week", "2025-W04", "2025-W54"),
        ("day", "2025-01-20", "2025-01"),
    ],
)
def test_bucket_is_the_text_of_a_span_of_time(every: Any, text: str, wrong: str) -> None:
    codec = BucketCodec(every)
    assert codec.parse(written(codec, text)) == text
    assert codec.width_fixed == len(text)
    with pytest.raises(KeyValueError):
        codec.normalize(wrong)


# --- properties ---------------------------------------------------------------------------------------

ZONES = st.timezones() | st.just(UTC)
MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=ZONES)  # noqa: DTZ001
TENTHS = st.integers(0, 999).map(lambda tenths: Decimal(tenths) / 10)
CENTS = st.integers(-100_000, 9_899_999).map(lambda cents: float(Decimal(cents) / 100))

SORTING: dict[str, tuple[Any, str, st.SearchStrategy[Any]]] = {
    "zeros": (int, "06", st.integers(0, 999_999)),
    "offset": (Score, "", st.integers(-5_000_000_000, 4_999_999_999)),
    "decimal": (Rating, "", TENTHS),
    "float": (Balance, "", CENTS),
    "time": (datetime, "", MOMENTS),
    "day": (date, "", st.dates()),
    "uuid": (UUID, "", st.uuids()),
    "text": (str, "", st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0x10FFFE), min_size=1)),
}
OTHERS: dict[str, tuple[Any, str, st.SearchStrategy[Any]]] = {
    "number": (int, "", st.integers(1 - 10**38, 10**38 - 1)),
    "free decimal": (
        Decimal,
        ".3f",
        st.integers(1 - 10**38, 10**38 - 1).map(lambda n: Decimal(f"{n}E-3")),
    ),
    "free float": (float, ".1f", st.integers(-(10**14), 10**14).map(lambda tenths: tenths / 10)),
    "float without decimals": (float, ".0f", st.integers(-(10**14), 10**14).map(float)),
    "literal": (Literal["a", "ab", 1, 12], "", st.sampled_from(["a", "ab", 1, 12])),
}


@pytest.mark.parametrize("kind", [*SORTING, *OTHERS])
@given(data=st.data())
def test_every_value_is_read_as_it_was_written(kind: str, data: st.DataObject) -> None:
    annotation, spec, values = {**SORTING, **OTHERS}[kind]
    codec = codec_for(annotation, spec)
    value = data.draw(values)
    normal = codec.normalize(value)
    text = codec.render(normal)
    assert codec.parse(text) == normal == codec.normalize(normal)
    assert codec.width_fixed in (None, len(text))
    assert all(codec.may_hold(character) for character in text)
    if annotation is not datetime:
        assert normal == value


@pytest.mark.parametrize("kind", SORTING)
@given(data=st.data())
def test_texts_are_in_the_order_of_the_values(kind: str, data: st.DataObject) -> None:
    annotation, spec, values = SORTING[kind]
    codec = codec_for(annotation, spec)
    one, other = codec.normalize(data.draw(values)), codec.normalize(data.draw(values))
    utf8: Callable[[Any], bytes] = lambda value: codec.render(value).encode()  # noqa: E731
    assert (one < other) == (utf8(one) < utf8(other))
    assert (one == other) == (utf8(one) == utf8(other))


@given(MOMENTS)
def test_time_is_cut_to_the_millisecond_never_rounded_up(moment: datetime) -> None:
    normal = codec_for(datetime).normalize(moment)
    assert timedelta() <= moment - normal < timedelta(milliseconds=1)
    assert normal.tzinfo is UTC
