"""Calls as in Python: name(key=value, other=[1, 2])."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from autoparser_gen.analysis.model import Analysis, LiteralSyntax
from autoparser_gen.grammar.branch import ANY_BRANCH, Branch, simplified
from autoparser_gen.grammar.early import whole_texts
from autoparser_gen.grammar.ir import (
    Builder,
    Expr,
    Lit,
    Ref,
    Stop,
    Text,
    Word,
    alt,
    chars,
    many,
    opt,
    seq,
)
from autoparser_gen.grammar.readable import KEYWORD, SHORT_KEYWORD, require_readable, require_whole
from autoparser_gen.grammar.request import Tool
from autoparser_gen.grammar.schema import SchemaRules
from autoparser_gen.grammar.syntax import NAME_CHAR, Syntax, verbatim
from autoparser_gen.grammar.unmarked import warn_of_lost_quote

_TOOL_NAME = Word(NAME_CHAR)
# A parser wants a letter, a digit or an underscore first.
_KEYWORD_START = chars("a-zA-Z0-9_")
_KEYWORD_NAME = Word(NAME_CHAR, first=_KEYWORD_START)
# What a parser takes for a name behind a value and behind a call, and there for a marker's beginning.
_ANY_KEYWORD = Word(
    chars("\x00-#%-,/:-@[-^`{-\x7f", negated=True),
    first=chars("\x00-/:-@[-^`{-\x7f", negated=True),
)
_ANY_TOOL = Word(chars("\x00- \"'(),;<=>[]`{}\x7f", negated=True))
_MARKER_WORD = Word(chars("a-zA-Z0-9_ \t\r\n\"'.,:;()[]{}", negated=True))


class PythonCallRules:
    """Builds the rules of single calls."""

    def __init__(self, builder: Builder, analysis: Analysis) -> None:
        """Rules are added to the builder when they are asked for."""
        self.builder = builder
        self.in_list = analysis.tools.format.tools_array_wrapped
        self.order = analysis.capabilities.argument_order
        literals = analysis.tools.arguments.literals or LiteralSyntax()
        # Either of Python's may be written, whatever the chat template takes for whole values.
        self.quotes = tuple(dict.fromkeys((*literals.quotes, "'", '"')))
        self.quote = literals.quotes[0]
        # Without escapes only whole values are written as they stand, not what is inside of lists.
        self.verbatim = not literals.escapes and not literals.bare_strings
        self.bare = literals.bare_strings
        inner = LiteralSyntax(quotes=self.quotes, python_words=literals.python_words)
        self.syntax = Syntax(builder, inner)

    def call(self, tool: Tool | None) -> Expr:
        """One call of a tool, or of any."""
        name: Expr = (
            Lit(tool.name) if tool else self.builder.token("name", _TOOL_NAME, capture="name")
        )
        opens = self.syntax.bracket("lparen", "(")
        closes = self.syntax.bracket("rparen", ")")
        return seq(name, opens, self._arguments(tool), closes)

    def _arguments(self, tool: Tool | None) -> Expr:
        comma = self.syntax.comma()
        if tool is None:
            key = self.builder.token("argument-name", _KEYWORD_NAME, capture="argument name")
            value = self.builder.rule(
                "argument-value",
                self._value([ANY_BRANCH], None, "argument"),
                capture="argument value",
            )
            argument = self.builder.rule("argument", self._argument(key, value))
            return opt(seq(argument, many(seq(comma, argument))))
        rules = SchemaRules(self.builder, self.syntax, tool.schema, tool.slug, self.order)
        one, other = partial(self._one, rules, tool), partial(self._other, rules)
        branches = rules.object_branches(tool.schema, tool.slug)
        return alt(*(rules.members(each.schema, tool.slug, one, other, comma) for each in branches))

    def _one(self, rules: SchemaRules, tool: Tool, key: str, schema: Any, name: str) -> Expr:
        readable = SHORT_KEYWORD if self.verbatim or self.bare else KEYWORD
        require_readable(f"the argument of {tool.name!r}", key, readable)
        return self._argument(Lit(key), self._of_schema(rules, schema, name))

    def _other(self, rules: SchemaRules, keys: Sequence[str], schema: Any, name: str) -> Expr:
        # One token: a lexer would read the beginning of one of the keys.
        word = replace(_KEYWORD_NAME, but=tuple(keys))
        key = self.builder.token(f"{name}-name", seq(word, self._equals()))
        return seq(key, self._of_schema(rules, schema, name))

    def _argument(self, key: Expr, value: Expr) -> Expr:
        return seq(key, self._equals(), value)

    def _equals(self) -> Ref:
        return self.syntax.punctuation("equals", "=", before=True, after=True)

    def _of_schema(self, rules: SchemaRules, schema: Any, name: str) -> Expr:
        return self._value(simplified(rules.branches(schema, name)), rules, name)

    def _value(self, branches: list[Branch], rules: SchemaRules | None, name: str) -> Expr:
        if self.bare and any(
            branch.kind in ("any", "string") and branch.is_plain for branch in branches
        ):
            if rules is not None:
                rules.warn_beside_text(branches, name)
            return self._bare_value()
        choices: list[Expr] = []
        for at, branch in enumerate(branches):
            inner = f"{name}-{at + 1}" if len(branches) > 1 else name
            if branch.kind == "any":
                choices += self._any_value()
            elif branch.kind == "string" and self.verbatim:
                choices.append(self._verbatim(rules, branch, inner))
            elif branch.strings and self.verbatim:
                choices += [self._given(text, inner) for text in branch.strings]
                others = branch.without_strings().values
                choices += map(self.syntax.exactly, others)
            elif rules is not None:
                choices.append(rules.branch(branch, inner))
        return alt(*choices)

    def _any_value(self) -> list[Expr]:
        if not self.verbatim:
            return [self.syntax.value()]
        words = [self.syntax.word(word) for word in (True, False, None)]
        containers = [self.syntax.object(), self.syntax.array()]
        return [*containers, self._any_string(), self.syntax.number(), *words]

    def _verbatim(self, rules: SchemaRules | None, branch: Branch, name: str) -> Expr:
        body = None if rules is None else rules.string_body(branch.schema, name)
        if body is None:
            return self._any_string()
        # Calls may go on behind any quote, and a lexer that has read one does not look further.
        warn_of_lost_quote(self.builder, name, body, self.quote)
        quoted = verbatim(body, self.quote)
        quoted = whole_texts(f"schema of {name}", quoted, self._string_stops(), self.quote)
        return self.builder.token(f"{name}-text", seq(self.quote, quoted, self.quote))

    def _given(self, text: str, name: str) -> Expr:
        """A given text between quotes. Raises RequestError where a parser would end it earlier."""
        require_whole(f"schema of {name}", text, self._string_stops(), self.quote)
        return seq(self.quote, text, self.quote)

    def _string_stops(self) -> tuple[Stop, ...]:
        return tuple((self.quote, *stop) for stop in self._behind_value())

    def _any_string(self) -> Expr:
        """Text between quotes; a quote in it is text where the calls do not go on behind it."""
        quote = self.builder.token("quote", Lit(self.quote))
        inner = self.builder.token("argument-text", Text(self._string_stops()))
        return self.builder.rule("argument-string", seq(quote, inner, quote))

    def _bare_value(self) -> Expr:
        """Text as it stands, in which a parser finds the values that are none."""
        return self.builder.token("argument-text", Text(self._behind_value()))

    def _behind_value(self) -> tuple[Stop, ...]:
        """What shows a parser that a value has ended: an argument, a call or the end of calls."""
        ends: tuple[Stop, ...] = ((",", _ANY_KEYWORD, "="), (",", ")"))
        if self.in_list:
            return (*ends, (")", ",", _ANY_TOOL, "("), (")", "]"))
        return (*ends, (")", _ANY_TOOL, "("), (")", ",", _ANY_TOOL, "("), (")", _MARKER_WORD))
