"""What the phases of one analysis share: renderings, options, evidence."""

from __future__ import annotations

from typing import Any

from autoparser_gen.analysis.layout import Layout, lay_out
from autoparser_gen.probe import Prober, needles


class Study:
    """Renderings of one chat template, laid out; and the evidence found so far."""

    def __init__(self, prober: Prober) -> None:
        self.prober = prober
        self.header = prober.header
        self.evidence: dict[str, str] = {}
        self.notes: list[str] = []
        self.reasoning_options: dict[str, Any] = {}  # options under which reasoning is shown
        self._kept: dict[str, Layout | None] = {}

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
        key = repr((content, reasoning, calls, arguments, user_follows, self.header))
        if key not in self._kept:
            given = needles.calls(calls, arguments)
            turn = self.prober.turn(
                needles.CONTENT if content else None,
                needles.REASONING if reasoning else None,
                given,
                user_follows=user_follows,
                **(self.reasoning_options if reasoning else {}),
            )
            self._kept[key] = None if turn is None else lay_out(turn, given)
        return self._kept[key]

    def glue(self, pair: str, **parts: Any) -> str | None:
        """The glue of one joint in the turn with these parts."""
        layout = self.layout(**parts)
        return None if layout is None else layout.glue(pair)

    def move_header(self, size: int) -> None:
        """Give the last `size` characters of the header back to the turns."""
        self.header = self.header[: len(self.header) - size]
        self.prober.header = self.header

    def prompts(self) -> list[str]:
        """Every generation prompt: default, then with each thinking switch."""
        found = [
            self.prober.generation_prompt(**options)
            for options in (
                {},
                {"enable_thinking": True},
                {"enable_thinking": False},
                {"thinking": True},
                {"thinking": False},
            )
        ]
        return list(dict.fromkeys(prompt for prompt in found if prompt is not None))

    def prompt_pair(self) -> tuple[str | None, str | None]:
        """A generation prompt and one that continues it, where thinking is switched off."""
        prompts = sorted(self.prompts(), key=len)
        for opened in prompts:
            for closed in prompts:
                if closed != opened and closed.startswith(opened) and closed[len(opened) :].strip():
                    return opened, closed
        return None, None

    def found(self, field: str, comparison: str) -> None:
        """Remember which comparison found a field."""
        self.evidence.setdefault(field, comparison)

    def note(self, sentence: str) -> None:
        """Remember what could not be learnt."""
        if sentence not in self.notes:
            self.notes.append(sentence)
