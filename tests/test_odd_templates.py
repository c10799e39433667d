"""Formats that no vendor ships: found, verified, and read as a model would write them."""

from __future__ import annotations

import functools
import json
import random
import types
from dataclasses import dataclass

import pytest
from odd_templates import TEMPLATES, UNREADABLE
from parsers import deltas_of
from splits import usual_splits
from test_nothing_lost import check
from walks import TOOLS as USUAL_TOOLS
from walks import damaged, markers_of

from autoparser_gen import verify
from autoparser_gen.analysis import Analysis, analyze
from autoparser_gen.chat_template import ChatTemplate, Renderer
from autoparser_gen.errors import GrammarError
from autoparser_gen.grammar.lower import lower
from autoparser_gen.probe import Prober
from autoparser_gen.targets import TARGETS, Draft


@dataclass(frozen=True)
class Odd:
    analysis: Analysis
    module: types.ModuleType
    report: verify.Report


@functools.cache
def generate(name: str) -> Odd:
    return generate_from(TEMPLATES[name])


def generate_from(text: str) -> Odd:
    prober = Prober(Renderer(ChatTemplate("odd.jinja", text)))
    analysis = analyze(prober)
    draft = Draft(analysis, lower(analysis), ())
    python, lark = (TARGETS[target].emit(draft) for target in ("python", "lark"))
    report = verify.verify(prober, analysis, verify.Subject(python, lark))
    return Odd(analysis, verify.import_text(python), report)


NOT_RENDERED = {
    "bare calls right behind content": ("content beside calls in one turn",),
    "the type in bare calls": ("content beside calls in one turn",),
    "reasoning behind calls": ("reasoning in front of calls",),
    "no arguments as broken JSON": ("a call without arguments that can be read",),
    "the end of turn between content and calls": ("content beside calls in one turn",),
    "reasoning anywhere in content": ("reasoning without calls",),
    "the whole list of calls without a marker": ("content beside calls",),
    "a member of every bare call": ("content beside calls",),
    "reasoning up to the next line's word": ("content beside calls",),
    "a block of reasoning before every call": ("reasoning without calls", "content beside calls"),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_verified_but_for_what_is_not_rendered(name: str) -> None:
    apart = set(generate(name).report.not_rendered) - {"reasoning"}
    assert apart == set(NOT_RENDERED.get(name, ()))
    assert "call" in generate(name).report.rendered


CALL = '{"name": "f", "arguments": {"x": 1}}'
ONE, TWO = [("f", {"x": 1})], [("f", {"x": 1})] * 2

NUMBERED = "a number behind the tag's name"
NEXT_LINE = "reasoning up to the next line's word"
BEGUN = "a header that the prompt begins"
NAME_FIRST = "names in the first line of a message"
NULL = "a content of its own for an empty text, none for null"
BEHIND_LIST = "content right behind a bare list of python calls"
ASIDE = "a wrapper of content beside calls, none without content"
BLOCK = "a block of reasoning before every call"

DAMAGED = 100  # outputs that are made of each format's
# (format, output, content, reasoning, calls)
OUTPUTS = [
    ("bare calls with commas", f"{CALL},{CALL}", "", "", TWO),
    ("bare calls with commas", f"{CALL} , \n{CALL}", "", "", TWO),
    ("bare calls with commas", f"{CALL}\n{CALL}", "", "", TWO),
    ("bare calls with commas", f"{CALL}, and so on", ", and so on", "", ONE),
    ("bare calls with commas", f"{CALL}, {{odd", ", {odd", "", ONE),
    ("whitespace of any kind around calls", f"So \r\n<c>\t{CALL}</c>\r\n", "So", "", ONE),
    ("whitespace of any kind around calls", f"<c>{CALL}</c>\n<c>{CALL}</c>", "", "", TWO),
    ("calls in tags with a semicolon", f"So<c>{CALL}</c>; <c>{CALL}</c>", "So", "", TWO),
    ("calls in tags with a semicolon", f"<c>{CALL}</c><c>{CALL}</c>", "", "", TWO),
    ("calls in tags with a semicolon", f"<c>{CALL}</c>; done", "; done", "", ONE),
    ("a wrapper of content beside calls", f"<say>So</say><c>{CALL}</c>", "So", "", ONE),
    ("a wrapper of content beside calls", f"So<c>{CALL}</c>", "So", "", ONE),
    ("a wrapper of content beside bare calls", f"<say>So</say>{CALL}", "So", "", ONE),
    ("a wrapper of content beside bare calls", f"<say>{CALL}</say>", "", "", ONE),
    (
        "json values in tags",
        '<call name="f">\n<arg name="x">"1"</arg>\n<arg name="y">1</arg>\n</call>',
        *("", ""),
        [("f", {"x": "1", "y": 1})],
    ),
    (
        "json values in tags",
        '<call name="f">\n<arg name="x">a "b"</arg>\n</call>',
        "",
        "",
        [("f", {"x": 'a "b"'})],
    ),
    ("names as keys, in a fence", '```tool_code\n[{"f": {"x": 1}}]\n```', "", "", ONE),
    ("names as keys, in a fence", "```python\n[1]\n```", "```python\n[1]\n```", "", []),
    ("words in front of lines", 'So.ACTION: f\nINPUT: {"x": 1}\n', "So.", "", ONE),
    ("words in front of lines", 'ACTION: f\nINPUT: {"x": 1}', "", "", ONE),
    ("words in front of lines", "ACTION: f\nOUTPUT: 1", "ACTION: f\nOUTPUT: 1", "", []),
    ("a namespace and a number", 'functions.f:0{"x": 1}\nfunctions.f:1{"x": 1}', "", "", TWO),
    ("closers by type", "<f=f>\n<p=x>\n1\n</data>\n</f>", "", "", ONE),
    ("closers by type", "<f=f>\n<p=x>\n1\n</text>\n</f>", "", "", ONE),
    ("reasoning anywhere in content", "A <r>B</r> C<r>D</r>", "A  C", "BD", []),
    ("reasoning anywhere in content", f"<r>B</r>C<c>{CALL}</c>", "C", "B", ONE),
    ("more indentation beside calls", "    So", "So", "", []),
    ("names as tags around JSON", 'So <f> {"x": 1} </f>', "So ", "", ONE),
    ("names as tags around JSON", '<f>{"x": "</f>"}</f>', "", "", [("f", {"x": "</f>"})]),
    ("names as tags around JSON", '<f>{"x": 1}</g>', '<f>{"x": 1}</g>', "", []),
    ("names as tags around JSON", "a <b>c</b> <d", "a <b>c</b> <d", "", []),
    ("names as tags in a section", '<tools><f>{"x": 1}</f><f>{"x": 1}</f></tools>', "", "", TWO),
    ("names as tags in a section", '<f>{"x": 1}</f>', '<f>{"x": 1}</f>', "", []),
    ("names and keys as tags", "So<f>\n<x>1</x>\n</f>\n<f><x>1</x></f>", "So", "", TWO),
    ("names and keys as tags", "<f>\n</f>", "", "", [("f", {})]),
    ("names and keys as tags", "<f>\n<x></f></x>\n</f>", "", "", [("f", {"x": "</f>"})]),
    ("names and keys as tags", "<f><x>a</x> b</x></f>", "", "", [("f", {"x": "a</x> b"})]),
    # What follows the value is no end of this function: the value goes on.
    (
        "names and keys as tags",
        "<f><x>1</x>\n</g></x>\n</f>",
        "",
        "",
        [("f", {"x": "1</x>\n</g>"})],
    ),
    ("keys as tags", "<c><name>f</name><x><b>1</b></x></c>", "", "", [("f", {"x": "<b>1</b>"})]),
    ("keys as tags", "<c><name>f</name><x>1</x><y>2</y></c>", "", "", [("f", {"x": 1, "y": 2})]),
    ("the name in the closer", "<do f><p=x>1</p></do f>", "", "", ONE),
    ("the name in the closer", "<do f><p=x></do g></p></do f>", "", "", [("f", {"x": "</do g>"})]),
    (
        "an id in the tag around JSON",
        f"<c id='i'>\n{CALL}\n</c>\n<c id='j'>{CALL}</c>",
        "",
        "",
        TWO,
    ),
    ("an id in the tag around JSON", f"So <c id='i'>{CALL}", "So", "", ONE),
    ("an id behind JSON", f"<c>{CALL}<id>i</id></c><c>{CALL}</c>", "", "", TWO),
    ("an id behind JSON", f"<c>{CALL}", "", "", ONE),
    ("an id behind the arguments", '<c>f<a>{"x": 1}</a><id>i</id></c>', "", "", ONE),
    (
        "an id between type and function",
        f'<c>{{"type": "function", "id": "i", "function": {CALL}}}</c>',
        *("", ""),
        ONE,
    ),
    ("a number in JSON", f'<c>{{"nr": 1, {CALL[1:]}</c>', "", "", ONE),
    ("a number in the tag around JSON", f"So<c nr=0>{CALL}</c>\n<c nr=1>{CALL}</c>", "So", "", TWO),
    ("a number in the tag around JSON", "<c nr=0>So", "<c nr=0>So", "", []),
    (
        "a number in the tag with the name",
        '<c id="call_1" f="f">{"x": 1}</c><c id="call_2" f="f">{"x": 1}</c>',
        *("", ""),
        TWO,
    ),
    ("a number between tags", '<c>1<f>f</f>{"x": 1}</c><c>2<f>f</f>{"x": 1}</c>', "", "", TWO),
    ("an id behind the name", '<c f="f" id="i"><p=x>1</p></c>', "", "", ONE),
    ("an id behind the name", '<c f="f"><p=x>1</p></c>', "", "", ONE),
    ("an id behind the name", '<c f="f" id="i"></c>', "", "", [("f", {})]),
    ("a marker alone between key and value", "<f>f<k>x<v>1</v></f>", "", "", ONE),
    (
        "a marker alone between key and value",
        "<f>f<k>x<v>a <k> b <v> c</v></f>",
        *("", ""),
        [("f", {"x": "a <k> b <v> c"})],
    ),
    ("values without a closer", "<f>f<k>x<v>1</f><f>f<k>x<v>1</f>", "", "", TWO),
    ("values without a closer", "<f>f<k>x<v>a</f><k></f>", "", "", [("f", {"x": "a</f><k>"})]),
    ("values without a closer", "<f>f<k>x<v>1<k>y<v>2</f>", "", "", [("f", {"x": 1, "y": 2})]),
    ("a call that is printed", "So.<py>\nprint(f(x=1))\n</py>", "So.", "", ONE),
    ("a call that is printed", '<py>print(f(x="))"))</py>', "", "", [("f", {"x": "))"})]),
    ("no end of turn", f"<r>\nHm\n</r>\nSo.<c>{CALL}</c>", "So.", "Hm", ONE),
    (
        "a member that is the same in every call",
        '<c>{"tool": "f", "id": "i", "input": {"x": 1}, "type": "use"}</c>',
        *("", ""),
        ONE,
    ),
    ("words behind the role", ":say<b>So<e>", "So", "", []),
    (
        "words behind the role",
        ':think<b>Hm<e>\n<s>me:say<b>So<e>\n<s>me:f<b>{"x": 1}<e>\n',
        "So",
        "Hm",
        ONE,
    ),
    (
        "two closers behind a value",
        "<c><name>f</name><arg><key>x</key><value>a</value> b</value></arg></c>",
        *("", ""),
        [("f", {"x": "a</value> b"})],
    ),
    ("keys without quotes", "<js>f({x: 1});</js>", "", "", ONE),
    ("keys without quotes", '<js>f({"x": {"y": 1}});</js>', "", "", [("f", {"x": {"y": 1}})]),
    ("keys without quotes", '<js>f({x: {y: ["1"]}});</js>', "", "", [("f", {"x": {"y": ["1"]}})]),
    ("a wrapper of content that is always written", "<r>\nHm\n</r>\n<a>So</a>", "So", "Hm", []),
    (
        "the whole list of calls without a marker",
        f'[{{"id": "i", "type": "function", "function": {CALL}}}]',
        *("", ""),
        ONE,
    ),
    ("the whole list of calls without a marker", '[{"type": "f"}]', '[{"type": "f"}]', "", []),
    ("the whole list of calls without a marker", f'[{{"function": {CALL}}}]', "", "", ONE),
    ("a member of every bare call", f'{{"kind": "call", {CALL[1:]}', "", "", ONE),
    ("a member of every bare call", CALL, "", "", ONE),
    (
        "a member of every bare call",
        f'{{"of": "call", {CALL[1:]}',
        f'{{"of": "call", {CALL[1:]}',
        "",
        [],
    ),
    (
        "python calls in a fence between tags",
        "<py>\n```python\nf(x=1)\nf(x=1)\n```\n</py>\nSo",
        *("So", ""),
        TWO,
    ),
    ("python calls in a fence between tags", "<py>\n```python\nf(x=1)", "", "", ONE),
    ("reasoning between equal markers", f"Hm|think|\nSo<c>{CALL}</c>", "So", "Hm", ONE),
    ("reasoning between equal markers", "|think|\nSo |think| on", "So |think| on", "", []),
    ("reasoning between equal markers that the model writes", "***Hm***\nSo", "So", "Hm", []),
    ("reasoning between equal markers that the model writes", "So ***x***", "So ***x***", "", []),
    ("an id in the function's object", f'<c>{{"function": {CALL}}}</c>', "", "", ONE),
    (
        "an id between name and arguments",
        '<c>{"name": "f", "id": "i", "arguments": {"x": 1}}</c>',
        *("", ""),
        ONE,
    ),
    (
        "the type behind the function",
        f'<c>{{"id": "i", "function": {CALL}, "type": "function"}}</c>',
        *("", ""),
        ONE,
    ),
    (
        "the type in bare calls",
        '{"name": "f", "parameters": {"x": 1}, "type": "function"}; ' + CALL,
        *("", ""),
        TWO,
    ),
    ("the type in bare calls", f'{{"kind": 1, {CALL[1:]}', f'{{"kind": 1, {CALL[1:]}', "", []),
    ("a line end behind wrapped content", "<r>\nHm\n</r>\n<a>\nSo\n</a>\n", "So", "Hm", []),
    (
        "strings with entities",
        '<f=f><p=x>a &lt; b &amp;amp; c &unknown; d</p><p=y>{"a": "&amp;"}</p></f>',
        *("", ""),
        [("f", {"x": "a < b &amp; c &unknown; d", "y": {"a": "&amp;"}})],
    ),
    (
        "escapes that begin alike",
        "<f=f><p=x>a &amp;lt; b &amp; c</p></f>",
        *("", ""),
        [("f", {"x": "a < b & c"})],
    ),
    (
        "a bracket in front of each call",
        f"So [1]\n<tools>\n[1] {CALL}\n[2] {CALL}\n</tools>",
        *("So [1]\n", ""),
        TWO,
    ),
    ("a bracket in front of each call", f"So [1] {CALL}", f"So [1] {CALL}", "", []),
    ("reasoning behind calls", f"Hm\n</r>\n<c>{CALL}</c>", "", "Hm", ONE),
    (NUMBERED, f"So<call 1>{CALL}</call>\n<call 2>{CALL}</call>", "So", "", TWO),
    (NUMBERED, f"<call 7>{CALL}</call>", "", "", ONE),
    (NUMBERED, "I <call 1> and go", "I <call 1> and go", "", []),
    (
        f"{NUMBERED}, with tagged arguments",
        "So<call 1><f=f><p=x>1</p></f></call><call 3><f=f><p=x>1</p></f></call>",
        *("So", ""),
        TWO,
    ),
    (NEXT_LINE, "Idea: Hm\nReply: So", "So", "Hm", []),
    (NEXT_LINE, "Idea: Hm\nm\n\nReply: So\nIdea", "So\nIdea", "Hm\nm", []),
    (NEXT_LINE, "Reply: So", "So", "", []),
    (NEXT_LINE, 'Tool: f\nTool input: {"x": 1}', "", "", ONE),
    (NEXT_LINE, 'Idea: Hm\nTool: f\nTool input: {"x": 1}', "", "Hm", ONE),
    (NEXT_LINE, "Idea: My Reply: no\nReply: So", "So", "My Reply: no", []),
    (NEXT_LINE, "Idea: A Tool: is\nReply: So", "So", "A Tool: is", []),
    (NEXT_LINE, "So", "So", "", []),
    (BEGUN, "all\n<is>So<end>", "So", "", []),
    (BEGUN, 'f\n<is>{"x": 1}\n<by>assistant\n<to>f\n<is>{"x": 1}<end>', "", "", TWO),
    (BEGUN, 'all\n<is>So\n<by>assistant\n<to>f\n<is>{"x": 1}', "So", "", ONE),
    (BEGUN, 'f\n<is>{"x": 1}\n<by>assistant\n<to>all\n<is>So', "So", "", ONE),
    (BEGUN, "a\nb", "a\nb", "", []),
    (NULL, "all\n<is>So<end>", "So", "", []),
    (NULL, 'f\n<is>{"x": 1}\n<by>assistant\n<to>f\n<is>{"x": 1}<end>', "", "", TWO),
    (NULL, 'all\n<is>\n<by>assistant\n<to>f\n<is>{"x": 1}<end>', "", "", ONE),
    (BEHIND_LIST, "[f(x=1)]So", "So", "", ONE),
    (BEHIND_LIST, "So\n[f(x=1), f(x=1)] and\nmore", "So\n and\nmore", "", TWO),
    (BEHIND_LIST, "[f(x=1)", "", "", ONE),
    (BEHIND_LIST, "So [f(x=1)]", "So [f(x=1)]", "", []),
    ("content right behind a bare list of JSON", f"[{CALL}]So", "So", "", ONE),
    (ASIDE, f"<say>So</say>\n<c>{CALL}</c>", "So", "", ONE),
    (ASIDE, f"<c>{CALL}</c><c>{CALL}</c>", "", "", TWO),
    (ASIDE, f"So<c>{CALL}</c>", "So", "", ONE),
    (ASIDE, "So", "So", "", []),
    (BLOCK, f"<r>Hm</r><c>[{CALL}]</c>", "", "Hm", ONE),
    (BLOCK, f"<r></r><c>[{CALL}, {CALL}]</c>", "", "", TWO),
    (BLOCK, f"<c>[{CALL}]</c>", "", "", ONE),
    (BLOCK, "<say>So</say>", "So", "", []),
    (BLOCK, "<r>Hm</r><say>So</say>", "So", "Hm", []),
    (NAME_FIRST, "\nSo", "So", "", []),
    (NAME_FIRST, 'f\n{"x": 1}', "", "", ONE),
    (NAME_FIRST, '\nSo<assistant>f\n{"x": 1}<assistant>f\n {"x": 1}', "So", "", TWO),
    (NAME_FIRST, 'f\n{"x": 1}<assistant>\nSo', "So", "", ONE),
    (NAME_FIRST, "It rains.\nMore", "It rains.\nMore", "", []),
    (NAME_FIRST, "Yes\nMore", "Yes\nMore", "", []),
    (NAME_FIRST, "Yes\n", "Yes\n", "", []),
    (NAME_FIRST, "Yes\n{1}", "Yes\n{1}", "", []),
    (NAME_FIRST, 'So:\n{"x": 1}', 'So:\n{"x": 1}', "", []),
    (NAME_FIRST, "Yes\n" + " " * 500 + "{}", "Yes\n" + " " * 500 + "{}", "", []),
    (NAME_FIRST, "\nA<assistant>B c\nD", "A<assistant>B c\nD", "", []),
]


@pytest.mark.parametrize(("name", "text", "content", "reasoning", "calls"), OUTPUTS)
def test_outputs(
    name: str, text: str, content: str, reasoning: str, calls: list[tuple[str, object]]
) -> None:
    module = generate(name).module
    message = module.parse(text)
    assert (message.content, message.reasoning_content) == (content, reasoning)
    assert [(c.name, json.loads(c.arguments)) for c in message.tool_calls] == calls
    for pieces in usual_splits(text):
        assert module.merge(deltas_of(module.Parser(), pieces)) == message


TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


@pytest.mark.parametrize("name", sorted({row[0] for row in OUTPUTS}))
def test_nothing_of_a_damaged_output_is_lost(name: str) -> None:
    module, rng = generate(name).module, random.Random(name)
    texts = [row[1] for row in OUTPUTS if row[0] == name]
    markers = markers_of(module)
    for _ in range(DAMAGED):
        text = damaged(rng.choice(texts), markers, rng)
        check(module, text, {"tools": rng.choice((None, USUAL_TOOLS))}, rng)


@pytest.mark.parametrize("text", ["<ul><li>a</li></ul>", "So: <b>\n</b>", "a <b c", "<p>"])
def test_tags_of_other_names_are_text(text: str) -> None:
    module = generate("names and keys as tags").module
    assert module.parse(text, tools=TOOLS, strict=True).content == text
    deltas = deltas_of(module.Parser(tools=TOOLS), text)
    assert all(delta.index is None for delta in deltas)


def test_a_grammar_closes_reasoning_only_where_the_next_line_begins() -> None:
    analysis = generate(NEXT_LINE).analysis
    grammar = TARGETS["lark"].emit(Draft(analysis, lower(analysis), ()))
    reject_reason = verify.Subject("", grammar).load_grammar("odd")
    assert reject_reason("Idea: My Reply: no\nReply: So") is None
    assert reject_reason('Idea: Hm\nTool: f\nTool input: {"x": 1}') is None
    assert reject_reason("Idea: My Reply: no") is not None
    assert reject_reason("Idea: Hm\n Reply: So") is not None
    with pytest.raises(GrammarError, match="no marker ends reasoning"):
        TARGETS["response-template"].emit(Draft(analysis, lower(analysis), ()))


@pytest.mark.parametrize("written", ["", "f\n<is>{}"])
@pytest.mark.parametrize("held", ["", "<to>", "<to>f", "<to>f\n<i"])
def test_a_header_that_the_prompt_begins_is_no_part_of_the_text(written: str, held: str) -> None:
    module = generate(BEGUN).module
    whole = f"<to>{written}"
    text = whole.removeprefix(held) if written else ""
    prompt = f"<by>assistant\n{held}"
    message = module.parse(text, prompt=prompt, strict=True)
    assert [call.name for call in message.tool_calls] == (["f"] if written else [])
    assert (message.content, message.incomplete) == ("", "")
    spans = module.spans(text, prompt=prompt)
    assert "".join(text[start:end] for _, start, end in spans) == text
    for pieces in usual_splits(text):
        assert module.merge(deltas_of(module.Parser(prompt=prompt), pieces)) == message
    assert module.parse("f\n<i", prompt="<by>assistant\n<to>").incomplete == "f\n<i"


@pytest.mark.parametrize("tools", [TOOLS, []])
def test_a_first_line_names_a_tool_of_the_request(tools: list[dict[str, object]]) -> None:
    module = generate(NAME_FIRST).module
    text, calls = ('f\n{"x": 1}', [module.ToolCall("f", '{"x": 1}')])
    message = module.parse(text, tools=tools)
    assert message.tool_calls == (calls if tools else [])
    assert message.content == ("" if tools else text)
    assert module.parse('g\n{"x": 1}', tools=tools, strict=True).content == 'g\n{"x": 1}'
    assert module.parse('f\n{"x"', tools=TOOLS).incomplete == 'f\n{"x"'


def test_nothing_triggers_a_grammar_of_calls_in_first_lines() -> None:
    with pytest.raises(GrammarError, match="no marker begins the first call"):
        lower(generate(NAME_FIRST).analysis, lazy=True)


def test_equal_markers_that_the_prompt_closes() -> None:
    module = generate("reasoning between equal markers").module
    message = module.parse("So", prompt="<assistant>\n|think||think|")
    assert (message.content, message.reasoning_content) == ("So", "")


@pytest.mark.parametrize(
    "members",
    ['"id": "i", "name": "f", "arguments": {}', '"name": "f", "arguments": {}, "id": "i"'],
)
def test_ids_in_the_functions_object(members: str) -> None:
    module = generate("an id in the function's object").module
    (call,) = module.parse('<c>{"function": {' + members + "}}</c>").tool_calls
    assert (call.name, call.id) == ("f", "i")


def test_members_of_enums_are_escaped_where_strings_are() -> None:
    odd = generate("strings with entities")
    units = {"x": {"enum": ["a&b", "c"]}}
    parameters = {"type": "object", "properties": units, "required": ["x"]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    grammar = TARGETS["lark"].emit(Draft(odd.analysis, lower(odd.analysis, tools=tools), ()))
    text = "<f=f><p=x>a&amp;b</p></f>"
    reject_reason = verify.Subject("", grammar).load_grammar("odd")
    assert reject_reason(text) is None
    assert reject_reason(text.replace("&amp;", "&")) is not None
    (call,) = odd.module.parse(text, tools=tools).tool_calls
    assert json.loads(call.arguments) == {"x": "a&b"}


def test_ids_behind_names() -> None:
    message = generate("an id behind the name").module.parse('<c f="f" id="i"><p=x>1</p></c>')
    assert message.tool_calls[0].id == "i"


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_calls_are_content_and_said_to_be(name: str) -> None:
    text, problem = UNREADABLE[name]
    odd = generate_from(text)
    assert any(problem in note and "fq1zalphazq" in note for note in odd.analysis.notes)
    assert "calls in a format that can be read" in odd.report.not_rendered
    assert odd.module.parse("It rains.").content == "It rains."


@pytest.mark.parametrize("tokens", [{}, {"bos_token": "<bos>"}])
def test_a_known_first_token_hides_no_end_of_turn(tokens: dict[str, str]) -> None:
    """All headers begin alike, also that of the instructions behind every conversation."""
    text = (
        "{{ bos_token }}{%- for m in messages -%}<h><{{ m.role }}>{{ m.content }}<e>{%- endfor -%}"
        "<h><note>Answer!<e>{%- if add_generation_prompt -%}<h><assistant>{%- endif -%}"
    )
    analysis = analyze(Prober(Renderer(ChatTemplate("odd.jinja", text, tokens=tokens))))
    assert (analysis.end_of_turn, analysis.assistant_header) == ("<e>", "<h><assistant>")


def test_content_that_quotes_the_reasonings_markers_is_verified() -> None:
    odd = generate("reasoning between equal markers that the model writes")
    assert "hard text: the reasoning's markers" in odd.report.rendered
