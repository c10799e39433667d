"""Print strangers' text as literals: what a reviewer sees is what is there."""

from __future__ import annotations

import unicodedata

_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", '"': '\\"'}


def visible(char: str) -> bool:
    """Whether a character shows as itself: no controls, formats, surrogates, odd spaces or marks."""
    return char == " " or unicodedata.category(char)[0] not in "CZM"


def python_string(text: str) -> str:
    """A double-quoted Python literal; all that is not plainly visible is escaped."""
    return '"' + "".join(map(_python_char, text)) + '"'


def _python_char(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if visible(char):
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def code_points(text: str) -> str:
    """The code points of what is not ASCII in a text, in order and once: "U+FF5C, U+2581"."""
    return ", ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(text) if ord(char) > 0x7F)


def one_line(text: str) -> str:
    """A text for a comment: controls and newlines escaped, so that it stays on its line."""
    return python_string(text)[1:-1].replace('\\"', '"')
