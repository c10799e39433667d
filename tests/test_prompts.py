"""What the generation prompt leaves open, and what a model may do all the same."""

from __future__ import annotations

import pytest
from parsers import SOURCES, deltas_of, parser_from
from splits import usual_splits


@pytest.mark.parametrize(
    ("stem", "text", "reasoning", "content"),
    [
        ("deepseek_v3_1", "<think>So.</think>Yes.", "So.", "Yes."),
        ("deepseek_v3_1", "</think>Yes.", "", "Yes."),
        ("deepseek_v3_1", "Yes. <think>So.</think>", "", "Yes. <think>So.</think>"),
        ("qwen3", "<think>\nSo.\n</think>\n\nYes.", "So.", "Yes."),
        (
            "command_r7b",
            "<|START_THINKING|>So.<|END_THINKING|><|START_RESPONSE|>Yes.",
            "So.",
            "Yes.",
        ),
    ],
)
def test_reasoning_although_the_prompt_closed_an_empty_block(
    stem: str, text: str, reasoning: str, content: str
) -> None:
    module = parser_from(SOURCES[stem])
    prompt = module.GENERATION_PROMPTS["no_thinking"]
    for pieces in usual_splits(text):
        parser = module.Parser(prompt=prompt)
        deltas_of(parser, pieces)
        assert (parser.message.reasoning_content, parser.message.content) == (reasoning, content)


def test_a_prompt_that_closed_reasoning_of_its_own_is_done_with_it() -> None:
    module = parser_from(SOURCES["qwen3"])
    prompt = module.ASSISTANT_HEADER + "<think>\nSo.\n</think>\n\n"
    assert module.parse("<think>\nx\n</think>\n\nYes.", prompt=prompt).reasoning_content == ""
