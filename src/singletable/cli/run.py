"""`singletable run`: an access pattern of a system or a design, run from the command line on any target."""

from __future__ import annotations

import argparse
import inspect
import shlex
import sys
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.arguments import count
from singletable.cli.messages import WrongUseError, error_data, say, say_failure
from singletable.cli.parser import Parser
from singletable.cli.patterns.finding import FoundPattern, all_sources, find_pattern, find_source
from singletable.cli.patterns.help_text import help_of, list_lines, pattern_data
from singletable.cli.patterns.opening import Opened, opened, rehearsed
from singletable.cli.patterns.parameters import fixed_options, option_values, read_options
from singletable.cli.patterns.plain_json import json_line, plain_item
from singletable.cli.patterns.results import PAGE_LIMIT, PatternOutcome, PatternRun, usage_data
from singletable.cli.patterns.text import (
    block_lines,
    count_text,
    key_text,
    outcome_lines,
    request_lines,
    terminal_width,
    units_text,
    usage_text,
)
from singletable.cli.targets import add_target_and_opening, choose_target, given_capabilities
from singletable.clock import SystemClock
from singletable.design import Usage
from singletable.errors import (
    AlreadyExistsError,
    ConditionNotMetError,
    DuplicateError,
    NotFoundError,
    VersionConflictError,
)
from singletable.pattern_texts.parameters import Parameter, parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = """\
examples:
  singletable run --list                                       all patterns of all systems
  singletable run kefir.batches_by_status --status active      on the file kefir.db
  singletable run kefir.batches_by_status --help               the options of a pattern
  singletable run lunch_cache.menu --restaurant niagara --year 2025 --week 3 --json
  singletable run kefir.due --target http://127.0.0.1:8000 --explain
  singletable run app.shop:Shop.orders --customer-id c1 --dry-run

PATTERN is SYSTEM.PATTERN or MODULE:DESIGN.PATTERN; - and _ are the same in it. It stands before its own options.
A page has 20 items; the command for the next one is printed with it, on stderr.
--json prints one object: items, by the names and with the values that are stored, numbers with all their digits;
cursor, units, read, thrown_away. With --all it prints an item a line, and the rest on stderr. What is kept for
bookkeeping, as the sum and the count of an average, is shown with --all-fields.

exit codes: 0, 1 if what was asked for by its key is not there or a write is refused, 2 for wrong use or a failure
"""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

YES: Final = 0
NO: Final = 1
WRONG_USE: Final = 2
_REFUSALS: Final = (
    AlreadyExistsError,
    ConditionNotMetError,
    DuplicateError,
    NotFoundError,
    VersionConflictError,
)


def add_arguments(parser: Parser) -> None:
    """Describe `run`. What its parser does not know is left to the pattern."""
    usage = (
        "singletable run PATTERN [--PARAMETER VALUE ...] [options]\n       singletable run --list [SYSTEM]"
    )
    parser.usage, parser.allow_abbrev, parser.leaves_rest = usage, False, True
    parser.add_argument("pattern", metavar="PATTERN", nargs="?", help="as kefir.batches_by_status")
    add_run_options(parser)
    parser.add_argument(
        "--list", action="store_true", help="list all patterns, or those of the system or MODULE:DESIGN given"
    )
    parser.set_defaults(parser=parser)


def add_run_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Describe the options that every pattern has."""
    parser.add_argument(
        "-h", "--help", action="store_true", help="show the options, of a pattern with its own"
    )
    add_target_and_opening(parser)
    parser.add_argument(
        "--limit", metavar="N", type=count, help="how many items there are at most on a page (default: 20)"
    )
    parser.add_argument("--cursor", metavar="CURSOR", help="where a page is to begin, as the one before says")
    parser.add_argument("--all", action="store_true", help="read everything, and print it as it comes")
    parser.add_argument("--newest-first", action="store_true", help="read from the end")
    parser.add_argument("--oldest-first", action="store_true", help="read from the beginning")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--all-fields",
        action="store_true",
        help="show also what is kept for bookkeeping, as the sum and the count of an average",
    )
    parser.add_argument(
        "--explain", action="store_true", help="say which requests were sent, and their units"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the requests, and send none")
    parser.add_argument("--yes", action="store_true", help="do not ask before a pattern deletes something")


def reserved_options() -> frozenset[str]:
    """Return the options that no parameter of a pattern can be called by."""
    parser = argparse.ArgumentParser(add_help=False)
    add_run_options(parser)
    options = [option for action in parser._actions for option in action.option_strings]
    return frozenset((*options, "--list", "--debug"))


def run(arguments: argparse.Namespace) -> int:
    """Run one pattern, or list them."""
    if arguments.pattern is None and not arguments.list:
        arguments.parser.print_help(sys.stdout if arguments.help else sys.stderr)
        return YES if arguments.help else WRONG_USE
    if arguments.list:
        return _list(arguments)
    pattern = find_pattern(arguments.pattern)
    parameters = _parameters(pattern)
    if arguments.help:
        print(help_of(pattern, parameters, add_run_options), end="")
        return YES
    return _Command(arguments, pattern, parameters).run()


def _parameters(pattern: FoundPattern) -> list[Parameter]:
    method = getattr(pattern.source.design, pattern.method)
    return parameters_of(method, pattern.name, reserved_options())


def _list(arguments: argparse.Namespace) -> int:
    if arguments.rest:
        raise WrongUseError(f"--list does not take {arguments.rest[0]}", hint="see singletable run --help")
    sources = all_sources() if arguments.pattern is None else [find_source(arguments.pattern)]
    found = [(pattern, _parameters(pattern)) for source in sources for pattern in source.patterns()]
    if arguments.json:
        print(json_line({"patterns": [pattern_data(*each) for each in found]}))
    else:
        for line in list_lines(found):
            print(line)
        say(f"{count_text(len(found), 'pattern')}; singletable run PATTERN --help shows the options of one")
    return YES


class _Command:
    """One run of one pattern."""

    def __init__(
        self, arguments: argparse.Namespace, pattern: FoundPattern, parameters: list[Parameter]
    ) -> None:
        self._arguments = arguments
        self._pattern = pattern
        self._parameters = parameters
        self._target = choose_target(arguments.target, pattern.source.file_name)
        self._texts = self._read_texts(arguments.rest)
        catalog = pattern.source.design.catalog
        self._values = option_values(pattern.name, parameters, self._texts, catalog)

    def run(self) -> int:
        source, environment = self._pattern.source, dict(self._arguments.env)
        if self._arguments.dry_run:
            capabilities = given_capabilities(self._arguments, None)
            with rehearsed(source, self._target, environment, capabilities) as where:
                return self._rehearse(where)
        capabilities = given_capabilities(self._arguments, self._target)
        with opened(source, self._target, environment, capabilities) as where:
            run = self._plan(where)
            if self._arguments.all:
                return self._stream(run, where)
            if run.deletes and not (self._arguments.yes or self._is_confirmed()):
                say("nothing was deleted")
                return NO
            return self._print(self._outcome(run), where)

    # --- what is asked for -------------------------------------------------------------------------------

    def _read_texts(self, rest: list[str]) -> dict[str, list[str]]:
        """Return what was given for each parameter, as it means the same on the next page."""
        given = read_options(self._pattern.name, self._parameters, rest)
        now = _EPOCH + timedelta(milliseconds=SystemClock().now_us() // 1000)
        texts: dict[str, list[str]] = {}
        for parameter in self._parameters:
            if parameter.name in given or parameter.is_now:
                texts[parameter.name] = fixed_options(parameter, given.get(parameter.name, ["now"]), now)
        return texts

    def _plan(self, where: Opened) -> PatternRun:
        method = getattr(where.design, self._pattern.method)
        bound = inspect.BoundArguments(inspect.signature(method), OrderedDict(self._values))
        arguments = self._arguments
        plan = method(*bound.args, **bound.kwargs)
        run = PatternRun(plan, where.session, shows_bookkeeping=arguments.all_fields)
        self._refuse_unfitting(run)
        if arguments.newest_first or arguments.oldest_first:
            run.order(newest_first=arguments.newest_first)
        return run

    def _refuse_unfitting(self, run: PatternRun) -> None:
        arguments = self._arguments
        given = {
            "--limit": arguments.limit is not None,
            "--cursor": arguments.cursor is not None,
            "--all": arguments.all,
            "--newest-first": arguments.newest_first,
            "--oldest-first": arguments.oldest_first,
        }
        options = [option for option, is_given in given.items() if is_given]
        if not run.reads_many and arguments.limit is not None and run.limit(arguments.limit):
            options.remove("--limit")
        if options and not run.reads_many:
            what = "writes" if run.writes else "reads at once what it names"
            raise WrongUseError(
                f"{self._pattern.name} {what}, and has no pages", hint=f"leave {' and '.join(options)} out"
            )
        if arguments.newest_first and arguments.oldest_first:
            raise WrongUseError("newest first and oldest first at once", hint="leave one of them out")
        if arguments.all and ("--limit" in options or "--cursor" in options):
            raise WrongUseError(
                "--all reads everything, from the beginning", hint="leave --limit and --cursor out"
            )

    def _is_confirmed(self) -> bool:
        what = f"{self._pattern.name} deletes on {self._target}"
        if sys.stdin is None or not sys.stdin.isatty():
            raise WrongUseError(
                f"{what}, and nobody can be asked", hint="run it with --yes, or with --dry-run"
            )
        print(f"{what}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    # --- what comes of it ----------------------------------------------------------------------------------

    def _outcome(self, run: PatternRun) -> PatternOutcome:
        try:
            return run.outcome(self._arguments.limit or PAGE_LIMIT, self._arguments.cursor)
        except _REFUSALS as error:
            if run.writes is None:
                raise
            say_failure(error)
            return PatternOutcome(done=run.writes, refusal=error_data(error))

    def _print(self, outcome: PatternOutcome, where: Opened) -> int:
        if self._arguments.json:
            print(json_line({**outcome.data(), **self._explanation(where)}))
        else:
            for line in outcome_lines(outcome, terminal_width()):
                print(line)
            for key in outcome.missing or ():
                say(f"not found: {key_text(key)}")
            if outcome.refusal is None:
                say(_summary(outcome))
            self._explain(where)
        if outcome.cursor is not None:
            say(f"next page: {self._next_page(outcome.cursor)}")
        return NO if outcome.is_no else YES

    def _next_page(self, cursor: str) -> str:
        return next_page(self._pattern, self._parameters, self._texts, self._arguments, cursor)

    def _stream(self, run: PatternRun, where: Opened) -> int:
        usage, count, width = Usage(), 0, terminal_width()
        for shown in run.stream(usage):
            count += 1
            if self._arguments.json:
                print(json_line(plain_item(shown.item)))
            else:
                for line in block_lines(shown, width):
                    print(line)
            if not self._arguments.explain:
                where.sent.clear()  # of a large table there are many
        if self._arguments.json:
            say(json_line({"items": count, **usage_data(usage), **self._explanation(where)}))
        else:
            say(f"{count_text(count, 'item')}, {usage_text(usage)}")
            self._explain(where)
        return YES

    # --- requests ------------------------------------------------------------------------------------------

    def _explanation(self, where: Opened) -> Mapping[str, Any]:
        if not self._arguments.explain:
            return {}
        return {"explain": [sent.data(where.table) for sent in where.sent]}

    def _explain(self, where: Opened) -> None:
        if not self._arguments.explain:
            return
        for line in request_lines(where.sent, where.table, is_dry=False):
            say(line)
        units = sum(sent.units for sent in where.sent)
        say(f"{count_text(len(where.sent), 'request')}, {units_text(units)}")

    def _rehearse(self, where: Opened) -> int:
        run = self._plan(where)
        # What is to be written may depend on an item, and nobody has read it.
        with suppress(NotFoundError):
            if self._arguments.all:
                list(run.stream(Usage()))
            else:
                run.outcome(self._arguments.limit or PAGE_LIMIT, self._arguments.cursor)
        if self._arguments.json:
            print(json_line({"requests": [_unsent(sent.data(where.table)) for sent in where.sent]}))
        else:
            for line in request_lines(where.sent, where.table, is_dry=True):
                print(line)
            say("nothing was sent; these are the requests to a table that holds nothing")
        return YES


def _unsent(data: dict[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in ("operation", "table", "index", "params")}


def _summary(outcome: PatternOutcome) -> str:
    if outcome.done is not None:
        return f"{outcome.done}, {units_text(outcome.usage.units)}"
    count = "nothing" if outcome.is_no else count_text(len(outcome.items), "item")
    return f"{count}, {usage_text(outcome.usage)}"


_FLAGS = ("newest_first", "oldest_first", "json", "all_fields", "explain")


def next_page(
    pattern: FoundPattern,
    parameters: list[Parameter],
    texts: Mapping[str, list[str]],
    arguments: argparse.Namespace,
    cursor: str,
) -> str:
    """Return the command for the next page. Times stand in it as moments: a cursor is of one question only."""
    words = ["singletable", "run", pattern.name]
    for parameter in parameters:
        given = texts.get(parameter.name, [])
        if any(text.startswith("-") for text in given):
            words += [f"{parameter.option}={text}" for text in given]
        elif given:
            words += [parameter.option, *given]
    if arguments.target is not None:
        words += ["--target", arguments.target]
    for name, value in arguments.env:
        words += ["--env", f"{name}={value}"]
    if arguments.without:
        words += ["--without", ",".join(arguments.without)]
    if arguments.capabilities is not None:
        words += ["--capabilities", arguments.capabilities]
    if arguments.limit is not None:
        words += ["--limit", str(arguments.limit)]
    words += [f"--{flag.replace('_', '-')}" for flag in _FLAGS if getattr(arguments, flag)]
    # With a sign of equality: a cursor may begin with a hyphen.
    return shlex.join([*words, f"--cursor={cursor}"])
