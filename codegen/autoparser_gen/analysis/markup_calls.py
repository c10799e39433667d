"""Calls whose name stands in markup: function, id, arguments (phases T3 and T7)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from autoparser_gen.analysis.arguments import Around, analyze_arguments
from autoparser_gen.analysis.layout import Layout
from autoparser_gen.analysis.marks import (
    pattern,
    split_closer,
    split_opener,
    with_counter,
)
from autoparser_gen.analysis.model import (
    CALL_NUMBER,
    SAME_NAME,
    Arguments,
    CallId,
    CallIdPosition,
    Function,
    Headers,
    ToolFormat,
    ToolMode,
    Tools,
)
from autoparser_gen.analysis.study import Study
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import Cut


@dataclass(frozen=True)
class Opened:
    """A call's opener, the text behind its name, and its id."""

    opener: str
    name_suffix: str
    call_id: CallId


def analyze_markup(
    study: Study, layout: Layout, form: ToolFormat, cut: Cut, headers: Headers | None
) -> Tools:
    """T3 to T7 for calls whose name stands in markup."""
    behind_name = _behind_name(study, layout)
    opened = Opened(cut.start, behind_name, CallId())
    opened = extract_call_id_markers(study, layout, opened)
    if headers is not None and headers.end:
        opened = _without_recipient(opened, headers)
    closer, arguments = cut.end, Arguments()
    if form.mode is ToolMode.TAG_WITH_TAGGED:
        between = opened.call_id.pos is CallIdPosition.BETWEEN_FUNC_AND_ARGS
        behind = opened.call_id.suffix if between else opened.name_suffix
        none = _without_arguments(study, opened, behind, headers)
        found = analyze_arguments(study, layout, Around(behind, closer, none))
        form = replace(form, mode=found.mode)
        arguments, closer = found.arguments, found.closer
        if between:
            opened = replace(opened, call_id=replace(opened.call_id, suffix=found.name_suffix))
        else:
            opened = replace(opened, name_suffix=found.name_suffix)
    function, form, call_id = extract_function_markers(study, opened, closer, form)
    form = replace(form, call_separator=cut.separator if cut.separator.strip() else "")
    if form.mode is ToolMode.PYTHON_CALLS:
        form = _without_brackets(form)
    return Tools(form, function, arguments, call_id)


def _behind_name(study: Study, layout: Layout) -> str:
    """What stands between a call's name and its arguments, numbers made general."""
    texts = []
    two = study.layout(calls=2)
    for index, whole in enumerate((layout, two)):
        if whole is None:
            break
        call = whole.calls[index]
        name, first = needles.FUNCTIONS[index], needles.KEYS[index][0]
        start = whole.text.index(name, call.start) + len(name)
        end = call.value.start if call.value is not None else whole.text.index(first, start)
        text = whole.text[start:end]
        texts.append(pattern(text.replace(needles.IDS[index], needles.IDS[0])))
    return with_counter(*texts) if len(texts) > 1 else texts[0]


def _without_arguments(
    study: Study, opened: Opened, behind: str, headers: Headers | None
) -> str | None:
    """What stands behind the name (or id) of a call without arguments, to the end of the turn."""
    layout = study.layout(calls=1, arguments=0)
    if layout is None:
        return None
    call = layout.calls[0]
    name = needles.FUNCTIONS[0]
    none = layout.text[layout.text.index(name, call.start) + len(name) :]
    if opened.call_id.pos is CallIdPosition.BETWEEN_FUNC_AND_ARGS:
        none = none.partition(needles.IDS[0])[2]
    none = pattern(none)
    if headers is not None and headers.end and SAME_NAME in none:
        none = none.partition(SAME_NAME)[2]
    before, counter, _ = behind.partition(CALL_NUMBER)
    if counter and none.startswith(before):
        none = before + CALL_NUMBER + none[len(before) :].lstrip("0123456789")
    return none


def extract_function_markers(
    study: Study, opened: Opened, closer: str, form: ToolFormat
) -> tuple[Function, ToolFormat, CallId]:
    """T3: split opener and closer into a call's own markers and those of the function."""
    study.found("tools.function.name_prefix", "function alpha / function beta")
    call_id, opener = opened.call_id, opened.opener
    if call_id.pos is CallIdPosition.CARRIES_NAME:
        # The word that the id begins with is no marker: `functions.` in `functions.NAME:0`.
        word = re.search(r"\w+\W?$", opener)
        if word is not None and not opener[: word.start()].endswith("<"):
            opener = opener[: word.start()]
            call_id = replace(call_id, prefix=word[0])
    if call_id.pos in (CallIdPosition.CARRIES_NAME, CallIdPosition.PRE_FUNC_NAME):
        start, prefix = opener, ""
        close, end = "", closer
    else:
        start, prefix = split_opener(opener, closer)
        close, end = split_closer(closer) if prefix else ("", closer)
        if not start or SAME_NAME in end:
            close, end = closer, ""
    function = Function(prefix, opened.name_suffix, close, SAME_NAME in opened.name_suffix)
    return function, replace(form, per_call_start=start, per_call_end=end), call_id


def extract_call_id_markers(study: Study, layout: Layout, opened: Opened) -> Opened:
    """T7: where the id stands, and what stands around it."""
    call = layout.calls[0]
    call_id = call.number or needles.IDS[0]
    text = layout.text[call.start : call.end]
    at = text.index(needles.FUNCTIONS[0])
    behind = opened.name_suffix
    if call_id in text[:at]:
        study.found("tools.call_id.pos", "id before the name")
        found = CallId(CallIdPosition.PRE_FUNC_NAME, "", text[len(call_id) : at])
        return replace(opened, call_id=found)
    if call_id in behind:
        study.found("tools.call_id.pos", "id between name and arguments")
        prefix, _, suffix = behind.partition(call_id)
        found = CallId(CallIdPosition.BETWEEN_FUNC_AND_ARGS, prefix, suffix)
        return replace(opened, name_suffix="", call_id=found)
    tail = layout.text[call.value.end : call.end] if call.value is not None else ""
    if call_id in tail:
        study.found("tools.call_id.pos", "id after the arguments")
        prefix, _, suffix = tail.partition(call_id)
        return replace(opened, call_id=CallId(CallIdPosition.POST_ARGS, prefix, suffix))
    counter = re.match(r"(\W?)(?:\{index\}|0)(?=\W)", behind)
    if counter is not None and (study.prober.shape.named_ids or "{index}" in counter[0]):
        study.found("tools.call_id.pos", "convention id-carries-name")
        found = CallId(CallIdPosition.CARRIES_NAME, "", counter[1])
        return replace(opened, name_suffix=behind[counter.end() :], call_id=found)
    return opened


def _without_recipient(opened: Opened, headers: Headers) -> Opened:
    """Where the name in the header is repeated in the body, the body's is the call's own."""
    head, found, body = opened.name_suffix.partition(headers.end)
    if not found or SAME_NAME not in body:
        return opened
    opener, _, suffix = body.partition(SAME_NAME)
    return replace(opened, opener=opener.lstrip(), name_suffix=suffix)


def _without_brackets(form: ToolFormat) -> ToolFormat:
    """A list of calls: its brackets are implied."""
    start, end = form.section_start.rstrip(), form.section_end.lstrip()
    if start.endswith("[") and end.startswith("]"):
        return replace(
            form, section_start=start[:-1], section_end=end[1:], tools_array_wrapped=True
        )
    return form
