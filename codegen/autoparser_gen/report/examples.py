"""Outputs in the format, and what the generated parser makes of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autoparser_gen import verify
from autoparser_gen.analysis.as_json import json_text
from autoparser_gen.analysis.model import Analysis, ToolMode
from autoparser_gen.inspect import CALLS, CONTENT, full_turn
from autoparser_gen.probe import Prober, Turn


@dataclass(frozen=True)
class Example:
    """An output, cut into what each stretch of it is, and the message that is read from it."""

    title: str
    spans: tuple[tuple[str, str], ...]  # kind (as the generated module names them), text
    message: str  # JSON


def examples(prober: Prober, analysis: Analysis, text: str) -> list[Example]:
    """What a generated module, given as its text, reads, from the simplest turn on."""
    module = verify.import_text(text)
    return [_read(module, title, turn, prompt) for title, turn, prompt in _texts(prober, analysis)]


def _texts(prober: Prober, analysis: Analysis) -> Iterator[tuple[str, str, str]]:
    """Title, output, and the generation prompt before it."""
    turn = prober.raw_turn(CONTENT)
    if turn is not None:
        yield "An answer", *_output(turn)
    turn = full_turn(prober)
    if turn is not None:
        yield "All that a turn can hold", *_output(turn)
    one = prober.raw_turn(None, None, CALLS[:1]) or prober.raw_turn(CONTENT, None, CALLS[:1])
    if one is None or analysis.tools.format.mode is ToolMode.NONE:
        return
    closer = (analysis.tools.format.per_call_end or analysis.tools.function.close).strip()
    if closer:
        hard = (CALLS[0][0], {**CALLS[0][1], "city": f"a {closer} b"})
        turn = prober.raw_turn(None, None, [hard]) or prober.raw_turn(CONTENT, None, [hard])
        if turn is not None:
            yield "A marker inside an argument", *_output(turn)
    text, prompt = _output(one)
    city = text.find(str(CALLS[0][1]["city"]))
    if city > 0:
        yield "A call that was cut off", text[: city + 2], prompt


def _output(turn: Turn) -> tuple[str, str]:
    known = turn.without_unknown_tokens()
    return known.generated, known.prompt


def _read(module: Any, title: str, text: str, prompt: str) -> Example:
    message = module.parse(text, prompt=prompt)
    data = {**message.to_openai(), "incomplete": message.incomplete}
    if not message.incomplete:
        del data["incomplete"]
    spans = tuple(
        (span.kind, text[span.start : span.end]) for span in module.spans(text, prompt=prompt)
    )
    return Example(title, spans, json_text(data, indent=2))
