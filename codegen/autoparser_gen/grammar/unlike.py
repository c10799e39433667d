"""Texts that a parser does not take for data: a number, a word, a list or an object.

Where a raw value may be text or data, a generated parser tries the data first. So a text that the
schema of a string permits must not read as data, for which the schema has constraints of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from autoparser_gen.grammar.ir import (
    EMPTY,
    Alt,
    CharClass,
    Expr,
    Lit,
    Rep,
    Seq,
    alt,
    chars,
    nullable,
    seq,
)
from autoparser_gen.grammar.words import without

# For each state of reading data the characters that lead to another one, or to none.
_Ways = dict[str, list[tuple[CharClass, str | None]]]

_BLANKS = chars("\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000")
_DATA_WORDS = {"boolean": ("true", "false", "True", "False"), "null": ("null", "None")}
_BRACKETS = {"array": chars("[("), "object": chars("{")}
# A little more than JSON's numbers, so that there are few ways to read one.
_NUMBER_WAYS: _Ways = {
    "": [(chars("-"), "minus"), (chars("0-9"), "number")],
    "minus": [(chars("0-9"), "number")],
    "number": [(chars("0-9."), "number"), (chars("eE"), "exponent")],
    "exponent": [(chars("0-9+-"), "digits")],
    "digits": [(chars("0-9"), "digits")],
}
# What goes on like data for longer than that is left out.
_LONGEST = 12


def unlike(expr: Expr, kinds: Collection[str]) -> Expr | None:
    """The texts of an expression that do not read as data of these types; None if there are none.

    Some that do not are left out too: those that begin with whitespace or a bracket, for one.
    """
    if not kinds:
        return expr
    ways: _Ways = {"": [(_BLANKS, None)], "space": [(_BLANKS, None)]}
    words = [word for kind in kinds for word in _DATA_WORDS.get(kind, ())]
    for word in words:
        for at, char in enumerate(word):
            ways.setdefault(word[:at], []).append((chars(char), word[: at + 1]))
    ways[""] += [(_BRACKETS[kind], None) for kind in kinds if kind in _BRACKETS]
    whole = {"space", *words}
    if not {"integer", "number"}.isdisjoint(kinds):
        whole |= {"number", "digits"}
        for state, steps in _NUMBER_WAYS.items():
            ways.setdefault(state, []).extend(steps)
    for state in whole - {"space"}:
        ways.setdefault(state, []).append((_BLANKS, "space"))
    return _unlike(expr, "", ways, whole)


def _unlike(
    expr: Expr, state: str, ways: _Ways, whole: Collection[str], depth: int = _LONGEST
) -> Expr | None:
    """As before of the rest of a text, what is before it having led to a state."""
    if state not in ways:
        return expr
    choices: list[Expr] = [EMPTY] if state not in whole and nullable(expr, set()) else []
    for first, rest in _first_chars(expr):
        char = free = chars(first.text) if isinstance(first, Lit) else first
        for along, following in ways[state]:
            free = _difference(free, along)
            shared = _difference(char, _difference(char, along))
            if following is not None and depth and not _is_empty(shared):
                left = _unlike(rest, following, ways, whole, depth - 1)
                choices += [] if left is None else [seq(first if shared == char else shared, left)]
        if not _is_empty(free):
            choices.append(seq(first if free == char else free, rest))
    return alt(*choices) if choices else None


def _first_chars(expr: Expr) -> Iterator[tuple[CharClass | Lit, Expr]]:
    """The first characters of an expression's texts, and what may follow them."""
    if isinstance(expr, Lit) and expr.text:
        yield Lit(expr.text[0]), Lit(expr.text[1:])
    elif isinstance(expr, CharClass):
        yield expr, EMPTY
    elif isinstance(expr, Alt):
        for item in expr.items:
            yield from _first_chars(item)
    elif isinstance(expr, Rep) and expr.high != 0:
        high = None if expr.high is None else expr.high - 1
        more = EMPTY if high == 0 else Rep(expr.item, max(expr.low - 1, 0), high)
        for char, rest in _first_chars(expr.item):
            yield char, seq(rest, more)
    elif isinstance(expr, Seq):
        for at, item in enumerate(expr.items):
            for char, rest in _first_chars(item):
                yield char, seq(rest, *expr.items[at + 1 :])
            if not nullable(item, set()):
                break


def _difference(one: CharClass, other: CharClass) -> CharClass:
    """The characters of one class that are not in another."""
    if one.negated and other.negated:
        return CharClass(without(other.ranges, one.ranges))
    if other.negated:
        return CharClass(without(one.ranges, without(one.ranges, other.ranges)))
    if one.negated:
        return CharClass(tuple(dict.fromkeys((*one.ranges, *other.ranges))), negated=True)
    return CharClass(without(one.ranges, other.ranges))


def _is_empty(char: CharClass) -> bool:
    return not char.ranges and not char.negated
