"""A workload as usage that is billed: units, bytes, recovery and backups; and what of it cannot be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from singletable.blueprint import BackupBlueprint, Blueprint
from singletable.planning.billing import Usage
from singletable.planning.prices import RegionPrices, TableClass
from singletable.planning.workload import StoredPart, Workload

GB: Final = 1024**3
_FREE_READER: Final = "lambda"  # guide, "DynamoDB Streams": what Lambda reads of them is free


@dataclass(frozen=True, slots=True)
class Used:
    """What a month uses, what it rests on, and what is left out of it."""

    usage: Usage
    assumptions: tuple[str, ...]
    left_out: tuple[str, ...]


def usage_of(blueprint: Blueprint, workload: Workload, prices: RegionPrices, table_class: TableClass) -> Used:
    """Return what the workload uses in a month, as far as the region has prices for it."""
    return _Accounts(blueprint, workload, prices).used(table_class)


def is_recovered(blueprint: Blueprint, part: StoredPart) -> bool:
    """Tell whether recovery and backups are charged for it: for the table and its local indexes."""
    # "based on the size of each DynamoDB table (table data and local secondary indexes)" (AWS, pricing page)
    index = blueprint.index(part.index or "")
    return part.index is None or (index is not None and index.is_local)


def recovered_gb(blueprint: Blueprint, workload: Workload) -> float:
    """Return how much recovery and backups are charged for, once."""
    return sum(part.size.mean for part in workload.stored if is_recovered(blueprint, part)) / GB


class _Accounts:
    def __init__(self, blueprint: Blueprint, workload: Workload, prices: RegionPrices) -> None:
        self._blueprint = blueprint
        self._workload = workload
        self._prices = prices
        self._assumptions: list[str] = []
        self._left_out: list[str] = []
        replicas = [region for region in blueprint.table.regions if region.is_replica]
        self._replicas = max(0, len(replicas) - (len(replicas) == len(blueprint.table.regions)))

    def used(self, table_class: TableClass) -> Used:
        workload, replicas = self._workload, self._replicas
        writes = workload.writes_month.mean
        of_table = sum(
            line.call.units("write", index=None).mean * line.calls_month for line in workload.lines
        )
        usage = Usage(
            write_units_month=writes - of_table if replicas else writes,
            replicated_writes_month=of_table if replicas else 0.0,
            read_units_month=workload.reads_month.mean,
            peak_write_units_s=workload.peak_writes_per_s,
            peak_read_units_s=workload.peak_reads_per_s,
            storage_gb=workload.stored_bytes.mean / GB,
            pitr_gb=self._recovery_gb(),
            backup_gb=self._backup_gb(),
            stream_reads_month=self._stream_reads(),
            replicas=replicas,
            table_class=table_class,
        )
        return Used(usage, tuple(self._assumptions), tuple(self._left_out))

    def _backed_up_gb(self) -> float:
        return recovered_gb(self._blueprint, self._workload)

    def _recovery_gb(self) -> float:
        if self._blueprint.table.pitr_days is None or not self._is_priced("pitr", "point-in-time recovery"):
            return 0.0
        if self._replicas:
            self._assumptions.append("point-in-time recovery is on in every region of the global table")
        return self._backed_up_gb() * (1 + self._replicas)

    def _backup_gb(self) -> float:
        copies = sum(map(self._copies, self._blueprint.table.backups))
        return self._backed_up_gb() * copies if copies and self._is_priced("backup", "backups") else 0.0

    def _copies(self, backup: BackupBlueprint) -> float:
        if backup.kind not in ("on-demand", "aws-backup"):
            return 0.0
        if backup.keep_days is None or backup.every_days is None:
            self._left_out.append(f"backups of the kind {backup.kind}: declare keep_days and every_days")
            return 0.0
        self._assumptions.append("a backup that is kept is as large as the table is now")
        return backup.keep_days / backup.every_days

    def _is_priced(self, name: str, what: str) -> bool:
        if self._prices.find(name) is not None:
            return True
        self._left_out.append(
            f"{what}: its price in {self._prices.code} is not in the table of prices; `singletable prices import` "
            "reads it from AWS's price list"
        )
        return False

    def _stream_reads(self) -> float:
        kinds = {consumer.kind for consumer in self._blueprint.consumers}
        if _FREE_READER in kinds:
            self._assumptions.append(
                "Lambda reads the stream free of charge; its own bill is not part of this"
            )
        asked = self._workload.stream_reads_month
        if not asked or not self._is_priced("stream_read", "reading the stream"):
            return 0.0
        self._assumptions.append(
            "a reader of the stream that is not Lambda asks every shard four times a second"
        )
        return asked
