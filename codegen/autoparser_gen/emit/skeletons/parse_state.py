"""The whole state of a parse, in one object.

What stands above the fence is a toy format, as in `runtime.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoparser_gen.emit.skeletons.messages import Delta, Message, Span, ToolCall
from autoparser_gen.emit.skeletons.regions import Decoder, _places, _Quiet, _ReadPiece
from autoparser_gen.emit.skeletons.search import _Known, _SearchIn

START = "start"

# ==== Begin parse state block (identical in every file) ====

_NEVER: _SearchIn = re.compile(r"(?!)").search


def _pass_none(piece: str) -> None:
    """What reads no piece at once."""


# What a decoder has found out of an argument: its schema and the document that this refers into, its
# type by the markup, whether it is a string as it stands.
_Argument = tuple["tuple[Any, Any] | None", str, bool]


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


class _ParseState:
    """The state of a parse."""

    # Of more than 30 attributes without slots, each takes CPython a look into a dictionary.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "schemas",
        "arguments",
        "_stream_arguments",
        "_strict",
        "_make_id",
        "_max_calls",
        "_max_arguments",
        "_place",
        "_buffer",
        "_at",
        "_from",
        "_scanned",
        "_known",
        "decoded",
        "_undecided",
        "_spaced",
        "_skip",
        "_space",
        "_blank",
        "_line_blank",
        "_text",
        "_held",
        "_held_space",
        "_held_blank",
        "bare",
        "_call",
        "_decoder",
        "_draft",
        "_draft_place",
        "_draft_calls",
        "_next_index",
        "_finished",
        "_flow",
        "_flow_from",
        "_stops",
        "_lead",
        "_direct",
        "_value_stops",
        "_passing",
        "_quiet",
        "_position",
        "_incomplete",
        "_calls",
        "_content",
        "_reasoning",
        "_spans",
        "_span_kind",
        "_span_start",
        "_out",
    )

    def __init__(
        self,
        tools: Sequence[Mapping[str, Any]] | None,
        reasoning: bool,
        stream_arguments: bool,
        strict: bool,
        make_id: Callable[[], str] | None,
    ) -> None:
        self.schemas = None if tools is None else _schemas(tools)
        # What is known of an argument, by the tool, its own name, and the type in the markup.
        self.arguments: dict[tuple[str, str, str], _Argument] = {}
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
        self._lead = ""  # what stands in each piece that `_stops` finds something in
        self._direct: Decoder | None = None  # reads what goes on here, without the buffer
        self._value_stops: _SearchIn | None = None
        self._passing: _Call | None = None  # whose `passes` reads pieces of it
        self._quiet: _Quiet | None = None  # what may come while `_read` need not look
        self._position = 0  # characters accounted for
        self._incomplete = ""
        self._calls: list[ToolCall] = []
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._spans: list[Span] = []  # all but the last one
        self._span_kind = ""
        self._span_start = 0
        self._out: list[Delta] = []

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


def _schemas(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Name to parameters of an OpenAI tool list (wrapped in `function` or bare)."""
    functions = [tool.get("function", tool) for tool in tools if isinstance(tool, Mapping)]
    return {
        str(function.get("name")): function.get("parameters") or {}
        for function in functions
        if isinstance(function, Mapping)
    }


# ==== End parse state block ====
