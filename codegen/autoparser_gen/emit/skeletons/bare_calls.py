"""Decoder for calls as in Python whose strings stand without quotes: [name(key=some text)]."""

from __future__ import annotations

import re

from autoparser_gen.emit.skeletons.literals import Literal
from autoparser_gen.emit.skeletons.python_calls import (
    _BEHIND_ARGUMENT,
    LITERAL_QUOTES,
    PythonCalls,
)
from autoparser_gen.emit.skeletons.raw_values import _argument_schema, _typed
from autoparser_gen.emit.skeletons.turn import _Turn

# ==== Begin bare calls block (identical in every file that has it) ====

_MAY_END = re.compile("[,)]")


class BareValue(Literal):
    """An argument's value: a literal if it reads as one, else the text as it stands.

    It is left unread until it is known where it ends, then its type follows the schema.
    """

    def __init__(self, parser: _Turn, follows: re.Pattern[str]) -> None:
        super().__init__()
        tool, key, _ = parser.argument
        self._schema = _argument_schema(parser.schemas, tool, key)
        self._value_ends = follows
        self._literal: Literal | None = Literal(LITERAL_QUOTES)
        self._scanned = 0  # how much has been looked at

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index behind the value, or where it begins."""
        if self._literal is not None:
            stop = self._literal.read(text, at + self._scanned, end)
            self._scanned = stop - at
            ends = self._ends(text, stop, end) if self._literal.done else False
            if ends is None or not (self._literal.done or self._literal.failed):
                return at
            if ends:
                return self._end(text, at, stop)
            self._literal, self._scanned = None, 0
        return self._read_text(text, at, end)

    def _read_text(self, text: str, at: int, end: int) -> int:
        while (found := _MAY_END.search(text, at + self._scanned, end)) is not None:
            ends = self._ends(text, found.start(), end)
            self._scanned = (found.start() if ends is None else found.end()) - at
            if ends is None:
                return at
            if ends:
                return self._end(text, at, found.start())
        self._scanned = end - at
        return at

    def _ends(self, text: str, at: int, end: int) -> bool | None:
        """Whether what stands here can follow the value; None where that is not clear yet."""
        behind = self._value_ends.match(text, at, end)
        if behind is None:
            return False
        return True if behind.lastindex or self.final else None

    def _end(self, text: str, at: int, stop: int) -> int:
        self.done = True
        quoted = self._literal is not None and text[at:stop].lstrip()[:1] in LITERAL_QUOTES
        if quoted and self._literal is not None:
            self._out.append(self._literal.take())
        else:
            self._out.append(_typed(text[at:stop], self._schema, ""))
        return stop


class BarePythonCalls(PythonCalls):
    """Calls as in Python; what is no literal is a string without quotes."""

    has_literals = False

    def new_value(self) -> Literal:
        """What reads an argument's value."""
        return BareValue(self._parser, _BEHIND_ARGUMENT[self._in_list])


# ==== End bare calls block ====
