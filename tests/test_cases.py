"""Public bug reports as documents: tests/cases/*.md, each case read whole and at every split.

The outputs are the smallest that show what was reported, in a format of ours. A case is a heading,
the chat format in backquotes, the output, and the events that a parser must report. It may have
tools (name to JSON Schema of the parameters) and a prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from parsers import deltas_of, parser_of
from splits import every_split, usual_splits

FOLDER = Path(__file__).with_name("cases")
SHORT = 60  # texts up to here are cut in two places as well


class Case(NamedTuple):
    """One case of a document."""

    heading: str
    stem: str
    parts: dict[str, str]  # text, events; tools and prompt where it has them


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.md")):
        for section in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
            heading, _, body = section.partition("\n")
            stem = re.search(r"^`(\w+)`$", body, re.M)
            assert stem is not None, f"{path.name}: {heading}: names no format"
            parts = dict(re.findall(r"^```(\w+)\n(.*?)\n```$", body, re.M | re.S))
            assert {"text", "events"} <= set(parts), f"{path.name}: {heading}"
            yield Case(f"{path.stem}: {heading}", stem[1], parts)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.heading)
def test_case(case: Case) -> None:
    module, text = parser_of(case.stem), case.parts["text"]
    tools = json.loads(case.parts["tools"]) if "tools" in case.parts else None
    request = {
        "prompt": case.parts.get("prompt"),
        "tools": tools and [{"function": {"name": n, "parameters": p}} for n, p in tools.items()],
    }
    for pieces in _ways(text):
        parser = module.Parser(stream_arguments=False, **request)
        deltas = deltas_of(parser, pieces)
        assert events(deltas) == case.parts["events"].splitlines(), pieces
        parser = module.Parser(**request)
        streamed = deltas_of(parser, pieces)
        assert module.merge(streamed) == module.merge(deltas), pieces


def _ways(text: str) -> Iterator[list[str]]:
    if len(text) <= SHORT:
        yield from every_split(text)
    else:
        yield from ([text[:at], text[at:]] for at in range(1, len(text)))
    yield from usual_splits(text)


def events(deltas: list[Any]) -> list[str]:
    """What a parse reports, in text order: one line for each run of text and each call."""
    found: list[list[str]] = []
    for delta in deltas:
        kind, text = next(
            (kind, text)
            for kind, text in (
                ("content", delta.content),
                ("reasoning", delta.reasoning_content),
                ("incomplete", delta.incomplete),
                (f"call {delta.index}", f"{delta.name} " if delta.name else delta.arguments),
            )
            if text or kind.startswith("call")
        )
        if found and found[-1][0] == kind:
            found[-1][1] += text
        else:
            found.append([kind, text])
    return [
        f"{kind} {text}" if kind.startswith("call") else f"{kind} {json.dumps(text)}"
        for kind, text in found
    ]
