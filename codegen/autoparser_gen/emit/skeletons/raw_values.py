"""Decoder for argument values that stand in markup as raw text: their types come from the schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from autoparser_gen.emit.skeletons.json_values import _SCALAR, JsonValue
from autoparser_gen.emit.skeletons.literal_strings import _json_text
from autoparser_gen.emit.skeletons.literals import Literal
from autoparser_gen.emit.skeletons.reading import _key_text
from autoparser_gen.emit.skeletons.regions import (
    Decoder,
    _Place,
    _Quiet,
    _ReadPiece,
    _Row,
    _WholeCall,
)
from autoparser_gen.emit.skeletons.search import _KEY, _NAME, _SPACE, _core, _match_end
from autoparser_gen.emit.skeletons.turn import _quoted, _Turn

RAW_WRAP: tuple[str, str] | None = None
RAW_TYPES: dict[str, str] = {}
VALUE_ESCAPES: dict[str, str] = {}
PYTHON_WORDS = False
QUOTED_STRINGS = False

# ==== Begin raw values block (identical in every file that has it) ====

_JSON_KINDS = {
    "{": "object",
    "[": "array",
    '"': "string",
    "t": "boolean",
    "f": "boolean",
    "n": "null",
}
_JSON_BEGINNINGS = '{["-0123456789tfn'
# How a literal begins that is Python's and no string, where the schema may want one and where not.
_PYTHON_TYPED, _PYTHON_UNTYPED = "TFN[{(", "TFN[{"
_LONGEST_FIRST = sorted(VALUE_ESCAPES, key=len, reverse=True)
_VALUE_ESCAPE = re.compile("|".join(map(re.escape, _LONGEST_FIRST)))
# Whether the text of a string is its value.
_AS_IT_STANDS = RAW_WRAP is None and not QUOTED_STRINGS and not VALUE_ESCAPES
# The fields of a call that may be read in one step.
_WHOLE_FIELDS = {"name": _NAME, "counter": _NAME, "type": _NAME, "key": _KEY}


class RawValue(Decoder):
    """One value; a string goes out as it comes, anything else when it is complete."""

    def __init__(self, parser: _Turn) -> None:
        super().__init__(parser)
        self._schema, self._named, self._streams = _expected(parser, *parser.argument)
        self._place = parser.place
        self._pieces: list[str] = []
        self._kept = 0  # characters of them, where they are limited
        self._limited = parser.limits_arguments
        if self._streams:
            parser.call_arguments('"')

    def read(self, text: str, at: int, end: int) -> int:
        """A further piece of the value."""
        if self._streams:
            self._parser.call_arguments(_json_text(text[at:end]))
        else:
            self._pieces.append(text[at:end])
            if self._limited:
                self._kept += end - at
                self._parser.limit_kept(self._kept)
        return end

    def passes(self) -> _ReadPiece | None:
        """See Decoder."""
        if self._streams:
            return self._place.passes
        return None if self._limited else self._keep

    def quiet(self) -> _Quiet | None:
        """See Decoder."""
        return self._place.near if self._streams or self._limited else self._place.kept

    def _keep(self, piece: str) -> str | None:
        if self._place.stops(piece) is not None:
            return None
        self._pieces.append(piece)
        return ""

    def ends(self) -> bool:
        """The value is complete."""
        if self._streams:
            self._parser.call_arguments('"')
            return True
        self._parser.call_arguments(_value("".join(self._pieces), self._schema, self._named))
        return True

    @classmethod
    def whole(cls, parser: _Turn, row: _Row, text: str, at: int) -> _WholeCall | None:
        """See Decoder."""
        way = _way(row)
        found = way and way.head.match(text, at)
        if not way or not found:
            return None
        name, last = found["name"], way.last
        arguments: dict[str, str] = {}
        while found["key"] is not None:
            key = _key_text(found["key"])
            end = way.ends.search(text, found.end())
            if end is None or end.group() != way.closer or key in arguments or not key:
                return None
            stop = end.start()
            for lead in way.leads:
                if text.startswith(lead, max(found.end(), stop - len(lead)), stop):
                    stop -= len(lead)
                    break
            value = text[found.end() : stop]
            named = found["type"] if way.has_types else ""
            schema, named, is_string = _expected(parser, name, key, named)
            arguments[key] = _quoted(value) if is_string else _value(value, schema, named)
            found, last = way.following.match(text, end.end()), way.last_following
            if found is None:
                return None
        if parser.over_limit(found.end() - at):
            return None  # what goes out may be shorter than what was kept
        written = ", ".join([f"{_quoted(key)}: {value}" for key, value in arguments.items()])
        return _WholeCall(name, f"{{{written}}}", None, last, found.end())


class _Way(NamedTuple):
    """How a usual call with its arguments in markup goes on behind its first marker."""

    head: re.Pattern[str]  # up to the first value, or through the call's last marker
    last: _Row  # of that
    has_types: bool  # the markup says what type a value has
    ends: re.Pattern[str]  # what may end a value
    closer: str  # what does
    leads: list[str]  # whitespace that belongs to it, the longest first
    following: re.Pattern[str]  # from there up to the next value, or through the last marker
    last_following: _Row


@lru_cache
def _way(row: _Row) -> _Way | None:
    """The way behind a call's first marker; None where it is not clear in advance."""
    head = _Path(row)
    if head.value is None:
        return None
    value = head.value
    closers = [
        row for row in value.rows.values() if not row.target.ends and row.target.kind == "gap"
    ]
    if not closers:  # nothing closes it, or what repeats the argument's name
        return None
    following = _Path(closers[0])
    cores = {_core(marker) for marker in value.rows}
    clear = head.is_clear and following.is_clear and following.value is value
    if not clear or not _none_begins_another(cores) or head.last is None or following.last is None:
        return None
    closer = _core(closers[0].marker)
    if any(row.target is not closers[0].target or _core(row.marker) != closer for row in closers):
        return None
    leads = sorted((row.marker.removesuffix(closer) for row in closers), key=len, reverse=True)
    return _Way(
        re.compile(head.pattern),
        head.last,
        "(?P<type>" in head.pattern,
        re.compile("|".join(map(re.escape, sorted(cores)))),
        closer,
        [lead for lead in leads if lead],
        re.compile(following.pattern),
        following.last,
    )


class _Path:
    """What stands between a marker and the next value, or the end of the call, as a pattern.

    It matches only what the regions on the path read in the same way; whitespace is in gaps only.
    """

    def __init__(self, row: _Row) -> None:
        self.value: _Place | None = None
        self.last: _Row | None = None  # of the marker that ends the call
        self.is_clear = True
        self._places: set[_Place] = set()
        self.pattern = self._behind(row)
        self.is_clear &= self._has("key")

    def _behind(self, row: _Row) -> str:
        """What may stand behind a marker."""
        place = row.target
        if row.closes:
            self.is_clear &= row.ends_call and self.last in (None, row)
            self.last = row
            return ""
        if place.kind == "raw":
            self.is_clear &= self.value in (None, place)
            self.value = place
            return "(?:".join(["", *map(re.escape, row.skip)]) + ")?" * len(row.skip)
        if not self._is_clear(place):
            self.is_clear = False
            return ""
        self._places.add(place)
        markers = "|".join(re.escape(row.marker) + self._behind(row) for row in place.rows.values())
        if place.kind == "gap":
            return f"[{_SPACE}]*(?:{markers})"
        chars = _WHOLE_FIELDS[place.collects].pattern.removesuffix("*")
        return f"(?P<{place.collects}>{chars}+)(?:{markers})"

    def _is_clear(self, place: _Place) -> bool:
        """Whether only one of a region's markers can stand in any place."""
        if not place.rows or "" in place.rows or not _none_begins_another(place.rows):
            return False
        if place in self._places or any(marker[0] in _SPACE for marker in place.rows):
            return False
        chars = _WHOLE_FIELDS.get(place.collects)
        if place.kind != "field" or chars is None or self._has(place.collects):
            return place.kind == "gap"
        return not any(_match_end(chars, marker, 0, 1) for marker in place.rows)

    def _has(self, field: str) -> bool:
        return any(place.collects == field for place in self._places)


def _none_begins_another(texts: Iterable[str]) -> bool:
    return not any(a != b and a.startswith(b) for a in texts for b in texts)


def _expected(
    parser: _Turn, tool: str, key: str, named: str
) -> tuple[tuple[Any, Any] | None, str, bool]:
    """What an argument is: its schema, its type by the markup, whether a string as it stands."""
    known = parser.arguments.get((tool, key, named))
    if known is None:
        schema = _argument_schema(parser.schemas, tool, key)
        kind = RAW_TYPES.get(named, "")
        is_string = kind == "string" if kind else schema is not None and _only_string(*schema)
        known = schema, kind, is_string and _AS_IT_STANDS
        parser.arguments[tool, key, named] = known
    return known


def _value(text: str, schema: tuple[Any, Any] | None, named: str) -> str:
    """A value as JSON text, of which more is known than that it is a string: see `_typed`."""
    if RAW_WRAP is not None and text.startswith(RAW_WRAP[0]) and text.endswith(RAW_WRAP[1]):
        text = text[len(RAW_WRAP[0]) : len(text) - len(RAW_WRAP[1])]
        named = named or "string"
    return _typed(text, schema, named)


def _typed(text: str, schema: tuple[Any, Any] | None, named: str) -> str:
    """A raw value as JSON text.

    `named` is the type that the markup gives ("" none). With QUOTED_STRINGS the chat template
    writes strings as JSON; one without its quotes is read as it stands. Unions take the JSON
    alternatives first, unless the text equals a `const` or `enum` member that is a string.
    """
    string = text
    if VALUE_ESCAPES:
        string = _VALUE_ESCAPE.sub(lambda escape: VALUE_ESCAPES[escape[0]], text)
    if QUOTED_STRINGS and text.lstrip().startswith('"'):
        return _json_or_python(text, "") or _quoted(text)
    if named == "string":
        return _quoted(string)
    python = _PYTHON_UNTYPED if PYTHON_WORDS else ""
    value = _json_or_python(text, _PYTHON_TYPED if named or schema is not None else python)
    if not value:
        return _quoted(string)
    if named or schema is None:
        return value
    kinds, members = _kinds(*schema)
    if string in members:
        return _quoted(string)
    if "string" not in kinds:
        return value
    kind = _JSON_KINDS.get(value[0], "number")
    if kind == "number" and "number" not in kinds:
        kind = "integer" if _is_integer(value) else "number"
    return value if kind in kinds and kind != "string" else _quoted(string)


def _json_or_python(text: str, python: str) -> str:
    """The text if it is strict JSON, else the JSON of a Python literal, or "" where it is neither.

    `python` holds the characters that such a literal may begin with.
    """
    text = text.strip()
    if _SCALAR.fullmatch(text):
        return text
    first = text[:1]
    if first and first in _JSON_BEGINNINGS:
        value = JsonValue()
        end = value.read(text + " ", 0, len(text) + 1)
        if value.done and end >= len(text):
            return text
    if not first or first not in python:
        return ""
    literal = Literal()
    end = literal.read(text, 0, len(text))
    return literal.take() if literal.done and end == len(text) else ""


def _is_integer(text: str) -> bool:
    whole, _, fraction = text.partition(".")
    return not fraction.strip("0") and "e" not in text.lower() and bool(whole)


def _argument_schema(
    schemas: Mapping[str, Any] | None, tool: str, key: str
) -> tuple[Any, Any] | None:
    """An argument's schema with the document that its references point into; None if unknown."""
    if schemas is None or tool not in schemas:
        return None
    root = schemas[tool]
    return _property_schema(root, root, key)


def _property_schema(schema: Any, root: Any, key: str) -> tuple[Any, Any] | None:
    """The same of a property of an object."""
    more = None
    for branch in _branches(schema, root, set()):
        nested = branch.get("properties")
        if isinstance(nested, Mapping) and key in nested:
            return nested[key], root
        more = branch.get("additionalProperties") if more is None else more
    return (more, root) if isinstance(more, Mapping) else None


def _only_string(schema: Any, root: Any) -> bool:
    return _kinds(schema, root)[0] == {"string"}


def _kinds(schema: Any, root: Any) -> tuple[set[str], set[str]]:
    """The JSON types that a schema permits, and the strings that it names by const or enum."""
    kinds: set[str] = set()
    members: set[str] = set()
    for branch in _branches(schema, root, set()):
        named = branch.get("type")
        several = named if isinstance(named, list) else [named]
        types = {kind for kind in several if isinstance(kind, str)}
        listed = branch.get("enum")
        values = list(listed) if isinstance(listed, list) else []
        values += [branch["const"]] if "const" in branch else []
        members |= {value for value in values if isinstance(value, str)}
        kinds |= types or {_kind_of(value) for value in values}
        if (
            not types
            and not values
            and not any(word in branch for word in ("anyOf", "oneOf", "allOf", "$ref"))
        ):
            kinds |= (
                {"object"} if "properties" in branch else {"array"} if "items" in branch else set()
            )
    everything = {"string", "number", "integer", "boolean", "null", "object", "array"}
    return kinds or everything, members


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _branches(schema: Any, root: Any, seen: set[int]) -> Iterator[Mapping[str, Any]]:
    """A schema and all that its references and combinations lead to, each one once."""
    stack = [schema]
    while stack:
        schema = stack.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        for word in ("allOf", "oneOf", "anyOf"):
            if isinstance(schema.get(word), list):
                stack += schema[word]
        if isinstance(schema.get("$ref"), str):
            stack.append(_resolve(schema["$ref"], root))


def _resolve(reference: str, root: Any) -> Any:
    """What a reference within the document points to; None where it leads nowhere or outside."""
    if not reference.startswith("#"):
        return None
    target = root
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(target, Mapping) or part not in target:
            return None
        target = target[part]
    return target


# ==== End raw values block ====
