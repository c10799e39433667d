"""Which tokens a lexer has to tell apart: those that may stand at the same place.

A parser with one token of look-ahead expects what may follow the token that it has just read. So a
place is what may follow one token, wherever that stands; the beginning of the response is one too.
"""

from __future__ import annotations

from collections.abc import Mapping

from autoparser_gen.grammar.ir import (
    Alt,
    Expr,
    Ref,
    Rep,
    ResponseGrammar,
    Seq,
    first_tokens,
    nullable,
    nullable_rules,
)


def rivals(grammar: ResponseGrammar) -> Mapping[str, set[str]]:
    """For each token the tokens, itself among them, that may be read at the same place."""
    found: dict[str, set[str]] = {rule.name: set() for rule in grammar.rules if rule.token}
    for place in _Places(grammar).found():
        for name in place:
            found[name] |= place
    return found


class _Places:
    """What may follow each token and each rule, as far as it is known."""

    def __init__(self, grammar: ResponseGrammar) -> None:
        self.grammar = grammar
        self.empty = nullable_rules(grammar.rules)
        self.after: dict[Expr, set[str]] = {}
        self.grown = {grammar.start}  # rules whose bodies have to be gone through again

    def found(self) -> list[set[str]]:
        """The tokens at each place."""
        while self.grown:
            name = self.grown.pop()
            self._follow(self.grammar[name].body, self.after.get(Ref(name), set()))
        return [self._first(Ref(self.grammar.start)), *self.after.values()]

    def _first(self, expr: Expr) -> set[str]:
        return set(first_tokens(self.grammar, expr, self.empty))

    def _follow(self, expr: Expr, after: set[str]) -> None:
        """Note that the tokens `after` may follow an expression, and so what is last in it."""
        if isinstance(expr, Seq):
            for item in reversed(expr.items):
                self._follow(item, after)
                behind = after if nullable(item, self.empty) else set()
                after = behind | self._first(item)
        elif isinstance(expr, Alt):
            for item in expr.items:
                self._follow(item, after)
        elif isinstance(expr, Rep):
            once = expr.high is not None and expr.high < 2
            self._follow(expr.item, after if once else after | self._first(expr.item))
        else:
            known = self.after.get(expr)
            self.after[expr] = after | (known or set())
            grows = self.after[expr] != known
            if grows and isinstance(expr, Ref) and not self.grammar[expr.name].token:
                self.grown.add(expr.name)
