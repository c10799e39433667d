"""What a request may say about its tools, however odd: a parser reads on, and is not slow."""

from __future__ import annotations

import random
import types
from typing import Any

import pytest
from parsers import parser_of
from walks import walk

# Formats that read types from schemas, each in its own way; and JSON, which only reads names.
STEMS = ("qwen3_coder", "glm_4_6", "minimax_m3", "gemma_4", "lfm2_5", "qwen3")
WALKS = 40


def nested(levels: int, inside: Any, word: str) -> Any:
    """A schema in a schema in a schema."""
    schema = inside
    for _ in range(levels):
        schema = {word: [schema]} if word == "anyOf" else {"type": "object", word: {"a": schema}}
    return schema


LEVELS = 40
DOUBLED = {
    f"L{i}": {"anyOf": [{"$ref": f"#/$defs/L{i + 1}"}, {"$ref": f"#/$defs/L{i + 1}"}]}
    for i in range(LEVELS)
} | {f"L{LEVELS}": {"type": "integer"}}

PARAMETERS: dict[str, Any] = {
    "null": None,
    "a list": [],
    "a text": "x",
    "a number": 5,
    "properties as a list": {"properties": [1]},
    "properties as a text": {"properties": "a"},
    "no schema": {"properties": {"a": None}},
    "a number as schema": {"properties": {"a": 5}},
    "a number as type": {"properties": {"a": {"type": 5}}},
    "objects as types": {"properties": {"a": {"type": [None, {"type": "string"}]}}},
    "an object as type": {"properties": {"a": {"type": {"x": 1}}}},
    "a text as enum": {"properties": {"a": {"enum": "abc"}}},
    "a number as anyOf": {"properties": {"a": {"anyOf": 5}}},
    "no schemas in anyOf": {"properties": {"a": {"anyOf": [5, None, "x"]}}},
    "an object as allOf": {"properties": {"a": {"allOf": {"x": 1}}}},
    "a number as reference": {"properties": {"a": {"$ref": 5}}},
    "a reference to elsewhere": {"properties": {"a": {"$ref": "https://example.invalid/a"}}},
    "a reference to nothing": {"properties": {"a": {"$ref": "#/$defs/nothing"}}},
    "a reference through a text": {"$defs": "x", "properties": {"a": {"$ref": "#/$defs/x"}}},
    "a reference to itself": {"properties": {"a": {"$ref": "#/properties/a"}}},
    "references doubled on 40 levels": {
        "$defs": DOUBLED,
        "properties": {"a": {"$ref": "#/$defs/L0"}},
    },
    "100,000 levels of objects": nested(100_000, {"type": "string"}, "properties"),
    "5,000 levels of anyOf": {"properties": {"a": nested(5000, {"type": "string"}, "anyOf")}},
    "not a number as const": {"properties": {"a": {"const": float("nan")}}},
    "objects in enum": {"properties": {"a": {"enum": [[1], {"x": []}, "a"]}}},
}
TOOL_LISTS: dict[str, Any] = {
    "a number": [5],
    "a text": ["x"],
    "null": [None],
    "no name": [{}],
    "a number as function": [{"function": 5}],
    "a number as name": [{"function": {"name": 5}}],
    "a list as name": [{"function": {"name": ["x"]}}],
    "an object": {"a": 1},
    "the same twice": [{"function": {"name": "f"}}] * 2,
    "none": (),
}
REQUESTS = {
    f"parameters: {k}": [{"function": {"name": "f", "parameters": p}}]
    for k, p in PARAMETERS.items()
}
REQUESTS |= {f"tools: {kind}": tools for kind, tools in TOOL_LISTS.items()}


def outputs(module: types.ModuleType) -> list[str]:
    rng = random.Random(0)
    return [walk(module, rng) for _ in range(WALKS)]


@pytest.mark.parametrize("stem", STEMS)
def test_outputs_are_read(stem: str) -> None:
    module = parser_of(stem)
    texts = outputs(module)
    assert any(module.parse(text).tool_calls for text in texts)
    for request, tools in REQUESTS.items():
        for text in texts:
            covered = "".join(text[s.start : s.end] for s in module.spans(text, tools=tools))
            assert covered == text, request
