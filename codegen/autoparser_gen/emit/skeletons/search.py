"""The search for a region's markers, and what text is made of; in all modules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autoparser_gen.emit.skeletons.regions import _Row

# ==== Begin search block (identical in every file) ====

_SPACE = " \t\r\n"
_BLANK = " \t"
# Some of what values can be made of, and names.
_PRINTABLE = frozenset(map(chr, range(ord(" "), 127))) | frozenset(_SPACE)
_PLAIN_NAME = _PRINTABLE - frozenset("<>\"'`{}[](),;=" + _SPACE)
_SearchIn = Callable[[str], object]
_SPACE_RUN = re.compile(r"[ \t\r\n]*")
# What a name in markup can be made of: no whitespace, quotes, brackets or control characters.
_NAME = re.compile(r"[^\s<>\"'`{}\[\](),;=\x00-\x1f\x7f]*")
_KEY = re.compile(r"[^\n\r<>\"\x00-\x1f\x7f]*")
# What has been looked for in a text: from where, up to where, and what stands there.
_Known = dict["re.Pattern[str]", "tuple[int, int, re.Match[str] | None]"]


class _Search:
    """Finds a region's markers in a text, and what of its end may still begin one.

    They are looked for without their leading whitespace, those with the same first character by
    one pattern: such a pattern runs through a text as fast as `str.find`.
    """

    def __init__(self, rows: Iterable[_Row]) -> None:
        rows = [row for row in rows if row.marker]
        self.markers = sorted(
            (r.marker for r in rows if not r.at_line_start), key=len, reverse=True
        )
        self.bare = [row.marker for row in rows if row.at_line_start]
        self.longest = max(map(len, self.markers), default=0)
        self.at = re.compile("|".join(map(re.escape, [*self.bare, *self.markers])) or r"(?!)")
        firsts = "".join(sorted({re.escape(m[0]) for m in self.markers}))
        self._first = re.compile(f"[{firsts}]" if firsts else r"(?!)")
        cores = sorted({_core(m) for m in [*self.markers, *self.bare]}, key=len, reverse=True)
        self.cores = cores
        self._patterns = [
            re.compile("|".join(re.escape(core) for core in cores if core[0] == first))
            for first in sorted({core[0] for core in cores})
        ]
        self._leads = sorted(
            ((len(m) - len(_core(m)), m) for m in self.markers), key=lambda x: (-x[0], -len(x[1]))
        )
        # Whether no marker begins with whitespace, nor is but a character at a line's start.
        self.is_plain = not self.bare and set(cores) == set(self.markers)

    def find(
        self, text: str, start: int, end: int, known: _Known, *, line_start: bool = False
    ) -> tuple[int, str] | None:
        """Index and text of the first marker in text[start:end].

        Markers without a marker of their own count at the start of a line only: `line_start` says
        whether text[start] is at one. `known` holds what has been found in this text before.
        """
        at = start
        while (core := self._next(text, at, end, known)) is not None:
            if self.is_plain:
                return core.start(), core.group()
            found = self._marker_at(text, start, core.start(), end, line_start)
            if found is not None:
                return found
            at = core.start() + 1
        return None

    def _next(self, text: str, start: int, end: int, known: _Known) -> re.Match[str] | None:
        """The first place where a marker may stand, its leading whitespace aside."""
        first = None
        for pattern in self._patterns:
            since, until, found = known.get(pattern, (end, end, None))
            if since > start or until != end or (found is not None and found.start() < start):
                found = pattern.search(text, start, end)
                known[pattern] = start, end, found
            if found is not None and (first is None or found.start() < first.start()):
                first = found
        return first

    def _marker_at(
        self, text: str, start: int, at: int, end: int, line_start: bool
    ) -> tuple[int, str] | None:
        """The marker that stands here, of several the one with the most whitespace before it."""
        for lead, marker in self._leads:
            if start <= at - lead and text.startswith(marker, at - lead, end):
                return at - lead, marker
        if text[at] not in self.bare:
            return None
        line = at
        while line > start and text[line - 1] in _BLANK:
            line -= 1
        begins = text[line - 1] == "\n" if line else False
        return (at, text[at]) if begins or (line_start and line == start) else None

    def hold(self, text: str, start: int, end: int) -> int:
        """Index from which the end of text[start:end] may begin a marker; `end` where it cannot."""
        at = max(start, end - self.longest + 1)
        while (found := self._first.search(text, at, end)) is not None:
            at = found.start()
            if self.begins(text, at, end):
                return at
            at += 1
        return end

    def begins(self, text: str, at: int, end: int) -> bool:
        """Whether a marker that is longer than text[at:end] begins with it."""
        size = end - at
        if size >= self.longest:
            return False
        tail = text[at:end]
        for marker in self.markers:  # the longest first
            if len(marker) <= size:
                break
            if marker.startswith(tail):
                return True
        return False

    def word(self) -> str:
        """Characters of names that begin none of the markers."""
        return "".join(sorted(_PLAIN_NAME - {core[0] for core in self.cores}))

    def lead(self) -> str:
        """What all markers begin with, their leading whitespace aside: one character, or ""."""
        firsts = {char for m in self.markers for char in (m[0], _core(m)[0])}
        return firsts.pop() if len(firsts) == 1 and not self.bare else ""

    def stops(self) -> _SearchIn:
        """The search which finds nothing in a piece of text that is no part of a marker."""
        cores = {_core(m) for m in self.markers}
        ways = {re.escape(core[:3]) for core in cores}
        ways |= {re.escape(core[:size]) + r"\Z" for core in cores for size in (1, 2)}
        if self.bare:
            ways |= {rf"\n[{_BLANK}\r]*\Z", *map(re.escape, self.bare)}
        leads = {m[: len(m) - len(_core(m))] for m in self.markers} - {""}
        # Up to the end there is only whitespace then, and not much of it.
        ways |= {rf"{re.escape(m[0])}[{_SPACE}]{{0,{len(m)}}}\Z" for m in leads}
        return re.compile("|".join(sorted(ways)) or r"(?!)").search


def _core(marker: str) -> str:
    """A marker without its leading whitespace, if there is anything else to it."""
    return marker.lstrip(_SPACE) or marker


def _past_space(text: str, at: int, end: int) -> int:
    if at < end and text[at] not in _SPACE:
        return at
    found = _SPACE_RUN.match(text, at, end)
    return at if found is None else found.end()


def _match_end(pattern: re.Pattern[str], text: str, at: int, end: int) -> int:
    found = pattern.match(text, at, end)
    return at if found is None else found.end()


# ==== End search block ====
