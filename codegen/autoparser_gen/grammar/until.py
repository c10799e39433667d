"""Text until a marker, without look-ahead: an automaton, and regular expressions of it.

The automaton's state says how much of which stops has just been read; for stops of one piece it is
Aho and Corasick's. Regular expressions come from it by eliminating states. What they match first is
the longest that they match (the tests show it exhaustively for small alphabets).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from autoparser_gen.grammar.eliminate import (
    BEGIN,
    END,
    char_class_of,
    either,
    either_class,
    eliminate,
)
from autoparser_gen.grammar.ir import (
    EMPTY,
    CharClass,
    Expr,
    Piece,
    Rep,
    Stop,
    StringText,
    Word,
)
from autoparser_gen.grammar.words import may_hold

# A position in a stop: which stop, which of its pieces, what has been read of that piece. Of a word
# that is as much as may become one it must not be, else _SOME.
Position = tuple[int, int, str]

_SOME = "\0"
# Stands for every character that no stop names.
_OTHER = "\U0010ffff"

# What may stand between the pieces of a stop: what a generated parser skips between markers.
SPACES = " \t\r\n"


class Automaton:
    """Finds the first stop in a text. State 0: nothing of any stop has been read.

    Stops that end at the end of the response are left out: they never end inside a text.
    """

    def __init__(self, stops: Iterable[Stop], before: str = "") -> None:
        """Build the automaton; pieces of stops must not be empty.

        It starts as if it had read a character, if there is one `before` the text.
        """
        self.stops = tuple(stop for stop in dict.fromkeys(stops) if stop[-1])
        if not all(all(stop) for stop in self.stops):
            raise ValueError("an automaton needs stops with text in every piece")
        letters = {char for stop in self.stops for piece in stop for char in _letters(piece)}
        if any(len(stop) > 1 for stop in self.stops):
            letters.update(SPACES)
        self._letters = sorted(letters)
        self._begin = frozenset((index, 0, "") for index in range(len(self.stops)))
        self._next: list[dict[str, int]] = []
        self._otherwise: list[int] = []  # the states after characters that are not in the former
        self._hits: list[frozenset[Stop]] = []
        self._build()
        self.live = [state for state, hits in enumerate(self._hits) if not hits]
        self.start = self.step(0, before) if before else 0

    def hits(self, state: int) -> frozenset[Stop]:
        """The stops that end where this state is entered."""
        return self._hits[state]

    def all_hits(self) -> list[frozenset[Stop]]:
        """The stops that end in each of the states."""
        return self._hits

    def step(self, state: int, char: str) -> int:
        """The state after one more character."""
        return self._next[state].get(char, self._otherwise[state])

    def edges(self, state: int) -> dict[int, CharClass]:
        """The states that follow, each with the characters that lead to it."""
        by_target: dict[int, list[str]] = {}
        for char, target in self._next[state].items():
            by_target.setdefault(target, []).append(char)
        edges = {self._otherwise[state]: char_class_of(self._next[state], negated=True)}
        edges.update((target, char_class_of(to)) for target, to in sorted(by_target.items()))
        return edges

    def _build(self) -> None:
        """States are sets of positions, numbered in the order of a breadth-first search."""
        numbers = {self._begin: 0}
        queue = deque([self._begin])
        self._hits.append(frozenset())
        while queue:
            positions = queue.popleft()
            following: dict[str, int] = {}
            self._next.append(following)
            self._otherwise.append(0)
            if self._hits[numbers[positions]]:
                continue
            for char in (_OTHER, *self._told_apart(positions)):
                after, hits = self._advance(positions, char)
                if hits:
                    after = frozenset((index, -1, "") for index in hits)
                if after not in numbers:
                    numbers[after] = len(numbers)
                    self._hits.append(frozenset(self.stops[index] for index in hits))
                    queue.append(after)
                if char == _OTHER:
                    self._otherwise[-1] = numbers[after]
                elif numbers[after] != self._otherwise[-1]:
                    following[char] = numbers[after]

    def _told_apart(self, positions: frozenset[Position]) -> Sequence[str]:
        """The letters that may lead to other states than characters that no stop names."""
        found: set[str] = set()
        for index, at, before in positions:
            piece = self.stops[index][at]
            if isinstance(piece, Word):
                return self._letters
            found.add(piece[len(before)])
            if at and not before:
                found.update(SPACES)
        return sorted(found)

    def _advance(
        self, positions: frozenset[Position], char: str
    ) -> tuple[frozenset[Position], set[int]]:
        """The positions after a character, and the stops that it ends."""
        after = set(self._begin)
        hits = set()
        for index, at, before in positions:
            stop = self.stops[index]
            if at and not before and char in SPACES and may_be_apart(stop[at - 1], stop[at]):
                after.add((index, at, ""))
            read = _read(stop[at], before, char)
            if read is None:
                continue
            if isinstance(stop[at], Word) or read != stop[at]:
                after.add((index, at, read))
            if not _is_whole(stop[at], read):
                continue
            if at + 1 < len(stop):
                after.add((index, at + 1, ""))
            else:
                hits.add(index)
        return frozenset(after), hits


# Each file that is printed asks for the automata again, and a request may have many arguments.
_KEPT = 1024


@lru_cache(_KEPT)
def automaton_of(stops: tuple[Stop, ...], before: str = "") -> Automaton:
    """The automaton, which nothing changes."""
    return Automaton(stops, before)


def first_characters(stops: Iterable[Stop]) -> set[str]:
    """The characters that stops begin with."""
    return {stop[0][0] for stop in stops if isinstance(stop[0], str)}


def may_be_apart(piece: Piece, following: Piece) -> bool:
    """Whether whitespace may stand between two pieces of a stop."""
    return not any(isinstance(each, Word) and each.tight for each in (piece, following))


def _letters(piece: Piece) -> Iterator[str]:
    """The characters that a piece tells from others."""
    if isinstance(piece, str):
        yield from piece
        return
    for text in piece.but:
        yield from text
    first = piece.first.ranges if piece.first else ()
    for low, high in (*first, *piece.chars.ranges):
        yield from map(chr, range(ord(low), ord(high) + 1))


def _read(piece: Piece, before: str, char: str) -> str | None:
    """What has been read of a piece with one more character; None where that is not part of it."""
    read = before + char
    if isinstance(piece, str):
        return read if piece.startswith(read) else None
    if not may_hold(piece, char, is_first=not before):
        return None
    return read if any(text.startswith(read) for text in piece.but) else _SOME


def _is_whole(piece: Piece, read: str) -> bool:
    """Whether a piece may end where so much of it has been read."""
    return read == piece if isinstance(piece, str) else read not in piece.but


_HEX_CHARS = "0123456789abcdefABCDEF"
# What may follow in an escape, by how much of it has been read: "" none, a backslash, how many
# digits are left of one by code, or the first digits of a code that must not be above U+10FFFF.
_DIGITS_LEFT = {
    "5": ((_HEX_CHARS, "4"),),
    "4": ((_HEX_CHARS, "3"),),
    "3": ((_HEX_CHARS, "2"),),
    "2": ((_HEX_CHARS, "1"),),
    "1": ((_HEX_CHARS, ""),),
}
_JSON_ESCAPES = {"\\": (('"\\/bfnrt', ""), ("u", "4")), **_DIGITS_LEFT}
_PYTHON_ESCAPES = {
    "\\": (("\"'\\abfnrtv", ""), ("x", "2"), ("u", "4"), ("U", "U")),
    "U": (("0", "U0"),),
    "U0": (("0", "U00"),),
    "U00": (("0", "5"), ("1", "U001")),
    "U001": (("0", "4"),),
    **_DIGITS_LEFT,
}


class StringAutomaton:
    """Reads what stands between the quotes of a string, in which no stop may be complete.

    A state is one of the stops' automaton, and how much of an escape has been read.
    """

    start = 0

    def __init__(self, text: StringText) -> None:
        """Build the automaton."""
        self._stops = automaton_of(text.stops)
        self._escapes = _PYTHON_ESCAPES if text.is_python else _JSON_ESCAPES
        # Not every chat template escapes tabs as Python does.
        controls = {chr(code) for code in range(32)} - ({"\t"} if text.is_python else set())
        self._quote = text.quote
        self._never_plain = {text.quote, "\\", *controls}
        self._states: list[tuple[int, str]] = [(0, "")]
        numbers = {self._states[0]: 0}
        self._edges: list[dict[int, CharClass]] = []
        for state, escape in self._states:  # grows while it is gone through
            following: dict[int, list[CharClass]] = {}
            for target, to in self._following(state, escape):
                if target not in numbers:
                    numbers[target] = len(self._states)
                    self._states.append(target)
                following.setdefault(numbers[target], []).append(to)
            self._edges.append({target: _joined(to) for target, to in following.items()})
        self.live = list(range(len(self._states)))

    def hits(self, state: int) -> frozenset[Stop]:
        """None: a stop is never completed."""
        return frozenset()

    def edges(self, state: int) -> dict[int, CharClass]:
        """The states that follow, each with the characters that lead to it."""
        return self._edges[state]

    def accepts(self, state: int) -> bool:
        """Whether the string may end here: not in an escape, nor where its quote is part of a stop."""
        read, escape = self._states[state]
        return not escape and self._stops.step(read, self._quote) == self._stops.step(
            0, self._quote
        )

    def _following(self, state: int, escape: str) -> Iterator[tuple[tuple[int, str], CharClass]]:
        stops = self._stops
        if escape:
            for letters, left in self._escapes[escape]:
                yield from self._by_target(state, letters, left)
            return
        for target, to in stops.edges(state).items():
            letters_in = {low for low, _ in to.ranges}
            if to.negated:
                plain = char_class_of(letters_in | self._never_plain, negated=True)
            else:
                plain = char_class_of(letters_in - self._never_plain)
            if plain.ranges and not stops.hits(target):
                yield (target, ""), plain
        yield from self._by_target(state, "\\", "\\")

    def _by_target(
        self, state: int, letters: str, escape: str
    ) -> Iterator[tuple[tuple[int, str], CharClass]]:
        by_target: dict[int, list[str]] = {}
        for letter in letters:
            by_target.setdefault(self._stops.step(state, letter), []).append(letter)
        for target, found in by_target.items():
            if not self._stops.hits(target):
                yield (target, escape), char_class_of(found)


def _joined(classes: list[CharClass]) -> CharClass:
    found = classes[0]
    for other in classes[1:]:
        found = either_class(found, other)
    return found


@lru_cache(_KEPT)
def string_automaton_of(text: StringText) -> StringAutomaton:
    """The same for a string."""
    return StringAutomaton(text)


def string_regex(text: StringText) -> Expr:
    """What stands between the quotes of a string, without any of the stops."""
    automaton = string_automaton_of(text)
    return _eliminated(automaton, automaton.accepts, True)


def unreachable(stops: Iterable[Stop]) -> list[Stop]:
    """The stops that can never end a text, because another one in them ends it earlier."""
    automaton = automaton_of(tuple(stops))
    found = {stop for hits in automaton.all_hits() for stop in hits}
    return [stop for stop in automaton.stops if stop not in found]


def text_regex(stops: Iterable[Stop], *, may_be_empty: bool = True) -> Expr:
    """Texts that contain none of the stops."""
    automaton = automaton_of(tuple(stops))
    if not automaton.stops:
        return Rep(CharClass((), negated=True), 0 if may_be_empty else 1)
    return _eliminated(automaton, lambda state: not automaton.hits(state), may_be_empty)


def lines_regex(stops: Iterable[Stop]) -> Expr:
    """Texts, but the empty one, that contain none of the stops, nor would behind a line end."""
    automaton = automaton_of(tuple(stops), "\n")
    return _eliminated(automaton, lambda state: not automaton.hits(state), False)


def thru_regex(stops: Iterable[Stop], end: Stop) -> Expr:
    """Texts that end with the first occurrence of a stop in them, and that stop is `end`."""
    automaton = automaton_of(tuple(stops))
    return _eliminated(automaton, lambda state: end in automaton.hits(state), True)


def _eliminated(
    automaton: Automaton | StringAutomaton, final: Callable[[int], bool], may_be_empty: bool
) -> Expr:
    """A regular expression of the automaton's paths from its start to final states."""
    rows = {state: _row(automaton, final, state) for state in automaton.live}
    begin: dict[int, Expr] = {automaton.start: EMPTY}
    if not may_be_empty:
        begin = {t: expr for t, expr in rows[automaton.start].items() if expr != EMPTY}
    return eliminate({BEGIN: begin, **rows})


def _row(
    automaton: Automaton | StringAutomaton, final: Callable[[int], bool], state: int
) -> dict[int, Expr]:
    row: dict[int, Expr] = {}
    for target, to in automaton.edges(state).items():
        if not automaton.hits(target):
            row[target] = to
        elif final(target):
            row[END] = either(to, row.get(END))
    if final(state):
        row[END] = either(row[END], EMPTY) if END in row else EMPTY
    return row
