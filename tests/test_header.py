"""Headers: everything that comes from outside is shown, and nothing of it acts."""

from __future__ import annotations

import ast

import pytest

from autoparser_gen.header import GENERATED_BY, command_line, header, printable

HOSTILE_NAMES = [
    "a\nimport os.jinja",
    "# -*- coding: utf-7 -*-.jinja",
    "a\r\x1b[2Jb.jinja",
    "right\u202eleft.jinja",
    "lone\udc80.jinja",
    'quote"""\'.jinja',
    "back\\slash.jinja",
    "line\u2028separator.jinja",
    "$(reboot) `reboot`.jinja",
]


def _header(source: str) -> list[str]:
    return header(
        format_version=1,
        source=source,
        sha256="0" * 64,
        command=["autoparser-gen", source, "-o", "x_parser.py"],
        unknown=["eos_token"],
        verified=False,
    )


def test_header_names_source_command_and_what_is_unknown() -> None:
    text = "\n".join(_header("qwen3.jinja"))
    assert text.startswith(f"{GENERATED_BY} (format 1). DO NOT EDIT.\n@generated\n")
    assert "qwen3.jinja" in text
    assert "autoparser-gen qwen3.jinja -o x_parser.py" in text
    assert "eos_token" in text
    assert "not verified" in text
    assert "no condition" in text


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_cannot_leave_its_comment(name: str) -> None:
    lines = _header(name)
    assert all(line.isprintable() for line in lines)
    module = ast.parse("".join(f"# {line}\n" for line in lines).encode("utf-8"))
    assert module.body == []
    assert lines[:2] == _header("other.jinja")[:2], "an encoding comment could stand there"


def test_printable_keeps_what_can_be_seen() -> None:
    assert printable("<｜tool▁call｜> é 漢") == "<｜tool▁call｜> é 漢"
    assert printable("a\tb\x00\u202e\ud800") == "a\\tb\\x00\\u202e\\ud800"


def test_commands_are_quoted_for_a_shell() -> None:
    assert command_line(["a b", "it's", "-o"]) == "'a b' 'it'\"'\"'s' -o"
    assert command_line(["a\nb'c"]) == "$'a\\nb\\'c'"
