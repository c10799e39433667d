"""Regular expressions of JSON Schema as grammar: ECMAScript's, without look-around.

An expression is found anywhere in a string unless it is anchored, so what is not anchored gets any
text around it. Its characters are those of the decoded string; a syntax spells them.
"""

from __future__ import annotations

import re

from autoparser_gen.grammar.check import repetition_faults
from autoparser_gen.grammar.ir import EMPTY, CharClass, Expr, Lit, Rep, alt, chars, many, seq
from autoparser_gen.grammar.words import without

DIGIT = chars("0-9")
WORD = chars("a-zA-Z0-9_")
# What counts as whitespace in ECMAScript and in Python, and what does so in one of them, or in Rust.
SPACE = chars("\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000")
ANY_SPACE = CharClass((*SPACE.ranges, *chars("\x1c-\x1f\x85\ufeff").ranges))
ANY = CharClass((), negated=True)
LINE = chars("\n\r\u2028\u2029", negated=True)

# By letter: the characters that are surely of the class, and those that may be, which the letter in
# upper case leaves out.
_CLASSES = {"d": (DIGIT, DIGIT), "w": (WORD, WORD), "s": (SPACE, ANY_SPACE)}
_CHARACTERS = (("\0", "\U0010ffff"),)
_MAX_GROUPS = 50  # in one another
_BOUNDS = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_HEX_LENGTHS = {"x": 2, "u": 4}


class Unsupported(ValueError):
    """An expression uses what a grammar cannot do; the message names it."""


def pattern(source: str) -> Expr:
    """The strings in which the expression is found.

    Raises Unsupported for look-around, back references, word boundaries, inner anchors, and
    repetitions that engines do not take.
    """
    parser = _Parser(source)
    choices = parser.alternatives(top=True)
    if parser.at < len(source):
        raise Unsupported(f"an unmatched {source[parser.at]!r}")
    found = alt(*choices)
    for fault in repetition_faults(found, set()):
        raise Unsupported(f"it {fault}")
    return found


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.groups = 0  # that are open

    def alternatives(self, *, top: bool = False) -> list[Expr]:
        """Everything up to a closing parenthesis or the end."""
        choices = [self._sequence(top)]
        while self._take("|"):
            choices.append(self._sequence(top))
        return choices

    def _sequence(self, top: bool) -> Expr:
        items: list[Expr] = []
        begins = self._take("^") if top else False
        ends = False
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            if ends:
                raise Unsupported("an anchor inside the expression")
            if self._take("$"):
                if not top:
                    raise Unsupported("an anchor inside a group")
                ends = True
                continue
            items.append(self._quantified(self._atom()))
        if not top:
            return seq(*items)
        return seq(EMPTY if begins else many(ANY), *items, EMPTY if ends else many(ANY))

    def _quantified(self, atom: Expr) -> Expr:
        bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._peek())
        if bounds is not None:
            self.at += 1
        else:
            bounds = self._braces()
            if bounds is None:
                return atom
        self._take("?")  # laziness does not change which strings match
        low, high = bounds
        return Rep(atom, low, high) if bounds != (1, 1) else atom

    def _braces(self) -> tuple[int, int | None] | None:
        """The bounds in {n}, {n,} or {n,m}; None where a brace is only a character."""
        found = _BOUNDS.match(self.source, self.at)
        if found is None:
            return None
        self.at = found.end()
        low, comma, high = found.groups()
        if max(len(low), len(high or "")) > 9:
            raise Unsupported(f"the bounds {found.group()[:40]}")
        return int(low), (int(high) if high else None) if comma else int(low)

    def _atom(self) -> Expr:
        char = self.source[self.at]
        self.at += 1
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == ".":
            return LINE
        if char == "\\":
            return self._escape()
        if char == "^":
            raise Unsupported("an anchor inside the expression")
        if char in "*+?":
            raise Unsupported(f"a {char!r} with nothing before it")
        return Lit(_character_of(char))

    def _group(self) -> Expr:
        if self._take("?"):
            if self._take("<") and self._peek() not in ("=", "!"):
                name, closed, _ = self.source[self.at :].partition(">")
                if not closed:
                    raise Unsupported("an unfinished name of a group")
                self.at += len(name) + 1
            elif not self._take(":"):
                raise Unsupported("look-around or an inline flag")
        self.groups += 1
        if self.groups > _MAX_GROUPS:
            raise Unsupported(f"over {_MAX_GROUPS} groups in one another")
        choices = self.alternatives()
        self.groups -= 1
        if not self._take(")"):
            raise Unsupported("an unmatched '('")
        return alt(*choices)

    def _escape(self) -> Expr:
        char = self._next()
        if char.lower() in _CLASSES:
            surely, maybe = _CLASSES[char.lower()]
            return CharClass(maybe.ranges, negated=True) if char.isupper() else surely
        if char in "bB":
            raise Unsupported("a word boundary")
        if char.isdigit() and char != "0":
            raise Unsupported("a back reference")
        return Lit(self._character(char))

    def _character(self, char: str) -> str:
        """The character that an escape stands for."""
        if char in _HEX_LENGTHS:
            code = self._code(char)
            if 0xD800 <= code < 0xDC00 and self.source[self.at : self.at + 2] == "\\u":
                self.at += 2
                low = self._code("u")
                if not 0xDC00 <= low < 0xE000:
                    raise Unsupported("half of a surrogate pair")
                code = 0x10000 + (code - 0xD800) * 0x400 + low - 0xDC00
            return _character_of(chr(code))
        is_octal = char == "0" and self._peek().isdecimal()
        if is_octal or (char.isalnum() and char not in _CONTROLS):
            raise Unsupported(f"\\{char}")
        return _CONTROLS.get(char, _character_of(char))

    def _code(self, char: str) -> int:
        """The number in \\xhh or \\uhhhh."""
        digits = self.source[self.at : self.at + _HEX_LENGTHS[char]]
        if re.fullmatch(f"[0-9a-fA-F]{{{_HEX_LENGTHS[char]}}}", digits) is None:
            raise Unsupported(f"\\{char}{digits}")
        self.at += len(digits)
        return int(digits, 16)

    def _class(self) -> Expr:
        negated = self._take("^")
        ranges: list[tuple[str, str]] = []
        letters: set[str] = set()  # of the classes within
        while not self._take("]"):
            low = self._member(ranges, negated, letters)
            if low is None:
                continue
            high: str | None = low
            if self._peek() == "-" and self.source[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._member([], negated, letters)
            if high is None or high < low:
                raise Unsupported(f"the range {low}-{high or ''}")
            ranges.append((low, high))
        if any(letter.swapcase() in letters for letter in letters):  # as in [\\s\\S]
            ranges = list(_CHARACTERS)
        if not without(_CHARACTERS, ranges):
            ranges, negated = [], not negated
        if not ranges and not negated:
            raise Unsupported("a class that holds no character")
        return CharClass(tuple(dict.fromkeys(ranges)), negated)

    def _member(
        self, ranges: list[tuple[str, str]], negated: bool, letters: set[str]
    ) -> str | None:
        """One character of a class; a class within adds its own to `ranges`."""
        char = self._next()
        if char != "\\":
            return _character_of(char)
        char = self._next()
        if char.lower() in _CLASSES:
            letters.add(char)
            ranges.extend(_ranges(char, widely=negated))
            return None
        return "\b" if char == "b" else self._character(char)

    def _peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise Unsupported("an unfinished expression")
        self.at += 1
        return char

    def _take(self, char: str) -> bool:
        found = self._peek() == char
        self.at += found
        return found


def _ranges(letter: str, *, widely: bool = False) -> tuple[tuple[str, str], ...]:
    """The characters of a class that is written as a letter, or `widely` all that may be of it."""
    surely, maybe = _CLASSES[letter.lower()]
    if letter.islower():
        return (maybe if widely else surely).ranges
    return without(_CHARACTERS, (surely if widely else maybe).ranges)


def _character_of(char: str) -> str:
    """A character. Raises Unsupported where it is half of one."""
    if "\ud800" <= char <= "\udfff":
        raise Unsupported("half of a surrogate pair")
    return char


_DATE = (
    r"[12][0-9]{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    r"|(?:[12][0-9](?:0[48]|[2468][048]|[13579][26])|(?:1[26]|2[048])00)-02-29"
)
_TIME = (
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
    r"(?:Z|[+\-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_HEX_CLASS = "[0-9a-fA-F]"

# RFC 3339 for dates and times (years from 1000 on); addresses without quotes and comments.
FORMATS = {
    "date": f"^(?:{_DATE})$",
    "time": f"^{_TIME}$",
    "date-time": f"^(?:{_DATE})T{_TIME}$",
    "uuid": f"^{_HEX_CLASS}{{8}}-{_HEX_CLASS}{{4}}-{_HEX_CLASS}{{4}}-{_HEX_CLASS}{{4}}-{_HEX_CLASS}{{12}}$",
    "email": (
        r"^[a-zA-Z0-9_%+\-]+(?:\.[a-zA-Z0-9_%+\-]+)*"
        r"@[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*(?:\.[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*)*\.[a-zA-Z]{2,}$"
    ),
}
