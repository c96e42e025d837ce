"""A process with a database open that carries out one request at a time, as told over its pipe.

usage: python -m resilience.crash.stepper FILE  (a line {"method": ..., "request": {...}} in, a line of JSON out)
"""

from __future__ import annotations

import json
import sys
from typing import Any

from singletable import Database
from singletable.errors import SingleTableError


def answer(db: Database, method: str, request: dict[str, Any]) -> Any:
    try:
        return getattr(db, method)(**request)
    except SingleTableError as error:
        return {"error": type(error).__name__, "message": str(error)}


def main(path: str) -> None:
    with Database.open(path) as db:
        for line in sys.stdin:
            step = json.loads(line)
            print(json.dumps(answer(db, step["method"], step["request"]), default=str), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
