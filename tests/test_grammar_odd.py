"""Grammars of small formats that no vendor ships, where history is unlike what a model writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engines import engines
from literal_formats import CHAT_TEMPLATES, calls
from literal_formats import chat as python_chat
from odd_templates import CONTENT, JSON_CALL, REASONING, TEMPLATES, chat
from odd_templates import calls as json_calls

from autoparser_gen import verify
from autoparser_gen.analysis import Analysis, analyze
from autoparser_gen.chat_template import ChatTemplate, Renderer
from autoparser_gen.emit import python
from autoparser_gen.grammar.lower import lower
from autoparser_gen.probe import Prober
from autoparser_gen.targets import Asked

CALL = '{"name": "f", "arguments": {}}'
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "count": {"type": "integer"},
                    "unit": {"enum": ["metre", "foot"]},
                    "list": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                },
                "required": ["text"],
            },
        },
    }
]


def prober_of(text: str) -> Prober:
    return Prober(Renderer(ChatTemplate("odd.jinja", text)))


def refusals(analysis: Analysis, texts: list[str], **asked: Any) -> list[tuple[str, str]]:
    """The texts that an engine does not accept, each with the engine."""
    found = engines(lower(analysis, **asked), analysis)
    return [(name, text) for name, accepts in found.items() for text in texts if not accepts(text)]


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_as_much_whitespace_before_calls_as_the_chat_template_writes(choice: str) -> None:
    space = " " * 12
    printed = json_calls("<c>" + JSON_CALL + "</c>", before=f"{{{{ '{space}' }}}}")
    analysis = analyze(prober_of(chat(CONTENT + printed)))
    assert analysis.joints["prompt_to_call"] == f"{space}<c>"
    assert not refusals(analysis, [f"{space}<c>{CALL}</c>"], tool_choice=choice)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("a wrapper of content beside calls", f"<c>{CALL}</c>"),
        ("a wrapper of content beside bare calls", CALL),
    ],
)
def test_required_calls_behind_the_empty_markers_of_content(name: str, call: str) -> None:
    analysis = analyze(prober_of(TEMPLATES[name]))
    assert analysis.joints["prompt_to_call"].startswith("<say></say>")
    assert not refusals(analysis, [f"<say></say>{call}", call], tool_choice="required")
    prose = f"<say>So</say>{call}"
    assert len(refusals(analysis, [prose], tool_choice="required")) == len(engines(lower(analysis)))


def test_a_call_in_the_line_of_content_is_not_held_to_schemas_and_this_is_said() -> None:
    analysis = analyze(prober_of(TEMPLATES["a wrapper of content beside bare calls"]))
    assert not lower(analysis).warnings
    assert not lower(analysis, tools=TOOLS, tool_choice="required").warnings
    assert lower(analysis, tools=TOOLS).warnings == (
        "a call behind '<say>' is content for the grammar, which binds it to no schema.",
    )


LOSING_TYPES = {
    "no quotes": CHAT_TEMPLATES["python unquoted"],
    "quotes around everything": python_chat(calls("", "", ", ", '"{{ v }}"', "[|]")),
}


@pytest.mark.parametrize("name", LOSING_TYPES)
def test_calls_of_tools_have_the_types_that_history_loses(name: str) -> None:
    prober = prober_of(LOSING_TYPES[name])
    analysis = analyze(prober)
    asked = Asked(tools=TOOLS, tool_choice="required")
    grammar = lower(analysis, tools=TOOLS, tool_choice="required")
    module = python.emit(analysis, [])
    assert verify.verify_examples(prober, analysis, module, grammar, asked) == (
        "a call of 'f' with text",
        "a call of 'f' with text, count, unit, list",
    )
    typed = '[f(text="a b", count=2, unit="foot", list=["c"])]'
    assert not refusals(analysis, [typed], tools=TOOLS)
    (call,) = verify.import_text(module).parse(typed, tools=TOOLS).tool_calls
    assert json.loads(call.arguments) == {"text": "a b", "count": 2, "unit": "foot", "list": ["c"]}
    assert refusals(analysis, ['[f(text="a", count="2")]'], tools=TOOLS, tool_choice="required")


@pytest.mark.parametrize("name", LOSING_TYPES)
def test_engines_agree_on_whitespace_beside_text_without_escapes(name: str) -> None:
    """A parser finds the end of such a text by what stands behind any whitespace."""
    analysis = analyze(prober_of(LOSING_TYPES[name]))
    texts = ['[f(text="a",  count=2)]', '[f(count=2\t,\n\n\ntext="a")]']
    assert not refusals(analysis, texts, tools=TOOLS)


def test_history_may_have_other_whitespace_in_front_of_what_the_prompt_opens() -> None:
    printed = "~" + REASONING + CONTENT + json_calls("<c>" + JSON_CALL + "</c>")
    prober = prober_of(chat(printed, prompt="<r>~"))
    analysis = analyze(prober)
    turn = prober.turn(None, "So.", [("f", {})])
    prompt = analysis.generation_prompts.default
    assert turn is not None
    assert turn.after(prompt) is None
    text = verify.grammar_text(turn, analysis, prompt)
    assert text == f"So.\n</r>\n<c>{CALL}</c>"
    assert not refusals(analysis, [text], tool_choice="required")
