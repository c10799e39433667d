"""What the phases of one analysis share: renderings, options, evidence."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Mapping
from typing import Any

from autoparser_gen.analysis.layout import Layout, lay_out, numbering
from autoparser_gen.errors import AnalysisError, shown
from autoparser_gen.probe import Options, Prober, Turn, needles
from autoparser_gen.probe.diff import calculate_diff_split

# The longest turn of real chat templates has 1000 characters with all probes in it. What grows with
# the square of it stays quick up to here.
MAX_TURN = 10_000

logger = logging.getLogger("autoparser_gen.analysis")


class Study:
    """Renderings of one chat template, laid out; and the evidence found so far."""

    def __init__(self, prober: Prober) -> None:
        """Begin with nothing known."""
        self.prober = prober
        self.evidence: dict[str, str] = {}
        self.notes: list[str] = []
        self._kept: dict[str, Layout | None] = {}

    @property
    def header(self) -> str:
        """What starts the assistant's turn."""
        return self.prober.header

    def move_header(self, size: int) -> None:
        """Give the last `size` characters of the header back to the turns."""
        self.prober.edges.shorten_header(size)

    def forget_reasoning(self) -> None:
        """No message key shows reasoning, after all."""
        self.prober.set_reasoning_field("", {})

    # -- renderings --------------------------------------------------------------------------

    def layout(
        self,
        *,
        content: bool = False,
        reasoning: bool = False,
        calls: int = 0,
        arguments: int = 2,
        user_follows: bool = False,
    ) -> Layout | None:
        """The turn with these parts, or None where the chat template refuses or drops a call."""
        field = self.prober.shape.reasoning_field
        key = repr((content, reasoning, calls, arguments, user_follows, self.header, field))
        if key not in self._kept:
            given = needles.calls(calls, arguments)
            turn = self.prober.raw_turn(
                needles.CONTENT if content else None,
                needles.REASONING if reasoning else None,
                given,
                user_follows=user_follows,
            )
            numbers = self._numbering if given else None
            self._kept[key] = None if turn is None else lay_out(self._short(turn), given, numbers)
        return self._kept[key]

    @functools.cached_property
    def _numbering(self) -> re.Pattern[str] | None:
        """How the chat template numbers calls in front of them, if it does."""
        given = needles.calls(2, 2)
        turn = self.prober.raw_turn(None, None, given, user_follows=False)
        layout = None if turn is None else lay_out(self._short(turn), given)
        return None if layout is None else numbering(layout)

    def _short(self, turn: Turn) -> Turn:
        """The turn itself. Raises AnalysisError where it is too long to be one."""
        if len(turn.text) > MAX_TURN:
            raise AnalysisError(
                f"{self.prober.name}: an assistant's turn is rendered with {len(turn.text)} characters"
                f" around a few words: {shown(turn.text)}. At most {MAX_TURN} are read: look where the"
                " chat template prints this, it may be text that does not belong to the turn."
            )
        return turn

    def glue(self, pair: str, **parts: Any) -> str | None:
        """The glue of one joint in the turn with these parts."""
        layout = self.layout(**parts)
        return None if layout is None else layout.glue(pair)

    def prefills(self) -> list[tuple[Options, str]]:
        """(options, what the generation prompt holds behind the header), default first."""
        size = len(self.header)
        return [(options, prompt[size:]) for options, prompt in self.prober.prompt_variants()]

    # -- findings ----------------------------------------------------------------------------

    def found(self, field: str, comparison: str, left: str = "", right: str = "") -> None:
        """Remember which comparison found a field; log the two texts that were compared."""
        self.evidence.setdefault(field, comparison)
        if logger.isEnabledFor(logging.DEBUG):
            split = calculate_diff_split(left, right)
            logger.debug(
                "%s: %s: prefix %r left %r right %r suffix %r",
                field,
                comparison,
                split.prefix,
                split.left,
                split.right,
                split.suffix,
            )

    def note(self, sentence: str) -> None:
        """Remember what could not be learnt."""
        if sentence not in self.notes:
            self.notes.append(sentence)


def is_on(options: Mapping[str, Any]) -> bool | None:
    """Whether an option says yes or no; None where it says neither."""
    for value in options.values():
        if isinstance(value, bool):
            return value
    return None
