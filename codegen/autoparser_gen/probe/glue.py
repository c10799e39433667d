"""Common parts of texts, cut where a marker may begin or end."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

BARS = "|/\uff5c"  # ASCII bar, slash, fullwidth bar: they join an angle bracket and a word
JOINERS = ":=./-"


def _wordish(character: str) -> bool:
    # U+2581 is the blank of SentencePiece vocabularies; it stands inside special tokens.
    return character.isalnum() or character in "_\u2581"


def is_boundary(text: str, at: int) -> bool:
    """Whether a marker may begin or end at this place of a text."""
    if at <= 0 or at >= len(text):
        return True
    left, right = text[at - 1], text[at]
    if left.isspace() or right.isspace():
        return True
    if left == "<" or right == ">":
        return False
    if left in BARS and _wordish(right) or _wordish(left) and right in BARS:
        return False
    if left == "[" and (_wordish(right) or right in BARS) or _wordish(left) and right == "]":
        return False
    if left == ">" and _wordish(right):  # `<a>word` is one marker
        return False
    if _wordish(right) and _begins_marker(text, at):
        return False
    if right == "<" and _wordish(left) and _follows_bracket(text, at):
        return False
    if _wordish(left) and (_wordish(right) or right in JOINERS):
        return False
    return not (left in JOINERS and (_wordish(right) or right in "\"'"))


def _begins_marker(text: str, at: int) -> bool:
    """Whether only an opening bracket and its ornaments stand here: `<@` in `<@word`."""
    while at > 0 and not _wordish(text[at - 1]) and text[at - 1] not in " \t\r\n<>()[]{}\"'":
        at -= 1
    return at > 0 and text[at - 1] == "<"


def _follows_bracket(text: str, at: int) -> bool:
    """Whether the word that ends here stands right behind a closing bracket."""
    while at > 0 and _wordish(text[at - 1]):
        at -= 1
    return at > 0 and text[at - 1] == ">"


def common_prefix(texts: Iterable[str]) -> str:
    """The longest common prefix, character by character."""
    return os.path.commonprefix(list(texts))


def common_suffix(texts: Iterable[str]) -> str:
    """The longest common suffix, character by character."""
    return os.path.commonprefix([text[::-1] for text in texts])[::-1]


def shared_start(*texts: str) -> str:
    """The longest common prefix that ends at a marker boundary in every text."""
    prefix = common_prefix(texts)
    for end in range(len(prefix), -1, -1):
        if all(is_boundary(text, end) for text in texts):
            return prefix[:end]
    return ""


def shared_end(*texts: str) -> str:
    """The longest common suffix that begins at a marker boundary in every text."""
    suffix = common_suffix(texts)
    for size in range(len(suffix), 0, -1):
        if all(is_boundary(text, len(text) - size) for text in texts):
            return suffix[len(suffix) - size :]
    return ""


@dataclass(frozen=True)
class Cut:
    """A joint between two items of one kind: closer of the first, separator, opener of the next."""

    end: str
    separator: str
    start: str


def cut_joint(before: str, joint: str, after: str) -> Cut:
    """Solve `joint = end + separator + start`, where `before` ends with `start` and `after` begins
    with `end`.

    The greedy common prefix and suffix overlap in half of the real equations, so every cut is
    tried: it must fall on marker boundaries in both texts that are compared, should cover as many
    visible characters as it can, and leaves whitespace to the separator. Among equals, the one
    whose closer and opener begin most alike (`</x>` and `<y>`, also behind a common prefix).
    """
    longest_end = len(common_prefix((joint, after)))
    longest_start = len(common_suffix((before, joint)))
    best: tuple[tuple[int, ...], Cut] | None = None
    for e in range(longest_end + 1):
        if not (is_boundary(joint, e) and is_boundary(after, e)):
            continue
        for s in range(min(longest_start, len(joint) - e) + 1):
            if not (is_boundary(joint, len(joint) - s) and is_boundary(before, len(before) - s)):
                continue
            cut = Cut(joint[:e], joint[e : len(joint) - s], joint[len(joint) - s :])
            inner = len(cut.end) - len(cut.end.rstrip()) + len(cut.start) - len(cut.start.lstrip())
            visible = len("".join((cut.end + cut.start).split()))
            alike = len(common_prefix((cut.end.lstrip(), cut.start.lstrip())))
            score = (visible, not cut.separator.strip(), -inner, alike, e)
            if best is None or score > best[0]:
                best = (score, cut)
    assert best is not None  # the empty cut always qualifies
    return best[1]


def without_prefix(text: str, prefix: str) -> str:
    """The text after a prefix that it must have."""
    return text[len(prefix) :] if prefix and text.startswith(prefix) else text


def without_suffix(text: str, suffix: str) -> str:
    """The text before a suffix that it must have."""
    return text[: -len(suffix)] if suffix and text.endswith(suffix) else text
