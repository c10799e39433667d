"""Calls that are JSON as a whole: their keys and their markers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from autoparser_gen.analysis import conventions
from autoparser_gen.analysis.layout import Layout
from autoparser_gen.analysis.marks import split_closer
from autoparser_gen.analysis.model import CallId, CallIdPosition, ToolFormat, Tools
from autoparser_gen.analysis.study import Study
from autoparser_gen.analysis.values import holds, path_to
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import Cut
from autoparser_gen.probe.source import marker_literals


def analyze_json_native(study: Study, layout: Layout, form: ToolFormat, cut: Cut) -> Tools:
    """The format of calls that are JSON objects, alone or in an array."""
    form = _fields(study, layout, form)
    if not (cut.start.strip() or form.section_start.strip() or layout.calls[0].array):
        form = _with_tag(study, form)
    two = study.layout(calls=2)
    call_id = _id_in_markup(study, layout)
    if layout.calls[0].array is not None:
        study.found("tools.format.tools_array_wrapped", "1 call / 2 calls")
        form = replace(form, tools_array_wrapped=True)
        if two is not None and two.calls[0].array == two.calls[1].array:
            two = None  # what surrounds the array surrounds all calls
    if two is None:
        form = replace(form, section_start=cut.start, section_end=cut.end)
        return Tools(form, call_id=call_id)
    form = replace(
        form,
        per_call_start=cut.start,
        per_call_end=cut.end,
        call_separator=cut.separator if cut.separator.strip() else "",
    )
    if call_id.pos is CallIdPosition.POST_ARGS:
        suffix, end = split_closer(cut.end)
        form, call_id = replace(form, per_call_end=end), replace(call_id, suffix=suffix)
    return Tools(form, call_id=call_id)


def _id_in_markup(study: Study, layout: Layout) -> CallId:
    """Where the id stands that the call's markers hold, and what stands between it and the call."""
    call = layout.calls[0]
    assert call.value is not None
    before = layout.text[call.start : call.value.start]
    behind = layout.text[call.value.end : call.end]
    if before:
        study.found("tools.call_id.pos", "id before the call's JSON")
        id_ = call.number or needles.IDS[0]
        return CallId(CallIdPosition.PRE_FUNC_NAME, "", before.removeprefix(id_))
    if behind:
        study.found("tools.call_id.pos", "id behind the call's JSON")
        return CallId(CallIdPosition.POST_ARGS, behind.removesuffix(needles.IDS[0]), "")
    return CallId()


def _fields(study: Study, layout: Layout, form: ToolFormat) -> ToolFormat:
    """The keys under which a call object holds its parts."""
    value = layout.calls[0].value
    assert value is not None
    name, arguments = needles.calls(1)[0]
    study.found("tools.format.name_field", "1 call, decoded as JSON")
    study.found("tools.format.args_field", "1 call, decoded as JSON")
    args_path = path_to(value.data, dict(arguments))
    if args_path is None:
        args_path = _path_to_text(value.data, dict(arguments))
        form = replace(form, arguments_as_string=args_path is not None)
    name_path = path_to(value.data, name)
    id_path = path_to(value.data, needles.IDS[0])
    if name_path is None and args_path is not None and args_path[-1] == name:
        return replace(form, fun_name_is_key=True)
    form = replace(
        form,
        function_field=name_path[-2] if name_path is not None and len(name_path) > 1 else "",
        name_field=name_path[-1] if name_path is not None else "",
        args_field=args_path[-1] if args_path is not None else "",
        id_field=id_path[-1] if id_path is not None else "",
        id_in_function=bool(
            id_path and name_path and len(name_path) > 1 and id_path[:-1] == name_path[:-1]
        ),
        id_between=_is_between(value.data, name_path, id_path, args_path),
    )
    if not form.id_field:
        key, is_number = _generated_id(study, form)
        form = replace(form, gen_id_field=key, gen_id_is_number=is_number)
    return replace(form, fixed_fields=_fixed_fields(study, form))


def _is_between(data: Any, *paths: tuple[str, ...] | None) -> bool:
    """Whether the second of three members of one object stands between the others."""
    around = {path[:-1] for path in paths if path}
    if len(around) != 1 or None in paths:
        return False
    for key in around.pop():
        data = data[key]
    first, second, third = (list(data).index(path[-1]) for path in paths if path)
    return (first < second) == (second < third)


def _fixed_fields(study: Study, form: ToolFormat) -> tuple[tuple[str, str], ...]:
    """The members of a call object that are the same in every call."""
    shown = study.layout(calls=2) or study.layout(calls=1)
    objects = [call.value.data for call in shown.calls if call.value is not None] if shown else []
    if not objects:
        return ()
    read = (
        *(form.function_field, form.name_field, form.args_field),
        *(form.id_field, form.gen_id_field),
    )
    first, last = objects[0], objects[-1]
    found = tuple(
        (key, json.dumps(value))
        for key, value in first.items()
        if key not in read and key in last and last[key] == value
        if not holds(value, needles.IDS[0])
    )
    if found:
        study.found("tools.format.fixed_fields", "1 call / 2 calls")
    return found


def _with_tag(study: Study, form: ToolFormat) -> ToolFormat:
    """A call without any marker may have a tag before it (convention "tag-before-json")."""
    tag = conventions.tag_before_json(marker_literals(study.prober.renderer))
    if tag:
        study.found("tools.format.optional_start", "convention tag-before-json")
    return replace(form, optional_start=tag)


def _path_to_text(data: Any, arguments: dict[str, Any]) -> tuple[str, ...] | None:
    """The keys that lead to a JSON text of the arguments."""
    if not isinstance(data, dict):
        return None
    for key, item in data.items():
        if isinstance(item, str):
            try:
                if json.loads(item) == arguments:
                    return (key,)
            except ValueError:
                pass
        deeper = _path_to_text(item, arguments)
        if deeper is not None:
            return (key, *deeper)
    return None


def _generated_id(study: Study, form: ToolFormat) -> tuple[str, bool]:
    """The key of what the chat template numbers calls with ("" for none); whether that is a number."""
    two = study.layout(calls=2)
    if two is None:
        return "", False
    objects = [call.value.data for call in two.calls if call.value is not None]
    if len(objects) < 2:
        return "", False
    study.found("tools.format.gen_id_field", "1 call / 2 calls")
    known = (form.name_field, form.args_field)
    for key, item in objects[0].items():
        other = objects[1].get(key)
        if key not in known and isinstance(item, (str, int)) and item != other:
            return str(key), isinstance(item, int)
    return "", False
