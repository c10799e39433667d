"""Whether a text belongs to a grammar, read from the grammar itself: no engine has to load it.

Engines that read grammars by characters, such as llama.cpp, decide in the same way.
"""

from __future__ import annotations

from collections.abc import Callable

from autoparser_gen.grammar.ir import (
    Alt,
    CharClass,
    Expr,
    Lines,
    Lit,
    Ref,
    Rep,
    ResponseGrammar,
    Seq,
    StringText,
    Text,
    Thru,
    Word,
)
from autoparser_gen.grammar.until import (
    Automaton,
    StringAutomaton,
    automaton_of,
    string_automaton_of,
)
from autoparser_gen.grammar.words import contains, may_hold

Ends = frozenset[int]


def reject_reason(grammar: ResponseGrammar, text: str) -> str | None:
    """Why a text does not belong to a grammar, by where it stops being one; None where it does."""
    reader = _Reader(grammar, text)
    if len(text) in reader.ends(Ref(grammar.start), 0):
        return None
    at = reader.farthest
    return f"it does not go on with {text[at : at + 20]!r} at character {at} of {len(text)}."


class _Reader:
    """Where the texts of expressions may end in one text, for each place where they may begin."""

    def __init__(self, grammar: ResponseGrammar, text: str) -> None:
        self.grammar = grammar
        self.text = text
        self.farthest = 0  # what lies before it was read somehow
        self._known: dict[tuple[Expr, int], Ends] = {}

    def ends(self, expr: Expr, at: int) -> Ends:
        """All places where an expression that begins at one may end."""
        if isinstance(expr, (Lit, CharClass)):
            return self._characters(expr, at)
        if isinstance(expr, Seq):
            found = frozenset((at,))
            for item in expr.items:
                found = self._from_each(item, found)
            return found
        if isinstance(expr, Alt):
            return frozenset().union(*(self.ends(item, at) for item in expr.items))
        if (expr, at) not in self._known:
            self._known[expr, at] = self._looked_up(expr, at)
        return self._known[expr, at]

    def _looked_up(self, expr: Expr, at: int) -> Ends:
        if isinstance(expr, Ref):
            return self.ends(self.grammar[expr.name].body, at)
        if isinstance(expr, Rep):
            return self._repeated(expr, at)
        if isinstance(expr, Word):
            return self._word(expr, at)
        if isinstance(expr, StringText):
            string = string_automaton_of(expr)
            return self._walk(string, string.start, at, string.accepts)
        assert isinstance(expr, (Text, Thru, Lines))
        automaton = automaton_of(expr.stops, "\n" if isinstance(expr, Lines) else "")
        if isinstance(expr, Thru):
            end = expr.end
            return self._walk(automaton, automaton.start, at, lambda s: end in automaton.hits(s))
        found = self._walk(automaton, automaton.start, at, lambda s: not automaton.hits(s))
        return found - {at} if isinstance(expr, Lines) else found

    def _from_each(self, expr: Expr, starts: Ends) -> Ends:
        return frozenset().union(*(self.ends(expr, at) for at in starts))

    def _characters(self, expr: Lit | CharClass, at: int) -> Ends:
        if isinstance(expr, Lit):
            fits, end = self.text.startswith(expr.text, at), at + len(expr.text)
        else:
            fits, end = at < len(self.text) and contains(expr, self.text[at]), at + 1
        return self._reached([end] if fits else [])

    def _reached(self, ends: list[int]) -> Ends:
        self.farthest = max(self.farthest, *ends[-1:], 0)
        return frozenset(ends)

    def _repeated(self, expr: Rep, at: int) -> Ends:
        """After as many rounds as there must be, places that are reached a second time add nothing."""
        places, count = frozenset((at,)), 0
        found = places if not expr.low else frozenset()
        while places and (expr.high is None or count < expr.high):
            places, count = self._from_each(expr.item, places), count + 1
            if count >= expr.low:
                places -= found
                found |= places
        return found

    def _word(self, word: Word, at: int) -> Ends:
        ends, end = [], at
        while end < len(self.text) and may_hold(word, self.text[end], is_first=end == at):
            end += 1
            if self.text[at:end] not in word.but:
                ends.append(end)
        return self._reached(ends)

    def _walk(
        self,
        automaton: Automaton | StringAutomaton,
        state: int,
        at: int,
        may_end: Callable[[int], bool],
    ) -> Ends:
        """The places where an automaton that begins at one is in a state in which it may end."""
        ends = []
        while True:
            if may_end(state):
                ends.append(at)
            if at == len(self.text) or automaton.hits(state):
                return self._reached(ends)
            char = self.text[at]
            edges = automaton.edges(state).items()
            following = next((target for target, to in edges if contains(to, char)), None)
            if following is None:
                return self._reached(ends)
            state, at = following, at + 1
