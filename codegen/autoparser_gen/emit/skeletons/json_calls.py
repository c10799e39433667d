"""Decoder for calls that are JSON values with their name inside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from autoparser_gen.emit.skeletons.json_values import (
    _KEY_TOKEN,
    _STRING_RUN,
    JsonValue,
    _last_marker,
    _string,
    _whole,
)
from autoparser_gen.emit.skeletons.regions import (
    Decoder,
    _loop,
    _Place,
    _Quiet,
    _ReadPiece,
    _Row,
    _spaced,
    _WholeCall,
)
from autoparser_gen.emit.skeletons.search import _PLAIN_NAME, _SPACE, _past_space
from autoparser_gen.emit.skeletons.turn import _Turn

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
# How most calls begin: up to their name, and up to their arguments; what does not is read step by step.
_NAME_TOKENS = ["{", f'"{re.escape(NAME_FIELD)}"', ":", f'"({_STRING_RUN})"']
_MIDDLE_TOKENS = [",", f'"({"|".join(map(re.escape, sorted(_ARGUMENTS)))})"', ":", r"(?=(\{))"]
if NAME_IS_KEY:
    _NAME_TOKENS[1:3] = []
    _MIDDLE_TOKENS[:2] = []
_MIDDLE = re.compile(r"[ \t\r\n]*".join(_MIDDLE_TOKENS))
_BEHIND_NAME = ":" if NAME_IS_KEY else ", or }"  # what is expected there
_BEHIND_HEAD = f"(?:{_MIDDLE.pattern})?" if NAME_IS_KEY else f"(?:{_MIDDLE.pattern}|(,))?"
_HEAD = re.compile(r"[ \t\r\n]*".join(["", *_NAME_TOKENS, _BEHIND_HEAD]))
# Its last group: where arguments begin in what it matches, or where that is the name and a comma.
_WITH_ARGUMENTS, _WITH_COMMA = (2, 0) if NAME_IS_KEY else (3, 4)
# The middle of a call, by what is expected in front of it.
_MIDDLES = {_BEHIND_NAME: _MIDDLE}
if not NAME_IS_KEY:
    _MIDDLES['"'] = re.compile(r"[ \t\r\n]*".join(_MIDDLE_TOKENS[1:]))
# How most of them end behind their arguments: with an id, which is not empty, or without.
_ID_TOKENS = ["(?:,", f'"{re.escape(ID_FIELD)}"', ":", f'"(?!")({_STRING_RUN})"', ")?}"]
if not ID_FIELD or NAME_IS_KEY or FUNCTION_FIELD:
    _ID_TOKENS = ["()}"]
_TAIL = re.compile(r"[ \t\r\n]*".join(["", *_ID_TOKENS]))
# Keys that are read at once when they are all there: what there is of them may stay unread.
_USUAL_KEYS = [f'"{key}"' for key in (NAME_FIELD, ARGUMENTS_FIELD, ID_FIELD) if key]
_KEYS_BEGUN = frozenset(key[:size] for key in _USUAL_KEYS for size in range(1, len(key)))
_LONGEST_KEY = max(map(len, _USUAL_KEYS), default=0)


def _tokens(tokens: Iterable[str], behind: _Quiet) -> _Quiet:
    """Tokens, with whitespace before each of them as it may be, and what may come behind them."""
    for token in reversed([*tokens]):
        for char in reversed(token):
            behind = {char: behind}
        behind = _spaced(behind)
    return behind


# What may be there, of most calls, while no more is known than before.
_IN_STRING, _IN_SPACE = _loop(_PLAIN_NAME), _loop(_SPACE)
_IN_CALL = _tokens(['"'] if NAME_IS_KEY else [f'"{NAME_FIELD}"', ":", '"'], _IN_STRING)
_TO_NAME = _tokens(["{"], _IN_CALL)
_TO_NEXT_NAME = _tokens([","], _TO_NAME)
_TO_ARGUMENTS = {
    ", or }": _tokens([",", f'"{ARGUMENTS_FIELD}"', ":"], _IN_SPACE),
    '"': _tokens([f'"{ARGUMENTS_FIELD}"', ":"], _IN_SPACE),
    ":": _tokens([":"], _IN_SPACE),
}
_TO_ID = {
    ", or }": _tokens([",", f'"{ID_FIELD}"', ":", '"'], _IN_STRING),
    '"': _tokens([f'"{ID_FIELD}"', ":", '"'], _IN_STRING),
}


@lru_cache
def _to_end(place: _Place, id_may_follow: bool) -> _Quiet:
    """What may come behind a call's arguments, where its end adds nothing to what is known."""
    behind = _TO_NEXT_NAME if CALLS_IN_ARRAY else place.rows[""].target.far
    to_end, to_id = _tokens(["}"], behind), _TO_ID[", or }"] if id_may_follow else {}
    return _spaced({**to_end, **to_id})


class JsonCalls(Decoder):
    """One call object, or an array of them.

    Fields may come in any order. Where a marker introduced the call, other fields are ignored.
    """

    expected = "a call as JSON"

    def __init__(self, parser: _Turn) -> None:
        super().__init__(parser)
        self._expect = "[" if CALLS_IN_ARRAY else "{"
        self._depth = 0  # 2 inside the object of FUNCTION_FIELD
        self._field = ""
        self._fields: set[str] = set()
        self._arguments: JsonValue | None = None  # passed on as they come
        self._value: JsonValue | None = None  # a key, or any other value
        self._pieces: list[str] = []  # of it
        self._waits = False  # what stands next is not all there yet

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        self._waits = False
        if self._arguments is not None:
            at = self._read_arguments(self._arguments, text, at, end)
        while at < end and not (self.done or self.failed or self.completed or self._waits):
            if self._value is not None:
                at = self._read_value(self._value, text, at, end)
            elif self._arguments is not None:
                at = self._read_arguments(self._arguments, text, at, end)
            elif self._may_begin() and (head := _HEAD.match(text, at, end)):
                at = self._take_head(head, text, end)
            else:
                at = _past_space(text, at, end)
                if at < end:
                    at = self._take(text, at, end)
        return at

    @classmethod
    def whole(cls, parser: _Turn, row: _Row, text: str, at: int) -> _WholeCall | None:
        """See Decoder."""
        if CALLS_IN_ARRAY or FUNCTION_FIELD or "" not in row.target.rows:
            return None
        end = len(text)
        head = _HEAD.match(text, at)
        if head is None or head.lastindex != _WITH_ARGUMENTS or not head[1]:
            return None
        at = head.end()
        stop = _whole(text, at, end, parser)
        tail = _TAIL.match(text, stop) if stop else None
        closed = tail and _last_marker(row, text, tail.end())
        if not tail or not closed:
            return None
        return _WholeCall(head[1], text[at:stop], tail[1] or None, *closed)

    @classmethod
    def first(cls) -> _Quiet | None:
        """See Decoder."""
        return None if FUNCTION_FIELD else _tokens(["["], _TO_NAME) if CALLS_IN_ARRAY else _TO_NAME

    def quiet(self) -> _Quiet | None:
        """See Decoder."""
        expect = self._expect
        if self._arguments is not None or self._value is not None:
            return None
        if expect in ("{", "{ or ]"):
            return _TO_NAME if self._may_begin() else None
        if expect == '" or }':
            return _IN_CALL if self._depth == _CALL_DEPTH else None
        if expect == ", or ]":
            return None if FUNCTION_FIELD or not self._parser.ends_quietly() else _TO_NEXT_NAME
        if self._has_name_only():
            return _TO_ARGUMENTS.get(expect)
        if FUNCTION_FIELD:
            return None
        id_may_follow = bool(ID_FIELD) and ID_FIELD not in self._fields
        ended = expect == ", or }" and (NAME_IS_KEY or bool(self._fields & _ARGUMENTS))
        if ended and self._parser.ends_quietly():
            return _to_end(self._parser.place, id_may_follow)
        return _TO_ID.get(expect) if id_may_follow else None

    def ends(self) -> bool:
        """The text has ended: whether the last call is complete, if not the array."""
        return self._expect == ", or ]"

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        return None if self._arguments is None else self._arguments.read_piece

    def _take(self, text: str, at: int, end: int) -> int:
        """Take what stands here of the call's own structure; returns the index behind it."""
        char, expect = text[at], self._expect
        if expect in _MIDDLES and self._has_name_only():
            middle = _MIDDLES[expect].match(text, at, end)
            if middle is not None:
                return self._take_arguments(middle, 1, text, end)
        if char == '"' and expect in ('"', '" or }'):
            return self._begin_key(text, at, end)
        if expect == "[":
            self._expect, self.failed = "{ or ]", char != "["
        elif expect in ("{", "{ or ]"):
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

    def _may_begin(self) -> bool:
        """Whether the object with the call's name may begin here."""
        return self._expect in ("{", "{ or ]") and self._depth == _CALL_DEPTH - 1

    def _has_name_only(self) -> bool:
        """Whether the call's name has been read, and nothing else of it."""
        if NAME_IS_KEY:
            return self._expect == ":"
        return self._depth == _CALL_DEPTH and self._fields == {NAME_FIELD} and not self._field

    def _take_head(self, head: re.Match[str], text: str, end: int) -> int:
        """The call up to its name, and the arguments if they begin here."""
        self._depth, self._fields = self._depth + 1, {NAME_FIELD}
        self._field, self._expect = ("arguments", ":") if NAME_IS_KEY else ("", ", or }")
        if not head[1] or not self._parser.call_name(head[1]):
            self.failed = True
            return head.end(1)
        if head.lastindex == _WITH_ARGUMENTS:
            return self._take_arguments(head, 2, text, end)
        if head.lastindex == _WITH_COMMA:
            self._expect = '"'
        return head.end()

    def _take_arguments(self, head: re.Match[str], group: int, text: str, end: int) -> int:
        """The arguments, if they are all there, behind what has their key in this group."""
        if not NAME_IS_KEY:
            self._fields.add(head[group])
        at = head.end()
        stop = _whole(text, at, end, self._parser)
        if not stop:
            self._field, self._expect, self._arguments = "arguments", "", JsonValue(self._parser)
            self._arguments.begin_object()
            return at
        self._parser.call_arguments(text[at:stop])
        self._field, self._expect = "", ", or }"
        return self._take_tail(text, stop, end)

    def _take_tail(self, text: str, at: int, end: int) -> int:
        """What most calls end with behind their arguments, if it is all there."""
        tail = _TAIL.match(text, at, end)
        if tail is None:
            return at
        if tail[1]:
            self._parser.call_id(tail[1])
        self._close_object()
        return tail.end()

    def _begin_key(self, text: str, at: int, end: int) -> int:
        whole = _KEY_TOKEN.match(text, at, end)
        if whole is None:
            self._waits = not self.final and end - at < _LONGEST_KEY and text[at:end] in _KEYS_BEGUN
            if not self._waits:
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
            if stop < end and ID_FIELD not in self._fields and self._parser.call.name:
                return self._take_tail(text, stop, end)
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
