"""Every mistake has a page that shows it happen; the reference names everything that is public."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

import singletable.design
from docs.blocks import ROOT, blocks_of, prose_of
from docs.pages import Page
from singletable import errors
from singletable.errors import DesignError, LargeItemWarning

PAGES: Final = ROOT / "docs" / "errors"
REFERENCE: Final = ROOT / "docs" / "reference" / "design.md"
GENERATOR: Final = ROOT / "scripts" / "generate_design_reference.py"

ERRORS: Final = [
    thing
    for thing in vars(errors).values()
    if inspect.isclass(thing) and issubclass(thing, DesignError) and thing is not DesignError
]
NUMBERS: Final = sorted([cls.number for cls in ERRORS] + [LargeItemWarning.number])

each_error = pytest.mark.parametrize("cls", ERRORS, ids=lambda cls: cls.number)


def page_of(number: str) -> Path:
    return PAGES / f"{number}.md"


def title_of(path: Path) -> str:
    return path.read_text(encoding="utf-8").splitlines()[0]


# --- pages of errors --------------------------------------------------------------------------------------


def test_every_number_is_of_one_error_and_has_one_page() -> None:
    assert len(NUMBERS) == len(set(NUMBERS))
    assert sorted(path.stem for path in PAGES.glob("ST*.md")) == NUMBERS


@each_error
def test_page_is_titled_with_the_number_and_names_the_class(cls: type[DesignError]) -> None:
    path = page_of(cls.number)
    assert re.fullmatch(rf"# {cls.number}: [a-z][^.]+", title_of(path))
    assert prose_of(path).splitlines()[2].startswith(f"`{cls.__name__}`")
    assert [line for line in prose_of(path).splitlines() if line.startswith("## ")] == [
        "## Why",
        "## What to do",
    ]


@each_error
def test_error_says_its_number_and_where_its_page_is(cls: type[DesignError]) -> None:
    error = cls("it is wrong", hint="make it right")
    assert str(error) == f"{cls.number}: it is wrong\n\nhint: make it right"
    assert str(cls("it is wrong")) == f"{cls.number}: it is wrong"
    assert (ROOT / error.page).is_file()


def raised_on(path: Path, directory: Path) -> Iterator[BaseException]:
    """Run a page; yield what the examples in its transcripts raise."""
    with ExitStack() as stack:
        page = Page(directory, stack)
        for block in blocks_of(path):
            if block.language != "pycon":
                page.run(block)
                continue
            for example in doctest.DocTestParser().get_examples(block.text):
                try:
                    exec(compile(example.source, str(path), "exec", dont_inherit=True), page.names)
                except Exception as error:
                    yield error


@each_error
def test_page_shows_the_error_that_its_example_raises(
    cls: type[DesignError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = page_of(cls.number)
    text = path.read_text(encoding="utf-8")
    raised = list(raised_on(path, tmp_path))
    assert raised
    for error in raised:
        assert type(error) is cls
        assert f"{cls.__module__}.{cls.__qualname__}: {cls.number}: {error.message}" in text
        assert error.hint is None or f"\nhint: {error.hint}\n" in text


def test_page_of_the_warning_shows_it() -> None:
    path = page_of(LargeItemWarning.number)
    assert title_of(path).startswith("# ST206: ")
    assert "['LargeItemWarning']\n" in path.read_text(encoding="utf-8")


def test_index_lists_the_pages_by_their_titles() -> None:
    listed = re.findall(r"^- \[(ST\d+)\]\((ST\d+\.md)\): (.+)$", prose_of(PAGES / "README.md"), re.MULTILINE)
    assert [number for number, _, _ in listed] == NUMBERS
    for number, link, title in listed:
        assert link == f"{number}.md"
        assert title_of(PAGES / link) == f"# {number}: {title.removesuffix(', a warning')}"


def errors_below(cls: type[DesignError]) -> Iterator[type[DesignError]]:
    for below in cls.__subclasses__():
        yield below
        yield from errors_below(below)


def test_errors_of_other_modules_have_numbers_with_pages() -> None:
    for cls in errors_below(DesignError):
        if cls.__module__.startswith("singletable"):
            assert page_of(cls.number).is_file()


def test_drawing_in_the_module_names_every_error() -> None:
    drawn = re.findall(r"(\w+)\s+(ST\d+)  ", errors.__doc__ or "")
    names = {cls.number: cls.__name__ for cls in ERRORS}
    assert {number: name for name, number in drawn} == names | {LargeItemWarning.number: "LargeItemWarning"}


# --- the reference --------------------------------------------------------------------------------------------


def test_reference_is_what_the_generator_writes() -> None:
    subprocess.run([sys.executable, str(GENERATOR), "--check"], check=True, cwd=ROOT)


def test_reference_has_every_public_name_and_every_error() -> None:
    page = REFERENCE.read_text(encoding="utf-8")
    for name in singletable.design.__all__:
        assert f"\n### {name}\n" in page
    for number in NUMBERS:
        assert f"| [{number}](../errors/{number}.md) |" in page


@pytest.mark.parametrize("name", singletable.design.__all__)
def test_public_thing_says_what_it_is_for(name: str) -> None:
    thing = getattr(singletable.design, name)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert re.match(r"[A-Z].*[.:]", thing.__doc__ or "", re.DOTALL)


# --- the tutorial ---------------------------------------------------------------------------------------------


def test_file_of_the_tutorial_has_no_import_that_it_does_not_use() -> None:
    blocks = [block.text for block in blocks_of(ROOT / "docs" / "tutorial" / "kefir.md")]
    source = "".join(text for text in blocks if text.startswith("# kefir.py\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(source, "kefir.py", "exec", dont_inherit=True)
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        "F",
        "--stdin-filename",
        "kefir.py",
        "-",
    ]
    subprocess.run(command, input=source, text=True, check=True)
