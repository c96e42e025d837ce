"""Designs that a command is given as MODULE:DESIGN."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from singletable.errors import TargetError

if TYPE_CHECKING:
    from types import ModuleType

    from singletable.design import Design


def load_design(text: str) -> type[Design]:
    """Import the design that MODULE:DESIGN names."""
    from singletable.design import Design

    where, _, name = text.partition(":")
    module = _load(where)
    found: Any = getattr(module, name, None)
    if not (isinstance(found, type) and issubclass(found, Design)):
        designs = sorted(_designs(module))
        known = f"its designs: {', '.join(designs)}" if designs else "it has no designs at all"
        raise TargetError(f"{where} has no design {name!r}", hint=known)
    return found


def _designs(module: ModuleType) -> list[str]:
    from singletable.design import Design

    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Design) and value is not Design
    ]


def _load(where: str) -> ModuleType:
    # As `python -m` does: what is beside the user can be imported.
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{where}.".startswith(f"{error.name}."):
            raise
        raise TargetError(
            f"there is no module {where!r}", hint="name it as it is imported, from where the command is run"
        ) from error
    finally:
        sys.path.pop(0)
