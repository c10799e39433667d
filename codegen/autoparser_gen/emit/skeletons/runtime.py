"""The parser core, shared by all generated modules.

Everything between the fences is copied into each of them. What stands above the fence is a toy
format, so that this file is a complete module: it is typed, linted and tested as itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoparser_gen.emit.skeletons.messages import (
    Delta,
    LimitError,
    Message,
    ParseError,
    Span,
    ToolCall,
)
from autoparser_gen.emit.skeletons.regions import (
    _BLANK,
    _SPACE,
    DECODERS,
    Decoder,
    _Known,
    _Place,
    _places,
    _ReadPiece,
    _Row,
    _Search,
    _SearchIn,
)

ASSISTANT_HEADER = "<assistant>"
END_OF_TURN = "<end>"
REASONING_END = "</thought>"
GENERATION_PROMPTS = {
    "default": "<assistant>",
    "thinking": "<assistant>",
    "no_thinking": "<assistant>",
}
SPACE_AFTER_PROMPT = ""
HAS_IDS = False
ID_AROUND_NAME = ("", "")
KEY_ESCAPES: dict[str, str] = {}
START = "start"

# ==== Begin runtime block (identical in every file) ====

_SPACE_RUN = re.compile(r"[ \t\r\n]*")
_quoted = json.encoder.encode_basestring  # a string as JSON
_NEVER: _SearchIn = re.compile(r"(?!)").search
_new = tuple.__new__  # makes a Delta of all its fields, in a third of the time of Delta(...)
# What a name in markup can be made of: no whitespace, quotes, brackets or control characters.
_NAME = re.compile(r"[^\s<>\"'`{}\[\](),;=\x00-\x1f\x7f]*")
_KEY = re.compile(r"[^\n\r<>\"\x00-\x1f\x7f]*")
_KEY_ESCAPE = re.compile("|".join(map(re.escape, KEY_ESCAPES)) or r"(?!)")


def _pass_none(piece: str) -> None:
    """What reads no piece at once."""


class _Call:
    """The call in progress."""

    def __init__(self) -> None:
        self.name = ""
        self.id: str | None = None
        self.index: int | None = None  # set once it has been announced in a delta
        self.arguments: list[str] = []  # pieces of JSON text
        self.size = 0  # characters of them, where they are limited
        self.keys: set[str] = set()  # arguments in markup that are there already
        self.key = ""  # the one whose value is being read
        self.type = ""  # the type that the markup gives it
        self.unlisted = False  # no marker begins it, and the names that it may have are not known
        # Of the value being read, while `feed` reads pieces of it at once.
        self.passes: _ReadPiece = _pass_none
        self.held: list[str] = []  # Parser's


class Parser:
    """Incremental parser of one assistant turn: `feed` pieces of text, then `finish`.

    `tools` is OpenAI's list (None: unknown, []: no calls are read). `prompt` is what the model
    was given, or its end; None is the chat template's own generation prompt. With
    `stream_arguments` a call's deltas come as it is read, and a malformed call is retracted; else
    only complete calls come out. `make_id` makes ids for calls that have none. With `max_calls`
    and `max_arguments` (characters of one call's arguments), a LimitError ends an output that
    goes on for ever; the parser is of no use after it, but `message` has what came before.
    """

    def __init__(
        self,
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        prompt: str | None = None,
        reasoning: bool = True,
        stream_arguments: bool = True,
        strict: bool = False,
        make_id: Callable[[], str] | None = None,
        max_calls: int | None = None,
        max_arguments: int | None = None,
    ) -> None:
        self.schemas = None if tools is None else _schemas(tools)
        # What a decoder has found in the schemas of a tool's argument: it, its document, whether a string.
        self.argument_schemas: dict[tuple[str, str], tuple[tuple[Any, Any] | None, bool]] = {}
        self._stream_arguments = stream_arguments
        self._strict = strict
        self._make_id = make_id
        self._max_calls: int | None = None  # limits are of the text: none while the prompt is read
        self._max_arguments: int | None = None
        places = _places(tools is None or bool(tools), reasoning)
        # ---- The whole state of a parse ----
        self._place = places[START]
        self._buffer = ""
        self._at = 0  # index into _buffer: what lies before it is accounted for
        self._from = 0  # index into _buffer: where the region's own text begins
        self._scanned = 0  # index into _buffer: what lies before it need not be looked at again
        self._known: _Known = {}
        self.decoded = 0  # index into _buffer: up to there a decoder has read ahead in vain
        self._undecided = False  # the marker at _at may turn out to be text
        self._spaced = False  # whitespace has ended the name or key that is being read
        self._skip = ""  # whitespace that is removed after the last marker, as far as it is there
        self._space = ""  # whitespace in text: what follows decides what it is
        self._blank = True  # the text since the last marker is only whitespace
        self._line_blank = True  # the line so far is only whitespace
        self._text = places.get("content", self._place)  # the text region that was left last
        self._held: list[str] | None = None  # the call's text from its opener on
        self._held_space = ""  # whitespace before the opener: a separator if the call completes
        self._held_blank = False  # there is nothing but it between the opener and the last marker
        self.bare = False  # the call in progress has no marker
        self._call: _Call | None = None  # the call in progress
        self._decoder: Decoder | None = None
        self._draft: list[tuple[str, str] | Delta] | None = None  # calls in open reasoning
        self._draft_place = self._place  # the reasoning region that they stand in
        self._draft_calls: list[ToolCall] = []
        self._next_index = 0
        self._finished = False
        self._flow: list[str] | None = None  # `feed` puts text there while `_stops` finds nothing
        self._flow_from = 0  # what comes behind that is not counted in _position yet
        self._stops: _SearchIn = _NEVER
        self._direct: Decoder | None = None  # reads what goes on here, without the buffer
        self._value_stops: _SearchIn | None = None
        self._passing: _Call | None = None  # whose `passes` reads pieces of it
        self._position = 0  # characters accounted for
        self._incomplete = ""
        self._calls: list[ToolCall] = []
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._spans: list[Span] = []  # all but the last one
        self._span_kind = ""
        self._span_start = 0
        self._out: list[Delta] = []
        # ------------------------------------
        self._prefill(GENERATION_PROMPTS["default"] if prompt is None else prompt)
        self._max_calls, self._max_arguments = max_calls, max_arguments

    # ---- What a caller uses ----

    def feed(self, chunk: str) -> list[Delta]:
        """Read a piece of text of any length; returns the changes that are now certain."""
        flow = self._flow
        if flow is None:
            call = self._passing
            if call is None or (text := call.passes(chunk)) is None:
                return self._feed(chunk)
            call.held.append(chunk)
            if not text:
                return []
            if self._max_arguments is not None:
                self._limit_arguments(call, text)
            call.arguments.append(text)
            if call.index is None:
                return []
            return [_new(Delta, ("", "", call.index, None, "", text, False, ""))]
        if self._stops(chunk) is not None:
            return self._feed(chunk)
        # Text in which nothing ends: what `_put` and `_give` do, without their calls.
        body = chunk.rstrip(_SPACE)
        if self._space or body != chunk:
            if not body:
                self._hold_space(chunk)
                return []
            space, self._space = self._space, chunk[len(body) :]
            body = space + body
        flow.append(body)
        if flow is self._content:
            return [_new(Delta, (body, "", None, None, "", "", False, ""))]
        return [_new(Delta, ("", body, None, None, "", "", False, ""))]

    def finish(self) -> list[Delta]:
        """The text has ended: returns the last changes."""
        if not self._finished:
            self._leave_flow()
            self._run(True)
            self._settle()
            self._finished = True
        out, self._out = self._out, []
        return out

    @property
    def message(self) -> Message:
        """The message so far, with the call in progress once it has been announced."""
        calls, call = list(self._calls), self._call
        if call is not None and call.index is not None and self._draft is None:
            calls.append(ToolCall(call.name, "".join(call.arguments), call.id))
        return Message(
            content="".join(self._content),
            reasoning_content="".join(self._reasoning),
            tool_calls=calls,
            incomplete=self._incomplete,
        )

    @property
    def spans(self) -> list[Span]:
        """What each character accounted for so far is, without gaps."""
        self._leave_flow()
        last = Span(self._span_kind, self._span_start, self._position)
        return [*self._spans, last] if last.start < last.end else list(self._spans)

    # ---- The loop: a step reads up to the next marker or the end of a field or value ----

    def _feed(self, chunk: str) -> list[Delta]:
        """What `feed` does with a piece that is not all text."""
        decoder, held, stops = self._direct, self._held, self._value_stops
        if decoder is None or held is None or (stops is not None and stops(chunk) is not None):
            self._read(chunk)
        else:  # what `_read_data` or `_read_raw` does, without the buffer
            at = decoder.read(chunk, 0, len(chunk))
            if at < len(chunk) or decoder.done or decoder.failed or decoder.completed:
                self._buffer = chunk
                self._end_data(decoder, at, False)
                self._read("")
            else:
                held.append(chunk)
                self._pass_on(decoder, held)
        out, self._out = self._out, []
        return out

    def _read(self, chunk: str) -> None:
        if self._finished:
            raise RuntimeError("feed() after finish(): a parser reads one turn")
        self._leave_flow()
        before = len(self._buffer)
        buffer, self._buffer = self._buffer, ""  # one reference: += can grow it in place
        buffer += chunk
        self._buffer = buffer
        if self._draft is not None:
            self._watch_draft(before)
        self._run(False)
        self._enter_flow()

    def _enter_flow(self) -> None:
        """See whether text or a value goes on here, with nothing held back."""
        place = self._place
        if self._buffer or self._skip or self._draft is not None:
            return
        if self._decoder is not None:
            if self._held is not None:
                self._direct = self._decoder
                self._value_stops = place.stops if place.kind == "raw" else None
                self._pass_on(self._decoder, self._held)
        elif place.kind == "text" and self._span_kind == place.text_kind and not self._blank:
            flows = {"content": self._content, "reasoning": self._reasoning}
            flow = flows.get(self._span_kind)
            if flow is not None and not (self._line_blank and place.search.bare):
                self._flow, self._flow_from, self._stops = flow, len(flow), place.stops

    def _pass_on(self, decoder: Decoder, held: list[str]) -> None:
        """See whether `feed` can pass on pieces of a value."""
        self._passing, passes = self._call, decoder.passes()
        if self._passing is None or passes is None:
            self._passing = None
        else:
            self._passing.passes, self._passing.held = passes, held

    def _leave_flow(self) -> None:
        if self._flow is not None:
            self._position += sum(map(len, self._flow[self._flow_from :]))
        self._flow = self._direct = self._passing = None

    def _run(self, final: bool) -> None:
        self._known.clear()
        self.decoded = 0
        while _READ[self._place.kind](self, final):
            pass
        if self._at == len(self._buffer):
            self._buffer = ""
            self._at = self._from = self._scanned = 0
        elif self._at:
            self._buffer = self._buffer[self._at :]
            self._from = max(0, self._from - self._at)
            self._scanned = max(0, self._scanned - self._at)
            self._at = 0

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
        place, end = self._place, self._end(final)
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
            row = self._place.rows[marker]
            if row.decoder is None or not self._take_call(row, row.decoder, at):
                self._follow(row, at, at if row.stays else at + len(marker))
        return True

    def _take_call(self, row: _Row, decoder: type[Decoder], at: int) -> bool:
        """Read a call that is all there in one step; False where it is not, or near a limit."""
        if self._draft is not None:
            return False
        call = decoder.whole(self, row, self._buffer, at + len(row.marker))
        if call is None or not call.name:
            return False
        if len(self._calls) == self._max_calls or self.over_limit(call.arguments):
            return False
        name, arguments, call_id, last, stop = call
        if self._at < at:  # whitespace in a gap
            self._keep(at)
        if row.before or self._blank:
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
        place, end = self._place, self._end(final)
        at = _past_space(self._buffer, max(self._from, self._scanned), end)
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
        row = place.rows[found.group()]
        if row.decoder is None or not self._take_call(row, row.decoder, at):
            self._follow(row, at, at if row.stays else found.end())
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
        place, end = self._place, self._end(final)
        search = place.search
        start = max(self._from, self._scanned)
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
        if place.collects.endswith("key"):
            text = _key_text(text)
        row = place.rows[found[1]]
        missing = not text and place.collects != "id"
        # Where this may be text still, a space shows that it is.
        missing = missing or (self._undecided and any(char in _SPACE for char in written))
        if missing or (place.collects == "key" and text in self.call.keys):
            return self._fail(stop)
        if self._undecided and not row.in_value:
            self._decide()
        if not self._capture(place.collects, text, row.target):
            return self._fail(stop)
        self._follow(row, stop, stop if row.stays else stop + len(found[1]))
        return True

    def _read_raw(self, final: bool) -> bool:
        """An argument's value as it stands, up to what closes it."""
        if self._skip and not self._skip_space(final):
            return False
        end, search = self._end(final), self._place.search
        start = max(self._at, self._scanned)
        found = self._find(search, start, end)
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
        if row.tentative:
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

    # ---- Text outside of calls, and the whitespace in it ----

    def _put_up_to(self, stop: int) -> bool:
        start, self._at = self._at, stop
        return start == stop or self._put(self._buffer[start:stop])

    def _put(self, text: str) -> bool:
        """Further text; False where it shows that the calls in reasoning were a draft."""
        body = text.rstrip(_SPACE)
        space = text[len(body) :]
        if self._draft is not None and body:
            self._cancel_draft(text)
            return False
        if "\n" in text:
            self._line_blank = not text[text.rfind("\n") + 1 :].strip(_BLANK)
        elif body or "\r" in text:
            self._line_blank = False
        if body:
            body, self._space = self._space + body, ""
            self._give(self._place.text_kind, body)
            self._blank = False
        if space:
            self._hold_space(space)
        return True

    def _hold_space(self, space: str) -> None:
        held, self._space = self._space, ""  # one reference: += can grow it in place
        held += space
        self._space = held

    def _joint(self, before: bool) -> None:
        """A marker follows: decide what the whitespace before it is."""
        if self._space:
            kind = "separator" if before or self._blank else self._place.text_kind
            self._give(kind, self._space)
            self._space = ""

    def _give(self, kind: str, text: str) -> None:
        """Account for a piece of text outside of calls."""
        if not text:
            return
        if self._draft is not None:
            self._draft.append((kind, text))
            return
        if kind != self._span_kind or kind == "call" or kind == "marker":
            if self._span_start < self._position:
                self._spans.append(Span(self._span_kind, self._span_start, self._position))
            self._span_kind, self._span_start = kind, self._position
        self._position += len(text)
        if kind == "content":
            self._content.append(text)
            self._out.append(_new(Delta, (text, "", None, None, "", "", False, "")))
        elif kind == "reasoning":
            self._reasoning.append(text)
            self._out.append(_new(Delta, ("", text, None, None, "", "", False, "")))
        elif kind == "incomplete":
            self._incomplete += text
            self._out.append(Delta(incomplete=text))

    # ---- Calls ----

    def _open(self, row: _Row) -> None:
        """A call, or a section of calls, begins at `_at`."""
        if self._place.is_reasoning and self._draft is None:
            self._draft, self._draft_place = [], self._place
        self._held_blank = self._blank
        if row.before or self._blank:
            self._held_space, self._space = self._space, ""
        else:
            self._joint(False)
        self._held, self._call, self.bare = [], None, row.bare

    def _keep(self, stop: int) -> None:
        """Account for markup up to an index: the call's, or whitespace outside of calls."""
        text = self._buffer[self._at : stop]
        self._at = max(self._at, stop)
        if not text:
            return
        if self._held is not None:
            self._held.append(text)
        else:
            self._give("separator", text)

    def _capture(self, collects: str, text: str, target: _Place) -> bool:
        """A field has been read; False where the call cannot be with it."""
        call = self.call
        if collects == "name":
            call.unlisted = self.bare and self.schemas is None
            return self.call_name(text, announce=target.collects != "id" and not call.unlisted)
        if collects == "named_id":
            call.id = text
            return self.call_name(_name_in_id(text, self.schemas))
        if collects == "id":
            self.call_id(text)
            if call.name and call.index is None:
                self._announce(call)
        elif collects == "type":
            call.type = text
        elif collects == "same name":
            return text == call.name
        elif collects == "same key":
            return text == call.key
        elif collects == "key":
            opening = ", " if call.keys else "{"
            call.keys.add(text)
            call.key, call.type = text, ""
            self.call_arguments(f"{opening}{_quoted(text)}: ")
        return True

    def call_name(self, name: str, announce: bool = True) -> bool:
        """The name of the call in progress is known; False where it cannot be one."""
        if self.bare and self.schemas is not None and name not in self.schemas:
            return False
        call = self.call
        call.name = name
        if announce:
            self._announce(call)
        return True

    def call_id(self, text: str) -> None:
        """The id of the call in progress is known."""
        call = self.call
        call.id = text
        if call.index is not None:
            self._emit(Delta(index=call.index, id=text))

    def call_arguments(self, text: str) -> None:
        """A further piece of the arguments' JSON text; it waits for the name."""
        call = self._call or self.call
        if self._max_arguments is not None:
            self._limit_arguments(call, text)
        call.arguments.append(text)
        if call.index is not None:
            if text:
                out = self._out if self._draft is None else self._draft
                out.append(_new(Delta, ("", "", call.index, None, "", text, False, "")))
        elif call.name:
            self._announce(call)

    @property
    def call(self) -> _Call:
        """The call in progress."""
        if self._call is None:
            self._call = _Call()
        return self._call

    @property
    def place(self) -> _Place:
        """The region being read."""
        return self._place

    @property
    def argument(self) -> tuple[str, str, str]:
        """Of the value being read: the tool's name, the argument's name, the type in the markup."""
        return self.call.name, self.call.key, self.call.type

    def _announce(self, call: _Call) -> None:
        if self._stream_arguments:
            self._begin(call)

    def _begin(self, call: _Call) -> None:
        """The deltas of all that is known of a call; further arguments go out as they come."""
        if self._draft is None:  # reasoning that closes takes back what was drafted in it
            self._limit_calls(len(self._calls) + 1)
        if not HAS_IDS:  # then none can come later
            self._give_id(call)
        call.index = self._next_index
        self._next_index += 1
        self._emit(_new(Delta, ("", "", call.index, call.id, call.name, "", False, "")))
        arguments = "".join(call.arguments)
        if arguments:
            self._emit(_new(Delta, ("", "", call.index, None, "", arguments, False, "")))

    def _limit_calls(self, count: int) -> None:
        if self._max_calls is not None and count > self._max_calls:
            raise LimitError(f"more than {self._max_calls} calls")

    def _limit_arguments(self, call: _Call, text: str) -> None:
        call.size += len(text)
        if self._draft is None and self._max_arguments is not None:
            self._require_at_most(call.size)

    def _require_at_most(self, size: int) -> None:
        if self._max_arguments is not None and size > self._max_arguments:
            raise LimitError(f"a call's arguments have over {self._max_arguments} characters")

    def over_limit(self, arguments: str) -> bool:
        """Whether this is more than the arguments of a call may be, if that is limited."""
        return self._max_arguments is not None and len(arguments) > self._max_arguments

    def _give_id(self, call: _Call) -> bool:
        """Make an id for a call that has none; True where there is a new one."""
        if call.id is not None or self._make_id is None:
            return False
        call.id = self._make_id()
        return True

    def _emit(self, delta: Delta) -> None:
        if self._draft is None:
            self._out.append(delta)
        else:
            self._draft.append(delta)

    def _complete(self) -> None:
        """The call in progress is complete, or a section of calls has ended without one."""
        text, call = "".join(self._held or ()), self._call
        self._held = self._call = None
        self._give("separator", self._held_space)
        self._held_space = ""
        self._give("call" if call is not None else "marker", text)
        if call is None:
            return
        late = self._give_id(call)
        closing = "{}" if not call.arguments else "}" if call.keys else ""
        self._limit_arguments(call, closing)
        call.arguments.append(closing)
        if call.index is None:
            self._begin(call)
        else:
            if late:
                self._emit(Delta(index=call.index, id=call.id))
            if closing:
                self._emit(_new(Delta, ("", "", call.index, None, "", closing, False, "")))
        done = ToolCall(call.name, "".join(call.arguments), call.id)
        (self._calls if self._draft is None else self._draft_calls).append(done)

    def _withdraw(self) -> None:
        """Forget the call in progress."""
        call = self._call
        if call is not None and call.index is not None:
            self._emit(Delta(index=call.index, retracted=True))
        self._held = self._call = self._decoder = None
        self._held_space = ""
        self._undecided = False

    # ---- Calls in reasoning that has not closed: held back until the text ends ----

    def _watch_draft(self, fresh: int) -> None:
        """Where the reasoning closes after all, what was drafted in it is reasoning.

        What stands before an index of the buffer has been looked at.
        """
        closers = self._draft_place.closers
        start = max(self._at, self._scanned, fresh - closers.longest + 1)
        if closers.find(self._buffer, start, len(self._buffer), {}):
            self._cancel_draft("")

    def _cancel_draft(self, text: str) -> None:
        """The calls in reasoning, and the text that follows them, are reasoning."""
        drafted, self._draft = self._draft or [], None
        before = "".join(entry[1] for entry in drafted if not isinstance(entry, Delta))
        indexes = [d.index for d in drafted if isinstance(d, Delta) and d.index is not None]
        self._next_index = min(indexes, default=self._next_index)
        held = self._held_space + "".join(self._held or ()) + self._space
        self._held = self._call = self._decoder = None
        self._held_space, self._undecided, self._skip = "", False, ""
        self._draft_calls.clear()
        self._place, self._from, self._scanned = self._draft_place, self._at, self._at
        text = before + held + text
        body = text.rstrip(_SPACE)
        self._give("reasoning", body)
        self._space = text[len(body) :]
        self._blank = False

    def _release_draft(self) -> None:
        """The text has ended: the drafted calls count."""
        drafted, self._draft = self._draft or [], None
        self._limit_calls(len(self._calls) + len(self._draft_calls))
        self._require_at_most(max((len(call.arguments) for call in self._draft_calls), default=0))
        for entry in drafted:
            if isinstance(entry, Delta):
                self._out.append(entry)
            else:
                self._give(*entry)
        self._calls += self._draft_calls
        self._draft_calls = []

    # ---- The two ends of the text ----

    def _cut_off(self) -> None:
        """The text ends inside the header of a message."""
        if self._strict:
            self._refuse(len(self._buffer))
        self._place = self._text
        self._joint(False)
        self._give("incomplete", self._buffer[self._at :])
        self._at, self._undecided, self._decoder = len(self._buffer), False, None

    def _settle(self) -> None:
        """Account for what is left when the text has ended."""
        if self._held is not None:
            self._settle_call(self._held)
            return
        if self._draft is not None:
            self._release_draft()
        after_marker = self._blank and self._position > 0
        self._hold_space(self._buffer[self._at :])
        self._at = len(self._buffer)
        kind = self._place.text_kind or "content"
        self._give("separator" if after_marker else kind, self._space)
        self._space = ""

    def _settle_call(self, held: list[str]) -> None:
        """The text ends inside a call, or between two of them."""
        unnamed = self._is_unnamed()
        left = "".join([*held, self._buffer[self._at :]])
        between = self._call is None and not left.strip(_SPACE)
        if self._strict and not unnamed and not between:
            self._refuse(len(self._buffer))
        self._at = len(self._buffer)
        space, blank = self._held_space, self._held_blank
        self._withdraw()
        if self._draft is not None:
            self._release_draft()
        self._place = self._text
        self._give("separator" if blank and not unnamed else self._place.text_kind, space)
        kind = self._place.text_kind if unnamed else "incomplete"
        self._give("separator" if between else kind, left)

    def _prefill(self, prompt: str) -> None:
        """Read the end of the prompt: keep the state that it leaves, discard what it yields."""
        for start in (ASSISTANT_HEADER, ASSISTANT_HEADER.rstrip(_SPACE), END_OF_TURN):
            at = prompt.rfind(start) if start else -1
            if at >= 0:
                prompt = prompt[at + len(start) :]
                break
        if not prompt:
            self._skip = SPACE_AFTER_PROMPT
        strict, self._strict = self._strict, False
        outset, self._buffer = self._place, prompt
        self._run(False)
        self._strict = strict
        if REASONING_END and prompt.rstrip(_SPACE).endswith(REASONING_END) and not self._out:
            # It closed an empty block. A model that reasons all the same opens one of its own.
            self._place = outset
        if self._held is None:
            # A header that the prompt has begun goes on in the text; nothing else is left over.
            if self._decoder is not None:
                self._decoder.begun = self._buffer[self._from :]
            self._buffer, self._undecided = "", False
            self._at = self._from = self._scanned = 0
        self._space = ""
        self._out.clear()
        self._spans.clear()
        self._content.clear()
        self._reasoning.clear()
        self._calls.clear()
        self._position = self._span_start = self._next_index = 0
        self._span_kind = ""
        if self._held is not None:
            self._held.clear()
        if self._call is not None:
            self._call.index = None


# How the text of a region is read, by its kind: False where nothing more can be done with it.
_READ: dict[str, Callable[[Parser, bool], bool]] = {
    "text": Parser._read_text,
    "gap": Parser._read_gap,
    "field": Parser._read_field,
    "raw": Parser._read_raw,
    "data": Parser._read_data,
    "end": Parser._read_end,
}


def _past_space(text: str, at: int, end: int) -> int:
    if at < end and text[at] not in _SPACE:
        return at
    found = _SPACE_RUN.match(text, at, end)
    return at if found is None else found.end()


def _match_end(pattern: re.Pattern[str], text: str, at: int, end: int) -> int:
    found = pattern.match(text, at, end)
    return at if found is None else found.end()


def _key_text(text: str) -> str:
    """An argument's name without the spaces around it and the escapes in it."""
    text = text.strip(_SPACE)
    return _KEY_ESCAPE.sub(lambda escape: KEY_ESCAPES[escape[0]], text) if KEY_ESCAPES else text


def _schemas(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Name to parameters of an OpenAI tool list (wrapped in `function` or bare)."""
    functions = [tool.get("function", tool) for tool in tools if isinstance(tool, Mapping)]
    return {
        str(function.get("name")): function.get("parameters") or {}
        for function in functions
        if isinstance(function, Mapping)
    }


def _name_in_id(text: str, schemas: Mapping[str, Any] | None) -> str:
    """The function's name in an id that carries it; prefix and number are optional."""
    prefix, separator = ID_AROUND_NAME
    name = text.removeprefix(prefix)
    base, _, number = name.rpartition(separator) if separator else ("", "", "")
    return base if base and number.isdecimal() and not (schemas and name in schemas) else name


# ==== End runtime block ====
