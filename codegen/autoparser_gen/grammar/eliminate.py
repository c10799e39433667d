"""Regular expressions of an automaton, by eliminating its states one by one.

What is read on the way through a state that goes becomes part of what is read between its
neighbours. Which state goes first decides how much has to be written several times: always the one
that adds the least. In the end, what choices in a row end with is written once, behind them.

Of two ways to the same state, the one through the state that goes is written first: where both
match, it is the longer one. Letters are factored out, single classes and the empty text come last.
So Python's `re`, which takes the first alternative that matches, takes the longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby

from autoparser_gen.grammar.ir import EMPTY, Alt, CharClass, Expr, Rep, Seq, items_of
from autoparser_gen.grammar.words import difference

# The state that a text ends in, and the one that it begins in, to which nothing leads back.
END = -1
BEGIN = -2


def eliminate(rows: Mapping[int, Mapping[int, Expr]]) -> Expr:
    """What is read from BEGIN to END. `rows` has what is read from each state to those after it."""
    paths = _Paths(rows)
    while paths.added:
        paths.eliminate(min(paths.added, key=lambda state: (paths.added[state], -state)))
    return _shallow(_ends_once(paths.rows[BEGIN][END]))


class _Paths:
    """What is read between the states that are left, and about how long its expressions are."""

    def __init__(self, rows: Mapping[int, Mapping[int, Expr]]) -> None:
        self.rows = {state: dict(row) for state, row in rows.items()}
        self.sizes = {
            state: {target: _size(expr) for target, expr in row.items()}
            for state, row in rows.items()
        }
        self.before: dict[int, set[int]] = {state: set() for state in (*rows, END)}
        for state, row in rows.items():
            for target in row:
                self.before[target].add(state)
        self.added = {state: self._added(state) for state in rows if state != BEGIN}

    def eliminate(self, state: int) -> None:
        """Let the ways through a state bypass it."""
        row, sizes = self.rows.pop(state), self.sizes.pop(state)
        loop, loop_size = _star(row.pop(state, None)), sizes.pop(state, 0)
        before = self.before.pop(state) - {state}
        for earlier in before:
            to, to_sizes = self.rows[earlier], self.sizes[earlier]
            head, head_size = _concat(to.pop(state), loop), to_sizes.pop(state) + loop_size
            for target, rest in row.items():
                to[target] = either(_concat(head, rest), to.get(target))
                to_sizes[target] = to_sizes.get(target, 0) + head_size + sizes[target]
                self.before[target].add(earlier)
        for target in row:
            self.before[target].discard(state)
        del self.added[state]
        for neighbour in {*before, *row} - {BEGIN, END}:
            self.added[neighbour] = self._added(neighbour)

    def _added(self, state: int) -> int:
        """How much longer all expressions become without a state."""
        row = self.sizes[state]
        loop = row.get(state, 0)
        heads = [self.sizes[earlier][state] for earlier in self.before[state] if earlier != state]
        rests = [size for target, size in row.items() if target != state]
        return (
            sum(heads) * (len(rests) - 1)
            + sum(rests) * (len(heads) - 1)
            + loop * (len(heads) * len(rests) - 1)
        )


def _size(expr: Expr) -> int:
    """About how many characters an expression of one character takes."""
    return 2 + len(expr.ranges) if isinstance(expr, CharClass) else 1


def _ends_once(expr: Expr) -> Expr:
    """The same with what several choices in a row end with behind them, as `(a|b)c` for `ac|bc`."""
    if isinstance(expr, Rep):
        return Rep(_ends_once(expr.item), expr.low, expr.high)
    if isinstance(expr, Seq):
        return _sequence(tuple(part for item in expr.items for part in items_of(_ends_once(item))))
    if not isinstance(expr, Alt):
        return expr
    choices = [items_of(_ends_once(item)) for item in expr.items]
    runs = [list(run) for _, run in groupby(choices, key=lambda parts: parts[-1:])]
    joined = [_joined_at_end(run) if len(run) > 1 else _sequence(run[0]) for run in runs]
    return joined[0] if len(joined) == 1 else Alt(tuple(joined))


def _joined_at_end(choices: list[tuple[Expr, ...]]) -> Expr:
    """One of several sequences, with the end that they have in common behind the choice.

    A choice of nothing comes last in what is printed, and is tried last: it has to be last.
    """
    count = next(
        count
        for count in range(min(map(len, choices)), -1, -1)
        if len({parts[len(parts) - count :] for parts in choices}) == 1
    )
    if any(len(parts) == count for parts in choices[:-1]):
        count -= 1
    heads = tuple(_sequence(parts[: len(parts) - count]) for parts in choices)
    return _concat(Alt(heads), _sequence(choices[0][len(choices[0]) - count :]))


# llguidance takes 250 levels, and counts a group with a choice of sequences in it as several.
_MAX_LEVELS = 60


def _shallow(expr: Expr) -> Expr:
    """The same with fewer groups in one another, where they are too many."""
    while (levels := _levels(expr)) > _MAX_LEVELS:
        expr = _spread(expr)
        if _levels(expr) == levels:
            break
    return expr


def _levels(expr: Expr) -> int:
    """How many groups are in one another."""
    if isinstance(expr, Alt):
        return 1 + max(map(_levels, expr.items))
    if isinstance(expr, Rep):
        return max(1, _levels(expr.item))
    return max(map(_levels, expr.items), default=0) if isinstance(expr, Seq) else 0


def _spread(expr: Expr) -> Expr:
    """The same with every second level gone: what stands before a choice is in each of its items."""
    if isinstance(expr, Rep):
        return Rep(_spread(expr.item), expr.low, expr.high)
    if isinstance(expr, Seq):
        return _sequence(tuple(map(_spread, expr.items)))
    if not isinstance(expr, Alt):
        return expr
    items: list[Expr] = []
    for item in expr.items:
        parts = items_of(item)
        if parts and isinstance(last := parts[-1], Alt) and _are_classes(parts[:-1]):
            head = _sequence(parts[:-1])
            items += [_concat(head, _spread(choice)) for choice in last.items]
        else:
            items.append(_spread(item))
    return Alt(tuple(items))


def _are_classes(parts: tuple[Expr, ...]) -> bool:
    return all(isinstance(part, CharClass) for part in parts)


# ---- a small algebra of regular expressions, on the nodes of the grammar ----


def char_class_of(letters: Iterable[str], *, negated: bool = False) -> CharClass:
    return CharClass(tuple((letter, letter) for letter in sorted(letters)), negated)


def _concat(first: Expr, second: Expr) -> Expr:
    return _sequence((*items_of(first), *items_of(second)))


def _sequence(parts: tuple[Expr, ...]) -> Expr:
    return parts[0] if len(parts) == 1 else Seq(parts)


def _star(expr: Expr | None) -> Expr:
    """Any number of times; (A|B)* as A*(B A*)*, so that no quantifier is nested over A alone."""
    if expr is None or expr == EMPTY:
        return EMPTY
    if isinstance(expr, Alt):
        classes = [item for item in expr.items if isinstance(item, CharClass)]
        others = [item for item in expr.items if not isinstance(item, CharClass)]
        if classes and others:
            single = Rep(classes[0])
            rest = others[0] if len(others) == 1 else Alt(tuple(others))
            return _concat(single, Rep(_concat(rest, single)))
    return Rep(expr)


def either(first: Expr, second: Expr | None) -> Expr:
    """Either one, with common first parts factored out; single classes and the empty text last."""
    if second is None or first == second:
        return first
    by_head: dict[Expr, list[tuple[Expr, ...]]] = {}
    empty = False
    for item in dict.fromkeys((*_choices(first), *_choices(second))):
        parts = items_of(item)
        if parts:
            by_head.setdefault(parts[0], []).append(parts[1:])
        else:
            empty = True
    items: list[Expr] = []
    union: CharClass | None = None
    for head, tails in by_head.items():
        if tails == [()] and isinstance(head, CharClass):
            union = head if union is None else either_class(union, head)
            continue
        tail = _sequence(tails[0])
        for other in tails[1:]:
            tail = either(tail, _sequence(other))
        items.append(_concat(head, tail))
    if union is not None:
        items.append(union)
    if empty:
        items.append(EMPTY)
    return items[0] if len(items) == 1 else Alt(tuple(items))


def _choices(expr: Expr) -> tuple[Expr, ...]:
    return expr.items if isinstance(expr, Alt) else (expr,)


def either_class(first: CharClass, second: CharClass) -> CharClass:
    if any(low != high for low, high in (*first.ranges, *second.ranges)):
        return _either_range(first, second)
    one = {low for low, _ in first.ranges}
    two = {low for low, _ in second.ranges}
    if first.negated and second.negated:
        return char_class_of(one & two, negated=True)
    if first.negated:
        return char_class_of(one - two, negated=True)
    if second.negated:
        return char_class_of(two - one, negated=True)
    return char_class_of(one | two)


def _either_range(first: CharClass, second: CharClass) -> CharClass:
    if not (first.negated or second.negated):
        return CharClass((*first.ranges, *difference(second, first).ranges))
    not_first = replace(first, negated=not first.negated)
    return replace(left := difference(not_first, second), negated=not left.negated)
