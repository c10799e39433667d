"""Regular expressions of tokens, as Python's `re` and, without look-ahead, Rust's read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autoparser_gen.grammar.ir import (
    EMPTY,
    Alt,
    CharClass,
    Expr,
    Lines,
    Lit,
    Piece,
    Ref,
    Rep,
    Rule,
    Seq,
    Stop,
    StringText,
    Text,
    Word,
    merged,
    repetition,
)
from autoparser_gen.grammar.until import (
    lines_regex,
    may_be_apart,
    string_regex,
    text_regex,
    thru_regex,
)
from autoparser_gen.grammar.words import spelled_out

_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# The slash is among them because it ends a regular expression in Lark's files.
_META = frozenset(r"\.^$*+?{}[]|()/")
_CLASS_META = frozenset(r"\]^-[&~/")


def regex(expr: Expr, rules: Mapping[str, Rule], *, level: int = 0) -> str:
    """A regular expression of a token's body; references are replaced by what they name.

    `level` is 1 inside a sequence and 2 under a repetition.
    """

    def inner(item: Expr, item_level: int = 0) -> str:
        return regex(item, rules, level=item_level)

    if isinstance(expr, Lit):
        return _grouped("".join(map(escape, expr.text)), level >= 2 and len(expr.text) != 1)
    if isinstance(expr, CharClass):
        return char_class(expr)
    if isinstance(expr, Seq):
        return _grouped("".join(inner(item, 1) for item in expr.items), level >= 2)
    if isinstance(expr, Alt):
        choices = [inner(item) for item in expr.items if item != EMPTY]
        if len(choices) == len(expr.items):
            return _grouped("|".join(choices), level >= 1)
        single = len(choices) == 1 and isinstance(expr.items[0], CharClass)
        return _grouped(_grouped("|".join(choices), not single) + "?", level >= 2)
    if isinstance(expr, Rep):
        return _grouped(inner(expr.item, 2) + repetition(expr), level >= 2)
    if isinstance(expr, Ref):
        return inner(rules[expr.name].body, level)
    if isinstance(expr, Word):
        return inner(spelled_out(expr), level)
    if isinstance(expr, StringText):
        return inner(string_regex(expr), level)
    if isinstance(expr, Lines):
        return inner(lines_regex(expr.stops), level)
    if isinstance(expr, Text):
        return inner(text_regex(expr.stops), level)
    return inner(thru_regex(expr.stops, expr.end), level)


def text_token(stops: Sequence[Stop], *, lookahead: bool) -> str:
    """Text until a marker as a token of its own, which an engine wants to be non-empty."""
    if lookahead and stops:
        return _lookahead_step(stops) + "+"
    return regex(text_regex(stops, may_be_empty=False), {})


def lines_token(stops: Sequence[Stop]) -> str:
    """Lines without the stops as a token that is not empty, with look-ahead.

    The whitespace at its end may be what only a stop's first piece begins with.
    """
    space = r"[ \t\r\n]"
    begun = [("", *stop[1:]) for stop in stops if stop[0] == "\n"]
    assert begun, "lines are text in which something must not begin a line"
    return rf"(?!{_stop_tails(begun)}){_lookahead_step(stops)}+(?:\n{space}*)?|{space}+"


def _lookahead_step(stops: Sequence[Stop]) -> str:
    """Characters at which none of the stops begins, as one group."""
    by_first: dict[str, list[Stop]] = {}
    for stop in stops:
        first = stop[0]
        assert isinstance(first, str), "text ends where a marker begins"
        by_first.setdefault(first[0], []).append((first[1:], *stop[1:]))
    others = char_class(CharClass(tuple((first, first) for first in sorted(by_first)), True))
    steps = [others + "+"]
    steps += [f"{escape(first)}(?!{_stop_tails(tails)})" for first, tails in by_first.items()]
    return f"(?:{'|'.join(steps)})"


def _stop_tails(stops: Sequence[Stop]) -> str:
    """Stops as alternatives, each common first piece written once."""
    by_piece: dict[Piece, list[Stop]] = {}
    for stop in stops:
        by_piece.setdefault(stop[0], []).append(stop[1:])
    return "|".join(_piece(piece, rest) for piece, rest in by_piece.items())


def _piece(piece: Piece, following: Sequence[Stop]) -> str:
    text = regex(piece, {}, level=1) if isinstance(piece, Word) else "".join(map(escape, piece))
    if not all(following):  # the stop ends here; an empty piece is the end of the response
        return text
    close = [stop for stop in following if not may_be_apart(piece, stop[0])]
    apart = [stop for stop in following if may_be_apart(piece, stop[0])]
    choices = [_stop_tails(close)] if close else []
    if apart:
        tails = [_stop_tails([stop for stop in apart if stop != ("",)])]
        tails.append(r"\Z" if ("",) in apart else "")
        several = all(tails) or len({stop[0] for stop in apart}) > 1
        rest = "|".join(filter(None, tails))
        choices.append(r"[ \t\r\n]*" + (f"(?:{rest})" if several else rest))
    several = len(choices) > 1 or len({stop[0] for stop in close}) > 1
    return text + (f"(?:{'|'.join(choices)})" if several else choices[0])


def char_class(expr: CharClass) -> str:
    """A class of characters; one that excludes nothing is any character, newlines included."""
    if not expr.ranges:
        return r"[\s\S]"
    if not expr.negated and len(expr.ranges) == 1 and expr.ranges[0][0] == expr.ranges[0][1]:
        return escape(expr.ranges[0][0])
    inside = "".join(
        escape(low, in_class=True) + ("" if low == high else "-" + escape(high, in_class=True))
        for low, high in merged(expr.ranges)
    )
    return f"[{'^' if expr.negated else ''}{inside}]"


def escape(char: str, *, in_class: bool = False) -> str:
    """One character of a regular expression."""
    if char in _NAMED:
        return _NAMED[char]
    if char in (_CLASS_META if in_class else _META):
        return "\\" + char
    return printable_char(char)


def printable_char(char: str) -> str:
    """A character as it is, or as an escape where it would be invisible or end a line."""
    if char == " " or char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _grouped(text: str, group: bool) -> str:
    return f"(?:{text})" if group else text
