"""Classes of characters, and words made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autoparser_gen.grammar.ir import (
    EMPTY,
    Alt,
    CharClass,
    Expr,
    Lit,
    Rep,
    Seq,
    Word,
    alt,
    many,
    nullable,
    opt,
    seq,
)


def contains(char_class: CharClass, char: str) -> bool:
    """Whether a character is in a class."""
    return any(low <= char <= high for low, high in char_class.ranges) != char_class.negated


def may_hold(word: Word, char: str, *, is_first: bool) -> bool:
    """Whether a character may stand in a word, at its beginning or behind that."""
    return contains(word.first if is_first and word.first else word.chars, char)


def without(
    ranges: Sequence[tuple[str, str]], hidden: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Ranges of characters without other ranges."""
    left = list(ranges)
    for first, last in hidden:
        parts = []
        for low, high in left:
            if high < first or last < low:
                parts.append((low, high))
                continue
            if low < first:
                parts.append((low, chr(ord(first) - 1)))
            if last < high:
                parts.append((chr(ord(last) + 1), high))
        left = parts
    return tuple(left)


def difference(one: CharClass, other: CharClass) -> CharClass:
    """The characters of one class that are not in another."""
    if one.negated and other.negated:
        return CharClass(without(other.ranges, one.ranges))
    if other.negated:
        return CharClass(without(one.ranges, without(one.ranges, other.ranges)))
    if one.negated:
        return CharClass(tuple(dict.fromkeys((*one.ranges, *other.ranges))), negated=True)
    return CharClass(without(one.ranges, other.ranges))


def in_both(one: CharClass, other: CharClass) -> CharClass:
    """The characters that are in two classes."""
    return difference(one, difference(one, other))


def is_empty(char: CharClass) -> bool:
    return not char.ranges and not char.negated


def spelled_out(word: Word) -> Expr:
    """A word as an expression of the other nodes."""
    if word.but:
        return other_than(word.but, word.chars, word.first)
    return seq(word.first, many(word.chars)) if word.first else many(word.chars, 1)


def other_than(texts: Sequence[str], char: CharClass, first: CharClass | None = None) -> Expr:
    """Texts of one character or more that are none of the given ones; the `first` may differ."""
    return _other_than([text for text in texts if text], first or char, char, may_end=False)


def _other_than(texts: Sequence[str], char: CharClass, later: CharClass, *, may_end: bool) -> Expr:
    """As before, of one character and `later` ones; the empty text too where it `may_end`."""
    following: dict[str, list[str]] = {}
    for text in texts:
        if text:
            following.setdefault(text[0], []).append(text[1:])
    firsts = tuple((first, first) for first in sorted(following))
    if char.negated:
        other = CharClass((*char.ranges, *firsts), negated=True)
    else:
        other = CharClass(without(char.ranges, firsts))
    choices = [
        seq(first, _other_than(rest, later, later, may_end="" not in rest))
        for first, rest in sorted(following.items())
        if contains(char, first)
    ]
    if other.ranges:  # else every character of the class begins one of the texts
        choices.append(seq(other, many(later)))
    found = alt(*choices)
    return opt(found) if may_end else found


def first_chars(expr: Expr) -> Iterator[tuple[CharClass | Lit, Expr]]:
    """The first characters of an expression's texts, and what may follow them."""
    if isinstance(expr, Lit) and expr.text:
        yield Lit(expr.text[0]), Lit(expr.text[1:])
    elif isinstance(expr, CharClass):
        yield expr, EMPTY
    elif isinstance(expr, Alt):
        for item in expr.items:
            yield from first_chars(item)
    elif isinstance(expr, Rep) and expr.high != 0:
        high = None if expr.high is None else expr.high - 1
        more = EMPTY if high == 0 else Rep(expr.item, max(expr.low - 1, 0), high)
        for char, rest in first_chars(expr.item):
            yield char, seq(rest, more)
    elif isinstance(expr, Seq):
        for at, item in enumerate(expr.items):
            for char, rest in first_chars(item):
                yield char, seq(rest, *expr.items[at + 1 :])
            if not nullable(item, set()):
                break
