"""Guards against grammars that engines cannot read, or that kill them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from autoparser_gen.errors import GrammarError
from autoparser_gen.grammar.ir import (
    TEXTS,
    Alt,
    CharClass,
    Expr,
    Lit,
    Ref,
    Rep,
    ResponseGrammar,
    Rule,
    Seq,
    Stop,
    Thru,
    children,
    nullable,
    nullable_rules,
    references,
    show_stop,
    walk,
)
from autoparser_gen.grammar.until import unreachable

# llama.cpp refuses more, and takes {0,2001} as unlimited without a word.
MAX_REPETITIONS = 2000

_RULE_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def check(grammar: ResponseGrammar) -> None:
    """Raise GrammarError for the first fault of a grammar."""
    for name, count in Counter(rule.name for rule in grammar.rules).items():
        _check_name(name, count)
    if grammar.start not in grammar:
        raise GrammarError(f"the grammar has no rule {grammar.start!r} to start with.")
    empty = nullable_rules(grammar.rules)
    for rule in grammar.rules:
        _check_references(rule, grammar)
        _check_choices(rule)
        _check_repetitions(rule, empty)
    _check_left_recursion(grammar, empty)
    _check_ends(grammar)


def _check_name(name: str, count: int) -> None:
    if not _RULE_NAME.fullmatch(name):
        raise GrammarError(
            f"rule name {name!r}: engines agree on small letters, digits and single hyphens only."
        )
    if count > 1:
        raise GrammarError(f"rule {name!r} is defined twice; engines would silently take the last.")


def _check_references(rule: Rule, grammar: ResponseGrammar) -> None:
    for name in references(rule.body):
        if name not in grammar:
            raise GrammarError(f"rule {rule.name!r} refers to {name!r}, which is not defined.")
        if rule.token and not grammar[name].token:
            raise GrammarError(
                f"token {rule.name!r} refers to {name!r}, which is no token: a lexer cannot read it."
            )


def _check_choices(rule: Rule) -> None:
    for node in walk(rule.body):
        if isinstance(node, Alt) and not node.items:
            raise GrammarError(
                f"rule {rule.name!r} has a choice without alternatives, which nothing can match;"
                " engines print and accept it as the empty text."
            )
        if isinstance(node, CharClass):
            backwards = any(high < low for low, high in node.ranges)
            if backwards or not (node.ranges or node.negated):
                raise GrammarError(f"rule {rule.name!r} has a class that holds no character.")
        if isinstance(node, TEXTS):
            _check_stops(rule, node.stops)
        if isinstance(node, Thru) and node.end not in node.stops:
            raise GrammarError(
                f"rule {rule.name!r} ends its text with {node.end!r}, which is none of its stops."
            )


def _check_stops(rule: Rule, stops: tuple[Stop, ...]) -> None:
    for stop in stops:
        if not stop or not all(stop[:-1]) or stop == ("",):
            raise GrammarError(
                f"rule {rule.name!r} has text until an empty marker: a marker that the analysis"
                " needs is missing."
            )
    for stop in unreachable(stops):
        raise GrammarError(
            f"rule {rule.name!r} has text until {show_stop(stop)}, but a shorter marker in it"
            " always ends the text first: the markers that the analysis found are ambiguous."
        )


def _check_repetitions(rule: Rule, empty: set[str]) -> None:
    for fault in repetition_faults(rule.body, empty):
        raise GrammarError(f"rule {rule.name!r} {fault}.")


def repetition_faults(expr: Expr, empty: set[str], outer: int = 1) -> Iterator[str]:
    """What is wrong with repetitions; `empty` names the rules that the empty text belongs to."""
    if not isinstance(expr, Rep):
        for item in children(expr):
            yield from repetition_faults(item, empty, outer)
        return
    if expr.high is not None and expr.high < expr.low:
        yield f"repeats at least {expr.low} and at most {expr.high} times"
    if (expr.high is None or expr.high > 1) and nullable(expr.item, empty):
        yield "repeats something that can be empty; engines would not end"
    product = outer * max(expr.low, expr.high or 0, 1)
    if product > MAX_REPETITIONS:
        yield (
            f"repeats {product} times; llama.cpp's limit is {MAX_REPETITIONS}, nested repetitions"
            " multiplied"
        )
    yield from repetition_faults(expr.item, empty, product)


def _check_left_recursion(grammar: ResponseGrammar, empty: set[str]) -> None:
    """No rule may begin with itself, not even behind rules that can be empty.

    llama.cpp does not see the latter: memory grows until the process is killed.
    """
    begins = {rule.name: sorted(_beginnings(rule.body, empty)) for rule in grammar.rules}
    try:
        TopologicalSorter(begins).prepare()
    except CycleError as error:
        raise GrammarError(
            f"rule {error.args[1][0]!r} can begin with itself, directly or behind rules that"
            " can be empty: engines would not end."
        ) from None


def _check_ends(grammar: ResponseGrammar) -> None:
    """Every rule must have a text that is complete, or a model that begins one never stops."""
    known: set[str] = set()
    left = list(reversed(grammar.rules))
    while more := {rule.name for rule in left if _can_end(rule.body, known)}:
        known |= more
        left = [rule for rule in left if rule.name not in known]
    if left:
        raise GrammarError(f"rule {left[-1].name!r} requires itself: no text of it has an end.")


def _can_end(expr: Expr, known: set[str]) -> bool:
    """Whether an expression has a complete text; `known` names rules that do."""
    if isinstance(expr, Ref):
        return expr.name in known
    if isinstance(expr, Alt):
        return any(_can_end(item, known) for item in expr.items)
    if isinstance(expr, Rep):
        return expr.low == 0 or _can_end(expr.item, known)
    return all(_can_end(item, known) for item in children(expr))


def _beginnings(expr: Expr, empty: set[str]) -> set[str]:
    """The rules that an expression can begin with."""
    if isinstance(expr, Ref):
        return {expr.name}
    if isinstance(expr, Alt):
        return {name for item in expr.items for name in _beginnings(item, empty)}
    if isinstance(expr, Rep):
        return _beginnings(expr.item, empty)
    found: set[str] = set()
    if isinstance(expr, Seq):
        for item in expr.items:
            found |= _beginnings(item, empty)
            if not nullable(item, empty):
                break
    elif isinstance(expr, Lit):
        pass
    return found
