"""Write wire/validation/shapes.py and wire/types.py from botocore's service model of DynamoDB.

usage: python scripts/generate_shapes.py [--check]

The product runs without botocore, so what it needs of the model is checked in. `--check` writes nothing
and exits 1 when a checked-in file differs from what the installed botocore gives.

Only what the model says is written here. What the live service does otherwise is
wire/validation/live_shapes.py.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import botocore

from singletable import operations

WIRE = Path(__file__).resolve().parent.parent / "src" / "singletable" / "wire"
SHAPES, TYPES = "validation/shapes.py", "types.py"

SERVED = sorted(operations.SERVED)

SCALARS = {
    "string": "str",
    "integer": "int",
    "long": "int",
    "float": "float",
    "double": "float",
    "boolean": "bool",
    "blob": "bytes",
    "timestamp": "datetime",
}

Model = Mapping[str, Any]


def load_model() -> Model:
    """Return the models of DynamoDB and DynamoDB Streams as one."""
    model, streams = service_model("dynamodb"), service_model("dynamodbstreams")
    # Shapes of both with one name are mostly the same; one that differs is called after its service.
    names = {
        name: name if model["shapes"].get(name, shape) == shape else f"Streams{name}"
        for name, shape in streams["shapes"].items()
    }
    shapes = {names[name]: renamed(shape, names) for name, shape in streams["shapes"].items()}
    operations = {name: renamed(operation, names) for name, operation in streams["operations"].items()}
    return {
        "shapes": {**model["shapes"], **shapes},
        "operations": {**model["operations"], **operations},
    }


def service_model(service: str) -> Model:
    data = Path(botocore.__file__).parent / "data" / service / "2012-08-10" / "service-2.json.gz"
    with gzip.open(data, "rt", encoding="utf-8") as stream:
        model: Model = json.load(stream)
    without_documentation: Model = {part: undocumented(model[part]) for part in ("shapes", "operations")}
    return without_documentation


def undocumented(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {
            name: part for name, part in value.items() if name != "documentation" or isinstance(part, dict)
        }
        return {name: undocumented(part) for name, part in kept.items()}
    return [undocumented(part) for part in value] if isinstance(value, list) else value


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return a part of a model with other names for the shapes that it refers to."""
    if isinstance(value, dict):
        return {
            key: names[part] if key == "shape" and isinstance(part, str) else renamed(part, names)
            for key, part in value.items()
        }
    return value


def input_shape(model: Model, operation: str) -> str:
    name: str = model["operations"][operation]["input"]["shape"]
    return name


def output_shape(model: Model, operation: str) -> str | None:
    output = model["operations"][operation].get("output")
    return None if output is None else str(output["shape"])


def children(shape: Mapping[str, Any]) -> list[str]:
    members = [member["shape"] for member in shape.get("members", {}).values()]
    return members + [shape[part]["shape"] for part in ("member", "key", "value") if part in shape]


def reachable(model: Model, roots: Iterable[str]) -> list[str]:
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += children(model["shapes"][name])
    return sorted(found)


def formatted(source: str, name: str) -> str:
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(WIRE / name), "-"]
    return subprocess.run(ruff, input=source, capture_output=True, check=True, text=True).stdout


# --- shapes.py --------------------------------------------------------------------------


def shape_literal(shape: Mapping[str, Any]) -> dict[str, Any]:
    literal: dict[str, Any] = {"type": shape["type"]}
    if "members" in shape:
        literal["members"] = {name: member["shape"] for name, member in shape["members"].items()}
    if "required" in shape:
        literal["required"] = tuple(shape["required"])
    for part in ("member", "key", "value"):
        if part in shape:
            literal[part] = shape[part]["shape"]
    for constraint in ("min", "max", "pattern"):
        if constraint in shape:
            literal[constraint] = shape[constraint]
    if "enum" in shape:
        literal["enum"] = tuple(shape["enum"])
    return literal


def shapes_source(model: Model) -> str:
    served = {operation: input_shape(model, operation) for operation in SERVED}
    shapes = {name: shape_literal(model["shapes"][name]) for name in reachable(model, set(served.values()))}
    lines = [
        '"""The inputs of the operations we serve, as botocore\'s service model has them.',
        "",
        f"Generated by scripts/generate_shapes.py from botocore {botocore.__version__}: do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Any, Final",
        "",
        "# The operations we serve, and the shape of each one's input.",
        f"INPUTS: Final[dict[str, str]] = {served!r}",
        "",
        "# Members stand in the model's order.",
        "SHAPES: Final[dict[str, dict[str, Any]]] = {",
        *(f"{name!r}: {literal!r}," for name, literal in shapes.items()),
        "}",
        "",
    ]
    return formatted("\n".join(lines), SHAPES)


# --- types.py ---------------------------------------------------------------------------


class TypeWriter:
    """Names the Python types of shapes. What a caller gives is a `Mapping`; what it gets, a `dict`."""

    def __init__(self, model: Model) -> None:
        self.shapes = model["shapes"]
        outputs = [name for operation in SERVED if (name := output_shape(model, operation))]
        self.given = reachable(model, [input_shape(model, operation) for operation in SERVED])
        self.gotten = reachable(model, outputs)
        both = set(self.given) & set(self.gotten)
        # A structure that goes both ways and holds a list or a map has a type for each way.
        self.doubled = {name for name in both if self.is_structure(name) and self.holds_containers(name)}

    def is_structure(self, name: str) -> bool:
        return self.shapes[name]["type"] == "structure" and name != "AttributeValue"

    def holds_containers(self, name: str) -> bool:
        return any(
            child == "AttributeValue"
            or self.shapes[child]["type"] in ("list", "map")
            or (self.is_structure(child) and self.holds_containers(child))
            for child in children(self.shapes[name])
        )

    def annotation(self, name: str, *, gotten: bool) -> str:
        shape = self.shapes[name]
        if name == "AttributeValue":
            return "AttributeValueOutput" if gotten else "AttributeValue"
        if "enum" in shape:
            return name
        match shape["type"]:
            case "structure":
                # What was answered can be given back: UnprocessedItems becomes RequestItems.
                if name not in self.doubled:
                    return name
                return f"{name}Output" if gotten else f"{name} | {name}Output"
            case "list":
                container = "list" if gotten else "Sequence"
                return f"{container}[{self.annotation(shape['member']['shape'], gotten=gotten)}]"
            case "map":
                container = "dict" if gotten else "Mapping"
                return f"{container}[str, {self.annotation(shape['value']['shape'], gotten=gotten)}]"
            case kind:
                return SCALARS[kind]

    def structure(self, name: str, *, gotten: bool) -> list[str]:
        shape = self.shapes[name]
        suffix = "Output" if gotten and name in self.doubled else ""
        lines = [f"class {name}{suffix}(TypedDict):"]
        required = shape.get("required", ())
        for member, target in shape["members"].items():
            hint = self.annotation(target["shape"], gotten=gotten)
            lines.append(f"    {member}: " + (hint if member in required else f"NotRequired[{hint}]"))
        return [*lines, *(["    pass"] if not shape["members"] else []), "", ""]

    def lines(self) -> Iterable[str]:
        for name in sorted({*self.given, *self.gotten}):
            if "enum" in self.shapes[name]:
                yield f"{name}: TypeAlias = Literal[{', '.join(map(repr, self.shapes[name]['enum']))}]"
        yield ""
        for name in sorted({*self.given, *self.gotten}):
            if self.is_structure(name):
                yield from self.structure(name, gotten=name not in self.given)
                if name in self.doubled:
                    yield from self.structure(name, gotten=True)


def types_source(model: Model) -> str:
    header = [
        '"""What the operations take and answer, as types. Imported for type checking only.',
        "",
        f"Generated by scripts/generate_shapes.py from botocore {botocore.__version__}: do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping, Sequence",
        "from datetime import datetime",
        "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict",
        "",
        '# {"S": "text"}, {"N": "1"}, {"B": b"bytes"}, {"M": {…}}, …: one type key and its value.',
        "AttributeValue: TypeAlias = Mapping[str, Any]",
        "AttributeValueOutput: TypeAlias = dict[str, Any]",
        "",
    ]
    return formatted("\n".join([*header, *TypeWriter(model).lines()]), TYPES)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write wire/validation/shapes.py and wire/types.py.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when a file differs")
    options = parser.parse_args(arguments)
    model = load_model()
    stale = 0
    for name, source in ((SHAPES, shapes_source(model)), (TYPES, types_source(model))):
        path = WIRE / name
        if path.is_file() and path.read_text(encoding="utf-8") == source:
            continue
        stale += 1
        if options.check:
            print(f"error: {path.name} differs from botocore {botocore.__version__}", file=sys.stderr)
        else:
            path.write_text(source, encoding="utf-8")
            print(f"wrote {path.name}", file=sys.stderr)
    if stale and options.check:
        print("\nhint: run python scripts/generate_shapes.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
