"""The report of a probe: one finding for each check, and the capabilities that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from singletable.client.capabilities import Capabilities

if TYPE_CHECKING:
    from singletable.probe.table import ProbeTable

# holds: it was seen to work. breaks: it exists, and works wrongly. absent: the target says that it does not have
# it, or accepts and ignores it. untried: unknown, since the time was over or the target was not ready.
Verdict = Literal["holds", "breaks", "absent", "untried"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: a verdict, and the observation behind it."""

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
    """One property that designs rely on: its statement, the features that use it, and the function that tests it.

    Every design requires a needed property. Any other may be absent: `without` says how a design then behaves. A
    property that exists and works wrongly breaks the features.
    """

    name: str
    proves: str
    features: tuple[str, ...]
    run: Callable[[ProbeTable], Finding]
    is_needed: bool = False
    without: str = ""
    capability: str | None = None  # the target has it if all its checks hold


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The findings about a target. `is_left` says that the table could not be deleted."""

    target: str
    table: str
    findings: tuple[tuple[Check, Finding], ...]
    capabilities: Capabilities
    seconds: float
    is_left: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether all needed properties hold, and none breaks."""
        return all(
            finding.verdict == "holds" or (finding.verdict != "breaks" and not check.is_needed)
            for check, finding in self.findings
        )

    def finding(self, name: str) -> Finding:
        """Return the finding of the check with this name."""
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
    """Return the capabilities that the checks found; where nothing was tried, those that the target declares."""
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
