"""Run one function over many inputs on every core there is; results come back in their order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

Input = TypeVar("Input")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Pool:
    """How to run: on how many processes (None: one for each core), and whether to show progress."""

    workers: int | None = 1
    progress: bool = False

    def map(self, function: Callable[[Input], Result], inputs: Sequence[Input]) -> list[Result]:
        """The function's result for each input. The function must be importable by name."""
        workers = min(self.workers or _cores(), len(inputs))
        if workers <= 1:
            return self._collect(map(function, inputs), len(inputs))
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(workers) as executor:
            try:
                return self._collect(executor.map(function, inputs), len(inputs))
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                raise

    def _collect(self, results: Iterable[Result], length: int) -> list[Result]:
        return list(_with_progress(results, length) if self.progress else results)


def _cores() -> int:
    """How many cores this process may use; where the system cannot tell, how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _with_progress(results: Iterable[Result], length: int) -> Iterator[Result]:
    import click

    with click.progressbar(
        results,
        length=length,
        label="chat templates",
        show_pos=True,
        file=sys.stderr,
    ) as bar:
        yield from bar
