"""What the engines made of every format's grammars, as a page."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conftest import ROOT

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.grammar.lower import lower
from engines import engine_forms
from engines.tool_sets import TOOL_SETS

PAGE = ROOT / "docs" / "engines.md"
LOADS = 3  # of which the fastest counts
NOTHING = "-"


@dataclass
class Result:
    """What became of one format with one tool set."""

    stem: str
    tool_set: str
    has_calls: bool = True
    engines: tuple[str, ...] = ()  # none where one of them refused the grammar
    loads: Mapping[str, float] = field(default_factory=dict)  # milliseconds, by column
    costs: list[float] = field(default_factory=list)  # microseconds a byte, by a text's length
    judged: int = 0
    misjudged: int = 0
    samples: int = 0
    misread: int = 0
    strings: int = 0
    accepted: int = 0
    apart: int = 0


# Tool sets that loading times are measured with: the engines, and the columns of their times.
LOADED = {
    "any tool": {"lark": "lark", "lark, portable": "lark, portable"},
    "thirty tools": {
        "llama.cpp": "llama.cpp, 30 tools",
        "llguidance": "llguidance, 30 tools",
        "lark": "lark, 30 tools",
        "lark, portable": "lark, portable, 30 tools",
    },
}
COUNTS = (
    "engines",
    "judged",
    "right",
    "sampled",
    "read",
    "strings",
    "accepted",
    "same verdict",
)
LOADS_OF = tuple(column for columns in LOADED.values() for column in columns.values())
COLUMNS = ("format", *COUNTS, *LOADS_OF, "us/byte, 4 KB", "us/byte, 64 KB")
TEXT = """\
# Every format's grammars in the engines that enforce them

`AUTOPARSER_SAMPLES=8 pytest tests/test_grammar_engines.py` writes this page, and `.ci/full` calls it.
Each format meets {sets} tool sets: {names}. A call is required.

- **judged** are the verdicts asked for on renderings of calls that the tools permit, of calls that they
  forbid, and of truncated ones; **right** are those that take the first and refuse the others.
- **sampled** outputs are random, drawn by llama.cpp's own sampler under our GBNF; **read** are those of
  which the generated parser, with `strict=True`, makes calls of known tools with arguments that
  `jsonschema` accepts. Where any argument may be written, outputs that give one twice, or end a tag with
  the name of another, are left out: no grammar can forbid that.
- **strings** are renderings of good and bad calls, sampled outputs, and mutants of both; **accepted** are
  those that all engines take; **same verdict** are those that llama.cpp, llguidance, lark (with both
  forms of the Lark file) and the reader of grammars that verification uses all take, or all refuse.
- Loading times are milliseconds of processor time, rounded up to tens: of the files as they are
  generated, and with 30 tools, a call allowed.
- The last columns are what llama.cpp's sampler takes for each byte of a call whose argument is that
  long, in microseconds of processor time.
- A format without calls has a row of -.

{totals}

"""


def load_times(analysis: Analysis, tool_set: str, tools: Any) -> dict[str, float]:
    """How long the engines take to load the grammar that lets a model call, by column."""
    wanted = LOADED.get(tool_set, {})
    forms = engine_forms(lower(analysis, tools=tools), analysis) if wanted else {}
    return {column: _time(*forms[name]) for name, column in wanted.items() if name in forms}


def _time(load: Callable[[str], object], text: str) -> float:
    times = []
    for _ in range(LOADS):
        re.purge()  # a grammar that is loaded again would find its patterns compiled
        start = time.process_time()
        load(text)
        times.append(time.process_time() - start)
    return 1000 * min(times)


def write_page(results: Sequence[Result], faults: Mapping[tuple[str, str, str], str]) -> None:
    """Write the page, with the rows of formats that met all tool sets; other rows stay.

    `faults` are those that are open, by test, format and tool set.
    """
    by_format: dict[str, list[Result]] = {}
    for result in results:
        by_format.setdefault(result.stem, []).append(result)
    rows = rows_of_page()
    for stem, found in by_format.items():
        if len(found) == len(TOOL_SETS):
            rows[stem] = _row(found)
    PAGE.write_text(_page(rows, faults), encoding="utf-8")


def rows_of_page() -> dict[str, list[str]]:
    """The cells of the page's rows, by format."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    lines = re.findall(r"^\| (\w.*) \|$", text, re.MULTILINE)
    cells = ([cell.strip() for cell in line.split(" | ")] for line in lines)
    return {row[0]: row for row in cells if row[0] != COLUMNS[0]}


def _row(found: Sequence[Result]) -> list[str]:
    if not found[0].has_calls:
        return [found[0].stem, *(NOTHING for _ in COLUMNS[1:])]
    loads = {name: ms for result in found for name, ms in result.loads.items()}
    judged, misjudged = sum(r.judged for r in found), sum(r.misjudged for r in found)
    samples, misread = sum(r.samples for r in found), sum(r.misread for r in found)
    strings, apart = sum(r.strings for r in found), sum(r.apart for r in found)
    counts = (
        min(len(result.engines) for result in found),
        *(judged, judged - misjudged, samples, samples - misread),
        *(strings, sum(r.accepted for r in found), strings - apart),
    )
    times = (loads.get(column) for column in LOADS_OF)
    tens = (ms and (10 * -(-int(ms) // 10) or 10) for ms in times)
    costs = next((result.costs for result in found if result.costs), [None, None])
    by_length = (NOTHING if cost is None else f"{cost:.1f}" for cost in costs)
    return [found[0].stem, *map(str, counts), *(str(ms or NOTHING) for ms in tens), *by_length]


def _page(rows: Mapping[str, Sequence[str]], faults: Mapping[tuple[str, str, str], str]) -> str:
    lines = [rows[stem] for stem in sorted(rows)]
    sums = {
        name: sum(int(row[at]) for row in lines if row[at] != NOTHING)
        for at, name in enumerate(COUNTS, 1)
    }
    totals = (
        f"In all: {sums['right']} of {sums['judged']} verdicts are right; {sums['read']} of"
        f" {sums['sampled']} sampled outputs are read; the engines agree on {sums['same verdict']}"
        f" of {sums['strings']} strings."
    )
    text = TEXT.format(
        sets=len(TOOL_SETS), names=", ".join(TOOL_SETS), totals=totals, nothing=NOTHING
    )
    return text + _table([COLUMNS, *lines]) + _faults(faults)


def _faults(faults: Mapping[tuple[str, str, str], str]) -> str:
    """The formats with each of the faults, below the table."""
    stems: dict[str, list[str]] = {}
    for (_, stem, tool_set), reason in faults.items():
        stems.setdefault(f"{tool_set}: {reason}", []).append(stem)
    lines = [f"- {', '.join(found)}, {fault}." for fault, found in stems.items()]
    return "\nOpen faults:\n\n" + "\n".join(lines) + "\n" if lines else ""


def _table(lines: Iterable[Sequence[str]]) -> str:
    head, *rows = (f"| {' | '.join(cells)} |" for cells in lines)
    rule = "| --- |" + " ---: |" * (len(COLUMNS) - 1)
    return "\n".join([head, rule, *rows]) + "\n"
