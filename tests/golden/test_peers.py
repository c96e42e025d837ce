"""Another engine at the golden cases: it differs where the kept run says so, for that reason, and nowhere else.

scripts/with_peer.py starts the engine and says where it is.
"""

from __future__ import annotations

import os

import pytest

from golden.peers.difference import describe, reason_of
from golden.peers.engines import ENGINES
from golden.peers.results import kept
from golden.peers.running import PeerRunner
from golden.vectors.catalogue import all_vectors

NAME = os.environ.get("SINGLETABLE_PEER", "")
REASONS = kept(NAME).reasons() if NAME in ENGINES else {}

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(NAME not in ENGINES, reason="run it with scripts/with_peer.py"),
]


@pytest.fixture(scope="module")
def runner() -> PeerRunner:
    return PeerRunner(os.environ["SINGLETABLE_PEER_URL"])


@pytest.mark.parametrize("name", all_vectors())
def test_engine_differs_exactly_where_it_is_known_to(runner: PeerRunner, name: str) -> None:
    lines = runner.run(all_vectors()[name])
    if name in REASONS:
        assert lines, "a known difference, but the engine agrees"
        assert reason_of(ENGINES[NAME].differences, describe(name, lines)) == REASONS[name]
    else:
        assert lines == []


@pytest.mark.parametrize("name", REASONS)
def test_every_known_difference_is_that_of_a_vector(name: str) -> None:
    assert name in all_vectors()
