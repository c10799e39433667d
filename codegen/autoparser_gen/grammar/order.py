"""Members of an object, or arguments of a call: each at most once, required ones always.

A grammar that leaves the order of n things open needs a rule for each set of things that may be
left, 2**n of them. So the order is open for few; of more, the optional ones may stand anywhere
as long as they are few; beyond that the order is the schema's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autoparser_gen.grammar.ir import EMPTY, Builder, Expr, Ref, Rep, alt, items_of, many, opt, seq

MAX_ANY_ORDER = 4
MAX_STATES = 32


@dataclass(frozen=True)
class Member:
    """One member: its rule, and whether it must be there."""

    expr: Ref
    required: bool


@dataclass(frozen=True)
class _Left:
    """What has not been written yet: members in a fixed order, and members in any order."""

    ordered: tuple[Member, ...]
    free: tuple[Member, ...]

    @property
    def may_end(self) -> bool:
        return not any(member.required for member in (*self.ordered, *self.free))

    def choices(self) -> list[tuple[Member, _Left]]:
        """The members that may come next, each with what is left then."""
        found = []
        if self.ordered:
            found.append((self.ordered[0], _Left(self.ordered[1:], self.free)))
        for at, member in enumerate(self.free):
            found.append((member, _Left(self.ordered, self.free[:at] + self.free[at + 1 :])))
        return found


def arrange(
    builder: Builder,
    name: str,
    members: Sequence[Member],
    *,
    comma: Expr = EMPTY,
    extra: Expr | None = None,
) -> Expr:
    """All members with commas between them, in every order that the grammar can afford.

    `extra` is any further member; such ones come last. Rules are named after `name`.
    """
    return _Arranger(builder, f"{name}-rest", comma, extra).arrange(members)


class _Arranger:
    def __init__(self, builder: Builder, name: str, comma: Expr, extra: Expr | None) -> None:
        self.builder = builder
        self.name = name
        self.comma = comma
        self.extra = extra
        self.known: dict[object, Ref] = {}
        self.rests: dict[_Left, Expr] = {}

    def arrange(self, members: Sequence[Member]) -> Expr:
        required = tuple(member for member in members if member.required)
        optional = tuple(member for member in members if not member.required)
        if len(members) <= MAX_ANY_ORDER:
            first, empty = self._free_first(_Left((), tuple(members)))
        elif (len(required) + 1) * 2 ** len(optional) <= MAX_STATES:
            first, empty = self._free_first(_Left(required, optional))
        else:
            first, empty = self._ordered_first(tuple(members))
        if first is None:
            return EMPTY
        return opt(first) if empty else first

    # ---- any order ----

    def _free_first(self, left: _Left) -> tuple[Expr | None, bool]:
        choices = [seq(member.expr, self._free_rest(rest)) for member, rest in left.choices()]
        if left.may_end and self.extra is not None:
            choices.append(seq(self.extra, many(seq(self.comma, self.extra))))
        return (alt(*choices) if choices else None), left.may_end

    def _free_rest(self, left: _Left) -> Expr:
        """What may follow a member that has been written."""
        if left not in self.rests:
            choices = [
                seq(self.comma, member.expr, self._free_rest(rest))
                for member, rest in left.choices()
            ]
            self.rests[left] = self._rule(left, choices, left.may_end)
        return self.rests[left]

    # ---- the schema's order ----

    def _ordered_first(self, members: tuple[Member, ...]) -> tuple[Expr | None, bool]:
        rests = self._ordered_rests(members)
        choices: list[Expr] = []
        for at, member in enumerate(members):
            choices.append(seq(member.expr, rests[at + 1]))
            if member.required:
                return alt(*choices), False
        if self.extra is not None:
            choices.append(seq(self.extra, many(seq(self.comma, self.extra))))
        return (alt(*choices) if choices else None), True

    def _ordered_rests(self, members: tuple[Member, ...]) -> list[Expr]:
        """For each number of members: what may follow when so many have been passed."""
        rests = [self._rule(len(members), [], True)]
        may_end = True
        for at in range(len(members) - 1, -1, -1):
            rest: Expr = seq(self.comma, members[at].expr, rests[0])
            may_end = may_end and not members[at].required
            if not members[at].required:
                # Named after a member, not counted: one argument more changes few lines of a review.
                name = f"{members[at].expr.name}-or-later"
                choices = [rest, _not_empty(rests[0])]
                rest = self._rule(at, choices, may_end, extra=False, name=name)
            rests.insert(0, rest)
        return rests

    def _rule(
        self,
        key: object,
        choices: list[Expr],
        may_end: bool,
        *,
        extra: bool = True,
        name: str | None = None,
    ) -> Expr:
        """A rule that is never empty, since engines handle those badly; optional where it may be."""
        if may_end and extra and self.extra is not None:
            choices.append(many(seq(self.comma, self.extra), 1))
        choices = [choice for choice in choices if choice != EMPTY]
        if not choices:
            return EMPTY
        if len(choices) == 1 and self._is_one_member(choices[0]):
            return opt(choices[0]) if may_end else choices[0]
        if key not in self.known:
            self.known[key] = self.builder.rule(name or self.name, alt(*choices))
        return opt(self.known[key]) if may_end else self.known[key]

    def _is_one_member(self, choice: Expr) -> bool:
        """Whether nothing can follow but one more member, which needs no rule."""
        parts = (part for part in items_of(choice) if part != self.comma)
        return [isinstance(part, Ref) for part in parts] == [True]


def _not_empty(expr: Expr) -> Expr:
    """What `_rule` made optional, without that."""
    return expr.item if isinstance(expr, Rep) and (expr.low, expr.high) == (0, 1) else expr
