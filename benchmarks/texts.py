"""Texts to read: long outputs as a chat template writes them, and texts made to be slow to read."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoparser_gen import pipeline, verify
from autoparser_gen.emit import python
from autoparser_gen.probe import Turn
from autoparser_gen.request import Options
from autoparser_gen.verify.messages import ProbeMessage

TEMPLATES = Path(__file__).parents[1] / "templates"
FORMATS = {
    "JSON": "mistral_nemo",
    "tagged": "qwen3_coder",
    "tag+JSON": "qwen3",
    "channel": "gpt_oss",
    "Python": "lfm2_5",
}
NEEDLE = "Lighthouse"  # what stands between two of them is repeated to make a text long
PROSE = (
    f"{NEEDLE} keepers count the ships that pass, 17 on a calm day and fewer in fog.\n"
    "They write each one down: its name, its flag, where it may be bound for; then they wait.\n\n"
)
DEPTH = 64


def _nested() -> Any:
    value: Any = {NEEDLE: [True, 1.5, None]}
    for level in range(DEPTH // 2):
        value = {f"level {level}": [value, level]}
    return value


# What a message holds, by the name of the scenario. Each holds the needle twice.
SCENARIOS = {
    "reasoning": ProbeMessage("reasoning", "Done.", PROSE * 2 + "Enough.", ()),
    "content": ProbeMessage("content", PROSE * 2 + "Enough.", None, ()),
    "string": ProbeMessage("string", None, None, (("store", {"text": PROSE * 2 + "Enough."}),)),
    "calls": ProbeMessage("calls", None, None, (("find", {"city": NEEDLE, "days": 3}),) * 2),
    "deep": ProbeMessage("deep", None, None, (("store", {"tree": [_nested(), _nested()]}),)),
}


@dataclass(frozen=True)
class Format:
    """A parser, and the turns of its chat template that texts are made from."""

    parser: types.ModuleType
    turns: Mapping[str, Turn]

    def text(self, scenario: str, size: int) -> str:
        """An output of about that many characters; the scenario must be one of `turns`."""
        turn = self.turns[scenario]
        return grown(turn, size)


def load(stem: str) -> Format:
    """The format of one of our chat templates, with the scenarios that it can render."""
    found = pipeline.find_format(TEMPLATES / f"{stem}.jinja", Options())
    with contextlib.closing(found.prober.renderer):
        turns = {
            name: found.prober.turn(message.content, message.reasoning, message.calls)
            for name, message in SCENARIOS.items()
        }
    module = verify.import_text(python.emit(found.analysis, []))
    return Format(
        module, {name: turn for name, turn in turns.items() if turn and NEEDLE in turn.text}
    )


def grown(turn: Turn, size: int) -> str:
    """A turn's text, made as long by repeating what stands between two needles, or all of it."""
    text = turn.generated
    first, last = text.find(NEEDLE), text.rfind(NEEDLE)
    if first == last:  # one call in each message: several messages
        return text + (turn.header + text) * ((size - len(text)) // len(turn.header + text))
    unit = text[first:last]
    return text[:first] + unit * max(1, 1 + (size - len(text)) // len(unit)) + text[last:]


def adversarial(opener: str, closer: str, size: int) -> dict[str, str]:
    """Texts of one size, made of a format's markers, that are slow to read for a careless parser."""
    units = {
        "angle brackets": "<",
        "braces": "{",
        "levels": "[",
        "quotes": '"',
        "backslashes": "\\",
        "spaces": " ",
        "openers": opener,
        "closers": closer,
        "beginnings of the opener": opener[:-1],
        "beginnings of the closer": closer[:-1],
    }
    return {name: unit * (size // len(unit)) for name, unit in units.items() if unit}
