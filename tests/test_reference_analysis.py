"""Our analysis beside the reference auto-parser's own of its 71 chat templates.

Its analysis is what its differential analyzer finds alone, without its hand-written handlers. Where
the two are unequal, a rendering decides: what our markers say a model writes stands in it, and the
difference is of one of the kinds below. No template is an exception of its own.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from spelling import JSON_CALL, Markers

from autoparser_gen.analysis import analyze
from autoparser_gen.analysis.as_json import as_dict
from autoparser_gen.chat_template import Renderer
from autoparser_gen.containers import load
from autoparser_gen.probe import Prober, needles

pytestmark = pytest.mark.corpus

KINDS = {
    "cut elsewhere": "the same text, cut into fields at other places",
    "whitespace": "theirs lacks whitespace that the chat template writes, or has more than that",
    "less": "theirs is a part of the marker; the rest of it stands there every time",
    "more": "theirs holds text of the turn's header or of its end as well",
    "a probe's text": "theirs holds names, values or ids of their own probe",
    "not in the rendering": "what theirs says a model writes does not stand there",
    "not found": "theirs has found nothing, the rendering shows it",
    "unused": "a default name of a JSON field, which no call of this format has",
    "thinking on": "theirs is the prompt with thinking switched on, ours the one without a switch",
    "no content": "a call with no content is refused or rendered otherwise than one with ''",
}

# How often each kind occurs: a change of it is a change of the analysis.
COUNTS: dict[str, dict[str, int]] = {
    "markers of calls": {
        "whitespace": 20,
        "not in the rendering": 10,
        "cut elsewhere": 8,
        "a probe's text": 6,
        "less": 2,
    },
    "fields of JSON": {"unused": 163, "not found": 1},
    "reasoning": {
        "whitespace": 7,
        "not found": 6,
        "less": 3,
        "more": 1,
        "not in the rendering": 1,
    },
    "content": {"not found": 3, "more": 3, "a probe's text": 1},
    "generation prompt": {"thinking on": 13, "not found": 8},
    "content beside calls": {"no content": 11},
}


@dataclass(frozen=True)
class Pair:
    """The two analyses of one chat template, and what renders it."""

    name: str
    prober: Prober
    ours: dict[str, Any]
    theirs: dict[str, Any]
    their_prompt: str


@pytest.fixture(scope="module")
def pairs(corpus: Path) -> list[Pair]:
    path = corpus.parent / "reference" / "llamacpp-analysis.jsonl"
    if not path.is_file():
        pytest.skip(f"no analysis of the reference system at {path}")
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        prober = Prober(Renderer(load(corpus / "chat_templates" / "llamacpp" / row["template"])))
        ours = as_dict(analyze(prober))
        found.append(Pair(row["template"], prober, ours, row["analysis"], row["generation_prompt"]))
    return found


def squeezed(text: str) -> str:
    return "".join(text.split())


PROBE_TEXT = re.compile(r"[A-Z]+_[A-Z_]{6,}|XXXX|call0000")


def kind_of(ours: str, theirs: str, rendered: str, around: tuple[str, str] = ("", "")) -> str:
    """How two texts that should stand in a rendering differ; ours must."""
    assert ours in rendered, f"{ours!r} does not stand in {rendered!r}"
    if theirs == ours:
        return "cut elsewhere"
    if PROBE_TEXT.search(theirs):
        return "a probe's text"
    if squeezed(theirs) == squeezed(ours):
        return "whitespace"
    if not squeezed(theirs):
        return "not found"
    if theirs in ours:
        return "less"
    if squeezed(theirs) in squeezed(around[0] + ours + around[1]) and theirs in rendered:
        return "more"
    assert theirs not in rendered, f"{theirs!r} stands in {rendered!r} as well"
    return "not in the rendering"


# -- calls -----------------------------------------------------------------------------------------


def without_json(text: str) -> str:
    """A rendered turn with one sign in place of every JSON value that belongs to a call."""
    decoder, pieces, position = json.JSONDecoder(), [], 0
    for match in re.finditer(r"[\[{]", text):
        if match.start() < position:
            continue
        try:
            _, end = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if any(keys[0] in text[match.start() : end] for keys in needles.KEYS):
            pieces += [text[position : match.start()], JSON_CALL]
            position = end
    return "".join([*pieces, text[position:]])


@functools.cache
def turn_with_calls(prober: Prober) -> tuple[int, str]:
    """(how many calls, the turn with its header): two calls, or one where no more are rendered."""
    for count in (2, 1):
        turn = prober.turn(None, None, needles.calls(count))
        if turn is not None and needles.FUNCTIONS[count - 1] in turn.text:
            return count, turn.header + turn.text
    return 0, ""


def markers_of(pair: Pair) -> tuple[Markers, Markers]:
    tools = pair.ours["tools"]
    ours = Markers(tools["format"], tools["function"], tools["arguments"], tools["call_id"])
    data = pair.theirs
    theirs = Markers(data["tool_format"], data["function"], data["arguments"], data["call_id"])
    return ours, theirs


MARKERS = {
    "format": ("mode", "section_start", "section_end", "per_call_start", "per_call_end"),
    "function": ("name_prefix", "name_suffix", "close"),
    "arguments": (
        *("start", "end", "name_prefix", "name_suffix"),
        *("value_prefix", "value_suffix", "separator"),
    ),
    "call_id": ("pos", "prefix", "suffix"),
}


def call_markers(pair: Pair) -> Iterator[str]:
    ours, theirs = markers_of(pair)
    fields = [(part, name) for part, names in MARKERS.items() for name in names]
    if all(getattr(ours, part)[name] == getattr(theirs, part)[name] for part, name in fields):
        return
    count, turn = turn_with_calls(pair.prober)
    text = without_json(turn)
    kinds = {
        kind_of(ours.first(pair.prober.shape), theirs.first(pair.prober.shape), text),
        kind_of(
            ours.last(pair.prober.shape, count - 1),
            theirs.last(pair.prober.shape, count - 1),
            text,
        ),
    }
    # One half may be cut elsewhere only, where the other half shows more.
    yield from kinds if len(kinds) == 1 else kinds - {"cut elsewhere"}


JSON_FIELDS = ("function_field", "name_field", "args_field", "id_field", "gen_id_field")


def json_fields(pair: Pair) -> Iterator[str]:
    ours, theirs = pair.ours["tools"]["format"], pair.theirs["tool_format"]
    turn = turn_with_calls(pair.prober)[1]
    for name in JSON_FIELDS:
        if ours[name] != theirs[name]:
            assert not ours[name]
            assert f'"{theirs[name]}":' not in turn
            yield "unused"
    for name in ("fun_name_is_key", "tools_array_wrapped"):
        if ours[name] != theirs[name]:
            yield kind_of("[" + needles.FUNCTIONS[0], "", turn)


# -- reasoning, content, prompts -------------------------------------------------------------------


def reasoning(pair: Pair) -> Iterator[str]:
    ours, theirs = pair.ours["reasoning"], pair.theirs["reasoning"]
    if ours == theirs:
        return
    texts = [part["start"] + needles.REASONING + part["end"] for part in (ours, theirs)]
    turns = [
        turn.header + turn.text
        for parts in ((needles.CONTENT, ()), (None, needles.calls(1)))
        for turn in [pair.prober.turn(parts[0], needles.REASONING, parts[1])]
        if turn is not None and needles.REASONING in turn.text
    ]
    prompt = "\n".join(pair.ours["generation_prompts"].values())
    if not theirs["start"] + theirs["end"]:
        yield kind_of(
            texts[0],
            "",
            "\n".join(
                [*turns, *(pair.ours["generation_prompts"]["thinking"] + turn for turn in turns)]
            ),
        )
    elif any(texts[0] in turn for turn in turns):
        yield kind_of(texts[0], texts[1], "\n".join(turns), (pair.ours["assistant_header"], ""))
    else:
        # History drops it: a prompt shows how it begins, or an empty block.
        yield kind_of(ours["start"], theirs["start"], prompt, (pair.ours["assistant_header"], ""))


def content(pair: Pair) -> Iterator[str]:
    ours, theirs = pair.ours["content"], pair.theirs["content"]
    if all(ours[name] == theirs[name] for name in ("mode", "start", "end")):
        return
    turn = pair.prober.turn(needles.CONTENT)
    assert turn is not None
    texts = [part["start"] + needles.CONTENT + part["end"] for part in (ours, theirs)]
    if not theirs["start"] + theirs["end"]:
        texts[1] = ""
    edges = (pair.ours["assistant_header"], pair.ours["end_of_turn"])
    yield kind_of(texts[0], texts[1], turn.header + turn.text, edges)


def prompts(pair: Pair) -> Iterator[str]:
    ours, theirs = pair.ours["generation_prompts"], pair.their_prompt
    if ours["default"] == theirs:
        return
    if theirs == ours["thinking"]:
        yield "thinking on"
        return
    # What precedes an answer in history is what the prompt ends with.
    rendered = pair.prober.opening(prompt=True)
    assert rendered is not None
    assert not theirs
    yield kind_of(ours["default"], "", rendered)


def nonnull_content(pair: Pair) -> Iterator[str]:
    ours = pair.ours["capabilities"]["requires_nonnull_content"]
    if ours == pair.theirs["content"]["requires_nonnull_content"]:
        return
    assert ours
    shape = pair.prober.shape
    texts = [
        pair.prober.after_user(calls=needles.calls(1), shape=replace(shape, null_content=null))
        for null in (False, True)
    ]
    assert texts[0] != texts[1]
    yield "no content"


GROUPS: Mapping[str, Any] = {
    "markers of calls": call_markers,
    "fields of JSON": json_fields,
    "reasoning": reasoning,
    "content": content,
    "generation prompt": prompts,
    "content beside calls": nonnull_content,
}


@pytest.mark.parametrize("group", GROUPS)
def test_every_difference_is_of_a_kind_that_a_rendering_shows(
    pairs: list[Pair], group: str
) -> None:
    kinds: Counter[str] = Counter()
    problems = []
    for pair in pairs:
        try:
            kinds.update(GROUPS[group](pair))
        except AssertionError as error:
            problems.append(f"{pair.name}: {error}")
    assert not problems, "\n".join(problems)
    assert dict(kinds) == COUNTS[group]
    assert set(kinds) <= set(KINDS)
