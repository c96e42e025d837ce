"""Systems: a design with the data to try it on, and what runs beside it. What `singletable demo` runs.

system.py    what a system is: its design, its made-up data, its workers, what to try
workers.py   pieces of work that are done again and again, each in a thread of its own
ids.py       ids that keep the order in which things were made
racing.py    work that is done again when somebody else was faster
texts.py     one plain form of texts, by which they are found
settings.py  what a deployment may set, by environment variables
deleting.py  deleting with all that belongs to it, while others may still write
finding.py   the systems that are installed: packages name theirs as entry points of "singletable.systems"
"""

from __future__ import annotations

from singletable.design.problems import problem_text
from singletable.systems.deleting import Deletion, DeletionProgress
from singletable.systems.finding import find_system, installed_systems
from singletable.systems.ids import NewId, OrderedIds
from singletable.systems.racing import decide_again
from singletable.systems.settings import choice_from_environment, number_from_environment
from singletable.systems.system import SIZES, Samples, Seed, Size, System, Trial
from singletable.systems.texts import plain_text
from singletable.systems.workers import Step, Worker, Workers

__all__ = [
    "SIZES",
    "Deletion",
    "DeletionProgress",
    "NewId",
    "OrderedIds",
    "Samples",
    "Seed",
    "Size",
    "Step",
    "System",
    "Trial",
    "Worker",
    "Workers",
    "choice_from_environment",
    "decide_again",
    "find_system",
    "installed_systems",
    "number_from_environment",
    "plain_text",
    "problem_text",
]
