"""The analyzer knows no format: no marker and no model's name stands in the package's source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "codegen" / "autoparser_gen"
# What no rendering shows stands in one table, with its reason and source.
EXCEPTED = {"analysis/conventions.py"}
# Families of open-weight models, as they stand in the names of chat templates.
MODELS = (
    r"qwen|llama|mistral|ministral|magistral|devstral|deepseek|gemma|granite|kimi|moonshot|"
    r"minimax|nemotron|command-r|cohere|functionary|hermes|firefunction|apertus|seed-oss|stepfun|"
    r"laguna|apriel|lfm2|gigachat|solar|smollm|bielik|exaone|falcon|jamba|olmo|hunyuan|internlm|"
    r"longcat|muse-glimmer|gpt-oss|llm-jp|reka"
)


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in EXCEPTED:
            yield name, path.read_text("utf-8")


def markers() -> set[str]:
    """The bracketed markers of all generated formats; words such as `call:` are everybody's."""
    found: set[str] = set()
    for path in (ROOT / "generated").glob("*/*.json"):
        found |= set(json.loads(path.read_text("utf-8"))["preserved_tokens"])
    return {m for m in found if len(m) > 3 and re.search(r"\w", m) and re.search(r"[<\[|]", m)}


def test_no_marker_in_the_package() -> None:
    known = markers()
    if not known:
        pytest.skip("no generated formats yet")
    hits = [(name, m) for name, text in sources() for m in sorted(known) if m in _code(text)]
    assert hits == []


def test_no_model_name_in_the_package() -> None:
    pattern = re.compile(rf"\b(?:{MODELS})", re.IGNORECASE)
    # llama.cpp is an engine that reads our grammars, not a model.
    hits = [
        (name, found[0])
        for name, text in sources()
        for found in pattern.finditer(
            re.sub(r"llama\.?cpp|llama_cpp", "", text, flags=re.IGNORECASE)
        )
    ]
    assert hits == []


def _code(text: str) -> str:
    """Source without comments and docstrings, which may give examples."""
    without = re.sub(r'"""(?:[^"]|"(?!""))*"""', "", text)
    return re.sub(r"#[^\n]*", "", without)
