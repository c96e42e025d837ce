"""The figures in the README and the pages are those of the results; the scripts behind other figures run."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from documents.blocks import ROOT
from support.serving import TIMEOUT_S

SCRIPT: Final = ROOT / "scripts" / "insert_benchmarks.py"
MEASURED: Final[dict[str, Any]] = {
    "measured_at": "2026-11-15 14:30 UTC",
    "quick": False,
    "system": "Linux x86_64",
    "cores": 2,
    "python": "3.11.7",
    "sqlite": "3.54.0",
    "append_fdatasync_us": 116.0,
}
SLOW: Final[dict[str, Any]] = {
    "name": "query of 25",
    "subject": {"median_us": 213.8},
    "floor": {"name": "range read + decode", "median_us": 129.0},
    "ratio": 1.658,
    "ratio_max": 1.4,
    "reached": False,
}
FAST: Final[dict[str, Any]] = {**SLOW, "name": "get", "ratio": 1.25, "ratio_max": 2.0, "reached": True}
WITHOUT_GOAL: Final[dict[str, Any]] = {**SLOW, "name": "aside", "ratio_max": None, "reached": None}
START: Final[dict[str, Any]] = {
    "name": "open",
    "unit": "ms",
    "value": 0.318,
    "value_max": 2.0,
    "reached": True,
}
RATES: Final[list[dict[str, Any]]] = [
    {
        "operation": operation,
        "shape": "many attributes",
        "server": server,
        "version": version,
        "rate": rate,
        "reached": None,
    }
    for operation, rate in (("GetItem", 12345.6), ("Query", 4000.0), ("PutItem", 900.4), ("UpdateItem", 7.0))
    for server, version in (("singletable, in memory", "0.1.0"), ("dynalite, in memory", "4.0.0"))
]
ALONE: Final[dict[str, Any]] = {**RATES[0], "server": "gets alone", "version": ""}
RATIO: Final[dict[str, Any]] = {
    "operation": "GetItem",
    "shape": "many attributes",
    "server": "singletable, in memory",
    "against": "dynalite, in memory",
    "ratio": 2.5,
    "ratio_min": 3.0,
    "reached": False,
}
STALL: Final[dict[str, Any]] = {
    "server": "singletable, durable",
    "beside": "scans",
    "client": "GetItem",
    "stall_ms": 31.4,
    "stall_ms_max": 50.0,
    "reached": True,
}
LONGER_STALL: Final[dict[str, Any]] = {**STALL, "client": "PutItem", "stall_ms": 61.4, "reached": False}
DISK_STALL: Final[dict[str, Any]] = {**STALL, "client": "append", "stall_ms": 99.0, "reached": None}
LEFT_OUT: Final[dict[str, Any]] = {"server": "dynoxide, in memory", "why": "no cargo", "reached": None}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("insert_benchmarks", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def readme(tmp_path: Path) -> Path:
    path = tmp_path / "README.md"
    path.write_text("before\n<!-- benchmarks -->\nold\n<!-- /benchmarks -->\nafter\n")
    return path


def write_results(directory: Path, suite: str, *results: dict[str, Any], **changed: Any) -> None:
    (directory / f"{suite}.json").write_text(json.dumps({**MEASURED, **changed, "results": results}))


def test_readme_shows_the_figures_of_the_results() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_without_results_the_readme_says_so(script: ModuleType, readme: Path, tmp_path: Path) -> None:
    assert script.main([], readmes=[readme], results=tmp_path) == 0
    assert readme.read_text() == (
        f"before\n<!-- benchmarks -->\n{script.NO_FIGURES}<!-- /benchmarks -->\nafter\n"
    )


def test_every_figure_with_a_goal_is_shown_reached_or_not(
    script: ModuleType, readme: Path, tmp_path: Path
) -> None:
    write_results(tmp_path, "speed", FAST, SLOW, WITHOUT_GOAL)
    write_results(tmp_path, "startup", START, append_fdatasync_us=1251.0)
    assert script.main([], readmes=[readme], results=tmp_path) == 0
    text = readme.read_text()
    assert "| get | 214 us | range read + decode | 129 us | 1.25x | at most 2x |\n" in text
    assert (
        "| query of 25 | 214 us | range read + decode | 129 us | 1.66x | at most 1.4x: **not reached** |"
        in text
    )
    assert "| open | 0.318 ms | under 2 ms |\n" in text
    assert "takes 116 to 1251 us" in text
    assert "aside" not in text
    assert text.startswith("before\n<!-- benchmarks -->\nMeasured 2026-11-15 on Linux x86_64, 2 cores")
    assert text.endswith("<!-- /benchmarks -->\nafter\n")


def test_few_figures_of_the_readme_are_those_of_the_durable_server(
    script: ModuleType, readme: Path, tmp_path: Path
) -> None:
    readme.write_text("<!-- highlights -->\n<!-- /highlights -->\n")
    durable = [
        {**each, "server": script.HERE} for each in RATES if each["server"] == "singletable, in memory"
    ]
    ratios = [
        {**RATIO, "server": script.HERE, "against": against, "shape": shape, "ratio": ratio}
        for against, ratio in zip(script.BESIDE, (4.04, 2.16), strict=True)
        for shape in ("many attributes", "one long text")
    ]
    write_results(tmp_path, "http", *RATES, *durable, *ratios)
    in_process = {**SLOW, "name": script.IN_PROCESS, "ratio": 43.2, "floor": {"median_us": 72.4}}
    write_results(tmp_path, "boto3", in_process)
    assert script.main([], readmes=[readme], results=tmp_path) == 0
    text = readme.read_text()
    assert "| GetItem | 12,346 a second | 4.0x, 4.0x | 2.2x, 2.2x |\n" in text
    assert "| get of 1 KB through boto3 in the process | 72 us | beside moto: 43x | |\n" in text


def test_server_figures_are_shown_in_their_own_place(
    script: ModuleType, readme: Path, tmp_path: Path
) -> None:
    text = readme.read_text()
    readme.write_text(f"{text}<!-- server-benchmarks -->\nold\n<!-- /server-benchmarks -->\nend\n")
    write_results(tmp_path, "speed", FAST)
    without_goal = {**RATIO, "ratio_min": None, "reached": None}
    ratios = [
        {**without_goal, "operation": operation, "shape": shape, "ratio": ratio}
        for operation in ("GetItem", "Query", "PutItem", "UpdateItem")
        for shape, ratio in (("many attributes", 2.5), ("one long text", 1.74))
    ]
    longer = {**RATES[0], "shape": "one long text", "rate": 99_999.0}
    write_results(tmp_path, "http", *RATES, longer, *ratios[1:], RATIO, LEFT_OUT)
    write_results(tmp_path, "http-slow-disk", ALONE)
    write_results(tmp_path, "http-start", START)
    write_results(tmp_path, "http-stalls", STALL, LONGER_STALL, DISK_STALL)
    assert script.main([], readmes=[readme], results=tmp_path) == 0
    text = readme.read_text()
    engine, _, server = text.partition("<!-- server-benchmarks -->\n")
    assert "| get | 214 us |" in engine
    assert server == (
        "Measured 2026-11-15 on Linux x86_64, 2 cores, Python 3.11.7, SQLite 3.54.0, where an append of 1 KB with "
        "fdatasync takes 116 us. Medians; each pair was measured in turns, in one run.\n"
        "Compared: dynalite 4.0.0.\n"
        "Not measured: dynoxide, in memory (no cargo).\n"
        "\n"
        "| requests/s | GetItem | Query of 25 | PutItem | UpdateItem, condition |\n"
        "|---|---:|---:|---:|---:|\n"
        "| singletable, in memory | 12,346 | 4,000 | 900 | 7 |\n"
        "| dynalite, in memory | 12,346 | 4,000 | 900 | 7 |\n"
        "\n"
        "| times as fast: many attributes, one long text "
        "| GetItem | Query of 25 | PutItem | UpdateItem, condition |\n"
        "|---|---:|---:|---:|---:|\n"
        "| singletable, in memory: dynalite, in memory "
        "| 2.5x, 1.7x | 2.5x, 1.7x | 2.5x, 1.7x | 2.5x, 1.7x |\n"
        "\n"
        "| | compared with | ratio | goal |\n"
        "|---|---|---|---|\n"
        "| GetItem: singletable, in memory | dynalite, in memory | 2.50x | at least 3x: **not reached** |\n"
        "\n"
        "| | here | goal |\n"
        "|---|---|---|\n"
        "| open | 0.318 ms | at most 2 ms |\n"
        "| singletable, durable: longest stall beside scans | 61 ms (PutItem) | at most 50 ms: **not reached** |\n"
        "<!-- /server-benchmarks -->\nend\n"
    )


def test_load_figures_are_shown_in_their_own_place(script: ModuleType, readme: Path, tmp_path: Path) -> None:
    readme.write_text("<!-- load-benchmarks -->\n<!-- /load-benchmarks -->")
    loaded = {**RATES[0], "p50_ms": 47.2, "p99_ms": 1107.4, "requests": 35_918}
    write_results(tmp_path, "load", loaded, {**loaded, "operation": "Query"})
    assert script.main([], readmes=[readme], results=tmp_path) == 0
    shown = readme.read_text()
    assert "| singletable, in memory | 12,346 | 47 ms | 1,107 ms | 0 of 35,918 |" in shown
    assert shown.count("| requests/s | p50 | p99 | failed |") == 2


def test_patterns_on_both_seeds_are_shown_by_system(script: ModuleType, readme: Path, tmp_path: Path) -> None:
    readme.write_text("<!-- scale-benchmarks -->\n<!-- /scale-benchmarks -->")
    same = {**FAST, "name": "1 user", "system": "kefir", "ratio_max": 1.6, "units": 0.5, "units_small": 0.5}
    dearer = {**same, "name": "2 batches", "ratio": 1.7, "units": 2.5, "reached": False}
    figures = [
        {"name": name, "unit": "", "value": value, "reached": None}
        for name, value in (
            ("items of the small seed", 1_086),
            ("items of the large seed", 1_000_000),
            ("loading the large seed", 10_204),
        )
    ]
    write_results(tmp_path, "scale", same, dearer, {**same, "system": "lunch_cache"}, *figures)
    assert script.main([], readmes=[readme], results=tmp_path) == 0
    shown = readme.read_text()
    assert (
        "1,086 items (small) and 1,000,000 items (large); the large seed was loaded at 10,204 items" in shown
    )
    assert "| kefir | units | small | large | ratio |" in shown
    assert "| lunch_cache | units | small | large | ratio |" in shown
    assert "| 1 user | 0.5 | 129 us | 214 us | 1.25x |" in shown
    assert (
        "| 2 batches | 0.5, large 2.5: **not the same** | 129 us | 214 us | 1.70x, goal 1.6x: **not reached** |"
        in shown
    )


def test_pages_of_the_results_show_the_results(tmp_path: Path) -> None:
    results = ROOT / "benchmarks" / "results"
    for path in results.glob("*.json"):
        shutil.copy(path, tmp_path)
    render = (
        "import sys, pathlib; from benchmarks import http_report, report; "
        "directory = pathlib.Path(sys.argv[1]); "
        "report.write_markdown(directory); http_report.write_markdown(directory)"
    )
    subprocess.run([sys.executable, "-c", render, str(tmp_path)], check=True, cwd=ROOT)
    for pattern in ("*.md", "*.svg"):
        written = {path.name: path.read_text() for path in tmp_path.glob(pattern)}
        assert written == {path.name: path.read_text() for path in results.glob(pattern)}


def test_quick_run_is_called_one(script: ModuleType, readme: Path, tmp_path: Path) -> None:
    write_results(tmp_path, "speed", FAST, quick=True)
    script.main([], readmes=[readme], results=tmp_path)
    assert "A quick run: the goals are for a full one." in readme.read_text()


def test_check_tells_stale_figures_and_writes_nothing(
    script: ModuleType, readme: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(tmp_path, "speed", FAST)
    before = readme.read_text()
    assert script.main(["--check"], readmes=[readme], results=tmp_path) == 1
    assert readme.read_text() == before
    assert capsys.readouterr().err == (
        "error: README.md does not show the figures of benchmarks/results\n"
        "\nhint: run python scripts/insert_benchmarks.py\n"
    )
    script.main([], readmes=[readme], results=tmp_path)
    assert script.main(["--check"], readmes=[readme], results=tmp_path) == 0


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        "<!-- benchmarks -->",
        "<!-- /benchmarks --> <!-- benchmarks -->",
        "<!-- benchmarks --> <!-- /benchmarks --> <!-- server-benchmarks -->",
    ],
)
def test_readme_without_a_place_for_figures_is_an_error(
    script: ModuleType, tmp_path: Path, text: str
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text)
    assert script.main([], readmes=[readme], results=tmp_path) == 2
    assert readme.read_text() == text


def test_measurements_of_the_decisions_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "decisions" / "measure.py"), "--quick"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        timeout=TIMEOUT_S,
    )
    assert done.stdout.count("\n**") == 5
    assert done.stderr == ""
