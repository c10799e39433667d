"""Tool calls: which kind of format, and what surrounds a call (phases T1 and T2)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autoparser_gen.analysis.content import TurnEnd, without_end, without_reasoning
from autoparser_gen.analysis.conventions import shared_words
from autoparser_gen.analysis.json_calls import analyze_json_native
from autoparser_gen.analysis.layout import Layout
from autoparser_gen.analysis.marks import pattern, with_counter
from autoparser_gen.analysis.markup_calls import analyze_markup
from autoparser_gen.analysis.model import (
    SAME_KEY,
    SAME_NAME,
    Content,
    Headers,
    Reasoning,
    ToolFormat,
    ToolMode,
    Tools,
)
from autoparser_gen.analysis.study import Study
from autoparser_gen.analysis.typed import escapes_json, opens_by_type
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import Cut, cut_joint, shared_end, without_prefix, without_suffix


@dataclass(frozen=True)
class Known:
    """What the phases before found, which the calls' surroundings must leave out."""

    reasoning: Reasoning
    content: Content
    headers: Headers | None
    end: TurnEnd


@dataclass(frozen=True)
class ToolFindings:
    """The format of calls, and what ends a turn of calls where that is unlike."""

    tools: Tools
    end_after_calls: str = ""


def analyze_tools(study: Study, known: Known) -> ToolFindings:
    """T1 to T7, for the kind of format that the first call shows."""
    layout = study.layout(calls=1)
    if layout is None:
        study.note(_no_calls(study))
        return ToolFindings(Tools())
    mode = analyze_tool_calls(study, layout)
    cut, section_start, rest = check_per_call_markers(study, known, layout)
    section_end, end_after_calls = _section_end(known, section_start, cut, rest)
    form = ToolFormat(mode, section_start=section_start, section_end=section_end)
    if mode is ToolMode.JSON_NATIVE:
        tools = analyze_json_native(study, layout, form, cut)
    else:
        tools = analyze_markup(study, layout, form, cut, known.headers)
    problem = _unreadable(study, tools, known.headers)
    if problem:
        study.note(f"calls are read as content: {problem}, as in {layout.text!r}")
        return ToolFindings(Tools())
    return ToolFindings(tools, end_after_calls)


def _unreadable(study: Study, tools: Tools, headers: Headers | None) -> str:
    """Why no parser can be made of the calls that were found, or "" where one can."""
    form, marks = tools.format, tools.arguments
    if form.mode is ToolMode.JSON_NATIVE and not (form.args_field or form.fun_name_is_key):
        return "they are JSON, but their arguments are not a JSON object in it"
    opener = form.per_call_start + tools.function.name_prefix + tools.call_id.prefix
    named = form.mode in (ToolMode.TAG_WITH_JSON, ToolMode.TAG_WITH_TAGGED)
    in_header = headers is not None and headers.content_has_no_word
    if named and not opener.strip() and not in_header:
        return "no marker begins a call's name"
    if named and SAME_NAME in form.section_end:
        return "what closes all calls holds a function's name"
    if named and not _is_around(SAME_NAME, tools.function.close + form.per_call_end):
        return "what closes a call begins or ends with the function's name"
    if form.mode is not ToolMode.TAG_WITH_TAGGED:
        return ""
    layout = study.layout(calls=1)
    if layout is not None and needles.IDS[0] in layout.text.rpartition(needles.VALUES[0][1])[2]:
        return "a call's id stands behind arguments that are not one JSON object"
    if escapes_json(study, marks.value_escapes):
        return "values that are no strings are escaped like text"
    if opens_by_type(study):
        return "what begins an argument differs with the type of its value"
    if not _is_around(SAME_KEY, marks.value_suffix):
        return "what ends an argument's value begins or ends with the argument's name"
    if not marks.name_prefix.strip():
        return "no marker begins an argument"
    if not (marks.name_suffix + marks.type_prefix + marks.value_prefix).strip():
        return "no marker stands between an argument's name and its value"
    closer = marks.end + tools.function.close + form.per_call_end
    if not marks.value_suffix.strip() and not (_is_word(marks.name_prefix) and _is_word(closer)):
        return "no marker ends an argument's value"
    return ""


def _is_word(marker: str) -> bool:
    """Whether a marker is more than punctuation, which values may hold, too."""
    return re.search(r"\w", marker.replace(SAME_NAME, "")) is not None


def _is_around(repeated: str, closer: str) -> bool:
    """Whether there is a marker on both sides of what a closer repeats."""
    *before, behind = closer.split(repeated)
    return all(text.strip() for text in before) and (not before or bool(behind.strip()))


def _no_calls(study: Study) -> str:
    prober = study.prober
    opening = prober.shape.opening()
    if prober.render(opening, tools=True) != prober.render(opening):
        return (
            "shows tools in the prompt but renders no tool call: the format of calls is described"
            " in prose only, and calls are read as content"
        )
    return "renders no tool call: calls are read as content"


def analyze_tool_calls(study: Study, layout: Layout) -> ToolMode:
    """T1: is the name inside JSON, are the arguments, or neither?"""
    plain = study.layout(content=True)
    study.found("tools.format.mode", "no call / 1 call", plain.text if plain else "", layout.text)
    call = layout.calls[0]
    if call.holds_name(needles.FUNCTIONS[0]):
        return ToolMode.JSON_NATIVE
    return ToolMode.TAG_WITH_JSON if call.value is not None else ToolMode.TAG_WITH_TAGGED


@dataclass(frozen=True)
class Around:
    """What stands before the calls, between two, and behind them; an array counts as one call."""

    before: str
    joint: str | None
    after: str


def check_per_call_markers(study: Study, known: Known, layout: Layout) -> tuple[Cut, str, str]:
    """T2: 1 call and 2 calls tell a call's own markers from those around all calls.

    Returns (cut at the joint, section start, what follows the last call's own closer).
    """
    around = _around(study, known, layout)
    two = study.layout(calls=2)
    texts = (layout.text, two.text if two else "")
    study.found("tools.format.per_call_start", "1 call / 2 calls", *texts)
    if around.joint is None:
        if known.end.after_calls and not _closes(around.before, around.after):
            return Cut("", "", around.before), "", around.after
        return Cut(around.after, "", around.before), "", ""
    _note_irregular_joints(study)
    cut = cut_joint(around.before, around.joint, around.after)
    rest = around.after[len(cut.end) :]
    if two is not None and not rest.strip():  # some show the section's end from 2 calls on
        after = pattern(_after_calls(two, known))
        rest = after[len(cut.end) :] if after.startswith(cut.end) else rest
    return cut, without_suffix(around.before, cut.start), rest


def _around(study: Study, known: Known, layout: Layout) -> Around:
    """The surroundings of calls, without the brackets of an array."""
    before = pattern(_before_calls(study, known))
    after = pattern(_after_calls(layout, known)).rstrip()
    joint = study.glue("call_to_call", calls=2)
    joint = None if joint is None else _inside_turn(study, pattern(joint), known)
    call = layout.calls[0]
    if call.array is None:
        return Around(before, joint, after)
    head = layout.text[call.array.start : call.start]
    tail = layout.text[call.end : call.array.end]
    if joint is not None and not (joint.startswith(tail) and joint.endswith(head)):
        joint = None  # one array holds all calls
    if joint is not None:
        joint = without_suffix(without_prefix(joint, tail), head)
    return Around(without_suffix(before, head), joint, without_prefix(after, tail))


def _closes(before: str, after: str) -> bool:
    """Whether what follows the only call is its closer: it repeats something of the opener."""
    return after.strip() in before or bool(shared_words(before, after))


def _note_irregular_joints(study: Study) -> None:
    """Note where a third call is joined otherwise than a second one."""
    three = study.layout(calls=3)
    seen = [glue for name, glue in three.joints() if name == "call_to_call"] if three else []
    joints = [pattern(glue) for glue in seen]
    if len(joints) == 2 and with_counter(joints[1], joints[0]) != with_counter(*joints):
        study.note(
            "a third call is rendered otherwise than a second one, which looks like a mistake in the"
            f" chat template: {joints[0]!r} and {joints[1]!r}; the first is taken"
        )


def _after_calls(layout: Layout, known: Known) -> str:
    """What follows the last call inside the turn: a turn ends at its first end of turn."""
    after = layout.glue("call_to_end") or ""
    core = known.end.text.strip()
    return after.partition(core)[0] if core in after and core else without_end(after, core)


def _before_calls(study: Study, known: Known) -> str:
    """What all turns with calls show before the first call, whatever stands before that."""
    content, header = known.content, study.header.strip()
    alone = study.glue("prompt_to_call", calls=1)
    after_reasoning = study.glue("reasoning_to_call", calls=1, reasoning=True)
    after_content = study.glue("content_to_call", calls=1, content=True)
    seen = []
    for glue in (alone, after_reasoning):
        if glue is not None:
            bare = without_reasoning(glue, known.reasoning).lstrip()
            for start, end in (
                (content.start, content.end),
                (content.beside_call_start, content.beside_call_end),
            ):
                wrapper = start.strip() + end.strip()
                if start.strip() and end.strip():
                    bare = without_prefix(bare, wrapper)
            seen.append(bare)
    if after_content is not None:
        for end in (content.end, content.beside_call_end):
            if end.strip():
                after_content = without_prefix(after_content.lstrip(), end.strip())
        seen.append(after_content)
    if header:
        seen = [glue.rpartition(header)[2] if header in glue else glue for glue in seen]
    return shared_end(*seen).lstrip()


def _inside_turn(study: Study, joint: str, known: Known) -> str:
    """A joint between calls without a message's end and the next header between them."""
    headers = known.headers
    if headers is None or headers.start != study.header.strip() or headers.start not in joint:
        return joint
    first, _, second = joint.partition(headers.start)
    return without_suffix(first.rstrip(), headers.message_end) + second


def _section_end(known: Known, section_start: str, cut: Cut, rest: str) -> tuple[str, str]:
    """What closes the section, and what ends the turn instead of the usual end.

    Where one call is all that is rendered, what follows it may be its closer or an end of turn: a
    closer shares a word with the opener.
    """
    unlike = bool(known.end.after_calls and known.end.text.strip())
    message_end = known.headers.message_end if known.headers else ""
    if unlike and message_end and rest.startswith(message_end):
        return "", rest.strip()
    if not rest.strip() or not unlike or section_start.strip():
        return (rest.rstrip() if rest.strip() else ""), ""
    return "", rest.strip()
