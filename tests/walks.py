"""Outputs for tests, made from a parser's own table: right ones, damaged ones, and noise.

A walk goes from region to region as the table says and writes what each of them reads, so every
format has outputs to start from, without its chat template.
"""

from __future__ import annotations

import json
import random
import types
from collections.abc import Callable, Sequence
from typing import Any

NAMES = ("f", "get_weather", "a.b-c")
KEYS = ("a", "city", "x_1")
TEXTS = ("", "a", "1", "Oslo", "two words", "true", "[1]", "é漢🙂", '"', "\\", "<b>", "a\n", " a")
WORDS = ("a", "Hello.", "x y", "1", "{", "}", "[", '"', "'", "<", ">", ",", ":", "é", "```", "]")
SPACES = ("", "", " ", "\n", "\n\n", "\t", "\r\n")
VALUES: tuple[Any, ...] = (
    1,
    -0.5,
    True,
    None,
    "a",
    "b c",
    'q"\\n',
    [],
    [1, "x"],
    {},
    {"k": [None]},
    "é\n",
)
STEPS = 40  # a walk is cut there
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {
                    "a": {"type": "string"},
                    "city": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "x_1": {"type": "integer"},
                },
            },
        },
    }
    for name in NAMES[:2]
]


def walk(module: types.ModuleType, rng: random.Random) -> str:
    """An output that follows the format, mostly; it may end anywhere that the table lets it."""
    region, out = str(module.START), ""
    for _ in range(rng.randint(1, STEPS)):
        kind, rows = module.REGIONS[region], module.TRANSITIONS.get(region, {})
        marker = rng.choice(list(rows)) if rows else ""
        if kind.kind == "text":
            out += "".join(rng.choice(WORDS + SPACES) for _ in range(rng.randint(0, 2)))
        elif kind.kind == "field":
            out += {"key": rng.choice(KEYS), "id": "call_1"}.get(kind.collects, rng.choice(NAMES))
        elif kind.kind == "raw":
            out += rng.choice(TEXTS)
        elif kind.kind == "data":
            out += _DATA[module.DECODERS[region].__name__](module, rng, marker)
        elif kind.kind == "end":
            break
        if not rows:
            region = kind.otherwise
            if region not in module.REGIONS:
                break
            continue
        go = rows[marker]
        out += rng.choice(SPACES) if go.before or kind.kind == "gap" else ""
        out += "" if go.stays or go.bare or kind.kind == "data" else marker
        out += go.after if rng.random() < 0.8 else ""
        region = go.region
    return out


def _json(rng: random.Random) -> str:
    value = {key: rng.choice(VALUES) for key in rng.sample(KEYS, rng.randint(0, 2))}
    return json.dumps(value, ensure_ascii=rng.random() < 0.5)


def _json_arguments(module: types.ModuleType, rng: random.Random, marker: str) -> str:
    return _json(rng)


def _json_calls(module: types.ModuleType, rng: random.Random, marker: str) -> str:
    calls = []
    for _ in range(rng.randint(1, 2) if module.CALLS_IN_ARRAY else 1):
        arguments = json.dumps(_json(rng)) if module.ARGUMENTS_AS_STRING else _json(rng)
        fields = [f'"{module.NAME_FIELD}": "{rng.choice(NAMES)}"']
        fields.append(f'"{module.ARGUMENTS_FIELD}": {arguments}')
        if module.ID_FIELD:
            fields.append(f'"{module.ID_FIELD}": "call_1"')
        if module.NAME_IS_KEY:
            fields = [f'"{rng.choice(NAMES)}": {arguments}']
        rng.shuffle(fields)
        call = "{" + ", ".join(fields) + "}"
        function = module.FUNCTION_FIELD
        calls.append('{"' + function + '": ' + call + "}" if function else call)
    text = rng.choice((", ", ",")).join(calls)
    return f"[{text}]" if module.CALLS_IN_ARRAY else text


def _literal_arguments(module: types.ModuleType, rng: random.Random, marker: str) -> str:
    quote = module.LITERAL_QUOTES[0]
    values = (f"{quote}{rng.choice(TEXTS)}{quote}", "1", "null", "[1]", f"{{k:{quote}a{quote}}}")
    members = [f"{key}:{rng.choice(values)}" for key in rng.sample(KEYS, rng.randint(0, 2))]
    return "{" + ",".join(members) + "}"


def _python_calls(module: types.ModuleType, rng: random.Random, marker: str) -> str:
    values = ("'a'", '"b c"', "1", "None", "[1, 'x']", "{'k': True}", "bare words")
    calls = []
    for _ in range(rng.randint(1, 2)):
        arguments = [f"{key}={rng.choice(values)}" for key in rng.sample(KEYS, rng.randint(0, 2))]
        calls.append(f"{rng.choice(NAMES)}({', '.join(arguments)})")
    return f"[{', '.join(calls)}]" if marker == "]" else "\n".join(calls)


def _tree_arguments(module: types.ModuleType, rng: random.Random, marker: str) -> str:
    out = ""
    for key in rng.sample(KEYS, rng.randint(0, 2)):
        out += module.TAG_START + key + module.TAG_END
        inner = rng.choice((module.ITEM_TAG, "k"))
        nested = rng.random() < 0.3
        out += module.TAG_START + inner + module.TAG_END if nested else ""
        out += rng.choice(TEXTS)
        out += module.CLOSER_START + inner + module.CLOSER_END if nested else ""
        out += module.CLOSER_START + key + module.CLOSER_END
    return out


def _header(module: types.ModuleType, rng: random.Random, marker: str) -> str:
    word = rng.choice([*module.HEADER_WORDS, "other"])
    out = rng.choice(("", module.ROLE)) + (module.CHANNEL + word if module.CHANNEL else "")
    if marker in ("call", "foreign"):
        name = rng.choice(NAMES)
        out += f" {module.RECIPIENT}{module.NAMESPACE if marker == 'call' else ''}{name}"
    content_type = rng.choice(("", " json"))
    return f"{out}{content_type}{module.HEADER_END}"


_DATA: dict[str, Callable[[types.ModuleType, random.Random, str], str]] = {
    "BarePythonCalls": _python_calls,
    "Header": _header,
    "JsonArguments": _json_arguments,
    "JsonCalls": _json_calls,
    "LiteralArguments": _literal_arguments,
    "PythonCalls": _python_calls,
    "TreeArguments": _tree_arguments,
}


def markers_of(module: types.ModuleType) -> list[str]:
    """The texts that mean something in a format."""
    found = {marker.strip() for rows in module.TRANSITIONS.values() for marker in rows}
    found |= {text for name in _TEXT_SETTINGS if (text := getattr(module, name, ""))}
    found |= set(getattr(module, "LITERAL_QUOTES", ()))
    found |= {module.END_OF_TURN, module.REASONING_START, module.REASONING_END}
    return sorted(found - {""})


_TEXT_SETTINGS = ("CHANNEL", "HEADER_END", "RECIPIENT", "TAG_START", "CLOSER_START", "ROLE")


def damaged(text: str, markers: Sequence[str], rng: random.Random) -> str:
    """The text with some of it left out, put in, cut off or doubled."""
    kind = rng.random()
    if kind < 0.25:
        return text[: rng.randint(0, len(text))]
    if kind < 0.35:
        return text + rng.choice(markers) + text
    if kind < 0.45:
        return text[rng.randint(0, len(text)) :]
    for _ in range(rng.randint(1, 3)):
        start = rng.randint(0, len(text))
        stop = start + rng.choice((0, 0, 1, 1, 4))
        put = rng.choice(("", rng.choice(markers), rng.choice(WORDS + SPACES)))
        text = text[:start] + put + text[stop:]
    return text


def noise(markers: Sequence[str], rng: random.Random) -> str:
    """Markers, pieces of markers and other text, in any order."""
    pieces = []
    for _ in range(rng.randint(1, 9)):
        piece = rng.choice(markers) if rng.random() < 0.6 else rng.choice(WORDS + SPACES + KEYS)
        pieces.append(piece[: rng.randint(1, 9)] if rng.random() < 0.1 else piece)
    return "".join(pieces)
