"""`aws dynamodb OPERATION --parameter value …` for machines without the AWS CLI, over the same botocore.

Knows what the documents use: JSON and plain values, the shorthand Name=Value,Name=Value, --query, --output.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import boto3
import jmespath  # type: ignore[import-untyped]
from botocore import xform_name
from botocore.model import Shape


def value_of(shape: Shape, words: list[str]) -> Any:
    """Read the words behind a parameter as its shape asks."""
    text = words[0]
    if shape.type_name in ("structure", "map") or (shape.type_name == "list" and text.startswith("[")):
        return json.loads(text) if text[0] in "{[" else shorthand(text)
    if shape.type_name == "list":
        return [json.loads(word) if word[0] == "{" else shorthand(word) for word in words]
    return int(text) if shape.type_name in ("integer", "long") else text


def shorthand(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(","))


def main(arguments: list[str]) -> None:
    service, operation, *rest = arguments
    given: dict[str, list[str]] = {}
    for word in rest:
        if word.startswith("--"):
            words = given.setdefault(word[2:], [])
        else:
            words.append(word)
    endpoint = given.pop("endpoint-url", [None])[0]
    query, output = given.pop("query", [""])[0], given.pop("output", ["json"])[0]
    client = boto3.client(service, endpoint_url=endpoint)
    name = next(
        name for name in client.meta.service_model.operation_names if xform_name(name, "-") == operation
    )
    shape = client.meta.service_model.operation_model(name).input_shape
    names = {xform_name(member, "-"): member for member in shape.members}
    parameters = {
        names[flag]: value_of(shape.members[names[flag]], words) if words else True
        for flag, words in given.items()
    }
    answer = getattr(client, xform_name(name))(**parameters)
    client.close()
    del answer["ResponseMetadata"]
    show(jmespath.search(query, answer) if query else answer, output)


def show(answer: Any, output: str) -> None:
    if output == "json":
        if answer:
            print(json.dumps(answer, indent=4, default=str))
        return
    rows = answer if isinstance(answer, list) else [answer]
    if any(isinstance(row, list) for row in rows):
        for row in rows:
            print("\t".join(map(str, row)))
    else:
        print("\t".join(map(str, rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
