"""The list of recorded outputs that the generated parsers read otherwise, with the reasons."""

from __future__ import annotations

import re
from pathlib import Path

LIST = Path(__file__).with_name("known_differences.md")


def known_differences(section: str) -> set[str]:
    """The ids that are listed under a heading; an item is `- `id`: reason`."""
    found: set[str] = set()
    heading = ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ").strip()
        item = re.match(r"- `([^`]+)`: \S", line)
        if item and heading == section:
            found.add(item[1])
    return found
