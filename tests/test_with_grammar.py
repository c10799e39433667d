"""Modules that print grammars for the tools of a request: what the command line prints, alone.

Formats of some families are taken; with AUTOPARSER_SAMPLES (see .ci/full) all of templates/.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import types
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import Runner
from conftest import ROOT
from engines.tool_sets import TOOL_SETS
from formats import FORMATS
from parsers import SOURCES

from autoparser_gen import pipeline, verify
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit import python
from autoparser_gen.emit.carried import carried_for, names_given_twice
from autoparser_gen.errors import GrammarError, VerificationError
from autoparser_gen.header import header
from autoparser_gen.request import JsonFile, Options, Output, Request
from autoparser_gen.targets import TARGETS, Draft, GrammarCommands

FULL = "AUTOPARSER_SAMPLES" in os.environ
QWEN3 = SOURCES["qwen3"]
FAMILIES = ("json in tags", "raw values", "custom quotes", "python list", "channels")
COMMANDS = GrammarCommands({"gbnf": ["-o", "x.gbnf"], "lark": ["-o", "x.lark"]}, {}, ())
SCHEMA = {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}


def _tools(name: str) -> JsonFile:
    return JsonFile("tools.json", TOOL_SETS[name].tools)


ASKED = {
    "anything": Options(),
    "required": Options(tools=_tools("every type"), tool_choice="required", thinking=False),
    "one, alone": Options(tools=_tools("names that begin alike"), parallel=False, portable=True),
    "at the trigger": Options(tools=_tools("nested and recursive"), lazy=True, special_tokens=True),
    "no call": Options(tools=_tools("one tool"), tool_choice="none", thinking=True),
    "a schema": Options(response_schema=JsonFile("schema.json", SCHEMA)),
}


@functools.cache
def _analysis(name: str) -> Analysis:
    return pipeline.find_format(SOURCES[name], Options()).analysis if FULL else FORMATS[name]


@functools.cache
def _module(name: str) -> tuple[str, types.ModuleType]:
    text = python.emit(_analysis(name), [], commands=COMMANDS)
    return text, verify.import_text(text)


def _printed(target: str, analysis: Analysis, options: Options) -> str | None:
    """What the command line prints; None where it refuses to."""
    lines = header(
        format_version=1,
        source=analysis.source,
        sha256=analysis.sha256,
        command=["autoparser-gen", analysis.source, *COMMANDS.outputs[target], *options.words()],
    )
    try:
        grammar = pipeline.lower_for(analysis, options)
    except GrammarError:
        return None
    draft = Draft(analysis, grammar, lines, options.portable, options.special_tokens)
    try:
        return TARGETS[target].emit(draft)
    except GrammarError:
        return None


@pytest.mark.parametrize("name", list(SOURCES) if FULL else FAMILIES)
def test_a_module_prints_what_the_command_line_prints(name: str) -> None:
    module = _module(name)[1]
    for asked in ASKED.values():
        # The module's header has the options of the target alone.
        for target in ("gbnf", "lark"):
            options = asked if target == "lark" else _without_dialect(asked)
            expected = _printed(target, _analysis(name), options)
            if expected is not None:
                verify.check_grammar(module, target, options, expected)
            else:
                with pytest.raises(module.GrammarError):
                    verify.check_grammar(module, target, options, "")


def _without_dialect(options: Options) -> Options:
    return replace(options, portable=False, special_tokens=False)


def test_the_command_writes_such_a_module_and_the_same_grammars(
    run: Runner, tmp_path: Path
) -> None:
    tools = TOOL_SETS["every type"].tools
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    assert run(QWEN3, "-o", "a.py", "-o", "a.gbnf", "--with-grammar", "--no-verify").status == 0
    (tmp_path / "b").mkdir()
    shape = ["--tools", "tools.json", "--tool-choice", "required", "--thinking", "off"]
    assert run(QWEN3, "-o", "b/a.gbnf", "-o", "b/a.lark", *shape, "--no-verify").status == 0
    text = (tmp_path / "a.py").read_text()
    module = verify.import_text(text)
    assert "-o a.py --no-verify --with-grammar" in text
    assert module.gbnf() == (tmp_path / "a.gbnf").read_text()
    assert module.lark() == (tmp_path / "a.lark").read_text()
    asked: dict[str, Any] = {"tool_choice": "required", "thinking": False}
    assert module.gbnf(tools, **asked) == (tmp_path / "b/a.gbnf").read_text()
    assert module.lark(tools, **asked) == (tmp_path / "b/a.lark").read_text()


def test_verification_compares_the_grammars() -> None:
    found = pipeline.find_format(QWEN3, Options())
    output = Output(Path("x_parser.py"), TARGETS["python"])
    options = Options(with_grammar=True, tools=JsonFile("x.json", TOOL_SETS["one tool"].tools))
    request = Request(QWEN3, (output,), options)
    grammar = pipeline.lower_for(found.analysis, request.options)
    text = pipeline._emit(output, request, found, grammar)
    pipeline._verify_grammars({output.path: text}, request, found, grammar)
    other = text.replace('start="<think>\\n"', 'start="<thought>\\n"')
    assert other != text
    with pytest.raises(VerificationError, match=r"the module's gbnf\(\) prints another grammar"):
        pipeline._verify_grammars({output.path: other}, request, found, grammar)


def test_it_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text(_module("qwen3" if FULL else FAMILIES[0])[0])
    code = (
        "import sys; sys.path.insert(0, '.'); import alone; alone.gbnf([]); alone.lark();"
        "print([m for m in ('autoparser_gen', 'lark', 'jinja2', 'black') if m in sys.modules])"
    )
    # Isolated and without site-packages: nothing of the kind could be imported.
    words = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_a_grammar_cannot_express_is_a_warning_at_the_caller() -> None:
    module = _module("qwen3" if FULL else FAMILIES[0])[1]
    parameters = {"type": "object", "properties": {"x": {"type": "string", "not": {}}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    for function in (module.gbnf, module.lark):
        with pytest.warns(UserWarning, match="not is not enforced") as said:
            function(tools)
        assert [warning.filename for warning in said] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module.gbnf(TOOL_SETS["every type"].tools)


@pytest.mark.parametrize(
    ("tools", "choice"), [("x", "auto"), ([{}], "auto"), ([], "required"), (None, "f")]
)
def test_a_request_without_a_sound_grammar_is_an_error(tools: Any, choice: str) -> None:
    module = _module("qwen3" if FULL else FAMILIES[0])[1]
    with pytest.raises(module.GrammarError):
        module.gbnf(tools, choice)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "its function's name"),
        ({"tool_choice": None}, "without any it is auto"),
        ({"parallel": None}, "give True or False"),
        ({"thinking": "on"}, "give True or False, or None"),
        (
            {"response_schema": {"type": "json_schema", "json_schema": {"schema": {}}}},
            "give the schema that is in it",
        ),
    ],
    ids=str,
)
def test_a_field_of_an_api_s_request_is_not_taken_for_another(
    given: dict[str, Any], said: str
) -> None:
    """An error says what goes in its place."""
    module = _module("qwen3" if FULL else FAMILIES[0])[1]
    tools = [{"type": "function", "function": {"name": "f"}}]
    for function in (module.gbnf, module.lark):
        with pytest.raises(module.GrammarError, match=said):
            function(tools, **given)


def test_without_the_flag_nothing_of_it_is_in_the_file() -> None:
    committed = (ROOT / "generated/qwen3/qwen3_parser.py").read_text()
    for word in ("gbnf", "GrammarError", "ANALYSIS", "emit/", "grammar/", "import warnings"):
        assert word not in committed


def test_carried_code_is_the_same_in_every_module() -> None:
    blocks = list(carried_for("autoparser_gen.emit.skeletons.grammars").blocks())
    texts = [_module(name)[0] for name in (("qwen3", "gpt_oss") if FULL else FAMILIES[:2])]
    assert len(blocks) > 20
    assert all("autoparser_gen" not in block for block in blocks)
    assert all(block in text for block in blocks for text in texts)


def test_the_page_says_how_many_lines_that_is() -> None:
    blocks = carried_for("autoparser_gen.emit.skeletons.grammars").blocks()
    count = sum(block.count("\n") + 3 for block in blocks)  # with the empty lines between them
    [said] = re.findall(
        r"about ([\d,]+) lines in blocks", (ROOT / "docs/with_grammar.md").read_text()
    )
    assert abs(int(said.replace(",", "")) - count) < count / 10


def test_names_given_twice_are_found() -> None:
    text = "import re\nfrom a import b\nX = 1\n\ndef re(): ...\n\nclass X: ...\n\nY: int = 1\n"
    assert names_given_twice(text) == ["X", "re"]


def test_the_flag_goes_with_a_module(run: Runner) -> None:
    done = run(QWEN3, "-o", "x.gbnf", "--with-grammar")
    assert done.status == 2
    assert "--with-grammar goes with a parser module" in done.err


@pytest.mark.skipif(not FULL, reason="takes long; see .ci/full")
def test_such_a_module_is_typed_and_formatted(tmp_path: Path) -> None:
    for name in ("qwen3", "gpt_oss", "lfm2", "minimax_m3"):
        (tmp_path / f"{name}.py").write_text(_module(name)[0])
    config = ["--config", str(ROOT / "pyproject.toml")]
    for tool in (["mypy", "--strict"], ["black", "--check", *config], ["ruff", "check", *config]):
        words = [sys.executable, "-m", *tool, *map(str, tmp_path.glob("*.py"))]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
