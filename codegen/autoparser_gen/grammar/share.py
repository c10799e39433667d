"""One rule for what several tools have in common, such as the same argument."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from autoparser_gen.grammar.ir import (
    Builder,
    Ref,
    ResponseGrammar,
    Rule,
    references,
    replaced,
)


def share(grammar: ResponseGrammar) -> ResponseGrammar:
    """The grammar with one rule, named after what their names end with, for all of one body."""
    sharing = _Sharing(grammar)
    while alike := sharing.alike():
        names: dict[str, Ref] = {}
        for group in alike:
            names.update(sharing.merge(group))
        sharing.rename(names)
    return replace(sharing.builder.build(grammar.start), warnings=grammar.warnings)


class _Sharing:
    """The rules, with what is needed to look only at those that have changed."""

    def __init__(self, grammar: ResponseGrammar) -> None:
        self.start = grammar.start
        self.builder = Builder()
        self.rules = self.builder.rules
        self._bodies: dict[Rule, int] = {}  # numbers of rules without their names
        self._numbers: dict[str, int] = {}  # by rule: that of its body
        self._users: dict[str, set[str]] = {}  # by rule: those that refer to it
        self._add(grammar.rules)

    def alike(self) -> list[list[Rule]]:
        """Rules of one body, but for tokens: those are named after what they are in a format."""
        by_body: dict[int, list[Rule]] = {}
        for rule in self.rules.values():
            if not rule.token and rule.name != self.start:
                by_body.setdefault(self._numbers[rule.name], []).append(rule)
        return [group for group in by_body.values() if len(group) > 1]

    def merge(self, group: Sequence[Rule]) -> dict[str, Ref]:
        """Keep one rule of a group; returns what stands for each of their names."""
        name = _common_name(self.builder, [rule.name for rule in group])
        self._add([replace(group[0], name=name)])
        return {rule.name: Ref(name) for rule in group}

    def rename(self, names: dict[str, Ref]) -> None:
        """Let all rules refer to the ones that were kept, and drop the others."""
        for name in names.keys() - {kept.name for kept in names.values()}:
            del self.rules[name]
        users = set().union(*(self._users.get(name, ()) for name in names)) & self.rules.keys()
        self._add(
            replace(self.rules[name], body=replaced(self.rules[name].body, names)) for name in users
        )

    def _add(self, rules: Iterable[Rule]) -> None:
        for rule in rules:
            self.rules[rule.name] = rule
            body = self._bodies.setdefault(replace(rule, name=""), len(self._bodies))
            self._numbers[rule.name] = body
            for name in references(rule.body):
                self._users.setdefault(name, set()).add(rule.name)


def _common_name(builder: Builder, names: Sequence[str]) -> str:
    """A name from the words that all the names end with; the first one where there are none."""
    common: list[str] = []
    for words in zip(*(reversed(name.split("-")) for name in names), strict=False):
        if len(set(words)) > 1:
            break
        common.insert(0, words[0])
    return builder.reserve("-".join(["shared", *common])) if common else names[0]
