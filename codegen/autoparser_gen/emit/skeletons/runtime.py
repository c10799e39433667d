"""The parser core, shared by all generated modules: what a caller uses, and the loop.

Everything between the fences is copied into each of them, after `search.py`, `regions.py`,
`parse_state.py`, `turn.py` and `reading.py`, which it stands on in this order. What stands above the
fence is a toy format, so that this file is a complete module: it is typed, linted and tested as itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoparser_gen.emit.skeletons.messages import Delta, Span
from autoparser_gen.emit.skeletons.reading import _LONGEST_QUIET, _READ, _Reader
from autoparser_gen.emit.skeletons.regions import Decoder, _past_quiet
from autoparser_gen.emit.skeletons.search import _SPACE
from autoparser_gen.emit.skeletons.turn import _new

ASSISTANT_HEADER = "<assistant>"
END_OF_TURN = "<end>"
REASONING_END = "</thought>"
GENERATION_PROMPTS = {
    "default": "<assistant>",
    "thinking": "<assistant>",
    "no_thinking": "<assistant>",
}
SPACE_AFTER_PROMPT = ""

# ==== Begin runtime block (identical in every file) ====


class Parser(_Reader):
    """Incremental parser of one assistant turn: `feed` pieces of text, then `finish`.

    `tools` is OpenAI's list (None: unknown, []: no calls are read). `prompt` is what the model
    was given, or its end; None is the chat template's own generation prompt. With
    `stream_arguments` a call's deltas come as it is read, and a malformed call is retracted; else
    only complete calls come out. `make_id` makes ids for calls that have none. With `max_calls`
    and `max_arguments` (characters of one call's arguments), a LimitError ends an output that
    goes on for ever; the parser is of no use after it, but `message` has what came before.
    """

    __slots__ = ()

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
        super().__init__(tools, reasoning, stream_arguments, strict, make_id)
        self._prefill(GENERATION_PROMPTS["default"] if prompt is None else prompt)
        # The limits are of the text: none while the prompt is read.
        self._max_calls, self._max_arguments = max_calls, max_arguments

    # ---- What a caller uses ----

    def feed(self, chunk: str) -> list[Delta]:
        """Read a piece of text of any length; returns the changes that are now certain."""
        flow = self._flow
        if flow is None:
            call = self._passing
            if call is None or (text := call.passes(chunk)) is None:
                quiet = self._quiet
                if quiet is None:
                    return self._feed(chunk)
                try:  # what `_past_quiet` does, without its call
                    for char in chunk:
                        quiet = quiet[char]
                except KeyError:
                    return self._feed(chunk)
                self._passing = None  # what is put aside is to be read first
                self._buffer += chunk
                self._quiet = quiet if len(self._buffer) < _LONGEST_QUIET else None
                return []
            call.held.append(chunk)
            if not text:
                return []
            if self._max_arguments is not None:
                self._limit_arguments(call, text)
            call.arguments.append(text)
            if call.index is None:
                return []
            return [_new(Delta, ("", "", call.index, None, "", text, False, ""))]
        if self._lead in chunk and self._stops(chunk) is not None:
            return self._feed(chunk)
        # Text in which nothing ends: what `_put` and `_give` do, without their calls.
        body = chunk
        if self._space or chunk[-1:] in _SPACE:
            body = chunk.rstrip(_SPACE)
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
            self._quiet = None
            self._run(True)
            self._settle()
            self._finished = True
        out, self._out = self._out, []
        return out

    @property
    def spans(self) -> list[Span]:
        """What each character accounted for so far is, without gaps."""
        self._leave_flow()
        last = Span(self._span_kind, self._span_start, self._position)
        return [*self._spans, last] if last.start < last.end else list(self._spans)

    # ---- The loop: a step reads up to the next marker or the end of a field or value ----

    def _feed(self, chunk: str) -> list[Delta]:
        """What `feed` does with a piece that is not all text."""
        self._quiet = None
        decoder, held, stops = self._direct, self._held, self._value_stops
        if decoder is None or held is None or (stops and (self._buffer or stops(chunk))):
            self._read(chunk)
        else:  # what `_read_data` or `_read_raw` does, without the buffer
            begun, self._buffer = self._buffer, ""
            text = begun + chunk
            self.decoded = 0
            at = decoder.read(text, 0, len(text))
            if at < len(text) or decoder.done or decoder.failed or decoder.completed:
                self._buffer = text
                self._end_data(decoder, at, False)
                self._leave_flow()
                if not begun:  # what was left unread is not looked at once more
                    self._wait()
                if self._quiet is None:
                    self._read_on(len(begun))
            else:
                held.append(text)
                self._pass_on(decoder, held)
                self._wait()
        out, self._out = self._out, []
        return out

    def _read(self, chunk: str) -> None:
        if self._finished:
            raise RuntimeError("feed() after finish(): a parser reads one turn")
        if self._flow is not None or self._direct is not None:
            self._leave_flow()
        before = len(self._buffer)
        buffer, self._buffer = self._buffer, ""  # one reference: += can grow it in place
        buffer += chunk
        self._buffer = buffer
        if self._draft is not None:
            self._watch_draft(before)
        self._read_on(before)

    def _read_on(self, before: int) -> None:
        """Read the buffer, of which so much was there before the last piece."""
        self._run(False, before)
        if self._draft is not None:
            return
        if not self._buffer:
            self._enter_flow()
        if self._flow is None:
            self._wait()

    def _wait(self) -> None:
        """See whether nothing will be known for a while by what comes next."""
        place, decoder = self._place, self._decoder
        if place.kind == "data":
            quiet = None if decoder is None or decoder.done else decoder.quiet()
        elif self._skip and place.kind == "raw":
            quiet = None  # a value begins behind the whitespace
        elif place.kind == "raw" and decoder is not None:
            quiet = decoder.quiet()
        else:
            quiet = place.far if self.ends_quietly() else place.near
            if self._spaced:  # only what ends a field may follow
                quiet = quiet.get(" ")
        if quiet and self._scanned < len(self._buffer):
            quiet = _past_quiet(quiet, self._buffer[self._scanned :])
        self._quiet = quiet or None

    def _enter_flow(self) -> None:
        """See whether text or a value goes on here, with nothing held back."""
        place = self._place
        if self._skip or self._draft is not None:
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
                self._flow, self._flow_from = flow, len(flow)
                self._lead, self._stops = place.lead, place.stops

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

    def _run(self, final: bool, before: int = 0) -> None:
        """Read what can be read; no whole call begins before an index of the buffer."""
        self._known.clear()
        self.decoded = before
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

    # ---- The two ends of the text ----

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


# ==== End runtime block ====
