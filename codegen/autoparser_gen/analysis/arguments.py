"""Arguments in markup: names, values, separators (phases T3 to T7)."""

from __future__ import annotations

import re

from autoparser_gen.analysis.layout import Layout
from autoparser_gen.analysis.model import (
    Arguments,
    CallId,
    CallIdPosition,
    Function,
    ToolMode,
    ValueSyntax,
)
from autoparser_gen.analysis.study import Study
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import cut_joint, shared_start, without_suffix

Found = tuple[Function, Arguments, CallId, str]


def analyze_arguments(study: Study, layout: Layout, mode: ToolMode, closer: str) -> Found:
    """The function's suffix, the arguments' markup, the id; and what is left of the closer."""
    call = layout.calls[0]
    text = layout.text[call.start : call.end]
    name, call_id = needles.FUNCTIONS[0], needles.IDS[0]
    at = text.index(name)
    identifier = CallId()
    if 0 <= text.find(call_id) < at:
        identifier = CallId(CallIdPosition.PRE_FUNC_NAME, "", text[len(call_id) : at])
    body = text[at + len(name) :]
    if mode is ToolMode.TAG_WITH_JSON:
        function, identifier = _json_arguments(layout, body, identifier)
        function, identifier = _numbered_name(study, layout, function, identifier)
        return function, Arguments(), identifier, closer
    return _tagged_arguments(study, body, identifier, closer)


def _json_arguments(layout: Layout, body: str, identifier: CallId) -> tuple[Function, CallId]:
    """T3, T7: what stands between name, id and the JSON object."""
    call = layout.calls[0]
    assert call.value is not None
    head = body[: len(body) - (call.end - call.value.start)]
    tail = layout.text[call.value.end : call.end]
    call_id = needles.IDS[0]
    if call_id in head:
        prefix, _, suffix = head.partition(call_id)
        return Function(), CallId(CallIdPosition.BETWEEN_FUNC_AND_ARGS, prefix, suffix)
    if call_id in tail:
        prefix, _, suffix = tail.partition(call_id)
        return Function(name_suffix=head), CallId(CallIdPosition.POST_ARGS, prefix, suffix)
    return Function(name_suffix=head), identifier


def _numbered_name(
    study: Study, layout: Layout, function: Function, identifier: CallId
) -> tuple[Function, CallId]:
    """An id that stands where the name belongs and contains it."""
    two = study.layout(calls=2)
    number = re.match(r"(\W?)(\d+)(?=\W)", function.name_suffix)
    if two is None or number is None:
        return function, identifier
    second = two.calls[1]
    assert second.value is not None
    name = needles.FUNCTIONS[1]
    start = two.text.index(name, second.start) + len(name)
    other = re.match(r"(\W?)(\d+)(?=\W)", two.text[start : second.value.start])
    if other is None or other[2] == number[2]:
        return function, identifier
    study.found("tools.call_id.pos", "convention id-carries-name: 1 call / 2 calls")
    rest = function.name_suffix[number.end() :]
    return Function(name_suffix=rest), CallId(CallIdPosition.CARRIES_NAME, "", number[1])


def _tagged_arguments(study: Study, body: str, identifier: CallId, closer: str) -> Found:
    """T4 to T6: one and two arguments, and none."""
    (first, second), (value, other) = needles.KEYS[0][:2], needles.VALUES[0][:2]
    head, _, rest = body.partition(first)
    middle, _, rest = rest.partition(value)
    joint, _, rest = rest.partition(second)
    after = closer
    cut = cut_joint(head, joint, after)
    area = without_suffix(head, cut.start)
    empty = study.layout(calls=1, arguments=0)
    name_suffix = area
    if empty is not None:
        none = empty.text[empty.calls[0].end :]
        name_suffix = shared_start(area, none)
        study.found("tools.arguments.start", "no arguments / 2 arguments")
    study.found("tools.arguments.name_prefix", "1 argument / 2 arguments")
    key_end, value_start = split_middle(middle)
    arguments = Arguments(
        start=area[len(name_suffix) :],
        name_prefix=cut.start,
        name_suffix=key_end,
        value_prefix=value_start,
        value_suffix=cut.end,
        separator=cut.separator,
        value_syntax=ValueSyntax.RAW,
    )
    return Function(name_suffix=name_suffix), arguments, identifier, closer[len(cut.end) :]


def split_middle(middle: str) -> tuple[str, str]:
    """The text between an argument's name and value as (suffix of the name, prefix of the value)."""
    marker = re.search(r"[>\]]", middle)
    if marker is None:
        return middle, ""
    end = marker.end()
    end += len(middle[end:]) - len(middle[end:].lstrip())
    return middle[:end], middle[end:]
