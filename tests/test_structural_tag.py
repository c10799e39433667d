"""xgrammar's structural tags: their shape, what cannot be one, and what xgrammar makes of them.

What needs xgrammar is skipped without it; see docs/xgrammar.md.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import Runner
from engines.tool_sets import TOOL_SETS, Call
from engines.xgrammar_engine import structural_tag
from formats import FORMATS
from parsers import SOURCES

from autoparser_gen import pipeline, verify
from autoparser_gen.analysis.model import Analysis, ReasoningMode
from autoparser_gen.emit.structural_tag import emit
from autoparser_gen.errors import GrammarError
from autoparser_gen.request import Options

with_xgrammar = pytest.mark.skipif(
    importlib.util.find_spec("xgrammar") is None, reason="pip install xgrammar: docs/xgrammar.md"
)
EXPRESSIBLE = (
    "apertus",
    "apriel_1_5",
    "apriel_1_6",
    "bielik_11b",
    "command_r_plus",
    "deepseek_r1_distill_llama",
    "deepseek_r1_distill_qwen",
    "deepseek_v3_1",
    "devstral_small",
    "firefunction_v2",
    "functionary_v3_1",
    "gigachat_3",
    "gigachat_3_1",
    "granite_4_0",
    "hermes_2_pro",
    "kimi_k2_instruct",
    "kimi_k2_thinking",
    "llama_cpp_deepseek_r1",
    "magistral_small_2506",
    "minimax_m1",
    "ministral_3_reasoning",
    "nemotron_nano_v2",
    "qwen2_5",
    "qwen3",
    "qwq_32b",
    "reka_edge",
)
WEATHER = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {}}}}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
JSON_IN_TAGS = replace(
    FORMATS["json in tags"],
    joints={
        "prompt_to_call": "<tool_call>\n",
        "call_to_call": "\n</tool_call>\n<tool_call>\n",
        "call_to_end": "\n</tool_call><|im_end|>",
    },
)
OTHER = CALL.replace("weather", "whether")


def _tag(analysis: Analysis, tools: Any, **asked: Any) -> str:
    plain = {"tool_choice": "auto", "parallel": True, "thinking": None}
    return emit(analysis, tools, **{**plain, **asked})


def test_the_shape() -> None:
    tag = json.loads(_tag(JSON_IN_TAGS, [WEATHER], thinking=True))
    assert tag["type"] == "structural_tag"
    reasoning, calls = tag["format"]["elements"]
    content = {"type": "any_text"}
    assert reasoning == {"type": "tag", "begin": "", "content": content, "end": "</think>"}
    assert calls["triggers"] == ["<tool_call>"]
    assert (calls["at_least_one"], calls["stop_after_first"]) == (False, False)


def test_whitespace_between_the_last_call_and_the_end_of_the_turn_may_be_written() -> None:
    joints = {**JSON_IN_TAGS.joints, "call_to_end": "\n</tool_call>\n<|im_end|>\n"}
    tag = json.loads(_tag(replace(JSON_IN_TAGS, joints=joints), [WEATHER], parallel=False))
    calls, last = tag["format"]["elements"][-1]["elements"]
    assert calls["tags"][0]["end"] == "\n</tool_call>"
    assert last == {"type": "optional", "content": {"type": "const_string", "value": "\n"}}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bare json", "no marker begins a call"),
        ("raw values", "arguments are not written as one JSON object"),
        ("channels", "turns are made of messages with headers"),
        ("json array", "a call holds an id"),
    ],
)
def test_what_cannot_be_expressed_is_refused(name: str, reason: str) -> None:
    with pytest.raises(GrammarError, match=f"cannot be a structural tag: {reason}"):
        _tag(FORMATS[name], [WEATHER])


def test_tools_are_needed(run: Runner) -> None:
    done = run(SOURCES["qwen3"], "-o", "x.structural_tag.json")
    assert done.status == 2
    assert "give --tools" in done.err


def test_the_command(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": WEATHER}]))
    words = (SOURCES["qwen3"], "--tools", "tools.json", "--no-verify")
    assert run(*words, "-o", "x.structural_tag.json").status == 0
    text = (tmp_path / "x.structural_tag.json").read_text(encoding="utf-8")
    assert json.loads(text)["type"] == "structural_tag"
    assert run(*words, "-o", "-", "--target", "structural-tag").out == text
    assert "nothing changed" in run(*words, "-o", "x.structural_tag.json").out


@with_xgrammar
@pytest.mark.parametrize(
    ("asked", "good", "bad"),
    [
        ({}, ["Hello.", f"Hello.\n{CALL}", f"{CALL}\n{CALL}"], [CALL[:-1], OTHER]),
        ({"tool_choice": "required"}, [CALL], ["Hello."]),
        ({"tool_choice": "none"}, ["Hello."], [CALL]),
        ({"parallel": False}, [CALL], [f"{CALL}\n{CALL}"]),
        ({"thinking": True}, [f"So.\n</think>\n\n{CALL}"], ["So."]),
    ],
)
def test_options(asked: dict[str, Any], good: list[str], bad: list[str]) -> None:
    tag = _tag(JSON_IN_TAGS, [WEATHER], **{"thinking": False, **asked})
    accepts = structural_tag(tag)
    assert [text for text in good if not accepts(text)] == []
    assert [text for text in bad if accepts(text)] == []


@with_xgrammar
@pytest.mark.parametrize("stem", SOURCES)
def test_renderings(stem: str) -> None:
    found = pipeline.find_format(SOURCES[stem], Options())
    if stem not in EXPRESSIBLE:
        with pytest.raises(GrammarError, match="cannot be a structural tag"):
            _tag(found.analysis, [WEATHER])
        return
    if not list(_outputs(found, ("f", {"a": "b"}))):
        pytest.skip("the chat template shows no call that it closes")
    verdicts = set()
    for tool_set in TOOL_SETS.values():
        if tool_set.tools is None:
            continue
        choices = ("auto", "required")
        tags = [_tag(found.analysis, tool_set.tools, tool_choice=choice) for choice in choices]
        judges = list(map(structural_tag, tags))
        for calls, expected in ((tool_set.good, True), (tool_set.bad, False)):
            for text in itertools.chain.from_iterable(_outputs(found, call) for call in calls):
                assert [accepts(text) for accepts in judges] == [expected, expected], text
                verdicts.add(expected)
    assert verdicts == {True, False}


def _outputs(found: pipeline.Format, call: Call) -> Iterator[str]:
    """What a model may write after the default prompt to make a call, as the chat template does."""
    analysis = found.analysis
    prompt = analysis.generation_prompts.default
    has_reasoning = analysis.reasoning.mode is not ReasoningMode.NONE
    for reasoning in (None, "So.") if has_reasoning else (None,):
        turn = found.prober.turn(None, reasoning, [call])
        text = turn and verify.grammar_text(turn, analysis, prompt)
        if text:
            yield text
