"""Smart Cooking as its two documents describe it, as data: complete, line by line, and what was changed since.

The blueprint is held against literals that were read from the documents by themselves.
"""

from __future__ import annotations

import ast
import json
import operator
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any, Final

import pytest
from pydantic import TypeAdapter

from singletable.blueprint import Blueprint, FixBlueprint, PatternBlueprint
from singletable_systems.smart_cooking import model
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from support.paths import ROOT, TESTS
from systems.cooking_document import DOCUMENTED as ROWS
from systems.documented import Line, cited_lines, covered_lines, lines_of

TEXT: Final = files(model).joinpath("documented.toml").read_text(encoding="utf-8")
FIXES_TEXT: Final = files(model).joinpath("fixes.toml").read_text(encoding="utf-8")
BLUEPRINT: Final = Blueprint.from_toml(TEXT)
FIXED: Final = SmartCooking.blueprint()
LENGTHS: Final = {"000": 103, "002": 705}

# The lines that say something: all but blank ones, headings without a statement, and fences.
CONTENT: Final = {
    "000": "5 10-11 13 15-18 20-23 25-28 34-37 42-45 50-53 58-62 67-71 76-79 83-87 91-96 100-103",
    "002": """
        2-3 6 10 12 14 16-23 25-28 32 34-38 43-44 46-50 59-75 77-79 82-84 88-100 103-104 108-122 125-126 131-139
        142-144 149-160 162-166 169-172 178-210 212-216 219-223 227-235 238-239 244-258 260-262 265-267 272-284
        286-288 291-294 299-319 322-324 329-338 340-342 345-348 353-366 368-372 375-378 383-393 395-397 400-402
        407-416 418-420 423-426 431-443 445-447 450-452 454 457-470 472-474 477-479 483 485-486 488-493 496 498
        500-501 503-508 511 513 515-516 518-520 523 527 530-533 535-537 539-542 544-546 548-550 552-554 556-560
        562-564 567 570-572 574-576 578-579 581 583 585 587 589-594 596 604-609 611-616 618-623 629-633 635-638
        645 647-648 650 653 655-662 665 667-673 676 678-690 695-698 702-705
    """,
}


def content() -> set[Line]:
    return {
        line
        for document, text in CONTENT.items()
        for each in text.split()
        for line in lines_of(f"{document}:{each}")
    }


# --- the form ---------------------------------------------------------------------------------------------


def test_file_is_in_canonical_form() -> None:
    assert BLUEPRINT.to_toml() == TEXT
    assert Blueprint.from_json(BLUEPRINT.to_json()) == BLUEPRINT


# --- where it was said ------------------------------------------------------------------------------------


def test_documents_are_as_long_as_they_are() -> None:
    assert {each.id: each.lines for each in BLUEPRINT.documents} == LENGTHS


def test_every_line_that_says_something_is_covered() -> None:
    assert sorted(content() - covered_lines(BLUEPRINT)) == []


def test_nothing_is_said_outside_of_the_documents() -> None:
    assert {line for line in covered_lines(BLUEPRINT) if not 1 <= line[1] <= LENGTHS[line[0]]} == set()


def test_every_line_that_code_and_tests_cite_is_covered() -> None:
    package = ROOT / "src" / "singletable_systems" / "smart_cooking"
    paths = [*package.rglob("*.py"), *package.rglob("*.md"), *TESTS.rglob("*.py")]
    cited = cited_lines(paths, LENGTHS)
    assert len(cited) > 400
    assert {line: cited[line] for line in sorted(cited.keys() - covered_lines(BLUEPRINT))} == {}


# What a document says differently from the value that is taken: where, of what, which members.
DIFFERENCES = [
    ("000:5", "table", "name"),
    ("000:84", "table.backups.pitr", "environments"),
    ("000:13-18", "indexes.GSI1", "about, holds, uses"),
    ("000:20-23", "indexes.GSI2", "about, uses"),
    ("000:25-28", "indexes.GSI3", "about, uses"),
    ("000:32-38", "entities.UserProfile", "discriminator"),
    ("000:36-37", "entities.UserProfile.places.by_role", "pk, sk"),
    ("000:40-46", "entities.UserPreferences", "discriminator"),
    ("000:48-54", "entities.MasterIngredient", "discriminator"),
    ("000:22", "entities.MasterIngredient.attributes.normalized_name", "samples"),
    ("000:21-22", "entities.MasterIngredient.places.search", "sk"),
    ("000:56-63", "entities.Recipe", "discriminator"),
    ("000:60", "entities.Recipe.places.by_user", "sk"),
    ("000:61-62", "entities.Recipe.places.by_method", "sk"),
    ("000:21-22", "entities.Recipe.places.by_method", "sk"),
    ("000:65-72", "entities.CookingHistory", "discriminator"),
    ("000:67-68", "entities.CookingHistory.places.key", "sk"),
    ("002:620-621", "entities.CookingHistory.places.key", "sk"),
    ("000:69", "entities.CookingHistory.places.favorites", "sk"),
    ("002:671-672", "entities.CookingHistory.places.favorites", "sk"),
    ("002:613-614", "entities.Notification.places.key", "sk"),
    ("000:91", "patterns.1", "documented, number, operation, reads, title"),
    ("000:94", "patterns.8", "documented, number, operation, reads, requires, title"),
    ("000:93", "patterns.12", "documented, number, operation, reads, requires, title"),
    ("000:92", "patterns.17", "documented, number, operation, reads, requires, title"),
    ("000:95", "patterns.18", "documented, number, operation, reads, requires, title"),
    ("002:16", "figures.total_cost", "formula, terms, upto, value"),
]


def test_disagreements_stand_where_they_belong() -> None:
    assert sorted(differences("", json.loads(BLUEPRINT.to_json()))) == sorted(DIFFERENCES)


def differences(path: str, part: Any) -> Iterator[tuple[str, str, str]]:
    if isinstance(part, dict):
        for said in part.get("said", ()):
            if "differs" in said:
                yield said["at"], path, ", ".join(sorted(said["differs"]))
        for name, member in part.items():
            if name != "said":
                yield from differences(f"{path}.{name}".lstrip("."), member)
    elif isinstance(part, list):
        for each in part:
            if isinstance(each, dict):
                name = next((each[key] for key in ("number", "name", "kind") if key in each), "")
                yield from differences(f"{path}.{name}", each)


# --- table and keys ---------------------------------------------------------------------------------------


def test_table_has_the_settings_of_the_documents() -> None:
    table = BLUEPRINT.table
    assert (table.name, table.pk, table.sk, table.ttl) == ("smart-cooking-data", "PK", "SK", "ttl")
    assert table.said[4].differs == {"name": "smart-cooking-data-{environment}"}
    assert (table.billing, table.encryption, table.stream) == ("PAY_PER_REQUEST", "AWS_MANAGED", "unsaid")
    assert table.pitr_days == 35
    assert [(each.kind, each.keep_days, each.every_days) for each in table.backups] == [
        ("pitr", 35, None),
        ("aws-backup", 90, 7),
    ]
    assert [(each.name, each.pk, each.sk, each.projection) for each in BLUEPRINT.indexes] == [
        (f"GSI{number}", (f"GSI{number}PK",), (f"GSI{number}SK",), "ALL") for number in (1, 2, 3)
    ]


# Lines, entity, index, templates.
PLACES = [
    ("002:60-61", "UserProfile", None, "USER#{user_id}", "PROFILE"),
    ("002:77-78", "UserProfile", "GSI1", "ROLE#{role}", "USER#{created_at}"),
    ("002:89-90", "UserPreferences", None, "USER#{user_id}", "PREFERENCES"),
    ("000:44-45", "UserPreferences", "GSI1", "USER#{user_id}", "PREFERENCES"),
    ("002:109-110", "PrivacySettings", None, "USER#{user_id}", "PRIVACY"),
    ("002:132-133", "UserIngredient", None, "USER#{user_id}", "INGREDIENT#{normalized_name}"),
    ("002:150-151", "MasterIngredient", None, "INGREDIENT#{ingredient_id}", "METADATA"),
    ("002:162-163", "MasterIngredient", "GSI1", "CATEGORY#{category}", "INGREDIENT#{normalized_name}"),
    ("002:164-165", "MasterIngredient", "GSI2", "INGREDIENT#SEARCH", "NAME#{normalized_name}"),
    ("002:179-180", "Recipe", None, "RECIPE#{recipe_id}", "METADATA"),
    ("002:212-213", "Recipe", "GSI1", "USER#{user_id}", "RECIPE#{created_at}"),
    ("002:214-215", "Recipe", "GSI2", "METHOD#{cooking_method}", "RECIPE#{average_rating}#{created_at}"),
    ("002:228-229", "RecipeIngredient", None, "RECIPE#{recipe_id}", "INGREDIENT#{nnn}"),
    ("002:245-246", "CookingHistory", None, "USER#{user_id}", "COOKING#{created_at}#{history_id}"),
    ("002:260-261", "CookingHistory", "GSI1", "USER#{user_id}#FAVORITE", "COOKING#{cook_date}"),
    ("000:70-71", "CookingHistory", "GSI3", "RECENT#{year_month}", "{cook_date}"),
    ("002:273-274", "RecipeRating", None, "RECIPE#{recipe_id}", "RATING#{user_id}"),
    ("002:286-287", "RecipeRating", "GSI1", "USER#{user_id}", "RATING#{created_at}"),
    ("002:300-301", "AiSuggestion", None, "USER#{user_id}", "SUGGESTION#{created_at}"),
    ("002:330-331", "Friendship", None, "USER#{user_id}", "FRIEND#{friend_id}"),
    ("002:340-341", "Friendship", "GSI1", "USER#{friend_id}", "FRIEND#{user_id}"),
    ("002:354-355", "Post", None, "POST#{post_id}", "METADATA"),
    ("002:368-369", "Post", "GSI1", "USER#{user_id}", "POST#{created_at}"),
    ("002:370-371", "Post", "GSI3", "FEED#PUBLIC", "POST#{created_at}"),
    ("002:384-385", "Comment", None, "POST#{post_id}", "COMMENT#{created_at}#{comment_id}"),
    ("002:395-396", "Comment", "GSI1", "USER#{user_id}", "COMMENT#{created_at}"),
    ("002:408-409", "Reaction", None, "POST#{post_id}", "REACTION#{user_id}"),
    ("002:418-419", "Reaction", "GSI1", "USER#{user_id}", "REACTION#{created_at}"),
    ("002:432-433", "Notification", None, "USER#{user_id}", "NOTIFICATION#{created_at}#{notification_id}"),
    ("002:445-446", "Notification", "GSI1", "USER#{user_id}#UNREAD", "NOTIFICATION#{created_at}"),
    (
        "002:458-459",
        "InvalidIngredientReport",
        None,
        "INVALID_INGREDIENT#{normalized_name}",
        "USER#{user_id}",
    ),
    (
        "002:472-473",
        "InvalidIngredientReport",
        "GSI1",
        "REPORTS#PENDING",
        "TOTAL#{total_reports}#{created_at}",
    ),
]
# Keys that are given for an index, and for no entity.
HELD = [
    ("002:505", "GSI2", "CUISINE#{cuisine}", "{rating}#{timestamp}"),
    ("002:506", "GSI2", "MEALTYPE#{meal_type}", "{rating}#{timestamp}"),
    ("002:508", "GSI2", "APPROVED", "RECIPE#{rating}#{timestamp}"),
    ("002:520", "GSI3", "FEED#{user_id}", "{timestamp}"),
    ("000:26-28", "GSI3", "TRENDING#{period}", "{popularity_score}"),
]


def test_keys_are_those_of_the_documents() -> None:
    assert [
        (place.said[0].at, entity.name, place.index, place.pk.template, place.sk and place.sk.template)
        for entity in BLUEPRINT.entities
        for place in entity.places
    ] == PLACES
    assert [
        (place.said[0].at, index.name, place.pk.template, place.sk and place.sk.template)
        for index in BLUEPRINT.indexes
        for place in index.holds
    ] == HELD


def test_what_is_only_named_is_an_entity_without_keys() -> None:
    named = {"Session", "FeedItem", "TrendingRecipe"}
    assert {each.name for each in BLUEPRINT.entities} == {row[1] for row in PLACES} | named
    assert len(BLUEPRINT.entities) == 19
    assert {each.name for each in BLUEPRINT.entities if not each.places and not each.attributes} == named
    assert {each.name for each in BLUEPRINT.entities if each.is_optional} == {"InvalidIngredientReport"}


# --- attributes -------------------------------------------------------------------------------------------

ATTRIBUTES = {
    "USER_PROFILE": 13,
    "USER_PREFERENCES": 8,
    "PRIVACY_SETTINGS": 10,
    "USER_INGREDIENT": 4,
    "MASTER_INGREDIENT": 8,
    "RECIPE": 23,
    "RECIPE_INGREDIENT": 4,
    "COOKING_HISTORY": 11,
    "RECIPE_RATING": 9,
    "AI_SUGGESTION": 16,
    "FRIENDSHIP": 6,
    "POST": 12,  # with the two of 002:660-661
    "COMMENT": 7,
    "REACTION": 6,
    "NOTIFICATION": 9,
    "INVALID_INGREDIENT_REPORT": 10,
}
ENTITIES = {entity.discriminator: entity for entity in BLUEPRINT.entities if entity.discriminator}


def test_entities_have_as_many_attributes_as_the_samples() -> None:
    assert {name: len(entity.attributes) for name, entity in ENTITIES.items()} == ATTRIBUTES
    stored = {(row[1], row[2]) for row in ROWS}
    added = {(name, each.name) for name, entity in ENTITIES.items() for each in entity.attributes} - stored
    assert added == {("POST", "user_name"), ("POST", "user_avatar")}


@pytest.mark.parametrize(("line", "entity", "name", "value"), ROWS, ids=[row[0] for row in ROWS])
def test_attribute_of_a_sample_is_there_with_its_line(line: str, entity: str, name: str, value: Any) -> None:
    found = ENTITIES[entity]
    assert found.samples[0][name] == ({} if value == "{...}" else value)
    if name == "entity_type":
        assert BLUEPRINT.discriminator == name
    elif name.endswith(("PK", "SK")):
        place = found.place(name[:-2] or None)
        assert place is not None
        assert place.sk is not None
        key = place.pk if name.endswith("PK") else place.sk
        assert key.attributes == (name,)
        assert value in key.samples or value.replace("<", "{").replace(">", "}") == key.template
        assert lines_of(line) <= lines_of(place.said[0].at)
    else:
        attribute = next(each for each in found.attributes if each.stored == name)
        assert attribute.said[0].at == line
        assert value in attribute.samples or value == "{...}"


# Where the numbers and copies are; nobody who would keep them is named.
KEPT = {
    "Recipe.average_rating": ("average", "RecipeRating", "002:205"),
    "Recipe.rating_count": ("count", "RecipeRating", "002:206"),
    "Recipe.ai_cache_hit_count": ("count", "cache hit", "002:207"),
    "Post.likes_count": ("count", "Reaction", "002:363"),
    "Post.comments_count": ("count", "Comment", "002:364"),
    "Post.user_name": ("copy", "UserProfile", "002:653-660"),
    "Post.user_avatar": ("copy", "UserProfile", "002:653-661"),
    "InvalidIngredientReport.total_reports": ("count", "InvalidIngredientReport", "002:466"),
}


def test_counts_and_copies_are_kept_by_nobody_who_is_named() -> None:
    found, keepers = {}, set()
    for entity in BLUEPRINT.entities:
        for count in entity.aggregates:
            found[f"{entity.name}.{count.field}"] = (count.kind, count.of, count.said[0].at)
        for copy in entity.copies:
            found[f"{entity.name}.{copy.field}"] = ("copy", copy.of, copy.said[0].at)
        keepers |= {each.by for each in entity.aggregates} | {each.by for each in entity.copies}
    assert found == KEPT
    assert keepers == {"unsaid"}


def test_step_of_a_recipe_is_the_documents() -> None:
    models = {model.name: model for entity in BLUEPRINT.entities for model in entity.models}
    assert {name: [each.stored for each in model.attributes] for name, model in models.items()} == {
        "Instruction": ["step_number", "description", "duration"]  # 002:195-199
    }


def test_social_features_are_planned() -> None:
    assert [(each.name, each.said[0].at) for each in BLUEPRINT.changes] == [
        ("Social features", "002:556-560")
    ]


# --- patterns ---------------------------------------------------------------------------------------------

PATTERNS = {
    "1": ("002:83", "PK=USER#<id>, SK=PROFILE"),
    "2": ("002:84", "GSI1PK=ROLE#admin"),
    "3": ("002:104", "PK=USER#<id>, SK=PREFERENCES"),
    "4": ("002:126", "PK=USER#<id>, SK=PRIVACY"),
    "5": ("002:143", "PK=USER#<id>, SK begins_with INGREDIENT#"),
    "6": ("002:144", "PK=USER#<id>, SK=INGREDIENT#<name>"),
    "7": ("002:170", "PK=INGREDIENT#<id>, SK=METADATA"),
    "8": ("002:171", "GSI2PK=INGREDIENT#SEARCH, GSI2SK begins_with NAME#<term>"),
    "9": ("002:172", "GSI1PK=CATEGORY#<category>"),
    "10": ("002:220", "PK=RECIPE#<id>, SK=METADATA"),
    "11": ("002:221", "GSI1PK=USER#<user_id>, GSI1SK begins_with RECIPE#"),
    "12": ("002:222", "GSI2PK=METHOD#<method>, Sort by rating DESC"),
    "13": ("002:223", "GSI2PK=APPROVED, GSI2SK begins_with RECIPE#"),
    "14": ("002:505", "GSI2PK=CUISINE#<cuisine>"),
    "15": ("002:506", "GSI2PK=MEALTYPE#<meal_type>"),
    "16": ("002:239", "PK=RECIPE#<id>, SK begins_with INGREDIENT#"),
    "17": ("002:266", "PK=USER#<id>, SK begins_with COOKING#, Sort DESC"),
    "18": ("002:267", "GSI1PK=USER#<id>#FAVORITE, Sort by cook_date DESC"),
    "19": ("000:96", "GSI3PK=RECENT#<year_month>"),
    "20": ("000:26", "GSI3PK=TRENDING#<period>"),
    "21": ("002:292", "PK=RECIPE#<id>, SK begins_with RATING#"),
    "22": ("002:293", "GSI1PK=USER#<id>, SK begins_with RATING#"),
    "23": ("002:294", "PK=RECIPE#<id>, SK=RATING#<user_id>"),
    "24": ("002:323", "PK=USER#<id>, SK begins_with SUGGESTION#, Sort DESC"),
    "25": ("002:324", "PK=USER#<id>, SK=SUGGESTION#<timestamp>"),
    "26": ("002:346", "PK=USER#<id>, SK begins_with FRIEND#, Filter status=accepted"),
    "27": ("002:347", "GSI1PK=USER#<id>, SK begins_with FRIEND#"),
    "28": ("002:348", "PK=USER#<id>, SK=FRIEND#<friend_id>"),
    "29": ("002:376", "PK=POST#<id>, SK=METADATA"),
    "30": ("002:377", "GSI1PK=USER#<id>, SK begins_with POST#"),
    "31": ("002:378", "GSI3PK=FEED#PUBLIC, Sort DESC"),
    "32": ("002:520", "GSI3PK=FEED#<user_id>"),
    "33": ("002:401", "PK=POST#<id>, SK begins_with COMMENT#, Sort ASC"),
    "34": ("002:402", "GSI1PK=USER#<id>, SK begins_with COMMENT#"),
    "35": ("002:424", "PK=POST#<id>, SK begins_with REACTION#"),
    "36": ("002:425", "PK=POST#<id>, SK=REACTION#<user_id>"),
    "37": ("002:426", "GSI1PK=USER#<id>, SK begins_with REACTION#"),
    "38": ("002:451", "PK=USER#<id>, SK begins_with NOTIFICATION#, Sort DESC"),
    "39": ("002:452", "GSI1PK=USER#<id>#UNREAD, Sort DESC"),
    "40": ("002:478", "PK=INVALID_INGREDIENT#<name>, SK=USER#<user_id>"),
    "41": ("002:479", "GSI1PK=REPORTS#PENDING, Sort by total DESC"),
    "42": ("002:676-691", "PK=RECIPE#<recipe_id>, SK=METADATA"),
}
SHORT = {"average_rating": "rating", "total_reports": "total"}  # what the document calls them


def test_patterns_ask_what_the_documents_ask_in_the_words_that_they_have() -> None:
    """Conditions, filter and order are written as the document writes them, also where that cannot work."""
    assert {each.number: (each.said[0].at, words(each)) for each in BLUEPRINT.patterns} == PATTERNS
    other = ("14", "15", "19", "20", "32", "42")  # named among uses, asked for in other words, or in code
    for each in BLUEPRINT.patterns:
        assert (each.documented == PATTERNS[each.number][1]) == (each.number not in other)


def words(pattern: PatternBlueprint) -> str:
    (read,) = pattern.reads
    signs = {"=": "=", "begins_with": " begins_with "}
    parts = [f"{each.attribute}{signs[each.operator]}{each.templates[0]}" for each in read.conditions]
    if read.filter is not None:
        parts.append(f"Filter {read.filter['field']}{read.filter['operator']}{read.filter['value']}")
    if read.means is not None:
        by = SHORT.get(read.means.by, read.means.by)
        way = {"backward": "DESC", "forward": "ASC"}[read.order]
        is_said = by in ("rating", "cook_date", "total")
        parts.append(f"Sort by {by} {way}" if is_said else f"Sort {way}")
    return ", ".join(parts).replace("{", "<").replace("}", ">")


def test_index_of_a_read_is_that_of_its_partition_key() -> None:
    for pattern in BLUEPRINT.patterns:
        for read in pattern.reads:
            assert read.conditions[0].attribute == f"{read.index or ''}PK"
            assert {*read.entities} <= {each.name for each in BLUEPRINT.entities}


# --- expiry, loads, figures -------------------------------------------------------------------------------


def test_expiry_is_that_of_both_documents() -> None:
    ttl = {each.name: each.ttl for each in BLUEPRINT.entities if each.ttl is not None}
    assert {name: (each.seconds, each.purpose, each.is_optional) for name, each in ttl.items()} == {
        "CookingHistory": (365 * 86_400, "archive", True),
        "AiSuggestion": (90 * 86_400, "delete", False),
        "Notification": (30 * 86_400, "delete", False),
    }
    (session,) = BLUEPRINT.ttl_rules
    assert (session.of, session.rule.seconds, session.rule.said[0].at) == ("Session", 86_400, "000:78")


# Line, daily number, and what it is of: 002:531-560.
DAILY = [
    (532, 500, "service", "login"),
    (533, 100, "update", "UserProfile"),
    (536, 1_000, "pattern", "5"),
    (537, 200, "create", "UserIngredient"),
    (540, 1_000, "service", "suggest"),
    (541, 4_000, "figure", "suggestion_reads_per_day"),
    (542, 1_000, "create", "AiSuggestion"),
    (545, 3_000, "pattern", "10"),
    (546, 200, "create", "Recipe"),
    (549, 300, "create", "CookingHistory"),
    (550, 500, "pattern", "17"),
    (553, 150, "create", "RecipeRating"),
    (554, 300, "pattern", "21"),
    (557, 200, "create", "Post"),
    (558, 500, "create", "Comment"),
    (559, 1_000, "create", "Reaction"),
    (560, 2_000, "pattern", "31"),
]


def test_daily_operations_are_loads_of_a_month_and_figures_of_a_day() -> None:
    assert [(each.said[0].at, each.monthly, each.kind, each.of) for each in BLUEPRINT.loads] == [
        (f"002:{line}", daily * 30, kind, of) for line, daily, kind, of in DAILY
    ]
    values = {figure.said[0].at: figure.value for figure in BLUEPRINT.figures if figure.unit.endswith("/day")}
    assert {f"002:{line}": daily for line, daily, *_ in DAILY} == {
        at: value for at, value in values.items() if at not in ("002:563", "002:564")
    }


FIGURES = {
    "users": 1_000, "reads_per_day": 12_000, "reads_per_hour": 139, "reads_per_second": 0.04,
    "writes_per_day": 3_250, "writes_per_hour": 38, "writes_per_second": 0.01,
    "write_price": 1.25, "read_price": 0.25, "reads_per_month": 360_000, "read_cost": 0.09,
    "writes_per_month": 97_500, "write_cost": 0.12, "storage": 200, "storage_cost": 0.05, "index_cost": 0.20,
    "backup_cost": 20, "total_cost": (20, 25),
    "grown_users": 10_000, "grown_reads_per_month": 3_600_000, "grown_read_cost": 0.90,
    "grown_writes_per_month": 975_000, "grown_write_cost": 1.22, "grown_storage": 2, "grown_storage_cost": 0.50,
    "grown_index_cost": 2.00, "grown_backup_cost": 40, "grown_total_cost": (45, 50),
    "recovery_cost": (20, 40), "rds_cost": (30, 50), "rds_latency": (10, 50), "recovery_days": 35,
    "suggestions_kept": 90, "notifications_kept": 30, "history_kept": 365, "sessions_kept": 24,
    "item_size_advised": 100, "item_size_max": 400,
}  # fmt: skip


def test_stated_figures_are_there() -> None:
    daily = {
        figure.name
        for figure in BLUEPRINT.figures
        if int(figure.said[0].at[4:7]) in {row[0] for row in DAILY}
    }
    stated = {
        each.name: each.value if each.upto is None else (each.value, each.upto)
        for each in BLUEPRINT.figures
        if each.name not in daily
    }
    assert stated == FIGURES
    assert len(daily) == len(DAILY)
    (cost,) = (each for each in BLUEPRINT.figures if each.name == "total_cost")
    assert cost.said[1].differs == {"value": 40, "upto": 55, "formula": "", "terms": {}}


# What the terms of a figure make of it. Whether that is what the document states is not for this test.
WORKED_OUT = {
    "reads_per_day": 11_300, "reads_per_hour": 500, "reads_per_second": 12_000 / 86_400,
    "writes_per_day": 3_650, "writes_per_hour": 3_250 / 24, "writes_per_second": 3_250 / 86_400,
    "reads_per_month": 360_000, "read_cost": 0.09, "writes_per_month": 97_500, "write_cost": 0.121875,
    "storage_cost": 0.05, "backup_cost": 0.04, "recovery_cost": 0.04, "total_cost": 20.46,
    "grown_reads_per_month": 3_600_000, "grown_read_cost": 0.9, "grown_writes_per_month": 975_000,
    "grown_write_cost": 1.21875, "grown_storage": 2, "grown_storage_cost": 0.5, "grown_index_cost": 2,
    "grown_backup_cost": 200, "grown_total_cost": 44.62,
}  # fmt: skip


def test_formula_of_a_figure_is_worked_out_from_its_terms() -> None:
    figures = {each.name: each.value for each in BLUEPRINT.figures}
    worked_out = {
        each.name: arithmetic(
            each.formula, {name: figures.get(str(term), term) for name, term in each.terms.items()}
        )
        for each in BLUEPRINT.figures
        if each.formula
    }
    assert worked_out == pytest.approx(WORKED_OUT)


OPERATORS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def arithmetic(formula: str, terms: dict[str, Any]) -> float:
    def value(node: ast.expr) -> float:
        match node:
            case ast.BinOp():
                return OPERATORS[type(node.op)](value(node.left), value(node.right))
            case ast.Name():
                return float(terms[node.id])
            case ast.Constant(value=int() | float() as number):
                return float(number)
        raise AssertionError(ast.dump(node))

    return value(ast.parse(formula, mode="eval").body)


# --- what was changed -------------------------------------------------------------------------------------

FIXES = TypeAdapter(tuple[FixBlueprint, ...]).validate_python(tomllib.loads(FIXES_TEXT)["fixes"])
# In the order of the ids.
SEVERITIES = (
    "DDWWEEDEWWWEWEEWEDWGWEEDEDDGEWEWEEWEWDGWWWWWDDDDDDGDDWDGGGDDD",  # SC-01 to SC-61
    "EEWWWWEDWWGDGGW",
)


def test_every_defect_has_its_fix() -> None:
    ids = [f"{kind}-{number:02}" for kind, last in (("SC", 61), ("X", 15)) for number in range(1, last + 1)]
    assert [(each.id, each.severity) for each in FIXES] == list(zip(ids, "".join(SEVERITIES), strict=True))
    assert all(each.defect and each.repair and each.proof for each in FIXES)


def test_parts_of_fixes_are_in_one_of_both_designs() -> None:
    for fix in FIXES:
        missing = [part for part in fix.parts if not found(BLUEPRINT, part) and not found(FIXED, part)]
        assert missing == [], fix.id


def found(design: Any, path: str) -> bool:
    """Tell whether a path leads somewhere: to a member, or to the one of this name."""
    here = design
    for name in path.split("."):
        if isinstance(here, tuple):
            here = next((each for each in here if name in named(each)), None)
        else:
            here = getattr(here, name, None)
        if here is None or here == ():
            return False
    return True


def named(part: Any) -> set[str]:
    return {
        str(getattr(part, name))
        for name in ("name", "number", "field", "entity", "id")
        if hasattr(part, name)
    }


def test_proofs_of_fixes_are_tests() -> None:
    for proof in sorted({proof for fix in FIXES for proof in fix.proof}):
        path, _, name = proof.partition("::")
        assert (f"def {name}(" if name else "def test_") in (ROOT / path).read_text(encoding="utf-8"), proof
