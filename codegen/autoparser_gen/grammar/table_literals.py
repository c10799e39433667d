"""Regions of calls whose arguments are neither JSON nor markup around raw values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoparser_gen.analysis.model import LiteralSyntax
from autoparser_gen.emit.skeletons.tables import Go, Region

if TYPE_CHECKING:
    from autoparser_gen.grammar.table_builder import Rows
    from autoparser_gen.grammar.table_calls import Calls


def literal_arguments(calls: Calls, more: str = "") -> Rows:
    """Arguments that are one literal; returns the rows that follow the name."""
    rows = calls.json_arguments(more)
    literals = calls.arguments.literals or LiteralSyntax()
    calls.build.decoders["arguments"] = "LiteralArguments"
    calls.build.settings.update(
        LITERAL_QUOTES=literals.quotes,
        LITERAL_ESCAPES=literals.escapes,
        ARGUMENTS_CLOSER=(calls.function.close + calls.format.per_call_end + more).rstrip(),
        ARGUMENTS_BEHIND=_behind_call(calls),
    )
    return rows


def python_calls(calls: Calls) -> None:
    """Calls as in Python, in a list or one behind the other, mostly between section markers."""
    build, form = calls.build, calls.format
    _python_settings(calls)
    build.region("call", Region("data", "calls"))
    opener = form.per_call_start + calls.function.name_prefix
    calls.begin("CALL_START", opener, "tools.format.per_call_start", "call")
    if not calls.openers and calls.section:
        calls.openers = build.chain(calls.section, Go("call", opens=True), "section")
        build.transitions[calls.after].update(calls.section_end_rows(closes=False))
        calls.section = []
    elif not calls.openers:
        opening = build.marker("LIST_OPENING", "[", "tools.format.mode")
        calls.openers = {opening: Go("call", opens=True, bare=True)}
    closer = (calls.function.close + form.per_call_end).lstrip().removeprefix(")")
    ends = build.markers_of("CALL_END", closer, "tools.format.per_call_end")
    # In a list each call is complete with its comma or the list's end; the rest is markup.
    closing = build.marker("LIST_CLOSING", "]", "tools.format.mode")
    listed = Go("list_end" if ends else calls.after, closes=True)
    build.transitions["call"] = {closing: listed, "": Go("call_end")}
    rows = build.chain(ends, calls.closed(), "call_end") if ends else {}
    build.region("call_end", Region("gap", ends=True), rows)
    if ends:
        rows = build.chain(ends, Go(calls.after), "list_end")
        build.region("list_end", Region("gap", otherwise=calls.after), rows)


def _python_settings(calls: Calls) -> None:
    build, literals = calls.build, calls.arguments.literals or LiteralSyntax()
    quotes = tuple(dict.fromkeys((*literals.quotes, "'", '"')))
    build.settings.update(LITERAL_QUOTES=quotes, LITERAL_ESCAPES=literals.escapes)
    build.decoders["call"] = "PythonCalls"
    if literals.bare_strings:
        build.settings.update(
            RAW_TYPES={},
            RAW_WRAP=None,
            VALUE_ESCAPES={},
            PYTHON_WORDS=True,
            QUOTED_STRINGS=False,
        )
        build.decoders["call"] = "BarePythonCalls"


def tree_arguments(calls: Calls, more: str = "") -> Rows:
    """Arguments as nested tags; returns the rows that follow the name."""
    build, arguments, path = calls.build, calls.arguments, "tools.arguments."
    end = build.markers_of("ARGUMENTS_END", arguments.end, path + "end")
    closing = end + calls.closing(more)
    rows = build.chain(closing, calls.closed(), "closing") if closing else {}
    build.region("arguments", Region("data", "arguments"), {"": Go("call_end")})
    build.decoders["arguments"] = "TreeArguments"
    build.region("call_end", Region("gap", ends=not closing), rows)
    closer_start, _, closer_end = arguments.value_suffix.strip().partition("{key}")
    build.settings.update(
        TAG_START=arguments.name_prefix.strip(),
        TAG_END=(arguments.name_suffix + arguments.value_prefix).strip(),
        CLOSER_START=closer_start,
        CLOSER_END=closer_end,
        ITEM_TAG=arguments.item_tag,
        ARGUMENTS_CLOSER=build.markers[closing[0]].text if closing else "",
        ARGUMENTS_BEHIND=tuple(build.markers[name].text for name in closing[1:2])
        or _behind_call(calls),
        RAW_TYPES={},
        RAW_WRAP=None,
        VALUE_ESCAPES=dict(arguments.value_escapes),
        PYTHON_WORDS=arguments.python_words,
        QUOTED_STRINGS=False,
    )
    tag = build.marker("TAG", arguments.name_prefix.strip(), path + "name_prefix")
    rows = {tag: Go("arguments", stays=True), **rows}
    opening = build.markers_of("ARGUMENTS_START", arguments.start, path + "start")
    if not opening:
        return rows
    build.region("in_arguments", Region("gap"), rows)
    return build.chain(opening, Go("in_arguments"), "arguments_start")


def _behind_call(calls: Calls) -> tuple[str, ...]:
    """What may follow a call that is closed: the next one, or an end."""
    form, analysis = calls.format, calls.build.analysis
    opener = form.per_call_start + calls.function.name_prefix
    ends = (form.section_end, analysis.end_of_turn, analysis.end_of_turn_after_calls)
    return tuple(text.strip() for text in (opener, *ends) if text.strip())
