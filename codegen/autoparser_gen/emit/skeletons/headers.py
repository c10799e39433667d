"""Decoder for the header of a message, where a turn holds several messages."""

from __future__ import annotations

import re
from collections.abc import Container

from autoparser_gen.emit.skeletons.regions import (
    DECODERS,
    Decoder,
    _loop,
    _past_quiet,
    _Quiet,
    _Row,
    _WholeCall,
)
from autoparser_gen.emit.skeletons.search import _NAME, _SPACE, _match_end, _past_space
from autoparser_gen.emit.skeletons.turn import _Turn

CHANNEL = "<channel>"
HEADER_START = "<begin>"
ROLE = "assistant"
HEADER_END = "<text>"
HEADER_WORDS = {"thoughts": "reasoning", "answer": "content"}
RECIPIENT = "to="
NAMESPACE = "tools."
NAME_IN_HEADER = True

# ==== Begin headers block (identical in every file that has it) ====

_NO_WORD = "" in HEADER_WORDS  # nothing but the line that it is in marks a function's name
_WORD = re.compile(r"[^\s<]*")
_WORD_NAME = re.compile(r"[\w.-]+")  # so names are words then, as far as is known
_LONGEST_HEADER = 399  # it is looked at again with every piece of text
_SIGNS = tuple(filter(None, (CHANNEL, RECIPIENT)))  # what a header is known by
_BEGUN_ENDS = [re.escape(HEADER_END[:size]) for size in range(len(HEADER_END) - 1, 0, -1)]
_BEGUN_END = re.compile(rf"(?:{'|'.join(_BEGUN_ENDS)})\Z")
# What a header may go on with, up to the end of a marker.
_ENDS = {marker[-1] for marker in (HEADER_START, HEADER_END) if marker}
_IN_HEADER = _loop(char for char in map(chr, range(ord(" "), 127)) if char not in _ENDS)


def _to_signs(role: str) -> _Quiet:
    """What a header may begin with: the role, or one of its signs."""
    start: _Quiet = {}
    start.update((char, start) for char in _SPACE if char not in _ENDS)
    for text in filter(None, (role, *_SIGNS)):
        node = start
        for char in text[:-1]:
            node = node.setdefault(char, {})
        node[text[-1]] = _to_signs("") if text == role else _IN_HEADER
    return start


_TO_HEADER = _to_signs(ROLE)


class Header(Decoder):
    """Reads a header by its words, whatever their order: they say what the message is.

    `row` is then the row to take: reasoning, content, call, or foreign for a recipient that is
    neither the user nor a function. Words that mean nothing here are ignored.
    """

    expected = "the header of a message"

    def __init__(self, parser: _Turn) -> None:
        super().__init__(parser)
        self._text = ""

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        before = len(self.begun)
        start = at - (len(self._text) - before)
        limit = before + end - start  # into `head`; beyond it there is no text yet
        head = self.begun + text[start : min(end, start + _LONGEST_HEADER + len(HEADER_END))]
        stop = head.find(HEADER_END, max(0, before + at - start - len(HEADER_END) + 1))
        self._text = head[:stop] if stop >= 0 else head
        # What is there may go on to the end marker.
        begun = _BEGUN_END.sub("", head) if stop < 0 else self._text
        self.failed = not _begins_well(begun) or (stop < 0 and len(head) < limit)
        if self.failed or stop < 0:
            return at if self.failed else end
        self.failed = not self._decide()
        stop += len(HEADER_END)
        if _NO_WORD and self.row == "call":  # or the first line of some text
            stop = _past_space(head, stop, len(head))
            if stop == limit:
                self._text = self.begun
                return start
            self.failed = self.failed or head[stop : stop + 1] != "{"
        self.done = not self.failed
        return start + stop - before

    @classmethod
    def whole(cls, parser: _Turn, row: _Row, text: str, at: int) -> _WholeCall | None:
        """See Decoder."""
        header = cls(parser)
        stop = header.read(text, at, len(text))
        call = row.target.rows.get("call")
        if not header.done or header.row != "call" or call is None:
            return None
        decoder = DECODERS.get(call.target.name, Decoder)
        found = decoder.whole(parser, call, text, stop)
        return None if found is None else _WholeCall(header.name or found.name, *found[1:])

    def ends(self) -> bool:
        """The text has ended: whether this is a header that was cut off, rather than text."""
        return self._text != self.begun and any(sign in self._text for sign in _SIGNS)

    def quiet(self) -> _Quiet | None:
        """See Decoder."""
        text = self._text.lstrip(_SPACE).removeprefix(ROLE).lstrip(_SPACE)
        if "\n" in text:  # it is over, unless its end marker goes on
            return None
        return _IN_HEADER if text.startswith(_SIGNS) else _past_quiet(_TO_HEADER, self._text)

    def _decide(self) -> bool:
        """What the words say; False where they say nothing."""
        channel = (
            self._text.rpartition(CHANNEL)[2].split() if CHANNEL and CHANNEL in self._text else ()
        )
        row = HEADER_WORDS.get(_word(channel[0]), "") if channel else ""
        schemas = self._parser.schemas
        recipients = self._text.split(RECIPIENT)[1:] if RECIPIENT else [self._word_alone()]
        for recipient in map(_word, recipients):
            name = recipient.removeprefix(NAMESPACE)
            if recipient in HEADER_WORDS:
                row = HEADER_WORDS[recipient]
            elif _NO_WORD and not _may_be_called(name, schemas):
                row = ""
            elif name != recipient or not NAMESPACE or name in (schemas or ()):
                row = "call"
                if NAME_IN_HEADER:
                    self.name = name
            elif recipient not in ("user", "all", ROLE):
                row = "foreign"
        self.row = row
        self.name = self.name if row == "call" else ""
        named = bool(self.name) and _is_name(self.name)
        return bool(row) and (row != "call" or not NAME_IN_HEADER or named)

    def _word_alone(self) -> str:
        """The header's only word, behind the role where that is repeated."""
        return re.sub(rf"^{re.escape(ROLE)}\b\s*", "", self._text.strip())


def _begins_well(text: str) -> bool:
    """Whether the text of a header so far may become one."""
    text = text.lstrip(_SPACE)
    if ROLE and (text.startswith(ROLE) or ROLE.startswith(text)):
        text = text[len(ROLE) :].lstrip(_SPACE)
    if "\n" in text or HEADER_START in text:
        return False
    if text.startswith(_SIGNS) or any(sign.startswith(text) for sign in _SIGNS):
        return True
    return not RECIPIENT and _is_name(text)


def _word(text: str) -> str:
    """A word of a header: up to a space or the next marker."""
    return text[: _match_end(_WORD, text, 0, len(text))]


def _may_be_called(name: str, schemas: Container[str] | None) -> bool:
    """Whether a line that may as well be text can be a function's name."""
    return _WORD_NAME.fullmatch(name) is not None if schemas is None else name in schemas


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


# ==== End headers block ====
