"""What a target really does, tried on a table of its own: what holds, what breaks, and which features that costs.

It knows targets, and what designs need of them; it knows no design.
"""

from __future__ import annotations

from singletable.probe.checks import CHECKS
from singletable.probe.report import Check, Finding, ProbeReport, Verdict
from singletable.probe.run import probe, probe_client

__all__ = ["CHECKS", "Check", "Finding", "ProbeReport", "Verdict", "probe", "probe_client"]
