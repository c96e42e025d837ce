"""Measure: `python -m benchmarks [--quick] [--only SUITE]`."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import (
    background,
    blueprints,
    design_layer,
    engine_speed,
    expiry,
    fairness,
    growth,
    http_boto3,
    http_report,
    http_slow_disk,
    http_speed,
    http_stalls,
    http_start,
    in_process_boto3,
    integrity,
    linting,
    log_cost,
    planning,
    report,
    scale,
    startup,
    systems_load,
)
from benchmarks.http_servers import MissingToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.report import Measured

    Suite = Callable[..., Sequence[Measured]]

SUITES: dict[str, Suite] = {
    "speed": engine_speed.run,
    "growth": growth.run,
    "startup": startup.run,
    "fairness": fairness.run_suite,
    "boto3": in_process_boto3.run,
    "design": design_layer.run,
    "blueprint": blueprints.run,
    "log": log_cost.run,
    "integrity": integrity.run,
    "ttl": expiry.run,
    "background": background.run,
    "http": http_speed.run,
    "http-slow-disk": http_slow_disk.run,
    "http-boto3": http_boto3.run,
    "http-start": http_start.run,
    "http-stalls": http_stalls.run,
    "planning": planning.run,
    "lint": linting.run,
    "load": systems_load.run,
    "scale": scale.run,
}
RESULTS = Path(__file__).parent / "results"


def main() -> int:
    arguments = parse_arguments()
    # When it is terminated it must not leave servers behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    results_directory = RESULTS / "quick" if arguments.quick else RESULTS
    results_directory.mkdir(parents=True, exist_ok=True)
    for suite in arguments.only or SUITES:
        try:
            with tempfile.TemporaryDirectory(prefix="benchmarks-", dir=arguments.directory) as name:
                directory = Path(name)
                measured = report.environment(directory, quick=arguments.quick)
                results = SUITES[suite](directory, quick=arguments.quick, say=progress(suite))
        except MissingToolError as error:
            print(f"error: {suite}: {error}\n\nhint: {error.hint}", file=sys.stderr)
            if arguments.only:
                return 2
            continue  # the others can be measured without it
        report.write_json(results_directory / f"{suite}.json", measured, results)
    report.write_markdown(results_directory)
    http_report.write_markdown(results_directory)
    for page in (report.PAGE, http_report.PAGE):
        if (results_directory / page).exists():
            print((results_directory / page).read_text())
    return 0


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
    sys.exit(main())
