"""Whether a JSON Schema is one: every keyword that the grammar reads has a value of its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any

from autoparser_gen.errors import RequestError, shown

MAX_LEVELS = 100  # of schemas in schemas: Python's stack, and that of the engines, ends


def require_shapes(schema: Any, name: str) -> None:
    """Raises RequestError at the first keyword that has no value of its shape, or too deep down."""
    level, seen = [("#", schema)], set[int]()
    for _ in range(MAX_LEVELS):
        inner: list[tuple[str, Any]] = []
        for pointer, item in level:
            if id(item) not in seen:
                seen.add(id(item))
                inner += _checked(item, pointer, name)
        if not inner:
            return
        level = inner
    raise RequestError(
        f"schema of {name}: it is nested deeper than {MAX_LEVELS} levels, at {shown(level[0][0], 200)}."
        " Give what repeats a name under $defs."
    )


def _checked(schema: Any, pointer: str, name: str) -> Iterator[tuple[str, Any]]:
    """The schemas in a schema, each with its JSON pointer."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise RequestError(
            f"schema of {name}: {shown(schema, 200)} at {pointer} is no schema. Give an object, true"
            " or false."
        )
    for word, value in schema.items():
        what, fits = SHAPES.get(word, ANYTHING)
        if not fits(value):
            raise RequestError(
                f"schema of {name}: {word} must be {what}, and at {pointer} it is {shown(value, 200)}."
            )
        if word in _OF_VALUES:
            _require_finite(value, f"{pointer}/{word}", name)
    yield from subschemas(schema, pointer)


def subschemas(schema: Any, pointer: str = "#") -> Iterator[tuple[str, Any]]:
    """The schemas directly in a schema, each with its JSON pointer."""
    if not isinstance(schema, Mapping):
        return
    for word, value in schema.items():
        if word in _OF_NAMES and isinstance(value, Mapping):
            yield from (
                (f"{pointer}/{word}/{_escaped(key)}", inner) for key, inner in value.items()
            )
        elif word in _LISTS and isinstance(value, list):
            yield from ((f"{pointer}/{word}/{at}", inner) for at, inner in enumerate(value))
        elif word in _SINGLE:
            yield f"{pointer}/{word}", value


def _require_finite(value: Any, pointer: str, name: str) -> None:
    """Raises RequestError where a given value holds NaN or an infinity, which JSON cannot write."""
    left, seen = [(pointer, value)], set[int]()
    while left:
        at, item = left.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, float) and not isfinite(item):
            raise RequestError(
                f"schema of {name}: {item} at {at} is no number of JSON. Leave it out."
            )
        if isinstance(item, Mapping):
            left += [(f"{at}/{_escaped(str(key))}", inner) for key, inner in item.items()]
        elif isinstance(item, (list, tuple)):
            left += [(f"{at}/{index}", inner) for index, inner in enumerate(item)]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_some(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, value))


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)


def _is_count(value: Any) -> bool:
    return _is_finite(value) and value >= 0 and value == int(value)


def _is_bound(value: Any) -> bool:
    return isinstance(value, bool) or _is_finite(value)  # before draft 6 it was a flag


_OF_NAMES = ("properties", "$defs", "definitions")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")  # items was a list before 2020-12
_OF_VALUES = ("enum", "const")
_SINGLE = ("items", "additionalProperties", "additionalItems")
_Shape = tuple[str, Callable[[Any], bool]]

ANYTHING: _Shape = ("anything", lambda value: True)
_COUNT: _Shape = ("a number of things", _is_count)
_ANY_NUMBER: _Shape = ("a number", _is_finite)
_SCHEMAS: _Shape = ("a list of schemas, at least one", _is_some)
_NAMED_SCHEMAS: _Shape = ("an object of schemas by name", _is_mapping)
SHAPES: Mapping[str, _Shape] = {
    "properties": _NAMED_SCHEMAS,
    "$defs": _NAMED_SCHEMAS,
    "definitions": _NAMED_SCHEMAS,
    "required": ("a list of names", _is_list_of_texts),
    "enum": ("a list of values, at least one", _is_some),
    "prefixItems": ("a list of schemas", _is_list),
    "allOf": _SCHEMAS,
    "anyOf": _SCHEMAS,
    "oneOf": _SCHEMAS,
    "pattern": ("a text", _is_text),
    "format": ("a text", _is_text),
    "nullable": ("true or false", lambda value: isinstance(value, bool)),
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "minimum": _ANY_NUMBER,
    "maximum": _ANY_NUMBER,
    "exclusiveMinimum": ("a number", _is_bound),
    "exclusiveMaximum": ("a number", _is_bound),
    "type": (
        "a type or a list of types",
        lambda value: _is_text(value) or _is_list_of_texts(value),
    ),
}
