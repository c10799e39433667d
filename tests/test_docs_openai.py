"""The serving loop in docs/openai.md, run as it stands there."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
from conftest import ROOT
from parsers import parser_of

OUTPUT = (
    "<think>\nSunny?\n</think>\n\nI look.\n<tool_call>\n"
    '{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
)


@pytest.mark.parametrize("size", [1, 5, 999])
def test_the_serving_loop(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "openai.md").read_text(encoding="utf-8")
    monkeypatch.setitem(sys.modules, "qwen3_parser", parser_of("qwen3"))
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found
    names: dict[str, Any] = {}
    exec(found[1], names)
    pieces = [OUTPUT[at : at + size] for at in range(0, len(OUTPUT), size)]
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {}}}]
    *chunks, done = names["events"](pieces, tools, None, "m")
    assert done == "data: [DONE]\n\n"
    choices = [json.loads(chunk.removeprefix("data: "))["choices"][0] for chunk in chunks]
    deltas = [choice["delta"] for choice in choices]
    assert "".join(delta.get("content", "") for delta in deltas) == "I look."
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Sunny?"
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert "".join(call["function"]["arguments"] for call in calls) == '{"city": "Oslo"}'
    assert calls[0]["id"].startswith("call_")
    assert choices[-1]["finish_reason"] == "tool_calls"
    whole = names["completion"](OUTPUT, tools, None, "m")
    [choice] = whole["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "I look."
    assert choice["message"]["tool_calls"][0]["id"].startswith("call_")
