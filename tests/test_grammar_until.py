"""Text until a marker: automata and regular expressions against what they mean."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from autoparser_gen.emit.regex import lines_token, regex, text_token
from autoparser_gen.grammar import eliminate, until
from autoparser_gen.grammar.ir import CharClass, Stop, StringText, Word, chars

REAL = [
    ("</think>",),
    ("<think>", "<tool_call>"),
    ("<think>", "<tool_call>", "<function="),
    ("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"),
    ("]<]minimax[>[<",),
    (">>>",),
]


def words(letters: str, longest: int, shortest: int = 0) -> Iterator[str]:
    for size in range(shortest, longest + 1):
        yield from map("".join, itertools.product(letters, repeat=size))


def first_stop(text: str, stops: Iterable[str]) -> tuple[int, set[str]]:
    """Where the first stop to be complete ends, and which ones end there."""
    for end in range(1, len(text) + 1):
        found = {stop for stop in stops if text[:end].endswith(stop)}
        if found:
            return end, found
    return len(text) + 1, set()


def pieces(stops: Iterable[str]) -> tuple[Stop, ...]:
    return tuple((stop,) for stop in stops)


def check(stops: tuple[str, ...], texts: Iterable[str]) -> None:
    free = re.compile(regex(until.text_regex(pieces(stops)), {}))
    some = re.compile(text_token(pieces(stops), lookahead=False))
    ahead = re.compile(text_token(pieces(stops), lookahead=True))
    thru = {
        stop: re.compile(regex(until.thru_regex(pieces(stops), (stop,)), {}))
        for stop in stops
        if (stop,) not in until.unreachable(pieces(stops))
    }
    for text in texts:
        end, found = first_stop(text, stops)
        without = end - 1 if found else len(text)
        assert bool(free.fullmatch(text)) == (not found), (stops, text)
        longest = free.match(text)
        assert longest is not None
        assert longest.end() == without, (stops, text)
        shown = some.match(text)
        assert (shown.end() if shown else 0) == without, (stops, text)
        looked = ahead.match(text)
        begins = min([text.find(stop) for stop in stops if stop in text], default=len(text))
        assert (looked.end() if looked else 0) == begins, (stops, text)
        for stop, pattern in thru.items():
            whole = end == len(text) and stop in found
            assert bool(pattern.fullmatch(text)) == whole, (stops, stop, text)


def test_every_marker_of_two_letters() -> None:
    texts = list(words("abx", 6))
    for marker in words("ab", 4, 1):
        check((marker,), texts)


def test_every_pair_of_markers_of_two_letters() -> None:
    texts = list(words("abx", 5))
    for pair in itertools.permutations(words("ab", 2, 1), 2):
        check(pair, texts)


@pytest.mark.parametrize("stops", REAL, ids=" ".join)
def test_markers_of_real_formats(stops: tuple[str, ...]) -> None:
    rng = random.Random(1)
    parts = [*stops, *(stop[:-1] for stop in stops), *"<>|x\n/"]
    check(stops, ["".join(rng.choices(parts, k=rng.randint(0, 6))) for _ in range(300)])


def test_stops_of_several_pieces() -> None:
    stops: tuple[Stop, ...] = (("a", "b"), ("a", "c", "d"))
    free = re.compile(regex(until.text_regex(stops), {}))
    thru = re.compile(regex(until.thru_regex(stops, ("a", "c", "d")), {}))
    shown = re.compile(r"a[ \n]*b|a[ \n]*c[ \n]*d")
    for text in words("abcd \n", 5):
        found = shown.search(text)
        assert bool(free.fullmatch(text)) == (found is None), text
        ends = found is not None and found.end() == len(text) and text.endswith("d")
        assert bool(thru.fullmatch(text)) == ends, text


@pytest.mark.parametrize(
    "ranges", [CharClass((("b", "b"), ("c", "c"))), chars("a, =x", negated=True)]
)
def test_stops_with_words(ranges: CharClass) -> None:
    """A word of b and c between a comma and an equals sign, in a class of them and in one of others."""
    for but, shown in (((), "[bc]+"), (("b", "cb"), "(?!(?:b|cb)(?![bc]))[bc]+")):
        word = Word(ranges, but)
        stops: tuple[Stop, ...] = ((",", word, "="), (",", "a"))
        free = re.compile(regex(until.text_regex(stops), {}))
        thru = re.compile(regex(until.thru_regex(stops, stops[0]), {}))
        ahead = re.compile(text_token(stops, lookahead=True))
        stop = re.compile(rf",[ ]*{shown}[ ]*=|,[ ]*a")
        for text in words(",abc =", 6):
            found = stop.search(text)
            assert bool(free.fullmatch(text)) == (found is None), text
            ends = found is not None and found.end() == len(text) and text.endswith("=")
            assert bool(thru.fullmatch(text)) == ends, text
            looked = ahead.match(text)
            begins = found.start() if found else len(text)
            assert (looked.end() if looked else 0) == begins, text


def test_a_stop_that_another_one_hides() -> None:
    assert until.unreachable(pieces(("<a>", "<a><b>"))) == [("<a><b>",)]
    assert until.unreachable(pieces(("<a>", "<b>"))) == []


def test_empty_markers_are_refused() -> None:
    with pytest.raises(ValueError, match="with text in every piece"):
        until.Automaton([("", "a")])


_HEX = "[0-9a-fA-F]"
_STRINGS = {
    StringText((), '"', False): rf'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u{_HEX}{{4}}))*',
    StringText((), "'", True): (
        rf"(?:[^'\\\x00-\x08\n-\x1f]|\\(?:[\"'\\abfnrtv]|x{_HEX}{{2}}|u{_HEX}{{4}}"
        rf"|U(?:000{_HEX}|0010){_HEX}{{4}}))*"
    ),
}


@pytest.mark.parametrize("string", _STRINGS, ids=str)
def test_text_of_strings(string: StringText) -> None:
    whole = re.compile(_STRINGS[string])
    escapes = ("\\u00ab", "\\u00a", "x\\u0041y", "\\xaby", "\\xa", "\\'", '\\"', "\t", "\n")
    codes = ("\\U0001f600", "\\U0010ffff", "\\U00110000", "\\U0001f60")
    for stops in ((("ab",),), (("<t",), ("<u",)), (("nb",),), (("a", "b"),), (('"x',),)):
        inside = re.compile(regex(until.string_regex(replace(string, stops=stops)), {}))
        shown = re.compile("|".join(r"[ \t\r\n]*".join(map(re.escape, stop)) for stop in stops))
        for text in (*words(f"abn<tu\\{string.quote} ", 4), *escapes, *codes):
            expected = bool(whole.fullmatch(text)) and not shown.search(text)
            assert bool(inside.fullmatch(text)) == expected, (stops, text)


def test_long_markers_are_no_deep_groups() -> None:
    """llguidance takes 250 levels of groups, and of what is in them."""
    marker = "".join(map(chr, range(0x4E00, 0x4E00 + 150)))
    for found in (until.text_regex([(marker,)]), until.thru_regex([(marker,)], (marker,))):
        assert eliminate._levels(found) <= eliminate._MAX_LEVELS
    free = re.compile(regex(until.text_regex([(marker,)]), {}))
    thru = re.compile(regex(until.thru_regex([(marker,)], (marker,)), {}))
    for cut in range(len(marker)):
        near = marker[:cut] + marker[:cut] + "x" + marker[:cut]
        assert free.fullmatch(near)
        assert thru.match(near + marker + marker[:cut] + marker[cut:]) is not None
        assert not free.fullmatch(near + marker)
        assert thru.fullmatch(marker[:cut] + marker)


def test_strings_do_not_end_inside_of_stops() -> None:
    """A string's quote and what follows it may be the rest of a stop."""
    inside = re.compile(regex(until.string_regex(StringText((('<a b="', Word(chars(","))),))), {}))
    for text in ("<a b=", "x<a b="):
        assert not inside.fullmatch(text)
    for text in ("<a b", '<a b=\\"', "<a b= ", ""):
        assert inside.fullmatch(text)


def test_lines() -> None:
    for stops in ([("\n", "{")], [("\n", "{"), ("<|a",)], [("\n", "["), ("<<",), ("a",)]):
        shown = re.compile("|".join(r"[ \t\r\n]*".join(map(re.escape, stop)) for stop in stops))
        ahead = re.compile(lines_token(stops))
        whole = re.compile(regex(until.lines_regex(stops), {}))
        for text in words("\n {[<|a", 5, 1):
            expected = not shown.search("\n" + text)
            for pattern in (ahead, whole):
                assert bool(pattern.fullmatch(text)) == expected, (stops, text)
            # A call may follow, at the beginning of a line.
            begins = shown.search("\n" + text)
            if begins and begins[0][-1] in "{[":
                assert text[: begins.end() - 2] == _matched(ahead, text), (stops, text)
                assert text[: begins.end() - 2] == _matched(whole, text), (stops, text)


def _matched(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found[0] if found else ""


def test_what_choices_end_with_is_written_once() -> None:
    pattern = regex(until.thru_regex([("<ab",)], ("<ab",)), {})
    assert pattern == "[^<]*<<*(?:(?:(?:a[^<b]|[^<a])[^<]*|a)<<*)*ab"


def test_automata_of_many_texts_are_kept() -> None:
    """Each argument may have a text of its own, and every file that is printed asks for it."""
    stops = [((f"</{number}>",),) for number in range(300)]
    automata = [until.automaton_of(each) for each in stops]
    assert all(until.automaton_of(each) is one for each, one in zip(stops, automata, strict=True))


def test_stops_that_share_their_beginnings_are_short() -> None:
    """States of a chain of markers are entered from many others: the order of elimination decides."""
    marks = ("</arg_value>", "<arg_key>", "</tool_call>", "<tool_call>", "</tool_calls>")
    stops: tuple[Stop, ...] = ((marks[0], marks[1]), (marks[0], marks[2]))
    stops += tuple((marks[2], mark) for mark in marks[3:])
    pattern = regex(until.thru_regex(stops, stops[0]), {})
    assert len(pattern) < 18 * sum(len(str(piece)) for stop in stops for piece in stop)
    for near in ("<", marks[0], marks[0] + "<", "</tool_call> ", "</arg_value> </"):
        text = near * 2000
        assert not re.match(pattern, text)  # without an end, in linear time
        whole = re.match(pattern, text + "x</arg_value> <arg_key>")
        assert whole is not None
        assert whole.end() == len(text) + 23
