"""Parts of keys that are the first letters of a text: no letters render as nothing, and more can be had later."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest

from designs.pantry import (
    AllPK,
    Ingredient,
    LetterIngredient,
    LetterPantry,
    LetterPK,
    LettersIngredient,
    LettersPantry,
    LettersPK,
    NameSK,
    Pantry,
    PantryTable,
    plain,
)
from singletable.blueprint import Blueprint, KeyPart
from singletable.clock import ManualClock
from singletable.design import (
    BucketOf,
    CountOf,
    Design,
    Entity,
    Index,
    InitialOf,
    Key,
    Keys,
    Normalize,
    ShardOf,
    SortKey,
    Table,
    Verbatim,
)
from singletable.design.describe.samples import sample
from singletable.design.model.catalog import overlapping_entities
from singletable.design.tables.create import create_table
from singletable.drawing import draw_design
from singletable.errors import DeclarationError, KeyValueError, MissingKeyPartError, SeparatorError
from singletable.migrate import Backfill, Folder, Runner, Verify, new_migration
from support.migrating import EVERYWHERE, design_on, fresh_client
from support.opened_designs import opened_design, stored_items
from support.targets import TARGETS

each_target = pytest.mark.parametrize("target", TARGETS)


class FirstPK(Key, template="{initial}#WORDS#{language}"):
    initial: Annotated[str, InitialOf("word", letters=2)]
    language: str


class PlainFirstPK(Key, template="{initial}#WORDS#{language}"):
    initial: Annotated[str, InitialOf("word")]
    language: str


class MixedPK(Key, template="W#{language}#{month}#{initial}#{shard}#END"):
    language: str
    month: Annotated[str, BucketOf("at", "never")]
    initial: Annotated[str, InitialOf("word")]
    shard: Annotated[int, ShardOf(1, by="word")]


class RaisedPK(Key, template="W#{language}#{month}#{initial}#{shard}#END"):
    language: str
    month: Annotated[str, BucketOf("at", "never")]
    initial: Annotated[str, InitialOf("word", letters=3)]
    shard: Annotated[int, ShardOf(1, by="word")]


class WordSK(SortKey, template="W#{initial}#{word}"):
    initial: Annotated[str, InitialOf("word")]
    word: str


# --- text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (AllPK(initial="Tomato"), "INGREDIENT#SEARCH"),
        (AllPK(initial=""), "INGREDIENT#SEARCH"),
        (LetterPK(initial="Tomato"), "INGREDIENT#SEARCH#t"),
        (LettersPK(initial="  Tomato"), "INGREDIENT#SEARCH#to"),
        (LetterPK(initial="Đậu"), "INGREDIENT#SEARCH#đ"),
        (FirstPK(initial="\U0001f35eé!", language="en"), "\U0001f35eé#WORDS#en"),
        (PlainFirstPK(initial="bread", language="en"), "WORDS#en"),
        (MixedPK(language="en", month="", initial="bread", shard=0), "W#en#END"),
        (RaisedPK(language="en", month="", initial="bread", shard=0), "W#en#bre#END"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_key_has_the_first_letters_and_is_read_back(key: Key, text: str) -> None:
    assert key.render() == text
    assert type(key).parse(text) == key


def test_text_is_normalized_before_it_is_cut_and_after() -> None:
    assert LetterPK(initial="ÆBLE").initial == "æ"
    # Behind "a" there is a space, which no normal form ends with.
    key = LettersPK(initial="A la carte")
    assert key.initial == "a"
    assert LettersPK.parse(key.render()) == key


def test_function_that_makes_beginnings_longer_is_refused() -> None:
    class WidePK(Key, template="W#{initial}"):
        initial: Annotated[str, Normalize(lambda text: text.ljust(4, ".")), InitialOf("word", letters=2)]

    with pytest.raises(KeyValueError, match=r"WidePK\.initial .* makes 'to\.\.' of 2 letters"):
        WidePK(initial="tomato")


def test_term_shorter_than_the_letters_is_refused() -> None:
    with pytest.raises(
        KeyValueError, match=r"LettersPK\.initial .*'t' is shorter than the 2 letters"
    ) as refused:
        LettersPK(initial=" T ")
    assert refused.value.hint == "ask for at least 2 letters, or declare InitialOf() with fewer"


@pytest.mark.parametrize(("given", "error"), [(None, MissingKeyPartError), (7, KeyValueError)])
def test_what_is_no_text_is_refused(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="initial"):
        AllPK(initial=given)


def test_text_of_an_entity_that_is_shorter_is_used_whole() -> None:
    tea = LettersIngredient(ingredient_id="1", name="T")
    pk, _ = tea.by_name
    assert pk.render() == "INGREDIENT#SEARCH#t"
    assert LettersPK.parse("INGREDIENT#SEARCH#t") == pk


def test_separator_is_refused_where_it_is_in_the_key_and_only_there() -> None:
    assert LetterPK(initial="a#b").render() == "INGREDIENT#SEARCH#a"
    with pytest.raises(SeparatorError, match="'#b' holds '#'"):
        LettersPK(initial="#b")
    with pytest.raises(KeyValueError, match="the text is empty"):
        LetterIngredient(ingredient_id="1", name=" ").by_name  # noqa: B018


def test_initial_that_is_verbatim_may_hold_the_separator() -> None:
    class AnyPK(Key, template="W#{initial}"):
        initial: Annotated[str, Verbatim(), InitialOf("word", letters=2)]

    assert AnyPK.parse(AnyPK(initial="##x").render()).initial == "##"


def test_beginning_of_a_part_that_renders_as_nothing_is_not_taken_for_that_of_the_next() -> None:
    assert WordSK.starting(initial="to").text == "W#"
    assert WordSK.starting(initial="to", word="to").text == "W#to"
    assert WordSK.prefix(initial="to").text == "W#"


def test_samples_are_of_several_letters() -> None:
    assert [sample(LettersPK, "pk", variant).render() for variant in (0, 1)] == [
        "INGREDIENT#SEARCH#ab",
        "INGREDIENT#SEARCH#bc",
    ]
    assert sample(AllPK, "pk", 0).render() == "INGREDIENT#SEARCH"


# --- declarations -----------------------------------------------------------------------------------------


def test_key_classes_that_cannot_be() -> None:
    with pytest.raises(DeclarationError, match=r"AnyPK\.initial .*there are -1 letters: at least 0"):

        class AnyPK(Key, template="W#{initial}"):
            initial: Annotated[str, InitialOf("word", letters=-1)]

    with pytest.raises(DeclarationError, match=r"initials have no format '02'"):

        class PaddedPK(Key, template="W#{initial:02}"):
            initial: Annotated[str, InitialOf("word", letters=1)]

    with pytest.raises(DeclarationError, match=r"is int, and InitialOf makes a str"):

        class NumberPK(Key, template="W#{initial}"):
            initial: Annotated[int, InitialOf("word", letters=1)]

    with pytest.raises(DeclarationError, match=r"initials are parts of a template"):

        class AttributePK(Key):
            initial: Annotated[str, InitialOf("word", letters=1)]

    with pytest.raises(DeclarationError, match=r"it renders as nothing"):

        class NothingPK(Key, template="{initial}"):
            initial: Annotated[str, InitialOf("word")]


def test_field_of_the_entity_must_be_a_text() -> None:
    with pytest.raises(DeclarationError, match=r"'word' is int in Word and str in FirstPK"):

        class Word(Entity):
            key = Keys(FirstPK, NameSK)

            word: int
            language: str
            name: str


def test_key_that_is_a_stored_field_cannot_be_cut() -> None:
    class WordTable(Table):
        name = "words"
        by_word = Index("ByWord", pk="word")

    class CutPK(Key, template="{word}"):
        word: Annotated[str, InitialOf("word", letters=1)]

    class Word(Entity):
        key = Keys(FirstPK, NameSK)
        cut = WordTable.by_word.keys(CutPK)

        word: str
        language: str
        name: str

    with pytest.raises(DeclarationError, match="which is not stored as the key writes it"):

        class Words(Design):
            table = WordTable
            entities = (Word,)


# --- reading ----------------------------------------------------------------------------------------------

NAMES = ("Tomato", "tomatillo", "Toast", "tea", "T", "Đậu", "đường", "a la carte", "apple", "au lait")
TERMS = ("tom", "TO", "to", "đ", "đậ", "a la", "ap", "zu", "tomatoes", "t", "a")


def found(db: Any, term: str) -> list[str]:
    names, cursor = [], None
    while True:
        page = db.search(term).page(limit=2, cursor=cursor)
        names += [ingredient.name for ingredient in page]
        cursor = page.cursor
        if cursor is None:
            return names


def wanted(term: str) -> list[str]:
    return sorted((name for name in NAMES if plain(name).startswith(plain(term))), key=plain)


@each_target
@pytest.mark.parametrize(
    ("design", "entity", "letters", "partitions"),
    [
        (Pantry, Ingredient, 0, {"INGREDIENT#SEARCH"}),
        (LetterPantry, LetterIngredient, 1, {f"INGREDIENT#SEARCH#{letter}" for letter in "tđa"}),
        (
            LettersPantry,
            LettersIngredient,
            2,
            {f"INGREDIENT#SEARCH#{letters}" for letters in ("to", "te", "t", "đậ", "đư", "a", "ap", "au")},
        ),
    ],
)
def test_search_finds_what_begins_so_page_by_page(
    target: str, design: type[Design], entity: type[Any], letters: int, partitions: set[str]
) -> None:
    with opened_design(design, target) as db:
        for number, name in enumerate(NAMES):
            db.create(entity(ingredient_id=str(number), name=name))
        assert {item["namePK"]["S"] for item in stored_items(db)} == partitions
        for term in TERMS:
            if len(term) >= letters:
                assert found(db, term) == wanted(term)
            else:
                with pytest.raises(KeyValueError, match="is shorter than"):
                    db.search(term)  # type: ignore[attr-defined]


def test_ingredient_with_another_name_is_found_by_that() -> None:
    with LetterPantry.open(":memory:") as db:
        db.create(LetterIngredient(ingredient_id="1", name="tomato"))
        db.update(LetterIngredient.key.get(*LetterIngredient(ingredient_id="1", name="x").key), name="Basil")
        assert [item["namePK"]["S"] for item in stored_items(db)] == ["INGREDIENT#SEARCH#b"]
        assert (found(db, "tom"), found(db, "bas")) == ([], ["Basil"])


# --- as data ----------------------------------------------------------------------------------------------


def test_blueprint_says_how_many_letters_there_are() -> None:
    for design, letters, template in (
        (Pantry, 0, "INGREDIENT#SEARCH"),
        (LetterPantry, 1, "INGREDIENT#SEARCH#{initial}"),
    ):
        blueprint = design.blueprint()
        place = blueprint.entities[0].place("Names")
        assert place is not None
        assert place.pk.template == template
        folded = ({"kind": "Normalize", "function": "plain"},)
        assert place.pk.parts == (KeyPart("initial", "str", "name", letters=letters, markers=folded),)
        assert [read.pk for read in blueprint.patterns[0].reads] == [template]
        assert Blueprint.from_json(blueprint.to_json()) == blueprint


def test_picture_says_what_the_letters_are_of() -> None:
    view = draw_design(LettersPantry.blueprint()).views[1]
    (collection,) = view.collections
    assert collection.partition.text == "INGREDIENT#SEARCH#<initial>"
    assert [piece.about for piece in collection.partition.pieces][
        -1
    ] == "initial: the first 2 letters of name"
    assert "one for each first 2 letters" in str(collection)
    (all_of_them,) = draw_design(Pantry.blueprint()).views[1].collections
    assert all_of_them.partition.text == "INGREDIENT#SEARCH"
    assert "one for each" not in str(all_of_them)


# --- items of others --------------------------------------------------------------------------------------


class ShelfTable(Table):
    name = "shelves"
    pitr_days = None


class ShelfPK(Key, template="SHELF#{shelf}"):
    shelf: str


class ShelfSK(SortKey, template="INFO"):
    pass


class JarPK(Key, template="JARS#{initial}#{shelf}"):
    initial: Annotated[str, InitialOf("shelf", letters=2)]
    shelf: str


class JarSK(SortKey, template="JAR#{jar}"):
    jar: str


class SpoonPK(Key, template="SPOONS#{shelf}#{initial}"):
    shelf: str
    initial: Annotated[str, InitialOf("spoon")]


class SpoonSK(SortKey, template="SPOON#{spoon}"):
    spoon: str


class Shelf(Entity, owns=("Jar", "Spoon")):
    key = Keys(ShelfPK, ShelfSK)

    shelf: str
    jars: Annotated[int, CountOf("Jar")] = 0
    spoons: Annotated[int, CountOf("Spoon")] = 0


class Jar(Entity):
    key = Keys(JarPK, JarSK)

    shelf: str
    jar: str


class Spoon(Entity):
    key = Keys(SpoonPK, SpoonSK)

    shelf: str
    spoon: str


class Shelves(Design):
    table = ShelfTable
    entities = (Shelf, Jar, Spoon)


@each_target
def test_owned_and_counted_items_are_found_through_initials(target: str) -> None:
    with opened_design(Shelves, target) as db:
        for shelf in ("upper", "up", "u"):
            db.create(Shelf(shelf=shelf))
            for name in ("plum", "fig"):
                db.create(Jar(shelf=shelf, jar=name))
                db.create(Spoon(shelf=shelf, spoon=name))
        upper = db.plan(Shelf.key.get(ShelfPK(shelf="upper"), ShelfSK())).one()
        assert (upper.jars, upper.spoons) == (2, 2)
        assert db.verify().is_clean
        db.delete(upper)
        left = {(item["PK"]["S"], item["SK"]["S"]) for item in stored_items(db)}
        assert len(left) == 10
        assert not any("upper" in pk for pk, _ in left)


def test_items_in_partitions_by_letters_of_their_own_cannot_be_owned() -> None:
    class HookPK(Key, template="HOOKS#{shelf}#{initial}"):
        shelf: str
        initial: Annotated[str, InitialOf("hook", letters=1)]

    class HookSK(SortKey, template="HOOK#{hook}"):
        hook: str

    class Hook(Entity):
        key = Keys(HookPK, HookSK)

        shelf: str
        hook: str

    class Board(Entity, owns=(Hook,)):
        key = Keys(ShelfPK, ShelfSK)

        shelf: str

    class Named(Entity, owns=(Hook,)):
        key = Keys(ShelfPK, ShelfSK)

        shelf: str
        hook: str  # of the board itself: nothing says that its hooks have the same name

    class Counting(Entity):
        key = Keys(ShelfPK, ShelfSK)

        shelf: str
        hooks: Annotated[int, CountOf(Hook)] = 0

    for owner, sentence in (
        (Board, "Board owns Hook, but no key"),
        (Named, "Named owns Hook, but no key"),
        (Counting, "cannot be found"),
    ):
        with pytest.raises(DeclarationError, match=sentence):

            class Boards(Design):
                table = ShelfTable
                entities = (owner, Hook)


def test_keys_overlap_where_letters_can_be_what_the_other_key_has() -> None:
    class OnePK(Key, template="A{initial}"):
        initial: Annotated[str, InitialOf("word", letters=1)]

    class TwoPK(Key, template="{initial}b"):
        initial: Annotated[str, InitialOf("word", letters=2)]

    class ThreePK(Key, template="Abcd"):
        pass

    class One(Entity):
        key = Keys(OnePK, ShelfSK)

        word: str

    class Two(Entity):
        key = Keys(TwoPK, ShelfSK)

        word: str

    class Three(Entity):
        key = Keys(ThreePK, ShelfSK)

    class Apart(Design):
        table = ShelfTable
        entities = (One, Three)

    class Overlapping(Design):
        table = ShelfTable
        entities = (One, Two)

    assert len(overlapping_entities(Apart.catalog.schemas.values())) == 0
    assert len(overlapping_entities(Overlapping.catalog.schemas.values())) == 2


def test_key_that_is_plain_because_a_part_renders_as_nothing_is_the_same_as_a_plain_one() -> None:
    class PlainPK(Key, template="WORDS#INFO"):
        pass

    class OmittedPK(Key, template="WORDS#{initial}#INFO"):
        initial: Annotated[str, InitialOf("word")]

    class PlainWord(Entity):
        key = Keys(PlainPK, ShelfSK)

    class Word(Entity):
        key = Keys(OmittedPK, ShelfSK)

        word: str

    with pytest.raises(DeclarationError, match="can be the same key"):

        class Words(Design):
            table = ShelfTable
            entities = (PlainWord, Word)


# --- more letters later -----------------------------------------------------------------------------------


def test_more_letters_are_a_migration_that_fills_the_index(tmp_path: Path) -> None:
    assert new_migration(Pantry, "first", tmp_path) is not None
    assert new_migration(Pantry, "nothing", tmp_path) is None
    written = new_migration(LetterPantry, "one letter", tmp_path)
    assert written is not None
    assert written.steps == (Backfill({"Ingredient": ("by_name",)}), Verify({"Ingredient": ("by_name",)}))
    written = new_migration(LettersPantry, "two letters", tmp_path)
    assert written is not None
    assert [type(step) for step in written.steps] == [Backfill, Verify]


@pytest.mark.parametrize("target", EVERYWHERE)
def test_items_are_found_before_during_and_after_the_migration(target: str, tmp_path: Path) -> None:
    new_migration(LetterPantry, "first", tmp_path)
    written = new_migration(LettersPantry, "two letters", tmp_path)
    assert written is not None
    with fresh_client(target, ManualClock()) as client:
        old = design_on(client, LetterPantry, {})
        client.run(create_table(old.session))
        db = design_on(client, LettersPantry, {})
        for number, name in enumerate(NAMES):
            kind = LetterIngredient if number % 2 else LettersIngredient
            (old if number % 2 else db).create(kind(ingredient_id=str(number), name=name))
        terms = [term for term in TERMS if len(term) > 1]
        assert [found(db, term) for term in terms] == [wanted(term) for term in terms]
        Runner(db).run(Folder(tmp_path).migrations()[1:])
        assert [found(db, term) for term in terms] == [wanted(term) for term in terms]
        assert db.verify().under_old_keys == 0
        assert {"INGREDIENT#SEARCH#đư", "INGREDIENT#SEARCH#te"} <= {
            item["namePK"]["S"] for item in stored_items(db) if "namePK" in item
        }


def test_old_key_with_more_letters_does_not_follow_from_one_with_fewer() -> None:
    with pytest.raises(
        DeclarationError, match=r"the old key LettersPK .* does not follow from LetterPK .*'name'"
    ):

        class Shorter(Entity):
            key = Keys(LetterPK, NameSK)
            by_name = PantryTable.names.keys(LetterPK, NameSK, was=(LettersPK, NameSK))

            ingredient_id: str
            name: str


def test_old_text_that_is_cut_now_does_not_follow() -> None:
    class WholePK(Key, template="NAMES#{name}"):
        name: str

    class CutPK(Key, template="NAMES#{name}"):
        name: Annotated[str, InitialOf("name", letters=1)]

    with pytest.raises(DeclarationError, match=r"the old key WholePK .* does not follow from CutPK"):

        class Cut(Entity):
            key = Keys(LetterPK, NameSK)
            by_name = PantryTable.names.keys(CutPK, NameSK, was=(WholePK, NameSK))

            name: str
