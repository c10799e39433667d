"""Decoder for arguments that are one literal: {key:value, ...}."""

from __future__ import annotations

from autoparser_gen.emit.skeletons.literal_strings import _call_ends
from autoparser_gen.emit.skeletons.literals import Literal
from autoparser_gen.emit.skeletons.regions import Decoder, _ReadPiece
from autoparser_gen.emit.skeletons.turn import _Turn

LITERAL_QUOTES: tuple[str, ...] = ('"',)
LITERAL_ESCAPES = False
ARGUMENTS_CLOSER = "</call>"
ARGUMENTS_BEHIND: tuple[str, ...] = ("<call>", "</calls>")

# ==== Begin literal arguments block (identical in every file that has it) ====


class LiteralArguments(Decoder):
    """The arguments of a call: an object in the format's own notation."""

    expected = "arguments between braces"

    def __init__(self, parser: _Turn) -> None:
        super().__init__(parser)
        ends = _call_ends(ARGUMENTS_CLOSER, ARGUMENTS_BEHIND)
        self._literal = Literal(LITERAL_QUOTES, LITERAL_ESCAPES, ends, bare_keys=True)

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        literal = self._literal
        literal.final = self.final
        stop = literal.read(text, at, end)
        self.done, self.failed = literal.done, literal.failed
        if not self.failed:
            self._parser.call_arguments(literal.take())
        return stop

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        return self._literal.passes()


# ==== End literal arguments block ====
