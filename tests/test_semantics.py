"""docs/semantics.md says what the parsers do: its examples are run."""

from __future__ import annotations

import doctest
import re
import sys
from typing import Any

import pytest
from conftest import ROOT
from parsers import parser_of

DOCUMENT = ROOT / "docs" / "semantics.md"


def show(message: Any) -> None:
    """Print what is not empty of a message."""
    for kind, field in (("content", "content"), ("reasoning", "reasoning_content")):
        text = getattr(message, field)
        if text:
            print(kind, repr(text))
    for call in message.tool_calls:
        print(f"call {call.name}({call.arguments})")
    if message.incomplete:
        print("incomplete", repr(message.incomplete))


def test_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for stem in set(re.findall(r"\b(\w+)_parser\b", text)):
        monkeypatch.setitem(sys.modules, f"{stem}_parser", parser_of(stem))
    examples = doctest.DocTestParser().get_doctest(
        text, {"show": show}, DOCUMENT.name, str(DOCUMENT), 0
    )
    report: list[str] = []
    runner = doctest.DocTestRunner()
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)
    assert runner.tries > 50
