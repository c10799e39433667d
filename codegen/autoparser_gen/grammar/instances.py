"""Arguments made up from their schema: what verification calls a request's tools with."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from autoparser_gen.grammar.branch import Branch
from autoparser_gen.grammar.combine import range_of
from autoparser_gen.grammar.ir import Alt, Builder, CharClass, Expr, Lit, Rep, Seq
from autoparser_gen.grammar.request import Tool
from autoparser_gen.grammar.schema import SchemaRules
from autoparser_gen.grammar.syntax import JSON, Syntax

MAX_DEPTH = 32  # of values in one another
FULL_DEPTH = 2  # up to here optional members are there, too, where all are asked for
MAX_LENGTH = 1000  # characters or items that a schema may demand
MAX_MEMBERS = 100  # of an object

# The characters of made-up strings, the first that fits.
_USUAL = "text0 _-.:/@"


class Impossible(Exception):  # noqa: N818 - caught here, never an error
    """There is no value, or none that could be made up here."""


def arguments(tool: Tool, *, every: bool) -> dict[str, Any]:
    """Arguments of a call, all of them or those that are required. Raises Impossible."""
    rules = _rules(tool.schema, tool.slug)
    maker = _Maker(rules, every)
    for branch in rules.object_branches(tool.schema, tool.slug):
        with contextlib.suppress(Impossible):
            return maker.object(branch, tool.slug, 0)
    raise Impossible


def value(schema: Any) -> Any:
    """A value that a schema permits. Raises Impossible."""
    return _Maker(_rules(schema, "value"), every=True).value(schema, "value", 0)


def _rules(schema: Any, name: str) -> SchemaRules:
    return SchemaRules(Builder(), Syntax(Builder(), JSON), schema, name)


class _Maker:
    def __init__(self, rules: SchemaRules, every: bool) -> None:
        self.rules = rules
        self.every = every

    def value(self, schema: Any, name: str, depth: int) -> Any:
        """A value of the first alternative that has one."""
        if depth > MAX_DEPTH:
            raise Impossible
        for branch in self.rules.branches(schema, name):
            with contextlib.suppress(Impossible):
                return self.branch(branch, name, depth)
        raise Impossible

    def branch(self, branch: Branch, name: str, depth: int) -> Any:
        """A value of one alternative."""
        if branch.kind == "object":
            return self.object(branch, name, depth)
        if branch.kind == "array":
            return self.array(branch, name, depth)
        if branch.kind in ("integer", "number"):
            return self.number(branch)
        if branch.kind == "string":
            body = self.rules.string_body(branch.schema, name)
            return "text" if body is None else written(body)
        if branch.kind == "values":
            return branch.values[0]
        return {"boolean": True, "null": None, "any": "text"}[branch.kind]

    def object(self, branch: Branch, name: str, depth: int) -> dict[str, Any]:
        """An object with the required members, or with all in the outer ones."""
        properties, _ = self.rules.properties(branch.schema)
        required = branch.schema.get("required", ())
        found: dict[str, Any] = {}
        for key, schema in properties.items():
            if len(found) > MAX_MEMBERS:
                raise Impossible
            wanted = self.every and depth < FULL_DEPTH and not self.rules.is_excluded(schema)
            if key in required or wanted:
                try:
                    found[key] = self.value(schema, f"{name}-{key}", depth + 1)
                except Impossible:
                    if key in required:
                        raise
        return found

    def array(self, branch: Branch, name: str, depth: int) -> list[Any]:
        """A list as short as it may be."""
        first = branch.schema.get("prefixItems", ())
        least = branch.schema.get("minItems", 0)
        if least > MAX_LENGTH:
            raise Impossible
        schemas = [*first, *[branch.schema.get("items", True)] * (least - len(first))][:least]
        return [self.value(schema, f"{name}-item", depth + 1) for schema in schemas]

    def number(self, branch: Branch) -> Any:
        """A number within its bounds."""
        if branch.is_plain:
            return 1 if branch.kind == "integer" else 1.5
        body = range_of(branch.kind, branch.schema)
        if body is None:
            raise Impossible
        return json.loads(written(body))


def written(expr: Expr) -> str:
    """A short text of an expression without references. Raises Impossible where it is long."""
    if isinstance(expr, Lit):
        return expr.text
    if isinstance(expr, CharClass):
        return _character(expr)
    if isinstance(expr, Seq):
        return "".join(map(written, expr.items))
    if isinstance(expr, Alt):
        return min(map(written, expr.items), key=len)
    if isinstance(expr, Rep) and expr.low <= MAX_LENGTH:
        return written(expr.item) * expr.low if expr.low else ""
    raise Impossible


def _character(chars: CharClass) -> str:
    usual = (
        char
        for char in _USUAL
        if chars.negated != any(low <= char <= high for low, high in chars.ranges)
    )
    found = next(usual, "" if chars.negated else chars.ranges[0][0])
    if not found:
        raise Impossible
    return found
