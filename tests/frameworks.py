"""Servers' own interface classes, loaded from their wheels without the engines behind them.

A wheel's package is found in an unpacked folder. Of its modules only those that are asked for run;
all others, and libraries that are not installed, are stood in for by modules of empty classes.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


class _Anything(type):
    """A class of which everything can be asked, and which pydantic takes for Any."""

    def __getattr__(cls, name: str) -> Any:
        if name == "__get_pydantic_core_schema__":
            return lambda *_: importlib.import_module("pydantic_core").core_schema.any_schema()
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __or__(cls, other: Any) -> Any:
        return Any

    __ror__ = __or__

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())


class _StandIn(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        members: dict[str, Any] = {"__init__": lambda *_, **__: None}
        empty = _Anything(name, (), members)
        setattr(self, name, empty)
        return empty


class Wheel(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a package in a folder: the modules in `real` as they are, all others as stand-ins.

    `missing` names libraries that are stood in for as well.
    """

    def __init__(self, folder: Path, package: str, real: Sequence[str], missing: Sequence[str]):
        self._folder, self._package, self._real = folder, package, real
        self._missing = [name for name in missing if importlib.util.find_spec(name) is None]

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """See MetaPathFinder."""
        top = name.partition(".")[0]
        if top in self._missing:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if top != self._package:
            return None
        file = self._folder.joinpath(*name.split("."))
        file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        if name in self._real and file.exists():
            return importlib.util.spec_from_file_location(name, file)
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = []
        return spec

    def create_module(self, spec: Any) -> types.ModuleType:
        """See Loader."""
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """See Loader: there is nothing to run."""


def use(wheel: Wheel) -> None:
    """Let imports find the wheel's package."""
    sys.meta_path.insert(0, wheel)
