"""Every block of every document runs, every link leads somewhere, every command it names exists."""

from __future__ import annotations

import json
import re
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

import pytest

from clients.environments import clients
from clients.pages import CLIENT_TAGS
from documents import aws_stand_in
from documents.blocks import (
    CLIENT_PAGES,
    DATA_LANGUAGES,
    LANGUAGES,
    ROOT,
    blocks_in,
    blocks_of,
    documents,
    is_page_of_client,
    prose_of,
)
from documents.pages import Command, Page, check_set_up, commands_of
from singletable import Database
from singletable.cli.parser import build_parser
from singletable.server import BackgroundServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DOCUMENTS: Final = documents()
IDS: Final = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
FILE_FORMAT: Final = ROOT / "docs" / "internals" / "file-format.md"

each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
# test_clients.py runs the pages of clients, each with its client installed.
each_document_that_needs_no_client = pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if not is_page_of_client(path)],
    ids=lambda path: str(path.relative_to(ROOT)),
)


# --- the documents ----------------------------------------------------------------------------------


@each_document_that_needs_no_client
def test_every_block_does_what_it_shows(
    path: Path, tmp_path: Path, warm_programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        page = Page(tmp_path, stack, programs=warm_programs)
        for block in blocks_of(path):
            if block.language not in DATA_LANGUAGES:
                page.run(block)


def test_first_example_of_the_readme_can_be_run_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = blocks_of(ROOT / "README.md")[0]
    for _ in range(2):
        with ExitStack() as stack:
            Page(tmp_path, stack).run(first)


@each_document
def test_every_block_is_of_a_kind_that_something_runs_or_compares(path: Path) -> None:
    for block in blocks_of(path):
        assert block.language in (CLIENT_TAGS if is_page_of_client(path) else LANGUAGES), block.place
        # test_docs_file_format.py compares those of the file format; no other document has data.
        assert block.language not in DATA_LANGUAGES or path == FILE_FORMAT, block.place


def test_every_page_of_a_client_is_one_that_the_clients_suite_runs() -> None:
    pages = {path.stem for path in CLIENT_PAGES.iterdir() if is_page_of_client(path)}
    assert pages == {client.name for client in clients()}


@each_document
def test_no_block_hides_as_indented_text(path: Path) -> None:
    hidden = [line for line in prose_of(path).splitlines() if line.startswith(("    ", "\t"))]
    assert hidden == []


@each_document
def test_every_link_leads_somewhere(path: Path) -> None:
    prose = prose_of(path)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(r'(?:src|srcset|href)="([^"]+)"', prose)
    for target in targets:
        if target.startswith(("https://", "http://")):
            continue
        file, _, anchor = target.partition("#")
        wanted = (path.parent / file).resolve() if file else path
        assert wanted.exists(), target
        if anchor:
            assert anchor in anchors_of(wanted), target


def anchors_of(path: Path) -> set[str]:
    """The anchors that a Markdown page gives its headings."""
    headings = re.findall(r"^#+ (.+)$", prose_of(path), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {text.strip().replace(" ", "-") for text in plain}


@each_document
def test_every_command_in_the_text_is_one(path: Path) -> None:
    for span in re.findall(r"`([^`\n]+)`", prose_of(path)):
        if span.startswith("make "):
            check_set_up(span)
        elif re.match(r"singletable [a-z]", span):
            _, name, *arguments = shlex.split(span)
            if arguments:
                build_parser().parse_args([name, *arguments])
            else:
                assert (ROOT / "src" / "singletable" / "cli" / f"{name}.py").is_file(), span


def test_every_document_is_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path not in reached and path.suffix == ".md":
            reached.add(path)
            links = re.findall(r"\]\(([^)#\s:]+)", prose_of(path))
            waiting += [(path.parent / link).resolve() for link in links]
    assert sorted(set(DOCUMENTS) - reached) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "images").rglob("*.svg")), ids=lambda path: path.name
)
def test_picture_stands_alone_and_says_what_it_shows(path: Path) -> None:
    picture = ElementTree.parse(path).getroot()
    tags = [element.tag.rpartition("}")[2] for element in picture.iter()]
    assert tags[:3] == ["svg", "title", "desc"]
    assert not {"image", "script", "use", "foreignObject"} & set(tags)
    assert any(path.name in document.read_text(encoding="utf-8") for document in DOCUMENTS)
    assert "prefers-color-scheme: dark" in path.read_text(encoding="utf-8")


# --- what runs them can fail --------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, warm_programs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Run a document given as text."""
    monkeypatch.chdir(tmp_path)

    def run_text(text: str) -> None:
        with ExitStack() as stack:
            page = Page(tmp_path, stack, programs=warm_programs)
            for block in blocks_in(text, ROOT / "docs" / "unwritten.md"):
                page.run(block)

    return run_text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("```\nplain\n```\n", "cannot be run", id="no language"),
        pytest.param("```text\nplain\n```\n", "cannot be run", id="unknown language"),
        pytest.param("```python\nassert 1 == 2, 'no'\n```\n", "no", id="python that fails"),
        pytest.param("```python\ndef test_a():\n    assert 0\n```\n", "1 failed", id="test that fails"),
        pytest.param("```pycon\n>>> 1 + 1\n3\n```\n", "Expected", id="another value"),
        pytest.param("```console\n$ echo a\nb\n```\n", "but prints", id="another output"),
        pytest.param("```console\n$ echo a\n$ false\n```\n", "ended with 1", id="a command that fails"),
        pytest.param("```sh\nfalse\ntrue\n```\n", "ended with 1", id="a script that fails in between"),
        pytest.param("```console\nout of nowhere\n```\n", "begins with", id="output without a command"),
        pytest.param("  ```python\n  1\n  ```\n", "at the start of a line", id="indented fence"),
        pytest.param("~~~python\n1\n~~~\n", "at the start of a line", id="tildes"),
        pytest.param("```python\n1\n", "does not end", id="no end"),
        pytest.param("```sh\npip install elsewhere\n```\n", "not this project", id="another project"),
    ],
)
def test_document_that_is_wrong_is_found_out(run: Callable[[str], None], text: str, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        run(text)


def test_blocks_of_a_document_share_names_files_and_exports(run: Callable[[str], None]) -> None:
    run(
        "```python\nx = 1\nopen('f', 'w').close()\n```\n```pycon\n>>> x\n1\n>>> y = x + 1\n```\n"
        "```python\nassert y == 2\n```\n```sh\ntest -f f\n```\n"
        "```console\n$ export A=b\n$ echo $A\nb\n```\n"
    )


def test_block_that_names_a_file_is_there_as_one(run: Callable[[str], None]) -> None:
    run(
        "```python\n# one.py\nx = 1\n```\n```python\n# one.py\ny = x + 1\n```\n"
        "```sh\npython -c 'import one; assert one.y == 2'\n```\n"
        "```python\nfrom one import y\nassert y == 2\n```\n"
    )
    assert "one" not in sys.modules


def test_block_has_no_import_that_it_does_not_show(run: Callable[[str], None]) -> None:
    run("```python\ndef f(x: int): ...\nassert f.__annotations__ == {'x': int}\n```\n")


def test_transcript_is_split_at_its_prompts() -> None:
    assert commands_of("$ a \\\n  b\nc\nd\n$ e\n") == [Command("a \\\n  b", "c\nd\n"), Command("e")]


# --- the AWS CLI, where there is none -------------------------------------------------------------------


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., str]]:
    """Run the stand-in against a database in memory."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with Database.open(":memory:") as database, BackgroundServer(database) as address:

        def run_aws(*arguments: str) -> str:
            aws_stand_in.main(["dynamodb", *arguments, "--endpoint-url", address.url])
            return capsys.readouterr().out

        yield run_aws


def test_stand_in_for_the_aws_cli_prints_what_that_prints(aws: Callable[..., str]) -> None:
    key = ("--key-schema", "AttributeName=id,KeyType=HASH")
    attributes = ("--attribute-definitions", "AttributeName=id,AttributeType=S")
    aws("create-table", "--table-name", "notes", *key, *attributes, "--billing-mode", "PAY_PER_REQUEST")
    for note in ("a", "b"):
        put = aws("put-item", "--table-name", "notes", "--item", json.dumps({"id": {"S": note}}))
        assert put == ""
    assert json.loads(aws("list-tables")) == {"TableNames": ["notes"]}
    count = aws("scan", "--table-name", "notes", "--consistent-read", "--query", "Count", "--output", "text")
    assert count == "2\n"
