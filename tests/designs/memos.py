"""Memos: indexes that hold keys only, some fields or all of them; some read as parts, one fetched whole."""

from __future__ import annotations

from typing import Annotated

from singletable.design import (
    Collect,
    Collection,
    Computed,
    Design,
    Entity,
    Index,
    Key,
    Keys,
    Merged,
    Normalize,
    Query,
    ShardOf,
    SortKey,
    Table,
    Ttl,
    Unique,
    collect,
    pattern,
    shards,
)


class MemoTable(Table):
    name = "memos"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK", projection="KEYS_ONLY")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK", projection=("title", "sizeBytes", "folded"))
    gsi3 = Index("GSI3", pk="GSI3PK", sk="GSI3SK", projection=("title",))
    gsi4 = Index("GSI4", pk="GSI4PK", sk="GSI4SK", projection=("owner", "rank", "label", "title"))


class MemoPK(Key, template="MEMO#{memo_id}"):
    memo_id: str


class HeadSK(SortKey, template="HEAD"):
    pass


class OwnerPK(Key, template="OWNER#{owner}"):
    owner: str


class RankSK(SortKey, template="RANK#{rank:03}"):
    rank: int


class FoldedSK(SortKey, template="FOLDED#{folded}"):
    folded: str


class ShelfPK(Key, template="SHELF#{shelf}#{shard}"):
    shelf: str
    shard: Annotated[int, ShardOf(3, by="memo_id")]


class SlugPK(Key, template="SLUG#{slug}"):
    slug: Annotated[str, Normalize(str.casefold)]


class LabelPK(Key, template="LABEL#{label}"):
    label: Annotated[str, Normalize(str.casefold)]


class LabelSK(SortKey, template="LABEL"):
    pass


class Memo(Entity):
    key = Keys(MemoPK, HeadSK)
    by_rank = MemoTable.gsi1.keys(OwnerPK, RankSK)
    by_title = MemoTable.gsi2.keys(OwnerPK, FoldedSK)
    on_shelf = MemoTable.gsi3.keys(ShelfPK, RankSK, fetch=True)
    one_of_a_slug = Unique(SlugPK)

    memo_id: str
    owner: str
    shelf: str = "top"
    rank: int = 0
    slug: str
    title: str = ""
    folded: Annotated[str, Computed(str.casefold, "title")] = ""
    size_bytes: int | None = None
    body: str = ""
    tags: list[str] = []

    @property
    def heading(self) -> str:
        return f"{self.owner}: {self.body[:10]}"


class Label(Entity):
    """Its key knows one form of the label only, so the field is not told by it."""

    key = Keys(LabelPK, LabelSK)
    by_owner = MemoTable.gsi1.keys(OwnerPK, LabelSK)
    on_shelf = MemoTable.gsi3.keys(ShelfPK, LabelSK, fetch=True)

    label: str
    owner: str
    shelf: str = "top"
    memo_id: str = "m"
    color: str = "red"


class Draft(Entity):
    """An index holds all its fields, so what is read through that is whole."""

    key = Keys(OwnerPK, RankSK)
    by_label = MemoTable.gsi4.keys(LabelPK, RankSK)

    owner: str
    rank: int
    label: str
    title: str = ""
    expires_at: Ttl = None


class Owned(Collection):
    memos: list[Memo]
    labels: list[Label]


class Memos(Design):
    table = MemoTable
    entities = (Memo, Label, Draft)

    @pattern("1 Memos of an owner, by rank")
    def ranked(self, owner: str) -> Query[Memo]:
        return Memo.by_rank.query(OwnerPK(owner=owner))

    @pattern("2 Memos of an owner, by title")
    def titled(self, owner: str) -> Query[Memo]:
        return Memo.by_title.query(OwnerPK(owner=owner))

    @pattern("3 Memos on a shelf")
    def shelf(self, shelf: str) -> Merged[Memo]:
        return Merged([Memo.on_shelf.query(ShelfPK(shelf=shelf, shard=each)) for each in shards(ShelfPK)])

    @pattern("4 What an owner has")
    def owned(self, owner: str) -> Collect[Owned]:
        return collect(Owned, OwnerPK(owner=owner), index=MemoTable.gsi1)

    @pattern("5 What is on a part of a shelf")
    def on_shelf(self, shelf: str, shard: int) -> Collect[Owned]:
        return collect(Owned, ShelfPK(shelf=shelf, shard=shard), index=MemoTable.gsi3)
