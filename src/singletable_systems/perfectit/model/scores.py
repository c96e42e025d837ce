"""The scores of a card in lists: stated formulas of its votes and of when it was published.

top voted       up votes less down votes
trending        log10 of one more than that, and a tenfold of it is worth twelve and a half hours of age: so
                nothing has to be written again as time passes, since every card grows older by the same
controversial   many votes, and as many for it as against it: (up + down) ** (less / more)

In lists, scores are made of votes to three figures: from a thousand on they are counted in tens, from ten thousand
on in hundreds. So one vote in ten moves a card at most, then one in a hundred, in whichever list.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from math import copysign, log10
from typing import Final

EPOCH: Final = datetime(2025, 1, 1, tzinfo=UTC)
TENFOLD_S: Final = 45_000
_FIGURES: Final = 3
_TRENDING_UNIT: Final = 10_000
_CONTROVERSIAL_UNIT: Final = 100


def rounded(number: int, figures: int = _FIGURES) -> int:
    """Return a number to so many figures: to three, 1,234 is 1,230, and -999 is itself."""
    return int(Decimal(number).quantize(Decimal(1).scaleb(max(0, len(str(abs(number))) - figures))))


def top_score(up_votes: int, down_votes: int) -> int:
    """Return the votes for a card, less the votes against it."""
    up, down = _coarse(up_votes, down_votes)
    return up - down


def trending_score(up_votes: int, down_votes: int, published_at: datetime) -> int:
    """Return how much a card is liked, and how new it is, as one number that never changes by itself."""
    votes = top_score(up_votes, down_votes)
    liked = copysign(log10(abs(votes) + 1), votes)
    age = (published_at - EPOCH).total_seconds() / TENFOLD_S
    return round((liked + age) * _TRENDING_UNIT)


def controversial_score(up_votes: int, down_votes: int) -> int:
    """Return how much people disagree about a card: zero while all are of one mind."""
    less, more = sorted(_coarse(up_votes, down_votes))
    if less <= 0:
        return 0
    return rounded(round((less + more) ** (less / more) * _CONTROVERSIAL_UNIT))


def _coarse(up_votes: int, down_votes: int) -> tuple[int, int]:
    """Return votes for and against, in the tens or hundreds that three figures of all votes are made of."""
    exponent = max(0, len(str(up_votes + down_votes)) - _FIGURES)
    up, down = (round(votes, -exponent) for votes in (up_votes, down_votes))
    return up, down
