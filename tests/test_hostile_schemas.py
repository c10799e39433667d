"""Tools and schemas from strangers: a grammar or an error with a sentence, soon, and nothing is fetched."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from typing import Any

import formats
import pytest

from autoparser_gen.emit import gbnf, lark
from autoparser_gen.errors import AutoparserError
from autoparser_gen.grammar.lower import lower

SECONDS = 30.0  # a hang, not a measure of speed
FORMS = ("JSON_IN_TAGS", "RAW_VALUES")

Schema = Any


def nested(levels: int, wrap: Callable[[Schema], Schema]) -> Schema:
    schema: Schema = {"type": "string"}
    for _ in range(levels):
        schema = wrap(schema)
    return schema


def record(properties: Schema, **more: Schema) -> Schema:
    return {"type": "object", "properties": properties, **more}


def definitions(count: int, link: Callable[[int], Schema]) -> Schema:
    defs = {f"d{i}": link(i) for i in range(count)} | {f"d{count}": {"type": "string"}}
    return {"$defs": defs, **record({"x": {"$ref": "#/$defs/d0"}})}


def ref(index: int) -> Schema:
    return {"$ref": f"#/$defs/d{index}"}


# Schemas that a grammar is made of.
TAKEN: dict[str, Schema] = {
    "a tree": {
        "$defs": {"t": record({"of": {"type": "array", "items": {"$ref": "#/$defs/t"}}})},
        **record({"x": {"$ref": "#/$defs/t"}}),
    },
    "the whole schema in itself": record({"x": {"$ref": "#"}}),
    "two that refer to each other": definitions(
        2, lambda i: record({"y": ref(1 - i), "z": ref(2)})
    ),
    "a chain of references": definitions(200, lambda i: ref(i + 1)),
    "references that double": definitions(40, lambda i: record({"a": ref(i + 1), "b": ref(i + 1)})),
    "300 properties": record({f"p{i}": {"type": "string"} for i in range(300)}),
    "names with spaces and signs": record(
        {name: {"type": "integer"} for name in ("a\\", "a b", "'", "/p", "ü", "=")}
    ),
    "names that are the same as a rule's": record(
        {name: {"type": "null"} for name in ("x-y", "x_y", "x y", "root", "start")}
    ),
    "nested objects": record({"x": nested(40, lambda inner: record({"y": inner}))}),
    "words of an enum with markup": record(
        {"x": {"enum": ["</tool_call>", 'a"b', "\n", "", None]}}
    ),
    "no schema at all": None,
    "true": True,
    "unknown keywords": record({"x": {"type": "string", "x-secret": {"$ref": "file:///etc"}}}),
}

# Schemas that are refused, or that become a grammar: both are right, hanging and crashing are not.
EITHER: dict[str, Schema] = {
    # not where a name is markup
    "names with quotes and line ends": record(
        {name: {"type": "integer"} for name in ('a"b', "a\nb", "a\\", "a b", "'", "</p>", "ü", "=")}
    ),
    "10,000 words of an enum": record({"x": {"enum": [f"word {i}" for i in range(10_000)]}}),
    "1,000 levels of arrays": record(
        {"x": nested(1000, lambda it: {"type": "array", "items": it})}
    ),
    "1,000 levels of anyOf": record({"x": nested(1000, lambda it: {"anyOf": [it, it]})}),
    "1,000 levels of allOf": record({"x": nested(1000, lambda it: {"allOf": [it]})}),
    "40 levels of alternatives that double": definitions(
        40, lambda i: {"anyOf": [ref(i + 1), ref(i + 1)]}
    ),
    "40 levels of allOf that double": definitions(
        40, lambda i: record({"a": {"allOf": [ref(i + 1)]}, "b": {"allOf": [ref(i + 1)]}})
    ),
    "2,000 properties": record({f"p{i}": {"type": "string"} for i in range(2000)}),
    "huge bounds": record({"x": {"type": "array", "minItems": 10**9, "maxItems": 10**12}}),
    "a long string": record({"x": {"type": "string", "minLength": 10**7, "maxLength": 10**9}}),
    "a huge range": record({"x": {"type": "integer", "minimum": -(10**300), "maximum": 10**300}}),
    "a pattern that explodes": record({"x": {"type": "string", "pattern": "^(a+)+(b|b)*{1,999}$"}}),
    "a pattern that repeats": record({"x": {"type": "string", "pattern": "^((a{99}){99}){99}$"}}),
    "a pattern that is none": record({"x": {"type": "string", "pattern": "^([$"}}),
    "lone surrogates": record({"\ud800": {"const": "\udfff"}}),
    "a marker as a name": record({"</parameter>": {"type": "string"}, "<parameter=": True}),
}

REFUSED: dict[str, Schema] = {
    "a remote reference": record({"x": {"$ref": "https://example.com/schema.json"}}),
    "a file": record({"x": {"$ref": "file:///etc/passwd"}}),
    "a reference to nothing": record({"x": {"$ref": "#/$defs/none"}}),
    "a reference to itself": definitions(1, lambda _: ref(0)),
    "references in a circle": definitions(2, lambda i: ref(1 - i)),
    "a reference that is no text": record({"x": {"$ref": 5}}),
    "a type that is none": record({"x": {"type": "strong"}}),
    "types that are no texts": record({"x": {"type": [1, None]}}),
    "properties that are a list": record(["x", "y"]),
    "a property that is a number": record({"x": 5}),
    "required that is a text": record({"x": {}}, required="x"),
    "an enum that is a text": record({"x": {"enum": "abc"}}),
    "an enum of nothing": record({"x": {"enum": []}}),
    "items that are a number": record({"x": {"type": "array", "items": 5}}),
    "a bound that is a text": record({"x": {"type": "array", "minItems": "many"}}),
    "anyOf that is an object": record({"x": {"anyOf": {"type": "string"}}}),
    "a bound that is infinite": record({"x": {"type": "integer", "maximum": float("inf")}}),
    "a bound that is not a number": record({"x": {"type": "string", "minLength": float("nan")}}),
    "anyOf of nothing": record({"x": {"anyOf": []}}),
}


def grammars(form: str, schema: Schema, name: str = "f") -> list[str]:
    analysis = getattr(formats, form)
    function = {"name": name, "parameters": schema}
    grammar = lower(analysis, tools=[{"type": "function", "function": function}])
    return [lark.emit(analysis, grammar, []), gbnf.emit(analysis, grammar, [])]


def grammars_unless_refused(form: str, schema: Schema, name: str = "f") -> list[str]:
    """The grammars, or none where an error of ours says why."""
    with contextlib.suppress(AutoparserError):
        return grammars(form, schema, name)
    return []


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", TAKEN)
def test_taken(kind: str, form: str) -> None:
    started = time.monotonic()
    for text in grammars(form, TAKEN[kind]):
        assert text.encode()
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", EITHER)
def test_a_grammar_or_a_sentence(kind: str, form: str) -> None:
    started = time.monotonic()
    for text in grammars_unless_refused(form, EITHER[kind]):
        assert text.encode()
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", REFUSED)
def test_refused_with_a_sentence(kind: str, form: str) -> None:
    with pytest.raises(AutoparserError) as error:
        grammars(form, REFUSED[kind])
    assert 20 < len(str(error.value)) < 2000


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name", ['a"b', "a\nb", "</tool_call>", "a>b", "\ud800", "a" * 10_000, " "]
)
def test_names_of_tools(name: str, form: str) -> None:
    for text in grammars_unless_refused(form, record({"x": {"type": "string"}}), name):
        assert text.encode()
        assert text.splitlines() == text.removesuffix("\n").split("\n")


@pytest.mark.parametrize("tools", [{}, "f", 5, [5], [{}], [{"name": ""}], [{"name": "f"}] * 2])
def test_tools_that_are_no_list_of_tools(tools: Any) -> None:
    with pytest.raises(AutoparserError):
        lower(formats.JSON_IN_TAGS, tools=tools)
