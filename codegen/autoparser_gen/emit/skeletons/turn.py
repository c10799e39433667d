"""What becomes of what is read: content, reasoning, calls, deltas.

What stands above the fence is a toy format, as in `runtime.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from autoparser_gen.emit.skeletons.messages import Delta, LimitError, Span, ToolCall
from autoparser_gen.emit.skeletons.parse_state import _Call, _ParseState
from autoparser_gen.emit.skeletons.regions import _Place, _Row
from autoparser_gen.emit.skeletons.search import _BLANK, _SPACE

HAS_IDS = False
ID_AROUND_NAME = ("", "")

# ==== Begin turn block (identical in every file) ====

_new = tuple.__new__  # makes a Delta of all its fields, in a third of the time of Delta(...)
_quoted = json.encoder.encode_basestring  # a string as JSON


class _Turn(_ParseState):
    """How what is read becomes a message and deltas: content, reasoning and calls."""

    __slots__ = ()

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
            start, end = self._span_start, self._position
            if start < end:
                self._spans.append(_new(Span, (self._span_kind, start, end)))
            self._span_kind, self._span_start = kind, end
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
        at = self._at
        if at >= stop:
            return
        self._at = stop
        if self._held is not None:
            self._held.append(self._buffer[at:stop])
        else:
            self._give("separator", self._buffer[at:stop])

    def _fits(self, collects: str, text: str) -> bool:
        """Whether a field goes with what was read before: a key is new, what is repeated is the same."""
        if collects == "key":
            return self._call is None or text not in self._call.keys
        if collects == "same name":
            return text == self.call.name
        return collects != "same key" or text == self.call.key

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

    def ends_quietly(self) -> bool:
        """Whether all deltas of the call in progress are out, so that its end adds none."""
        call = self._call
        if self._undecided:
            return False
        if call is None:
            return True
        has_id = call.id is not None or self._make_id is None
        return call.index is not None and bool(call.arguments) and not call.keys and has_id

    @property
    def place(self) -> _Place:
        """The region being read."""
        return self._place

    @property
    def argument(self) -> tuple[str, str, str]:
        """Of the value being read: the tool's name, the argument's name, the type in the markup."""
        call = self.call
        return call.name, call.key, call.type

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
        if self._held_space:
            self._give("separator", self._held_space)
            self._held_space = ""
        self._give("call" if call is not None else "marker", text)
        if call is None:
            return
        late = self._give_id(call)
        closing = "{}" if not call.arguments else "}" if call.keys else ""
        if closing:
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

    # ---- Limits ----

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

    @property
    def limits_arguments(self) -> bool:
        """Whether the arguments of a call may be too long."""
        return self._max_arguments is not None

    def limit_kept(self, size: int) -> None:
        """Of an argument that goes out when it is complete, so many characters are there already."""
        if self._draft is None:
            self._require_at_most(self.call.size + size)

    def over_limit(self, size: int) -> bool:
        """Whether these are more characters than the arguments of a call may have, if that is limited."""
        return self._max_arguments is not None and size > self._max_arguments

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


def _name_in_id(text: str, schemas: Mapping[str, Any] | None) -> str:
    """The function's name in an id that carries it; prefix and number are optional."""
    prefix, separator = ID_AROUND_NAME
    name = text.removeprefix(prefix)
    base, _, number = name.rpartition(separator) if separator else ("", "", "")
    return base if base and number.isdecimal() and not (schemas and name in schemas) else name


# ==== End turn block ====
