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
from typing import Any, Final

import pytest

import singletable.design
from documents.blocks import ROOT, blocks_of, prose_of
from documents.pages import Page
from singletable import errors
from singletable.engine.keys import EmptyKeyError
from singletable.errors import (
    ApiError,
    Boto3MissingError,
    DesignError,
    DiskFullError,
    LargeItemWarning,
    ReadOnlyDatabaseError,
    SingleTableError,
    TargetError,
)

PAGES: Final = ROOT / "docs" / "errors"
REFERENCE: Final = ROOT / "docs" / "reference" / "design.md"
GENERATOR: Final = ROOT / "scripts" / "generate_design_reference.py"

PUBLIC: Final = [
    thing
    for name in errors.__all__
    if inspect.isclass(thing := getattr(errors, name)) and issubclass(thing, SingleTableError)
]
ERRORS: Final = [cls for cls in PUBLIC if cls.number]
OF_THE_API: Final = [cls for cls in PUBLIC if issubclass(cls, ApiError) and not cls.number]
NUMBERS: Final = sorted([cls.number for cls in ERRORS] + [LargeItemWarning.number])
# No page can bring them about: to take boto3 away, fill a disk, or lock out a user who may be root.
NOT_SHOWN: Final[set[type[SingleTableError]]] = {Boto3MissingError, DiskFullError, ReadOnlyDatabaseError}

each_error = pytest.mark.parametrize("cls", ERRORS, ids=lambda cls: cls.number)


def page_of(number: str) -> Path:
    return PAGES / f"{number}.md"


def title_of(path: Path) -> str:
    return path.read_text(encoding="utf-8").splitlines()[0]


# --- pages of errors --------------------------------------------------------------------------------------


def test_every_public_error_has_a_page() -> None:
    for cls in PUBLIC:
        path, _, anchor = cls.__new__(cls).page.partition("#")
        if cls in (SingleTableError, DesignError):  # nobody raises them: they are there to be caught
            assert path == "docs/errors/README.md"
        elif cls in OF_THE_API:
            assert (path, anchor) == ("docs/errors/api.md", cls.__name__.lower())
        else:
            assert "number" in vars(cls), f"{cls.__name__} has no number of its own"
            assert path == f"docs/errors/{cls.number}.md"
        assert (ROOT / path).is_file()


def test_page_of_the_api_has_a_section_for_each_of_its_errors() -> None:
    parts = re.split(r"^## ", prose_of(PAGES / "api.md"), flags=re.MULTILINE)[1:]
    sections = dict(part.split("\n", 1) for part in parts)
    assert sorted(sections) == sorted(cls.__name__ for cls in OF_THE_API)
    for cls in OF_THE_API:
        said = sections[cls.__name__].strip()
        code = vars(cls).get("code")
        assert said.startswith(f"`{code}`" if code else ("A", "The base of"))
        assert said.endswith(".")


def test_refined_error_of_the_api_is_explained_as_the_public_one() -> None:
    assert EmptyKeyError.__mro__[1] is errors.ValidationError
    assert EmptyKeyError.__new__(EmptyKeyError).page == "docs/errors/api.md#validationerror"


def test_every_number_is_of_one_error_and_has_one_page() -> None:
    assert len(NUMBERS) == len(set(NUMBERS))
    assert sorted(path.stem for path in PAGES.glob("ST*.md")) == NUMBERS


@each_error
def test_page_is_titled_with_the_number_and_names_the_class(cls: type[SingleTableError]) -> None:
    path = page_of(cls.number)
    assert re.fullmatch(rf"# {cls.number}: [a-z][^.]+", title_of(path))
    assert prose_of(path).splitlines()[2].startswith(f"`{cls.__name__}`")
    assert [line for line in prose_of(path).splitlines() if line.startswith("## ")] == [
        "## Why",
        "## What to do",
    ]


@each_error
def test_error_says_its_number_and_where_its_page_is(cls: type[Any]) -> None:
    error = cls("it is wrong", hint="make it right")
    assert (error.message, error.hint) == ("it is wrong", "make it right")
    assert str(error) == f"{cls.number}: it is wrong\n\nhint: make it right"
    assert (ROOT / error.page).is_file()
    if not issubclass(cls, TargetError):  # which always have a hint
        assert str(cls("it is wrong")) == f"{cls.number}: it is wrong"


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
    cls: type[SingleTableError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = page_of(cls.number)
    if cls in NOT_SHOWN:
        assert "Traceback" not in path.read_text(encoding="utf-8")
        return
    shown = [block for block in blocks_of(path) if block.language in ("console", "sh")]
    if any(cls.number in block.text for block in shown):
        return  # by a command, whose output is compared
    transcripts = [block.text for block in blocks_of(path) if block.language == "pycon"]
    wanted = [example.want for text in transcripts for example in doctest.DocTestParser().get_examples(text)]
    raised = list(raised_on(path, tmp_path))
    assert raised
    for error in raised:
        assert type(error) is cls
        text = f"{cls.__module__}.{cls.__qualname__}: {error}\n"
        assert any(is_shown(want, text) for want in wanted)


def is_shown(want: str, raised: str) -> bool:
    """Tell whether a transcript shows an error; what differs from run to run stands there as dots."""
    last = want.partition("  ...\n")[2]
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return bool(last) and doctest.OutputChecker().check_output(last, raised, options)


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


def errors_below(cls: type[SingleTableError]) -> Iterator[type[SingleTableError]]:
    for below in cls.__subclasses__():
        yield below
        yield from errors_below(below)


def test_errors_of_other_modules_have_numbers_with_pages() -> None:
    for cls in errors_below(SingleTableError):
        if cls.__module__.startswith("singletable.") and cls.number:
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


def test_changes_name_tests_that_are_there() -> None:
    """A point of the list of changes without its test would only be a claim."""
    text = (ROOT / "CHANGELOG.md").read_text()
    file = ""
    named = re.findall(r"`(test_\w+)?::(\w+)`", text)
    assert named
    for given, test in named:
        file = given or file
        (path,) = (ROOT / "tests").rglob(f"{file}.py")
        assert f"def {test}(" in path.read_text(), f"{file}::{test}"
