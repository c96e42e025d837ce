"""`singletable lint`: what is wrong with a design, before anything is built."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from singletable.blueprint import Blueprint
from singletable.cli.arguments import file_name
from singletable.cli.blueprint import documented_file, read_blueprint, text_of
from singletable.cli.messages import WrongUseError, error_data, say
from singletable.cli.output import write_file
from singletable.cli.patterns.finding import find_source
from singletable.errors import SingleTableError, TargetError
from singletable.lint import Finding, Severity, all_rules, lint
from singletable.lint.bench import Bench
from singletable.lint.reports import FORMATS, Reported, counted
from singletable.lint.target import Ignored, LintTarget, Where, of_design, of_file
from singletable.visible import meant

EXAMPLES = """\
examples:
  singletable lint shop.toml app.shop:Shop           blueprints and typed designs
  singletable lint kefir:documented --prove          and show each error on a table in memory
  singletable lint shop.toml --select KEY,IDX --ignore KEY107
  singletable lint shop.toml --target alternator     as if it were to run there too
  singletable lint shop.toml --format sarif --out lint.sarif
  singletable lint shop.toml --write-baseline lint.json   accept what is there today,
  singletable lint shop.toml --baseline lint.json         and report only what is new
  singletable rule KEY101                            what a rule says

A TARGET is a system, SYSTEM:documented, MODULE:DESIGN, FILE.toml or FILE.json. A finding is suppressed where it
stands, with a reason:  # lint: ignore KEY101 - levels end at 9
Settings stand in pyproject.toml under [tool.singletable.lint]: targets, select, ignore, baseline.

A design that cannot be imported, or a file that is no blueprint, is a finding; the others are linted all the same.

exit codes: 0 nothing found (notes do not count), 1 findings, 2 wrong use
"""

DONE, FOUND = 0, 1
_REFUSED: Final = "ST"
NO_REASON: Final = "LNT001"
UNREADABLE: Final = "LNT002"
TARGETS: Final = ("aws", "aws-local", "alternator", "extenddb", "singletable")
_AT_LINE: Final = re.compile(r"\bline (\d+),? column (\d+)")
_SETTINGS: Final = ("targets", "select", "ignore", "baseline")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `lint`."""
    parser.add_argument(
        "targets",
        metavar="TARGET",
        nargs="*",
        type=file_name,
        help="a system, SYSTEM:documented, MODULE:DESIGN, FILE.toml or FILE.json",
    )
    parser.add_argument("--select", type=_codes, help="only rules whose codes begin so: KEY,PAT301")
    parser.add_argument("--ignore", type=_codes, help="none of the rules whose codes begin so")
    parser.add_argument(
        "--target",
        action="append",
        choices=TARGETS,
        default=[],
        help="a target that the designs are to run on, beside those that they name; may be given several times",
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="(default: %(default)s)")
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="as --format json")
    parser.add_argument("--out", metavar="FILE", type=file_name, help="write it to this file")
    parser.add_argument("--prove", action="store_true", help="show errors on a table in memory")
    parser.add_argument("--baseline", metavar="FILE", type=file_name, help="leave out what this file lists")
    parser.add_argument(
        "--write-baseline", metavar="FILE", type=file_name, help="list what is found in this file"
    )


def run(arguments: argparse.Namespace) -> int:
    """Lint designs, and tell what is found."""
    settings = _settings()
    select = arguments.select or _known(settings.get("select", ()))
    ignore = arguments.ignore or _known(settings.get("ignore", ()))
    names = arguments.targets or list(settings.get("targets", ()))
    if not names:
        raise WrongUseError(
            "nothing to lint",
            hint="name a design, or list targets under [tool.singletable.lint] in pyproject.toml",
        )
    looking = _Looking(tuple(select), tuple(ignore), tuple(arguments.target), proves=arguments.prove)
    found = [each for name in dict.fromkeys(names) for each in _reported(name, looking)]
    if arguments.write_baseline is not None:
        write_file(arguments.write_baseline, _as_baseline(found))
        say(f"{arguments.write_baseline} accepts {counted(found)}")
        return DONE
    baseline = arguments.baseline or settings.get("baseline")
    if baseline is not None:
        found = _new(found, baseline)
    text = FORMATS[arguments.format](found)
    if arguments.out is not None:
        write_file(arguments.out, text)
    else:
        print(text, end="")
    count = len(set(names))
    say(f"{counted(found)} in {count} {'design' if count == 1 else 'designs'}")
    return FOUND if any(each.finding.severity is not Severity.NOTE for each in found) else DONE


def _codes(text: str) -> tuple[str, ...]:
    try:
        return _known(code.strip().upper() for code in text.split(","))
    except WrongUseError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _known(codes: Any) -> tuple[str, ...]:
    found = tuple(codes)
    for code in found:
        if not code or not any(
            known.startswith(code) for known in (*all_rules(), _REFUSED, NO_REASON, UNREADABLE)
        ):
            raise WrongUseError(
                f"no rule begins with {code!r}", hint=f"{meant(code, all_rules())}singletable rule lists them"
            )
    return found


# --- one design -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Looking:
    """What is looked for."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    targets: tuple[str, ...]
    proves: bool

    def ignores(self, code: str) -> bool:
        return code.startswith(self.ignore or "\0")


def _reported(name: str, looking: _Looking) -> Iterator[Reported]:
    try:
        target = _find(name)
    except _RefusedError as refused:
        if not looking.ignores(refused.finding.code):
            yield Reported(name, refused.finding, refused.where, ("design",))
        return
    blueprint = target.blueprint
    if looking.targets:
        targets = tuple(dict.fromkeys((*blueprint.targets, *looking.targets)))
        blueprint = dataclasses.replace(blueprint, targets=targets)
    for found in lint(blueprint, select=looking.select, ignore=looking.ignore):
        where = target.where(found.path)
        places = found.places(blueprint)
        comment = _comment(target, found)
        if comment is not None and comment.reason:
            continue
        yield Reported(name, found, where, places, _proof(blueprint, found) if looking.proves else None)
        if comment is not None and not looking.ignores(NO_REASON):
            yield Reported(name, _without_reason(found), comment.where, places)


def _comment(target: LintTarget, found: Finding) -> Ignored | None:
    comments = (each for path in found.paths for each in target.ignored_at(path) if each.covers(found.code))
    return next(comments, None)


def _without_reason(found: Finding) -> Finding:
    return dataclasses.replace(
        found,
        code=NO_REASON,
        severity=Severity.WARNING,
        message=f"{found.code} is to be ignored here, but the comment gives no reason",
        because="nobody will know later whether it is still right",
        repair=f"write it behind the code: # lint: ignore {found.code} - levels end at 9",
    )


def _proof(blueprint: Blueprint, found: Finding) -> str | None:
    rule = all_rules()[found.code]
    if rule.prove is None:
        return None
    with Bench(blueprint) as bench:
        refused = bench.create_table()
        return f"the table is refused: {refused}" if refused is not None else rule.prove(found, bench)


class _RefusedError(Exception):
    """A design that cannot be read: what refused it is the finding."""

    def __init__(self, finding: Finding, where: Where) -> None:
        super().__init__(finding.message)
        self.finding = finding
        self.where = where


def _find(name: str) -> LintTarget:
    if Path(name).suffix.lower() in (".toml", ".json"):
        try:
            text = text_of(name)
            return of_file(name, text, read_blueprint(name, text))
        except WrongUseError as error:
            if not Path(name).is_file():
                raise
            raise _unread(
                str(error).removeprefix(f"{name}: "), error.hint or "", _said_at(error, name)
            ) from error
    system, _, which = name.partition(":")
    if which == "documented":
        file, blueprint = documented_file(system)
        return of_file(file, text_of(file), blueprint)
    try:
        source = find_source(name)
        return of_design(name, source.design, source.blueprint())
    except (WrongUseError, TargetError):
        raise
    except SingleTableError as error:
        data = error_data(error)
        if data["number"] is None:
            raise
        code, message = data["number"], error.message
        finding = Finding(code, Severity.ERROR, (("design",),), message, repair=error.hint or "")
        raise _RefusedError(finding, _raised_at(error, name)) from error
    except Exception as error:  # whatever a module of the user raises while it is imported
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise _unread(
            f"{name.partition(':')[0]} cannot be imported: {said}",
            "import it in Python until it works; lint it where its packages are installed",
            _raised_at(error, name),
        ) from error


def _unread(message: str, repair: str, where: Where) -> _RefusedError:
    found = Finding(
        UNREADABLE,
        Severity.ERROR,
        (("design",),),
        message,
        because="nothing of the design is linted while it cannot be read",
        repair=repair,
    )
    return _RefusedError(found, where)


def _said_at(error: Exception, name: str) -> Where:
    """Return the place that an error names in its words."""
    found = _AT_LINE.search(str(error))
    return Where(name, int(found[1]), int(found[2])) if found is not None else Where(name)


def _raised_at(error: BaseException, name: str) -> Where:
    """Return the line of the module that the error went through, outside of this package."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return Where(_near(error.filename), error.lineno or 0, error.offset or 0)
    package = str(Path(__file__).resolve().parents[1])
    place, trace = Where(name), error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith((package, "<")) and "importlib" not in file:
            place = Where(_near(file), trace.tb_lineno, 1)
        trace = trace.tb_next
    return place


def _near(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


# --- settings and baselines -----------------------------------------------------------------------------


def _settings() -> Mapping[str, Any]:
    """Return [tool.singletable.lint] of the pyproject.toml here or above; its files are beside it."""
    here = Path.cwd()
    file = next(
        (held for folder in (here, *here.parents) if (held := folder / "pyproject.toml").is_file()), None
    )
    if file is None:
        return {}
    try:
        found: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise WrongUseError(
            f"{file.name} cannot be read: {error}", hint="mend it, or run elsewhere"
        ) from error
    for name in ("tool", "singletable", "lint"):
        found = found.get(name, {})
        if not isinstance(found, dict):
            raise WrongUseError(f"{name} in {file.name} is no table", hint="write [tool.singletable.lint]")
    for name, value in found.items():
        _check_setting(file.name, name, value)
    if file.parent != here:
        sys.path.append(str(file.parent))
    beside = {name: _beside(file.parent, found[name]) for name in ("targets", "baseline") if name in found}
    return {**found, **beside}


def _check_setting(file: str, name: str, value: Any) -> None:
    if name not in _SETTINGS:
        raise WrongUseError(
            f"[tool.singletable.lint] of {file} has no setting {name!r}",
            hint=f"{meant(name, _SETTINGS)}there are {', '.join(_SETTINGS)}",
        )
    is_right = isinstance(value, str) if name == "baseline" else _is_list_of_text(value)
    if not is_right:
        kind = "a text" if name == "baseline" else "a list of texts"
        raise WrongUseError(f"{name} in [tool.singletable.lint] is no {kind[2:]}", hint=f"write {kind}")


def _beside(folder: Path, named: str | list[str]) -> str | list[str]:
    """Return files as they are reached from here; the names of systems and modules stay."""
    if isinstance(named, list):
        return [str(_beside(folder, each)) for each in named]
    is_file = Path(named).suffix.lower() in (".toml", ".json") and not Path(named).is_absolute()
    return os.path.relpath(folder / named) if is_file else named


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _as_baseline(found: Sequence[Reported]) -> str:
    accepted = sorted({each.identity for each in found})
    names = ("target", "code", "place", "message")
    return (
        json.dumps({"accepted": [dict(zip(names, each, strict=True)) for each in accepted]}, indent=1) + "\n"
    )


def _new(found: Sequence[Reported], baseline: str) -> list[Reported]:
    """Return what a baseline does not list."""
    try:
        accepted = json.loads(text_of(baseline))["accepted"]
        known = {(each["target"], each["code"], each["place"], each["message"]) for each in accepted}
    except (ValueError, KeyError, TypeError) as error:
        raise WrongUseError(f"{baseline} is no baseline", hint="write one with --write-baseline") from error
    return [each for each in found if each.identity not in known]
