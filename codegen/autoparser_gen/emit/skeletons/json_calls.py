"""Decoder for calls that are JSON values with their name inside."""

from __future__ import annotations

import re

from autoparser_gen.emit.skeletons.json_values import (
    _KEY_TOKEN,
    _STRING_RUN,
    JsonValue,
    _last_marker,
    _string,
    _whole,
)
from autoparser_gen.emit.skeletons.regions import Decoder, _ReadPiece, _Row, _WholeCall
from autoparser_gen.emit.skeletons.runtime import Parser, _past_space

NAME_FIELD = "name"
ARGUMENTS_FIELD = "arguments"
ID_FIELD = "id"
FUNCTION_FIELD = ""
FIXED_FIELDS: list[str] = []
NAME_IS_KEY = False
CALLS_IN_ARRAY = True
ARGUMENTS_AS_STRING = False

# ==== Begin JSON calls block (identical in every file that has it) ====

_ARGUMENTS = frozenset((ARGUMENTS_FIELD, "arguments", "parameters"))
_ID = {ID_FIELD: "id"} if ID_FIELD else {}
_FIXED = dict.fromkeys(FIXED_FIELDS, "fixed")
_FIELDS = {NAME_FIELD: "name", **dict.fromkeys(_ARGUMENTS, "arguments"), **_ID, **_FIXED}
_OUTER_FIELDS = {FUNCTION_FIELD: "function", **_ID, **_FIXED}  # around the object of FUNCTION_FIELD
_CALL_DEPTH = 2 if FUNCTION_FIELD else 1
# How most calls begin, up to their arguments; what does not is read step by step.
_HEAD_TOKENS = ["{", f'"({_STRING_RUN})"', ":", "(?={)"]
if not NAME_IS_KEY:
    _HEAD_TOKENS[1:1] = [f'"{re.escape(NAME_FIELD)}"', ":"]
    _HEAD_TOKENS[4:4] = [",", f'"({"|".join(map(re.escape, sorted(_ARGUMENTS)))})"']
_HEAD = re.compile(r"[ \t\r\n]*".join(_HEAD_TOKENS))
# How most of them end behind their arguments: with an id, which is not empty, or without.
_ID_TOKENS = ["(?:,", f'"{re.escape(ID_FIELD)}"', ":", f'"(?!")({_STRING_RUN})"', ")?}"]
if not ID_FIELD or NAME_IS_KEY or FUNCTION_FIELD:
    _ID_TOKENS = ["()}"]
_TAIL = re.compile(r"[ \t\r\n]*".join(["", *_ID_TOKENS]))


class JsonCalls(Decoder):
    """One call object, or an array of them.

    Fields may come in any order. Where a marker introduced the call, other fields are ignored.
    """

    expected = "a call as JSON"

    def __init__(self, parser: Parser) -> None:
        super().__init__(parser)
        self._expect = "[" if CALLS_IN_ARRAY else "{"
        self._depth = 0  # 2 inside the object of FUNCTION_FIELD
        self._field = ""
        self._fields: set[str] = set()
        self._arguments: JsonValue | None = None  # passed on as they come
        self._value: JsonValue | None = None  # a key, or any other value
        self._pieces: list[str] = []  # of it

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        if self._arguments is not None:
            at = self._read_arguments(self._arguments, text, at, end)
        while at < end and not (self.done or self.failed or self.completed):
            if self._value is not None:
                at = self._read_value(self._value, text, at, end)
            elif self._arguments is not None:
                at = self._read_arguments(self._arguments, text, at, end)
            else:
                at = _past_space(text, at, end)
                if at < end:
                    at = self._take(text, at, end)
        return at

    @classmethod
    def whole(cls, parser: Parser, row: _Row, text: str, at: int) -> _WholeCall | None:
        """See Decoder."""
        if CALLS_IN_ARRAY or FUNCTION_FIELD or "" not in row.target.rows:
            return None
        end = len(text)
        head = _HEAD.match(text, _past_space(text, at, end))
        if head is None or not head[1]:
            return None
        at = head.end()
        stop = _whole(text, at, end, parser)
        tail = _TAIL.match(text, stop) if stop else None
        closed = tail and _last_marker(row, text, tail.end())
        if not tail or not closed:
            return None
        return _WholeCall(head[1], text[at:stop], tail[1] or None, *closed)

    def ends(self) -> bool:
        """The text has ended: whether the last call is complete, if not the array."""
        return self._expect == ", or ]"

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        return None if self._arguments is None else self._arguments.read_piece

    def _take(self, text: str, at: int, end: int) -> int:
        """Take what stands here of the call's own structure; returns the index behind it."""
        char, expect = text[at], self._expect
        if char == '"' and expect in ('"', '" or }'):
            return self._begin_key(text, at, end)
        if expect == "[":
            self._expect, self.failed = "{ or ]", char != "["
        elif expect in ("{", "{ or ]"):
            if self._depth == _CALL_DEPTH - 1 and (head := _HEAD.match(text, at, end)):
                return self._take_head(head, text, end)
            self._take_opening(char)
        elif expect == ":":
            self.failed = char != ":"
            self._begin_value()
        elif expect == ", or }":
            self._take_comma(char)
        elif expect == ", or ]":
            self.failed = char not in ",]"
            self.completed, self.done = not self.failed, char == "]"
            self._expect = "{"
        elif char == "}" and expect == '" or }':
            self._close_object()
        else:
            self.failed = True
        return at if self.failed else at + 1

    def _take_head(self, head: re.Match[str], text: str, end: int) -> int:
        """The call up to its arguments, and those if they are all there."""
        self._depth, self._fields = self._depth + 1, {NAME_FIELD, *head.groups()[1:]}
        if not head[1] or not self._parser.call_name(head[1]):
            self.failed = True
            return head.end(1)
        at = head.end()
        stop = _whole(text, at, end, self._parser)
        if stop:
            self._parser.call_arguments(text[at:stop])
            self._expect = ", or }"
            tail = _TAIL.match(text, stop, end)
            if tail is None:
                return stop
            if tail[1]:
                self._parser.call_id(tail[1])
            self._close_object()
            return tail.end()
        self._field, self._expect, self._arguments = "arguments", "", JsonValue(self._parser)
        return at

    def _begin_key(self, text: str, at: int, end: int) -> int:
        whole = _KEY_TOKEN.match(text, at, end)
        if whole is None:
            self._expect, self._value, self._pieces = "key", JsonValue(), []
            return at
        self.failed = not self._end_key(whole[1])
        self._begin_value()
        return whole.end(1) if self.failed else whole.end()

    def _begin_value(self) -> None:
        self._expect, self._value, self._pieces = "", JsonValue(self._parser), []

    def _take_opening(self, char: str) -> None:
        if char == "{":
            self._depth, self._fields, self._expect = self._depth + 1, set(), '" or }'
        elif char == "]" and self._expect == "{ or ]":
            self.done = True
        else:
            self.failed = True

    def _take_comma(self, char: str) -> None:
        if char == "}":
            self._close_object()
        else:
            self._expect, self.failed = '"', char != ","

    def _close_object(self) -> None:
        """A closing brace: of the object of FUNCTION_FIELD, or of the call."""
        self._depth -= 1
        if self._depth:
            self._expect = ", or }"
            return
        call = self._parser.call
        missing = self._parser.bare and not call.arguments
        self.failed = not call.name or missing
        self._expect = ", or ]"
        if not CALLS_IN_ARRAY:
            self.done = not self.failed

    def _read_value(self, value: JsonValue, text: str, at: int, end: int) -> int:
        """A key or the value of a field."""
        start = at if value.kind else _past_space(text, at, end)
        if not value.kind and start < end and self._expect != "key":
            if self._field == "arguments" and text[start] not in 'n"':
                self._arguments, self._value = value, None
                self.failed = text[start] != "{"
                return start
            if self._field == "function" and text[start] == "{":
                self._value, self._expect = None, "{"  # its fields are the call's
                return start
        stop = value.read(text, start, end)
        if value.failed:
            self.failed = True
            return stop
        if self._field or self._expect == "key":
            self._pieces.append(text[start:stop])
        if value.done:
            self._value = None
            self.failed = not self._end_value("".join(self._pieces).strip(), value.kind)
            if self.failed and value.kind not in "-0123456789":
                return stop - 1  # its last character; a number's is known by the next one
        return stop

    def _read_arguments(self, value: JsonValue, text: str, at: int, end: int) -> int:
        stop = value.read(text, at, end)
        if value.failed:
            self.failed = True
            return stop
        self._parser.call_arguments(text[at:stop])
        if value.done:
            self._arguments, self._field, self._expect = None, "", ", or }"
        return stop

    def _end_value(self, text: str, kind: str) -> bool:
        """A key or a field's value is complete; False where the call cannot be with it."""
        if self._expect == "key":
            return self._end_key(_string(text))
        field, self._field, self._expect = self._field, "", ", or }"
        if field == "name":
            return kind == '"' and text != '""' and self._parser.call_name(_string(text))
        if field == "id" and kind in '"-0123456789':
            self._parser.call_id(_string(text) if kind == '"' else text)
        if field == "arguments" and kind == '"':
            return ARGUMENTS_AS_STRING and self._unwrap(_string(text))
        if field == "function":
            return False
        if field == "arguments" and kind == "n":
            self._parser.call_arguments("{}")
        return True

    def _unwrap(self, text: str) -> bool:
        """Arguments that are written as a string which holds their JSON text."""
        value, text = JsonValue(), text.strip()
        end = value.read(text, 0, len(text))
        if not value.done or value.kind != "{" or end != len(text):
            return False
        self._parser.call_arguments(text)
        return True

    def _end_key(self, key: str) -> bool:
        if key in self._fields:
            return False
        self._fields.add(key)
        self._expect = ":"
        if NAME_IS_KEY:
            self._field = "arguments"
            return len(self._fields) == 1 and bool(key) and self._parser.call_name(key)
        outer = bool(FUNCTION_FIELD) and self._depth == 1
        self._field = (_OUTER_FIELDS if outer else _FIELDS).get(key, "")
        twice = self._field == "arguments" and len(self._fields & _ARGUMENTS) > 1
        return not twice and not (self._parser.bare and not self._field)


# ==== End JSON calls block ====
