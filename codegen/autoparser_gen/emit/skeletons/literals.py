"""Literals that are not JSON, such as Python's: read as they come in, written as JSON text."""

from __future__ import annotations

import re

from autoparser_gen.emit.skeletons.literal_states import (
    _CLOSERS,
    _LITERAL_WORDS,
    _WORD_PARTS,
    _literal_states,
)
from autoparser_gen.emit.skeletons.literal_strings import (
    _BEHIND_STRING,
    EscapedString,
    VerbatimString,
    _held,
    _json_text,
    _next_argument,
    _passes_string,
    _steps,
)
from autoparser_gen.emit.skeletons.regions import _ReadPiece
from autoparser_gen.emit.skeletons.search import _SPACE, _match_end, _past_space
from autoparser_gen.emit.skeletons.states import (
    _NUMBER,
    _NUMBER_CLASS,
    _SHORT_PIECE,
    _State,
)
from autoparser_gen.emit.skeletons.turn import _quoted

# ==== Begin literals block (identical in every file that has it) ====

# A key without quotes; a value whose opening quote is missing.
_BARE_KEY = re.compile(r"[^:,{}\[\]()<>\"'\x00-\x1f]*")
_BARE_VALUE = re.compile(r"[^,{}\[\]\n]*")
_PLAIN_STRING = re.compile(r"""(['"])([^'"\\]+)\1""")  # without escapes or quotes in it
_DEEPEST_MISSED = 9  # open containers, up to which the pattern of a missing quote is made


class _Open:
    """A list, tuple or object that is being read."""

    def __init__(self, closer: str) -> None:
        self.closer = closer
        self.keys: set[str] = set()  # of an object, as JSON text
        self.items = 0
        self.commas = 0


class Literal:
    """One literal, read as it comes in and written as JSON text; no recursion on its depth.

    `done` once it is closed, a number by the first character behind it. Set `final` when no text
    will follow. With `escapes` it is Python's, and with `bare_keys` keys need no quotes. Without,
    `quotes` may be any texts, keys need none, and a quote may be missing: a closing one before the
    next key, or before all closers with one of `behind`, which are steps as in VerbatimString. With
    `follows`, which see there, nothing is escaped in a literal that is a string in the first of the
    quotes.
    """

    done = False
    failed = False
    final = False
    _expect = "value"
    _string: EscapedString | VerbatimString | None = None
    _number = ""
    _waits = False  # what stands next is not clear yet
    _step: _State | None = None  # what is expected, while pieces are read at once
    _ahead = 0  # how much of the next text has been read already

    def __init__(
        self,
        quotes: tuple[str, ...] = ("'", '"'),
        escapes: bool = True,
        behind: tuple[tuple[str, ...], ...] = (),
        follows: re.Pattern[str] | None = None,
        bare_keys: bool = False,
    ) -> None:
        self._quotes = quotes
        self._escapes = escapes
        self._bare_keys = bare_keys or not escapes
        self._behind = behind
        self._follows = follows
        self._stack: list[_Open] = []
        self._out: list[str] = []
        self._pieces: list[str] = []  # of a key, a word or a value without quotes
        self._states = _literal_states(quotes) if escapes else {}

    def take(self) -> str:
        """The JSON text that has been written since the last time."""
        text = "".join(self._out)
        self._out.clear()
        return text

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        if self._step is not None:
            self._enter(self._step[""][1])
        at, self._ahead, self._step = at + self._ahead, 0, None
        self._waits = False
        while at < end and not self.done and not self.failed and not self._waits:
            if self._string is not None:
                at = self._read_string(self._string, text, at, end)
            elif self._expect == "number":
                at = self._read_number(text, at, end)
            elif self._expect == "word":
                at += self._take_word(text[at])
            elif self._expect == "bare key":
                at = self._read_bare_key(text, at, end)
            elif self._expect == "bare value":
                at = self._read_bare_value(text, at, end)
            else:
                at = _past_space(text, at, end)
                if at < end:
                    at = self._take(text, at, end)
        return at

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        if self._stack and self._states:
            return self._read_piece
        if self._string is None or self._expect == "key":
            return None
        return self._string.passes()

    def plain_quote(self) -> str:
        """Of a string that is the value: its quote, if only that and a backslash are special in it now."""
        string = None if self._stack else self._string
        if isinstance(string, EscapedString):
            state = string.state()
            return state.removeprefix("string") if state.startswith("string") else ""
        return string.quote if isinstance(string, VerbatimString) and self._escapes else ""

    def unclear_quote(self) -> str:
        """Of a string that is the value: its quote, if what follows it says whether that closes it."""
        string = None if self._stack else self._string
        return string.quote if isinstance(string, VerbatimString) else ""

    def _read_piece(self, piece: str) -> str | None:
        """See Decoder.passes: inside a container, a short piece up to what needs a closer look."""
        state, states = self._step, self._states
        if state is None:
            state = states[self._stack[-1].closer].get(self._state())
            if state is None:
                return None
        self._step, quote = state, state[""][2]
        if quote and (text := _passes_string(quote)(piece)) is not None:
            return text
        stack, out, key_from, size = self._stack, "", 0, len(piece)
        if size > _SHORT_PIECE:
            return None
        try:
            for at, char in enumerate(piece):
                state, text, action = state[char]
                if not action:
                    out += text
                    continue
                if action == "open":
                    stack[-1].items = stack[-1].items or 1
                    stack.append(_Open(_CLOSERS[char]))
                    state = states[_CLOSERS[char]]["key" if char == "{" else "item"]
                elif action == "close" and len(stack) > 1:
                    stack.pop()
                    state = states[stack[-1].closer]["comma"]
                elif action == "key":
                    key_from = at + 1
                    self._pieces.clear()
                else:
                    text = "" if action == "close" else self._new_key(piece[key_from:at])
                    if not text:
                        size = at
                        break
                    state = states["}"][":"]
                out += text
        except KeyError:
            size = at
        self._step = state
        if state[""][1].startswith("key string"):
            self._pieces.append(piece[key_from:size])
        if size == len(piece):
            return out
        self._ahead = size
        self._out.append(out)
        return None

    def _state(self) -> str:
        """What is expected, as a table calls it; it may have no such state."""
        expect = self._expect
        if isinstance(self._string, EscapedString):
            return ("key " if expect == "key" else "") + self._string.state()
        if expect == "item" and self._stack[-1].items:
            return "next item"
        parts = {"number": self._number, "word": "".join(self._pieces)}
        return parts.get(expect, expect)

    def _new_key(self, text: str) -> str:
        """A key ends with this text: what it is as JSON text, "" where it was there before."""
        top, key = self._stack[-1], "".join(self._pieces) + text
        if key in top.keys:
            return ""
        top.keys.add(key)
        top.items += 1
        return f'{", " if top.items > 1 else ""}"{key}"'

    def _enter(self, name: str) -> None:
        """Go on from a state of the table."""
        top = self._stack[-1]
        self._string, self._expect = None, name.removeprefix("next ")
        if top.closer != "}" and name != "item":
            top.items = top.items or 1
        if name in _NUMBER:
            self._expect, self._number = "number", name
        elif name[-1] in self._quotes:
            is_key = name.startswith("key")
            self._expect, out = ("key", self._pieces) if is_key else ("value", self._out)
            self._string = EscapedString(name[-1], out, int("string" in name))
        elif name in _WORD_PARTS:
            self._expect = "word"
            self._pieces[:] = [name]

    def _take(self, text: str, at: int, end: int) -> int:
        """What stands behind whitespace: punctuation, or the beginning of a key or value."""
        char = text[at]
        if self._expect == "comma":
            return at + self._take_comma(char)
        if self._expect == ":":
            self.failed, self._expect = char != ":", "value"
            self._out.append(": ")
            return at if self.failed else at + 1
        if self._expect != "value" and char == self._stack[-1].closer:
            return at + self._close(char)
        if self._escapes and char in self._quotes and (self._stack or self._follows is None):
            plain = _PLAIN_STRING.match(text, at, end)
            if plain is not None:
                self._take_string(plain[2])
                return plain.end() - self.failed
        quote = self._quote_at(text, at, end)
        if quote is None:
            self._waits = True
            return at
        return at + (self._open_key if self._expect == "key" else self._open_value)(char, quote)

    def _quote_at(self, text: str, at: int, end: int) -> str | None:
        """The quote that stands here, "" if there is none; None where more text may make it one."""
        for quote in self._quotes:
            if text.startswith(quote, at, end):
                return quote
            if quote.startswith(text[at : min(end, at + len(quote))]) and not self.final:
                return None
        return ""

    def _take_string(self, text: str) -> None:
        """A key or value is a string that is all there, and nothing in it is special."""
        if self._expect == "key":
            self._end_key(_json_text(text))
            return
        if self._expect == "item":
            self._separate()
        self._end_value(_quoted(text))

    def _open_key(self, char: str, quote: str) -> int:
        """A key begins; returns the size of what has been read."""
        self._pieces.clear()
        if quote:
            self._open_string(quote, self._pieces, ":")
        elif not (self._bare_keys and _BARE_KEY.fullmatch(char)):
            self.failed = True
        else:
            self._expect = "bare key"
        return len(quote)

    def _open_value(self, char: str, quote: str) -> int:
        """A value begins; returns the size of what has been read."""
        if self._expect == "item":
            self._separate()
        self._pieces.clear()
        if quote:
            self._out.append('"')
            self._open_string(quote, self._out, self._stack[-1].closer if self._stack else "")
            return len(quote)
        if char in _CLOSERS:
            self._out.append("{" if char == "{" else "[")
            self._stack.append(_Open(_CLOSERS[char]))
            self._expect = "key" if char == "{" else "item"
            return 1
        if not self._escapes:
            self._expect = "bare value"
        elif _NUMBER_CLASS.get(char) in _NUMBER["start"]:
            self._expect, self._number = "number", "start"
        else:
            self._expect = "word"
        return 0

    def _open_string(self, quote: str, out: list[str], closer: str) -> None:
        if self._follows is not None and not self._stack and quote == self._quotes[0]:
            self._string = VerbatimString(quote, out, self._follows)
        elif self._escapes:
            self._string = EscapedString(quote, out)
        else:
            missed = self._missed(quote) if out is self._out else ()
            self._string = VerbatimString(quote, out, _BEHIND_STRING[closer], missed)

    def _missed(self, quote: str) -> tuple[tuple[str, ...], ...]:
        """What shows that the closing quote of a value has been left out."""
        missed = [_next_argument(quote)] if self._stack and self._stack[-1].closer == "}" else []
        if self._behind and len(self._stack) <= _DEEPEST_MISSED:
            closers = _steps("".join(opened.closer for opened in reversed(self._stack)))
            missed += [(*closers, *steps) for steps in self._behind]
        return tuple(missed)

    def _separate(self) -> None:
        self._out.append(", " if self._stack[-1].items else "")
        self._stack[-1].items += 1

    def _take_comma(self, char: str) -> bool:
        if char != ",":
            return self._close(char)
        self._stack[-1].commas += 1
        self._expect = "key" if self._stack[-1].closer == "}" else "item"
        return True

    def _close(self, char: str) -> bool:
        top = self._stack[-1]
        # Parentheses around a single value make no tuple without a comma.
        self.failed = char != top.closer or (char == ")" and top.items == 1 and not top.commas)
        if not self.failed:
            self._stack.pop()
            self._end_value("}" if char == "}" else "]")
        return not self.failed

    def _end_value(self, text: str) -> None:
        self._out.append(text)
        self._expect = "comma"
        self.done = not self._stack

    def _end_key(self, key: str) -> None:
        """A key, as JSON text: one that stands twice makes the object malformed."""
        keys = self._stack[-1].keys
        self.failed, self._expect = key in keys, ":"
        keys.add(key)
        self._separate()
        self._out.append(f'"{key}"')

    def _read_string(
        self, string: EscapedString | VerbatimString, text: str, at: int, end: int
    ) -> int:
        stop = string.read(text, at, end, self.final)
        self.failed, self._waits = string.failed, not string.done
        if not string.done:
            return stop
        self._string = None
        if self._expect != "key":
            self._end_value('"')
            return stop
        self._end_key("".join(self._pieces))
        return stop - 1 if self.failed else stop

    def _read_number(self, text: str, at: int, end: int) -> int:
        start = at
        while at < end and (state := _NUMBER[self._number].get(_NUMBER_CLASS.get(text[at], ""))):
            self._number, at = state, at + 1
        self._out.append(text[start:at])
        if at < end and self._number[0].isupper():
            self._end_value("")
        else:
            self.failed = at < end
        return at

    def _take_word(self, char: str) -> bool:
        self._pieces.append(char)
        word = "".join(self._pieces)
        self.failed = not any(known.startswith(word) for known in _LITERAL_WORDS)
        if word in _LITERAL_WORDS:
            self._end_value(_LITERAL_WORDS[word])
        return not self.failed

    def _read_bare_key(self, text: str, at: int, end: int) -> int:
        stop = _match_end(_BARE_KEY, text, at, end)
        self._pieces.append(text[at:stop])
        if stop < end:
            self._end_key(_json_text("".join(self._pieces).rstrip(_SPACE)))
        return stop

    def _read_bare_value(self, text: str, at: int, end: int) -> int:
        """A number, a word, or a string whose opening quote is missing."""
        limit, quote = _match_end(_BARE_VALUE, text, at, end), self._quotes[0]
        stop = text.find(quote, at, min(end, limit + len(quote)))
        closes = stop >= 0
        if not closes:
            stop = limit if limit < end or self.final else _held(text, at, end, quote)
        self._pieces.append(text[at:stop])
        if closes:
            return self._end_unopened(text, stop, end)
        if stop == limit < end:
            value = "".join(self._pieces).rstrip(_SPACE)
            self.failed = value not in _LITERAL_WORDS and not _is_number(value)
            self._end_value(_LITERAL_WORDS.get(value, value))
        self._waits = stop < limit
        return stop

    def _end_unopened(self, text: str, at: int, end: int) -> int:
        """The closing quote of a string that has no opening one: it must close."""
        closer = self._stack[-1].closer if self._stack else ""
        behind = _BEHIND_STRING[closer].match(text, at + len(self._quotes[0]), end)
        if behind is not None and not behind.lastindex and not self.final:
            self._waits = True
            return at
        self.failed = behind is None
        self._end_value(f'"{_json_text("".join(self._pieces))}"')
        return at + len(self._quotes[0])


def _is_number(text: str) -> bool:
    state = "start"
    for char in text:
        state = _NUMBER.get(state, {}).get(_NUMBER_CLASS.get(char, ""), "")
    return state[:1].isupper()


# ==== End literals block ====
