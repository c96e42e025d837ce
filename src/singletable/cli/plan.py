"""`singletable plan`: what a design costs and what runs hot, for so many users."""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.arguments import add_key, file_name
from singletable.cli.blueprint import find_blueprint
from singletable.cli.messages import WrongUseError, say
from singletable.cli.output import write_file
from singletable.cli.prices import add_prices, find_prices
from singletable.cli.targets import refuse_missing_file
from singletable.visible import meant

if TYPE_CHECKING:
    from singletable.blueprint import Blueprint
    from singletable.client import Client
    from singletable.planning import Plan, PriceTable
    from singletable.planning.profile import TableProfile
    from singletable.planning.reports.since import Since

EXAMPLES = """\
examples:
  singletable plan kefir                                what a system costs, as many users as it declares
  singletable plan kefir --users 1000000                the same for a million users
  singletable plan app.shop:Shop --region eu-north-1    a design of your own
  singletable plan kefir --explain due                  the arithmetic of one line, step by step
  singletable plan kefir --html --out kefir.html        a page with plots
  singletable plan shop.toml --budget 50                exit code 1 if it costs more
  singletable plan kefir --json --out plan.json         to keep; --since plan.json tells what has changed
  singletable plan kefir --markdown --since plan.json   for a pull request
  singletable plan kefir --data kefir.db                with the real sizes and numbers of a table
  singletable plan kefir --measured http://host:8000    what a running server has counted
  singletable plan kefir:documented --compare-documented    were the figures of its document right?

A TARGET is a system that is installed, SYSTEM:documented, MODULE:DESIGN, or a FILE.toml or FILE.json.
"""

DONE, OVER_BUDGET = 0, 1
_BILLING: Final = ("on-demand", "provisioned", "auto")
_CLASSES: Final = {"standard": "STANDARD", "infrequent-access": "STANDARD_INFREQUENT_ACCESS"}
_CHARTS: Final = ("patterns", "indexes", "entities", "users", "heat")
_NUMBER: Final = re.compile(r"(\d[\d_,]*(?:\.\d+)?)([kKmM]?)")
_SCALES: Final = {"": 1, "k": 1_000, "m": 1_000_000}
_USERS_MAX: Final = 1e10
_PLACEHOLDER: Final = re.compile(r"\{\w+\}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `plan`."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        type=file_name,
        help="a system, SYSTEM:documented, MODULE:DESIGN, FILE.toml or FILE.json",
    )
    parser.add_argument("--users", metavar="N", type=_users, help="for so many: 1000, 10k, 1M")
    parser.add_argument("--region", help="whose prices count (default: the design's, or us-east-1)")
    parser.add_argument("--billing", choices=_BILLING, help="auto: what costs less (default: the design's)")
    parser.add_argument("--table-class", choices=tuple(_CLASSES), help="(default: the design's)")
    parser.add_argument(
        "--reserved", metavar="YEARS", type=int, choices=(1, 3), help="reserve capacity: 1 or 3"
    )
    parser.add_argument(
        "--free-tier", action="store_true", help="take off what an account has free of charge"
    )
    add_prices(parser)
    parser.add_argument("--budget", metavar="USD", type=_usd, help="exit code 1 if a month costs more")
    _add_forms(parser)
    parser.add_argument("--out", metavar="FILE", type=file_name, help="write it to this file")
    parser.add_argument("--all", action="store_true", help="show every line in the terminal")
    parser.add_argument(
        "--explain", metavar="NAME", help="the arithmetic of a pattern, an entity, or storage"
    )
    parser.add_argument("--since", metavar="FILE", type=file_name, help="compare with an earlier --json")
    parser.add_argument(
        "--data", metavar="TARGET", help="sizes and numbers of this file, URL, dynamodb://REGION"
    )
    add_key(parser)
    parser.add_argument("--table", help="the table of --data and --measured (default: that of the design)")
    parser.add_argument("--measured", metavar="URL", help="heat by what this running server has counted")
    parser.add_argument(
        "--compare-documented", action="store_true", help="the figures of its document beside computed ones"
    )


def _add_forms(parser: argparse.ArgumentParser) -> None:
    forms = parser.add_mutually_exclusive_group()
    for form, about in (
        ("json", "print it as JSON"),
        ("markdown", "print it as Markdown, for a pull request"),
        ("html", "print it as a page with plots"),
    ):
        forms.add_argument(f"--{form}", action="store_const", dest="form", const=form, help=about)
    forms.add_argument("--svg", metavar="PLOT", choices=_CHARTS, help=f"one plot: {', '.join(_CHARTS)}")


def _users(text: str) -> float:
    found = _NUMBER.fullmatch(text)
    users = float(re.sub("[_,]", "", found[1])) * _SCALES[found[2].lower()] if found is not None else 0.0
    if not 1 <= users <= _USERS_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of users, such as 1000, 10k or 1M")
    return users


def _usd(text: str) -> float:
    try:
        usd = float(text.removeprefix("$"))
    except ValueError:
        usd = math.nan
    if not 0 <= usd < math.inf:  # NaN is in no range
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of USD, such as 50 or 12.50")
    return usd


# --- the command ----------------------------------------------------------------------------------------------


def run(arguments: argparse.Namespace) -> int:
    """Plan, and report it."""
    from singletable.planning import PlanOptions, make_plan

    _refuse_unused(arguments)
    blueprint = find_blueprint(arguments.target)
    if arguments.compare_documented:
        return _compare(arguments, blueprint)
    if arguments.measured is not None:
        return _measured(arguments, blueprint)
    prices = find_prices(arguments.prices)
    profile = None if arguments.data is None else _profile(arguments, blueprint)
    options = PlanOptions(
        users=arguments.users,
        region=arguments.region,
        billing=arguments.billing,
        table_class=_CLASSES.get(arguments.table_class),  # type: ignore[arg-type]
        reserved=arguments.reserved,
        free_tier=arguments.free_tier,
        budget_usd=arguments.budget,
    )
    plan = make_plan(blueprint, options, profile, prices)
    _write(arguments, _report(arguments, plan, prices))
    return _judge(plan)


def _refuse_unused(arguments: argparse.Namespace) -> None:
    """Refuse what a report has no place for: a budget that nobody looks at would always be kept."""
    forms: tuple[str, ...]
    if arguments.compare_documented:
        report, forms = "--compare-documented", ("json", "markdown")
    elif arguments.measured is not None:
        report, forms = "--measured", ("json",)
    else:
        return
    asked = {
        "--budget": arguments.budget is not None,
        "--since": arguments.since is not None,
        "--explain": arguments.explain is not None,
        "--svg": arguments.svg is not None,
        f"--{arguments.form}": arguments.form is not None and arguments.form not in forms,
    }
    unused = [name for name, is_asked in asked.items() if is_asked]
    if unused:
        raise WrongUseError(
            f"{report} does not go with {unused[0]}", hint="run them one after the other, each by itself"
        )


def _report(arguments: argparse.Namespace, plan: Plan, prices: PriceTable) -> str:
    if arguments.explain is not None:
        return _explained(arguments, plan)
    earlier = _since(arguments, plan)
    if arguments.svg is not None:
        from singletable.planning import cost_over_users
        from singletable.planning.reports.charts import chart
        from singletable.planning.reports.figures import title_of

        bills = cost_over_users(plan, prices) if arguments.svg == "users" else ()
        return chart(plan, arguments.svg, bills).standalone(plan.design if bills else title_of(plan))
    match arguments.form:
        case "json":
            data = plan.data() if earlier is None else {**plan.data(), "since": earlier.data()}
            return _json(data)
        case "markdown":
            from singletable.planning.reports.markdown import markdown

            return markdown(plan, earlier=earlier)
        case "html":
            from singletable.planning import cost_over_users
            from singletable.planning.reports.html import html

            return html(plan, cost_over_users(plan, prices), earlier=earlier)
        case _:
            from singletable.planning.reports.terminal import terminal

            return terminal(plan, earlier=earlier, width=_width(), every_line=arguments.all)


def _explained(arguments: argparse.Namespace, plan: Plan) -> str:
    from singletable.planning import explain
    from singletable.planning.reports.terminal import explained

    found = explain(plan, arguments.explain)
    if not found:
        known = dict.fromkeys([line.name for line in plan.lines] + [line.of for line in plan.lines])
        silent = [each for each in plan.left_out if arguments.explain in re.findall(r"\w+", each)]
        raise WrongUseError(
            f"the plan of {plan.design} has no line {arguments.explain!r}"
            + (f": {silent[0]}" if silent else ""),
            hint="declare a load of it, or name another line"
            if silent
            else f"{meant(arguments.explain, known)}name a pattern, an entity, or storage: "
            f"{', '.join(list(known)[:6])}, ...",
        )
    if arguments.form == "json":
        return _json({"explained": [each.data() for each in found]})
    return explained(found, width=_width())


def _since(arguments: argparse.Namespace, plan: Plan) -> Since | None:
    if arguments.since is None:
        return None
    from singletable.planning.reports.since import read_earlier, since

    try:
        text = Path(arguments.since).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no text"
        raise WrongUseError(
            f"{arguments.since} cannot be read: {said}",
            hint=f"singletable plan {arguments.target} --json --out {arguments.since} writes one",
        ) from error
    return since(plan, read_earlier(text, arguments.since))


def _judge(plan: Plan) -> int:
    if plan.options.budget_usd is None:
        return DONE
    from singletable.planning.reports.figures import budget_of

    say(f"{budget_of(plan)}")
    return OVER_BUDGET if plan.is_over_budget else DONE


def _write(arguments: argparse.Namespace, text: str) -> None:
    if arguments.out is None:
        print(text, end="")
    else:
        write_file(arguments.out, text)
        say(f"{arguments.out} is written")


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _width() -> int:
    return min(shutil.get_terminal_size().columns, 120)


# --- what is there ----------------------------------------------------------------------------------------------


def _profile(arguments: argparse.Namespace, blueprint: Blueprint) -> TableProfile:
    """Read a table, and return how large and how many its items are. Nothing is written."""
    from singletable.client import open_client
    from singletable.planning.profile import profile_table

    refuse_missing_file(arguments.data, hint="a plan makes no file: name one that is there")
    client = open_client(arguments.data)
    try:
        return profile_table(client, blueprint, arguments.table or _table(client, blueprint, arguments.data))
    finally:
        client.close()


def _table(client: Client, blueprint: Blueprint, target: str) -> str:
    """Return the name of the design's table; one with placeholders is looked for."""
    name = blueprint.table.name
    if not _PLACEHOLDER.search(name):
        return name
    wanted = re.compile(".+".join(map(re.escape, _PLACEHOLDER.split(name))))
    names: list[str] = client.call("ListTables", {})["TableNames"]
    found = [each for each in names if wanted.fullmatch(each)]
    if len(found) != 1:
        raise WrongUseError(
            f"{target} has {'no table' if not found else 'several tables'} like {name}",
            hint=f"name it: --table {found[0] if found else 'NAME'}",
        )
    return found[0]


def _measured(arguments: argparse.Namespace, blueprint: Blueprint) -> int:
    """Report what a server has counted, beside what the design expects of its keys."""
    from singletable.planning.measured import measured_heat
    from singletable.planning.reports.measured import measured_data, measured_text
    from singletable.planning.workload import Planner

    found = measured_heat(arguments.measured, Planner(blueprint, arguments.users), table=arguments.table)
    is_json = arguments.form == "json"
    _write(arguments, _json(measured_data(found)) if is_json else measured_text(found, width=_width()))
    return DONE


def _compare(arguments: argparse.Namespace, blueprint: Blueprint) -> int:
    """Report the figures of a document beside what is computed."""
    from singletable.planning.documented import compare_documented
    from singletable.planning.reports.documented import compared_data, compared_markdown, compared_text

    documented, fixed = _documents(arguments.target, blueprint)
    if not documented.figures:
        raise WrongUseError(
            f"{arguments.target} states no figures", hint="figures of a blueprint are its [[figures]]"
        )
    prices = find_prices(arguments.prices).region(arguments.region or "us-east-1")
    found = compare_documented(documented, fixed, prices)
    match arguments.form:
        case "json":
            _write(arguments, _json(compared_data(found)))
        case "markdown":
            _write(arguments, compared_markdown(found))
        case _:
            _write(arguments, compared_text(found, width=_width()))
    return DONE


def _documents(target: str, blueprint: Blueprint) -> tuple[Blueprint, Blueprint | None]:
    """Return the design as a document has it, and as it was built; the same design where there is but one."""
    name, _, which = target.partition(":")
    if Path(target).suffix.lower() in (".toml", ".json") or (which and which != "documented"):
        return blueprint, None
    if which:
        return blueprint, find_blueprint(name)
    return find_blueprint(f"{name}:documented"), blueprint
