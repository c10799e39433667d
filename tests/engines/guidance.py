"""llguidance on a vocabulary of bytes."""

from __future__ import annotations

from functools import cache
from typing import Any


class Rejected(ValueError):
    """llguidance does not take the grammar."""


@cache
def _tokenizer() -> Any:
    import llguidance

    return llguidance.LLTokenizer("byte")


class Grammar:
    """A Lark grammar that has been compiled."""

    def __init__(self, text: str) -> None:
        """Raises Rejected where llguidance does not take the grammar."""
        import llguidance

        grammar = llguidance.LLMatcher.grammar_from_lark(text)
        self._matcher = llguidance.LLMatcher(_tokenizer(), grammar, log_level=0)
        if self._matcher.get_error():
            raise Rejected(self._matcher.get_error())

    def accepts(self, text: str) -> bool:
        """Whether the grammar lets a model write exactly this."""
        matcher = self._matcher.deep_copy()
        data = list(text.encode())
        return bool(matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting())
