"""A turn full of needles as a sequence of parts with glue between them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from autoparser_gen.analysis.values import (
    Value,
    elements,
    holds,
    members,
    outermost_values,
)
from autoparser_gen.probe import Turn, needles
from autoparser_gen.probe.glue import common_suffix


@dataclass(frozen=True)
class Part:
    """A piece of a turn's text: kind is "reasoning", "content" or "call"."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class CallSpan:
    """Where one call stands, from its first needle or value to its last.

    `value` is the call object (JSON calls) or the arguments object (JSON arguments); `array` the
    array that the call object is an element of; `number` what the chat template numbers calls with
    and prints where an id might begin the call.
    """

    start: int
    end: int
    value: Value | None = None
    array: Value | None = None
    number: str = ""

    def holds_name(self, name: str) -> bool:
        """Whether the whole call is one JSON value."""
        return self.value is not None and holds(self.value.data, name)


@dataclass(frozen=True)
class Layout:
    """The parts of one turn in the order in which they stand."""

    turn: Turn
    parts: tuple[Part, ...]
    calls: tuple[CallSpan, ...]

    @property
    def text(self) -> str:
        return self.turn.text

    def before(self, kind: str) -> str | None:
        """The glue before the first part of a kind, from the part before it or the header."""
        for previous, part in pairwise((Part("prompt", 0, 0), *self.parts)):
            if part.kind == kind:
                return self.text[previous.end : part.start]
        return None

    def joints(self) -> list[tuple[str, str]]:
        """(pair, glue) for every two neighbours, the turn's edges included."""
        edges = (
            Part("prompt", 0, 0),
            *self.parts,
            Part("end", len(self.text), len(self.text)),
        )
        return [
            (f"{left.kind}_to_{right.kind}", self.text[left.end : right.start])
            for left, right in pairwise(edges)
        ]

    def glue(self, pair: str) -> str | None:
        """The glue of the first such joint."""
        return next((glue for name, glue in self.joints() if name == pair), None)


def find_calls(text: str, calls: Sequence[needles.Call], first: int = 0) -> list[CallSpan] | None:
    """Where the needle calls stand in a turn, or None where not all of them do.

    JSON is found by decoding: values that hold the name, then values that hold the argument names.
    Otherwise a call reaches from its first needle to its last.
    """
    values = list(outermost_values(text))
    native = _json_calls(text, values, calls)
    if native is not None:
        return _with_ids(text, native, first)
    spans = []
    at = 0
    for index, (name, arguments) in enumerate(calls, first):
        start = text.find(name, at)
        if start < 0:
            return None
        value = _json_arguments(values, start, arguments)
        if value is not None:
            end = value.end
        else:
            marks = [mark for pair in arguments.items() for mark in pair if isinstance(mark, str)]
            if any(text.find(mark, start) < 0 for mark in marks):
                return None
            # The last *value* ends the call: keys and names may be repeated in closers.
            end = max((text.find(m, start) + len(m) for m in marks), default=start + len(name))
        following = (
            text.find(calls[index - first + 1][0], end)
            if index - first + 1 < len(calls)
            else len(text)
        )
        spans.append(_with_id(text, CallSpan(start, end, value), index, at, following))
        at = spans[-1].end
    return spans


def _with_id(text: str, span: CallSpan, number: int, before: int, following: int) -> CallSpan:
    """A call with its id, where that stands in front of it or behind it, between two indexes."""
    call_id = needles.IDS[number] if number < len(needles.IDS) else ""
    start, behind = text.rfind(call_id, before, span.start), text.find(call_id, span.end)
    if call_id and start >= 0:
        return replace(span, start=start)
    if call_id and 0 <= behind < following:
        return replace(span, end=behind + len(call_id))
    return span


def _with_ids(text: str, spans: Sequence[CallSpan], first: int) -> list[CallSpan]:
    """Calls that are JSON, each with the id in the markup around it, if there is none in it."""
    found = []
    edges = [0, *(span.end for span in spans)], [*(span.start for span in spans[1:]), len(text)]
    for number, (span, before, following) in enumerate(zip(spans, *edges, strict=False), first):
        id_is_inside = (
            number < len(needles.IDS) and needles.IDS[number] in text[span.start : span.end]
        )
        if span.array is None and not id_is_inside:
            span = _with_id(text, span, number, before, following)
        found.append(span)
    return found


def _json_calls(
    text: str, values: Sequence[Value], calls: Sequence[needles.Call]
) -> list[CallSpan] | None:
    spans = []
    for name, arguments in calls:
        marks = (name, *arguments)
        found = next((v for v in values if all(holds(v.data, m) for m in marks)), None)
        span = None if found is None else _call_in(text, found, marks)
        if span is None:
            return None
        spans.append(span)
    starts = [span.start for span in spans]
    return spans if starts == sorted(set(starts)) else None


def _call_in(text: str, value: Value, marks: Sequence[str]) -> CallSpan | None:
    """The object that holds all marks: a value, an array's element, or one in a member's array."""
    if isinstance(value.data, dict):
        for member in members(text, value):
            if isinstance(member.data, list):
                inner = _call_in(text, member, marks)
                if inner is not None:
                    return inner
        return CallSpan(value.start, value.end, value)
    for element in elements(text, value):
        if isinstance(element.data, dict) and all(holds(element.data, mark) for mark in marks):
            return CallSpan(element.start, element.end, element, value)
    return None


def _json_arguments(
    values: Sequence[Value], start: int, arguments: Mapping[str, Any]
) -> Value | None:
    for value in values:
        if value.start >= start:
            fits = isinstance(value.data, dict) and set(value.data) == set(arguments)
            return value if fits else None
    return None


def numbering(layout: Layout) -> re.Pattern[str] | None:
    """How calls are numbered that have no id: a number in their markers, one more in the second call.

    The pattern's first group is the number with the word that it ends; behind it a call begins.
    """
    first, second = layout.calls[:2]
    heads = (layout.text[: first.start], layout.text[first.end : second.start])
    rest = common_suffix(heads)
    one, two = (_NUMBERED.search(head.removesuffix(rest)) for head in heads)
    if one is None or two is None or one["stem"] != two["stem"]:
        return None
    if int(one["number"]) + 1 != int(two["number"]):
        return None
    return re.compile(rf"({re.escape(one['stem'])}[0-9]+){re.escape(rest)}\Z")


# Right behind punctuation or a tag's name, which makes it part of a marker; but not that name itself.
_NUMBERED = re.compile(
    r"(?:(?<=[^\w\s</])|(?<=<)[^\W\d][\w-]* )(?P<stem>[^\W\d][\w-]*?|)(?P<number>[0-9]+)\Z"
)


def _with_number(text: str, span: CallSpan, before: int, numbers: re.Pattern[str]) -> CallSpan:
    found = numbers.search(text[before : span.start])
    if found is None:
        return span
    return replace(span, start=before + found.start(), number=found[1])


def lay_out(
    turn: Turn, calls: Sequence[needles.Call], numbers: re.Pattern[str] | None = None
) -> Layout | None:
    """The parts of a turn; None where a call is missing. Other parts may be missing.

    `numbers` finds the number in front of a call, see `numbering`.
    """
    text = turn.text
    spans = find_calls(text, calls) if calls else []
    if spans is None:
        return None
    if numbers is not None:
        ends = [0, *(span.end for span in spans)]
        spans = [_with_number(text, span, ends[i], numbers) for i, span in enumerate(spans)]
    parts = [Part("call", span.start, span.end) for span in spans]
    for kind, needle in (("reasoning", needles.REASONING), ("content", needles.CONTENT)):
        at = text.find(needle)
        if at >= 0:
            parts.append(Part(kind, at, at + len(needle)))
    return Layout(turn, tuple(sorted(parts, key=lambda part: part.start)), tuple(spans))
