"""Texts that a parser does not take for data: a number, a word, a list or an object.

Where a raw value may be text or data, a generated parser tries the data first. So a text that the
schema of a string permits must not read as data, for which the schema has constraints of its own.
"""

from __future__ import annotations

from collections.abc import Collection

from autoparser_gen.grammar.ir import (
    EMPTY,
    CharClass,
    Expr,
    Lit,
    alt,
    chars,
    nullable,
    seq,
)
from autoparser_gen.grammar.words import difference, first_chars, in_both, is_empty

# For each state of reading data the characters that lead to another one, or to none.
_Ways = dict[str, list[tuple[CharClass, str | None]]]

_BLANKS = chars("\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000")
_DATA_WORDS = {"boolean": ("true", "false", "True", "False"), "null": ("null", "None")}
_BRACKETS = {"array": chars("[("), "object": chars("{")}
# A little more than JSON's numbers, so that there are few ways to read one.
_BEGUN = [(chars("0"), "zero"), (chars("1-9"), "number")]
_NUMBER_WAYS: _Ways = {
    "": [(chars("-"), "minus"), *_BEGUN],
    "minus": [*_BEGUN],
    "zero": [(chars(".eE"), "fraction")],
    "number": [(chars("0-9"), "number"), (chars(".eE"), "fraction")],
    "fraction": [(chars("0-9eE+-"), "fraction")],
}
_LONGEST = 12


def unlike(
    expr: Expr, kinds: Collection[str], openers: Collection[str] = (), longest: int = _LONGEST
) -> Expr | None:
    """The texts of an expression that do not read as data of these types; None if there are none.

    Data may begin with any of the `openers`, too. What begins like data for longer than `longest`
    is left out.

    Some that do not are left out too: those that begin with whitespace or a bracket, for one.
    """
    if not kinds:
        return expr
    ways: _Ways = {"": [(_BLANKS, None)], "space": [(_BLANKS, None)]}
    words = [word for kind in kinds for word in _DATA_WORDS.get(kind, ())]
    for word in words:
        for at, char in enumerate(word):
            ways.setdefault(word[:at], []).append((chars(char), word[: at + 1]))
    ways[""] += [(chars(opener), None) for opener in openers]
    ways[""] += [(_BRACKETS[kind], None) for kind in kinds if kind in _BRACKETS]
    whole = {"space", *words}
    if not {"integer", "number"}.isdisjoint(kinds):
        whole |= {"zero", "number", "fraction"}
        for state, steps in _NUMBER_WAYS.items():
            ways.setdefault(state, []).extend(steps)
    for state in whole - {"space"}:
        ways.setdefault(state, []).append((_BLANKS, "space"))
    return _unlike(expr, "", ways, whole, longest)


def _unlike(expr: Expr, state: str, ways: _Ways, whole: Collection[str], depth: int) -> Expr | None:
    """As before of the rest of a text, what is before it having led to a state."""
    if state not in ways:
        return expr
    choices: list[Expr] = [EMPTY] if state not in whole and nullable(expr, set()) else []
    for first, rest in first_chars(expr):
        char = free = chars(first.text) if isinstance(first, Lit) else first
        for along, following in ways[state]:
            free = difference(free, along)
            shared = in_both(char, along)
            if following is not None and depth and not is_empty(shared):
                left = _unlike(rest, following, ways, whole, depth - 1)
                choices += [] if left is None else [seq(first if shared == char else shared, left)]
        if not is_empty(free):
            choices.append(seq(first if free == char else free, rest))
    return alt(*choices) if choices else None
