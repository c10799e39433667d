"""One rule for what several tools have in common, such as the same argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    builder = Builder()
    builder.rules = {rule.name: rule for rule in grammar.rules}
    while alike := _alike(builder.rules, grammar.start):
        names: dict[str, Ref] = {}
        for group in alike:
            name = _common_name(builder, [rule.name for rule in group])
            names.update({rule.name: Ref(name) for rule in group})
            builder.rules[name] = replace(group[0], name=name)
        for name in names.keys() - {kept.name for kept in names.values()}:
            del builder.rules[name]
        for name, rule in builder.rules.items():
            if not names.keys().isdisjoint(references(rule.body)):
                builder.rules[name] = replace(rule, body=replaced(rule.body, names))
    return replace(builder.build(grammar.start), warnings=grammar.warnings)


def _alike(rules: Mapping[str, Rule], start: str) -> list[list[Rule]]:
    """Rules of one body, but for tokens: those are named after what they are in a format."""
    by_body: dict[Rule, list[Rule]] = {}
    for rule in rules.values():
        if not rule.token and rule.name != start:
            by_body.setdefault(replace(rule, name=""), []).append(rule)
    return [group for group in by_body.values() if len(group) > 1]


def _common_name(builder: Builder, names: Sequence[str]) -> str:
    """A name from the words that all the names end with; the first one where there are none."""
    common: list[str] = []
    for words in zip(*(reversed(name.split("-")) for name in names), strict=False):
        if len(set(words)) > 1:
            break
        common.insert(0, words[0])
    return builder.reserve("-".join(["shared", *common])) if common else names[0]
