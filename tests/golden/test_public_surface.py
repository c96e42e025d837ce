"""What users rely on is as it is written down: public names, errors, the command, requests and stored items."""

from __future__ import annotations

import pytest

from golden.files import FILES, FOLDER, HINT, differences


@pytest.mark.parametrize("name", FILES)
def test_what_users_rely_on_is_as_it_is_written_down(name: str) -> None:
    found = differences(name)
    assert not found, f"tests/golden/{name}:\n{found}\n{HINT}"


def test_no_file_is_left_of_what_is_no_longer_compared() -> None:
    written = {
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*.*")
        if path.suffix in (".txt", ".jsonl")
    }
    assert written == set(FILES)
