"""Coverage-guided fuzzing of all generated parsers: `python tests/fuzz_outputs.py -runs=100000`.

The options are libFuzzer's. An input is bytes: the first chooses the format, the second the request,
and each further one a marker of that format, a word, or a character. What must hold is what
`test_nothing_lost.py` holds its random outputs to. A failure prints the output and the request.
"""

from __future__ import annotations

import importlib
import random
import sys
import types
from typing import Any

import atheris
from conftest import ROOT
from test_nothing_lost import check
from walks import KEYS, NAMES, SPACES, TOOLS, WORDS, markers_of

LONGEST = 120  # characters
PLAIN = sorted({*WORDS, *KEYS, *NAMES, *SPACES, '"a": ', '{"', "</", "\\u00", "1e5"} - {""})


def load_formats() -> list[types.ModuleType]:
    """The committed modules, instrumented."""
    modules = []
    with atheris.instrument_imports():
        for folder in sorted((ROOT / "generated").iterdir()):
            sys.path.insert(0, str(folder))
            modules.append(importlib.import_module(f"{folder.name}_parser"))
            sys.path.pop(0)
    return modules


FORMATS = load_formats()
PIECES = [[*markers_of(module), *PLAIN] for module in FORMATS]


def output_of(pieces: list[str], codes: bytes) -> str:
    """The text that the bytes stand for: half of them a piece, half of them a character."""
    return "".join(chr(c) if c < 128 else pieces[c % len(pieces)] for c in codes)[:LONGEST]


def request_of(module: types.ModuleType, code: int) -> dict[str, Any]:
    """What a request says beside the text."""
    prompts = [None, "", *dict.fromkeys(module.GENERATION_PROMPTS.values())]
    return {
        "tools": (TOOLS, None, [])[code % 3],
        "prompt": prompts[code // 3 % len(prompts)],
        "reasoning": code < 200,
    }


def try_input(data: bytes) -> None:
    """Read one output in several ways."""
    if len(data) < 3:
        return
    at = data[0] % len(FORMATS)
    module, text = FORMATS[at], output_of(PIECES[at], data[2:])
    request = request_of(module, data[1])
    try:
        check(module, text, request, random.Random(data))
    except Exception:
        print(f"{module.__name__}: {text!r} {request}", file=sys.stderr)
        raise


if __name__ == "__main__":
    atheris.Setup(sys.argv, try_input)
    atheris.Fuzz()
