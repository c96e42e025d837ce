"""The code of a design as a package for AWS Lambda: one zip, the same bytes whenever it is made.

It holds the modules that the design reaches, singletable without its engine, which a design on AWS never loads,
and the distributions that those import. boto3 is left out: Lambda's runtime has it (Lambda guide, "Building
Lambda functions with Python"). `singletable_function.py` opens the design in the function's region:

singletable_function.lambda_handler   the handlers of the table's stream
singletable_function.run_worker       a step of the worker that the event names, of a system with workers

The values of the placeholders in the table's name come from an environment variable, so one package serves every
stage.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import Distribution, distributions
from io import BytesIO
from pathlib import Path
from typing import Final, Literal

from singletable.design import Design
from singletable.design.streams.dispatch import kept_by_stream
from singletable.errors import StackError
from singletable.stack.reached import Reached

ENVIRONMENT: Final = "SINGLETABLE_ENVIRONMENT"  # JSON: {"stage": "prod"}
ENTRY: Final = "singletable_function"
STREAM_HANDLER: Final = f"{ENTRY}.lambda_handler"
WORKER_HANDLER: Final = f"{ENTRY}.run_worker"
# "50 MB (zipped, when uploaded through the Lambda API), 250 MB (unzipped)" (Lambda quotas).
UNZIPPED_BYTES_MAX: Final = 250 * 1024 * 1024

Architecture = Literal["x86_64", "arm64"]
Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much

# What a design on AWS never loads. A contract of pyproject.toml keeps `design` and `client` from importing it.
_WITHOUT: Final = frozenset(
    {
        "__main__.py", "cli", "server", "testing", "discovery", "drawing", "migrate", "probe", "database.py",
        "past.py", "consumers", "wire", "engine", "metrics", "expressions", "storage", "capacity",
        "client/embedded.py", "boto/answering.py", "boto/clients.py", "boto/patching.py",
    }
)  # fmt: skip
_STARTS: Final = ("singletable.design", "singletable.client.remote")
_PROVIDED: Final = frozenset({"boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six"})
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can hold
_FILE_MODE: Final = 0o644 << 16
# Where a distribution was installed from, and by whom: paths of this machine.
_OF_THIS_MACHINE: Final = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
_RUNTIME: Final = re.compile(r"python3\.\d+")
_PYTHON: Final = re.compile(r"\.cpython-(\d)(\d+)")
# e_machine of the ELF header: EM_X86_64 and EM_AARCH64 (System V ABI, "ELF header").
_ELF_MACHINES: Final[Mapping[str, bytes]] = {"x86_64": b"\x3e\x00", "arm64": b"\xb7\x00"}


@dataclass(frozen=True, slots=True)
class Package:
    """A zip for Lambda, with the runtime and architecture that its extension modules are for."""

    content: bytes
    runtime: str
    architecture: Architecture
    names: tuple[str, ...]
    digest: str
    """What names these files, and no others; however they are compressed."""


def package(
    design: type[Design],
    *,
    system: str | None = None,
    prepare: str | None = None,
    site: Path | None = None,
    runtime: str | None = None,
    architecture: Architecture = "x86_64",
    progress: Progress | None = None,
) -> Package:
    """Make the package of a design.

    `system` names a system with workers, `prepare` a function that gets the open design before any handler, each
    as "module:name". `site` is a folder with the dependencies as they were installed for Lambda; without one,
    they are those of this Python.
    """
    module = design.__module__
    if module == "__main__" or "<" in design.__qualname__:
        place = "the main program" if module == "__main__" else "a function"
        raise StackError(
            f"{design.__qualname__} is declared in {place}, and a Lambda function has to import it",
            hint="move it into a module of a package",
        )
    runtime = runtime or f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not _RUNTIME.fullmatch(runtime):
        raise StackError(f"{runtime!r} is no Python of Lambda", hint="as python3.13")
    named = (each.partition(":")[0] for each in (system, prepare) if each)
    reached = Reached((module, *named, *_STARTS))
    files = {f"{ENTRY}.py": _entry(design, system, prepare).encode()}
    files.update(_of_singletable())
    files.update(reached.files())
    files.update(_of_distributions(reached.outside - _PROVIDED, site))
    _check_extensions(files, runtime, architecture)
    _check_size(files)
    return Package(zipped(files, progress), runtime, architecture, tuple(sorted(files)), _digest(files))


def zipped(files: Mapping[str, bytes], progress: Progress | None = None) -> bytes:
    """Return files as a zip: in the order of their names, all with one time and mode."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for count, name in enumerate(sorted(files), 1):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.create_system = 3  # Unix, wherever it is made
            entry.external_attr = _FILE_MODE
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name], compresslevel=6)
            if progress is not None:
                progress("packaging", count, len(files))
    return made.getvalue()


def _digest(files: Mapping[str, bytes]) -> str:
    found = sha256()
    for name in sorted(files):
        found.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return found.hexdigest()


def _entry(design: type[Design], system: str | None, prepare: str | None) -> str:
    """Return the module that Lambda imports."""
    outer = design.__qualname__.partition(".")[0]
    lines = [
        f'"""What AWS Lambda runs of {design.__name__}."""',
        "",
        "import json",
        "import os",
        "",
        f"from {design.__module__} import {outer}",
    ]
    lines.append("from singletable.client.counted_errors import count_errors")
    if prepare:
        where, _, name = prepare.partition(":")
        lines.append(f"from {where} import {name} as prepare_system")
    if system:
        where, _, name = system.partition(":")
        lines += [
            "from singletable.systems.scheduled import scheduled_handler",
            f"from {where} import {name} as system",
        ]
    lines += [
        "",
        f'ENVIRONMENT = json.loads(os.environ.get("{ENVIRONMENT}", "{{}}"))',
        "",
        "",
        "def prepare(design):",
        "    count_errors(design.session.client.boto_client, design.session.table)",
        *(["    prepare_system(design)"] if prepare else []),
        "",
        "",
    ]
    if design.handlers or kept_by_stream(design.catalog):
        lines.append(f"lambda_handler = {design.__qualname__}.lambda_handler(prepare=prepare, **ENVIRONMENT)")
    if system:
        lines.append("run_worker = scheduled_handler(system, prepare=prepare, **ENVIRONMENT)")
    return "\n".join(lines) + "\n"


# --- modules ------------------------------------------------------------------------------------------------


def _of_singletable() -> Iterator[tuple[str, bytes]]:
    import singletable

    (folder,) = singletable.__path__
    root = Path(folder)
    for path in _files(root):
        name = path.relative_to(root).as_posix()
        if name not in _WITHOUT and not any(name.startswith(f"{each}/") for each in _WITHOUT):
            yield f"singletable/{name}", path.read_bytes()


def _files(folder: Path) -> Iterator[Path]:
    """Return the files of a package: code and data, without what Python or an editor left there."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and "__pycache__" not in parts and not any(part.startswith(".") for part in parts):
            yield path


# --- distributions ------------------------------------------------------------------------------------------


def _of_distributions(modules: Iterable[str], site: Path | None) -> Iterator[tuple[str, bytes]]:
    installed = _installed(site)
    by_module = {
        module: name for name, distribution in installed.items() for module in _top_modules(distribution)
    }
    missing = sorted(module for module in modules if module not in by_module)
    if missing:
        raise StackError(
            f"{', '.join(missing)} is imported, and is not installed{f' in {site}' if site else ''}",
            hint="pip install it there, with --target and --platform for a folder of its own",
        )
    taken: set[str] = set()
    waiting = sorted({by_module[module] for module in modules})
    while waiting:
        name = waiting.pop()
        if name in taken or name == "singletable":
            continue
        taken.add(name)
        yield from _of_distribution(installed[name])
        waiting += [each for each in _requirements(installed[name]) if each in installed]


def _installed(site: Path | None) -> dict[str, Distribution]:
    found = distributions() if site is None else distributions(path=[str(site)])
    return {_plain(each.metadata["Name"]): each for each in found}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _top_modules(distribution: Distribution) -> set[str]:
    # A hundred distributions have a hundred thousand files: their record is read as the text that it is.
    record = distribution.read_text("RECORD")
    lines = record.splitlines() if record else map(str, distribution.files or ())
    tops = {re.split("[/,]", line, maxsplit=1)[0] for line in lines}
    suffixes = (".py", *EXTENSION_SUFFIXES)
    return {re.sub(r"\..*", "", top) if top.endswith(suffixes) else top for top in tops if "-info" not in top}


def _requirements(distribution: Distribution) -> Iterator[str]:
    """Return what a distribution needs on Lambda: neither what extras need, nor what Lambda provides."""
    for requirement in distribution.requires or ():
        name, _, marker = requirement.partition(";")
        if "extra" not in marker and (found := re.match(r"[A-Za-z0-9._-]+", name.strip())):
            plain = _plain(found[0])
            if plain not in _PROVIDED:
                yield plain


def _of_distribution(distribution: Distribution) -> Iterator[tuple[str, bytes]]:
    for each in distribution.files or ():
        name = Path(str(each)).as_posix()
        is_code = "__pycache__" not in name and not name.startswith(("..", "/"))
        if is_code and Path(name).name not in _OF_THIS_MACHINE and not name.endswith((".pyi", ".pth")):
            path = Path(str(distribution.locate_file(each)))
            if path.is_file():
                yield name, path.read_bytes()


# --- checks -------------------------------------------------------------------------------------------------


def _check_extensions(files: Mapping[str, bytes], runtime: str, architecture: Architecture) -> None:
    """Refuse extension modules that the function cannot load: of another Python, system or machine."""
    version = runtime.removeprefix("python")
    for name, content in sorted(files.items()):
        if not name.endswith((".so", ".pyd", ".dylib")):
            continue
        built_for = _PYTHON.search(name)
        is_for_python = built_for is None or f"{built_for[1]}.{built_for[2]}" == version
        is_for_machine = content[:4] == b"\x7fELF" and content[18:20] == _ELF_MACHINES[architecture]
        if not (is_for_python and is_for_machine and "musl" not in name):
            machine = "aarch64" if architecture == "arm64" else "x86_64"
            raise StackError(
                f"{name} does not run on Lambda's {runtime} of {architecture}",
                hint=f"pip install --target FOLDER --only-binary=:all: --python-version {version} "
                f"--platform manylinux2014_{machine}, and give the folder",
            )


def _check_size(files: Mapping[str, bytes]) -> None:
    size = sum(map(len, files.values()))
    if size > UNZIPPED_BYTES_MAX:
        raise StackError(
            f"the package has {size:,} bytes unzipped, and Lambda takes {UNZIPPED_BYTES_MAX:,}",
            hint="import less in the modules of the design",
        )
