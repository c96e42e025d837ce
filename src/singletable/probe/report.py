"""What a probe has found: one finding for each check, and the capabilities that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from singletable.client.capabilities import Capabilities

if TYPE_CHECKING:
    from singletable.probe.table import ProbeTable

# holds: it was seen to be right. breaks: it is there, and wrong. absent: the target says that it does not have it,
# or takes it and forgets it. untried: nobody knows, since the time was over or the target did not come so far.
Verdict = Literal["holds", "breaks", "absent", "untried"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check came to, and what was seen."""

    verdict: Verdict
    said: str


def holds(said: str) -> Finding:
    return Finding("holds", said)


def breaks(said: str) -> Finding:
    return Finding("breaks", said)


def absent(said: str) -> Finding:
    return Finding("absent", said)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that designs rely on: what is proven, the features that need it, and the function that tries it.

    A design cannot do without what is needed. What is not needed may be absent: `without` says what becomes of a
    design then. What is there and wrong breaks the features.
    """

    name: str
    proves: str
    features: tuple[str, ...]
    run: Callable[[ProbeTable], Finding]
    is_needed: bool = False
    without: str = ""
    capability: str | None = None  # is there if all checks of it hold


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What was found of a target. `is_left` says that the table could not be taken away."""

    target: str
    table: str
    findings: tuple[tuple[Check, Finding], ...]
    capabilities: Capabilities
    seconds: float
    is_left: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether everything that designs need holds, and nothing that is there is wrong."""
        return all(
            finding.verdict == "holds" or (finding.verdict != "breaks" and not check.is_needed)
            for check, finding in self.findings
        )

    def finding(self, name: str) -> Finding:
        """Return what the check of a name came to."""
        return next(finding for check, finding in self.findings if check.name == name)

    def data(self) -> dict[str, Any]:
        """Return it as JSON holds it; `Capabilities.load` reads it from a file."""
        return {
            "target": self.target,
            "table": self.table,
            "is_left": self.is_left,
            "is_sound": self.is_sound,
            "seconds": round(self.seconds, 3),
            "checks": [
                {
                    "name": check.name,
                    "proves": check.proves,
                    "verdict": finding.verdict,
                    "said": finding.said,
                    "features": list(check.features),
                    "without": check.without,
                    "is_needed": check.is_needed,
                    "capability": check.capability,
                }
                for check, finding in self.findings
            ],
            "capabilities": self.capabilities.data(),
        }


def capabilities_from(findings: tuple[tuple[Check, Finding], ...], said: Capabilities) -> Capabilities:
    """Return what was found; of what was not tried, what the target says itself."""
    found = said.data()
    for check, finding in findings:
        if check.capability is not None and finding.verdict == "holds":
            found[check.capability] = True
    missing = [
        check.capability
        for check, finding in findings
        if check.capability is not None and finding.verdict in ("breaks", "absent")
    ]
    return Capabilities.of(found).without(*missing)
