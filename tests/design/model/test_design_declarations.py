"""What can be declared: keys, tables, indexes and entities as the documents use them, and how they are stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designs.cards import (
    Card,
    CardId,
    Cards,
    Category,
    Comment,
    CommentId,
    DatePK,
    ScoreSK,
    VoteTypePK,
)
from designs.cards import UserId as CardUserId
from designs.cooking import (
    Cooking,
    CookingHistory,
    IngredientId,
    LinkPK,
    MasterIngredient,
    NameSK,
    RatedSK,
    Recipe,
    RecipeId,
    UserId,
    UserIngredient,
    UserProfile,
)
from designs.kefir import Batch, BatchId, BatchPK, EventId, EventSK, Kefir, KefirTable, MetadataSK, UserPK
from designs.lunch import LunchCache, MenuPK, SizeKey, WeeklyMenu
from singletable.design import (
    And,
    Collect,
    Collection,
    Design,
    Entity,
    Eq,
    Exists,
    Index,
    Key,
    Keys,
    NoSortKey,
    Query,
    SortKey,
    Table,
    collect,
    pattern,
)
from singletable.design.keys.parts import bucket_of, shard_of
from singletable.design.values.conditions import describe, fields_of
from singletable.errors import (
    DeclarationError,
    KeyValueError,
    MissingKeyPartError,
    SeparatorError,
    UnknownFieldError,
)
from support.opened_designs import opened_design, store, stored_items
from support.targets import TARGETS

NOON = datetime(2040, 1, 20, 12, tzinfo=UTC)


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def menu(restaurant: str = "la-cantina", week: int = 3, **values: Any) -> WeeklyMenu:
    return WeeklyMenu(restaurant=restaurant, year=2025, week=week, **{"cached_at": NOON, **values})


# --- keys --------------------------------------------------------------------------------------------


def test_key_renders_the_template_of_the_document_and_reads_it_back() -> None:
    key = EventSK(created_at=NOON, event_id=EventId("e1"))
    assert key.render() == "EVENT#2040-01-20T12:00:00.000Z#e1"
    assert EventSK.parse(key.render()) == key
    assert repr(UserPK.parse("USER#u1")) == "UserPK(user_id='u1')"


@given(st.from_regex(r"[a-z]+(-[a-z0-9]+){0,3}", fullmatch=True), st.integers(1, 9999), st.integers(1, 53))
def test_key_with_hyphens_in_its_first_value_is_read_from_the_right(
    restaurant: str, year: int, week: int
) -> None:
    key = MenuPK(restaurant=restaurant, year=year, week=week)
    assert MenuPK.parse(key.render()) == key


def test_menu_of_la_cantina_has_the_documented_key() -> None:
    assert MenuPK(restaurant="la-cantina", year=2025, week=3).render() == "la-cantina-2025-03"
    assert MenuPK.parse("la-cantina-2025-03") == MenuPK(restaurant="la-cantina", year=2025, week=3)


def test_one_shard_renders_the_plain_key() -> None:
    assert DatePK(day="2040-01-20", shard=0).render() == "DATE#2040-01-20"
    assert DatePK.parse("DATE#2040-01-20").shard == 0


def test_shards_with_a_format_are_padded() -> None:
    assert VoteTypePK(vote_type="card", shard=7).render() == "VOTETYPE#card#07"
    assert VoteTypePK.parse("VOTETYPE#card#07").shard == 7
    with pytest.raises(KeyValueError, match=r"VoteTypePK\.shard .*: 12 is no shard: there are 12"):
        VoteTypePK(vote_type="card", shard=12)


def test_shard_of_a_value_never_changes() -> None:
    assert [shard_of(value, 8) for value in ("b1", "b2", 17, NOON)] == [1, 6, 2, 4]
    there = NOON.astimezone(tz=datetime.fromisoformat("2025-01-01T00:00+05:30").tzinfo)
    assert shard_of(there, 4096) == shard_of(NOON, 4096)


@pytest.mark.parametrize(
    ("every", "text"), [("year", "2024"), ("month", "2024-12"), ("week", "2025-W01"), ("day", "2024-12-30")]
)
def test_bucket_is_the_span_of_a_time_in_utc(every: str, text: str) -> None:
    assert bucket_of(datetime.fromisoformat("2024-12-31T01:00+02:00"), every) == text


@given(st.integers(-5_000_000_000, 4_999_999_999), st.integers(-5_000_000_000, 4_999_999_999))
def test_padded_scores_sort_as_numbers_below_zero_too(left: int, right: int) -> None:
    texts = [ScoreSK(score=score, card_id=CardId("c")).render() for score in (left, right)]
    assert (texts[0] < texts[1]) == (left < right)
    assert ScoreSK.parse(texts[0]).score == left


def test_format_with_decimals_writes_the_step_of_a_rating() -> None:
    assert (
        RatedSK(rating_step=Decimal("4.5"), created_at=NOON).render() == "RECIPE#4.5#2040-01-20T12:00:00.000Z"
    )
    with pytest.raises(KeyValueError, match=r"RatedSK\.rating_step .*4\.55 is no number with 1 decimals"):
        RatedSK(rating_step=Decimal("4.55"), created_at=NOON)


def test_normalized_name_is_the_same_key_however_it_is_written() -> None:
    assert NameSK(name="Thịt  Gà") == NameSK(name="thit-ga")
    assert NameSK(name="Thịt Gà").render() == "NAME#thit-ga"
    assert NameSK.starting(name="Thị").text == "NAME#thi"


def test_verbatim_value_may_hold_the_separator() -> None:
    key = LinkPK(url="https://example.org/#top")
    assert key.render() == "LINK#https://example.org/#top"
    assert LinkPK.parse(key.render()) == key


def test_fields_of_a_base_key_come_first() -> None:
    class Tenant(Key):
        tenant: str

    class TenantUserPK(Tenant, template="TENANT#{tenant}#USER#{user}"):
        user: str

    assert TenantUserPK(tenant="t", user="u").render() == "TENANT#t#USER#u"


def test_default_of_a_key_field_need_not_be_given() -> None:
    class RegionPK(Key, template="{region}#{name}"):
        name: str
        region: str = "eu"

    assert RegionPK(name="n").render() == "eu#n"


def test_field_of_a_key_may_be_called_fields() -> None:
    class FormPK(Key, template="FORM#{fields}#{error}"):
        fields: str
        error: str

    assert FormPK(fields="f", error="e").render() == "FORM#f#e"
    assert FormPK.from_values({"fields": "f", "error": "e"}) == FormPK.parse("FORM#f#e")


def test_field_of_a_key_may_be_called_as_a_built_in_is() -> None:
    class CablePK(Key, template="CABLE#{len}#{ValueError}"):
        len: str
        ValueError: str

    assert CablePK(len="a", ValueError="b").render() == "CABLE#a#b"
    assert CablePK.from_values({"len": "a", "ValueError": "b"}) == CablePK.parse("CABLE#a#b")
    with pytest.raises(SeparatorError, match="holds '#'"):
        CablePK(len="#", ValueError="b")


def test_key_is_a_value_that_never_changes() -> None:
    key = BatchPK(batch_id=BatchId("b1"))
    assert {key: 1}[BatchPK(batch_id=BatchId("b1"))] == 1
    assert MetadataSK() == MetadataSK()
    with pytest.raises(AttributeError, match="BatchPK cannot be changed"):
        key.batch_id = BatchId("b2")  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (
            lambda: UserPK(user_id="a#FAVORITE"),  # type: ignore[arg-type]
            SeparatorError,
            r"UserPK\.user_id \(USER#{user_id}\): 'a#FAVORITE' holds '#', which separates the parts of the key",
        ),
        (
            lambda: UserPK(user_id=17),  # type: ignore[arg-type]
            KeyValueError,
            r"UserPK\.user_id \(USER#{user_id}\): 17 is an int, not a str",
        ),
        (
            lambda: UserPK(userid="u1"),  # type: ignore[call-arg]
            UnknownFieldError,
            r"UserPK \(USER#{user_id}\) has no field 'userid'\n\nhint: it has user_id",
        ),
        (
            lambda: EventSK(created_at=NOON),  # type: ignore[call-arg]
            MissingKeyPartError,
            r"EventSK \(EVENT#{created_at}#{event_id}\) cannot be built without event_id",
        ),
        (
            lambda: EventSK(created_at=datetime(2040, 1, 20), event_id=EventId("e")),  # noqa: DTZ001
            KeyValueError,
            r"EventSK\.created_at .*2040-01-20T00:00:00 has no time zone",
        ),
        (
            lambda: EventSK.prefix(event_id="e1"),
            MissingKeyPartError,
            r"a prefix of EventSK \(EVENT#{created_at}#{event_id}\) takes its leading fields, and created_at is",
        ),
        (
            lambda: EventSK.prefix(time=NOON),
            UnknownFieldError,
            r"EventSK \(EVENT#{created_at}#{event_id}\) has no field 'time'",
        ),
        (
            lambda: SizeKey.starting(lunch_count=1),
            KeyValueError,
            r"SizeKey \(lunch_count, average_price\) has no template: its fields are attributes of their own",
        ),
        (lambda: EventSK.parse("EVENT#yesterday#e1"), KeyValueError, "'EVENT#yesterday#e1' is no EventSK"),
    ],
)
def test_wrong_value_is_refused_with_the_key_and_its_template(
    make: Any, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        make()


def test_programs_that_no_checker_has_seen_are_refused_too() -> None:
    user = UserPK(user_id="u1")  # type: ignore[arg-type]
    with pytest.raises(KeyValueError, match=r"Batch\.key is UserPK .* and BatchPK\(batch_id='b1'\) is given"):
        Batch.key.query(BatchPK(batch_id=BatchId("b1")))  # type: ignore[arg-type]
    with pytest.raises(MissingKeyPartError, match=r"Batch\.key has a sort key, and none is given: .*BatchSK"):
        Batch.key.get(user)  # type: ignore[call-arg]
    with pytest.raises(DeclarationError, match=r"Batch\.by_id is in index GSI1, and an index has no get"):
        Batch.by_id.get(BatchPK(batch_id=BatchId("b1")), None)  # type: ignore[arg-type]
    with pytest.raises(KeyValueError, match="a bound of BatchSK cannot be a MetadataSK"):
        Batch.key.query(user, MetadataSK())  # type: ignore[arg-type]


# --- tables and indexes ------------------------------------------------------------------------------


def test_table_without_a_sort_key_is_made_and_used(target: str) -> None:
    with opened_design(LunchCache, target, environment="test") as db:
        db.create(
            menu(lunches=[{"name": "Soup", "price": "9.50", "weekday": "måndag", "served_at": "Niagara"}])
        )
        (item,) = stored_items(db)
        assert item["pk"] == {"S": "la-cantina-2025-03"}
        assert "sk" not in item
        assert item["lunches"]["L"][0]["M"]["place"] == {"S": "Niagara"}
        found = db.menu("la-cantina", 2025, 3).one()
        assert found.lunches[0].price == Decimal("9.5")
        assert found.ttl == NOON + timedelta(days=14)
        db.update(found, lunch_count=1)
        assert [each.week for each in db.this_week(["la-cantina", "niagara"], 2025, 3).all()] == [3]
        db.delete(found)
        assert db.menu("la-cantina", 2025, 3).maybe() is None


def test_index_on_plain_attributes_is_their_fields(target: str) -> None:
    with opened_design(LunchCache, target, environment="test") as db:
        for week in (2, 3, 4):
            db.create(menu(week=week, cached_at=NOON + timedelta(days=week)))
        db.create(menu("niagara"))
        assert [each.week for each in db.history("la-cantina").all()] == [4, 3, 2]
        days = NOON + timedelta(days=2), NOON + timedelta(days=3)
        assert [each.week for each in db.cached_between("la-cantina", *days).all()] == [2, 3]
        assert db.history("la-cantina").request()["KeyConditionExpression"] == "#0 = :0"
        (item,) = [item for item in stored_items(db) if item["pk"]["S"] == "niagara-2025-03"]
        assert (item["restaurant"], item["cachedAt"]) == ({"S": "niagara"}, {"S": "2040-01-20T12:00:00.000Z"})


def test_index_of_several_attributes_is_queried_by_leading_ones_and_a_range(target: str) -> None:
    with opened_design(LunchCache, target, environment="test") as db:
        for week, count, price in ((1, 5, "10"), (2, 5, "12.5"), (3, 5, "9.75"), (4, 10, "11")):
            db.create(menu(week=week, lunch_count=count, average_price=Decimal(price)))
        db.create(menu(week=5, lunch_count=5))  # without a price: not in the index
        assert [each.week for each in db.by_size(2025, 5).all()] == [3, 1, 2]
        assert [each.week for each in db.by_size(2025, 5, Decimal(10)).all()] == [1, 2]
        assert [each.week for each in db.by_size(2025, 10).all()] == [4]


def test_key_attributes_are_numbers_where_their_fields_are() -> None:
    assert LunchCache.catalog.attribute_types == {
        "pk": "S",
        "restaurant": "S",
        "cachedAt": "S",
        "year": "N",
        "lunchCount": "N",
        "averagePrice": "N",
    }


class WideTable(Table):
    name = "wide"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK")


class NarrowTable(WideTable):
    name = "narrow"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK", projection=("wide_name",))
    gsi2 = None  # type: ignore[assignment]


class WideSK(SortKey, template="WIDE#{wide_id}"):
    wide_id: str


class WidePK(Key, template="WIDE#{wide_id}"):
    wide_id: str


class NamePK(Key, template="NAME#{wide_name}"):
    wide_name: str


class Wide(Entity):
    key = Keys(WidePK, WideSK)
    by_name = WideTable.gsi1.keys(NamePK, WideSK)

    wide_id: str
    wide_name: str


class WideNames(Collection):
    found: list[Wide]


class Narrow(Design):
    table = NarrowTable
    entities = (Wide,)

    @pattern("1 Everything of a name")
    def named(self, name: str) -> Query[Wide]:
        return Wide.by_name.query(NamePK(wide_name=name))

    @pattern("2 Everything of a name, as a collection")
    def collected(self, name: str) -> Collect[WideNames]:
        return collect(WideNames, NamePK(wide_name=name), index=WideTable.gsi1)


def test_table_may_declare_an_index_of_its_base_anew_or_leave_it_out(target: str) -> None:
    assert [index.name for index in NarrowTable.indexes] == ["GSI1"]
    assert NarrowTable.indexes[0].projection == ("wide_name",)
    assert [index.name for index in WideTable.indexes] == ["GSI1", "GSI2"]
    with opened_design(Narrow, target) as db:
        db.create(Wide(wide_id="w1", wide_name="ada"))
        assert [each.wide_name for each in db.named("ada").all()] == ["ada"]
        assert [each.wide_id for each in db.collected("ada").one().found] == ["w1"]
        assert not db.drift()


@pytest.mark.parametrize(
    ("environment", "name"),
    [({}, "smart-cooking-data-dev"), ({"environment": "prod"}, "smart-cooking-data-prod")],
)
def test_environment_is_part_of_the_name_of_the_table(environment: dict[str, Any], name: str) -> None:
    with Cooking.open(":memory:", **environment) as db:
        assert db.session.table == name


def test_environment_that_is_missing_or_unknown_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"kefir-app-{stage}-table, and stage is not given"):
        KefirTable.name_in({})
    with pytest.raises(DeclarationError, match=r"kefir-app-{stage}-table: it has no region"):
        KefirTable.name_in({"stage": "dev", "region": "eu"})


# --- entities ----------------------------------------------------------------------------------------


def test_names_are_stored_by_the_casing_of_the_design(target: str) -> None:
    with opened_design(Cards, target) as cards, opened_design(Cooking, target) as cooking:
        cards.create(
            Card(
                card_id=CardId("c1"),
                author_id=CardUserId("u1"),
                category="art",
                title="Fold",
                extra={"snake_case": {"stays_so": 1}},
            )
        )
        cooking.create(UserProfile(user_id=UserId("u1"), full_name="An", date_of_birth="2000-01-01"))
        (card,), (user,) = stored_items(cards), stored_items(cooking)
    assert {"cardId", "authorId", "isDraft", "createdAt", "updatedAt"} <= card.keys()
    assert card["extra"]["M"] == {"snake_case": {"M": {"stays_so": {"N": "1"}}}}
    assert {"user_id", "full_name", "dob", "created_at", "updated_at"} <= user.keys()
    assert "date_of_birth" not in user


def test_discriminator_has_the_name_of_the_design_and_the_value_of_the_entity(target: str) -> None:
    with opened_design(Cards, target) as cards, opened_design(Cooking, target) as cooking:
        cards.create(Category(category="art"))
        cooking.create(UserProfile(user_id=UserId("u1"), full_name="An"))
        assert [item["entityType"] for item in stored_items(cards)] == [{"S": "Category"}]
        assert [item["entity_type"] for item in stored_items(cooking)] == [{"S": "USER_PROFILE"}]


def test_models_inside_an_entity_are_stored_by_the_casing_too() -> None:
    steps = [{"step_title": "fold", "sub_steps": [{"step_title": "press", "duration_minutes": 2}]}]
    card = Card(card_id=CardId("c"), author_id=CardUserId("u"), category="a", title="t", steps=steps)  # type: ignore[arg-type]
    schema = Cards.catalog.schema_for(Card)
    item = schema.to_item(card)
    assert schema.to_entity(item) == card
    item["steps"] = {
        "L": [{"M": {"stepTitle": {"S": "cut"}, "subSteps": {"L": []}}}]
    }  # as before it was compressed
    read: Any = schema.to_entity(item)
    assert read.steps[0].step_title == "cut"


def test_key_may_be_built_from_a_property(target: str) -> None:
    with opened_design(Cooking, target) as db:
        for name, rating in (("a", 4.5), ("b", 3.96), ("c", 4.44)):
            recipe = Recipe(recipe_id=RecipeId(name), title=name, cooking_method="grill", avg_rating=rating)
            recipe.is_public = name != "a"
            recipe.created_at = NOON
            db.create(recipe)
        rated = {item["title"]["S"]: item.get("GSI2SK") for item in stored_items(db)}
        found = [each.title for each in db.recipes_by_method("grill").all()]
    assert rated["b"] == {"S": "RECIPE#4.0#2040-01-20T12:00:00.000Z"}
    assert rated["a"] is None
    assert found == ["c", "b"]


def test_key_of_an_entity_is_read_from_it() -> None:
    recipe = Recipe(
        recipe_id=RecipeId("r"), title="t", cooking_method="grill", created_at=NOON, avg_rating=4.5
    )
    assert recipe.by_method[1] == RatedSK(rating_step=Decimal("4.5"), created_at=NOON)
    with pytest.raises(
        MissingKeyPartError, match=r"children, which is ParentPK .* cannot be built without parent_id"
    ):
        assert Category(category="art").children


def test_sparse_condition_is_data() -> None:
    condition = Eq("active", True) & Exists("league")
    keys = Keys(UserPK, MetadataSK, when=condition)
    assert keys.when == And(Eq("active", True), Exists("league"))
    assert describe(condition) == "active = True and league exists"
    assert list(fields_of(condition)) == ["active", "league"]
    assert Card.by_day.keys.when == Eq("is_draft", False)


def test_design_is_read_as_data_without_being_opened() -> None:
    assert Kefir.patterns()["events_since"].fixes == "KF-05"
    assert Kefir.patterns()["user"].number == "1"
    assert {entity.__name__: volume.kb for entity, volume in Kefir.volumes.items()}["Batch"] == 2
    schema = Cards.catalog.schema_for(Card)
    templates = {name: place.keys.sk.template for name, place in schema.bindings.items()}
    assert templates["top"] == "SCORE#{score}#{card_id}"
    assert LunchCache.patterns()["menu"].rps == 0.005
    assert WeeklyMenu.key.keys.sk is NoSortKey


# --- reading what is declared ------------------------------------------------------------------------


def test_shards_buckets_and_walks_read_what_was_written(target: str) -> None:
    with opened_design(Cards, target) as db:
        for day in range(3):
            for number in range(5):
                card = Card(
                    card_id=CardId(f"c{day}{number}"),
                    author_id=CardUserId("u"),
                    category="a",
                    title="t",
                    score=(number - 2) * 10**day,
                    is_draft=number == 4,
                    created_at=NOON + timedelta(days=day, minutes=number),
                )
                db.create(card)
        trending = [each.card_id for each in db.trending(NOON + timedelta(days=5), NOON).all()]
        top = [each.score for each in db.top_voted().all()]
        shard = shard_of("c20", 12)
        below = [each.card_id for each in db.voted_above(-201, shard).all()]
    assert trending == [f"c{day}{number}" for day in (2, 1, 0) for number in (3, 2, 1, 0)]
    assert top == sorted(top, reverse=True)
    assert top[-1] == -200
    assert "c20" in below


def test_beginning_of_a_name_finds_what_is_typed_ahead(target: str) -> None:
    with opened_design(Cooking, target) as db:
        for number, name in enumerate(("Thịt gà", "Thịt bò", "Thìa", "Cà chua")):
            db.create(MasterIngredient(ingredient_id=IngredientId(str(number)), name=name))
        assert [each.name for each in db.search("thit").all()] == ["Thịt bò", "Thịt gà"]
        assert [each.name for each in db.search("Thì").all()] == ["Thìa", "Thịt bò", "Thịt gà"]
        db.create(UserIngredient(user_id=UserId("u"), name="Cà Chua"))
        assert db.user_ingredient(UserId("u"), "ca chua").one().name == "Cà Chua"


def test_month_of_a_time_is_walked_back(target: str) -> None:
    with opened_design(Cooking, target) as db:
        for month in (1, 2, 4):
            db.create(
                CookingHistory(
                    user_id=UserId("u"),
                    history_id=str(month),
                    recipe_id=RecipeId("r"),
                    cook_date=datetime(2040, month, 3, tzinfo=UTC),
                    is_favorite=month == 2,
                )
            )
        newest, oldest = datetime(2040, 5, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)
        assert [each.history_id for each in db.recent(newest, oldest).all()] == ["4", "2", "1"]
        assert [each.history_id for each in db.favorites(UserId("u")).all()] == ["2"]


def test_old_items_without_a_discriminator_are_known_by_their_keys(target: str) -> None:
    with opened_design(Cards, target) as db:
        db.create(
            Card(card_id=CardId("c1"), author_id=CardUserId("u1"), category="a", title="t", is_draft=False)
        )
        db.create(
            Comment(card_id=CardId("c1"), comment_id=CommentId("m1"), author_id=CardUserId("u2"), text="!")
        )
        for item in stored_items(db):
            del item["entityType"]
            store(db, item)
        found = db.discussion(CardId("c1")).one()
        assert found.card is not None
        assert [each.text for each in found.comments] == ["!"]
        db.update(found.comments[0], text="?")
        db.put(found.card)
        assert {item["PK"]["S"]: item.get("entityType") for item in stored_items(db)}["CARD#c1"] is not None


def test_expired_drafts_are_hidden_and_published_cards_stay(target: str) -> None:
    with opened_design(Cards, target) as db:
        draft = Card(card_id=CardId("c1"), author_id=CardUserId("u1"), category="a", title="t")
        db.create(draft)
        assert draft.ttl is not None
        db.update(draft, is_draft=False)
        assert db.card(CardId("c1")).one().ttl is None


# --- several entities in one place ---------------------------------------------------------------------


class PlainTable(Table):
    name = "plain"
    inverse = Index("Inverse", pk="SK", sk="PK")


class OwnerPK(Key, template="OWNER#{owner}"):
    owner: str


class PageSK(SortKey, template="A#{page}"):
    page: str


class DraftSK(SortKey, template="A#{page}_DRAFT"):
    page: str


class NoteSK(SortKey, template="A#{page}#NOTE#{note}"):
    page: str
    note: int


class PagePK(Key, template="A#{page}"):
    page: str


class OwnerSK(SortKey, template="OWNER#{owner}"):
    owner: str


class WikiPage(Entity):
    key = Keys(OwnerPK, PageSK)
    owners = PlainTable.inverse.keys(PagePK, OwnerSK)

    owner: str
    page: str


class Draft(Entity):
    key = Keys(OwnerPK, DraftSK)

    owner: str
    page: str


class Note(Entity):
    key = Keys(OwnerPK, NoteSK)

    owner: str
    page: str
    note: int


class Wiki(Design):
    table = PlainTable
    entities = (WikiPage, Draft, Note)


def test_reads_of_overlapping_templates_find_only_their_own_entity(target: str) -> None:
    with opened_design(Wiki, target) as db:
        entities = [
            WikiPage(owner="o", page="1"),
            WikiPage(owner="o", page="1_DRAFTS"),
            Draft(owner="o", page="1"),
            Note(owner="o", page="1", note=1),
        ]
        for entity in entities:
            db.create(entity)
        pk = OwnerPK(owner="o")
        assert list(db.plan(WikiPage.key.query(pk)).all()) == entities[:2]
        assert list(db.plan(Draft.key.query(pk)).all()) == entities[2:3]
        assert list(db.plan(Note.key.query(pk)).all()) == entities[3:]
        assert db.plan(WikiPage.key.get(pk, PageSK(page="1_DRAFT"))).maybe() is None
        for item in stored_items(db):
            del item["entityType"]
            store(db, item)
        assert list(db.plan(WikiPage.key.query(pk)).all()) == entities[:2]
        assert list(db.plan(Draft.key.query(pk)).all()) == entities[2:3]


def test_item_at_the_very_bound_of_a_range_is_left_out(target: str) -> None:
    with opened_design(Kefir, target, stage="test") as db:
        stranger = {"PK": {"S": "BATCH#b1"}, "SK": {"S": "EVENT$"}}
        store(db, stranger)
        plan = db.events_since(BatchId("b1"), NOON)
        assert plan.request()["ExpressionAttributeValues"][":2"] == {"S": "EVENT$"}
        assert plan.page().items == []


def test_index_may_use_the_keys_of_the_table(target: str) -> None:
    with opened_design(Wiki, target) as db:
        db.create(WikiPage(owner="o1", page="p"))
        db.create(WikiPage(owner="o2", page="p"))
        found = db.plan(WikiPage.owners.query(PagePK(page="p"))).all()
        assert [each.owner for each in found] == ["o1", "o2"]
