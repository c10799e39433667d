"""One assistant turn as the chat template renders it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from autoparser_gen.chat_template import UNKNOWN_TOKENS

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """One assistant turn as the chat template renders it.

    `text` follows `header`. `generated` is what a model would have written after `prompt`: the
    generation prompt of the same options where the turn continues it. Where history lacks what the
    prompt holds, such as an opened reasoning block, `prompt` is the bare header, with nothing open;
    but a turn that begins with the reasoning itself goes on from where the prompt ends.
    """

    header: str
    text: str
    prompt: str
    generated: str
    options: Options

    def after(self, prompt: str) -> str | None:
        """The turn's text after a generation prompt, or None where the turn does not continue it."""
        whole = self.header + self.text
        return whole[len(prompt) :] if whole.startswith(prompt) else None

    def without_unknown_tokens(self) -> Turn:
        """The turn without what stands for special tokens that are not known."""
        return replace(
            self,
            header=_known(self.header),
            text=_known(self.text),
            prompt=_known(self.prompt),
            generated=_known(self.generated),
        )


def _known(text: str) -> str:
    """A text without unknown special tokens, and without the whitespace behind a last one."""
    for placeholder in UNKNOWN_TOKENS.values():
        before, found, after = text.rpartition(placeholder)
        text = before if found and not after.strip() else text
        text = text.replace(placeholder, "")
    return text
