"""Documentation that can be checked: the tutorial is run, the command line's page is made again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autoparser_gen import command_line_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
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


def test_the_tutorial(tmp_path: Path) -> None:
    """Its commands, one after the other, print what it says they print."""
    (tmp_path / "templates").symlink_to(ROOT / "templates")  # what it copies after installing
    folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    blocks = FENCE.findall((DOCS / "tutorial.md").read_text("utf-8"))
    printed, compared = "", 0
    for kind, body in blocks:
        if kind == "sh":
            done = subprocess.run(
                ["bash", "-e", "-c", body],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=120,
                check=False,
            )
            printed = done.stdout
            assert done.returncode == 0, f"{body}\n{printed}"
        elif kind == "text":
            assert like(body, printed), f"expected:\n{body}\nprinted:\n{printed}"
            compared += 1
        else:  # installs, or needs a network
            assert kind in ("sh once", "sh online")
    assert compared == 9
