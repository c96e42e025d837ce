"""Blueprints: designs as neutral data, right or wrong, for whoever reads a design without running it.

A typed design compiles to one; documents and files of other tools are imported into one. It imports nothing of
this package, and promises nothing: what a blueprint says may be impossible, and a linter is to say so.
"""

from __future__ import annotations

from singletable.blueprint.blueprint import Blueprint
from singletable.blueprint.contents import IndexBlueprint, RateBlueprint, TableBlueprint, VolumeBlueprint
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
from singletable.blueprint.json_form import BlueprintError
from singletable.blueprint.patterns import (
    ParameterBlueprint,
    PatternBlueprint,
    ReadBlueprint,
    SortBlueprint,
    WriteBlueprint,
)

__all__ = [
    "AggregateBlueprint",
    "AttributeBlueprint",
    "Blueprint",
    "BlueprintError",
    "CopyBlueprint",
    "DerivedBlueprint",
    "EntityBlueprint",
    "IndexBlueprint",
    "KeyBlueprint",
    "KeyPart",
    "ModelBlueprint",
    "ParameterBlueprint",
    "PatternBlueprint",
    "PlaceBlueprint",
    "RateBlueprint",
    "ReadBlueprint",
    "SortBlueprint",
    "TableBlueprint",
    "TtlBlueprint",
    "UniqueBlueprint",
    "VolumeBlueprint",
    "WriteBlueprint",
]
