"""The vendors' chat templates: every one is analysed, and read by eye once."""

from __future__ import annotations

import functools
import json
import re
import statistics
import time
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import autoparser_gen
from autoparser_gen.analysis import Analysis, analyze
from autoparser_gen.analysis.as_json import to_json
from autoparser_gen.chat_template import Renderer
from autoparser_gen.containers import load
from autoparser_gen.probe import Prober, Turn, needles

pytestmark = pytest.mark.corpus


@dataclass(frozen=True)
class Analysed:
    prober: Prober
    analysis: Analysis
    renders: int
    seconds: float


@pytest.fixture(scope="module")
def analysed(corpus: Path) -> dict[str, Analysed]:
    """Every chat template of the corpus, by folder and stem."""
    found = {}
    for path in sorted((corpus / "chat_templates").glob("*/*.jinja")):
        started = time.process_time()
        prober = Prober(Renderer(load(path)))
        analysis = analyze(prober)
        seconds = time.process_time() - started
        prober.renderer.close()
        found[f"{path.parent.name}/{path.stem}"] = Analysed(
            prober, analysis, prober.renderer.renders, seconds
        )
    return found


FORMATS: dict[str, dict[str, Any]] = {
    "llamacpp/Qwen-Qwen3-0.6B": {
        "reasoning.start": "<think>\n",
        "reasoning.end": "\n</think>\n\n",
        "tools.format.mode": "JSON_NATIVE",
        "tools.format.per_call_start": "<tool_call>\n",
        "tools.format.per_call_end": "\n</tool_call>",
        "end_of_turn": "<|im_end|>",
        "generation_prompts.default": "<|im_start|>assistant\n",
        "generation_prompts.no_thinking": "<|im_start|>assistant\n<think>\n\n</think>\n\n",
    },
    "llamacpp/NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": {
        "reasoning.mode": "NONE",
        "tools.format.mode": "JSON_NATIVE",
        "tools.format.per_call_start": "<tool_call>\n",
        "tools.format.name_field": "name",
        "tools.format.args_field": "arguments",
    },
    "llamacpp/Qwen3-Coder": {
        "tools.format.mode": "TAG_WITH_TAGGED",
        "tools.format.per_call_start": "<tool_call>\n",
        "tools.function.name_prefix": "<function=",
        "tools.function.name_suffix": ">\n",
        "tools.arguments.name_prefix": "<parameter=",
        "tools.arguments.name_suffix": ">\n",
        "tools.arguments.value_suffix": "\n</parameter>",
        "tools.function.close": "\n</function>",
        "tools.format.per_call_end": "\n</tool_call>",
        "tools.arguments.python_words": True,
        "tools.arguments.python_containers": False,
    },
    "llamacpp/meta-llama-Llama-3.1-8B-Instruct": {
        "tools.format.mode": "JSON_NATIVE",
        "tools.format.section_start": "",
        "tools.format.per_call_start": "",
        "tools.format.args_field": "parameters",
        "capabilities.supports_parallel_tool_calls": False,
    },
    "llamacpp/mistralai-Mistral-Nemo-Instruct-2407": {
        "tools.format.section_start": "[TOOL_CALLS]",
        "tools.format.tools_array_wrapped": True,
        "tools.format.id_field": "id",
        "capabilities.call_id_shape": "alphanumeric9",
        "end_of_turn": "",
    },
    "llamacpp/deepseek-ai-DeepSeek-V3.1": {
        "reasoning.start": "<think>",
        "reasoning.end": "</think>",
        "assistant_header": "<｜Assistant｜>",
        "tools.format.mode": "TAG_WITH_JSON",
        "tools.format.section_start": "<｜tool▁calls▁begin｜>",
        "tools.format.per_call_start": "<｜tool▁call▁begin｜>",
        "tools.function.name_suffix": "<｜tool▁sep｜>",
        "generation_prompts.thinking": "<｜Assistant｜><think>",
        "generation_prompts.no_thinking": "<｜Assistant｜><think></think>",
    },
    "llamacpp/GLM-4.6": {
        "reasoning.end": "</think>\n",
        "tools.format.mode": "TAG_WITH_TAGGED",
        "tools.format.per_call_start": "<tool_call>",
        "tools.function.name_suffix": "\n",
        "tools.arguments.name_prefix": "<arg_key>",
        "tools.arguments.value_prefix": "<arg_value>",
        "tools.arguments.value_suffix": "</arg_value>",
    },
    "llamacpp/ibm-granite-granite-4.0": {
        "tools.format.per_call_start": "<tool_call>\n",
        "end_of_turn": "<|end_of_text|>",
    },
    "llamacpp/Kimi-K2-Instruct": {
        "tools.format.mode": "TAG_WITH_JSON",
        "tools.format.section_start": "<|tool_calls_section_begin|>",
        "tools.call_id.pos": "CARRIES_NAME",
        "tools.call_id.prefix": "functions.",
        "tools.call_id.suffix": ":",
        "tools.function.name_suffix": "<|tool_call_argument_begin|>",
    },
    "llamacpp/CohereForAI-c4ai-command-r7b-12-2024-tool_use": {
        "reasoning.mode": "TOOLS_ONLY",
        "reasoning.start": "<|START_THINKING|>",
        "reasoning.end": "<|END_THINKING|>",
        "content.start": "<|START_RESPONSE|>",
        "content.end": "<|END_RESPONSE|>",
        "tools.format.section_start": "<|START_ACTION|>",
        "tools.format.gen_id_field": "tool_call_id",
        "end_of_turn": "<|END_OF_TURN_TOKEN|>",
    },
    "llamacpp/MiniMax-M2": {
        "tools.format.section_start": "<minimax:tool_call>\n",
        "tools.function.name_prefix": '<invoke name="',
        "tools.function.close": "\n</invoke>",
        "tools.arguments.name_prefix": '<parameter name="',
        "end_of_turn": "[e~[",
    },
    "llamacpp/NVIDIA-Nemotron-Nano-v2": {
        "reasoning.start": "<think>\n",
        "reasoning.end": "</think>",
        "content.mode": "PLAIN",
        "tools.format.section_start": "<TOOLCALL>",
        "tools.format.section_end": "</TOOLCALL>",
        "end_of_turn": "<SPECIAL_12>",
    },
    "llamacpp/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": {
        "reasoning.start": "<think>\n",
        "reasoning.end": "\n</think>\n",
        "tools.function.name_prefix": "<function=",
    },
    "llamacpp/openai-gpt-oss-120b": {
        "headers.channel": "<|channel|>",
        "headers.recipient": " to=",
        "headers.namespace": "functions.",
        "headers.content_type": " json",
        "headers.reasoning": "analysis",
        "headers.content": "final",
        "headers.preamble": "commentary",
        "end_of_turn": "<|return|>",
        "end_of_turn_after_calls": "<|call|>",
    },
    "llamacpp/muse-glimmer": {
        "headers.recipient": " to=",
        "headers.reasoning": "self",
        "headers.content": "user",
        "tools.format.per_call_start": "<atem:function_calls>\n",
        "tools.function.name_prefix": '<atem:invoke name="',
    },
    "llamacpp/meetkai-functionary-medium-v3.2": {
        "content.start": ">>>all\n",
        "headers.content": "all",
        "tools.function.name_prefix": ">>>",
        "tools.function.name_suffix": "\n",
    },
    "llamacpp/Kimi-K3": {
        "reasoning.start": "<|open|>think<|sep|>",
        "reasoning.end": "<|close|>think<|sep|>",
        "content.start": "<|open|>response<|sep|>",
        "content.end": "<|close|>response<|sep|>",
        "tools.format.section_start": "<|open|>tools<|sep|>",
        "tools.function.name_prefix": '<|open|>call tool="',
        "tools.function.name_suffix": '" index="{index}"<|sep|>',
        "tools.arguments.type_prefix": '" type="',
        "tools.arguments.value_prefix": '"<|sep|>',
    },
    "llamacpp/MiniMax-M3": {
        "tools.arguments.value_syntax": "NESTED_TAGS",
        "tools.arguments.value_suffix": "]<]minimax[>[</{key}>",
        "tools.arguments.item_tag": "item",
        "tools.format.section_start": "]<]minimax[>[<tool_call>\n",
    },
    "llamacpp/deepseek-ai-DeepSeek-V3.2": {
        "tools.arguments.types": (("true", "string"), ("false", "json")),
        "tools.format.section_start": "<｜DSML｜function_calls>\n",
    },
    "llamacpp/google-gemma-4-31B-it": {
        "reasoning.start": "<|channel>thought\n",
        "tools.format.mode": "TAG_WITH_LITERAL",
        "tools.format.per_call_start": "<|tool_call>",
        "tools.function.name_prefix": "call:",
        "tools.arguments.literals.quotes": ('<|"|>',),
        "end_of_turn_after_calls": "<|tool_response>",
    },
    "llamacpp/LFM2.5-8B-A1B": {
        "tools.format.mode": "PYTHON_CALLS",
        "tools.format.section_start": "<|tool_call_start|>",
        "tools.format.tools_array_wrapped": True,
        "tools.arguments.literals.quotes": ("'",),
    },
    "llamacpp/upstage-Solar-Open-100B": {
        "reasoning.start": "<|think|>",
        "content.start": "<|content|>",
        "tools.call_id.pos": "PRE_FUNC_NAME",
        "tools.call_id.suffix": "<|tool_call:name|>",
        "headers.message_end": "<|end|>",
    },
    "llamacpp/ibm-granite-granite-3.3-2B-Instruct": {
        "reasoning.start": "<think>",
        "content.mode": "WRAPPED_WITH_REASONING",
        "content.start": "<response>",
        "tools.format.mode": "NONE",
    },
    "llamacpp/Apriel-1.6-15b-Thinker-fixed": {
        "reasoning.start": "Here are my reasoning steps:\n",
        "reasoning.end": "\n[BEGIN FINAL RESPONSE]\n",
    },
    "field/trl-internal-testing-tiny-Llama4ForCausalLM": {
        "content.mode": "PLAIN",
        "content.beside_call_start": "<|python_start|>",
        "content.beside_call_end": "<|python_end|>",
        "tools.format.section_start": "",
    },
    "field/Ayodele01-gemma-4-E4B-Gemini-3.1-Pro-Reasoning-Distill": {
        "reasoning.start": "<|channel>",
        "reasoning.end": "<channel|>",
    },
    "field/Motif-Technologies-Motif-2-12.7B-Instruct": {
        "assistant_header": "<|assistant|>",
        "reasoning.start": "<think>\n",
        "end_of_turn": "<|endofturn|>",
    },
    "field/ai9stars-G9v3-3B": {"tools.arguments.optional_wrap": ("<![CDATA[", "]]>")},
    "field/naver-hyperclovax-HyperCLOVAX-SEED-Think-14B": {
        "reasoning.start": "/think\n",
        "reasoning.end": "<|im_end|>",
        "headers.start": "<|im_start|>assistant",
        "end_of_turn": "<|im_end|><|endofturn|>",
        "end_of_turn_after_calls": "<|im_end|><|stop|>",
    },
    "field/tencent-Hy-Embodied-RxBrain-1.0": {
        "content.start": "<answer>\n",
        "content.end": "\n</answer>",
        "content.plain_beside_calls": True,
    },
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats(analysed: dict[str, Analysed], name: str) -> None:
    found = {}
    for path in FORMATS[name]:
        value: Any = functools.reduce(getattr, path.split("."), analysed[name].analysis)
        found[path] = value.value if isinstance(value, Enum) else value
    assert found == FORMATS[name]


RENDER_NO_CALL = 9  # tools in prose only, or no tools at all


def test_all_are_analysed(analysed: dict[str, Analysed]) -> None:
    assert len(analysed) >= 180
    silent = [name for name, it in analysed.items() if it.analysis.tools.format.mode == "NONE"]
    assert len(silent) == RENDER_NO_CALL
    for name in silent:
        assert any("calls are read as content" in note for note in analysed[name].analysis.notes)


def test_costs(analysed: dict[str, Analysed]) -> None:
    renders = [it.renders for it in analysed.values()]
    assert statistics.median(renders) <= 50
    assert max(renders) <= 150
    assert max(it.seconds for it in analysed.values()) < 2


def test_nothing_of_a_probe_or_of_an_unknown_token_is_left(analysed: dict[str, Analysed]) -> None:
    left = re.compile("[\ue000-\uf8ff]|" + "|".join([needles.USER, *needles.IDS, "zq\\b"]))
    for name, it in analysed.items():
        # Notes may quote a rendering, for people.
        assert not left.search(to_json(replace(it.analysis, notes=()))), name


def test_the_json_is_the_same_every_time(analysed: dict[str, Analysed], corpus: Path) -> None:
    for name in ("llamacpp/Kimi-K3", "llamacpp/openai-gpt-oss-120b", "field/vllm-tool-gemma4"):
        again = analyze(Prober(Renderer(load(corpus / "chat_templates" / f"{name}.jinja"))))
        assert to_json(again) == to_json(analysed[name].analysis)


def test_the_json_names_what_is_asked_for(analysed: dict[str, Analysed]) -> None:
    data = json.loads(to_json(analysed["llamacpp/Qwen3-Coder"].analysis))
    assert data["triggers"] == [{"type": "word", "value": "<tool_call>"}]
    assert data["tools"]["format"]["mode"] == "TAG_WITH_TAGGED"
    assert list(data) == [
        "format_version",
        "source",
        "sha256",
        "capabilities",
        "reasoning",
        "content",
        "tools",
        "generation_prompts",
        "assistant_header",
        "end_of_turn",
        "end_of_turn_after_calls",
        "headers",
        "preserved_tokens",
        "triggers",
        "joints",
        "evidence",
        "notes",
    ]


def _joined(analysis: Analysis, turn: Turn, *parts: tuple[str, str]) -> str:
    """Parts of a turn, joined by the glue that the analysis has for them."""
    text, last = "", "prompt"
    for kind, part in parts:
        text += analysis.joints[f"{last}_to_{kind}"] + part
        last = kind
    return text + analysis.joints[f"{last}_to_end"]


def _without(end: str, text: str) -> str:
    text = text.rstrip()
    return text.removesuffix(end).rstrip() if end else text


# Their own indentation is printed, another one beside calls: the longer one is known, to be removed.
UNEVEN = {"field/vllm-tool-deepseekv3"}


def test_joints_give_back_the_turns(analysed: dict[str, Analysed]) -> None:
    checked = 0
    for name, it in analysed.items():
        default = it.analysis.generation_prompts.default
        for content, reasoning in (("An answer.", None), ("An answer.", "A thought.")):
            turn = it.prober.turn(content, reasoning)
            if turn is None or (reasoning and reasoning not in turn.text):
                continue
            parts = [("reasoning", reasoning)] if reasoning else []
            pairs = ("prompt_to_reasoning", "reasoning_to_content")
            if reasoning and any(pair not in it.analysis.joints for pair in pairs):
                continue  # shown behind the answer
            expected = turn.after(default)
            expected = turn.text if expected is None else expected
            got = _joined(it.analysis, turn, *parts, ("content", content))
            if name in UNEVEN:
                assert got.split() == expected.split()
                continue
            end = it.analysis.end_of_turn  # some show it in some turns only
            assert _without(end, got) == _without(end, expected), name
            checked += 1
    assert checked > 230


def test_the_source_names_no_marker_of_the_corpus(analysed: dict[str, Analysed]) -> None:
    folder = Path(autoparser_gen.__file__).parent
    sources = [*folder.glob("probe/*.py"), *folder.glob("analysis/*.py")]
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in sources if path.name != "conventions.py"
    )
    markers = {
        core
        for it in analysed.values()
        for core in (*it.analysis.preserved_tokens, it.analysis.end_of_turn)
        if len(core) > 4 and re.search(r"[<\[|\uff5c]", core)
    }
    assert len(markers) > 150
    assert not [core for core in sorted(markers) if core in text]
