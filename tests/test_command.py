"""A generated module that is run: JSON Lines in, as many out, whatever is in them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from parsers import SOURCES

from autoparser_gen import pipeline
from autoparser_gen.emit import python
from autoparser_gen.request import Options


def _run(path: Path, lines: list[bytes]) -> tuple[list[Any], str, int]:
    done = subprocess.run(
        [sys.executable, "-I", str(path)],
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
    )
    return (
        [json.loads(line) for line in done.stdout.splitlines()],
        done.stderr.decode(),
        done.returncode,
    )


def test_lines(tmp_path: Path) -> None:
    module = tmp_path / "qwen3_parser.py"
    analysis = pipeline.find_format(SOURCES["qwen3"], Options()).analysis
    module.write_text(python.emit(analysis, []), encoding="utf-8")
    call = '<tool_call>\n{"name": "f", "arguments": {"a": "é\u2028"}}\n</tool_call>'
    good = [
        "Hello.",
        {"text": "So.\n</think>\n\nYes.", "prompt": "<think>\n"},
        {"text": call, "tools": []},
    ]
    found, said, status = _run(
        module, [json.dumps(line).encode() for line in [*good, call, call[:30]]]
    )
    assert [line["message"]["content"] for line in found] == ["Hello.", "Yes.", call, None, ""]
    assert found[1]["message"]["reasoning_content"] == "So."
    assert json.loads(found[3]["message"]["tool_calls"][0]["function"]["arguments"]) == {
        "a": "é\u2028"
    }
    assert [line["finish_reason"] for line in found] == ["stop"] * 3 + ["tool_calls", "length"]
    assert found[4]["incomplete"] == call[:30]
    assert (said, status) == ("5 outputs, 0 errors\n", 0)


def test_a_bad_line_is_an_error_in_its_place(tmp_path: Path) -> None:
    module = tmp_path / "qwen3_parser.py"
    analysis = pipeline.find_format(SOURCES["qwen3"], Options()).analysis
    module.write_text(python.emit(analysis, []), encoding="utf-8")
    bad = [
        b"{",
        b"{}",
        b"[]",
        b"1",
        b'{"text": 1}',
        b"\xff",
        b"[" * 99_999,
        b'{"text": "x", "prompt": 1}',
    ]
    found, said, status = _run(module, [b'"one"', *bad, b'"two"'])
    assert ["error" in line for line in found] == [False] + [True] * len(bad) + [False]
    assert (said, status) == (f"{len(bad) + 2} outputs, {len(bad)} errors\n", 1)


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    module = tmp_path / "qwen3_parser.py"
    analysis = pipeline.find_format(SOURCES["qwen3"], Options()).analysis
    module.write_text(python.emit(analysis, []), encoding="utf-8")
    lines = b'"one"\n' * 5_000  # more than a pipe and the module's own buffer hold
    with subprocess.Popen(
        [sys.executable, "-I", str(module)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(lines)
        process.stdin.close()
        assert process.stderr.read() == b""


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    module = tmp_path / "qwen3_parser.py"
    analysis = pipeline.find_format(SOURCES["qwen3"], Options()).analysis
    module.write_text(python.emit(analysis, []), encoding="utf-8")
    found, said, status = _run(module, [b'"one"', b"", b" \t\r", b'"two"', b'""', b""])
    assert [line["message"]["content"] for line in found] == ["one", "two", ""]
    assert (said, status) == ("3 outputs, 0 errors, 3 blank lines skipped\n", 0)
