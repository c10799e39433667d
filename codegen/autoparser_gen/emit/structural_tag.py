"""The structural tag that xgrammar takes: free text, and calls to the tools of a request in it.

Formats whose arguments are JSON can be expressed: their markers are constants around a JSON schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoparser_gen.analysis.as_json import json_text, triggers
from autoparser_gen.analysis.model import Analysis, CallIdPosition, ReasoningMode, ToolMode
from autoparser_gen.emit.refusal import refuse
from autoparser_gen.errors import GrammarError, RequestError
from autoparser_gen.grammar.lower import prompt_state
from autoparser_gen.grammar.markup import core, has_messages
from autoparser_gen.grammar.request import Tool, choose, read_tools
from autoparser_gen.header import GENERATED_BY

Tag = dict[str, Any]  # JSON


def emit(
    analysis: Analysis, tools: Any, *, tool_choice: str, parallel: bool, thinking: bool | None
) -> str:
    """The text of a `.structural_tag.json` file; the arguments are those of `lower`.

    Raises RequestError where the format cannot be expressed, or without tools.
    """
    if tools is None:
        raise RequestError("a structural tag is for the tools of a request: give --tools.")
    opener = _require_expressible(analysis)
    chosen = choose(read_tools(tools), tool_choice) or []
    required = tool_choice not in ("auto", "none")
    if required and not chosen:
        raise RequestError(
            "a tool call is required, but there is no tool that could be called. Give tools, or make"
            " the tool choice auto or none."
        )
    if chosen:
        several = parallel and analysis.capabilities.supports_parallel_tool_calls
        free = _with_calls(analysis, opener, chosen, required=required, parallel=several)
    else:
        free = {"type": "any_text", "excludes": [opener]}
    whole = [*_reasoning(analysis, thinking), free]
    form = whole[0] if len(whole) == 1 else {"type": "sequence", "elements": whole}
    tag = {"generated_by": GENERATED_BY, "type": "structural_tag", "format": form}
    return json_text(tag, indent=2) + "\n"


def _require_expressible(analysis: Analysis) -> str:
    """The marker that begins a call. Raises RequestError, with the reason, where there is none."""
    tools = analysis.tools
    form = tools.format
    found = triggers(analysis)
    named = {
        "the chat template renders no calls": form.mode is ToolMode.NONE,
        "turns are made of messages with headers": has_messages(analysis),
        "no marker begins a call": not found,
        "arguments are not written as one JSON object": form.mode
        not in (ToolMode.NONE, ToolMode.JSON_NATIVE, ToolMode.TAG_WITH_JSON),
        "a call holds an id": tools.call_id.pos
        not in (CallIdPosition.NONE, CallIdPosition.CARRIES_NAME)
        or bool(form.id_field or form.gen_id_field),
        "the object of a call is nested in another": bool(form.function_field),
        "arguments are JSON text in a string": form.arguments_as_string,
        "what closes a call repeats the function's name": "{name}" in tools.function.close,
        "a marker holds a number that differs from call to call": "{index}"
        in str(sorted(analysis.joints.items())) + str(tools.function),
    }
    instead = "xgrammar reads its grammar instead: -o FILE.lark --portable."
    refuse(analysis.source, "structural tag", named, instead)
    return found[0]["value"]


def _reasoning(analysis: Analysis, thinking: bool | None) -> list[Tag]:
    """The reasoning block before all else, where the prompt leaves room for one."""
    prompts = analysis.generation_prompts
    prompt = {None: prompts.default, True: prompts.thinking, False: prompts.no_thinking}[thinking]
    start, end = core(analysis.reasoning.start), core(analysis.reasoning.end)
    state = prompt_state(analysis, prompt)
    if analysis.reasoning.mode is ReasoningMode.NONE or not end or state == "closed":
        return []
    begin = "" if state == "open" else start
    block = {"type": "tag", "begin": begin, "content": {"type": "any_text"}, "end": end}
    if state == "open":
        return [block]
    before = analysis.joints.get("prompt_to_reasoning", "").partition(start)[0]
    first = _optional([before] if before else [])
    return [{"type": "optional", "content": _sequence(*first, block) if first else block}]


def _with_calls(
    analysis: Analysis, opener: str, tools: list[Tool], *, required: bool, parallel: bool
) -> Tag:
    """Free text with calls, or calls alone where one is required."""
    joints = analysis.joints
    before = joints.get("content_to_call") or joints.get("prompt_to_call", "")
    if opener not in before or "call_to_end" not in joints:
        raise GrammarError(
            f"{analysis.source}: no turn shows what stands around a call, which a structural tag"
            " repeats. --inspect shows the turns."
        )
    before = before[before.index(opener) :]
    turn_end = analysis.end_of_turn_after_calls or analysis.end_of_turn
    after, space = _after_calls(joints["call_to_end"], core(turn_end))
    between = joints.get("call_to_call", "")
    calls: list[Tag] = [_call(analysis, tool) for tool in tools]
    call = calls[0] if len(calls) == 1 else {"type": "or", "elements": calls}
    # Without a section the next call is a tag of its own.
    apart = core(between).endswith(core(before)) and core(between).startswith(core(after))
    if parallel and not apart:
        more = {"type": "star", "content": _sequence(_text(between), call)}
        call = _sequence(call, more)
    calls_in_text: Tag = {
        "type": "triggered_tags",
        "triggers": [opener],
        "tags": [{"type": "tag", "begin": before, "content": call, "end": after}],
        "at_least_one": required,
        "stop_after_first": not (parallel and apart),
    }
    # Where there is text before or behind the calls, this is part of it.
    first = _before_calls(analysis, opener) if required else []
    last = [space] if space and calls_in_text["stop_after_first"] else []
    if not first and not last:
        return calls_in_text
    return _sequence(*_optional(first), calls_in_text, *_optional(last))


def _before_calls(analysis: Analysis, opener: str) -> list[str]:
    """What the chat template writes between the prompt, or reasoning, and the first call."""
    joints = (analysis.joints.get(name, "") for name in ("prompt_to_call", "reasoning_to_call"))
    before = [joint.partition(opener)[0] for joint in joints if opener in joint]
    end = core(analysis.reasoning.end)
    texts = (text.rpartition(end)[2] if end else text for text in before)
    return list(dict.fromkeys(filter(None, texts)))


def _after_calls(call_to_end: str, turn_end: str) -> tuple[str, str]:
    """What closes the last call, and the whitespace between that and the end of the turn."""
    before, found, _ = call_to_end.rpartition(turn_end or "\0")
    text = before if found else call_to_end
    closer = text.rstrip()
    return closer, text[len(closer) :]


def _call(analysis: Analysis, tool: Tool) -> Tag:
    """A call as the joints leave it: the object, or the name and the arguments."""
    form, function, call_id = (
        analysis.tools.format,
        analysis.tools.function,
        analysis.tools.call_id,
    )
    if form.mode is ToolMode.JSON_NATIVE:
        if form.fun_name_is_key:
            return _json(_object({tool.name: _nested(tool.schema, [tool.name])}))
        arguments = _nested(tool.schema, [form.args_field])
        return _json(_object({form.name_field: {"const": tool.name}, form.args_field: arguments}))
    suffix = function.name_suffix.replace("{name}", tool.name)
    if call_id.pos is CallIdPosition.CARRIES_NAME:
        number = {"type": "regex", "pattern": "[0-9]{1,4}"}
        named = _text(tool.name + call_id.suffix)
        return _sequence(named, number, _text(suffix), _json(tool.schema))
    return _sequence(_text(tool.name + suffix), _json(tool.schema))


def _object(properties: Mapping[str, Any]) -> Tag:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _nested(schema: Any, path: list[str]) -> Any:
    """A schema whose references are right where it is a property of an object."""
    place = "".join(f"/properties/{name.replace('~', '~0').replace('/', '~1')}" for name in path)

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        return {key: target(key, item) for key, item in value.items()}

    def target(key: str, value: Any) -> Any:
        if key == "$ref" and isinstance(value, str) and value.startswith("#"):
            return f"#{place}{value[1:]}"
        return value if key in ("const", "enum", "default", "examples") else moved(value)

    return moved(schema)


def _json(schema: Any) -> Tag:
    return {"type": "json_schema", "json_schema": schema}


def _text(text: str) -> Tag:
    return {"type": "const_string", "value": text}


def _optional(texts: list[str]) -> list[Tag]:
    """One of some texts, or nothing."""
    choices = [_text(text) for text in texts]
    if not choices:
        return []
    one = choices[0] if len(choices) == 1 else {"type": "or", "elements": choices}
    return [{"type": "optional", "content": one}]


def _sequence(*elements: Tag) -> Tag:
    return {"type": "sequence", "elements": list(elements)}
