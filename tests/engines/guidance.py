"""llguidance on a vocabulary of bytes, and special tokens on request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any


class Rejected(ValueError):
    """llguidance does not take the grammar."""


class Vocabulary:
    """A token for each byte, one that ends a text, and special ones; what llguidance asks of it."""

    eos_token_id = 256
    bos_token_id = None

    def __init__(self, special: Sequence[str]) -> None:
        """Give the special tokens their numbers."""
        self.tokens = [bytes([byte]) for byte in range(256)]
        self.tokens += [token.encode() for token in ("<|end of text|>", *special)]
        self.special_token_ids = list(range(256, len(self.tokens)))
        self._numbers = {token: number for number, token in enumerate(special, 257)}
        self._special = re.compile("(" + "|".join(map(re.escape, special)) + ")")

    def __call__(self, data: bytes) -> list[int]:
        """The tokens of a text in which nothing is special, as llguidance asks for them."""
        return list(data)

    def tokens_of(self, text: str) -> list[int]:
        """The tokens of a text, special ones included."""
        return list(self._read(text)) if self._numbers else list(text.encode())

    def _read(self, text: str) -> Iterator[int]:
        for part in self._special.split(text):
            if part in self._numbers:
                yield self._numbers[part]
            else:
                yield from part.encode()


@cache
def _tokenizer(special: tuple[str, ...]) -> tuple[Any, Vocabulary]:
    import llguidance

    vocabulary = Vocabulary(special)
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(vocabulary)), vocabulary


class Grammar:
    """A Lark grammar that has been compiled."""

    def __init__(self, text: str, special: Sequence[str] = ()) -> None:
        """`special` are the tokens beside bytes.

        Raises Rejected where llguidance does not take the grammar.
        """
        import llguidance

        grammar = llguidance.LLMatcher.grammar_from_lark(text)
        tokenizer, self._vocabulary = _tokenizer(tuple(special))
        self._matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
        if self._matcher.get_error():
            raise Rejected(self._matcher.get_error())

    def accepts(self, text: str) -> bool:
        """Whether the grammar lets a model write exactly this, markers as special tokens."""
        return self._accepts(self._vocabulary.tokens_of(text))

    def accepts_bytes(self, text: str) -> bool:
        """Whether it lets a model spell this, without special tokens."""
        return self._accepts(list(text.encode()))

    def _accepts(self, tokens: list[int]) -> bool:
        matcher = self._matcher.deep_copy()
        return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())
