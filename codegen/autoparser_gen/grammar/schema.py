"""JSON Schema as grammar, in the syntax of the format: what a schema permits can be written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoparser_gen.analysis.model import KeyOrder
from autoparser_gen.errors import RequestError
from autoparser_gen.grammar.alternatives import Alternatives
from autoparser_gen.grammar.branch import Branch, simplified
from autoparser_gen.grammar.combine import most_items, range_of
from autoparser_gen.grammar.definitions import Definitions
from autoparser_gen.grammar.ir import EMPTY, Builder, Expr, Ref, Rep, alt, opt, seq
from autoparser_gen.grammar.order import Member, arrange
from autoparser_gen.grammar.pattern import ANY, FORMATS, Unsupported, pattern
from autoparser_gen.grammar.syntax import Syntax

# llama.cpp's limit of repetitions.
MAX_COUNT = 2000

# How a format writes a member of a given name, and one of any other name than the given ones: what
# it takes is the name or names, the schema of the value, and what rules are named after.
OneMember = Callable[[str, Any, str], Expr]
OtherMember = Callable[[Sequence[str], Any, str], Expr]


class SchemaRules:
    """Converts the schemas of one document. Rules are named after where in it they stand."""

    def __init__(
        self,
        builder: Builder,
        syntax: Syntax,
        document: Any,
        name: str,
        order: KeyOrder = KeyOrder.NONE,
    ) -> None:
        """`document` is what references point into; `name` is the first part of rules' names.

        `order` is that of members, where the grammar cannot leave it open.
        Raises RequestError where the document is no schema.
        """
        self.builder = builder
        self.syntax = syntax
        self.name = name
        self._order = order
        self._alternatives = Alternatives(document, name, self._warn)
        self._definitions = Definitions(builder)

    def branches(self, schema: Any, name: str) -> list[Branch]:
        """The alternatives of a schema. Raises RequestError where there is none."""
        return self._alternatives.of(schema, name)

    # ---- values ----

    def value(self, schema: Any, name: str) -> Expr:
        """What a schema permits. Raises RequestError where it permits nothing."""
        return self._one_of(simplified(self.branches(schema, name)), name)

    def _one_of(self, branches: Sequence[Branch], name: str) -> Expr:
        several = len(branches) > 1
        return alt(
            *(
                self.branch(branch, f"{name}-{at + 1}" if several else name)
                for at, branch in enumerate(branches)
            )
        )

    def branch(self, branch: Branch, name: str) -> Expr:
        """What one alternative permits."""
        if branch.kind == "values":
            return alt(*map(self.syntax.exactly, branch.values))
        if branch.kind == "any":
            return self.syntax.value()
        if branch.pointer:
            rule = self.name_of(branch)
            return self._definitions.rule(branch, rule, lambda free: self._typed(branch, free))
        return self._typed(branch, name)

    def name_of(self, branch: Branch) -> str:
        """What the rule of a definition is called."""
        last = branch.pointer.rpartition("/")[2].strip("#")
        return slug(f"{self.name}-{last or 'schema'}")

    def _typed(self, branch: Branch, name: str) -> Expr:
        schema, syntax = branch.schema, self.syntax
        if branch.kind == "object":
            return self._object(schema, name)
        if branch.kind == "array":
            return self._array(schema, name)
        if branch.kind == "string":
            body = self.string_body(schema, name)
            return syntax.string() if body is None else syntax.string_of(f"{name}-text", body)
        if branch.kind in ("integer", "number"):
            return self._number(branch.kind, schema, name)
        if branch.kind == "boolean":
            return alt(syntax.word(True), syntax.word(False))
        return syntax.word(None)

    def warn_beside_text(self, branches: Sequence[Branch], name: str) -> None:
        """Warn of what is not enforced of data, where any text may stand and a parser takes it for data."""
        if any(branch.kind == "any" for branch in branches):
            return
        for branch in branches:
            data = branch.without_strings()
            constrained = data.values if data.kind == "values" else data.schema
            if branch.kind != "string" and constrained and data.types != ["null"]:
                words, types = ", ".join(data.schema), " or ".join(data.types)
                self._warn(name, f"{words} of the type {types} beside free text")

    def _warn(self, name: str, what: str) -> None:
        self.builder.warn(f"schema of {name}: {what} is not enforced by the grammar.")

    # ---- containers ----

    def object(self, schema: Any, name: str) -> Expr:
        """What a schema permits of objects. Raises RequestError where that is nothing."""
        return self._one_of(self.object_branches(schema, name), name)

    def object_branches(self, schema: Any, name: str) -> list[Branch]:
        """The alternatives of arguments, which are an object though the schema may not say so.

        Raises RequestError where it permits no object.
        """
        found = [
            Branch("object", {}) if branch.kind == "any" else branch
            for branch in self.branches(schema, name)
            if branch.kind in ("object", "any")
        ]
        if not found:
            raise RequestError(
                f"schema of {name}: arguments are an object, which it excludes. Give it the type"
                " object."
            )
        return found

    def members(
        self,
        schema: Mapping[str, Any],
        name: str,
        one: OneMember,
        other: OtherMember,
        comma: Expr = EMPTY,
    ) -> Expr:
        """The members of an object, or the arguments of a call, as a format writes them."""
        properties, more = self.properties(schema)
        required = schema.get("required", ())
        members = []
        for key, value in properties.items():
            if key in required or not self.is_excluded(value):
                rule = slug(f"{name}-{key}")
                body = one(key, value, rule)
                members.append(Member(self.builder.rule(rule, body), key in required))
        extra = None
        if not self.is_excluded(more):
            rule = f"{name}-other"
            # Not under the names of properties either that no value is permitted for.
            extra = self.builder.rule(rule, other(list(properties), more, rule))
        return arrange(self.builder, name, members, comma=comma, extra=extra)

    def properties(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The schemas of the properties that are named, and that of any other."""
        properties = dict(schema.get("properties", {}))
        further = schema.get("additionalProperties", True)
        required = schema.get("required", ())
        properties.update({key: further for key in required if key not in properties})
        properties = {key: properties[key] for key in self._order.arranged(properties)}
        return properties, schema.get("additionalProperties", not properties)

    def is_excluded(self, schema: Any) -> bool:
        """Whether the schema of a property permits no value."""
        return self._alternatives.is_excluded(schema)

    def _object(self, schema: Mapping[str, Any], name: str) -> Expr:
        properties, more = self.properties(schema)
        if not properties and (more is True or more == {}):
            return self.syntax.object()
        comma = self.syntax.comma()
        return self.syntax.braced(self.members(schema, name, self._member, self._other, comma))

    def _member(self, key: str, schema: Any, name: str) -> Expr:
        return self.syntax.member(key, self.value(schema, name))

    def _other(self, keys: Sequence[str], schema: Any, name: str) -> Expr:
        return self.syntax.other_member(f"{name}-key", keys, self.value(schema, name))

    def _array(self, schema: Mapping[str, Any], name: str) -> Expr:
        syntax = self.syntax
        low, high = self._counts(schema.get("minItems", 0), most_items(schema), "Items", name)
        first = list(schema.get("prefixItems", ()))[:high]
        limit = None if high is None else high - len(first)
        if limit == 0:
            inner: Expr = EMPTY
        else:
            item = self._item(schema.get("items", True), name)
            more = Rep(seq(syntax.comma(), item), max(low - max(len(first), 1), 0), limit)
            if first:
                inner = more
            else:
                count = None if limit is None else limit - 1
                inner = seq(item, Rep(more.item, more.low, count) if count != 0 else EMPTY)
                return syntax.bracketed(inner if low else opt(inner))
        for at in range(len(first) - 1, -1, -1):
            item = self.builder.rule(
                f"{name}-item-{at + 1}", self.value(first[at], f"{name}-item-{at + 1}")
            )
            inner = seq(syntax.comma() if at else EMPTY, item, inner)
            if at >= low:
                inner = opt(inner)
        return syntax.bracketed(inner)

    def _item(self, schema: Any, name: str) -> Expr:
        value = self.value(schema, f"{name}-item")
        if isinstance(value, Ref):
            return value
        return self.builder.rule(f"{name}-item", value)

    def _counts(
        self, low: float, high: float | None, what: str, name: str
    ) -> tuple[int, int | None]:
        """Limits of repetitions that engines take; `what` ends the keywords that give them."""
        if low > MAX_COUNT:
            self._warn(name, f"min{what} above {MAX_COUNT}")
        if high is not None and high > MAX_COUNT:
            self._warn(name, f"max{what} above {MAX_COUNT}")
            high = None
        return min(int(low), MAX_COUNT), None if high is None else int(high)

    # ---- strings and numbers ----

    def string_body(self, schema: Mapping[str, Any], name: str) -> Expr | None:
        """The characters of a constrained string, not quoted and not escaped; None for any."""
        low, high = self._counts(
            schema.get("minLength", 0), schema.get("maxLength"), "Length", name
        )
        found = None
        if "pattern" in schema:
            try:
                found = pattern(schema["pattern"])
            except Unsupported as error:
                self._warn(name, f"pattern {schema['pattern']!r} ({error})")
        form = schema.get("format")
        if form is not None and (found is not None or form not in FORMATS):
            self._warn(name, f"format {form!r}")
        elif form is not None:
            found = pattern(FORMATS[form])
        if low or high is not None:
            if found is None:
                return Rep(ANY, low, high)
            self._warn(name, "a length beside a pattern or format")
        return found

    def _number(self, kind: str, schema: Mapping[str, Any], name: str) -> Expr:
        if not schema:
            return self.syntax.integer() if kind == "integer" else self.syntax.number()
        body = range_of(kind, schema)
        assert body is not None, "no alternative is without any number"
        return self.builder.token(slug(f"{name}-number"), body)


def slug(text: str) -> str:
    """A rule's name from any text: small letters, digits, single hyphens."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return name if name[:1].isalpha() else f"x-{name}".strip("-")
