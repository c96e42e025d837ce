"""Write the tables of docs/reference/compatibility.md: every operation and parameter of botocore's model.

usage: python scripts/generate_compatibility.py [--check]

What is said of each comes from src/singletable/operations.py, the table that the refusals themselves come from.
`--check` writes nothing and exits 1 when the page says something else.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import botocore

from singletable.operations import (
    OPERATIONS,
    PARAMETER_REMARKS,
    SERVED,
    UNSERVED_PARAMETERS,
    operation_refusal,
    parameter_refusal,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "compatibility.md"
SERVICES = {"dynamodb": "DynamoDB", "dynamodbstreams": "DynamoDB Streams"}

Operations = Mapping[str, list[str]]


def operations_of(service: str) -> Operations:
    """Return the parameters of each operation of a service, those inside others too, as dotted paths."""
    (path,) = (Path(botocore.__file__).parent / "data" / service).glob("*/service-2.json.gz")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        model: dict[str, Any] = json.load(stream)
    return {
        name: list(parameters(model["shapes"], operation["input"]["shape"]))
        for name, operation in sorted(model["operations"].items())
    }


def parameters(shapes: Mapping[str, Any], shape: str, path: str = "") -> Iterator[str]:
    """Yield what can be said in a shape, down to values and to what is refused or differs as a whole."""
    if shape == "AttributeValue":
        return
    described = shapes[shape]
    for part in ("member", "value"):
        if part in described:
            yield from parameters(shapes, described[part]["shape"], path)
    for name, member in described.get("members", {}).items():
        inner = f"{path}.{name}" if path else name
        yield inner
        if name not in UNSERVED_PARAMETERS and name not in PARAMETER_REMARKS:
            yield from parameters(shapes, member["shape"], inner)


def table(*head: str, rows: Iterable[Iterable[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def operation_rows(operations: Operations) -> Iterator[tuple[str, str, str]]:
    for name in operations:
        row = OPERATIONS[name]
        if row.unserved is None:
            yield f"[{name}](#{name.lower()})", "served", row.remark
        else:
            yield name, row.unserved.status, f"“{operation_refusal(name)}”"


def parameter_rows(paths: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    for path in paths:
        name = path.rpartition(".")[2]
        unserved = UNSERVED_PARAMETERS.get(name)
        remark = PARAMETER_REMARKS.get(name)
        if unserved is not None:
            yield f"`{path}`", unserved.status, f"“{parameter_refusal(name)}”"
        else:
            yield f"`{path}`", "same" if remark is None else "differs", remark or ""


def operations_part() -> str:
    parts = []
    for service, title in SERVICES.items():
        rows = operation_rows(operations_of(service))
        parts.append(f"### {title}\n\n{table('operation', '', 'remarks', rows=rows)}")
    return "\n".join(parts)


def parameters_part() -> str:
    parts = []
    served = {name: paths for service in SERVICES for name, paths in operations_of(service).items()}
    for name, paths in served.items():
        if name in SERVED:
            rows = parameter_rows(paths)
            shown = table("parameter", "", "remarks", rows=rows) if paths else "It takes none.\n"
            parts.append(f"### {name}\n\n{shown}")
    return "\n".join(parts)


def updated(page: str) -> str:
    """Return the page with its generated parts made anew."""
    for part, text in (("operations", operations_part()), ("parameters", parameters_part())):
        head, begin, rest = page.partition(f"<!-- {part} -->\n")
        _, end, tail = rest.partition(f"<!-- /{part} -->")
        assert end, f"the page has no place for its {part}"
        page = f"{head}{begin}\n{text}\n{end}{tail}"
    return page


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the tables of docs/reference/compatibility.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page differs")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    new = updated(page)
    if arguments.check:
        return 0 if new == page else 1
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
