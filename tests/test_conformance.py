"""The neutral conformance suite `canitoolcall`: every fixture, whole and in all its chunking strategies.

The parser of a fixture is made from its model's chat template in the corpus; without the corpus,
from ours where we have that format. Fixtures are compared strictly. Those that are read otherwise
stand in known_differences.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import corpus_folder
from known_differences import known_differences
from parsers import SOURCES, parser_from, parser_of

pytest.importorskip("canitoolcall", reason="needs the extra `canitoolcall`")

from canitoolcall.chunking import DEFAULT_STRATEGIES, ChunkStrategy, split  # noqa: E402
from canitoolcall.fixtures import Fixture  # noqa: E402
from canitoolcall.pytest_plugin import assert_conforms  # noqa: E402
from canitoolcall.results import ParsedToolCall, ParseResult, StreamAccumulator  # noqa: E402

# The reference models of formats that we have, ours for want of the vendors' chat templates.
OURS = {
    "Qwen/Qwen3-0.6B": "qwen3",
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": "qwen3_coder",
    "Qwen/Qwen3.5-9B": "qwen3_5",
    "deepseek-ai/DeepSeek-V3.1": "deepseek_v3_1",
    "deepseek-ai/DeepSeek-V3.2": "deepseek_v3_2",
    "deepseek-ai/DeepSeek-V4-Flash": "deepseek_v4",
    "deepseek-ai/DeepSeek-V4.1-Flash": "deepseek_v4_1",
    "google/gemma-4-31B-it": "gemma_4",
    "meta-llama/Llama-3.3-70B-Instruct": "llama_3_1",
    "mistralai/Devstral-Small-2507": "devstral_small",
    "mistralai/Magistral-Small-2506": "magistral_small_2506",
    "mistralai/Magistral-Small-2509": "ministral_3_reasoning",
    "mistralai/Ministral-3-14B-Reasoning-2512": "ministral_3_reasoning",
    "mistralai/Mistral-Small-3.2-24B-Instruct-2506": "mistral_small_3_2",
    "moonshotai/Kimi-K2-Instruct-0905": "kimi_k2_instruct",
    "moonshotai/Kimi-K3": "kimi_k3",
    "openai/gpt-oss-20b": "gpt_oss",
    "zai-org/GLM-4.5": "glm_4_6",
    "zai-org/GLM-4.7": "glm_4_7_flash",
}
# Recorded token ids need the model's tokenizer: words and characters stand for tokens here.
STRATEGIES = (
    *DEFAULT_STRATEGIES,
    *(ChunkStrategy("char", seed) for seed in range(3)),
)


@pytest.mark.parametrize("stream_arguments", [False, True])
def test_fixture(canitoolcall_fixture: Fixture, stream_arguments: bool) -> None:
    fixture = canitoolcall_fixture
    module = _parser(fixture.reference_model)
    listed = fixture.id in known_differences("Conformance fixtures")
    try:
        for result in _results(module, fixture, stream_arguments):
            assert_conforms(fixture, result)
    except AssertionError:
        if not listed:
            raise
    else:
        assert not listed, "listed as a known difference, but it conforms: take it off the list"


def _parser(model: str) -> ModuleType:
    vendors = _chat_templates().get(model)
    if vendors is not None:
        return parser_from(vendors)
    if model not in OURS or OURS[model] not in SOURCES:
        pytest.skip(f"no chat template of {model} at hand; set AUTOPARSER_CORPUS")
    return parser_of(OURS[model])


@cache
def _chat_templates() -> dict[str, Path]:
    """The vendors' chat templates by the model's name."""
    corpus = corpus_folder()
    if not corpus.is_dir():
        return {}
    files = {path.name: path for path in (corpus / "chat_templates").rglob("*.jinja")}
    named = json.loads((corpus / "cases" / "canitoolcall_templates.json").read_text("utf-8"))
    return {model: files[name] for model, name in named.items()}


def _results(module: ModuleType, fixture: Fixture, stream_arguments: bool) -> Iterator[ParseResult]:
    """What the parser makes of an output as a whole, and in pieces."""
    text, prompt = fixture.raw_output, fixture.generation_prompt
    if prompt is None and fixture.thinking is not None:
        prompt = module.GENERATION_PROMPTS["thinking" if fixture.thinking else "no_thinking"]
    request = {"tools": list(fixture.tools), "prompt": prompt}
    whole = module.parse(text, **request)
    yield _of_message(whole)
    units, special = _units(module, text)
    for strategy in STRATEGIES:
        pieces = split(units if strategy.realistic else list(text), strategy, special)
        parser = module.Parser(stream_arguments=stream_arguments, **request)
        deltas = [d for piece in pieces for d in parser.feed("".join(piece))] + parser.finish()
        assert module.merge(deltas) == whole, strategy.id
        # A call that does not become one is withdrawn: a client that knows no such thing wants
        # complete calls only.
        cut = whole.incomplete or any(delta.retracted for delta in deltas)
        if not (stream_arguments and cut):
            yield _of_deltas(deltas)


def _units(module: ModuleType, text: str) -> tuple[list[str], set[str]]:
    """Pieces of text of a token's size, markers whole; and the markers among them."""
    markers = "|".join(map(re.escape, sorted(module.PRESERVED_TOKENS, key=len, reverse=True)))
    units = re.findall((markers + "|" if markers else "") + r" ?\w{1,4}|.", text, re.DOTALL)
    return units, set(module.PRESERVED_TOKENS)


def _of_message(message: Any) -> ParseResult:
    calls = [ParsedToolCall(call.name, call.arguments) for call in message.tool_calls]
    return ParseResult(message.content or None, message.reasoning_content or None, tuple(calls))


def _of_deltas(deltas: list[Any]) -> ParseResult:
    """What any client of OpenAI's streaming API adds the deltas up to."""
    seen = StreamAccumulator()
    for delta in deltas:
        chunk = delta.to_openai()
        seen.add_content(chunk.get("content"))
        seen.add_reasoning(chunk.get("reasoning_content"))
        for call in chunk.get("tool_calls", ()):
            function = call["function"]
            seen.add_tool_call(call["index"], function.get("name"), function["arguments"])
    return seen.result()
