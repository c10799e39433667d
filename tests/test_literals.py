"""Literals that are not JSON, read piece by piece by the class that generated modules contain."""

from __future__ import annotations

import ast
import json
import random
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from splits import every_split

from autoparser_gen.emit.skeletons.literal_strings import _call_ends
from autoparser_gen.emit.skeletons.literals import Literal

END = ";"  # no literal goes on with it
TOKEN = ('<|"|>',)


class Read(NamedTuple):
    """What became of a text: the JSON text, or how far it was read where it is none."""

    state: str
    size: int
    json: str


def read(pieces: Sequence[str], **options: Any) -> Read:
    """Feed a literal as a parser does: what it leaves unread stands before the next piece."""
    literal, unread, written, size = Literal(**options), "", "", 0
    for piece in (*pieces, None):
        literal.final = piece is None
        unread += piece or ""
        at = literal.read(unread, 0, len(unread))
        written += literal.take()
        unread, size = unread[at:], size + at
        if literal.failed:
            return Read("failed", size, "")
        if literal.done:
            return Read("done", size, written)
    return Read("open", size, written)


def read_everywhere(text: str, **options: Any) -> Read:
    whole = read([text], **options)
    for pieces in every_split(text):
        got = read(pieces, **options)
        # Where the text ends inside, how much was looked at before the last piece may differ.
        assert got == whole or whole.state == "open" == got.state, pieces
    return whole


def as_json(text: str, **options: Any) -> str:
    """The JSON of a literal that is complete, read in every way."""
    got = read_everywhere(text + END, **options)
    assert got.state == "done", got
    assert got.size == len(text)
    return got.json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("True", "true"),
        ("None", "null"),
        ("false", "false"),
        ("null", "null"),
        ("-12", "-12"),
        ("1.50e-07", "1.50e-07"),
        ("''", '""'),
        ("'a\"b'", '"a\\"b"'),
        ('"it\'s"', '"it\'s"'),
        ("'''a'b''c'''", "\"a'b''c\""),
        ('"""a\n"b" """', '"a\\n\\"b\\" "'),
        ("'two\nlines'", '"two\\nlines"'),
        ("[]", "[]"),
        ("()", "[]"),
        ("(1,)", "[1]"),
        ("[1,2 , 'x',]", '[1, 2, "x"]'),
        ("{'a':1,\"b\" : {'c': [None]},}", '{"a": 1, "b": {"c": [null]}}'),
        (" {} ".rstrip(), "{}"),
        ("'é漢🙂'", '"é漢🙂"'),
    ],
)
def test_python_literals(text: str, expected: str) -> None:
    assert as_json(text) == expected


@pytest.mark.parametrize(
    ("escape", "value"),
    [
        (r"\n\t\r\b\f\v\a", "\n\t\r\b\f\v\a"),
        (r"\\ \' \"", "\\ ' \""),
        (r"\0\12\1234", "\0\n\x534"),
        (r"\x41\xe9", "Aé"),
        (r"\u00e9", "é"),
        (r"\U0001F642", "🙂"),
        (r"\ud83d\ude42", "🙂"),  # as JSON writes it
        (r"\d \/ \N", r"\d \/ \N"),  # Python keeps what it does not know
        ("a\\\nb", "ab"),
    ],
)
def test_escapes(escape: str, value: str) -> None:
    assert as_json(f"'{escape}'") == json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    "half", [r"\ud83d", r"\ude42", r"\ud83d\ud83d", r"\ude42\ud83d", r"\ud83dx"]
)
def test_half_a_surrogate_pair_stays_an_escape(half: str) -> None:
    text = as_json(f"'{half}'")
    assert text == f'"{half}"'
    assert json.loads(text) == json.loads(f'"{half}"')


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("NaN", 1),
        ("Infinity", 0),
        ("nil", 1),
        ("Tru;", 3),
        ("01", 1),  # complete before its second digit
        ("1.", 2),
        ("-x", 1),
        ("x", 0),
        ("[1 2]", 3),
        ("[,]", 1),
        ("[1,,]", 3),
        ("[1)", 2),
        ("(1)", 2),  # no tuple without a comma
        ("{1: 2}", 1),
        ("{'a' 1}", 5),
        ("{'a': 1, 'a': 2}", 11),
        ("{'a', 'b'}", 4),
        (r"'\x4g'", 4),
        (r"'\uD83'", 6),
        (r"'\U00110000'", 6),
    ],
)
def test_it_fails_at_the_first_character_that_nothing_valid_begins_with(
    text: str, size: int
) -> None:
    got = read_everywhere(text + END)
    assert got == Read("done", 1, "0") if text == "01" else got == Read("failed", size, "")


def random_value(rng: random.Random, depth: int = 0) -> Any:
    if depth > 3 or rng.random() < 0.5:
        text = "".join(
            rng.choice("ab'\"\\\n\té🙂\x00\x1b,:]})([{ ") for _ in range(rng.randrange(8))
        )
        return rng.choice([True, False, None, 0, -1, 10**20, 1.5, -2e-9, 1e300, text, text, text])
    size = rng.randrange(4)
    if rng.random() < 0.5:
        return [random_value(rng, depth + 1) for _ in range(size)]
    return {f"k{i}'\"": random_value(rng, depth + 1) for i in range(size)}


def test_what_python_and_json_write_is_read_back() -> None:
    rng = random.Random(1)
    for _ in range(500):
        value = random_value(rng)
        for text in (repr(value), json.dumps(value), json.dumps(value, ensure_ascii=False)):
            got = read([text + END])
            assert got.state == "done", text
            assert got.size == len(text)
            assert json.loads(got.json) == value
            assert read([*(text + END)]) == got


def test_noise_is_read_as_python_reads_it() -> None:
    rng = random.Random(2)
    atoms = [*"'\"\\nx8,:[]{}() 1-.e", "True", "None", "\\'", "'a'", "'k': ", '"""', "\\x41"]
    for _ in range(5000):
        text = "".join(rng.choice(atoms) for _ in range(rng.randrange(1, 9)))
        got = read([text + END])
        assert read([*(text + END)]) == got
        if got.state == "done" and not text[got.size :].strip():
            expected = ast.literal_eval(text.strip())
            assert json.loads(got.json) == json.loads(json.dumps(expected)), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "{}"),
        ("{a:Qx yQ,b:3}", '{"a": "x y", "b": 3}'),
        ("{a:[QaQ,Qb, cQ],o:{x:true,n:None,f:-1.5e10}}", None),
        ("{a: QQ , my key:Q}}Q }", '{"a": "", "my key": "}}"}'),
        ("{a:Q\"x\" \\n\n'y'Q}", r'{"a": "\"x\" \\n\n' + "'y'\"}"),
        ("{Qquoted keyQ:1,b-c.d:2}", '{"quoted key": 1, "b-c.d": 2}'),
        # Quotes that nothing follows which may stand behind a string are text.
        ("{a:Qq(QQQ SELECT 1 QQQ)Q,r:[QaQ]}", None),
        # Without its opening quote, or before an exactly written next argument its closing one.
        ("{query:weather in TokyoQ,n:1}", '{"query": "weather in Tokyo", "n": 1}'),
        ("{old:Qcode }],path:QfQ}", '{"old": "code }]", "path": "f"}'),
        ("{a:Qsee x,note:Q}", '{"a": "see x,note:"}'),
        ("{a:Qsee x,note:QQ}", '{"a": "see x", "note": ""}'),
    ],
)
def test_quotes_that_nothing_escapes(text: str, expected: str | None) -> None:
    for quote in ('<|"|>', "<escape>"):
        got = as_json(text.replace("Q", quote), quotes=(quote,), escapes=False)
        if expected is None:
            assert isinstance(json.loads(got), dict)
        else:
            assert json.loads(got) == json.loads(expected.replace("Q", json.dumps(quote)[1:-1]))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("{a:nope}", 7),  # a quote could still have followed
        ("{a:NaN,b:1}", 6),
        ("{a:1,a:2}", 6),
        ("{a:1,,b:2}", 5),
        ("{a:b:QxQ}", 7),
        ("{a 1}", 4),
        ("{:1}", 1),
    ],
)
def test_malformed_notation(text: str, size: int) -> None:
    got = read_everywhere(text.replace("Q", TOKEN[0]), quotes=TOKEN, escapes=False)
    assert got.state == "failed"
    assert "Q" in text or got.size == size


@pytest.mark.parametrize("behind", ["</call>", "</call> <call>g", "</call>\n</calls>"])
def test_a_closing_quote_may_be_missing_before_the_end_of_the_call(behind: str) -> None:
    ends = _call_ends("</call>", ("<call>", "</calls>"))
    text = '{a:{b:<|"|>x}}'
    got = read_everywhere(text + behind, quotes=TOKEN, escapes=False, behind=ends)
    assert got == Read("done", len(text), '{"a": {"b": "x"}}')


def test_a_call_in_a_string_does_not_end_it() -> None:
    ends = _call_ends("</call>", ("<call>", "</calls>"))
    text = '{a:<|"|>write <call>f{}</call> then <|"|>}'
    got = read_everywhere(text + "</call>", quotes=TOKEN, escapes=False, behind=ends)
    assert got == Read("done", len(text), '{"a": "write <call>f{}</call> then "}')


def test_depth_costs_no_recursion() -> None:
    depth = 10 * sys.getrecursionlimit()
    for opener, closer in ("[]", "()"):
        text = (
            opener * depth
            + f"1{',' if opener == '(' else ''}"
            + f"{closer}," * (depth - 1)
            + closer
        )
        assert read([text + END]).json == "[" * depth + "1" + "]" * depth
    text = "{a:" * depth + "1" + "}" * depth
    assert read([text + END], quotes=TOKEN, escapes=False).state == "done"


HOSTILE = {
    "quotes": "{a:Q" + "Q" * 4000 + "Q}",
    "openers": "{a:Q" + ",b:" * 4000 + "Q}",
    "commas and words": "{a:Q" + ",abcdefghij" * 2000 + "Q}",
    "spaces behind a quote": "{a:QxQ" + " " * 8000 + "}",
    "a long key": "{" + "k" * 8000 + ":1}",
    "a long word": "{a:" + "w" * 8000 + "Q}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_left_unread_has_a_limit(name: str) -> None:
    """So the work is linear: a character is looked at again only while it is unread."""
    literal, unread = Literal(TOKEN, escapes=False), ""
    for char in HOSTILE[name].replace("Q", TOKEN[0]):
        unread += char
        unread = unread[literal.read(unread, 0, len(unread)) :]
        assert len(unread) < 400
