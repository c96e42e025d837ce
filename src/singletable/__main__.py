"""`python -m singletable` is the `singletable` command."""

from __future__ import annotations

import sys

from singletable.cli import main

if __name__ == "__main__":
    sys.exit(main())
