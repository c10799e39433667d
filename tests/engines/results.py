"""What the engines made of every format's grammars, as a page."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conftest import ROOT

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.grammar.lower import lower
from engines import engine_forms
from engines.tool_sets import TOOL_SETS

PAGE = ROOT / "docs" / "engines.md"
LOADS = 3  # of which the fastest counts


@dataclass
class Result:
    """What became of one format with one tool set."""

    stem: str
    tool_set: str
    engines: tuple[str, ...]
    loads: Mapping[str, float]  # milliseconds of processor time; of some tool sets only
    samples: int = 0
    misread: int = 0
    strings: int = 0
    accepted: int = 0
    apart: int = 0


# The tool set that an engine's loading time is measured with.
LOADED = {
    "any tool": ("lark", "lark, portable"),
    "thirty tools": ("llama.cpp", "llguidance"),
}
COLUMNS = (
    "format",
    "engines",
    "sampled",
    "read",
    "strings",
    "accepted",
    "same verdict",
    "llama.cpp, 30 tools",
    "llguidance, 30 tools",
    "lark",
    "lark, portable",
)
TEXT = """\
# Every format's grammars in the engines that enforce them

`AUTOPARSER_SAMPLES=8 pytest tests/test_grammar_engines.py` writes this page, and `.ci/full` calls it.
Each format meets {sets} tool sets: {names}. A call is required.

- **sampled** outputs are random, drawn by llama.cpp's own sampler under our GBNF; **read** are those of
  which the generated parser, with `strict=True`, makes calls of known tools with arguments that
  `jsonschema` accepts. Where any argument may be written, outputs that give one twice are left out: no
  grammar can forbid that.
- **strings** are renderings of good and bad calls, sampled outputs, and mutants of both; **accepted** are
  those that all engines take; **same verdict** are those that llama.cpp, llguidance and lark (with both
  forms of the Lark file) all take, or all refuse.
- Loading times are milliseconds of processor time, rounded up to tens: llama.cpp and llguidance with 30
  tools, a call allowed; lark with the files as they are generated.

{totals}

"""


def load_times(analysis: Analysis, tool_set: str, tools: Any) -> dict[str, float]:
    """How long the engines take to load the grammar that lets a model call, by engine."""
    wanted = LOADED.get(tool_set, ())
    forms = engine_forms(lower(analysis, tools=tools), analysis) if wanted else {}
    return {name: _time(load, text) for name, (load, text) in forms.items() if name in wanted}


def _time(load: Callable[[str], object], text: str) -> float:
    times = []
    for _ in range(LOADS):
        start = time.process_time()
        load(text)
        times.append(time.process_time() - start)
    return 1000 * min(times)


def write_page(results: Sequence[Result]) -> None:
    """Write the page, with the rows of formats that met all tool sets; other rows stay."""
    by_format: dict[str, list[Result]] = {}
    for result in results:
        by_format.setdefault(result.stem, []).append(result)
    rows = rows_of_page()
    for stem, found in by_format.items():
        if len(found) == len(TOOL_SETS):
            rows[stem] = _row(found)
    PAGE.write_text(_page(rows), encoding="utf-8")


def rows_of_page() -> dict[str, list[str]]:
    """The cells of the page's rows, by format."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    lines = re.findall(r"^\| (\w.*) \|$", text, re.MULTILINE)
    cells = ([cell.strip() for cell in line.split(" | ")] for line in lines)
    return {row[0]: row for row in cells if row[0] != COLUMNS[0]}


def _row(found: Sequence[Result]) -> list[str]:
    loads = {name: ms for result in found for name, ms in result.loads.items()}
    samples, misread = sum(r.samples for r in found), sum(r.misread for r in found)
    strings, apart = sum(r.strings for r in found), sum(r.apart for r in found)
    loaded = min(len(result.engines) for result in found)
    counts = (loaded, samples, samples - misread, strings, sum(r.accepted for r in found))
    times = (loads[name] for name in ("llama.cpp", "llguidance", "lark", "lark, portable"))
    tens = (10 * -(-int(ms) // 10) or 10 for ms in times)
    return [found[0].stem, *map(str, (*counts, strings - apart, *tens))]


def _page(rows: Mapping[str, Sequence[str]]) -> str:
    lines = [rows[stem] for stem in sorted(rows)]
    sums = {name: sum(int(row[at]) for row in lines) for at, name in enumerate(COLUMNS) if at}
    totals = (
        f"In all: {sums['read']} of {sums['sampled']} sampled outputs are read; the engines agree"
        f" on {sums['same verdict']} of {sums['strings']} strings."
    )
    text = TEXT.format(sets=len(TOOL_SETS), names=", ".join(TOOL_SETS), totals=totals)
    return text + _table([COLUMNS, *lines])


def _table(lines: Iterable[Sequence[str]]) -> str:
    head, *rows = (f"| {' | '.join(cells)} |" for cells in lines)
    rule = "| --- |" + " ---: |" * (len(COLUMNS) - 1)
    return "\n".join([head, rule, *rows]) + "\n"
