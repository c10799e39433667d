"""Names of tools and arguments that a generated parser reads: what others would mean is open."""

from __future__ import annotations

import re

from autoparser_gen.errors import RequestError
from autoparser_gen.grammar.until import SPACES

# What the generated parser takes for a name, a key and so on, by where it stands.
TOOL_NAME = re.compile(r"[^\s<>\"'`{}\[\](),;=\x00-\x1f\x7f]*")
MARKED_KEY = re.compile(r"[^\n\r<>\"\x00-\x1f\x7f]*")
TAG_KEY = re.compile(r"[^\s<>\"'\x00-\x1f]*")
UNQUOTED_KEY = re.compile(r"[^:,{}\[\]()<>\"'\x00-\x1f]*")
KEYWORD = re.compile(r"(?:\w[\w.$-]*)?")


def is_readable(name: str, readable: re.Pattern[str], marker: str = "") -> bool:
    """Whether a parser reads a name as it stands, up to the `marker` behind it."""
    whole = readable.fullmatch(name) is not None and name == name.strip(SPACES)
    return bool(name) and whole and not (marker and marker in name)


def require_readable(
    what: str, name: str, readable: re.Pattern[str], marker: str = "", written: str | None = None
) -> None:
    """Raise RequestError where a parser does not read the name of `what`, in the form that is `written`."""
    text = name if written is None else written
    if is_readable(text, readable, marker):
        return
    found = readable.match(text)
    end = found.end() if found else 0
    if marker and marker in text[:end]:
        end = text.index(marker)
    if not text:
        reason = "no name is empty"
    elif end == len(text):
        reason = "whitespace around a name is not part of it"
    else:
        reason = f"a name ends before {text[end]!r}"
    raise RequestError(f"{what} {name!r}: in this format {reason}. Rename it in the tools.")
