"""What plugins for servers share: such servers read reasoning and calls in two steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autoparser_gen.emit.skeletons.messages import Delta
from autoparser_gen.emit.skeletons.regions import REGIONS
from autoparser_gen.emit.skeletons.runtime import REASONING_END, Parser

# ==== Begin split block (identical in every plugin) ====

# A server cannot take back what it has sent, so a call goes out once it is complete. With True its
# arguments go out as they come; then clients may see the beginning of a call that never completes.
STREAM_ARGUMENTS = False

HAS_REASONING = any(region.collects == "reasoning" for region in REGIONS.values())
# What the second step reads goes on after the reasoning: nothing is open there. Where there is no
# first step, it goes on after the generation prompt.
PROMPT_OF_CALLS = "" if HAS_REASONING else None


def tool_list(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """A server's tools as OpenAI's list. Those that are no functions are left out."""
    functions = (getattr(tool, "function", tool) for tool in tools)
    return [
        {"type": "function", "function": {"name": f.name, "parameters": f.parameters}}
        for f in functions
        if isinstance(getattr(f, "name", None), str) and hasattr(f, "parameters")
    ]


class ReasoningSplit:
    """The first step: tells reasoning from what follows it, which is passed on with its markup.

    `prompt` is that of `Parser`. `over` says that no more reasoning comes out of this step.
    """

    def __init__(self, prompt: str | None = None) -> None:
        self._parser = Parser(prompt=prompt)
        self._text: list[str] = []
        self.over = not HAS_REASONING

    def feed(self, chunk: str) -> tuple[str, str]:
        """Read a piece of text; returns further reasoning, and further text that follows it."""
        if self.over:
            return "", chunk
        self._text.append(chunk)
        return self._take(self._parser.feed(chunk))

    def finish(self) -> tuple[str, str]:
        """The text has ended: what was held back, as `feed` returns it."""
        if self.over:
            return "", ""
        return self._take(self._parser.finish())

    @property
    def closed(self) -> bool:
        """Whether reasoning is over, or its closer is the last that was read."""
        if self.over:
            return True
        spans = self._parser.spans
        return bool(spans) and self._end() == spans[-1].end and spans[-1].kind != "reasoning"

    def _take(self, deltas: Iterable[Delta]) -> tuple[str, str]:
        reasoning = []
        for delta in deltas:
            if not delta.reasoning_content:
                self.over = True  # later reasoning stands between what is left to the next step
                break
            reasoning.append(delta.reasoning_content)
        return "".join(reasoning), "".join(self._text)[self._end() :] if self.over else ""

    def _end(self) -> int:
        """Index of what follows the reasoning, its closer and the whitespace behind that."""
        text, end, closed = "".join(self._text), 0, False
        for kind, start, stop in self._parser.spans:
            if kind == "reasoning":
                end, closed = stop, False
            elif kind == "marker" and text[start:stop].strip() == REASONING_END.strip() != "":
                end, closed = stop, True
            elif kind == "separator" and closed:
                end = stop
            elif kind in ("content", "call", "incomplete"):
                break
        return end


def _split(text: str, prompt: str | None) -> tuple[str, str]:
    """The reasoning in a whole text, and what follows it."""
    split = ReasoningSplit(prompt)
    pieces = [split.feed(text), split.finish()]
    return "".join(piece[0] for piece in pieces), "".join(piece[1] for piece in pieces)


# ==== End split block ====
