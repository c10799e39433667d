"""The arguments of a call: one object in some syntax, or arguments in markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autoparser_gen.analysis.model import Analysis, ToolMode, ValueSyntax
from autoparser_gen.grammar.ir import EMPTY, Builder, Expr, Lit, Ref, alt, many, opt, seq
from autoparser_gen.grammar.markup import Kind, Marker, Part, core
from autoparser_gen.grammar.nested_tags import NestedTags
from autoparser_gen.grammar.raw_values import MarkedValues
from autoparser_gen.grammar.readable import MARKED_KEY, require_readable
from autoparser_gen.grammar.request import Tool
from autoparser_gen.grammar.schema import SchemaRules
from autoparser_gen.grammar.syntax import (
    JSON,
    KEY,
    Syntax,
    escaped_rules,
    gap,
    whitespace,
)
from autoparser_gen.grammar.value_ends import call_ends


class ArgumentRules:
    """Builds the rules of what stands between a tool's name and the end of its call."""

    def __init__(self, builder: Builder, analysis: Analysis) -> None:
        """Rules are added to the builder when they are asked for."""
        self.builder = builder
        self.format = analysis.tools.format
        self.marks = analysis.tools.arguments
        self.order = analysis.capabilities.argument_order
        in_markup = self.format.mode is ToolMode.TAG_WITH_TAGGED
        self.raw = in_markup and self.marks.value_syntax is not ValueSyntax.JSON
        self.space = gap(builder) if self.raw else whitespace(builder)
        self.values = MarkedValues(builder, analysis, self.space)
        self.syntax = Syntax(builder, JSON if in_markup else self.marks.literals or JSON)

    def parts(self, tool: Tool | None) -> list[Marker | Part]:
        """Everything between the name and the end of the call."""
        opens = Marker("arguments-open", self.marks.start)
        closes = Marker("arguments-close", self.marks.end)
        if self.format.mode is ToolMode.TAG_WITH_LITERAL:
            return [Part(self.object(tool), Kind.DATA)]  # the braces are the literal's own
        if self.format.mode is not ToolMode.TAG_WITH_TAGGED:
            return [opens, Part(self.object(tool), Kind.DATA), closes]
        return [opens, Part(self._in_markup(tool), Kind.MARKER), closes]

    def _schemas(self, builder: Builder, syntax: Syntax, tool: Tool) -> SchemaRules:
        return SchemaRules(builder, syntax, tool.schema, tool.slug, self.order)

    # ---- one object ----

    def object(self, tool: Tool | None) -> Ref:
        """All arguments as one object."""
        if self.format.arguments_as_string:
            return self._in_a_string(tool)
        return self._object(self.builder, self.syntax, tool)

    def _object(self, builder: Builder, syntax: Syntax, tool: Tool | None) -> Ref:
        if tool is None:
            return builder.rule("arguments", syntax.object(), capture="arguments")
        rules = self._schemas(builder, syntax, tool)
        body = rules.object(tool.schema, tool.slug)
        return builder.rule(f"{tool.slug}-arguments", body, capture="arguments")

    def _in_a_string(self, tool: Tool | None) -> Ref:
        """The object's JSON text as the content of a JSON string."""
        apart = Builder()
        # Only blanks: an escaped line break begins with the same character as an escaped quote, and
        # a lexer that takes the longest token could not tell the two apart.
        inner = self._object(apart, Syntax(apart, space=Lit(" ")), tool)
        for sentence in apart.warnings:
            self.builder.warn(sentence)
        name = f"{tool.slug}-arguments" if tool else "arguments"
        escaped = escaped_rules(apart, inner, self.builder)
        return self.builder.rule(name, seq('"', escaped, '"'), capture="arguments")

    # ---- arguments in markup ----

    def _in_markup(self, tool: Tool | None) -> Expr:
        """Any arguments, or those of a tool; each with the marker that ends it."""
        separator: Expr = EMPTY
        if core(self.marks.separator):
            text = seq(opt(self.space), core(self.marks.separator), opt(self.space))
            separator = self.builder.token("argument-separator", text)
        if self.marks.value_syntax is ValueSyntax.NESTED_TAGS:
            return self._nested(tool)
        if tool is None:
            key = self.builder.token("argument-name", KEY, capture="argument name")
            argument = self.builder.rule("argument", self.values.argument(key))
            if separator == EMPTY:
                return many(argument)
            return opt(seq(argument, many(seq(separator, argument))))
        rules = self._schemas(self.builder, self.values.syntax, tool)
        branches = rules.object_branches(tool.schema, tool.slug)
        return alt(*(self._members(rules, one.schema, tool, separator) for one in branches))

    def _nested(self, tool: Tool | None) -> Expr:
        tags = NestedTags(self.builder, self.marks, call_ends(self.values.analysis))
        if tool is None:
            return many(tags.argument(None))
        rules = self._schemas(self.builder, self.values.syntax, tool)
        branches = rules.object_branches(tool.schema, tool.slug)
        return alt(*(tags.children(branch, rules, tool.slug) for branch in branches))

    def _written(self, key: str) -> str:
        """An argument's name as the chat template writes it."""
        escapes = {char: text for text, char in self.marks.name_escapes}
        return "".join(escapes.get(char, char) for char in key)

    def _members(
        self, rules: SchemaRules, schema: Mapping[str, Any], tool: Tool, separator: Expr
    ) -> Expr:
        def one(key: str, value: Any, name: str) -> Expr:
            written, marker = self._written(key), core(self.marks.name_suffix)
            require_readable(f"the argument of {tool.name!r}", key, MARKED_KEY, marker, written)
            return self.values.argument(Lit(written), rules, value, name)

        def other(keys: Sequence[str], value: Any, name: str) -> Expr:
            written = [self._written(key) for key in keys]
            return self.values.other_argument(written, rules, value, name)

        return rules.members(schema, tool.slug, one, other, separator)
