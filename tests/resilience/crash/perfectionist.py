"""A process that runs the handlers of PerfectIt until it is killed, and tells of each vote that it has handled.

usage: python -m resilience.crash.perfectionist FILE INDEX_FILE BATCH_SIZE
"""

from __future__ import annotations

import os
import sys
import threading

from singletable.design import Change, on
from singletable_systems.perfectit.model.entities import Vote
from singletable_systems.perfectit.reactions.fts5 import Fts5Index
from singletable_systems.perfectit.reactions.handlers import PerfectIt

NAME = "PerfectIt"


class Told(PerfectIt):
    entities = PerfectIt.entities

    @on(Vote)
    def tell(self, change: Change[Vote]) -> None:
        os.write(1, f"{change.entity.user_id}\n".encode())


def main(path: str, index_path: str, batch_size: str) -> None:
    db = Told.open(path)
    db.search_index = Fts5Index(index_path)
    db.consume(name=NAME, batch_size=int(batch_size), lease_s=0.2, poll_s=0.02)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
