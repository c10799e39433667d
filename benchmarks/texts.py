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
    source: str  # of it
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
    shown = {name: turn for name, turn in turns.items() if turn and NEEDLE in turn.text}
    source = python.emit(found.analysis, [])
    return Format(verify.import_text(source), source, shown)


def grown(turn: Turn, size: int) -> str:
    """A turn's text, made as long by repeating what stands between two needles, or all of it."""
    text = turn.generated
    first, last = text.find(NEEDLE), text.rfind(NEEDLE)
    if first == last:  # one call in each message: several messages
        return text + (turn.header + text) * ((size - len(text)) // len(turn.header + text))
    unit = text[first:last]
    return text[:first] + unit * max(1, 1 + (size - len(text)) // len(unit)) + text[last:]


def hostile(format_: Format, size: int, times: int = 1) -> dict[str, str]:
    """Texts that are slow to read for a careless parser, by what they repeat and where.

    What they repeat has about that size, and so often it stands there.
    """
    markers = {marker for rows in format_.parser.TRANSITIONS.values() for marker in rows}
    call = grown(format_.turns["calls"], 0)
    begun = call[: call.find(NEEDLE)]
    units = [*"<{[,'\"\\ ", "\n", '\\"', '{"a":', '", "', begun, call]
    units += sorted({part for m in markers if m.strip() for part in (m, m[:-1]) if part})
    places = {"content": ""}
    for place in ("reasoning", "string"):
        if place in format_.turns:
            text = format_.turns[place].generated
            places[place] = text[: text.find(NEEDLE)]
    found = {
        f"{unit!r} in {place}": before + unit * (size // len(unit) * times)
        for place, before in places.items()
        for unit in units
    }
    return found | {
        f"{unit!r} behind {m!r}": m + unit * (size * times) for m in markers for unit in "a {"
    }
