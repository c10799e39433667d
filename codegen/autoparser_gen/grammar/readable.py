"""Names and given texts that a generated parser reads: what others would mean is open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autoparser_gen.errors import RequestError, shown
from autoparser_gen.grammar.ir import Stop, show_stop
from autoparser_gen.grammar.until import SPACES, Automaton, automaton_of

# What the generated parser takes for a name, a key and so on, by where it stands.
TOOL_NAME = re.compile(r"[^\s<>\"'`{}\[\](),;=\x00-\x1f\x7f]*")
MARKED_KEY = re.compile(r"[^\n\r<>\"\x00-\x1f\x7f]*")
TAG_KEY = re.compile(r"[^\s<>\"'\x00-\x1f]*")
UNQUOTED_KEY = re.compile(r"[^:,{}\[\]()<>\"'\x00-\x1f]*")
KEYWORD = re.compile(r"(?:\w[\w.$-]*)?")
SHORT_KEYWORD = re.compile(r"(?:\w[\w.$-]{0,99})?")  # found behind a value where quotes are text

# Characters of a name in a message's header, of which a parser reads 399 with all else in it.
MAX_NAME = 256


def is_readable(name: str, readable: re.Pattern[str], marker: str = "") -> bool:
    """Whether a parser reads a name as it stands, up to the `marker` behind it."""
    whole = readable.fullmatch(name) is not None and name == name.strip(SPACES)
    return bool(name) and whole and not (marker and marker in name)


def require_readable(
    what: str, name: str, readable: re.Pattern[str], marker: str = "", written: str | None = None
) -> None:
    """Raise RequestError where a parser does not read the name of `what`, in the form that is `written`."""
    text = name if written is None else written
    if is_readable(text, readable, marker):
        return
    found = readable.match(text)
    end = found.end() if found else 0
    if marker and marker in text[:end]:
        end = text.index(marker)
    if not text:
        reason = "no name is empty"
    elif end == len(text):
        reason = "whitespace around a name is not part of it"
    else:
        reason = f"a name ends before {text[end]!r}"
    raise RequestError(f"{what} {name!r}: in this format {reason}. Rename it in the tools.")


def require_short(what: str, name: str) -> None:
    """Raise RequestError where the name of `what` is longer than a parser looks for its end."""
    if len(name) > MAX_NAME:
        raise RequestError(
            f"{what} {shown(name, 40)}: in this format a name has at most {MAX_NAME} characters, and"
            f" this one {len(name)}. Rename it in the tools."
        )


def end_inside(text: str, stops: Sequence[Stop], closer: str) -> Stop | None:
    """The stop that ends a text before the `closer` behind it does; None where the text is whole."""
    automaton = automaton_of(tuple(stops))
    state = 0
    for char in text:
        state = automaton.step(state, char)
        if automaton.hits(state):
            return min(automaton.hits(state), key=repr)
    return ends_with_closer(automaton, state, closer)


def ends_with_closer(automaton: Automaton, state: int, closer: str) -> Stop | None:
    """The stop that a text, read up to a state, and a part of its `closer` complete; None if none."""
    fresh = 0
    for char in closer:
        state, fresh = automaton.step(state, char), automaton.step(fresh, char)
        early = automaton.hits(state) - automaton.hits(fresh)
        if early:
            return min(early, key=repr)
        if automaton.hits(fresh):
            break
    return None


def require_whole(
    what: str, text: str, stops: Sequence[Stop], closer: str, written: str | None = None
) -> None:
    """Raise RequestError where a parser ends a text that `what` gives, as it is `written`, too early."""
    stop = end_inside(text if written is None else written, stops, closer)
    if stop is not None:
        raise RequestError(
            f"{what}: the given text {shown(text, 200)} holds {show_stop(stop)}, which ends a text in"
            " this format. Change it, or leave it out."
        )
