"""The command line: what is written, what is said, and with which exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import Runner

from autoparser_gen import cli, pipeline, verify
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.errors import GrammarError, VerificationError
from autoparser_gen.grammar import lower as grammar_lower

HERMES = Path(__file__).parents[1] / "templates" / "hermes_2_pro.jinja"
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def files_in(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


# ---- What is written ----


def test_a_module_comes_with_its_grammar(run: Runner, tmp_path: Path) -> None:
    done = run(HERMES, "-o", "x_parser.py")
    assert done.status == 0
    assert done.out.startswith("created x_parser.py\ncreated x_parser.lark\nverified: ")
    assert files_in(tmp_path) == ["x_parser.lark", "x_parser.py"]


def test_several_outputs(run: Runner, tmp_path: Path) -> None:
    assert run(HERMES, "-o", "a/x.gbnf", "-o", "b/x.json", "-o", "x.lark").status == 0
    assert files_in(tmp_path) == ["a/x.gbnf", "b/x.json", "x.lark"]
    assert json.loads((tmp_path / "b/x.json").read_text())["source"] == "hermes_2_pro.jinja"


def test_the_second_run_writes_nothing_and_says_so(run: Runner, tmp_path: Path) -> None:
    run(HERMES, "-o", "x_parser.py", "-o", "x.gbnf")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = run(HERMES, "-o", "x_parser.py", "-o", "x.gbnf")
    assert again.status == 0
    assert again.out.startswith("nothing changed: 3 files up to date\n")
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_a_header_holds_no_path(run: Runner, tmp_path: Path) -> None:
    run(HERMES, "-o", tmp_path / "deep" / "x_parser.py")
    text = (tmp_path / "deep" / "x_parser.py").read_text()
    assert "autoparser-gen hermes_2_pro.jinja -o x_parser.py" in text
    assert str(tmp_path) not in text
    assert str(HERMES.parent) not in text


def test_a_folder(run: Runner, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name in ("One.2-x.jinja", "two.jinja"):
        (source / name).write_text(HERMES.read_text())
    done = run("in", "-o", "out")
    assert done.status == 0
    assert done.err == ""
    endings = ["one_2_x.gbnf", "one_2_x.json", "one_2_x_parser.lark", "one_2_x_parser.py"]
    assert files_in(tmp_path / "out" / "one_2_x") == endings
    assert run("in", "-o", "out").out == "nothing changed: 8 files up to date\n"


def test_a_folder_and_a_file_give_the_same_bytes(run: Runner, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "hermes_2_pro.jinja").write_bytes(HERMES.read_bytes())
    run("in", "-o", "out")
    folder = tmp_path / "out" / "hermes_2_pro"
    run(
        HERMES, "-o", "hermes_2_pro_parser.py", "-o", "hermes_2_pro.gbnf", "-o", "hermes_2_pro.json"
    )
    for name in files_in(folder):
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("target", ["python", "lark", "gbnf", "json"])
def test_printing(run: Runner, tmp_path: Path, target: str) -> None:
    done = run(HERMES, "-o", "-", "--target", target)
    assert done.status == 0
    assert done.err == ""
    assert "hermes_2_pro.jinja" in done.out
    assert files_in(tmp_path) == []


def test_what_a_grammar_cannot_say_is_a_warning(run: Runner, tmp_path: Path) -> None:
    parameters = {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True}}}
    tool = {"type": "function", "function": {"name": "look", "parameters": parameters}}
    (tmp_path / "tools.json").write_text(json.dumps([tool]))
    done = run(HERMES, "-o", "-", "--target", "gbnf", "--tools", "tools.json")
    assert done.status == 0
    assert done.err.startswith("warning: ")
    assert "uniqueItems" in done.err


# ---- --check ----


def test_check_shows_a_diff_and_writes_nothing(run: Runner, tmp_path: Path) -> None:
    missing = run(HERMES, "-o", "x_parser.py", "--check")
    assert missing.status == 1
    assert "--- /dev/null\n+++ x_parser.py\n" in missing.out
    assert "would be created x_parser.lark" in missing.out
    assert files_in(tmp_path) == []

    run(HERMES, "-o", "x_parser.py")
    assert run(HERMES, "-o", "x_parser.py", "--check").status == 0
    grammar = tmp_path / "x_parser.lark"
    grammar.write_text(grammar.read_text() + "// by hand\n")
    changed = run(HERMES, "-o", "x_parser.py", "--check")
    assert changed.status == 1
    assert "-// by hand\n" in changed.out
    assert "by hand" in grammar.read_text()


def test_check_reports_orphans(run: Runner, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name in ("a.jinja", "b.jinja"):
        (source / name).write_text(HERMES.read_text())
    run("in", "-o", "out")
    (source / "b.jinja").unlink()
    done = run("in", "-o", "out", "--check")
    assert done.status == 1
    assert "orphan out/b/b_parser.py: " in done.out
    assert (tmp_path / "out/b/b_parser.py").exists()


# ---- --inspect ----


def test_inspect_shows_the_turn_and_the_fields(run: Runner, tmp_path: Path) -> None:
    done = run(HERMES, "--inspect")
    assert done.status == 0
    assert 'tools.format.per_call_start                "<tool_call>\\n"' in done.out
    assert "1 call / 2 calls" in done.out
    assert files_in(tmp_path) == []


def test_inspect_as_json_is_the_analysis(run: Runner, tmp_path: Path) -> None:
    run(HERMES, "-o", "x.json")
    assert run(HERMES, "--inspect", "--json").out == (tmp_path / "x.json").read_text()


def test_inspect_a_folder_gives_a_row_for_each(run: Runner, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.jinja").write_text(HERMES.read_text())
    (source / "b.jinja").write_text("{{ raise_exception('never') }}")
    done = run("in", "--inspect", "--json")
    assert done.status == 0
    first, second = json.loads(done.out)
    assert (first["template"], first["result"], first["tools"]) == (
        "a.jinja",
        "verified",
        "JSON_NATIVE",
    )
    assert first["turns"] > 10
    assert (second["template"], second["result"]) == ("b.jinja", "refused")
    assert "never" in second["error"]
    assert "| a.jinja       | verified | NONE " in run("in", "--inspect").out


# ---- What goes wrong ----

REFUSED = {
    "missing file": ("nosuch.jinja", 3, "nosuch.jinja: cannot be read: No such file"),
    "no template": ("text.jinja", 3, "text.jinja: no chat template"),
    "not text": ("binary.jinja", 3, "binary.jinja: not a text file"),
    "syntax error": ("broken.jinja", 3, "broken.jinja:2: not a valid Jinja chat template"),
    "always raises": ("raises.jinja", 3, "go away"),
    "no assistant turn": ("mute.jinja", 3, "renders no assistant message"),
    "no messages": ("deaf.jinja", 3, "shows no user message"),
    "no JSON": ("tokenizer_config.json", 3, "not valid JSON"),
}


@pytest.fixture
def bad_templates(tmp_path: Path) -> None:
    users = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}"
    for name, content in {
        "text.jinja": "just text",
        "broken.jinja": "{{ messages }}\n{% for %}",
        "raises.jinja": "{{ raise_exception('go\naway \x1b[2J now') }}",
        "mute.jinja": users,
        "deaf.jinja": "{{ 'hello' }}",
        "tokenizer_config.json": '{"chat_template": ',
    }.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "binary.jinja").write_bytes(b"\xff\xfe{{}}")


@pytest.mark.usefixtures("bad_templates")
@pytest.mark.parametrize("case", REFUSED)
def test_bad_chat_templates(run: Runner, tmp_path: Path, case: str) -> None:
    name, status, message = REFUSED[case]
    before = files_in(tmp_path)
    done = run(name, "-o", "x_parser.py")
    assert done.status == status
    assert message in done.err
    assert done.err.startswith("autoparser-gen: ")
    assert done.err.count("\n") == 1
    assert "\x1b" not in done.err
    assert done.out == ""
    assert files_in(tmp_path) == before


WRONG_USE: dict[str, tuple[list[object], str]] = {
    "nothing to do": ([HERMES], "nothing to do"),
    "unknown suffix": ([HERMES, "-o", "x.txt"], "-o x.txt: unknown suffix '.txt'"),
    "no suffix": ([HERMES, "-o", "x"], "-o x: no suffix"),
    "printing without target": ([HERMES, "-o", "-"], "needs --target"),
    "printing and writing": ([HERMES, "-o", "-", "--target", "lark", "-o", "x.py"], "no other -o"),
    "target without printing": ([HERMES, "-o", "x.py", "--target", "lark"], "--target goes with"),
    "unknown option": ([HERMES, "--nosuch"], "No such option"),
    "json without inspect": ([HERMES, "--json"], "--json goes with --inspect"),
    "inspect with output": ([HERMES, "--inspect", "-o", "x.py"], "--inspect generates nothing"),
    "a folder into a file": ([HERMES.parent, "-o", "x.py"], "name a folder"),
    "printing a folder": ([HERMES.parent, "-o", "-", "--target", "lark"], "give one -o"),
    "printing a folder, without target": ([HERMES.parent, "-o", "-"], "is a folder: -o - prints"),
    "into a folder": ([HERMES, "-o", "."], "-o .: is a folder. Name a file in it"),
    "an empty path": (["", "-o", "x.py"], "the path is empty"),
    "an empty path to write": ([HERMES, "-o", ""], "the path is empty"),
    "an empty folder": ([".", "-o", "out"], "neither a model's folder"),
    "tools missing": ([HERMES, "-o", "x.gbnf", "--tools", "no.json"], "--tools no.json: cannot be"),
    "choice without tools": (
        [HERMES, "-o", "x.gbnf", "--tool-choice", "look"],
        "no tools are given",
    ),
    "variant of a jinja": ([HERMES, "-o", "x.py", "--variant", "tool_use"], "Leave the option out"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use(run: Runner, tmp_path: Path, case: str) -> None:
    words, message = WRONG_USE[case]
    done = run(*words)
    assert done.status == (3 if "--variant" in words else 2)
    assert message in done.err
    assert done.err.count("\n") == 1
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_no_input_is_replaced(run: Runner, tmp_path: Path, force: tuple[str]) -> None:
    (tmp_path / "x.py").write_text(HERMES.read_text())
    (tmp_path / "x.json").write_text(json.dumps(TOOLS))
    (tmp_path / "x.gbnf").write_text("{}")
    (tmp_path / "link.json").symlink_to("x.json")
    for words in (
        ["x.py", "-o", "x.py"],
        [HERMES, "-o", "x.json", "--tools", "x.json"],
        [HERMES, "-o", "link.json", "--tools", "x.json"],
        [HERMES, "-o", "x.gbnf", "--response-schema", "x.gbnf"],
    ):
        done = run(*words, *force)
        assert done.status == 2
        assert "is an input of this command" in done.err
    assert (tmp_path / "x.py").read_text() == HERMES.read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_standard_output_that_takes_nothing() -> None:
    code = "from autoparser_gen.cli import main; main()"
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, str(HERMES), "-o", "-", "--target", "lark"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(
        "autoparser-gen: standard output cannot be written: No space left"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["my-parser.py", "class.py", "3x.py", "json.py"])
def test_names_that_cannot_be_imported_are_noted(run: Runner, name: str) -> None:
    done = run(HERMES, "-o", name)
    assert done.status == 0
    assert f"note: {name} " in done.out
    assert "note: " not in run(HERMES, "-o", "my_parser.py").out


def test_a_byte_order_mark_is_no_part_of_the_text(run: Runner, tmp_path: Path) -> None:
    config = json.dumps({"chat_template": HERMES.read_text()})
    (tmp_path / "a.json").write_text(config, encoding="utf-8-sig")
    (tmp_path / "b.json").write_text(config)
    texts = [run(name, "-o", "-", "--target", "lark").out for name in ("a.json", "b.json")]
    assert texts[0].replace("a.json", "b.json") == texts[1]


@pytest.mark.parametrize(
    ("content", "choice", "message"),
    [
        ("[", "auto", "tools.json:1:2: not valid JSON"),
        ("{}", "auto", "--tools tools.json: the object has no list of tools"),
        ('[{"name": 1}]', "auto", "--tools tools.json: tool 1 of the list has no function"),
        (json.dumps(TOOLS), "fly", "no tool is named 'fly'; the list has: look"),
    ],
)
def test_bad_tools(run: Runner, tmp_path: Path, content: str, choice: str, message: str) -> None:
    (tmp_path / "tools.json").write_text(content)
    done = run(HERMES, "-o", "x.gbnf", "--tools", "tools.json", "--tool-choice", choice)
    assert done.status == 2
    assert message in done.err
    assert files_in(tmp_path) == ["tools.json"]


def one_tool(name: str = "look", properties: Any = None) -> list[Any]:
    schema = {"type": "object", "properties": properties or {}}
    return [{"type": "function", "function": {"name": name, "parameters": schema}}]


# By what is at fault: the chat template, what is asked of it, the tools, and what is said.
FAULTS_OF_REQUESTS: dict[str, tuple[str, list[str], Any, str]] = {
    "no tool, but a call": (
        "qwen3",
        ["--tool-choice", "required"],
        [],
        "qwen3.jinja with --tools tools.json: a tool call is required, but there is no tool that"
        " could be called. Give tools that the tool choice permits, or make the tool choice auto",
    ),
    "no calls, but a call": (
        "gemma_2",
        ["--tool-choice", "required"],
        one_tool(),
        "gemma_2.jinja with --tools tools.json: a tool call is required, but the chat template"
        " renders none. Take another chat template",
    ),
    "no tool, but lazy": (
        "qwen3",
        ["--lazy", "--tool-choice", "none"],
        one_tool(),
        "a lazy grammar begins at a tool call, but there is no tool that could be called. Give tools"
        " that the tool choice permits, or ask for a grammar that is not lazy.",
    ),
    "a tag without a tool": (
        "qwen3",
        ["-o", "x.structural_tag.json", "--tool-choice", "required", "--no-verify"],
        [],
        "there is no tool that could be called. Give tools",
    ),
    "no format for a tag": (
        "qwen3_coder",
        ["-o", "x.structural_tag.json"],
        one_tool(),
        "-o x.structural_tag.json: qwen3_coder.jinja: the format cannot be a structural tag:"
        " arguments are not written as one JSON object."
        " xgrammar reads its grammar instead: -o FILE.lark --portable.",
    ),
    "a name of a tool": (
        "qwen3_coder",
        [],
        one_tool("look up"),
        "qwen3_coder.jinja with --tools tools.json: the tool 'look up': in this format a name ends"
        " before ' '. Rename it in the tools.",
    ),
    "a name of an argument": (
        "lfm2_5",
        [],
        one_tool(properties={"a b": {}}),
        "the argument of 'look' 'a b': in this format a name ends before ' '. Rename it",
    ),
    "a name in nested tags": (
        "minimax_m3",
        [],
        one_tool(properties={"x": {"type": "object", "properties": {"a b": {}}}}),
        "the key 'a b': in this format a name ends before ' '. Rename it",
    ),
    "a schema": (
        "qwen3",
        [],
        one_tool(properties={"x": {"minLength": "5"}}),
        "qwen3.jinja with --tools tools.json: schema of look: minLength must be",
    ),
}


@pytest.mark.parametrize("case", FAULTS_OF_REQUESTS)
def test_faults_of_a_request_are_not_the_chat_templates(
    run: Runner, tmp_path: Path, case: str
) -> None:
    stem, words, tools, message = FAULTS_OF_REQUESTS[case]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    output = [] if "-o" in words else ["-o", "x.gbnf"]
    done = run(HERMES.with_name(f"{stem}.jinja"), *output, *words, "--tools", "tools.json")
    assert message in done.err
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert files_in(tmp_path) == ["tools.json"]


def test_a_request_that_some_formats_of_a_folder_cannot_write(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for stem in ("qwen3", "qwen3_coder"):
        text = HERMES.with_name(f"{stem}.jinja").read_text(encoding="utf-8")
        (tmp_path / f"in/{stem}.jinja").write_text(text, encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps(one_tool("look up")))
    done = run("in", "-o", "out", "--tools", "tools.json", "--no-verify")
    assert done.status == 2
    assert "qwen3_coder.jinja with --tools tools.json: the tool 'look up'" in done.err
    assert "1 of 2 chat templates failed; nothing was written." in done.err


def test_a_fault_of_a_schema_names_its_file(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type": "text"}')
    done = run(HERMES, "-o", "x.gbnf", "--response-schema", "s.json")
    assert done.status == 2
    assert "hermes_2_pro.jinja with --response-schema s.json: schema of content-value:" in done.err
    assert "'text' is no type of JSON Schema. Its types are " in done.err


def test_a_format_that_makes_no_sound_grammar_is_not_the_requests_fault(
    run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(grammar: object) -> None:
        raise GrammarError("rule 'x' repeats something.")

    monkeypatch.setattr(grammar_lower, "check", refuse)
    done = run(HERMES, "-o", "x.gbnf")
    assert done.status == 3
    assert "hermes_2_pro.jinja: rule 'x' repeats something. --inspect shows" in done.err


def test_tools_that_no_grammar_is_for(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    done = run(HERMES.with_name("gemma_2.jinja"), "-o", "x.gbnf", "--tools", "tools.json")
    assert done.status == 0
    assert "warning: the chat template renders no calls, so the tools change nothing" in done.err


def test_tools_without_the_object_around_them(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([tool["function"] for tool in TOOLS]))
    flat = run(HERMES, "-o", "-", "--target", "gbnf", "--tools", "tools.json")
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    wrapped = run(HERMES, "-o", "-", "--target", "gbnf", "--tools", "tools.json")
    assert (flat.status, flat.out) == (0, wrapped.out)


@pytest.mark.parametrize("option", ["--portable", "--special-tokens"])
def test_options_for_lark_without_lark(run: Runner, option: str) -> None:
    done = run(HERMES, "-o", "x.gbnf", option)
    assert done.status == 2
    assert f"{option} changes only grammars for Lark" in done.err


def test_a_lazy_grammar_that_nothing_triggers(run: Runner) -> None:
    bare = run(HERMES.with_name("llama_3_1.jinja"), "-o", "x.gbnf", "--lazy")
    assert bare.status == 0
    assert "nothing can trigger the lazy grammar" in bare.out + bare.err
    assert "trigger" not in run(HERMES, "-o", "y.gbnf", "--lazy").err


def test_two_chat_templates_of_one_stem(run: Runner, tmp_path: Path) -> None:
    for name in ("a-b.jinja", "a_b.jinja"):
        (tmp_path / name).write_text(HERMES.read_text())
    done = run(".", "-o", "out")
    assert done.status == 2
    assert "both give a_b/" in done.err


def test_one_bad_chat_template_in_a_folder(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/good.jinja").write_text(HERMES.read_text())
    (tmp_path / "in/bad.jinja").write_text("{{ raise_exception('never') }}")
    done = run("in", "-o", "out")
    assert done.status == 3
    assert "bad.jinja" in done.err
    assert "1 of 2 chat templates failed; nothing was written." in done.err
    assert not (tmp_path / "out").exists()


def test_an_unwritable_folder(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    done = run(HERMES, "-o", "x_parser.py")
    assert done.status == 1
    assert "no permission to write" in done.err
    assert done.err.count("\n") == 1
    assert files_in(tmp_path) == []


def test_a_file_that_is_not_ours_needs_force(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "x_parser.lark").write_text("mine\n")
    done = run(HERMES, "-o", "x_parser.py")
    assert done.status == 1
    assert "x_parser.lark: exists and was not generated" in done.err
    assert files_in(tmp_path) == ["x_parser.lark"]
    assert run(HERMES, "-o", "x_parser.py", "--force").status == 0


def test_failed_verification_writes_nothing(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise VerificationError("x: verification failed\n  expected  a\n  got       b")

    monkeypatch.setattr(verify, "verify", fail)
    done = run(HERMES, "-o", "x_parser.py")
    assert done.status == 4
    assert done.err.splitlines()[1:] == ["  expected  a", "  got       b"]
    assert files_in(tmp_path) == []
    unverified = run(HERMES, "-o", "x_parser.py", "--no-verify")
    assert unverified.status == 0
    assert "not verified" in unverified.out
    for name in files_in(tmp_path):
        assert "not verified" in (tmp_path / name).read_text()


def test_a_bug_of_ours_is_one_line(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise KeyError("oops\n\x1b")

    monkeypatch.setattr(pipeline, "find_format", crash)
    done = run(HERMES, "-o", "x_parser.py")
    assert done.status == 3
    assert "internal error: KeyError" in done.err
    assert done.err.count("\n") == 1


def test_verbose_shows_where_a_bug_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(pipeline, "find_format", crash)
    with pytest.raises(SystemExit):
        cli.main([str(HERMES), "-o", "x_parser.py", "-v"])
    assert "Traceback" in capsys.readouterr().err


def test_verbose_logs_comparisons(run: Runner) -> None:
    done = run(HERMES, "--inspect", "-v")
    assert "tools.format.per_call_start: 1 call / 2 calls: prefix " in done.err
    assert "per_call_start" in done.out


# ---- As a program ----


def test_help_and_version_import_nothing_slow() -> None:
    code = "import sys, autoparser_gen.cli; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"jinja2", "lark", "black", "concurrent.futures"} & set(loaded)


def test_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "autoparser_gen", "--version"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.startswith("autoparser-gen ")


@pytest.mark.parametrize("seconds", ["nan", "inf", "0"])
def test_a_time_limit_is_a_number_of_seconds(run: Runner, seconds: str) -> None:
    done = run(HERMES, "--inspect", "--max-seconds", seconds)
    assert done.status == 2
    assert "--max-seconds" in done.err


def test_a_grammar_that_is_there_is_not_made_again(
    run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    lowered: list[object] = []
    lower = grammar_lower.lower

    def counted(analysis: Analysis, **asked: Any) -> Any:
        lowered.append(analysis.source)
        return lower(analysis, **asked)

    monkeypatch.setattr(pipeline, "lower", counted)
    assert run(HERMES, "-o", "x_parser.py").status == 0
    assert lowered == ["hermes_2_pro.jinja"]


@pytest.mark.parametrize(
    "words",
    [
        ("--tools", "tools.json"),
        ("--tool-choice", "required"),
        ("--no-parallel-tool-calls",),
        ("--response-schema", "schema.json"),
        ("--thinking", "off"),
        ("--lazy",),
    ],
    ids=lambda words: words[0],
)
def test_options_for_grammars_without_a_grammar(
    run: Runner, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """They are no silent part of a command that writes nothing they change."""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "schema.json").write_text('{"type": "object"}')
    for output in ("x.json", "x.response_template.json", "x_vllm.py"):
        done = run(HERMES, "-o", output, *words)
        assert (done.status, list(tmp_path.glob("x*"))) == (2, [])
        assert f"{words[0]} changes only grammars: -o FILE.gbnf, or -o FILE.lark." in done.err
    if words[0] not in ("--lazy", "--response-schema"):  # these change no structural tag
        tools = () if words[0] == "--tools" else ("--tools", "tools.json")
        assert run(HERMES, "-o", "x.structural_tag.json", *tools, *words).status == 0
    else:
        done = run(HERMES, "-o", "x.structural_tag.json", "--tools", "tools.json", *words)
        assert (done.status, "changes only grammars" in done.err) == (2, True)
