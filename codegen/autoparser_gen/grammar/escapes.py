"""Escapes of JSON by the number of a character: what chat templates write that keep to ASCII."""

from __future__ import annotations

import json
from collections.abc import Iterator

from autoparser_gen.grammar.ir import EMPTY, CharClass, Expr, Lit, alt, seq
from autoparser_gen.grammar.words import without

_ALL = (("\0", "\U0010ffff"),)
# Written as they are, or by a letter: \n.
_NOT_BY_NUMBER = (("\b", "\n"), ("\f", "\r"), (" ", "~"), ("\ud800", "\udfff"))
_HEX_DIGIT = CharClass((("0", "9"), ("a", "f"), ("A", "F")))
_ASTRAL = 0x10000
_HIGH, _LOW = 0xD800, 0xDC00  # the first of either half of a surrogate pair
_HALF = 0x400  # how many there are of each


def by_number(char_class: CharClass) -> Iterator[Expr]:
    r"""The characters of a class that are not ASCII's printable ones, as \u00e6.

    No choice and no repetition is inside of these: llama.cpp multiplies them by those around.
    """
    permitted = without(_ALL, char_class.ranges) if char_class.negated else char_class.ranges
    for low, high in without(permitted, _NOT_BY_NUMBER):
        first, last = ord(low), ord(high)
        if first < _ASTRAL:
            yield from _escapes(first, min(last, _ASTRAL - 1))
        if last >= _ASTRAL:
            yield from _pairs(max(first, _ASTRAL) - _ASTRAL, last - _ASTRAL)


def as_it_is_or_by_number(text: str) -> Expr:
    """A given text, each character of it that is not ASCII's in either spelling."""
    return seq(*map(_spellings, text))


def _spellings(char: str) -> Expr:
    if " " <= char <= "~":
        return Lit(char)
    escape = json.dumps(char)[1:-1]
    return Lit(escape) if char < " " else alt(char, escape)


def _pairs(first: int, last: int) -> Iterator[Expr]:
    """Surrogate pairs of the characters between two, counted from the first that needs them."""
    (high, low), (high_end, low_end) = divmod(first, _HALF), divmod(last, _HALF)
    if high < high_end and low:
        yield from _halves(high, high, low, _HALF - 1)
        high, low = high + 1, 0
    if high < high_end and low_end < _HALF - 1:
        yield from _halves(high_end, high_end, 0, low_end)
        high_end, low_end = high_end - 1, _HALF - 1
    yield from _halves(high, high_end, low, low_end)


def _halves(high: int, high_end: int, low: int, low_end: int) -> Iterator[Expr]:
    for one in _escapes(_HIGH + high, _HIGH + high_end):
        for two in _escapes(_LOW + low, _LOW + low_end):
            yield seq(one, two)


def _escapes(first: int, last: int) -> Iterator[Expr]:
    return (seq("\\u", digits) for digits in _numbers(first, last, 4))


def _numbers(first: int, last: int, places: int) -> Iterator[Expr]:
    """The numbers between two in hexadecimal, with that many digits."""
    if not places:
        yield EMPTY
        return
    unit = 16 ** (places - 1)
    digit, digit_end = first // unit, last // unit
    if digit == digit_end:
        yield from _behind(digit, first % unit, last % unit, places)
        return
    if first % unit:
        yield from _behind(digit, first % unit, unit - 1, places)
        digit += 1
    if (last + 1) % unit:
        yield from _behind(digit_end, 0, last % unit, places)
        digit_end -= 1
    if digit <= digit_end:
        yield seq(_hex_digits(digit, digit_end), *[_HEX_DIGIT] * (places - 1))


def _behind(digit: int, first: int, last: int, places: int) -> Iterator[Expr]:
    return (seq(_hex_digits(digit, digit), rest) for rest in _numbers(first, last, places - 1))


def _hex_digits(first: int, last: int) -> Expr:
    """A digit between two, in small letters or capital ones."""
    digits = "0123456789abcdef"[first : last + 1]
    if len(digits) == 1 and digits.isdecimal():
        return Lit(digits)
    return CharClass(tuple((each, each) for each in sorted({*digits, *digits.upper()})))
