"""Where the assistant's turn begins and ends in a rendering."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autoparser_gen.probe.glue import (
    is_boundary,
    shared_end,
    shared_start,
    without_prefix,
    without_suffix,
)


class Edges:
    """What surrounds a turn: the end of the user's message, the header, what follows.

    All texts are those after the last user message of the opening. `user_close` ends that message,
    `header` starts the assistant's turn in generation prompts, `turn_header` in history where that
    is written otherwise, `next_header` starts the user's next message, `unasked` is what the chat
    template prints behind a conversation although no generation prompt was asked for.
    """

    def __init__(self, closed: str, prompted: str) -> None:
        """Begin with the opening without and with a generation prompt."""
        self.on_demand = closed != prompted
        self.closed, self.prompted = closed, prompted
        self.header = ""
        self.turn_header = ""
        self.next_header = ""
        self.unasked = ""
        self.indented = False  # whitespace before the header varies and means nothing

    def find_end(self, beginning: str, last: str, between: str) -> None:
        """Find what follows a turn.

        `beginning` is all that stands before the user's first text, `last` what follows an answer
        at the end of a conversation, `between` what stands between an answer and the user's next
        text.
        """
        end = end_of_answer(beginning, last, between)
        self.next_header = between[len(end) :]
        if not end.strip():  # the end is not shown, or unlike, at the end of a conversation
            self.next_header = without_prefix(shared_end(between, beginning), self.closed)
        tail = last[len(end) :]
        if tail.strip() and (self.prompted.endswith(tail) or self.closed.endswith(tail)):
            self.unasked = tail

    def user_close(self, closed: str | None, prompted: str | None) -> str:
        """What ends the user's message, from an opening without and with a generation prompt."""
        if self.unasked and self.prompted.endswith(self.unasked):
            return without_suffix(self.prompted, self.unasked)
        if not self.on_demand or closed is None:
            return ""
        if prompted is None or prompted.startswith(closed):
            return closed
        return shared_start(closed, prompted)

    def relative(self, text: str, close: str) -> str:
        """A text after the user's, from the assistant's header on."""
        if text.startswith(close):
            text = text[len(close) :]
        elif close.strip() and text.startswith(close.rstrip()):
            text = text[len(close.rstrip()) :].lstrip()  # the seam's whitespace varies
        elif self.header.strip() and self.header in text:
            text = text[text.index(self.header) :]
        if self.indented:
            text = text.lstrip()
        if self.turn_header and text.startswith(self.turn_header):
            text = self.header + text[len(self.turn_header) :]
        elif self.header.strip() and not text.startswith(self.header):
            # An option may append to the user's message.
            at = text.find(self.header.strip())
            if 0 < at <= 40 and "<" not in text[:at]:
                text = self.header + text[at + len(self.header.strip()) :]
        return text

    def shorten_header(self, size: int) -> None:
        """Give the last `size` characters of the header to the turns."""
        self.header = self.header[: len(self.header) - size]
        if self.turn_header:
            self.turn_header = self.turn_header[: len(self.turn_header) - size]

    def find_header(self, prompts: Sequence[str], turns: Sequence[str]) -> None:
        """Find the header: what generation prompts and turns begin with."""
        main = _header_of(*prompts[:1], *turns)
        if not main.strip() and prompts:
            self.indented = True
            prompts = [text.lstrip() for text in prompts]
            turns = [text.lstrip() for text in turns]
            main = _header_of(*prompts[:1], *turns)
        if not main.strip() and prompts:
            self.indented = False
            main = _header_of(*prompts)
            self.turn_header = _header_of(*turns)
        self.header = main
        relocated = (self.relative(text, "") for text in prompts[1:])
        self.header = _header_of(main, *(text for text in relocated if text[:1] == main[:1]))
        if self.header.endswith("  "):  # indentation of the chat template's own source
            self.header = self.header.rstrip(" ")


def end_of_answer(beginning: str, last: str, between: str) -> str:
    """What ends an answer both at the end of a conversation and before the user's next message."""
    end = last if between.startswith(last) else shared_start(last, between)
    # All headers may begin alike (`<a>user`, `<a>assistant`). The conversation itself
    # begins with a header, with nothing closed before it.
    for at in range(1, len(end)):
        if is_boundary(end, at) and beginning.startswith(end[at:]):
            return end[:at]
    return end


def _header_of(*texts: str) -> str:
    """What all texts begin with. A word at the end of one is whole, whatever follows in others."""
    shortest = min(texts, key=len, default="")
    if shortest[-1:].isalnum() and all(text.startswith(shortest) for text in texts):
        return shortest
    return shared_start(*texts)


def count_markers(text: str) -> int:
    """How many bracketed markers a text holds."""
    return len(re.findall(r"<[^<>]*>|\[[^\[\]]*\]", text))
