"""The last step: unknown special tokens leave the analysis, tokens to preserve are listed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from autoparser_gen.analysis.model import (
    CALL_NUMBER,
    SAME_KEY,
    SAME_NAME,
    Analysis,
    Arguments,
    Content,
    Function,
    Headers,
    ToolFormat,
)
from autoparser_gen.chat_template import UNKNOWN_TOKENS

_PLACEHOLDER = re.compile("|".join(map(re.escape, (SAME_NAME, SAME_KEY, CALL_NUMBER))))
_TAG = re.compile(r"<[^<>\s]+>")


def without_unknown_tokens(analysis: Analysis) -> Analysis:
    """Take out the placeholders of special tokens that were not given, and say so."""
    notes = list(analysis.notes)
    for name, placeholder in UNKNOWN_TOKENS.items():
        if placeholder in analysis.end_of_turn:
            option = f"--{name.replace('_', '-')}"
            notes.append(
                f"the end of turn holds the {name}, which is not known: give its text with {option}"
            )
    cleaned = _cleaned(replace(analysis, notes=tuple(notes)))
    assert isinstance(cleaned, Analysis)
    return replace(
        cleaned,
        end_of_turn=cleaned.end_of_turn.strip(),
        end_of_turn_after_calls=cleaned.end_of_turn_after_calls.strip(),
    )


def _cleaned(value: Any) -> Any:
    result = value
    if isinstance(value, str) and type(value) is str:
        for placeholder in UNKNOWN_TOKENS.values():
            result = result.replace(placeholder, "")
    elif isinstance(value, tuple):
        result = tuple(_cleaned(item) for item in value)
    elif isinstance(value, Mapping):
        result = {key: _cleaned(item) for key, item in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        changes = {f.name: _cleaned(getattr(value, f.name)) for f in fields(value)}
        result = replace(value, **changes)
    return result


def tokens_to_preserve(analysis: Analysis, special: frozenset[str] | None) -> tuple[str, ...]:
    """What a server must not drop from an output: markers, each with the tokens that it consists of.

    Servers look for single tokens, and a marker can be several: two tags with a word between them.
    `special` holds the special tokens, where they are known (None: each tag may be one).
    """
    found: list[str] = []
    for core in _marker_cores(analysis):
        if _PLACEHOLDER.search(core) is None:
            found.append(core)
        if special is None:
            found += [tag for tag in _TAG.findall(core) if _PLACEHOLDER.search(tag) is None]
        else:
            found += sorted((token for token in special if token and token in core), key=core.find)
    return tuple(dict.fromkeys(found))


def _marker_cores(analysis: Analysis) -> list[str]:
    """Every marker without the whitespace around it, in the order of the format."""
    tools = analysis.tools
    content, form, function = analysis.content, tools.format, tools.function
    arguments, call_id = tools.arguments, tools.call_id
    markers = [
        analysis.reasoning.start,
        analysis.reasoning.end,
        *_texts(content, Content, ("start", "end", "beside_call_start", "beside_call_end")),
        *_texts(
            form,
            ToolFormat,
            (
                "optional_start",
                "section_start",
                "section_end",
                "per_call_start",
                "per_call_end",
                "call_separator",
            ),
        ),
        *_texts(function, Function, ("name_prefix", "name_suffix", "close")),
        *_texts(
            arguments,
            Arguments,
            (
                "start",
                "end",
                "name_prefix",
                "name_suffix",
                "type_prefix",
                "value_prefix",
                "value_suffix",
                "separator",
            ),
        ),
        *arguments.other_value_suffixes,
        *(arguments.optional_wrap or ()),
        # A plain quote is no token that a server could drop.
        *(quote for quote in _quotes(arguments) if len(quote) > 1),
        call_id.prefix,
        call_id.suffix,
        *_texts(analysis.headers or Headers(), Headers, ("start", "channel", "end", "message_end")),
    ]
    return [core for marker in markers if (core := marker.strip())]


def _quotes(arguments: Arguments) -> tuple[str, ...]:
    return arguments.literals.quotes if arguments.literals else ()


def _texts(value: object, kind: type, names: tuple[str, ...]) -> list[str]:
    assert isinstance(value, kind)
    return [getattr(value, name) for name in names]
