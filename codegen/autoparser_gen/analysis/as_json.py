"""The analysis as JSON: deterministic, for diffs and for other tools."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from autoparser_gen.analysis.model import FORMAT_VERSION, Analysis


def triggers(analysis: Analysis) -> list[dict[str, str]]:
    """What starts a lazy grammar, in llama.cpp's form: the section's or the call's opener."""
    tools = analysis.tools
    start = (
        tools.format.section_start or tools.format.per_call_start or tools.function.name_prefix
    ).strip()
    return [{"type": "word", "value": start}] if is_marker(start) else []


def is_marker(text: str) -> bool:
    """Whether a text says that a call begins, unlike a bracket alone, which may be text."""
    return len(text) > 1


def json_text(value: object, indent: int | None = None) -> str:
    """JSON in which characters that end lines, reorder them or do not show are escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(
        char if char in " \n" or char.isprintable() else json.dumps(char)[1:-1] for char in text
    )


def to_json(analysis: Analysis) -> str:
    """The analysis as indented JSON text that ends with a newline."""
    return json_text(as_dict(analysis), indent=2) + "\n"


def as_dict(analysis: Analysis) -> dict[str, Any]:
    """The analysis as plain data, in the order in which it is printed."""
    data = asdict(analysis)
    return {
        "format_version": FORMAT_VERSION,
        "source": data["source"],
        "sha256": data["sha256"],
        "capabilities": data["capabilities"],
        "reasoning": data["reasoning"],
        "content": data["content"],
        "tools": data["tools"],
        "generation_prompts": data["generation_prompts"],
        "assistant_header": data["assistant_header"],
        "end_of_turn": data["end_of_turn"],
        "end_of_turn_after_calls": data["end_of_turn_after_calls"],
        "headers": data["headers"],
        "preserved_tokens": list(data["preserved_tokens"]),
        "triggers": triggers(analysis),
        "joints": dict(sorted(data["joints"].items())),
        "evidence": dict(sorted(data["evidence"].items())),
        "notes": list(data["notes"]),
    }
