"""The asyncio twins: each gives what the method without the `a` gives, and many can be under way at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from designs.feed import AuthorId, Feed, Post, PostId
from designs.kefir import Device, DeviceId, Kefir, User, UserId
from designs.tasks import ProjectId, Task, TaskId, Tasks
from singletable.design import Add, Composed, Create, Delete, Design, Page, Put, Update, Usage
from singletable.design.plans.batch_get import BatchGet
from singletable.design.plans.plan import Many, Single
from singletable.errors import (
    AlreadyExistsError,
    ConsistencyError,
    CursorError,
    CursorMismatchError,
    DeclarationError,
    NotFoundError,
    SeveralFoundError,
    TableMissingError,
    VersionConflictError,
)
from support.opened_designs import opened_design, stored_items
from support.targets import EVERY_TARGET

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
MONTH = timedelta(days=30)
AUTHOR = AuthorId("a")


@pytest.fixture(scope="module", params=EVERY_TARGET)
def feed(request: pytest.FixtureRequest) -> Iterator[Feed]:
    with opened_design(Feed, request.param) as db:
        db.batch(*(Put(post(n)) for n in range(30)))
        yield db


@pytest.fixture(params=EVERY_TARGET)
def tasks(request: pytest.FixtureRequest) -> Iterator[Tasks]:
    with opened_design(Tasks, request.param) as db:
        yield db


@pytest.fixture(params=EVERY_TARGET)
def kefir(request: pytest.FixtureRequest) -> Iterator[Kefir]:
    with opened_design(Kefir, request.param, stage="test") as db:
        yield db


def post(number: int) -> Post:
    moment = NOW - MONTH * (number % 2) + timedelta(minutes=number)
    return Post(author_id=AUTHOR, post_id=PostId(f"p{number:02}"), created_at=moment, likes=number)


def task(number: int, **fields: Any) -> Task:
    return Task(
        **{"project_id": ProjectId("p"), "task_id": TaskId(f"t{number:02}"), "title": "Write", **fields}
    )


def test_every_method_that_runs_has_a_twin() -> None:
    for kind, names in (
        (Many, ("page", "all", "first", "maybe", "one")),
        (Single, ("found", "maybe", "one")),
        (BatchGet, ("found", "all")),
        (Design, ("create", "put", "update", "delete", "transaction", "batch")),
    ):
        for name in names:
            assert callable(getattr(kind, name))
            assert callable(getattr(kind, f"a{name}"))


# --- reading ---------------------------------------------------------------------------------------------------

MANY: dict[str, Callable[[Feed], Many[Post]]] = {
    "query": lambda db: db.posts(AUTHOR),
    "merged": lambda db: db.public_month("2025-01"),
    "walk": lambda db: db.feed(NOW, NOW - MONTH),
    "walk of merged": lambda db: db.public_feed(NOW, NOW - MONTH),
    "cached": lambda db: db.cached_posts(AUTHOR),
    "nothing": lambda db: db.posts(AuthorId("nobody")),
    "one": lambda db: db.posts(AUTHOR).where(likes=7),
    "composed": lambda db: composed(db, AUTHOR),
    "limited and composed": lambda db: composed(db, AUTHOR).limit(5),
}


def composed(db: Feed, author_id: AuthorId) -> Composed[Post]:
    posts = db.posts(author_id)
    return db.plan(Composed(Post, posts.page, reads=[posts]))


def outcome(run: Callable[[], Any]) -> Any:
    """Return what a call gives, or the kind of error that it raises."""
    try:
        return run()
    except (NotFoundError, SeveralFoundError, CursorError) as error:
        return type(error)


def awaited(make: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return outcome(lambda: asyncio.run(make()))


@pytest.mark.parametrize("name", MANY)
def test_reading_many_gives_the_same(feed: Feed, name: str) -> None:
    plan = MANY[name](feed)

    async def everything() -> tuple[list[Post], Any]:
        rows = plan.aall()
        return [row async for row in rows], rows.usage

    rows = plan.all()
    assert asyncio.run(everything())[0] == list(rows)
    assert awaited(plan.afirst) == outcome(plan.first)
    assert awaited(plan.amaybe) == outcome(plan.maybe)
    assert awaited(plan.aone) == outcome(plan.one)
    page = plan.page(limit=4)
    assert awaited(lambda: plan.apage(limit=4)).items == page.items
    assert awaited(lambda: plan.apage(limit=4)).cursor == page.cursor
    if page.cursor is not None:
        following = asyncio.run(plan.apage(limit=4, cursor=page.cursor))
        assert following.items == plan.page(limit=4, cursor=page.cursor).items
    assert awaited(lambda: plan.apage(cursor="nonsense")) is CursorError


def test_function_reads_what_its_plan_reads(feed: Feed) -> None:
    plan, inner = composed(feed, AUTHOR), feed.posts(AUTHOR)
    assert list(plan.all()) == list(inner.all())
    assert plan.page(7).usage == inner.page(7).usage
    assert plan.request(7) == inner.request(7)
    assert len(list(plan.limit(5).all())) == 5


@pytest.mark.parametrize("count", [0, 1])
def test_function_that_does_not_get_on_is_refused(feed: Feed, count: int) -> None:
    posts = feed.posts(AUTHOR)
    page = Page(posts.page(count).items if count else [], "here", Usage())
    plan = feed.plan(Composed(Post, lambda limit, cursor: page, reads=[posts]))
    with pytest.raises(DeclarationError, match="would never end"):
        list(plan.all())
    with pytest.raises(DeclarationError, match="would never end"):
        asyncio.run(plan.apage(4))


def test_function_that_returns_more_than_is_wanted_is_refused(feed: Feed) -> None:
    posts = feed.posts(AUTHOR)
    plan = feed.plan(Composed(Post, lambda limit, cursor: posts.page(limit + 1, cursor), reads=[posts]))
    with pytest.raises(DeclarationError, match="asked for 4 items at most, its function returns 5"):
        plan.page(4)


def test_cursor_of_a_function_fits_what_it_was_called_with(feed: Feed) -> None:
    cursor = composed(feed, AUTHOR).page(4).cursor
    with pytest.raises(CursorMismatchError):
        composed(feed, AuthorId("b")).page(4, cursor)


def test_function_says_itself_how_fresh_and_how_patient_it_is(feed: Feed) -> None:
    with pytest.raises(ConsistencyError):
        composed(feed, AUTHOR).consistent()
    with pytest.raises(DeclarationError):
        composed(feed, AUTHOR).setting_aside(print)
    with pytest.raises(TypeError, match="the first plan that a function reads"):
        Composed(Post, feed.posts(AUTHOR).page, reads=[])


def test_reading_everything_costs_the_same(feed: Feed) -> None:
    async def usage() -> Any:
        rows = feed.posts(AUTHOR).aall()
        assert [row async for row in rows]
        return rows.usage

    rows = feed.posts(AUTHOR).all()
    assert list(rows)
    assert asyncio.run(usage()) == rows.usage


def test_reading_one_gives_the_same(feed: Feed) -> None:
    there, nowhere = post(3), post(99)
    for entity in (there, nowhere):
        plan = feed.post(AUTHOR, entity.created_at, entity.post_id)
        assert awaited(plan.afound) == plan.found()
        assert awaited(plan.amaybe) == plan.maybe()
        assert awaited(plan.aone) == outcome(plan.one)
    many = feed.several([post(n).key for n in range(40)])
    assert awaited(many.afound) == many.found()
    assert awaited(many.aall) == many.all()
    author = feed.author(AUTHOR)
    assert awaited(author.afound) == author.found()
    assert awaited(author.aone) == author.one()


def test_many_reads_at_once(feed: Feed) -> None:
    async def together() -> list[Any]:
        pages = [feed.posts(AUTHOR).apage(limit=n % 9 + 1) for n in range(40)]
        walks = [feed.public_feed(NOW, NOW - MONTH).apage(limit=10) for _ in range(10)]
        return await asyncio.gather(*pages, *walks)

    found = asyncio.run(together())
    everything = list(feed.posts(AUTHOR).all())
    assert [page.items for page in found[:40]] == [everything[: n % 9 + 1] for n in range(40)]
    assert all(page.items == found[40].items for page in found[40:])


def test_missing_table_is_said_in_the_designs_words() -> None:
    with opened_design(Tasks, "http") as db:
        db.session.client.call("DeleteTable", {"TableName": "tasks"})
        with pytest.raises(TableMissingError):
            asyncio.run(db.tasks(ProjectId("p")).apage())


# --- writing ---------------------------------------------------------------------------------------------------


def test_writing_gives_the_same(tasks: Tasks) -> None:
    async def write() -> None:
        made = (await tasks.acreate(task(1))).entity
        with pytest.raises(AlreadyExistsError):
            await tasks.acreate(task(1))
        assert (await tasks.aupdate(made, state="doing", points=Add(2))).entity is made
        assert (made.state, made.points) == ("doing", 2)
        assert (await tasks.aput(task(2))).units > 0
        assert await tasks.abatch(Put(task(3)), Put(task(4))) > 0
        result = await tasks.atransaction(Update(made, title="Read"), Create(task(5)), Delete(task(4)))
        assert made.title == result.entity[0].title == "Read"
        await tasks.adelete(task(3))
        assert made == await tasks.task(ProjectId("p"), made.task_id).aone()

    asyncio.run(write())
    assert [row.task_id for row in tasks.tasks(ProjectId("p")).all()] == ["t01", "t02", "t05"]


def test_many_updates_at_once_lose_nothing(tasks: Tasks) -> None:
    made = tasks.create(task(1, priority=0)).entity
    get = Task.key.get(*made.key)

    async def together() -> None:
        await asyncio.gather(
            *(tasks.aupdate(get, points=Add(1)) for _ in range(5)),
            *(tasks.aupdate(get, priority=Add(1)) for _ in range(4)),
            *(tasks.acreate(task(n)) for n in range(2, 12)),
        )

    asyncio.run(together())
    now = tasks.task(ProjectId("p"), made.task_id).one()
    assert (now.points, now.priority) == (5, 4)
    assert len(stored_items(tasks)) == 11
    schema = tasks.session.catalog.schema_for(Task)
    for item in stored_items(tasks):
        assert schema.to_item(schema.to_entity(item)) == item


def test_of_many_who_create_one_item_one_does(tasks: Tasks) -> None:
    async def together() -> list[Any]:
        makers = [tasks.acreate(task(1, title=f"maker {n}")) for n in range(12)]
        return await asyncio.gather(*makers, return_exceptions=True)

    results = asyncio.run(together())
    refused = [result for result in results if isinstance(result, AlreadyExistsError)]
    assert len(refused) == 11


def test_of_many_who_change_one_version_one_does(kefir: Kefir) -> None:
    user_id = UserId("u1")
    kefir.create(User(user_id=user_id, email="ada@example.com"))
    readers = [kefir.user(user_id).one() for _ in range(8)]

    async def together() -> list[Any]:
        writes = [kefir.aupdate(reader, name=f"reader {n}") for n, reader in enumerate(readers)]
        return await asyncio.gather(*writes, return_exceptions=True)

    results = asyncio.run(together())
    assert sum(isinstance(result, VersionConflictError) for result in results) == 7
    assert kefir.user(user_id).one().version == 2


def test_pages_are_read_while_others_write(kefir: Kefir) -> None:
    user_id = UserId("u1")

    def device(number: int) -> Device:
        return Device(
            user_id=user_id,
            device_id=DeviceId(f"d{number:03}"),
            platform="web",
            push_token=f"t{number}",
            last_seen_at=NOW,
        )

    kefir.batch(*(Put(device(n)) for n in range(0, 60, 2)))

    async def read() -> list[str]:
        return [row.device_id async for row in kefir.devices(user_id).aall()]

    async def together() -> list[Any]:
        return await asyncio.gather(*(kefir.acreate(device(n)) for n in range(1, 60, 2)), read(), read())

    *_, first, second = asyncio.run(together())
    steady = {f"d{n:03}" for n in range(0, 60, 2)}
    for found in (first, second):
        assert found == sorted(set(found))
        assert steady <= set(found)
