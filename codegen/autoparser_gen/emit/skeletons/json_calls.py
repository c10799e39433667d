"""Decoder for calls that are JSON values with their name inside."""

from __future__ import annotations

import json

from autoparser_gen.emit.skeletons.json_values import JsonValue
from autoparser_gen.emit.skeletons.runtime import Decoder, Parser, _past_space

NAME_FIELD = "name"
ARGUMENTS_FIELD = "arguments"
ID_FIELD = "id"
FUNCTION_FIELD = ""
NAME_IS_KEY = False
CALLS_IN_ARRAY = True
ARGUMENTS_AS_STRING = False

# ==== Begin JSON calls block (identical in every file that has it) ====


class JsonCalls(Decoder):
    """One call object, or an array of them.

    Fields may come in any order. Where a marker introduced the call, other fields are ignored.
    """

    expected = "a call as JSON"

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._expect = "[" if CALLS_IN_ARRAY else "{"
        self._depth = 0  # 2 inside the object of FUNCTION_FIELD
        self._field = ""
        self._fields: set[str] = set()
        self._value: JsonValue | None = None
        self._pieces: list[str] = []  # of a value that is not passed on as it comes

    def read(self, text: str, at: int, end: int) -> int:
        """Read text[at:end]; returns the index of the first character not read."""
        while not self.done and not self.failed and not self.completed:
            if self._value is not None:
                at = self._read_value(text, at, end)
                if self._value is not None or self.failed:
                    return at
                continue
            at = _past_space(text, at, end)
            if at == end:
                break
            stop = self._take(text[at], at)
            if self.failed:
                break
            at = stop
        return at

    def ends(self) -> bool:
        """The text has ended: whether the last call is complete, if not the array."""
        return self._expect == ", or ]"

    def _take(self, char: str, at: int) -> int:
        """Take one character of the call's own structure."""
        expect = self._expect
        if expect == "[":
            self._expect, self.failed = "{ or ]", char != "["
        elif expect in ("{", "{ or ]"):
            self._take_opening(char)
        elif expect == ":":
            self._expect, self.failed = "", char != ":"
            self._value = JsonValue()
            self._pieces = []
        elif expect == ", or }":
            self._take_comma(char)
        elif expect == ", or ]":
            self.failed = char not in ",]"
            self.completed, self.done = not self.failed, char == "]"
            self._expect = "{"
        elif char == '"':  # a key begins
            self._expect, self._value = "key", JsonValue()
            self._pieces = []
            return at
        elif char == "}" and expect == '" or }':
            self._close_object()
        else:
            self.failed = True
        return at + 1

    def _take_opening(self, char: str) -> None:
        if char == "{":
            self._depth, self._fields, self._expect = self._depth + 1, set(), '" or }'
        elif char == "]" and self._expect == "{ or ]":
            self.done = True
        else:
            self.failed = True

    def _take_comma(self, char: str) -> None:
        if char == "}":
            self._close_object()
        else:
            self._expect, self.failed = '"', char != ","

    def _close_object(self) -> None:
        """A closing brace: of the object of FUNCTION_FIELD, or of the call."""
        self._depth -= 1
        if self._depth:
            self._expect = ", or }"
            return
        call = self._parser.call
        missing = self._parser.bare and not call.arguments
        self.failed = not call.name or missing
        self._expect = ", or ]"
        if not CALLS_IN_ARRAY:
            self.done = not self.failed

    def _read_value(self, text: str, at: int, end: int) -> int:
        """A key or the value of a field."""
        value = self._value
        assert value is not None
        start = at if value.kind else _past_space(text, at, end)
        if not value.kind and start < end and self._expect != "key":
            if self._field == "arguments" and text[start] not in '{n"':
                self.failed = True
                return start
            if self._field == "function" and text[start] == "{":
                self._value, self._expect = None, "{"  # its fields are the call's
                return start
        stop = value.read(text, start, end)
        if value.failed:
            self.failed = True
            return stop
        if self._expect != "key" and self._field == "arguments" and value.kind == "{":
            self._parser.call_arguments(text[start:stop])
        elif self._field or self._expect == "key":
            self._pieces.append(text[start:stop])
        if value.done:
            self._value = None
            self.failed = not self._end_value("".join(self._pieces).strip(), value.kind)
            if self.failed and value.kind not in "-0123456789":
                return stop - 1  # its last character; a number's is known by the next one
        return stop

    def _end_value(self, text: str, kind: str) -> bool:
        """A key or a field's value is complete; False where the call cannot be with it."""
        if self._expect == "key":
            return self._end_key(json.loads(text))
        field, self._field, self._expect = self._field, "", ", or }"
        if field == "name":
            return (
                kind == '"' and bool(json.loads(text)) and self._parser.call_name(json.loads(text))
            )
        if field == "id" and kind in '"-0123456789':
            self._parser.call_id(json.loads(text) if kind == '"' else text)
        if field == "arguments" and kind == '"':
            return ARGUMENTS_AS_STRING and self._unwrap(json.loads(text))
        if field == "function":
            return False
        if field == "arguments" and kind == "n":
            self._parser.call_arguments("{}")
        return True

    def _unwrap(self, text: str) -> bool:
        """Arguments that are written as a string which holds their JSON text."""
        value, text = JsonValue(), text.strip()
        end = value.read(text, 0, len(text))
        if not value.done or value.kind != "{" or end != len(text):
            return False
        self._parser.call_arguments(text)
        return True

    def _end_key(self, key: str) -> bool:
        if key in self._fields:
            return False
        self._fields.add(key)
        self._expect = ":"
        if NAME_IS_KEY:
            self._field = "arguments"
            return len(self._fields) == 1 and bool(key) and self._parser.call_name(key)
        arguments = (ARGUMENTS_FIELD, "arguments", "parameters")
        names = {NAME_FIELD: "name", **dict.fromkeys(arguments, "arguments")}
        if FUNCTION_FIELD and self._depth == 1:
            names = {FUNCTION_FIELD: "function"}
        if ID_FIELD:
            names[ID_FIELD] = "id"
        self._field = names.get(key, "")
        twice = self._field == "arguments" and len(self._fields & set(arguments)) > 1
        return not twice and not (self._parser.bare and not self._field)


# ==== End JSON calls block ====
