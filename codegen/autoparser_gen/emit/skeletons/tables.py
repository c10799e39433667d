"""The row types of a generated module's tables."""

from __future__ import annotations

from typing import NamedTuple

# ==== Begin tables block (identical in every file) ====


class Region(NamedTuple):
    """A state of the parser: what the text in it is, and how it is read."""

    kind: str  # text, gap, field, raw, data or end
    # content, reasoning, name, id, key, type, value, arguments, calls, header, same name or key
    collects: str = ""
    otherwise: str = ""  # where reading goes on when nothing fits: the text was that region's
    ends: bool = False  # the text may end here: the call is complete without a further marker
    trim: str = ""  # whitespace that the chat template writes between a value and its closer


class Go(NamedTuple):
    """A row of TRANSITIONS: what follows a marker."""

    region: str
    before: bool = False  # the run of whitespace before the marker is a separator
    after: str = ""  # whitespace after the marker that is a separator, as far as it is there
    opens: bool = False  # a call, or a section of calls, begins with this marker
    closes: bool = False  # the call in progress is complete
    stays: bool = False  # the marker is left for the next region to read
    bare: bool = False  # so, and it is no more than the call's first character: at a line's start
    inline: bool = False  # bare, but anywhere in a line


# ==== End tables block ====
