"""Functions of CloudFormation templates, worked out as far as a file alone allows.

Where a name is asked for, a parameter stays a {placeholder}, as do pseudo parameters and other resources. Where a
setting is asked for, a parameter is its default. A condition takes its first branch. What was decided so is kept
as a question.
"""

from __future__ import annotations

import re
from typing import Any, Final

from singletable.blueprint.foreign.nodes import Node, short
from singletable.blueprint.forms import BlueprintError

_NO_VALUE: Final = object()
_PSEUDO: Final = "AWS::"
_STEPS_MAX: Final = 300_000
_DEPTH_MAX: Final = 120
_SUBSTITUTE: Final = re.compile(r"\$\{([^!{}][^{}]*)\}")


class Functions:
    """The parameters, mappings and resources of a template, and what to make of its functions."""

    def __init__(self, template: Node) -> None:
        self.questions: list[str] = []
        self.names: dict[str, dict[str, str]] = {}  # of resources whose attributes are known: "" is the Ref
        self._parameters = template.at("Parameters").mapping()
        self._mappings = template.at("Mappings").mapping()
        self._resources = template.at("Resources").mapping()
        self._template = template
        self._steps = 0

    # --- what is asked ----------------------------------------------------------------------------------

    def names_in(self, node: Node) -> Node:
        """Work out a value in which parameters stay placeholders."""
        return self._made(node, is_name=True)

    def settings_in(self, node: Node) -> Node:
        """Work out a value in which parameters are their defaults."""
        return self._made(node, is_name=False)

    def values_of(self, parameter: str) -> tuple[str, ...]:
        """Return the values that a parameter may have, as far as is said: those allowed, or its default."""
        found = self._parameters.get(parameter)
        if not isinstance(found, dict):
            return ()
        allowed = found.get("AllowedValues")
        values = allowed if isinstance(allowed, list) and allowed else [found.get("Default")]
        return tuple(str(each) for each in values if isinstance(each, str | int | float))

    # --- working out ------------------------------------------------------------------------------------

    def _made(self, node: Node, *, is_name: bool) -> Node:
        found = self._value(node, is_name, ())
        return Node(None if found is _NO_VALUE else found, node.path, node.locate)

    def _value(self, node: Node, is_name: bool, within: tuple[str, ...]) -> Any:
        self._steps += 1
        if self._steps > _STEPS_MAX:
            raise BlueprintError("this template repeats too much by its anchors to be read")
        if len(within) > _DEPTH_MAX:
            raise node.error(f"{node.shown} is nested too deeply for a template")
        if isinstance(node.value, list):
            made = [self._value(each, is_name, (*within, "")) for each in node.each()]
            return [each for each in made if each is not _NO_VALUE]
        if not isinstance(node.value, dict):
            return node.value
        if len(node.value) == 1:
            name, argument = next(node.members())
            if name == "Ref" or name.startswith("Fn::"):
                return self._called(node, name, argument, is_name, within)
        members = {name: self._value(each, is_name, (*within, "")) for name, each in node.members()}
        return {name: each for name, each in members.items() if each is not _NO_VALUE}

    def _called(self, node: Node, name: str, given: Node, is_name: bool, within: tuple[str, ...]) -> Any:
        def inner(*path: int) -> Any:
            found = given
            for step in path:
                found = Node(found.value[step], (*found.path, step), found.locate)
            return self._value(found, is_name, (*within, ""))

        match name, given.value:
            case "Ref", str() as referred:
                return self._ref(node, referred, is_name, within)
            case "Fn::GetAtt", [str() as resource, *rest]:
                return self._attribute(resource, ".".join(_shown(inner(at + 1)) for at in range(len(rest))))
            case "Fn::GetAtt", str() as dotted:
                return self._attribute(*dotted.split(".", 1)) if "." in dotted else f"{{{dotted}}}"
            case "Fn::Sub", _:
                return self._substituted(node, given, is_name, within)
            case "Fn::If", [condition, _, _]:
                self.questions.append(
                    f"{node.shown} depends on {_shown(condition)}; its first branch is taken"
                )
                return inner(1)
            case "Fn::Join", [separator, _]:
                pieces = inner(1)
                return (
                    _shown(separator).join(map(_shown, pieces))
                    if isinstance(pieces, list)
                    else _shown(pieces)
                )
            case "Fn::FindInMap", [_, _, _, *_]:
                return self._mapped(node, [inner(at) for at in range(3)], is_name, within)
            case "Fn::Select", [_, _]:
                return _selected(inner(0), inner(1))
            case "Fn::Split", [str() as separator, _] if separator:
                made = inner(1)
                return made.split(separator) if isinstance(made, str) else [made]
            case "Fn::Base64" | "Fn::ToJsonString", _:
                return inner()
            case "Fn::ImportValue", _:
                return f"{{{_shown(inner()).strip('{}')}}}"
            case _:
                self.questions.append(f"{node.shown} is {name[:60]}, which is not worked out")
                return f"{{{name.removeprefix('Fn::')[:60]}}}"

    def _ref(self, node: Node, name: str, is_name: bool, within: tuple[str, ...]) -> Any:
        if name == "AWS::NoValue":
            return _NO_VALUE
        if name.startswith(_PSEUDO):
            plain = name.removeprefix(_PSEUDO)
            return f"{{{plain if plain not in self._parameters else f'AWS{plain}'}}}"
        if name in self.names:
            return self.names[name][""]
        parameter = self._parameters.get(name)
        if not isinstance(parameter, dict):
            if name not in self._resources:
                self.questions.append(
                    f"{node.shown} refers to {short(name)}, which the template does not define"
                )
            return f"{{{name}}}"
        if is_name or parameter.get("Default") is None:
            return f"{{{name}}}"
        if f"Ref {name}" in within:
            raise node.error(
                f"{node.shown} refers to the parameter {short(name)}, whose default refers to itself"
            )
        default = Node(parameter["Default"], ("Parameters", name, "Default"), node.locate)
        found = self._value(default, is_name, (*within, f"Ref {name}"))
        is_list = str(parameter.get("Type", "")).startswith(("List<", "CommaDelimitedList"))
        return found.split(",") if is_list and isinstance(found, str) else found

    def _attribute(self, resource: str, attribute: str) -> str:
        return self.names.get(resource, {}).get(attribute, f"{{{resource}.{attribute}}}")

    def _substituted(self, node: Node, given: Node, is_name: bool, within: tuple[str, ...]) -> Any:
        text, own = given, Node({}, given.path, given.locate)
        if isinstance(given.value, list) and len(given.value) == 2:
            text, own = given.each()

        def one(found: re.Match[str]) -> str:
            name = found[1].strip()
            if name in own.mapping():
                return _shown(self._value(own.at(name), is_name, (*within, "")))
            if "." in name:
                return self._attribute(*name.split(".", 1))
            made = self._ref(node, name, is_name, within)
            return "" if made is _NO_VALUE else _shown(made)

        return _SUBSTITUTE.sub(one, text.text()).replace("${!", "${")

    def _mapped(self, node: Node, path: list[Any], is_name: bool, within: tuple[str, ...]) -> Any:
        """Look up a mapping. Where a key is not known before the stack is made, the first entry is taken."""
        here: Any = self._mappings
        for key in path[:3]:
            if not isinstance(here, dict) or not here:
                raise node.error(
                    f"{node.shown} looks for {_shown(path[0])} in Mappings, which have no such entry"
                )
            if _shown(key) in here:
                here = here[_shown(key)]
            else:
                first = next(iter(here))
                self.questions.append(
                    f"{node.shown} depends on {_shown(key)}; that of {short(first)} is taken"
                )
                here = here[first]
        step = f"FindInMap {path[:3]}"
        if step in within:
            raise node.error(f"{node.shown} looks up a mapping that refers to itself")
        found = Node(here, ("Mappings", *map(_shown, path[:3])), node.locate)
        return self._value(found, is_name, (*within, step))


def _selected(index: Any, choices: Any) -> Any:
    number = int(index) if str(index).isdigit() and len(str(index)) < 9 else -1
    if isinstance(choices, list) and 0 <= number < len(choices):
        return choices[number]
    return f"{{Select {_shown(index)}}}"


def _shown(value: Any) -> str:
    if value is _NO_VALUE or value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else short(value)
