"""How widely the partitions are spread that all users share: as options, which a deployment may raise.

As they stand, each renders the key of the design documents. Where a table grows hot, an environment
variable gives another value (`SMART_COOKING_FEED_SHARDS=8`), and a migration moves what is stored.
"""

from __future__ import annotations

from typing import Final, Literal, cast, get_args

from singletable.systems import choice_from_environment, number_from_environment

Every = Literal["never", "month", "week", "day"]

APPROVED_SHARDS: Final = number_from_environment("SMART_COOKING_APPROVED_SHARDS", 1)  # SC-09: APPROVED
RECENT_SHARDS: Final = number_from_environment("SMART_COOKING_RECENT_SHARDS", 1)  # SC-19: RECENT#2025-01
FEED_SHARDS: Final = number_from_environment("SMART_COOKING_FEED_SHARDS", 1)  # SC-21: FEED#PUBLIC
FEED_EVERY: Final = cast(
    Every, choice_from_environment("SMART_COOKING_FEED_EVERY", "never", get_args(Every))
)  # SC-21
# SC-13: INGREDIENT#SEARCH
SEARCH_LETTERS: Final = number_from_environment("SMART_COOKING_SEARCH_LETTERS", 0, least=0)
