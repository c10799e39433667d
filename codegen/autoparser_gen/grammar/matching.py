"""Whether a given text belongs to an expression of characters, in time linear in the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from autoparser_gen.grammar.ir import Alt, CharClass, Expr, Lit, Rep, Seq
from autoparser_gen.grammar.words import contains


@dataclass
class _MatchState:
    """What is read here, nothing where that is None, and where it leads."""

    reads: CharClass | None
    targets: list[int] = field(default_factory=list)


class Matcher:
    """An expression as an automaton with several states at a time, so that nothing is tried twice."""

    def __init__(self, expr: Expr) -> None:
        """The expression has literals, classes, sequences, choices and repetitions."""
        self._states = [_MatchState(None)]  # the first is where a text has been read to its end
        self._start = self._add(expr, 0)

    def matches(self, text: str) -> bool:
        """Whether all of a text belongs to the expression."""
        states = self._reached([self._start])
        for char in text:
            states = self._reached(
                target
                for state in map(self._states.__getitem__, states)
                if state.reads is not None and contains(state.reads, char)
                for target in state.targets
            )
        return 0 in states

    def _reached(self, states: Iterable[int]) -> set[int]:
        """The states with those that they lead to without reading anything."""
        found: set[int] = set()
        stack = list(states)
        while stack:
            state = stack.pop()
            if state not in found:
                found.add(state)
                if self._states[state].reads is None:
                    stack += self._states[state].targets
        return found

    def _new(self, reads: CharClass | None, *targets: int) -> int:
        self._states.append(_MatchState(reads, list(targets)))
        return len(self._states) - 1

    def _add(self, expr: Expr, after: int) -> int:
        """The state in which an expression begins; behind it comes the state `after`."""
        if isinstance(expr, Lit):
            for char in reversed(expr.text):
                after = self._new(CharClass(((char, char),)), after)
            return after
        if isinstance(expr, CharClass):
            return self._new(expr, after)
        if isinstance(expr, Seq):
            for item in reversed(expr.items):
                after = self._add(item, after)
            return after
        if isinstance(expr, Alt):
            return self._new(None, *(self._add(item, after) for item in expr.items))
        if isinstance(expr, Rep):
            return self._repeated(expr, after)
        raise TypeError(f"characters of a string cannot be {expr}")

    def _repeated(self, expr: Rep, after: int) -> int:
        if expr.high is None:
            state = self._new(None, after)
            self._states[state].targets.append(self._add(expr.item, state))
        else:
            state = after
            for _ in range(expr.high - expr.low):
                state = self._new(None, self._add(expr.item, state), after)
        for _ in range(expr.low):
            state = self._add(expr.item, state)
        return state
