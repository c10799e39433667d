"""Markers and the values between them, as tokens with the whitespace that does not count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from autoparser_gen.analysis.model import (
    CALL_NUMBER,
    SAME_KEY,
    SAME_NAME,
    Analysis,
    ToolMode,
    Tools,
)
from autoparser_gen.grammar.ir import Builder, Expr, opt, seq

_PLACEHOLDER = re.compile("(" + "|".join(map(re.escape, (SAME_NAME, SAME_KEY, CALL_NUMBER))) + ")")
# Where a run of markup may be cut into markers, so that whitespace may stand between them. As in
# the region table: after a closing bracket and before an opening one, or at a line break.
_BOUNDARY = re.compile(r"(?<=>)\s*(?=<)|(?<=[>\])}|])\s+(?=[<\[({|])|\s*\n\s*")


class Kind(Enum):
    """What stands beside a marker, which decides about the whitespace between them."""

    MARKER = auto()
    DATA = auto()  # JSON and other literals: whitespace around them does not count
    NAME = auto()  # whitespace only where the chat template writes it
    RAW = auto()  # exact text: no whitespace may be taken from it


@dataclass(frozen=True)
class Marker:
    """A marker field of the analysis, with its whitespace; `name` becomes the token's name.

    One that is `whole` is not cut into the markers that it consists of.
    """

    name: str
    text: str
    whole: bool = False


@dataclass(frozen=True)
class Part:
    """What stands between markers. `begins` and `ends` are what it shows to its neighbours."""

    expr: Expr
    begins: Kind
    ends: Kind | None = None


def has_messages(analysis: Analysis) -> bool:
    """Whether the turn is read by the words of its messages' headers."""
    headers = analysis.headers
    return headers is not None and bool(headers.end)


def before_headers(analysis: Analysis) -> list[str]:
    """What stands between two messages of a turn, before the header of the second."""
    start = core(analysis.headers.start) if analysis.headers is not None else ""
    glues = analysis.joints.values() if start else ()
    return [glue.partition(start)[0] for glue in glues if start in glue]


def is_space_between(analysis: Analysis) -> bool:
    """Whether whitespace alone stands between two messages, which no marker ends."""
    headers = analysis.headers
    ended = headers is None or core(headers.message_end)
    return not ended and any(glue and not core(glue) for glue in before_headers(analysis))


def says_call(marker: str) -> bool:
    """Whether a call's own marker tells it from prose where its section's is missing."""
    return len(core(marker)) > 1


def is_named_tag(tools: Tools) -> bool:
    """Whether a call begins with nothing but a bracket before its name, which text may hold too."""
    opener = tools.format.per_call_start + tools.function.name_prefix
    return len(core(opener)) == 1 and SAME_NAME in tools.function.close


def loses_types(analysis: Analysis) -> bool:
    """Whether history writes Python calls with no string between quotes, or text without escapes."""
    literals, mode = analysis.tools.arguments.literals, analysis.tools.format.mode
    if mode is not ToolMode.PYTHON_CALLS or literals is None:
        return False
    return literals.bare_strings or not literals.escapes


def core(text: str) -> str:
    """A marker without the whitespace around it."""
    return text.strip()


def single_markers(text: str) -> list[str]:
    """A run of markup as the markers that it consists of."""
    return [marker for marker in _BOUNDARY.split(core(text)) if marker]


def are_one(first: str, second: str) -> bool:
    """Whether a parser takes two markers for one, so that no whitespace may stand between them."""
    joint = first[-1:] + second[:1]
    return len(joint) == 2 and joint == core(joint) and not _BOUNDARY.search(joint)


def pieces(text: str) -> list[str]:
    """A marker as the texts that it consists of and the placeholders between them."""
    return [piece for piece in _PLACEHOLDER.split(text) if piece]


def repeating(name: str, text: str, repeated: Mapping[str, Expr]) -> list[Marker | Part]:
    """A marker with what it repeats of the call in the place of its placeholders."""
    parts: list[Marker | Part] = []
    for piece in pieces(text):
        if piece in repeated:
            parts.append(Part(repeated[piece], Kind.NAME))
        else:
            parts.append(Marker(name, piece))
    return parts


def markup(
    builder: Builder,
    parts: Sequence[Marker | Part],
    space: Expr,
    before: Kind = Kind.RAW,
) -> Expr:
    """Markers and parts in order. `before` is what stands before the first of them.

    A marker token takes the whitespace before it, and that after it where data follows: so every
    run of whitespace has one owner. `space` is what it may be. Markers without text are left out.
    """
    present = [part for part in parts if isinstance(part, Part) or part.text]
    items: list[Expr] = []
    written = spaced = False
    for at, part in enumerate(present):
        if isinstance(part, Part):
            if (part.begins is Kind.DATA and written) or (part.begins is Kind.NAME and spaced):
                items.append(opt(space))
            items.append(part.expr)
            before, written, spaced = part.ends or part.begins, False, False
            continue
        markers = [core(part.text)] if part.whole else single_markers(part.text)
        markers = list(filter(None, markers))
        written = written or part.text != part.text.lstrip()
        spaced = part.text != part.text.rstrip()
        for number, marker in enumerate(markers, start=1):
            loose = before in (Kind.MARKER, Kind.DATA) or (before is Kind.NAME and written)
            last = number == len(markers)
            data_follows = last and _next_kind(present[at + 1 :]) is Kind.DATA
            body = seq(opt(space) if loose else "", marker, opt(space) if data_follows else "")
            name = part.name if number == 1 else f"{part.name}-{number}"
            items.append(builder.token(name, body))
            before, written = Kind.MARKER, False
    return seq(*items)


def marker_token(builder: Builder, name: str, text: str, space: Expr | None = None) -> Expr:
    """One marker as a token, with the whitespace that may stand before it."""
    return builder.token(name, seq(opt(space) if space else "", core(text)))


def _next_kind(parts: Iterable[Marker | Part]) -> Kind | None:
    for part in parts:
        if isinstance(part, Part):
            return part.begins
        if core(part.text):
            return Kind.MARKER
    return None
