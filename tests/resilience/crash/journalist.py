"""A process that consumes the changes of journals until it is killed, and tells each post whose change it handled.

usage: python -m resilience.crash.journalist FILE BATCH_SIZE
"""

from __future__ import annotations

import os
import sys
import threading

from designs.journals import Journals, Post
from singletable.design import Change, on

NAME = "follower"


class Told(Journals):
    entities = Journals.entities

    @on(Post)
    def tell(self, change: Change[Post]) -> None:
        os.write(1, f"{change.entity.post_id}\n".encode())


def main(path: str, batch_size: str) -> None:
    db = Told.open(path)
    db.consume(name=NAME, batch_size=int(batch_size), lease_s=0.2, poll_s=0.02)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
