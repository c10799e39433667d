"""Regular expressions of JSON Schema as grammar: ECMAScript's, without look-around.

An expression is found anywhere in a string unless it is anchored, so what is not anchored gets any
text around it. Its characters are those of the decoded string; a syntax spells them.
"""

from __future__ import annotations

from autoparser_gen.grammar.ir import EMPTY, CharClass, Expr, Lit, Rep, alt, chars, many, seq

DIGIT = chars("0-9")
WORD = chars("a-zA-Z0-9_")
SPACE = chars(" \t\n\r\f\v")
ANY = CharClass((), negated=True)
LINE = chars("\n\r\u2028\u2029", negated=True)

_CLASSES = {"d": DIGIT, "w": WORD, "s": SPACE}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_HEX_LENGTHS = {"x": 2, "u": 4}


class Unsupported(ValueError):
    """An expression uses what a grammar cannot do; the message names it."""


def pattern(source: str) -> Expr:
    """The strings in which the expression is found.

    Raises Unsupported for look-around, back references, word boundaries and inner anchors.
    """
    parser = _Parser(source)
    choices = parser.alternatives(top=True)
    if parser.at < len(source):
        raise Unsupported(f"an unmatched {source[parser.at]!r}")
    return alt(*choices)


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

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
        end = self.source.find("}", self.at)
        if self._peek() != "{" or end < 0:
            return None
        low, comma, high = self.source[self.at + 1 : end].partition(",")
        if not low.isdigit() or (high and not high.isdigit()):
            return None
        self.at = end + 1
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
        return Lit(char)

    def _group(self) -> Expr:
        if self._take("?"):
            if self._take("<") and self._peek() not in ("=", "!"):
                self.at = self.source.find(">", self.at) + 1  # the name of a group
            elif not self._take(":"):
                raise Unsupported("look-around or an inline flag")
        choices = self.alternatives()
        if not self._take(")"):
            raise Unsupported("an unmatched '('")
        return alt(*choices)

    def _escape(self) -> Expr:
        char = self._next()
        if char.lower() in _CLASSES:
            known = _CLASSES[char.lower()]
            return CharClass(known.ranges, negated=char.isupper())
        if char in "bB":
            raise Unsupported("a word boundary")
        if char.isdigit() and char != "0":
            raise Unsupported("a back reference")
        if char in "pPkc":
            raise Unsupported(f"\\{char}")
        return Lit(self._character(char))

    def _character(self, char: str) -> str:
        """The character that an escape stands for."""
        if char in _HEX_LENGTHS:
            digits = self.source[self.at : self.at + _HEX_LENGTHS[char]]
            try:
                code = int(digits, 16)
            except ValueError:
                raise Unsupported(f"\\{char}{digits}") from None
            self.at += len(digits)
            return chr(code)
        return _CONTROLS.get(char, char)

    def _class(self) -> Expr:
        negated = self._take("^")
        ranges: list[tuple[str, str]] = []
        while not self._take("]"):
            low = self._member(ranges)
            if low is None:
                continue
            high = low
            if self._peek() == "-" and self.source[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._member([]) or low
            if high < low:
                raise Unsupported(f"the range {low}-{high}")
            ranges.append((low, high))
        return CharClass(tuple(ranges), negated)

    def _member(self, ranges: list[tuple[str, str]]) -> str | None:
        """One character of a class; a class within adds its own to `ranges`."""
        char = self._next()
        if char != "\\":
            return char
        char = self._next()
        if char in _CLASSES:
            ranges.extend(_CLASSES[char].ranges)
            return None
        if char.lower() in _CLASSES:
            raise Unsupported(f"\\{char} inside a class")
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
