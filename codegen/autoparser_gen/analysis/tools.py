"""Tool calls: which kind of format, and what surrounds a call (phases T1, T2, T7)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from autoparser_gen.analysis.arguments import analyze_arguments
from autoparser_gen.analysis.content import without_reasoning
from autoparser_gen.analysis.layout import Layout
from autoparser_gen.analysis.model import (
    CallId,
    CallIdPosition,
    Content,
    Function,
    Reasoning,
    ToolFormat,
    ToolMode,
    Tools,
)
from autoparser_gen.analysis.study import Study
from autoparser_gen.analysis.values import path_to
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import cut_joint, is_boundary, shared_end, without_suffix


@dataclass(frozen=True)
class Surroundings:
    """What stands around calls: section + opener, joint, closer + section."""

    before: str
    joint: str | None
    after: str


def analyze_tools(study: Study, reasoning: Reasoning, content: Content, end_of_turn: str) -> Tools:
    """T1 to T7, for the kind of format that the first call shows."""
    layout = study.layout(calls=1)
    if layout is None:
        study.note("renders no tool call: the format of calls is unknown")
        return Tools()
    mode = classify(layout)
    study.found("tools.format.mode", "no call / 1 call")
    around = surroundings(study, reasoning, content, end_of_turn)
    if mode is ToolMode.JSON_NATIVE:
        return _json_native(study, layout, around)
    return _tagged(study, layout, around, mode)


def classify(layout: Layout) -> ToolMode:
    """T1: is the name inside JSON, are the arguments, or neither?"""
    call = layout.calls[0]
    if call.holds_name(needles.FUNCTIONS[0]):
        return ToolMode.JSON_NATIVE
    return ToolMode.TAG_WITH_JSON if call.value is not None else ToolMode.TAG_WITH_TAGGED


def surroundings(
    study: Study, reasoning: Reasoning, content: Content, end_of_turn: str
) -> Surroundings:
    """What all turns with calls show around the calls, wherever these stand."""
    seen = []
    alone = study.glue("prompt_to_call", calls=1)
    if alone is not None:
        seen.append(without_reasoning(alone, reasoning))
    after_reasoning = study.glue("reasoning_to_call", calls=1, reasoning=True)
    if after_reasoning is not None:
        seen.append(without_reasoning(after_reasoning, reasoning))
    after_content = study.glue("content_to_call", calls=1, content=True)
    if after_content is not None:
        seen.append(after_content)
    before = shared_end(*seen).lstrip()
    after = without_suffix(study.glue("call_to_end", calls=1) or "", end_of_turn)
    return Surroundings(before, study.glue("call_to_call", calls=2), after)


def _json_native(study: Study, layout: Layout, around: Surroundings) -> Tools:
    """T1, T2 for calls that are JSON as a whole."""
    fields = _json_fields(study, layout)
    array = layout.calls[0].array
    before, after = around.before, around.after
    if array is not None:
        head = layout.text[array.start : layout.calls[0].start]
        tail = layout.text[layout.calls[0].end : array.end]
        before = without_suffix(before, head)
        after = after[len(tail) :]
        study.found("tools.format.tools_array_wrapped", "1 call / 2 calls")
        return Tools(
            replace(fields, section_start=before, section_end=after, tools_array_wrapped=True)
        )
    if around.joint is None:
        return Tools(replace(fields, section_start=before, section_end=after))
    cut = cut_joint(before, around.joint, after)
    study.found("tools.format.per_call_start", "1 call / 2 calls")
    return Tools(
        replace(
            fields,
            section_start=without_suffix(before, cut.start),
            section_end=after[len(cut.end) :],
            per_call_start=cut.start,
            per_call_end=cut.end,
            call_separator=cut.separator if cut.separator.strip() else "",
        )
    )


def _json_fields(study: Study, layout: Layout) -> ToolFormat:
    """The keys under which a call object holds its parts."""
    value = layout.calls[0].value
    assert value is not None
    name, keys = needles.FUNCTIONS[0], needles.KEYS[0]
    arguments = dict(needles.calls(1)[0][1])
    args_path = path_to(value.data, arguments)
    name_path = path_to(value.data, name)
    id_path = path_to(value.data, needles.IDS[0])
    del keys
    study.found("tools.format.name_field", "1 call, decoded")
    result = ToolFormat(ToolMode.JSON_NATIVE)
    if name_path is None and args_path is not None and args_path[-1] == name:
        return replace(result, fun_name_is_key=True)
    if name_path is not None:
        parent = name_path[-2] if len(name_path) > 1 else ""
        result = replace(result, name_field=name_path[-1], function_field=parent)
    if args_path is not None:
        result = replace(result, args_field=args_path[-1])
    if id_path is not None:
        result = replace(result, id_field=id_path[-1])
    else:
        result = replace(result, gen_id_field=_generated_id(study))
    return result


def _generated_id(study: Study) -> str:
    """The key of a number that the chat template gives to each call."""
    two = study.layout(calls=2)
    if two is None or any(call.value is None for call in two.calls):
        return ""
    first, second = (call.value.data for call in two.calls if call.value is not None)
    for key, item in first.items():
        other = second.get(key)
        known = (*needles.FUNCTIONS[:2],)
        if isinstance(item, (str, int)) and item != other and item not in known:
            return str(key)
    return ""


def _tagged(study: Study, layout: Layout, around: Surroundings, mode: ToolMode) -> Tools:
    """T2 to T7 for calls whose name stands in markup."""
    before, after = around.before, around.after
    opener, closer = before, after
    section_start = section_end = ""
    separator = ""
    if around.joint is not None:
        cut = cut_joint(before, around.joint, after)
        opener, closer = cut.start, cut.end
        section_start, section_end = without_suffix(before, opener), after[len(closer) :]
        separator = cut.separator if cut.separator.strip() else ""
        study.found("tools.format.per_call_start", "1 call / 2 calls")
    function, arguments, call_id, rest = analyze_arguments(study, layout, mode, closer)
    per_call_start, name_prefix = split_opener(opener, rest)
    close, per_call_end = split_closer(rest, bool(per_call_start and name_prefix))
    if not per_call_start:
        close, per_call_end = rest, ""
    if call_id.pos in (CallIdPosition.PRE_FUNC_NAME, CallIdPosition.CARRIES_NAME):
        per_call_start, name_prefix = opener, ""
        close, per_call_end = split_closer(rest, False)
    if call_id.pos is CallIdPosition.CARRIES_NAME:
        # The word that an id begins with is not a marker: `functions.` in `functions.NAME:0`.
        end = re.search(r"[^\W_]*\W?$", opener)
        assert end is not None
        if end[0] and end[0][0].isalnum():
            per_call_start = opener[: end.start()]
            call_id = replace(call_id, prefix=end[0])
    study.found("tools.function.name_prefix", "function alpha / function beta")
    return Tools(
        ToolFormat(
            mode,
            section_start=section_start,
            section_end=section_end,
            per_call_start=per_call_start,
            per_call_end=per_call_end,
            call_separator=separator,
        ),
        replace(function, name_prefix=name_prefix, close=close),
        arguments,
        call_id,
    )


_MARKER = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")


def split_opener(opener: str, closer: str) -> tuple[str, str]:
    """A call's opener as (per-call marker, prefix of the name)."""
    first = _MARKER.match(opener)
    if first is None:
        return "", opener
    end = first.end()
    end += len(opener[end:]) - len(opener[end:].lstrip())
    rest = opener[end:]
    if not rest.strip():
        return opener, ""
    if _MARKER.search(rest) or rest[-1].isspace():
        return opener[:end], rest
    # An unfinished tag before the name: it needs a closer of its own.
    if is_boundary(opener, end) and len(_MARKER.findall(closer)) > 1:
        return opener[:end], rest
    return "", opener


def split_closer(closer: str, two: bool) -> tuple[str, str]:
    """A call's closer as (close of the function, per-call marker)."""
    if not two:
        return "", closer
    last = None
    for last in _MARKER.finditer(closer):
        pass
    if last is None or closer[last.end() :].strip():
        return closer, ""
    head = closer[: last.start()]
    start = len(head.rstrip())
    if not head.strip():
        return "", closer
    return closer[:start], closer[start:]


__all__ = ["CallId", "Function", "analyze_tools"]
