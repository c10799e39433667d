"""What a run of the command line gives: see the fixture `run` in conftest.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Run(NamedTuple):
    status: int
    out: str
    err: str


Runner = Callable[..., Run]  # of the words of a command line
