"""Regions of calls whose arguments are neither JSON nor markup around raw values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoparser_gen.analysis.model import LiteralSyntax
from autoparser_gen.emit.skeletons.tables import Go, Region

if TYPE_CHECKING:
    from autoparser_gen.grammar.tables import Calls, Rows


def literal_arguments(calls: Calls, more: str = "") -> Rows:
    """Arguments that are one literal; returns the rows that follow the name."""
    rows = calls.json_arguments(more)
    literals = calls.arguments.literals or LiteralSyntax()
    calls.build.decoders["arguments"] = "LiteralArguments"
    calls.build.settings.update(LITERAL_QUOTES=literals.quotes, LITERAL_ESCAPES=literals.escapes)
    return rows


def python_calls(calls: Calls) -> None:
    """Calls as in Python, in a list or one behind the other, mostly between section markers."""
    build, form = calls.build, calls.format
    _python_settings(calls)
    build.region("call", Region("data", "calls"))
    calls.begin("CALL_START", form.per_call_start, "tools.format.per_call_start", "call")
    if not calls.openers and calls.section:
        calls.openers = build.chain(calls.section, Go("call", opens=True), "section")
        build.transitions[calls.after].update(calls.section_end_rows(closes=False))
        calls.section = []
    elif not calls.openers:
        opening = build.marker("LIST_OPENING", "[", "tools.format.mode")
        calls.openers = {opening: Go("call", opens=True, bare=True)}
    ends = build.markers_of("CALL_END", form.per_call_end, "tools.format.per_call_end")
    # In a list each call is complete with its comma or the list's end; the rest is markup.
    closing = build.marker("LIST_CLOSING", "]", "tools.format.mode")
    build.transitions["call"] = {
        closing: Go(calls.after, closes=True),
        "": Go("call_end"),
    }
    rows = build.chain(ends, Go(calls.after, closes=True), "call_end") if ends else {}
    build.region("call_end", Region("gap", ends=True), rows)
    if ends:
        build.transitions[calls.after].update(build.chain(ends, Go(calls.after), "list_end"))


def _python_settings(calls: Calls) -> None:
    build, literals = calls.build, calls.arguments.literals or LiteralSyntax()
    quotes = tuple(dict.fromkeys((*literals.quotes, "'", '"')))
    build.settings.update(LITERAL_QUOTES=quotes, LITERAL_ESCAPES=literals.escapes)
    build.decoders["call"] = "PythonCalls"
    if literals.bare_strings:
        build.settings.update(RAW_TYPES={}, RAW_WRAP=None, PYTHON_WORDS=True)
        build.decoders["call"] = "BarePythonCalls"
