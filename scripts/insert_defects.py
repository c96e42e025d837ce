"""Write what was wrong with the documented designs into the READMEs of the systems, between defects comments.

usage: python scripts/insert_defects.py [--check]

The rows come from the fixes of each system (model/fixes.toml), which `blueprint diff` tells too; nobody
types one. `--check` writes nothing and exits 1 when a README says something else. The place begins with a comment,
<!-- defects -->, and ends with <!-- /defects -->.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from singletable.blueprint import FixBlueprint
from singletable.systems import installed_systems

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = ROOT / "src" / "singletable_systems"
HEAD = "| | | In the document | Repaired |\n|---|---|---|---|\n"
BEGIN, END = "<!-- defects -->\n", "<!-- /defects -->\n"
_KEY = r"(?<![\w`])[\w#.()-]*(?:[#<_][\w#<>.()-]*|\(\))(?<![.])"  # and names with _, and calls
_CODE = re.compile(rf"{_KEY}|\b[a-z]+[A-Z]\w*")


class NoPlaceError(ValueError):
    """The text has no place for the rows."""


def render(fixes: Iterable[FixBlueprint]) -> str:
    """Return the rows as a table of Markdown."""
    return HEAD + "".join(
        f"| {fix.id} | {fix.severity} | {_cell(fix.defect)} | {_cell(fix.repair)} |\n" for fix in fixes
    )


def _cell(text: str) -> str:
    return _CODE.sub(lambda found: f"`{found[0]}`", text.rstrip(".").replace("|", "\\|"))


def insert(text: str, rows: str) -> str:
    """Return a README with the rows in their place."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise NoPlaceError(f"there is no place between {BEGIN.strip()} and {END.strip()}")
    return f"{before}{begin}{rows}{end}{after}"


def main(arguments: list[str] | None = None) -> int:
    """Write the tables, or check them."""
    parser = argparse.ArgumentParser(description="write the tables of defects into the READMEs")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a README differs")
    is_check = parser.parse_args(arguments).check
    code = 0
    for name, system in installed_systems().items():
        path = SYSTEMS / name / "README.md"
        text = path.read_text(encoding="utf-8")
        made = insert(text, render(system.fixes()))
        if made == text:
            continue
        if is_check:
            print(f"{path.relative_to(ROOT)} differs from the fixes", file=sys.stderr)
            print("hint: run python scripts/insert_defects.py", file=sys.stderr)
            code = 1
        else:
            path.write_text(made, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
