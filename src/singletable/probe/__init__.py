"""Conformance checks of a target, tried on a table of its own: which hold, and which features suffer.

It knows targets, and the needs of designs in general; it knows no particular design.
"""

from __future__ import annotations

from singletable.probe.checks import CHECKS
from singletable.probe.report import Check, Finding, ProbeReport, Verdict
from singletable.probe.run import probe, probe_client

__all__ = ["CHECKS", "Check", "Finding", "ProbeReport", "Verdict", "probe", "probe_client"]
