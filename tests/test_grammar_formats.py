"""The grammar of every kind of format: what it accepts and refuses, in every installed engine."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import formats
import pytest
from engines import engines, with_lark
from parsers import SOURCES, parser_from

from autoparser_gen import pipeline, verify
from autoparser_gen.analysis.as_json import triggers
from autoparser_gen.analysis.model import (
    Analysis,
    Function,
    Headers,
    LiteralSyntax,
    Reasoning,
    ReasoningMode,
)
from autoparser_gen.emit import lark
from autoparser_gen.errors import GrammarError
from autoparser_gen.grammar.lower import lower
from autoparser_gen.probe.needles import Call
from autoparser_gen.request import Options

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
PING = {"type": "function", "function": {"name": "ping"}}
TOOLS = [WEATHER, PING]

# For each format: a call of get_weather with days 2, one of ping without arguments, two calls, and
# what must be refused whenever tools are given.
CALLS: dict[str, tuple[str, str, str, list[str]]] = {
    "json in tags": (
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "days": 2}}\n</tool_call>',
        '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
        '<tool_call>{"name":"ping","arguments":{}}</tool_call>\n'
        '<tool_call>{"name":"get_weather","arguments":{"days":1,"city":"</tool_call>"}}</tool_call>',
        [
            '<tool_call>\n{"name": "pin", "arguments": {}}\n</tool_call>',
            '<tool_call>\n{"name": "get_weather", "arguments": {"days": 2}}\n</tool_call>',
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": 2}}\n</tool_call>',
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "R", "city": "S"}}\n</tool_call>',
            '<tool_call>\n{"name": "ping", "arguments": {"x": 1}}\n</tool_call>',
            '<tool_call>\n{"name": "ping", "arguments": {}}',
        ],
    ),
    "json array": (
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome", "days": 2}, "id": "a1"}]',
        '[TOOL_CALLS] [{"name": "ping", "arguments": {}}]',
        '[TOOL_CALLS][{"name": "ping", "arguments": {}, "id": "a"},'
        ' {"id": "b", "name": "ping", "arguments": {}}]',
        ['[TOOL_CALLS][{"name": "pong", "arguments": {}}]', "[TOOL_CALLS][]"],
    ),
    "wrapped content": (
        '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters":'
        ' {"city": "Rome", "days": 2}}\n]<|END_ACTION|>',
        '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "ping", "parameters": {}}\n]'
        "<|END_ACTION|>",
        '<|START_ACTION|>[{"tool_name": "ping", "parameters": {}},\n    {"tool_name": "ping",'
        ' "parameters": {}}]<|END_ACTION|>',
        ['<|START_ACTION|>[{"tool_name": "ping", "parameters": {}}]'],
    ),
    "bare json": (
        '{"name": "get_weather", "parameters": {"city": "Rome", "days": 2}}',
        '{"name": "ping", "parameters": {}}',
        "",
        ['{"name": "pong", "parameters": {}}', 'Look:\n{"name": "ping", "parameters": {}}'],
    ),
    "name as key": (
        '<|tools_prefix|>[{"get_weather": {"city": "Rome", "days": 2}}]<|tools_suffix|>',
        '<|tools_prefix|>[{"ping": {}}]<|tools_suffix|>',
        '<|tools_prefix|>[{"ping": {}}, {"ping": {}}]<|tools_suffix|>',
        ['<|tools_prefix|>[{"pong": {}}]<|tools_suffix|>'],
    ),
    "json in a string": (
        'functools[{"name": "get_weather", "arguments": "{\\"city\\": \\"Rome \\\\\\"x\\\\\\"\\",'
        ' \\"days\\": 2}"}]',
        'functools[{"name": "ping", "arguments": "{}"}]',
        'functools[{"name": "ping", "arguments": "{}"}, {"name": "ping", "arguments": "{}"}]',
        [
            'functools[{"name": "get_weather", "arguments": "{\\"days\\": 2}"}]',
            'functools[{"name": "get_weather", "arguments": "{"city": "Rome"}"}]',
        ],
    ),
    "whole object": (
        '<tool_call>\n[\n  {\n    "type": "function",\n    "function": {\n      "name": "get_weather",\n'
        '      "arguments": {\n        "city": "Rome",\n        "days": 2\n      }\n    },\n'
        '    "id": "a"\n  }\n]\n</tool_call>',
        '<tool_call>[{"function": {"name": "ping", "arguments": {}}}]</tool_call>',
        '<tool_call>[{"function": {"name": "ping", "arguments": {}}},'
        ' {"function": {"name": "ping", "arguments": {}}}]</tool_call>',
        ['<tool_call>[{"name": "ping", "arguments": {}}]</tool_call>'],
    ),
    "tag with json": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        '{"city": "Rome", "days": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜>\n<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜>\n"
        "<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜>\n<｜tool▁calls▁end｜>",
        [
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>pong<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
            "<｜tool▁calls▁end｜>",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
        ],
    ),
    "id carries name": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>{"city": "Rome", "days": 2}<|tool_call_end|>'
        "<|tool_calls_section_end|>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:12"
        "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        "",
        [
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:x"
            "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        ],
    ),
    "id between": (
        '[TOOL_CALLS]get_weather[CALL_ID]abcDEF123[ARGS]{"city": "Rome", "days": 2}',
        "[TOOL_CALLS]ping[CALL_ID]abcDEF123[ARGS]{}",
        "[TOOL_CALLS]ping[CALL_ID]abcDEF123[ARGS]{}[TOOL_CALLS]ping[CALL_ID]abcDEF124[ARGS]{}",
        ["[TOOL_CALLS]ping[CALL_ID]abc[ARGS]{}", "[TOOL_CALLS]pong[CALL_ID]abcDEF123[ARGS]{}"],
    ),
    "raw values": (
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome </parameter> x\n</parameter>\n"
        "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>\n<function=ping>\n</function>\n</tool_call>",
        "<tool_call><function=ping></function></tool_call>\n\n<tool_call>\n<function=get_weather>\n"
        "<parameter=days>2</parameter><parameter=city></parameter></function></tool_call>",
        [
            "<tool_call>\n<function=pin>\n</function>\n</tool_call>",
            "<tool_call>\n<function=get_weather>\n<parameter=days>\n2\n</parameter>\n</function>\n"
            "</tool_call>",
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nx\n</parameter>\n"
            "<parameter=days>\ntwo\n</parameter>\n</function>\n</tool_call>",
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nx\n</parameter>\n</function>\n",
        ],
    ),
    "keys and values": (
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value></arg_value> x </tool_call> "
        "y</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
        "<tool_call>ping\n</tool_call>",
        "<tool_call>ping\n</tool_call>\n<tool_call>get_weather\n<arg_key>city</arg_key>\n"
        "<arg_value>R</arg_value>\n</tool_call>",
        [
            "<tool_call>get_weather\n</tool_call>",
            "<tool_call>ping\n",
            # What a parser takes for the end of the call: with the value's closer, and without it.
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value></arg_value> </tool_call> "
            "x</arg_value>\n</tool_call>",
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>R\n</tool_call>\n"
            "<tool_call>x</arg_value>\n</tool_call>",
            # The same of the next argument.
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>R\n<arg_key>days</arg_key>"
            "\n<arg_value>two</arg_value>\n</tool_call>",
        ],
    ),
    "section of tags": (
        '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>\n'
        '<parameter name="days">2</parameter>\n</invoke>\n</minimax:tool_call>',
        '<minimax:tool_call>\n<invoke name="ping">\n</invoke>\n</minimax:tool_call>',
        '<minimax:tool_call>\n<invoke name="ping">\n</invoke>\n<invoke name="ping">\n</invoke>\n'
        "</minimax:tool_call>",
        [
            '<invoke name="ping">\n</invoke>',
            '<minimax:tool_call>\n<invoke name="ping">\n</invoke>',
        ],
    ),
    "types in tags": (
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n'
        '<｜DSML｜parameter name="city" string="true">Rome</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="ping">\n\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
        "",
        [
            '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n'
            '<｜DSML｜parameter name="city" string="false">Rome</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
        ],
    ),
    "nested tags": (
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Rome'
        "]<]minimax[>[</city>]<]minimax[>[<days>2]<]minimax[>[</days>]<]minimax[>[</invoke>\n"
        "]<]minimax[>[</tool_call>",
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
        "]<]minimax[>[</tool_call>",
        "",
        [
            ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call>",
            ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Rome'
            "]<]minimax[>[</days>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        ],
    ),
    "custom quotes": (
        '<|tool_call>call:get_weather{city:<|"|>Rome {"x"}<|"|>,days:2}<tool_call|>',
        "<|tool_call>call:ping{}<tool_call|>",
        "<|tool_call>call:ping{}<tool_call|><|tool_call>call:ping{}<tool_call|>",
        [
            "<|tool_call>call:get_weather{city:Rome}<tool_call|>",
            "<|tool_call>call:get_weather{days:2}<tool_call|>",
        ],
    ),
    "python list": (
        "<|tool_call_start|>[get_weather(city='Rome, 'x' (y', 'z)', days=2)]<|tool_call_end|>",
        "<|tool_call_start|>[ping()]<|tool_call_end|>",
        "<|tool_call_start|>[ping(), get_weather(city='Rome')]<|tool_call_end|>",
        [
            "<|tool_call_start|>[get_weather(days=2)]<|tool_call_end|>",
            "<|tool_call_start|>[pong()]<|tool_call_end|>",
        ],
    ),
    "python bare": (
        "[get_weather(city=Rome, (x) and 'y, z, days=2)]",
        "[ping()]",
        "[ping(), get_weather(city=), ping()]",
        [
            "[get_weather(days=2)]",
            "[get_weather(city=Rome, days=two)]",
            "[get_weather(city=Rome, day=2)]",
            "[pong()]",
        ],
    ),
    "python lines": (
        '<function_calls>get_weather(city="Rome \\"x\\"", days=2)</function_calls>',
        "<function_calls>ping()</function_calls>",
        '<function_calls>ping()\nget_weather(city="Rome")</function_calls>',
        ["<function_calls>get_weather(city=Rome)</function_calls>"],
    ),
    "channels": (
        " to=functions.get_weather<|channel|>commentary json<|message|>"
        '{"city": "Rome", "days": 2}<|call|>',
        "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}",
        "",
        [
            " to=functions.pong<|channel|>commentary json<|message|>{}",
            " to=functions.ping<|channel|>final json<|message|>{}",
        ],
    ),
    "recipients": (
        'get_weather\n{"city": "Rome", "days": 2}',
        "ping\n{}",
        "ping\n{}>>>ping\n{}",
        ["pong\n{}", 'get_weather\n{"days": 2}'],
    ),
}

# Content as each format writes it, where that is more than the text itself.
CONTENT = {
    "wrapped content": "<|START_RESPONSE|>It rains.<|END_RESPONSE|>",
    "channels": "<|channel|>final<|message|>It rains.",
    "recipients": "all\nIt rains.",
    "section of tags": "Let me see.\n</think>\n\nIt rains.",
}


def behind_prompt(name: str, text: str) -> str:
    """Some prompts leave reasoning open, which has to be closed first."""
    return f"So.\n</think>\n\n{text}" if name == "section of tags" else text


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("tools", [None, TOOLS], ids=["any tool", "tools"])
def test_calls_are_accepted(name: str, tools: list[Any] | None) -> None:
    analysis = formats.FORMATS[name]
    verdicts = engines(lower(analysis, tools=tools), analysis)
    *good, _ = CALLS[name]
    texts = [behind_prompt(name, text) for text in good if text]
    texts.append(CONTENT.get(name, "It rains."))
    for engine, accepts in verdicts.items():
        for text in texts:
            assert accepts(text), (engine, text)


@pytest.mark.parametrize("name", CALLS)
def test_what_the_tools_do_not_permit_is_refused(name: str) -> None:
    analysis = formats.FORMATS[name]
    verdicts = engines(lower(analysis, tools=TOOLS, tool_choice="required"), analysis)
    *good, bad = CALLS[name]
    cut = [good[0][:end] for end in (len(good[0]) // 3, len(good[0]) // 2, len(good[0]) - 1)]
    refused = [behind_prompt(name, text) for text in [*bad, *cut]]
    refused.append(CONTENT.get(name, "It rains."))
    for engine, accepts in verdicts.items():
        assert all(accepts(behind_prompt(name, text)) for text in good if text), engine
        for text in refused:
            assert not accepts(text), (engine, text)


@pytest.mark.parametrize("name", CALLS)
def test_no_call_where_none_is_wanted(name: str) -> None:
    analysis = formats.FORMATS[name]
    verdicts = engines(lower(analysis, tools=TOOLS, tool_choice="none"), analysis)
    for engine, accepts in verdicts.items():
        assert accepts(CONTENT.get(name, "It rains.")), engine
        assert not accepts(behind_prompt(name, CALLS[name][0])), engine


@pytest.mark.parametrize("name", [name for name in CALLS if CALLS[name][2]])
def test_one_call_only(name: str) -> None:
    analysis = formats.FORMATS[name]
    verdicts = engines(lower(analysis, tools=TOOLS, parallel=False), analysis)
    first, _, two, _ = CALLS[name]
    for engine, accepts in verdicts.items():
        assert accepts(behind_prompt(name, first)), engine
        assert not accepts(behind_prompt(name, two)), engine


@pytest.mark.parametrize("name", CALLS)
def test_one_tool_only(name: str) -> None:
    analysis = formats.FORMATS[name]
    verdicts = engines(lower(analysis, tools=TOOLS, tool_choice="ping"), analysis)
    weather, ping, _, _ = CALLS[name]
    for engine, accepts in verdicts.items():
        assert accepts(behind_prompt(name, ping)), engine
        assert not accepts(behind_prompt(name, weather)), engine


@pytest.mark.parametrize("name", CALLS)
def test_lazy_grammars_begin_at_the_trigger(name: str) -> None:
    analysis = formats.FORMATS[name]
    verdicts = engines(lower(analysis, tools=TOOLS, lazy=True), analysis)
    for engine, accepts in verdicts.items():
        assert accepts(_from_trigger(analysis, CALLS[name][0])), engine
        assert not accepts("It rains."), engine


def _from_trigger(analysis: Analysis, text: str) -> str:
    """What follows a lazy grammar's trigger, and the trigger, which may end the prompt."""
    whole = analysis.generation_prompts.default + text
    for word in (trigger["value"] for trigger in triggers(analysis)):
        return whole[whole.index(word) :] if word in whole else word + text
    return text


@pytest.mark.parametrize("stem", SOURCES)
def test_every_format_s_lazy_grammar_begins_at_its_trigger(stem: str) -> None:
    found = pipeline.find_format(SOURCES[stem], Options())
    calls: list[Call] = [("f", {"a": "b"}), ("g", {"c": 1})]
    turn = found.prober.turn(None, None, calls) or found.prober.turn(None, None, calls[:1])
    prompts = (found.analysis.generation_prompts.default, "")
    texts = [verify.grammar_text(turn, found.analysis, prompt) for prompt in prompts if turn]
    text = next(filter(None, texts), "")
    if not text or not triggers(found.analysis):
        pytest.skip("the format has no trigger")
    accepts = with_lark(lark.emit(found.analysis, lower(found.analysis, lazy=True), []))
    assert accepts(_from_trigger(found.analysis, text))


@pytest.mark.parametrize("name", CALLS)
def test_response_schema(name: str) -> None:
    analysis = formats.FORMATS[name]
    schema = {"type": "object", "properties": {"sky": {"enum": ["blue"]}}, "required": ["sky"]}
    verdicts = engines(lower(analysis, tools=TOOLS, response_schema=schema), analysis)
    content = CONTENT.get(name, "It rains.")
    for engine, accepts in verdicts.items():
        assert accepts(content.replace("It rains.", '{"sky": "blue"}')), engine
        assert not accepts(content.replace("It rains.", '{"sky": "red"}')), engine
        assert not accepts(content), engine
        assert accepts(behind_prompt(name, CALLS[name][0])), engine


@pytest.mark.parametrize("tag", ["", "<|python_tag|>"])
def test_content_where_calls_have_no_marker(tag: str) -> None:
    analysis = formats.FORMATS["bare json"]
    form = replace(analysis.tools.format, optional_start=tag)
    analysis = replace(analysis, tools=replace(analysis.tools, format=form))
    for tools in (None, TOOLS, []):
        for engine, accepts in engines(lower(analysis, tools=tools), analysis).items():
            for text in ("Hi <b>", "<|python_tag", "<|<|python_<|", " \n\t<|p\n<", "\n", " ", ""):
                assert accepts(text), (engine, text)
                assert not accepts(f"{text}\n {{"), (engine, text)
            for text in ("Hi <|python_tag|>foo", "a\n<|python_tag|>", "<<|python_tag|>{}"):
                assert accepts(text) != bool(tag), (engine, text)
            assert not accepts('{"a": 1}'), engine


def test_members_of_a_whole_object_come_in_any_order() -> None:
    function = '"function": {"name": "ping", "arguments": {}}'
    optional = ('"id": "a1"', '"type": "function"')
    analysis = formats.FORMATS["whole object"]
    for engine, accepts in engines(lower(analysis, tools=TOOLS), analysis).items():
        for others in ((), *((other,) for other in optional), optional):
            for members in itertools.permutations((function, *others)):
                text = f"<tool_call>[{{{', '.join(members)}}}]</tool_call>"
                assert accepts(text), (engine, text)
        assert not accepts(f"<tool_call>[{{{', '.join(optional)}}}]</tool_call>"), engine
        assert not accepts(f"<tool_call>[{{{function}, {function}}}]</tool_call>"), engine


def test_json_content_holds_no_tag_of_calls() -> None:
    analysis = pipeline.find_format(SOURCES["llama_3_1"], Options()).analysis
    grammar = lower(analysis, response_schema={"type": "array"}, tool_choice="none")
    for engine, accepts in engines(grammar, analysis).items():
        assert accepts('["<|python_tag|"]'), engine
        assert not accepts('["<|python_tag|>"]'), engine


def test_reasoning_that_the_prompt_opens_is_not_opened_again() -> None:
    analysis = formats.JSON_IN_TAGS
    text = "Hm.\n</think>\n\nIt rains."
    for thinking, whole in ((True, text), (None, "<think>\n" + text), (False, "It rains.")):
        verdicts = engines(lower(analysis, thinking=thinking), analysis)
        for engine, accepts in verdicts.items():
            assert accepts(whole), engine
            assert accepts("<think>\n" + text) == (thinking is not False), engine
            assert not accepts("<think>\nnever closed"), engine


def test_content_between_reasoning_and_calls() -> None:
    analysis = formats.JSON_IN_TAGS
    call = CALLS["json in tags"][1]
    for engine, accepts in engines(lower(analysis), analysis).items():
        assert accepts(
            f"\n<think>\na <tool_call> b\n</think>\n\nIt rains.\n{call}\n{call}\n"
        ), engine
        assert accepts(""), engine
        assert not accepts(f"It rains.\n{call} It rains."), engine
        assert not accepts("It rains. <think>\nHm.\n</think>"), engine


@pytest.mark.parametrize(
    "value",
    [
        "['\\xa0 \\u2028 \\U0001f600 \\'\\a\\v']",  # as Python prints what does not show
        '["two", \'three\', {"a": "it\'s"}]',  # lists and objects as JSON, strings as Python
        "{'tab': 'a\tb'}",
    ],
)
def test_strings_as_python_and_templates_write_them(value: str) -> None:
    analysis = formats.PYTHON_LIST
    text = f"<|tool_call_start|>[f(a={value})]<|tool_call_end|>"
    for escapes in (False, True):
        literals = LiteralSyntax(quotes=("'",), escapes=escapes, python_words=True)
        arguments = replace(analysis.tools.arguments, literals=literals)
        changed = replace(analysis, tools=replace(analysis.tools, arguments=arguments))
        for engine, accepts in engines(lower(changed), changed).items():
            assert accepts(text), engine
            assert not accepts(text.replace("[f", "[f(")), engine


@pytest.mark.parametrize("in_python", [False, True])
def test_lists_in_markup_as_python_writes_them(in_python: bool) -> None:
    analysis = formats.FORMATS["raw values"]
    arguments = replace(analysis.tools.arguments, python_containers=in_python)
    analysis = replace(analysis, tools=replace(analysis.tools, arguments=arguments))
    values: list[Any] = ["it's\xa0", '"', True, None, {"a": [1]}]
    properties = {
        "sure": {"const": True},
        "items": {"type": "array", "items": {"enum": values}},
        "words": {"type": "array"},
        "short": {"type": "array", "items": {"type": "string", "maxLength": 9}},
    }
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties}}
    grammar = lower(analysis, tools=[{"type": "function", "function": tool}])

    def response(key: str, value: str) -> str:
        call = f"<function=f>\n<parameter={key}>\n{value}\n</parameter>\n</function>"
        return f"<tool_call>\n{call}\n</tool_call>"

    for engine, accepts in engines(grammar, analysis).items():
        for key in ("items", "words"):
            assert accepts(response(key, json.dumps(values, ensure_ascii=False))), engine
            assert accepts(response(key, repr(values))) == in_python, engine
            assert not accepts(response(key, repr(values)[:-1])), engine
        for text in (r"'it\'s'", r'"it\'s"', r"'\x00 \U0001f600'", "{'a': None, \"b\": '<'}"):
            assert accepts(response("words", f"[{text}]")) == in_python, (engine, text)
        # What a parser would take for the value's end stands in no string.
        for quote in "'\"":
            text = f"[{quote}</parameter> </function></tool_call>{quote}]"
            assert not accepts(response("words", text)), engine
        assert accepts(response("short", '["a>"]')), engine
        assert accepts(response("short", '["</"]')), engine
        assert not accepts(response("short", '["</par"]')), engine
        assert not accepts(response("items", "['its']")), engine
        assert accepts(response("sure", "True")), engine
        assert accepts(response("sure", "true")), engine
        assert not accepts(response("sure", "False")), engine


@pytest.mark.parametrize("tools", [None, "any", "text"])
def test_nested_tags_hold_markers_as_text(tools: str | None) -> None:
    def response(*elements: str) -> str:
        around = ["<tool_call>\n", '<invoke name="f">', *elements, "</invoke>\n", "</tool_call>"]
        return "".join("]<]minimax[>[" + tag for tag in around)

    schema = {"type": "object", "properties": {"a": {"type": "string"} if tools == "text" else {}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    analysis = formats.FORMATS["nested tags"]
    verdicts = engines(lower(analysis, tools=[tool] if tools else None), analysis)
    markers = "]<]minimax[>[<invoke> ]<]minimax[>[</{key}> ]<]minimax[>[< ]<]minimax[>[</b> x ]<]"
    texts = ["x", " \n x", " \n", "", "x]", "x " + markers]
    nested = ("<a>", "<item>1", "</item>", "<item>", "<b>x]", "</b>", "</item>", "</a>")
    for engine, accepts in verdicts.items():
        for text in texts:
            assert accepts(response("<a>" + text, "</a>")), (engine, text)
        # Where a string is wanted, tags are part of it, closed or not.
        assert accepts(response(*nested)), engine
        opened = response("<a>", "<b>x", "</a>")
        assert accepts(opened) == (tools == "text"), engine
        for bad in (("<a>x",), ("<a>x", "</a>y"), ("<a>", "<b>x")):
            assert not accepts(response(*bad)), (engine, bad)


def test_nested_tags_of_any_name_end_as_a_parser_reads_them() -> None:
    def response(*elements: str) -> str:
        around = ["<tool_call>\n", '<invoke name="f">', *elements, "</invoke>\n", "</tool_call>"]
        return "".join("]<]minimax[>[" + tag for tag in around)

    analysis = formats.FORMATS["nested tags"]
    one, two = ("<item>1", "</item>"), ("<b>2", "</b>")
    for engine, accepts in engines(lower(analysis), analysis).items():
        for inner in ((), one, two, one + one, two + one, ("<item>", *one, *one, "</item>")):
            assert accepts(response("<a>", *inner, "</a>")), (engine, inner)
        assert accepts(response("<a>1", "</invoke> or ", "</item> or", "</a>")), engine
        assert accepts(response("<item>1", "</invoke> or ", "</b> or", "</item>")), engine
        # A list holds items only; neither an item nor a call ends with another name.
        for inner in (
            one + two,
            ("<item>1", "</b>"),
            ("<item>1", "</invoke>"),
            ("<b>1", "</item>"),
        ):
            assert not accepts(response("<a>", *inner, "</a>")), (engine, inner)
        for last in ("<a>x", "<a>", "<item>x"):
            assert not accepts(response(last, "</invoke>")), (engine, last)


def _nested(value: Any) -> str:
    """A value in nested tags, as the chat template writes it."""
    start = "]<]minimax[>["
    if isinstance(value, dict):
        members = ((key, inner) for key, inner in value.items() if inner is not None)
    elif isinstance(value, list):
        members = (("item", inner) for inner in value)
    else:
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return "".join(f"{start}<{key}>{_nested(inner)}{start}</{key}>" for key, inner in members)


STRING = {"type": "string"}
ITEMS = {"type": "array", "items": STRING}
POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
TREE = {"type": "object", "properties": {"t": {"$ref": "#/properties/v/anyOf/1"}}}
OTHER_TREE = {"type": "object", "properties": {"t": {"$ref": "#/properties/v/anyOf/2"}}}


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "array"}, [[], [["a"]], [[1]], [{"x": True}], [[["a"], {"x": [1]}], "b"]]),
        ({"type": "array", "items": ITEMS}, [[["a"], []]]),
        ({"type": "array", "items": {"type": "object"}}, [[{"x": [1]}, {"y": {"z": ["a"]}}]]),
        ({"type": "object", "properties": {"item": {"type": "object"}}}, [{"item": {"x": [1]}}]),
        ({"anyOf": [STRING, ITEMS]}, ["s", ["a"], [], ""]),
        ({"anyOf": [STRING, POINT]}, ["s", {"x": 1}]),
        ({"anyOf": [STRING, ITEMS, {"type": "object"}]}, ["s", ["a"], {"x": [1]}]),
        ({"anyOf": [STRING, TREE, OTHER_TREE]}, ["s", {"t": {"u": 1}}]),
        ({"type": "array", "items": {"anyOf": [STRING, ITEMS]}}, [["s", ["a"]]]),
        ({"const": {"a": 1}}, [{"a": 1}]),
        ({"enum": [{"a": [1, "b"]}, "x", 3]}, [{"a": [1, "b"]}, "x", 3]),
        ({"anyOf": [STRING, {"const": {"a": 1}}]}, ["s", {"a": 1}]),
        ({"type": "array", "items": {"type": "null"}}, [[None, None]]),
        ({"type": "array", "items": {"anyOf": [{"type": "null"}, POINT]}}, [[None, {"x": 1}]]),
    ],
)
def test_nested_tags_as_the_chat_template_writes_values(
    schema: Mapping[str, Any], values: list[Any]
) -> None:
    parameters = {"type": "object", "properties": {"v": schema}, "required": ["v"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    analysis = formats.FORMATS["nested tags"]
    start = "]<]minimax[>["
    module = parser_from(SOURCES["minimax_m3"])
    for engine, accepts in engines(lower(analysis, tools=[tool]), analysis).items():
        for value in values:
            call = f'{start}<invoke name="f">{_nested({"v": value})}{start}</invoke>'
            text = f"{start}<tool_call>\n{call}\n{start}</tool_call>"
            assert accepts(text), (engine, value)
            [found] = module.parse(text, tools=[tool]).tool_calls
            read = json.loads(found.arguments)["v"]
            assert read == value or (value == [] and read == ""), value  # written alike


def test_text_in_tags_of_one_name_is_one_token_in_all_tools() -> None:
    parameters = {"type": "object", "properties": {"path": STRING}}
    functions = ({"name": f"tool_{number}", "parameters": parameters} for number in range(3))
    tools = [{"type": "function", "function": function} for function in functions]
    grammar = lower(formats.FORMATS["nested tags"], tools=tools)
    assert [rule.name for rule in grammar.rules if "path-text" in rule.name] == [
        "argument-path-text"
    ]


def test_given_values_that_tags_would_change_are_named() -> None:
    parameters = {"type": "object", "properties": {"v": {"enum": [{"a": "1"}, {"a": None}]}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    grammar = lower(formats.FORMATS["nested tags"], tools=[tool])
    assert len(grammar.warnings) == 2
    assert all("as JSON only, not in tags" in warning for warning in grammar.warnings)


def test_reasoning_behind_content_as_history_shows_it() -> None:
    analysis = replace(formats.JSON_IN_TAGS, joints={"content_to_reasoning": "<think>\n"})
    call = CALLS["json in tags"][1]
    for engine, accepts in engines(lower(analysis), analysis).items():
        assert accepts(f"It rains.<think>\nHm.\n</think>\n\n{call}"), engine
        assert accepts(f"<think>\nHm.\n</think>\n\nIt rains.\n{call}"), engine
        assert not accepts("It rains.<think>\nHm."), engine


@pytest.mark.parametrize("between", ["", "\n"])
def test_a_header_that_only_repeats(between: str) -> None:
    analysis = replace(
        formats.JSON_IN_TAGS,
        reasoning=Reasoning(ReasoningMode.TAG_BASED, "/think", "<|end|>"),
        headers=Headers(start="<|start|>assistant", message_end="<|end|>"),
        joints={"reasoning_to_content": f"<|end|>{between}<|start|>assistant"},
    )
    for engine, accepts in engines(lower(analysis), analysis).items():
        assert accepts(f"/think Hm.<|end|>{between}<|start|>assistant\nIt rains."), engine
        assert accepts("/think Hm.<|end|>\n<|start|>assistant\nIt rains.") == bool(between), engine
        assert not accepts("/think Hm.<|end|>It rains."), engine


@pytest.mark.parametrize("name", ["get_weather", "select", "users"])
def test_headers_that_begin_alike(name: str) -> None:
    """A lexer that never goes back reads the headers of reasoning, content and calls side by side."""
    headers = Headers(
        start="<|start|>assistant",
        end="<|message|>",
        message_end="<|eom|>",
        reasoning="self",
        content="user",
        recipient=" to=",
    )
    tools = replace(formats.CHANNELS.tools, function=Function("to=", "<|message|>"))
    analysis = replace(formats.CHANNELS, headers=headers, tools=tools)
    tool = {"type": "function", "function": {"name": name}}
    call = f" to={name}<|message|>{{}}<|call|>"
    for given in (None, [tool]):
        for engine, accepts in engines(lower(analysis, tools=given), analysis).items():
            assert accepts(call), (engine, given)
            assert accepts(f" to=self<|message|>So.<|eom|><|start|>assistant{call}"), engine
            assert accepts(" to=user<|message|>Yes."), engine
            assert not accepts(" to=self<|message|>{}<|call|>"), engine


def test_errors_of_the_request() -> None:
    analysis = formats.JSON_IN_TAGS
    with pytest.raises(
        GrammarError, match="no tool is named 'pong'; the list has: get_weather, ping"
    ):
        lower(analysis, tools=TOOLS, tool_choice="pong")
    with pytest.raises(GrammarError, match="no tool that could be called"):
        lower(analysis, tools=[], tool_choice="required")
    with pytest.raises(GrammarError, match="'ping' is in the list twice"):
        lower(analysis, tools=[PING, PING])
    with pytest.raises(GrammarError, match="no list"):
        lower(analysis, tools={"name": "ping"})
    with pytest.raises(GrammarError, match="tool 1 of the list"):
        lower(analysis, tools=[{"type": "function"}])
