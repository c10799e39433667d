"""Limits on what an output may hold, in formats of every kind; without them nothing is refused."""

from __future__ import annotations

import types
from typing import Any

import pytest
from parsers import deltas_of, parser_of
from splits import every_split, usual_splits

CALLS = {
    "qwen3": '<tool_call>\n{"name": "f", "arguments": {"a": "xyz"}}\n</tool_call>',
    "qwen3_coder": "<tool_call>\n<function=f>\n<parameter=a>\nxyz\n</parameter>\n</function>\n</tool_call>",
    "llama_3_1": '{"name": "f", "parameters": {"a": "xyz"}}',
    "gemma_4": '<|tool_call>call:f{a:<|"|>xyz<|"|>}<tool_call|>',
}
SIZE = len('{"a": "xyz"}')
MINIMAX_BEGUN = ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="f">]<]minimax[>[<a>'
EVERY_FORMAT = pytest.mark.parametrize("stem", CALLS)


def read(module: types.ModuleType, pieces: list[str], **limits: Any) -> Any:
    parser = module.Parser(prompt="", **limits)
    return module.merge(deltas_of(parser, pieces))


@EVERY_FORMAT
def test_as_many_as_allowed(stem: str) -> None:
    module, text = parser_of(stem), "\n".join([CALLS[stem]] * 2)
    for pieces in usual_splits(text):
        message = read(module, pieces, max_calls=2, max_arguments=SIZE)
        assert [call.arguments for call in message.tool_calls] == ['{"a": "xyz"}'] * 2


@EVERY_FORMAT
def test_a_call_too_many(stem: str) -> None:
    module, text = parser_of(stem), "\n".join([CALLS[stem]] * 3)
    assert len(module.parse(text, prompt="").tool_calls) == 3
    for pieces in usual_splits(text):
        with pytest.raises(module.LimitError, match="^more than 2 calls$"):
            read(module, pieces, max_calls=2)


@EVERY_FORMAT
def test_arguments_too_long(stem: str) -> None:
    module = parser_of(stem)
    for pieces in every_split(CALLS[stem]):
        with pytest.raises(module.LimitError, match=rf"over {SIZE - 1} characters"):
            read(module, pieces, max_arguments=SIZE - 1)


@pytest.mark.parametrize(
    ("stem", "begun"),
    [
        ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n"),
        ("glm_4_6", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>"),
        ("minimax_m3", MINIMAX_BEGUN),
    ],
)
@pytest.mark.parametrize("text", ["x" * 41, "7" * 41, "x\n" * 20 + "x"])
def test_a_value_that_goes_out_whole_counts_before_it_ends(
    stem: str, begun: str, text: str
) -> None:
    module = parser_of(stem)
    for pieces in usual_splits(begun + text):
        with pytest.raises(module.LimitError, match="over 40 characters"):
            read(module, pieces, max_arguments=40)


@EVERY_FORMAT
def test_no_calls_at_all(stem: str) -> None:
    module = parser_of(stem)
    assert module.parse("Hello.", prompt="", max_calls=0).content == "Hello."
    with pytest.raises(module.LimitError):
        module.parse(CALLS[stem], prompt="", max_calls=0)


def test_arguments_of_drafts_count_where_reasoning_does_not_close() -> None:
    module = parser_of("qwen3")
    text = f"<think>\nIt would be {CALLS['qwen3']}"
    for pieces in usual_splits(text + " but no.\n</think>\n\nDone."):
        assert read(module, pieces, max_arguments=3).content == "Done."
    for pieces in usual_splits(text):
        with pytest.raises(module.LimitError, match="over 3 characters"):
            read(module, pieces, max_arguments=3)


def test_drafts_in_reasoning_that_closes_do_not_count() -> None:
    module, drafts = parser_of("qwen3"), CALLS["qwen3"] * 3
    assert (
        module.parse(f"<think>\n{drafts}\n</think>\n\nHm.", prompt="", max_calls=1).content == "Hm."
    )
    with pytest.raises(module.LimitError):
        module.parse(f"<think>\nOh.\n{drafts}", prompt="", max_calls=1)


def test_what_came_before_the_limit_is_there() -> None:
    module = parser_of("qwen3")
    parser = module.Parser(prompt="", max_calls=1)
    with pytest.raises(module.LimitError):
        parser.feed(f"So.\n{CALLS['qwen3']}\n{CALLS['qwen3']}")
    assert parser.message.content == "So."
    assert len(parser.message.tool_calls) == 1
