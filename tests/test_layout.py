"""What is laid out without black is what black makes of it, whatever strangers' markers hold."""

from __future__ import annotations

import ast

import black
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoparser_gen.emit.layout import (
    LINE_LENGTH,
    assignment,
    formatted,
    imports_from,
    literal,
    string,
)

MODE = black.Mode(line_length=LINE_LENGTH)

# Quotes and backslashes, wide and combining characters, and what must be escaped.
TEXTS = st.text("ab<|>'\"\\ \n\t\0\x85\u2028｜漢é\u0301🙂", max_size=40) | st.text(max_size=20)
PLAIN = st.recursive(
    TEXTS | st.booleans() | st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(TEXTS, inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(PLAIN, min_size=1, max_size=3))
def test_assignments_are_as_black_has_them(values: list[object]) -> None:
    text = "\n".join(assignment(f"NAME_{at}", value) for at, value in enumerate(values))
    assert formatted(text) + "\n" == black.format_str(text, mode=MODE)
    for node, value in zip(ast.parse(text).body, values, strict=True):
        assert isinstance(node, ast.Assign)
        assert ast.literal_eval(node.value) == value


@pytest.mark.parametrize("width", range(92, 106))
def test_what_fills_a_line(width: int) -> None:
    names = ["a" * 40, "b" * (width - len("from x import , ") - 40)]
    values: list[object] = [
        ["m" * (width - len('MARKER = ["", "q"]')), "q"],
        {"k": ["m" * 40, "n" * (width - len('    "k": ["", ""],') - 40)], "o": "q" * 50},
        [{"m" * 40: "n" * (width - len('MARKER = [{"": ""}]') - 40)}],
        {"m" * 40: ["n" * (width - len('MARKER = {"": [""]}') - 40)]},
        "c" * (width - len('MARKER = ""')),
    ]
    flat = [f"from x import {', '.join(names)}", *(f"MARKER = {literal(v)}" for v in values)]
    laid_out = [imports_from("x", names), *(assignment("MARKER", value) for value in values)]
    for text, line in zip(laid_out, flat, strict=True):
        assert formatted(text) + "\n" == black.format_str(line, mode=MODE)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("</a>", '"</a>"'),
        ('<a name="', "'<a name=\"'"),
        ("it's", '"it\'s"'),
        ("'\"", '"\'\\""'),
        ('\\"', "'\\\\\"'"),
        ('\'""', "'\\'\"\"'"),
    ],
)
def test_the_quotes_that_need_fewer_backslashes(text: str, shown: str) -> None:
    assert string(text) == shown
    assert ast.literal_eval(shown) == text
