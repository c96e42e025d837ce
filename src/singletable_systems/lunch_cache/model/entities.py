"""The entities of Lunch Cache, with every attribute of the design document."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from singletable import Computed, CreatedAt, Digits, Entity, Keys, Ttl, auto, expires
from singletable_systems.lunch_cache.model.keys import (
    CachedSK,
    HealthPK,
    IsoWeek,
    IsoYear,
    LunchTable,
    MenuPK,
    Restaurant,
    RestaurantPK,
)

Weekday = Literal["måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag"]
Price = Annotated[Decimal, Digits(2), Field(gt=0)]
Share = Annotated[Decimal, Digits(4, rounds=True), Field(ge=0, le=1)]


class Lunch(BaseModel):
    """A dish of one day."""

    name: Annotated[str, Field(min_length=1)]
    description: str = ""
    price: Price
    weekday: Weekday
    week: IsoWeek
    place: str


class ValidationIssue(BaseModel):
    """What was wrong with something that a parser found."""

    field: str
    message: str


class DataQuality(BaseModel):
    """How much of a menu is there, and how much of it is right: shares from 0 to 1."""

    completeness: Share
    accuracy: Share


class WeeklyMenu(Entity):
    """The lunches of a restaurant in one week, as they were scraped."""

    key = Keys(MenuPK)
    by_restaurant = LunchTable.restaurants.keys(RestaurantPK, CachedSK)

    restaurant: Restaurant
    week: IsoWeek
    year: IsoYear
    lunches: list[Lunch]
    lunch_count: Annotated[int, Computed(len, "lunches")] = 0  # LC-23: counted, never believed
    cached_at: datetime
    ttl: Ttl = expires(days=14, after="cached_at")

    metadata: dict[str, Any] | None = None
    validation_errors: list[ValidationIssue] | None = None
    data_quality: DataQuality | None = None
    last_updated: datetime | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        # LC-02: not every year has a week 53.
        date.fromisocalendar(self.year, self.week, 1)
        # So that the attribute is there only where something was wrong: that is what `flawed` asks for.
        self.__dict__["validation_errors"] = self.validation_errors or None
        return self


class HealthProbe(Entity):
    """Added, LC-13: written, read back and deleted by a health check."""

    key = Keys(HealthPK)

    probe: int
    created_at: CreatedAt = auto()
    ttl: Ttl = expires(minutes=5)
