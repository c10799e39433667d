"""Constrained texts that hold no marker, though they may hold the characters that it begins with.

Nothing can look ahead in such a text, and what counts its characters cannot also know how much of
a marker has been read. So a text with a limit is one of two: one without any character that begins
a marker, counted exactly, or one made of blocks, each of which ends where nothing of a marker has
been read. A block may be a little longer than another one for that, and counts as the longest: the
limit is never passed, and a text of the second kind may not come quite as near to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autoparser_gen.grammar.eliminate import BEGIN, END, either, eliminate
from autoparser_gen.grammar.ir import (
    EMPTY,
    Alt,
    Builder,
    CharClass,
    Expr,
    Lit,
    Piece,
    Rep,
    Seq,
    Stop,
    alt,
    children,
    seq,
    walk,
)
from autoparser_gen.grammar.readable import ends_with_closer
from autoparser_gen.grammar.until import Automaton, automaton_of, first_characters
from autoparser_gen.grammar.words import contains, in_both, is_empty

# By so many characters a marker is known: no text holds them, so that expressions stay short.
_KNOWN_BY = 4
# Characters of a block, and how many more it may have until nothing of a marker has been read.
_BLOCK, _BEYOND = 4, _KNOWN_BY - 1


def unmarked(
    builder: Builder, name: str, expr: Expr, stops: Sequence[Stop], closer: str
) -> Expr | None:
    """Texts of an expression in which no stop begins, before the `closer` behind them.

    None where a literal of it holds a character that a stop begins with: whether a stop becomes
    of it depends on what is around it.
    """
    if not _is_known(expr, stops):
        return None
    known = {stop[0][:_KNOWN_BY] for stop in stops if isinstance(stop[0], str)}
    automaton = automaton_of(tuple((begin,) for begin in sorted(known)))
    return _Unmarked(builder, name, automaton).of(expr, closer)


def _is_known(expr: Expr, stops: Sequence[Stop]) -> bool:
    """Whether all that may begin a stop are characters of classes."""
    literals = (node.text for node in walk(expr) if isinstance(node, Lit))
    return all(first_characters(stops).isdisjoint(text) for text in literals)


def is_apart(piece: Piece) -> bool:
    """Whether escapes change nothing of a text that a stop may begin with, before or in it."""
    if not isinstance(piece, str):
        return False
    begin = piece[:_KNOWN_BY]
    return begin.isprintable() and not begin[:1].isalnum() and set(begin).isdisjoint("\\\"'")


def warn_of_lost(builder: Builder, name: str, expr: Expr, stops: Sequence[Stop]) -> None:
    """Warn of characters that the texts of an expression may not hold everywhere, though they could."""
    is_known = _is_known(expr, stops)
    for first in sorted(first_characters(stops)):
        if any(contains(char, first) for char in _single(expr, is_known)):
            _warn_of_character(builder, name, first)


def warn_of_lost_quote(builder: Builder, name: str, expr: Expr, quote: str) -> None:
    """Warn where a text between quotes that nothing escapes could hold such a quote."""
    if any(isinstance(node, CharClass) and contains(node, quote[0]) for node in walk(expr)):
        _warn_of_character(builder, name, quote[0])


def _warn_of_character(builder: Builder, name: str, first: str) -> None:
    builder.warn(
        f"schema of {name}: {first!r} in its texts is not permitted everywhere by the"
        " grammar, since it begins a marker."
    )


def _single(expr: Expr, is_known: bool) -> Iterator[CharClass]:
    """The classes of which each character is taken for the beginning of a marker."""
    if isinstance(expr, CharClass):
        yield expr
    elif not (is_known and isinstance(expr, Rep) and isinstance(expr.item, CharClass)):
        for item in children(expr):
            yield from _single(item, is_known)


@dataclass(frozen=True)
class _Unmarked:
    """Blocks are tokens of their own: llama.cpp limits the rules in what is repeated."""

    builder: Builder
    name: str
    automaton: Automaton

    def of(self, expr: Expr, closer: str | None) -> Expr:
        """The texts; `closer` is what stands behind them, if it is known."""
        if isinstance(expr, Seq):
            last = len(expr.items) - 1
            parts = enumerate(expr.items)
            return seq(*(self.of(item, closer if at == last else None) for at, item in parts))
        if isinstance(expr, Alt):
            return alt(*(self.of(item, closer) for item in expr.items))
        if isinstance(expr, CharClass):
            return _plain(self.automaton, expr) if self._may_begin(expr) else expr
        if not isinstance(expr, Rep):
            return expr
        if isinstance(expr.item, CharClass) and self._may_begin(expr.item):
            return self._repeated(expr.item, expr.low, expr.high, closer)
        return Rep(self.of(expr.item, None), expr.low, expr.high)

    def _may_begin(self, chars: CharClass) -> bool:
        return any(contains(chars, first) for first in first_characters(self.automaton.stops))

    def _repeated(self, chars: CharClass, low: int, high: int | None, closer: str | None) -> Expr:
        """So many characters of a class."""

        def counted(least: int, most: int | None) -> Expr:
            return _counted(self.automaton, chars, least, most, closer)

        if (high is None and low < _BLOCK) or (high is not None and high <= _BLOCK):
            return counted(low, high)
        block = self.builder.token(f"{self.name}-block", _block(self.automaton, chars))
        choices: list[Expr] = [Rep(_plain(self.automaton, chars), low, high)]
        whole, rest = divmod(low, _BLOCK)
        if high is None:
            return alt(*choices, seq(Rep(block, whole, whole), counted(rest, None)))
        longest = _BLOCK + _BEYOND
        most = (high - _BLOCK + 1) // longest
        tail = min(high - most * longest, _BLOCK)
        if rest and whole <= most:
            choices.append(seq(_times(block, whole, whole), counted(rest, tail)))
        whole += bool(rest)
        if whole <= most:
            choices.append(seq(_times(block, whole, most), counted(0, tail)))
        return alt(*choices)


def _times(block: Expr, low: int, high: int) -> Expr:
    return Rep(block, low, high) if high else EMPTY


def _plain(automaton: Automaton, chars: CharClass) -> CharClass:
    """The characters of a class that begin no stop."""
    return in_both(chars, automaton.edges(0)[0])


@lru_cache(256)
def _counted(
    automaton: Automaton, chars: CharClass, low: int, high: int | None, closer: str | None
) -> Expr:
    """From `low` to `high` characters, counted exactly."""

    def ends(count: int, state: int) -> bool:
        if count < low:
            return False
        whole = closer is not None and ends_with_closer(automaton, state, closer) is None
        return whole or not state

    most = low if high is None else high
    return _paths(automaton, chars, ends, lambda count, _: count < most or high is None, most)


@lru_cache(256)
def _block(automaton: Automaton, chars: CharClass) -> Expr:
    """So many characters as a block has, and more until nothing of a stop has been read."""

    def ends(count: int, state: int) -> bool:
        return count >= _BLOCK and not state

    def goes_on(count: int, state: int) -> bool:
        return count < _BLOCK or (count < _BLOCK + _BEYOND and state != 0)

    return _paths(automaton, chars, ends, goes_on, _BLOCK + _BEYOND)


def _paths(
    automaton: Automaton,
    chars: CharClass,
    ends: Callable[[int, int], bool],
    goes_on: Callable[[int, int], bool],
    most: int,
) -> Expr:
    """The ways through an automaton, by how many characters have been read: `most` are counted."""
    numbers = {(0, 0): 0}
    rows: dict[int, dict[int, Expr]] = {BEGIN: {0: EMPTY}}
    left = [(0, 0)]
    while left:
        count, state = place = left.pop()
        row = rows[numbers[place]] = {}
        if ends(count, state):
            row[END] = EMPTY
        if not goes_on(count, state):
            continue
        for target, along in automaton.edges(state).items():
            shared = in_both(chars, along)
            if automaton.hits(target) or is_empty(shared):
                continue
            following = min(count + 1, most), target
            if following not in numbers:
                numbers[following] = len(numbers)
                left.append(following)
            number = numbers[following]
            row[number] = either(shared, row.get(number))
    return eliminate(rows)
