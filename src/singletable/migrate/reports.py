"""What a run of migrations has done, or would do: values for people and programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from singletable.errors import MigrationError
from singletable.migrate.expiry import Expiring
from singletable.migrate.passes import PassOutcome
from singletable.migrate.records import Counts

State = Literal["done", "was done", "waiting", "dry run"]


@dataclass(slots=True)
class StepReport:
    """What one step has done."""

    number: int
    kind: str
    says: str
    did: str = ""
    counts: Counts | None = None
    samples: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def would_change(self) -> bool:
        """Whether a dry run has found something to do here."""
        if self.counts is None:
            return self.kind == "add_index" and self.did == "would be done"
        return self.counts.changed + self.counts.moved > 0

    def data(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        data: dict[str, Any] = {"step": self.number, "kind": self.kind, "says": self.says, "did": self.did}
        if self.counts is not None:
            data |= {"counts": self.counts.data(), "samples": self.samples, "failures": self.failures}
        return data


@dataclass(slots=True)
class MigrationReport:
    """What became of one migration."""

    id: str
    title: str
    state: State
    steps: list[StepReport] = field(default_factory=list)
    seconds: float = 0.0
    expiring: Expiring | None = None  # items that would expire at once, or have been kept from it
    keeps_expired: bool = False

    def data(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        data: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "state": self.state,
            "seconds": self.seconds,
            "steps": [step.data() for step in self.steps],
        }
        if self.expiring is not None and self.expiring.count:
            data["expiring"] = {**self.expiring.data(), "kept": self.keeps_expired}
        return data


@dataclass(frozen=True, slots=True)
class Verification:
    """What a look at every item has found."""

    outcome: PassOutcome

    @property
    def is_right(self) -> bool:
        return self.outcome.wrong == 0

    def data(self) -> dict[str, Any]:
        """Return the verdict as JSON has it."""
        return {
            "right": self.is_right,
            "differing": self.outcome.differing,
            "counts": self.outcome.counts.data(),
            "samples": self.outcome.samples,
            "failures": self.outcome.failures,
            "strangers": self.outcome.strangers,
        }


class VerificationError(MigrationError):
    """Items are not as the design says, though they should be by now."""

    def __init__(self, message: str, outcome: PassOutcome, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.outcome = outcome
