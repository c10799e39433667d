"""Arguments whose objects and lists are tags themselves: <key>value</key>, <item>value</item>."""

from __future__ import annotations

from typing import Any

from autoparser_gen.analysis.model import Arguments, LiteralSyntax
from autoparser_gen.grammar.ir import Builder, Expr, Lit, Ref, alt, many, seq, text
from autoparser_gen.grammar.markup import core
from autoparser_gen.grammar.order import Member, arrange
from autoparser_gen.grammar.schema import Branch, SchemaRules, simplified, slug
from autoparser_gen.grammar.syntax import KEY, NAME_CHAR, Syntax, spelled
from autoparser_gen.grammar.words import other_than

_CLOSER_KEY = "{key}"  # stands in the analysis for the name that the closing tag repeats


class NestedTags:
    """Builds the rules of elements: opening tag, value, closing tag."""

    def __init__(self, builder: Builder, marks: Arguments) -> None:
        """Rules are added to the builder when they are asked for."""
        self.builder = builder
        self.marks = marks
        closing = marks.value_suffix.partition(_CLOSER_KEY)
        self.closer, self.closer_end = core(closing[0]), core(closing[2])
        self.words = Syntax(builder, LiteralSyntax(python_words=marks.python_words))
        self._definitions: dict[str, str] = {}

    def argument(
        self,
        key: str | None,
        rules: SchemaRules | None = None,
        schema: Any = True,
        name: str = "argument",
    ) -> Expr:
        """An element with a given key, or with any."""
        if rules is None or key is None:
            return self._any_element()
        branches = simplified(rules.branches(schema, name))
        return alt(*self._element(key, branches, rules, name))

    def other(self, keys: list[str], name: str) -> Ref:
        """An element with any other key than these."""
        found = self.builder.token(f"{name}-name", other_than(keys, NAME_CHAR))
        return self.builder.rule(name, self._around(found, self._node(), found))

    def _around(self, key: Expr, value: Expr, again: Expr) -> Expr:
        opens = self.builder.token("argument-open", Lit(core(self.marks.name_prefix)))
        opened = self.builder.token("argument-name-close", Lit(core(self.marks.name_suffix)))
        closes = self.builder.token("argument-close", Lit(self.closer))
        closed = self.builder.token("argument-close-end", Lit(self.closer_end))
        return seq(opens, key, opened, value, closes, again, closed)

    # ---- any value ----

    def _any_element(self) -> Ref:
        """An element with any key. A grammar cannot demand the same key in the closing tag."""
        if "element" in self.builder.rules:
            return Ref("element")
        name = self.builder.reserve("element")
        key = self.builder.token("argument-name", KEY, capture="argument name")
        return self.builder.define(name, self._around(key, self._node(), key))

    def _node(self) -> Expr:
        """Text, or elements."""
        return alt(self._text(), many(self._any_element(), 1))

    def _text(self) -> Ref:
        body = text(core(self.marks.name_prefix))
        return self.builder.token("argument-value", body, capture="argument value")

    # ---- values by schema ----

    def _element(
        self, key: str, branches: list[Branch], rules: SchemaRules, name: str
    ) -> list[Expr]:
        if any(b.kind == "any" or (b.kind == "string" and b.is_plain) for b in branches):
            anything = any(branch.kind == "any" for branch in branches)
            value = self._node() if anything else self._text()
            return [self._around(Lit(key), value, Lit(key))]
        found = []
        for at, branch in enumerate(branches):
            inner = f"{name}-{at + 1}" if len(branches) > 1 else name
            value = self._value(branch, rules, inner)
            found.append(self._around(Lit(key), value, Lit(key)))
        return found

    def _value(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        if branch.kind == "values":
            return alt(*(self._exactly(value) for value in branch.values))
        if branch.kind in ("object", "array"):
            return self._container(branch, rules, name)
        if branch.kind == "string":
            return self._constrained(branch, rules, name)
        if branch.kind == "boolean":
            return alt(self.words.word(True), self.words.word(False))
        if branch.kind == "null":
            return self.words.word(None)
        return rules.branch(branch, name)

    def _exactly(self, value: Any) -> Expr:
        return Lit(value) if isinstance(value, str) else self.words.exactly(value)

    def _constrained(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        body = rules.string_body(branch.schema, name)
        if body is None:
            return self._text()
        return self.builder.token(f"{name}-text", spelled(body, {}, ((self.closer[0],) * 2,)))

    def _container(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        """An object or a list; a definition is a rule that may refer to itself."""
        if not branch.pointer:
            return self.children(branch, rules, name)
        if branch.pointer not in self._definitions:
            last = branch.pointer.rpartition("/")[2].strip("#") or "schema"
            rule = self.builder.reserve(slug(f"{rules.name}-{last}"))
            self._definitions[branch.pointer] = rule
            self.builder.define(rule, self.children(branch, rules, rule))
        return Ref(self._definitions[branch.pointer])

    def children(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        """The elements inside of an object or a list."""
        if branch.kind == "array":
            return self._items(branch, rules, name)
        properties, required, more = rules.properties(branch.schema)
        members = []
        for key, schema in properties.items():
            rule = slug(f"{name}-{key}")
            body = self.argument(key, rules, schema, rule)
            members.append(Member(self.builder.rule(rule, body), key in required))
        extra = None if more is False else self.other(list(properties), f"{name}-other")
        return arrange(self.builder, name, members, extra=extra)

    def _items(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        items = branch.schema.get("items", True)
        if set(branch.schema) - {"items"}:
            self.builder.warn(f"schema of {name}: the number of items is not enforced here.")
        return many(
            self.builder.rule(
                f"{name}-item", self.argument(self.marks.item_tag, rules, items, f"{name}-item")
            )
        )
