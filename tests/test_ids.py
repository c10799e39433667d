"""Ids of calls: those in the text, those that a caller makes, and when a stream tells them."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

import pytest
from parsers import SOURCES, deltas_of, parser_from
from splits import every_split

ONE = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
BROKEN = '<tool_call>\n{"name": "f", "arguments": {"a": x}}\n</tool_call>'


def _counter() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"made_{next(numbers)}"


def _module(stem: str) -> types.ModuleType:
    return parser_from(SOURCES[stem])


def _stream(module: types.ModuleType, pieces: list[str], **options: Any) -> list[Any]:
    return deltas_of(module.Parser(make_id=_counter(), **options), pieces)


def test_without_ids_in_the_format_the_first_delta_has_the_made_one() -> None:
    module = _module("qwen3")
    whole = module.parse(ONE + ONE, make_id=_counter())
    assert [call.id for call in whole.tool_calls] == ["made_0", "made_1"]
    for pieces in every_split(ONE):
        deltas = [delta.to_openai() for delta in _stream(module, pieces)]
        calls = [delta["tool_calls"][0] for delta in deltas]
        assert calls[0] == {
            "index": 0,
            "id": "made_0",
            "type": "function",
            "function": {"name": "f", "arguments": ""},
        }
        assert not any("id" in call for call in calls[1:])


@pytest.mark.parametrize("stream_arguments", [True, False])
def test_made_ids_do_not_depend_on_the_pieces(stream_arguments: bool) -> None:
    module, text = _module("qwen3"), f"{BROKEN} {ONE}"
    options = {"stream_arguments": stream_arguments}
    whole = module.merge(_stream(module, [text], **options))
    assert len(whole.tool_calls) == 1
    for size in range(1, 12):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert module.merge(_stream(module, pieces, **options)) == whole


def test_an_empty_id_is_an_id_whether_the_call_comes_whole_or_in_pieces() -> None:
    module = _module("mistral_nemo")
    text = '[TOOL_CALLS][{"name": "f", "arguments": {}, "id": ""}]'
    for pieces in ([text], list(text)):
        calls = module.merge(_stream(module, pieces)).tool_calls
        assert [call.id for call in calls] == [""]


def test_an_id_in_the_text_is_not_replaced() -> None:
    module = _module("mistral_nemo")
    text = '[TOOL_CALLS][{"name": "f", "arguments": {}, "id": "abcdefghi"}, {"name": "g", "arguments": {}}]'
    for pieces in ([text], list(text)):
        calls = module.merge(_stream(module, pieces)).tool_calls
        assert [call.id for call in calls] == ["abcdefghi", "made_0"]


@pytest.mark.parametrize("stem", ["qwen3", "mistral_nemo", "kimi_k2_instruct"])
def test_without_a_maker_a_missing_id_is_none(stem: str) -> None:
    module = _module(stem)
    texts = {
        "qwen3": ONE,
        "mistral_nemo": '[TOOL_CALLS][{"name": "f", "arguments": {}}]',
        "kimi_k2_instruct": "<|tool_calls_section_begin|><|tool_call_begin|>f"
        "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    }
    (call,) = module.parse(texts[stem]).tool_calls
    assert (call.name, call.id) in {("f", None), ("f", "f")}
