"""Calls made up for the tools of a request: verification renders them, reads them, and asks the grammar."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engines import engines, installed
from engines.tool_sets import TOOL_SETS
from parsers import SOURCES
from test_hostile_schemas import TAKEN

from autoparser_gen import cli, pipeline, verify
from autoparser_gen.analysis.model import Capabilities, KeyOrder, ToolMode
from autoparser_gen.emit import python
from autoparser_gen.errors import RequestError, VerificationError
from autoparser_gen.grammar import instances
from autoparser_gen.grammar.lower import lower
from autoparser_gen.grammar.recognize import reject_reason
from autoparser_gen.grammar.request import read_tools
from autoparser_gen.request import Options
from autoparser_gen.targets import Asked

DEFINED = {"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}}

# A property's schema, and what is made up for it.
MADE_UP: dict[str, tuple[Any, Any]] = {
    "any": (True, "text"),
    "a string": ({"type": "string"}, "text"),
    "a string of some length": ({"type": "string", "minLength": 6}, "tttttt"),
    "a pattern": ({"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}, "AA-0"),
    "a pattern that is found anywhere": ({"type": "string", "pattern": "b+"}, "b"),
    "a date": ({"type": "string", "format": "date"}, "1000-01-01"),
    "an integer": ({"type": "integer"}, 1),
    "an integer between bounds": ({"type": "integer", "minimum": 17, "maximum": 30}, 17),
    "a negative number": ({"type": "number", "exclusiveMaximum": -2}, -3),
    "a given value": ({"enum": [None, 3]}, None),
    "the first alternative": ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, True),
    "as many items as there must be": (
        {"type": "array", "items": {"type": "integer"}, "minItems": 2},
        [1, 1],
    ),
    "first items": ({"prefixItems": [{"const": "a"}, {"const": 2}], "minItems": 1}, ["a"]),
    "required members": (
        {"type": "object", "properties": {"a": {"const": 1}, "b": {}}, "required": ["a"]},
        {"a": 1, "b": "text"},
    ),
    "what refers to itself": ({"$ref": "#/$defs/node"}, {"next": {}}),
}


def tool(properties: dict[str, Any], *required: str, **more: Any) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": properties, "required": [*required], **more}
    return [{"type": "function", "function": {"name": "f", "parameters": schema}}]


@pytest.mark.parametrize("what", MADE_UP)
def test_a_value_is_made_up(what: str) -> None:
    schema, expected = MADE_UP[what]
    [one] = read_tools(tool({"x": schema}, **DEFINED))
    assert instances.arguments(one, every=True) == {"x": expected}
    assert instances.arguments(one, every=False) == {}


def test_only_so_many_members_are_made_up() -> None:
    [one] = read_tools(tool({f"p{i}": {} for i in range(1000)}, "p7"))
    assert instances.arguments(one, every=False) == {"p7": "text"}
    with pytest.raises(instances.Impossible):
        instances.arguments(one, every=True)


@pytest.mark.skipif(not installed("jsonschema"), reason="pip install jsonschema")
@pytest.mark.parametrize("every", [False, True])
def test_what_is_made_up_is_permitted(every: bool) -> None:
    import jsonschema

    schemas = [schema for schema in TAKEN.values() if isinstance(schema, dict)]
    lists = [tool_set.tools for tool_set in TOOL_SETS.values() if tool_set.tools]
    lists += [[{"name": "f", "parameters": schema}] for schema in schemas]
    made = 0
    for tools in lists:
        for one in read_tools(tools):
            try:
                arguments = instances.arguments(one, every=every)
            except instances.Impossible:
                continue
            jsonschema.validate(arguments, one.schema)
            made += 1
    assert made > 50


WEATHER = tool({"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}, "city")


@pytest.mark.parametrize(
    "stem", ["qwen3", "qwen3_coder", "gpt_oss", "gemma_4", "deepseek_v3_2", "qwq_32b"]
)
@pytest.mark.parametrize("lazy", [False, True])
def test_the_grammar_takes_calls_as_the_chat_template_writes_them(stem: str, lazy: bool) -> None:
    found = pipeline.find_format(SOURCES[stem], Options())
    module = python.emit(found.analysis, [])
    asked = Asked(tools=WEATHER, lazy=lazy)
    grammar = lower(found.analysis, tools=WEATHER, lazy=lazy)
    assert verify.verify_examples(found.prober, found.analysis, module, grammar, asked) == (
        "a call of 'f' with city",
        "a call of 'f' with city, days",
    )
    others = json.loads(json.dumps(WEATHER).replace("city", "town"))
    wrong = lower(found.analysis, tools=others, lazy=lazy)
    with pytest.raises(VerificationError, match=r"with city, read by the .* grammar"):
        verify.verify_examples(found.prober, found.analysis, module, wrong, asked)


def test_a_module_that_reads_another_number_is_caught() -> None:
    found = pipeline.find_format(SOURCES["qwen3_coder"], Options())
    module = python.emit(found.analysis, []) + "\n\ndef _typed(*_):\n    return '2'\n"
    asked, grammar = Asked(tools=WEATHER), lower(found.analysis, tools=WEATHER)
    with pytest.raises(VerificationError, match="with city, read whole"):
        verify.verify_examples(found.prober, found.analysis, module, grammar, asked)


ANSWER = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["answer"],
}
TWO_TOOLS = [*WEATHER, {"type": "function", "function": {"name": "now"}}]
CALLS_OF_F = {"a call of 'f' with city", "a call of 'f' with city, days"}
CALLS = {*CALLS_OF_F, "a call of 'now' with no arguments"}
CONTENT = {"content by the schema"}
REQUESTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a schema": ({"response_schema": ANSWER}, CONTENT),
    "a call": ({"tools": TWO_TOOLS, "tool_choice": "required"}, CALLS),
    "one tool": ({"tools": TWO_TOOLS, "tool_choice": "f"}, CALLS_OF_F),
    "a schema or a call": (
        {"tools": TWO_TOOLS, "response_schema": ANSWER},
        CALLS | CONTENT,
    ),
    "a call, though there is a schema": (
        {"tools": TWO_TOOLS, "response_schema": ANSWER, "tool_choice": "required"},
        CALLS,
    ),
}
# By chat template and `thinking`, what no history shows: it closes no section of calls, or begins
# otherwise than a prompt that turns reasoning off.
NOT_SHOWN = {
    ("deepseek_r1_distill_llama", None): CALLS,
    ("laguna_s_2_1", False): CALLS | CONTENT,
    ("solar_open", False): CALLS | CONTENT,
}


@pytest.mark.parametrize("stem", SOURCES)
def test_every_format_takes_what_requests_ask_for(stem: str) -> None:
    found = pipeline.find_format(SOURCES[stem], Options())
    module = python.emit(found.analysis, [])
    prompts = found.analysis.generation_prompts
    switched = {True: prompts.thinking, False: prompts.no_thinking}
    thinkings = [None, *(on for on, prompt in switched.items() if prompt != prompts.default)]
    has_calls = found.analysis.tools.format.mode is not ToolMode.NONE
    shown = CALLS | CONTENT if has_calls else CONTENT
    for what, (request, names_asked) in REQUESTS.items():
        for thinking in thinkings:
            asked = Asked(**request, thinking=thinking)
            if not has_calls and asked.tool_choice != "auto":
                with pytest.raises(RequestError, match="the chat template renders none"):
                    lower(found.analysis, **vars(asked))
                continue
            grammar = lower(found.analysis, **vars(asked))
            names = verify.verify_examples(found.prober, found.analysis, module, grammar, asked)
            expected = names_asked & shown - NOT_SHOWN.get((stem, thinking), set())
            assert set(names) == expected, (what, thinking)


def test_content_by_a_schema() -> None:
    found = pipeline.find_format(SOURCES["qwen3"], Options())
    module = python.emit(found.analysis, [])
    asked = Asked(response_schema={"type": "object", "properties": {"a": {"const": 7}}})
    grammar = lower(found.analysis, response_schema=asked.response_schema)
    names = verify.verify_examples(found.prober, found.analysis, module, grammar, asked)
    assert names == ("content by the schema",)
    other = lower(found.analysis, response_schema={"const": 8})
    with pytest.raises(VerificationError, match="content by the schema"):
        verify.verify_examples(found.prober, found.analysis, module, other, asked)


def test_the_command_says_what_the_grammar_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(WEATHER), encoding="utf-8")
    words = [str(SOURCES["qwen3"]), "-o", str(tmp_path / "x.gbnf")]
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--tools", str(tmp_path / "tools.json")])
    assert ended.value.code == 0
    said = capsys.readouterr()
    assert "the grammar of the request takes: a call of 'f' with city;" in said.out + said.err


# ---- What stands beside JSON and in front of calls ----

# What follows the default prompt, and the same with a fault.
BESIDE: dict[str, list[tuple[dict[str, Any], str, str]]] = {
    # whitespace behind the JSON, as the chat template writes it
    "reka_edge": [({"response_schema": ANSWER}, ' {"answer": ""}\n\n', ' {"answer": ""}\n\nx')],
    # no prompt opens reasoning, and history closes it all the same
    "minimax_m3": [
        (
            {"response_schema": ANSWER},
            '</mm:think>{"answer": ""}',
            '</mm:think></mm:think>{"answer": ""}',
        ),
        (
            {"response_schema": ANSWER},
            '<mm:think>a</mm:think>{"answer": ""}',
            '<mm:think>{"answer": ""}',
        ),
    ],
    # content has its markers beside reasoning only
    "granite_3_3": [
        ({"response_schema": ANSWER}, '{"answer": ""}', '{"answer": ""}</response>'),
        (
            {"response_schema": ANSWER},
            '<think>a</think><response>{"answer": ""}</response>',
            '<think>a</think><response>{"answer": ""}',
        ),
    ],
    # what ends a message is not in a string of its JSON
    "functionary_v3_2": [
        ({"response_schema": ANSWER}, 'all\n{"answer": ">>"}', 'all\n{"answer": ">>>"}'),
    ],
    "gpt_oss": [
        (
            {"response_schema": ANSWER},
            '<|channel|>final<|message|>{"answer": "to=functions."}',
            '<|channel|>final<|message|>{"answer": "<|end|>"}',
        ),
    ],
    # an empty block of content in front of calls
    "kimi_k3": [
        (
            {"response_schema": ANSWER, "tools": TWO_TOOLS},
            "<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|>"
            '<|open|>call tool="now" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
            "<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|>",
        ),
    ],
}


@pytest.mark.parametrize("stem", BESIDE)
def test_what_stands_beside_json_content(stem: str) -> None:
    analysis = pipeline.find_format(SOURCES[stem], Options()).analysis
    for request, text, fault in BESIDE[stem]:
        for engine, accepts in engines(lower(analysis, **request), analysis).items():
            assert accepts(text), (engine, text)
            assert not accepts(fault), (engine, fault)


# ---- The order of arguments ----

MANY = {name: {"type": "string"} for name in ("zeta", "Beta", "alpha", "eta", "delta", "omega")}


def test_arguments_stand_in_the_order_that_the_chat_template_writes() -> None:
    found = pipeline.find_format(SOURCES["gemma_4"], Options())
    order = found.analysis.capabilities.argument_order
    assert order is KeyOrder.SORTED_IGNORING_CASE
    tools = tool({**MANY, "inner": {"type": "object", "properties": MANY}})
    grammar = lower(found.analysis, tools=tools, thinking=True)
    values = dict.fromkeys(MANY, "text")
    turn = found.prober.turn(None, None, [("f", {**values, "inner": values})])
    assert turn is not None
    prompt = found.analysis.generation_prompts.thinking
    text = verify.grammar_text(turn, found.analysis, prompt)
    assert text is not None
    assert reject_reason(grammar, text) is None
    capabilities = replace(found.analysis.capabilities, argument_order=KeyOrder.NONE)
    unsorted = replace(found.analysis, capabilities=capabilities)
    assert reject_reason(lower(unsorted, tools=tools, thinking=True), text) is not None


def test_orders() -> None:
    assert Capabilities().argument_order is KeyOrder.NONE
    assert KeyOrder.NONE.arranged("cBa") == ["c", "B", "a"]
    assert KeyOrder.SORTED.arranged("cBa") == ["B", "a", "c"]
    assert KeyOrder.SORTED_IGNORING_CASE.arranged("cBa") == ["a", "B", "c"]


# ---- Where the grammar begins ----


@pytest.mark.parametrize(
    ("stem", "begins"),
    [
        ("qwq_32b", "<tool_call>"),  # the default prompt holds an empty block, history does not
        ("nemotron_nano_v2", "Let me see.</think><TOOLCALL>"),  # opened there
        ("deepseek_v3_2", "\n\n<｜DSML｜function_calls>"),  # history closes what the prompt opened
    ],
)
def test_what_a_model_writes_behind_a_prompt_that_history_lacks(stem: str, begins: str) -> None:
    found = pipeline.find_format(SOURCES[stem], Options())
    turn = found.prober.turn(None, None, [("f", {"a": "b"})])
    assert turn is not None
    prompt = found.analysis.generation_prompts.default
    assert turn.after(prompt) is None
    text = verify.grammar_text(turn, found.analysis, prompt)
    assert text is not None
    assert text.startswith(begins)
    assert reject_reason(lower(found.analysis), text) is None


def test_a_reason_says_where_a_text_is_none_of_the_grammar() -> None:
    grammar = lower(pipeline.find_format(SOURCES["qwen3"], Options()).analysis, tools=WEATHER)
    text = '<tool_call>\n{"name": "f", "arguments": {"town": "Oslo"}}\n</tool_call>'
    reason = reject_reason(grammar, text)
    assert reason is not None
    at = text.index('"town"')
    assert f"{text[at : at + 20]!r} at character {at} of {len(text)}." in reason


def test_a_fault_of_the_tools_is_one_of_the_request() -> None:
    [one] = read_tools(tool({"x": False}, "x"))
    with pytest.raises(RequestError, match="no value satisfies"):
        instances.arguments(one, every=False)
