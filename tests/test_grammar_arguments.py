"""Arguments by schema, in every kind of format: what a grammar permits, its parser reads so."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import re
import sys
import types
from dataclasses import replace
from typing import Any

import formats
import pytest
from engines import engines
from test_grammar_formats import CALLS, behind_prompt

from autoparser_gen import verify
from autoparser_gen.analysis.model import ToolMode
from autoparser_gen.emit import python
from autoparser_gen.emit.skeletons import literals, search
from autoparser_gen.errors import GrammarError, RequestError
from autoparser_gen.grammar import readable
from autoparser_gen.grammar.lower import lower

# The call of get_weather in each format, with a text without quotes or markers. Headers, of which the
# prompt holds a part, are left out: behind them arguments are JSON.
_CITIES = {
    "raw values": "Rome </parameter> x",
    "keys and values": "</arg_value> x </tool_call> y",
    "custom quotes": 'Rome {"x"}',
    "json in a string": 'Rome \\\\\\"x\\\\\\"',
    "python list": "Rome, 'x' (y', 'z)",
    "python lines": 'Rome \\"x\\"',
}
TEXTS = {
    name: behind_prompt(name, text.replace(_CITIES.get(name, "Rome"), "Rome"))
    for name, (text, *_) in CALLS.items()
    if formats.FORMATS[name].headers is None
}
# What is not just any text stands between quotes.
TEXTS["python bare"] = "[get_weather(city='Rome', days=2)]"


def tool_of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A tool get_weather; all of its properties are required unless `more` says which."""
    schema = {"type": "object", "properties": properties, "required": list(properties), **more}
    return {"type": "function", "function": {"name": "get_weather", "parameters": schema}}


@functools.cache
def parser_of_format(name: str) -> types.ModuleType:
    """The parser of a format that is written down by hand."""
    return verify.import_text(python.emit(formats.FORMATS[name], []))


def arguments_of(name: str, text: str, tools: list[Any]) -> Any:
    """The arguments of the only call in a text. Raises ParseError where it is malformed."""
    (call,) = parser_of_format(name).parse(text, tools=tools, strict=True).tool_calls
    assert call.name == tools[0]["function"]["name"]
    return json.loads(call.arguments)


@pytest.mark.parametrize("name", TEXTS)
def test_arguments_that_no_schema_names(name: str) -> None:
    text = TEXTS[name]
    named = {"city": {"type": "string"}, "daylight": {"type": "integer"}}
    tools = [tool_of(named, additionalProperties={"type": "integer"}, required=["city"])]
    assert arguments_of(name, text, tools) == {"city": "Rome", "days": 2}
    analysis = formats.FORMATS[name]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    # Where keys have quotes, most of these are keys.
    odd = [text.replace("days", key) for key in ("a>b", "a=b", "a:b", "<b>", "a\nb", "")]
    for engine, accepts in engines(grammar, analysis).items():
        for key in ("days", "daylight", "daylights", "d", "x"):
            assert accepts(text.replace("days", key)), (engine, key)
        for other in filter(accepts, odd):
            arguments = arguments_of(name, other, tools)
            assert {type(arguments[key]) for key in arguments if key != "city"} <= {int}, engine


@pytest.mark.parametrize("called", ["f", "~f", "a/b", "#", "\\f", "@x:y", "größe"])
def test_a_text_does_not_go_on_as_a_call_of_any_name(called: str) -> None:
    # What a parser takes for a tool's name is more than a tool may be called in a grammar.
    before, _, behind = TEXTS["python list"].partition("Rome")
    texts = [f"{before}a'), {called}({behind}", f"{before}a', {called}({behind}"]
    analysis = formats.FORMATS["python list"]
    for tools in (None, [tool_of({"city": {"type": "string"}}, additionalProperties=True)]):
        grammar = lower(analysis, tools=tools, tool_choice="required")
        for engine, accepts in engines(grammar, analysis).items():
            assert not accepts(texts[0]), engine
            assert accepts(texts[1]), engine
            module = parser_of_format("python list")
            (call,) = module.parse(texts[1], tools=tools, strict=True).tool_calls
            assert json.loads(call.arguments)["city"] == f"a', {called}("


@pytest.mark.parametrize("name", ["python list", "python bare", "python lines"])
@pytest.mark.parametrize("kind", ["any tool", "other arguments"])
def test_names_in_python_calls_are_those_that_a_parser_reads(kind: str, name: str) -> None:
    text = TEXTS[name].replace("'Rome'", "Rome") if name == "python bare" else TEXTS[name]
    tools = [tool_of({"city": {"type": "string"}}, additionalProperties=True, required=["city"])]
    asked = None if kind == "any tool" else tools
    analysis = formats.FORMATS[name]
    grammar = lower(analysis, tools=asked, tool_choice="required")
    module, verdicts = parser_of_format(name), engines(grammar, analysis)
    for word in ("_", "x-", "x.", "1x", "a.b-c", "-", ".", "-x", ".x", "-1", ".."):
        for is_key in (True, False) if asked is None else (True,):
            changed = text.replace("days" if is_key else "get_weather", word)
            (call,) = module.parse(changed, tools=asked).tool_calls or [None]
            if is_key:
                is_read = call is not None and word in json.loads(call.arguments or "{}")
            else:
                is_read = call is not None and call.name == word
            # Text that stands without quotes goes on where no argument begins.
            is_text = is_key and name == "python bare" and not is_read
            for engine, accepts in verdicts.items():
                assert accepts(changed) == (is_read or is_text), (engine, changed)


@pytest.mark.parametrize(
    "schema", [None, {}, {"type": "string"}, {"type": ["string", "array"]}], ids=str
)
def test_text_without_quotes_is_any_value(
    schema: dict[str, Any] | None,
) -> None:
    whole = [
        "Rome",
        "",
        "it's",
        "Rome'",
        '5"',
        "a [b",
        "1.5 km",
        "-",
        "True",
        "Truely",
        "a, b",
        "a)b",
        "x [",
    ]
    closed = ["'Rome'", "'it\\'s'", '"[a"', "[1]", "['a)', \"b\"]", "{'a': [1]}", "''"]
    analysis = formats.FORMATS["python bare"]
    tools = None if schema is None else [tool_of({"city": schema, "days": {"type": "integer"}})]
    verdicts = engines(lower(analysis, tools=tools, tool_choice="required"), analysis)
    for form in ("[get_weather(city=?, days=2)]", "[get_weather(days=2, city=?)]"):
        for value in (*whole, *closed):
            text = form.replace("?", value)
            (call,) = (
                parser_of_format("python bare").parse(text, tools=tools, strict=True).tool_calls
            )
            assert json.loads(call.arguments).keys() == {"city", "days"}
            for engine, accepts in verdicts.items():
                assert accepts(text), (engine, text)


# Data that a schema constrains beside any text, what of it the schema forbids, and what is not enforced.
BESIDE_TEXT: list[tuple[dict[str, Any], str, str]] = [
    ({"type": ["string", "integer"], "minimum": 3}, "2", "minimum of the type integer"),
    ({"anyOf": [{"type": "string"}, {"enum": [1, 2]}]}, "3", "enum of the type number"),
    (
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "[1]",
        "items of the type array",
    ),
]
_FREE = {
    **{name: TEXTS[name] for name in ("raw values", "keys and values", "nested tags")},
    "python bare": TEXTS["python bare"].replace("'", ""),
}


@pytest.mark.parametrize("name", _FREE)
@pytest.mark.parametrize(("schema", "forbidden", "what"), BESIDE_TEXT, ids=str)
def test_constraints_beside_any_text_are_named_as_not_enforced(
    name: str, schema: dict[str, Any], forbidden: str, what: str
) -> None:
    tools = [tool_of({"city": schema, "days": {"type": "integer"}})]
    sentence = f"schema of get-weather-city: {what} beside free text is not enforced"
    text = _FREE[name].replace("Rome", forbidden)
    grammar = lower(formats.FORMATS[name], tools=tools, tool_choice="required")
    assert [warning for warning in grammar.warnings if sentence in warning]
    # A parser takes it for the data that it is, and the grammar cannot tell it from other texts.
    assert arguments_of(name, text, tools)["city"] == json.loads(forbidden)
    assert all(accepts(text) for accepts in engines(grammar, formats.FORMATS[name]).values())
    # Where the text is not any, or strings show what they are, nothing is left out.
    tools = [tool_of({"city": {**schema, "minLength": 1}, "days": {"type": "integer"}})]
    if "type" in schema and name != "python bare":
        grammar = lower(formats.FORMATS[name], tools=tools, tool_choice="required")
        assert not grammar.warnings
        assert not any(
            accepts(text) for accepts in engines(grammar, formats.FORMATS[name]).values()
        )
    assert not lower(formats.FORMATS["json in tags"], tools=tools).warnings


@pytest.mark.parametrize("name", _FREE)
@pytest.mark.parametrize("types", [["string", "null"], ["string", "number"], ["string", "array"]])
def test_types_beside_any_text_need_no_warning(name: str, types: list[str]) -> None:
    assert not lower(formats.FORMATS[name], tools=[tool_of({"city": {"type": types}})]).warnings


# What ends a text that stands as it is, and texts that only look so.
_TAG = "]<]minimax[>[<"
ENDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "raw values": (
        ("</parameter>\n</function></tool_call>", "a</parameter><parameter=days>\n2"),
        ("</parameter>", "</tool_call>", "a</parameter>b", "<parameter=days"),
    ),
    "keys and values": (
        ("</arg_value><arg_key>days", "<arg_key>days</arg_key>", "a</arg_value>\n</tool_call>"),
        ("</arg_value>", "a</tool_call>", "<arg_key>"),
    ),
    "section of tags": (
        ('</parameter>\n<parameter name="days">', "</parameter></invoke>"),
        ("</parameter>", "</invoke>"),
    ),
    "nested tags": (
        (f"{_TAG}/city>", f"a{_TAG}/city>b", f"{_TAG}/invoke>{_TAG}/tool_call>"),
        (f"{_TAG}/days>", f"{_TAG}days>", "</city>"),
    ),
    "custom quotes": (('a<|"|>', '<|"|>, days: 2'), ('<|"', '"|>', "}")),
    "python list": (("Rome', days='2", "a',)", "Rome')]"), ("b', 'c", "it's", "f(x='y'")),
}


@pytest.mark.parametrize("name", ENDS)
def test_given_texts_are_those_that_a_parser_reads(name: str) -> None:
    before, _, behind = TEXTS[name].partition("Rome")
    ending, whole = ENDS[name]
    analysis = formats.FORMATS[name]
    for value in ending:
        tools = [tool_of({"city": {"enum": ["Rome", value]}, "days": {"type": "integer"}})]
        with pytest.raises(RequestError, match="the given text .* which ends a text"):
            lower(analysis, tools=tools)
    # With texts and data that others begin with, and what ends a value behind that.
    beside_data: list[Any] = [None, 3, *(f"3{text}" for text in ("", *whole))]
    for values in (["", "a", *whole], beside_data):
        tools = [tool_of({"city": {"enum": values}, "days": {"type": "integer"}})]
        grammar = lower(analysis, tools=tools, tool_choice="required")
        for value in (value for value in values if isinstance(value, str)):
            text = before + value + behind
            assert arguments_of(name, text, tools)["city"] == value
            for engine, accepts in engines(grammar, analysis).items():
                assert accepts(text), (engine, value)


def _as_pattern(text: str) -> str:
    return re.sub(r"([.^$*+?{}\[\]()|\\])", r"\\\1", text)


@pytest.mark.parametrize("name", ENDS)
def test_a_pattern_s_texts_are_those_that_a_parser_reads(name: str) -> None:
    before, _, behind = TEXTS[name].partition("Rome")
    ending, whole = ENDS[name]
    analysis = formats.FORMATS[name]

    def verdicts(pattern: str) -> dict[str, Any]:
        city = {"type": "string", "pattern": pattern}
        tools = [tool_of({"city": city, "days": {"type": "integer"}})]
        return dict(engines(lower(analysis, tools=tools, tool_choice="required"), analysis))

    for value in ending:
        literal = _as_pattern(value)
        with pytest.raises(RequestError, match="texts that its pattern or format permits hold"):
            verdicts(f"^{literal}$")
        # The rest of what a pattern permits is left.
        for engine, accepts in verdicts(f"^({literal}|[xyz]+|[uvw]{literal}.*)$").items():
            assert accepts(f"{before}xyz{behind}"), engine
            for text in (value, f"u{value}", f"v{value}xyz"):
                assert not accepts(before + text + behind), (engine, text)
    for value in whole:
        literal = _as_pattern(value)
        for engine, accepts in verdicts(f"^[uvw]*{literal}[xyz]?$").items():
            for text in (value, f"uv{value}", f"{value}z"):
                assert accepts(before + text + behind), (engine, text)


def test_a_pattern_beside_data_permits_no_text_that_begins_like_an_element() -> None:
    analysis, text = formats.FORMATS["nested tags"], TEXTS["nested tags"]
    pattern = r"^(\]<\]minimax\[>\[<days>|b)$"
    for kinds in (["string"], ["string", "integer"]):
        tools = [
            tool_of({"city": {"type": kinds, "pattern": pattern}, "days": {"type": "integer"}})
        ]
        grammar = lower(analysis, tools=tools, tool_choice="required")
        for engine, accepts in engines(grammar, analysis).items():
            assert accepts(text.replace("Rome", "b")), engine
            assert accepts(text.replace("Rome", f"{_TAG}days>")) == (kinds == ["string"]), engine


def test_given_texts_in_lists_and_keys_are_those_that_a_parser_reads() -> None:
    # In the JSON of a raw value the parser looks for what ends the value.
    end = "</parameter></function></tool_call>"
    for schema in (
        {"type": "array", "items": {"enum": [end]}},
        {"enum": [{"a": end}, 1]},
        {"type": "object", "properties": {end: {"type": "integer"}}},
    ):
        with pytest.raises(RequestError, match="a schema: the given text"):
            lower(formats.FORMATS["raw values"], tools=[tool_of({"city": schema})])
        lower(formats.FORMATS["json in tags"], tools=[tool_of({"city": schema})])


def test_a_given_text_that_begins_like_an_element() -> None:
    for others in ([], [None]):
        tools = [tool_of({"city": {"enum": [f"{_TAG}days>", *others]}})]
        if others:
            with pytest.raises(RequestError, match="begins like an element"):
                lower(formats.FORMATS["nested tags"], tools=tools)
        else:
            lower(formats.FORMATS["nested tags"], tools=tools)


# Schemas of arguments that permit no value for `days`, and of any other name at least a number.
_CITY, _WHOLE = {"city": {"type": "string"}}, {"type": "integer"}
EXCLUDED: dict[str, dict[str, Any]] = {
    "false": {"properties": {**_CITY, "days": False}, "additionalProperties": _WHOLE},
    "false alone": {"properties": {"days": False}, "additionalProperties": True},
    "no value in common": {
        "allOf": [
            {"properties": {**_CITY, "days": {"const": 1}}, "additionalProperties": _WHOLE},
            {"properties": {"days": {"const": 2}}},
        ]
    },
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("kind", EXCLUDED)
def test_excluded_arguments_are_no_others(kind: str, name: str) -> None:
    text = TEXTS[name]
    schema = {"type": "object", **EXCLUDED[kind]}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]
    analysis = formats.FORMATS[name]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    for engine, accepts in engines(grammar, analysis).items():
        for key in ("hours", "day", "dayss"):
            assert accepts(text.replace("days", key)), (engine, key)
        assert not accepts(text), engine


# As pydantic writes a model of arguments that inherits, or is one of several.
_MODEL = {
    "title": "Place",
    "type": "object",
    "properties": {"city": {"title": "City", "type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
_DEFINED = {"$defs": {"Place": _MODEL, "Empty": {"type": "object", "properties": {}}}}
_PLACE, _EMPTY = ({"$ref": f"#/$defs/{name}"} for name in ("Place", "Empty"))
_ONE_CITY = {"required": ["city"], "additionalProperties": {"type": ["string", "integer"]}}
# What stands beside no properties, and whether a city and days may be written, and nothing.
BESIDE_NO_PROPERTIES: dict[str, tuple[dict[str, Any], bool, bool]] = {
    "allOf": ({"allOf": [_PLACE], **_DEFINED}, True, False),
    "anyOf": ({"anyOf": [_PLACE, _EMPTY], **_DEFINED}, True, True),
    "oneOf": ({"oneOf": [_PLACE], **_DEFINED}, True, False),
    "$ref": ({**_PLACE, **_DEFINED}, True, False),
    "required": (_ONE_CITY, True, False),
    "required by an alternative": ({"anyOf": [_ONE_CITY]}, True, False),
    "patternProperties": ({"patternProperties": {"^[cd]": {}}}, True, True),
    "definitions": ({"title": "None", "description": "None.", **_DEFINED}, False, True),
    "an extension": ({"x-order": [], "required": []}, False, True),
}


@pytest.mark.parametrize("name", ["json in tags", "raw values", "python list"])
@pytest.mark.parametrize("kind", BESIDE_NO_PROPERTIES)
def test_what_permits_properties_beside_none(kind: str, name: str) -> None:
    beside, city, none = BESIDE_NO_PROPERTIES[kind]
    schema = {"type": "object", "properties": {}, **beside}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]
    analysis = formats.FORMATS[name]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    ping = CALLS[name][1]
    for engine, accepts in engines(grammar, analysis).items():
        assert accepts(TEXTS[name]) == city, engine
        assert accepts(ping.replace("ping", "get_weather")) == none, engine


# A string with such a body: one that its schema permits, and one that it does not.
BODIES: list[tuple[dict[str, Any], str, str]] = [
    ({"minLength": 1}, "a", ""),
    ({"maxLength": 3}, "abc", "abcd"),
    ({"pattern": "[0-9]{2}"}, "x 12", "1"),
    ({"pattern": "^<.*>$"}, "<b>", "b"),
]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("schema", "good", "bad"), BODIES, ids=str)
def test_a_constrained_string_ends_where_it_is_closed(
    name: str, schema: dict[str, Any], good: str, bad: str
) -> None:
    text = TEXTS[name]
    tools = [tool_of({"city": {"type": "string", **schema}, "days": {"type": "integer"}})]
    analysis = formats.FORMATS[name]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    before, _, behind = text.partition("Rome")
    value = before[before.rfind("city") :]
    left = before + good + behind.replace("days", "city") + value + good + behind
    for engine, accepts in engines(grammar, analysis).items():
        assert accepts(before + good + behind), engine
        assert not accepts(before + bad + behind), engine
        assert not accepts(left), (engine, left)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("values", [[""], ["", "a"], ["", 1]], ids=str)
def test_an_empty_text_may_be_one_of_the_values(name: str, values: list[Any]) -> None:
    analysis = formats.FORMATS[name]
    tools = [tool_of({"city": {"enum": values}, "days": {"type": "integer"}})]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    for engine, accepts in engines(grammar, analysis).items():
        assert accepts(TEXTS[name].replace("Rome", "")), engine
        assert not accepts(TEXTS[name].replace("Rome", "b")), engine
        assert accepts(TEXTS[name].replace("Rome", "a")) == ("a" in values), engine


@pytest.mark.parametrize("name", TEXTS)
def test_values_of_arguments_that_no_schema_names(name: str) -> None:
    analysis = formats.FORMATS[name]
    for schema, permitted in (("integer", True), ("boolean", False)):
        tools = [tool_of({"city": {"type": "string"}}, additionalProperties={"type": schema})]
        grammar = lower(analysis, tools=tools, tool_choice="required")
        for engine, accepts in engines(grammar, analysis).items():
            assert accepts(TEXTS[name]) == permitted, engine


def test_keys_without_quotes_are_those_that_a_parser_reads() -> None:
    name = "custom quotes"
    analysis = formats.FORMATS[name]
    integers = {"additionalProperties": {"type": "integer"}}
    others = tool_of({"city": {"type": "string"}}, **integers)
    nested = tool_of({"city": {"type": "object", "properties": {"x": {}}, **integers}}, **integers)
    free = tool_of({"city": {}}, additionalProperties=True)
    rome = '<|"|>Rome<|"|>'
    for tool, value in ((others, rome), (nested, "{days:2}"), (free, "{days:2}")):
        text = TEXTS[name].replace(rome, value)
        grammar = lower(analysis, tools=[tool], tool_choice="required")
        for engine, accepts in engines(grammar, analysis).items():
            for key in ("a/b", "@a", "a=b", "`", "日", "{", ":", "a\nb"):
                written = text.replace("days", key)
                reads = key not in ("{", ":", "a\nb")
                assert accepts(written) == reads, (engine, key)
                if reads:
                    assert key in arguments_of(name, written, [tool])


def test_names_in_json_with_escapes() -> None:
    text = TEXTS["json in tags"]
    analysis = formats.FORMATS["json in tags"]
    tools = [tool_of({"größe": {"enum": ["weiß"]}, "days": {"type": "integer"}})]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    for engine, accepts in engines(grammar, analysis).items():
        for key, value in (("größe", "weiß"), (r"gr\u00f6\u00dfe", r"wei\u00df")):
            assert accepts(text.replace("city", key).replace("Rome", value)), engine
        assert not accepts(text.replace("city", "große").replace("Rome", "weiß")), engine


@pytest.mark.parametrize("name", TEXTS)
def test_arguments_that_may_be_anything(name: str) -> None:
    analysis = formats.FORMATS[name]
    grammar = lower(analysis, tools=[tool_of({"city": {}, "days": {}})], tool_choice="required")
    for engine, accepts in engines(grammar, analysis).items():
        assert accepts(TEXTS[name]), engine


def test_given_texts_in_what_may_stand_around_values() -> None:
    found = formats.FORMATS["raw values"]
    arguments = replace(found.tools.arguments, optional_wrap=("<![RAW[", "]]>"))
    analysis = replace(found, tools=replace(found.tools, arguments=arguments))
    tools = [tool_of({"city": {"enum": ["a\nb", "</b>"]}, "days": {"type": "integer"}})]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    for engine, accepts in engines(grammar, analysis).items():
        for value in ("a\nb", "</b>", "<![RAW[a\nb]]>", "<![RAW[</b>]]>"):
            assert accepts(TEXTS["raw values"].replace("Rome", value)), (engine, value)
        for value in ("<![RAW[b]]>", "<![RAW[a\nb]]", "a\nb]]>"):
            assert not accepts(TEXTS["raw values"].replace("Rome", value)), (engine, value)


# A pattern and a format that no grammar enforces, alone.
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("schema", [{"pattern": "^(?=R).*$"}, {"format": "city"}], ids=str)
def test_what_is_not_enforced_is_any_text(name: str, schema: dict[str, Any]) -> None:
    analysis = formats.FORMATS[name]
    tools = [tool_of({"city": {"type": "string", **schema}, "days": {"type": "integer"}})]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    assert grammar.warnings
    for engine, accepts in engines(grammar, analysis).items():
        assert accepts(TEXTS[name]), engine


# Alternatives of data and texts: what may stand there as it is, and what may not.
UNIONS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"anyOf": [{"type": "integer"}, {"enum": ["auto", "12 m"]}]}, ["7", "auto", "12 m"], ["aut"]),
    (
        {"type": ["string", "integer"], "minimum": 3, "maxLength": 4},
        ["3", "22222", "ab", "3a", "-", "1-2", "3 a", "e5", ""],
        ["2", "-1", "2 ", "abcde", "1.5"],
    ),
    (
        {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
        ["null", "nul", "nulls", "n", "New", ""],
        ["longer"],
    ),
    (
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "number", "maximum": 5}]},
        ["2024-01-31", "5", "-7.5"],
        ["2024", "6"],
    ),
    (
        {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+([.][0-9]+)*$"}]},
        ["007", "00", "1.2.3", "7", "0.5"],
        ["x", "1."],
    ),
    (
        {"anyOf": [{"type": "string", "pattern": "^[0-9]+$"}, {"type": "boolean"}]},
        ["1", "true"],
        [],
    ),
    (
        {"anyOf": [{"enum": [["a"], "b"]}, {"type": "string", "maxLength": 3}]},
        ['["a"]', "b", "abc"],
        ['["b"]', "[a"],
    ),
]


_RAW = ["raw values", "keys and values", "section of tags", "nested tags"]


@pytest.mark.parametrize("name", _RAW)
@pytest.mark.parametrize(("schema", "good", "bad"), UNIONS, ids=lambda value: str(value)[:40])
def test_data_or_text(name: str, schema: dict[str, Any], good: list[str], bad: list[str]) -> None:
    analysis = formats.FORMATS[name]
    tools = [tool_of({"city": schema, "days": {"type": "integer"}})]
    grammar = lower(analysis, tools=tools, tool_choice="required")
    for engine, accepts in engines(grammar, analysis).items():
        for value in good:
            assert accepts(TEXTS[name].replace("Rome", value)), (engine, value)
        for value in bad:
            assert not accepts(TEXTS[name].replace("Rome", value)), (engine, value)


@pytest.mark.parametrize("name", _RAW)
@pytest.mark.parametrize("value", ["007", "00", "-01", "1.2.3", "1-2"])
def test_what_almost_is_a_number_is_read_as_text(name: str, value: str) -> None:
    tools = [tool_of({"city": {"type": ["number", "string"]}, "days": {"type": "integer"}})]
    assert arguments_of(name, TEXTS[name].replace("Rome", value), tools)["city"] == value


# Names with what some formats take for their end, or do not.
_ODD = [*"\t\n\x01 !\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~\x7f\xa0\u2028é日", "</parameter>", "😀"]
NAMES = [*(f"a{odd}b" for odd in _ODD), " a", "a ", ".a", "-a", "/a", "é", "a" * 101]


@pytest.mark.parametrize("name", TEXTS)
def test_names_that_a_parser_does_not_read_are_errors(name: str) -> None:
    analysis = formats.FORMATS[name]
    in_json = analysis.tools.format.mode is ToolMode.JSON_NATIVE
    quoted_keys = in_json or analysis.tools.format.mode is ToolMode.TAG_WITH_JSON
    for word, kind in itertools.product(NAMES, ("tool", "key")):
        tool, key = (word, "days") if kind == "tool" else ("get_weather", word)
        tools = [tool_of({"city": {"type": "string"}, key: {"type": "integer"}})]
        tools[0]["function"]["name"] = tool
        text = TEXTS[name].replace("get_weather" if kind == "tool" else "days", word)
        try:
            is_read = arguments_of(name, text, tools) == {"city": "Rome", key: 2}
        except (ValueError, AssertionError):  # malformed, or another name
            is_read = False
        if is_read or in_json or (kind == "key" and quoted_keys):
            lower(analysis, tools=tools, tool_choice="required")
        else:
            with pytest.raises(GrammarError, match=re.escape(repr(word))):
                lower(analysis, tools=tools, tool_choice="required")


@pytest.mark.parametrize("name", TEXTS)
def test_definitions_are_not_made_inside_of_one_another(name: str) -> None:
    count = 150
    definitions = {
        f"d{n}": {
            "type": "object",
            "properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}},
            "required": ["x"],
            "additionalProperties": False,
        }
        for n in range(count)
    }
    definitions[f"d{count}"] = {"type": "integer"}
    tools = [tool_of({"city": {"$ref": "#/$defs/d0"}}, **{"$defs": definitions})]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 400)
    try:
        grammar = lower(formats.FORMATS[name], tools=tools)
    finally:
        sys.setrecursionlimit(limit)
    assert len(grammar.rules) > count


def test_what_is_readable_is_what_the_parsers_read() -> None:
    assert readable.TOOL_NAME.pattern == search._NAME.pattern
    assert readable.MARKED_KEY.pattern == search._KEY.pattern
    assert readable.UNQUOTED_KEY.pattern == literals._BARE_KEY.pattern


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("schema", [{"description": "none"}, {"type": ["object", "null"]}], ids=str)
def test_arguments_are_an_object(name: str, schema: dict[str, Any]) -> None:
    analysis = formats.FORMATS[name]
    function: dict[str, Any] = {"name": "get_weather", "parameters": schema}
    grammar = lower(analysis, tools=[{"function": function}], tool_choice="required")
    for engine, accepts in engines(grammar, analysis).items():
        assert accepts(TEXTS[name]), engine
    function["parameters"] = {"type": "string"}
    with pytest.raises(GrammarError, match="arguments are an object"):
        lower(analysis, tools=[{"function": function}], tool_choice="required")
