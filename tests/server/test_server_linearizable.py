"""What many clients of one or several servers saw could have happened one request at a time."""

from __future__ import annotations

import os
import time
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from resilience.torture.histories import (
    Recorder,
    assert_linearizable,
    bank_request,
    gather,
    prepare,
    record_across_kills,
    record_beside_servers,
    record_in_threads,
)
from resilience.torture.linearizable import Model, Step, UndecidedError, check
from resilience.torture.objects import ACCOUNT_START, OK, REFUSED, Bank, Counter, Name
from resilience.torture.target import Target

if TYPE_CHECKING:
    from pathlib import Path

SOAK_S = float(os.environ.get("SOAK_S", "60"))
FULL = ACCOUNT_START


# --- the checker ------------------------------------------------------------------------------------------


def steps(*rows: tuple[Any, Any, int, int | None]) -> list[Step]:
    """Each row: asked, answered, when it began, when it ended."""
    return [Step(*row) for row in rows]


POSSIBLE = {
    "one after the other": (Counter(), steps((("add", 1), 1, 0, 1), (("read",), 1, 2, 3))),
    "a read beside a write sees the old value": (
        Counter(),
        steps((("add", 1), 1, 0, 9), (("read",), None, 1, 2)),
    ),
    "a read beside a write sees the new value": (
        Counter(),
        steps((("add", 1), 1, 0, 9), (("read",), 1, 1, 2)),
    ),
    "two adds in either order": (Counter(), steps((("add", 1), 3, 0, 9), (("add", 2), 2, 0, 9))),
    "a write without an answer happened": (
        Counter(),
        steps((("add", 5), None, 0, None), (("read",), None, 1, 2), (("read",), 5, 3, 4)),
    ),
    "a write without an answer did not happen": (
        Counter(),
        steps((("add", 5), None, 0, None), (("read",), None, 1, 2), (("add", 1), 1, 3, 4)),
    ),
    "a write without an answer makes a later condition fail": (
        Counter(),
        steps((("swap", None, 7), None, 0, None), (("swap", None, 8), REFUSED, 5, 6)),
    ),
    "a name changes hands": (
        Name(),
        steps(
            (("claim", "a"), OK, 0, 1),
            (("claim", "b"), REFUSED, 2, 9),
            (("release", "a"), OK, 3, 8),
            (("claim", "c"), OK, 4, 9),
            (("read",), "c", 10, 11),
        ),
    ),
    "a transfer is seen whole": (
        Bank(),
        steps((("transfer", 0, 1, 4, 0), OK, 0, 9), (("read",), (FULL - 4, FULL + 4, FULL, FULL), 1, 5)),
    ),
}

IMPOSSIBLE = {
    "a stale read": (Counter(), steps((("add", 1), 1, 0, 1), (("read",), None, 2, 3))),
    "a read that goes back": (
        Counter(),
        steps((("add", 1), 1, 0, 9), (("read",), 1, 1, 2), (("read",), None, 3, 4)),
    ),
    "a read of what nobody wrote": (Counter(), steps((("read",), 7, 0, 1))),
    "a lost update": (Counter(), steps((("add", 1), 1, 0, 9), (("add", 1), 1, 0, 9))),
    "an acknowledged write that is gone": (
        Counter(),
        steps((("add", 1), 1, 0, 1), (("add", 1), 2, 2, 3), (("read",), 1, 4, 5)),
    ),
    "two swaps of one value": (
        Counter(),
        steps((("swap", None, 7), OK, 0, 9), (("swap", None, 8), OK, 0, 9)),
    ),
    "a swap that was refused although it held": (
        Counter(),
        steps((("add", 1), 1, 0, 1), (("swap", 1, 7), REFUSED, 2, 3)),
    ),
    "a write without an answer that happened before it was sent": (
        Counter(),
        steps((("read",), 5, 0, 1), (("add", 5), None, 2, None)),
    ),
    "a write without an answer that happened twice": (
        Counter(),
        steps((("add", 5), None, 0, None), (("read",), 10, 1, 2)),
    ),
    "one name for two": (Name(), steps((("claim", "a"), OK, 0, 9), (("claim", "b"), OK, 0, 9))),
    "a name that nobody has is refused": (Name(), steps((("claim", "a"), REFUSED, 0, 1))),
    "half a transfer is seen": (
        Bank(),
        steps((("transfer", 0, 1, 4, 0), OK, 0, 9), (("read",), (FULL - 4, FULL, FULL, FULL), 1, 5)),
    ),
    "two readings see two transfers in two orders": (
        Bank(),
        steps(
            (("transfer", 0, 1, 4, 0), OK, 0, 9),
            (("transfer", 2, 3, 4, 2), OK, 0, 9),
            (("read",), (FULL - 4, FULL + 4, FULL, FULL), 1, 8),
            (("read",), (FULL, FULL, FULL - 4, FULL + 4), 1, 8),
        ),
    ),
    # Each looked at the account that the other empties: in any order the second must be refused.
    "write skew": (
        Bank(),
        steps(
            (("transfer", 0, 2, FULL, 1), OK, 0, 9),
            (("transfer", 1, 3, FULL, 0), OK, 0, 9),
        ),
    ),
    "money spent twice": (
        Bank(),
        steps(
            (("transfer", 0, 1, 6, 0), OK, 0, 9),
            (("transfer", 0, 2, 6, 0), OK, 0, 9),
        ),
    ),
}


@pytest.mark.parametrize(("model", "history"), POSSIBLE.values(), ids=POSSIBLE)
def test_history_that_could_have_happened_is_accepted(model: Model, history: list[Step]) -> None:
    verdict = check(model, history)
    assert verdict, str(verdict)


@pytest.mark.parametrize(("model", "history"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_history_that_could_not_have_happened_is_rejected(model: Model, history: list[Step]) -> None:
    assert not check(model, history)


def test_rejection_says_where_it_could_not_go_on() -> None:
    verdict = check(Counter(), steps((("add", 1), 1, 0, 1), (("read",), 9, 2, 3)))
    assert (verdict.explained, verdict.state) == (1, 1)
    assert [step.asked for step in verdict.stuck] == [("read",)]
    assert "the state is 1" in str(verdict)


def test_history_with_too_many_orders_is_not_taken_for_right() -> None:
    unanswered = [(("add", 1 << at), None, 0, None) for at in range(24)]
    with pytest.raises(UndecidedError):
        check(Counter(), steps(*unanswered, (("read",), -1, 1, 2)), states_max=1000)


@pytest.mark.parametrize("seed", range(20))
def test_history_of_a_real_order_is_accepted_and_a_changed_one_rejected(seed: int) -> None:
    """Histories made by a bank that works, and the same with one answer that the bank cannot have given."""
    random = Random(seed)
    bank, state, history = Bank(), Bank().start, []
    for moment in range(100, 4000, 10):
        asked = bank_request(random)
        state, answer = bank.step(state, asked)
        spread = random.randrange(60)  # it happened at the moment, somewhere between beginning and end
        history.append(Step(asked, answer, moment - spread, moment + 60 - spread))
    assert check(bank, history)
    reads = [at for at, step in enumerate(history) if step.asked == ("read",)]
    at = random.choice(reads)
    wrong = tuple(
        balance + change for balance, change in zip(history[at].answered, (1, 0, 0, 0), strict=True)
    )
    history[at] = Step(("read",), wrong, history[at].began, history[at].ended)
    assert not check(bank, history)


# --- the server -------------------------------------------------------------------------------------------


def test_clients_of_many_threads_see_one_order(tmp_path: Path) -> None:
    with Target(tmp_path) as target:
        prepare(target.address)
        recorders = [Recorder(client, seed=1) for client in range(12)]
        record_in_threads(recorders, [target.address], 60)()
        assert assert_linearizable(gather(recorders)) == 12 * 60
        target.assert_well()
        target.stop()


def test_clients_of_several_processes_and_servers_see_one_order(tmp_path: Path) -> None:
    assert record_beside_servers(tmp_path, seed=2, servers=3, count=50) == 3 * 4 * 50


def test_clients_of_a_server_that_is_killed_see_one_order(tmp_path: Path) -> None:
    assert record_across_kills(tmp_path, seed=3, rounds=3) > 8 * 20


@pytest.mark.soak
def test_clients_of_servers_that_are_killed_see_one_order_for_long(tmp_path: Path) -> None:
    ends_s = time.monotonic() + SOAK_S / 2
    while time.monotonic() < ends_s:
        seed = int.from_bytes(os.urandom(4))
        print(f"seed {seed}")
        directory = tmp_path / str(seed)
        directory.mkdir()
        record_across_kills(directory, seed, rounds=5, servers=1 + seed % 3)


@pytest.mark.soak
def test_clients_of_many_processes_see_one_order_for_long(tmp_path: Path) -> None:
    ends_s = time.monotonic() + SOAK_S / 2
    while time.monotonic() < ends_s:
        seed = int.from_bytes(os.urandom(4))
        print(f"seed {seed}")
        directory = tmp_path / str(seed)
        directory.mkdir()
        record_beside_servers(directory, seed, servers=1 + seed % 3, count=200)
