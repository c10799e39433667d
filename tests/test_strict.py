"""`strict=True` says where a call leaves its format and what was expected, however the text is cut."""

from __future__ import annotations

from typing import Any

import pytest
from parsers import SOURCES, deltas_of, parser_from, parser_of
from splits import every_split, usual_splits

# The chat format, an output, what is left of it where it leaves the format, and what was expected.
REFUSED = [
    ("qwen3", '<tool_call>\n{"name": "f", "arguments": {"a": x}}', "x}}", "a call as JSON"),
    ("qwen3", '<tool_call>{"name": "f", "arguments": {"a": NaN', "NaN", "a call as JSON"),
    ("qwen3", '<tool_call>{"name": "f", "arguments": {"a": 1, "a"', '"', "a call as JSON"),
    ("qwen3", '<tool_call>{"name": "f", "arguments": [1]}', "[1]}", "a call as JSON"),
    ("qwen3", '<tool_call>{"arguments": {}}</tool_call>', "}</tool_call>", "a call as JSON"),
    ("qwen3", "<tool_call> call f", "call f", "a call as JSON"),
    ("qwen3", 'Yes. <tool_call>\n{"name": "f", "argu', "", "a call as JSON"),
    ("qwen3", '<think>\nA <tool_call>\n{"name": "f"', "", "a call as JSON"),
    (
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {}} and',
        "and",
        "'</tool_call>' or '<tool_call>' or '<|im_end|>'",
    ),
    ("qwen3_coder", "<tool_call>\n<function=f g>", "g>", "'>'"),
    ("qwen3_coder", "<tool_call>\n<function=>", ">", "a new name"),
    ("qwen3_coder", "<tool_call>\n<function=f>\nand", "and", "'<parameter=' or '</function>'"),
    ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n1", "", "a value"),
    (
        "qwen3_coder",
        "<tool_call><function=f><parameter=a>1</parameter><parameter=a>2</parameter>",
        ">2</parameter>",
        "a new key",
    ),
    ("devstral_small", "[TOOL_CALLS]f[ARGS]{} and", "and", "'[TOOL_CALLS]'"),
    ("devstral_small", "[TOOL_CALLS]f[ARGS]x", "x", "a JSON object"),
    (
        "gemma_4",
        "<|tool_call>call:f{a:[1,}<tool_call|>",
        "}<tool_call|>",
        "arguments between braces",
    ),
    ("llama_3_1", '{"name": "f", "parameters": {"a": tru}}', "}}", "a call as JSON"),
]
# What is no call that went wrong is no error.
ACCEPTED = [
    ("qwen3", '<think>\nA <tool_call>\n{"name": "f"} x</think>'),
    ("qwen3", "a </tool_call> <tool_c"),
    ("qwen3", '<tool_call>{"name": "f", "arguments": {}}'),
    ("qwen3_coder", "<function=f>\n</function>\n</tool_call>"),
    ("llama_3_1", '{"answer": 1}'),
]


@pytest.mark.parametrize(("stem", "text", "rest", "expected"), REFUSED)
def test_where_and_what(stem: str, text: str, rest: str, expected: str) -> None:
    module = parser_from(SOURCES[stem])
    for pieces in every_split(text):
        parser = module.Parser(strict=True)
        with pytest.raises(module.ParseError) as caught:
            deltas_of(parser, pieces)
        assert (text[caught.value.position :], caught.value.expected) == (rest, expected), pieces
    # The lenient parse reports the same call: no call comes of it, and its text is there.
    message = module.parse(text)
    assert not message.tool_calls
    assert message.incomplete if not rest else not message.incomplete


@pytest.mark.parametrize(("stem", "text"), ACCEPTED)
def test_what_is_no_malformed_call(stem: str, text: str) -> None:
    parser_of(stem).parse(text, strict=True)


@pytest.mark.parametrize(
    "text",
    [
        '<think>\nA <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
        '<think>\nA <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call> b',
        '<think>\nA <tool_call>\n{"name": "f"}\n</tool_call>\n</think>\n\nB',
        '<think>\nA <tool_call>\n{"name": "f", "argum',
        'A <tool_call>\n{"name": "f"}</tool_call>\n<tool_call>\n{"na',
    ],
)
def test_drafts_and_truncation_are_the_same_whole_and_streamed(text: str) -> None:
    module = parser_of("qwen3")
    whole = module.parse(text)
    for pieces in (*([text[:at], text[at:]] for at in range(1, len(text))), *usual_splits(text)):
        for stream_arguments in (False, True):
            parser = module.Parser(stream_arguments=stream_arguments)
            deltas = deltas_of(parser, pieces)
            assert module.merge(deltas) == parser.message == whole
            for at in range(len(pieces)):
                seen = "".join(pieces[:at])
                early = module.Parser(stream_arguments=stream_arguments)
                assert early.feed(seen) is not None
                assert early.message == _after(module, stream_arguments, pieces[:at])


def _after(module: Any, stream_arguments: bool, pieces: list[str]) -> Any:
    """The message after a prefix that came in pieces."""
    parser = module.Parser(stream_arguments=stream_arguments)
    for piece in pieces:
        parser.feed(piece)
    return parser.message
