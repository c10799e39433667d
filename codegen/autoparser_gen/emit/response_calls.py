"""Calls in a response template: regions that a regular expression opens and another one closes.

The expressions are for the `regex` library, in which `.` is any character. Its partial matching,
which transformers uses on streams, tries them at every place of a text, whatever stands before it:
so every repetition in them has a limit, but for that of a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from autoparser_gen.analysis.model import Analysis, CallIdPosition, ToolMode, ValueSyntax
from autoparser_gen.emit.regex import escape
from autoparser_gen.grammar.markup import core, single_markers

_NAME = "(?P<name>[a-zA-Z0-9_.-]{1,256}?)"
_ID = r"(?P<id>\S{1,256}?)"
_KEY = r"(?P<key>[^\n]{1,256}?)"
_PLACEHOLDERS = {"{name}": "(?P=name)", "{key}": "(?P=key)", "{index}": "[0-9]{1,9}"}
_PLACEHOLDER = re.compile(r"(\{(?:name|key|index)\})")
_SPACE = r"\s{0,64}"


def field(analysis: Analysis) -> dict[str, Any]:
    """The field `tool_calls`: a region for each call, or for a section of them."""
    if has_channels(analysis):
        return _calls_in_messages(analysis)
    if analysis.tools.format.mode is ToolMode.JSON_NATIVE:
        return _json_calls(analysis)
    if analysis.tools.format.mode is ToolMode.TAG_WITH_JSON:
        return _named_calls(analysis)
    return _tagged_calls(analysis)


def has_channels(analysis: Analysis) -> bool:
    """Whether a turn is made of messages with a channel, of which some go to functions."""
    headers = analysis.headers
    return headers is not None and bool(headers.channel and headers.recipient and headers.namespace)


def distinct(texts: Iterable[str]) -> list[str]:
    """The texts in order, without empty ones and repetitions."""
    return list(dict.fromkeys(filter(None, texts)))


def turn_ends(analysis: Analysis) -> list[str]:
    """What ends a turn, without whitespace."""
    return distinct(map(core, (analysis.end_of_turn, analysis.end_of_turn_after_calls)))


def is_section(analysis: Analysis) -> bool:
    """Whether a region holds a section, as it does where calls are JSON without markers."""
    form = analysis.tools.format
    return form.mode is ToolMode.JSON_NATIVE and not core(form.per_call_start)


def begins(analysis: Analysis) -> str:
    """The first marker of a region, "" where there is none."""
    form, call_id = analysis.tools.format, analysis.tools.call_id
    if is_section(analysis):
        return core(form.section_start)
    id_prefix = call_id.prefix if call_id.pos is CallIdPosition.PRE_FUNC_NAME else ""
    markers = (form.per_call_start, id_prefix, analysis.tools.function.name_prefix)
    return next(iter(distinct(map(core, markers))), "")


def ends(analysis: Analysis) -> list[str]:
    """Patterns for what ends a region, of which the first is read in outputs that are complete."""
    form, function = analysis.tools.format, analysis.tools.function
    section = _pattern(form.section_end)
    own = section if is_section(analysis) else _pattern(function.close, form.per_call_end)
    turn = [_pattern(text) for text in turn_ends(analysis)]
    if own:
        return [own, *turn]
    # The next call is left for its own region.
    return [f"(?={_pattern(begins(analysis))})", section, *turn] if section or turn else []


def _json_calls(analysis: Analysis) -> dict[str, Any]:
    """Calls that are objects: one to a region, or an array of them."""
    form = analysis.tools.format
    array = form.tools_array_wrapped
    whole = [] if array else ["content"]
    function = [*whole, form.function_field] if form.function_field else whole
    id_field = form.id_field or form.gen_id_field
    shape = _call(
        _value(*function, form.name_field),
        _value(*function, form.args_field),
        _value(*(function if form.id_in_function else whole), id_field) if id_field else "",
    )
    first, last = (r"\[", r"\]") if array else (r"\{", r"\}")
    return {
        "open_pattern": f"{_pattern(begins(analysis))}{_SPACE}(?={first})",
        "close_pattern": f"(?<={last}){_SPACE}{_any_of(ends(analysis))}",
        "content": "json",
        **({"transform_each": True} if array else {"repeats": True}),
        "transform": shape,
    }


def _calls_in_messages(analysis: Analysis) -> dict[str, Any]:
    """A header that names a function, before or behind its channel, and arguments as one object."""
    headers = analysis.headers
    assert headers is not None
    channel, end = _pattern(headers.channel), _pattern(headers.end)
    recipient = _pattern(headers.recipient) + _pattern(headers.namespace)
    closers = distinct(map(_pattern, (headers.message_end, *turn_ends(analysis))))
    word = rf"{_SPACE}(?:<\|?\w{{1,64}}\|?>{_SPACE})?(?:\w{{1,64}}{_SPACE})?"
    in_channel = rf"{channel}{_SPACE}\w{{1,64}}{_SPACE}"
    named = rf"(?:{in_channel})?{recipient}{_NAME}(?:{_SPACE}{in_channel})?{word}"
    return {
        "open_pattern": rf"{named}{end}{_SPACE}(?=\{{)",
        "close_pattern": rf"(?<=\}}){_SPACE}{_any_of(closers)}",
        "content": "json",
        "repeats": True,
        "transform": _named(analysis),
    }


def _named_calls(analysis: Analysis) -> dict[str, Any]:
    """A name in markup, and arguments that are one object."""
    opener = _opener(analysis, analysis.tools.arguments.start)
    return {
        "open_pattern": rf"{opener}{_SPACE}(?=\{{)",
        "close_pattern": rf"(?<=\}}){_SPACE}{_any_of(ends(analysis))}",
        "content": "json",
        "repeats": True,
        "transform": _named(analysis),
    }


def _tagged_calls(analysis: Analysis) -> dict[str, Any]:
    """A name in markup, and arguments each in its own."""
    arguments, close = analysis.tools.arguments, ends(analysis)
    follows = [_pattern(arguments.start, arguments.name_prefix), _pattern(arguments.empty)]
    content_args: dict[str, Any] = {"tag_pattern": _argument(analysis)}
    if arguments.value_syntax is ValueSyntax.JSON:
        content_args["value_parser"] = {"name": "json", "args": {"allow_non_json": True}}
    return {
        "open_pattern": f"{_opener(analysis)}{_SPACE}(?={'|'.join(distinct([*follows, *close]))})",
        "close_pattern": _any_of(close),
        "content": "xml-inline",
        "content_args": content_args,
        "repeats": True,
        "transform": _named(analysis),
    }


def _opener(analysis: Analysis, behind: str = "") -> str:
    """A pattern from the region's first marker to what stands behind the name and the id."""
    form, function, call_id = (
        analysis.tools.format,
        analysis.tools.function,
        analysis.tools.call_id,
    )
    name = _NAME
    an_id = [_pattern(call_id.prefix), _ID, _pattern(call_id.suffix)]
    before: list[str] = []
    after: list[str] = []
    if call_id.pos is CallIdPosition.PRE_FUNC_NAME:
        before = an_id
    elif call_id.pos is CallIdPosition.BETWEEN_FUNC_AND_ARGS:
        after = an_id
    elif call_id.pos is CallIdPosition.CARRIES_NAME:
        prefix, suffix = _pattern(call_id.prefix), _pattern(call_id.suffix)
        name = f"(?P<id>(?:{prefix})?{name}(?:{suffix}[0-9]{{1,9}})?)"
    parts = [
        _pattern(form.per_call_start),
        *before,
        _pattern(function.name_prefix),
        name,
        _pattern(function.name_suffix),
        *after,
        _pattern(behind),
    ]
    return _SPACE.join(filter(None, parts))


def _argument(analysis: Analysis) -> str:
    """A pattern for one argument, its name `key` and its value, which is exact text."""
    arguments = analysis.tools.arguments
    value_prefix = arguments.value_prefix or arguments.name_suffix
    behind_key = "" if value_prefix == arguments.name_suffix else arguments.name_suffix
    types = _any_of(_escaped(spelling) for spelling, _ in arguments.types)
    type_prefix = _pattern(arguments.type_prefix)
    behind = [_pattern(behind_key), type_prefix and type_prefix + types, _pattern(value_prefix)]
    opener = _pattern(arguments.name_prefix) + _KEY + _SPACE.join(filter(None, behind))
    # A value may hold what ends values. One that nothing ends takes the rest: otherwise each opener
    # in a row of them would search all that follows.
    follows = distinct([_pattern(arguments.name_prefix), _pattern(arguments.end), r"\Z"])
    suffix = _any_of(map(_pattern, (arguments.value_suffix, *arguments.other_value_suffixes)))
    first = value_prefix[len(value_prefix.rstrip()) :]
    last = arguments.value_suffix[: -len(arguments.value_suffix.lstrip())]
    value = f"{_optional(first)}(?P<value>.*?){_optional(last)}"
    if arguments.optional_wrap:
        wrap_start, wrap_end = map(_escaped, arguments.optional_wrap)
        value, suffix = f"(?P<wrap>{wrap_start})?{value}", f"(?(wrap){wrap_end}){suffix}"
    return rf"{opener}{value}(?:{suffix}(?={_SPACE}{_any_of(follows)})|\Z)"


def _named(analysis: Analysis) -> dict[str, Any]:
    has_id = analysis.tools.call_id.pos is not CallIdPosition.NONE
    return _call("{name}", "{content}", "{id}" if has_id else "")


def _call(name: str, arguments: str, call_id: str) -> dict[str, Any]:
    call = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {"id": call_id, **call} if call_id else call


def _value(*path: str) -> str:
    """Where a value stands, as transformers writes it."""
    return "{" + ".".join(path) + "}"


def _pattern(*markers: str) -> str:
    """A pattern for markup: whitespace between markers may be any, and none stands around it."""
    pieces = [piece for marker in markers for piece in _PLACEHOLDER.split(marker)]
    patterns: list[str] = []
    for piece in pieces:
        if piece in _PLACEHOLDERS:
            patterns.append(_PLACEHOLDERS[piece])
        else:
            patterns += map(_escaped, single_markers(piece))
    return _SPACE.join(patterns)


def _escaped(text: str) -> str:
    """A pattern for exactly this text."""
    return "".join(map(escape, text)).replace(r"\/", "/")  # which ends no expression here


def _any_of(patterns: Iterable[str]) -> str:
    choices = distinct(patterns)
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})" if choices else ""


def _optional(space: str) -> str:
    return "".join(f"{escape(char)}?" for char in space)
