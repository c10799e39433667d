"""The regions of a format as a request sees them; in all modules.

What stands above the fence is a toy format, as in `runtime.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from autoparser_gen.emit.skeletons.search import (
    _PRINTABLE,
    _SPACE,
    _Search,
    _SearchIn,
)
from autoparser_gen.emit.skeletons.tables import Go, Region

if TYPE_CHECKING:
    from autoparser_gen.emit.skeletons.turn import _Turn

REGIONS: dict[str, Region] = {
    "start": Region("gap", otherwise="content"),
    "content": Region("text", "content"),
    "reasoning": Region("text", "reasoning"),
    "end": Region("end"),
}
TRANSITIONS: dict[str, dict[str, Go]] = {
    "start": {"<thought>": Go("reasoning", after="\n")},
    "content": {"<end>": Go("end")},
    "reasoning": {"</thought>": Go("content", before=True, after="\n\n"), "<end>": Go("end")},
}
DECODERS: dict[str, type[Decoder]] = {}

# ==== Begin regions block (identical in every file) ====

_ESCAPED = r'["\\\x00-\x1f]'  # in JSON
_ReadPiece = Callable[[str], "str | None"]
_find_escaped = re.compile(_ESCAPED).search
# What may come without anything being known of it: a character, and what may come behind that.
_Quiet = dict[str, "_Quiet"]


class Decoder:
    """Reads one structured value piece by piece; `done` or `failed` when it is over."""

    done = False
    failed = False
    completed = False  # a call of several has become complete; the parser resets it
    row = ""  # the row of TRANSITIONS to take when it is done
    name = ""  # a function's name that it has read
    begun = ""  # what the prompt holds of a message's header
    final = False  # no text will follow: set before the last read
    expected = "a value"

    def __init__(self, parser: _Turn) -> None:
        self._parser = parser

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        raise NotImplementedError

    @classmethod
    def whole(cls, parser: _Turn, row: _Row, text: str, at: int) -> _WholeCall | None:
        """A usual call that begins with a row's marker and is all there, from text[at] on.

        What it looks at in vain must be read by other means anyway, or cost would not be linear.
        """
        return None

    def ends(self) -> bool:
        """The text has ended: whether the call being read is complete."""
        return False

    @classmethod
    def first(cls) -> _Quiet | None:
        """What a value may begin with while nothing is known of it; None where something is at once."""
        return None

    def quiet(self) -> _Quiet | None:
        """The same of what it has not read yet."""
        return None

    def passes(self) -> _ReadPiece | None:
        """What reads a piece in which no value ends, and returns what is new of the arguments' JSON text.

        Where it returns None, `read` must be called with the same piece.
        """
        return None


def _passing(search: _SearchIn) -> _ReadPiece:
    """What passes on, as they stand, the pieces that the search finds nothing in."""
    return lambda piece: piece if search(piece) is None else None


class _WholeCall(NamedTuple):
    """A call that has been read in one step."""

    name: str
    arguments: str
    id: str | None
    last: _Row  # of its last marker
    stop: int  # index behind that


class _Row:
    """A row of TRANSITIONS in its region, with what follows from it."""

    def __init__(self, marker: str, go: Go, place: _Place, target: _Place) -> None:
        self.marker = marker
        self.target = target
        self.before, self.opens, self.closes = go.before, go.opens, go.closes
        self.bare = go.bare
        self.at_line_start = go.bare and not go.inline
        self.stays = go.stays or go.bare
        # With `reasoning=False`, what borders on reasoning stays in the content.
        self.as_text = not place.splits and "reasoning" in (place.collects, target.collects)
        self.skip = "" if self.as_text else go.after
        foreign = target.collects == "incomplete"
        self.kind = "content" if self.as_text else "incomplete" if foreign else "marker"
        # Whether the marker may turn out to be text, and whether to be part of a raw value.
        self.tentative = target.kind == "end" or target.otherwise == "back"
        self.is_inner = not (self.tentative or go.opens or go.closes)  # a call goes on behind it
        self.in_value = target.before is not None and target.before.kind == "raw"
        self.in_text = place.kind == "text" and not place.is_reasoning
        # Whether nothing becomes known with the marker, but that a call ends which is all there.
        after_space = place.kind == "text" and not go.before  # what that is, the marker decides
        known = self.tentative or self.stays or after_space or place.kind == "field"
        drafts = go.opens and place.is_reasoning
        self.is_quiet = self.kind == "marker" and target.kind != "raw" and not known and not drafts
        # Whether it shows that a raw value before it has ended.
        self.decides = not self.in_value and "raw" in (
            place.kind,
            place.before and place.before.kind,
        )
        # Whether a call is complete with the marker, and nothing that follows changes that.
        self.ends_call = go.closes and not go.opens and not self.tentative
        # Whether a message's header follows, and no call may go on before it.
        outside = self.in_text or (place.kind == "gap" and place.otherwise != "back")
        self.begins_message = target.collects == "header" and outside and not go.closes

    @cached_property
    def decoder(self) -> type[Decoder] | None:
        """Where a call in text, or a message, begins with the marker: what reads the first value in it."""
        if self.begins_message:
            return DECODERS[self.target.name]
        if not self.opens or self.stays or not self.in_text:
            return None
        places, seen = [self.target], set[str]()
        while places:
            place = places.pop()
            if place.name in DECODERS:
                return DECODERS[place.name]
            seen.add(place.name)
            rows = [row for row in place.rows.values() if not row.closes]
            places += [row.target for row in rows if row.target.name not in seen]
        return None


class _Place:
    """A region as a request sees it: the rows that are left to it, and how to find its markers."""

    def __init__(self, name: str, splits: bool) -> None:
        region = REGIONS[name]
        self.name = name
        self.kind = region.kind
        self.collects = region.collects
        self.otherwise = region.otherwise
        self.ends = region.ends
        self.splits = splits  # reasoning is told from content
        self.is_reasoning = region.collects == "reasoning"
        self.text_kind = "content" if self.is_reasoning and not splits else region.collects
        self.before: _Place | None = None  # the region of `otherwise`
        self.rows: dict[str, _Row] = {}

    @cached_property
    def search(self) -> _Search:
        """The search for all of its markers."""
        return _Search(self.rows.values())

    @cached_property
    def opening(self) -> re.Pattern[str] | None:
        """What usually comes next, where nothing else can be meant.

        It is whitespace or a word, and behind it a marker or the end of the text.
        """
        search = self.search
        if self.is_reasoning or not search.is_plain:
            return None
        sure = [m for m in search.markers if not search.begins(m, 0, len(m))]
        before = search.word() if self.kind == "field" else _SPACE
        markers = "|".join(map(re.escape, sure))
        return re.compile(rf"([{re.escape(before)}]*)({markers}|\Z)") if sure else None

    @cached_property
    def stops(self) -> _SearchIn:
        """The search which finds nothing in a piece of text that is no part of a marker."""
        return self.search.stops()

    @cached_property
    def lead(self) -> str:
        """The character that stands in each piece that `stops` finds something in; "" for one of several."""
        return self.search.lead()

    @cached_property
    def near(self) -> _Quiet:
        """What may come here without anything being known of it, up to where the call or its value ends."""
        return _quiet(self, {}, lambda row: row.is_quiet and not row.closes and not row.decides)

    @cached_property
    def far(self) -> _Quiet:
        """The same through the ends of calls."""
        return _quiet(self, {}, lambda row: row.is_quiet)

    @cached_property
    def kept(self) -> _Quiet:
        """The same as `near` where a value is read that goes out when it ends."""
        firsts = {marker[0] for marker in self.rows if marker}
        node = _loop(_PRINTABLE - firsts)
        node.update(self.near)
        return node

    @cached_property
    def passes(self) -> _ReadPiece:
        """What passes on pieces that are no part of a marker, and as JSON text the same."""
        stops = self.stops
        return lambda text: text if stops(text) is None and _find_escaped(text) is None else None

    @cached_property
    def closers(self) -> _Search:
        """Of reasoning: the search for what closes it."""
        return _Search(row for row in self.rows.values() if not self._is_other(row))

    @cached_property
    def others(self) -> _Search:
        """Of reasoning: the search for calls in it and for the end of turn."""
        return _Search(row for row in self.rows.values() if self._is_other(row))

    def _is_other(self, row: _Row) -> bool:
        return row.opens or row.target.kind == "end"


@lru_cache
def _places(calls: bool, reasoning: bool) -> dict[str, _Place]:
    """All regions without the rows that a request switches off."""
    places = {name: _Place(name, reasoning) for name in REGIONS}
    for place in places.values():
        place.before = places.get(place.otherwise)
    for name, rows in TRANSITIONS.items():
        place = places[name]
        for marker, go in rows.items():
            if not go.opens or (calls and (reasoning or not place.is_reasoning)):
                place.rows[marker] = _Row(marker, go, place, places[go.region])
    return places


def _loop(chars: Iterable[str]) -> _Quiet:
    """Any number of these characters."""
    node: _Quiet = {}
    node.update(dict.fromkeys(chars, node))
    return node


def _spaced(node: _Quiet) -> _Quiet:
    """The same behind whitespace, as far as there is any."""
    node.update(dict.fromkeys(_SPACE, node))
    return node


def _quiet(
    place: _Place, known: dict[str, _Quiet], tells_nothing: Callable[[_Row], bool]
) -> _Quiet:
    """What may come in a region without anything being known of it, also behind whole markers.

    `known` holds what has been found of regions so far.
    """
    if place.kind == "data":
        first = DECODERS[place.name].first()
        return {} if first is None else first
    start: _Quiet = {}
    known[place.name] = start
    search = place.search
    is_gap = place.kind in ("text", "gap")
    leads = any(marker[0] in _SPACE for marker in search.markers)  # whitespace may belong to them
    for marker in search.markers:  # the longest first: what begins a longer one is not over
        node, size = start, 1
        while size < len(marker) and not any(core in marker[:size] for core in search.cores):
            node = node.setdefault(marker[size - 1], {})
            size += 1
        row, last = place.rows[marker], marker[-1]
        if size < len(marker) or last in node or (is_gap and leads) or not tells_nothing(row):
            continue
        behind = known.get(row.target.name)
        behind = _quiet(row.target, known, tells_nothing) if behind is None else behind
        if behind:
            node[last] = behind
    if is_gap and not leads:
        _spaced(start)
    if place.kind == "field":
        ended = _spaced({**start})
        start.update(dict.fromkeys(search.word(), start))
        start.update(dict.fromkeys("" if leads else _SPACE, ended))
    return start


def _past_quiet(quiet: _Quiet, text: str) -> _Quiet | None:
    """What may come behind a text without anything being known of it; None where that text may not."""
    try:
        for char in text:
            quiet = quiet[char]
    except KeyError:
        return None
    return quiet


# ==== End regions block ====
