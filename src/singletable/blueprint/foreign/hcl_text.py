"""HCL of Terraform, and its expressions as far as the files alone say what they are.

Where a name is asked for, a variable stays a {placeholder}, as do attributes of other resources. Where a setting
is asked for, a variable is its default. A condition takes its first branch. What was decided so is kept as a
question.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from singletable.blueprint.foreign.nodes import Locate, Node, check_length, short
from singletable.blueprint.forms import BlueprintError
from singletable.blueprint.positions import Path

_CHARACTERS_MAX: Final = 600_000  # its parser reads some 50,000 characters a second
_STEPS_MAX: Final = 20_000
_DEPTH_MAX: Final = 60
_REFERENCE: Final = re.compile(r"[A-Za-z_][\w-]*(\.[\w*-]+|\[[^\[\]]*\])*")
_CALL: Final = re.compile(r"([a-z0-9_]+)\(", re.ASCII)
_NUMBER: Final = re.compile(r"-?\d{1,30}(\.\d{1,30})?")
_HEREDOC: Final = re.compile(r"<<(-?)([A-Za-z_]\w*)\n(.*?)\n?[ \t]*\2\s*", re.DOTALL)
_ALLOWED: Final = re.compile(r"contains\(\s*(\[[^\[\]]*\])\s*,\s*var\.([\w-]+)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_CODE_POINT: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_ENTRIES: Final = ("__is_block__", "__comments__", "__inline_comments__")
_LITERALS: Final = {"true": True, "false": False, "null": None}
_KNOWN: Final = {
    "data.aws_region": "Region",
    "data.aws_caller_identity": "AccountId",
    "data.aws_partition": "Partition",
    "terraform.workspace": "workspace",
}


def hcl_node(text: str, kind: str) -> Node:
    """Read HCL as it is, its expressions not worked out."""
    check_length(text, kind, _CHARACTERS_MAX)
    return Node(_clean(_parsed(text)), (), lambda path: _header(text, path))


def _header(text: str, path: Path) -> tuple[int, int] | None:
    """Return where the block begins that holds a path. The parser does not say where its values stand."""
    if len(path) < 3 or not isinstance(path[0], str):
        return None
    labels = [each for each in path[2:4] if isinstance(each, str)][: 1 if path[0] == "variable" else 2]
    header = r"\s+".join([rf"^[ \t]*{re.escape(path[0])}", *(f'"?{re.escape(label)}"?' for label in labels)])
    found = re.search(header + r"\s*\{", text, re.MULTILINE)
    return None if found is None else (text.count("\n", 0, found.start()) + 1, 1)


def _parsed(text: str) -> Any:
    try:
        import hcl2
        from lark.exceptions import LarkError, UnexpectedInput
    except ImportError:
        raise BlueprintError(
            "HCL is read with python-hcl2, which is not installed: pip install 'singletable[terraform]'"
        ) from None
    try:
        return hcl2.loads(text + "\n")
    except UnexpectedInput as error:
        line, column = error.line, error.column
        is_end = line < 1 or line > text.count("\n") + 1
        where = f"line {text.count(chr(10)) + 1}" if is_end else f"line {line}, column {column}"
        what = "it ends too early" if is_end else "this cannot stand here"
        raise BlueprintError(f"{where}: this is no HCL: {what}") from None
    except (LarkError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        if isinstance(getattr(error, "orig_exc", None), RecursionError):
            raise BlueprintError("this is nested too deeply for HCL") from None
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise BlueprintError(f"python-hcl2 cannot read this: {first[:120]}") from None
    except RecursionError:
        raise BlueprintError("this is nested too deeply for HCL") from None


def _clean(value: Any, depth: int = 0) -> Any:
    """Return data without the entries of the parser."""
    if depth > _DEPTH_MAX:
        raise BlueprintError("this is nested too deeply for HCL")
    if isinstance(value, list):
        return [_clean(each, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    return {_label(name): _clean(each, depth + 1) for name, each in value.items() if name not in _ENTRIES}


def _label(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def blocks(file: Node, kind: str) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield the blocks of a kind at the top of a file, with their labels: resource, data, variable, locals."""
    labels = {"resource": 2, "data": 2, "variable": 1, "module": 1, "locals": 0}[kind]
    for each in file.at(kind).each():
        for names, found in _labelled(each, labels):
            path = names if kind == "resource" else (kind, *names)
            yield names, Node(found.value, path, _moved(found, len(path)))


def _moved(node: Node, length: int) -> Locate:
    """Find places under the address of a block, which leaves out where in the file it stands."""
    return lambda path: node.locate((*node.path, *path[length:]))


def _labelled(node: Node, labels: int) -> Iterator[tuple[tuple[str, ...], Node]]:
    if labels == 0:
        yield (), node
        return
    for name, inner in node.members():
        for rest, found in _labelled(inner, labels - 1):
            yield (name, *rest), found


class Expressions:
    """Variables, locals and resources of a file, and what to make of expressions over them."""

    def __init__(self, file: Node) -> None:
        self.questions: list[str] = []
        self.variables = {labels[0]: node for labels, node in blocks(file, "variable")}
        self.locals = {name: node for _, body in blocks(file, "locals") for name, node in body.members()}
        self.resources = {".".join(labels): node for labels, node in blocks(file, "resource")}
        self.documents = {
            labels[1]: node for labels, node in blocks(file, "data") if labels[0] == "aws_iam_policy_document"
        }
        self._steps = 0

    def settings_in(self, node: Node) -> Node:
        """Work out a value in which variables are their defaults."""
        self._steps = 0
        return Node(self._value(node, node.value, False, ()), node.path, node.locate)

    def names_in(self, node: Node) -> Node:
        """Work out a value in which variables stay placeholders."""
        self._steps = 0
        return Node(self._value(node, node.value, True, ()), node.path, node.locate)

    def values_of(self, variable: str) -> tuple[str, ...]:
        """Return the values that a variable may have, as far as is said: those allowed, or its default."""
        node = self.variables.get(variable)
        if node is None:
            return ()
        for each in node.at("validation").each():
            condition = each.at("condition").value
            found = _ALLOWED.search(condition) if isinstance(condition, str) else None
            if found is not None and found[2] == variable:
                allowed = self._parsed_value(node, found[1], False, ())
                return tuple(value for value in allowed if isinstance(value, str)) if allowed else ()
        default = self.settings_in(node.at("default")).value
        return (str(default),) if isinstance(default, str | int | float) else ()

    # --- working out ------------------------------------------------------------------------------------

    def _value(self, node: Node, value: Any, is_name: bool, within: tuple[str, ...]) -> Any:
        self._steps += 1
        if self._steps > _STEPS_MAX:
            raise node.error(f"{node.shown} refers to others too often to be read")
        if len(within) > _DEPTH_MAX:
            raise node.error(f"{node.shown} is nested too deeply for HCL")
        deeper = (*within, "")
        if isinstance(value, list):
            return [
                self._value(_inside(node, number), each, is_name, deeper) for number, each in enumerate(value)
            ]
        if isinstance(value, dict):
            return {
                self._key(node, name, is_name, deeper): self._value(
                    _inside(node, name), each, is_name, deeper
                )
                for name, each in value.items()
            }
        if not isinstance(value, str):
            return value
        if len(value) > 1 and value[0] == value[-1] == '"':
            return self._template(node, value[1:-1], is_name, within)
        if value.startswith("${") and value.endswith("}"):
            return self._expression(node, value[2:-1].strip(), is_name, within)
        return value

    def _key(self, node: Node, name: str, is_name: bool, within: tuple[str, ...]) -> str:
        return _text(self._value(node, name, is_name, within)) if name.startswith(('"', "${")) else name

    def _template(self, node: Node, text: str, is_name: bool, within: tuple[str, ...]) -> Any:
        if heredoc := _HEREDOC.fullmatch(text):
            text = heredoc[3].replace("\\", "\\\\")
        if "%{" in text:
            self.questions.append(f"{node.shown} has a %{{…}} directive, which stays as it is")
        parts: list[str] = []
        at = 0
        while at < len(text):
            if text.startswith("$${", at):
                parts.append("${")
                at += 3
            elif text.startswith("${", at):
                end = _closing(text, at + 2)
                inner = self._expression(node, text[at + 2 : end].strip(), is_name, (*within, ""))
                parts.append(_text(inner))
                at = end + 1
            elif text[at] == "\\" and at + 1 < len(text):
                meant, at = _unescaped(text, at)
                parts.append(meant)
            else:
                parts.append(text[at])
                at += 1
        return "".join(parts)

    def _expression(self, node: Node, text: str, is_name: bool, within: tuple[str, ...]) -> Any:
        if len(within) > _DEPTH_MAX:
            raise node.error(f"{node.shown} is nested too deeply for HCL")
        while text.startswith("(") and _closing(text, 1) == len(text) - 1:
            text = text[1:-1].strip()
        if text in _LITERALS:
            return _LITERALS[text]
        if _NUMBER.fullmatch(text):
            return float(text) if "." in text else int(text)
        if text.startswith('"') and _after_string(text, 0) == len(text):
            return self._template(node, text[1:-1], is_name, within)
        if _REFERENCE.fullmatch(text):
            return self._reference(node, text, is_name, within)
        if (at := _top(text, "?")) is not None and (colon := _top(text, ":", at + 1)) is not None:
            self.questions.append(f"{node.shown} depends on {_cut(text[:at])}; its first branch is taken")
            return self._expression(node, text[at + 1 : colon].strip(), is_name, (*within, ""))
        call = _CALL.match(text)
        if call is not None and _closing(text, call.end()) == len(text) - 1:
            arguments = self._parsed_value(node, f"[{text[call.end() : -1]}]", is_name, within)
            made = self._called(call[1], arguments)
            if made is not NotImplemented:
                return made
        is_literal = text.startswith("[") and not re.match(r"\[\s*for\b", text)
        if is_literal or (text.startswith("{") and not re.match(r"\{\s*for\b", text)):
            return self._parsed_value(node, text, is_name, within)
        self.questions.append(f"{node.shown} is {_cut(text)}, which is not worked out")
        return f"{{{_cut(text)}}}"

    def _parsed_value(self, node: Node, text: str, is_name: bool, within: tuple[str, ...]) -> Any:
        data = _clean(_parsed(f"value = {text}"))
        found = data.get("value") if isinstance(data, dict) else None
        if isinstance(found, str) and found == f"${{{text}}}":
            return f"{{{_cut(text)}}}"
        return self._value(node, found, is_name, (*within, ""))

    def _reference(self, node: Node, text: str, is_name: bool, within: tuple[str, ...]) -> Any:
        if text in within:
            raise node.error(f"{node.shown} refers to {short(text)}, which refers to itself")
        deeper = (*within, text)
        steps = re.sub(r"\[[^\[\]]*\]", "", text).split(".")
        match steps:
            case ["var", name, *rest]:
                variable = self.variables.get(name)
                if is_name or variable is None or "default" not in variable.mapping():
                    return f"{{{'.'.join([name, *rest])}}}"
                default = variable.at("default")
                return _member(self._value(default, default.value, is_name, deeper), rest, text)
            case ["local", name, *rest] if name in self.locals:
                found = self.locals[name]
                return _member(self._value(found, found.value, is_name, deeper), rest, text)
            case ["data", "aws_iam_policy_document", name, "json"] if name in self.documents:
                return self._document(self.documents[name], is_name, deeper)
            case [kind, name, attribute] if f"{kind}.{name}" in self.resources:
                return self._attribute(kind, name, attribute, is_name, deeper)
            case _:
                known = next((word for start, word in _KNOWN.items() if text.startswith(start)), None)
                return f"{{{known or text}}}"

    def _attribute(self, kind: str, name: str, attribute: str, is_name: bool, within: tuple[str, ...]) -> Any:
        resource = self.resources[f"{kind}.{name}"]
        if kind == "aws_dynamodb_table":
            given = resource.at("name")
            table = name if not given.exists else _text(self._value(given, given.value, True, within))
            arn = f"arn:{{Partition}}:dynamodb:{{Region}}:{{AccountId}}:table/{table}"
            found = {"name": table, "id": table, "arn": arn, "stream_arn": f"{arn}/stream/*"}.get(attribute)
            if found is not None:
                return found
        given = resource.at("name" if attribute == "id" else attribute)
        if given.exists:
            return self._value(given, given.value, is_name, within)
        is_called = attribute in ("name", "id", "function_name")
        return f"{{{name}}}" if is_called else f"{{{kind}.{name}.{attribute}}}"

    def _document(self, node: Node, is_name: bool, within: tuple[str, ...]) -> dict[str, Any]:
        """Return a document of policies that is written as blocks as the JSON that it becomes."""
        statements = []
        for each in node.at("statement").each():
            plain = self._value(each, each.value, is_name, within)
            conditions: dict[str, dict[str, Any]] = {}
            for condition in plain.get("condition", []):
                if isinstance(condition, dict) and "test" in condition:
                    tests = conditions.setdefault(_text(condition["test"]), {})
                    tests[_text(condition.get("variable"))] = condition.get("values")
            names = {
                "Sid": "sid", "Effect": "effect", "Action": "actions", "Resource": "resources",
                "NotAction": "not_actions", "NotResource": "not_resources",
            }  # fmt: skip
            statement = {name: plain[member] for name, member in names.items() if member in plain}
            statements.append({**statement, **({"Condition": conditions} if conditions else {})})
        return {"Statement": statements}

    def _called(self, name: str, arguments: Any) -> Any:
        made = _FUNCTIONS.get(name)
        if made is None or not isinstance(arguments, list):
            return NotImplemented
        try:
            return made(arguments)
        except (TypeError, ValueError, IndexError, KeyError, AttributeError):
            return NotImplemented


def _inside(node: Node, step: int | str) -> Node:
    return Node(None, (*node.path, step), node.locate)


def _member(value: Any, steps: Sequence[str], text: str) -> Any:
    for step in steps:
        if not isinstance(value, dict) or step not in value:
            return f"{{{text}}}"
        value = value[step]
    return value


def _merged(values: Sequence[Any]) -> dict[str, Any]:
    return {name: each for value in values if isinstance(value, dict) for name, each in value.items()}


def _formatted(values: Sequence[Any]) -> str:
    rest = iter(values[1:])
    return re.sub(r"%[sdvq]", lambda _: _text(next(rest, "")), values[0])


def _first(values: Sequence[Any]) -> Any:
    return next(each for each in values if each not in (None, ""))


_FUNCTIONS: Final[Mapping[str, Callable[[list[Any]], Any]]] = {
    "merge": _merged,
    "concat": lambda values: [each for value in values for each in value],
    "flatten": lambda values: [
        each for value in values[0] for each in (value if isinstance(value, list) else [value])
    ],
    "compact": lambda values: [each for each in values[0] if each],
    "distinct": lambda values: list(dict.fromkeys(values[0])),
    "jsonencode": lambda values: values[0],
    "jsondecode": lambda values: json.loads(values[0]) if isinstance(values[0], str) else values[0],
    "format": _formatted,
    "join": lambda values: values[0].join(map(_text, values[1])),
    "lower": lambda values: _cased(values[0], str.lower),
    "upper": lambda values: _cased(values[0], str.upper),
    "replace": lambda values: values[0].replace(values[1], values[2]),
    "trimspace": lambda values: values[0].strip(),
    "coalesce": _first,
    "try": lambda values: values[0],
    "lookup": lambda values: values[0].get(values[1], *values[2:3]),
    **{
        name: lambda values: values[0]
        for name in ("tostring", "tonumber", "tobool", "tolist", "toset", "tomap")
    },
}


def _cased(text: str, change: Callable[[str], str]) -> str:
    """Change upper and lower case, but not that of placeholders."""
    return "".join(part if part.startswith("{") else change(part) for part in re.split(r"(\{[^{}]*\})", text))


# --- texts ----------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else short(value)


def _unescaped(text: str, at: int) -> tuple[str, int]:
    """Return the character that a backslash begins, and the offset behind it."""
    found = _CODE_POINT.match(text, at)
    if found is not None and (number := int(found[1] or found[2], 16)) <= sys.maxunicode:
        return chr(number), found.end()
    return _ESCAPES.get(text[at + 1], text[at : at + 2]), at + 2


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:77] + "…"


def _after_string(text: str, at: int) -> int:
    """Return the offset behind a string that begins at one; interpolations may hold strings of their own."""
    at += 1
    while at < len(text) and text[at] != '"':
        if text.startswith("${", at) and text[at - 1] != "$":
            at = _closing(text, at + 2)
        elif text[at] == "\\":
            at += 1
        at += 1
    return min(at + 1, len(text))


def _closing(text: str, at: int) -> int:
    """Return the offset of the bracket that closes one before `at`, or the end of the text."""
    depth = 1
    while at < len(text):
        if text[at] == '"':
            at = _after_string(text, at)
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
        at += 1
    return len(text)


def _top(text: str, sign: str, at: int = 0) -> int | None:
    """Return the offset of a sign outside of strings and brackets."""
    while at < len(text):
        if text[at] == '"':
            at = _after_string(text, at)
        elif text[at] in "([{":
            at = _closing(text, at + 1) + 1
        elif text[at] == sign:
            return at
        else:
            at += 1
    return None
