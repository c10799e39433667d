"""Texts that a pattern or a format permits, of which a parser would end some too early.

The characters of a class do not begin what ends a text; the literals of a pattern may. So the texts
are gone through together with the automaton of their stops, and those that it ends are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autoparser_gen.errors import RequestError
from autoparser_gen.grammar.eliminate import BEGIN, END, either, eliminate
from autoparser_gen.grammar.ir import (
    EMPTY,
    Alt,
    CharClass,
    Expr,
    Lit,
    Rep,
    Seq,
    Stop,
    alt,
    nullable,
    seq,
    show_stop,
    walk,
)
from autoparser_gen.grammar.readable import ends_with_closer
from autoparser_gen.grammar.until import Automaton, automaton_of, first_characters
from autoparser_gen.grammar.words import contains, first_chars, in_both, is_empty

# Rounds of a repetition that are counted; more may be any number, so that the search is short.
_COUNTED = 2
# States of the texts that are left, of which one regular expression is made.
_MOST_STATES = 100


def is_whole(body: Expr, stops: Sequence[Stop], closer: str) -> bool:
    """Whether a parser ends no text of an expression before the `closer` behind it does."""
    automaton = automaton_of(tuple(stops))
    return not _may_begin(body, stops) or _early_stop(body, automaton, closer) is None


def whole_texts(what: str, body: Expr, stops: Sequence[Stop], closer: str) -> Expr:
    """The texts of an expression that a parser does not end before the `closer` behind them does.

    Raises RequestError where that is none, or the rest would be too much to write down.
    """
    automaton = automaton_of(tuple(stops))
    stop = _early_stop(body, automaton, closer) if _may_begin(body, automaton.stops) else None
    if stop is None:
        return body
    found = _without_early(body, automaton, closer)
    if found is None:
        raise RequestError(
            f"{what}: texts that its pattern or format permits hold {show_stop(stop)}, which ends a"
            " text in this format. Change it, or leave it out."
        )
    return found


def _early_stop(body: Expr, automaton: Automaton, closer: str) -> Stop | None:
    """A stop that ends a text of an expression too early; None where all are whole."""
    left = [(_uncounted(body), 0)]
    seen = set(left)
    while left:
        expr, state = left.pop()
        if nullable(expr, set()):
            early = ends_with_closer(automaton, state, closer)
            if early is not None:
                return early
        for _, rest, target in _first_steps(expr, state, automaton):
            if automaton.hits(target):
                return min(automaton.hits(target), key=repr)
            if (rest, target) not in seen:
                seen.add((rest, target))
                left.append((rest, target))
    return None


def _without_early(body: Expr, automaton: Automaton, closer: str) -> Expr | None:
    """The texts that no stop ends; None where there are none, or too many states to tell them."""
    numbers = {(body, 0): 0}
    rows: dict[int, dict[int, Expr]] = {BEGIN: {0: EMPTY}}
    left = [(body, 0)]
    while left:
        expr, state = left.pop()
        row = rows[numbers[expr, state]] = {}
        if nullable(expr, set()) and ends_with_closer(automaton, state, closer) is None:
            row[END] = EMPTY
        for char, rest, target in _first_steps(expr, state, automaton):
            if automaton.hits(target):
                continue
            if (rest, target) not in numbers:
                numbers[rest, target] = len(numbers)
                left.append((rest, target))
            number = numbers[rest, target]
            row[number] = either(char, row.get(number))
        if len(numbers) > _MOST_STATES:
            return None
    if not any(END in row for row in rows.values()):
        return None
    return eliminate(rows)


def _first_steps(
    expr: Expr, state: int, automaton: Automaton
) -> Iterator[tuple[CharClass, Expr, int]]:
    """The first characters of texts, what may follow them, and the state that they lead to."""
    for char, rest in first_chars(expr):
        if isinstance(char, Lit):
            yield CharClass(((char.text, char.text),)), rest, automaton.step(state, char.text)
            continue
        for target, along in automaton.edges(state).items():
            shared = in_both(char, along)
            if not is_empty(shared):
                yield shared, rest, target


def _may_begin(body: Expr, stops: Sequence[Stop]) -> bool:
    """Whether a text may hold the character that a stop begins with."""
    firsts = first_characters(stops)
    return any(
        (isinstance(node, Lit) and not firsts.isdisjoint(node.text))
        or (isinstance(node, CharClass) and any(contains(node, first) for first in firsts))
        for node in walk(body)
    )


def _uncounted(expr: Expr) -> Expr:
    """The same texts and more, since repetitions do not count beyond a few rounds."""
    if isinstance(expr, Seq):
        return seq(*map(_uncounted, expr.items))
    if isinstance(expr, Alt):
        return alt(*map(_uncounted, expr.items))
    if isinstance(expr, Rep):
        high = None if expr.high is None or expr.high > _COUNTED else expr.high
        return Rep(_uncounted(expr.item), min(expr.low, _COUNTED), high)
    return expr
