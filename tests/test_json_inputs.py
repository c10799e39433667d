"""Tools and schemas in the forms in which people have them: each works, or it is said what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Runner

from autoparser_gen.errors import RequestError
from autoparser_gen.grammar.readable import MAX_NAME
from autoparser_gen.grammar.request import read_tools

HERMES = Path(__file__).parents[1] / "templates" / "hermes_2_pro.jinja"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FLAT = {"name": "look", "parameters": SCHEMA}
WRAPPED = {"type": "function", "function": FLAT}
ANTHROPIC = {"name": "look", "description": "Looks.", "input_schema": SCHEMA}
MCP = {"name": "look", "title": "Look", "inputSchema": SCHEMA, "annotations": {}}
LIST = json.dumps([WRAPPED])


def grammar(run: Runner, tmp_path: Path, content: Any, option: str = "--tools") -> str:
    """The grammar for what a file holds: bytes, a text, or JSON."""
    text = content if isinstance(content, (bytes, str)) else json.dumps(content)
    raw = text.encode() if isinstance(text, str) else text
    (tmp_path / "given.json").write_bytes(raw)
    done = run(HERMES, "-o", "-", "--target", "gbnf", option, "given.json", "--no-verify")
    assert done.err == ""
    assert done.status == 0
    return done.out


def fault(run: Runner, tmp_path: Path, content: Any, option: str = "--tools") -> str:
    """What is said of it, in one line."""
    text = content if isinstance(content, (bytes, str)) else json.dumps(content)
    (tmp_path / "given.json").write_bytes(text.encode() if isinstance(text, str) else text)
    done = run(HERMES, "-o", "x.gbnf", option, "given.json")
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert not (tmp_path / "x.gbnf").exists()
    return done.err.removeprefix("autoparser-gen: ")


SAME_TOOL: dict[str, Any] = {
    "a request": {"model": "m", "messages": [], "tools": [WRAPPED]},
    "an object around the list": {"tools": [WRAPPED]},
    "an old request": {"functions": [FLAT]},
    "functions": [FLAT],
    "OpenAI's responses API": [{"type": "function", **FLAT, "strict": True}],
    "strict": [{"type": "function", "function": {**FLAT, "strict": True}}],
    "Anthropic": [ANTHROPIC],
    "Anthropic, with the type": {"tools": [{"type": "custom", **ANTHROPIC}]},
    "MCP": {"tools": [MCP]},
    "an answer to tools/list": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
    "one tool": WRAPPED,
    "one function": FLAT,
    "one tool of MCP": MCP,
    "JSON Lines of one line": f"{json.dumps(WRAPPED)}\n",
    "a byte order mark": LIST.encode("utf-8-sig"),
    "UTF-16": LIST.encode("utf-16"),
    "UTF-16 without a mark": LIST.encode("utf-16-le"),
}


@pytest.mark.parametrize("form", SAME_TOOL)
def test_forms_of_tools(run: Runner, tmp_path: Path, form: str) -> None:
    expected = grammar(run, tmp_path, [WRAPPED])
    assert "city" in expected
    assert grammar(run, tmp_path, SAME_TOOL[form]) == expected


def test_json_lines(run: Runner, tmp_path: Path) -> None:
    tools = [WRAPPED, {**ANTHROPIC, "name": "fly"}, {**MCP, "name": "swim"}]
    lines = "\r\n\r\n".join(map(json.dumps, tools)) + "\n"
    assert grammar(run, tmp_path, lines) == grammar(run, tmp_path, tools)
    broken = fault(run, tmp_path, f"{json.dumps(WRAPPED)}\n\n{{x\n")
    assert broken.startswith("--tools given.json:3:2: not valid JSON: Expecting property name")
    assert "given.json:2:2: not valid JSON: Extra data" in fault(run, tmp_path, '[\n]{"a": 1}')


@pytest.mark.parametrize("tool", [{"name": "look"}, {"name": "look", "parameters": None}])
def test_tools_without_parameters(run: Runner, tmp_path: Path, tool: Any) -> None:
    without = grammar(run, tmp_path, [tool])
    assert without == grammar(run, tmp_path, [{"name": "look", "parameters": {}}])
    empty = {"type": "object", "properties": {}}
    assert without == grammar(run, tmp_path, [{"name": "look", "inputSchema": empty}])


@pytest.mark.parametrize("stem", ["hermes_2_pro", "qwen3_coder", "minimax_m3", "lfm2_5"])
def test_parameters_that_are_true_or_false(run: Runner, tmp_path: Path, stem: str) -> None:
    """They are schemas, too: of any arguments, and of none that could be given."""
    printed = {}
    for name, schema in (("true", True), ("any", {"type": "object"}), ("false", False)):
        (tmp_path / "tools.json").write_text(json.dumps([{"name": "look", "parameters": schema}]))
        words = ("-o", "-", "--target", "gbnf", "--no-verify", "--tools", "tools.json")
        printed[name] = run(HERMES.with_name(f"{stem}.jinja"), *words)
    assert printed["true"].out == printed["any"].out != ""
    assert printed["false"].status == 2
    assert "schema of look: no value satisfies it" in printed["false"].err


FAULTS: dict[str, tuple[Any, str]] = {
    "an empty file": ("", "--tools given.json:1:1: not valid JSON"),
    "another encoding": (
        '[{"name": "é"}]'.encode("latin-1"),
        "--tools given.json: byte 11 is no text in utf-8. Save the file as UTF-8.",
    ),
    "no number": (
        '[{"name": "x", "parameters": {"default": NaN}}]',
        "--tools given.json: NaN is no value of JSON. Write null, or leave it out.",
    ),
    "too deep": ("[" * 200_000, "--tools given.json: nested too deeply."),
    "null": ("null", "the tools are no list: give OpenAI's [{"),
    "a text": ('"x"', "the tools are no list: give OpenAI's [{"),
    "an empty object": ({}, "has no list of tools, and is no tool: give OpenAI's [{"),
    "a schema": (SCHEMA, "has no list of tools, and is no tool: give OpenAI's [{"),
    "tools by name": ({"look": SCHEMA}, "has no list of tools, and is no tool: give OpenAI's [{"),
    "objects around nothing": (
        '{"tools": ' * 900 + "{}" + "}" * 900,
        "has no list of tools, and is",
    ),
    "a tool twice": (
        [WRAPPED, ANTHROPIC],
        "--tools given.json: the tool 'look' is in the list twice. Leave one out, or rename it.",
    ),
    "no name": (
        [WRAPPED, {"parameters": SCHEMA}],
        "tool 2 of the list has no function with a name",
    ),
    "an empty name": (
        [{"name": ""}],
        "tool 1 of the list has no function with a name: give OpenAI",
    ),
    "Gemini's declarations": ([{"functionDeclarations": [FLAT]}], "tool 1 of the list has no func"),
    "a server's tool": (
        [WRAPPED, {"type": "web_search_20250305", "name": "web_search"}],
        "tool 2, 'web_search', is of the type 'web_search_20250305', which has no schema: its server"
        " runs it, and no model calls it as a function. Leave it out of the list.",
    ),
    "a server's tool without a name": ([{"type": "file_search"}], "tool 1 is of the type 'file_se"),
    "parameters that are a list": (
        [{"name": "look", "parameters": []}],
        "the parameters of the tool 'look' are [], which is no object. Give a JSON Schema of the"
        " type object, or leave them out.",
    ),
    "forms that are mixed": (
        [{"type": "function", "function": ANTHROPIC}],
        "the tool 'look' has its schema under input_schema; in OpenAI's list it is under parameters."
        " Rename the field.",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_tools(run: Runner, tmp_path: Path, case: str) -> None:
    content, message = FAULTS[case]
    assert message in fault(run, tmp_path, content)


@pytest.mark.parametrize(("tool", "field"), [(ANTHROPIC, "input_schema"), (MCP, "inputSchema")])
def test_modules_take_the_list_that_their_parser_takes(tool: Any, field: str) -> None:
    """Read as a tool without parameters, it would get a grammar that permits no argument."""
    with pytest.raises(RequestError, match=f"has its schema under {field}; in OpenAI's list"):
        read_tools([tool])


# ---- Names ----


NAMES = ["a.b", "a-b", "A", "天気", "mcp__files__read", "x/y", "1a", "-a", "_", "auto", "x" * 1000]


@pytest.mark.parametrize("stem", ["hermes_2_pro", "qwen3_coder", "gpt_oss", "lfm2_5"])
def test_names(run: Runner, tmp_path: Path, stem: str) -> None:
    """All in one list, some of which would give rules of one name."""
    in_header = stem == "gpt_oss"
    names = (*(name for name in NAMES if not in_header or len(name) <= MAX_NAME), "a_b")
    tools = [{**FLAT, "name": name} for name in names]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    words = ("-o", "x.gbnf", "-o", "x.lark", "--tools", "tools.json")
    done = run(HERMES.with_name(f"{stem}.jinja"), *words)
    assert (done.err, done.status) == ("", 0)
    text = (tmp_path / "x.gbnf").read_text(encoding="utf-8")
    assert all(name in text for name in names)


def test_a_name_that_is_too_long_for_a_header(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([{**FLAT, "name": "x" * (MAX_NAME + 1)}]))
    words = ("-o", "x.gbnf", "--tools", "tools.json")
    done = run(HERMES.with_name("gpt_oss.jinja"), *words)
    assert done.status == 2
    assert f"at most {MAX_NAME} characters, and this one {MAX_NAME + 1}." in done.err


@pytest.mark.parametrize("stem", ["hermes_2_pro", "qwen3_coder"])
def test_names_that_json_quotes(run: Runner, tmp_path: Path, stem: str) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([{**FLAT, "name": 'a "b"'}]))
    done = run(HERMES.with_name(f"{stem}.jinja"), "-o", "x.gbnf", "--tools", "tools.json")
    assert done.status == (0 if stem == "hermes_2_pro" else 2)
    assert ("Rename it in the tools" in done.err) == (stem == "qwen3_coder")


# ---- Schemas of responses ----


# Printed by model_json_schema() of pydantic 2.14, from a model with nested and recursive models.
PYDANTIC: dict[str, Any] = json.loads("""
{"$defs": {
  "Cat": {"properties": {"kind": {"const": "cat", "title": "Kind", "type": "string"},
    "lives": {"default": 9, "maximum": 9, "minimum": 0, "title": "Lives", "type": "integer"}},
    "required": ["kind"], "title": "Cat", "type": "object"},
  "Colour": {"enum": ["red", "blue"], "title": "Colour", "type": "string"},
  "Dog": {"properties": {"kind": {"const": "dog", "title": "Kind", "type": "string"},
    "name": {"maxLength": 20, "minLength": 1, "title": "Name", "type": "string"}},
    "required": ["kind", "name"], "title": "Dog", "type": "object"},
  "Node": {"properties": {"value": {"title": "Value", "type": "integer"},
    "children": {"default": [], "items": {"$ref": "#/$defs/Node"}, "title": "Children",
    "type": "array"}}, "required": ["value"], "title": "Node", "type": "object"}},
 "additionalProperties": false, "description": "An order.",
 "properties": {
  "id": {"format": "uuid", "title": "Id", "type": "string"},
  "when": {"format": "date-time", "title": "When", "type": "string"},
  "day": {"anyOf": [{"format": "date", "type": "string"}, {"type": "null"}], "default": null,
    "title": "Day"},
  "colour": {"$ref": "#/$defs/Colour"},
  "pet": {"discriminator": {"mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"},
    "propertyName": "kind"}, "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
    "title": "Pet"},
  "pair": {"maxItems": 2, "minItems": 2, "prefixItems": [{"type": "integer"}, {"type": "string"}],
    "title": "Pair", "type": "array"},
  "more": {"additionalProperties": {"type": "integer"}, "default": {}, "title": "More",
    "type": "object"},
  "code": {"pattern": "^[A-Z]{3}-\\\\d+$", "title": "Code", "type": "string"},
  "tree": {"$ref": "#/$defs/Node"},
  "ratio": {"exclusiveMaximum": 1, "exclusiveMinimum": 0, "title": "Ratio", "type": "number"}},
 "required": ["id", "when", "colour", "pet", "pair", "code", "tree", "ratio"],
 "title": "Order", "type": "object"}
""")
RESPONSE_FORMATS: dict[str, Any] = {
    "chat completions": {
        "type": "json_schema",
        "json_schema": {"name": "order", "strict": True, "schema": PYDANTIC},
    },
    "responses": {"type": "json_schema", "name": "order", "strict": True, "schema": PYDANTIC},
    "what is in it": {"name": "order", "strict": True, "schema": PYDANTIC},
}


@pytest.mark.parametrize("form", RESPONSE_FORMATS)
def test_forms_of_response_schemas(run: Runner, tmp_path: Path, form: str) -> None:
    expected = grammar(run, tmp_path, PYDANTIC, "--response-schema")
    assert 'content-node-children ::= "\\"children\\"" colon lbrack (content-node' in expected
    assert grammar(run, tmp_path, RESPONSE_FORMATS[form], "--response-schema") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "--response-schema given.json: null is no schema. Give an object, true or false."),
        ({"type": "json_object"}, 'json_object has no schema: give {"type": "object"}.'),
        ({"type": "json_schema"}, "under json_schema.schema, and there is none. Put it there"),
        ({"type": "json_schema", "json_schema": {"name": "x"}}, "json_schema.schema, and there is"),
        ("{}\n{}", "given.json:2:1: not valid JSON: Extra data"),
        ([], "[] at # is no schema. Give an object, true or false."),
        ([WRAPPED], "given.json: it holds a list of tools, and no schema of a response. Tools go"),
        ({"tools": [WRAPPED]}, "given.json: it holds a list of tools"),
        ({"result": {"tools": [{"name": "f", "inputSchema": {}}]}}, "it holds a list of tools"),
        (WRAPPED, "given.json: it holds a tool, and no schema"),
        ({"name": "f", "input_schema": {"type": "object"}}, "given.json: it holds a tool"),
    ],
)
def test_faults_of_response_schemas(
    run: Runner, tmp_path: Path, content: Any, message: str
) -> None:
    assert message in fault(run, tmp_path, content, "--response-schema")


@pytest.mark.parametrize("with_tools", [False, True])
def test_a_lazy_grammar_has_no_content(run: Runner, tmp_path: Path, with_tools: bool) -> None:
    (tmp_path / "schema.json").write_text('{"type": "object"}', encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps([WRAPPED]), encoding="utf-8")
    tools = ["--tools", "tools.json"] if with_tools else []
    words = ["--lazy", "--response-schema", "schema.json", *tools, "-o", "x.gbnf"]
    done = run(HERMES, *words)
    assert done.status == 2
    assert "a lazy grammar begins at a tool call and has no content" in done.err
    assert not (tmp_path / "x.gbnf").exists()


def test_properties_named_as_a_tool(run: Runner, tmp_path: Path) -> None:
    named = {"name": {"type": "string"}, "parameters": {"type": "object"}, "tools": {}}
    schema = {"type": "object", "properties": named}
    assert "parameters" in grammar(run, tmp_path, schema, "--response-schema")


def test_properties_named_as_a_response_format(run: Runner, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "schema": {}}}
    assert "schema" in grammar(run, tmp_path, schema, "--response-schema")
