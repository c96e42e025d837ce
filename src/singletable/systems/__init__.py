"""Systems: complete apps on a design, with demo data and workers. `singletable demo` runs them.

system.py    the definition of a system: its design, demo data, workers and trials
services.py  services, as data: what they ask and write, and how often they are called
workers.py   background workers: repeated steps, each worker in a thread of its own
scheduled.py workers as an AWS Lambda function, which EventBridge Scheduler invokes
ids.py       ids that sort by the time at which they were made
racing.py    optimistic concurrency: a decision is repeated when another writer was faster
texts.py     one plain form of texts, for search
settings.py  settings of a deployment, by environment variables
deleting.py  cascading deletes, while others may still write
finding.py   the systems that are installed: packages name theirs as entry points of "singletable.systems"

Only the parts that all systems share live here. A system itself is a package of its own (singletable_systems).
"""

from __future__ import annotations

from singletable.design.values.constraints import problem_text
from singletable.systems.deleting import Deletion, DeletionProgress
from singletable.systems.finding import find_system, installed_systems
from singletable.systems.ids import NewId, OrderedIds
from singletable.systems.racing import decide_again
from singletable.systems.services import Service
from singletable.systems.settings import choice_from_environment, number_from_environment
from singletable.systems.system import SIZES, Bucket, Samples, Seed, Size, System, Trial, bucket_name
from singletable.systems.texts import plain_text
from singletable.systems.workers import Scheduled, Step, Worker, Workers

__all__ = [
    "SIZES",
    "Bucket",
    "Deletion",
    "DeletionProgress",
    "NewId",
    "OrderedIds",
    "Samples",
    "Scheduled",
    "Seed",
    "Service",
    "Size",
    "Step",
    "System",
    "Trial",
    "Worker",
    "Workers",
    "bucket_name",
    "choice_from_environment",
    "decide_again",
    "find_system",
    "installed_systems",
    "number_from_environment",
    "plain_text",
    "problem_text",
]
