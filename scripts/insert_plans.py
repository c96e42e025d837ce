"""Write what plans of the systems say into the pages that show it, and draw their pictures.

usage: python scripts/insert_plans.py [--check]

Nobody types these figures: they are computed from the designs and the prices of this release. `--check` writes
nothing and exits 1 when a page or a picture says something else. A place begins with a comment such as
<!-- plan-prices --> and ends with <!-- /plan-prices -->; `PLACES` lists them all.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

from singletable.cli import main as run_command
from singletable.cli.blueprint import find_blueprint
from singletable.planning import Plan, PlanOptions, make_plan
from singletable.planning.reports.figures import counted, dollars, share

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
GUIDE = ROOT / "docs" / "guides" / "planning.md"
IMAGES = ROOT / "docs" / "images" / "planning"
SYSTEMS = {
    "kefir": "Kefir",
    "lunch_cache": "Lunch Cache",
    "perfectit": "PerfectIt",
    "smart_cooking": "Smart Cooking",
}
USERS = (1_000, 10_000, 1_000_000, 100_000_000)
README_USERS = (1_000, 1_000_000)
PICTURES: dict[str, str] = {
    **{f"{system}-users.svg": f"plan {system} --users 1000 --svg users" for system in SYSTEMS},
    **{f"{system}-heat.svg": f"plan {system} --users 1M --svg heat" for system in SYSTEMS},
    "perfectit-patterns.svg": "plan perfectit --users 1M --svg patterns",
    "perfectit-indexes.svg": "plan perfectit --users 1M --svg indexes",
    "perfectit-entities.svg": "plan perfectit --users 1M --svg entities",
}
COLUMNS = "80"


@cache
def planned(system: str, users: float) -> Plan:
    return make_plan(find_blueprint(system), PlanOptions(users=users))


def has_users(system: str) -> bool:
    """Tell whether any load or volume of a system grows with its users."""
    return planned(system, 1_000).usd != planned(system, 1_000_000).usd


# --- what is shown ----------------------------------------------------------------------------------------------


def prices() -> str:
    """Return what the systems cost, in a sentence and a table."""
    lines = ["| on AWS, on demand, us-east-1 | 1,000 users | 1,000,000 users |", "|---|--:|--:|"]
    for system, title in SYSTEMS.items():
        cells = [f"{dollars(planned(system, users).usd)} a month" for users in README_USERS]
        if not has_users(system):
            cells[1] = "the same: its document counts requests, not users"
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def by_users() -> str:
    """Return what the systems cost for each number of users."""
    head = " | ".join(f"{users:,} users" for users in USERS)
    lines = [f"| USD a month | {head} |", f"|---|{'--:|' * len(USERS)}"]
    for system, title in SYSTEMS.items():
        cells = " | ".join(dollars(planned(system, users).usd) for users in USERS)
        lines.append(f"| {title} | {cells} |")
    return "\n".join(lines) + "\n"


def hottest() -> str:
    """Return the busiest keys of the systems for each number of users, and where they break."""
    head = " | ".join(f"{users:,}" for users in USERS)
    lines = [f"| busiest key | {head} | full at users |", f"|---|{'--:|' * (len(USERS) + 1)}"]
    for system, title in SYSTEMS.items():
        for heat in planned(system, 1_000_000).heat:
            if heat.lines:
                cells = [share(_share(system, users, heat.place), 1) for users in USERS]
                full = "never" if heat.breaks_at_users is None else counted(heat.breaks_at_users)
                key = heat.key.replace("|", "\\|")
                lines.append(f"| {title}, {heat.place}: `{key}` | {' | '.join(cells)} | {full} |")
    return "\n".join(lines) + "\n"


def _share(system: str, users: float, place: str) -> float:
    return next(heat.share for heat in planned(system, users).heat if heat.place == place)


def transcript(*commands: str) -> Callable[[], str]:
    """Return what shows commands with what they print."""

    def shown() -> str:
        lines = ["```console"]
        for command in commands:
            lines += [f"$ singletable {command}", *printed(command).rstrip("\n").splitlines()]
        # A line of three dots may stand for anything in a transcript; an empty one for itself.
        return "\n".join([*lines, "```"]) + "\n"

    return shown


def printed(command: str) -> str:
    """Run a command in this process; return what it prints."""
    out, said = StringIO(), StringIO()
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        with redirect_stdout(out), redirect_stderr(said):
            code = run_command(shlex.split(command))
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    assert code == 0, f"{command} ended with {code}: {said.getvalue()}"
    return out.getvalue()


PLACES: dict[str, tuple[Path, Callable[[], str]]] = {
    "plan-prices": (README, prices),
    "plan-terminal": (GUIDE, transcript("plan kefir --users 10k")),
    "plan-explain": (GUIDE, transcript("plan kefir --explain due")),
    "plan-users": (GUIDE, by_users),
    "plan-heat": (GUIDE, hottest),
}


# --- the pages --------------------------------------------------------------------------------------------------


def insert(text: str, place: str, shown: str) -> str:
    """Return a page with something in its place."""
    begin, end = f"<!-- {place} -->", f"<!-- /{place} -->"
    before, found, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise ValueError(f"there is no {begin} … {end}")
    return f"{before}{begin}\n{shown}{end}{after}"


def wanted() -> Iterator[tuple[Path, str]]:
    """Return every file, as it has to be."""
    pages: dict[Path, str] = {}
    for place, (path, show) in PLACES.items():
        pages[path] = insert(pages.get(path) or path.read_text(encoding="utf-8"), place, show())
    yield from pages.items()
    for name, command in PICTURES.items():
        yield IMAGES / name, printed(command)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Write what plans of the systems say into the pages that show it."
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when one differs")
    is_check = parser.parse_args(arguments).check
    different = [
        (path, text)
        for path, text in wanted()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in different:
        if is_check:
            print(f"error: {path.relative_to(ROOT)} does not show what is planned", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}", file=sys.stderr)
    if different and is_check:
        print("\nhint: run python scripts/insert_plans.py", file=sys.stderr)
    return 1 if different and is_check else 0


if __name__ == "__main__":
    sys.exit(main())
