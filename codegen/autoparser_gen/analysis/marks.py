"""Texts around calls as patterns, and markers as openers and closers."""

from __future__ import annotations

import re

from autoparser_gen.analysis.model import CALL_NUMBER, SAME_KEY, SAME_NAME
from autoparser_gen.probe import needles

MARKER = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")


def pattern(text: str) -> str:
    """A text with placeholders for the names and keys that it repeats."""
    for name in needles.FUNCTIONS:
        text = text.replace(name, SAME_NAME)
    for keys in needles.KEYS:
        for key in keys:
            text = text.replace(key, SAME_KEY)
    return text


def with_counter(first: str, second: str) -> str:
    """The first of two texts, with a placeholder for a number in which they differ."""
    parts, others = re.split(r"(\d+)", first), re.split(r"(\d+)", second)
    if len(parts) != len(others) or parts[::2] != others[::2]:
        return first
    return "".join(
        CALL_NUMBER if at % 2 and part != other else part
        for at, (part, other) in enumerate(zip(parts, others, strict=True))
    )


def split_opener(opener: str, closer: str) -> tuple[str, str]:
    """A call's opener as (per-call marker, prefix of the name).

    `<a>` is all marker; `<a>\\n<b=` is a marker and a prefix, if the closer closes both; `<a>word`
    is a marker and a prefix; `<a>word x="` is one unfinished tag, and so is `<b=`.
    """
    first = MARKER.match(opener)
    if first is None:
        return "", opener
    tail = re.match(r"[^\w\s<\[]*\s*", opener[first.end() :])
    assert tail is not None
    end = first.end() + tail.end()
    marker, rest = opener[:end], opener[end:]
    if not rest:
        return opener, ""
    if rest[-1] not in "\"'=" or MARKER.search(rest):
        return marker, rest
    if rest[0] in "<[" and len(MARKER.findall(closer)) > 1:
        return marker, rest
    return "", opener


def split_closer(closer: str) -> tuple[str, str]:
    """A closer of two as (close of the function, per-call marker)."""
    last = None
    for found in MARKER.finditer(closer):
        last = found
    if last is None or closer[last.end() :].strip():
        return closer, ""
    head = closer[: last.start()]
    if not head.strip():
        return "", closer
    size = len(head.rstrip())
    return closer[:size], closer[size:]


def split_middle(middle: str) -> tuple[str, str]:
    """The text between an argument's name and value as (suffix of the name, prefix of the value).

    The first bracket that closes ends the suffix; the whitespace behind it goes with it.
    """
    marker = re.search(r"[>\]]\s*", middle)
    if marker is None:
        return middle, ""
    return middle[: marker.end()], middle[marker.end() :]
