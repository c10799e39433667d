"""Documentation that can be checked: the tutorial is run, the command line's page is made again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autoparser_gen import command_line_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    # After a change: python -m autoparser_gen.command_line_page > docs/command_line.md
    assert (DOCS / "command_line.md").read_text("utf-8") == command_line_page.page()


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda p: p.name
)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text("utf-8"))
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_list_of_pages_is_complete() -> None:
    listed = re.findall(r"\]\(([a-z_]+\.md)\)", (DOCS / "README.md").read_text("utf-8"))
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert sorted(listed) == sorted(pages)


def like(expected: str, printed: str) -> bool:
    """Whether a text is what was expected; lines of "..." stand for any lines."""
    parts = re.split(r"^\.\.\.\n", expected, flags=re.MULTILINE)
    return re.fullmatch("(?s:.*)".join(map(re.escape, parts)), printed) is not None


def shell(body: str, folder: Path) -> str:
    """What commands print, that must succeed."""
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-e", "-c", body],
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{body}\n{done.stdout}"
    return done.stdout


def test_two_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pages of the README, as a stranger follows them, in a folder that git ignores."""
    text = README.read_text("utf-8")
    [first] = re.findall(r"^    .*\.venv/bin/(autoparser-gen .*)$", text, re.MULTILINE)
    [folder] = re.findall(r"-o (\S+)/qwen3_parser\.py", first)
    assert f"/{folder}/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
    (tmp_path / "templates").symlink_to(ROOT / "templates")
    shell(first, tmp_path)
    part = text.partition("## Two minutes")[2].partition("\n## ")[0]
    blocks = FENCE.findall(part)
    assert [kind for kind, _ in blocks] == ["sh once", "sh", "sh", "python"]
    printed = [shell(body, tmp_path / folder) for kind, body in blocks if kind == "sh"]
    assert re.findall("^(?:created|updated) (.*)", printed[1], re.MULTILINE) == [
        "weather.gbnf",
        "lazy.gbnf",
        "qwen3_parser.py",
    ]
    code = f"{blocks[-1][1]}\nprint(json.dumps(body))"
    body = json.loads(shell(f"python - <<'END'\n{code}\nEND", tmp_path / folder))
    assert body["grammar_triggers"] == [{"type": 1, "value": "<tool_call>"}]
    assert "<tool_call>" in body["preserved_tokens"]
    without_header = re.compile("^#.*\n", re.MULTILINE).sub
    written = (tmp_path / folder / "lazy.gbnf").read_text("utf-8")
    assert without_header("", body["grammar"]) == without_header("", written)
    reading = "".join(body for kind, body in FENCE.findall(text) if "message = qwen3" in body)
    assert shell(f"python - <<'END'\n{reading}\nprint(message.content)\nEND", tmp_path / folder)


def test_the_tutorial(tmp_path: Path) -> None:
    """Its commands, one after the other, print what it says they print."""
    (tmp_path / "templates").symlink_to(ROOT / "templates")
    blocks = FENCE.findall((DOCS / "tutorial.md").read_text("utf-8"))
    [folder] = re.findall(r"^mkdir -p (\w+) && cd \1$", blocks[0][1], re.MULTILINE)
    assert f"-o {folder}/qwen3_parser.py" in README.read_text("utf-8")  # the README's folder
    (tmp_path / folder).mkdir()
    printed, compared = "", 0
    for kind, body in blocks:
        if kind == "sh":
            printed = shell(body, tmp_path / folder)
        elif kind == "text":
            assert like(body, printed), f"expected:\n{body}\nprinted:\n{printed}"
            compared += 1
        else:  # installs, or needs a network
            assert kind in ("sh once", "sh online")
    assert compared == 9
