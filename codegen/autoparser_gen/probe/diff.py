"""Where two renderings differ, with markers kept whole.

The core comparison of the reference auto-parser: a text is cut into markers (`<...>`, `[...]`) and
the text between them; equal pieces are taken off both ends, and only text is narrowed further,
character by character.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autoparser_gen.probe.glue import common_prefix, common_suffix

_CLOSERS = {"<": ">", "[": "]"}


@dataclass(frozen=True)
class Segment:
    """A piece of a text: a marker, or the text between two markers."""

    text: str
    is_marker: bool


@dataclass(frozen=True)
class DiffSplit:
    """Two texts as a common prefix, what only each of them has, and a common suffix."""

    prefix: str
    left: str
    right: str
    suffix: str


def segmentize_markers(text: str) -> list[Segment]:
    """Cut a text into markers and what stands between them. Joined, the pieces are the text.

    The first opener wins and its own closer ends the marker; an opener without a closer is text.
    """
    segments: list[Segment] = []
    start = at = 0
    while at < len(text):
        closer = _CLOSERS.get(text[at])
        end = text.find(closer, at) if closer is not None else -1
        if closer is not None and end < 0:
            break
        if closer is None:
            at += 1
            continue
        if start < at:
            segments.append(Segment(text[start:at], False))
        segments.append(Segment(text[at : end + 1], True))
        start = at = end + 1
    if start < len(text):
        segments.append(Segment(text[start:], False))
    return segments


def calculate_diff_split(left: str, right: str) -> DiffSplit:
    """Split two texts into what they share at both ends and what differs."""
    shorter, longer = sorted((left, right), key=len)
    if longer.startswith(shorter):  # an appended text stays whole, whatever it ends with
        size = len(shorter)
        return DiffSplit(shorter, left[size:], right[size:], "")
    a, b = segmentize_markers(left), segmentize_markers(right)
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    prefix = "".join(segment.text for segment in a[:head])
    suffix = "".join(segment.text for segment in a[len(a) - tail :])
    a, b = a[head : len(a) - tail], b[head : len(b) - tail]
    if a and b and not (a[-1].is_marker or b[-1].is_marker):
        shared = common_suffix((a[-1].text, b[-1].text))
        suffix = shared + suffix
    size = len(suffix)
    if a and b and not (a[0].is_marker or b[0].is_marker):
        room = min(len(left), len(right)) - size - len(prefix)
        prefix += common_prefix((a[0].text, b[0].text))[: max(room, 0)]
    return DiffSplit(
        prefix, left[len(prefix) : len(left) - size], right[len(prefix) : len(right) - size], suffix
    )


Variant = Mapping[str, Any]


def compare_variants(
    render: Callable[..., str | None],
    variant: Variant,
    modify: Callable[[dict[str, Any]], None],
) -> DiffSplit | None:
    """Render a variant and a modified copy of it, and split the difference.

    A variant is the keyword arguments of `render`. None where either of them is refused.
    """
    changed = _copy(variant)
    modify(changed)
    left, right = render(**_copy(variant)), render(**changed)
    if left is None or right is None:
        return None
    return calculate_diff_split(left, right)


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copy(item) for item in value]
    return value
