"""The design of Lunch Cache as its document has it, and what the design that runs does otherwise."""

from __future__ import annotations

from typing import Final

import pytest

from singletable.blueprint import Blueprint, FixBlueprint
from singletable_systems.lunch_cache.operating.system import SYSTEM
from systems.documented import (
    asked,
    attributes_of,
    cited_lines,
    citing_files,
    content_lines,
    covered_lines,
    documented_text,
    fixes_of,
    formula_value,
    has_part,
    has_test,
    keys_of,
    lines_of,
)

TEXT: Final = documented_text("lunch_cache")
DOCUMENTED: Final = Blueprint.from_toml(TEXT)
FIXES: Final = fixes_of("lunch_cache")
FIXED: Final = SYSTEM.blueprint()


def test_file_is_as_it_is_written() -> None:
    assert DOCUMENTED.to_toml() == TEXT


# --- lines ----------------------------------------------------------------------------------------------


def test_every_line_of_the_document_is_covered() -> None:
    assert content_lines("004") <= covered_lines(DOCUMENTED)
    assert max(line for _, line in covered_lines(DOCUMENTED)) <= (DOCUMENTED.documents[0].lines or 0)


def test_every_citation_is_covered() -> None:
    cited = cited_lines(citing_files(), ["004"])
    assert len(cited) > 100
    assert cited.keys() & content_lines("004") <= covered_lines(DOCUMENTED)


# --- the table ------------------------------------------------------------------------------------------


def test_table_is_the_documents() -> None:
    table = DOCUMENTED.table
    assert (table.name, table.pk, table.sk) == ("lunch-cache-{environment}", "pk", None)  # 004:9, 17, 24
    assert dict(table.environments) == {"environment": ("dev", "prod")}
    assert (table.billing, table.encryption) == ("PAY_PER_REQUEST", "AWS_MANAGED")  # 004:11, 163
    assert (table.stream, table.ttl, table.pitr_days) == (None, "ttl", 35)  # 004:122, 152
    assert [(region.code, region.place) for region in table.regions] == [("eu-west-1", "Stockholm")]  # 004:13
    assert [backup.kind for backup in table.backups] == ["pitr", "none", "none"]  # 004:156-158
    assert [(index.name, index.pk, index.sk, index.projection) for index in DOCUMENTED.indexes] == [
        ("RestaurantIndex", ("restaurant",), ("cachedAt",), "ALL")
    ]


# --- the menu -------------------------------------------------------------------------------------------

KEYS = {
    ("WeeklyMenu", "pk", "{restaurant}-{year}-{week}"): "004:19",
    ("WeeklyMenu", "restaurant", "{restaurant}"): "004:83",
    ("WeeklyMenu", "cachedAt", "{cachedAt}"): "004:84",
}

ATTRIBUTES = {
    "WeeklyMenu": "restaurant week year lunches lunchCount cachedAt ttl metadata? validationErrors? dataQuality? "
    "lastUpdated?",
    "Lunch": "name description? price weekday week place",
    "Metadata": "version source",
    "ValidationError": "field message",
    "DataQuality": "completeness accuracy",
}


def test_keys_are_the_documents() -> None:
    found = keys_of(DOCUMENTED)
    assert found.keys() == KEYS.keys()
    assert [key for key, at in KEYS.items() if not lines_of(at) <= found[key]] == []


def test_attributes_are_the_documents() -> None:
    assert attributes_of(DOCUMENTED) == ATTRIBUTES


def test_example_is_the_documents_mistakes_included() -> None:
    """004:33-49, 004:56-63."""
    menu = DOCUMENTED.entity("WeeklyMenu")
    assert menu is not None
    assert menu.ttl is not None
    (item,) = menu.samples
    assert item["lunches"] == [
        {
            "name": "Köttbullar med gräddsås",
            "description": "Serveras med kokt potatis och lingonsylt",
            "price": 125,
            "weekday": "måndag",
            "week": 3,
            "place": "Niagara",
        }
    ]
    assert {name: value for name, value in item.items() if name != "lunches"} == {
        "pk": "niagara-2025-03",
        "restaurant": "niagara",
        "week": 3,
        "year": 2025,
        "lunchCount": 15,
        "cachedAt": "2025-01-20T10:30:00.000Z",
        "ttl": 1737889800,
        "metadata": {"version": "1.0", "source": "niagara-parser"},
        "validationErrors": [{"field": "price", "message": "Invalid format"}],
        "dataQuality": {"completeness": 0.95, "accuracy": 0.98},
        "lastUpdated": "2025-01-20T08:00:00.000Z",
    }
    assert (menu.ttl.seconds, menu.ttl.after) == (14 * 24 * 60 * 60, "cachedAt")  # 004:124


def test_bounds_and_forms_are_the_documents() -> None:
    menu = DOCUMENTED.entity("WeeklyMenu")
    assert menu is not None
    lunch = menu.models[0]
    found = {each.name: each for each in (*menu.attributes, *lunch.attributes)}
    assert (found["week"].minimum, found["week"].maximum, found["week"].format) == (
        1,
        53,
        "iso-week",
    )  # 004:35, 74
    assert found["year"].format == "calendar-year"  # 004:36
    assert found["price"].markers == ({"kind": "Gt", "gt": 0},)  # 004:72
    assert found["name"].markers == ({"kind": "MinLen", "min_length": 1},)  # 004:70
    assert (found["restaurant"].format, found["restaurant"].samples) == ("lower", ("niagara",))  # 004:34
    assert found["place"].samples == ("Niagara",)  # 004:75


# --- patterns -------------------------------------------------------------------------------------------

# Its line, its operation as the document names it, and what it reads.
PATTERNS = {
    "1": ("004:92-97", "PutItem", ""),
    "2": ("004:99-102", "GetItem", "GetItem pk = {restaurant}-{year}-{week}"),
    "3": ("004:104-107", "Query", "Query RestaurantIndex restaurant = {restaurant}"),
    "4": ("004:109-112", "Scan", "Scan"),
    "5": ("004:114-117", "PutItem + GetItem + DeleteItem", "GetItem"),
    "6": ("004:89", "", "Query RestaurantIndex"),
    "7": ("004:90", "", "Query RestaurantIndex"),
}


def test_patterns_ask_what_the_document_asks() -> None:
    found = {each.number: (each.said[0].at, each.operation, asked(each)) for each in DOCUMENTED.patterns}
    assert found == PATTERNS


def test_clean_up_has_its_expression_as_it_is_written() -> None:
    """004:111."""
    (scan,) = DOCUMENTED.patterns[3].reads
    assert (scan.filter_expression, dict(scan.names)) == ("ttl < :now", {})


def test_writes_have_no_condition() -> None:
    writes = [(each.number, write.operation) for each in DOCUMENTED.patterns for write in each.writes]
    assert writes == [("1", "PutItem"), ("5", "PutItem"), ("5", "DeleteItem")]
    assert all(write.condition is None for each in DOCUMENTED.patterns for write in each.writes)


# --- around it ------------------------------------------------------------------------------------------


def test_policy_is_the_documents() -> None:
    """004:168-188."""
    (role,) = DOCUMENTED.roles
    (statement,) = role.statements
    assert statement.effect == "Allow"
    assert statement.actions == tuple(
        f"dynamodb:{action}" for action in ("GetItem", "PutItem", "DeleteItem", "Query", "Scan")
    )
    assert statement.resources == (
        "arn:aws:dynamodb:eu-west-1:*:table/lunch-cache-*",
        "arn:aws:dynamodb:eu-west-1:*:table/lunch-cache-*/index/*",
    )


def test_metrics_and_alarms_are_the_documents() -> None:
    """004:192-197, 004:199-202, 004:230."""
    assert [metric.name for metric in DOCUMENTED.metrics] == [
        "ConsumedReadCapacityUnits",
        "ConsumedWriteCapacityUnits",
        "UserErrors",
        "SystemErrors",
        "SuccessfulRequestLatency",
    ]
    assert [(alarm.metric, alarm.threshold, alarm.unit, alarm.period_s) for alarm in DOCUMENTED.alarms] == [
        ("error rate", 5, "Percent", 300),
        ("latency", 100, "Milliseconds", 300),
        ("throttling events", None, "", None),
        ("monthly spend", 5, "USD", None),
        ("monthly spend", 10, "USD", None),
        ("monthly spend", 25, "USD", None),
    ]


def test_tests_and_checks_are_all_there() -> None:
    """004:234-246 and what follows: four of each kind, and a list of eight."""
    topics = [remark.topic for remark in DOCUMENTED.remarks]
    assert (topics.count("testing"), topics.count("checklist")) == (12, 8)
    assert [len(change.steps) for change in DOCUMENTED.changes] == [4, 1, 3, 1]


# As it is stated, and as its terms make it.
FIGURES = {
    "lunches_per_year": (7_800, 7_800),
    "storage_per_year": (15, 15.23),
    "ttl_seconds": (1_209_600, 1_209_600),
}


def test_formulas_can_be_worked_out() -> None:
    worked_out = {
        figure.name: (figure.value, round(formula_value(DOCUMENTED, figure.name), 2))
        for figure in DOCUMENTED.figures
        if figure.formula
    }
    assert worked_out == FIGURES


def test_volumes_and_loads_are_the_documents() -> None:
    assert [(each.entity, each.count, each.kb) for each in DOCUMENTED.volumes] == [("WeeklyMenu", 7_800, 2)]
    assert [(each.kind, each.of) for each in DOCUMENTED.loads] == [
        ("pattern", "2"),
        ("pattern", "1"),
        ("delete", "WeeklyMenu"),
    ]
    ranges = {each.name: (each.value, each.upto, each.unit) for each in DOCUMENTED.figures if each.upto}
    assert ranges == {
        "reads_per_day": (100, 500, "requests/day"),
        "writes_per_week": (10, 50, "requests/week"),
    }


def test_volume_counts_lunches_and_the_design_that_runs_items() -> None:
    """LC-07: 15 lunches are in one item, 10 are made in a week, and each is kept for two."""
    documented, running = ({each.entity: each.count for each in of.volumes} for of in (DOCUMENTED, FIXED))
    made = next(each for each in FIXED.loads if (each.kind, each.of) == ("create", "WeeklyMenu"))
    assert made.monthly == pytest.approx(10 / 7 * 30)
    assert documented["WeeklyMenu"] == 10 * 52 * 15
    assert running["WeeklyMenu"] == 10 * 2


# --- fixes ----------------------------------------------------------------------------------------------

SEVERITIES = {
    "E": "LC-02 LC-03 LC-05 LC-11 LC-14 LC-27 X-01 X-07",
    "W": "LC-04 LC-10 LC-12 LC-13 LC-18 LC-22 LC-23 LC-26 X-03 X-04 X-05 X-06 X-09 X-10 X-15",
    "D": "LC-01 LC-06 LC-07 LC-08 LC-09 LC-15 LC-16 LC-17 LC-21 LC-24 LC-25 X-08",
    "G": "LC-19 LC-20",
}


def test_every_defect_has_its_fix() -> None:
    found = {
        severity: " ".join(fix.id for fix in FIXES if fix.severity == severity) for severity in SEVERITIES
    }
    assert found == SEVERITIES
    assert len(FIXES) == 27 + 10
    assert all(fix.defect and fix.repair and fix.parts for fix in FIXES)


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: fix.id)
def test_fix_names_parts_and_tests_that_there_are(fix: FixBlueprint) -> None:
    assert [part for part in fix.parts if not (has_part(DOCUMENTED, part) or has_part(FIXED, part))] == []
    assert [name for name in fix.proof if not has_test(name)] == []
