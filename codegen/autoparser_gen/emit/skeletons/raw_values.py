"""Decoder for argument values that stand in markup as raw text: their types come from the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from autoparser_gen.emit.skeletons.json_values import _SPECIAL, JsonValue
from autoparser_gen.emit.skeletons.literals import Literal, _json_text
from autoparser_gen.emit.skeletons.runtime import Decoder, Parser, _quoted, _SearchIn

RAW_WRAP: tuple[str, str] | None = None
RAW_TYPES: dict[str, str] = {}
PYTHON_WORDS = False
QUOTED_STRINGS = False

# ==== Begin raw values block (identical in every file that has it) ====

_JSON_KINDS = {
    "{": "object",
    "[": "array",
    '"': "string",
    "t": "boolean",
    "f": "boolean",
    "n": "null",
}
_JSON_BEGINNINGS = '{["-0123456789tfn'
# How a literal begins that is Python's and no string, where the schema may want one and where not.
_PYTHON_TYPED, _PYTHON_UNTYPED = "TFN[{(", "TFN[{"


class RawValue(Decoder):
    """One value; a string goes out as it comes, anything else when it is complete."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        tool, key, named = parser.argument
        known = parser.argument_schemas.get((tool, key))
        if known is None:
            schema = _argument_schema(parser.schemas, tool, key)
            known = schema, schema is not None and _only_string(*schema)
            parser.argument_schemas[tool, key] = known
        self._schema, only_string = known
        self._named = RAW_TYPES.get(named, "")
        self._pieces: list[str] = []
        is_string = self._named == "string" if self._named else only_string
        self._streams = is_string and RAW_WRAP is None and not QUOTED_STRINGS
        if self._streams:
            parser.call_arguments('"')

    def read(self, text: str, at: int, end: int) -> int:
        """A further piece of the value."""
        if self._streams:
            self._parser.call_arguments(_json_text(text[at:end]))
        else:
            self._pieces.append(text[at:end])
        return end

    def passes(self) -> _SearchIn | None:
        """See Decoder."""
        return _SPECIAL.search if self._streams else None

    def ends(self) -> bool:
        """The value is complete."""
        if self._streams:
            self._parser.call_arguments('"')
            return True
        text = "".join(self._pieces)
        if RAW_WRAP is not None and text.startswith(RAW_WRAP[0]) and text.endswith(RAW_WRAP[1]):
            text = text[len(RAW_WRAP[0]) : len(text) - len(RAW_WRAP[1])]
            self._named = self._named or "string"
        self._parser.call_arguments(_typed(text, self._schema, self._named))
        return True


def _typed(text: str, schema: tuple[Any, Any] | None, named: str) -> str:
    """A raw value as JSON text.

    `named` is the type that the markup gives ("" none). With QUOTED_STRINGS the chat template
    writes strings as JSON; one without its quotes is read as it stands. Unions take the JSON
    alternatives first, unless the text equals a `const` or `enum` member that is a string.
    """
    string = _quoted(text)
    if QUOTED_STRINGS and text.lstrip().startswith('"'):
        return _json_or_python(text, "") or string
    if named == "string":
        return string
    python = _PYTHON_UNTYPED if PYTHON_WORDS else ""
    value = _json_or_python(text, _PYTHON_TYPED if named or schema is not None else python)
    if not value:
        return string
    if named or schema is None:
        return value
    kinds, members = _kinds(*schema)
    if text in members:
        return string
    if "string" not in kinds:
        return value
    kind = _JSON_KINDS.get(value[0], "number")
    if kind == "number" and "number" not in kinds:
        kind = "integer" if _is_integer(value) else "number"
    return value if kind in kinds and kind != "string" else string


def _json_or_python(text: str, python: str) -> str:
    """The text if it is strict JSON, else the JSON of a Python literal, or "" where it is neither.

    `python` holds the characters that such a literal may begin with.
    """
    text = text.strip()
    first = text[:1]
    if first and first in _JSON_BEGINNINGS:
        value = JsonValue()
        end = value.read(text + " ", 0, len(text) + 1)
        if value.done and end >= len(text):
            return text
    if not first or first not in python:
        return ""
    literal = Literal()
    end = literal.read(text, 0, len(text))
    return literal.take() if literal.done and end == len(text) else ""


def _is_integer(text: str) -> bool:
    whole, _, fraction = text.partition(".")
    return not fraction.strip("0") and "e" not in text.lower() and bool(whole)


def _argument_schema(
    schemas: Mapping[str, Any] | None, tool: str, key: str
) -> tuple[Any, Any] | None:
    """An argument's schema with the document that its references point into; None if unknown."""
    if schemas is None or tool not in schemas:
        return None
    root = schemas[tool]
    return _property_schema(root, root, key)


def _property_schema(schema: Any, root: Any, key: str) -> tuple[Any, Any] | None:
    """The same of a property of an object."""
    more = None
    for branch in _branches(schema, root, set()):
        nested = branch.get("properties")
        if isinstance(nested, Mapping) and key in nested:
            return nested[key], root
        more = branch.get("additionalProperties") if more is None else more
    return (more, root) if isinstance(more, Mapping) else None


def _only_string(schema: Any, root: Any) -> bool:
    return _kinds(schema, root)[0] == {"string"}


def _kinds(schema: Any, root: Any) -> tuple[set[str], set[str]]:
    """The JSON types that a schema permits, and the strings that it names by const or enum."""
    kinds: set[str] = set()
    members: set[str] = set()
    for branch in _branches(schema, root, set()):
        named = branch.get("type")
        several = named if isinstance(named, list) else [named]
        types = {kind for kind in several if isinstance(kind, str)}
        listed = branch.get("enum")
        values = list(listed) if isinstance(listed, list) else []
        values += [branch["const"]] if "const" in branch else []
        members |= {value for value in values if isinstance(value, str)}
        kinds |= types or {_kind_of(value) for value in values}
        if (
            not types
            and not values
            and not any(word in branch for word in ("anyOf", "oneOf", "allOf", "$ref"))
        ):
            kinds |= (
                {"object"} if "properties" in branch else {"array"} if "items" in branch else set()
            )
    everything = {"string", "number", "integer", "boolean", "null", "object", "array"}
    return kinds or everything, members


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _branches(schema: Any, root: Any, seen: set[int]) -> Iterator[Mapping[str, Any]]:
    """A schema and all that its references and combinations lead to, each one once."""
    stack = [schema]
    while stack:
        schema = stack.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        for word in ("allOf", "oneOf", "anyOf"):
            if isinstance(schema.get(word), list):
                stack += schema[word]
        if isinstance(schema.get("$ref"), str):
            stack.append(_resolve(schema["$ref"], root))


def _resolve(reference: str, root: Any) -> Any:
    """What a reference within the document points to; None where it leads nowhere or outside."""
    if not reference.startswith("#"):
        return None
    target = root
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(target, Mapping) or part not in target:
            return None
        target = target[part]
    return target


# ==== End raw values block ====
