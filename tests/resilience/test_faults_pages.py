"""A bad disk: a page that is not what was written is an error, never another answer, and the checker finds it.

Every case has a seed, which its message names; `_case` makes the same damage of it again.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from resilience.crash import asker, children
from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import CorruptDatabaseError
from singletable.storage.check import check_file

PAGE: Final = 4096
FRAME: Final = 24 + PAGE
LOG_HEADER: Final = 32
DAMAGED: Final = ("!DamagedDataError", "!CorruptDatabaseError", "!NotADatabaseError")
_WAIT_S_MAX: Final = 60.0


@dataclass(frozen=True)
class Sound:
    """The bytes of a sound file, an older version of it, and what it answers."""

    content: bytes
    older: bytes
    answers: asker.Answers

    @property
    def pages(self) -> int:
        return len(self.content) // PAGE


class Asking:
    """A process that uses a file. It must not die of what is in it."""

    def __init__(self) -> None:
        self._child = children.start("asker")

    def __call__(self, what: str, path: Path) -> Any:
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps([what, str(path)]).encode() + b"\n")
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                assert selector.select(_WAIT_S_MAX), f"{what} hangs"
                data = os.read(child.stdout.fileno(), 1 << 20)
                assert data, f"{what} has ended the process: {child.wait()}, {self._said()}"
                line += data
        return json.loads(line)

    def _said(self) -> str:
        assert self._child.stderr is not None
        return self._child.stderr.read().decode()

    @property
    def pid(self) -> int:
        return self._child.pid

    def kill(self) -> None:
        self._child.kill()
        self._child.communicate()


@contextmanager
def asking() -> Iterator[Asking]:
    process = Asking()
    try:
        yield process
    finally:
        process.kill()


@pytest.fixture(scope="module")
def ask() -> Iterator[Asking]:
    with asking() as process:
        yield process


def _fill(db: Database, random: Random, first: int, last: int) -> None:
    for number in range(first, last):
        for partition in range(asker.PARTITIONS):
            size = 5000 if number % 8 == 0 else random.choice((40, 200, 400))
            asker.put_order(db, partition, number, random.randbytes(size // 2).hex())


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, ask: Asking) -> Sound:
    """Pages of every kind: of tables, indexes and logs, above and below, overflowing and free."""
    path = tmp_path_factory.mktemp("sound") / "app.db"
    random = Random(7)
    clock = ManualClock(asker.BEGIN_US)
    with Database.open(path, clock=clock, durability="relaxed") as db:
        asker.create(db)
        _fill(db, random, 0, asker.ITEMS - 4)
        for number in range(asker.NAMED):
            asker.put_name(db, number, random.randbytes(250).hex())
    older = path.read_bytes()
    clock = ManualClock(asker.HALF_US + 60_000_000)
    with Database.open(path, clock=clock, durability="relaxed") as db:
        _fill(db, random, asker.ITEMS - 6, asker.ITEMS)
        for number in range(0, asker.NAMED, 3):
            asker.put_name(db, number, "changed")
        for number in range(asker.NAMED, 2 * asker.NAMED):
            asker.put_name(db, number, "x" * 3000)
        for number in range(asker.NAMED, 2 * asker.NAMED):
            db.delete_item(TableName=asker.NAMES, Key={"Name": {"S": f"name {number}"}})
    content = path.read_bytes()
    answers = ask("use", path)
    assert answers["check"] == "[]"
    refused = {name for name, answer in answers.items() if answer.startswith(DAMAGED)}
    assert not refused, "the sound file"
    assert int.from_bytes(content[36:40]) > 8, "free pages"
    return Sound(content, older, answers)


# --- damages ----------------------------------------------------------------------------------------------

_Damage = Callable[[Sound, bytearray, Random], object]


def _page(sound: Sound, random: Random) -> slice:
    start = random.randrange(sound.pages) * PAGE
    return slice(start, start + PAGE)


def _flip_byte(sound: Sound, content: bytearray, random: Random) -> None:
    content[_page(sound, random).start + random.randrange(PAGE)] ^= random.randrange(1, 256)


def _flip_in_page_2(sound: Sound, content: bytearray, random: Random) -> None:
    content[PAGE + random.randrange(PAGE)] ^= random.randrange(1, 256)


def _flip_header(sound: Sound, content: bytearray, random: Random) -> None:
    content[random.randrange(100)] ^= random.choice((1, 2, 4, 7, 8, 12, 128, 255))


def _flip_sum(sound: Sound, content: bytearray, random: Random) -> None:
    content[_page(sound, random).stop - 1 - random.randrange(8)] ^= 1 << random.randrange(8)


def _swap(sound: Sound, content: bytearray, random: Random) -> None:
    one, other = _page(sound, random), _page(sound, random)
    content[one], content[other] = content[other], content[one]


def _copy(sound: Sound, content: bytearray, random: Random) -> None:
    content[_page(sound, random)] = content[_page(sound, random)]


def _zero(sound: Sound, content: bytearray, random: Random) -> None:
    content[_page(sound, random)] = bytes(PAGE)


def _ones(sound: Sound, content: bytearray, random: Random) -> None:
    content[_page(sound, random)] = b"\xff" * PAGE


def _tear(sound: Sound, content: bytearray, random: Random, place: slice | None = None) -> None:
    """Leave of a page only what was written first or last; the rest is older, or zeros."""
    place = place or _page(sound, random)
    older = random.choice((bytes(PAGE), sound.older[place] or bytes(PAGE)))
    cut = random.randrange(1, 8) * 512
    newer = bytes(content[place])
    torn = older[:cut] + newer[cut:] if random.random() < 0.5 else newer[:cut] + older[cut:]
    if torn != older:  # else it is a write that was lost, of which a sum says nothing
        content[place] = torn


def _tear_page_2(sound: Sound, content: bytearray, random: Random) -> None:
    _tear(sound, content, random, slice(PAGE, 2 * PAGE))


def _truncate(sound: Sound, content: bytearray, random: Random) -> None:
    del content[random.randrange(1, len(content)) :]


def _append(sound: Sound, content: bytearray, random: Random) -> None:
    content += random.choice((bytes(PAGE), content[PAGE : 2 * PAGE], b"x" * 1000))


KINDS: Final[tuple[_Damage, ...]] = (
    _flip_byte,
    _flip_byte,
    _flip_byte,
    _flip_header,
    _flip_sum,
    _flip_in_page_2,
    _swap,
    _copy,
    _zero,
    _ones,
    _tear,
    _tear_page_2,
    _truncate,
    _append,
)
_CHANGES_THE_SIZE: Final = (_truncate, _append)


def _case(sound: Sound, seed: int) -> tuple[_Damage, bytes]:
    random = Random(seed)
    kind = KINDS[seed % len(KINDS)]
    content = bytearray(sound.content)
    kind(sound, content, random)
    return kind, bytes(content)


def _wrong(sound: Sound, answers: asker.Answers) -> list[str]:
    """Return what was answered otherwise than by the sound file, and is no word of damage."""
    return [
        f"{name}: {answer}"
        for name, answer in answers.items()
        if name != "check"
        and answer not in (sound.answers[name], "as before")
        and not answer.startswith(DAMAGED)
    ]


def _refused(answers: asker.Answers) -> set[str]:
    return {name for name, answer in answers.items() if name != "check" and answer.startswith(DAMAGED)}


def _damage_and_ask(directory: Path, sound: Sound, ask: Asking, seeds: range) -> Counter[str]:
    path = directory / "app.db"
    counted: Counter[str] = Counter()
    for seed in seeds:
        kind, content = _case(sound, seed)
        if content == sound.content:
            continue
        for ending in ("-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        path.write_bytes(content)
        answers = ask("use", path)
        told = f"seed {seed}, {kind.__name__}"
        assert not (wrong := _wrong(sound, answers)), f"{told}: {wrong[:3]}"
        is_found = answers["check"] != "[]"
        assert is_found or not (refused := _refused(answers)), f"{told}: not found by check: {refused}"
        assert is_found or kind in _CHANGES_THE_SIZE, f"{told}: not found by check"
        counted["damaged"] += 1
        counted["refused something"] += bool(_refused(answers))
        counted["opened"] += answers["open"] == ""
        counted["answered something"] += len(_refused(answers)) < len(answers) / 2 and answers["open"] == ""
    return counted


def test_damaged_page_is_an_error_and_never_another_answer(tmp_path: Path, sound: Sound, ask: Asking) -> None:
    counted = _damage_and_ask(tmp_path, sound, ask, range(56))
    # A test that damages what nobody needs would prove nothing; and most of a file is of use without one page.
    assert counted["refused something"] > counted["damaged"] / 2, counted
    assert counted["answered something"] > counted["damaged"] / 3, counted


@pytest.mark.soak
def test_ten_thousand_damages(tmp_path: Path, sound: Sound, ask: Asking) -> None:
    counted = _damage_and_ask(tmp_path, sound, ask, range(1000, 11_000))
    assert counted["refused something"] > counted["damaged"] / 2, counted


# --- files in use ------------------------------------------------------------------------------------------


def _write_at(path: str | Path, offset: int, content: bytes) -> None:
    with open(path, "r+b", buffering=0) as file:
        file.seek(offset)
        file.write(content)


@contextmanager
def _flipped(path: str | Path, offset: int) -> Iterator[None]:
    with open(path, "rb") as file:
        file.seek(offset)
        byte = file.read(1)
    _write_at(path, offset, bytes([byte[0] ^ 16]))
    try:
        yield
    finally:
        _write_at(path, offset, byte)


def _compare(ask: Asking, path: Path, right: asker.Answers, told: object) -> int:
    """Ask for everything; return how much of it was refused."""
    answers = ask("read", path)
    wrong = [name for name, one in answers.items() if one != right[name] and not one.startswith(DAMAGED)]
    assert not wrong, f"{told}: {wrong[:3]}"
    return len(_refused(answers))


def test_page_that_is_damaged_while_the_file_is_in_use_is_found_with_the_next_read(
    tmp_path: Path, sound: Sound
) -> None:
    path = tmp_path / "app.db"
    path.write_bytes(sound.content)
    random = Random(3)
    refused: list[tuple[int, int]] = []
    with asking() as one, asking() as other:
        assert one("open", path) == other("open", path) == ""
        right = one("read", path)
        assert other("read", path) == right
        for page in random.sample(range(2, sound.pages + 1), 10):
            with _flipped(path, (page - 1) * PAGE + random.randrange(PAGE)):
                refused.append((_compare(one, path, right, page), _compare(other, path, right, page)))
            assert one("read", path) == right, "the page is right again, and so is what is answered"
    assert all(first == second for first, second in refused), (
        "both read what is in the file, and keep nothing"
    )
    assert sum(first > 0 for first, _ in refused) > 2


def test_flipped_byte_in_the_log_of_a_file_in_use_is_no_other_answer(
    tmp_path: Path, sound: Sound, ask: Asking
) -> None:
    path, log = tmp_path / "app.db", tmp_path / "app.db-wal"
    path.write_bytes(sound.content)
    random = Random(4)
    refused = 0
    with asking() as one:
        assert one("open", path) == ""
        one("ask", path)
        right = one("read", path)
        frames = (log.stat().st_size - LOG_HEADER) // FRAME
        for frame in random.sample(range(frames), 12):
            with _flipped(log, LOG_HEADER + frame * FRAME + random.randrange(FRAME)):
                is_refused = ask("open", path) != ""  # a process that has seen nothing of it yet
                refused += is_refused or _compare(ask, path, right, frame) > 0
                refused += _compare(one, path, right, frame) > 0
                ask("close", path)
        assert one("read", path) == right
        one("close", path)
    assert refused > 2
    with Database.open(path) as db:
        assert db.check() == []


def test_file_that_is_cut_off_while_it_is_in_use_ends_no_process(tmp_path: Path, sound: Sound) -> None:
    path = tmp_path / "app.db"
    path.write_bytes(sound.content)
    with asking() as one:
        assert one("open", path) == ""
        one("ask", path)  # so that the log says how large the file is
        right = one("read", path)
        os.truncate(path, sound.pages // 2 * PAGE)
        assert _compare(one, path, right, "cut off") > 0


# --- logs of processes that were killed ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A file and its log, of a process that was killed: 60 transactions in durability "full"."""
    path = tmp_path_factory.mktemp("killed") / "app.db"
    with Database.open(path, clock=ManualClock(asker.BEGIN_US)) as db:
        asker.create(db)
        for number in range(asker.NAMED):
            asker.put_name(db, number, "x" * 700)
        return path.read_bytes(), Path(f"{path}-wal").read_bytes()


def test_log_that_lost_acknowledged_writes_by_damage_is_refused(
    tmp_path: Path, killed: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """SQLite leaves out what stands behind a frame that does not fit, and says nothing.

    Where writes are not synced one by one, a power cut leaves such a log too: then it is told, and taken.
    """
    main, log = killed
    frames = (len(log) - LOG_HEADER) // FRAME
    random = Random(5)
    flips = [LOG_HEADER + random.randrange(frames - 12) * FRAME + random.randrange(FRAME) for _ in range(12)]
    for place in (3, 20, 30, *flips):
        path = tmp_path / f"{place}.db"
        path.write_bytes(main)
        damaged = bytearray(log)
        damaged[place] ^= 4
        Path(f"{path}-wal").write_bytes(damaged)
        with pytest.raises(CorruptDatabaseError, match=r"-wal is damaged: \d+ transactions? stand"):
            Database.open(path)
        assert Path(f"{path}-wal").read_bytes() == damaged, "what a repair can use is kept"
        caplog.clear()
        with Database.open(path, durability="relaxed", clock=ManualClock(asker.END_US)) as db:
            assert db.check() == []
        assert "which does not fit" in caplog.text, place


def test_log_of_which_only_the_end_is_torn_is_as_after_any_kill(
    tmp_path: Path, killed: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    main, log = killed
    for cut in (1, 24, 100, 4000, FRAME, FRAME + 1):
        path = tmp_path / f"{cut}.db"
        path.write_bytes(main)
        Path(f"{path}-wal").write_bytes(log[:-cut] + (bytes(cut) if cut % 2 else b""))
        with Database.open(path, clock=ManualClock(asker.END_US)) as db:
            assert db.check() == []
    assert not caplog.text


# --- other programs ---------------------------------------------------------------------------------------

_READ_AND_CLOSE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone())
connection.close()
"""


def _sums_missing(path: Path) -> int:
    content = path.read_bytes()
    return sum(content[end - 8 : end] == bytes(8) for end in range(PAGE, len(content) + 1, PAGE))


def test_log_that_another_program_has_saved_is_no_damage(tmp_path: Path, killed: tuple[bytes, bytes]) -> None:
    """It knows nothing of sums, and the pages in a log have none. They get them when the file is opened."""
    path = tmp_path / "app.db"
    path.write_bytes(killed[0])
    Path(f"{path}-wal").write_bytes(killed[1])
    subprocess.run([sys.executable, "-c", _READ_AND_CLOSE, str(path)], check=True, capture_output=True)
    assert not Path(f"{path}-wal").exists()
    assert _sums_missing(path) > 10
    assert check_file(path) == []
    with Database.open(path, clock=ManualClock(asker.END_US)) as db:
        assert len(db.scan(TableName=asker.NAMES)["Items"]) == asker.NAMED
        assert _sums_missing(path) == 0
    assert check_file(path) == []
