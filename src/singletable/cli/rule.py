"""`singletable rule`: what a rule of the linter says, why, and how to repair it."""

from __future__ import annotations

import argparse
import json
from typing import Final

from singletable.cli.lint import NO_REASON, UNREADABLE
from singletable.cli.messages import WrongUseError
from singletable.lint import Rule, all_rules
from singletable.visible import meant

EXAMPLES = """\
examples:
  singletable rule KEY101              its page
  singletable rule KEY                 all rules whose codes begin so
  singletable rule --json              all of them, for programs
"""

DONE = 0
OWN: Final = {  # findings of the command itself
    NO_REASON: "W  A comment suppresses findings without a reason",
    UNREADABLE: "E  A file is no blueprint, or a module cannot be imported",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `rule`."""
    parser.add_argument(
        "code", metavar="CODE", nargs="?", default="", help="of a rule, or what codes begin with"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the page of a rule, or list rules."""
    code = arguments.code.upper()
    found = [rule for rule in all_rules().values() if rule.code.startswith(code)]
    if code in OWN:
        print(f"{code}  {OWN[code]}")
        return DONE
    if not found and code.startswith("ST"):
        raise WrongUseError(
            f"{code} is an error of a declaration, and no rule of the linter",
            hint=f"its page is docs/errors/{code}.md",
        )
    if not found:
        raise WrongUseError(
            f"there is no rule {arguments.code}",
            hint=f"{meant(code, all_rules())}singletable rule lists them",
        )
    if arguments.json:
        print(json.dumps({"rules": [_data(rule) for rule in found]}, ensure_ascii=False))
    elif len(found) == 1 and code == found[0].code:
        print(found[0].page(), end="")
    else:
        for rule in found:
            print(f"{rule.code}  {rule.severity.value}  {rule.title}")
    return DONE


def _data(rule: Rule) -> dict[str, str]:
    return {"code": rule.code, "severity": rule.severity.value, "title": rule.title, "page": rule.page()}
