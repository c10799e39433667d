"""Texts in nested tags that look like tags, as far as the format tells them apart."""

from __future__ import annotations

import json

import pytest
from parsers import SOURCES, deltas_of, parser_from
from splits import usual_splits

START = "]<]minimax[>["
TEXT = (
    f'{START}<tool_call>\n{START}<invoke name="f">{START}<a>{START}<item>%s{START}</item>{START}</a>'
    f"{START}</invoke>\n{START}</tool_call>"
)
LONG = "x" * 400


@pytest.mark.parametrize(
    "value",
    [
        f"{START}<",
        f'{START}<invoke name="',
        f"{START}<a b>",
        f"{START}<{LONG}>",
        START,
        f" {START}<",
    ],
)
def test_a_text_that_begins_like_a_tag(value: str) -> None:
    module = parser_from(SOURCES["minimax_m3"])
    text = TEXT % value
    whole = module.parse(text)
    assert json.loads(whole.tool_calls[0].arguments) == {"a": [value]}
    for pieces in usual_splits(text):
        assert module.merge(deltas_of(module.Parser(), pieces)) == whole
