"""Keys as long as DynamoDB takes them, and longer ones, which are refused when they are made."""

from __future__ import annotations

import pytest

from singletable.design import Design, Entity, Key, Keys, SortKey, Table, Unique
from singletable.design.tables.create import create_table
from singletable.errors import KeyValueError
from support.migrating import EVERYWHERE, design_on, fresh_client


class PageTable(Table):
    name = "pages"
    pitr_days = None


class UrlPK(Key, template="URL#{url}"):
    url: str


class TitleSK(SortKey, template="TITLE#{title}"):
    title: str


class SlugPK(Key, template="SLUG#{slug}"):
    slug: str


class Page(Entity):
    key = Keys(UrlPK, TitleSK)
    slugs = Unique(SlugPK)

    url: str
    title: str
    slug: str | None = None


class Pages(Design):
    table = PageTable
    entities = (Page,)


@pytest.mark.parametrize("target", EVERYWHERE)
def test_longest_keys_are_stored(target: str) -> None:
    with fresh_client(target) as client:
        db = design_on(client, Pages, {})
        client.run(create_table(db.session))
        page = Page(url="u" * 2044, title="é" * 509, slug="s" * 2043)
        db.create(page)
        assert db.plan(Page.key.get(*page.key)).one() == page


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: UrlPK(url="u" * 2045),
            "UrlPK (URL#{url}) comes to 2,049 bytes, and a partition key has 2,048 at most",
        ),
        (
            lambda: TitleSK(title="é" * 510),
            "TitleSK (TITLE#{title}) comes to 1,026 bytes, and a sort key has 1,024 at most",
        ),
        (lambda: TitleSK(title="🥛" * 256), "TitleSK (TITLE#{title}) comes to 1,030 bytes"),
    ],
    ids=["partition key", "sort key", "four bytes for a character"],
)
def test_key_that_is_too_long_is_refused_with_its_size(make: object, sentence: str) -> None:
    assert callable(make)
    with pytest.raises(KeyValueError) as refused:
        make()
    assert refused.value.number == "ST204"
    assert refused.value.message.startswith(sentence)


def test_write_of_a_key_that_is_too_long_is_refused() -> None:
    with Pages.open(":memory:") as db:
        with pytest.raises(KeyValueError, match="UrlPK"):
            db.create(Page(url="u" * 3000, title="t"))
        with pytest.raises(KeyValueError, match="SlugPK"):
            db.create(Page(url="u", title="t", slug="s" * 3000))
