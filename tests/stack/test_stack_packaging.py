"""The package of a Lambda function: the same bytes twice, and all that it needs in an empty environment."""

from __future__ import annotations

import io
import json
import os
import platform
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from designs.tasks import Tasks
from singletable import Database, Design
from singletable.errors import StackError
from singletable.server import BackgroundServer
from singletable.stack.packaging import ENTRY, ENVIRONMENT, Architecture, Package, package, zipped
from singletable.stack.reached import Reached
from singletable.systems import find_system
from singletable_systems.kefir.model.entities import Reminder
from singletable_systems.kefir.model.keys import BatchId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.perfectit import PerfectIt
from singletable_systems.smart_cooking import SmartCooking

KEFIR_SYSTEM = "singletable_systems.kefir.operating.system:SYSTEM"
KEFIR_PREPARE = "singletable_systems.kefir.operating.functions:prepare"
# What Lambda's Python has beside the standard library: boto3, with what it needs.
PROVIDED = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six.py")
TABLE = "kefir-app-test-table"
THIS_MACHINE: Architecture = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
OTHER_MACHINE: Architecture = "x86_64" if THIS_MACHINE == "arm64" else "arm64"

# AWS's sample event for DynamoDB ("DynamoDB Update" of the Lambda console; Lambda guide, "Using AWS Lambda with
# Amazon DynamoDB"): its table, account and items are the sample's own.
SAMPLE_EVENT = json.loads(Path(__file__).with_name("sample_stream_event.json").read_text())


@pytest.fixture(scope="module")
def kefir() -> Package:
    return package(Kefir, system=KEFIR_SYSTEM, prepare=KEFIR_PREPARE, architecture=THIS_MACHINE)


@pytest.fixture(scope="module")
def function(kefir: Package, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unzip the package, with a folder beside it of what Lambda provides."""
    folder = tmp_path_factory.mktemp("function")
    with zipfile.ZipFile(io.BytesIO(kefir.content)) as archive:
        archive.extractall(folder / "task")
    runtime = folder / "runtime"
    runtime.mkdir()
    site = Path(boto3.__file__).parents[1]
    for name in PROVIDED:
        (runtime / name).symlink_to(site / name)
    return folder


@pytest.fixture
def served() -> Iterator[tuple[Kefir, str]]:
    with (
        Database.open(":memory:") as database,
        BackgroundServer(database) as address,
        Kefir.open(address.url, stage="test") as db,
    ):
        db.create_table()
        yield db, address.url


def invoke(folder: Path, handler: str, event: object, url: str = "http://127.0.0.1:9") -> dict[str, Any]:
    """Run a function as Lambda does: a fresh Python that sees the package and its runtime, and nothing else."""
    program = f"""
import json, sys
sys.path[:] = [each for each in sys.path if "-packages" not in each]
sys.path[:0] = [{str(folder / "task")!r}, {str(folder / "runtime")!r}]
class Context:
    def get_remaining_time_in_millis(self): return 60_000
from {ENTRY} import {handler} as handler
answer = handler(json.load(sys.stdin), Context())
heavy = [name for name in sys.modules if name.split(".")[0] == "apsw" or name == "singletable.storage"]
print(json.dumps({{"answer": answer, "heavy": heavy}}))
"""
    environment = {
        "PATH": os.environ["PATH"],
        "AWS_REGION": "eu-north-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL_DYNAMODB": url,
        "AWS_EC2_METADATA_DISABLED": "true",
        ENVIRONMENT: json.dumps({"stage": "test"}),
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    told: dict[str, Any] = json.loads(last)
    return {**told, "log": lines, "stderr": done.stderr}


# --- the zip ---------------------------------------------------------------------------------------------


def test_package_is_the_same_bytes_twice(kefir: Package) -> None:
    again = package(Kefir, system=KEFIR_SYSTEM, prepare=KEFIR_PREPARE, architecture=THIS_MACHINE)
    assert again.content == kefir.content
    assert again.digest == kefir.digest


def test_times_names_and_modes_are_fixed(kefir: Package) -> None:
    with zipfile.ZipFile(io.BytesIO(kefir.content)) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(kefir.names)
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o644}
    assert zipped({"b": b"2", "a": b"1"}) == zipped({"a": b"1", "b": b"2"})


def test_package_has_neither_engine_nor_what_lambda_provides(kefir: Package) -> None:
    first = {name.partition("/")[0] for name in kefir.names}
    assert not first & {"apsw", "boto3", "botocore", "httptools", "uvloop", "pytest"}
    rooms = {name.split("/")[1] for name in kefir.names if name.startswith("singletable/")}
    assert not rooms & {"engine", "storage", "wire", "server", "cli", "testing"}
    assert {"pydantic", "pydantic_core", "rtoml"} <= first


def test_package_has_the_modules_of_its_system_and_of_no_other(kefir: Package) -> None:
    systems = {name.split("/")[1] for name in kefir.names if name.startswith("singletable_systems/")}
    assert systems == {"__init__.py", "py.typed", "kefir", "shared"}


def test_package_tells_nothing_of_this_machine(kefir: Package) -> None:
    home = str(Path.home()).encode()
    folder = str(Path(__file__).parents[2]).encode()
    with zipfile.ZipFile(io.BytesIO(kefir.content)) as archive:
        for name in kefir.names:
            assert not name.startswith(("/", ".."))
            assert not name.endswith(("RECORD", "direct_url.json", ".pyc"))
            if not name.endswith(".so"):
                content = archive.read(name)
                assert folder not in content, name
                assert len(home) < 6 or home not in content, name


@pytest.mark.parametrize("design", [Kefir, LunchCache, PerfectIt, SmartCooking])
def test_every_system_fits_into_lambda(design: type[Design]) -> None:
    made = package(design, architecture=THIS_MACHINE)
    assert len(made.content) < 50 * 1024 * 1024
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        entry = archive.read(f"{ENTRY}.py").decode()
    compile(entry, ENTRY, "exec")
    assert ("lambda_handler" in entry) == (design is not LunchCache)  # whose table has no stream


def test_design_of_a_plain_module_goes_along_with_it() -> None:
    assert "designs/tasks.py" in package(Tasks, architecture=THIS_MACHINE).names


# --- in an empty environment -----------------------------------------------------------------------------


def test_data_of_a_package_goes_along_and_what_is_hidden_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop_with_data"
    folder.mkdir()
    for name in ("__init__.py", "used.py", "unused.py", "prices.csv", ".env", "notes.md"):
        (folder / name).write_text("from shop_with_data import used\n" if name == "__init__.py" else "")
    monkeypatch.syspath_prepend(tmp_path)
    found = dict(Reached(["shop_with_data"]).files())
    assert sorted(found) == [f"shop_with_data/{each}" for each in ("__init__.py", "prices.csv", "used.py")]


def test_function_answers_the_sample_event_of_aws(function: Path) -> None:
    event = json.loads(json.dumps(SAMPLE_EVENT).replace("ExampleTableWithStream", TABLE))
    told = invoke(function, "lambda_handler", event)
    assert told["answer"] == {"batchItemFailures": []}
    assert told["heavy"] == []


def test_function_refuses_records_of_another_table_by_their_number(function: Path) -> None:
    told = invoke(function, "lambda_handler", SAMPLE_EVENT)
    first = SAMPLE_EVENT["Records"][0]["dynamodb"]["SequenceNumber"]
    assert told["answer"] == {"batchItemFailures": [{"itemIdentifier": first}]}
    assert "ExampleTableWithStream" in told["stderr"]


def reminder(due_at: datetime) -> Reminder:
    return Reminder(
        reminder_id=ReminderId("r1"),
        batch_id=BatchId("b1"),
        user_id=UserId("ada"),
        message="taste it",
        due_at=due_at,
    )


def test_function_runs_handlers_over_a_record_of_its_table(function: Path, served: tuple[Kefir, str]) -> None:
    db, url = served
    stored = reminder(datetime.now(UTC) + timedelta(days=1)).model_copy(update={"scheduler_arn": "arn:old"})
    db.create(stored)
    image = Kefir.catalog.schema_for(Reminder).to_item(stored)
    event = json.loads(json.dumps(SAMPLE_EVENT).replace("ExampleTableWithStream", TABLE))
    (record, *_) = event["Records"]
    record["dynamodb"].update(NewImage=image, Keys={name: image[name] for name in ("PK", "SK")})
    told = invoke(function, "lambda_handler", {"Records": [record]}, url)
    assert told["answer"] == {"batchItemFailures": []}, told["stderr"]
    assert db.reminder(BatchId("b1"), ReminderId("r1")).one().scheduler_arn is None


def test_worker_runs_until_nothing_is_left(function: Path, served: tuple[Kefir, str]) -> None:
    db, url = served
    db.create(reminder(datetime.now(UTC) - timedelta(minutes=1)))
    told = invoke(function, "run_worker", {"worker": "kefir-dispatcher"}, url)
    assert told["answer"] == {"done": 0}
    # Nobody has a device: so it is cancelled, and not looked at again.
    assert db.reminder(BatchId("b1"), ReminderId("r1")).one().status == "cancelled"


# --- what is refused ---------------------------------------------------------------------------------------


def test_design_of_a_function_is_refused() -> None:
    class Local(Tasks):
        pass

    with pytest.raises(StackError, match="declared in a function, and a Lambda function has to import it"):
        package(Local)


def test_extension_of_another_machine_is_refused() -> None:
    with pytest.raises(StackError, match=r"does not run on Lambda's python3\.\d+ of \w+") as refused:
        package(Kefir, architecture=OTHER_MACHINE)
    assert "manylinux2014_" in str(refused.value.hint)


def test_extension_of_another_python_is_refused() -> None:
    with pytest.raises(StackError, match=r"does not run on Lambda's python3\.9"):
        package(Kefir, runtime="python3.9")


def test_runtime_that_is_no_python_is_refused() -> None:
    with pytest.raises(StackError, match=r"'nodejs22\.x' is no Python of Lambda"):
        package(Tasks, runtime="nodejs22.x")


def test_scheduled_workers_of_systems_are_among_their_workers() -> None:
    for name in ("kefir", "smart_cooking"):
        system = find_system(name)
        environment: dict[str, Any] = {**system.environment}
        with system.design.open(":memory:", **environment) as db:
            names = {worker.name for worker in system.workers(db)}
            for each in system.scheduled:
                assert each.worker(db).name == each.name
                assert each.name in names
