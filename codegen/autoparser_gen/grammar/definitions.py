"""Rules of what a schema names and refers to, which may refer to itself."""

from __future__ import annotations

from collections.abc import Callable

from autoparser_gen.grammar.branch import Branch
from autoparser_gen.grammar.ir import Builder, Expr, Ref

_Body = Callable[[str], Expr]  # of a rule of this name


class Definitions:
    """One rule for each definition of a document."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._rules: dict[tuple[str, str], Ref] = {}  # by Branch.key
        self._pending: list[tuple[str, _Body]] = []  # rules that have no body yet
        self._is_building = False

    def rule(self, branch: Branch, name: str, body: _Body) -> Ref:
        """The rule of a definition; the first time `body` is made, now or when others are done.

        Bodies are not made inside of one another, where Python's stack would end.
        """
        if branch.key not in self._rules:
            free = self._builder.reserve(name)
            self._rules[branch.key] = Ref(free)
            self._pending.append((free, body))
        if not self._is_building:
            self._is_building = True
            while self._pending:
                reserved, make = self._pending.pop()
                self._builder.define(reserved, make(reserved))
            self._is_building = False
        return self._rules[branch.key]
