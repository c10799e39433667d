"""A given object or list in nested tags, as a chat template writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autoparser_gen.analysis.model import Arguments
from autoparser_gen.grammar.markup import core
from autoparser_gen.grammar.until import SPACES

_PYTHON_WORDS = ("True", "False", "None")  # data to a parser, as JSON is


@dataclass(frozen=True)
class GivenTags:
    """Writes values in tags that a parser reads back without a schema of what is inside of them."""

    marks: Arguments
    closer: str
    closer_end: str
    readable: re.Pattern[str]

    def inside(self, value: Any) -> str | None:
        """What stands in the tag of an object or a list; None where a parser would read another."""
        if isinstance(value, list):
            return self._tags([(self.marks.item_tag, item) for item in value])
        if self.marks.item_tag in value or not all(map(self.readable.fullmatch, value)):
            return None
        return self._tags(list(value.items()))

    def _tags(self, members: Sequence[tuple[str, Any]]) -> str | None:
        parts = []
        for key, value in members:
            inner = self._inner(value)
            if inner is None or not key:
                return None
            opens = core(self.marks.name_prefix) + key + core(self.marks.name_suffix)
            parts.append(opens + inner + self.closer + key + self.closer_end)
        return "".join(parts)

    def _inner(self, value: Any) -> str | None:
        """What stands in a tag inside; an empty one is an empty text there."""
        if isinstance(value, str):
            return value if self._is_text(value) else None
        if isinstance(value, (dict, list)):
            return self.inside(value) or None
        return None if value is None else json.dumps(value)

    def _is_text(self, value: str) -> bool:
        """Whether a parser reads all of a string, and not as data."""
        if value != value.strip(SPACES) or value in _PYTHON_WORDS or value[:1] in ("{", "[", "("):
            return False
        if core(self.marks.name_prefix) in value or (value + self.closer).find(self.closer) != len(
            value
        ):
            return False
        try:
            json.loads(value)
        except ValueError:
            return True
        return False
