"""Reports: names that users have asked for and that the catalogue does not know, for admins to look at."""

from __future__ import annotations

from typing import Any, Final

from singletable import Add, Check, Create, Put, Update
from singletable.errors import (
    AlreadyExistsError,
    ConditionNotMetError,
    NotFoundError,
    VersionConflictError,
)
from singletable.systems import decide_again
from singletable_systems.shared.services import Service
from singletable_systems.smart_cooking.errors import (
    AdminRequiredError,
    ReportNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import InvalidIngredient, InvalidIngredientReport
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.model.names import require_name
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.inputs import checked
from singletable_systems.smart_cooking.services.permissions import is_admin

_RACES: Final = (AlreadyExistsError, ConditionNotMetError, NotFoundError, VersionConflictError)


@checked
class Reports(Service[SmartCooking]):
    """Names that nobody knows: users report them, admins resolve or reject them."""

    def report(self, user_id: UserId, name: str) -> InvalidIngredientReport:
        """Report a name, or count another report of the same user. The total of all users follows (SC-33).

        A name that admins have resolved or rejected is pending again.
        """
        wanted = require_name(name)
        return decide_again(lambda: self._report(user_id, wanted), after=_RACES)

    def _report(self, user_id: UserId, name: str) -> InvalidIngredientReport:
        """Report a name, decided by the stored report; refused if that changes meanwhile."""
        known = self._db.report(name, user_id).maybe()
        report = (
            Create(InvalidIngredientReport(report_id=self._new_id(), ingredient_name=name, user_id=user_id))
            if known is None
            else Update(known, user_report_count=Add(1))
        )
        summary = _pending(name, self._db.invalid_ingredient(name).maybe())
        try:
            _, reported, *_ = self._db.transaction(Check(self._db.user(user_id)), report, *summary).entity
        except NotFoundError as error:
            if self._db.user(user_id).maybe() is None:
                raise UserNotFoundError(user_id) from error
            raise
        assert isinstance(reported, InvalidIngredientReport)
        return reported

    def resolve(self, admin_id: UserId, name: str, *, notes: str | None = None) -> InvalidIngredient:
        """Say that a name is known by now. It leaves the list of pending ones until somebody reports it again."""
        return self._decide(admin_id, name, status="resolved", **_noted(notes))

    def reject(self, admin_id: UserId, name: str, *, notes: str | None = None) -> InvalidIngredient:
        """Say that a name is no ingredient. It leaves the list of pending ones until somebody reports it again."""
        return self._decide(admin_id, name, status="rejected", **_noted(notes))

    def note(self, admin_id: UserId, name: str, notes: str) -> InvalidIngredient:
        """Store a note for admins about a name, and decide nothing."""
        return self._decide(admin_id, name, admin_notes=notes)

    def _decide(self, admin_id: UserId, name: str, **changes: Any) -> InvalidIngredient:
        summary = self._db.invalid_ingredient(require_name(name))
        try:
            self._db.transaction(is_admin(self._db, admin_id), Update(summary, **changes))
        except (ConditionNotMetError, NotFoundError) as error:
            if summary.maybe() is None:
                raise ReportNotFoundError(name) from error
            raise AdminRequiredError(admin_id) from error
        return summary.one()


def _pending(
    name: str, stored: InvalidIngredient | None
) -> list[Create[InvalidIngredient] | Put[InvalidIngredient]]:
    """Return the writes that make the summary of a name pending. The layer counts its total."""
    if stored is None:
        return [Create(InvalidIngredient(ingredient_name=name))]
    if stored.status != "pending":
        # As a put, which the number that it is listed by can be counted into.
        return [Put(stored.model_copy(update={"status": "pending"}))]
    return []


def _noted(notes: str | None) -> dict[str, str]:
    return {} if notes is None else {"admin_notes": notes}
