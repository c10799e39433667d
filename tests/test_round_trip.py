"""A property of every format: a message that is rendered and parsed comes back, however it is cut.

The chat template is the oracle. Formats without escaping cannot tell all messages apart, so a message
that renders to the same text is as good; a text that holds a whole marker of the format can be
anything, and there only the cuts must agree.
"""

from __future__ import annotations

import functools
import json
import os
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parsers import deltas_of
from splits import every_split, usual_splits

from autoparser_gen import pipeline, verify
from autoparser_gen.analysis.model import Analysis, ValueSyntax
from autoparser_gen.grammar.lower import lower
from autoparser_gen.probe import Turn, needles
from autoparser_gen.request import Options, chat_templates_in
from autoparser_gen.targets import TARGETS, Draft
from autoparser_gen.verify.messages import ProbeMessage, Reading, format_markers, same

SHORT = 60  # texts up to here are cut in every way

# What hand-written parsers stumble over, beside the format's own markers.
VISIBLE = r""" " ' \ < > </ &amp; { } [ ] , : \n \" ``` <b> é 漢字 🙂 null True -1 1e5 0 word """
FRAGMENTS = [
    *VISIBLE.split(),
    *("\n", "\r\n", "\t", " ", "  ", "\u2028"),
]


@functools.cache
def _format(source: Path) -> tuple[pipeline.Format, types.ModuleType]:
    found = pipeline.find_format(source, Options())
    draft = Draft(found.analysis, lower(found.analysis), ())
    return found, verify.import_text(TARGETS["python"].emit(draft))


def _texts(markers: list[str]) -> st.SearchStrategy[str]:
    halves = [marker[: len(marker) // 2 + 1] for marker in markers]
    fragment = st.sampled_from([*FRAGMENTS, *markers, *halves]) | st.text(max_size=3)
    # Lone surrogates cannot stand in a text that a model writes.
    return (
        st.lists(fragment, max_size=8)
        .map("".join)
        .filter(lambda text: text.isascii() or _utf8(text))
    )


def _utf8(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    plain = (
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    )
    return st.recursive(
        plain | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys(), inner, max_size=3),
        max_leaves=6,
    )


def _keys() -> st.SearchStrategy[str]:
    return st.from_regex(r"[a-z][a-z_]{0,6}", fullmatch=True)


def _messages(markers: list[str]) -> st.SearchStrategy[ProbeMessage]:
    texts = _texts(markers)
    arguments = st.dictionaries(_keys(), _values(texts), max_size=3)
    calls = st.lists(st.tuples(st.sampled_from(needles.FUNCTIONS), arguments), max_size=3)
    # Whitespace at the ends of content and reasoning is a separator where the format has one.
    part = st.none() | texts.map(str.strip)
    return st.builds(
        ProbeMessage,
        st.just("random"),
        part.map(lambda text: text or None),
        part.map(lambda text: text or None),
        calls.map(tuple),
    )


def _splits(text: str) -> Iterator[list[str]]:
    return every_split(text) if len(text) <= SHORT else usual_splits(text)


# More on demand; the same ones each time, so that a change is judged by what it changed.
EXAMPLES = int(os.environ.get("AUTOPARSER_EXAMPLES", "8"))


@pytest.mark.parametrize(
    "source",
    chat_templates_in(ROOT / "templates"),
    ids=lambda path: path.stem,
)
@settings(
    max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
@given(data=st.data())
def test_round_trip(source: Path, data: st.DataObject) -> None:
    found, module = _format(source)
    markers = format_markers(found.analysis)
    message = data.draw(_messages(markers))
    turn = found.prober.turn(message.content, message.reasoning, message.calls)
    if turn is None:
        return  # the chat template refuses such a message
    tools, prompt = message.tools() or None, verify.prompt_before(turn, found.analysis)
    whole = module.parse(turn.generated, prompt=prompt, tools=tools)
    for pieces in _splits(turn.generated):
        parser = module.Parser(prompt=prompt, tools=tools)
        deltas = deltas_of(parser, pieces)
        assert module.merge(deltas) == whole == parser.message
    covered = module.spans(turn.generated, prompt=prompt, tools=tools)
    assert [span.start for span in covered[1:]] == [span.end for span in covered[:-1]]
    if not _holds_a_marker(message, markers, found.analysis):
        _assert_same(found, message, turn, Reading.of(whole))


def _assert_same(
    found: pipeline.Format, message: ProbeMessage, turn: Turn, reading: Reading
) -> None:
    plain = message.plain()
    shown = found.prober.turn(plain.content, plain.reasoning, plain.calls)
    parts = plain.parts_in(shown.text) if shown else frozenset()
    if not parts or same(message.expected(parts), reading):
        return
    if verify.why_unlike_output(message, turn, found.analysis):
        return  # no model writes them in one go
    again = message.reread(reading, parts)
    rendered = found.prober.turn(again.content, again.reasoning, again.calls)
    assert rendered is not None
    assert rendered.text == turn.text, f"read {reading}"


def _holds_a_marker(message: ProbeMessage, markers: list[str], analysis: Analysis) -> bool:
    """Whether a text outside of calls holds a marker: the format cannot escape it there.

    Nor can it in arguments, where objects and arrays are tags like the markers themselves.
    """
    texts = [message.content or "", message.reasoning or ""]
    if analysis.tools.arguments.value_syntax is ValueSyntax.NESTED_TAGS:
        texts.append(json.dumps(message.calls, ensure_ascii=False).replace(r"\"", '"'))
    return any(marker in text for marker in markers for text in texts)
