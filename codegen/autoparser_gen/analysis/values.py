"""JSON values inside a rendering, found by decoding."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"
MAX_DEPTH = 100  # levels; a stranger's JSON may be nested deeper than Python's stack


@dataclass(frozen=True)
class Value:
    """A decoded JSON value and where it stands."""

    start: int
    end: int
    data: Any


def outermost_values(text: str) -> Iterator[Value]:
    """Every JSON object or array that is not inside another one, in order."""
    at = 0
    while at < len(text):
        if text[at] in "{[":
            found = _decode(text, at)
            if found is not None:
                yield found
                at = found.end
                continue
        at += 1


def _decode(text: str, at: int) -> Value | None:
    """The value that begins here, if it is one and not nested deeper than a call can be."""
    try:
        data, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return Value(at, end, data)
    return None


def _inside(data: Any) -> list[Any]:
    return list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else []


def elements(text: str, array: Value) -> list[Value]:
    """The elements of an array with their places."""
    found: list[Value] = []
    at = array.start + 1
    while True:
        while text[at] in _SPACE + ",":
            at += 1
        if text[at] == "]":
            return found
        data, end = _DECODER.raw_decode(text, at)
        found.append(Value(at, end, data))
        at = end


def members(text: str, record: Value) -> list[Value]:
    """The values of an object's members with their places."""
    found: list[Value] = []
    at = record.start + 1
    while True:
        while text[at] in _SPACE + ",":
            at += 1
        if text[at] == "}":
            return found
        _, at = _DECODER.raw_decode(text, at)  # the key
        while text[at] in _SPACE + ":":
            at += 1
        data, end = _DECODER.raw_decode(text, at)
        found.append(Value(at, end, data))
        at = end


def holds(data: Any, needle: str) -> bool:
    """Whether a needle stands anywhere in a JSON value, as a key or inside a string."""
    if isinstance(data, dict):
        return any(needle in key or holds(item, needle) for key, item in data.items())
    if isinstance(data, list):
        return any(holds(item, needle) for item in data)
    return isinstance(data, str) and needle in data


def path_to(data: Any, wanted: Any) -> tuple[str, ...] | None:
    """The keys that lead through nested objects to a value, or None."""
    if isinstance(data, dict):
        for key, item in data.items():
            if type(item) is type(wanted) and item == wanted:
                return (key,)
            deeper = path_to(item, wanted)
            if deeper is not None:
                return (key, *deeper)
    return None
