"""Plugins in the servers' own classes: every format, every turn of verification, in pieces.

AUTOPARSER_WHEELS is a folder with the unpacked wheels: `pip download --no-deps vllm==0.33.0
sglang==0.5.23`, then `python -m zipfile -e`. No engine runs: see `frameworks`.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import frameworks
import pytest
from conftest import ROOT

from autoparser_gen import pipeline, verify
from autoparser_gen.request import Options, chat_templates_in
from autoparser_gen.targets import TARGETS, Draft
from autoparser_gen.verify.check import turns

WHEELS = os.environ.get("AUTOPARSER_WHEELS", "")
SOURCES = chat_templates_in(ROOT / "templates")
PIECES = (1, 3, 5000)
MISSING = [
    "torch",
    "transformers",
    "xgrammar",
    "triton",
    "prometheus_client",
    "partial_json_parser",
    "regex",
    "cloudpickle",
    "psutil",
    "fastapi",
    "starlette",
    "zmq",
    "msgspec",
    "numpy",
    "cachetools",
    "orjson",
    "tqdm",
]
VLLM = [
    "envs",
    "logger",
    "exceptions",
    "utils",
    "utils.collection_utils",
    "utils.import_utils",
    "reasoning",
    "entrypoints.generate.base.protocol",
    "entrypoints.serve.engine.protocol",
    "entrypoints.openai.chat_completion.protocol",
    "entrypoints.openai.chat_completion.stream_processor",
    "entrypoints.openai.chat_completion.message_assembly",
    "entrypoints.serve.utils.tool_calls_utils",
    "reasoning.abs_reasoning_parsers",
    "tool_parsers",
    "tool_parsers.abstract_tool_parser",
    "tool_parsers.tool_strict_level",
    "tool_parsers.streaming",
    "parser.abstract_parser",
    "parser.parser_manager",
]
SGLANG = [
    "srt.function_call.core_types",
    "srt.function_call.base_format_detector",
    "srt.function_call.function_call_parser",
    "srt.parser.reasoning_parser",
]
# Its prompt without thinking opens a wrapper of content, which only the reasoning parser is told.
OPENED_BY_THE_PROMPT = {"kimi_k3": "<|open|>response<|sep|>"}

needs_wheels = pytest.mark.skipif(not WHEELS, reason="AUTOPARSER_WHEELS names no folder")
formats = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


class Characters:
    """A tokenizer with a token for each character."""

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        """The text of some tokens."""
        return "".join(map(chr, ids))

    def encode(self, text: str, **_: Any) -> list[int]:
        """The tokens of a text."""
        return list(map(ord, text))

    def get_vocab(self) -> dict[str, int]:
        """No words."""
        return {}


class Turn:
    """An output with its prompt and tools, and what must be read from it."""

    def __init__(self, module: Any, text: str, prompt: str, tools: Any) -> None:
        self.text, self.prompt, self.tools = text, prompt, tools
        message = module.parse(text, prompt=prompt, tools=tools)
        calls = [(call.name, call.arguments) for call in message.tool_calls]
        self.expected = message.reasoning_content, message.content, calls


def _plugin(source: Path, target: str, folder: Path) -> tuple[Path, list[Turn]]:
    found = pipeline.find_format(source, Options())
    draft = Draft(found.analysis, None, ())  # type: ignore[arg-type]  # no grammar is printed
    path = folder / f"{source.stem}_{target}.py"
    path.write_text(TARGETS[target].emit(draft), encoding="utf-8")
    text = TARGETS["python"].emit(draft)
    module = verify.import_text(text)
    read = [
        Turn(module, case.text, case.prompt, case.tools or [])
        for case in turns(found.prober, found.analysis, verify.Subject(text, "start:"))
    ]
    found.prober.renderer.close()
    opened = OPENED_BY_THE_PROMPT.get(source.stem)
    return path, [turn for turn in read if not opened or not turn.prompt.endswith(opened)]


def _pieces(text: str, size: int) -> Iterator[tuple[str, bool]]:
    for at in range(0, len(text), size):
        yield text[at : at + size], at + size >= len(text)


@functools.cache
def _use(package: str, real: tuple[str, ...]) -> None:
    names = [f"{package}.{name}" for name in real]
    frameworks.use(frameworks.Wheel(Path(WHEELS), package, names, MISSING))


def _vllm(name: str) -> Any:
    _use("vllm", tuple(VLLM))
    return importlib.import_module(f"vllm.{name}")


@needs_wheels
@formats
def test_vllm(source: Path, tmp_path: Path) -> None:
    chat = "entrypoints.openai.chat_completion"
    request_class = _vllm(f"{chat}.protocol").ChatCompletionRequest
    processor_class = _vllm(f"{chat}.stream_processor").ChatStreamProcessor
    assemble = _vllm(f"{chat}.message_assembly").assemble_chat_message_fields
    _vllm("parser.response_template").response_template_parser_cls = lambda _: None
    path, read = _plugin(source, "vllm", tmp_path)
    _vllm("tool_parsers").ToolParserManager.import_tool_parser(str(path))
    _vllm("reasoning").ReasoningParserManager.import_reasoning_parser(str(path))
    name, tokenizer = f"{source.stem}_generated", Characters()
    parser_class = _vllm("parser.parser_manager").ParserManager.get_parser(
        name, name, True, tokenizer=tokenizer
    )
    asked = {"enable_auto_tools": True, "parser_cls": parser_class}

    def begin(turn: Turn) -> tuple[Any, Any]:
        body: dict[str, Any] = {"messages": [{"role": "user", "content": "?"}], "model": "m"}
        request = request_class(**body, **({"tools": turn.tools} if turn.tools else {}))
        parser = parser_class(tokenizer, request.tools)
        request = parser.adjust_request(request)
        assert request.skip_special_tokens is False
        return request, parser

    for turn in read:
        prompt = tokenizer.encode(turn.prompt)
        request, parser = begin(turn)
        parser.set_prompt_token_ids(prompt)
        whole = parser.parse(turn.text, request, enable_auto_tools=True)
        fields = assemble(request, *whole, **asked)
        calls = [(call.function.name, call.function.arguments) for call in fields.tool_calls]
        assert (fields.reasoning or "", fields.content or "", calls) == turn.expected
        for size in PIECES:
            request, parser = begin(turn)
            processor = processor_class(request, parser, **asked)
            merged = Merged()
            for piece, last in _pieces(turn.text, size):
                ids = tokenizer.encode(piece)
                step = processor.step(piece, ids, "stop" if last else None, prompt)
                merged.add_vllm(step.delta)
            assert merged.message == turn.expected
            assert step.finish_reason == ("tool_calls" if turn.expected[2] else "stop")


class Merged:
    """What a client makes of a stream."""

    def __init__(self) -> None:
        self._reasoning = self._content = ""
        self._calls: list[tuple[str, str]] = []

    @property
    def message(self) -> tuple[str, str, list[tuple[str, str]]]:
        """Reasoning, content, calls."""
        return self._reasoning, self._content, self._calls

    def add_text(self, reasoning: str | None, content: str | None) -> None:
        """Further text."""
        self._reasoning += reasoning or ""
        self._content += content or ""

    def add_call(self, index: int, name: str | None, arguments: str | None) -> None:
        """A piece of a call: the name stands in the first one alone."""
        assert (index == len(self._calls)) == bool(name)
        if name:
            self._calls.append((name, ""))
        name, before = self._calls[index]
        self._calls[index] = name, before + (arguments or "")

    def add_vllm(self, delta: Any) -> None:
        """A DeltaMessage; the first piece of a call has an id."""
        if delta is None:
            return
        self.add_text(delta.reasoning, delta.content)
        for call in delta.tool_calls or []:
            assert bool(call.id) == bool(call.function.name) == (call.type == "function")
            self.add_call(call.index, call.function.name, call.function.arguments)


@needs_wheels
@formats
def test_sglang(source: Path, tmp_path: Path) -> None:
    _use("sglang", tuple(SGLANG))
    function_call = importlib.import_module("sglang.srt.function_call.function_call_parser")
    reasoning = importlib.import_module("sglang.srt.parser.reasoning_parser")
    path, read = _plugin(source, "sglang", tmp_path)
    plugin = verify.import_text(path.read_text(encoding="utf-8"))
    plugin.register()  # what load_plugins() does with the entry point
    name = f"{source.stem}_generated"
    for turn in read:
        tools = [_sglang_tool(tool) for tool in turn.tools]
        opened = _opens_reasoning(plugin, turn.prompt)

        def begin(tools: list[Any] = tools, opened: bool | None = opened) -> tuple[Any, Any]:
            first = reasoning.ReasoningParser(
                name, force_reasoning=opened, tool_call_parser_active=bool(tools)
            )
            return first, function_call.FunctionCallParser(tools, name)

        first, second = begin()
        thought, rest = first.parse_non_stream(turn.text)
        content, items = (rest, [])
        if tools and second.has_tool_call(rest):
            content, items = second.parse_non_stream(rest)
        calls = [(item.name, item.parameters) for item in items]
        assert (thought, content, calls) == turn.expected
        for size in PIECES:
            (first, second), merged = begin(), Merged()
            steps = [first.parse_stream_chunk(piece) for piece, _ in _pieces(turn.text, size)]
            for thought, rest in [*steps, first.parse_stream_end()]:
                merged.add_text(thought, "")
                _second_step(second, rest, merged)
            content, items = second.parse_stream_end()
            merged.add_text("", content)
            for item in items:
                merged.add_call(item.tool_index, item.name, item.parameters)
            assert merged.message == turn.expected


def _second_step(second: Any, rest: str, merged: Merged) -> None:
    if not rest:
        return
    content, items = second.parse_stream_chunk(rest)
    merged.add_text("", content)
    for item in items:
        merged.add_call(item.tool_index, item.name, item.parameters)


def _opens_reasoning(plugin: Any, prompt: str) -> bool | None:
    """What SGLang finds out of a prompt: whether it leaves reasoning open; None where it is usual."""
    if prompt == plugin.GENERATION_PROMPTS["default"]:
        return None
    tail = prompt[prompt.rfind(plugin.ASSISTANT_HEADER) :].rstrip()
    opener = plugin.REASONING_START.strip()
    return bool(opener) and tail.endswith(opener)


def _sglang_tool(tool: dict[str, Any]) -> Any:
    function = type("Function", (), {**tool["function"], "strict": False})
    return type("Tool", (), {"function": function})
