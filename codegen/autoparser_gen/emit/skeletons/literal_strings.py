"""Strings of literals that are not JSON: read as they come in, written as JSON text."""

from __future__ import annotations

import re
from functools import lru_cache

from autoparser_gen.emit.skeletons.regions import _ESCAPED, _passing, _ReadPiece
from autoparser_gen.emit.skeletons.turn import _quoted

# ==== Begin literal strings block (identical in every file that has it) ====

_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "a": "\a",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "\n": "",
}
_HEX_WIDTHS = {"x": 2, "u": 4, "U": 8}
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_OCTAL_DIGITS = frozenset("01234567")
_LAST_CODE_POINT = 0x10FFFF
# What is looked at again with every piece of text must have a limit.
_SPACES = r"[ \t\r\n]{0,99}"
_LONGEST_END = 399  # of what may end a string


def _json_text(text: str) -> str:
    """Text as it stands inside a JSON string."""
    return _quoted(text)[1:-1]


def _ahead(*steps: str) -> str:
    """A pattern of what must follow, step by step.

    A group of it matches unless the text ends before that is clear.
    """
    pattern = "()"
    for step in reversed(steps):
        pattern = rf"(?:\Z|{step}{pattern})"
    return pattern


def _steps(text: str) -> tuple[str, ...]:
    """Steps of such a pattern for a text as it stands."""
    return tuple(map(re.escape, text))


def _text_ahead(text: str) -> str:
    """The same for a text as it stands, which takes less to compile than step by step."""
    begun = "|".join(re.escape(text[:size]) + r"\Z" for size in range(len(text) - 1, -1, -1))
    return f"(?:{re.escape(text)}()|{begun})"


def _next_argument(quote: str) -> tuple[str, ...]:
    """Steps for a key without quotes and the beginning of its string, behind an unclosed one."""
    return (",", _SPACES, r"[\w.$-]{1,64}", ":", *_steps(quote), _SPACES, r"[^\s,}]")


def _call_ends(closer: str, texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Steps for a call's closer with what may follow it, the end of the text included."""
    follow = [*map(_steps, texts), (r"\Z",)]
    return tuple((*_steps(closer), _SPACES, *steps) for steps in follow) if closer else ()


def _held(text: str, at: int, end: int, marker: str) -> int:
    """Index from which the end of text[at:end] may begin a marker; `end` where it cannot."""
    for start in range(max(at, end - len(marker) + 1), end):
        if marker.startswith(text[start:end]):
            return start
    return end


# What follows a string that is a key, an item, a value in an object or all there is.
_BEHIND_STRING = {
    ":": re.compile(_ahead(_SPACES, ":")),
    "]": re.compile(_ahead(_SPACES, r"[,\]]")),
    ")": re.compile(_ahead(_SPACES, r"[,)]")),
    "}": re.compile(_ahead(_SPACES, "[,}]")),
    "": re.compile("()"),
}


class EscapedString:
    """A string with Python's escapes, read from behind its opening quote, written as JSON text.

    As in Python, three quotes in a row open one that three close. Unlike there, lines may break.
    """

    def __init__(self, quote: str, out: list[str], closing: int = 0) -> None:
        self.done = False
        self.failed = False
        self._out = out
        self._quote = quote
        self._run = _string_run(quote)
        self._closing = closing  # how many quotes close it; 0 while there have been only quotes
        self._quotes = 0  # in a row
        self._escape: str | None = None  # what has been read of an escape, behind the backslash
        self._high = 0  # the first half of a surrogate pair

    def read(self, text: str, at: int, end: int, final: bool) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        del final  # where the string ends depends on nothing that follows
        while at < end and not self.done and not self.failed:
            if self._escape is not None:
                at += self._take_escape(text[at], self._escape)
            elif text[at] == self._quote:
                self._count_quote()
                at += 1
            elif self._quotes and not self._closing:
                self.done = True  # it was empty
            else:
                at = self._read_run(text, at, end)
        return at

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        plain = not self._quotes and self._escape is None and not self._high
        return _passes_string(self._quote) if plain and self._closing else None

    def state(self) -> str:
        """Its state in a table, "" where it has none."""
        if self._quotes or self._escape is not None or self._high or self._closing > 1:
            return ""
        return ("string" if self._closing else "opened") + self._quote

    def _count_quote(self) -> None:
        self._quotes += 1
        if not self._closing and self._quotes == 2:
            self._closing, self._quotes = 3, 0
        elif self._quotes == self._closing:
            self._flush()
            self.done = True

    def _read_run(self, text: str, at: int, end: int) -> int:
        self._closing = self._closing or 1
        self._write(self._quote * self._quotes)
        self._quotes = 0
        found = self._run.match(text, at, end)
        stop = at if found is None else found.end()
        self._write(text[at:stop])
        if stop < end and text[stop] == "\\":
            self._escape = ""
            stop += 1
        return stop

    def _take_escape(self, char: str, escape: str) -> bool:
        """Take a character of an escape; False where it does not belong to it."""
        if not escape:
            coded = char in _HEX_WIDTHS or char in _OCTAL_DIGITS
            self._escape = char if coded else None
            if not coded:
                self._write(_ESCAPES.get(char, "\\" + char))
            return True
        if escape[0] in _HEX_WIDTHS:
            return self._take_hex(char, escape)
        if char in _OCTAL_DIGITS and len(escape) < 3:
            self._escape = escape + char
            return True
        self._write_code(int(escape, 8))
        return False

    def _take_hex(self, char: str, escape: str) -> bool:
        digits, width = escape[1:] + char, _HEX_WIDTHS[escape[0]]
        if char not in _HEX_DIGITS or int(digits.ljust(width, "0"), 16) > _LAST_CODE_POINT:
            self.failed = True
            return False
        self._escape = escape + char
        if len(digits) == width:
            self._write_code(int(digits, 16))
        return True

    def _write_code(self, code: int) -> None:
        """A code point written by its number; two surrogates that fit make one character."""
        self._escape = None
        if self._high and 0xDC00 <= code < 0xE000:
            code += ((self._high - 0xD800) << 10) + 0x10000 - 0xDC00
            self._high = 0
        if 0xD800 <= code < 0xDC00:
            self._flush()
            self._high = code
        elif 0xDC00 <= code < 0xE000:
            self._out.append(f"\\u{code:04x}")
        else:
            self._write(chr(code))

    def _write(self, text: str) -> None:
        if text:
            self._flush()
            self._out.append(_json_text(text))

    def _flush(self) -> None:
        """Half of a surrogate pair without the other: as an escape, for it is no character."""
        if self._high:
            self._out.append(f"\\u{self._high:04x}")
            self._high = 0


@lru_cache
def _string_run(quote: str) -> re.Pattern[str]:
    """A pattern of what is neither a quote nor an escape."""
    return re.compile(rf"[^\\{quote}]*")


class VerbatimString:
    """A string that nothing is escaped in, read from behind its opening quote, written as JSON text.

    It ends at a quote with a match of `follows` behind it (see `_ahead`); other quotes are text.
    Where the steps of one of `missed` match, the quote before them has been left out. What is not
    clear yet is left to be read with the next piece.
    """

    def __init__(
        self,
        quote: str,
        out: list[str],
        follows: re.Pattern[str],
        missed: tuple[tuple[str, ...], ...] = (),
    ) -> None:
        self.done = False
        self.failed = False
        self._out = out
        self.quote = quote
        self._follows = follows
        self._missed, self._begins = _missed_ends(missed)
        self._passes = _passes_string(quote[0], missed)

    def read(self, text: str, at: int, end: int, final: bool) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        stop, size = self._find_end(text, at, end, final)
        self._out.append(_json_text(text[at:stop]))
        return stop + size

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        return self._passes

    def _find_end(self, text: str, at: int, end: int, final: bool) -> tuple[int, int]:
        """Up to where text[at:end] is the string's text, and the size of its closing quote there."""
        missed = self._missed.search(text, at, end)
        stop = end + 1 if missed is None else missed.start()
        limit = min(end, stop + len(self.quote) - 1)
        while (quote := text.find(self.quote, at, limit)) >= 0:
            behind = self._follows.match(text, quote + len(self.quote), end)
            if behind is not None and (final or behind.lastindex):
                self.done = True
                return quote, len(self.quote)
            if behind is not None:
                return min(quote, self._unclear(text, at, end)), 0
            at = quote + 1
        if missed is not None and (final or missed.end() < end):
            self.done = True
            return missed.start(), 0
        return (end if final else min(stop, self._unclear(text, at, end))), 0

    def _unclear(self, text: str, at: int, end: int) -> int:
        """Index from which the end of text[at:end] may begin what ends the string."""
        start = max(at, end - _LONGEST_END)
        begin = self._begins.search(text, start, end)
        held = _held(text, start, end, self.quote)
        return held if begin is None else min(held, begin.start())


@lru_cache
def _missed_ends(
    missed: tuple[tuple[str, ...], ...],
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of what shows that a closing quote has been left out, and of what may begin that."""
    whole = "|".join("".join(steps) for steps in missed)
    begins = "|".join(_ahead(*steps) for steps in missed)
    return re.compile(whole or r"(?!)"), re.compile(begins or r"(?!)")


@lru_cache
def _passes_string(first: str, missed: tuple[tuple[str, ...], ...] = ()) -> _ReadPiece:
    """What passes on a piece in which no string may end, and nothing is escaped in JSON."""
    ways = "|".join([*(steps[0] for steps in missed), re.escape(first)])
    return _passing(re.compile(f"{ways}|{_ESCAPED}").search)


# ==== End literal strings block ====
