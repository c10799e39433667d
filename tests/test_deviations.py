"""What a model writes otherwise than history shows it, and a format's own escapes: small formats."""

from __future__ import annotations

import json
from types import ModuleType

import pytest
from splits import every_split
from test_analysis import CONTENT, JSON_CALL, chat, each_call, find

from autoparser_gen import verify
from autoparser_gen.emit import python


def parser(body: str) -> ModuleType:
    return verify.import_text(python.emit(find(chat(body)), []))


@pytest.mark.parametrize(
    ("text", "content", "names"),
    [
        ('<|python_tag|>{"name": "f", "arguments": {"a": 1}}', "", ["f"]),
        ('It. <|python_tag|>{"type": "x", "name": "f", "arguments": {}}', "It. ", ["f"]),
        (
            '<|python_tag|>{"name": "f", "arguments": {}}\n<|python_tag|>{"name": "g"}',
            "",
            ["f", "g"],
        ),
        ("<|python_tag|>print(1)", "<|python_tag|>print(1)", []),
        ('<|python_tag|> {"a": 1}', '<|python_tag|> {"a": 1}', []),
    ],
)
def test_a_tag_before_a_call_that_needs_none(text: str, content: str, names: list[str]) -> None:
    code = "{{ '<|python_tag|>' + c.code if c.code }}"
    module = parser(CONTENT + each_call(code + JSON_CALL))
    assert "<|python_tag|>" in module.PRESERVED_TOKENS
    for pieces in every_split(text):
        reader = module.Parser()
        deltas = [delta for piece in pieces for delta in reader.feed(piece)] + reader.finish()
        message = module.merge(deltas)
        assert (message.content, [call.name for call in message.tool_calls]) == (content, names)


def test_names_of_arguments_are_unescaped_and_twice_is_twice() -> None:
    module = parser(
        CONTENT
        + each_call(
            "<c={{ c.name }}>{%- for k, v in c.arguments | items -%}"
            """<a k="{{ k | replace('&', '&amp;') | replace('"', '&q;') }}">{{ v }}</a>"""
            "{%- endfor -%}</c>"
        )
    )
    [call] = module.parse('<c=f><a k="x&amp;q;y&q;">&amp;</a></c>').tool_calls
    assert json.loads(call.arguments) == {'x&q;y"': "&amp;"}
    twice = '<c=f><a k="x&amp;">1</a><a k="x&">2</a></c>'
    assert module.parse(twice).content == twice
