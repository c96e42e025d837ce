"""A field of an entity is added in one place: what shows the entity follows, or lists what it leaves out."""

from __future__ import annotations

from collections.abc import Collection
from inspect import signature
from typing import get_args

import pytest
from pydantic import BaseModel, Field, create_model

from singletable import Entity
from singletable_systems.kefir import Batch, SharedBatch
from singletable_systems.kefir.services.shared_batches import NOT_SHARED
from singletable_systems.perfectit import PerfectionCard, Publishing
from singletable_systems.perfectit.services.cards import EDITABLE
from singletable_systems.smart_cooking import (
    PrivacyChanges,
    PrivacySettings,
    ProfileView,
    RecipeText,
    UserProfile,
)
from singletable_systems.smart_cooking.model.entities import Recipe
from singletable_systems.smart_cooking.model.patterns.sights import Setting
from singletable_systems.smart_cooking.services.views import NOT_SHOWN

VIEWS = [
    pytest.param(Batch, SharedBatch, NOT_SHARED, id="shared-batch"),
    pytest.param(UserProfile, ProfileView, NOT_SHOWN, id="profile-view"),
]


def undecided(entity: type[BaseModel], shown: Collection[str], left_out: Collection[str]) -> set[str]:
    """Return the fields of an entity that are neither shown nor left out, or both, or are none."""
    fields = {*entity.model_fields}
    return fields - {*shown} - {*left_out} | {*shown} & {*left_out} | {*left_out} - fields


@pytest.mark.parametrize(("entity", "view", "left_out"), VIEWS)
def test_every_field_is_shown_or_listed_as_left_out(
    entity: type[Entity], view: type[BaseModel], left_out: Collection[str]
) -> None:
    assert undecided(entity, view.model_fields, left_out) == set()
    assert {*view.model_fields} <= {*entity.model_fields}


@pytest.mark.parametrize(("entity", "view", "left_out"), VIEWS)
def test_new_field_that_nobody_has_decided_about_is_found(
    entity: type[Entity], view: type[BaseModel], left_out: Collection[str]
) -> None:
    more = {name: (field.annotation, field) for name, field in entity.model_fields.items()}
    grown = create_model("Grown", **more, secret=(str, Field("")))  # type: ignore[call-overload]
    assert undecided(grown, view.model_fields, left_out) == {"secret"}


def test_shared_batch_shows_its_fields_in_the_order_that_people_know() -> None:
    assert [*SharedBatch.model_fields][:6] == [
        "batch_id",
        "name",
        "stage",
        "status",
        "public_note",
        "water_volume_ml",
    ]


def test_card_is_drafted_with_all_that_can_be_edited() -> None:
    assert {*signature(Publishing.draft).parameters} - {"self", "user_id"} == EDITABLE
    assert {*PerfectionCard.model_fields} > EDITABLE


def test_privacy_has_the_same_settings_everywhere() -> None:
    stored = {name for name in PrivacySettings.model_fields if name.endswith("_visibility")}
    assert stored == {*get_args(Setting)} == {*PrivacyChanges.__annotations__}


def test_recipe_has_all_that_its_text_says() -> None:
    assert {*RecipeText.model_fields} <= {*Recipe.model_fields}
