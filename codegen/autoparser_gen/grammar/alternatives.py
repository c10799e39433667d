"""The alternatives of JSON Schemas: references, combinations and given values resolved.

What cannot be expressed is named in a warning and left out, never ignored in silence; references
out of the document are errors, since nothing is fetched. `oneOf` is read like `anyOf`; where its
alternatives may overlap, a warning says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from typing import Any

from autoparser_gen.errors import RequestError
from autoparser_gen.grammar.branch import (
    ANY_BRANCH,
    CONSTRAINTS,
    Branch,
    identity,
    is_of_type,
    of_meant_type,
)
from autoparser_gen.grammar.combine import (
    constraints_of,
    contradiction,
    merged_constraints,
    most_items,
    resolve,
    schema_of_item,
    schema_of_key,
)
from autoparser_gen.grammar.endless import Endings
from autoparser_gen.grammar.matching import Matcher
from autoparser_gen.grammar.pattern import FORMATS, Unsupported, pattern
from autoparser_gen.grammar.shapes import require_shapes

# Schemas that one schema may stand for: what refers twice to what refers twice is soon more than any
# machine can write down.
MAX_STEPS = 12_000

# References and combinations in one another, before there is a value: Python's stack ends.
MAX_DEPTH = 100

# Pairs of alternatives of a oneOf that are compared.
MAX_PAIRS = 2000

_COMBINATIONS = ("$ref", "allOf", "anyOf", "oneOf", "type", "enum", "const", "nullable")
_ANNOTATIONS = (
    *("title", "description", "default", "examples", "example", "deprecated", "readOnly"),
    *("writeOnly", "$schema", "$id", "$comment", "$defs", "definitions", "$anchor"),
    "discriminator",  # of OpenAPI: which property tells alternatives apart, as they say themselves
)
_KNOWN = frozenset(
    (*_COMBINATIONS, *_ANNOTATIONS, *(word for words in CONSTRAINTS.values() for word in words))
)
# Types of OpenAI's response_format, which is not a schema but has one in it.
_RESPONSE_FORMATS = ("json_schema", "json_object")
_NULL_BRANCH = Branch("null", {})
# The types that exclude each other; integers are numbers.
_TYPES = tuple(kind for kind in CONSTRAINTS if kind != "integer")


class Alternatives:
    """Reads the schemas of one document."""

    def __init__(self, document: Any, name: str, warn: Callable[[str, str], None]) -> None:
        """`document` is what references point into; `warn` takes a name and what is not enforced.

        Raises RequestError where the document is no schema.
        """
        require_shapes(document, name)
        self._document = document
        self._name = name
        self._tell = warn
        self._is_quiet = False  # while alternatives are only compared
        self._steps = 0  # how many schemas have been looked at, some of them several times
        self._depth = 0
        self._reasons: list[str] = []  # why the schema that is looked at excludes values
        self._targets: dict[str, Any] = {}  # of references, by what they say
        # What has been told of in one look must be told of in another one, so both are kept apart:
        # what given values are compared with, by identity; by pattern, None where there can be none.
        self._inside: dict[tuple[bool, int], tuple[Any, list[Branch]]] = {}
        self._matchers: dict[tuple[bool, str], Matcher | None] = {}
        self._endings = Endings(self._sound)

    def of(self, schema: Any, name: str) -> list[Branch]:
        """All alternatives. Raises RequestError where there is none."""
        self._reasons = []
        found = self._ending(of_meant_type(self._of(schema, name, ())))
        if not found:
            why = "".join(f": {reason}" for reason in self._reasons[:1])
            raise RequestError(
                f"schema of {name}: no value satisfies it{why}. Correct it, or leave it out."
            )
        return found

    def _ending(self, branches: list[Branch]) -> list[Branch]:
        """Without alternatives that require themselves without end."""
        with self._aside():
            found = [branch for branch in branches if self._endings.ends(branch)]
        if branches and not found:
            what = self._endings.endless(branches[0]) or "it"
            self._reasons = [
                f"{what} requires itself without end, since what refers back to it may not be"
                " missing, empty or null"
            ]
        return found

    def _sound(self, schema: Any) -> list[Branch]:
        """All alternatives; none where an error will say why, once it is the schema's turn."""
        depth = self._depth
        try:
            return of_meant_type(self._of(schema, self._name, ()))
        except RequestError:
            self._depth = depth
            return []

    def is_excluded(self, schema: Any) -> bool:
        """Whether two schemas, each of which holds for it, leave no value for a property."""
        if not isinstance(schema, Mapping) or schema.keys() != {"allOf"}:
            return schema is False
        with self._aside():
            return not self._of(schema, self._name, ())

    def _of(self, schema: Any, name: str, seen: tuple[str, ...]) -> list[Branch]:
        """The alternatives behind the references `seen`."""
        if schema is True or schema == {}:
            return [ANY_BRANCH]
        if schema is False:
            return []
        if schema.get("nullable") is True:  # of OpenAPI 3.0, which has no type null
            schema = {word: value for word, value in schema.items() if word != "nullable"}
            found = of_meant_type(self._of(schema, name, seen))
            is_permitted = any(self._permits(branch, None, name) for branch in found)
            return found if is_permitted else [*found, _NULL_BRANCH]
        self._count(name)
        self._warn_of_unknown(schema, name)
        self._descend(name)
        found = self._simple(schema, name)
        if "$ref" in schema:
            found = self._common(found, self._referenced(schema["$ref"], name, seen), name)
        for part in schema.get("allOf", ()):
            found = self._common(found, self._of(part, name, seen), name)
        for word in ("anyOf", "oneOf"):
            if word in schema:
                options = [
                    of_meant_type(self._common(found, self._of(option, name, seen), name))
                    for option in schema[word]
                ]
                if word == "oneOf" and self._may_overlap(options):
                    self._warn(name, "that only one alternative of oneOf may hold")
                found = [branch for option in options for branch in option]
        self._depth -= 1
        return found

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """For a look at schemas that nothing is made of: no warning, no steps."""
        before = self._is_quiet, self._steps
        self._is_quiet = True
        yield
        self._is_quiet, self._steps = before

    def _warn(self, name: str, what: str) -> None:
        if not self._is_quiet:
            self._tell(name, what)

    def _descend(self, name: str) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise RequestError(
                f"schema of {name}: its references, alternatives or given values are nested deeper"
                f" than {MAX_DEPTH} levels."
            )

    def _count(self, name: str) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise RequestError(
                f"schema of {self._name}: its references and alternatives multiply to over {MAX_STEPS}"
                f" schemas, at {name}. Name them under $defs without keywords beside $ref."
            )

    def _warn_of_unknown(self, schema: Mapping[str, Any], name: str) -> None:
        for word in schema:
            if word not in _KNOWN:
                self._warn(name, word)

    # ---- parts of a schema ----

    def _simple(self, schema: Mapping[str, Any], name: str) -> list[Branch]:
        """What a schema says itself: types and their constraints, and values."""
        types = schema.get("type")
        named = [types] if isinstance(types, str) else types
        for kind in named or ():
            if kind not in CONSTRAINTS:
                hint = " It is one of OpenAI's response_format: give the schema that is in it."
                raise RequestError(
                    f"schema of {name}: {kind!r} is no type of JSON Schema. Its types are"
                    f" {', '.join(CONSTRAINTS)}.{hint if kind in _RESPONSE_FORMATS else ''}"
                )
        found = [
            Branch(kind, constraints, loose=named is None and not constraints)
            for kind in (_TYPES if named is None else named)
            for constraints in [constraints_of(schema, kind)]
        ]
        if all(branch.loose for branch in found):
            found = [ANY_BRANCH] if named is None else []
        found = [branch for branch in found if not self._is_contradiction(branch)]
        if all(branch.loose for branch in found):
            found = []  # no value of the types that are meant
        for values in ([schema["const"]] if "const" in schema else None, schema.get("enum")):
            if values is not None:
                found = self._common([Branch("values", {"enum": values})], found, name)
        return found

    def _referenced(self, pointer: Any, name: str, seen: tuple[str, ...]) -> list[Branch]:
        """The alternatives of a definition; those that hold other values remember where they are."""
        while True:
            if pointer in seen:
                raise RequestError(
                    f"schema of {name}: {pointer} refers to itself without end, with no property"
                    " or item in between. Define what it refers to."
                )
            seen = (*seen, pointer)
            target = self._target(pointer, name)
            if not isinstance(target, Mapping) or target.keys() - _ANNOTATIONS != {"$ref"}:
                break
            pointer = target["$ref"]
        return [
            replace(branch, pointer=branch.pointer or pointer) if branch.holds_values else branch
            for branch in self._of(target, name, seen)
        ]

    def _target(self, pointer: Any, name: str) -> Any:
        if pointer not in self._targets:
            target = resolve(pointer, self._document, name)
            require_shapes(target, f"{name} at {pointer}")
            self._targets[pointer] = target
        return self._targets[pointer]

    # ---- what satisfies two schemas ----

    def _common(self, first: list[Branch], second: list[Branch], name: str) -> list[Branch]:
        """The alternatives of what satisfies one of both lists each."""
        if first == [ANY_BRANCH] or second == [ANY_BRANCH]:
            return first if second == [ANY_BRANCH] else second
        if all(branch.kind == "values" for branch in first):
            given = [self._given(one, second, name) for one in first]
            return [branch for branch in given if branch is not None]
        pairs = [self._pair(one, two, name) for one in first for two in second]
        found = [branch for branch in pairs if branch is not None]
        if pairs and not found:
            self._reasons.append("its parts have no value in common")
        return found

    def _pair(self, one: Branch, two: Branch, name: str) -> Branch | None:
        """What satisfies both; None where that is nothing."""
        if one.kind == "any" or two.kind == "any":
            return one if two.kind == "any" else two
        if one.kind == "values":
            return self._given(one, [two], name)
        if two.kind == "values":
            return self._given(two, [one], name)
        if one.kind != two.kind and {one.kind, two.kind} != {"integer", "number"}:
            return None
        self._count(name)
        kind = one.kind if one.kind == two.kind else "integer"
        constraints = merged_constraints(
            one.schema, two.schema, lambda what: self._warn(name, what)
        )
        if kind == "object":
            self._exclude_properties(constraints)
        found = Branch(kind, constraints, one.pointer or two.pointer, one.loose and two.loose)
        return None if self._is_contradiction(found) else found

    def _given(self, given: Branch, branches: Sequence[Branch], name: str) -> Branch | None:
        """Those of the given values that one of the alternatives permits."""
        known = {
            identity(v) for branch in branches if branch.kind == "values" for v in branch.values
        }
        others = [branch for branch in branches if branch.kind != "values"]
        values = [
            value
            for value in given.values
            if identity(value) in known or any(self._permits(b, value, name) for b in others)
        ]
        if not values:
            self._reasons.append("none of its given values satisfies the rest of it")
            return None
        return Branch("values", {"enum": values})

    def _exclude_properties(self, constraints: dict[str, Any]) -> None:
        """Exclude the properties for which two schemas give values that have none in common.

        Those tell the alternatives of many schemas apart.
        """
        for key, schema in constraints.get("properties", {}).items():
            parts = schema.get("allOf", ()) if isinstance(schema, Mapping) else ()
            if any(_gives_values(part) for part in parts) and self.is_excluded(schema):
                constraints["properties"][key] = False

    def _is_contradiction(self, branch: Branch) -> bool:
        if branch.kind not in CONSTRAINTS:
            return False
        reason = contradiction(branch.kind, branch.schema)
        self._reasons += [reason] if reason else []
        return bool(reason)

    def _may_overlap(self, options: Sequence[Sequence[Branch]]) -> bool:
        """Whether what is written for one alternative may satisfy another one too."""
        pairs = (
            pair
            for first, second in combinations(options, 2)
            for one in first
            for two in second
            for pair in ((_closed(one), two), (one, _closed(two)))
        )
        with self._aside():
            return any(
                at == MAX_PAIRS or self._pair(*pair, self._name) is not None
                for at, pair in enumerate(pairs)
            )

    # ---- given values ----

    def _permits(self, branch: Branch, value: Any, name: str) -> bool:
        """Whether an alternative permits a value, as far as that can be decided."""
        schema = branch.schema
        if branch.kind == "any":
            return True
        if branch.kind == "values":
            return identity(value) in map(identity, branch.values)
        if not is_of_type(value, branch.kind):
            return False
        if branch.kind == "object":
            return all(key in value for key in schema.get("required", ())) and all(
                self._satisfies(schema_of_key(schema, key), inner, name)
                for key, inner in value.items()
            )
        if branch.kind == "array":
            most = most_items(schema)
            fits = schema.get("minItems", 0) <= len(value) <= (len(value) if most is None else most)
            return fits and all(
                self._satisfies(schema_of_item(schema, at), item, name)
                for at, item in enumerate(value)
            )
        if branch.kind == "string":
            return self._permits_text(schema, value, name)
        if branch.kind in ("boolean", "null"):
            return True
        return (
            value >= schema.get("minimum", value)
            and value <= schema.get("maximum", value)
            and not ("exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"])
            and not ("exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"])
        )

    def _satisfies(self, schema: Any, value: Any, name: str) -> bool:
        """Whether a value inside of a given one satisfies its schema."""
        if isinstance(schema, bool):
            return schema
        key = self._is_quiet, id(schema)
        if key not in self._inside:
            self._inside[key] = schema, self._of(schema, name, ())
        self._descend(name)
        found = any(self._permits(branch, value, name) for branch in self._inside[key][1])
        self._depth -= 1
        return found

    def _permits_text(self, schema: Mapping[str, Any], text: str, name: str) -> bool:
        if not schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text)):
            return False
        if "pattern" in schema:
            matcher = self._matcher(schema["pattern"], name)
            if matcher is not None and not matcher.matches(text):
                return False
        form = schema.get("format")
        if form is not None:
            matcher = self._matcher(FORMATS[form], name) if form in FORMATS else None
            if matcher is None or not matcher.matches(text):
                # Not every text of a format is one that the grammar writes.
                self._warn(name, f"format {form!r} of given values")
        return True

    def _matcher(self, source: str, name: str) -> Matcher | None:
        key = self._is_quiet, source
        if key not in self._matchers:
            try:
                self._matchers[key] = Matcher(pattern(source))
            except Unsupported as error:
                self._warn(name, f"pattern {source!r} ({error})")
                self._matchers[key] = None
        return self._matchers[key]


def _gives_values(schema: Any) -> bool:
    return isinstance(schema, Mapping) and not schema.keys().isdisjoint(("const", "enum"))


def _closed(branch: Branch) -> Branch:
    """An object as it is written: without additionalProperties none but the properties it names."""
    schema = branch.schema
    properties = {**dict.fromkeys(schema.get("required", ()), True), **schema.get("properties", {})}
    if branch.kind != "object" or not properties or "additionalProperties" in schema:
        return branch
    closed = {**schema, "properties": properties, "additionalProperties": False}
    return replace(branch, schema=closed)
