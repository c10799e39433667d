"""Alternatives of a JSON Schema: a type with constraints, given values, or anything."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The keywords that constrain values of each type.
CONSTRAINTS: Mapping[str, tuple[str, ...]] = {
    "object": ("properties", "required", "additionalProperties"),
    "array": ("items", "prefixItems", "additionalItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "boolean": (),
    "null": (),
}


@dataclass(frozen=True)
class Branch:
    """One alternative of a schema: one type with its constraints, given values, or anything."""

    kind: str  # a type, "values" or "any"
    schema: Mapping[str, Any]
    pointer: str = ""  # of the definition that it comes from, if it holds other values
    loose: bool = False  # permitted only because the schema names no type, and constrains others

    @property
    def key(self) -> tuple[str, str]:
        """The same for all branches that permit the same in one document."""
        return self.kind, repr(self.schema)

    @property
    def holds_values(self) -> bool:
        """Whether other values, described by schemas, are in its values."""
        return self.kind in ("object", "array")

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
        return self.types[0]

    @property
    def types(self) -> list[str]:
        """The types of its values."""
        if self.kind != "values":
            return [self.kind]
        return list(dict.fromkeys(map(type_of, self.values)))

    def by_type(self) -> list[Branch]:
        """Given values as an alternative for each of their types."""
        return [
            Branch("values", {"enum": [value for value in self.values if is_of_type(value, kind)]})
            for kind in self.types
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


def simplified(branches: Sequence[Branch]) -> list[Branch]:
    """Without alternatives that another one covers."""
    if any(branch.kind == "any" for branch in branches):
        return [ANY_BRANCH]
    plain = {branch.kind for branch in branches if branch.is_plain}
    found: dict[tuple[str, str], Branch] = {}
    for branch in branches:
        covered = not branch.is_plain and branch.kind in plain
        if branch.kind == "integer" and "number" in plain:
            covered = True
        if branch.kind == "values":
            values = [v for v in branch.values if not any(is_of_type(v, kind) for kind in plain)]
            branch = Branch("values", {"enum": values})
            covered = not values
        if not covered:
            found.setdefault(branch.key, branch)
    return list(found.values())


def of_meant_type(branches: Sequence[Branch]) -> list[Branch]:
    """Without other types, where a schema that names none constrains values of one type only."""
    meant = {branch.kind for branch in branches if not branch.loose}
    return [branch for branch in branches if len(meant) > 1 or not branch.loose]


def type_of(value: Any) -> str:
    """The type of a value; a whole number is a number."""
    return next((kind for kind in CONSTRAINTS if is_of_type(value, kind)), "null")


def is_of_type(value: Any, kind: str) -> bool:
    """Whether a value is of a type."""
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if kind == "number":
        return isinstance(value, (int, float))
    types: dict[str, type] = {"object": dict, "array": list, "string": str}
    return kind in types and isinstance(value, types[kind])


def identity(value: Any) -> Hashable:
    """The same for values that JSON Schema takes for equal: 1 and 1.0, but not 1 and true."""
    if isinstance(value, Mapping):
        return frozenset((key, identity(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return tuple(map(identity, value))
    return isinstance(value, bool), value
