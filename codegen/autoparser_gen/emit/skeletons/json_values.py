"""Decoders for calls and arguments that are JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from autoparser_gen.emit.skeletons.regions import (
    Decoder,
    _find_escaped,
    _ReadPiece,
    _Row,
    _WholeCall,
)
from autoparser_gen.emit.skeletons.search import _SPACE, _match_end, _past_space
from autoparser_gen.emit.skeletons.states import (
    _ENDED,
    _NUMBER,
    _NUMBER_CLASS,
    _PLAIN,
    _SHORT_PIECE,
    _lead,
    _State,
    _states,
)
from autoparser_gen.emit.skeletons.turn import _Turn

# ==== Begin JSON block (identical in every file that has it) ====

_STRING_RUN = r'[^"\\\x00-\x1f]*'
_KEY_TOKEN = re.compile(rf'"({_STRING_RUN})"[ \t\r\n]*:')
_STRING_TOKEN = re.compile(f'"{_STRING_RUN}"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")
# The same and, unread, what shows that it ends there.
_SCALAR_TOKEN = re.compile(rf"(?:{_SCALAR.pattern})(?=[ \t\r\n,\]}}])")
# Escapes and what stands between them. The repetition has a limit because `re` needs memory for each round.
_ESCAPES_RUN = re.compile(rf'(?:{_STRING_RUN}\\["\\/bfnrt]){{0,99}}{_STRING_RUN}')
_SIMPLE_ESCAPES = frozenset('"\\/bfnrt')
_WORDS = {"t": "true", "f": "false", "n": "null"}
_RESTS = tuple(word[size:] for word in _WORDS.values() for size in range(1, len(word)))
# What is read piece by piece.
_IN_PIECES = frozenset(("string", "key string", "escape", *_RESTS, *_NUMBER))
_VALUES, _KEYS = ("value", "value or ]"), ("key", "key or }")


def _json_states(closer: str) -> dict[str, _State]:
    """What may be expected inside an array or an object."""
    states = _states((*_VALUES, *_KEYS, ":", "string", "key string", "escape", *_RESTS))
    comma, string, key = states["comma"], states["string"], states["key string"]
    for expect in (*_VALUES, *_KEYS, ":"):
        _lead(states[expect], _SPACE, states[expect])
    for expect in _ENDED:
        _lead(states[expect], _SPACE, comma)
        _lead(states[expect], ",", states["key" if closer == "}" else "value"])
    for expect in (*_ENDED, "value or ]" if closer == "]" else "key or }"):
        _lead(states[expect], closer, states[expect], action="close")
    for expect in _VALUES:
        states[expect] |= {char: states["start"][char] for char in "-0123456789"}
        _lead(states[expect], '"', string)
        _lead(states[expect], "[{", states[expect], action="open")
        for first, word in _WORDS.items():
            _lead(states[expect], first, states[word[1:]])
    for rest in _RESTS:
        _lead(states[rest], rest[0], states[rest[1:]] if rest[1:] else comma)
    _lead(string, _PLAIN + "'", string)
    _lead(string, '"', comma)
    escape: _State = {"": (string, "escape", "")}  # of a key, and in a code, others follow
    _lead(string, "\\", escape)
    _lead(escape, _SIMPLE_ESCAPES, string)
    for expect in _KEYS:
        _lead(states[expect], '"', key, action="key")
    _lead(key, _PLAIN + "'", key)
    _lead(key, '"', states[":"], action="end of key")
    _lead(states[":"], ":", states["value"])
    return states


_IN_ARRAY, _IN_OBJECT = _json_states("]"), _json_states("}")


def _refuse(text: str) -> Any:
    raise ValueError(text)


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")


# Numbers are only looked at, never converted: no digit limit, no rounding.
_WHOLE = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_int=len, parse_float=len, parse_constant=_refuse
)


def _whole(text: str, at: int, end: int, parser: _Turn | None) -> int:
    """The index behind a container that begins here and closes within the text, or 0.

    The C decoder finds it. What it read in vain is read again step by step, so it is not asked too often.
    """
    if end != len(text) or (parser is not None and at < parser.decoded):
        return 0
    if parser is not None and text.find("}" if text[at] == "{" else "]", at) < 0:
        parser.decoded = end  # it is not closed yet; what is in it is read step by step
        return 0
    try:
        close: int = _WHOLE.raw_decode(text, at)[1]
    except json.JSONDecodeError as error:  # not closed yet, or no JSON
        if parser is not None:  # the error has counted all lines before it: so does the next one
            parser.decoded = 2 * error.pos
        return 0
    except (ValueError, RecursionError):
        if parser is not None:  # it may have read on for long: not once more
            parser.decoded = len(text)
        return 0
    return close


class JsonValue:
    """Checks one JSON value, strictly, as it comes in; no recursion on its depth.

    `done` once it is closed, a number or word by the first character behind it.
    """

    def __init__(self, parser: _Turn | None = None) -> None:
        self.done = False
        self.failed = False
        self.kind = ""  # the first character of the value
        self._parser = parser
        self._stack: list[set[str] | None] = []  # the keys of each open object, None for an array
        self._expect = "value"
        self._key: list[str] | None = None  # pieces of the key being read
        self._ahead = 0  # how much of the next text has been read already
        self._hex = 0  # digits that are left of a \u escape

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        at, self._ahead = at + self._ahead, 0
        if not self.kind:
            at = _past_space(text, at, end)
            if at < end:
                self.kind = text[at]
                if self.kind in "{[" and (close := _whole(text, at, end, self._parser)):
                    self.done = True
                    return close
        while at < end and not self.done and not self.failed:
            if self._expect in ("string", "key string"):
                at = self._read_string(text, at, end)
            elif self._expect in _NUMBER:
                at = self._read_number(text, at)
            elif self._expect in _IN_PIECES:
                at += self._take(text[at])
            else:
                at = self._read_structure(text, at, end)
        return at

    def begin_object(self) -> None:
        """What is to be read begins with the brace of an object that is not all there."""
        self.kind, self._stack, self._expect, self._ahead = "{", [set()], "key or }", 1

    def read_piece(self, piece: str) -> str | None:
        """See Decoder.passes: a short piece is read up to what needs a closer look."""
        if self._expect == "string" and _find_escaped(piece) is None:
            return piece
        stack, key_from, size = self._stack, 0, len(piece)
        if not stack or size > _SHORT_PIECE:
            return None
        state = (_IN_ARRAY if stack[-1] is None else _IN_OBJECT)[self._expect]
        try:
            for at, char in enumerate(piece):
                state, _, action = state[char]
                if not action:
                    continue
                if action == "open":
                    stack.append(set() if char == "{" else None)
                    state = _IN_OBJECT["key or }"] if char == "{" else _IN_ARRAY["value or ]"]
                elif action == "key":
                    key_from, self._key = at + 1, []
                elif action == "close":
                    stack.pop()
                    if not stack:
                        self._expect, self._ahead, self.done = "comma", at + 1, True
                        return None
                    state = (_IN_ARRAY if stack[-1] is None else _IN_OBJECT)["comma"]
                elif not self._close_key(piece[key_from:at]):
                    size = at
                    break
        except KeyError:
            size = at
        self._expect = state[""][1]
        if self._expect == "key string" and self._key is not None:
            self._key.append(piece[key_from:size])
        if size == len(piece):
            return piece
        self._ahead = size
        return None

    def _read_structure(self, text: str, at: int, end: int) -> int:
        """Punctuation and whole tokens, up to a token that is read piece by piece."""
        while at < end and not self.done and self._expect not in _IN_PIECES:
            char, expect = text[at], self._expect
            if char in _SPACE:
                at += 1
                if at < end and text[at] in _SPACE:
                    at = _past_space(text, at, end)
            elif char in "]}":
                self.failed = not self._take_closer(char)
                at += not self.failed
            elif expect == "value" or expect == "value or ]":
                at = self._begin_value(text, at, end)
            elif expect == "key" or expect == "key or }":
                at = self._begin_key(text, at, end)
            else:
                self.failed = char != ("," if expect == "comma" else ":")
                is_key = expect == "comma" and self._stack[-1] is not None
                self._expect = "key" if is_key else "value"
                at += not self.failed
            if self.failed:
                break
        return at

    def _begin_value(self, text: str, at: int, end: int) -> int:
        char = text[at]
        whole = (_STRING_TOKEN if char == '"' else _SCALAR_TOKEN).match(text, at, end)
        if whole is not None:
            self._close()
            return whole.end()
        self.failed = not self._open(char)
        return at if self.failed else at + 1

    def _begin_key(self, text: str, at: int, end: int) -> int:
        whole = _KEY_TOKEN.match(text, at, end)
        if whole is not None:
            self._expect = "value"
            return whole.end() if self._add_key(whole[1]) else whole.end(1)
        self.failed = text[at] != '"'
        self._key, self._expect = [], "key string"
        return at if self.failed else at + 1

    def _take_closer(self, char: str) -> bool:
        if not self._stack or not self._closes(char, self._expect):
            return False
        self._stack.pop()
        self._close()
        return True

    def _closes(self, char: str, expect: str) -> bool:
        """Whether the innermost container may close so."""
        fits = expect in _ENDED or expect.endswith(char)
        return fits and char == ("]" if self._stack[-1] is None else "}")

    def _take(self, char: str) -> bool:
        """Take one character of a word or an escape."""
        if self._expect == "escape":
            fits = self._take_escape(char)
        else:
            fits = self._expect.startswith(char)
            self._expect = self._expect[1:]
            if fits and not self._expect:
                self._close()
        self.failed = not fits
        return fits

    def _open(self, char: str) -> bool:
        """A value begins; False where none begins so."""
        if char == '"':
            self._expect = "string"
        elif char == "{":
            self._stack.append(set())
            self._expect = "key or }"
        elif char == "[":
            self._stack.append(None)
            self._expect = "value or ]"
        elif char in _WORDS:
            self._expect = _WORDS[char][1:]
        elif char == "-" or char.isascii() and char.isdigit():
            self._expect = _NUMBER["start"][_NUMBER_CLASS[char]]
        else:
            return False
        return True

    def _close(self) -> None:
        self._expect = "comma"
        self.done = not self._stack

    def _read_string(self, text: str, at: int, end: int) -> int:
        found = _find_escaped(text, at, end)
        stop = end if found is None else found.start()
        if stop < end and text[stop] == "\\":
            stop = _match_end(_ESCAPES_RUN, text, stop, end)
        if self._key is not None:
            self._key.append(text[at:stop])
        if stop == end:
            return stop
        if text[stop] == "\\":
            self._expect = "escape"
            if self._key is not None:
                self._key.append("\\")
        elif text[stop] != '"':
            self.failed = text[stop] < " "
            return stop
        elif self._key is None:
            self._close()
        else:
            self._expect = ":"
            return stop + 1 if self._close_key("") else stop
        return stop + 1

    def _close_key(self, text: str) -> bool:
        """A key that has been read piece by piece ends with this text."""
        written = "".join(self._key or ()) + text
        self._key = None
        return self._add_key(_string(f'"{written}"') if "\\" in written else written)

    def _add_key(self, key: str) -> bool:
        """A key that stands twice makes the object invalid."""
        keys = self._stack[-1]
        if keys is None or key in keys:
            self.failed = True
            return False
        keys.add(key)
        return True

    def _take_escape(self, char: str) -> bool:
        if self._key is not None:
            self._key.append(char)
        if self._hex:
            self._hex -= 1
            fits = char in "0123456789abcdefABCDEF"
        else:
            self._hex = 4 if char == "u" else 0
            fits = char == "u" or char in _SIMPLE_ESCAPES
        if not self._hex:
            self._expect = "string" if self._key is None else "key string"
        return fits

    def _read_number(self, text: str, at: int) -> int:
        char = _NUMBER_CLASS.get(text[at], "")
        if char in _NUMBER[self._expect]:
            self._expect = _NUMBER[self._expect][char]
            return at + 1
        if self._expect not in _ENDED:
            self.failed = True
        else:
            self._close()
        return at


def _string(text: str) -> str:
    """The value of a string's JSON text."""
    value: str = json.loads(text) if "\\" in text else text[1:-1]
    return value


def _last_marker(row: _Row, text: str, at: int) -> tuple[_Row, int] | None:
    """The last marker of a call whose value ends at text[at], and the index behind it.

    `row` led to the value. None where the marker is not there, or may be the beginning of a longer one.
    """
    gap = row.target.rows[""].target
    found = gap.search.at.match(text, _past_space(text, at, len(text)))
    if gap.kind != "gap" or not found or len(text) - found.start() < gap.search.longest:
        return None
    last = gap.rows[found.group()]
    return (last, found.end()) if last.ends_call else None


class JsonArguments(Decoder):
    """The arguments of a call: a JSON object, passed on as it is written."""

    expected = "a JSON object"

    def __init__(self, parser: _Turn) -> None:
        super().__init__(parser)
        self._value = JsonValue(parser)

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        value = self._value
        if not value.kind:
            at = _past_space(text, at, end)
        if at == end:
            return at
        stop = value.read(text, at, end)
        self.failed = value.failed or value.kind != "{"
        if value.kind != "{":
            return at
        self._parser.call_arguments(text[at:stop])  # where it fails too, as if it came in pieces
        self.done = value.done
        return stop

    @classmethod
    def whole(cls, parser: _Turn, row: _Row, text: str, at: int) -> _WholeCall | None:
        """See Decoder: all but the name, which stands before the marker."""
        at = _past_space(text, at, len(text))
        if "" not in row.target.rows or not text.startswith("{", at):
            return None
        stop = _whole(text, at, len(text), parser)
        closed = _last_marker(row, text, stop) if stop else None
        return _WholeCall("", text[at:stop], None, *closed) if closed else None

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        return self._value.read_piece


# ==== End JSON block ====
