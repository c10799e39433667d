"""The printed grammars: hostile markers, forms, headers, stable order, special tokens, time."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import formats
import lark
import pytest
from engines import HAVE_GUIDANCE, INSTALL, engines
from parsers import SOURCES

from autoparser_gen import pipeline, verify
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit import gbnf
from autoparser_gen.emit import lark as lark_printer
from autoparser_gen.grammar.lower import lower
from autoparser_gen.request import Options

HOSTILE = {
    "quotes": "<\"'`>",
    "backslashes": '<\\n\\\\">',
    "line breaks": "<a\nroot ::= x\n//b>",
    "comment signs": "<//#*/>",
    "brackets": "[^]-[(){}|?*+.$/]",
    "control characters": "<\x01\x1f\x7f>",
    "line separators": "<\u2028\u2029\x85>",
    "not in the first plane": "<\U0001f600>",
    "other scripts": "<｜tool▁call｜>",
}


def with_marker(marker: str) -> Analysis:
    analysis = formats.JSON_IN_TAGS
    format_ = replace(analysis.tools.format, per_call_start=marker)
    return replace(
        analysis,
        tools=replace(analysis.tools, format=format_),
        preserved_tokens=(marker,),
    )


def tool(number: int, properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A tool with such a number in its name; `more` are further keywords of its schema."""
    schema = {"type": "object", "properties": properties, **more}
    return {"type": "function", "function": {"name": f"tool_{number}", "parameters": schema}}


@pytest.mark.parametrize("name", HOSTILE)
def test_markers_cannot_break_out(name: str) -> None:
    marker = HOSTILE[name]
    analysis = with_marker(marker)
    call = marker + '{"name": "f", "arguments": {}}</tool_call>'
    for engine, accepts in engines(lower(analysis), analysis).items():
        assert accepts(call), engine
        assert accepts("text " + marker[:2]) == ("\n" not in marker), engine
        assert accepts("text " + call), engine
        assert not accepts(marker), engine
        assert not accepts(marker + "x"), engine


def test_lone_surrogates_are_printed_as_escapes() -> None:
    analysis = with_marker("<\ud800>")
    grammar = lower(analysis)
    for text in (
        lark_printer.emit(analysis, grammar, []),
        lark_printer.emit(analysis, grammar, [], portable=True),
        gbnf.emit(analysis, grammar, []),
    ):
        assert text.encode()
        assert "\\ud800" in text.lower()


@pytest.mark.parametrize("name", formats.FORMATS)
def test_lines_are_what_they_seem(name: str) -> None:
    analysis = formats.FORMATS[name]
    grammar = lower(analysis)
    for text in (
        lark_printer.emit(analysis, grammar, ["first", "second"]),
        gbnf.emit(analysis, grammar, ["first", "second"]),
    ):
        assert text.splitlines() == text.removesuffix("\n").split("\n")
        assert all(line == line.rstrip() for line in text.splitlines())
        assert "first" in text.splitlines()[0]
        assert "second" in text.splitlines()[1]


@pytest.mark.parametrize("name", formats.FORMATS)
def test_the_same_twice(name: str) -> None:
    analysis = formats.FORMATS[name]
    assert str(lower(analysis)) == str(lower(analysis))
    assert gbnf.emit(analysis, lower(analysis), []) == gbnf.emit(analysis, lower(analysis), [])


@pytest.mark.parametrize("name", formats.FORMATS)
def test_the_portable_form_has_no_look_around_and_no_priorities(name: str) -> None:
    analysis = formats.FORMATS[name]
    text = lark_printer.emit(analysis, lower(analysis), [], portable=True)
    assert "(?!" not in text
    assert "(?=" not in text
    assert "\\Z" not in text
    assert all("." not in line.split(":")[0] for line in text.splitlines() if line)


@pytest.mark.parametrize("name", formats.FORMATS)
def test_the_portable_form_holds_no_tokens_that_only_others_hold(name: str) -> None:
    analysis = formats.FORMATS[name]
    text = lark_printer.emit(analysis, lower(analysis), [], portable=True)
    rules, _, tokens = text.partition("\n\n")
    names = [line.split(":")[0] for line in tokens.splitlines()]
    assert set(names) <= set(
        re.findall(r"\b[A-Z][A-Z0-9_]*\b", re.sub(r'"(?:[^"\\]|\\.)*"', "", rules))
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_lark_tries_text_with_its_marker_first(name: str) -> None:
    """It sorts tokens of any length by that of their regular expressions, as it has read them."""
    analysis = with_marker(HOSTILE[name])
    text = lark_printer.emit(analysis, lower(analysis), [], portable=True)
    terminals = lark.Lark(text, parser="lalr").terminals
    lengths = {terminal.name: len(terminal.pattern.value) for terminal in terminals}
    assert lengths["CONTENT_TO_TOOL_CALL_OPEN"] > lengths["CONTENT"]


def test_only_tokens_that_stand_where_text_does_are_made_longer_than_it() -> None:
    analysis = formats.PYTHON_LIST
    text = lark_printer.emit(analysis, lower(analysis), [], portable=True)
    padded = [line.split(":")[0] for line in text.splitlines() if "(?:){0" in line]
    assert padded == ["CONTENT_TO_TOOL_CALLS_OPEN"]


def test_a_changed_marker_changes_few_lines() -> None:
    one = with_marker("<tool_call>")
    other = with_marker("<function_call>")
    before = lark_printer.emit(one, lower(one), []).splitlines()
    after = lark_printer.emit(other, lower(other), []).splitlines()
    assert len(before) == len(after)
    changed = [line for line, new in zip(before, after, strict=True) if line != new]
    assert [line.split(":")[0] for line in changed] == ["CONTENT", "TOOL_CALL_OPEN"]


def test_gbnf_names_triggers_and_preserved_tokens() -> None:
    analysis = formats.JSON_IN_TAGS
    text = gbnf.emit(analysis, lower(analysis, lazy=True), [])
    assert '{"type": "word", "value": "<tool_call>"}' in text
    assert '"</tool_call>"' in text.split("root")[0]


def test_gbnf_has_the_automata_last() -> None:
    analysis = formats.JSON_IN_TAGS
    text = gbnf.emit(analysis, lower(analysis), [])
    rules, _, automata = text.partition("# Text until a marker")
    assert "root ::= " in rules
    assert "content-s1 ::= " in automata
    assert "content-s1 ::= " not in rules


@pytest.mark.parametrize("name", formats.FORMATS)
def test_lark_loads_in_time(name: str) -> None:
    analysis = formats.FORMATS[name]
    text = lark_printer.emit(analysis, lower(analysis), [])
    lark.Lark('start: "a"', parser="lalr")  # lark's own grammar is loaded once
    times = []
    for _ in range(3):
        begin = time.process_time()
        lark.Lark(text, parser="lalr")
        times.append(time.process_time() - begin)
    assert min(times) < 0.1


@pytest.mark.parametrize("name", formats.FORMATS)
def test_lark_has_few_alternatives_for_a_tool(name: str) -> None:
    """It writes out what is optional, and what has alternatives in a rule: so loading takes time."""
    tools = [
        tool(
            n,
            {f"key_{n}": {"type": "string"}, "n": {"type": "integer"}},
            required=[f"key_{n}"],
            additionalProperties=False,
        )
        for n in range(4)
    ]
    analysis = formats.FORMATS[name]
    few, many = (
        len(
            lark.Lark(
                lark_printer.emit(analysis, lower(analysis, tools=some), []), parser="lalr"
            ).rules
        )
        for some in (tools[:2], tools)
    )
    assert many - few <= 2 * 7


def test_the_portable_form_grows_with_the_number_of_tools() -> None:
    """How a text may end is written once, and not for each of the tools that it stands in."""
    properties = {"text": {"type": "string"}, "count": {"type": "integer"}}
    tools = [tool(n, properties, required=["text"]) for n in range(12)]
    analysis = formats.PYTHON_LIST
    few, many = (
        lark_printer.emit(analysis, lower(analysis, tools=some), [], portable=True)
        for some in (tools[:4], tools)
    )
    assert len(many) < 3 * len(few)


def test_the_portable_form_is_linear_in_tools_with_arguments_of_their_own() -> None:
    """What follows an argument's text is its tool's further arguments, or a call of any tool."""
    few, many = (
        [tool(n, {f"{key}_{n}": {"type": "string"} for key in "ab"}) for n in range(count)]
        for count in (10, 40)
    )
    analysis = formats.PYTHON_LIST
    texts = [
        lark_printer.emit(analysis, lower(analysis, tools=tools), [], portable=True)
        for tools in (few, many)
    ]
    for text, tools in zip(texts, (few, many), strict=True):
        choices = [line for line in text.splitlines() if line.count("ARGUMENT_TEXT_TO_TOOL") > 1]
        assert len(choices) == 1
        assert choices[0].count("ARGUMENT_TEXT_TO_TOOL") == len(tools)
    assert len(texts[1]) < 4.2 * len(texts[0])


def test_the_portable_form_has_one_choice_of_calls() -> None:
    """The first call, behind content, and those behind it go on alike."""
    tools = [tool(n, {"text": {"type": "string"}}) for n in range(3)]
    for analysis, first in (
        (formats.RAW_VALUES, "tool_call: TOOL_CALL_OPEN after_tool_call_open"),
        (formats.PYTHON_LIST, "after_tool_calls_open: LBRACK call_and_rest"),
    ):
        text = lark_printer.emit(analysis, lower(analysis, tools=tools), [], portable=True)
        lines = text.splitlines()
        assert first in lines
        assert len([line for line in lines if '"tool_2"' in line]) == 1


def test_what_tools_have_in_common_is_written_once() -> None:
    """A rule is named after what it is; a name such as that of the first rule does not matter."""
    tools = [
        tool(n, {"start": {"type": "integer"}, f"key_{n}": {"type": "string"}}, required=["start"])
        for n in range(3)
    ]
    for analysis in (formats.JSON_IN_TAGS, formats.RAW_VALUES):
        text = lark_printer.emit(analysis, lower(analysis, tools=tools), [])
        rules = [line.split(":")[0] for line in text.partition("\n\n")[0].splitlines()]
        assert rules.count("start") == rules.count("shared_start") == 1
        assert not [rule for rule in rules if "rest" in rule]
        assert len([rule for rule in rules if "tool_2" in rule]) <= 3  # call, arguments, key
        lark.Lark(text, parser="lalr")
    text = lark_printer.emit(formats.JSON_ARRAY, lower(formats.JSON_ARRAY, tools=tools), [])
    assert text.count("id_member COMMA") == 1


@pytest.mark.skipif(not HAVE_GUIDANCE, reason=f"llguidance is not installed; {INSTALL}")
def test_special_tokens_stand_for_themselves() -> None:
    import llguidance

    analysis = with_marker("<|tool|>")
    format_ = replace(analysis.tools.format, per_call_end="<|/tool|>")
    analysis = replace(
        analysis,
        tools=replace(analysis.tools, format=format_),
        preserved_tokens=("<|tool|>", "<|/tool|>"),
    )
    text = lark_printer.emit(analysis, lower(analysis), [], special_tokens=True)
    grammar = llguidance.LLMatcher.grammar_from_lark(text)
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar, log_level=0)
    opens, closes = 256, 257  # in llguidance's tokenizer of bytes
    call = [opens, *b'{"name": "f", "arguments": {}}', closes]

    def accepts(tokens: list[int]) -> bool:
        copy = matcher.deep_copy()
        return bool(copy.try_consume_tokens(tokens) == len(tokens) and copy.is_accepting())

    assert accepts(call)
    assert accepts([*b"It rains.", *call, *call])
    assert accepts([*b"It rains."])
    assert not accepts([*b'<|tool|>{"name": "f", "arguments": {}}<|/tool|>'])


# Texts that begin like a token of another one that the schema permits, if it is cut into tokens.
BEGUN_ALIKE = (
    ({"type": "string", "format": "date"}, ("2020-01-01", "2024-02-29")),
    ({"type": "string", "format": "date-time"}, ("2024-05-01T10:00:00Z",)),
    ({"type": "string", "pattern": r"^(\d+|30x)$"}, ("301", "30x")),
    ({"type": "string", "pattern": "^(main|[a-z]+/[a-z]+)$"}, ("main", "mainly/x")),
    ({"anyOf": [{"type": "string", "pattern": "^(a|)$"}, {"type": "integer"}]}, ("a", "", 3)),
)


@pytest.mark.skipif(not HAVE_GUIDANCE, reason=f"llguidance is not installed; {INSTALL}")
@pytest.mark.parametrize(("schema", "values"), BEGUN_ALIKE)
@pytest.mark.parametrize("stem", ["glm_4_6", "gemma_4", "qwen3_coder", "kimi_k3", "muse_glimmer"])
def test_special_tokens_beside_a_raw_value(
    stem: str, schema: Mapping[str, Any], values: tuple[Any, ...]
) -> None:
    """Next to a special token a value is one token: a lexer does not go back in it."""
    from engines import guidance

    parameters = {"type": "object", "properties": {"v": schema}, "required": ["v"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    found = pipeline.find_format(SOURCES[stem], Options())
    analysis, prompts = found.analysis, found.analysis.generation_prompts
    by_option = {None: prompts.default, True: prompts.thinking, False: prompts.no_thinking}
    turns = [found.prober.turn(None, None, [("f", {"v": value})]) for value in values]

    def is_other(option: bool | None) -> bool:
        """Whether a call in history does not continue a prompt."""
        return not (turns[0] and turns[0].after(by_option[option]) is not None)

    thinking = min(by_option, key=is_other)
    grammar = lower(analysis, tools=[tool], tool_choice="required", thinking=thinking)
    special = sorted(lark_printer.special_tokens_of(analysis, grammar))
    printed = lark_printer.emit(analysis, grammar, [], special_tokens=True)
    engine = guidance.Grammar(printed, special)
    for value, turn in zip(values, turns, strict=True):
        assert turn
        text = verify.grammar_text(turn, analysis, by_option[thinking])
        assert text
        assert engine.accepts(text), value


@pytest.mark.parametrize("name", ["JSON_IN_TAGS", "RAW_VALUES"])
def test_an_argument_less_changes_only_lines_that_name_it(name: str) -> None:
    """Of many optional arguments, in both kinds of files: no rule is counted."""
    analysis = getattr(formats, name)
    keys = [*"abcdefgh", "gone", *"ijkl"]

    def lines(keys: list[str], emit: Any) -> set[str]:
        schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}}
        tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
        return set(emit(analysis, lower(analysis, tools=[tool]), []).splitlines())

    for emit in (gbnf.emit, lark_printer.emit):
        before = lines(keys, emit)
        after = lines([key for key in keys if key != "gone"], emit)
        assert [line for line in before - after if "gone" not in line] == []
        whole, *rest = sorted(after - before, key=len, reverse=True)
        assert len(rest) <= 1, (whole, rest)
