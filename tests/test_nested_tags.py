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


TAG = f"{START}<%s>%s{START}</%s>"


@pytest.mark.parametrize(
    ("kinds", "member", "item"),
    [
        (["null", "array"], "[]", "null"),
        (["object", "null"], "{}", "null"),
        (["null"], "null", "null"),
        (["null", "string"], '""', '""'),
    ],
)
def test_an_empty_tag_is_null_where_an_item_is(kinds: list[str], member: str, item: str) -> None:
    """The chat template leaves out a member that is null, but not an item."""
    value = {"type": kinds}
    properties = {"m": value, "l": {"type": "array", "items": value}}
    parameters = {"type": "object", "properties": properties}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    tags = TAG % ("m", "", "m") + TAG % ("l", TAG % ("item", "", "item"), "l")
    text = (
        f'{START}<tool_call>\n{START}<invoke name="f">{tags}{START}</invoke>\n{START}</tool_call>'
    )
    [call] = parser_from(SOURCES["minimax_m3"]).parse(text, tools=tools).tool_calls
    assert call.arguments == f'{{"m": {member}, "l": [{item}]}}'
