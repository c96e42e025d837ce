"""Indexes that hold a part of their items: partial entities that say so, and whole ones that are fetched."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Self

import pytest
from pydantic import (
    BaseModel,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    computed_field,
    field_validator,
    model_validator,
)

from designs.memos import (
    Draft,
    HeadSK,
    Label,
    LabelPK,
    LabelSK,
    Memo,
    MemoPK,
    Memos,
    MemoTable,
    OwnerPK,
    RankSK,
    ShelfPK,
    SlugPK,
)
from singletable import Database, Gt
from singletable.client import Capabilities, open_client
from singletable.clock import ManualClock
from singletable.design import (
    Append,
    Check,
    Collection,
    CountOf,
    Create,
    Delete,
    Design,
    Entity,
    Index,
    Key,
    Keys,
    Put,
    SortKey,
    Table,
    Ttl,
    Update,
    Walk,
    collect,
    upcast,
)
from singletable.errors import (
    ConsistencyError,
    DeclarationError,
    InvalidItemError,
    NotProjectedError,
)
from singletable.stack import Deployment, roles_of
from support.design_clients import Between, on_client
from support.opened_designs import opened_design, store, stored_items
from support.run_commands import command
from support.targets import TARGETS
from support.unique_locks import locks


class SmallTable(Table):
    name = "small"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK", projection="KEYS_ONLY")


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Memos]:
    with opened_design(Memos, request.param, clock) as opened:
        yield opened


@pytest.fixture
def asked(clock: ManualClock) -> Iterator[tuple[Memos, Between]]:
    """Memos in the process, and what is asked of them."""
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        between = Between(client)
        yield on_client(Memos, between), between


def memo(number: int, **fields: Any) -> Memo:
    values = {"memo_id": f"m{number}", "owner": "ada", "rank": number, "slug": f"slug-{number}"}
    texts = {"title": f"Title {number}", "body": f"body {number}", "tags": ["a", "b"], "size_bytes": number}
    return Memo(**{**values, **texts, **fields})


def fill(db: Design, entities: Iterable[Entity]) -> None:
    db.load(entities)


def ids(memos: Iterable[Memo]) -> list[str]:
    return [each.memo_id for each in memos]


def part_of(db: Memos) -> Memo:
    """Store a memo, and read it through the index that holds keys only."""
    db.create(memo(1))
    return db.ranked("ada").one()


# --- what a part holds --------------------------------------------------------------------------------------


def test_part_holds_what_its_keys_tell_and_nothing_else(db: Memos) -> None:
    part = part_of(db)
    assert isinstance(part, Memo)
    assert part.model_dump() == {"memo_id": "m1", "owner": "ada", "rank": 1}
    assert part.model_dump_json() == '{"memo_id":"m1","owner":"ada","rank":1}'
    assert repr(part) == "PartialMemo(memo_id='m1', owner='ada', rank=1)"
    assert (part.key, part.by_rank) == (memo(1).key, memo(1).by_rank)


def test_field_that_is_not_projected_cannot_be_read(db: Memos) -> None:
    part = part_of(db)
    held = "its keys, memo_id, owner, rank"
    with pytest.raises(NotProjectedError, match="ST209") as refused:
        _ = part.body
    assert refused.value.message == (
        f"Memo.by_rank reads index GSI1, which holds {held} of an item: 'body' was not read"
    )
    assert isinstance(refused.value, AttributeError)
    assert not hasattr(part, "title")
    assert getattr(part, "tags", None) is None
    for ask in (
        lambda: part.heading,
        lambda: part.one_of_a_slug,
        lambda: part.by_title,
        lambda: part.on_shelf,
    ):
        with pytest.raises(NotProjectedError):
            ask()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = part.nothing  # type: ignore[attr-defined]


def test_included_fields_are_held_as_they_are_stored(db: Memos) -> None:
    db.create(memo(1, title="Straße", size_bytes=None))
    part = db.titled("ada").one()
    # An attribute that the index would hold, and the item does not have, is what the whole item says of it.
    assert part.model_dump() == {
        "memo_id": "m1",
        "owner": "ada",
        "title": "Straße",
        "folded": "strasse",
        "size_bytes": None,
    }
    with pytest.raises(NotProjectedError, match="'rank' was not read"):
        _ = part.rank


def test_parts_are_compared_and_copied_by_what_is_there(db: Memos) -> None:
    part = part_of(db)
    again = db.ranked("ada").one()
    copies = [copy.copy(part), copy.deepcopy(part), part.model_copy(), pickle.loads(pickle.dumps(part))]
    assert [each == part == again for each in copies] == [True] * 4
    assert {type(each) for each in copies} == {type(part)}
    assert [each.key for each in copies] == [part.key] * 4
    assert part != db.titled("ada").one()
    assert part != memo(1)
    assert part.model_copy(update={"rank": 2}) != part


def test_key_in_one_form_only_does_not_tell_the_field(db: Memos) -> None:
    db.create(Label(label="URGENT", owner="ada"))
    part = db.plan(Label.by_owner.query(OwnerPK(owner="ada"))).one()
    assert part.model_dump() == {"owner": "ada"}
    # The key itself is known all the same, so the whole item is found.
    assert part.key == (LabelPK(label="urgent"), LabelSK())
    assert db.plan(Label.key.get(*part.key)).one() == Label(label="URGENT", owner="ada")
    assert db.plan(type(part).key.get(*part.key)).one().color == "red"


def test_index_with_every_field_yields_whole_entities(db: Memos) -> None:
    draft = Draft(owner="ada", rank=1, label="x", title="t")
    db.create(draft)
    found = db.plan(Draft.by_label.query(LabelPK(label="x"))).one()
    assert (type(found), found) == (Draft, draft)
    db.put(found.model_copy(update={"title": "other"}))
    assert db.plan(Draft.key.get(*draft.key)).one().title == "other"


def test_target_that_ignores_projections_yields_the_same_parts() -> None:
    with Database.open(":memory:") as database:
        db = Memos.open(database, capabilities=Capabilities(projections=False))
        part = part_of(db)
        index = database.describe_table(TableName="memos")["Table"]["GlobalSecondaryIndexes"][0]
        assert index["Projection"]["ProjectionType"] == "ALL"
        assert part.model_dump() == {"memo_id": "m1", "owner": "ada", "rank": 1}
        with pytest.raises(NotProjectedError):
            db.ranked("ada").where(title="Title 1").page()
        with pytest.raises(NotProjectedError):
            db.put(part)


def test_parts_come_from_every_kind_of_plan(db: Memos) -> None:
    fill(db, [*(memo(number) for number in range(3)), Label(label="x", owner="ada")])
    ranked = db.ranked("ada")
    assert ids(db.plan(Walk([ranked])).all()) == ["m0", "m1", "m2"]
    owned = db.owned("ada").one()
    assert [type(each).__name__ for each in (*owned.memos, *owned.labels)] == ["PartialMemo"] * 3 + [
        "PartialLabel"
    ]
    assert [type(each) for each in db.owned("ada").all()].count(type(owned.memos[0])) == 3
    first = ranked.page(2)
    assert [ids(first), ids(ranked.page(2, first.cursor))] == [["m0", "m1"], ["m2"]]
    whole = ranked.follow(Memo.key, lambda part: part.key)
    assert [each.body for each in whole.all()] == ["body 0", "body 1", "body 2"]
    with pytest.raises(NotProjectedError, match="'slug' was not read"):
        ranked.follow(Memo.key, lambda part: (MemoPK(memo_id=part.slug), HeadSK())).page()


def test_properties_that_pydantic_shows_are_not_shown_of_a_part() -> None:
    class Shown(Memo):
        @computed_field
        def loud(self) -> str:
            return self.body.upper()

    class Shows(Design):
        table = MemoTable
        entities = (Shown, Draft)

    with Shows.open(":memory:") as db:
        db.create(Shown(**memo(1).model_dump()))
        part = db.plan(Shown.by_rank.query(OwnerPK(owner="ada"))).one()
        assert part.model_dump() == {"memo_id": "m1", "owner": "ada", "rank": 1}
        assert db.plan(Shown.key.get(*part.key)).one().model_dump()["loud"] == "BODY 1"


class Checked(Memo):
    """Its validators look at what no index holds."""

    _seen: list[str] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _has_text(self) -> Self:
        if getattr(self, "body", "nothing was read") == "":
            raise ValueError("there is no text")
        return self


class CheckedMemos(Design):
    table = MemoTable
    entities = (Checked, Draft)


class Found(Collection):
    memos: list[Checked]


class Answer(BaseModel):
    memos: list[Checked]


def test_models_take_parts_as_they_are() -> None:
    with CheckedMemos.open(":memory:") as db:
        db.create(Checked(**memo(1).model_dump()))
        found = db.plan(collect(Found, OwnerPK(owner="ada"), index=MemoTable.gsi2)).one()
        held = {"memo_id": "m1", "owner": "ada", "title": "Title 1", "folded": "title 1", "size_bytes": 1}
        assert found.memos[0]._seen == []
        # The computed field is the stored one, in whatever model the part is validated.
        assert found.model_dump() == Answer(memos=found.memos).model_dump() == {"memos": [held]}
        with pytest.raises(ValidationError, match="there is no text"):
            Found(memos=[memo(1, body="").model_dump()])  # type: ignore[list-item]


def test_validator_that_needs_what_is_not_there_is_an_error_with_a_safe_hint() -> None:
    class Careful(Memo):
        @field_validator("folded")
        @classmethod
        def _is_of_body(cls, folded: str, info: ValidationInfo) -> str:
            return folded if info.data["body"] else ""

    class CarefulMemos(Design):
        table = MemoTable
        entities = (Careful, Draft)

    with CarefulMemos.open(":memory:") as db:
        db.create(Careful(**memo(1).model_dump()))
        with pytest.raises(InvalidItemError, match="MEMO#m1 / HEAD is no Careful: 'body'") as refused:
            db.plan(Careful.by_title.query(OwnerPK(owner="ada"))).page()
        assert str(refused.value.hint).startswith("fetch=True reads whole items")


# --- what cannot be done with a part ---------------------------------------------------------------------------

WRITES: dict[str, Callable[[Memos, Memo], object]] = {
    "put": lambda db, part: db.put(part),
    "create": lambda db, part: db.create(part),
    "update": lambda db, part: db.update(part, tags=Append(["c"])),
    "delete": lambda db, part: db.delete(part),
    "delete plan": lambda db, part: db.delete_plan(part),
    "batch put": lambda db, part: db.batch(Put(part)),
    "batch delete": lambda db, part: db.batch(Delete(part)),
    "load": lambda db, part: db.load([part]),
    "settled load": lambda db, part: db.load([part], settled=True),
    "transaction": lambda db, part: db.transaction(Create(memo(2)), Put(part)),
    "transaction update": lambda db, part: db.transaction(Update(part, title="x")),
    "check": lambda db, part: db.transaction(Create(memo(2)), Check(part)),
    "changed copy": lambda db, part: db.put(part.model_copy(update=memo(1).model_dump())),
    "stored item": lambda db, part: db.stored_item(part),
    "counted": lambda db, part: db.counted(memo(1), [part]),
    "async put": lambda db, part: asyncio.run(db.aput(part)),
}


@pytest.mark.parametrize("name", WRITES)
def test_part_is_not_written_and_item_and_lock_stay(asked: tuple[Memos, Between], name: str) -> None:
    db, between = asked
    part = part_of(db)
    before = stored_items(db)
    between.calls.clear()
    with pytest.raises(NotProjectedError, match="the rest would be lost if this were written") as refused:
        WRITES[name](db, part)
    assert between.calls == []
    assert refused.value.hint == (
        "read it whole, db.plan(Memo.key.get(*entity.key)).one(); or bind Memo.by_rank with fetch=True, "
        "which reads whole items"
    )
    assert stored_items(db) == before
    assert db.verify().is_clean
    assert locks(db) == {"SLUG#slug-1": "MEMO#m1"}


def test_hint_of_a_part_leads_to_the_whole_item(db: Memos) -> None:
    part = part_of(db)
    whole = db.plan(Memo.key.get(*part.key)).one()
    assert whole == memo(1)
    db.put(whole.model_copy(update={"title": "new"}))
    assert db.plan(Memo.one_of_a_slug.get(SlugPK(slug="slug-1"))).one().body == "body 1"
    assert db.verify().is_clean


def test_filter_by_what_the_index_does_not_hold_is_refused(db: Memos) -> None:
    fill(db, map(memo, range(3)))
    plan = db.titled("ada")
    assert ids(plan.where(Gt("size_bytes", 0)).all()) == ["m1", "m2"]
    for condition in (Gt("rank", 0), Gt("size_bytes", 0) | ~Gt("rank", 0)):
        with pytest.raises(NotProjectedError, match="index GSI2 does not hold rank") as refused:
            plan.where(condition).page()
        assert "fetch=True, which filters whole items" in str(refused.value.hint)
    with pytest.raises(NotProjectedError):
        plan.where(owner="ada").request()  # which a key tells, but no attribute that a filter sees


def test_projected_field_of_a_wrong_type_is_an_error_with_a_safe_hint(db: Memos) -> None:
    store(db, {**Memos.stored_item(memo(1)), "sizeBytes": {"S": "many"}})
    with pytest.raises(InvalidItemError, match=r"MEMO#m1 / HEAD is no Memo: size_bytes:") as refused:
        db.titled("ada").page()
    assert "default" not in str(refused.value.hint)
    invalid: list[InvalidItemError] = []
    assert db.titled("ada").setting_aside(invalid.append).page().items == []
    assert len(invalid) == 1


def test_required_field_that_is_not_projected_is_no_error(db: Memos) -> None:
    # `slug` has no default: a whole Memo cannot be made of what the index holds.
    assert part_of(db).memo_id == "m1"


# --- what is fetched whole ---------------------------------------------------------------------------------------


def test_fetched_entities_are_whole_and_in_the_order_of_the_index(db: Memos) -> None:
    fill(db, [memo(number, rank=9 - number) for number in range(10)])
    found = list(db.shelf("top").all())
    assert found == [memo(number, rank=9 - number) for number in reversed(range(10))]
    db.put(found[0].model_copy(update={"title": "new"}))
    assert db.verify().is_clean
    assert ids(db.shelf("top").newest_first().page(3)) == ["m0", "m1", "m2"]
    page = asyncio.run(db.shelf("top").apage(2))
    assert [each.title for each in page] == ["new", "Title 8"]


def test_fetched_pages_are_full_and_exact(db: Memos) -> None:
    fill(db, map(memo, range(25)))
    for number in range(0, 25, 3):
        db.delete(memo(number))
    plan, cursor, pages = db.shelf("top").where(Gt("size_bytes", 3)), None, []
    while True:
        page = plan.page(4, cursor)
        pages.append(ids(page))
        cursor = page.cursor
        if cursor is None:
            break
    assert [each for page in pages for each in page] == [f"m{n}" for n in range(4, 25) if n % 3]
    assert {len(page) for page in pages[:-1] if page} == {4}


def test_items_are_fetched_by_the_hundred_and_again_if_left_unprocessed(asked: tuple[Memos, Between]) -> None:
    db, between = asked
    fill(db, [memo(number, shelf="s", rank=number) for number in range(230)])
    between.calls.clear()
    left = [True]

    def leave_some(call: Any) -> Any:
        if call.operation != "BatchGetItem" or not left:
            return None
        left.clear()
        wanted = call.params["RequestItems"]["memos"]
        answer = between.inner.call("BatchGetItem", {"RequestItems": {"memos": {"Keys": wanted["Keys"][:2]}}})
        return {**answer, "UnprocessedKeys": {"memos": {"Keys": wanted["Keys"][2:]}}}

    between.before = leave_some
    assert ids(db.shelf("s").all()) == [f"m{number}" for number in range(230)]
    batches = [
        call.params["RequestItems"]["memos"]["Keys"]
        for call in between.calls
        if call.operation == "BatchGetItem"
    ]
    assert max(map(len, batches)) == 100
    between.before, between.calls = lambda call: None, []
    # What the parts of a merged query name is fetched together.
    assert len(db.shelf("s").page(10)) == 10
    assert between.operations() == ["Query"] * 3 + ["BatchGetItem"]


def test_usage_is_of_the_index_and_of_the_items(db: Memos) -> None:
    fill(db, map(memo, range(4)))
    query = db.plan(Memo.on_shelf.query(ShelfPK(shelf="top", shard=0)))
    page = query.page()
    assert page.usage.read == 2 * len(page)
    assert (page.usage.thrown_away, page.units) == (0, 0.5 + 0.5 * len(page))


def test_what_is_gone_or_has_left_the_index_meanwhile_is_left_out(clock: ManualClock) -> None:
    # Writes one after the other, with an index that is behind by a second.
    with Database.open(":memory:", clock=clock, index_delay_s=1.0) as database:
        db = Memos.open(database)
        fill(db, [memo(number, memo_id=f"m{number}") for number in range(6)])
        clock.advance(2)
        found = {each.memo_id: each for each in db.shelf("top").all()}
        db.delete(found["m0"])
        db.update(found["m1"], shelf="other")
        db.update(found["m2"], rank=99)
        db.update(found["m3"], title="new")
        rows = db.shelf("top").all()
        # One that is elsewhere on the shelf comes where the index says, and is what it is now.
        assert [(each.memo_id, each.rank, each.title) for each in rows] == [
            ("m2", 99, "Title 2"),
            ("m3", 3, "new"),
            ("m4", 4, "Title 4"),
            ("m5", 5, "Title 5"),
        ]
        assert (rows.usage.read, rows.usage.thrown_away) == (6 + 5, 2)
        # By bounds, it has moved out of what is read.
        bounded = [
            db.plan(Memo.on_shelf.query(ShelfPK(shelf="top", shard=shard), lt=RankSK(rank=5)))
            for shard in range(3)
        ]
        assert sorted(each.memo_id for plan in bounded for each in plan.all()) == ["m3", "m4"]
        clock.advance(2)
        assert ids(db.shelf("top").all()) == ["m3", "m4", "m5", "m2"]


def test_fetched_is_filtered_by_the_index_first_and_by_the_item_in_the_end(db: Memos) -> None:
    fill(db, map(memo, range(6)))
    plan = db.plan(Memo.on_shelf.query(ShelfPK(shelf="top", shard=1)))
    both = plan.where(title="Title 1", body="body 1")
    request = both.request()
    assert (request["IndexName"], request["FilterExpression"]) == ("GSI3", "#2 = :2")
    assert request["ExpressionAttributeNames"]["#2"] == "title"
    shelf = db.shelf("top").where(Gt("body", "body 3"))
    assert ids(shelf.all()) == ["m4", "m5"]
    assert shelf.page().usage.thrown_away == 4
    assert ids(db.shelf("top").where(title="Title 2", body="body 2").all()) == ["m2"]
    with pytest.raises(ConsistencyError):
        plan.consistent()


def test_collection_of_an_index_is_fetched_for_the_entities_that_say_so(db: Memos) -> None:
    labels = [Label(label=f"L{number}", owner="ada", memo_id=f"m{number}") for number in range(6)]
    fill(db, [*map(memo, range(6)), *labels])
    found = [db.on_shelf("top", shard).one() for shard in range(3)]
    assert sorted(ids(each for some in found for each in some.memos)) == [f"m{number}" for number in range(6)]
    assert sorted(each.label for some in found for each in some.labels) == [
        f"L{number}" for number in range(6)
    ]
    assert {type(each) for some in found for each in (*some.memos, *some.labels)} == {Memo, Label}


def test_cached_fetch_costs_nothing_until_an_item_is_written(asked: tuple[Memos, Between]) -> None:
    db, between = asked
    fill(db, map(memo, range(3)))
    plan = db.shelf("top").cached(seconds=60)
    assert plan.page().units > 0
    between.calls.clear()
    assert (plan.page().units, between.calls) == (0, [])
    db.update(memo(1), title="new")
    assert [each.title for each in plan.page()] == ["Title 0", "new", "Title 2"]


class Ticket(Entity):
    key = Keys(MemoPK, HeadSK)
    by_rank = SmallTable.gsi1.keys(OwnerPK, RankSK, fetch=True)

    memo_id: str
    owner: str = "ada"
    rank: int
    expires_at: Ttl = None


class Tickets(Design):
    table = SmallTable
    entities = (Ticket,)


@pytest.mark.parametrize("target", TARGETS)
def test_fetched_item_whose_time_is_over_is_left_out(target: str, clock: ManualClock) -> None:
    now = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC)
    with opened_design(Tickets, target, clock) as db:
        ends = [None, now - timedelta(seconds=1), now + timedelta(days=1)]
        fill(
            db, [Ticket(memo_id=str(number), rank=number, expires_at=end) for number, end in enumerate(ends)]
        )
        page = db.plan(Ticket.by_rank.query(OwnerPK(owner="ada"))).page()
        assert [each.memo_id for each in page] == ["0", "2"]
        assert page.usage.thrown_away == 1


class ScoredTable(Table):
    name = "scored"
    pk = "id"
    sk = None
    by_score = Index("byScore", pk="league", sk=("score", "team"), projection="KEYS_ONLY")


class TeamPK(Key, template="{team}"):
    team: str


class LeagueKey(Key):
    league: str


class ScoreKey(SortKey):
    score: float
    team: str


class Team(Entity):
    key = Keys(TeamPK)
    by_score = ScoredTable.by_score.keys(LeagueKey, ScoreKey, fetch=True)

    team: str
    league: str = "a"
    score: float
    coach: str = ""


class Scored(Design):
    table = ScoredTable
    entities = (Team,)


def test_bounds_of_attributes_are_asked_of_the_fetched_item_too(clock: ManualClock) -> None:
    with Database.open(":memory:", clock=clock, index_delay_s=1.0) as database:
        db = Scored.open(database)
        fill(db, [Team(team=f"t{number}", score=number, coach="c") for number in range(5)])
        clock.advance(2)
        db.update(Team(team="t2", score=2), score=2.5)
        db.update(Team(team="t3", score=3), score=70)
        key = LeagueKey(league="a")
        between = (ScoreKey.prefix(score=2.0), ScoreKey.prefix(score=4.0))
        plan = db.plan(Team.by_score.query(key, between=between))
        assert [(each.team, each.score) for each in plan.all()] == [("t2", 2.5), ("t4", 4.0)]
        assert [
            each.team for each in db.plan(Team.by_score.query(key, ScoreKey.prefix(score=2.0))).all()
        ] == []
        assert [each.team for each in db.plan(Team.by_score.query(key)).all()] == [
            "t0",
            "t1",
            "t2",
            "t3",
            "t4",
        ]


# --- declarations ------------------------------------------------------------------------------------------------


class OtherSK(SortKey, template="OTHER#{place:03}"):
    place: int


class OldRankSK(SortKey, template="OLD#{rank:03}"):
    rank: int


def _with_upcaster() -> type[Entity]:
    class Upcast(Entity, schema_version=2):
        key = Keys(MemoPK, HeadSK)
        by_rank = SmallTable.gsi1.keys(OwnerPK, RankSK)

        memo_id: str
        owner: str
        rank: int

        from_1 = upcast(1)(lambda values: {**values, "rank": 0})

    return Upcast


def _with_ttl() -> type[Entity]:
    class Expires(Entity):
        key = Keys(MemoPK, HeadSK)
        by_rank = SmallTable.gsi1.keys(OwnerPK, RankSK)

        memo_id: str
        owner: str
        rank: int
        until: Ttl = None

    return Expires


def _with_old_keys() -> type[Entity]:
    class Changing(Entity):
        key = Keys(MemoPK, HeadSK)
        by_rank = SmallTable.gsi1.keys(OwnerPK, RankSK, was=(OwnerPK, OldRankSK))

        memo_id: str
        owner: str
        rank: int

    return Changing


UNREADABLE = {
    "time to live": (_with_ttl, "does not hold 'until': reads could not leave out what has expired"),
    "upcasters": (_with_upcaster, "an upcaster needs the whole of an older one"),
    "old keys": (_with_old_keys, r"it does not tell where one belongs that has old keys \(was=\)"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_part_that_cannot_be_read_rightly_is_refused_when_it_is_declared(name: str) -> None:
    make, said = UNREADABLE[name]
    with pytest.raises(DeclarationError, match=rf"\.by_rank .* is in index GSI1, which .*{said}") as refused:
        type("Refused", (Design,), {"table": SmallTable, "entities": (make(),)})
    assert str(refused.value.hint).startswith("fetch=True reads whole items")


def test_fetch_is_refused_where_items_are_whole() -> None:
    with pytest.raises(DeclarationError, match="which holds whole items"):
        Keys(MemoPK, HeadSK, fetch=True)
    whole = Index("all", pk="A", sk="B")
    with pytest.raises(DeclarationError, match=r"index all of OwnerPK .* projects ALL"):
        whole.keys(OwnerPK, RankSK, fetch=True)


class ChangingMemo(Entity):
    key = Keys(MemoPK, HeadSK)
    by_rank = SmallTable.gsi1.keys(OwnerPK, RankSK, was=(OwnerPK, OldRankSK), fetch=True)

    memo_id: str
    owner: str = "ada"
    rank: int
    title: str = ""


class ChangingMemos(Design):
    table = SmallTable
    entities = (ChangingMemo,)


@pytest.mark.parametrize("target", TARGETS)
def test_fetched_under_old_keys_and_new_in_one_order(target: str) -> None:
    memos = [ChangingMemo(memo_id=str(number), rank=number, title="t") for number in range(5)]
    with opened_design(ChangingMemos, target) as db:
        for number, each in enumerate(memos):
            old = {"GSI1SK": {"S": f"OLD#00{number}"}} if number % 2 else {}
            store(db, {**ChangingMemos.stored_item(each), **old})
        plan = db.plan(ChangingMemo.by_rank.query(OwnerPK(owner="ada")))
        assert list(plan.all()) == memos
        assert list(plan.where(title="t").all()) == memos
        assert list(plan.where(title="u").all()) == []


class Other(Entity):
    key = Keys(LabelPK, HeadSK)
    by_rank = SmallTable.gsi1.keys(OwnerPK, OtherSK)

    label: str
    owner: str = "ada"
    place: int
    color: str = ""


class Mixed(Collection):
    memos: list[ChangingMemo]
    others: list[Other]


class MixedMemos(Design):
    table = SmallTable
    entities = (ChangingMemo, Other)


def test_parts_are_sorted_among_items_under_old_keys_by_their_own_keys() -> None:
    with MixedMemos.open(":memory:") as db:
        fill(db, [Other(label=f"l{number}", place=number) for number in range(3)])
        for number in range(3):
            moving = MixedMemos.stored_item(ChangingMemo(memo_id=str(number), rank=number))
            store(db, {**moving, "GSI1SK": {"S": f"OLD#00{number}"}})
        found = db.plan(collect(Mixed, OwnerPK(owner="ada"), index=SmallTable.gsi1).limit(5)).one()
        assert [type(each).__name__ for each in (*found.memos, *found.others)] == ["ChangingMemo"] * 2 + [
            "PartialOther"
        ] * 3


class TeamOfCounts(Entity):
    key = Keys(OwnerPK, HeadSK)

    owner: str
    members: Annotated[int, CountOf("Member")] = 0


class Member(Entity):
    key = Keys(MemoPK, HeadSK)
    by_owner = SmallTable.gsi1.keys(OwnerPK, RankSK)

    memo_id: str
    owner: str
    rank: int = 0


class Counts(Design):
    table = SmallTable
    entities = (TeamOfCounts, Member)


@pytest.mark.parametrize("target", TARGETS)
def test_children_that_such_an_index_finds_are_counted_whole(target: str) -> None:
    with opened_design(Counts, target) as db:
        db.create(TeamOfCounts(owner="ada"))
        for number in range(3):
            db.create(Member(memo_id=str(number), owner="ada"))
        assert db.plan(TeamOfCounts.key.get(OwnerPK(owner="ada"), HeadSK())).one().members == 3
        assert db.verify().is_clean


# --- the design as data, and the command ----------------------------------------------------------------------


def test_blueprint_says_what_is_fetched_and_the_role_may() -> None:
    blueprint = Memos.blueprint()
    reads = {
        pattern.method: [(read.operation, read.index) for read in pattern.reads]
        for pattern in blueprint.patterns
    }
    assert reads["ranked"] == [("Query", "GSI1")]
    assert reads["shelf"] == [("Query", "GSI3"), ("BatchGetItem", None)]
    assert reads["on_shelf"] == [("Query", "GSI3"), ("BatchGetItem", None), ("BatchGetItem", None)]
    roles = roles_of(blueprint, Deployment(account="123456789012", region="eu-west-1"))
    assert "dynamodb:BatchGetItem" in str(roles)


def test_command_shows_what_is_there_of_a_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "memos.db")
    with Memos.open(path) as db:
        part_of(db)
    words = ["run", "designs.memos:Memos.ranked", "--owner", "ada", "--target", path]
    assert command(capsys)(*words, "--json").json["items"] == [
        {
            "PK": "MEMO#m1",
            "SK": "HEAD",
            "GSI1PK": "OWNER#ada",
            "GSI1SK": "RANK#001",
            "entityType": "Memo",
            "memoId": "m1",
            "owner": "ada",
            "rank": 1,
        }
    ]
    assert "body" not in command(capsys)(*words).out
