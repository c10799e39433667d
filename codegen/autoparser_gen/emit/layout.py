"""Lays out the plain Python that generated modules hold as black does.

Black itself takes as long as all other printing together, and half of a short run with its import. So
what is printed here is as black would have it, and it is asked only where a line stays too long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from autoparser_gen.emit.quoting import one_line, python_string

LINE_LENGTH = 100
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", dict: "{}"}


@lru_cache
def formatted(text: str) -> str:
    """Statements, laid out line by line as black does where lines are short, as black leaves them."""
    if all(_columns(line) <= LINE_LENGTH for line in text.split("\n")):
        return text.strip("\n")
    import black

    return black.format_str(text, mode=black.Mode(line_length=LINE_LENGTH)).strip("\n")


def _columns(line: str) -> int:
    """How many columns a line takes at most: beyond ASCII a character may take two."""
    return len(line) + sum(char > "\x7f" for char in line)


def assignment(target: str, value: object) -> str:
    """The statement `target = value`; what is too long for a line has one item a line."""
    return _exploded(f"{target} = ", value, "", 0)


def _exploded(before: str, value: object, after: str, indent: int) -> str:
    line = f"{' ' * indent}{before}{literal(value)}{after}"
    brackets = _BRACKETS.get(type(value)) if value else None
    if len(line) <= LINE_LENGTH or brackets is None:
        return line
    items: Iterable[tuple[str, object]]
    if isinstance(value, dict):
        items = ((f"{literal(key)}: ", item) for key, item in value.items())
    else:
        assert isinstance(value, (list, tuple))
        items = (("", item) for item in value)
    comma = "" if len(value) == 1 and not isinstance(value, tuple) else ","
    first = f"{' ' * indent}{before}{brackets[0]}"
    inner = (_exploded(*item, comma, indent + 4) for item in items)
    return "\n".join([first, *inner, f"{' ' * indent}{brackets[1]}{after}"])


def imports_from(module: str, names: Iterable[str]) -> str:
    """The statement that imports names of a module."""
    given = list(names)
    line = f"from {module} import {', '.join(given)}"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in given), ")"])


def literal(value: object) -> str:
    """A Python literal of plain types, on one line."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if is_dataclass(value):
        rows = ((item.name, getattr(value, item.name), _default(item)) for item in fields(value))
        given = ", ".join(f"{n}={literal(v)}" for n, v, default in rows if v != default)
        return f"{type(value).__name__}({given})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def string(text: str) -> str:
    """A string literal; in single quotes where that needs fewer backslashes."""
    if text.count('"') <= text.count("'"):
        return python_string(text)
    return "'" + one_line(text).replace("'", "\\'") + "'"


def _default(item: Field[Any]) -> object:
    """What a field of a dataclass is when it is not given."""
    return item.default if item.default_factory is MISSING else item.default_factory()
