"""Plugins for servers against base classes of our own: cheap; `test_frameworks` has the real ones."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from formats import FORMATS

from autoparser_gen import pipeline, verify
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.cli import main
from autoparser_gen.emit.carried import names_given_twice
from autoparser_gen.emit.python import parser_name
from autoparser_gen.grammar.lower import lower
from autoparser_gen.request import Options
from autoparser_gen.targets import TARGETS, Draft

OUTPUT = "<think>\nSunny?\n</think>\n\nI look.\n" + (
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
)
UNCLOSED = OUTPUT.replace("\n</think>\n\nI look.", "")
TOOL = {"name": "weather", "parameters": {"type": "object", "properties": {}}}


class Fields:
    """Stands for the frameworks' pydantic classes."""

    id: Any = None
    type: Any = None
    name: Any = None
    content: Any = None
    reasoning: Any = None
    tool_calls: Any = ()
    normal_text = reasoning_text = ""

    def __init__(self, *args: Any, **fields: Any) -> None:
        vars(self).update(zip(("normal_text", "reasoning_text"), args, strict=False), **fields)


class Base:
    """Stands for the frameworks' parsers and detectors."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        self.model_tokenizer = args[0] if args else None
        self.stream_reasoning = fields.get("stream_reasoning", True)
        self.prev_tool_call_arr: list[Any] = []
        self.streamed_args_for_tool: list[str] = []


class Manager:
    """Stands for the frameworks' registries."""

    known: dict[str, Any] = {}

    @classmethod
    def register_module(cls, name: str, module: Any) -> None:
        """Keep a class."""
        cls.known[name] = module


class Characters:
    """A tokenizer with a token for each character."""

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        """The text of some tokens, special ones too."""
        assert not skip_special_tokens
        return "".join(map(chr, ids))


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> dict[str, types.ModuleType]:
    """The plugins of one format, over the stand-ins."""
    protocol = types.SimpleNamespace(
        **dict.fromkeys(
            [
                "DeltaMessage",
                "DeltaToolCall",
                "DeltaFunctionCall",
                "ToolCall",
                "FunctionCall",
                "ExtractedToolCallInformation",
            ],
            Fields,
        )
    )
    items = types.SimpleNamespace(ToolCallItem=Fields, StreamingParseResult=Fields)
    maps = types.SimpleNamespace(DetectorMap={})
    reasoning = types.SimpleNamespace(
        BaseReasoningFormatDetector=Base, StreamingParseResult=Fields, ReasoningParser=maps
    )
    fakes: dict[str, dict[str, Any]] = {
        "vllm.entrypoints.generate.base": {"protocol": protocol},
        "vllm.reasoning": {"ReasoningParser": Base, "ReasoningParserManager": Manager},
        "vllm.tool_parsers": {"ToolParser": Base, "ToolParserManager": Manager},
        "sglang.srt.function_call": {"core_types": items},
        "sglang.srt.function_call.base_format_detector": {"BaseFormatDetector": Base},
        "sglang.srt.function_call.function_call_parser": {
            "FunctionCallParser": types.SimpleNamespace(ToolCallParserEnum={})
        },
        "sglang.srt.parser": {"reasoning_parser": reasoning},
    }
    for name, members in fakes.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    found = pipeline.find_format(ROOT / "templates" / "qwen3.jinja", Options())
    draft = Draft(found.analysis, None, ())  # type: ignore[arg-type]  # no grammar is printed
    found.prober.renderer.close()
    return {name: verify.import_text(TARGETS[name].emit(draft)) for name in ("vllm", "sglang")}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("target", ["vllm", "sglang"])
def test_no_block_takes_a_name_of_another(target: str, name: str) -> None:
    analysis = FORMATS[name]
    text = TARGETS[target].emit(Draft(analysis, lower(analysis), ()))
    assert names_given_twice(text) == []


def _request(**fields: Any) -> Any:
    tools = [types.SimpleNamespace(function=types.SimpleNamespace(**TOOL))]
    return types.SimpleNamespace(**{"tools": tools, "tool_choice": "auto", **fields})


@pytest.mark.parametrize("size", [1, 7, 999])
def test_vllm_streams(plugins: dict[str, types.ModuleType], size: int) -> None:
    module = plugins["vllm"]
    first = module.GeneratedReasoningParser(Characters())
    second = module.GeneratedToolParser(Characters())
    reasoning = ""
    calls: list[Any] = []
    pieces = [OUTPUT[at : at + size] for at in range(0, len(OUTPUT), size)]
    nothing: list[int] = []
    for piece in pieces:
        if not first.has_engine_confirmed_reasoning_end():
            ids = [nothing] * 3
            delta = first.extract_reasoning_streaming("", "", piece, *ids)
            reasoning += (delta and delta.reasoning) or ""
            piece = (delta and delta.content) or ""
        delta = second.extract_tool_calls_streaming("", "", piece, *[nothing] * 3, _request())
        calls += (delta and delta.tool_calls) or []
    assert first.finish_streaming() is None
    assert second.finish_streaming() is None
    assert reasoning == "Sunny?"
    (call,) = calls
    assert (call.function.name, call.function.arguments) == ("weather", '{"city": "Oslo"}')
    assert call.id.startswith("call_")


def test_vllm_reads_a_call_that_ends_open_reasoning(
    plugins: dict[str, types.ModuleType],
) -> None:
    module = plugins["vllm"]
    parser = module.GeneratedReasoningParser(Characters())
    assert parser.extract_reasoning(UNCLOSED, _request()) == (
        "\nSunny?".strip(),
        UNCLOSED[UNCLOSED.index("\n<tool") :],
    )
    parser.extract_reasoning_streaming("", "", UNCLOSED, [], [], [])
    parser.get_streaming_fallback_content("", _request())
    assert not parser.has_engine_confirmed_reasoning_end()
    (call,) = parser.finish_streaming().tool_calls
    assert call.function.name == "weather"


def test_vllm_tokens(plugins: dict[str, types.ModuleType]) -> None:
    module = plugins["vllm"]
    parser = module.GeneratedReasoningParser(Characters())
    prompts = module.GENERATION_PROMPTS
    assert not parser.is_reasoning_end(list(map(ord, prompts["default"])))
    assert parser.is_reasoning_end(list(map(ord, prompts["no_thinking"])))
    history = f"{prompts['default']}{OUTPUT}{module.END_OF_TURN}\n{prompts['default']}"
    assert not parser.is_reasoning_end(list(map(ord, history)))
    end = OUTPUT.index("I look")
    ids = list(map(ord, OUTPUT))
    assert parser.count_reasoning_tokens(ids) == end
    assert parser.extract_content_ids(ids) == ids[end:]
    closer = OUTPUT.index("</think>") + len("</think>")
    ended = [
        at
        for at in range(1, len(ids))
        if parser.is_reasoning_end_streaming(ids[:at], [ids[at - 1]])
    ]
    assert ended == [closer]


def test_vllm_reads_no_calls_where_none_are_wanted(
    plugins: dict[str, types.ModuleType],
) -> None:
    parser = plugins["vllm"].GeneratedToolParser(Characters())
    text = OUTPUT[OUTPUT.index("I look") :]
    for request in (_request(tool_choice="none"), _request(tools=None)):
        assert parser.extract_tool_calls(text, request).content == text
    assert parser.extract_tool_calls(text, _request(tool_choice="required")).tools_called


@pytest.mark.parametrize("active", [True, False])
def test_sglang(plugins: dict[str, types.ModuleType], active: bool) -> None:
    module = plugins["sglang"]
    first = module.GeneratedReasoningDetector(tool_call_parser_active=active)
    found = first.detect_and_parse(OUTPUT)
    assert found.reasoning_text == "Sunny?"
    assert found.normal_text == OUTPUT[OUTPUT.index("I look") :]
    second = module.GeneratedToolDetector()
    tools = [types.SimpleNamespace(function=types.SimpleNamespace(**TOOL))]
    assert second.has_tool_call(found.normal_text)
    (call,) = second.detect_and_parse(found.normal_text, tools).calls
    assert (call.tool_index, call.name, call.parameters) == (0, "weather", '{"city": "Oslo"}')


def test_sglang_swaps_reasoning_for_content_where_asked(
    plugins: dict[str, types.ModuleType],
) -> None:
    make = plugins["sglang"].GeneratedReasoningDetector
    assert make(force_nonempty_content=True).detect_and_parse("<think>\na").normal_text == "a"
    assert make(force_nonempty_content=True).detect_and_parse(OUTPUT).reasoning_text == "Sunny?"
    quiet = make(stream_reasoning=False)
    assert quiet.parse_streaming_increment("<think>\na").reasoning_text == ""
    assert quiet.finish().reasoning_text == "a"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("qwen3.jinja", "qwen3_generated"),
        ("Qwen2.5-7B-Instruct", "qwen2_5_7b_instruct_generated"),
        ("model-Q4_K_M.GGUF", "model_q4_k_m_generated"),
        ("hf:Qwen/Qwen2.5-7B", "qwen2_5_7b_generated"),
        ("-", "generated"),
    ],
)
def test_the_name_that_servers_know(source: str, name: str) -> None:
    assert parser_name(Analysis(source, "")) == name


def test_the_end_of_a_name_says_which_plugin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(ROOT / "templates" / "qwen3.jinja")
    names = ("a_vllm.py", "a_sglang.py")
    with pytest.raises(SystemExit) as done:
        main([source, "--no-verify", *(w for n in names for w in ("-o", str(tmp_path / n)))])
    assert done.value.code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    for name, base in zip(names, ("ToolParser", "BaseFormatDetector"), strict=True):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert f"({base})" in text
        assert 'PARSER_NAME = "qwen3_generated"' in text
        compile(text, name, "exec")
    # Their base classes are the servers', which are not installed here.
    options = ["--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
    mypy = [sys.executable, "-m", "mypy", *options, *names]
    checked = subprocess.run(mypy, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
