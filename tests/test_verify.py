"""Verification: whatever is broken on purpose is caught, shown, and never written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autoparser_gen import cli, pipeline, verify
from autoparser_gen.errors import VerificationError
from autoparser_gen.request import Options, Output, Request
from autoparser_gen.targets import TARGETS, Draft
from autoparser_gen.verify.check import first_difference

HERMES = Path(__file__).parents[1] / "templates" / "hermes_2_pro.jinja"
OUTPUTS = (Path("x_parser.py"), Path("x_parser.lark"))


@pytest.fixture(scope="module")
def found() -> pipeline.Format:
    return pipeline.find_format(HERMES, Options())


@pytest.fixture(scope="module")
def subject() -> verify.Subject:
    outputs = tuple(
        Output(path, TARGETS[name]) for path, name in zip(OUTPUTS, TARGETS, strict=False)
    )
    files = pipeline.generate(Request(HERMES, outputs, Options(verify=False))).files
    return verify.Subject(*(files[path] for path in OUTPUTS))


def test_what_is_generated_passes(found: pipeline.Format, subject: verify.Subject) -> None:
    report = verify.verify(found.prober, found.analysis, subject)
    assert {"content", "call", "content + call", "every value in one call"} <= set(report.rendered)
    assert report.readings > 5 * len(report.rendered)
    assert any("reasoning" in what for what in report.not_rendered)


BREAK_MODULE: dict[str, tuple[str, str]] = {
    "a parser that always raises": (
        "def parse(*_, **__):\n    raise KeyError('lost')\n",
        "KeyError: 'lost'",
    ),
    "a call that is lost": (
        "_parse = parse\n"
        "def parse(*a, **k):\n"
        "    message = _parse(*a, **k)\n"
        "    message.tool_calls = message.tool_calls[:1]\n"
        "    return message\n",
        "call + call",
    ),
    "a marker that leaks": (
        "_parse = parse\n"
        "def parse(text, **k):\n"
        "    message = _parse(text, **k)\n"
        "    message.content += END_OF_TURN\n"
        "    return message\n",
        "<|im_end|>",
    ),
    "a stream that drops spaces": (
        "_feed = Parser.feed\n"
        "Parser.feed = lambda self, chunk: _feed(self, chunk if chunk != ' ' else '')\n",
        "in pieces of 1",
    ),
    "a merge that forgets": (
        "_merge = merge\n" "def merge(deltas):\n" "    return _merge(list(deltas)[1:])\n",
        "in pieces of",
    ),
    "spans with a gap": (
        "_spans = spans\ndef spans(*a, **k):\n    return _spans(*a, **k)[1:]\n",
        "a gap at 0",
    ),
    "an exception on a truncated text": (
        "_parse = parse\n"
        "def parse(text, **k):\n"
        "    if text.endswith('<tool_c'):\n"
        "        raise IndexError('cut')\n"
        "    return _parse(text, **k)\n",
        "IndexError: cut",
    ),
}


@pytest.mark.parametrize("case", BREAK_MODULE)
def test_a_broken_module_is_caught(
    found: pipeline.Format, subject: verify.Subject, case: str
) -> None:
    code, shown = BREAK_MODULE[case]
    broken = replace(subject, module=f"{subject.module}\n\n{code}")
    with pytest.raises(VerificationError) as caught:
        verify.verify(found.prober, found.analysis, broken)
    message = str(caught.value)
    for part in ("hermes_2_pro.jinja: verification failed: ", "turn  ", "expected", "got  "):
        assert part in message
    assert shown.replace("call + call", "parallel calls") in message


def test_a_grammar_that_rejects_is_caught(found: pipeline.Format, subject: verify.Subject) -> None:
    grammar = subject.lark.replace("</tool_call>", "</tool_kall>")
    assert grammar != subject.lark
    with pytest.raises(VerificationError, match="by the Lark grammar"):
        verify.verify(found.prober, found.analysis, replace(subject, lark=grammar))


def test_a_grammar_that_does_not_load_is_caught(
    found: pipeline.Format, subject: verify.Subject
) -> None:
    with pytest.raises(VerificationError, match="does not load"):
        verify.verify(found.prober, found.analysis, replace(subject, lark="start: nowhere\n"))


def test_a_module_that_is_no_python_is_caught(
    found: pipeline.Format, subject: verify.Subject
) -> None:
    with pytest.raises(VerificationError, match="cannot be imported"):
        verify.verify(found.prober, found.analysis, replace(subject, module="def"))


@pytest.mark.parametrize(
    ("target", "damage"),
    [
        ("python", lambda text: text.replace('"</tool_call>"', '"</tool_kall>"')),
        ("lark", lambda text: text.replace("</tool_call>", "</tool_kall>")),
    ],
)
def test_nothing_broken_is_written(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    target: str,
    damage: Callable[[str], str],
) -> None:
    whole = TARGETS[target]

    def emit(draft: Draft) -> str:
        text = whole.emit(draft)
        assert damage(text) != text
        return damage(text)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TARGETS, target, replace(whole, emit=emit))
    with pytest.raises(SystemExit) as exit_:
        cli.main([str(HERMES), "-o", "x_parser.py"])
    assert exit_.value.code == 4
    assert "verification failed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_parts_that_the_chat_template_drops_are_not_expected(tmp_path: Path) -> None:
    template = tmp_path / "plain.jinja"
    template.write_text(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    report = pipeline.generate(Request(template, (), Options())).report
    assert report is not None
    assert "content" in report.rendered
    assert report.not_rendered[0] == "reasoning"


def test_first_difference_shows_the_place() -> None:
    shown = first_difference("a" * 50 + "b" + "c" * 50, "a" * 50 + "X")
    assert shown.endswith(f"{'a' * 20 + 'b' + 'c' * 19!r} / {'a' * 20 + 'X'!r}")
