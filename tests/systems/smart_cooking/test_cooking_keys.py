"""Every key, template and literal of Smart Cooking's design documents beside ours, each with its line there.

Ours are rendered from entities. They differ from the documents only where a defect is named: above all X-02, the
precision of times. Where the two documents differ from each other, 002 wins as the defects say.
"""

from __future__ import annotations

from typing import Any

import pytest

from singletable.errors import SeparatorError
from singletable_systems.smart_cooking.model.keys import (
    CategoryPK,
    CookingTable,
    FavoritePK,
    FeedPK,
    MetadataSK,
    NameSK,
    NormalName,
    PostPK,
    RecipeCreatedSK,
    RecipeId,
    RecipeIngredientSK,
    RecipePK,
    RolePK,
    SearchPK,
    TrendingPK,
    UserId,
    UserPK,
)
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from systems.cooking_document import DOCUMENTED, documented_item, precise
from systems.cooking_examples import (
    ADMIN,
    HISTORY,
    INGREDIENT,
    NOTIFICATION,
    POST,
    PREFERENCES,
    RECIPE,
    REPLY,
    SAMPLES,
    SUGGESTION,
    USER,
    at,
)

KEYS = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK")


def keys_of(entity: Any) -> dict[str, str]:
    """Render the keys of an entity, by attribute."""
    item = SmartCooking.stored_item(entity)
    return {name: item[name]["S"] for name in KEYS if name in item}


# --- the table --------------------------------------------------------------------------------------------

# Line, what the document says, what ours says.
TABLE = [
    ("000:5", "smart-cooking-data-{environment}", CookingTable.name),  # SC-01: 002:32 has no environment
    ("000:10", "PK", CookingTable.pk),
    ("000:11", "SK", CookingTable.sk),
    ("000:16", "GSI1PK", CookingTable.gsi1.pk),
    ("000:17", "GSI1SK", CookingTable.gsi1.sk),
    ("000:21", "GSI2PK", CookingTable.gsi2.pk),
    ("000:22", "GSI2SK", CookingTable.gsi2.sk),
    ("000:26", "GSI3PK", CookingTable.gsi3.pk),
    ("000:27", "GSI3SK", CookingTable.gsi3.sk),
    ("000:83", "PAY_PER_REQUEST", CookingTable.billing),
    ("000:85", "AWS_MANAGED", CookingTable.encryption),
    ("002:496", "ALL", CookingTable.gsi1.projection),
    ("002:511", "ALL", CookingTable.gsi2.projection),
    ("002:523", "ALL", CookingTable.gsi3.projection),
    ("002:631", 35, CookingTable.pitr_days),  # SC-60: "for production" in 000:84
]


@pytest.mark.parametrize(("line", "document", "ours"), TABLE, ids=[row[0] for row in TABLE])
def test_table_is_the_documents(line: str, document: Any, ours: Any) -> None:
    assert ours in (document, (document,)), line


def test_all_key_attributes_are_strings() -> None:
    assert set(SmartCooking.blueprint().table.types.values()) == {"S"}


# --- the samples of 002 -------------------------------------------------------------------------------------

# Line: what ours has, and why.
DIFFERENT: dict[str, tuple[str | None, str]] = {
    "002:77": (None, "SC-03"),  # only who is more than a user is in the index
    "002:78": (None, "SC-03"),
    "002:301": ("SUGGESTION#2025-01-20T10:00:00.000Z#uuid-303", "SC-25"),
    "002:472": ("USER#uuid-123", "SC-33"),  # the total is in an item of its own
    "002:473": ("REPORT#2025-01-20T10:00:00.000Z", "SC-33"),
}
ROWS = [row for row in DOCUMENTED if row[2] in KEYS]


@pytest.mark.parametrize(("line", "entity", "name"), [row[:3] for row in ROWS], ids=[row[0] for row in ROWS])
def test_key_of_a_sample_is_the_documents(line: str, entity: str, name: str) -> None:
    documented = precise(documented_item(entity)[name])
    ours = keys_of(SAMPLES[entity]).get(name)
    if line in DIFFERENT:
        assert ours == DIFFERENT[line][0] != documented
    else:
        assert ours == documented


def test_samples_have_no_more_keys_than_ours_add() -> None:
    """What an entity of the document has in an index that its sample does not name is added, by these defects."""
    added = {
        ("RECIPE", "GSI3PK"): "SC-58",
        ("COOKING_HISTORY", "GSI3PK"): "SC-18",
        ("FRIENDSHIP", "GSI2PK"): "SC-22",
        ("COMMENT", "GSI2PK"): "SC-58",
    }
    documented = {(entity, name) for _, entity, name, _ in ROWS}
    examples = {**SAMPLES, "COMMENT": REPLY}
    ours = {(name, key) for name, entity in examples.items() for key in keys_of(entity) if key.endswith("PK")}
    assert ours - documented == set(added)


def test_role_of_an_admin_is_in_the_index_as_documented() -> None:
    """002:77 has ROLE#user, which nobody lists (SC-03); 002:84 and 002:489 ROLE#admin."""
    assert keys_of(ADMIN)["GSI1PK"] == "ROLE#admin"
    assert keys_of(ADMIN)["GSI1SK"] == precise("USER#2025-01-15T10:00:00Z")
    assert "GSI1PK" not in keys_of(USER)


def test_key_that_is_given_as_an_id_is_refused() -> None:
    with pytest.raises(SeparatorError):
        UserPK(user_id=UserId("uuid-123#FAVORITE"))  # it would be the partition of favorites


# --- other samples ------------------------------------------------------------------------------------------

USER_PK, FAVORITE_PK = keys_of(USER)["PK"], keys_of(HISTORY)["GSI1PK"]
# Line, the document's literal, ours, and the defect where they differ by more than the precision of times.
LITERALS = [
    ("000:10", "USER#uuid-123", USER_PK, ""),
    ("000:10", "RECIPE#uuid-456", RecipePK(recipe_id=RecipeId("uuid-456")).render(), ""),
    ("000:11", "PROFILE", keys_of(USER)["SK"], ""),
    ("000:11", "COOKING#2025-01-20T15:30:00Z#uuid-202", keys_of(HISTORY)["SK"], ""),
    ("000:16", "USER#uuid-123", keys_of(RECIPE)["GSI1PK"], ""),
    ("000:16", "CATEGORY#meat", CategoryPK(category="meat").render(), ""),
    ("000:21", "METHOD#stir-fry", keys_of(RECIPE)["GSI2PK"], ""),
    ("000:21", "INGREDIENT#SEARCH", SearchPK(initial="thit-ga").render(), ""),
    ("000:22", "NAME#thit-ga", NameSK(normalized_name="thit-ga").render(), "SC-15: NAME#thit ga"),
    ("000:22", "RATING#4.5#2025-01-20", keys_of(RECIPE)["GSI2SK"], "SC-07: RECIPE#4.5#2025-01-20T10:00:00.000Z"),
    ("000:26", "RECENT#2025-01", keys_of(HISTORY)["GSI3PK"], ""),
    ("000:26", "TRENDING#weekly", TrendingPK(period="weekly").render(), ""),
    ("000:34", "USER#uuid-123", USER_PK, ""),
    ("000:35", "PROFILE", keys_of(USER)["SK"], ""),
    ("000:36", "USER#uuid-123", keys_of(USER).get("GSI1PK", "none"), "SC-02: none"),
    ("000:37", "PROFILE", keys_of(USER).get("GSI1SK", "none"), "SC-02: none"),
    ("000:42", "USER#uuid-123", keys_of(PREFERENCES)["PK"], ""),
    ("000:43", "PREFERENCES", keys_of(PREFERENCES)["SK"], ""),
    ("000:44", "USER#uuid-123", keys_of(PREFERENCES).get("GSI1PK", "none"), "SC-04: none"),
    ("000:45", "PREFERENCES", keys_of(PREFERENCES).get("GSI1SK", "none"), "SC-04: none"),
    ("000:50", "INGREDIENT#uuid-789", keys_of(INGREDIENT)["PK"], ""),
    ("000:51", "METADATA", keys_of(INGREDIENT)["SK"], ""),
    ("000:52", "INGREDIENT#SEARCH", keys_of(INGREDIENT)["GSI2PK"], ""),
    ("000:53", "NAME#thit ga", keys_of(INGREDIENT)["GSI2SK"], ""),
    ("000:58", "RECIPE#uuid-101", keys_of(RECIPE)["PK"], ""),
    ("000:59", "METADATA", keys_of(RECIPE)["SK"], ""),
    ("000:60", "USER#uuid-123", keys_of(RECIPE)["GSI1PK"], ""),
    ("000:61", "METHOD#stir-fry", keys_of(RECIPE)["GSI2PK"], ""),
    ("000:62", "RATING#4.5#2025-01-20T10:00:00Z", keys_of(RECIPE)["GSI2SK"],
     "SC-07: RECIPE#4.5#2025-01-20T10:00:00.000Z"),
    ("000:67", "USER#uuid-123", keys_of(HISTORY)["PK"], ""),
    ("000:68", "COOKING#2025-01-20T18:00:00Z#uuid-202", keys_of(HISTORY)["SK"],
     "SC-24: COOKING#2025-01-20T15:30:00.000Z#uuid-202"),
    ("000:69", "USER#uuid-123#FAVORITE", FAVORITE_PK, ""),
    ("000:70", "RECENT#2025-01", keys_of(HISTORY)["GSI3PK"], ""),
    ("000:71", "2025-01-20T18:00:00Z", keys_of(HISTORY)["GSI3SK"], ""),
    ("002:47", "USER#123", UserPK(user_id=UserId("123")).render(), ""),
    ("002:47", "PROFILE", keys_of(USER)["SK"], ""),
    ("002:48", "PREFERENCES", keys_of(PREFERENCES)["SK"], ""),
    ("002:49", "RECIPE#456", RecipePK(recipe_id=RecipeId("456")).render(), ""),
    ("002:49", "METADATA", MetadataSK().render(), ""),
    ("002:50", "INGREDIENT#001", RecipeIngredientSK(position=1).render(), ""),
    ("002:489", "ROLE#admin", RolePK(role="admin").render(), ""),
    ("002:490", "USER#uuid-123", keys_of(RECIPE)["GSI1PK"], ""),
    ("002:491", "USER#uuid-123#FAVORITE", FAVORITE_PK, ""),
    ("002:492", "USER#uuid-123#UNREAD", keys_of(NOTIFICATION)["GSI1PK"], ""),
    ("002:493", "CATEGORY#meat", keys_of(INGREDIENT)["GSI1PK"], ""),
    ("002:504", "METHOD#stir-fry", keys_of(RECIPE)["GSI2PK"], ""),
    ("002:507", "INGREDIENT#SEARCH", keys_of(INGREDIENT)["GSI2PK"], ""),
    ("002:519", "FEED#PUBLIC", keys_of(POST)["GSI3PK"], ""),
    ("002:520", "FEED#uuid-123", FeedPK(user_id=UserId("uuid-123")).render(), ""),
    ("002:607", "SUGGESTION#2025-01-20T10:00:00Z", keys_of(SUGGESTION)["SK"],
     "SC-25: SUGGESTION#2025-01-20T10:00:00.000Z#uuid-303"),
    ("002:614", "NOTIFICATION#2025-01-20T21:00:00Z", keys_of(NOTIFICATION)["SK"],
     "SC-26: NOTIFICATION#2025-01-20T21:00:00.000Z#uuid-909"),
    ("002:621", "COOKING#2025-01-20T15:30:00Z", keys_of(HISTORY)["SK"],
     "SC-26: COOKING#2025-01-20T15:30:00.000Z#uuid-202"),
    ("002:648", "RECIPE#2025-01-20T10:00:00Z", RecipeCreatedSK(created_at=at("20 10:00")).render(), ""),
    ("002:657", "POST#606", PostPK(post_id="606").render(), ""),  # type: ignore[arg-type]
    ("002:658", "METADATA", keys_of(POST)["SK"], ""),
    ("002:669", "USER#123", UserPK(user_id=UserId("123")).render(), ""),
    ("002:672", "USER#123#FAVORITE", FavoritePK(user_id=UserId("123")).render(), ""),
]  # fmt: skip


@pytest.mark.parametrize(("line", "document", "ours", "defect"), LITERALS)
def test_literal_is_the_documents(line: str, document: str, ours: str, defect: str) -> None:
    if not defect:
        assert ours == precise(document), line
    else:
        assert ours == defect.partition(": ")[2] != precise(document), line


def test_names_are_normal_in_keys_whoever_renders_them() -> None:
    for text in ("Thịt gà", "thit-ga", " THIT  GA ", "Thịt\u00a0Gà!"):
        name: NormalName = text
        assert NameSK(normalized_name=name).render() == "NAME#thit ga"  # SC-15
