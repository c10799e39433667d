"""JSON Schema as grammar, in the syntax of the format: what a schema permits can be written.

What cannot be expressed is named in a warning and left out, never ignored in silence; references
out of the document are errors, since nothing is fetched. `oneOf` is read like `anyOf`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from typing import Any

from autoparser_gen.errors import GrammarError
from autoparser_gen.grammar.combine import combine, resolve
from autoparser_gen.grammar.ir import EMPTY, Builder, Expr, Ref, Rep, alt, opt, seq
from autoparser_gen.grammar.order import Member, arrange
from autoparser_gen.grammar.pattern import ANY, FORMATS, Unsupported, pattern
from autoparser_gen.grammar.ranges import integers, numbers
from autoparser_gen.grammar.shapes import require_shapes
from autoparser_gen.grammar.syntax import Syntax

# llama.cpp's limit of repetitions.
MAX_COUNT = 2000

# Schemas that one schema may stand for: what refers twice to what refers twice is soon more than any
# machine can write down.
MAX_STEPS = 12_000

# The keywords that constrain values of each type.
_CONSTRAINTS = {
    "object": ("properties", "required", "additionalProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "boolean": (),
    "null": (),
}
_COMBINATIONS = ("$ref", "allOf", "anyOf", "oneOf", "type", "enum", "const")
_ANNOTATIONS = (
    *("title", "description", "default", "examples", "example", "deprecated", "readOnly"),
    *("writeOnly", "$schema", "$id", "$comment", "$defs", "definitions", "$anchor"),
)
_KNOWN = frozenset(
    (*_COMBINATIONS, *_ANNOTATIONS, *(word for words in _CONSTRAINTS.values() for word in words))
)


@dataclass(frozen=True)
class Branch:
    """One alternative of a schema: one type with its constraints, given values, or anything."""

    kind: str  # a type, "values" or "any"
    schema: Mapping[str, Any]
    pointer: str = ""  # of the definition that it is, where it is exactly one

    @property
    def values(self) -> list[Any]:
        """The values of enum and const."""
        return list(self.schema["enum"])

    @property
    def strings(self) -> list[str]:
        """Those of the values that are strings."""
        values = self.values if self.kind == "values" else []
        return [value for value in values if isinstance(value, str)]

    @property
    def type(self) -> str:
        """The type of all values; of given ones, that of the first."""
        if self.kind != "values":
            return self.kind
        return next((kind for kind in _CONSTRAINTS if _is(self.values[0], kind)), "null")

    def by_type(self) -> list[Branch]:
        """Given values as an alternative for each of their types."""
        types = dict.fromkeys(Branch("values", {"enum": [value]}).type for value in self.values)
        return [
            Branch("values", {"enum": [value for value in self.values if _is(value, kind)]})
            for kind in types
        ]

    def without_strings(self) -> Branch:
        """The same without values that are strings."""
        if not self.strings:
            return self
        return Branch("values", {"enum": [v for v in self.values if not isinstance(v, str)]})

    @property
    def is_plain(self) -> bool:
        """Whether it is a type without constraints."""
        return not self.schema


ANY_BRANCH = Branch("any", {})


class SchemaRules:
    """Converts the schemas of one document. Rules are named after where in it they stand."""

    def __init__(self, builder: Builder, syntax: Syntax, document: Any, name: str) -> None:
        """`document` is what references point into; `name` is the first part of rules' names.

        Raises GrammarError where the document is no schema.
        """
        require_shapes(document, name)
        self.builder = builder
        self.syntax = syntax
        self.document = document
        self.name = name
        self._definitions: dict[str, str] = {}
        self._steps = 0  # how many schemas have been looked at, some of them several times

    # ---- values ----

    def value(self, schema: Any, name: str) -> Expr:
        """What a schema permits. Raises GrammarError where it permits nothing."""
        branches = simplified(self.branches(schema, name))
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
            return self._definition(branch)
        return self._typed(branch, name)

    def _definition(self, branch: Branch) -> Ref:
        """The rule of a definition, which may refer to itself."""
        if branch.pointer not in self._definitions:
            last = branch.pointer.rpartition("/")[2].strip("#")
            name = self.builder.reserve(slug(f"{self.name}-{last or 'schema'}"))
            self._definitions[branch.pointer] = name
            self.builder.define(name, self._typed(branch, name))
        return Ref(self._definitions[branch.pointer])

    def _typed(self, branch: Branch, name: str) -> Expr:
        schema, syntax = branch.schema, self.syntax
        if branch.kind == "object":
            return self._object(schema, name)
        if branch.kind == "array":
            return self._array(schema, name)
        if branch.kind == "string":
            body = self.string_body(schema, name)
            return syntax.string() if body is None else syntax.string_of(f"{name}-text", body)
        if branch.kind == "integer":
            return self._integer(schema, name)
        if branch.kind == "number":
            return self._number(schema, name)
        if branch.kind == "boolean":
            return alt(syntax.word(True), syntax.word(False))
        return syntax.word(None)

    # ---- alternatives ----

    def branches(self, schema: Any, name: str) -> list[Branch]:
        """The alternatives of a schema, with references and combinations resolved."""
        found = list(self._flattened(schema, name, ()))
        if not found:
            raise GrammarError(f"schema of {name}: no value satisfies it.")
        return found

    def _flattened(self, schema: Any, name: str, seen: tuple[str, ...]) -> Iterator[Branch]:
        if schema is True or schema == {}:
            yield Branch("any", {})
            return
        if schema is False:
            return
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise GrammarError(
                f"schema of {self.name}: its references and alternatives multiply to over {MAX_STEPS}"
                f" schemas, at {name}. Name them under $defs without keywords beside $ref."
            )
        self._warn_of_unknown(schema, name)
        if "$ref" in schema:
            yield from self._referenced(schema, name, seen)
        elif "allOf" in schema:
            whole: Any = {key: value for key, value in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                whole = combine(whole, resolve(part, self.document, name))
            yield from self._flattened(whole, name, seen)
        elif "anyOf" in schema or "oneOf" in schema:
            word = "anyOf" if "anyOf" in schema else "oneOf"
            base = {key: value for key, value in schema.items() if key != word}
            for option in schema[word]:
                constrained = base.keys() - _ANNOTATIONS
                option = combine(base, option) if constrained else option
                yield from self._flattened(option, name, seen)
        else:
            yield from self._simple(schema, name)

    def _referenced(
        self, schema: Mapping[str, Any], name: str, seen: tuple[str, ...]
    ) -> Iterator[Branch]:
        pointer = schema["$ref"]
        if pointer in seen:
            raise GrammarError(f"schema of {name}: {pointer} refers to itself without end.")
        beside = {key: value for key, value in schema.items() if key not in ("$ref", *_ANNOTATIONS)}
        if beside:
            whole = combine(beside, resolve({"$ref": pointer}, self.document, name))
            yield from self._flattened(whole, name, (*seen, pointer))
            return
        target = resolve({"$ref": pointer}, self.document, name, depth=1)
        found = list(self._flattened(target, name, (*seen, pointer)))
        for branch in found:
            container = branch.kind in ("object", "array") and not branch.pointer
            alone = container and len(found) == 1
            yield Branch(branch.kind, branch.schema, pointer) if alone else branch

    def _simple(self, schema: Mapping[str, Any], name: str) -> Iterator[Branch]:
        """A schema of types, or of values."""
        types = schema.get("type", _types_of_constraints(schema))
        types = [types] if isinstance(types, str) else list(types)
        for kind in types:
            if kind not in _CONSTRAINTS:
                raise GrammarError(f"schema of {name}: {kind!r} is no type of JSON Schema.")
        values = _values(schema)
        if values is not None:
            permitted = [v for v in values if not types or any(_is(v, kind) for kind in types)]
            if permitted:
                yield Branch("values", {"enum": permitted})
            return
        if not types:
            yield Branch("any", {})
        for kind in types:
            constraints = _CONSTRAINTS[kind]
            yield Branch(kind, {key: schema[key] for key in constraints if key in schema})

    def _warn_of_unknown(self, schema: Mapping[str, Any], name: str) -> None:
        for word in schema:
            if word not in _KNOWN:
                self._warn(name, word)

    def _warn(self, name: str, what: str) -> None:
        self.builder.warn(f"schema of {name}: {what} is not enforced by the grammar.")

    # ---- containers ----

    def object(self, schema: Any, name: str) -> Expr:
        """What a schema permits of objects. Raises GrammarError where that is nothing."""
        branches = [b for b in self.branches(schema, name) if b.kind in ("object", "any")]
        if not branches:
            raise GrammarError(f"schema of {name}: arguments are an object, which it excludes.")
        found = []
        for at, branch in enumerate(branches):
            inner = f"{name}-{at + 1}" if len(branches) > 1 else name
            any_object = branch.kind == "any"
            found.append(self.syntax.object() if any_object else self.branch(branch, inner))
        return alt(*found)

    def properties(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], Any]:
        """Properties with their schemas, the required ones, and the schema of any other."""
        properties = dict(schema.get("properties", {}))
        required = list(schema.get("required", ()))
        properties.update({key: True for key in required if key not in properties})
        more = schema.get("additionalProperties", not properties)
        possible = {k: v for k, v in properties.items() if v is not False or k in required}
        return possible, required, more

    def _object(self, schema: Mapping[str, Any], name: str) -> Expr:
        properties, required, more = self.properties(schema)
        syntax = self.syntax
        if not properties and (more is True or more == {}):
            return syntax.object()
        members = []
        for key, value in properties.items():
            rule = slug(f"{name}-{key}")
            body = syntax.member(key, self.value(value, rule))
            members.append(Member(self.builder.rule(rule, body), key in required))
        extra = None
        if more is not False:
            value = self.value(more, f"{name}-other")
            key_name = f"{name}-other-key"
            body = syntax.other_member(key_name, list(properties), value)
            extra = self.builder.rule(f"{name}-other", body)
        return syntax.braced(
            arrange(self.builder, name, members, comma=syntax.comma(), extra=extra)
        )

    def _array(self, schema: Mapping[str, Any], name: str) -> Expr:
        syntax = self.syntax
        first = list(schema.get("prefixItems", ()))
        low, high = self._counts(schema, "minItems", "maxItems", name)
        if high is not None and high <= len(first):
            first = first[:high]
        rest = schema.get("items", True)
        if isinstance(rest, list):  # before 2020-12, a list was what prefixItems is now
            first, rest = rest, schema.get("additionalItems", True)
        limit = None if high is None else high - len(first)
        if rest is False or limit == 0:
            inner: Expr = EMPTY
        else:
            item = self._item(rest, name)
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
        self, schema: Mapping[str, Any], least: str, most: str, name: str
    ) -> tuple[int, int | None]:
        low, high = int(schema.get(least, 0)), schema.get(most)
        if low > MAX_COUNT:
            self._warn(name, f"{least} above {MAX_COUNT}")
        if high is not None and high > MAX_COUNT:
            self._warn(name, f"{most} above {MAX_COUNT}")
            high = None
        if high is not None and high < low:
            raise GrammarError(f"schema of {name}: {least} is greater than {most}.")
        return min(low, MAX_COUNT), None if high is None else int(high)

    # ---- strings and numbers ----

    def string_body(self, schema: Mapping[str, Any], name: str) -> Expr | None:
        """The characters of a constrained string, not quoted and not escaped; None for any."""
        low, high = self._counts(schema, "minLength", "maxLength", name)
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

    def _integer(self, schema: Mapping[str, Any], name: str) -> Expr:
        low, high, above, below = _bounds(schema)
        if low is None and high is None:
            return self.syntax.integer()
        least = None if low is None else ceil(low) + int(above and ceil(low) == low)
        most = None if high is None else floor(high) - int(below and floor(high) == high)
        body = integers(least, most)
        return self._number_token(body, name)

    def _number(self, schema: Mapping[str, Any], name: str) -> Expr:
        low, high, above, below = _bounds(schema)
        if low is None and high is None:
            return self.syntax.number()
        return self._number_token(numbers(low, high, above=above, below=below), name)

    def _number_token(self, body: Expr | None, name: str) -> Expr:
        if body is None:
            raise GrammarError(f"schema of {name}: no number lies between its bounds.")
        return self.builder.token(slug(f"{name}-number"), body)


def simplified(branches: Sequence[Branch]) -> list[Branch]:
    """Without alternatives that another one covers."""
    if any(branch.kind == "any" for branch in branches):
        return [Branch("any", {})]
    plain = {branch.kind for branch in branches if branch.is_plain}
    found = []
    for branch in branches:
        covered = not branch.is_plain and branch.kind in plain
        if branch.kind == "integer" and "number" in plain:
            covered = True
        if branch.kind == "values":
            values = [v for v in branch.values if not any(_is(v, kind) for kind in plain)]
            branch = Branch("values", {"enum": values})
            covered = not values
        if not covered and branch not in found:
            found.append(branch)
    return found


def slug(text: str) -> str:
    """A rule's name from any text: small letters, digits, single hyphens."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return name if name[:1].isalpha() else f"x-{name}".strip("-")


def _values(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values of enum and const; None where there is neither."""
    if "const" in schema:
        const = schema["const"]
        return [const] if const in schema.get("enum", [const]) else []
    return list(schema["enum"]) if "enum" in schema else None


def _types_of_constraints(schema: Mapping[str, Any]) -> list[str]:
    """The type that a schema means without naming it, if its constraints are of one type."""
    found = [
        kind
        for kind, words in _CONSTRAINTS.items()
        if kind != "integer" and any(word in schema for word in words)
    ]
    return found if len(found) == 1 else []


def _is(value: Any, kind: str) -> bool:
    """Whether a value is of a type."""
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if kind == "number":
        return isinstance(value, (int, float))
    types: dict[str, type] = {"object": dict, "array": list, "string": str}
    return kind in types and isinstance(value, types[kind])


def _bounds(schema: Mapping[str, Any]) -> tuple[Decimal | None, Decimal | None, bool, bool]:
    """Lower and upper bound of numbers, and whether each is itself left out."""
    low, above = _bound(schema, "minimum", "exclusiveMinimum", max)
    high, below = _bound(schema, "maximum", "exclusiveMaximum", min)
    return low, high, above, below


def _bound(
    schema: Mapping[str, Any], inclusive: str, exclusive: str, tighter: Any
) -> tuple[Decimal | None, bool]:
    bound, strict = schema.get(inclusive), schema.get(exclusive)
    if isinstance(strict, bool):  # before draft 6 it was a flag
        return (None if bound is None else Decimal(str(bound))), strict
    if bound is None or strict is None:
        found = bound if strict is None else strict
        return (None if found is None else Decimal(str(found))), strict is not None
    found = tighter(Decimal(str(bound)), Decimal(str(strict)))
    return found, found == Decimal(str(strict))
