"""Times the generated parsers, beside floors measured in the same run: python benchmarks/run.py --help."""

from __future__ import annotations

import argparse
import functools
import gc
import json
import platform
import time
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import texts

SIZES = {"2 KB": 2_000, "20 KB": 20_000, "200 KB": 200_000, "2 MB": 2_000_000}
QUICK = ("2 KB", "20 KB", "200 KB")
PIECES = {"1": 1, "4": 4, "16": 16, "lines": 0}
LEAST = 0.05  # seconds that a measurement takes at least
ENOUGH = 1.0  # seconds after which it is not repeated
MOST = 10_000  # runs in one
SMALL = 2_000  # up to here a naive parser, which reads all again for each piece, is measured too


class Label(NamedTuple):
    """What is read."""

    format: str
    scenario: str
    size: str


class Row(NamedTuple):
    """One measurement; times in microseconds."""

    label: Label
    reading: str  # whole, or the size of the pieces
    pieces: int
    time: float
    floor: float  # whole: str.find over the text, json.loads of the arguments; else an empty loop
    again: float | None  # a whole parse of all that is there, for each piece
    peer: float | None  # transformers' response parser, which emits no arguments before a call ends

    @property
    def ratio(self) -> float:
        """How many times the floor."""
        return self.time / self.floor


class Empty:
    """A parser that reads nothing: it keeps its pieces in a list."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def feed(self, chunk: str) -> Sequence[Any]:
        """Keep a piece."""
        self.kept.append(chunk)
        return ()


def main() -> None:
    """Measure, print a table, and write it as JSON if asked to."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="without 2 MB")
    arguments.add_argument("--format", choices=texts.FORMATS, action="append", help="only this one")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    given = arguments.parse_args()
    sizes = QUICK if given.quick else tuple(SIZES)
    rows = []
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}\n")
    print(f"{'format':9}{'scenario':10}{'size':>7}{'pieces':>7}{'ms':>10}{'us/piece':>9}", end="")
    print(f"{'x floor':>8}{'again x':>8}{'peer x':>8}")
    for name in given.format or texts.FORMATS:
        for row in measure(name, sizes):
            rows.append(row)
            print(line(row), flush=True)
    if given.json:
        records = [
            {**row._asdict(), "label": row.label._asdict(), "ratio": row.ratio} for row in rows
        ]
        given.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


def line(row: Row) -> str:
    """A row for a person to read."""
    name, scenario, size = row.label
    others = (("" if other is None else f"{other / row.time:.1f}") for other in row[-2:])
    return (
        f"{name:9}{scenario:10}{size:>7}{row.reading:>7}{row.time / 1000:>10.3f}"
        f"{row.time / row.pieces:>9.2f}{row.ratio:>8.1f}"
        + "".join(f"{other:>8}" for other in others)
    )


def measure(name: str, sizes: Sequence[str]) -> Iterator[Row]:
    """All rows of one format."""
    format_ = texts.load(texts.FORMATS[name])
    for scenario in format_.turns:
        for size in sizes:
            text = format_.text(scenario, SIZES[size])
            label = Label(name, scenario, size)
            yield whole(format_.parser, text, label)
            for reading, length in PIECES.items():
                pieces = cut(text, length)
                yield streamed(format_.parser, pieces, label, reading)


def whole(parser: types.ModuleType, text: str, label: Label) -> Row:
    """Read a text at once."""
    calls = parser.parse(text).tool_calls
    missing = text[-1] + "\0"  # found nowhere, and its first character not often

    def floor() -> None:
        text.find(missing)
        for call in calls:
            json.loads(call.arguments)

    taken, least = best(lambda: parser.parse(text), floor)
    return Row(label, "whole", 1, taken, least, None, None)


def streamed(parser: types.ModuleType, pieces: list[str], label: Label, reading: str) -> Row:
    """Read a text in pieces."""
    taken, floor = best(lambda: stream(parser.Parser(), pieces), lambda: stream(Empty(), pieces))
    small = sum(map(len, pieces)) <= SMALL
    again = best(lambda: read_again(parser, pieces))[0] if small else None
    new_peer = peer_parser() if label.format == "tag+JSON" else None
    peer = new_peer and best(lambda: stream(new_peer(), pieces))[0]
    return Row(label, reading, len(pieces), taken, floor, again, peer)


@functools.cache
def peer_parser() -> Callable[[], Any] | None:
    """What makes transformers' response parser for the tag+JSON format; None if it is not installed."""
    try:
        from transformers.utils.chat_parsing import response_parser, response_templates
    except ImportError:
        return None
    call = {"open": "<tool_call>", "close": "</tool_call>", "content": "json", "repeats": True}
    thinking = {"open": "<think>", "close": "</think>"}
    fields = {"thinking": thinking, "content": {}, "tool_calls": call}
    template = response_templates.load_response_template(
        {"version": 1, "start_anchor": "<|im_start|>assistant", "fields": fields}
    )
    return lambda: response_parser.ResponseParser(template, prefix="")


def stream(parser: Any, pieces: list[str]) -> None:
    """Feed all pieces and drop what comes of each, as a server that has sent it does."""
    feed = parser.feed
    for piece in pieces:
        feed(piece)


def read_again(parser: types.ModuleType, pieces: list[str]) -> None:
    """What a naive server does: parse the whole text so far for each piece."""
    text = ""
    for piece in pieces:
        text += piece
        parser.parse(text, partial=True)


def cut(text: str, length: int) -> list[str]:
    """Pieces of a length, or lines."""
    if not length:
        return text.splitlines(keepends=True)
    return [text[i : i + length] for i in range(0, len(text), length)]


def best(*runs: Callable[[], object]) -> list[float]:
    """The least time of each, in microseconds, measured by turns: whatever else runs only adds to it."""
    gc.collect()
    least, spent = [float("inf")] * len(runs), 0.0
    for done in range(MOST):
        for i, run in enumerate(runs):
            start = time.process_time()
            run()
            taken = time.process_time() - start
            least[i] = min(least[i], taken)
            spent += taken
        if spent > ENOUGH or (spent > LEAST and done >= 2):
            break
    return [seconds * 1e6 for seconds in least]


if __name__ == "__main__":
    main()
