"""Ways to cut a text into pieces, for tests of parsers that must not notice."""

from __future__ import annotations

import random
from collections.abc import Iterator


def every_split(text: str) -> Iterator[list[str]]:
    """The whole, every way to cut once, and every way to cut twice. Grows with the square."""
    yield [text]
    yield from ([text[:i], text[i:]] for i in range(1, len(text)))
    for i in range(1, len(text)):
        yield from ([text[:i], text[i:j], text[j:]] for j in range(i + 1, len(text)))


def pieces(text: str, size: int) -> list[str]:
    """Pieces of one size; the last may be shorter."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def random_pieces(text: str, seed: int, longest: int = 17) -> list[str]:
    """Pieces of 1 to `longest` characters, the same for the same seed."""
    rng = random.Random(seed)
    found: list[str] = []
    start = 0
    while start < len(text):
        end = start + rng.randint(1, longest)
        found.append(text[start:end])
        start = end
    return found


def usual_splits(text: str, seed: int = 0) -> Iterator[list[str]]:
    """A few ways to cut that find most mistakes: whole, one by one, by 3, by 7, at random."""
    yield [text]
    yield pieces(text, 1)
    yield pieces(text, 3)
    yield pieces(text, 7)
    yield random_pieces(text, seed)
