"""Calls as in Python, arguments as one literal and arguments as nested tags."""

from __future__ import annotations

import json
import random
import types
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from literal_formats import CHAT_TEMPLATES, analysis_of, parser_of
from parsers import deltas_of
from splits import every_split, pieces, random_pieces, usual_splits

from autoparser_gen.analysis.model import ToolMode, ValueSyntax

Calls = list[tuple[str, Any]]

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {
                    "s": {"type": "string"},
                    "n": {"type": "integer"},
                    "u": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                    "l": {"type": "array", "items": {"type": "string"}},
                    "o": {"$ref": "#/$defs/tree"},
                },
                "$defs": {
                    "tree": {
                        "type": "object",
                        "properties": {
                            "s": {"type": "string"},
                            "el": {"type": "integer"},
                            "o": {"$ref": "#/$defs/tree"},
                        },
                    }
                },
            },
        },
    }
    for name in ("f", "g")
]


def read_in(module: types.ModuleType, text: str, split: Sequence[str], **options: Any) -> Any:
    """The message and spans of a text in pieces; the deltas must add up to the message."""
    parser = module.Parser(**options)
    deltas = deltas_of(parser, split)
    assert module.merge(deltas) == parser.message
    if not options.get("stream_arguments", True):
        assert not any(delta.retracted for delta in deltas)
    return parser.message, parser.spans


def read(name: str, text: str, splits: Iterator[list[str]] | None = None, **options: Any) -> Any:
    """The message, the same for every split; no character is lost."""
    module = parser_of(name)
    message, spans = module.parse(text, **options), module.spans(text, **options)
    assert "".join(text[span.start : span.end] for span in spans) == text
    for split in every_split(text) if splits is None else splits:
        assert read_in(module, text, split, **options) == (message, spans), split
    for split in ([text], pieces(text, 1)):
        held = read_in(module, text, split, stream_arguments=False, **options)
        assert held == (message, spans)
    return message


def calls_in(message: Any) -> Calls:
    return [(call.name, json.loads(call.arguments)) for call in message.tool_calls]


def is_malformed(name: str, text: str, **options: Any) -> bool:
    module = parser_of(name)
    try:
        module.parse(text, strict=True, **options)
    except module.ParseError:
        return True
    return False


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("python list", ToolMode.PYTHON_CALLS),
        ("python lines", ToolMode.PYTHON_CALLS),
        ("python raw", ToolMode.PYTHON_CALLS),
        ("python tags", ToolMode.PYTHON_CALLS),
        ("python bare", ToolMode.PYTHON_CALLS),
        ("python unquoted", ToolMode.PYTHON_CALLS),
        ("own quotes", ToolMode.TAG_WITH_LITERAL),
        ("nested tags", ToolMode.TAG_WITH_TAGGED),
    ],
)
def test_the_kind_of_format_is_found(name: str, mode: ToolMode) -> None:
    tools = analysis_of(name).tools
    assert tools.format.mode is mode
    nested = tools.arguments.value_syntax is ValueSyntax.NESTED_TAGS
    assert nested == (name == "nested tags")


ONE_CALL = {
    "python list": '<calls>[f(s="a", n=1)]</calls>',
    "python lines": '<calls>f(s="a", n=1)</calls>',
    "python raw": "<calls>[f(s='a', n=1)]</calls>",
    "python tags": '<call>f(s="a", n=1)</call>',
    "python bare": "[f(s='a', n=1)]",
    "python unquoted": "[f(s=a, n=1)]",
    "own quotes": "<call>f{s:<q>a<q>,n:1}</call>",
    "nested tags": '<call name="f">%<s>a%</s>%<n>1%</n></call>',
}
TWO_CALLS = {
    "python list": "<calls>[f(n=1), g()]</calls>",
    "python lines": "<calls>f(n=1)\ng()</calls>",
    "python raw": "<calls>[f(n=1), g()]</calls>",
    "python tags": "<call>f(n=1)</call><call>g()</call>",
    "python bare": "[f(n=1), g()]",
    "python unquoted": "[f(n=1), g()]",
    "own quotes": "<call>f{n:1}</call><call>g{}</call>",
    "nested tags": '<call name="f">%<n>1%</n></call><call name="g"></call>',
}


@pytest.mark.parametrize("name", CHAT_TEMPLATES)
@pytest.mark.parametrize("tools", [None, TOOLS])
def test_one_call(name: str, tools: Any) -> None:
    message = read(name, ONE_CALL[name] + "<end>\n", tools=tools)
    assert calls_in(message) == [("f", {"s": "a", "n": 1})]
    assert message.tool_calls[0].arguments == '{"s": "a", "n": 1}'
    assert message.content == "" == message.incomplete


@pytest.mark.parametrize("name", CHAT_TEMPLATES)
def test_two_calls_and_text_around_them(name: str) -> None:
    text = f"Well.\n{TWO_CALLS[name]}Done.<end>"
    message = read(name, text)
    assert calls_in(message) == [("f", {"n": 1}), ("g", {})]
    assert message.content.split() == ["Well.Done."] or message.content == "Well.\nDone."


@pytest.mark.parametrize("name", CHAT_TEMPLATES)
def test_no_tools_no_calls(name: str) -> None:
    assert (
        read(name, ONE_CALL[name], usual_splits(ONE_CALL[name]), tools=[]).content == ONE_CALL[name]
    )


@pytest.mark.parametrize("name", CHAT_TEMPLATES)
def test_a_cut_call_is_incomplete_and_complete_ones_stay(name: str) -> None:
    text = TWO_CALLS[name]
    whole = calls_in(parser_of(name).parse(text))
    for end in range(len(text)):
        message = read(name, text[:end], usual_splits(text[:end], end))
        assert calls_in(message) == whole[: len(message.tool_calls)]
        assert message.content in text
        assert is_malformed(name, text[:end]) == bool(message.incomplete)


@pytest.mark.parametrize("name", CHAT_TEMPLATES)
def test_an_argument_that_stands_twice_is_malformed(name: str) -> None:
    text = ONE_CALL[name].replace("n", "s", -1) if name == "nested tags" else ONE_CALL[name]
    text = text.replace("n=", "s=").replace("n:", "s:").replace("<n>1%</n>", "<s>1%</s>")
    text = text.replace("same", "name")
    message = read(name, text)
    assert not message.tool_calls
    assert message.content == text
    assert is_malformed(name, text)


# ---- Calls as in Python ----


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a.b-c(x=1)]", [("a.b-c", {"x": 1})]),
        ("[ f ( n = 1 , s = 'x' , ) , g( ) , ]", [("f", {"n": 1, "s": "x"}), ("g", {})]),
        ("[f(l=[1, ('a', None)], o={'k': {'z': True}})]", None),
        ("f(n=1)", [("f", {"n": 1})]),
        ("f(n=1)\n\ng()", [("f", {"n": 1}), ("g", {})]),
        ("f(n=1), g(),h()", [("f", {"n": 1}), ("g", {}), ("h", {})]),
        ("f(n=1) g()", [("f", {"n": 1}), ("g", {})]),
        (r"[f(s='it\'s', t=" + r'"\u00e9\n")]', [("f", {"s": "it's", "t": "é\n"})]),
        ("[f(s=')]</calls>')]", [("f", {"s": ")]</calls>"})]),
        ("[]", []),
        ("", []),
    ],
)
@pytest.mark.parametrize("name", ["python list", "python lines"])
def test_python_calls(name: str, text: str, expected: Calls | None) -> None:
    message = read(name, f"<calls>{text}</calls>")
    if expected is None:
        expected = [("f", {"l": [1, ["a", None]], "o": {"k": {"z": True}}})]
    assert calls_in(message) == expected
    assert message.content == ""


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("[f(1)]", ""),
        ("[f(n=)]", ""),
        ("[f(n=NaN)]", ""),
        ("[f(n=1 s=2)]", ""),
        ("[f n=1]", ""),
        ("[f(n=1}]", ""),
        ("f(n=1) and so on", ""),
        ("f(n=1)]", ""),
        ("[f(n=1), g(2)]", " g(2)]</calls>"),
        ("[f(n=1) g()]", ""),
    ],
)
def test_malformed_python_calls(text: str, rest: str) -> None:
    text = f"<calls>{text}</calls>"
    message = read("python list", text)
    assert is_malformed("python list", text)
    if rest:
        assert calls_in(message) == [("f", {"n": 1})]
        assert message.content == rest
    else:
        assert not message.tool_calls
        assert message.content == text


def test_the_section_end_may_be_missing() -> None:
    assert calls_in(read("python list", "<calls>[f(n=1)] Done.")) == [("f", {"n": 1})]
    assert calls_in(read("python lines", "<calls>f(n=1)")) == [("f", {"n": 1})]
    assert calls_in(read("python lines", "<calls>f()<end>\n")) == [("f", {})]
    assert calls_in(read("python lines", "<calls>f()<calls>g()</calls>")) == [("f", {}), ("g", {})]
    cut = read("python lines", "<calls>f(n=1)\ng")
    assert calls_in(cut) == [("f", {"n": 1})]
    assert cut.incomplete.strip() == "g"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("it's 'a', ok", "it's 'a', ok"),
        ("print('a', 'b')", "print('a', 'b')"),
        ("a\nb \\n \\' c", "a\nb \\n \\' c"),
        ("x') y", "x') y"),
        ("x'", "x'"),
        (", n=1", ", n=1"),
    ],
)
def test_strings_that_nothing_escapes(written: str, value: str) -> None:
    text = f"<calls>[f(s='{written}', n=1), g(s='{written}')]</calls>"
    message = read("python raw", text, usual_splits(text, 3))
    assert calls_in(message) == [("f", {"s": value, "n": 1}), ("g", {"s": value})]


def test_other_quotes_than_those_that_are_written_are_pythons() -> None:
    text = r"""<calls>[f(s="a\n\"b\"", l=['it\'s', "x"])]</calls>"""
    assert calls_in(read("python raw", text)) == [("f", {"s": 'a\n"b"', "l": ["it's", "x"]})]


@pytest.mark.parametrize("name", ["python bare", "python unquoted"])
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("[f()]", 1),
        (" \n [f()]", 1),
        ("See:\n[f()]\n", 1),
        ("[f()]\n[g()]", 2),
        ("[f()][g()]", 2),
        ("[f()] [g()] See [f()]", 2),
        ("See [f()]", 0),
        ("[]", 0),
        ("[see](url)", 0),
        ("[1, 2]", 0),
        ("[h()]", 0),  # no such tool
        ("[f], g()", 0),
    ],
)
def test_calls_without_any_marker(name: str, text: str, count: int) -> None:
    message = read(name, text, tools=TOOLS)
    assert len(message.tool_calls) == count
    if not count:
        assert message.content == text
        assert not is_malformed(name, text, tools=TOOLS)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("Rome", "Rome"),
        ("Rome, Italy", "Rome, Italy"),
        ("see (a) and (b)", "see (a) and (b)"),
        ("  inside  ", "  inside  "),
        ("", ""),
        ("5", "5"),
        ("None", "None"),
        ('{"a": [1]}', '{"a": [1]}'),
        ("[{(x)}] }} ]] ) , : =", "[{(x)}] }} ]] ) , : ="),
        ("'quoted, n=1'", "quoted, n=1"),
        ('"a" or "b"', '"a" or "b"'),
        ("True story", "True story"),
    ],
)
def test_strings_without_quotes(written: str, value: str) -> None:
    text = f"[f(s={written}, n=1), g(s={written})]"
    message = read("python unquoted", text, usual_splits(text, 1), tools=TOOLS)
    assert calls_in(message) == [("f", {"s": value, "n": 1}), ("g", {"s": value})]


def test_values_without_quotes_and_schema_are_literals_where_they_read_as_one() -> None:
    text = "[f(a=1, b=None, c=x, d=['y', True], e={'k': 1.5}, g=01)]"
    value = {"a": 1, "b": None, "c": "x", "d": ["y", True], "e": {"k": 1.5}, "g": "01"}
    assert calls_in(read("python unquoted", text, usual_splits(text))) == [("f", value)]


# ---- Arguments that are one literal ----


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ("{}", {}),
        ("{ s : <q>a<q> }", {"s": "a"}),
        ("{s:<q>x</call>y<q>}", {"s": "x</call>y"}),
        ("{s:<q>say <q>hi<q> now<q>}", {"s": "say <q>hi<q> now"}),
        ("{o:{l:[<q>a<q>,{k:null}],b:false}}", {"o": {"l": ["a", {"k": None}], "b": False}}),
        ("{s:Oslo<q>}", {"s": "Oslo"}),
        ("{s:<q>a,t:<q>b<q>}", {"s": "a", "t": "b"}),
        ("{s:<q>a}", {"s": "a"}),
    ],
)
def test_literal_arguments(arguments: str, value: Any) -> None:
    text = f"<call>f{arguments}</call><call>a:b.c-d{{n:1}}</call>"
    message = read("own quotes", text, usual_splits(text, 2))
    assert calls_in(message) == [("f", value), ("a:b.c-d", {"n": 1})]


@pytest.mark.parametrize(
    "arguments", ["{s:Oslo}", "{n:1}x", "{n:}", "{n 1}", "{n:1]", "[1]", "{n:01}"]
)
def test_malformed_literal_arguments(arguments: str) -> None:
    text = f"<call>f{arguments}</call>"
    assert read("own quotes", text).content == text
    assert is_malformed("own quotes", text)


# ---- Arguments as nested tags ----


@pytest.mark.parametrize(
    ("arguments", "typed", "untyped"),
    [
        ("%<s>5%</s>", {"s": "5"}, {"s": 5}),
        ("%<l>%<el>1%</el>%<el>x%</el>%</l>", {"l": ["1", "x"]}, {"l": [1, "x"]}),
        ("%<o>%<o>%<s>1%</s>%</o>%</o>", {"o": {"o": {"s": "1"}}}, {"o": {"o": {"s": 1}}}),
        ("%<o>%<el>1%</el>%</o>", {"o": {"el": 1}}, {"o": [1]}),
        ("%<l>%</l>%<o>%</o>%<s>%</s>", {"l": [], "o": {}, "s": ""}, {"l": "", "o": "", "s": ""}),
        ("%<u>%</u>%<n>True%</n>", {"u": None, "n": True}, {"u": "", "n": "True"}),
        ("%<s>%<b>x%</b>%</s>", {"s": "%<b>x%</b>"}, {"s": {"b": "x"}}),
        ("%<s>a %</s> b%</s>", {"s": "a %</s> b"}, {"s": "a %</s> b"}),
        ("%<s>\n x %</s>", {"s": "\n x "}, {"s": "\n x "}),
        ("\n%<o>\n %<s>x%</s>\n%</o>\n", {"o": {"s": "x"}}, {"o": {"s": "x"}}),
        ("%<l>[1, 2]%</l>", {"l": [1, 2]}, {"l": "[1, 2]"}),
        ("%<x>%<el>%<el>1%</el>%</el>%</x>", {"x": [[1]]}, {"x": [[1]]}),
        ("", {}, {}),
    ],
)
def test_nested_tags(arguments: str, typed: Any, untyped: Any) -> None:
    text = f'<call name="f">{arguments}</call>'
    assert calls_in(read("nested tags", text, tools=TOOLS)) == [("f", typed)]
    assert calls_in(read("nested tags", text)) == [("f", untyped)]


def test_a_tag_that_is_not_closed_ends_with_its_call() -> None:
    text = '<call name="f">%<s>a</call><call name="g">%<s>b%</s></call>'
    message = read("nested tags", text, usual_splits(text))
    assert calls_in(message) == [("f", {"s": "a"}), ("g", {"s": "b"})]
    assert calls_in(read("nested tags", '<call name="f">%<s>a</call>\n')) == [("f", {"s": "a"})]
    data = '<call name="f">%<s>a</call> b%</s></call>'
    assert calls_in(read("nested tags", data)) == [("f", {"s": "a</call> b"})]


@pytest.mark.parametrize(
    "arguments",
    [
        "%<s>a%</s>%<s>b%</s>",
        "%<o>%<s>a%</s>%<s>b%</s>%</o>",
        "%<o>%<el>1%</el>%</o>%</x>",
        "x%<s>a%</s>",
        "%<l>%<el>a%</el>%<x>b%</x>%</l>",
        "%<>a%</>",
    ],
)
def test_malformed_nested_tags(arguments: str) -> None:
    text = f'<call name="f">{arguments}</call>'
    message = read("nested tags", text, tools=TOOLS)
    assert message.content == text
    assert is_malformed("nested tags", text, tools=TOOLS)


# ---- Whatever a model may write ----

DAMAGE = [
    *"{}[]()<>,:='\"\\%\n 1a",
    "<q>",
    "</call>",
    "<call>",
    "</calls>",
    "[f(",
    "n=",
    "%</",
    "%<el>",
]


def damaged(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 3)):
        at, size = rng.randrange(len(text) + 1), rng.randrange(6)
        new = rng.choice(["", rng.choice(DAMAGE), text[size * 5 : size * 5 + 20]])
        text = text[:at] + new + text[at + rng.choice([0, size]) :]
    return text


@pytest.mark.parametrize("name", CHAT_TEMPLATES)
def test_nothing_is_lost_of_damaged_calls(name: str) -> None:
    rng = random.Random(name)
    for number in range(60):
        text = damaged(f"A {ONE_CALL[name]}\n{TWO_CALLS[name]}<end>", rng)
        tools = rng.choice([None, TOOLS])
        message = read(
            name, text, iter([pieces(text, 1), random_pieces(text, number)]), tools=tools
        )
        assert all(isinstance(value, dict) for _, value in calls_in(message))


@pytest.mark.parametrize("name", CHAT_TEMPLATES)
def test_what_has_come_out_depends_on_the_prefix_alone(name: str) -> None:
    rng, module = random.Random(name), parser_of(name)
    for _ in range(8):
        text = damaged(ONE_CALL[name], rng)
        parser = module.Parser()
        deltas = []
        for end in range(1, len(text) + 1):
            deltas += parser.feed(text[end - 1])
            other = module.Parser()
            assert module.merge(other.feed(text[:end])) == module.merge(deltas) == parser.message


DEEP = {
    "python list": ("<calls>[f(a=", "[", "]", ")]</calls>"),
    "python raw": ("<calls>[f(a=", "{'k': ", "}", ")]</calls>"),
    "python unquoted": ("[f(a=", "[", "]", ")]"),
    "own quotes": ("<call>f{a:", "{k:", "}", "}</call>"),
    "nested tags": ('<call name="f">%<a>', "%<k>", "%</k>", "%</a></call>"),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting(name: str) -> None:
    before, opener, closer, after = DEEP[name]
    depth = 3000
    text = f"{before}{opener * depth}1{closer * depth}{after}"
    module = parser_of(name)
    message, _ = read_in(module, text, random_pieces(text, 1, 500))
    assert [call.name for call in message.tool_calls] == ["f"]
    assert message.tool_calls[0].arguments.count("1") == 1
