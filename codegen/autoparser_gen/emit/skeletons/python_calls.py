"""Decoder for calls that are written as in Python: [name(key=value, ...), other()]."""

from __future__ import annotations

import re

from autoparser_gen.emit.skeletons.literal_states import _LITERAL_WORDS
from autoparser_gen.emit.skeletons.literal_strings import _SPACES, _ahead, _json_text
from autoparser_gen.emit.skeletons.literals import Literal
from autoparser_gen.emit.skeletons.regions import Decoder, _loop, _Quiet, _ReadPiece, _spaced
from autoparser_gen.emit.skeletons.search import _NAME, _PLAIN_NAME, _SPACE, _match_end, _past_space
from autoparser_gen.emit.skeletons.turn import _quoted, _Turn

LITERAL_QUOTES: tuple[str, ...] = ("'", '"')
LITERAL_ESCAPES = True

# ==== Begin Python calls block (identical in every file that has it) ====

_KEYWORD = re.compile(r"[\w.$-]*")
_CALL = (_SPACES, _NAME.pattern.replace("*", "{1,99}"), _SPACES, r"\(")
_NEXT_CALL = re.compile(_ahead(",?", *_CALL))
_CALL_SEPARATOR = re.compile(r",?[ \t\r\n]*")
_MARKER = r"[^\w\s\"'.,:;()\[\]{}]"  # may begin one
_NEXT_ARGUMENT = (
    _ahead(_SPACES, ",", _SPACES, r"\w[\w.$-]{0,99}", _SPACES, "="),
    _ahead(_SPACES, ",", _SPACES, r"\)"),
)
_CLOSED = (_SPACES, r"\)", _SPACES)
# What follows an argument's value, outside of a list and in one.
_BEHIND_ARGUMENT = (
    re.compile(
        "|".join([*_NEXT_ARGUMENT, _ahead(*_CLOSED, ",?", *_CALL), _ahead(*_CLOSED, _MARKER)])
    ),
    re.compile("|".join([*_NEXT_ARGUMENT, _ahead(*_CLOSED, ",", *_CALL), _ahead(*_CLOSED, r"\]")])),
)
# How an argument begins: where none was read yet, behind another, and behind the end of a string.
_KEYWORD_BEGUN = rf"(\w[\w.$-]*)[{_SPACE}]*="
_ARGUMENT_BEGUN = {
    "argument": re.compile(_KEYWORD_BEGUN),
    ", or )": re.compile(rf",[{_SPACE}]*{_KEYWORD_BEGUN}"),
}
_BEHIND_STRING_END = {
    quote: re.compile(rf"([^{quote}\\]*){quote}{_SPACES},{_SPACES}(\w[\w.$-]{{0,99}}){_SPACES}=")
    for quote in LITERAL_QUOTES
    if len(quote) == 1
}
# What an argument is if not a string.
_OTHERS = [r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?", *_LITERAL_WORDS]
_OTHER_VALUE = re.compile(rf"({'|'.join(_OTHERS)})(?={_SPACES}[,)])")
# How most calls in a list begin, and their arguments: a string without escapes, a number or a word.
_CALL_HEAD = re.compile(rf"({_NAME.pattern.replace('*', '+')})\((\))?")
_STRINGS = [
    rf"{quote}(?:[^{quote}\\]+|(?!{quote}{{2}})){quote}" for quote in map(re.escape, LITERAL_QUOTES)
]
if not LITERAL_ESCAPES:  # then nothing is escaped in the first of the quotes
    _STRINGS[0] = "{0}[^{0}]*{0}".format(re.escape(LITERAL_QUOTES[0]))
_ARGUMENT = re.compile(
    rf"(\w[\w.$-]{{0,99}})=(?:({'|'.join(_STRINGS)})|({'|'.join(_OTHERS)}))"
    r"(?:,[ \t\r\n]*|(?=(\))))"
)


# What may be there while no more is known than before: of words, and up to them.
_IN_CALL_NAME, _IN_KEYWORD = _loop(_PLAIN_NAME), _loop(filter(str.isalnum, _PLAIN_NAME))
_TO_CALL_NAME, _TO_KEYWORD = _spaced({**_IN_CALL_NAME}), _spaced({**_IN_KEYWORD})
_TO_NEXT_CALL, _TO_NEXT_KEYWORD = _spaced({",": _TO_CALL_NAME}), _spaced({",": _TO_KEYWORD})
_IN_WORDS = {
    "call": _TO_CALL_NAME,
    "name": _IN_CALL_NAME,
    "argument": _TO_KEYWORD,
    "key": _IN_KEYWORD,
    ", or )": _TO_NEXT_KEYWORD,
}
_AT_QUOTE = {quote: {quote: _TO_NEXT_KEYWORD} for quote in LITERAL_QUOTES if len(quote) == 1}


class PythonCalls(Decoder):
    """Calls as in Python, in a list or one behind the other."""

    # Whether values are literals that patterns can read where they are all there.
    has_literals = max(map(len, LITERAL_QUOTES)) == 1
    expected = "a call such as name(key=value)"

    def __init__(self, parser: _Turn) -> None:
        super().__init__(parser)
        self._in_list = False
        self._empty = True  # there has been no call yet
        self._expect = "calls"
        self._pieces: list[str] = []  # of a name or key
        self._keys: set[str] = set()
        self._value: Literal | None = None
        self._waits = False  # what stands next is not clear yet

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        self._waits = False
        while at < end and not (self.done or self.failed or self.completed or self._waits):
            if self._value is not None:
                at = self._read_value(self._value, text, at, end)
            elif self._expect in ("name", "key"):
                at = self._read_word(text, at, end)
            elif self._expect == "end of call" and not self._in_list:
                at = self._read_separator(text, at, end)
            else:
                at = _past_space(text, at, end)
                if at < end:
                    at = self._take_next(text, at, end)
        return at

    def ends(self) -> bool:
        """The text has ended: whether the last call is complete, if not the list."""
        return self._expect == "end of call"

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        return None if self._value is None else self._value.passes()

    def quiet(self) -> _Quiet | None:
        """See Decoder."""
        if self._value is not None:
            return _AT_QUOTE.get(self._value.unclear_quote())
        if self._expect == "end of call":
            return _TO_NEXT_CALL if self._in_list and self._parser.ends_quietly() else None
        return _IN_WORDS.get(self._expect)

    def new_value(self) -> Literal:
        """What reads an argument's value."""
        follows = None if LITERAL_ESCAPES else _BEHIND_ARGUMENT[self._in_list]
        return Literal(LITERAL_QUOTES, follows=follows)

    def _take(self, char: str) -> bool:
        """Take one character of the calls' own structure; False where it is read again."""
        expect, taken = self._expect, True
        if expect in ("calls", "call"):
            taken = self._begin_call(char)
        elif expect == "(":
            self.failed = char != "(" or not self._parser.call_name("".join(self._pieces))
            self._expect, self._empty = "argument", False
        elif expect in ("argument", ", or )") and char == ")":
            self._parser.call_arguments("}" if self._keys else "{}")
            self._keys.clear()
            self._expect = "end of call"
        elif expect == "argument":
            self._begin_word("key")
            self.failed, taken = not (char.isalnum() or char == "_"), False
        elif expect == "=":
            self.failed = char != "=" or not self._begin_argument("".join(self._pieces))
        elif expect == ", or )":
            self._expect, self.failed = "argument", char != ","
        else:
            self._end_call(char)
        return taken and not self.failed

    def _take_next(self, text: str, at: int, end: int) -> int:
        """Take what stands here of the calls' own structure; returns the index behind it."""
        stop = 0
        if self._expect == "call":
            stop = self._take_call(text, at, end)
        elif self._expect == "value":
            return self._take_value(text, at, end)
        elif self._expect in _ARGUMENT_BEGUN and text[at] != ")":
            found = _ARGUMENT_BEGUN[self._expect].match(text, at, end)
            if found is not None:
                self.failed = not self._begin_argument(found[1])
                return found.end() - self.failed
        return stop or at + self._take(text[at])

    def _take_value(self, text: str, at: int, end: int) -> int:
        """Take an argument's value if it is all there and no string, or begin to read it."""
        found = _OTHER_VALUE.match(text, at, end)
        if found is None:
            self._value = self.new_value()
            return at
        self._parser.call_arguments(_LITERAL_WORDS.get(found[1], found[1]))
        self._expect = ", or )"
        return found.end()

    def _take_call(self, text: str, at: int, end: int) -> int:
        """Take a usual call that is all there, or how it begins; 0 where it is not."""
        found = _CALL_HEAD.match(text, at, end)
        if found is None:
            return 0
        whole = self.has_literals and self._take_whole(text, found, end)
        if whole:
            return whole
        self.failed = not self._parser.call_name(found[1])
        self._expect, self._empty = "argument", False
        return found.end(1) + (not self.failed)

    def _take_whole(self, text: str, found: re.Match[str], end: int) -> int:
        """Read a usual call that begins so and is all there; returns the index behind it, or 0."""
        if self._parser.bare:
            return 0
        name, closer = found.groups()
        arguments: dict[str, str] = {}
        stop = found.end()
        while not closer:
            argument = _ARGUMENT.match(text, stop, end)
            if argument is None or argument[1] in arguments:
                return 0
            key, string, word, closer = argument.groups()
            arguments[key] = _quoted(string[1:-1]) if string else _LITERAL_WORDS.get(word, word)
            stop = argument.end()
        behind = _BEHIND_ARGUMENT[True].match(text, stop, end) if arguments else found
        if behind is None or not behind.lastindex:
            return 0
        written = ", ".join([f"{_quoted(key)}: {value}" for key, value in arguments.items()])
        if self._parser.over_limit(len(written) + 2):
            return 0
        self._parser.call_name(name)
        self._parser.call_arguments(f"{{{written}}}")
        self._expect, self._empty = "end of call", False
        return stop + bool(arguments)

    def _begin_call(self, char: str) -> bool:
        """The list, a call, or their end."""
        if char == "[" and self._expect == "calls":
            self._in_list, self._expect = True, "call"
        elif char == "]" and self._expect == "call":
            self.failed = self._empty and self._parser.bare
            self.done, self.row = True, "]"
        elif self._expect == "calls" and not _NAME.fullmatch(char):
            self.done = True
            return False
        else:
            self._begin_word("name")
            return False
        return True

    def _end_call(self, char: str) -> None:
        """What follows a call in a list."""
        self.completed, self.failed = char in ",]", char not in ",]"
        self._expect = "call"
        if char == "]":
            self.done, self.row = True, "]"

    def _read_separator(self, text: str, at: int, end: int) -> int:
        """What follows a call outside of a list: another call, or none."""
        at = _past_space(text, at, end)
        found = _NEXT_CALL.match(text, at, end) if at < end else None
        if found is None or not (found.lastindex or self.final):
            self._waits, self.done = found is not None, at < end and found is None
            return at
        self.completed = True
        self._begin_word("name")
        return _match_end(_CALL_SEPARATOR, text, at, end)

    def _begin_word(self, expect: str) -> None:
        self._expect = expect
        self._pieces.clear()

    def _read_word(self, text: str, at: int, end: int) -> int:
        """A name or key, up to the first character that is no part of it."""
        chars = _NAME if self._expect == "name" else _KEYWORD
        stop = _match_end(chars, text, at, end)
        self._pieces.append(text[at:stop])
        if stop < end:
            self._expect = "(" if self._expect == "name" else "="
            self.failed = not any(self._pieces)
        return stop

    def _begin_argument(self, key: str) -> bool:
        """A key has been read; False where it stands twice."""
        if key in self._keys:
            return False
        opening = ", " if self._keys else "{"
        self._keys.add(key)
        self._parser.call.key = key
        self._parser.call_arguments(f"{opening}{_quoted(key)}: ")
        self._expect = "value"
        if not self.has_literals:  # whitespace may belong to it
            self._value = self.new_value()
        return True

    def _read_value(self, value: Literal, text: str, at: int, end: int) -> int:
        found = (quote := value.plain_quote()) and _BEHIND_STRING_END[quote].match(text, at, end)
        if found:
            self._parser.call_arguments(_json_text(found[1]) + '"')
            self._value, self.failed = None, not self._begin_argument(found[2])
            return found.end() - self.failed
        value.final = self.final
        stop = value.read(text, at, end)
        self.failed, self._waits = value.failed, stop < end and not value.done
        if not self.failed:
            self._parser.call_arguments(value.take())
        if value.done:
            self._value, self._expect = None, ", or )"
        return stop


# ==== End Python calls block ====
