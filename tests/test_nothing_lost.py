"""Nothing is lost, whatever the text: properties of every parser on right, damaged and random outputs.

AUTOPARSER_FUZZ_INPUTS sets how many outputs are made (over all formats), AUTOPARSER_FUZZ_SEED which ones.
"""

from __future__ import annotations

import json
import os
import random
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from parsers import SOURCES, parser_of
from splits import every_split, random_pieces
from walks import TOOLS, damaged, markers_of, noise, walk

from autoparser_gen.pool import Pool

INPUTS = int(os.environ.get("AUTOPARSER_FUZZ_INPUTS", "200000"))
SEED = int(os.environ.get("AUTOPARSER_FUZZ_SEED", "0"))
SHORT = 16  # texts up to here are cut in every way
LONGEST = 80
TEXT_FIELDS = {"content": "content", "reasoning": "reasoning_content", "incomplete": "incomplete"}
Request = dict[str, Any]
FOUND_PER_FORMAT = 3  # then the rest of the format's outputs is left out


def test_nothing_is_lost() -> None:
    each, stems = -(-INPUTS // len(SOURCES)), sorted(SOURCES)
    pairs = [(stems[i], stems[i - len(stems) + 1], each) for i in range(0, len(stems), 2)]
    found = Pool(None).map(_try_pair, pairs)
    assert [line for lines in found for line in lines] == []


def _try_pair(task: tuple[str, str, int]) -> list[str]:
    """What is wrong with two formats' parsers; each is given outputs of the other as well."""
    left, right, count = task
    return _try_format(left, right, count) + _try_format(right, left, count)


def _try_format(stem: str, other_stem: str, count: int) -> list[str]:
    """What is wrong with a format's parser, with the input that shows it."""
    rng = random.Random(f"{SEED} {stem} {other_stem}")
    module, other = parser_of(stem), parser_of(other_stem)
    markers, wrong = markers_of(module), list[str]()
    # What an answer says does not depend on the default prompt alone: reasoning open, closed, neither.
    prompts = [None, "", *dict.fromkeys(module.GENERATION_PROMPTS.values())]
    for _ in range(count):
        text = _text(module, other, markers, rng)
        request = {
            "tools": rng.choice((TOOLS, TOOLS, None, [])),
            "prompt": rng.choice(prompts),
            "reasoning": rng.random() < 0.8,
        }
        try:
            check(module, text, request, rng)
        except Exception as error:
            tools = request["tools"] and "TOOLS"
            wrong.append(f"{stem}: {text!r} {request | {'tools': tools}}: {error!r}")
        if len(wrong) == FOUND_PER_FORMAT:
            break
    return wrong


def _text(
    module: types.ModuleType, other: types.ModuleType, markers: list[str], rng: random.Random
) -> str:
    kind = rng.random()
    if kind < 0.2:
        return noise(markers, rng)
    text = walk(other if kind < 0.25 else module, rng)[:LONGEST]
    return damaged(text, markers, rng) if kind < 0.85 else text


def check(module: types.ModuleType, text: str, request: Request, rng: random.Random) -> None:
    """All the properties of one output."""
    whole = _read(module, [text], request)
    _check_spans(text, whole)
    for call in whole.message.tool_calls:
        assert isinstance(json.loads(call.arguments), dict), "arguments are no object"
    for pieces in _ways(text, rng):
        cut = len("".join(pieces[: rng.randint(1, len(pieces) or 1)]))
        readings = [_read(module, way, request, cut) for way in (pieces, [text[:cut], text[cut:]])]
        for reading in readings:
            assert reading[:2] == whole[:2], f"cut as {pieces} or at {cut}"
        assert readings[0].early == readings[1].early, f"sent at {cut}, cut as {pieces}"
        if rng.random() < 0.2:
            _check_strict(module, text, request, whole, pieces)


class Reading(NamedTuple):
    message: Any
    spans: list[Any]
    early: Any = None  # what had been sent at the place that was asked for
    retracted: bool = False


def _ways(text: str, rng: random.Random) -> Iterator[list[str]]:
    if not text:
        return
    yield random_pieces(text, rng.randrange(1 << 30), rng.choice((1, 9, 25)))
    if len(text) <= SHORT and rng.random() < 0.01:
        yield from every_split(text)


def _read(
    module: types.ModuleType, pieces: list[str], request: Request, early_at: int = -1
) -> Reading:
    """What a parser makes of pieces, once its message is known to agree with its deltas."""
    streams = early_at % 2 == 0
    parser = module.Parser(stream_arguments=streams, **request)
    deltas, at, early = list[Any](), 0, None
    for piece in pieces:
        deltas += parser.feed(piece)
        at += len(piece)
        if at == early_at:
            early = module.merge(deltas)
    deltas += parser.finish()
    message = parser.message
    assert module.merge(deltas) == message, f"deltas of {pieces}"
    retracted = any(delta.retracted for delta in deltas)
    assert streams or not retracted, "retracted"
    return Reading(message, parser.spans, early, retracted)


def _check_spans(text: str, reading: Reading) -> None:
    message, spans, *_ = reading
    ends = [0, *(span.end for span in spans)]
    assert [span.start for span in spans] == ends[:-1], "gaps"
    assert ends[-1] == len(text), "not covered"
    for kind, field in TEXT_FIELDS.items():
        there = "".join(text[span.start : span.end] for span in spans if span.kind == kind)
        assert there == getattr(message, field), field
    assert sum(span.kind == "call" for span in spans) <= len(message.tool_calls), "call spans"


def _check_strict(
    module: types.ModuleType, text: str, request: Request, lenient: Reading, pieces: list[str]
) -> None:
    """Strict reading refuses what the lenient one reports as malformed or incomplete, and only that."""
    error = _strict_error(module, [text], request)
    again = _strict_error(module, pieces, request)
    if error is None or again is None:
        assert error is again, f"strict only as a whole or cut as {pieces}"
        assert not lenient.retracted, "a malformed call is not refused"
        foreign = any(region.collects == "incomplete" for region in module.REGIONS.values())
        assert foreign or not lenient.message.incomplete, "an incomplete call is not refused"
        return
    at = error.position
    assert (at, error.expected) == (again.position, again.expected), f"cut as {pieces}"
    assert 0 <= at <= len(text), at
    # A call began before: were it the end, the call would be there or incomplete. It is text now,
    # unless it is one of several in an array, and the next one is malformed.
    began = [s for s in module.spans(text[:at], **request) if s.kind in ("call", "incomplete")]
    assert began, f"refused at {at}, where there is no call"
    kinds = [s.kind for s in lenient.spans if s.start <= began[-1].start < s.end]
    in_array = began[-1] in lenient.spans and not text[began[-1].end : at].strip()
    assert in_array or kinds[0] in TEXT_FIELDS, f"refused at {at}, but {kinds}"


def _strict_error(module: types.ModuleType, pieces: list[str], request: Request) -> Any:
    parser = module.Parser(strict=True, **request)
    try:
        for piece in pieces:
            parser.feed(piece)
        parser.finish()
    except module.ParseError as error:
        return error
    return None


def test_json_goes_on_behind_short_pieces() -> None:
    """Short pieces are read in another way than long ones and escapes: each goes on where one ended."""
    module = parser_of("qwen3")
    begun = '<tool_call>{"name": "f", "arguments": '
    ways = [
        [
            '{"a": [1, ',
            "-12",
            "5",
            '0, "b", {"c d',
            '": null}, [true, false, "x"], 1.5e3], "e"',
            ": {}}",
        ],
        ['{"a', '": "', "x\\", 'n" , ', ' "b":', " 0}"],
        ['{"a": [', "[]]", ', "a', '":1}'],
        ['{"a": [1, ', "02]}"],
    ]
    for pieces in ways:
        parser, whole = module.Parser(), module.parse(f"{begun}{''.join(pieces)}}}</tool_call>")
        deltas = [d for piece in [begun, *pieces, "}</tool_call>"] for d in parser.feed(piece)]
        deltas += parser.finish()
        assert module.merge(deltas) == parser.message == whole
    assert not whole.tool_calls  # the last one is no JSON


def test_a_carriage_return_begins_no_line() -> None:
    module, text = parser_of("llama_3_1"), '\r{"name": "f", "parameters": {}}'
    whole, parser = module.parse(text), module.Parser()
    assert (whole.content, whole.tool_calls) == (text, [])
    for char in text:
        parser.feed(char)
    parser.finish()
    assert parser.message == whole
