"""Journals: everything that a stream consumer keeps at once: counters, an average, copies, tags, and a log."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from singletable.design import (
    AverageOf,
    Change,
    CopyOf,
    CountOf,
    Create,
    Derived,
    Design,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    Query,
    SortKey,
    SumOf,
    Table,
    Version,
    on,
    pattern,
)


class JournalTable(Table):
    name = "journals"
    stream = "NEW_AND_OLD_IMAGES"
    by_author = Index("ByAuthor", pk="GSI1PK", sk="GSI1SK")


class AuthorPK(Key, template="AUTHOR#{author_id}"):
    author_id: str


class AuthorSK(SortKey, template="AUTHOR"):
    pass


class PostPK(Key, template="POST#{post_id}"):
    post_id: str


class PostSK(SortKey, template="POST"):
    pass


class PostedSK(SortKey, template="POST#{post_id}"):
    post_id: str


class TagSK(SortKey, template="TAG#{word}"):
    word: str


class LogSK(SortKey, template="LOG#{number:06}"):
    number: int


class Author(Entity):
    key = Keys(AuthorPK, AuthorSK)

    author_id: str
    name: str
    posts: Annotated[int, CountOf("Post", by="stream")] = 0
    words: Annotated[int, SumOf("Post", "words", by="stream")] = 0
    stars: Annotated[Decimal | None, AverageOf("Post", "stars", decimals=2, by="stream")] = None


class Post(Entity, owns=("LogEntry",)):
    key = Keys(PostPK, PostSK)
    by_author = JournalTable.by_author.keys(AuthorPK, PostedSK)

    post_id: str
    author_id: str
    author_name: Annotated[str | None, CopyOf(Author, "name")] = None
    title: str = ""
    status: str = "draft"
    words: int = 0
    stars: Decimal = Decimal(0)
    changes: Annotated[int, CountOf("LogEntry", by="stream")] = 0
    version: Version = 0


def tags(post: Post) -> Iterator[Tag]:
    """Make a tag of each word of a title."""
    for word in sorted(set(post.title.split())):
        yield Tag(post_id=post.post_id, word=word)


class Tag(Entity):
    key = Keys(PostPK, TagSK)
    made = Derived(Post, tags, by="stream", reads=("title",))

    post_id: str
    word: str


class LogEntry(Entity):
    key = Keys(PostPK, LogSK)

    post_id: str
    number: int
    text: str


class Journals(Design):
    table = JournalTable
    entities = (Author, Post, Tag, LogEntry)

    @pattern("1 An author", consistent=True)
    def author(self, author_id: str) -> Get[Author]:
        return Author.key.get(AuthorPK(author_id=author_id), AuthorSK())

    @pattern("2 A post", consistent=True)
    def post(self, post_id: str) -> Get[Post]:
        return Post.key.get(PostPK(post_id=post_id), PostSK())

    @pattern("3 The log of a post", consistent=True)
    def log_of(self, post_id: str) -> Query[LogEntry]:
        return LogEntry.key.query(PostPK(post_id=post_id))

    @on(Post, "status")
    def log_status(self, change: Change[Post]) -> Iterator[Create[LogEntry]]:
        if change.old is not None and change.new is not None:
            text = f"{change.old.status} to {change.new.status}"
            yield Create(LogEntry(post_id=change.new.post_id, number=change.new.version, text=text))
