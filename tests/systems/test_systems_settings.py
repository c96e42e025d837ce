"""What a deployment sets by environment variables: a number, a choice, or a clear error."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from singletable.errors import DeclarationError
from singletable.systems import choice_from_environment, number_from_environment

NAME = "TRIED_SHARDS"


def test_number_is_that_of_the_variable_or_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    assert number_from_environment(NAME, 3) == 3
    monkeypatch.setenv(NAME, "12")
    assert number_from_environment(NAME, 3) == 12
    monkeypatch.setenv(NAME, "0")
    assert number_from_environment(NAME, 3, least=0) == 0


@pytest.mark.parametrize("text", ["", "abc", "0", "-1", "1.5", " 2", "²"])
def test_what_is_no_such_number_is_refused_by_the_name_of_the_variable(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(NAME, text)
    with pytest.raises(DeclarationError, match=f"the environment variable {NAME} is {text!r}"):
        number_from_environment(NAME, 3)


def test_choice_is_one_of_those_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice_from_environment(NAME, "never", ["never", "day"]) == "never"
    monkeypatch.setenv(NAME, "day")
    assert choice_from_environment(NAME, "never", ["never", "day"]) == "day"
    monkeypatch.setenv(NAME, "hour")
    with pytest.raises(DeclarationError, match=f"the environment variable {NAME} is 'hour'"):
        choice_from_environment(NAME, "never", ["never", "day"])


@pytest.mark.parametrize(
    ("system", "variable", "text"),
    [
        ("perfectit", "PERFECTIT_VOTE_SHARDS", "abc"),
        ("smart_cooking", "SMART_COOKING_FEED_SHARDS", ""),
        ("smart_cooking", "SMART_COOKING_FEED_EVERY", "hour"),
    ],
)
def test_command_names_the_variable_that_is_wrong(system: str, variable: str, text: str) -> None:
    tried = subprocess.run(
        [sys.executable, "-m", "singletable", "run", "--list", system],
        env={**os.environ, variable: text},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode != 0
    assert f"the environment variable {variable} is {text!r}" in tried.stderr
