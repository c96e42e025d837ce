"""Pictures as files: SVG and HTML that anybody can open, whatever a design or its items say."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from designs.accounts import Accounts
from designs.cards import Cards
from designs.cooking import Cooking
from designs.feed import Feed
from designs.recipes import Recipes
from designs.settings import Archive
from designs.shops import Shops
from designs.social import Social
from singletable.design import Design
from singletable.drawing import (
    Attribute,
    Collection,
    Key,
    Pattern,
    Picture,
    Piece,
    Row,
    View,
    draw_design,
    html,
    picture_data,
    svg,
)
from singletable.drawing.svg_layout import WIDTH
from singletable.drawing.texts import text_width
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.lunch_cache.model.design import LunchCache

DESIGNS = [Kefir, LunchCache, Cooking, Cards, Feed, Social, Recipes, Archive, Accounts, Shops]
SVG = "{http://www.w3.org/2000/svg}"
ODD = {
    "markup": '<script>alert("1")</script>&amp; \'single\' "double" ]]>',
    "control": "\x00\x01\t\n\r\x1b\x7f\x85\u2028\ufffe\uffff\ud800",
    "long": "x" * 5000,
    "turned": "\u202eesrever \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u2066",
    "wide": "\u6f22\u5b57\u3068\u304b\u306a \U0001f9ea e\u0301",
    "empty": "",
}
each_odd_text = pytest.mark.parametrize("text", ODD.values(), ids=ODD)
each_design = pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)


def picture_with(text: str) -> Picture:
    """Return a picture that says a text wherever one can be said."""
    key = Key((Piece(text), Piece(text or "x", about=text or "x")))
    row = Row(key, text, (Attribute(text, text, text),) * 9, (text,), expires=True)
    pattern = Pattern(text, text, text, text, text, (text,))
    lock = Row(key, text, (Attribute(text, text),), (text,), kind="lock")
    collection = Collection(key, (row, lock), (text,), (pattern,), text)
    return Picture(text, text, (text,), (View(text, text, text, (collection,), (text,), text),))


def texts_of(drawn: str) -> list[str]:
    return [text_in(element) for element in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def text_in(element: ElementTree.Element) -> str:
    """Return what is seen of a text: not the title, which is shown to a pointer."""
    inner = [(part.text or "") if part.tag == f"{SVG}tspan" else "" for part in element]
    tails = [part.tail or "" for part in element]
    return (element.text or "") + "".join(text for pair in zip(inner, tails, strict=True) for text in pair)


class Tags(HTMLParser):
    """Reads a page; every element must be closed where it was opened."""

    VOID = frozenset({"meta"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


# --- SVG ------------------------------------------------------------------------------------------------


@each_design
def test_svg_shows_every_entity_partition_and_sort_key_in_order(design: type[Design]) -> None:
    picture = draw_design(design.blueprint())
    # A key may be broken into lines, which follow each other.
    drawn = "".join(texts_of(svg(picture)))
    place = 0
    for view in picture.views:
        for collection in view.collections:
            place = drawn.index(collection.partition.text, place)
            for row in collection.rows:
                if row.sort is not None:
                    place = drawn.index(row.sort.text, place)
                place = drawn.index(row.entity, place)


@each_design
def test_svg_says_what_it_shows_and_needs_nothing(design: type[Design]) -> None:
    drawn = svg(draw_design(design.blueprint()))
    root = ElementTree.fromstring(drawn)
    assert [child.tag for child in root][:3] == [f"{SVG}title", f"{SVG}desc", f"{SVG}style"]
    assert root.get("role") == "img"
    assert design.__name__ in (root[0].text or "")
    assert "prefers-color-scheme: dark" in (root[2].text or "")
    assert re.findall(r"https?://[^\s\"]+", drawn) == ["http://www.w3.org/2000/svg"]
    assert not {"script", "image", "use", "foreignObject", "a"} & {
        element.tag.removeprefix(SVG) for element in root.iter()
    }


@each_design
def test_no_text_runs_over_the_edge(design: type[Design]) -> None:
    root = ElementTree.fromstring(svg(draw_design(design.blueprint())))
    height = float(root.get("height", ""))
    for element in root.iter(f"{SVG}text"):
        text = text_in(element)
        is_code = {"key", "code"} & set((element.get("class") or "").split())
        width = text_width(text, 11, is_mono=bool(is_code))
        assert float(element.get("x", "")) + width < WIDTH - 20, text
        assert 0 < float(element.get("y", "")) < height


@each_odd_text
def test_svg_is_well_formed_whatever_is_said(text: str) -> None:
    root = ElementTree.fromstring(svg(picture_with(text)))
    assert not [element for element in root.iter() if element.tag == f"{SVG}script"]
    assert float(root.get("height", "")) < 1000


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert max(map(len, texts_of(svg(picture_with(ODD["long"]))))) < 160
    assert any(text.endswith("…") for text in texts_of(svg(picture_with(ODD["long"]))))


# --- HTML -----------------------------------------------------------------------------------------------


@each_design
def test_page_holds_every_attribute_and_pattern(design: type[Design]) -> None:
    picture = draw_design(design.blueprint())
    texts = Tags(html(picture)).texts
    for view in picture.views:
        for collection in view.collections:
            for row in collection.rows:
                assert {attribute.name for attribute in row.attributes} <= set(texts)
                assert not row.notes or " · ".join(row.notes) in texts
            for pattern in collection.patterns:
                assert {pattern.number, pattern.title, pattern.call} - {""} <= set(texts)


@each_design
def test_page_fetches_nothing(design: type[Design]) -> None:
    page = html(draw_design(design.blueprint()))
    assert "://" not in page
    tags = Tags(page)
    assert not {"link", "img", "iframe", "object", "base"} & set(tags.tags)
    links = [value for name, value in tags.attributes if name in ("href", "src")]
    assert links
    assert all(value is not None and value.startswith("#") for value in links)
    assert "url(" not in page
    assert "@import" not in page


def test_views_and_entities_have_anchors_that_their_links_lead_to() -> None:
    tags = Tags(html(draw_design(Kefir.blueprint())))
    anchors = [value for name, value in tags.attributes if name == "id"]
    links = [value for name, value in tags.attributes if name == "href"]
    assert anchors[:1] == ["table"]
    assert {"table", "GSI1", "GSI2", "/User", "/BatchEvent"} <= set(anchors)
    assert {link.removeprefix("#") for link in links if link} - {""} <= set(anchors)


@each_odd_text
def test_page_is_whole_whatever_is_said(text: str) -> None:
    page = html(picture_with(text))
    tags = Tags(page)
    assert tags.tags.count("script") == 1
    assert page.encode() == page.encode("utf-8", "strict")
    assert "alert(" not in "".join(value or "" for name, value in tags.attributes if name.startswith("on"))
    assert not [character for character in page if ord(character) < 0x20 and character != "\n"]


def test_marks_that_turn_text_around_are_shown_and_not_obeyed() -> None:
    for drawn in (svg(picture_with(ODD["turned"])), html(picture_with(ODD["turned"]))):
        assert "\u202e" not in drawn
        assert "\\u{202e}" in drawn


@pytest.mark.parametrize("character", ["\u200b", "\ufeff", "\u2060", "\U000e0041"], ids=ascii)
def test_characters_without_width_are_shown(character: str) -> None:
    for drawn in (svg(picture_with(f"a{character}b")), html(picture_with(f"a{character}b"))):
        assert character not in drawn
        assert f"a\\u{{{ord(character):x}}}b" in drawn


# --- both -----------------------------------------------------------------------------------------------


@each_design
def test_same_design_gives_the_same_bytes(design: type[Design]) -> None:
    first, second = (draw_design(design.blueprint()) for _ in range(2))
    assert svg(first).encode() == svg(second).encode()
    assert html(first).encode() == html(second).encode()


def test_picture_as_data_holds_all_of_it() -> None:
    data = picture_data(draw_design(Kefir.blueprint()))
    assert data["entities"] == ["User", "Batch", "BatchEvent", "Reminder", "Device"]
    table = data["views"][0]
    assert table["name"] == "table"
    first = table["collections"][0]
    assert first["partition"]["text"] == "USER#<userId>"
    assert first["partition"]["pieces"][1] == {"text": "<userId>", "about": "userId: UserId"}
    assert first["rows"][0]["sort"]["text"] == "BATCH#<batchId>"
    assert first["rows"][0]["attributes"][0] == {"name": "name", "text": "str", "note": ""}


def test_thirty_entities_are_drawn_though_colours_come_again() -> None:
    names = tuple(f"Entity{number}" for number in range(30))
    rows = tuple(Row(Key((Piece(name),)), name) for name in names)
    view = View("table", "PK", "SK", (Collection(Key((Piece("ALL"),)), rows),))
    picture = Picture("Many", "", names, (view,))
    texts = texts_of(svg(picture))
    assert all(texts.count(name) >= 2 for name in names)
    Tags(html(picture))
