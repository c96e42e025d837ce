"""What designs are asked to do, so that every kind of key, plan, write and kept data is written down.

Scripts change nothing of what they are given, draw nothing at random, and take their times from the stage's clock.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar, Final
from uuid import UUID

from designs import (
    accounts,
    bands,
    brewing,
    changing_letters,
    clubs,
    cooking,
    drafts,
    feed,
    inverted_people,
    journals,
    larder,
    letters,
    members,
    memos,
    moving_shelves,
    options,
    pantry,
    ranking,
    recipes,
    settings,
    shops,
    social,
    tasks,
    wall,
)
from golden.stage import Stage
from singletable.design import (
    Add,
    Append,
    BeginsWith,
    Change,
    Check,
    Contains,
    Create,
    Delete,
    Design,
    Entity,
    Eq,
    Exists,
    Ge,
    Gt,
    In,
    Keys,
    Le,
    Lt,
    Ne,
    Once,
    Put,
    Update,
    on,
)
from singletable.errors import InvalidItemError

_AT: Final = datetime(2025, 1, 31, 23, 59, 59, 999_000, tzinfo=UTC)


def _deny(db: Design, stage: Stage, pk: str, sk: str, field: str, value: Any) -> None:
    """Let a stored value be wrong, as if somebody else had written it."""
    stage.meddle(
        db,
        "UpdateItem",
        Key={"PK": {"S": pk}, "SK": {"S": sk}},
        UpdateExpression="SET #f = :v",
        ExpressionAttributeNames={"#f": field},
        ExpressionAttributeValues={":v": value},
    )


# --- kept data ----------------------------------------------------------------------------------------------


def kept_data(stage: Stage) -> None:
    """Counters, sums, averages, unique values, derived items and an index, by every kind of write."""
    db = stage.open(shops.Shops)
    shop = stage.do("create a shop", lambda: db.create(shops.Shop(shop_id="s")).entity)
    stage.refuse("create it again", lambda: db.create(shop))
    tea = stage.do(
        "create a product with a unique code",
        lambda: (
            db.create(
                shops.Product(shop_id="s", product_id="p1", title="green tea", code="c1", amount=3)
            ).entity
        ),
    )
    stage.refuse(
        "create another one with the code",
        lambda: db.create(shops.Product(shop_id="s", product_id="p2", title="cup", code="c1")),
    )
    for number, stars in enumerate(("5", "2.5", "4")):
        review = shops.Review(shop_id="s", product_id="p1", review_id=f"r{number}", stars=Decimal(stars))
        stage.do(f"review it with {stars}", lambda review=review: db.create(review))  # type: ignore[misc]
    before = tea.model_copy()
    stage.do("change it", lambda: db.update(tea, title="white tea"))
    stage.refuse("change what was read before", lambda: db.update(before, title="black tea"))
    tea = stage.do("read it again", lambda: db.product("s", "p1").one())
    stage.clock.advance(60)
    tea = stage.do("change title and code", lambda: db.update(tea, title="black tea", code="c2").entity)
    stage.do("add to its amount", lambda: db.update(db.product("s", "p1"), amount=Add(4)))
    stage.do("take its code away", lambda: db.update(db.product("s", "p1"), code=None))
    stage.refuse(
        "change it on a condition", lambda: db.update(db.product("s", "p1"), title="x", when=Gt("amount", 99))
    )
    stage.do(
        "change a review",
        lambda: db.put(shops.Review(shop_id="s", product_id="p1", review_id="r1", stars=Decimal(1))),
    )
    stage.do(
        "delete a review",
        lambda: db.delete(
            shops.Review.key.get(shops.ReviewPK(shop_id="s", product_id="p1"), shops.ReviewSK(review_id="r0"))
        ),
    )
    stage.together(
        "write several together",
        lambda: db.transaction(
            Create(shops.Product(shop_id="s", product_id="p2", title="cup", code="c1", amount=1)),
            Create(shops.Visit(shop_id="s", visit_id="v0", minutes=5)),
            Check(db.shop("s"), Ge("products", 1)),
        ),
    )
    stage.do(
        "batch",
        lambda: db.batch(
            *(Put(shops.Visit(shop_id="s", visit_id=f"v{number}")) for number in range(1, 4)),
            Delete(shops.Visit.key.get(shops.ShopPK(shop_id="s"), shops.VisitSK(visit_id="v0"))),
        ),
    )
    stage.do("products by title", lambda: db.titled("cup").where(Gt("amount", 0)).page(1))
    stage.do(
        "what is remembered",
        lambda: [list(db.remembered_products("s").all()) for _ in range(2)],
    )
    stage.do(
        "hold a slot",
        lambda: db.create(shops.Hold(hold_id="h", slot="noon", until=db.now() + timedelta(hours=1))),
    )
    stage.refuse("hold it twice", lambda: db.create(shops.Hold(hold_id="i", slot="noon")))
    stage.clock.advance(3 * 3600)
    stage.do("hold it when the time is over", lambda: db.create(shops.Hold(hold_id="i", slot="noon")))
    _deny(db, stage, "SHOP#s", "SHOP", "products", {"N": "7"})
    _deny(db, stage, "SHOP#s", "PRODUCT#p2", "GSI1PK", {"S": "TITLE#mug"})
    stage.do("verify", lambda: db.verify())
    stage.do("repair", lambda: db.verify(repair=True))
    stage.do("count what a delete takes along", lambda: db.delete_plan(db.shop("s")))
    stage.do("delete the shop with all of it", lambda: db.delete(db.shop("s")))


def unique_values(stage: Stage) -> None:
    """Unique values that are optional, composed, shared by two entities, and end with their item."""
    db = stage.open(accounts.Accounts)
    ada = accounts.User(user_id="u1", tenant_id="t", email="ada@x", username="ada")
    stage.do("create a user", lambda: db.create(ada))
    stage.refuse("take her name", lambda: db.create(accounts.Member(member_id="m1", username="ada")))
    stage.do("create a member", lambda: db.create(accounts.Member(member_id="m1", username="bo", badge=7)))
    stage.do("give the name up", lambda: db.update(db.user("u1"), username=None))
    stage.do("take it over", lambda: db.update(db.member("m1").one(), username="ada", badge=8))
    stage.do("change what is not unique", lambda: db.update(db.user("u1"), bio="writes", logins=Add(1)))
    stage.do(
        "put over it",
        lambda: db.put(accounts.User(user_id="u1", tenant_id="t2", email="ada@x", username="eve")),
    )
    stage.refuse(
        "put over nothing with a name that is taken",
        lambda: db.put(accounts.User(user_id="u2", tenant_id="t2", email="ada@x")),
    )
    stage.do(
        "invite",
        lambda: db.create(accounts.Invitation(code="i", mailbox="Bo@X", ttl=db.now() + timedelta(days=1))),
    )
    stage.refuse("invite again", lambda: db.create(accounts.Invitation(code="j", mailbox="bo@x")))
    stage.do("prolong", lambda: db.update(db.invitation("i"), ttl=db.now() + timedelta(days=9)))
    stage.do("delete a member", lambda: db.delete(db.member("m1").one()))
    stage.do("delete what is not there", lambda: db.delete(db.member("m1")))
    stage.do(
        "notes of an owner",
        lambda: [db.create(accounts.Note(note_id="n", owner="u1", text="x")), db.notes("u1").all()],
    )
    stage.meddle(db, "DeleteItem", Key={"PK": {"S": "USERNAME#eve"}, "SK": {"S": "UNIQUE"}})
    stage.do("repair", lambda: db.verify(repair=True))


def averages(stage: Stage) -> None:
    """An average in the key of an index, derived items that follow it, copies, and words by the stream."""
    db = stage.open(recipes.Recipes)
    stage.do(
        "create a recipe",
        lambda: db.create(
            recipes.Recipe(recipe_id="r", title="apple pie", slug="pie", cuisine="french", meal="dessert")
        ),
    )
    stage.do("a note copies its title", lambda: db.create(recipes.Note(recipe_id="r", note_id="n")))
    for user, stars in (("a", 5), ("b", 4), ("c", None)):
        rating = recipes.Rating(recipe_id="r", user_id=user, stars=None if stars is None else Decimal(stars))
        stage.do(f"rate it {stars}", lambda rating=rating: db.create(rating))  # type: ignore[misc]
    key = recipes.Rating.key.get(recipes.RecipePK(recipe_id="r"), recipes.RatingSK(user_id="c"))
    stage.do("rate it after all", lambda: db.update(key, stars=Decimal(1)))
    stage.do("put a rating", lambda: db.put(recipes.Rating(recipe_id="r", user_id="a", stars=Decimal(2))))
    whole = recipes.Recipe.key.get(recipes.RecipePK(recipe_id="r"), recipes.MetadataSK())
    stage.do("change title and meal", lambda: db.update(whole, title="apple cake", meal=None))
    stage.do("recipes of a method", lambda: db.by_method("baked").newest_first().all())
    stage.do("recipes of a facet", lambda: db.by_facet("CUISINE", "french").page(5))
    stage.consume("words by the stream", db)
    stage.do("delete a rating", lambda: db.delete(key))
    stage.do("delete the recipe", lambda: db.delete(whole))
    stage.consume("words by the stream, again", db)


def stream_counters(stage: Stage) -> None:
    """Counters, sums and copies that a consumer of the stream keeps."""
    db = stage.open(social.Social)
    stage.do("create a user", lambda: db.create(social.User(user_id="u", full_name="Ada")))
    stage.do("create a post", lambda: db.create(social.Post(post_id="p", user_id="u", text="hello")))
    stage.do("like it", lambda: db.create(social.Reaction(post_id="p", user_id="u")))
    stage.do("be angry", lambda: db.put(social.Reaction(post_id="p", user_id="u", kind="angry")))
    stage.do("like it again", lambda: db.put(social.Reaction(post_id="p", user_id="u")))
    for number in range(2):
        comment = social.Comment(about="p", comment_id=f"c{number}", weight=Decimal("1.5"))
        stage.do("comment", lambda comment=comment: db.create(comment))  # type: ignore[misc]
    stage.do("report", lambda: db.create(social.Report(post_id="p", report_id="r")))
    stage.consume("count by the stream", db)
    user = social.User.key.get(social.UserPK(user_id="u"), social.ProfileSK())
    stage.do("call the user differently", lambda: db.update(user, full_name="Ada L."))
    stage.do(
        "delete a comment",
        lambda: db.delete(
            social.Comment.key.get(social.CommentPK(about="p"), social.CommentSK(comment_id="c0"))
        ),
    )
    stage.consume("copy by the stream", db)
    stage.do("posts of an author", lambda: db.posts_of("Ada L.").all())
    _deny(db, stage, "POST#p", "POST", "commentsCount", {"N": "9"})
    stage.forget_guards(db)
    stage.do("repair", lambda: db.verify(repair=True))


class Counted(Entity):
    key = Keys(journals.AuthorPK, journals.TagSK)

    author_id: str
    word: str
    seen: int = 0


class WatchedJournals(journals.Journals):
    """Counts what it sees of authors, each change once."""

    entities: ClassVar[tuple[type[Entity], ...]] = (*journals.Journals.entities, Counted)  # type: ignore[assignment]

    @on(journals.Author)
    def count(self, change: Change[journals.Author]) -> list[Once]:
        author = change.entity.author_id
        key = Counted.key.get(journals.AuthorPK(author_id=author), journals.TagSK(word="seen"))
        return [Once(Update(key, seen=Add(1)), missing=[Counted(author_id=author, word="seen")])]


def handlers(stage: Stage) -> None:
    """Stream handlers that write, once or again and again, beside what is kept by the stream."""
    db = stage.open(WatchedJournals)
    stage.do("create an author", lambda: db.create(journals.Author(author_id="a", name="Ada")))
    stage.do(
        "create a post",
        lambda: db.create(
            journals.Post(post_id="p", author_id="a", title="on tea", words=100, stars=Decimal(4))
        ),
    )
    stage.consume("first changes", db)
    stage.do(
        "publish it",
        lambda: db.update(db.post("p").one(), status="public", title="on green tea", words=Add(20)),
    )
    stage.do("call the author differently", lambda: db.update(db.author("a"), name="Ada L."))
    stage.consume("further changes", db)
    stage.do("the log", lambda: db.log_of("p").all())
    stage.do("delete the post", lambda: db.delete(db.post("p")))
    stage.consume("the end of it", db)


def replays(stage: Stage) -> None:
    """Records that are handled again, and records that cannot be handled."""
    db = stage.open(brewing.Brewing, stage="dev")
    brew = stage.do(
        "create", lambda: db.create(brewing.Brew(brew_id="1", tags={"a"}, recipe={"sugar": 1})).entity
    )
    stage.do("change", lambda: db.update(brew, status="ready"))
    stage.do("another", lambda: db.create(brewing.Brew(brew_id="2", note="poison")))
    bad = {"PK": {"S": "BREW#3"}, "SK": {"S": "BREW"}, "entityType": {"S": "Brew"}, "status": {"N": "7"}}
    stage.meddle(db, "PutItem", Item=bad)
    stage.consume("handle", db, retries=0)
    stage.consume("handle all of it again", db, retries=0, name="again")
    stage.do("put aside", lambda: [letter.error for letter in db.dead_letters()])
    stage.do(
        "mend",
        lambda: db.update(brewing.Brew.key.get(brewing.BrewPK(brew_id="2"), brewing.BrewSK()), note=None),
    )
    stage.do("handle what was put aside", lambda: db.redrive())


def cascades(stage: Stage) -> None:
    """What is owned: in the partition of others, spread over shards, found through an index, with counters."""
    db = stage.open(clubs.Clubs)
    tenant, club_id = clubs.TenantId("t"), clubs.ClubId("c")
    stage.do("create a club", lambda: db.create(clubs.Club(tenant_id=tenant, club_id=club_id)))
    stage.do(
        "with members",
        lambda: db.batch(
            *(
                Put(clubs.Member(tenant_id=tenant, club_id=club_id, member_id=clubs.MemberId(f"m{n}")))
                for n in range(3)
            )
        ),
    )
    stage.do(
        "and rounds",
        lambda: db.batch(*(Put(clubs.Round(club_id=club_id, number=n, created_at=_AT)) for n in range(4))),
    )
    stage.do("and a badge", lambda: db.create(clubs.Badge(badge_id="b", club_id=club_id, code="x")))
    key = clubs.Club.key.get(clubs.TenantPK(tenant_id=tenant), clubs.ClubSK(club_id=club_id))
    stage.do("count", lambda: db.delete_plan(key))
    stage.do("delete", lambda: db.delete(key))


def owners(stage: Stage) -> None:
    """An owner that counts, at once and by the stream; and one whose children lie elsewhere."""
    db = stage.open(bands.Bands)
    band = stage.do("create a band", lambda: db.create(bands.Band(band_id="b", fan_club="f")).entity)
    stage.do("a song", lambda: db.create(bands.Song(band_id="b", song_id="s", title="x")))
    stage.do("a gig", lambda: db.create(bands.Gig(band_id="b", gig_id="g")))
    stage.do("a fan", lambda: db.create(bands.Fan(fan_club="f", band_id="b", name="n")))
    stage.consume("count", db)
    before = band.model_copy()
    stage.do("call its club differently", lambda: db.update(band, fan_club="g"))
    stage.refuse("delete what was read before", lambda: db.delete(before))
    key = bands.Band.key.get(bands.BandPK(band_id="b"), bands.BandSK())
    stage.do("delete", lambda: db.delete(key))
    stage.consume("count what is gone", db)


def loads(stage: Stage) -> None:
    """Entities that are loaded, over others and settled; and what was stored before they were kept."""
    old = stage.open(members.OldMembers)
    stage.do(
        "load old ones",
        lambda: old.load(
            [
                members.OldTeam(team="t", title="one"),
                members.OldMember(team="t", member="a", email="a@x", age=20, badges={"red", "blue"}),
            ]
        ),
    )
    db = stage.open(members.Members)
    stage.do("verify", lambda: db.verify())
    stage.do("repair", lambda: db.verify(repair=True))
    children = [
        members.Member(team="u", member=f"m{n}", email=f"{n}@x", age=30 + n, badges={"red"}, title="two")
        for n in range(2)
    ]
    team = members.Members.counted(members.Team(team="u", title="two"), children)
    stage.do("load settled ones", lambda: db.load([team, *children], settled=True))
    stage.do(
        "load over them", lambda: db.load([members.Member(team="t", member="b", email="b@x", badges={"red"})])
    )
    stage.do("change the title", lambda: db.update(db.team("t"), title="first"))
    stage.do("who has a badge", lambda: db.holders("red").all())
    stage.together(
        "move to another team",
        lambda: db.transaction(
            Delete(db.member("u", "m0")), Create(members.Member(team="t", member="m0", email="0@x", age=99))
        ),
    )


# --- keys that change -----------------------------------------------------------------------------------------


def changed_keys(stage: Stage) -> None:
    """Items under the keys that they had: read, changed, deleted, and found through an index with other keys."""
    old = stage.open(changing_letters.OldLetters)
    for number in range(4):
        letter = changing_letters.OldLetter(
            tenant="t", box="b", number=number, day="monday", subject=f"s{number}", seal=f"seal{number}"
        )
        old.create(letter)
    db = stage.open(changing_letters.Letters)
    stage.do("read one", lambda: db.letter("t", "b", "monday", 0).maybe())
    stage.do("read one of another day", lambda: db.letter("t", "b", "friday", 0).maybe())
    stage.do("read all", lambda: db.letters("t", "b").all())
    stage.do("read a page", lambda: db.since("t", "b", "monday").page(2))
    stage.do("read those of a day", lambda: db.of_day("monday").newest_first().page(3))
    stage.do("read the box", lambda: db.whole("t", "b").one())
    stage.do("change one", lambda: db.update(db.letter("t", "b", "monday", 0).one(), subject="changed"))
    stage.do("change one by its key", lambda: db.update(db.letter("t", "b", "monday", 1), seal="other"))
    stage.do("delete one", lambda: db.delete(db.letter("t", "b", "monday", 2)))
    stage.refuse(
        "create one that is there",
        lambda: db.create(changing_letters.Letter(tenant="t", box="b", number=3, day="monday", subject="x")),
    )
    stage.do("put one", lambda: db.put(db.letter("t", "b", "monday", 3).one()))
    stage.do("verify", lambda: db.verify(repair=True))


def changed_keys_by_stream(stage: Stage) -> None:
    """The same where a stream keeps counts, copies and labels, and owners delete what they own."""
    old = stage.open(moving_shelves.OldShelves)
    old.create(moving_shelves.OldShelf(shelf="s"))
    old.create(moving_shelves.OldJar(shelf="s", jar="j1", labels={"jam"}))
    old.create(moving_shelves.OldJar(shelf="s", jar="j2", labels={"jam", "sour"}))
    old.create(moving_shelves.OldSpoon(shelf="s", jar="j1", spoon="p"))
    db = stage.open(moving_shelves.Shelves)
    stage.consume("keep what was there", db)
    stage.do("create a jar", lambda: db.create(moving_shelves.Jar(shelf="s", jar="j3", labels={"new"})))
    stage.do("read the jars", lambda: db.jars("s").page(2))
    stage.do("read some", lambda: db.some("s", "j1", "j3").all())
    stage.do("read the shelf", lambda: db.whole("s").one())
    stage.do("change the shelf", lambda: db.update(db.shelf("s"), room="attic"))
    stage.do("change a jar", lambda: db.update(db.jar("s", "j2"), labels={"sweet"}))
    stage.consume("keep what changed", db)
    stage.do("what has a label", lambda: db.labelled("sweet").all())
    stage.do("delete the shelf", lambda: db.delete(db.shelf("s")))
    stage.consume("keep what is left", db)


def moved_locks(stage: Stage) -> None:
    """Locks with the sort key that all had, beside those with their own."""
    old = stage.open(inverted_people.OldPeople)
    stage.do(
        "create with old locks",
        lambda: old.create(inverted_people.OldPerson(person_id="p", name="ada", email="a@x")),
    )
    db = stage.open(inverted_people.People)
    stage.refuse("take the name", lambda: db.create(inverted_people.Person(person_id="q", name="ada")))
    stage.do("look up", lambda: db.named("ada").maybe())
    stage.do("change the name", lambda: db.update(db.person("p"), name="eve"))
    stage.do("take it now", lambda: db.create(inverted_people.Person(person_id="q", name="ada")))
    stage.do("repair", lambda: db.verify(repair=True))
    stage.do("delete", lambda: db.delete(db.person("p")))


def changed_index_keys(stage: Stage) -> None:
    """An index that gets months and shards."""
    old = stage.open(wall.Wall)
    for number in range(3):
        old.create(wall.Post(post_id=f"p{number}", created_at=_AT + timedelta(days=20 * number)))
    db = stage.open(wall.MonthWall)
    stage.do(
        "create one", lambda: db.create(wall.MonthPost(post_id="p3", created_at=_AT + timedelta(days=50)))
    )
    newest, oldest = _AT + timedelta(days=60), _AT
    first = stage.do("walk", lambda: db.newest(newest, oldest).page(2))
    stage.do("walk on", lambda: db.newest(newest, oldest).page(2, first.cursor))
    stage.do("put one anew", lambda: db.put(wall.MonthPost(post_id="p0", created_at=_AT)))
    stage.do("a month", lambda: db.of_month("2025-01").all())


def changed_letters_of_keys(stage: Stage) -> None:
    """An index whose partitions have two letters instead of one."""
    old = stage.open(pantry.LetterPantry)
    for number, name in enumerate(("Salt", "Sage", "Beans")):
        old.create(pantry.LetterIngredient(ingredient_id=f"i{number}", name=name))
    stage.do("search with one letter", lambda: old.search("sa").all())
    db = stage.open(pantry.LettersPantry)
    stage.do("search with two", lambda: db.search("SA").all())
    stage.refuse("search for less", lambda: db.search("s").page(2))
    stage.do("put", lambda: db.put(pantry.LettersIngredient(ingredient_id="i0", name="Sea salt")))
    stage.do("search again", lambda: db.search("se").all())


def letters_of_a_day(stage: Stage) -> None:
    """Numbers in keys that are padded, ranges of them, and a unique value that is looked up nowhere."""
    db = stage.open(letters.Letters)
    for number in (7, 70):
        stage.do(
            "create",
            lambda number=number: db.create(
                letters.Letter(  # type: ignore[misc]
                    tenant="t", box="b", number=number, day="monday", subject="x", seal=f"s{number}"
                )
            ),
        )
    stage.do("of a day", lambda: db.of_day("monday").newest_first().first())
    bounds: dict[str, Any] = {
        "gt": letters.LetterSK(day="monday", number=7),
        "le": letters.LetterSK.prefix(day="monday"),
    }
    stage.do(
        "after the first",
        lambda: db.plan(letters.Letter.key.query(letters.BoxPK(tenant="t", box="b"), **bounds)).all(),
    )


# --- plans ------------------------------------------------------------------------------------------------


def lists(stage: Stage) -> None:
    """Followed, merged, walked and collected."""
    db = stage.open(ranking.Ranking)
    for number in range(6):
        db.create(ranking.Card(card_id=f"c{number}", name="ab"[number % 2], likes=number))
        db.create(
            ranking.CardScore(
                board="b",
                score_id=f"s{number}",
                score=number * 10,
                scored_at=_AT + timedelta(days=number),
                card_id=None if number == 2 else f"c{number}",
            )
        )
    db.create(ranking.Place(place_id="p", name="a"))
    db.create(ranking.Code(place_id="p", code="a"))
    page = stage.do("cards of a board", lambda: db.board("b").page(2))
    stage.do("and on", lambda: db.board("b").page(3, page.cursor))
    page = stage.do("cards of all shards", lambda: db.ranked("b").page(2))
    stage.do("and on", lambda: db.ranked("b").page(9, page.cursor))
    stage.do("cards of months", lambda: db.of_months(_AT + timedelta(days=9), _AT).all())
    stage.do("liked cards", lambda: db.liked("b", 3).all())
    stage.do("what begins so", lambda: db.named("a").one())
    stage.do("what is called so", lambda: db.called("a").one())
    stage.do("overview", lambda: db.overview("b").one())
    stage.do("a request", lambda: db.ranked("b").request(3))


def pages(stage: Stage) -> None:
    """Pages in both orders, filters of every kind, batches, caches, what is over, and conditions in an index."""
    db = stage.open(feed.Feed, is_told=True)
    author = feed.AuthorId("a")
    posts = [
        feed.Post(
            author_id=author,
            post_id=feed.PostId(f"p{n}"),
            created_at=_AT + timedelta(hours=13 * n),
            likes=n,
            text=f"text {n}",
            visibility="private" if n == 1 else "public",
            ttl=_AT if n == 4 else None,
        )
        for n in range(6)
    ]
    stage.do("batch", lambda: db.batch(*map(Put, posts), Put(feed.Badge(author_id=author, name="gold"))))
    stage.do("read one", lambda: db.post(author, _AT, feed.PostId("p0")).found())
    page = stage.do("a page", lambda: db.posts(author).newest_first().page(2))
    stage.do("the next one", lambda: db.posts(author).newest_first().page(2, page.cursor))
    stage.refuse("the cursor elsewhere", lambda: db.posts(feed.AuthorId("b")).page(2, page.cursor))
    conditions = (
        Eq("text", "text 1"),
        Ne("likes", 1),
        Lt("likes", 2),
        Le("likes", 2),
        Gt("likes", 4),
        Ge("likes", 4),
        In("likes", 1, 2, 3),
        Exists("ttl"),
        Contains("text", "4"),
        BeginsWith("text", "text"),
        ~(Eq("likes", 1) | Eq("likes", 2)) & ~Exists("ttl"),
    )
    for condition in conditions:
        stage.do(
            "filter",
            lambda condition=condition: [  # type: ignore[misc]
                post.post_id for post in db.posts(author).where(condition).all()
            ],
        )
    bounds: list[dict[str, Any]] = [
        {"gt": feed.PostSK(created_at=_AT, post_id=feed.PostId("p0"))},
        {"ge": feed.PostSK.prefix(created_at=_AT + timedelta(hours=13))},
        {"lt": feed.PostSK.prefix(created_at=_AT + timedelta(hours=13))},
        {
            "between": (
                feed.PostSK.prefix(created_at=_AT),
                feed.PostSK.prefix(created_at=_AT + timedelta(hours=26)),
            )
        },
    ]
    for bound in bounds:
        stage.do(
            "a range",
            lambda bound=bound: [  # type: ignore[misc]
                post.post_id
                for post in db.plan(feed.Post.key.query(feed.AuthorPK(author_id=author), **bound)).all()
            ],
        )
    stage.do("the feed", lambda: db.feed(_AT + timedelta(days=9), _AT).page(3))
    stage.do("a month", lambda: db.public_month("2025-02").where(Gt("likes", 1)).limit(2).all())
    stage.do("the public feed", lambda: db.public_feed(_AT + timedelta(days=9), _AT).page(3))
    keys = [
        (feed.AuthorPK(author_id=author), feed.PostSK(created_at=post.created_at, post_id=post.post_id))
        for post in posts[:2]
    ]
    stage.do("several", lambda: db.several([*keys, keys[0]]).consistent().found())
    stage.do("the author", lambda: db.author(author).one())
    stage.do("cached", lambda: [list(db.cached_posts(author).all()) for _ in range(2)])
    stage.do("delete what is over", lambda: db.delete_expired())


def projections(stage: Stage) -> None:
    """Indexes with some fields only, parts of entities, and items that are fetched whole."""
    db = stage.open(memos.Memos, is_told=True)
    for number in range(3):
        memo = memos.Memo(
            memo_id=f"m{number}", owner="o", rank=number, slug=f"S{number}", title="Title", body="b" * 20
        )
        stage.do("create", lambda memo=memo: db.create(memo))  # type: ignore[misc]
    stage.do("a label", lambda: db.create(memos.Label(label="Red", owner="o")))
    stage.do("by rank", lambda: [memo.memo_id for memo in db.ranked("o").all()])
    stage.do("by title", lambda: [memo.title for memo in db.titled("o").all()])
    stage.do("on a shelf", lambda: [memo.body for memo in db.shelf("top").all()])
    stage.do("owned", lambda: len(db.owned("o").one().memos))
    stage.do("on a part of a shelf", lambda: len(db.on_shelf("top", 0).one().memos))
    first = db.ranked("o").page(1)[0]
    stage.refuse("change a part", lambda: db.update(first, rank=9))


def invalid_items(stage: Stage) -> None:
    """Items that are not what their entity says: refused, set aside, and told by verify."""
    db = stage.open(feed.Feed)
    author = feed.AuthorId("a")
    for number in range(3):
        db.create(feed.Post(author_id=author, post_id=feed.PostId(f"p{number}"), created_at=_AT))
    _deny(db, stage, "AUTHOR#a", "POST#2025-01-31T23:59:59.999Z#p1", "likes", {"S": "many"})
    stage.refuse("read them", lambda: db.posts(author).page(5))
    errors: list[InvalidItemError] = []
    stage.do("set them aside", lambda: db.posts(author).setting_aside(errors.append).page(2))
    stage.do("what was set aside", lambda: [[error.key, str(error)] for error in errors])
    key = db.post(author, _AT, feed.PostId("p1"))
    stage.refuse("read it", lambda: key.one())
    stage.do("make it valid", lambda: db.update(key, likes=1))
    stage.do("verify", lambda: db.verify())


def requests_of_plans(stage: Stage) -> None:
    """What plans would ask for, without asking."""
    db = stage.open(feed.Feed)
    author = feed.AuthorId("a")
    key = (feed.AuthorPK(author_id=author), feed.PostSK(created_at=_AT, post_id=feed.PostId("p")))
    plans: list[Any] = [
        db.post(author, _AT, feed.PostId("p")),
        db.posts(author).where(Gt("likes", 3)).newest_first().limit(7),
        db.feed(_AT, _AT - timedelta(days=40)),
        db.public_month("2025-01"),
        db.several([key]),
        db.author(author),
    ]
    for plan in plans:
        stage.do("a request", lambda plan=plan: plan.request())  # type: ignore[misc]
    other = stage.open(larder.Larder)
    stage.do("by a unique value", lambda: other.named("salt").request())
    third = stage.open(ranking.Ranking)
    stage.do("followed", lambda: third.liked("b", 3).request())
    stage.do("collected", lambda: [third.named("a").request(), third.overview("b").request()])


def table_settings(stage: Stage) -> None:
    """A table with every setting, what differs from it, how it is mended; and keys of several attributes."""
    db = stage.open(settings.Archive, is_told=True, stage="dev")
    stage.do("compare", lambda: db.drift())
    stage.meddle(db, "UpdateTable", DeletionProtectionEnabled=False)
    stage.meddle(db, "UpdateTable", BillingMode="PAY_PER_REQUEST")
    stage.do("compare again", lambda: [str(each) for each in db.drift()])
    stage.do("give it its settings", lambda: db.create_table())
    for number in range(2):
        document = settings.Document(
            document_id=settings.DocumentId(f"d{number}"),
            owner_id="o",
            title=f"t{number}",
            shelf="s",
            year=2000,
            size_bytes=5,
            stored_at=_AT,
        )
        stage.do("create", lambda document=document: db.create(document))  # type: ignore[misc]
    shelf = settings.ShelfYear(shelf="s", year=2000)
    by_year, by_owner = settings.Document.by_year, settings.Document.by_owner
    stage.do("of a year", lambda: db.plan(by_year.query(shelf)).page(1))
    stage.do("from a title on", lambda: db.plan(by_year.query(shelf, ge=settings.Title(title="t1"))).all())
    stage.do("of an owner", lambda: db.plan(by_owner.query(settings.OwnerPK(owner_id="o"))).all())


# --- fields -----------------------------------------------------------------------------------------------


def expiry(stage: Stage) -> None:
    """Times to live: on a condition, after a time, after a write."""
    db = stage.open(drafts.Drafts)
    card_id = drafts.CardId("c")
    card = stage.do("a draft", lambda: db.create(drafts.Card(card_id=card_id, title="x")).entity)
    stage.do("a visit", lambda: db.create(drafts.Visit(card_id=card_id, visit_id="v", last_seen_at=db.now())))
    stage.do("a code", lambda: db.create(drafts.Code(card_id=card_id, code="1")))
    stage.do("publish", lambda: db.update(card, status="PUBLISHED"))
    stage.clock.advance(500)
    stage.do("see again", lambda: db.update(db.visit(card_id, "v"), last_seen_at=db.now()))
    stage.do("use", lambda: db.update(db.code(card_id, "1"), uses=Add(1)))
    stage.clock.advance(700)
    stage.do("too late", lambda: db.code(card_id, "1").maybe())
    stage.do("clear", lambda: db.delete_expired(segments=2))


def computed_fields(stage: Stage) -> None:
    """Fields that are made of others, in keys, locks, conditions and derived items; and looking up."""
    db = stage.open(larder.Larder)
    stage.do("create", lambda: db.create(larder.Ingredient(ingredient_id="i", name="  Sea   Salt ")))
    stage.refuse("the same name", lambda: db.create(larder.Ingredient(ingredient_id="j", name="sea SALT")))
    stage.do("search", lambda: db.search("Sea").all())
    stage.do("look up", lambda: db.named("SEA salt").found())
    stage.do("change it", lambda: db.update(db.ingredient("i"), name="Rock salt", status="draft"))
    stage.do("a dish", lambda: db.create(larder.Dish(dish_id="d", title="soup")))
    stage.do("a review", lambda: db.create(larder.Review(dish_id="d", reviewer="r", stars=4)))
    stage.do("the title", lambda: db.update(db.dish("d"), title="stew"))
    stage.do("of a rank", lambda: db.of_rank(8).all())
    stage.do("with a word", lambda: db.with_word("salt").all())
    stage.do("verify", lambda: db.verify())


def updates(stage: Stage) -> None:
    """Updates of every kind of value, with and without what was read, on conditions."""
    db = stage.open(tasks.Tasks)
    project, task_id = tasks.ProjectId("p"), tasks.TaskId("t")
    task = stage.do(
        "create", lambda: db.create(tasks.Task(project_id=project, task_id=task_id, title="Buy")).entity
    )
    stage.clock.advance(1)
    key = db.task(project, task_id)
    changes: list[dict[str, Any]] = [
        {"state": "doing", "owner": "ada"},
        {"priority": 12},
        {"points": Add(3)},
        {"notes": Append(["x", "y"])},
        {"labels": {"b", "a"}},
        {"labels": Add({"c"})},
        {"labels": set()},
        {"owner": None},
        {"due_at": _AT},
        {"title": "Sell", "state": "open"},
    ]
    for change in changes:
        stage.do("by its key", lambda change=change: db.update(key, change))  # type: ignore[misc]
    stage.do(
        "as it was read",
        lambda: db.update(task, priority=1, when=Exists("title") & In("state", "open", "done")),
    )
    stage.refuse(
        "on a condition", lambda: db.update(key, points=1, when=Eq("state", "done") | Lt("points", 0))
    )
    stage.refuse("nothing there", lambda: db.update(db.task(project, tasks.TaskId("none")), points=1))
    stage.do("put on a condition", lambda: db.put(key.one(), when=Ge("points", 3)))
    stage.do("open tasks", lambda: [each.task_id for each in db.open_tasks().all()])
    stage.do("by letter", lambda: db.lettered("s").first())
    stage.do(
        "another", lambda: db.put(tasks.Task(project_id=project, task_id=tasks.TaskId("u"), title="Old"))
    )
    stage.do(
        "together",
        lambda: db.transaction(
            Update(key, points=Add(1)),
            Put(tasks.Task(project_id=project, task_id=tasks.TaskId("v"), title="New")),
            Check(db.task(project, tasks.TaskId("u")), Exists("title")),
        ),
    )
    stage.do("delete on a condition", lambda: db.delete(key, when=Gt("points", 0)))


def values(stage: Stage) -> None:
    """Values of every type, as they are stored, and patterns that write."""
    db = stage.open(options.Options, stage="dev")
    note = options.Note(
        note_id=options.NoteId("n"),
        text="grüße",
        count=-3,
        amount=Decimal("1.50"),
        share=0.1,
        flag=False,
        at=_AT,
        day=date(2025, 1, 31),
        lasting_s=1.5,
        colour=options.Colour.DARK_BLUE,
        stage=2,
        names=["b", "a"],
        numbers=[],
        place=options.Place(street_name="x"),
        content=b"\x00\xff",
        ident=UUID(int=7),
        long={"x": Decimal("1E+3")},
    )
    stage.do("put all", lambda: db.put_note(note).run())
    stage.do("the request", lambda: db.put_note(note).request())
    stage.do("keep", lambda: db.keep(text="t", numbers={3, 1}).run())
    stage.do(
        "lines",
        lambda: [db.put_line(options.NotePK(note_id=options.NoteId("n")), each).run() for each in (1, 20)],
    )
    stage.do("some lines", lambda: db.some_lines(options.NoteId("n"), [20, 1, 3]).all())
    stage.do("walk", lambda: db.lines_of(options.NoteId("n"), options.NoteId("m")).all())
    stage.do("change", lambda: db.change_text(options.NoteId("n"), "new").run())
    stage.do("delete", lambda: db.delete_note(options.NoteId("n")).run())


def names_in_keys(stage: Stage) -> None:
    """Normalised and verbatim names, numbers with decimals, months, other casing and discriminators."""
    db = stage.open(cooking.Cooking)
    user = cooking.UserId("u")
    stage.do(
        "a user",
        lambda: db.create(
            cooking.UserProfile(user_id=user, role="admin", full_name="A", date_of_birth="2000")
        ),
    )
    stage.do("an ingredient", lambda: db.create(cooking.UserIngredient(user_id=user, name="Đậu Phộng")))
    stage.do("read it", lambda: db.user_ingredient(user, "đậu phộng").one())
    stage.do(
        "a recipe",
        lambda: db.create(
            cooking.Recipe(
                recipe_id=cooking.RecipeId("r"),
                title="t",
                cooking_method="m",
                is_public=True,
                avg_rating=3.14159,
            )
        ),
    )
    stage.do("by method", lambda: db.recipes_by_method("m").all())
    stage.do(
        "cooked",
        lambda: db.create(
            cooking.CookingHistory(
                user_id=user, history_id="h", recipe_id=cooking.RecipeId("r"), cook_date=_AT, is_favorite=True
            )
        ),
    )
    stage.do("favourites", lambda: db.favorites(user).page(3))
    stage.do("recent", lambda: db.recent(_AT, _AT - timedelta(days=40)).all())
    stage.do("a link", lambda: db.create(cooking.Link(url="https://x/#y", recipe_id=cooking.RecipeId("r"))))
    stage.do("admins", lambda: db.admins().first())


# Those that write several items at once, which goes another way where there are no transactions.
EITHER: Final = (
    kept_data, unique_values, averages, stream_counters, handlers, cascades, owners, loads, changed_keys,
    changed_keys_by_stream, moved_locks,
)  # fmt: skip
WITH_TRANSACTIONS: Final = (
    replays, changed_index_keys, changed_letters_of_keys, letters_of_a_day, lists, pages, projections,
    invalid_items, requests_of_plans, table_settings, expiry, computed_fields, updates, values, names_in_keys,
)  # fmt: skip
