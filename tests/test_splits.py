"""The helpers that cut texts, checked by counting."""

from __future__ import annotations

import pytest
from splits import every_split, pieces, random_pieces, usual_splits


@pytest.mark.parametrize(("length", "count"), [(1, 1), (2, 2), (3, 4), (4, 7), (10, 46)])
def test_every_split_counts(length: int, count: int) -> None:
    text = "abcdefghij"[:length]
    splits = list(every_split(text))
    assert len(splits) == count
    assert len({tuple(split) for split in splits}) == count
    assert all("".join(split) == text for split in splits)
    assert all(piece for split in splits for piece in split)


def test_pieces_cover_the_text() -> None:
    assert pieces("abcdefg", 3) == ["abc", "def", "g"]
    assert pieces("", 3) == []


def test_random_pieces_repeat_with_their_seed() -> None:
    text = "x" * 200
    assert random_pieces(text, 1) == random_pieces(text, 1)
    assert random_pieces(text, 1) != random_pieces(text, 2)
    assert "".join(random_pieces(text, 3)) == text


def test_usual_splits_cover_the_text() -> None:
    assert all("".join(split) == "some text" for split in usual_splits("some text"))
