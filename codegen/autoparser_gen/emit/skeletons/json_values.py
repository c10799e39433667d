"""Decoders for calls and arguments that are JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from autoparser_gen.emit.skeletons.numbers import _NUMBER, _NUMBER_CLASS
from autoparser_gen.emit.skeletons.runtime import Decoder, Parser, _past_space

# ==== Begin JSON block (identical in every file that has it) ====

_STRING_RUN = re.compile(r'[^"\\\x00-\x1f]*')
_SIMPLE_ESCAPES = frozenset('"\\/bfnrt')
_WORDS = {"t": "true", "f": "false", "n": "null"}


def _refuse(text: str) -> Any:
    raise ValueError(text)


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")


# Numbers are only looked at, never converted: no digit limit, no rounding.
_WHOLE = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_int=len, parse_float=len, parse_constant=_refuse
)


class JsonValue:
    """Checks one JSON value, strictly, as it comes in; no recursion on its depth.

    `done` once it is closed, a number or word by the first character behind it.
    """

    def __init__(self) -> None:
        self.done = False
        self.failed = False
        self.kind = ""  # the first character of the value
        self._stack: list[set[str] | None] = []  # the keys of each open object, None for an array
        self._expect = "value"
        self._key: list[str] | None = None  # pieces of the key being read
        self._word = ""  # what is left of true, false or null
        self._number = ""
        self._hex = 0  # digits that are left of a \u escape

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        if not self.kind:
            at = _past_space(text, at, end)
            if at < end:
                self.kind = text[at]
                if end == len(text) and (close := self._read_whole(text, at)):
                    return close
        while at < end and not self.done and not self.failed:
            if self._expect == "string":
                at = self._read_string(text, at, end)
            elif self._expect == "number":
                at = self._read_number(text, at)
            else:
                at = _past_space(text, at, end) if self._expect not in ("word", "escape") else at
                if at < end and self._take(text[at]):
                    at += 1
        return at

    def _read_whole(self, text: str, at: int) -> int:
        """The index behind a container that closes within the text, found by the C decoder; else 0."""
        if self.kind not in "{[":
            return 0
        try:
            close: int = _WHOLE.raw_decode(text, at)[1]
        except (ValueError, RecursionError):
            return 0  # not closed yet, not JSON, or too deep: read it step by step
        self.done = True
        return close

    def _take(self, char: str) -> bool:
        """Take one character that is no part of a string's run or a number."""
        expect = self._expect
        if expect == "word":
            fits = self._word.startswith(char)
            self._word = self._word[1:]
            if fits and not self._word:
                self._close()
        elif expect == "escape":
            fits = self._take_escape(char)
        elif expect in ("value", "value or ]"):
            fits = (char == "]" and expect != "value" and self._pop(None)) or self._open(char)
        elif expect in ("key", "key or }"):
            fits = char == '"' or (char == "}" and expect != "key" and self._pop(set()))
            if char == '"':
                self._key, self._expect = [], "string"
        elif expect == ":":
            fits, self._expect = char == ":", "value"
        else:
            fits = self._take_comma(char)
        self.failed = not fits
        return fits

    def _open(self, char: str) -> bool:
        if char == '"':
            self._expect = "string"
        elif char == "{":
            self._stack.append(set())
            self._expect = "key or }"
        elif char == "[":
            self._stack.append(None)
            self._expect = "value or ]"
        elif char in _WORDS:
            self._word, self._expect = _WORDS[char][1:], "word"
        elif char == "-" or char.isascii() and char.isdigit():
            self._number = _NUMBER["start"][_NUMBER_CLASS[char]]
            self._expect = "number"
        else:
            return False
        return True

    def _take_comma(self, char: str) -> bool:
        keys = self._stack[-1]
        if char == ",":
            self._expect = "value" if keys is None else "key"
            return True
        return char == ("]" if keys is None else "}") and self._pop(keys)

    def _pop(self, keys: set[str] | None) -> bool:
        self._stack.pop()
        self._close()
        return True

    def _close(self) -> None:
        self._expect = "comma"
        self.done = not self._stack

    def _read_string(self, text: str, at: int, end: int) -> int:
        found = _STRING_RUN.match(text, at, end)
        stop = at if found is None else found.end()
        if self._key is not None:
            self._key.append(text[at:stop])
        if stop == end:
            return stop
        if text[stop] == "\\":
            self._expect = "escape"
            if self._key is not None:
                self._key.append("\\")
        elif text[stop] != '"':
            self.failed = True
            return stop
        elif self._key is None:
            self._close()
        else:
            return self._end_key(stop)
        return stop + 1

    def _end_key(self, at: int) -> int:
        """The closing quote of a key: a key that stands twice makes the object invalid."""
        key, keys = json.loads('"' + "".join(self._key or ()) + '"'), self._stack[-1]
        if keys is None or key in keys:
            self.failed = True
            return at
        keys.add(key)
        self._key, self._expect = None, ":"
        return at + 1

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
            self._expect = "string"
        return fits

    def _read_number(self, text: str, at: int) -> int:
        char = _NUMBER_CLASS.get(text[at], "")
        if char in _NUMBER[self._number]:
            self._number = _NUMBER[self._number][char]
            return at + 1
        if self._number[0].islower():
            self.failed = True
        else:
            self._close()
        return at


class JsonArguments(Decoder):
    """The arguments of a call: a JSON object, passed on as it is written."""

    expected = "a JSON object"

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._value = JsonValue()

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        value = self._value
        if not value.kind:
            at = _past_space(text, at, end)
        if at == end:
            return at
        stop = value.read(text, at, end)
        self.failed = value.failed or value.kind != "{"
        if self.failed:
            return stop if value.kind == "{" else at
        self._parser.call_arguments(text[at:stop])
        self.done = value.done
        return stop


# ==== End JSON block ====
