"""Regions of turns that are several messages, each with a header (channels, recipients)."""

from __future__ import annotations

import re

from autoparser_gen.analysis.model import Headers, ToolMode
from autoparser_gen.emit.skeletons.tables import Go, Region
from autoparser_gen.grammar.markup import is_space_between
from autoparser_gen.grammar.table_builder import Builder, Rows
from autoparser_gen.grammar.table_calls import Calls

_SPACE = " \t\r\n"


def lay_out_messages(build: Builder, headers: Headers) -> str:
    """All regions of such a turn; returns the one that it starts in."""
    analysis = build.analysis
    texts = ["content"]
    build.region("content", Region("text", "content"))
    rows: Rows = {"content": Go("content")}
    if headers.reasoning:
        texts.append(build.region("reasoning", Region("text", "reasoning")))
        rows["reasoning"] = Go("reasoning")
    if headers.namespace:
        texts.append(build.region("foreign", Region("text", "incomplete")))
        rows["foreign"] = Go("foreign")
    between = _between_messages(build, headers, texts)
    if analysis.tools.format.mode is not ToolMode.NONE:
        calls = Calls(build, [])
        calls.after = "next_message" if headers.message_end else "content"
        rows["call"] = _body(calls, headers, between)
    if is_space_between(analysis):
        rows = {row: go._replace(before=True) for row, go in rows.items()}
    build.region("header", Region("data", "header", otherwise="back"), rows)
    build.decoders["header"] = "Header"
    _settings(build, headers)
    return "header" if headers.start in analysis.assistant_header else "content"


def _between_messages(build: Builder, headers: Headers, texts: list[str]) -> Rows:
    """Rows for what ends a message and what begins the next one."""
    start = build.marker("HEADER_START", _marker_and_role(headers)[0], "headers.start")
    rows: Rows = {start: Go("header")}
    if headers.message_end:
        build.region("next_message", Region("gap", otherwise="content"), rows)
        end = build.marker("MESSAGE_END", headers.message_end, "headers.start")
        rows = {end: Go("next_message"), **rows}
    for region in texts:
        build.transitions[region].update(rows)
    return rows


def _body(calls: Calls, headers: Headers, between: Rows) -> Go:
    """The message of a call, behind its header."""
    build, analysis = calls.build, calls.build.analysis
    tools = analysis.tools
    opener = tools.format.section_start + tools.format.per_call_start + tools.function.name_prefix
    body = _behind_header(opener, headers)
    if tools.format.mode is ToolMode.TAG_WITH_TAGGED:
        following = calls.tagged_arguments(tools.format.section_end)
    else:
        following = calls.json_arguments(tools.format.section_end)
    go = Go("arguments", opens=True)
    if body:
        suffix = build.markers_of(
            "NAME_SUFFIX", tools.function.name_suffix, "tools.function.name_suffix"
        )
        if suffix:
            build.region("after_name", Region("gap"), following)
            following = build.chain(
                suffix, build.only(following) or Go("after_name"), "name_suffix"
            )
        build.region("name", Region("field", "name"), following)
        first = build.chain(
            build.markers_of("CALL_START", body, "tools.function.name_prefix"), Go("name"), "opener"
        )
        go = Go(build.region("call_body", Region("gap"), first), opens=True)
    build.settings["NAME_IN_HEADER"] = not body
    after_calls = analysis.end_of_turn_after_calls.strip(_SPACE)
    if after_calls and after_calls != headers.message_end:
        between = {build.marker("CALL_END", after_calls, "end_of_turn"): Go(calls.after), **between}
    for region, kind in build.regions.items():
        if kind.ends:
            for marker, row in between.items():
                build.transitions[region].setdefault(marker, row._replace(closes=True))
    return go


def _behind_header(opener: str, headers: Headers) -> str:
    """The part of a call's opener that stands in the message itself."""
    text = opener.strip(_SPACE)
    if headers.end in text:
        return text.rpartition(headers.end)[2]
    for prefix in (headers.start, headers.recipient, headers.namespace):
        text = text.removeprefix(prefix.strip(_SPACE)).lstrip(_SPACE)
    return text


def _marker_and_role(headers: Headers) -> tuple[str, str]:
    """What opens a message, and the word behind it, which is a word of the header."""
    found = re.fullmatch(r"(.*\W)(\w+)", headers.start.strip(_SPACE), re.DOTALL)
    return (found[1].strip(_SPACE), found[2]) if found else (headers.start.strip(_SPACE), "")


def _settings(build: Builder, headers: Headers) -> None:
    words = {
        headers.reasoning: "reasoning",
        headers.content: "content",
        headers.preamble: "content",
    }
    build.settings.update(
        ROLE=_marker_and_role(headers)[1],
        CHANNEL=headers.channel.strip(_SPACE),
        HEADER_END=headers.end,
        HEADER_WORDS={
            word: row for word, row in words.items() if word or headers.content_has_no_word
        },
        RECIPIENT=headers.recipient.strip(_SPACE),
        NAMESPACE=headers.namespace,
    )
    build.settings.setdefault("NAME_IN_HEADER", False)
