"""`singletable blueprint`: designs as data: shown, compared, proposed from a table, brought from other files."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from singletable.blueprint import Blueprint, BlueprintError
from singletable.cli.arguments import add_key, count, file_name
from singletable.cli.messages import WrongUseError, say
from singletable.cli.output import progress_bar, write_file
from singletable.cli.parser import add_command
from singletable.cli.patterns.finding import find_source
from singletable.cli.targets import refuse_missing_file
from singletable.visible import meant

if TYPE_CHECKING:
    from singletable.blueprint import FixBlueprint
    from singletable.blueprint.differences import BlueprintDifferences
    from singletable.cli.parser import Parser
    from singletable.client import Client
    from singletable.discovery import Survey

EXAMPLES = """\
examples:
  singletable blueprint show kefir                               a system as TOML, for people
  singletable blueprint show app.shop:Shop --format json         a typed design, for programs
  singletable blueprint show kefir:documented --format markdown  the design as its document has it
  singletable blueprint diff kefir:documented kefir              what was changed, and why
  singletable blueprint from-table app.db orders                 proposed from the items of a table
  singletable blueprint from-workbench model.json                from NoSQL Workbench, CloudFormation, Terraform
  singletable blueprint to-python shop.toml --out shop.py        a typed design to go on with
  singletable blueprint schema                                   the JSON Schema of both forms

A DESIGN is a system that is installed, SYSTEM:documented, MODULE:DESIGN, or a FILE.toml or FILE.json.
"""

_SHOW_EXAMPLES = """\
examples:
  singletable blueprint show kefir
  singletable blueprint show shop.toml --format svg --out shop.svg
"""
_DIFF_EXAMPLES = """\
examples:
  singletable blueprint diff kefir:documented kefir
  singletable blueprint diff old.toml new.toml --json

The exit code is 1 if they differ.
"""
_FROM_TABLE_EXAMPLES = """\
examples:
  singletable blueprint from-table app.db
  singletable blueprint from-table dynamodb://eu-north-1 orders --items 5000 --rate 20 --out orders.toml
  singletable blueprint from-table http://127.0.0.1:8000 orders --samples 0     no value of an item is kept

Only reads: the table's settings, and items from all over it, at a pace. Each entity says how sure it is.
"""

DONE, DIFFERENT = 0, 1
FORMATS: Final = ("toml", "json", "markdown", "svg", "html")
_DOCUMENTED: Final = "documented"
_RATE: Final = "25"


def add_arguments(parser: Parser) -> None:
    """Describe `blueprint`."""
    below = parser.add_subparsers(dest="blueprint_command", metavar="COMMAND", required=True)
    show = add_command(below, "show", "print a design as data, as a document or as a picture", _SHOW_EXAMPLES)
    _add_design(show)
    _add_format(show, FORMATS)
    diff = add_command(below, "diff", "tell what differs between two designs, and why", _DIFF_EXAMPLES)
    _add_design(diff, "old")
    _add_design(diff, "new")
    diff.add_argument("--json", action="store_true", help="print the differences as JSON")
    table = add_command(
        below, "from-table", "propose a design for a table that is there", _FROM_TABLE_EXAMPLES
    )
    table.add_argument("target", metavar="TARGET", help="a file, an URL, or dynamodb://REGION")
    table.add_argument("table", metavar="TABLE", nargs="?", help="the table (default: the only one)")
    add_key(table)
    table.add_argument("--items", type=count, default=2_000, help="read up to so many (default: %(default)s)")
    table.add_argument(
        "--rate", default=_RATE, help="units a second, or 50items, or `all` (default: %(default)s)"
    )
    table.add_argument(
        "--samples", type=_samples, default=2, help="values kept of each attribute (default: %(default)s)"
    )
    _add_format(table, ("toml", "json", "markdown"))
    for name, what in _FILES.items():
        read = add_command(below, f"from-{name}", f"read {what}")
        read.add_argument("file", metavar="FILE", type=file_name, help="the file")
        read.add_argument("--table", help="which of its tables")
        _add_format(read, ("toml", "json", "markdown"))
    python = add_command(below, "to-python", "write a typed design, with open questions as comments")
    _add_design(python)
    _add_out(python)
    workbench = add_command(below, "to-workbench", "write a model of NoSQL Workbench; says what does not fit")
    _add_design(workbench)
    _add_out(workbench)
    schema = add_command(below, "schema", "print the JSON Schema of blueprints")
    _add_out(schema)


_FILES: Final = {
    "workbench": "a data model of NoSQL Workbench",
    "cloudformation": "a template of CloudFormation or SAM",
    "terraform": "a configuration or plan of Terraform",
}


def _add_design(parser: argparse.ArgumentParser, name: str = "design") -> None:
    parser.add_argument(
        name,
        metavar=name.upper(),
        type=file_name,
        help="a system, SYSTEM:documented, MODULE:DESIGN, FILE.toml or FILE.json",
    )


def _add_format(parser: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    parser.add_argument("--format", choices=formats, default="toml", help="(default: %(default)s)")
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="as --format json")
    _add_out(parser)


def _add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", type=file_name, help="write it to this file")


def _samples(text: str) -> int:
    return 0 if text == "0" else count(text)


# --- the commands ---------------------------------------------------------------------------------------


def run(arguments: argparse.Namespace) -> int:
    """Carry out one of the commands of `blueprint`."""
    match arguments.blueprint_command:
        case "show":
            _write(arguments, _formatted(find_blueprint(arguments.design), arguments.format))
        case "diff":
            return _diff(arguments)
        case "from-table":
            _from_table(arguments)
        case "to-python":
            from singletable.blueprint.python_text import to_python

            _write(arguments, to_python(find_blueprint(arguments.design)))
        case "to-workbench":
            from singletable.blueprint.foreign.workbench import to_workbench

            text, lost = to_workbench(find_blueprint(arguments.design))
            _write(arguments, text)
            for each in lost:
                say(f"does not fit: {each}")
        case "schema":
            _write(arguments, json.dumps(Blueprint.schema(), indent=2, ensure_ascii=False) + "\n")
        case command:
            blueprint = _refused_plainly(
                arguments.file,
                lambda: _reader(command)(text_of(arguments.file), arguments.table),
                hint=f"{command} reads {_FILES[command.removeprefix('from-')]}",
            )
            _write(arguments, _formatted(blueprint, arguments.format))
            _ask(blueprint)
    return DONE


def _reader(command: str) -> Callable[[str, str | None], Blueprint]:
    match command:
        case "from-workbench":
            from singletable.blueprint.foreign.workbench import from_workbench

            return from_workbench
        case "from-cloudformation":
            from singletable.blueprint.foreign.cloudformation import from_cloudformation

            return from_cloudformation
        case _:
            from singletable.blueprint.foreign.terraform import from_terraform

            return from_terraform


def _formatted(blueprint: Blueprint, form: str) -> str:
    match form:
        case "json":
            return blueprint.to_json()
        case "markdown":
            return blueprint.text()
        case "svg" | "html":
            from singletable.drawing import draw_design, html, svg

            return (svg if form == "svg" else html)(draw_design(blueprint))
        case _:
            return blueprint.to_toml()


def _write(arguments: argparse.Namespace, text: str) -> None:
    if arguments.out is None:
        print(text, end="")
    else:
        write_file(arguments.out, text)
        say(f"{arguments.out} is written")


def _ask(blueprint: Blueprint) -> None:
    for question in blueprint.questions:
        say(f"open: {question}")


# --- designs by their names -----------------------------------------------------------------------------


def find_blueprint(text: str) -> Blueprint:
    """Return the blueprint of a system, of its document, of a typed design, or in a file."""
    if Path(text).suffix.lower() in (".toml", ".json"):
        return read_blueprint(text, text_of(text))
    name, _, which = text.partition(":")
    if which == _DOCUMENTED:
        return documented_file(name)[1]
    source = find_source(text)
    return source.blueprint()


def read_blueprint(name: str, text: str) -> Blueprint:
    """Read the text of a file, TOML or JSON by its name."""
    read = Blueprint.from_toml if name.lower().endswith(".toml") else Blueprint.from_json
    return _refused_plainly(name, lambda: read(text))


def documented_file(name: str) -> tuple[str, Blueprint]:
    """Return the file that holds the documented design of a system, and the design."""
    from singletable.systems import find_system, installed_systems

    system = find_system(name)
    found = system.documented()
    if found is None:
        known = [each.name for each in installed_systems().values() if each.documented() is not None]
        raise WrongUseError(
            f"{system.title} has no design as a document has it",
            hint=f"{meant(name, known)}those that have one: {', '.join(known) or 'none'}",
        )
    return str(system.documented_file), found


def text_of(name: str) -> str:
    """Return the text of a file."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise WrongUseError(f"{name} is no text", hint="blueprints are UTF-8") from None
    except OSError as error:
        raise WrongUseError(
            f"{name} cannot be read: {error.strerror}", hint="name a file that is there"
        ) from error


def _refused_plainly(
    name: str,
    read: Callable[[], Blueprint],
    *,
    hint: str = "singletable blueprint schema says what there can be",
) -> Blueprint:
    try:
        return read()
    except BlueprintError as error:
        raise WrongUseError(f"{name}: {error}", hint=hint) from error


# --- differences ----------------------------------------------------------------------------------------


def _diff(arguments: argparse.Namespace) -> int:
    from singletable.blueprint.differences import differences

    found = differences(find_blueprint(arguments.old), find_blueprint(arguments.new))
    if arguments.json:
        print(json.dumps(dataclasses.asdict(found), ensure_ascii=False))
    else:
        for line in _difference_lines(found):
            print(line)
    return DIFFERENT if found.parts else DONE


def _difference_lines(found: BlueprintDifferences) -> Iterator[str]:
    told: set[str] = set()
    for part in found.parts:
        yield f"{part.kind:8} {part.title}"
        if part.was:
            yield f"    was  {part.was}"
        if part.now:
            yield f"    is   {part.now}"
        for fix in part.fixes:
            yield f"    why  {fix.id}" + ("" if fix.id in told else f": {_reason(fix)}")
            told.add(fix.id)
    for number, fix in enumerate(found.unseen):
        if number == 0:
            yield "\nrepaired or kept, without a difference above that shows it:"
        yield f"    {fix.id}: {_reason(fix)}"
    if found.not_compared:
        yield f"\nnot compared, since one of the two says nothing of it: {', '.join(found.not_compared)}"
    if not found.parts:
        yield "no differences"


def _reason(fix: FixBlueprint) -> str:
    return f"{fix.defect.rstrip('.')}. Repaired: {fix.repair}"


# --- from a table ---------------------------------------------------------------------------------------


def _from_table(arguments: argparse.Namespace) -> None:
    from singletable.client import open_client
    from singletable.discovery import survey_table
    from singletable.migrate import Pace

    refuse_missing_file(arguments.target, hint="a survey makes no file: name one that is there")
    pace = None if arguments.rate == "all" else Pace.parse(arguments.rate)
    client = open_client(arguments.target)
    try:
        table = arguments.table or _only_table(client, arguments.target)
        with progress_bar() as show:
            survey = survey_table(
                client,
                table,
                items=arguments.items,
                pace=pace,
                samples=arguments.samples,
                progress=show,
            )
    finally:
        client.close()
    if arguments.format == "json" and arguments.out is None:
        print(json.dumps(_survey_data(survey), indent=2, ensure_ascii=False))
    else:
        _write(arguments, _formatted(survey.blueprint, arguments.format))
    for line in _survey_lines(survey):
        say(line)
    _ask(survey.blueprint)


def _only_table(client: Client, target: str) -> str:
    names = list(client.call("ListTables", {})["TableNames"])
    if len(names) == 1:
        return str(names[0])
    raise WrongUseError(
        f"{target} has {len(names)} tables" if names else f"{target} has no table",
        hint=f"name one: {', '.join(names)}" if names else "singletable create-table makes one",
    )


def _survey_data(survey: Survey) -> dict[str, Any]:
    """Return the blueprint as its JSON, with the survey beside it as what a reader of blueprints would refuse."""
    return {
        "blueprint": json.loads(survey.blueprint.to_json()),
        "survey": {
            "items_read": survey.items_read,
            "units_read": survey.units_read,
            "items_stated": survey.items_stated,
            "is_whole": survey.is_whole,
            "entities": [
                {"name": each.entity.name, "items": each.items, "sure": each.sure, "because": each.because}
                for each in survey.proposals
            ],
        },
    }


def _survey_lines(survey: Survey) -> Iterator[str]:
    of = "all" if survey.is_whole else f"of about {survey.items_stated or 0:,}"
    yield f"{survey.items_read:,} items read, {of}, for {survey.units_read:,.1f} units"
    for each in survey.proposals:
        yield f"{each.sure:5.0%}  {each.entity.name} ({each.items:,} items): {'; '.join(each.because)}"
