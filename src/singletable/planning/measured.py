"""What runs hot on a server that is running: the units that it has counted since it was opened.

A server counts units of tables and of global indexes, and not of their keys: a bounded count of the busiest keys
takes up to 4 us for a key that is new to it, where reading an item takes 21 us. So a place is compared with one
partition as if all of it had one key, which is the worst that can be; with a plan of the design, also with the
part that its busiest key is expected to have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen

from singletable.errors import TargetError
from singletable.planning.heat import BACK_PRESSURE
from singletable.planning.hot_keys import TABLE, busiest, hot_keys
from singletable.planning.rules import PARTITION_READS, PARTITION_WRITES
from singletable.planning.shares import PLACEHOLDER
from singletable.planning.workload import Planner

TIMEOUT_S: Final = 10.0
ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024

NO_KEYS: Final = (
    "the server counts tables and indexes, and no keys: shares are those of a place whose units all had one key, "
    "or, with a design, the part that its busiest key is expected to have"
)
MEAN: Final = "rates are means since the server was opened, not of its busiest second"

_READS: Final = "singletable_consumed_read_capacity_units_total"
_WRITES: Final = "singletable_consumed_write_capacity_units_total"
_READS_THROTTLED: Final = "singletable_read_throttle_events_total"
_WRITES_THROTTLED: Final = "singletable_write_throttle_events_total"
_COUNTED: Final = "singletable_counted_seconds"
_SAMPLE: Final = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPES: Final = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


@dataclass(frozen=True, slots=True)
class MeasuredPlace:
    """What was counted of a table, or of a global index of it."""

    table: str
    place: str  # the table, or the name of an index
    read_units: float
    write_units: float
    reads_per_s: float
    writes_per_s: float
    reads_throttled: int
    writes_throttled: int
    share_at_most: float  # of the limits of one partition, if all had one key
    key: str  # the busiest key of the design; without a design, nothing
    share: float | None  # of the limits, with the part that the design expects of that key
    explanation: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """What a server has counted since it was opened; the busiest place first."""

    url: str
    counted_s: float
    places: tuple[MeasuredPlace, ...]
    notes: tuple[str, ...] = (NO_KEYS, MEAN)


def measured_heat(
    url: str, planner: Planner | None = None, *, table: str | None = None, timeout_s: float = TIMEOUT_S
) -> Measured:
    """Ask a server for its metrics, and compare them with one partition: all tables, or one of them.

    With a plan, the busiest keys are those of its design, for the table that has its name.
    """
    address = _address(url)
    return measured_from(address, _fetched(address, timeout_s), planner, table=table)


def measured_from(
    url: str, text: str, planner: Planner | None = None, *, table: str | None = None
) -> Measured:
    """Return what the metrics of a server say, in Prometheus's text format."""
    counted = _counted(url, text)
    seconds = counted.get((_COUNTED, "", ""), 0.0)
    if not seconds:
        raise TargetError(
            f"the metrics of {url} do not say for how long was counted",
            hint="ask a server of this release: singletable serve FILE",
        )
    places = sorted({(at, index) for name, at, index in counted if name in (_READS, _WRITES) and at})
    tables = {at for at, _ in places}
    if table is not None and table not in tables:
        known = ", ".join(sorted(tables)) or "none had a request"
        raise TargetError(f"{url} has counted nothing of a table {table!r}", hint=f"tables: {known}")
    expected = {} if planner is None else _expected(planner)
    found = [
        _place(counted, seconds, at, index, expected if planner and _is_of(planner, at, table) else {})
        for at, index in places
        if table in (None, at)
    ]
    return Measured(url, seconds, tuple(sorted(found, key=lambda each: -each.share_at_most)))


# --- asking ---------------------------------------------------------------------------------------------


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise TargetError(f"{url!r} is no address of a server", hint="for example http://127.0.0.1:8000")
    path = parts.path if parts.path.strip("/") else "/metrics"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _fetched(address: str, timeout_s: float) -> str:
    hint = "start it with singletable serve FILE; its metrics are at /metrics"
    try:
        with urlopen(address, timeout=timeout_s) as answer:
            read: bytes = answer.read(ANSWER_BYTES_MAX + 1)
    except HTTPError as error:
        raise TargetError(f"{address} answers {error.code}, and no metrics", hint=hint) from None
    except URLError as error:
        raise TargetError(f"{address} cannot be asked: {error.reason}", hint=hint) from None
    except (OSError, HTTPException, ValueError) as error:
        why = str(error) or type(error).__name__
        raise TargetError(f"{address} cannot be asked: {why}", hint=hint) from None
    if len(read) > ANSWER_BYTES_MAX:
        raise TargetError(f"{address} answers with more than {ANSWER_BYTES_MAX:,} bytes", hint=hint)
    return read.decode("utf-8", "replace")


def _counted(url: str, text: str) -> dict[tuple[str, str, str], float]:
    """Return the samples that matter, by name, table and index."""
    wanted = {_READS, _WRITES, _READS_THROTTLED, _WRITES_THROTTLED, _COUNTED}
    found: dict[tuple[str, str, str], float] = {}
    is_ours = False
    for line in text.splitlines():
        is_ours = is_ours or line.startswith("# HELP singletable_")
        sample = _SAMPLE.fullmatch(line)
        if sample is None or sample["name"] not in wanted:
            continue
        labels = {name: _unescaped(value) for name, value in _LABEL.findall(sample["labels"] or "")}
        try:
            value = float(sample["value"])
        except ValueError:
            continue
        found[sample["name"], labels.get("table", ""), labels.get("index", "")] = value
    if not is_ours:
        raise TargetError(
            f"{url} answers, but with no metrics of singletable", hint="is it another server's?"
        )
    return found


def _unescaped(value: str) -> str:
    return re.sub(r"\\[\\\"n]", lambda found: _ESCAPES[found.group()], value)


# --- comparing ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Expected:
    """The busiest key that a design expects in a place, and its part of all that goes there."""

    key: str
    reads: float
    writes: float


def _is_of(planner: Planner, table: str, named: str | None) -> bool:
    pieces = PLACEHOLDER.split(planner.blueprint.table.name)[::2]
    pattern = ".+".join(re.escape(piece) for piece in pieces)
    return table == named or re.fullmatch(pattern, table) is not None


def _expected(planner: Planner) -> dict[str, _Expected]:
    local = {index.name for index in planner.blueprint.indexes if index.is_local}
    totals: dict[tuple[str, str], float] = {}
    for line in planner.workload().lines:
        for charge in line.call.charges:
            place = TABLE if charge.index is None or charge.index in local else charge.index
            calls_per_s = line.peak_per_s if line.calls_month else 0.0
            of = place, charge.direction
            totals[of] = totals.get(of, 0.0) + charge.units.mean * calls_per_s
    return {
        key.place: _Expected(
            key.space.text,
            _part(key.reads, totals.get((key.place, "read"), 0.0)),
            _part(key.writes, totals.get((key.place, "write"), 0.0)),
        )
        for key in busiest(hot_keys(planner))
        if key.share
    }


def _part(some: float, everything: float) -> float:
    return min(1.0, some / everything) if everything else 0.0


def _place(
    counted: Mapping[tuple[str, str, str], float],
    seconds: float,
    table: str,
    index: str,
    expected: Mapping[str, _Expected],
) -> MeasuredPlace:
    def of(name: str) -> float:
        return counted.get((name, table, index), 0.0)

    place = index or TABLE
    reads, writes = of(_READS) / seconds, of(_WRITES) / seconds
    at_most = max(reads / PARTITION_READS, writes / PARTITION_WRITES)
    key = expected.get(place)
    share = (
        None
        if key is None
        else max(reads * key.reads / PARTITION_READS, writes * key.writes / PARTITION_WRITES)
    )
    throttled = int(of(_READS_THROTTLED)), int(of(_WRITES_THROTTLED))
    return MeasuredPlace(
        *(table, place, of(_READS), of(_WRITES), reads, writes, *throttled, at_most),
        *("" if key is None else key.key, share),
        "; ".join(_sentences(reads, writes, at_most, key, share)),
        tuple(_notes(index, writes, throttled)),
    )


def _sentences(
    reads: float, writes: float, at_most: float, key: _Expected | None, share: float | None
) -> Iterator[str]:
    yield f"{reads:,.3g} read and {writes:,.3g} write units a second on average"
    yield f"at most {at_most:.3g} of what one partition takes, if all of it had one key"
    if key is not None and share is not None:
        yield f"{share:.3g} of it, if {key.key} has the part that the design expects"


def _notes(index: str, writes: float, throttled: tuple[int, int]) -> Iterator[str]:
    if any(throttled):
        yield f"{throttled[0]:,} reads and {throttled[1]:,} writes were throttled"
    if index and writes:
        yield BACK_PRESSURE
