"""Tool lists that are hard on grammars, each with calls that they permit and calls that they forbid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class ToolSet:
    """A list of tools; None is any tool, as in a grammar that was made without a list."""

    tools: list[dict[str, Any]] | None
    good: tuple[Call, ...]
    bad: tuple[Call, ...] = ()

    @property
    def has_open_names(self) -> bool:
        """Whether a tool or an argument may have a name that is not in the list."""
        return self.tools is None or any(
            tool["function"]["parameters"]["additionalProperties"] is not False
            for tool in self.tools
        )

    def schema(self, name: str) -> Any:
        """The schema of a tool's arguments. Raises KeyError where there is no such tool."""
        found = {tool["function"]["name"]: tool["function"] for tool in self.tools or ()}
        return found[name]["parameters"]


def _tool(name: str, properties: Mapping[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
        **more,
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}

# In alphabetical order, since some chat templates sort arguments: so many may come in one only.
_EVERY_TYPE = {
    "count": INTEGER,
    "flag": {"type": "boolean"},
    "point": {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]},
    "ratio": NUMBER,
    "text": STRING,
    "unit": {"enum": ["metre", "foot"]},
    "words": {"type": "array", "items": STRING},
}
_NODE = {
    "type": "object",
    "properties": {
        "label": STRING,
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["label"],
    "additionalProperties": False,
}
_LEAF = {"label": "leaf"}

TOOL_SETS = {
    "any tool": ToolSet(None, (("look", {"place": "Rome"}), ("add", {"a": 1, "b": [2, "three"]}))),
    "one tool": ToolSet(
        [_tool("look", {"place": STRING, "days": INTEGER}, "place")],
        (
            ("look", {"place": "Rome"}),
            ("look", {"place": "Santiago de Chile", "days": 2}),
        ),
        (
            ("looks", {"place": "Rome"}),
            ("loo", {"place": "Rome"}),
            ("look", {"days": 2}),
            ("look", {"place": "Rome", "days": "two"}),
            ("look", {"place": "Rome", "weeks": 2}),
        ),
    ),
    "every type": ToolSet(
        [
            _tool("required", _EVERY_TYPE, *_EVERY_TYPE),
            _tool("optional", _EVERY_TYPE),
        ],
        (
            (
                "required",
                {
                    "count": -3,
                    "flag": True,
                    "point": {"x": 1},
                    "ratio": 2.5,
                    "text": "a",
                    "unit": "foot",
                    "words": ["b", "c"],
                },
            ),
            ("optional", {"count": 7}),
            ("optional", {"text": "a", "unit": "metre"}),
        ),
        (
            ("required", {"text": "a"}),
            ("optional", {"count": "many"}),
            ("optional", {"count": 1.5}),
            ("optional", {"ratio": "half"}),
            ("optional", {"flag": "perhaps"}),
            ("optional", {"words": {"x": 1}}),
            ("optional", {"point": {"x": "left"}}),
            ("optional", {"unit": "mile"}),
        ),
    ),
    "thirty tools": ToolSet(
        [_tool(f"tool_{n}", {f"key_{n}": STRING, "n": INTEGER}, f"key_{n}") for n in range(30)],
        (("tool_0", {"key_0": "a"}), ("tool_29", {"key_29": "b", "n": 3})),
        (("tool_30", {"key_30": "a"}), ("tool_1", {"key_2": "a"}), ("tool_1", {"n": 1})),
    ),
    "nested and recursive": ToolSet(
        [
            _tool("grow", {"tree": {"$ref": "#/$defs/node"}}, "tree", **{"$defs": {"node": _NODE}}),
            _tool(
                "nest",
                {
                    "outer": {
                        "type": "object",
                        "properties": {"inner": _NODE},
                        "required": ["inner"],
                    }
                },
                "outer",
                **{"$defs": {"node": _NODE}},
            ),
        ],
        (
            (
                "grow",
                {"tree": {"label": "root", "children": [_LEAF, {**_LEAF, "children": [_LEAF]}]}},
            ),
            ("nest", {"outer": {"inner": _LEAF}}),
        ),
        (
            ("grow", {"tree": {"children": [_LEAF]}}),
            ("grow", {"tree": {"label": "root", "children": [{"name": "x"}]}}),
            ("nest", {"outer": {"middle": 1}}),
        ),
    ),
    "names that begin alike": ToolSet(
        [
            _tool("get", {"a": STRING, "ab": INTEGER, "abc": STRING}, "a"),
            _tool("get_more", {"ab": STRING}, "ab"),
            _tool("get_more_of", {"abc": INTEGER}, "abc"),
        ],
        (
            ("get", {"a": "x", "ab": 1, "abc": "y"}),
            ("get_more", {"ab": "x"}),
            ("get_more_of", {"abc": 2}),
        ),
        (
            ("get_mor", {"ab": "x"}),
            ("get_more_o", {"abc": 2}),
            ("get_more", {"a": "x"}),
            ("get_more_of", {"ab": 2}),
            ("get", {"ab": 1}),
        ),
    ),
    "strings with bounds": ToolSet(
        [
            _tool(
                "send",
                {
                    "code": {"type": "string", "pattern": "^[a-z]{2,4}-[0-9]+$"},
                    "day": {"type": "string", "format": "date"},
                    "size": {"enum": ["big", "two\nlines", "</parameter>", 'the "L"', "it's"]},
                    "word": {"type": "string", "minLength": 2, "maxLength": 4},
                },
                "code",
            )
        ],
        (
            ("send", {"code": "ab-12"}),
            ("send", {"code": "abcd-7", "day": "2024-02-29", "size": "two\nlines", "word": "abc"}),
            ("send", {"code": "ab-1", "size": 'the "L"'}),
        ),
        (
            ("send", {"code": "AB-12"}),
            ("send", {"code": "ab-12 "}),
            ("send", {"code": "ab-12", "day": "tomorrow"}),
            ("send", {"code": "ab-12", "size": "two"}),
            ("send", {"code": "ab-12", "word": "a"}),
            ("send", {"code": "ab-12", "word": "abcde"}),
        ),
    ),
    "further arguments": ToolSet(
        [
            _tool("put", {"größe": INTEGER, "x": INTEGER}, additionalProperties=INTEGER),
            _tool("set", {}, additionalProperties=True),
        ],
        (
            ("put", {"x": 1}),
            ("put", {"x": 1, "y": 2}),
            ("put", {"größe": 3}),
            ("set", {"key": "value", "other": [1, "two"]}),
        ),
        (
            ("put", {"x": "one"}),
            ("put", {"y": "two"}),
            ("puts", {"x": 1}),
        ),
    ),
    "alternatives": ToolSet(
        [
            _tool(
                "pick",
                {
                    "level": {"anyOf": [INTEGER, {"enum": ["auto", "none"]}]},
                    "list": {"type": ["array", "null"], "items": INTEGER},
                    "tree": {"$ref": "#/$defs/tree"},
                },
                **{
                    "$defs": {
                        "tree": {
                            "anyOf": [INTEGER, {"type": "array", "items": {"$ref": "#/$defs/tree"}}]
                        }
                    }
                },
            )
        ],
        (
            ("pick", {"level": 3, "list": None, "tree": 5}),
            ("pick", {"level": "auto", "list": [1, 2]}),
            ("pick", {"tree": [1, [2, []]]}),
        ),
        (
            ("pick", {"level": "most"}),
            ("pick", {"level": 2.5}),
            ("pick", {"list": {"a": 1}}),
            ("pick", {"list": ["one"]}),
            ("pick", {"tree": "x"}),
            ("pick", {"tree": [1, ["x"]]}),
        ),
    ),
}
