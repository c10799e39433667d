"""Alternatives that require themselves without end: no value of them would ever be complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoparser_gen.grammar.branch import Branch
from autoparser_gen.grammar.combine import schema_of_item, schema_of_key

_Key = tuple[str, str]  # of a branch


class Endings:
    """Tells the alternatives of one document that some value satisfies from endless ones."""

    def __init__(self, alternatives: Callable[[Any], Sequence[Branch]]) -> None:
        """`alternatives` gives those of a schema, none where it has a fault of another kind."""
        self._alternatives = alternatives
        self._ends: dict[_Key, bool] = {}
        self._parts: dict[_Key, list[list[Branch]]] = {}  # by branch: all that must be in it

    def ends(self, branch: Branch) -> bool:
        """Whether a value of an alternative can be complete."""
        if not any(True for _ in _required(branch)):
            return True
        if branch.key not in self._ends:
            self._decide(branch)
        return self._ends[branch.key]

    def endless(self, branch: Branch) -> str:
        """The definition that requires itself in an alternative without end; "" if it has no name."""
        seen: dict[_Key, Branch] = {}
        while branch.key not in seen:
            seen[branch.key] = branch
            parts = self._parts[branch.key]
            branch = next(part[0] for part in parts if not any(map(self.ends, part)))
        circle = list(seen.values())[list(seen).index(branch.key) :]
        return next((one.pointer for one in (*circle, branch) if one.pointer), "")

    def _decide(self, branch: Branch) -> None:
        """Find what a branch requires, and what that does; then what ends, until nothing is new."""
        unknown: dict[_Key, list[list[Branch]]] = {}
        stack = [branch]
        while stack:
            one = stack.pop()
            if one.key not in unknown and one.key not in self._ends:
                parts = [list(self._alternatives(schema)) for schema in _required(one)]
                unknown[one.key] = [part for part in parts if part]
                stack += [inner for part in parts for inner in part]
        self._parts |= unknown
        while found := [key for key in reversed(unknown) if self._is_complete(unknown[key])]:
            for key in found:
                self._ends[key] = True
                del unknown[key]
        self._ends |= dict.fromkeys(unknown, False)

    def _is_complete(self, parts: list[list[Branch]]) -> bool:
        return all(any(self._ends.get(inner.key) for inner in part) for part in parts)


def _required(branch: Branch) -> Iterator[Any]:
    """The schemas of what must be in every value of an alternative."""
    schema = branch.schema
    if branch.kind == "object":
        yield from (schema_of_key(schema, key) for key in schema.get("required", ()))
    elif branch.kind == "array":
        # Behind the first items all have the same schema.
        count = min(schema.get("minItems", 0), len(schema.get("prefixItems", ())) + 1)
        yield from (schema_of_item(schema, at) for at in range(int(count)))
