"""`autoparser-gen diff OLD NEW`: what is said of a change, and with which exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Runner

TEMPLATES = Path(__file__).parents[1] / "templates"
GENERATED = Path(__file__).parents[1] / "generated"
QWEN3 = TEMPLATES / "qwen3.jinja"
ANALYSIS = GENERATED / "qwen3" / "qwen3.json"  # of it; quicker than to analyse it again


def written(name: str, text: str) -> Path:
    Path(name).write_text(text, encoding="utf-8")
    return Path(name)


def respelled(old: str, new: str) -> Path:
    text = QWEN3.read_text("utf-8")
    assert old in text
    return written("new.jinja", text.replace(old, new))


def test_the_same_chat_template(run: Runner) -> None:
    status, out, _ = run("diff", QWEN3, QWEN3)
    assert (status, out) == (0, f"{QWEN3} -> {QWEN3}: the same format (the same chat template)\n")


def test_another_text_of_the_same_format(run: Runner) -> None:
    new = written("new.jinja", "{# a remark #}" + QWEN3.read_text("utf-8"))
    status, out, _ = run("diff", ANALYSIS, new)
    assert status == 0
    assert "the same format (the text of the chat template changed)" in out


def test_a_marker_is_named_once(run: Runner) -> None:
    status, out, _ = run("diff", ANALYSIS, respelled("tool_call>", "tool>"))
    assert status == 1
    assert out.splitlines()[1:7] == [
        "",
        "Calls",
        r'  tools.format.per_call_start: "<tool_call>\n" -> "<tool>\n"',
        r'  tools.format.per_call_end: "\n</tool_call>" -> "\n</tool>"',
        "",
        "Changed by these alone: joints.call_to_call, joints.call_to_end, joints.content_to_call,"
        " joints.prompt_to_call, joints.reasoning_to_call, preserved_tokens, triggers",
    ]


def test_whitespace_between_parts_is_a_change_of_its_own(run: Runner) -> None:
    new = respelled(r'</think>\n\n" + answer', r'</think>\n" + answer')
    status, out, _ = run("diff", ANALYSIS, new)
    assert status == 1
    assert r'  reasoning.end: "\n</think>\n\n" -> "\n</think>\n"' in out


def test_another_kind_of_calls_is_said_in_words(run: Runner) -> None:
    old, new = TEMPLATES / "qwen3_coder.jinja", ANALYSIS
    status, out, _ = run("diff", old, new)
    assert status == 1
    assert "    TAG_WITH_TAGGED (name, argument names and values in markup)\n" in out
    assert "    -> JSON_NATIVE (name and arguments in one JSON value)\n" in out
    assert '  reasoning.start: nothing -> "<think>\\n"\n' in out
    assert "  tools.arguments.python_words: yes -> no\n" in out
    assert '  preserved_tokens: no longer "<function="\n' in out
    assert '  preserved_tokens: now "<think>"\n' in out


def test_an_analysis_is_as_good_as_its_chat_template(run: Runner) -> None:
    for words in (
        (QWEN3, GENERATED / "qwen3" / "qwen3.json"),
        (GENERATED / "qwen3/qwen3.json",) * 2,
    ):
        status, out, _ = run("diff", *words)
        assert status == 0
        assert "the same format (the same chat template)" in out


def test_a_model_folder(run: Runner, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    config = {"chat_template": QWEN3.read_text("utf-8"), "eos_token": "<|im_end|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    for source in (folder, folder / "tokenizer_config.json"):
        assert run("diff", ANALYSIS, source)[0] == 0


def test_a_file_named_diff_is_a_chat_template_too(run: Runner) -> None:
    written("diff", QWEN3.read_text("utf-8"))
    assert run("./diff", "--no-verify", "-o", "x.json").status == 0
    assert Path("x.json").exists()
    assert run("diff", "diff", "x.json").status == 0


REFUSED: dict[str, tuple[list[object], int, str]] = {
    "one side": ([QWEN3], 2, "Missing argument 'NEW'. See autoparser-gen diff --help."),
    "a folder": ([TEMPLATES, QWEN3], 2, "is a folder of chat templates"),
    "missing": (["no.jinja", ANALYSIS], 3, "no.jinja: cannot be read"),
    "missing JSON": ([ANALYSIS, "no.json"], 3, "no.json: cannot be read"),
    "broken JSON": ([ANALYSIS, "broken.json"], 3, "gen: broken.json: not valid JSON: "),
    "another version": (["old.json", QWEN3], 2, "an analysis of format version 0"),
    "no analysis": (["half.json", QWEN3], 2, "half.json: no whole analysis"),
    "not a format": (["raises.jinja", ANALYSIS], 3, "go away"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared(run: Runner, case: str) -> None:
    written("old.json", '{"format_version": 0}')
    written("broken.json", '{"format_version": ')
    written("half.json", '{"format_version": 1}')
    written("raises.jinja", "{{ raise_exception('go\\naway') }}")
    words, status, message = REFUSED[case]
    got, out, err = run("diff", *words)
    assert (got, out) == (status, "")
    assert message in err
    assert err.count("\n") == 1


def test_texts_of_strangers_stay_on_their_line(run: Runner) -> None:
    new = respelled("<tool_call>", "<a\x1b[2J\u202e\u2028>")
    status, out, _ = run("diff", ANALYSIS, new)
    assert status == 1
    assert r'"<a\x1b[2J\u202e\u2028>\n"' in out
    assert not {char for char in out if not char.isprintable() and char != "\n"}
