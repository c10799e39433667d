"""Show a person what was found: the turn with its markers, every field with its evidence."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from autoparser_gen.analysis.as_json import json_text, to_json
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.errors import AutoparserError, InternalError, VerificationError
from autoparser_gen.fields import fields, is_unset, quoted
from autoparser_gen.header import printable
from autoparser_gen.pipeline import Format, Generated, find_format, generate
from autoparser_gen.pool import Pool
from autoparser_gen.probe import Prober, Turn
from autoparser_gen.request import Options, Request

REASONING, CONTENT = "Which city? Oslo, then Rome.", "I look both up."
CALLS = tuple(
    ("weather", {"city": city, "days": days}) for city, days in (("Oslo", 1), ("Rome", 2))
)
# Parts of an analysis whose texts stand in the turn. The joints and prompts repeat them.
MARKED = ("assistant_header", "reasoning", "content", "tools", "headers", "end_of_turn")

# How a terminal shows what belongs to each part of a message; names say the same without colour.
COLOURS: dict[str, dict[str, Any]] = {
    "reasoning": {"fg": "magenta"},
    "content": {"fg": "green"},
    "tools": {"fg": "cyan", "bold": True},
    "turn": {"fg": "yellow"},
}

HEADINGS = ("chat template", "result", "reasoning", "content", "calls", "turns", "remarks")


@dataclass(frozen=True)
class Piece:
    """A stretch of the turn; `field` names the marker that it is, "" for the message's own text."""

    field: str
    text: str


@dataclass(frozen=True)
class Row:
    """What became of one chat template, for a table of many."""

    template: str
    result: str  # verified, analysed (not verified), failed (verification), refused, crashed
    reasoning: str = ""
    content: str = ""
    tools: str = ""
    parallel_calls: bool = False
    turns: int = 0
    not_rendered: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""


def one(source: Path, options: Options, *, as_json: bool, colour: bool = False) -> str:
    """A report on one chat template, in a terminal's colours or without.

    Raises AutoparserError where there is nothing to report.
    """
    found = find_format(source, options)
    if as_json:
        return to_json(found.analysis)
    return "".join(f"{line}\n" for line in _lines(found, colour))


def several(sources: Sequence[Path], options: Options, pool: Pool, *, as_json: bool) -> str:
    """A Markdown table of what became of each chat template; errors are rows, not exceptions."""
    rows = pool.map(functools.partial(row, options=options), sources)
    if as_json:
        return json_text([asdict(row) for row in rows], indent=2) + "\n"
    return table(rows)


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown, in columns."""
    cells = [HEADINGS, *(_cells(row) for row in rows)]
    # The last column is prose of any length.
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEADINGS) - 1)] + [0]
    lines = [" | ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)) for line in cells]
    lines.insert(1, " | ".join("-" * max(width, 3) for width in widths))
    return "".join(f"| {line} |\n" for line in lines)


def row(source: Path, options: Options) -> Row:
    """What becomes of one chat template; an error is a result."""
    try:
        generated = generate(Request(source, (), options))
    except VerificationError as error:
        return _failure(source, "failed", error)
    except AutoparserError as error:
        return _failure(source, "refused", error)
    except Exception as error:  # a stranger's chat template met a bug of ours
        return _failure(source, "crashed", InternalError.of(source, error))
    return row_of(source, generated)


def row_of(source: Path, generated: Generated) -> Row:
    """The row of a chat template that was read."""
    analysis, report = generated.analysis, generated.report
    return Row(
        template=source.name,
        result="verified" if report else "analysed",
        reasoning=analysis.reasoning.mode.value,
        content=analysis.content.mode.value,
        tools=analysis.tools.format.mode.value,
        parallel_calls=analysis.capabilities.supports_parallel_tool_calls,
        turns=len(report.rendered) if report else 0,
        not_rendered=report.not_rendered if report else (),
        notes=analysis.notes,
    )


def _failure(source: Path, result: str, error: AutoparserError) -> Row:
    # The row names the file already, and a table must not depend on where it stands.
    message = str(error).removeprefix(f"{source}: ").removeprefix(f"{source.name}: ")
    return Row(source.name, result, error=message)


def pieces(turn: Turn, analysis: Analysis) -> list[Piece]:
    """The turn cut into its markers and the message's own text."""
    markers = _markers(analysis)
    text = turn.header + turn.text
    found: list[Piece] = []
    group, at = "", 0  # the last marker's structure, whose fields belong together
    while at < len(text):
        # The longest first: a marker may begin with another one. No marker stands in prose.
        own = [
            (len(prose), False, "") for prose in (REASONING, CONTENT) if text.startswith(prose, at)
        ]
        fitting = [(len(m), _group(n) == group, n) for n, m in markers if text.startswith(m, at)]
        length, _, name = max(own or fitting, default=(1, False, ""))
        piece = text[at : at + length]
        if not name and found and not found[-1].field:
            found[-1] = Piece("", found[-1].text + piece)
        else:
            found.append(Piece(name, piece))
        group = _group(name) if name else group
        at += length
    return found


def part_of(piece: Piece) -> str:
    """What a piece of the turn belongs to: reasoning, content, tools, turn, "" for its own text."""
    first = piece.field.split(".")[0]
    return first if first in ("reasoning", "content", "tools") else "turn" if first else ""


def full_turn(prober: Prober) -> Turn | None:
    """The turn that shows most: all parts, or the richest that the chat template renders."""
    for reasoning in (REASONING, None):
        for calls in (CALLS, CALLS[:1], ()):
            for content in (CONTENT, None):
                turn = prober.raw_turn(content, reasoning, calls) if content or calls else None
                if turn is not None:
                    return turn
    return None


def _lines(found: Format, colour: bool) -> Iterator[str]:
    def painted(text: str, **style: Any) -> str:
        return click.style(text, **style) if colour and text and style else text

    analysis = found.analysis
    everything = list(fields(analysis))
    unset = [path for path, value in everything if is_unset(value)]
    shown = [(path, value) for path, value in everything if path not in unset]
    width = max(len(path) for path, _ in shown) + 2
    yield f"{painted(printable(analysis.source), bold=True)}  sha256 {analysis.sha256}"
    yield _heading(painted, "The assistant's turn, with the name of each marker where it stands:")
    turn = full_turn(found.prober)
    for piece in pieces(turn, analysis) if turn else ():
        style = COLOURS.get(part_of(piece), {})
        yield f"  {piece.field:<{width}}{painted(quoted(piece.text), **style)}"
    yield _heading(painted, "Fields, each with the comparison that found it:")
    for path, value in shown:
        cell, evidence = quoted(value), printable(analysis.evidence.get(path, ""))
        gap = " " * max(34 + 2 - len(cell), 2) if evidence else ""
        style = COLOURS.get(path.split(".")[0], {})
        yield f"  {path:<{width}}{painted(cell, **style)}{gap}{painted(evidence, dim=True)}"
    yield _heading(painted, "Fields that this format does not use:")
    yield textwrap.fill(", ".join(unset), 100, initial_indent="  ", subsequent_indent="  ")
    for note in analysis.notes:
        yield f"\n{painted('Note:', bold=True, fg='yellow')} {printable(note)}"


def _heading(painted: Callable[..., str], text: str) -> str:
    return f"\n{painted(text, bold=True)}\n"


def _markers(analysis: Analysis) -> list[tuple[str, str]]:
    """Texts that delimit, with their paths: as they are and without the whitespace around them."""
    return [
        (path, text)
        for path, value in fields(analysis)
        if path.split(".")[0] in MARKED and isinstance(value, str) and _delimits(path, value)
        for text in {value, value.strip()}
    ]


def _group(path: str) -> str:
    return path.rpartition(".")[0]


def _delimits(path: str, value: str) -> bool:
    last = path.rsplit(".", 1)[-1]
    return (
        bool(value.strip())
        and last not in ("mode", "pos", "value_syntax", "item_tag")
        and not (last.endswith("_field"))
    )


def _cells(row: Row) -> tuple[str, ...]:
    calls = row.tools + (", parallel" if row.parallel_calls else "")
    remarks = [f"not rendered: {', '.join(row.not_rendered)}"] if row.not_rendered else []
    remarks += [*row.notes, *row.error.split("\n")[:1]]
    cells = (row.template, row.result, row.reasoning, row.content, calls, str(row.turns or ""))
    return *map(_cell, cells), _cell("; ".join(filter(None, remarks)))


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")
