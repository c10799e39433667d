"""How argument values in markup are written: one value of each JSON type (part of phase T4)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from autoparser_gen.analysis.marks import pattern
from autoparser_gen.analysis.model import LiteralSyntax, ValueSyntax
from autoparser_gen.analysis.study import Study
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import (
    common_prefix,
    shared_end,
    shared_start,
    without_prefix,
    without_suffix,
)

Escapes = tuple[tuple[str, str], ...]  # (as written, character)

ITEM, INNER_KEY, INNER = "iq1zitemzq", "jq1zinnerzq", "kq1zinnerzq"
HARD = "a \"b\" 'c' <d>&e\\f {g}\th\u00e9\ni"
# A string of each kind first: everything else is compared with it.
TYPED: tuple[tuple[str, Any], ...] = (
    ("string", needles.VALUES[0][1]),
    ("number", 73915),
    ("number", 62.25),
    ("boolean", True),
    ("boolean", False),
    ("null", None),
    ("array", [ITEM, 8264]),
    ("object", {INNER_KEY: INNER}),
)


@dataclass(frozen=True)
class Place:
    """A value as written, with what stands between it and the arguments around it."""

    before: str
    text: str
    after: str


@dataclass(frozen=True)
class Written:
    """How values are written; quotes are texts around strings that are not around numbers."""

    syntax: ValueSyntax = ValueSyntax.RAW
    quote_open: str = ""
    quote_close: str = ""
    escapes: bool = False
    python_words: bool = False
    python_containers: bool = False
    quoted_keys: bool = True
    type_prefix: str = ""
    value_prefix: str = ""
    types: tuple[tuple[str, str], ...] = ()
    optional_wrap: tuple[str, str] | None = None
    item_opener: str = ""
    afters: tuple[str, ...] = ()  # what stands between a value of each type and the next argument

    def is_plain_text(self) -> bool:
        """Whether nothing surrounds a string that would tell how it is written."""
        return not (self.quote_open or self.optional_wrap)

    def item_tag(self, name_prefix: str, name_suffix: str) -> str:
        """The tag of an array's items, without what surrounds every tag."""
        opener = self.item_opener
        if opener.startswith(name_prefix) and opener.endswith(name_suffix):
            return opener[len(name_prefix) : len(opener) - len(name_suffix)]
        return opener

    def other_ends(self, value_suffix: str, next_argument: str) -> tuple[str, ...]:
        """What ends values of some types instead of the usual suffix."""
        ends = (without_suffix(after, next_argument) for after in self.afters)
        ends = (without_prefix(end, self.quote_close) for end in ends)
        return tuple(dict.fromkeys(end for end in ends if end != value_suffix))

    def literals(self) -> LiteralSyntax:
        """The same for arguments that are one literal."""
        bare = not self.quote_open
        return LiteralSyntax(
            quotes=(self.quote_open or '"',),
            escapes=self.escapes,
            python_words=self.python_words,
            quoted_keys=self.quoted_keys,
            bare_strings=bare,
        )


def describe_values(study: Study, escapes: Escapes) -> Written:
    """Compare how a string and every other type stand between two string arguments."""
    places = [(kind, value, _place(study, value)) for kind, value in TYPED]
    known = [(kind, value, place) for kind, value, place in places if place is not None]
    string = next((place for kind, _, place in known if kind == "string"), None)
    number = next((place for kind, _, place in known if kind == "number"), None)
    if string is None or number is None:
        return Written()
    study.found("tools.arguments.value_syntax", "one value of each type")
    if any(kind == "null" and place is None for kind, _, place in places):
        study.note("null arguments are not rendered: null cannot be told from a missing argument")
    written = Written(
        python_words=any(_is_python(value, place) for _, value, place in known),
        python_containers=any(
            _is_python(value, place) for kind, value, place in known if kind in ("array", "object")
        ),
        afters=tuple(dict.fromkeys(place.after for _, _, place in known if place.text)),
    )
    if string.before.startswith(number.before) and string.before != number.before:
        quote = string.before[len(number.before) :]
        close = quote if string.after.startswith(quote) else _quote_close(string, number)
        written = _with(written, quote_open=quote, quote_close=close)
        if quote == '"':
            written = _with(written, syntax=ValueSyntax.JSON)
    elif string.before != number.before:
        written = _with_types(written, known)
    written = _with_hard_string(study, written, string, escapes)
    return _with_nested(written, known)


def opens_by_type(study: Study) -> bool:
    """Whether what begins an argument differs with the type of its value."""
    openers = {_opener(study, value) for _, value in TYPED} - {""}
    return len(openers) > 1


def _opener(study: Study, value: Any) -> str:
    """What stands between a string and the name of an argument with this value."""
    shown = _between_strings(study, value)
    return "" if shown is None else shown.partition(needles.KEYS[0][1])[0]


def _with(written: Written, **changes: Any) -> Written:
    return replace(written, **changes)


def _quote_close(string: Place, number: Place) -> str:
    size = len(string.after) - len(number.after)
    return string.after[:size] if size > 0 and string.after.endswith(number.after) else ""


def _place(study: Study, value: Any, escapes: Escapes = ()) -> Place | None:
    """The value between two string arguments, or None where it is not shown."""
    shown = _between_strings(study, value)
    if shown is None:
        return None
    text = pattern(shown.partition(needles.KEYS[0][1])[2])
    for spelling in (*_spellings(value), *_escaped(value, escapes)):
        # The last one: attributes before the value may hold the same word.
        at = text.rfind(spelling)
        if at >= 0:
            return Place(text[:at], spelling, text[at + len(spelling) :])
    inner = [mark for mark in (ITEM, INNER_KEY) if mark in text]
    if inner:
        at = text.index(inner[0])
        return Place(text[:at], "", text[at:])
    return None


def _between_strings(study: Study, value: Any) -> str | None:
    """From behind one string argument's value to the name of another one: the argument between."""
    keys, values = needles.KEYS[0], needles.VALUES[0]
    arguments = {keys[0]: values[0], keys[1]: value, keys[2]: values[2]}
    turn = study.prober.raw_turn(calls=[(needles.FUNCTIONS[0], arguments)])
    if turn is None or keys[1] not in turn.text or keys[2] not in turn.text:
        return None
    before, name, text = turn.text.partition(keys[1])
    return before.rpartition(values[0])[2] + name + text[: text.index(keys[2])]


def _spellings(value: Any) -> Iterator[str]:
    """How a value may be written: as JSON with the usual separators, or as Python."""
    if isinstance(value, str):
        yield value
        yield json.dumps(value, ensure_ascii=False)[1:-1]
        yield json.dumps(value)[1:-1]
        yield repr(value)[1:-1]
        yield from _backslashed(value)
        return
    yield json.dumps(value)
    yield json.dumps(value, separators=(",", ":"))
    yield json.dumps(value, indent=2)
    yield json.dumps(value, indent=4)
    yield repr(value)


def _escaped(value: Any, escapes: Escapes) -> Iterator[str]:
    """How a value may be written where the chat template escapes characters of its text."""
    written = {char: text for text, char in escapes}
    for spelling in _spellings(value) if escapes else ():
        yield "".join(written.get(char, char) for char in spelling)


def escapes_json(study: Study, escapes: Escapes) -> bool:
    """Whether values that are no strings are escaped like text."""
    value = {INNER_KEY: INNER}
    shown = _between_strings(study, value) or ""
    if any(spelling in shown for spelling in _spellings(value)):
        return False
    return any(spelling in shown for spelling in _escaped(value, escapes))


def _backslashed(text: str) -> Iterator[str]:
    """A text with backslashes before a choice of quotes and instead of a choice of controls."""
    text = text.replace("\\", "\\\\")
    for quotes, controls in itertools.product(("'", '"', "'\""), ("\n", "\n\t", "")):
        spelling = text
        for char in quotes:
            spelling = spelling.replace(char, "\\" + char)
        for char in controls:
            spelling = spelling.replace(char, repr(char)[1:-1])
        yield spelling


def _is_python(value: Any, place: Place) -> bool:
    return place.text == repr(value) != json.dumps(value)


def _with_types(written: Written, known: list[tuple[str, Any, Place]]) -> Written:
    """An attribute before the value names its type."""
    befores = [place.before for _, _, place in known]
    prefix, suffix = shared_start(*befores), shared_end(*befores)
    kinds: dict[str, str] = {}  # by spelling
    for kind, _, place in known:
        kinds.setdefault(place.before[len(prefix) : len(place.before) - len(suffix)], kind)
    if len(kinds) == 2 and list(kinds.values())[0] == "string":
        kinds = dict(zip(kinds, ("string", "json"), strict=True))
    types = tuple(kinds.items())
    return _with(written, types=types, type_prefix=prefix, value_prefix=suffix)


def _with_hard_string(study: Study, written: Written, string: Place, escapes: Escapes) -> Written:
    """Quotes, line ends and markup inside a string: escaped, wrapped, or as they are."""
    place = _place(study, HARD, escapes)
    if place is None:
        study.note("strings with quotes, line ends or markup are rendered in another spelling")
        return written
    written = _with(written, escapes=place.text != HARD)
    extra = len(place.before) - len(string.before)
    if place.text == HARD and extra > 0 and place.before.startswith(string.before):
        wrap = (
            place.before[len(string.before) :],
            place.after[: len(place.after) - len(string.after)],
        )
        if wrap[0].strip() and place.after.endswith(string.after):
            written = _with(written, optional_wrap=wrap)
    return written


def _with_nested(written: Written, known: list[tuple[str, Any, Place]]) -> Written:
    """Arrays and objects that are themselves tags, or literals of their own syntax."""
    string = next(place for kind, _, place in known if kind == "string")
    array = next((place for kind, _, place in known if kind == "array"), None)
    nested = next((place for kind, _, place in known if kind == "object"), None)
    if nested is not None and not nested.text:
        before = nested.before
        written = _with(written, quoted_keys=before[-1:] in "\"'")
    if array is not None and not array.text and not written.quote_open:
        opener = array.before[len(common_prefix((array.before, string.before))) :]
        written = _with(written, syntax=ValueSyntax.NESTED_TAGS, item_opener=opener)
    return written
