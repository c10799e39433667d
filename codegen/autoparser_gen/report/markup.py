"""Strangers' text in HTML: escaped, and nothing of it hidden."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup, escape

from autoparser_gen.chat_template import UNKNOWN_TOKENS
from autoparser_gen.emit.quoting import one_line, visible

_NAMES = {placeholder: f"{{{name}}}" for name, placeholder in UNKNOWN_TOKENS.items()}


def shown(text: str) -> Markup:
    """A text as HTML: line ends are marked and kept, what cannot be seen is an escape that is set
    apart, so that it cannot be taken for the same characters in the text itself."""
    runs = groupby(text, key=lambda char: char == "\n" or visible(char))
    return Markup("").join(_plain(run) if plain else _escapes(run) for plain, run in _texts(runs))


def _texts(runs: groupby[bool, str]) -> list[tuple[bool, str]]:
    return [(plain, "".join(chars)) for plain, chars in runs]


def _plain(text: str) -> Markup:
    return Markup('<span class="nl">↵</span>\n').join(map(escape, text.split("\n")))


def _escapes(text: str) -> Markup:
    written = "".join(_NAMES.get(char) or one_line(char) for char in text)
    return Markup('<span class="esc">{}</span>').format(written)
