"""The response template by which transformers parses what a model wrote.

A declarative form: regions of text, each between an opener and a closer, make the fields of the
message. What the keys mean is in transformers' `utils/chat_parsing` (5.24).
"""

from __future__ import annotations

from typing import Any

from autoparser_gen.analysis.as_json import json_text
from autoparser_gen.analysis.model import (
    Analysis,
    CallIdPosition,
    ReasoningMode,
    ToolMode,
    ValueSyntax,
)
from autoparser_gen.emit import response_calls
from autoparser_gen.emit.refusal import refuse
from autoparser_gen.emit.response_calls import distinct, turn_ends
from autoparser_gen.grammar.lower import prompt_state
from autoparser_gen.grammar.markup import core, has_messages
from autoparser_gen.header import GENERATED_BY

Field = dict[str, Any]  # JSON


def emit(analysis: Analysis) -> str:
    """The text of a `.response_template.json` file: a piece of a `tokenizer_config.json`.

    Raises RequestError, with the reason, where the format cannot be expressed.
    """
    _require_expressible(analysis)
    fields: dict[str, Field] = {}
    if analysis.reasoning.mode is not ReasoningMode.NONE:
        fields["reasoning_content"] = _reasoning(analysis)
    if analysis.tools.format.mode is not ToolMode.NONE:
        fields["tool_calls"] = response_calls.field(analysis)
    fields["content"] = _content(analysis)
    template = {
        "version": 1,
        "defaults": {"role": "assistant"},
        "start_anchor": _anchors(analysis),
        "fields": fields,
    }
    piece = {"generated_by": GENERATED_BY, "response_template": template}
    return json_text(piece, indent=2) + "\n"


def _require_expressible(analysis: Analysis) -> None:
    """Raises RequestError, with the reason, where regions of text cannot say it all."""
    tools, reasoning = analysis.tools, analysis.reasoning
    form, arguments = tools.format, tools.arguments
    calls = form.mode is not ToolMode.NONE
    array = form.mode is ToolMode.JSON_NATIVE and form.tools_array_wrapped
    named = {
        "no text begins the assistant's turn": not core(analysis.assistant_header),
        "turns are made of messages whose headers have no channel or no recipient": has_messages(
            analysis
        )
        and not response_calls.has_channels(analysis),
        "no marker begins reasoning": reasoning.mode is not ReasoningMode.NONE
        and not core(reasoning.start),
        "no marker ends reasoning": reasoning.mode is not ReasoningMode.NONE
        and not core(reasoning.end),
        "calls are written as Python": form.mode is ToolMode.PYTHON_CALLS,
        "arguments are literals other than JSON": form.mode is ToolMode.TAG_WITH_LITERAL,
        "no marker begins a call": calls and not response_calls.begins(analysis),
        "nothing ends a call but the end of the turn, whose text is not known (--eos-token)": calls
        and not response_calls.ends(analysis),
        "calls have no marker of their own in their section": response_calls.is_section(analysis)
        and not array
        and analysis.capabilities.supports_parallel_tool_calls,
        "each call is an array of its own": array and not response_calls.is_section(analysis),
        "a function's name is a key of its call": form.fun_name_is_key,
        "arguments are JSON text in a string": form.arguments_as_string,
        "an id stands behind the arguments": tools.call_id.pos is CallIdPosition.POST_ARGS,
        "names of arguments are escaped": bool(arguments.name_escapes),
        "strings in arguments are escaped": bool(arguments.value_escapes),
        "values are nested tags": arguments.value_syntax is ValueSyntax.NESTED_TAGS,
    }
    instead = "The parser module reads it: -o FILE.py."
    refuse(analysis.source, "response template", named, instead)


def _anchors(analysis: Analysis) -> list[str]:
    """What begins the assistant's turn; nothing before it is read, and the longest counts.

    A prompt that has closed reasoning is one, so that its end of reasoning is not read as content.
    """
    header, end = core(analysis.assistant_header), core(analysis.reasoning.end)
    prompts = analysis.generation_prompts
    found = [header]
    for prompt in (prompts.default, prompts.thinking, prompts.no_thinking):
        if end and header in prompt and prompt_state(analysis, prompt) == "closed":
            found.append(core(prompt[prompt.rindex(header) :]))
    return distinct(found)


def _text(**anchors: Any) -> Field:
    # Joined, regions of a kind lose nothing but the whitespace at their ends.
    return {**anchors, "content": "text", "repeats": True, "join": ""}


def _reasoning(analysis: Analysis) -> Field:
    close = [core(analysis.reasoning.end), *turn_ends(analysis)]
    return _text(open=core(analysis.reasoning.start), close=distinct(close))


def _content(analysis: Analysis) -> Field:
    """What is in no other region, without the markers of wrappers, sections and messages."""
    form, content, headers = analysis.tools.format, analysis.content, analysis.headers
    markers = [content.start, content.end, content.beside_call_start, content.beside_call_end]
    if not response_calls.is_section(analysis):
        markers += [form.section_start, form.section_end]
    if headers:
        markers += [headers.start, headers.message_end]
        for channel in filter(None, (headers.content, headers.preamble)):
            markers.append(f"{headers.channel}{channel}{headers.end}")
    close = distinct([*turn_ends(analysis), *map(core, markers)])
    return _text(close=close) if close else _text()
