"""Stops of texts and the tokens that spell them: how much is read, and what ends a text then."""

from __future__ import annotations

from autoparser_gen.grammar.ir import (
    Expr,
    Lit,
    Piece,
    Rule,
    Stop,
    Text,
    Thru,
    Word,
    items_of,
    seq,
    walk,
)
from autoparser_gen.grammar.schema import slug
from autoparser_gen.grammar.words import may_hold


def leads_to(read: Stop, stop: Stop) -> bool:
    """Whether what has been read is the beginning of a stop."""
    return len(read) <= len(stop) and all(map(_is_one_of, read, stop))


def begins(read: Stop, stop: Stop) -> bool:
    """Whether what has been read is a stop, or a stop and more of its last marker."""
    if len(read) != len(stop) or not stop[-1] or not leads_to(read[:-1], stop[:-1]):
        return False
    last, end = read[-1], stop[-1]
    if isinstance(end, Word) or isinstance(last, Word):
        first = last[0] if isinstance(last, str) else last
        return _is_one_of(first, end)
    return last.startswith(end)


def _is_one_of(read: Piece, piece: Piece) -> bool:
    """Whether what has been read is a piece of a stop."""
    if isinstance(piece, Word) and isinstance(read, str):
        return bool(read) and all(
            may_hold(piece, char, is_first=not at) for at, char in enumerate(read)
        )
    return isinstance(piece, Word) or read == piece


def through(text: Text, read: Stop, stop: Stop, token: Rule) -> Expr:
    """Text, what has been read of its stop, and the rest of the token that ended it."""
    last, end = read[-1], stop[-1]
    exact = (*read[:-1], end if isinstance(last, str) and isinstance(end, str) else last)
    more = last[len(end) :] if isinstance(last, str) and isinstance(end, str) else ""
    stops = tuple(dict.fromkeys((*stops_inside(text.stops), exact)))
    return seq(Thru(stops, exact), more, *_after_marker(token))


def name_of_ending(text: Rule, read: Stop, stop: Stop, token: Rule) -> str:
    """A name for text with what ends it: a given word in that, or else the last token."""
    given = [
        word
        for word, piece in zip(read, stop, strict=True)
        if isinstance(word, str) and isinstance(piece, Word)
    ]
    return f"{text.name}-to-{slug(given[0]) if given else token.name}"


def read_piece(token: Rule) -> Piece:
    """The marker or the word in a token; "" if it is whitespace only."""
    return token.body if isinstance(token.body, Word) else marker_of(token)


def marker_of(token: Rule) -> str:
    """The marker in a token; "" if there is none."""
    return next((node.text for node in walk(token.body) if isinstance(node, Lit)), "").strip()


def _after_marker(token: Rule) -> tuple[Expr, ...]:
    """What a token holds behind its marker: whitespace."""
    items = items_of(token.body)
    at = next((at for at, item in enumerate(items) if isinstance(item, Lit)), len(items))
    return items[at + 1 :]


def stops_inside(stops: tuple[Stop, ...]) -> tuple[Stop, ...]:
    """The stops that can end inside a response."""
    return tuple(stop for stop in stops if stop[-1])
