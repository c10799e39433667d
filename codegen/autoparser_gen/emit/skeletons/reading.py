"""The reading of each kind of region, and the ways between them.

What stands above the fence is a toy format, as in `runtime.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from autoparser_gen.emit.skeletons.messages import Delta, ParseError, ToolCall
from autoparser_gen.emit.skeletons.regions import DECODERS, Decoder, _Place, _Row
from autoparser_gen.emit.skeletons.search import (
    _KEY,
    _NAME,
    _SPACE,
    _match_end,
    _past_space,
    _Search,
)
from autoparser_gen.emit.skeletons.turn import _new, _Turn

KEY_ESCAPES: dict[str, str] = {}

# ==== Begin reading block (identical in every file) ====

_KEY_ESCAPE = re.compile("|".join(map(re.escape, KEY_ESCAPES)) or r"(?!)")
_LONGEST_QUIET = 400  # characters that are left unread at most, since they are looked at once more


class _Reader(_Turn):
    """How the text of each kind of region is read, and how one leads to another."""

    __slots__ = ()

    # ---- A step: up to the next marker, or to the end of a field or value ----

    def _end(self, final: bool) -> int:
        """Index up to which the buffer may be read: a draft stops where the reasoning may close."""
        end = len(self._buffer)
        if self._draft is None or final:
            return end
        return self._draft_place.closers.hold(self._buffer, self._scanned, end)

    def _find(self, search: _Search, start: int, end: int) -> tuple[int, str] | None:
        return search.find(self._buffer, start, end, self._known)

    def _read_text(self, final: bool) -> bool:
        """Content or reasoning: everything up to the next marker."""
        if self._skip and not self._skip_space(final):
            return False
        place = self._place
        # What has been looked at before may have turned out to be text.
        fresh = self._blank and self._draft is None and self._scanned <= self._at
        if fresh and place.opening is not None:
            found = place.opening.match(self._buffer, self._at)
            if found is not None and found[2]:
                self._hold_space(found[1])
                self._at = found.end(1)
                self._take_row(place.rows[found[2]], self._at)
                return True
            if found is not None:
                self._scanned = found.end()
                self._put_up_to(self._scanned)
                return False
        end = self._end(final)
        start = max(self._at, self._scanned)
        if place.is_reasoning and self._draft is None:
            # Its closer wins over a call that is drafted in it, wherever the call begins.
            if self._take(place.closers, start, end, final):
                return True
            if self._take(place.others, start, end, final):
                return True
        elif self._take(place.search, start, end, final):
            return True
        stop = end if final else place.search.hold(self._buffer, start, end)
        if not self._put_up_to(stop):
            return True  # what was a draft is reasoning, where other markers count
        self._scanned = stop
        return False

    def _take(self, search: _Search, start: int, end: int, final: bool) -> bool:
        """Read up to the next marker in text and follow it; False where there is none."""
        line_start = self._line_blank and start == self._at
        found = search.find(self._buffer, start, end, self._known, line_start=line_start)
        if found is None:
            return False
        at, marker = found
        if not final and search.begins(self._buffer, at, end):
            return False  # a longer marker may stand here
        if self._put_up_to(at):
            self._scanned = at
            self._take_row(self._place.rows[marker], at)
        return True

    def _take_row(self, row: _Row, at: int) -> None:
        """Read a call that is all there and begins with a row's marker, or just the marker."""
        if row.decoder is None or not self._take_call(row, row.decoder, at):
            self._follow(row, at, at if row.stays else at + len(row.marker))

    def _take_call(self, row: _Row, decoder: type[Decoder], at: int) -> bool:
        """Read a call that is all there in one step; False where it is not, or near a limit."""
        if self._draft is not None or at < self.decoded:
            return False
        call = decoder.whole(self, row, self._buffer, at + len(row.marker))
        if call is None or not call.name:
            return False
        name, arguments, call_id, last, stop = call
        if len(self._calls) == self._max_calls or self.over_limit(len(arguments)):
            return False
        if self._at < at:  # whitespace in a gap
            self._keep(at)
        if row.before or row.begins_message or self._blank:
            self._give("separator", self._space)
            self._space = ""
        else:
            self._joint(False)
        self._give("call", self._buffer[at:stop])
        if call_id is None and self._make_id is not None:
            call_id = self._make_id()
        index, self._next_index = self._next_index, self._next_index + 1
        self._out.append(_new(Delta, ("", "", index, call_id, name, "", False, "")))
        self._out.append(_new(Delta, ("", "", index, None, "", arguments, False, "")))
        self._calls.append(ToolCall(name, arguments, call_id))
        self._at = stop
        self._enter(last, stop)
        return True

    def _read_gap(self, final: bool) -> bool:
        """Between two pieces of markup: whitespace, then one of the region's markers."""
        place, start = self._place, max(self._from, self._scanned)
        if self._draft is None and place.opening is not None:
            sure = place.opening.match(self._buffer, start)
            if sure is not None and (sure[2] or not final):
                self._scanned = at = sure.end(1)
                if sure[2]:
                    self._take_row(place.rows[sure[2]], at)
                elif not place.otherwise:
                    self._keep(at)
                return bool(sure[2])
        end = self._end(final)
        at = _past_space(self._buffer, start, end)
        self._scanned = at
        if at == end:
            if final:
                return self._end_in_gap(place)
            if not place.otherwise:
                self._keep(end)
            return False
        search = place.search
        cut_off = end - at < search.longest and search.begins(self._buffer, at, end)
        found = search.at.match(self._buffer, at, end) if final or not cut_off else None
        if found is None and cut_off:
            return self._fall_back() if final and self._undecided else False
        if found is None:
            return self._fail(at)
        self._take_row(place.rows[found.group()], at)
        return True

    def _end_in_gap(self, place: _Place) -> bool:
        """The text ends in a gap: fall back, complete the call, or leave it incomplete."""
        if self._undecided and not place.ends:
            return self._fall_back()
        if place.ends and self._held is not None:
            if self._undecided:
                self._decide()
            self._keep(len(self._buffer))
            self._complete()
            self._place = self._text
        return False

    def _read_field(self, final: bool) -> bool:
        """A name, key, id or type up to the marker that ends it."""
        place, start = self._place, max(self._from, self._scanned)
        if start == self._from and self._draft is None and place.opening is not None:
            sure = place.opening.match(self._buffer, start)
            if sure is not None and not sure[2] and not final:
                if sure.end() > start + _LONGEST_QUIET:
                    self._scanned = sure.end()
                return False  # a short word is matched once more when its end is there
            if sure is not None and sure[1] and sure[2]:
                return self._take_field(sure[1], place.rows[sure[2]], sure.end(1))
        end = self._end(final)
        search = place.search
        found = self._find(search, start, end)
        stop = found[0] if found else search.hold(self._buffer, start, end)
        if found and not final and search.begins(self._buffer, stop, end):
            found = None  # a longer marker may stand there
        if start == self._from and not self._undecided:
            self._from = start = _past_space(self._buffer, start, stop)
        if not self._spaced:
            chars = _KEY if place.collects.endswith("key") else _NAME
            start = _match_end(chars, self._buffer, start, stop)
            self._spaced = start < stop
        if self._spaced:
            start = _past_space(self._buffer, start, stop)
        self._scanned = start
        if start < stop:
            return self._fail(start)
        if not found:
            return self._fall_back() if final and self._undecided else False
        written = self._buffer[self._from : stop]
        text = written.strip(_SPACE)
        missing = not text and place.collects != "id"
        # Where this may be text still, a space shows that it is.
        if missing or (self._undecided and any(char in _SPACE for char in written)):
            return self._fail(stop)
        return self._take_field(text, place.rows[found[1]], stop)

    def _take_field(self, text: str, row: _Row, stop: int) -> bool:
        """Take a name, key, id or type that ends at an index of the buffer, and the row behind it."""
        collects = self._place.collects
        if KEY_ESCAPES and collects.endswith("key"):
            text = _key_text(text)
        if not self._fits(collects, text):
            return self._fail(stop)
        if self._undecided and not row.in_value:
            self._decide()
        if not self._capture(collects, text, row.target):
            return self._fail(stop)
        self._follow(row, stop, stop if row.stays else stop + len(row.marker))
        return True

    def _read_raw(self, final: bool) -> bool:
        """An argument's value as it stands, up to what closes it."""
        if self._skip and not self._skip_space(final):
            return False
        end, search = self._end(final), self._place.search
        start = max(self._at, self._scanned)
        found = self._find(search, start, end) if start < end else None
        if found is None or (not final and search.begins(self._buffer, found[0], end)):
            stop = end if found is None else found[0]  # a longer marker may stand there
            self._scanned = stop if final else search.hold(self._buffer, start, stop)
            self._value_text(self._scanned)
            return False
        at, marker = found
        row = self._place.rows[marker]
        self._value_text(at)
        self._undecided = True
        if not row.in_value:
            self._decide()
        self._follow(row, at, at if row.stays else at + len(marker))
        return True

    def _value_text(self, stop: int) -> None:
        text = self._buffer[self._at : stop]
        self._keep(stop)
        if self._decoder is None:
            self._decoder = DECODERS[self._place.name](self)
        self._decoder.read(text, 0, len(text))

    def _decide(self) -> None:
        """What closed a raw value was its closer indeed."""
        self._undecided = False
        decoder, self._decoder = self._decoder, None
        if decoder is not None:
            decoder.ends()

    def _read_data(self, final: bool) -> bool:
        """A value that says itself where it ends."""
        if self._decoder is None:
            self._decoder = DECODERS[self._place.name](self)
        decoder = self._decoder
        decoder.final = final
        at = decoder.read(self._buffer, max(self._from, self._scanned), self._end(final))
        return self._end_data(decoder, at, final)

    def _end_data(self, decoder: Decoder, at: int, final: bool) -> bool:
        """The value has been read up to an index: see whether it has ended there."""
        undecided = bool(self._place.otherwise)
        if undecided and final and not decoder.done and decoder.ends():
            self._cut_off()
            return False
        rows = self._place.rows
        unfinished = undecided and final and not decoder.done
        if decoder.failed or unfinished or (decoder.done and decoder.row not in rows):
            return self._fail(at)
        self._scanned = at
        if not undecided:
            self._keep(at)
        if decoder.completed:
            decoder.completed = False
            self._complete()
            self._held = []
            return True
        if decoder.done:
            self._decoder, self._undecided = None, False
            start = self._at if undecided else at
            self._follow(rows[decoder.row], start, at)
            if decoder.name:
                self.call_name(decoder.name)
            return True
        if final and decoder.ends():
            self._complete()
            self._place = self._text
        return False

    def _read_end(self, final: bool) -> bool:
        """After the end of turn: only whitespace to the end of the text, or it was text."""
        end = self._end(final)
        self._scanned = _past_space(self._buffer, max(self._from, self._scanned), end)
        if self._scanned < end:
            return self._fall_back()
        if final:
            self._place = self._text
            self._joint(False)
            self._give("marker", self._buffer[self._at : self._from])
            self._give("separator", self._buffer[self._from : end])
            self._at, self._undecided = end, False
        return False

    # ---- Moving between regions ----

    def _follow(self, row: _Row, at: int, stop: int) -> None:
        """Take a row of the table: its marker, or what stands for it, is buffer[at:stop]."""
        if self._place.kind == "text":
            self._text = self._place
        if row.is_inner and self._held is not None and not self._undecided:
            self._keep(stop)
        elif row.tentative:
            if row.closes:  # what follows a call that closes itself completes it
                if self._undecided:
                    self._decide()
                self._keep(at)
                self._complete()
            elif self._at < at:
                self._keep(at)
            self._undecided = True
        elif not self._undecided or not row.in_value:
            if self._undecided:
                self._decide()
            self._account(row, at, stop)
        self._enter(row, stop)

    def _enter(self, row: _Row, stop: int) -> None:
        """Go on at an index of the buffer in the region that a row leads to."""
        target = row.target
        if target.before is not None and target.before.kind == "text":
            self._text = target.before
        self._skip = row.skip
        self._blank = self._line_blank = True
        self._spaced = False
        self._place = target
        self._from = self._scanned = stop

    def _account(self, row: _Row, at: int, stop: int) -> None:
        """Account for a marker and for the whitespace around it."""
        if self._held is not None:
            if row.closes and row.opens:  # what completes the call is the opener of the next one
                self._keep(at)
                self._complete()
        elif self._at < at:  # whitespace in a gap
            self._give("content" if row.as_text else "separator", self._buffer[self._at : at])
            self._at = at
        if row.opens and self._held is None:
            self._open(row)
        if self._held is not None:
            self._keep(stop)
            if row.closes and not row.opens:
                self._complete()
            return
        if self._space:
            self._joint(row.before and not row.as_text)
        self._give(row.kind, self._buffer[self._at : stop])
        self._at = stop

    def _skip_space(self, final: bool) -> bool:
        """Remove the whitespace that follows a marker; False where more of it may come."""
        at, end = self._at, self._end(final)
        while self._skip and at < end:
            if self._buffer[at] != self._skip[0]:
                self._skip = ""
                break
            self._skip = self._skip[1:]
            at += 1
        self._keep(at)
        self._from = self._scanned = max(self._scanned, at)
        return not self._skip or final

    # ---- What does not go on ----

    def _fall_back(self) -> bool:
        """Nothing fits: the marker was text of the region before, and so is what follows it."""
        self._place = self._place.before or self._text
        self._from = self._scanned = self._at
        if self._place.kind == "text":
            self._decoder = None
        if self._undecided:
            self._undecided = False
            self._scanned = self._at + 1  # its first character is text: search on behind it
        return True

    def _fail(self, at: int) -> bool:
        """No continuation is valid at an index: the call so far was text."""
        if self._place.otherwise:
            return self._fall_back()
        a_call = self._held is not None and self._draft is None and not self._is_unnamed()
        if self._strict and a_call:
            self._refuse(at)
        self._keep(at)
        text, space = "".join(self._held or ()), self._held_space
        self._withdraw()
        self._place, self._skip, self._blank = self._text, "", False
        self._from = self._scanned = self._at
        self._line_blank = text.endswith("\n")
        if self._draft is not None:
            self._cancel_draft(space + text)
        else:
            self._give(self._place.text_kind, space + text)
        return True

    def _cut_off(self) -> None:
        """The text ends inside the header of a message."""
        if self._strict:
            self._refuse(len(self._buffer))
        self._place = self._text
        self._joint(False)
        self._give("incomplete", self._buffer[self._at :])
        self._at, self._undecided, self._decoder = len(self._buffer), False, None

    def _is_unnamed(self) -> bool:
        """Whether what looked like the beginning of a call has no marker and no name: it is text."""
        call = self._call
        unsure = call is None or not call.name or (call.unlisted and not call.arguments)
        return self.bare and unsure

    def _refuse(self, at: int) -> None:
        rows = [marker for marker in self._place.rows if marker]
        expected = " or ".join(map(repr, rows)) or self._place.name
        if self._place.kind == "field" and self._place.search.at.match(self._buffer, at):
            # A key is empty, or was there before; a closer has another name than its opener.
            same = self._place.collects.startswith("same ")
            expected = f"{'the' if same else 'a new'} {self._place.collects}"
        if self._decoder is not None:
            expected = self._decoder.expected
        end = at == len(self._buffer)
        found = "the end of the text" if end else repr(self._buffer[at : at + 20])
        drafted = [entry[1] for entry in self._draft or () if not isinstance(entry, Delta)]
        pending = [*drafted, self._space, self._held_space, *(self._held or ())]
        position = self._position + sum(map(len, pending)) + at - self._at
        raise ParseError(position, expected, found)


# How the text of a region is read, by its kind: False where nothing more can be done with it.
_READ: dict[str, Callable[[_Reader, bool], bool]] = {
    "text": _Reader._read_text,
    "gap": _Reader._read_gap,
    "field": _Reader._read_field,
    "raw": _Reader._read_raw,
    "data": _Reader._read_data,
    "end": _Reader._read_end,
}


def _key_text(text: str) -> str:
    """An argument's name without the spaces around it and the escapes in it."""
    text = text.strip(_SPACE)
    return _KEY_ESCAPE.sub(lambda escape: KEY_ESCAPES[escape[0]], text) if KEY_ESCAPES else text


# ==== End reading block ====
