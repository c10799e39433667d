"""Special tokens that stand apart: no other token has one in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from autoparser_gen.grammar.ir import (
    Alt,
    Builder,
    Expr,
    Lit,
    Ref,
    Rep,
    ResponseGrammar,
    Seq,
    alt,
    items_of,
    nullable,
    nullable_rules,
    opt,
    seq,
    walk,
)


def apart(grammar: ResponseGrammar, special: Collection[str]) -> ResponseGrammar:
    """The grammar with a rule for each token that special ones are in.

    What stands beside or between those stays one token, for a lexer takes the longest one and never
    goes back: of the dates, cut into small tokens, it would read `02-` in 2020 as a month.
    """
    return _Parting(grammar, special).run() if special else grammar


class _Parting:
    def __init__(self, grammar: ResponseGrammar, special: Collection[str]) -> None:
        self.grammar = grammar
        self.special = special
        longest_first = sorted(special, key=len, reverse=True)
        self._special = re.compile(f"({'|'.join(map(re.escape, longest_first))})")
        self.empty = nullable_rules(grammar.rules)
        self.builder = Builder()
        self.builder.rules = {rule.name: rule for rule in grammar.rules}

    def run(self) -> ResponseGrammar:
        for rule in self.grammar.rules:
            if rule.token and self._holds(rule.body):
                body = self._parted(rule.body, rule.name)
                self.builder.rules[rule.name] = replace(rule, body=body, token=False)
        return replace(self.builder.build(self.grammar.start), warnings=self.grammar.warnings)

    def _holds(self, expr: Expr) -> bool:
        return any(
            (isinstance(node, Lit) and self._special.search(node.text))
            or (isinstance(node, Ref) and self._holds(self.grammar[node.name].body))
            for node in walk(expr)
        )

    def _parted(self, expr: Expr, name: str) -> Expr:
        """An expression with tokens in place of all that holds no special ones."""
        if not self._holds(expr):
            return self._whole([expr], name)
        if isinstance(expr, Alt):
            return alt(*(self._parted(item, name) for item in expr.items))
        if isinstance(expr, Rep):
            return Rep(self._parted(expr.item, name), expr.low, expr.high)
        if isinstance(expr, Ref):
            return expr  # its token becomes a rule as well
        found: list[Expr] = []
        for holds, items in groupby(self._cut(expr), self._holds):
            if not holds:
                found.append(self._whole(list(items), name))
                continue
            for item in items:
                found.append(item if isinstance(item, Lit) else self._parted(item, name))
        return Seq(tuple(found))

    def _cut(self, expr: Expr) -> Iterator[Expr]:
        """The items of a sequence, literals cut at the special tokens in them."""
        for item in items_of(expr):
            if isinstance(item, Lit):
                yield from map(Lit, filter(None, self._special.split(item.text)))
            else:
                yield item

    def _whole(self, items: Sequence[Expr], name: str) -> Expr:
        """Items that hold no special tokens, as one token: literals and tokens stay what they are."""
        body = seq(*items)
        if all(map(_is_token, items_of(body))):
            return body
        token = self.builder.token(f"{name}-part", body)
        return opt(token) if nullable(body, self.empty) else token


def _is_token(expr: Expr) -> bool:
    """Whether it is a literal or a token, which may be missing."""
    if isinstance(expr, Rep):
        return (expr.low, expr.high) == (0, 1) and isinstance(expr.item, Ref)
    return isinstance(expr, (Lit, Ref))
