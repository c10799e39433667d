"""What ends a raw value: the markers that a parser looks for in it, with what follows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from autoparser_gen.analysis.model import SAME_KEY, SAME_NAME, Analysis, Arguments, Tools
from autoparser_gen.grammar.ir import Stop, Word, chars
from autoparser_gen.grammar.markup import core, has_messages, pieces, single_markers
from autoparser_gen.grammar.syntax import KEY_NAME_CHAR, NAME_CHAR

# What stands for the name that a marker repeats, where text is searched for the marker.
_REPEATED = {
    SAME_NAME: Word(NAME_CHAR, tight=True),
    SAME_KEY: Word(KEY_NAME_CHAR, tight=True),
}

# What a generated parser takes for an argument's name in the middle of a value.
_ANY_KEY = Word(chars('\x00-\x20\x7f<>"', negated=True), tight=True)


def value_stops(analysis: Analysis) -> tuple[Stop, ...]:
    """What ends a raw value: its closer, where the next argument or the call's end follows.

    Any other closer is part of the value. Where a call has no marker of its own at its end,
    what may follow a call must do so: the next call, the section's end, the next message or
    the end of the response.

    No value may hold what a parser takes for a closer's lack either, though no grammar lets a
    model leave one out.
    """
    tools, marks = analysis.tools, analysis.tools.arguments
    function, format_ = tools.function, tools.format
    stops: list[Stop] = []
    for suffix in value_suffixes(marks):
        close = _stop(suffix, marks.end, function.close, format_.per_call_end)
        # Behind a tag of any name, or none, only a name makes the next prefix a sign.
        is_vague = SAME_KEY in suffix or not core(suffix)
        next_name = SAME_KEY + marks.name_suffix if is_vague else ""
        stops.append(_stop(suffix, marks.separator, marks.name_prefix + next_name))
        own_end = core(suffix) and len(close) > len(_stop(suffix))
        stops += [(*close, *stop) for stop in ([()] if own_end else _after_call(analysis))]
    return without_longer((*stops, *_without_closer(analysis)))


def _without_closer(analysis: Analysis) -> Iterator[Stop]:
    """What shows a parser, in the middle of a value, that it has ended without its closer.

    Whitespace in it may be any, though a parser goes by the exact one: a regular expression
    that has to tell them apart grows tenfold. Behind a call's end must be what may follow it.
    """
    tools, marks = analysis.tools, analysis.tools.arguments
    opener, behind = unclosed_before_argument(marks)
    if says_argument(opener) and core(behind) and not marks.types:
        yield (core(opener), _ANY_KEY, single_markers(behind)[0])
    format_ = tools.format
    closing = _stop(unclosed_before_end(tools))
    openers = (format_.section_start, format_.per_call_start, tools.function.name_prefix)
    ends = (analysis.end_of_turn, analysis.end_of_turn_after_calls)
    following = (*openers, format_.section_end, *ends)
    if not closing or SAME_NAME in unclosed_before_end(tools):
        return
    yield from ((*closing, _stop(text)[0]) for text in following if core(text))


def call_ends(analysis: Analysis) -> tuple[Stop, ...]:
    """The end of a call with what shows a parser that it is one, in the middle of a value."""
    function, format_ = analysis.tools.function, analysis.tools.format
    close = _stop(analysis.tools.arguments.end, function.close, format_.per_call_end)
    if len(close) != 1:
        return (close[:2],) if close else ()
    ends = (analysis.end_of_turn, analysis.end_of_turn_after_calls)
    behind = dict.fromkeys((*_after_call(analysis), *(_stop(end) for end in ends)))
    return tuple((*close, *stop) for stop in behind if stop and stop != ("",))


def _after_call(analysis: Analysis) -> list[Stop]:
    format_, headers = analysis.tools.format, analysis.headers
    end: list[Stop] = [("",)]
    if core(analysis.end_of_turn_after_calls):
        end.append(_stop(analysis.end_of_turn_after_calls))
    if has_messages(analysis) and headers is not None:
        return [*end, (core(headers.message_end) + core(headers.start),)]
    if core(format_.section_end):
        end = [_stop(format_.section_end)]
    opener = format_.per_call_start or analysis.tools.function.name_prefix
    return [_stop(format_.call_separator, opener), *end]


def value_suffixes(marks: Arguments) -> tuple[str, ...]:
    """What may end a value."""
    return (marks.value_suffix, *marks.other_value_suffixes)


def without_longer(stops: Iterable[Stop]) -> tuple[Stop, ...]:
    """Stops of which none begins with another one, which would end a text in the same place."""
    distinct = tuple(dict.fromkeys(stops))
    return tuple(
        stop for stop in distinct if not any(_begins_with(stop, other) for other in distinct)
    )


def _begins_with(stop: Stop, other: Stop) -> bool:
    """Whether a stop begins with another one; an empty piece is the end of the response."""
    *pieces_before, last = other
    place = stop[len(pieces_before)] if len(stop) >= len(other) else ""
    starts = isinstance(place, str) and isinstance(last, str) and last and place.startswith(last)
    return bool(starts) and stop != other and [*stop[: len(pieces_before)]] == pieces_before


def unclosed_before_argument(marks: Arguments) -> tuple[str, str]:
    """The exact text before and behind the next argument's name that shows a closer to be missing."""
    before = _space_before(marks.value_suffix) or _space_before(marks.separator)
    return before + core(marks.name_prefix), marks.name_suffix + marks.value_prefix


def says_argument(opener: str) -> bool:
    """Whether the text before an argument's name is more than a bracket, which text may hold too."""
    return re.search(r"\w", opener) is not None


def unclosed_before_end(tools: Tools) -> str:
    """The exact text at a call's end that shows its last argument's closer to be missing."""
    return (tools.arguments.end + tools.function.close + tools.format.per_call_end).rstrip()


def _space_before(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _stop(*texts: str) -> Stop:
    markers = (marker for text in texts for marker in single_markers(text))
    return tuple(_REPEATED.get(piece, piece) for marker in markers for piece in pieces(marker))
