"""Response templates: their shape, what cannot be one, and what transformers reads with them.

What needs transformers is skipped without it; see docs/transformers.md.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import Runner
from formats import FORMATS
from parsers import SOURCES

from autoparser_gen import pipeline
from autoparser_gen.analysis.model import Analysis, ToolMode
from autoparser_gen.emit.response_template import emit
from autoparser_gen.errors import GrammarError
from autoparser_gen.request import Options
from autoparser_gen.targets import TARGETS, Draft
from autoparser_gen.verify import Subject
from autoparser_gen.verify.cases import Case
from autoparser_gen.verify.check import turns
from autoparser_gen.verify.messages import Reading, same

with_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None,
    reason="pip install transformers: docs/transformers.md",
)
# What the end of the turn is in the formats that leave it to a special token.
OPTIONS = Options(eos_token="</s>")
REFUSED = {
    "apertus": "a function's name is a key of its call",
    "functionary_v3_2": "turns are made of messages whose headers",
    "gemma_4": "arguments are literals other than JSON",
    "kimi_k3": "names of arguments are escaped",
    "lfm2_5": "calls are written as Python",
    "llama_3_1": "no marker begins a call",
    "minimax_m1": "calls have no marker of their own in their section",
    "minimax_m3": "values are nested tags",
    "muse_glimmer": "turns are made of messages whose headers",
}
# Their chat templates print arrays and objects as Python does; transformers leaves those as text.
PYTHON_VALUES = {"minicpm5", "seed_oss"}
HEADED = replace(FORMATS["json in tags"], assistant_header="<|im_start|>assistant\n")
PIECES = (1, 7)


def _template(analysis: Analysis) -> Any:
    return json.loads(emit(analysis))["response_template"]


def test_the_shape() -> None:
    found = _template(HEADED)
    assert set(found) == {"version", "defaults", "start_anchor", "fields"}
    closed = "<|im_start|>assistant\n<think>\n\n</think>"
    assert found["start_anchor"] == ["<|im_start|>assistant", closed]
    calls = found["fields"]["tool_calls"]
    assert calls["open_pattern"] == r"<tool_call>\s{0,64}(?=\{)"
    assert calls["close_pattern"] == r"(?<=\})\s{0,64}(?:</tool_call>|<\|im_end\|>)"
    reasoning = found["fields"]["reasoning_content"]
    assert (reasoning["open"], reasoning["close"]) == ("<think>", ["</think>", "<|im_end|>"])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bare json", "no marker begins a call"),
        ("name as key", "nothing ends|a function's name is a key"),
        ("json array", "nothing ends a call but the end of the turn"),
        ("nested tags", "values are nested tags"),
        ("custom quotes", "arguments are literals other than JSON"),
        ("python list", "calls are written as Python"),
    ],
)
def test_what_cannot_be_expressed_is_refused(name: str, reason: str) -> None:
    analysis = replace(FORMATS[name], assistant_header="<|assistant|>")
    with pytest.raises(GrammarError, match=f"cannot be a response template: (?:{reason})"):
        emit(analysis)


def test_the_command(run: Runner, tmp_path: Path) -> None:
    words = (SOURCES["qwen3"], "--no-verify")
    assert run(*words, "-o", "x.response_template.json").status == 0
    text = (tmp_path / "x.response_template.json").read_text(encoding="utf-8")
    assert json.loads(text)["response_template"]["version"] == 1
    assert run(*words, "-o", "-", "--target", "response-template").out == text
    assert "nothing changed" in run(*words, "-o", "x.response_template.json").out


@with_transformers
@pytest.mark.parametrize("stem", SOURCES)
def test_every_turn(stem: str) -> None:
    found = pipeline.find_format(SOURCES[stem], OPTIONS)
    analysis = found.analysis
    if stem in REFUSED:
        with pytest.raises(GrammarError, match=f"response template: {REFUSED[stem]}"):
            emit(analysis)
        return
    draft = Draft(analysis, pipeline.lower_for(analysis, OPTIONS), [])
    subject = Subject(TARGETS["python"].emit(draft), TARGETS["lark"].emit(draft))
    cases = [
        case
        for case in turns(found.prober, analysis, subject)
        if not _beyond(case, analysis, python_values=stem in PYTHON_VALUES)
    ]
    for case in cases:
        assert not _problem(case, analysis), case.message.name
    assert cases


def _beyond(case: Case, analysis: Analysis, *, python_values: bool) -> bool:
    """Whether a turn is known to be read otherwise: docs/transformers.md says so."""
    if analysis.tools.format.mode is not ToolMode.TAG_WITH_TAGGED:
        return False
    values = [value for _, arguments in case.message.calls for value in arguments.values()]
    nested = any(isinstance(value, list | dict) for value in values)
    return any(_holds(value, analysis) for value in values) or (python_values and nested)


def _holds(value: Any, analysis: Analysis) -> bool:
    """Whether a value's text holds a marker of the format."""
    if isinstance(value, dict):
        return any(_holds(item, analysis) for item in value.values())
    if isinstance(value, list):
        return any(_holds(item, analysis) for item in value)
    close = analysis.tools.function.close.strip() or analysis.tools.format.per_call_end.strip()
    return isinstance(value, str) and close in value


def _problem(case: Case, analysis: Analysis) -> str:
    """How a turn is read wrongly, whole or in pieces; "" where it is not."""
    from transformers.utils.chat_parsing import ResponseParser

    text = _until_its_end(case.text, analysis)
    tools: Any = case.tools
    expected = case.expected
    stripped = replace(
        expected, content=expected.content.strip(), reasoning=expected.reasoning.strip()
    )
    for size in (len(text) or 1, *PIECES):
        parser = ResponseParser(_template(analysis), prefix=case.prompt, tools=tools)
        for start in range(0, len(text), size):
            parser.feed(text[start : start + size])
        message, _ = parser.finalize()
        if not same(stripped, _reading(message)):
            return f"in pieces of {size}: expected {stripped}, got {_reading(message)}: {text!r}"
    return ""


def _until_its_end(text: str, analysis: Analysis) -> str:
    """A turn without a header that its chat template writes behind it."""
    return text.removesuffix(analysis.assistant_header + analysis.end_of_turn)


def _reading(message: dict[str, Any]) -> Reading:
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return Reading(
        message.get("content", ""),
        message.get("reasoning_content", ""),
        tuple((call["name"], call["arguments"]) for call in calls),
    )


@with_transformers
def test_a_tokenizer_carries_it(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    core = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    fast: Any = PreTrainedTokenizerFast
    tokenizer = fast(tokenizer_object=core)
    tokenizer.response_template = _template(HEADED)
    tokenizer.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config["response_template"] == _template(HEADED)

    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    output = (
        'Sunny?\n</think>\n\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>'
    )
    assert tokenizer.parse_response(output, prefix="<|im_start|>assistant\n<think>\n") == {
        "role": "assistant",
        "reasoning_content": "Sunny?",
        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}],
    }


IN_HEADERS = {
    " to=functions.f<|channel|>commentary json<|message|>{}<|call|>": ("", "", ["f"]),
    "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>": ("", "", ["f"]),
    "<|channel|>analysis to=functions.f <|message|>{}": ("", "", ["f"]),
    "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant"
    "<|channel|>commentary to=functions.f json<|message|>{}<|call|>": ("", "I look.", ["f"]),
    "<|channel|>analysis<|message|>So.<|end|><|start|>assistant"
    "<|channel|>final<|message|>Yes.<|return|>": ("So.", "Yes.", []),
}


@with_transformers
@pytest.mark.parametrize("output", IN_HEADERS)
def test_what_a_header_says(output: str) -> None:
    from transformers.utils.chat_parsing import ResponseParser

    found = _template(pipeline.find_format(SOURCES["gpt_oss"], OPTIONS).analysis)
    parser = ResponseParser(found, prefix="<|start|>assistant")
    parser.feed(output)
    read = _reading(parser.finalize()[0])
    names = [name for name, _ in read.calls]
    assert (read.reasoning, read.content, names) == IN_HEADERS[output]


@with_transformers
@pytest.mark.parametrize(
    "text",
    ["<|channel|>a", " to=functions.f", "<|channel|>commentary to=functions.f <|message|>", "{ "],
)
def test_hostile_headers_take_linear_time(text: str) -> None:
    from transformers.utils.chat_parsing import ResponseParser

    found = _template(pipeline.find_format(SOURCES["gpt_oss"], OPTIONS).analysis)
    parser = ResponseParser(found, prefix="<|start|>assistant")
    output = text * 2_000
    began = time.process_time()
    with contextlib.suppress(ValueError):
        for start in range(0, len(output), 7):
            parser.feed(output[start : start + 7])
        parser.finalize()
    assert time.process_time() - began < 5


@with_transformers
@pytest.mark.parametrize("text", ["<tool_call>\n<function=f>\n<parameter=a>", " ", "</function> "])
def test_hostile_outputs_take_linear_time(text: str) -> None:
    from transformers.utils.chat_parsing import parse_response

    found = _template(replace(FORMATS["raw values"], assistant_header="<|assistant|>"))
    began = time.process_time()
    parse_response("<tool_call>\n<function=f>\n<parameter=a>" + text * 5_000, found, prefix="")
    assert time.process_time() - began < 5
