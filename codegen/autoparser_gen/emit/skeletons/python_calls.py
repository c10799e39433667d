"""Decoder for calls that are written as in Python: [name(key=value, ...), other()]."""

from __future__ import annotations

import json
import re

from autoparser_gen.emit.skeletons.literals import _SPACES, Literal, _ahead
from autoparser_gen.emit.skeletons.runtime import (
    _NAME,
    Decoder,
    Parser,
    _match_end,
    _past_space,
    _SearchIn,
)

LITERAL_QUOTES: tuple[str, ...] = ("'", '"')
LITERAL_ESCAPES = True

# ==== Begin Python calls block (identical in every file that has it) ====

_KEYWORD = re.compile(r"[\w.$-]*")
_CALL = (_SPACES, _NAME.pattern.replace("*", "{1,99}"), _SPACES, r"\(")
_NEXT_CALL = re.compile(_ahead(",?", *_CALL))
_CALL_SEPARATOR = re.compile(r",?[ \t\r\n]*")
_MARKER = r"[^\w\s\"'.,:;()\[\]{}]"  # may begin one
_NEXT_ARGUMENT = (
    _ahead(_SPACES, ",", _SPACES, r"\w[\w.$-]{0,99}", _SPACES, "="),
    _ahead(_SPACES, ",", _SPACES, r"\)"),
)
_CLOSED = (_SPACES, r"\)", _SPACES)
# What follows an argument's value, outside of a list and in one.
_BEHIND_ARGUMENT = (
    re.compile(
        "|".join([*_NEXT_ARGUMENT, _ahead(*_CLOSED, ",?", *_CALL), _ahead(*_CLOSED, _MARKER)])
    ),
    re.compile("|".join([*_NEXT_ARGUMENT, _ahead(*_CLOSED, ",", *_CALL), _ahead(*_CLOSED, r"\]")])),
)


class PythonCalls(Decoder):
    """Calls as in Python, in a list or one behind the other."""

    expected = "a call such as name(key=value)"

    def __init__(self, parser: Parser) -> None:
        super().__init__(parser)
        self._in_list = False
        self._empty = True  # there has been no call yet
        self._expect = "calls"
        self._pieces: list[str] = []  # of a name or key
        self._keys: set[str] = set()
        self._value: Literal | None = None
        self._waits = False  # what stands next is not clear yet

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        self._waits = False
        while at < end and not (self.done or self.failed or self.completed or self._waits):
            if self._value is not None:
                at = self._read_value(self._value, text, at, end)
            elif self._expect in ("name", "key"):
                at = self._read_word(text, at, end)
            elif self._expect == "end of call" and not self._in_list:
                at = self._read_separator(text, at, end)
            else:
                at = _past_space(text, at, end)
                if at < end:
                    at += self._take(text[at])
        return at

    def ends(self) -> bool:
        """The text has ended: whether the last call is complete, if not the list."""
        return self._expect == "end of call"

    def passes(self) -> _SearchIn | None:
        """See Decoder."""
        return None if self._value is None else self._value.passes()

    def new_value(self) -> Literal:
        """What reads an argument's value."""
        follows = None if LITERAL_ESCAPES else _BEHIND_ARGUMENT[self._in_list]
        return Literal(LITERAL_QUOTES, follows=follows)

    def _take(self, char: str) -> bool:
        """Take one character of the calls' own structure; False where it is read again."""
        expect, taken = self._expect, True
        if expect in ("calls", "call"):
            taken = self._begin_call(char)
        elif expect == "(":
            self.failed = char != "(" or not self._parser.call_name("".join(self._pieces))
            self._expect, self._empty = "argument", False
        elif expect in ("argument", ", or )") and char == ")":
            self._parser.call_arguments("}" if self._keys else "{}")
            self._keys.clear()
            self._expect = "end of call"
        elif expect == "argument":
            self._begin_word("key")
            self.failed, taken = not (char.isalnum() or char == "_"), False
        elif expect == "=":
            self.failed = char != "=" or not self._begin_argument("".join(self._pieces))
        elif expect == ", or )":
            self._expect, self.failed = "argument", char != ","
        else:
            self._end_call(char)
        return taken and not self.failed

    def _begin_call(self, char: str) -> bool:
        """The list, a call, or their end."""
        if char == "[" and self._expect == "calls":
            self._in_list, self._expect = True, "call"
        elif char == "]" and self._expect == "call":
            self.failed = self._empty and self._parser.bare
            self.done, self.row = True, "]"
        elif self._expect == "calls" and not _NAME.fullmatch(char):
            self.done = True
            return False
        else:
            self._begin_word("name")
            return False
        return True

    def _end_call(self, char: str) -> None:
        """What follows a call in a list."""
        self.completed, self.failed = char in ",]", char not in ",]"
        self._expect = "call"
        if char == "]":
            self.done, self.row = True, "]"

    def _read_separator(self, text: str, at: int, end: int) -> int:
        """What follows a call outside of a list: another call, or none."""
        at = _past_space(text, at, end)
        found = _NEXT_CALL.match(text, at, end) if at < end else None
        if found is None or not (found.lastindex or self.final):
            self._waits, self.done = found is not None, at < end and found is None
            return at
        self.completed = True
        self._begin_word("name")
        return _match_end(_CALL_SEPARATOR, text, at, end)

    def _begin_word(self, expect: str) -> None:
        self._expect = expect
        self._pieces.clear()

    def _read_word(self, text: str, at: int, end: int) -> int:
        """A name or key, up to the first character that is no part of it."""
        chars = _NAME if self._expect == "name" else _KEYWORD
        stop = _match_end(chars, text, at, end)
        self._pieces.append(text[at:stop])
        if stop < end:
            self._expect = "(" if self._expect == "name" else "="
            self.failed = not any(self._pieces)
        return stop

    def _begin_argument(self, key: str) -> bool:
        """A key has been read; False where it stands twice."""
        if key in self._keys:
            return False
        opening = ", " if self._keys else "{"
        self._keys.add(key)
        self._parser.call.key = key
        self._parser.call_arguments(opening + json.dumps(key, ensure_ascii=False) + ": ")
        self._value = self.new_value()
        return True

    def _read_value(self, value: Literal, text: str, at: int, end: int) -> int:
        value.final = self.final
        stop = value.read(text, at, end)
        self.failed, self._waits = value.failed, stop < end and not value.done
        if not self.failed:
            self._parser.call_arguments(value.take())
        if value.done:
            self._value, self._expect = None, ", or )"
        return stop


# ==== End Python calls block ====
