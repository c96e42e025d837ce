"""Systems: a design with the data to try it on, and what runs beside it. What `singletable demo` runs.

system.py    what a system is: its design, its made-up data, its workers, what to try
workers.py   pieces of work that are done again and again, each in a thread of its own
finding.py   the systems that are installed: packages name theirs as entry points of "singletable.systems"
"""

from __future__ import annotations

from singletable.systems.finding import find_system, installed_systems
from singletable.systems.system import SIZES, Seed, Size, System, Trial
from singletable.systems.workers import Step, Worker, Workers

__all__ = [
    "SIZES",
    "Seed",
    "Size",
    "Step",
    "System",
    "Trial",
    "Worker",
    "Workers",
    "find_system",
    "installed_systems",
]
