"""The fields of an analysis by their paths, and how people read their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from enum import Enum
from typing import Any

from autoparser_gen.analysis.as_json import json_text
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.chat_template import UNKNOWN_TOKENS
from autoparser_gen.header import printable

# What the members of the analysis' enums mean, in words that need no source.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "reasoning.mode": {
        "NONE": "no reasoning of its own",
        "TAG_BASED": "between two markers",
        "TOOLS_ONLY": "only in turns that call tools",
    },
    "content.mode": {
        "PLAIN": "as it is",
        "ALWAYS_WRAPPED": "always between two markers",
        "WRAPPED_WITH_REASONING": "between two markers beside reasoning",
    },
    "tools.format.mode": {
        "NONE": "no calls",
        "JSON_NATIVE": "name and arguments in one JSON value",
        "TAG_WITH_JSON": "name in markup, arguments one JSON object",
        "TAG_WITH_TAGGED": "name, argument names and values in markup",
        "TAG_WITH_LITERAL": "name in markup, arguments one literal that is not JSON",
        "PYTHON_CALLS": "calls as Python writes them",
    },
    "tools.arguments.value_syntax": {
        "JSON": "every value is JSON",
        "RAW": "strings as they are, other values as JSON or Python literals",
        "NESTED_TAGS": "objects and arrays are tags",
    },
    "tools.call_id.pos": {
        "NONE": "no id in markup",
        "PRE_FUNC_NAME": "the id before the name",
        "BETWEEN_FUNC_AND_ARGS": "the id between name and arguments",
        "POST_ARGS": "the id behind the arguments",
        "CARRIES_NAME": "the id holds the name",
    },
}


def flatten(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every value that is no mapping, with the path of keys that leads to it; enums as texts."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from flatten(f"{path}.{name}" if path else name, inner)
    else:
        yield path, value.value if isinstance(value, Enum) else value


def is_unset(value: Any) -> bool:
    """Whether a field has no value: the format does not use it."""
    return value in ("", None, False, [], ())


def quoted(value: Any) -> str:
    """Text in quotes with what cannot be seen escaped; other values as JSON."""
    if not isinstance(value, str):
        return json_text(value)
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    for name, placeholder in UNKNOWN_TOKENS.items():
        text = text.replace(placeholder, f"{{{name}}}")
    return f'"{printable(text)}"'


def fields(analysis: Analysis) -> Iterator[tuple[str, Any]]:
    """Every field of the analysis by its path, in order."""
    data = asdict(analysis)
    for name in ("source", "sha256", "evidence", "notes"):
        del data[name]
    yield from flatten("", data)
