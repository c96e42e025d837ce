"""Blueprints: designs as neutral data, right or wrong, for tools that read a design without running it.

blueprint.py     a whole design: read from and written to TOML and JSON (forms.py, toml_text.py, positions.py)
contents.py      what it holds: tables.py, entities.py, patterns.py, surroundings.py; where it was said: said.py
ownership.py     which keys an owner leads
differences.py   what differs between two, and why
markdown.py      a blueprint as a design document (markdown_around.py, markdown_text.py)
python_text.py   a blueprint as a typed Python module, made in python/
foreign/         files of others: NoSQL Workbench, CloudFormation, Terraform

A typed design compiles to a blueprint; documents and files of other tools are imported into one. It imports
nothing of this package, and validates nothing: a blueprint may describe an impossible design, and a linter reports
that.
"""

from __future__ import annotations

from singletable.blueprint.blueprint import Blueprint, fixes_from_toml
from singletable.blueprint.contents import (
    FixBlueprint,
    LoadBlueprint,
    RateBlueprint,
    TtlRuleBlueprint,
    VolumeBlueprint,
)
from singletable.blueprint.entities import (
    AggregateBlueprint,
    AttributeBlueprint,
    CopyBlueprint,
    DerivedBlueprint,
    EntityBlueprint,
    KeyBlueprint,
    KeyPart,
    ModelBlueprint,
    PlaceBlueprint,
    TtlBlueprint,
    UniqueBlueprint,
)
from singletable.blueprint.forms import (
    BlueprintError,
)
from singletable.blueprint.ownership import OwnerLead, led_by_owner, owner_lead
from singletable.blueprint.patterns import (
    KeyCondition,
    OrderBlueprint,
    ParameterBlueprint,
    PatternBlueprint,
    ReadBlueprint,
    RuleBlueprint,
    SortBlueprint,
    WriteBlueprint,
)
from singletable.blueprint.said import (
    ChangeBlueprint,
    DocumentBlueprint,
    FigureBlueprint,
    RemarkBlueprint,
    Said,
)
from singletable.blueprint.surroundings import (
    AlarmBlueprint,
    ConsumerBlueprint,
    HandlerBlueprint,
    MetricBlueprint,
    RoleBlueprint,
    ServiceBlueprint,
    StatementBlueprint,
    StepBlueprint,
)
from singletable.blueprint.tables import (
    BackupBlueprint,
    IndexBlueprint,
    RegionBlueprint,
    TableBlueprint,
)

__all__ = [
    "AggregateBlueprint",
    "AlarmBlueprint",
    "AttributeBlueprint",
    "BackupBlueprint",
    "Blueprint",
    "BlueprintError",
    "ChangeBlueprint",
    "ConsumerBlueprint",
    "CopyBlueprint",
    "DerivedBlueprint",
    "DocumentBlueprint",
    "EntityBlueprint",
    "FigureBlueprint",
    "FixBlueprint",
    "HandlerBlueprint",
    "IndexBlueprint",
    "KeyBlueprint",
    "KeyCondition",
    "KeyPart",
    "LoadBlueprint",
    "MetricBlueprint",
    "ModelBlueprint",
    "OrderBlueprint",
    "OwnerLead",
    "ParameterBlueprint",
    "PatternBlueprint",
    "PlaceBlueprint",
    "RateBlueprint",
    "ReadBlueprint",
    "RegionBlueprint",
    "RemarkBlueprint",
    "RoleBlueprint",
    "RuleBlueprint",
    "Said",
    "ServiceBlueprint",
    "SortBlueprint",
    "StatementBlueprint",
    "StepBlueprint",
    "TableBlueprint",
    "TtlBlueprint",
    "TtlRuleBlueprint",
    "UniqueBlueprint",
    "VolumeBlueprint",
    "WriteBlueprint",
    "fixes_from_toml",
    "led_by_owner",
    "owner_lead",
]
