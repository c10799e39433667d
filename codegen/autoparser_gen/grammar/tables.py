"""The region table of a generated parser: regions, and which marker leads where.

`build_tables` turns an analysis into the two literal tables that a generated module prints. What
the rows mean is said where they are read, in `emit/skeletons/reading.py`.
"""

from __future__ import annotations

from autoparser_gen.analysis.model import Analysis, ContentMode, ReasoningMode, ToolMode
from autoparser_gen.emit.skeletons.tables import Go, Region
from autoparser_gen.grammar.markup import has_messages
from autoparser_gen.grammar.table_builder import (
    SPACE,
    Builder,
    Rows,
    Tables,
    separated,
    space_before,
    tokens,
)
from autoparser_gen.grammar.table_calls import Calls
from autoparser_gen.grammar.table_headers import lay_out_messages


def build_tables(analysis: Analysis) -> Tables:
    """Lay out the regions of a format: reasoning, content, then calls by their kind."""
    build = Builder(analysis)
    if analysis.headers is not None and has_messages(analysis):
        start = lay_out_messages(build, analysis.headers)
    else:
        start = _lay_out_parts(build)
    _end_rows(build)
    ordered = _reachable(build, start)
    used = {marker for name in ordered for marker in build.transitions[name]}
    return Tables(
        start=start,
        markers={name: build.markers[name] for name in build.markers if name in used},
        regions={name: build.regions[name] for name in ordered},
        transitions={name: build.transitions[name] for name in ordered if build.transitions[name]},
        decoders={name: build.decoders[name] for name in ordered if name in build.decoders},
        settings=build.settings,
    )


def _reachable(build: Builder, start: str) -> list[str]:
    """The regions in the order in which a turn meets them; those that nothing leads to are left out."""
    ordered = [start]
    for region in ordered:
        targets = [build.regions[region].otherwise]
        targets += [go.region for go in build.transitions[region].values()]
        ordered += [t for t in dict.fromkeys(targets) if t in build.regions and t not in ordered]
    return ordered


def _lay_out_parts(build: Builder) -> str:
    """A turn of reasoning, content and calls; returns the region that it starts in."""
    texts = _lay_out_text(build)
    if build.analysis.tools.format.mode is not ToolMode.NONE:
        Calls(build, texts).lay_out()
        if "aside" in build.regions:
            _close_aside_behind_calls(build)
    if "start" in build.regions:
        return "start"
    # Reasoning without an opener is what a turn begins with.
    return "reasoning" if "reasoning" in texts else "content"


def _lay_out_text(build: Builder) -> list[str]:
    """Reasoning and content regions; returns the text regions, in which calls may begin."""
    analysis = build.analysis
    reasoning, content = analysis.reasoning, analysis.content
    build.region("content", Region("text", "content"))
    texts = ["content"]
    wrapped = content.mode is not ContentMode.PLAIN and content.start.strip(SPACE)
    opening: Rows = {}
    if wrapped:
        _, core, after = separated(content.start)
        name = build.marker("CONTENT_START", core, "content.start")
        opening = {name: Go("response", before=True, after=after)}
        build.transitions["content"].update(opening)
        texts.append(build.region("response", Region("text", "content")))
        _close_wrapper(build)
    if content.beside_call_start:
        texts.append(_lay_out_aside(build))
    if analysis.headers is not None and analysis.headers.start.strip(SPACE):
        # Further messages of a turn repeat the header; without words in it, it is only markup.
        name = build.marker("MESSAGE_START", analysis.headers.start.strip(SPACE), "headers.start")
        build.transitions["content"][name] = Go("content")
    if reasoning.mode is ReasoningMode.NONE:
        return texts
    _, start, after_start = separated(reasoning.start)
    before, end, after = separated(reasoning.end)
    build.region("reasoning", Region("text", "reasoning"))
    if start:
        name = build.marker("REASONING_START", start, "reasoning.start")
        row = {name: Go("reasoning", before=True, after=after_start)}
        build.region("start", Region("gap", otherwise="content"), row)
        if analysis.capabilities.several_reasoning_blocks:
            build.transitions["content"][name] = Go("reasoning", after=after_start)
    if end:
        name = build.marker("REASONING_END", end, "reasoning.end")
        closing = {name: Go("content", before=bool(before), after=after)}
        build.transitions["reasoning"].update(closing)
        if start not in ("", end):  # reasoning that closes before it was opened is empty
            build.transitions["start"].update(closing)
    elif reasoning.end:  # the next line's opener closes it
        _, core, after = separated(content.start)
        name = build.marker("CONTENT_LINE", reasoning.end + core, "content.start")
        opening = {name: Go("response", before=True, after=after)}
    build.transitions["reasoning"].update(opening)
    return [*texts, "reasoning"]


def _lay_out_aside(build: Builder) -> str:
    """Content that has markers only beside a call; returns its region."""
    content = build.analysis.content
    _, core, after = separated(content.beside_call_start)
    name = build.marker("ASIDE_START", core, "content.beside_call_start")
    build.transitions["content"][name] = Go("aside", before=True, after=after)
    before, core, after = separated(content.beside_call_end)
    name = build.marker("ASIDE_END", core, "content.beside_call_end")
    rows = {name: Go("content", before=bool(before), after=after)}
    return build.region("aside", Region("text", "content"), rows)


def _close_aside_behind_calls(build: Builder) -> None:
    """Models put a call, too, between the markers that content has beside one."""
    (end,) = (name for name, go in build.transitions["aside"].items() if go.region == "content")
    for region, kind in build.regions.items():
        if kind.ends:
            build.transitions[region].setdefault(end, Go("content", closes=True))


def _close_wrapper(build: Builder) -> None:
    before, core, after = separated(build.analysis.content.end)
    if core:
        name = build.marker("CONTENT_END", core, "content.end")
        build.transitions["response"][name] = Go("content", before=bool(before), after=after)


def _end_rows(build: Builder) -> None:
    """The end of turn, in every text region and after calls that may end without a marker."""
    end = build.analysis.end_of_turn.strip(SPACE)
    names = []
    if end:
        names.append(build.marker("END_OF_TURN", end, "end_of_turn"))
        before = space_before(build.analysis.joints.get("content_to_end", ""), end)
        if before:
            name = build.marker("END_OF_TURN_WITH_SPACE", before + end, "end_of_turn")
            names.insert(0, name)
        parts = tokens(end)
        for number in range(1, len(parts)):  # it may be there in part
            for part in ("".join(parts[:number]), "".join(parts[number:])):
                if part in end:
                    names.append(
                        build.marker(f"END_OF_TURN_PART_{len(names)}", part, "end_of_turn")
                    )
    after_calls = build.analysis.end_of_turn_after_calls.strip(SPACE)
    if after_calls:
        names.append(build.marker("END_OF_CALLS", after_calls, "end_of_turn"))
    if not names:
        return
    build.region("end", Region("end"))
    for region, kind in build.regions.items():
        rows = build.transitions[region]
        if kind.kind == "text":
            rows.update({name: Go("end") for name in names if name not in rows})
        elif kind.ends:
            rows.update({name: Go("end", closes=True) for name in names if name not in rows})
