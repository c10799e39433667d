"""Our chat templates render the vendors' turns: the same analysis, the same text for the same message."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from vendors import VENDORS

from autoparser_gen.analysis import analyze
from autoparser_gen.analysis.as_json import to_json
from autoparser_gen.chat_template import Renderer
from autoparser_gen.containers import load
from autoparser_gen.probe import Prober

pytestmark = pytest.mark.corpus

# What may differ: where the facts come from, and what a system prompt or a tool list shows.
APART = ("source", "sha256", "evidence", "capabilities", "notes")

ARGUMENTS: dict[str, Any] = {
    "text": 'a "quoted" line\nand <another> & more: é',
    "count": -3,
    "ratio": 0.5,
    "on": True,
    "off": None,
    "list": [1, "two", {"three": [3]}],
    "object": {"k": "v"},
}
MESSAGES: tuple[dict[str, Any], ...] = (
    {"content": "It rains."},
    {"content": "It rains.", "reasoning": "Look outside."},
    {"calls": [("weather", {"city": "Oslo"})]},
    {"calls": [("weather", {})]},
    {"calls": [("weather", ARGUMENTS)]},
    {"calls": [("weather", {"city": "Oslo"}), ("time", {"zone": 1})]},
    {"content": "Wait.", "calls": [("weather", {"city": "Oslo"})]},
    {"reasoning": "Look outside.", "calls": [("weather", {"city": "Oslo"})]},
    {"content": "Wait.", "reasoning": "Look outside.", "calls": [("weather", {"city": "Oslo"})]},
)


@lru_cache(maxsize=4)
def prober(path: Path) -> Prober:
    return Prober(Renderer(load(path)))


@lru_cache(maxsize=4)
def analysis(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_json(analyze(prober(path))))
    return {key: value for key, value in found.items() if key not in APART}


# In this order each chat template's tests follow one another, and its prober is made once.
each_of_ours = pytest.mark.parametrize("stem", sorted(VENDORS), scope="module")


def pair(stem: str, templates: Path, corpus: Path) -> tuple[Path, Path]:
    ours = templates / f"{stem}.jinja"
    theirs = corpus / "chat_templates" / "llamacpp" / f"{VENDORS[stem]}.jinja"
    return ours, theirs


@each_of_ours
def test_same_analysis(stem: str, templates: Path, corpus: Path) -> None:
    ours, theirs = pair(stem, templates, corpus)
    assert analysis(ours) == analysis(theirs)


@each_of_ours
def test_same_turns(stem: str, templates: Path, corpus: Path) -> None:
    ours, theirs = map(prober, pair(stem, templates, corpus))
    for message in MESSAGES:
        turns = [each.turn(**message) for each in (ours, theirs)]
        texts = [turn and (turn.header, turn.text) for turn in turns]
        assert texts[0] == texts[1], message


def test_every_chat_template_of_ours_has_its_vendor(templates: Path) -> None:
    stems = {path.stem for path in templates.glob("*.jinja")}
    assert set(VENDORS) <= stems
