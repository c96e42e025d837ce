"""How widely the partitions are spread that all users share: as options, which a deployment may raise.

As they stand, each renders the key of the design document. Where a table grows hot, an environment variable gives
another value (`PERFECTIT_VOTE_SHARDS=8`), and a migration moves what is stored.
"""

from __future__ import annotations

from typing import Final

from singletable.systems import number_from_environment

VOTE_SHARDS: Final = number_from_environment("PERFECTIT_VOTE_SHARDS", 1)  # PI-05: VOTETYPE#CARD
DATE_SHARDS: Final = number_from_environment("PERFECTIT_DATE_SHARDS", 1)  # PI-09: DATE#2025-01-01
