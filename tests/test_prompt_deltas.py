"""When a stream tells what: with the character that makes it known, and with no other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from parsers import parser_of
from splits import pieces

NAME, CALL_END = '{"name": "find", ', "}\n</tool_call>\n<tool_call>\n"
ARGUMENTS = '{"city": "Rome", "days": 3}'
UNNAMED = '<tool_call>\n{"to": "find"}'
UNCLOSED = '<tool_call>\n{"name": "find", "arguments": {}} o'
# What its last character shows to be content, or to have content at its end.
TEXTS = [
    ("qwen3", UNNAMED, UNNAMED),
    ("qwen3", UNCLOSED, UNCLOSED),
    ("lfm2_5", "<|tool_call_start|>[find(city='Rome')]o", "o"),
]


def _seen(delta: Any) -> str:
    """What a delta tells, in one text."""
    return f"<{delta.name}>" if delta.name else delta.content + delta.arguments


def _content(deltas: Iterable[Any]) -> str:
    """The content of several deltas."""
    return "".join(delta.content for delta in deltas)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_each_piece_tells_what_is_known_of_calls(size: int) -> None:
    """A table of the text and what it tells: nothing of the name before its quote, no argument later."""
    told: list[tuple[str, str]] = []
    for call in range(3):
        told += [("<tool_call>\n" if not call else CALL_END, ""), (NAME[:-3], "")]
        told += [(NAME[-3], "<find>"), (NAME[-2:] + '"arguments": ', "")]
        told += [(char, char) for char in ARGUMENTS]
    told.append((CALL_END[: CALL_END.index("<tool_call>")], ""))
    ends = list(itertools.accumulate(len(text) for text, _ in told))
    parser = parser_of("qwen3").Parser()
    read, seen = 0, ""
    for piece in pieces("".join(text for text, _ in told), size):
        seen += "".join(map(_seen, parser.feed(piece)))
        read += len(piece)
        known = [out for end, (_, out) in zip(ends, told, strict=True) if end <= read]
        assert seen == "".join(known), f"after {read} characters"
    assert len(parser.message.tool_calls) == 3


@pytest.mark.parametrize("size", [1, 3, 4, 5, 100])
@pytest.mark.parametrize(("stem", "text", "content"), TEXTS)
def test_what_turns_out_to_be_text_is_told_at_once(
    stem: str, text: str, content: str, size: int
) -> None:
    parser = parser_of(stem).Parser()
    contents = [_content(parser.feed(piece)) for piece in pieces(text, size)]
    assert not any(contents[:-1])
    assert contents[-1] == content


@pytest.mark.parametrize("stem", ["qwen3", "qwen3_coder", "mistral_nemo", "gpt_oss", "lfm2_5"])
def test_an_empty_piece_tells_nothing(stem: str) -> None:
    parser = parser_of(stem).Parser()
    assert parser.feed("") == []
    parser.feed("Some text")
    assert parser.feed("") == []
    assert not any(parser.feed("") + parser.feed(" "))


CALLS = {
    "qwen3": '<tool_call>\n{"name": "find", "arguments": {"city": "Rome", "days": 3}}\n</tool_call>\n',
    "qwen3_coder": (
        "<tool_call>\n<function=find>\n<parameter=city>\nRome\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>\n"
    ),
    "glm_4_6": (
        "<tool_call>find\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n"
    ),
    "gpt_oss": (
        '<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"city": "Rome"}<|call|>'
        "<|start|>assistant"
    ),
}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("stem", CALLS)
def test_what_tells_nothing_is_left_unread(stem: str, size: int) -> None:
    """Of a call's pieces those that tell something are read, and at most three others."""

    class Counting(parser_of(stem).Parser):  # type: ignore[misc]
        reads = 0

        def _feed(self, chunk: str) -> Any:
            self.reads += 1
            return super()._feed(chunk)

    parser = Counting(prompt="")
    in_vain = 0
    for piece in pieces(CALLS[stem] * 20, size):
        before = parser.reads
        in_vain += not parser.feed(piece) and parser.reads > before
    assert len(parser.message.tool_calls) == 20
    assert in_vain <= 20 * 3


def test_what_is_sure_does_not_depend_on_the_order_of_a_set() -> None:
    """Markers of the same length, such as `<parameter=` and `</function>`, are in any order."""
    places = parser_of("qwen3_coder")._places(True, True)
    assert all(places[name].opening for name in ("after_name", "value_end", "closing_1"))


def test_all_state_has_slots() -> None:
    """What were missing in them would still work, but slower."""
    assert vars(parser_of("qwen3").Parser()) == {}
