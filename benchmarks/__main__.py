"""Measure: `python -m benchmarks [--quick] [--only speed|growth|startup|fairness|boto3]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import engine_speed, fairness, growth, in_process_boto3, report, startup

if TYPE_CHECKING:
    from collections.abc import Callable

SUITES = {
    "speed": engine_speed.run,
    "growth": growth.run,
    "startup": startup.run,
    "fairness": fairness.run_suite,
    "boto3": in_process_boto3.run,
}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    arguments = parse_arguments()
    results_directory = RESULTS / "quick" if arguments.quick else RESULTS
    results_directory.mkdir(parents=True, exist_ok=True)
    for suite in arguments.only or SUITES:
        with tempfile.TemporaryDirectory(prefix="benchmarks-", dir=arguments.directory) as name:
            directory = Path(name)
            measured = report.environment(directory, quick=arguments.quick)
            results = SUITES[suite](directory, quick=arguments.quick, say=progress(suite))
        report.write_json(results_directory / f"{suite}.json", measured, results)
    report.write_markdown(results_directory)
    print((results_directory / "engine.md").read_text())


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=SUITES, action="append", help="a suite to run (may be repeated)")
    parser.add_argument(
        "--quick", action="store_true", help="smaller tables, fewer calls; results go to results/quick"
    )
    parser.add_argument(
        "--directory", type=Path, help="where to make the databases (about 2 GB); on the disk to be measured"
    )
    return parser.parse_args()


def progress(suite: str) -> Callable[[str], None]:
    started_s = time.monotonic()

    def say(message: str) -> None:
        print(f"[{suite} {time.monotonic() - started_s:5.1f} s] {message}", file=sys.stderr, flush=True)

    return say


if __name__ == "__main__":
    main()
