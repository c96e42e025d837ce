"""Consumers of a design that are killed at any moment: what they keep is exact, and nothing comes twice."""

from __future__ import annotations

import itertools
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from designs.journals import Author, Journals, Post
from resilience.crash.children import Reports, start
from resilience.crash.journalist import NAME
from resilience.crash.verify import assert_sound
from singletable.client import EmbeddedClient
from singletable.errors import VersionConflictError
from singletable.systems import decide_again

AUTHORS = ["ann", "bob"]
WAIT_S = 60.0


class Journal:
    """Writes posts, and knows what must be in the log of each."""

    def __init__(self, db: Journals, seed: int) -> None:
        self.db = db
        self.random = Random(seed)
        self.logs: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self.posts: list[str] = []

    def write(self, count: int) -> None:
        """Make a few posts, and change and delete others; each adds a record about a post."""
        for _ in range(count):
            how = self.random.choice(["create", "create", "update", "update", "delete"])
            if how == "create" or not self.posts:
                self._create()
            elif how == "update":
                self._update(self.random.choice(self.posts))
            else:
                post = self.posts.pop(self.random.randrange(len(self.posts)))
                self.logs.pop(post, None)
                self.db.delete(self.db.post(post))
        author = self.random.choice(AUTHORS)
        self.db.update(self.db.author(author), name=f"{author} {self.random.randrange(100)}")

    def _values(self) -> dict[str, Any]:
        return {
            "author_id": self.random.choice(AUTHORS),
            "title": " ".join(self.random.sample(["old", "new", "red", "blue"], 2)),
            "status": self.random.choice(["draft", "ready", "out"]),
            "words": self.random.randrange(1000),
            "stars": Decimal(self.random.randrange(50)) / 10,
        }

    def _create(self) -> None:
        post = f"post{len(self.posts)}-{self.random.randrange(10**6)}"
        self.posts.append(post)
        self.db.create(Post(post_id=post, **self._values()))

    def _update(self, name: str) -> None:
        values = self._values()
        # Consumers write copies into posts at the same time, which are versions too.
        before, post = decide_again(lambda: self._changed(name, values), after=(VersionConflictError,))
        if post.status != before:
            self.logs[name].append((post.version, f"{before} to {post.status}"))

    def _changed(self, name: str, values: dict[str, Any]) -> tuple[str, Post]:
        post = self.db.post(name).one()
        before = post.status
        self.db.update(post, **values)
        return before, post


def _kill_consumers(path: Path, seed: int, *, kills: int, consumers: int) -> None:
    with Journals.open(str(path)) as db:
        for author in AUTHORS:
            db.create(Author(author_id=author, name=author))
        journal = Journal(db, seed)
        for _ in range(kills):
            journal.write(20)
            batch_size = journal.random.choice((1, 3, 10))
            children = [start("journalist", path, batch_size) for _ in range(consumers)]
            with Reports(children) as reports:
                lines = reports.lines()
                for _ in itertools.islice(lines, journal.random.randint(1, 20)):
                    pass
                journal.write(3)
                reports.kill()
                reports.assert_killed()
        _finish(db, journal)
    assert_sound(path)


def _finish(db: Journals, journal: Journal) -> None:
    """Let one consumer go on to the end, and compare."""
    client = db.session.client
    assert isinstance(client, EmbeddedClient)
    with db.consume(name=NAME, poll_s=0.02) as consumer:
        for _ in range(4):  # what it writes are changes too: a log entry, its count in a post, the post
            consumer.drain(WAIT_S)
    assert client.database.dead_letters(db.session.table, NAME) == []
    assert db.verify().differences == ()
    posts = [db.post(name).one() for name in journal.posts]
    for author in (db.author(name).one() for name in AUTHORS):
        own = [post for post in posts if post.author_id == author.author_id]
        assert (author.posts, author.words) == (len(own), sum(post.words for post in own))
        assert {post.author_name for post in own} <= {author.name}
    for post in posts:
        log = [(entry.number, entry.text) for entry in db.log_of(post.post_id).all()]
        assert log == journal.logs[post.post_id]
        assert post.changes == len(log)


@pytest.mark.parametrize("consumers", [1, 2])
def test_killed_consumers_of_a_design_keep_exact_numbers(tmp_path: Path, consumers: int) -> None:
    _kill_consumers(tmp_path / "journals.db", seed=consumers, kills=2, consumers=consumers)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 14))
def test_consumers_of_a_design_survive_many_kills(tmp_path: Path, seed: int) -> None:
    _kill_consumers(tmp_path / "journals.db", seed=seed, kills=12, consumers=1 + seed % 2)
