"""Decoder for arguments whose names are tags and whose objects and arrays are tags in turn."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from autoparser_gen.emit.skeletons.literal_strings import (
    _SPACES,
    VerbatimString,
    _ahead,
    _call_ends,
    _json_text,
    _steps,
    _text_ahead,
)
from autoparser_gen.emit.skeletons.raw_values import (
    _branches,
    _kinds,
    _only_string,
    _property_schema,
    _typed,
)
from autoparser_gen.emit.skeletons.regions import Decoder, _ReadPiece
from autoparser_gen.emit.skeletons.search import _match_end, _past_space
from autoparser_gen.emit.skeletons.turn import _Turn

TAG_START = "<"
TAG_END = ">"
CLOSER_START = "</"
CLOSER_END = ">"
ITEM_TAG = "item"
ARGUMENTS_CLOSER = "</call>"
ARGUMENTS_BEHIND: tuple[str, ...] = ("<call>", "</calls>")

# ==== Begin tree arguments block (identical in every file that has it) ====

_TAG_NAME = re.compile(rf"[^\s<>\"'\x00-\x1f{re.escape(TAG_END[:1])}]*")
_LONGEST_NAME = 399  # so that a text like a tag is looked at again a few times only
_NO_TEXT = frozenset('{["')  # how JSON begins that this format writes otherwise
# What is left of them in a tag; chat templates leave a member out where it is null, but not an item.
_EMPTY_ITEMS = {"string": '""', "null": "null", "array": "[]", "object": "{}"}
_EMPTY_MEMBERS = {"string": '""', "array": "[]", "object": "{}", "null": "null"}


class _Tag:
    """A tag that is open, or the arguments themselves."""

    def __init__(self, closer: str, schema: tuple[Any, Any] | None) -> None:
        self.closer = closer
        self.schema = schema
        self.is_array = False
        self.keys: set[str] = set()
        self.items = 0

    def schema_in(self, name: str) -> tuple[Any, Any] | None:
        """The schema of an item or a property."""
        if self.schema is None or not self.is_array:
            return None if self.schema is None else _property_schema(*self.schema, name)
        found = (branch.get("items") for branch in _branches(*self.schema, set()))
        items = next((schema for schema in found if isinstance(schema, Mapping)), None)
        return None if items is None else (items, self.schema[1])


class TreeArguments(Decoder):
    """The arguments of a call as nested tags.

    A tag holds items, properties or a text: what stands in it says so, and the schema where a text
    may look like a tag. A text ends at its tag's closer with another tag, or the closer of the tag
    around it, behind.
    """

    expected = "an argument in its tag, or the end of the call"

    def __init__(self, parser: _Turn) -> None:
        super().__init__(parser)
        root = (parser.schemas or {}).get(parser.call.name)
        self._stack = [_Tag(ARGUMENTS_CLOSER, None if root is None else (root, root))]
        self._expect = "tag"
        self._out: list[str] = []
        self._pieces: list[str] = []  # of a tag's name, or of a text that is not passed on yet
        self._kept = 0  # characters of that text, and how many pieces they are in
        self._counted = 0
        self._text: VerbatimString | None = None
        self._streams = False
        self._scanned = 0  # whitespace that has been looked at, but not read
        self._waits = False  # what stands next is not clear yet

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        self._waits = False
        while at < end and not (self.done or self.failed or self._waits):
            if self._text is not None:
                at = self._read_text(self._text, text, at, end)
            elif self._expect == "name":
                at = self._read_name(text, at, end)
            elif self._expect == "value":
                at = self._read_value(text, at, end)
            else:
                at = self._read_tag(text, _past_space(text, at, end), end)
        if self._out and not self.failed:
            self._parser.call_arguments("".join(self._out))
            self._out.clear()
        return at

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        return None if self._text is None or not self._streams else self._text.passes()

    def _read_tag(self, text: str, at: int, end: int) -> int:
        """A further tag, or the closer of the one that is open."""
        tag, marker = self._stack[-1], self._marker(text, at, end)
        if marker is None:
            self._waits = True
        elif marker == TAG_START:
            self._expect = "name"
            self._pieces.clear()
            return at + len(marker)
        elif len(self._stack) == 1:
            self.done = True
            self._out.append("}" if tag.items else "{}")
        elif marker == tag.closer:
            self._out.append("]" if tag.is_array else "}")
            self._stack.pop()
            return at + len(marker)
        else:
            self.failed = True
        return at

    def _marker(self, text: str, at: int, end: int) -> str | None:
        """The beginning of a tag, or a closer, that stands here; None where that is not clear yet."""
        for marker in sorted((self._stack[-1].closer, CLOSER_START, TAG_START), key=len)[::-1]:
            if text.startswith(marker, at, end):
                return marker
            if marker.startswith(text[at : min(end, at + len(marker))]) and not self.final:
                return None
        return ""

    def _opens(self, text: str, at: int, end: int) -> bool | None:
        """Whether a tag begins here, and not a text like it; None where that is not clear yet."""
        marker = self._marker(text, at, end)
        if marker != TAG_START:
            return None if marker is None else False
        name = at + len(TAG_START)
        last = min(end, name + _LONGEST_NAME)
        stop = _match_end(_TAG_NAME, text, name, last)
        behind = text[stop : min(end, stop + len(TAG_END))]
        if stop == last == end or (behind != TAG_END and TAG_END.startswith(behind)):
            return False if self.final else None
        return stop > name and behind == TAG_END

    def _read_name(self, text: str, at: int, end: int) -> int:
        stop = _match_end(_TAG_NAME, text, at, end)
        self._pieces.append(text[at:stop])
        if stop == end:
            return stop
        if text.startswith(TAG_END, stop, end):
            self._open("".join(self._pieces))
            return stop if self.failed else stop + len(TAG_END)
        self._waits = TAG_END.startswith(text[stop:end])
        self.failed = not self._waits
        return stop

    def _open(self, name: str) -> None:
        """A tag has been opened: the first one says what the one around it holds."""
        around = self._stack[-1]
        if not around.items and len(self._stack) > 1:
            around.is_array = name == ITEM_TAG and _may_be_array(around.schema)
        if around.is_array:
            self.failed, key, opening = name != ITEM_TAG, "", "["
        else:
            self.failed = name in around.keys or not name
            key, opening = f'"{_json_text(name)}": ', "{"
        self._out.append((", " if around.items else opening) + key)
        around.items += 1
        around.keys.add(name)
        self._stack.append(_Tag(CLOSER_START + name + CLOSER_END, around.schema_in(name)))
        self._expect = "value"

    def _read_value(self, text: str, at: int, end: int) -> int:
        """What a tag holds begins here."""
        schema = self._stack[-1].schema
        self._streams = schema is not None and _only_string(*schema)
        if not self._streams:
            start = _past_space(text, at + self._scanned, end)
            opens = self._opens(text, start, end)
            self._waits, self._scanned = opens is None, start - at if opens is None else 0
            if opens is None:
                return at
            if opens:
                self._expect = "tag"
                return start
        self._pieces.clear()
        self._kept = self._counted = 0
        self._out.append('"' if self._streams else "")
        out = self._out if self._streams else self._pieces
        self._text = self._new_text(self._stack[-1], self._stack[-2], out)
        return at

    def _new_text(self, tag: _Tag, around: _Tag, out: list[str]) -> VerbatimString:
        missed = _call_ends(around.closer, ARGUMENTS_BEHIND) if len(self._stack) == 2 else ()
        return VerbatimString(tag.closer, out, _behind_text(around.closer), missed)

    def _read_text(self, string: VerbatimString, text: str, at: int, end: int) -> int:
        stop = string.read(text, at, end, self.final)
        if not self._streams:
            self._kept += sum(map(len, self._pieces[self._counted :]))
            self._counted = len(self._pieces)
            self._parser.limit_kept(self._kept)
        self._waits = not string.done
        if string.done:
            tag = self._stack.pop()
            whole = json.loads('"' + "".join(self._pieces) + '"')
            empty = _EMPTY_ITEMS if self._stack[-1].is_array else _EMPTY_MEMBERS
            self._out.append('"' if self._streams else _typed_text(whole, tag.schema, empty))
            self._text, self._expect = None, "tag"
        return stop


@lru_cache
def _behind_text(closer: str) -> re.Pattern[str]:
    """What follows a text's closer: another tag, or the closer of the tag around it."""
    slash = re.escape(CLOSER_START.removeprefix(TAG_START)[:1])
    openers = _ahead(_SPACES, *_steps(TAG_START), rf"[^\s{slash}]")
    return re.compile(f"{openers}|{_SPACES}{_text_ahead(closer)}")


def _may_be_array(schema: tuple[Any, Any] | None) -> bool:
    kinds = _kinds(*schema)[0] if schema is not None else {"array"}
    return "array" in kinds or "object" not in kinds


def _typed_text(text: str, schema: tuple[Any, Any] | None, empty: Mapping[str, str]) -> str:
    """A text as JSON; an empty one may be all that is left of null or of an empty container."""
    if schema is None and text.lstrip()[:1] in _NO_TEXT:
        return f'"{_json_text(text)}"'
    if text or schema is None:
        return _typed(text, schema, "")
    kinds = _kinds(*schema)[0]
    return next((value for kind, value in empty.items() if kind in kinds), '""')


# ==== End tree arguments block ====
