"""Constrained raw values that hold characters which a marker begins with: permitted, and read back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from engines import engines
from parsers import SOURCES, parser_of

from autoparser_gen import pipeline, verify
from autoparser_gen.emit import gbnf
from autoparser_gen.grammar.ir import Builder, CharClass, Rep, replaced
from autoparser_gen.grammar.lower import lower
from autoparser_gen.grammar.matching import Matcher
from autoparser_gen.grammar.unmarked import unmarked
from autoparser_gen.request import Options

FORMATS = ("qwen3_coder", "glm_4_6", "deepseek_v3_2", "minicpm5", "gemma_4")
TITLE = {"type": "string", "maxLength": 256}
OR_NULL = {"anyOf": [{"type": "string", "maxLength": 60}, {"type": "null"}]}
CASES: list[tuple[dict[str, Any], list[Any]]] = [
    (TITLE, ["Crash if a < b", "<b>x</b> <i> </i> << 3", "a]<b", "<b>x</b> " * 15, "x" * 256]),
    ({"type": "string", "maxLength": 4}, ["a<b", "<b>", "a < ", "a]"]),
    ({"type": "string", "minLength": 1}, ["<", "<i>a</i> and <br> <<b"]),
    ({"type": "string", "minLength": 9}, ["Crash if a < b"]),
    ({"type": "string", "maxLength": 2000}, ["Crash if a < b", "<" + "x" * 999]),
    ({"type": "string", "pattern": "^https?://.+$"}, ["http://a.b/<x>?a[1]=2"]),
    (OR_NULL, ["Crash if a < b", None]),
]
TOO_LONG = ["x" * 257, "a <" + "x" * 254, "<b>x</b> " * 29]


def tools_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    parameters = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return [{"type": "function", "function": {"name": "f", "parameters": parameters}}]


def text_of(found: pipeline.Format, value: Any, prompt: str | None = None) -> str:
    turn = found.prober.turn(None, None, [("f", {"a": value})])
    assert turn is not None
    prompt = prompt or found.analysis.generation_prompts.default
    text = verify.grammar_text(turn, found.analysis, prompt)
    assert text is not None
    return text


@pytest.mark.parametrize("stem", FORMATS)
def test_texts_that_hold_what_a_marker_begins_with(stem: str) -> None:
    found = pipeline.find_format(SOURCES[stem], Options())
    for schema, values in CASES:
        tools = tools_of(schema)
        grammar = lower(found.analysis, tools=tools, tool_choice="required")
        assert not grammar.warnings
        assert len(gbnf.emit(found.analysis, grammar, [])) < 16_000
        verdicts = engines(grammar, found.analysis)
        prompt = found.analysis.generation_prompts.default
        for value in values:
            text = text_of(found, value)
            assert [name for name, accepts in verdicts.items() if not accepts(text)] == [], value
            message = parser_of(stem).parse(text, tools=tools, strict=True, prompt=prompt)
            assert json.loads(message.tool_calls[0].arguments) == {"a": value}
        for value in TOO_LONG if schema == TITLE else ():
            text = text_of(found, value)
            assert not any(accepts(text) for accepts in verdicts.values()), value


def test_text_in_nested_tags() -> None:
    found = pipeline.find_format(SOURCES["minimax_m3"], Options())
    analysis = found.analysis
    prompt = analysis.generation_prompts.no_thinking
    tools = tools_of(TITLE)
    grammar = lower(analysis, tools=tools, tool_choice="required", thinking=False)
    verdicts = engines(grammar, analysis)
    for value, permitted in (("see [1]", True), ("a]<]b", True), ("x]" * 130, False)):
        text = text_of(found, value, prompt)
        assert {name: accepts(text) for name, accepts in verdicts.items()} == dict.fromkeys(
            verdicts, permitted
        )
        message = parser_of("minimax_m3").parse(text, tools=tools, strict=True, prompt=prompt)
        assert json.loads(message.tool_calls[0].arguments) == {"a": value}


def test_a_pattern_that_cannot_be_told_from_a_marker_is_named() -> None:
    found = pipeline.find_format(SOURCES["qwen3_coder"], Options())
    for pattern in ("^<[^>]*>$", "^(a|[^b])*$", "^[^a]b$"):
        tools = tools_of({"type": "string", "pattern": pattern})
        [warning] = lower(found.analysis, tools=tools, tool_choice="required").warnings
        assert "'<' in its texts is not permitted everywhere" in warning


@pytest.mark.parametrize(("low", "high"), [(0, 3), (2, 4), (3, None), (0, 13), (5, 20), (9, 19)])
def test_limits_hold_whatever_a_text_is_made_of(low: int, high: int | None) -> None:
    """Texts of an alphabet that makes every beginning of a marker are counted, and hold none."""
    stops, closer = (("</a>",), ("<b>",)), "</a>"
    builder = Builder()
    chars = CharClass((("a", "b"), ("<", "<"), ("/", "/"), (">", ">"), ("x", "x")))
    found = unmarked(builder, "a", Rep(chars, low, high), stops, closer)
    assert found is not None
    matcher = Matcher(replaced(found, {name: rule.body for name, rule in builder.rules.items()}))
    parts = ("x", "<", "</", "<x", "</x", "</a>", "<b>", "ab", "xxxxx")
    texts = {a + b + c + d for a in parts for b in parts for c in parts for d in parts}
    for text in texts:
        permitted = low <= len(text) and (high is None or len(text) <= high)
        is_whole = not re.search("</a>|<b>", text) and not (text + closer)[:-1].count(closer)
        if matcher.matches(text):
            assert permitted
            assert is_whole
        else:
            assert not (permitted and "<" not in text)


# Those whose lists are JSON, or Python, in which a parser looks for markers.
RAW = ("qwen3_coder", "deepseek_v3_2", "minicpm5")
HARD = 'a < b, "<i>" \\ <\n\u00e9<'


@pytest.mark.parametrize("stem", RAW)
def test_strings_in_lists_and_objects(stem: str) -> None:
    """Escapes in them are no part of a marker, and count as the character that they stand for."""
    found = pipeline.find_format(SOURCES[stem], Options())
    prompt = found.analysis.generation_prompts.default
    closer = found.analysis.tools.arguments.value_suffix.strip()
    for item in ({"minLength": 1}, {"maxLength": 60}, {"pattern": "^[a-z]?[^|]+$"}):
        inner = {"type": "string", **item}
        schemas = {"type": "array", "items": inner}, {"type": "object", "properties": {"k": inner}}
        for schema, value in zip(schemas, ([HARD, "<b>"], {"k": HARD}), strict=True):
            tools = tools_of(schema)
            grammar = lower(found.analysis, tools=tools, tool_choice="required")
            assert not grammar.warnings
            assert len(gbnf.emit(found.analysis, grammar, [])) < 16_000
            text = text_of(found, value)
            for engine, accepts in engines(grammar, found.analysis).items():
                assert accepts(text), (engine, item)
                assert not accepts(text.replace("a <", f"a {closer}")), engine
                if "maxLength" in item:
                    assert not accepts(text.replace("a <", "a <" + "x" * 60)), engine
            message = parser_of(stem).parse(text, tools=tools, strict=True, prompt=prompt)
            assert json.loads(message.tool_calls[0].arguments) == {"a": value}


def test_strings_in_content_beside_calls() -> None:
    found = pipeline.find_format(SOURCES["qwen3"], Options())
    schema = {"type": "object", "properties": {"k": {"type": "string", "maxLength": 60}}}
    grammar = lower(found.analysis, tools=tools_of(TITLE), response_schema=schema)
    for engine, accepts in engines(grammar, found.analysis).items():
        assert accepts(json.dumps({"k": HARD}, ensure_ascii=False)), engine
        assert accepts('{"k": "\\u00e9"}'), engine
        assert not accepts('{"k": "a <tool_call> b"}'), engine


def test_a_text_between_quotes_that_nothing_escapes_holds_none() -> None:
    """A warning says so: an apostrophe is not refused in silence."""
    found = pipeline.find_format(SOURCES["lfm2_5"], Options())
    grammar = lower(found.analysis, tools=tools_of(TITLE), tool_choice="required")
    [warning] = grammar.warnings
    assert '"\'" in its texts is not permitted everywhere' in warning
    for engine, accepts in engines(grammar, found.analysis).items():
        assert accepts(text_of(found, "what is up")), engine
        assert not accepts(text_of(found, "what's up")), engine
    for schema in ({"type": "string"}, {"type": "string", "pattern": "^[a-z]{2}$"}):
        tools = tools_of(schema)
        assert not lower(found.analysis, tools=tools, tool_choice="required").warnings
