"""Findings as people and programs read them: text, JSON, SARIF, GitHub's annotations, Markdown."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from singletable import __version__
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import all_rules
from singletable.lint.target import Where

_WORDS: Final = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.DISAGREEMENT: ("disagreement", "disagreements"),
    Severity.NOTE: ("note", "notes"),
}
_SARIF_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.DISAGREEMENT: "warning",
    Severity.NOTE: "note",
}
_GITHUB_LEVELS: Final = {**_SARIF_LEVELS, Severity.NOTE: "notice"}


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding of a design, with its place in a file and the names of its places."""

    target: str
    finding: Finding
    where: Where
    places: tuple[str, ...]
    proof: str | None = None

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Return what stays the same when lines move: the target, the code, the place and the sentence."""
        return self.target, self.finding.code, self.places[0], self.finding.message

    def data(self) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        found = self.finding
        return {
            "target": self.target,
            "code": found.code,
            "severity": found.severity.value,
            "places": list(self.places),
            "file": self.where.file,
            "line": self.where.line or None,
            "column": self.where.column or None,
            "message": found.message,
            "because": found.because,
            "repair": found.repair,
            "document": found.document or None,
            "proof": self.proof,
        }


def counted(reported: Sequence[Reported]) -> str:
    """Say how many findings of each severity there are."""
    counts = Counter(each.finding.severity for each in reported)
    said = [f"{counts[kind]} {words[counts[kind] != 1]}" for kind, words in _WORDS.items() if counts[kind]]
    return ", ".join(said) or "nothing found"


def text(reported: Sequence[Reported]) -> str:
    """Write findings like a compiler: the place, what is wrong, why, how to repair it."""
    lines: list[str] = []
    for each in reported:
        found = each.finding
        lines.append(
            f"{each.where}: {found.code} {found.severity.value} {each.places[0]}: {_sentence(found)}"
        )
        lines += [f"    because: {found.because}"] if found.because else []
        lines += [f"    proof:   {each.proof}"] if each.proof else []
        lines += [f"    repair:  {found.repair}"] if found.repair else []
    return "".join(f"{line}\n" for line in lines)


def as_json(reported: Sequence[Reported]) -> str:
    """Write findings as JSON."""
    return json.dumps({"findings": [each.data() for each in reported]}, ensure_ascii=False) + "\n"


def sarif(reported: Sequence[Reported]) -> str:
    """Write findings as SARIF 2.1.0, which code hosts and editors show."""
    codes = sorted({each.finding.code for each in reported})
    driver = {
        "name": "singletable",
        "version": __version__,
        "rules": [_sarif_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes) for each in reported],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"version": "2.1.0", "$schema": schema, "runs": [run]}, ensure_ascii=False) + "\n"


def _sarif_rule(code: str) -> dict[str, Any]:
    rule = all_rules().get(code)
    if rule is None:  # an error of a declaration, or of the linter itself
        return {"id": code, "shortDescription": {"text": code}}
    return {
        "id": code,
        "shortDescription": {"text": rule.title},
        "help": {"text": f"singletable rule {code}", "markdown": rule.page()},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _result(each: Reported, codes: list[str]) -> dict[str, Any]:
    found = each.finding
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(each.where.file)}}
    if each.where.line:
        location["region"] = {"startLine": each.where.line, "startColumn": max(each.where.column, 1)}
    identity = hashlib.sha256("\0".join(each.identity).encode()).hexdigest()
    return {
        "ruleId": found.code,
        "ruleIndex": codes.index(found.code),
        "level": _SARIF_LEVELS[found.severity],
        "message": {"text": _whole(each)},
        "locations": [
            {
                "physicalLocation": location,
                "logicalLocations": [{"fullyQualifiedName": place} for place in each.places],
            }
        ],
        "partialFingerprints": {"identity/v1": identity},  # stays the same when lines move
    }


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def github(reported: Sequence[Reported]) -> str:
    """Write findings as commands of a workflow on GitHub: annotations of the lines."""
    lines = []
    for each in reported:
        at = f"file={_property(each.where.file)}"
        if each.where.line:
            at += f",line={each.where.line},col={max(each.where.column, 1)}"
        level = _GITHUB_LEVELS[each.finding.severity]
        title = _property(f"{each.finding.code} {each.places[0]}")
        lines.append(f"::{level} {at},title={title}::{_escaped(_whole(each))}\n")
    return "".join(lines)


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")


def markdown(reported: Sequence[Reported]) -> str:
    """Write findings as a table of Markdown, for a review."""
    lines = [
        "| Place | Rule | | What is wrong | Why | Repair |",
        "|---|---|---|---|---|---|",
    ]
    for each in reported:
        found = each.finding
        because = ". ".join(part for part in (found.because, each.proof and f"Seen: {each.proof}") if part)
        cells = (
            ", ".join(each.places),
            found.code,
            found.severity.value,
            _sentence(found),
            because,
            found.repair,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + f"\n\n{counted(reported)}\n"


def _sentence(found: Finding) -> str:
    return f"{found.message} (so in {found.document})" if found.document else found.message


def _whole(each: Reported) -> str:
    found = each.finding
    parts = (_sentence(found), found.because, each.proof, found.repair)
    return ". ".join(part for part in parts if part)


FORMATS: Final[Mapping[str, Callable[[Sequence[Reported]], str]]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "github": github,
    "markdown": markdown,
}
